// Which to label next: bring what nobody has labelled, label what teaches most, train, and see the gain.

import { useEffect, useMemo, useRef, useState } from "./hooks.module.js";
import { call, CallError, lines, placed } from "./api.js";
import { listed, MOST_BYTES, PICTURE, zipped } from "./folder.js";
import { isOpen } from "./models.js";
import { Palette } from "./palette.js";
import { Teaching } from "./teaching.js";
import { unzipped } from "./unzip.js";
import { VirtualList } from "./virtual_list.js";
import { Action, colour, Field, Head, html, Loaded, number, percent, Problem, Progress, useEvery, useFocus, useLoad } from "./ui.js";
import { t } from "./words.js";

const COUNT = 50;
const MOST = 1000;
const HEAD_BYTES = 4096;

export function Next({ rest: [family, id] }) {
  const loaded = useLoad(async () => {
    const model = await call("training", { variables: { family, model_id: id } });
    return { model, dataset: await call("dataset", { variables: { family, dataset_id: model.datasetId } }) };
  }, [family, id]);
  const [ranking, setRanking] = useState(null);
  const open = ranking !== null && isOpen(ranking);
  useEvery(700, open, async () => setRanking({ ...ranking, ...(await call("batch", { variables: { family, batch_id: ranking.id } })) }));
  return html`<${Loaded} of=${loaded}>${({ model, dataset }) => html`
    <${Head} title=${t("next.title")} back=${{ href: `#/model/${family}/${id}`, text: model.name }} />
    ${ranking?.status !== "SUCCEEDED" && html`<${Ask} family=${family} model=${id} open=${open} set=${setRanking} />`}
    ${open && html`<${Progress} value=${ranking.progress} label=${t("next.choosing")} />`}
    ${ranking?.failureMsg && html`<${Problem} error=${{ message: ranking.failureMsg }} />`}
    ${ranking?.status === "SUCCEEDED" && html`<${Ranked} ranking=${ranking} family=${family} model=${model} dataset=${dataset} />`}`}<//>`;
}

/** Lists the pictures of a folder, or of the archive that was chosen in its place. */
async function picturesOf(found) {
  const [one] = found;
  if (one && one.file.size > MOST_BYTES) throw new CallError(t("bring.tooLarge", { limit: 2 }));
  const isArchive = found.length === 1 && /\.zip$/i.test(one.path);
  const pictures = (isArchive ? await unzipped(one.file) : found).filter(({ path }) => PICTURE.test(path));
  if (!pictures.length) throw new CallError(t("next.noPictures"));
  return pictures;
}

/** Guesses the column of the texts: of a file without one of that name the first. */
async function columnOf(file) {
  if (!/\.(csv|tsv|txt)$/i.test(file.name)) return "";
  const [first] = (await file.slice(0, HEAD_BYTES).text()).split(/\r?\n/);
  return /(^|[,;\t|"\ufeff])text($|[,;\t|"])/i.test(first) ? "" : "1";
}

function Ask({ family, model, open, set }) {
  const [files, setFiles] = useState([]);
  const [count, setCount] = useState(COUNT);
  const [column, setColumn] = useState("");
  const [sent, setSent] = useState(null);
  const [error, setError] = useState(null);
  const first = useFocus();
  const take = async (found) => {
    setFiles([]);
    setError(null);
    if (!found.length) return;
    try { setFiles(family === "vision" ? await picturesOf(found) : found); } catch (problem) { setError(problem); }
    if (family === "language") setColumn(await columnOf(found[0].file));
  };
  const ask = async () => {
    const pictures = family === "vision" ? new Map() : null;
    try {
      setSent(0);
      const file = pictures ? await zipped(files, setSent, pictures) : files[0].file;
      const parts = await placed(file, setSent);
      const fields = { modelId: model, count: Math.min(MOST, count), textColumn: column, ...parts.fields };
      set({ ...(await call("rank", { variables: { family }, fields, file: parts.file })), pictures });
    } finally { setSent(null); }
  };
  const input = (more) => html`<input type="file" ...${more} onChange=${(e) => take([...e.target.files].map(listed))} />`;
  return html`<section class="card"><p>${t("next.lead")}</p>
    ${family === "vision" ? html`<div class="row"><${Field} label=${t("next.folder")} hint=${t("next.cost")}>${input({ ref: first, webkitdirectory: true })}<//>
        <${Field} label=${t("next.zip")}>${input({ accept: ".zip" })}<//></div>`
    : html`<${Field} label=${t("next.texts")} hint=${t("next.cost")}>${input({ ref: first, accept: ".csv,.tsv,.jsonl,.xlsx,.txt" })}<//>`}
    ${files.length > 0 && family === "vision" && html`<p class="muted" role="status">${t("next.pictures", { count: number(files.length) })}</p>`}
    ${error && html`<${Problem} error=${error} />`}
    <div class="row"><${Field} label=${t("next.count")}><input type="number" min="1" max=${MOST} value=${count} onInput=${(e) => setCount(Number(e.target.value) || COUNT)} /><//>
      ${family === "language" && html`<${Field} label=${t("next.column")}><input value=${column} onInput=${(e) => setColumn(e.target.value)} /><//>`}</div>
    ${sent !== null && html`<${Progress} value=${sent} label=${t("bring.sending")} />`}
    <${Action} kind="primary" disabled=${open || !files.length} run=${ask}>${t("next.ask")}<//></section>`;
}

/** The samples that were chosen, to label one after the other. */
function Ranked({ ranking, family, model, dataset }) {
  const loaded = useLoad(() => lines(ranking.resultUrl), [ranking.id]);
  return html`<${Loaded} of=${loaded}>${(items) => (items.length ? html`<${Teach} items=${items} pictures=${ranking.pictures} family=${family} model=${model} dataset=${dataset} />`
    : html`<p class="empty">${t("next.nothing")}</p>`)}<//>`;
}

