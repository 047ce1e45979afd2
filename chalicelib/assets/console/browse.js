// Look through examples and mend them: a list of texts or a grid of pictures, all by keyboard.

import { useEffect, useMemo, useRef, useState } from "./hooks.module.js";
import { all } from "./api.js";
import { BoxEditor } from "./boxes.js";
import { train } from "./dataset.js";
import { Examples } from "./examples.js";
import { Mending } from "./mending.js";
import { Palette } from "./palette.js";
import { Picture } from "./picture.js";
import { VirtualList } from "./virtual_list.js";
import { Action, colour, Field, html, Loaded, number, percent, Problem, useLoad } from "./ui.js";
import { t } from "./words.js";

const SEARCH_MILLISECONDS = 300;
// Only of uploads is it known how many there are, so that any place of the list can be read first.
const SOURCES = [["", "source.upload"], ["feedback", "source.feedback"], ["all", "browse.all"]];

/** Reads which examples a cell of the confusion matrix stands for, and what the model answered. */
async function cellOf({ family }, { model, label, as }) {
  const options = { variables: { family, model_id: model }, query: { expected: label, predicted: as } };
  const found = await all("evaluation", options, 1000, 100);
  return new Map(found.map((one) => [one.exampleId, { suggestion: one.predictedLabel, confidence: one.probability }]));
}

export function Browse(props) {
  const { variables, query } = props;
  // A model that was trained before such answers were kept has none: then the whole label is shown.
  const cell = useLoad(async () => ({ only: query.as ? await cellOf(variables, query).catch(() => null) : null }), [query.model, query.label, query.as]);
  return html`<${Loaded} of=${cell}>${({ only }) => html`
    ${only && html`<p class="notice">${t("browse.cell", { count: only.size, expected: query.label, predicted: query.as })}</p>`}
    <${Browsing} ...${props} only=${only} />`}<//>`;
}

function Browsing({ dataset, variables, query, again, only }) {
  const labels = dataset.labelSummary.labels;
  const named = labels.find((label) => label.name === query.label);
  const [wanted, setWanted] = useState({ labelId: named?.id ?? "", source: "", contains: "", suspectsOf: query.suspectsOf ?? "" });
  useEffect(() => setWanted((old) => ({ ...old, labelId: named?.id ?? "", suspectsOf: query.suspectsOf ?? "" })), [query.suspectsOf, query.label]);
  const [, redraw] = useState(0);
  const tell = () => redraw((count) => count + 1);
  const asked = JSON.stringify(wanted);
  const examples = useMemo(() => {
    const label = labels.find((one) => one.id === Number(wanted.labelId));
    const sent = wanted.suspectsOf || wanted.source ? wanted : { ...wanted, source: undefined };
    return new Examples(variables, sent, label ? label.numExamples : dataset.totalExamples, tell, only);
  }, [asked, dataset.id, only]);
  const mending = useMemo(() => new Mending(variables, tell), [dataset.id]);
  useEffect(() => () => { mending.finish().then(again); }, [mending]);
  const models = useLoad(() => all("datasetModels", { variables }), [dataset.id]);
  return html`<div class="browse">
    <${Filters} wanted=${wanted} set=${setWanted} labels=${labels} models=${(models.data ?? []).filter((one) => one.status === "SUCCEEDED")} />
    ${mending.error && html`<${Problem} error=${mending.error} />`}
    ${examples.error && html`<${Problem} error=${examples.error} />`}
    <${Review} key=${asked} examples=${examples} mending=${mending} dataset=${dataset} reviewed=${wanted.suspectsOf || (only ? query.model : "")} variables=${variables} isFirst=${Boolean(query.first)} again=${again} />
  </div>`;
}

