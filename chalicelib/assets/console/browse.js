// Review examples and correct their labels: a list of texts or a grid of images, usable by keyboard.

import { useEffect, useMemo, useRef, useState } from "./hooks.module.js";
import { readAll } from "./api.js";
import { BoxEditor } from "./boxes.js";
import { Examples } from "./examples.js";
import { Corrections } from "./corrections.js";
import { Palette } from "./palette.js";
import { startTraining } from "./training.js";
import { Thumbnail } from "./image.js";
import { VirtualList } from "./virtual_list.js";
import { Action, colour, Field, html, Loaded, number, percent, Problem, useLoad } from "./ui.js";
import { t } from "./words.js";

const SEARCH_MILLISECONDS = 300;
// The number of examples is known for uploads only; only they can be read from any offset.
const SOURCES = [
  ["", "source.upload"],
  ["feedback", "source.feedback"],
  ["all", "browse.all"],
];

/** Read the examples in a cell of the confusion matrix, with the model's prediction of each. */
async function readCell({ family }, { model, label, as }) {
  const options = { variables: { family, model_id: model }, query: { expected: label, predicted: as } };
  const found = await readAll("evaluation", options, 1000, 100);
  return new Map(
    found.map((one) => [one.exampleId, { suggestion: one.predictedLabel, confidence: one.probability }]),
  );
}

export function Browse(props) {
  const { variables, query } = props;
  // Models trained by early versions have no stored evaluation: then all examples of the label are shown.
  const cell = useLoad(
    async () => ({ only: query.as ? await readCell(variables, query).catch(() => null) : null }),
    [query.model, query.label, query.as],
  );
  return html`
    <${Loaded} of=${cell}>
      ${({ only }) => html`
        ${
          only &&
          html`
            <p class="notice">
              ${t("browse.cell", { count: only.size, expected: query.label, predicted: query.as })}
            </p>
          `
        }
        <${Browsing} ...${props} only=${only} />
      `}
    <//>
  `;
}

function Browsing({ dataset, variables, query, reload, only }) {
  const labels = dataset.labelSummary.labels;
  const named = labels.find((label) => label.name === query.label);
  const [wanted, setWanted] = useState({
    labelId: named?.id ?? "",
    source: "",
    contains: "",
    suspectsOf: query.suspectsOf ?? "",
  });
  useEffect(
    () => setWanted((old) => ({ ...old, labelId: named?.id ?? "", suspectsOf: query.suspectsOf ?? "" })),
    [query.suspectsOf, query.label],
  );
  const [, redraw] = useState(0);
  const notify = () => redraw((count) => count + 1);
  const filterKey = JSON.stringify(wanted);
  const examples = useMemo(() => {
    const label = labels.find((one) => one.id === Number(wanted.labelId));
    const filter = wanted.suspectsOf || wanted.source ? wanted : { ...wanted, source: undefined };
    return new Examples(variables, filter, label ? label.numExamples : dataset.totalExamples, notify, only);
  }, [filterKey, dataset.id, only]);
  const corrections = useMemo(() => new Corrections(variables, notify), [dataset.id]);
  useEffect(
    () => () => {
      corrections.finish().then(reload);
    },
    [corrections],
  );
  const models = useLoad(() => readAll("datasetModels", { variables }), [dataset.id]);
  return html`
    <div class="browse">
      <${Filters}
        wanted=${wanted}
        set=${setWanted}
        labels=${labels}
        models=${(models.data ?? []).filter((one) => one.status === "SUCCEEDED")}
      />
      ${corrections.error && html`<${Problem} error=${corrections.error} />`}
      ${examples.error && html`<${Problem} error=${examples.error} />`}
      <${Review}
        key=${filterKey}
        examples=${examples}
        corrections=${corrections}
        dataset=${dataset}
        modelId=${wanted.suspectsOf || (only ? query.model : "")}
        variables=${variables}
        isFirst=${Boolean(query.first)}
        reload=${reload}
      />
    </div>
  `;
}