function Teach({ items, pictures, family, model, dataset }) {
  const [, redraw] = useState(0);
  const teaching = useMemo(() => new Teaching({ family, dataset_id: dataset.id }, pictures, () => redraw((count) => count + 1)), [items]);
  const [at, setAt] = useState(0);
  const list = useRef(null), search = useRef(null);
  const { labels } = dataset.labelSummary;
  const labelled = items.filter((item) => item.label).length;
  useEffect(() => { list.current?.focus({ preventScroll: true }); }, []);
  const step = (by) => setAt((now) => Math.max(0, Math.min(items.length - 1, now + by)));
  const assign = (label) => { if (label) teaching.give([items[at]], label); step(1); list.current?.focus({ preventScroll: true }); };
  const accept = () => assign(labels.find((label) => label.name === items[at].suggestion));
  const undo = () => { teaching.undo(); step(-1); };
  const keys = { j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1), a: accept, s: () => step(1), u: undo, "/": () => search.current.focus() };
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) return;
    const act = /^[1-9]$/.test(event.key) && labels[event.key - 1] ? () => assign(labels[event.key - 1]) : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  const Shown = pictures ? PictureItem : TextItem;
  return html`${teaching.error && html`<${Problem} error=${teaching.error} />`}
    <div class="review" onKeyDown=${press}><div class="review-main">
      <div class="review-bar"><span role="status">${t("next.done", { done: number(labelled), count: number(items.length) })}</span>
        <span class="muted">${teaching.unsent ? t("browse.saving") : labelled ? t("browse.saved") : ""}</span></div>
      <${VirtualList} list=${list} label=${t("next.title")} count=${items.length} at=${at} wide=${Boolean(pictures)} want=${() => {}} chosen=${new Set()} pick=${(index) => setAt(index)}
        row=${(index) => html`<${Shown} item=${items[index]} hue=${labels.indexOf(items[index].label)} file=${pictures?.get(items[index].id)} />`} /></div>
      <${Palette} labels=${labels} search=${search} assign=${assign} leave=${() => list.current?.focus()} isNew accept=${accept} keep=${() => step(1)} undo=${undo} example=${items[at]} /></div>
    <${Gain} teaching=${teaching} labelled=${labelled} family=${family} model=${model} />`;
}

const Why = ({ item, hue }) => html`<span class="text-labels">${item.label ? html`<span class="chip"><span class="dot" style=${{ background: colour(hue) }}></span><bdi>${item.label.name}</bdi></span>`
  : item.suggestion && html`<span class="suggestion">→ <bdi>${item.suggestion}</bdi> <span class="muted">${percent(item.confidence)}</span></span>`}<span class="muted small">${t(`reason.${item.reason}`)}</span></span>`;

const TextItem = ({ item, hue }) => html`<span class="text-row"><span class="text" dir="auto">${item.text}</span><${Why} item=${item} hue=${hue} /></span>`;

function PictureItem({ item, hue, file }) {
  const [source, setSource] = useState("");
  useEffect(() => {
    if (!file) return undefined;
    const made = URL.createObjectURL(file);
    setSource(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return html`<span class="cell"><span class="boxed">${source && html`<img src=${source} alt=${item.id} decoding="async" />`}</span><${Why} item=${item} hue=${hue} /></span>`;
}

/** Trains a model with the new examples, and tells what that changed. */
function Gain({ teaching, labelled, family, model }) {
  const [made, setMade] = useState(null);
  const variables = (id) => ({ family, model_id: id });
  const open = made !== null && isOpen(made);
  useEvery(700, open, async () => setMade(await call("training", { variables: variables(made.modelId) })));
  const start = async () => {
    await teaching.finish();
    setMade(await call("train", { variables: { family }, json: { name: model.name, datasetId: model.datasetId } }));
  };
  return html`<section class="card" aria-live="polite"><h2>${t("next.gain")}</h2><p class="muted">${t("next.gainLead")}</p>
    ${open && html`<${Progress} value=${made.progress} label=${t("model.training")} />`}
    ${made?.failureMsg && html`<${Problem} error=${{ message: made.failureMsg }} />`}
    ${made?.status === "SUCCEEDED" && html`<${Gained} ids=${[model.modelId, made.modelId]} family=${family} labelled=${labelled} />`}
    <${Action} kind=${made ? "" : "primary"} disabled=${open || !labelled} run=${start}>${t("next.train", { count: number(labelled) })}<//></section>`;
}

function Gained({ ids, family, labelled }) {
  const cards = useLoad(() => Promise.all(ids.map((id) => call("card", { variables: { family, model_id: id } }))), [ids[1]]);
  const figure = ({ metrics: { testAccuracy: found } }) => (found ? t("next.figure", { value: percent(found.value, 1), low: percent(found.low), high: percent(found.high) }) : "–");
  const compare = useFocus(cards.data !== null);
  return html`<${Loaded} of=${cards}>${([before, after]) => html`<dl class="facts"><div><dt>${t("next.before")}</dt><dd>${figure(before)}</dd></div><div><dt>${t("next.after", { count: number(labelled) })}</dt><dd>${figure(after)}</dd></div></dl>
    <div class="row"><a class="button primary" ref=${compare} href=${`#/compare?a=${ids[0]}&b=${ids[1]}`}>${t("next.compare")}</a><a class="button" href=${`#/next/${family}/${ids[1]}`}>${t("next.again")}</a></div>`}<//>`;
}
