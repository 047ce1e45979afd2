// How the service read a file: its first rows, format, labels and warnings, and what can be changed.

import { useState } from "./hooks.module.js";
import { rolesOf, withField, withRole } from "./reading.js";
import { Action, Bar, familyOf, Field, html, nameControls, number, Table } from "./ui.js";
import { DELIMITERS, Warnings } from "./warnings.js";
import { MIN_EXAMPLES, WeakLabels } from "./weak_labels.js";
import { t } from "./words.js";

const MAX_LABELS = 12;
const MAX_COLUMNS = 40;
const HEADER_ROWS = 6;
const ENCODINGS = [
  ..."utf-8 utf-16 windows-1252 windows-1250 windows-1251 windows-1254 windows-1256".split(" "),
  ..."cp932 gb18030 big5 euc_kr koi8-r cp437".split(" "),
];
const ROLES = ["", "text", "label"];

export function Preview({ found, file, type, options, busy, change, setType, leaveOut, create, isNew }) {
  const [name, setName] = useState(file.name.replace(/\.\w+$/, ""));
  const [changes, plan] = useState({});
  const [removals, setRemovals] = useState({});
  const gone = (found.labels ?? []).filter(({ name: label }) => changes[label]?.remove);
  const removed = gone.reduce((sum, label) => sum + label.numExamples, 0);
  // How many texts are left out is known when the dataset is read.
  const isFewer = Object.values(removals).some(Boolean);
  const count = number(found.kept - removed);
  const fix = { found, options, change, changes, plan, setRemovals, type, setType, leaveOut, isNew };
  return html`
    <section class="card" aria-busy=${busy}>
      <h2>${t("upload.understood")}</h2>
      ${
        found.refusal &&
        html`
          <p class="notice bad" role="alert">
            ${found.columns.length > 1 && html`<strong>${t("preview.choose")}</strong>${" "}`}
            ${nameControls(found.refusal)}
          </p>
        `
      }
      ${familyOf(type) === "language" && html`<${Controls} found=${found} options=${options} change=${change} />`}
      <${Rows} found=${found} options=${options} change=${change} />
      ${!found.refusal && html`<${Summary} ...${fix} />`}
      ${
        isNew &&
        html`
          <${Field} label=${t("upload.name")}>
            <input value=${name} maxlength="180" onInput=${(e) => setName(e.target.value)} />
          <//>
        `
      }
      <${Action}
        kind="primary"
        focused
        disabled=${busy || found.refusal || !found.kept}
        run=${() => create(name, changes, removals)}
      >
        ${
          isNew
            ? t(isFewer ? "upload.createFewer" : "upload.create", { count })
            : t("upload.addCount", { count })
        }
      <//>
    </section>
  `;
}

/** Choosers of sheet, header row, delimiter and encoding. A change reads the file again. */
export function Controls({ found, options, change, encodings = ENCODINGS }) {
  const { format = {}, sheets } = found;
  const set = (name) => (e) => change(withField(options, name, e.target.value));
  const first = found.preview[0]?.row ?? 1;
  // The row above the first one that was read. A refused file has no format.
  const recognised = format.header ? String(Math.max(1, first - 1)) : format.header === false ? "false" : "";
  const header = options.header ?? recognised;
  const isTable = sheets.length > 0 || !/^json|labelStudio/.test(format.kind ?? "");
  const offered = [...new Set([...encodings, format.encoding].filter(Boolean))];
  return html`
    <div class="row">
      ${
        sheets.length > 1 &&
        html`
          <${Field} label=${t("preview.sheet")}>
            <select value=${options.sheet ?? sheets[0].name} onChange=${set("sheet")}>
              ${sheets.map((one) => html`<option value=${one.name}>${one.name} (${number(one.rows)})</option>`)}
            </select>
          <//>
        `
      }
      ${
        isTable &&
        html`
          <${Field} label=${t("preview.header")}>
            <select value=${header} onChange=${set("header")}>
              <option value="">${t("preview.detected")}</option>
              <option value="false">${t("preview.noHeader")}</option>
              ${Array.from({ length: Math.max(HEADER_ROWS, Number(header) || 0) }, (_, index) =>
                String(index + 1),
              ).map((row) => html`<option value=${row}>${t("preview.row", { row })}</option>`)}
            </select>
          <//>
        `
      }
      ${
        isTable &&
        !sheets.length &&
        html`
          <${Field} label=${t("preview.delimiter")}>
            <select
              value=${options.delimiter ?? DELIMITERS[format.delimiter] ?? ""}
              onChange=${set("delimiter")}
            >
              <option value="">${t("preview.detected")}</option>
              ${Object.values(DELIMITERS).map((one) => html`<option value=${one}>${t(`delimiter.${one}`)}</option>`)}
            </select>
          <//>
        `
      }
      ${
        !sheets.length &&
        encodings.length > 0 &&
        html`
          <${Field} label=${t("format.encoding")}>
            <select value=${options.encoding ?? format.encoding ?? ""} onChange=${set("encoding")}>
              <option value="">${t("preview.detected")}</option>
              ${offered.map((one) => html`<option value=${one}>${one}</option>`)}
            </select>
          <//>
        `
      }
    </div>
  `;
}

/** Return the columns to show: those with a role and the best ranked ones, in their order. */
function shownColumns(columns, roles, all) {
  if (all || columns.length <= MAX_COLUMNS) return columns;
  const weight = ({ position, rank }) => (roles[position] ? 0 : Math.min(rank.text, rank.label));
  const best = columns.toSorted((one, other) => weight(one) - weight(other)).slice(0, MAX_COLUMNS);
  return best.sort((one, other) => one.position - other.position);
}

