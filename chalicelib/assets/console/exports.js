// Exports the examples of a dataset as a file.

import { useState } from "./hooks.module.js";
import { call } from "./api.js";
import { Action, bytes, Field, html, number, Problem, useEvery } from "./ui.js";
import { t } from "./words.js";

const FORMATS = { text: ["csv", "jsonl"], image: ["zip"], detection: ["zip", "coco", "yolo", "voc"] };
const formatsOf = (type) =>
  FORMATS[type.startsWith("text") ? "text" : type.endsWith("detection") ? "detection" : "image"];

export function Exports({ dataset, variables }) {
  const formats = formatsOf(dataset.type);
  const [format, setFormat] = useState(formats[0]);
  const [source, setSource] = useState("all");
  const [exported, setExported] = useState(null);
  const open = exported !== null && !["SUCCEEDED", "FAILED"].includes(exported.status);
  const poll = async () =>
    setExported(await call("export", { variables: { ...variables, export_id: exported.id } }));
  useEvery(700, open, poll);
  const start = async () => setExported(await call("createExport", { variables, json: { format, source } }));
  return html`
    <section class="card">
      <h2>${t("export.title")}</h2>
      <p class="muted">${t("export.lead")}</p>
      <div class="row">
        <${Field} label=${t("export.format")}>
          <select value=${format} onChange=${(e) => setFormat(e.target.value)}>
            ${formats.map((name) => html`<option value=${name}>${t(`export.${name}`)}</option>`)}
          </select>
        <//>
        <${Field} label=${t("browse.source")}>
          <select value=${source} onChange=${(e) => setSource(e.target.value)}>
            ${["all", "upload", "feedback"].map(
              (name) => html`
                <option value=${name}>${name === "all" ? t("browse.all") : t(`source.${name}`)}</option>
              `,
            )}
          </select>
        <//>
      </div>
      <${Action} kind="primary" disabled=${open} run=${start}>${t("export.start")}<//>
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
        html`
          <p class="notice good">
            <a href=${exported.url} download>
              ${t("export.fetch", { examples: number(exported.examples), size: bytes(exported.bytes) })}
            </a>
          </p>
        `
      }
    </section>
  `;
}
