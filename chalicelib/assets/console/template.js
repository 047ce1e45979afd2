// Make a form template by clicking keys and values on a page, and read documents with it.

import { useState } from "./hooks.module.js";
import { SaveLink, toCsv } from "./answers.js";
import { Action, Field, html, Problem, Table } from "./ui.js";
import { t } from "./words.js";

const EMPTY = { version: "1.0", keys: [], headerCells: [], tableRecognition: false };
// The service accepts no longer key.
const MAX_CHARACTERS = 500;

const entitiesOf = (template) => template.keys.map(({ key }) => key.entity);

/** The template and what was read with it. Both are only in this page. */
export function useTemplate() {
  const [template, setTemplate] = useState(EMPTY);
  const [rows, setRows] = useState([]);
  const note = (file, answer) => {
    const values = new Map(
      answer.probabilities
        .filter(({ attributes }) => attributes.key)
        .map(({ attributes }) => [attributes.value.entity, attributes.value.text]),
    );
    setRows((old) => [...old.filter((row) => row.file !== file.name), { file: file.name, values }]);
  };
  return { template, setTemplate, rows, note };
}

// A key with its value behind it: `Total: 12.50`, and `Invoice No. A-12`, whose value has the first digit.
const WITH_COLON = /^(.{0,60}?):\s*(.*)$/s;
const WITH_DIGIT = /^((?:[^\d\s]+\s+)+)(\S*\d.*)$/s;

/** Divide a text into its key and value by one of the patterns; other texts have no value. */
function divide(text, ...patterns) {
  const found = patterns.map((pattern) => pattern.exec(text)).find(Boolean);
  const [, key, value] = found ?? [null, text, ""];
  return { key: key.trim(), value };
}

/** Name a field by its key. */
const nameOf = (key) =>
  key
    .normalize("NFKC")
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim()
    .replace(/ /g, "_")
    .toLowerCase();

/** What was clicked so far: `pick` takes the next text. */
export function useClicks() {
  const [clicked, setClicked] = useState({});
  const pick = (label) => {
    if (clicked.key === undefined) {
      const { key } = divide(label, WITH_COLON);
      setClicked({ key, label, name: nameOf(key) });
    } else if (label === clicked.label) {
      // A second click on the same text: it holds key and value.
      const { key, value } = divide(label, WITH_COLON, WITH_DIGIT);
      setClicked({ key, label, name: nameOf(key), value });
    } else setClicked({ ...clicked, value: label });
  };
  return { clicked, setClicked, pick };
}

function NewField({ clicks, own }) {
  const { clicked, setClicked } = clicks;
  const { template, setTemplate } = own;
  const change = (name) => (event) => setClicked({ ...clicked, [name]: event.target.value });
  const isTaken = entitiesOf(template).includes(clicked.name);
  const add = async () => {
    const key = {
      entity: clicked.name.trim(),
      keyVariations: [clicked.key.slice(0, MAX_CHARACTERS)],
      entityTypes: [],
    };
    setTemplate({ ...template, keys: [...template.keys, { key }] });
    document.querySelector(".found button")?.focus();
    setClicked({});
  };
  if (clicked.value === undefined)
    return html`
      <p class="notice" role="status">
        ${t(clicked.key === undefined ? "template.clickKey" : "template.clickValue", { key: clicked.key })}
      </p>
    `;
  return html`
    <div class="row" role="group" aria-label=${t("template.new")}>
      <${Field} label=${t("template.key")}>
        <input dir="auto" maxlength=${MAX_CHARACTERS} value=${clicked.key} onInput=${change("key")} />
      <//>
      <${Field} label=${t("template.name")} hint=${isTaken ? t("template.taken") : ""}>
        <input dir="auto" maxlength=${MAX_CHARACTERS} value=${clicked.name} onInput=${change("name")} />
      <//>
      <p>${t("template.value")}: <strong dir="auto">${clicked.value || "–"}</strong></p>
      <${Action}
        kind="primary"
        focused
        disabled=${isTaken || !clicked.name.trim() || !clicked.key.trim()}
        run=${add}
      >
        ${t("template.add")}
      <//>
      <${Action} run=${async () => setClicked({})}>${t("dialog.cancel")}<//>
    </div>
  `;
}

function csvOf(entities, rows) {
  const lines = rows.map(({ file, values }) => [file, ...entities.map((name) => values.get(name) ?? "")]);
  return toCsv([["file", ...entities], ...lines]);
}

function Readings({ own }) {
  const { rows, template } = own;
  const entities = entitiesOf(template);
  return html`
    <h3>${t("template.read")}</h3>
    <${Table} label=${t("template.read")} heads=${[t("template.file"), ...entities]}>
      ${rows.map(
        ({ file, values }) => html`
          <tr>
            <th scope="row"><bdi>${file}</bdi></th>
            ${entities.map((name) => html`<td dir="auto">${values.get(name) || "–"}</td>`)}
          </tr>
        `,
      )}
    <//>
    <${SaveLink} text=${csvOf(entities, rows)} type="text/csv" name="fields.csv">${t("template.csv")}<//>
  `;
}

/** A button that opens a template from a file. */
export function OpenTemplate({ own }) {
  const [error, setError] = useState(null);
  const open = async ({ target }) => {
    const [file] = target.files;
    target.value = "";
    try {
      const template = JSON.parse(await file.text());
      if (!template.keys.every(({ key }) => key.entity && key.keyVariations.length)) throw new Error("keys");
      own.setTemplate(template);
      setError(null);
    } catch {
      setError({ message: t("template.wrong", { file: file.name }) });
    }
  };
  return html`
    <label class="button">
      ${t("template.open")}
      <input class="hidden-input" type="file" accept=".json" onChange=${open} />
    </label>
    ${error && html`<${Problem} error=${error} />`}
  `;
}

/** The template's fields, the field that is being made, and what was read. `isText`: a page can be clicked. */
export function TemplateEditor({ own, clicks, isText }) {
  const { template, setTemplate, rows } = own;
  const remove = (index) => async () =>
    setTemplate({ ...template, keys: template.keys.filter((_, place) => place !== index) });
  return html`
    <section class="card">
      <h2>${t("template.title")}</h2>
      <p class="muted">${t("template.lead")}</p>
      ${
        template.keys.length > 0 &&
        html`
          <ul class="plain gapped">
            ${template.keys.map(
              ({ key }, index) => html`
                <li class="row">
                  <strong dir="auto">${key.entity}</strong>
                  <span dir="auto">${key.keyVariations.join(", ")}</span>
                  <${Action} small run=${remove(index)} aria-label=${t("template.remove", { name: key.entity })}>
                    ${t("template.removeShort")}
                  <//>
                </li>
              `,
            )}
          </ul>
        `
      }
      ${isText && html`<${NewField} clicks=${clicks} own=${own} />`}
      <p class="row">
        <${OpenTemplate} own=${own} />
        ${
          template.keys.length > 0 &&
          html`
            <${SaveLink} text=${JSON.stringify(template, null, 2)} type="application/json" name="template.json">
              ${t("template.save")}
            <//>
          `
        }
      </p>
      ${rows.length > 0 && html`<${Readings} own=${own} />`}
    </section>
  `;
}
