// The result of reading a document: boxes on its pages, and their content next to them.

import { useState } from "./hooks.module.js";
import { html, percent } from "./ui.js";
import { t } from "./words.js";

/** What can be extracted from a document. */
export const TASKS = ["text", "table", "contact", "form"];
export const FORM_TYPES = [
  "1040",
  "dl",
  "passport",
  "paystub",
  "permanentResident",
  "w2",
  "1099int",
  "1099div",
  "1099nec",
  "1099misc",
  "1099g",
  "invoice",
  "receipt",
  "bankStatement",
];

const kindOf = ({ attributes }) => (attributes?.cells ? "table" : attributes?.key ? "field" : "text");

/** `pick` takes the text of an item that was clicked, on the page or in the list. */
export function DocumentAnswer({ answer, file, source, pick = null }) {
  const items = answer.probabilities ?? [];
  const isImage = file.type.startsWith("image/");
  const pages = answer.pages ?? estimatePages(items);
  const [shown, setShown] = useState(-1);
  return html`
    <section class="card answer document">
      <div class="stage">
        ${pages.map(
          (page) => html`
            <${PageView}
              page=${page}
              source=${isImage ? source : page.image}
              items=${items}
              shown=${shown}
              pick=${pick}
            />
          `,
        )}
      </div>
      <div>
        <h2>${t("document.found", { count: items.length })}</h2>
        <ol class="plain found">
          ${items.map(
            (item, index) => html`
              <li onMouseEnter=${() => setShown(index)} onMouseLeave=${() => setShown(-1)}>
                ${
                  pick
                    ? html`
                      <button
                        type="button"
                        class="pick"
                        onFocus=${() => setShown(index)}
                        onClick=${() => pick(item.label)}
                      >
                        <bdi>${item.label}</bdi>
                      </button>
                    `
                    : html`<${Item} item=${item} />`
                }
              </li>
            `,
          )}
        </ol>
      </div>
    </section>
  `;
}

/** Estimate page sizes from the boxes, for answers without them. */
function estimatePages(items) {
  const pages = new Map();
  for (const { boundingBox: box, attributes } of items) {
    const pageNumber = attributes?.pageNumber ?? 1;
    const page = pages.get(pageNumber) ?? { pageNumber, width: 100, height: 100 };
    pages.set(pageNumber, {
      pageNumber,
      width: Math.max(page.width, (box?.maxX ?? 0) + 40),
      height: Math.max(page.height, (box?.maxY ?? 0) + 40),
    });
  }
  return [...pages.values()].sort((one, other) => one.pageNumber - other.pageNumber);
}

function PageView({ page, source, items, shown, pick }) {
  const [size, setSize] = useState(page);
  // The image of a PDF's page may be smaller than the page, whose pixels the boxes count.
  const fit = (event) =>
    !page.image && setSize({ ...page, width: event.target.naturalWidth, height: event.target.naturalHeight });
  const here = items
    .map((item, index) => [item, index])
    .filter(([item]) => item.boundingBox && (item.attributes?.pageNumber ?? 1) === page.pageNumber);
  return html`
    <figure class="page">
      <span class="boxed">
        ${
          source
            ? html`<img src=${source} alt=${t("document.page", { number: page.pageNumber })} onLoad=${fit} />`
            : html`<span class="paper" style=${{ aspectRatio: `${size.width} / ${size.height}` }}></span>`
        }
        <svg viewBox=${`0 0 ${size.width} ${size.height}`} aria-hidden="true">
          ${here.map(
            ([item, index]) => html`
              <rect
                class=${`${kindOf(item)} ${index === shown ? "shown" : ""} ${pick ? "pickable" : ""}`}
                onClick=${pick && (() => pick(item.label))}
                x=${item.boundingBox.minX}
                y=${item.boundingBox.minY}
                width=${item.boundingBox.maxX - item.boundingBox.minX}
                height=${item.boundingBox.maxY - item.boundingBox.minY}
              />
            `,
          )}
        </svg>
      </span>
      <figcaption class="muted small">${t("document.page", { number: page.pageNumber })}</figcaption>
    </figure>
  `;
}

function Item({ item }) {
  const { attributes = {}, label, probability } = item;
  if (attributes.cells) return html`<${Table} cells=${attributes.cells} />`;
  if (attributes.key)
    return html`
      <strong dir="auto">${attributes.key.text || attributes.key.entity}</strong>
      ${" "}
      <span dir="auto">${attributes.value.text || "–"}</span>
      ${" "}
      <span class="muted small">${percent(probability)}</span>
    `;
  return html`
    ${attributes.tag && html`<span class="tag">${attributes.tag}</span> `}
    <span dir="auto">${label}</span> <span class="muted small">${percent(probability)}</span>
  `;
}

function Table({ cells }) {
  const rows = Math.max(...cells.map((cell) => cell.cellLocation.rowIndex)),
    columns = Math.max(...cells.map((cell) => cell.cellLocation.colIndex));
  const at = new Map(
    cells.map((cell) => [`${cell.cellLocation.rowIndex}/${cell.cellLocation.colIndex}`, cell.text]),
  );
  const range = (count) => Array.from({ length: count }, (_, index) => index + 1);
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${t("task.table")}>
      <table>
        <tbody>
          ${range(rows).map(
            (row) => html`
              <tr>
                ${range(columns).map((column) => html`<td dir="auto">${at.get(`${row}/${column}`) ?? ""}</td>`)}
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}
