// Upload data: a file is validated and previewed before a dataset is created.

import { useState } from "./hooks.module.js";
import { call, uploadIfLarge } from "./api.js";
import { datasetUrl } from "./datasets.js";
import { listDropped, withPath, MAX_BYTES, zipFiles } from "./folder.js";
import {
  Action,
  Bar,
  bytes,
  familyOf,
  Field,
  go,
  Head,
  html,
  number,
  Problem,
  Progress,
  useFocus,
} from "./ui.js";
import { t } from "./words.js";

const TYPES = ["text-intent", "text-sentiment", "image", "image-multi-label", "image-detection"];
const MAX_LABELS = 12;

/** Guess the dataset type from the file name. */
const guessType = (name) => (/\.zip$/i.test(name) ? "image" : "text-intent");

export function Upload({ query }) {
  const [file, setFile] = useState(null);
  const [type, setType] = useState("text-intent");
  const [checked, setChecked] = useState(null);
  const [sent, setSent] = useState(null);
  const [error, setError] = useState(null);

  /** Validate a file. A large one is sent to the bucket once, for validation and upload. */
  const check = async (chosen, chosenType) => {
    setFile(chosen);
    setType(chosenType);
    setChecked(null);
    setError(null);
    try {
      if (chosen.size > MAX_BYTES) throw new Error(t("upload.tooLarge", { limit: 2 }));
      setSent(0);
      const parts = await uploadIfLarge(chosen, setSent);
      setSent(1);
      const variables = { family: familyOf(chosenType) };
      const fields = { type: chosenType, ...parts.fields };
      setChecked({
        ...(await call("validate", {
          variables,
          fields,
          file: parts.file,
          onProgress: parts.file && setSent,
        })),
        parts,
      });
    } catch (problem) {
      setError(problem);
    } finally {
      setSent(null);
    }
  };
  const choose = async (files) => {
    if (!files.length) return;
    setError(null);
    try {
      const isFolder = files.length > 1 || files[0].path.includes("/");
      const one = isFolder ? await zipFiles(files, setSent) : files[0].file;
      check(one, guessType(one.name));
    } catch (problem) {
      setError(problem);
      setSent(null);
    }
  };
  const create = async (name) => {
    const { parts } = checked;
    if (query.to) {
      await call("addUpload", {
        variables: { family: query.family, dataset_id: query.to },
        fields: parts.fields,
        file: parts.file,
      });
      return go(`#/dataset/${query.family}/${query.to}/uploads`);
    }
    const fields = { type, name, ...parts.fields };
    return go(
      datasetUrl(await call("upload", { variables: { family: familyOf(type) }, fields, file: parts.file })),
    );
  };
  return html`
    <${Head}
      title=${query.to ? t("upload.add") : t("upload.title")}
      back=${{ href: "#/datasets", text: t("menu.datasets") }}
    />
    <${DropZone} choose=${choose} file=${file} />
    ${
      file &&
      html`
        <${Field} label=${t("upload.type")}>
          <select value=${type} onChange=${(e) => check(file, e.target.value)}>
            ${TYPES.map((name) => html`<option value=${name}>${t(`type.${name}`)}</option>`)}
          </select>
        <//>
      `
    }
    ${
      sent !== null &&
      html`<${Progress} value=${sent} label=${sent < 1 ? t("upload.sending") : t("upload.checking")} />`
    }
    ${error && html`<${Problem} error=${error} />`}
    ${
      error &&
      file &&
      file.size <= MAX_BYTES &&
      html`<${Action} kind="primary" run=${() => check(file, type)}>${t("page.again")}<//>`
    }
    ${checked && html`<${Preview} found=${checked} file=${file} create=${create} isNew=${!query.to} />`}
  `;
}

function DropZone({ choose, file }) {
  const [over, setOver] = useState(false);
  const first = useFocus();
  const drop = async (event) => {
    event.preventDefault();
    setOver(false);
    choose(await listDropped(event.dataTransfer));
  };
  return html`
    <div
      class=${`drop ${over ? "over" : ""}`}
      onDragOver=${(e) => {
        e.preventDefault();
        setOver(true);
      }}
      onDragLeave=${() => setOver(false)}
      onDrop=${drop}
    >
      <p class="drop-title">${file ? html`<bdi>${file.name}</bdi> · ${bytes(file.size)}` : t("upload.drop")}</p>
      <p class="muted small">${t("upload.kinds")}</p>
      <div class="row">
        <label class="button primary">
          ${t("upload.choose")}
          <input
            ref=${first}
            class="hidden-input"
            type="file"
            accept=".csv,.tsv,.json,.jsonl,.xlsx,.zip,.txt"
            onChange=${(e) => choose([...e.target.files].map(withPath))}
          />
        </label>
        <label class="button">
          ${t("upload.folder")}
          <input
            class="hidden-input"
            type="file"
            webkitdirectory
            onChange=${(e) => choose([...e.target.files].map(withPath))}
          />
        </label>
      </div>
    </div>
  `;
}

/** How the service read a file: format, labels, warnings and rejected rows. */
function Preview({ found, file, create, isNew }) {
  const [name, setName] = useState(file.name.replace(/\.\w+$/, ""));
  const most = Math.max(...found.labels.map((label) => label.numExamples), 1);
  const facts = [
    ["kind", found.format.kind],
    ["encoding", found.format.encoding],
    ["textColumn", found.format.textColumn],
    ["labelColumn", found.format.labelColumn],
  ];
  return html`
    <section class="card">
      <h2>${t("upload.understood")}</h2>
      <dl class="facts">
        ${facts
          .filter(([, value]) => value !== null)
          .map(([key, value]) => html`<div><dt>${t(`format.${key}`)}</dt><dd>${value}</dd></div>`)}
        ${["kept", "duplicates", "rejected"].map(
          (key) => html`<div><dt>${t(`format.${key}`)}</dt><dd>${number(found[key])}</dd></div>`,
        )}
      </dl>
      ${found.warnings.map(
        (warning) => html`
          <p class="notice warn">
            ${warning.message}
            ${
              warning.places.length > 0 &&
              html`<span class="small"> ${warning.places.slice(0, 5).join(", ")}</span>`
            }
          </p>
        `,
      )}
      ${!found.isTrainable && found.reasons.map((reason) => html`<p class="notice warn">${reason}</p>`)}
      ${
        found.rejections.length > 0 &&
        html`
          <details>
            <summary>${t("upload.rejections", { count: number(found.rejected) })}</summary>
            <ul class="plain">
              ${found.rejections.map(
                (one) =>
                  html`<li><span class="tag"><bdi>${one.row ?? one.file}</bdi></span> ${one.reason}</li>`,
              )}
            </ul>
          </details>
        `
      }
      <h3>${t("upload.labels", { count: number(found.labels.length) })}</h3>
      <div class="bars">
        ${found.labels.slice(0, MAX_LABELS).map(
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
        found.labels.length > MAX_LABELS &&
        html`
          <p class="muted small">${t("upload.more", { count: number(found.labels.length - MAX_LABELS) })}</p>
        `
      }
      ${
        isNew &&
        html`
          <${Field} label=${t("upload.name")}>
            <input value=${name} maxlength="180" onInput=${(e) => setName(e.target.value)} />
          <//>
        `
      }
      <${Action} kind="primary" focused disabled=${!found.kept} run=${() => create(name)}>
        ${t(isNew ? "upload.create" : "upload.addCount", { count: number(found.kept) })}
      <//>
    </section>
  `;
}