const classOf = (role) => (role ? `used used-${role}` : "");

/** The first rows as they were read, with the role of each column; of archives the paths and labels. */
export function Rows({ found, options, change, choices = ROLES }) {
  const [all, setAll] = useState(false);
  if (!found.preview.length) return null;
  const roles = Object.fromEntries(
    Object.entries(rolesOf(options, found)).filter(([, role]) => choices.includes(role)),
  );
  const columns = shownColumns(found.columns, roles, all);
  const isTable = columns.length > 0;
  // Without a choice of labels the rows need none, and are not rejected for that.
  const reasonOf = (row) => choices === ROLES && row.reason;
  const titleOf = (column) => column.name || t("preview.column", { position: column.position });
  const heads = isTable
    ? columns.map(
        (column) => html`
          <span class="column-name cut" dir="auto">${titleOf(column)}</span>
          <select
            class="small"
            aria-label=${t("preview.role", { name: titleOf(column) })}
            value=${roles[column.position] ?? ""}
            onChange=${(e) => change(withRole(options, found, column.position, e.target.value))}
          >
            ${choices.map((role) => html`<option value=${role}>${t(`role.${role}`)}</option>`)}
          </select>
        `,
      )
    : [t("preview.file"), t("metrics.label")];
  return html`
    <${Table}
      label=${t("preview.rows", { count: found.preview.length })}
      heads=${[t("preview.number"), ...heads]}
      kind="preview"
    >
      ${found.preview.map(
        (row) => html`
          <tr class=${reasonOf(row) ? "left-out" : ""}>
            <th scope="row">
              ${row.row}
              ${reasonOf(row) && html`<span class="bad-text small"> ${t("preview.rejected")} ${row.reason}</span>`}
            </th>
            ${(isTable ? columns.map(({ position }) => row.cells[position - 1]) : [row.text, row.label]).map(
              (cell, index) => html`
                <td dir="auto" class=${isTable ? classOf(roles[columns[index].position]) : ""}>
                  <span class="clip">${cell}</span>
                </td>
              `,
            )}
          </tr>
        `,
      )}
    <//>
    ${
      columns.length < found.columns.length &&
      html`
        <button type="button" class="button small" onClick=${() => setAll(true)}>
          ${t("preview.all", { count: number(found.columns.length) })}
        </button>
      `
    }
  `;
}

/** Return labels as they will be after the planned `changes`; duplicates are not known yet. */
function planned(labels, changes) {
  const merged = (name) =>
    labels
      .filter((label) => changes[label.name]?.into === name)
      .reduce((sum, one) => sum + one.numExamples, 0);
  return labels
    .filter(({ name }) => !changes[name])
    .map((label) => ({ ...label, numExamples: label.numExamples + merged(label.name) }));
}

function Summary(fix) {
  const { found, changes, plan, type, isNew } = fix;
  const { kind } = found.format;
  const labels = planned(found.labels, changes);
  const most = Math.max(...labels.map((label) => label.numExamples), 1);
  const weak = found.labels.filter((label) => label.numExamples < MIN_EXAMPLES);
  // Only texts need a minimum number of examples of each label.
  const isText = familyOf(type) === "language";
  const isFixable = isNew && isText && weak.length > 0 && weak.length < found.labels.length;
  // The list below has the weak labels, with buttons; the reason about them is the first one.
  const warnings = found.warnings.filter(({ code }) => !isFixable || code !== "fewExamples");
  const reasons = found.reasons.slice(isFixable ? 1 : 0);
  return html`
    <dl class="facts">
      <div><dt>${t("format.kind")}</dt><dd>${kind === "zipFolders" ? t("format.folders") : kind}</dd></div>
      ${["kept", "duplicates", "rejected"].map(
        (key) => html`<div><dt>${t(`format.${key}`)}</dt><dd>${number(found[key])}</dd></div>`,
      )}
    </dl>
    <${Warnings} ...${fix} found=${{ ...found, warnings }} />
    ${reasons.map((reason) => html`<p class="notice warn">${reason}</p>`)}
    ${
      isFixable &&
      html`
        <p>${t("weak.lead", { count: MIN_EXAMPLES })}</p>
        <${WeakLabels}
          weak=${weak}
          labels=${found.labels.map((label) => label.name)}
          changes=${changes}
          plan=${plan}
        />
      `
    }
    <${Rejections} of=${found} />
    <h3>${t("upload.labels", { count: number(labels.length) })}</h3>
    <div class="bars">
      ${labels.slice(0, MAX_LABELS).map(
        (label, index) => html`
          <${Bar}
            label=${label.name}
            value=${label.numExamples}
            most=${most}
            text=${number(label.numExamples)}
            hue=${index}
          />
        `,
      )}
    </div>
    ${
      labels.length > MAX_LABELS &&
      html`<p class="muted small">${t("upload.more", { count: number(labels.length - MAX_LABELS) })}</p>`
    }
  `;
}

/** The rejected rows or files with their reasons. */
export function Rejections({ of }) {
  if (!of.rejections.length) return null;
  return html`
    <details>
      <summary>${t("upload.rejections", { count: number(of.rejected) })}</summary>
      <ul class="plain">
        ${of.rejections.map(
          (one) => html`<li><span class="tag"><bdi>${one.row ?? one.file}</bdi></span> ${one.reason}</li>`,
        )}
      </ul>
    </details>
  `;
}
