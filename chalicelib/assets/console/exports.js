// Exports the examples of a dataset, or a model, as a file.

import { useState } from "./hooks.module.js";
import { call } from "./api.js";
import { Action, bytes, Field, html, number, Problem, useEvery } from "./ui.js";
import { t } from "./words.js";

const FORMATS = { text: ["csv", "jsonl"], image: ["zip"], detection: ["zip", "coco", "yolo", "voc"] };
const formatsOf = (type) =>
  FORMATS[type.startsWith("text") ? "text" : type.endsWith("detection") ? "detection" : "image"];

/** Choose the format of a file, with `children` for more choices, and export it; `fetched` is the text of its link. */
function ExportForm({ formats, calls: [create, read], variables, fields, button, fetched, children }) {
  const [format, setFormat] = useState(formats[0]);
  const [exported, setExported] = useState(null);
  const open = exported !== null && !["SUCCEEDED", "FAILED"].includes(exported.status);
  const poll = async () =>
    setExported(await call(read, { variables: { ...variables, export_id: exported.id } }));
  useEvery(700, open, poll);
  const start = async () => setExported(await call(create, { variables, json: { format, ...fields } }));
  return html`
    <div class="row">
      <${Field} label=${t("export.format")}>
        <select value=${format} onChange=${(e) => setFormat(e.target.value)}>
          ${formats.map((name) => html`<option value=${name}>${t(`export.${name}`)}</option>`)}
        </select>
      <//>
      ${children}
    </div>
    <${Action} kind="primary" disabled=${open} run=${start}>${button}<//>
    ${
      open &&
      html`
        <p class="waiting" role="status">
          <span class="spinner" aria-hidden="true"></span>
          ${t("export.writing")}
        </p>
      `
    }
    ${exported?.failureMsg && html`<${Problem} error=${{ message: exported.failureMsg }} />`}
    ${
      exported?.url &&
      html`<p class="notice good"><a href=${exported.url} download>${fetched(exported)}</a></p>`
    }
  `;
}

export function Exports({ dataset, variables }) {
  const [source, setSource] = useState("all");
  return html`
    <section class="card">
      <h2>${t("export.title")}</h2>
      <p class="muted">${t("export.lead")}</p>
      <${ExportForm}
        formats=${formatsOf(dataset.type)}
        calls=${["createExport", "export"]}
        variables=${variables}
        fields=${{ source }}
        button=${t("export.start")}
        fetched=${(exported) => t("export.fetch", { examples: number(exported.examples), size: bytes(exported.bytes) })}
      >
        <${Field} label=${t("browse.source")}>
          <select value=${source} onChange=${(e) => setSource(e.target.value)}>
            ${["all", "upload", "feedback"].map(
              (name) => html`
                <option value=${name}>${name === "all" ? t("browse.all") : t(`source.${name}`)}</option>
              `,
            )}
          </select>
        <//>
      <//>
    </section>
  `;
}

/** The export of a model; a model that detects objects cannot be one graph. */
export function ModelExports({ type, variables }) {
  return html`
    <details class="card">
      <summary><h2>${t("export.model")}</h2></summary>
      <p class="muted">${t("export.modelLead")}</p>
      <${ExportForm}
        formats=${type === "image-detection" ? ["bundle"] : ["bundle", "onnx"]}
        calls=${["createModelExport", "modelExport"]}
        variables=${variables}
        button=${t("export.start")}
        fetched=${(exported) => t("export.fetchModel", { version: exported.modelVersion, size: bytes(exported.bytes) })}
      />
    </details>
  `;
}
