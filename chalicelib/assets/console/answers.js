// Writes tables of answers that are more than a label: found objects, and what was read in documents.

import { useEffect, useState } from "./hooks.module.js";
import { readLines } from "./api.js";
import { Action, html } from "./ui.js";
import { t } from "./words.js";

// A larger result takes too much memory in the page; it can be downloaded as it is.
const MAX_BYTES = 100_000_000;
const BOX = ["minX", "minY", "maxX", "maxY"];

/** Write a cell so that a spreadsheet neither splits it nor runs it as a formula. */
const cell = (value) =>
  typeof value === "number"
    ? String(value)
    : `"${(value ?? "").replace(/^[=+\-@\t\r]/, "'$&").replace(/"/g, '""')}"`;

/** Write rows of cells as CSV. The mark at its start makes spreadsheets read UTF-8. */
export const toCsv = (rows) => `\ufeff${rows.map((row) => row.map(cell).join()).join("\r\n")}\r\n`;

/** A link that saves a text as a file. */
export function SaveLink({ text, type, name, kind = "", children }) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([text], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [text]);
  return html`<a class=${`button ${kind}`} href=${url} download=${name}>${children}</a>`;
}

const pageOf = ({ attributes }) => attributes?.pageNumber ?? 1;
const boxOf = ({ boundingBox }) => BOX.map((side) => boundingBox?.[side] ?? "");

// The columns between file and error, and the rows of one item.
const TABLES = {
  detect: {
    heads: ["label", "probability", ...BOX],
    rows: (item) => [[item.label, item.probability, ...boxOf(item)]],
  },
  text: {
    heads: ["page", "text", "probability", ...BOX],
    rows: (item) => [[pageOf(item), item.label, item.probability, ...boxOf(item)]],
  },
  contact: {
    heads: ["page", "tag", "text", "probability", ...BOX],
    rows: (item) => [
      [pageOf(item), item.attributes?.tag ?? "", item.label, item.probability, ...boxOf(item)],
    ],
  },
  table: {
    heads: ["page", "table", "row", "column", "text"],
    rows: (item, number) =>
      (item.attributes?.cells ?? []).map(({ text, cellLocation: { rowIndex, colIndex } }) => [
        pageOf(item),
        number,
        rowIndex,
        colIndex,
        text,
      ]),
  },
};

/** Return the rows of a result with one row for each object, text or cell; a file without any has one too. */
function listItems(lines, { heads, rows }) {
  const found = lines.flatMap(({ id, probabilities = [], error }) => {
    const made = probabilities.flatMap((item, index) => rows(item, index + 1));
    const filled = made.length ? made : [heads.map(() => "")];
    return filled.map((row) => [id, ...row, error?.message ?? ""]);
  });
  return [["file", ...heads, "error"], ...found];
}

/** Return the rows of a result with one row for each file, and one column for each field. */
function listFields(lines) {
  const names = new Set();
  const files = lines.map(({ id, probabilities = [], error }) => {
    const values = new Map();
    for (const { attributes } of probabilities.filter((item) => item.attributes?.key)) {
      const name = attributes.value.entity || attributes.key.entity || attributes.key.text;
      names.add(name);
      values.set(name, values.get(name) || attributes.value.text);
    }
    return { id, values, message: error?.message ?? "" };
  });
  return [
    ["file", ...names, "error"],
    ...files.map(({ id, values, message }) => [id, ...[...names].map((name) => values.get(name)), message]),
  ];
}

/** Makes a table of a batch's JSON lines when a person asks for it. `kind`: `detect` or the task of reading. */
export function AnswerTable({ batch, kind }) {
  const [text, setText] = useState("");
  if (batch.resultBytes > MAX_BYTES) return null;
  const write = async () => {
    const lines = await readLines(batch.resultUrl);
    setText(toCsv(kind === "form" ? listFields(lines) : listItems(lines, TABLES[kind])));
  };
  return text
    ? html`<${SaveLink} text=${text} type="text/csv" name="answers.csv" kind="primary">${t("answers.save")}<//>`
    : html`<${Action} kind="primary" run=${write}>${t("answers.write")}<//>`;
}