function Filters({ wanted, set, labels, models }) {
  const [text, setText] = useState(wanted.contains);
  useEffect(() => {
    const timer = setTimeout(() => text !== wanted.contains && set({ ...wanted, contains: text }), SEARCH_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [text]);
  const pick = (name) => (event) => set({ ...wanted, [name]: event.target.value });
  return html`<div class="filters">
    <${Field} label=${t("browse.find")}><input type="search" value=${text} onInput=${(e) => setText(e.target.value)} /><//>
    <${Field} label=${t("browse.label")}><select value=${wanted.labelId} onChange=${pick("labelId")}><option value="">${t("browse.all")}</option>
      ${labels.map((label) => html`<option value=${label.id} selected=${label.id === Number(wanted.labelId)}>${label.name}</option>`)}</select><//>
    <${Field} label=${t("browse.source")}><select value=${wanted.source} onChange=${pick("source")}>${SOURCES.map(([value, name]) => html`<option value=${value}>${t(name)}</option>`)}</select><//>
    ${models.length > 0 && html`<${Field} label=${t("browse.suspects")}><select value=${wanted.suspectsOf} onChange=${pick("suspectsOf")}><option value="">${t("browse.nobody")}</option>
      ${models.map((model) => html`<option value=${model.modelId} selected=${model.modelId === wanted.suspectsOf}>${model.name}</option>`)}</select><//>`}
  </div>`;
}

/** The list with the keyboard: one example is the present one, some may be chosen with it. */
function Review({ examples, mending, dataset, reviewed, variables, isFirst, again }) {
  const [at, setAt] = useState(0);
  const [chosen, setChosen] = useState(new Set());
  const [edited, setEdited] = useState(null);
  const { family } = variables;
  const hasBoxes = dataset.type === "image-detection";
  const [kept, setKept] = useState(new Set());
  const search = useRef(null);
  const list = useRef(null);
  const labels = dataset.labelSummary.labels;
  const hues = useMemo(() => new Map(labels.map((label, index) => [label.id, index])), [dataset]);
  const isSuspects = Boolean(reviewed);
  useEffect(() => {
    examples.want(0, 100);
    if (!isFirst) list.current?.focus({ preventScroll: true });
  }, [examples]);

  const present = () => {
    const some = [...chosen].filter((index) => examples.items[index]);
    return (some.length ? some : [at]).map((index) => examples.items[index]).filter(Boolean);
  };
  const step = (by) => setAt((now) => Math.max(0, Math.min(examples.total - 1, now + by)));
  const decided = (items) => { if (isSuspects) setKept(new Set([...kept, ...items.map(({ id }) => id)])); };
  const assign = (label) => {
    const items = present();
    mending.move(items, label);
    decided(items);
    setChosen(new Set());
    if (items.length === 1) step(1);
    list.current?.focus({ preventScroll: true });
  };
  const remove = () => {
    const items = new Set(present());
    const gone = [...items].map((item) => [examples.items.indexOf(item), item]).sort(([one], [other]) => other - one);
    for (const [index] of gone) examples.drop(index);
    setChosen(new Set());
    setAt(Math.min(at, Math.max(0, examples.total - 1)));
    mending.remove([...items], (back) => {
      for (const [index, item] of [...gone].reverse()) if (back.includes(item)) examples.restore(index, item);
      setAt(gone.at(-1)[0]);
    });
  };
  const accept = () => {
    const items = present();
    for (const item of items) {
      const label = labels.find((one) => one.name === item.suggestion);
      if (label) mending.move([item], label);
    }
    decided(items);
    if (items.length === 1) step(1);
  };
  const keep = () => { decided(present()); step(1); };
  const choose = (index) => setChosen((old) => { const now = new Set(old); if (!now.delete(index)) now.add(index); return now; });
  const keys = {
    j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1), PageDown: () => step(10), PageUp: () => step(-10),
    Home: () => setAt(0), End: () => setAt(Math.max(0, examples.total - 1)),
    u: () => { mending.undo(); step(-1); }, x: remove, " ": () => { choose(at); step(1); }, "/": () => search.current.focus(), l: () => search.current.focus(),
    ...(hasBoxes && { b: () => examples.items[at] && setEdited(examples.items[at]) }),
    ...(isSuspects && { a: accept, s: keep, t: () => train(dataset, family, reviewed) }),
  };
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select") || edited) return;
    if (event.key === " " && event.target.matches("button")) return;
    const act = /^[1-9]$/.test(event.key) && labels[event.key - 1] ? () => assign(labels[event.key - 1]) : keys[event.key];
    if (!act || examples.total === 0 && event.key !== "t" && event.key !== "u") return;
    event.preventDefault();
    act();
  };
  const edit = (changed) => {
    setEdited(null);
    if (changed) { examples.restart(); again(); }
    list.current?.focus({ preventScroll: true });
  };
  const left = isSuspects && examples.over ? examples.items.filter(({ id }) => !kept.has(id)).length : null;
  const Row = family === "vision" ? PictureCell : TextRow;
  return html`<div class="review" onKeyDown=${press}>
    <div class="review-main">
      <div class="review-bar"><span role="status">${t("browse.count", { count: number(examples.total) })}${examples.inOrder && !examples.over ? "+" : ""}${left !== null ? ` · ${t("browse.left", { count: left })}` : ""}
        ${chosen.size > 0 ? ` · ${t("browse.chosen", { count: chosen.size })}` : ""}</span>
        <span class="muted">${mending.unsent || mending.sending ? t("browse.saving") : mending.moved ? t("browse.saved") : ""}</span>
        ${mending.removals.size > 0 && html`<span class="toast">${t("browse.removed", { count: mending.removals.size })} <button type="button" class="button quiet small" onClick=${() => mending.undo()}>${t("browse.undo")}</button></span>`}
        ${isSuspects && html`<${Action} kind=${left === 0 ? "primary" : ""} small focused=${left === 0 && mending.moved > 0} run=${() => mending.finish().then(() => train(dataset, family, reviewed))}>${t("model.again")}<//>`}</div>
      ${examples.total === 0 && (examples.over || !examples.inOrder) ? html`<p class="empty">${isSuspects ? t("browse.noSuspects") : t("browse.none")}</p>` : html`
      <${VirtualList} list=${list} label=${t("tab.examples")} count=${examples.total} at=${at} wide=${family === "vision"}
        want=${(from, to) => examples.want(from, to)} row=${(index) => html`<${Row} example=${examples.items[index]} hues=${hues} kept=${kept.has(examples.items[index]?.id)} />`}
        chosen=${chosen} pick=${(index, event) => { setAt(index); if (event.ctrlKey || event.metaKey || event.shiftKey) choose(index); }} />`}
    </div>
    <${Palette} labels=${labels} search=${search} assign=${assign} leave=${() => list.current?.focus()} isSuspects=${isSuspects} accept=${accept} keep=${keep} remove=${remove} undo=${() => mending.undo()} example=${examples.items[at]} edit=${hasBoxes && keys.b} />
    ${edited && html`<${BoxEditor} example=${edited} labels=${labels} variables=${variables} close=${edit} />`}
  </div>`;
}

const Chip = ({ label, hue }) => html`<span class="chip"><span class="dot" style=${{ background: colour(hue ?? 0) }}></span><bdi>${label.name}</bdi></span>`;

const Suggestion = ({ example, kept }) => example.suggestion && html`<span class="suggestion">${kept ? "✓ " : ""}→ <bdi>${example.suggestion}</bdi> <span class="muted">${percent(example.confidence)}</span></span>`;

function TextRow({ example, hues, kept }) {
  if (!example) return html`<span class="text-row"><span class="blank"></span><span class="unseen">${t("wait")}</span></span>`;
  return html`<span class="text-row"><span class="text" dir="auto">${example.name}</span>
    <span class="text-labels"><${Chip} label=${example.label} hue=${hues.get(example.label.id)} /><${Suggestion} example=${example} kept=${kept} /></span></span>`;
}

function PictureCell({ example, hues, kept }) {
  if (!example) return html`<span class="cell"><span class="blank"></span><span class="unseen">${t("wait")}</span></span>`;
  return html`<span class="cell"><${Picture} example=${example} /><${Chip} label=${example.label} hue=${hues.get(example.label.id)} /><${Suggestion} example=${example} kept=${kept} /></span>`;
}