function Filters({ wanted, set, labels, models }) {
  const [text, setText] = useState(wanted.contains);
  useEffect(() => {
    const timer = setTimeout(
      () => text !== wanted.contains && set({ ...wanted, contains: text }),
      SEARCH_MILLISECONDS,
    );
    return () => clearTimeout(timer);
  }, [text]);
  const pick = (name) => (event) => set({ ...wanted, [name]: event.target.value });
  return html`
    <div class="filters">
      <${Field} label=${t("browse.find")}>
        <input type="search" value=${text} onInput=${(e) => setText(e.target.value)} />
      <//>
      <${Field} label=${t("browse.label")}>
        <select value=${wanted.labelId} onChange=${pick("labelId")}>
          <option value="">${t("browse.all")}</option>
          ${labels.map(
            (label) => html`
              <option value=${label.id} selected=${label.id === Number(wanted.labelId)}>${label.name}</option>
            `,
          )}
        </select>
      <//>
      <${Field} label=${t("browse.source")}>
        <select value=${wanted.source} onChange=${pick("source")}>
          ${SOURCES.map(([value, name]) => html`<option value=${value}>${t(name)}</option>`)}
        </select>
      <//>
      ${
        models.length > 0 &&
        html`
          <${Field} label=${t("browse.suspects")}>
            <select value=${wanted.suspectsOf} onChange=${pick("suspectsOf")}>
              <option value="">${t("browse.noModel")}</option>
              ${models.map(
                (model) => html`
                  <option value=${model.modelId} selected=${model.modelId === wanted.suspectsOf}>
                    ${model.name}
                  </option>
                `,
              )}
            </select>
          <//>
        `
      }
    </div>
  `;
}

/** The list with its keyboard control: one example is current, several can be selected. */
function Review({ examples, corrections, dataset, modelId, variables, isFirst, reload }) {
  const [at, setAt] = useState(0);
  const [chosen, setChosen] = useState(new Set());
  const [edited, setEdited] = useState(null);
  const { family } = variables;
  const hasBoxes = dataset.type === "image-detection";
  const [reviewedIds, setReviewedIds] = useState(new Set());
  const search = useRef(null);
  const list = useRef(null);
  const labels = dataset.labelSummary.labels;
  const hues = useMemo(() => new Map(labels.map((label, index) => [label.id, index])), [dataset]);
  const isSuspects = Boolean(modelId);
  useEffect(() => {
    examples.load(0, 100);
    if (!isFirst) list.current?.focus({ preventScroll: true });
  }, [examples]);

  const selection = () => {
    const some = [...chosen].filter((index) => examples.items[index]);
    return (some.length ? some : [at]).map((index) => examples.items[index]).filter(Boolean);
  };
  const step = (by) => setAt((now) => Math.max(0, Math.min(examples.total - 1, now + by)));
  const markReviewed = (items) => {
    if (isSuspects) setReviewedIds(new Set([...reviewedIds, ...items.map(({ id }) => id)]));
  };
  const assign = (label) => {
    const items = selection();
    corrections.move(items, label);
    markReviewed(items);
    setChosen(new Set());
    if (items.length === 1) step(1);
    list.current?.focus({ preventScroll: true });
  };
  const remove = () => {
    const items = new Set(selection());
    const removed = [...items]
      .map((item) => [examples.items.indexOf(item), item])
      .sort(([one], [other]) => other - one);
    for (const [index] of removed) examples.drop(index);
    setChosen(new Set());
    setAt(Math.min(at, Math.max(0, examples.total - 1)));
    corrections.remove([...items], (restored) => {
      for (const [index, item] of [...removed].reverse())
        if (restored.includes(item)) examples.restore(index, item);
      setAt(removed.at(-1)[0]);
    });
  };
  const accept = () => {
    const items = selection();
    for (const item of items) {
      const label = labels.find((one) => one.name === item.suggestion);
      if (label) corrections.move([item], label);
    }
    markReviewed(items);
    if (items.length === 1) step(1);
  };
  const keep = () => {
    markReviewed(selection());
    step(1);
  };
  const choose = (index) =>
    setChosen((old) => {
      const now = new Set(old);
      if (!now.delete(index)) now.add(index);
      return now;
    });
  const keys = {
    j: () => step(1),
    ArrowDown: () => step(1),
    k: () => step(-1),
    ArrowUp: () => step(-1),
    PageDown: () => step(10),
    PageUp: () => step(-10),
    Home: () => setAt(0),
    End: () => setAt(Math.max(0, examples.total - 1)),
    u: () => {
      corrections.undo();
      step(-1);
    },
    x: remove,
    " ": () => {
      choose(at);
      step(1);
    },
    "/": () => search.current.focus(),
    l: () => search.current.focus(),
    ...(hasBoxes && { b: () => examples.items[at] && setEdited(examples.items[at]) }),
    ...(isSuspects && { a: accept, s: keep, t: () => startTraining(dataset, family, modelId) }),
  };
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select") || edited)
      return;
    if (event.key === " " && event.target.matches("button")) return;
    const act =
      /^[1-9]$/.test(event.key) && labels[event.key - 1]
        ? () => assign(labels[event.key - 1])
        : keys[event.key];
    if (!act || (examples.total === 0 && event.key !== "t" && event.key !== "u")) return;
    event.preventDefault();
    act();
  };
  const edit = (changed) => {
    setEdited(null);
    if (changed) {
      examples.reload();
      reload();
    }
    list.current?.focus({ preventScroll: true });
  };
  const left =
    isSuspects && examples.isComplete ? examples.items.filter(({ id }) => !reviewedIds.has(id)).length : null;
  const Row = family === "vision" ? ImageCell : TextRow;
  return html`
    <div class="review" onKeyDown=${press}>
      <div class="review-main">
        <div class="review-bar">
          <span role="status">
            ${t("browse.count", { count: number(examples.total) })}
            ${examples.inOrder && !examples.isComplete ? "+" : ""}
            ${left !== null ? ` · ${t("browse.left", { count: left })}` : ""}
            ${chosen.size > 0 ? ` · ${t("browse.chosen", { count: chosen.size })}` : ""}
          </span>
          <span class="muted">
            ${
              corrections.unsent || corrections.sending
                ? t("browse.saving")
                : corrections.moved
                  ? t("browse.saved")
                  : ""
            }
          </span>
          ${
            corrections.removals.size > 0 &&
            html`
              <span class="toast">
                ${t("browse.removed", { count: corrections.removals.size })}
                ${" "}
                <button type="button" class="button quiet small" onClick=${() => corrections.undo()}>
                  ${t("browse.undo")}
                </button>
              </span>
            `
          }
          ${
            isSuspects &&
            html`
              <${Action}
                kind=${left === 0 ? "primary" : ""}
                small
                focused=${left === 0 && corrections.moved > 0}
                run=${() => corrections.finish().then(() => startTraining(dataset, family, modelId))}
              >
                ${t("model.again")}
              <//>
            `
          }
        </div>
        ${
          examples.total === 0 && (examples.isComplete || !examples.inOrder)
            ? html`<p class="empty">${isSuspects ? t("browse.noSuspects") : t("browse.none")}</p>`
            : html`
              <${VirtualList}
                list=${list}
                label=${t("tab.examples")}
                count=${examples.total}
                at=${at}
                wide=${family === "vision"}
                load=${(from, to) => examples.load(from, to)}
                row=${(index) => html`
                  <${Row}
                    example=${examples.items[index]}
                    hues=${hues}
                    isReviewed=${reviewedIds.has(examples.items[index]?.id)}
                  />
                `}
                chosen=${chosen}
                pick=${(index, event) => {
                  setAt(index);
                  if (event.ctrlKey || event.metaKey || event.shiftKey) choose(index);
                }}
              />
            `
        }
      </div>
      <${Palette}
        labels=${labels}
        search=${search}
        assign=${assign}
        leave=${() => list.current?.focus()}
        isSuspects=${isSuspects}
        accept=${accept}
        keep=${keep}
        remove=${remove}
        undo=${() => corrections.undo()}
        example=${examples.items[at]}
        edit=${hasBoxes && keys.b}
      />
      ${edited && html`<${BoxEditor} example=${edited} labels=${labels} variables=${variables} close=${edit} />`}
    </div>
  `;
}

