// Edits the boxes of one image with mouse, touch or keyboard, and saves them together.

import { useEffect, useRef, useState } from "./hooks.module.js";
import { readAll, call } from "./api.js";
import { Action, colour, Field, html, Loaded, useFocus, useLoad } from "./ui.js";
import { t } from "./words.js";

// Shortest side of a box, in pixels.
const MIN_SIDE = 4;
const imageOf = (example) => example.location.split("?")[0];

/** Read all boxes of an example's image. */
async function readBoxes(example, variables) {
  const found = await readAll(
    "browse",
    { variables, query: { contains: example.name, source: "all" } },
    1000,
    100,
  );
  return found
    .filter((one) => imageOf(one) === imageOf(example))
    .map((one) => ({ ...one.box, labelId: one.label.id, key: one.id }));
}

export function BoxEditor({ example, labels, variables, close }) {
  const loaded = useLoad(() => readBoxes(example, variables), [example.id]);
  const dialog = useRef(null);
  useEffect(() => {
    dialog.current.showModal();
  }, []);
  return html`
    <dialog ref=${dialog} class="card editor" aria-label=${t("boxes.title")} onClose=${() => close(false)}>
      <${Loaded} of=${loaded}>
        ${(boxes) => html`
          <${Drawing}
            example=${example}
            first=${boxes}
            labels=${labels}
            variables=${variables}
            close=${close}
          />
        `}
      <//>
    </dialog>
  `;
}

