// Bring data: what a file would become is shown before anything is kept.

import { useState } from "./hooks.module.js";
import { call, placed } from "./api.js";
import { placeOf } from "./datasets.js";
import { dropped, listed, MOST_BYTES, zipped } from "./folder.js";
import { Action, Bar, bytes, familyOf, Field, go, Head, html, number, Problem, Progress, useFocus } from "./ui.js";
import { t } from "./words.js";

const TYPES = ["text-intent", "text-sentiment", "image", "image-multi-label", "image-detection"];
const SHOWN = 12;

/** Guesses the type of a dataset by its file. */
export const typeOf = (name) => (/\.zip$/i.test(name) ? "image" : "text-intent");

export function Bring({ query }) {
  const [file, setFile] = useState(null);
  const [type, setType] = useState("text-intent");
  const [checked, setChecked] = useState(null);
  const [sent, setSent] = useState(null);
  const [error, setError] = useState(null);

  /** Checks a file; one that is too large for a call is sent once, for check and upload. */
  const check = async (chosen, chosenType) => {
    setFile(chosen);
    setType(chosenType);
    setChecked(null);
    setError(null);
    try {
      if (chosen.size > MOST_BYTES) throw new Error(t("bring.tooLarge", { limit: 2 }));
      setSent(0);
      const parts = await placed(chosen, setSent);
      setSent(1);
      const variables = { family: familyOf(chosenType) };
      const fields = { type: chosenType, ...parts.fields };
      setChecked({ ...(await call("validate", { variables, fields, file: parts.file, onProgress: parts.file && setSent })), parts });
    } catch (problem) { setError(problem); } finally { setSent(null); }
  };
  const take = async (files) => {
    if (!files.length) return;
    setError(null);
    try {
      const isFolder = files.length > 1 || files[0].path.includes("/");
      const one = isFolder ? await zipped(files, setSent) : files[0].file;
      check(one, typeOf(one.name));
    } catch (problem) { setError(problem); setSent(null); }
  };
  const keep = async (name) => {
    const { parts } = checked;
    if (query.to) {
      await call("addUpload", { variables: { family: query.family, dataset_id: query.to }, fields: parts.fields, file: parts.file });
      return go(`#/dataset/${query.family}/${query.to}/uploads`);
    }
    const fields = { type, name, ...parts.fields };
    return go(placeOf(await call("upload", { variables: { family: familyOf(type) }, fields, file: parts.file })));
  };
  return html`<${Head} title=${query.to ? t("bring.add") : t("bring.title")} back=${{ href: "#/datasets", text: t("menu.datasets") }} />
    <${Drop} take=${take} file=${file} />
    ${file && html`<${Field} label=${t("bring.type")}><select value=${type} onChange=${(e) => check(file, e.target.value)}>
      ${TYPES.map((name) => html`<option value=${name}>${t(`type.${name}`)}</option>`)}</select><//>`}
    ${sent !== null && html`<${Progress} value=${sent} label=${sent < 1 ? t("bring.sending") : t("bring.checking")} />`}
    ${error && html`<${Problem} error=${error} />`}
    ${error && file && file.size <= MOST_BYTES && html`<${Action} kind="primary" run=${() => check(file, type)}>${t("page.again")}<//>`}
    ${checked && html`<${Understood} found=${checked} file=${file} keep=${keep} named=${!query.to} />`}`;
}

function Drop({ take, file }) {
  const [over, setOver] = useState(false);
  const first = useFocus();
  const drop = async (event) => {
    event.preventDefault();
    setOver(false);
    take(await dropped(event.dataTransfer));
  };
  return html`<div class=${`drop ${over ? "over" : ""}`} onDragOver=${(e) => { e.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    <p class="drop-title">${file ? html`<bdi>${file.name}</bdi> · ${bytes(file.size)}` : t("bring.drop")}</p>
    <p class="muted small">${t("bring.kinds")}</p>
    <div class="row"><label class="button primary">${t("bring.choose")}<input ref=${first} class="hidden-input" type="file" accept=".csv,.tsv,.json,.jsonl,.xlsx,.zip,.txt" onChange=${(e) => take([...e.target.files].map(listed))} /></label>
    <label class="button">${t("bring.folder")}<input class="hidden-input" type="file" webkitdirectory onChange=${(e) => take([...e.target.files].map(listed))} /></label></div>
  </div>`;
}

/** What was understood of a file. */
function Understood({ found, file, keep, named }) {
  const [name, setName] = useState(file.name.replace(/\.\w+$/, ""));
  const most = Math.max(...found.labels.map((label) => label.numExamples), 1);
  const facts = [["kind", found.format.kind], ["encoding", found.format.encoding], ["textColumn", found.format.textColumn], ["labelColumn", found.format.labelColumn]];
  return html`<section class="card"><h2>${t("bring.understood")}</h2>
    <dl class="facts">${facts.filter(([, value]) => value !== null).map(([key, value]) => html`<div><dt>${t(`format.${key}`)}</dt><dd>${value}</dd></div>`)}
      ${["kept", "duplicates", "rejected"].map((key) => html`<div><dt>${t(`format.${key}`)}</dt><dd>${number(found[key])}</dd></div>`)}</dl>
    ${found.warnings.map((warning) => html`<p class="notice warn">${warning.message}${warning.places.length > 0 && html`<span class="small"> ${warning.places.slice(0, 5).join(", ")}</span>`}</p>`)}
    ${!found.isTrainable && found.reasons.map((reason) => html`<p class="notice warn">${reason}</p>`)}
    ${found.rejections.length > 0 && html`<details><summary>${t("bring.rejections", { count: number(found.rejected) })}</summary>
      <ul class="plain">${found.rejections.map((one) => html`<li><span class="tag"><bdi>${one.row ?? one.file}</bdi></span> ${one.reason}</li>`)}</ul></details>`}
    <h3>${t("bring.labels", { count: number(found.labels.length) })}</h3>
    <div class="bars">${found.labels.slice(0, SHOWN).map((label, index) => html`<${Bar} label=${label.name} value=${label.numExamples} most=${most} text=${number(label.numExamples)} hue=${index} />`)}</div>
    ${found.labels.length > SHOWN && html`<p class="muted small">${t("bring.more", { count: number(found.labels.length - SHOWN) })}</p>`}
    ${named && html`<${Field} label=${t("bring.name")}><input value=${name} maxlength="180" onInput=${(e) => setName(e.target.value)} /><//>`}
    <${Action} kind="primary" focused disabled=${!found.kept} run=${() => keep(name)}>${t("bring.keep", { count: number(found.kept) })}<//></section>`;
}