const Chip = ({ label, hue }) => html`
  <span class="chip">
    <span class="dot" style=${{ background: colour(hue ?? 0) }}></span>
    <bdi>${label.name}</bdi>
  </span>
`;

const Suggestion = ({ example, isReviewed }) =>
  example.suggestion &&
  html`
    <span class="suggestion">
      ${isReviewed ? "✓ " : ""}→${" "}
      <bdi>${example.suggestion}</bdi>
      ${" "}
      <span class="muted">${percent(example.confidence)}</span>
    </span>
  `;

function TextRow({ example, hues, isReviewed }) {
  if (!example)
    return html`
      <span class="text-row"><span class="blank"></span><span class="unseen">${t("page.loading")}</span></span>
    `;
  return html`
    <span class="text-row">
      <span class="text" dir="auto">${example.name}</span>
      <span class="text-labels">
        <${Chip} label=${example.label} hue=${hues.get(example.label.id)} />
        <${Suggestion} example=${example} isReviewed=${isReviewed} />
      </span>
    </span>
  `;
}

function ImageCell({ example, hues, isReviewed }) {
  if (!example)
    return html`<span class="cell"><span class="blank"></span><span class="unseen">${t("page.loading")}</span></span>`;
  return html`
    <span class="cell">
      <${Thumbnail} example=${example} />
      <${Chip} label=${example.label} hue=${hues.get(example.label.id)} />
      <${Suggestion} example=${example} isReviewed=${isReviewed} />
    </span>
  `;
}