function Drawing({ example, first, labels, variables, close }) {
  const [boxes, setBoxes] = useState(first);
  const [at, setAt] = useState(
    Math.max(
      0,
      first.findIndex((box) => box.key === example.id),
    ),
  );
  const [size, setSize] = useState(null);
  const drag = useRef(null);
  const plane = useRef(null);
  const start = useFocus(size !== null);
  const change = (index, part) =>
    setBoxes((old) => old.map((box, place) => (place === index ? clamp({ ...box, ...part }, size) : box)));
  const add = (box) => {
    setBoxes([
      ...boxes,
      clamp({ labelId: boxes[at]?.labelId ?? labels[0].id, key: `new${Date.now()}`, ...box }, size),
    ]);
    setAt(boxes.length);
  };
  const remove = (index) => {
    setBoxes(boxes.filter((_, place) => place !== index));
    setAt(Math.max(0, index - 1));
  };
  const save = async () => {
    const sent = boxes.map(({ x, y, width, height, labelId }) => ({ x, y, width, height, labelId }));
    await call("changeExample", {
      variables: { ...variables, example_id: example.id },
      json: { boxes: sent },
    });
    close(true);
  };
  const point = (event) => {
    const frame = plane.current.getBoundingClientRect();
    return [
      ((event.clientX - frame.left) / frame.width) * size.width,
      ((event.clientY - frame.top) / frame.height) * size.height,
    ];
  };
  const grab = (event, index, way) => {
    event.stopPropagation();
    plane.current.setPointerCapture(event.pointerId);
    const from = point(event);
    if (index === null) {
      add({ x: from[0], y: from[1], width: MIN_SIDE, height: MIN_SIDE });
      drag.current = {
        index: boxes.length,
        way: "resize",
        from,
        box: { x: from[0], y: from[1], width: 0, height: 0 },
      };
    } else {
      setAt(index);
      drag.current = { index, way, from, box: boxes[index] };
    }
  };
  const move = (event) => {
    if (!drag.current) return;
    const { index, way, from, box } = drag.current;
    const [x, y] = point(event),
      [byX, byY] = [x - from[0], y - from[1]];
    if (way === "move") change(index, { x: box.x + byX, y: box.y + byY });
    else
      change(index, {
        x: Math.min(box.x, box.x + box.width + byX),
        y: Math.min(box.y, box.y + box.height + byY),
        width: Math.abs(box.width + byX),
        height: Math.abs(box.height + byY),
      });
  };
  const press = (event, index) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (step) {
      const by = step.map((one) => one * Math.max(1, Math.round(size.width / 200))),
        box = boxes[index];
      change(
        index,
        event.shiftKey
          ? { width: box.width + by[0], height: box.height + by[1] }
          : { x: box.x + by[0], y: box.y + by[1] },
      );
    } else if (event.key === "Delete" || event.key === "x") remove(index);
    else if (/^[1-9]$/.test(event.key) && labels[event.key - 1])
      change(index, { labelId: labels[event.key - 1].id });
    else return;
    event.preventDefault();
  };
  const nameOf = (id) => labels.find((label) => label.id === id)?.name ?? "";
  const hueOf = (id) => colour(labels.findIndex((label) => label.id === id));
  return html`
    <h2>${t("boxes.title")}</h2>
    <p class="muted small">${t("boxes.lead")}</p>
    <span class="boxed drawing">
      <img
        src=${example.location}
        alt=${example.name}
        draggable=${false}
        onLoad=${(e) => setSize({ width: e.target.naturalWidth, height: e.target.naturalHeight })}
      />
      ${
        size &&
        html`
          <svg
            ref=${plane}
            viewBox=${`0 0 ${size.width} ${size.height}`}
            onPointerDown=${(e) => grab(e, null)}
            onPointerMove=${move}
            onPointerUp=${() => {
              drag.current = null;
            }}
          >
            ${boxes.map(
              (box, index) => html`
                <g key=${box.key}>
                  <rect
                    ref=${index === at ? start : null}
                    tabindex="0"
                    role="button"
                    aria-label=${t("boxes.one", { number: index + 1, label: nameOf(box.labelId) })}
                    class=${index === at ? "held" : ""}
                    x=${box.x}
                    y=${box.y}
                    width=${box.width}
                    height=${box.height}
                    stroke=${hueOf(box.labelId)}
                    onFocus=${() => setAt(index)}
                    onKeyDown=${(e) => press(e, index)}
                    onPointerDown=${(e) => grab(e, index, "move")}
                  />
                  <circle
                    class="handle"
                    cx=${box.x + box.width}
                    cy=${box.y + box.height}
                    r=${size.width / 60}
                    fill=${hueOf(box.labelId)}
                    onPointerDown=${(e) => grab(e, index, "resize")}
                  />
                </g>
              `,
            )}
          </svg>
        `
      }
    </span>
    <div class="row">
      <${Field} label=${t("boxes.label")}>
        <select
          value=${boxes[at]?.labelId}
          disabled=${!boxes[at]}
          onChange=${(e) => change(at, { labelId: Number(e.target.value) })}
        >
          ${labels.map(
            (label) => html`
              <option value=${label.id} selected=${label.id === boxes[at]?.labelId}>${label.name}</option>
            `,
          )}
        </select>
      <//>
      <button
        type="button"
        class="button"
        onClick=${() =>
          add({ x: size.width / 4, y: size.height / 4, width: size.width / 2, height: size.height / 2 })}
      >
        ${t("boxes.add")}
      </button>
      <button type="button" class="button" disabled=${!boxes[at]} onClick=${() => remove(at)}>
        ${t("boxes.remove")}
      </button>
      <${Action} kind="primary" run=${save}>${t("boxes.save")}<//>
      <button type="button" class="button" onClick=${() => close(false)}>${t("boxes.cancel")}</button>
    </div>
  `;
}

/** Clamp a box to its image. */
function clamp(box, size) {
  const width = Math.max(MIN_SIDE, Math.min(box.width, size.width)),
    height = Math.max(MIN_SIDE, Math.min(box.height, size.height));
  const rounded = {
    x: Math.max(0, Math.min(box.x, size.width - width)),
    y: Math.max(0, Math.min(box.y, size.height - height)),
    width,
    height,
  };
  return {
    ...box,
    ...Object.fromEntries(
      Object.entries(rounded).map(([name, value]) => [name, Math.round(value * 100) / 100]),
    ),
  };
}
