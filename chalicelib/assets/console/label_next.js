// Active learning: rank unlabelled samples, label the most useful ones, retrain, and compare.

import { useEffect, useMemo, useRef, useState } from "./hooks.module.js";
import { call, CallError, readLines, uploadIfLarge } from "./api.js";
import { withPath, MAX_BYTES, IMAGE_NAME, zipFiles } from "./folder.js";
import { isOpen } from "./models.js";
import { Palette } from "./palette.js";
import { Labelling } from "./labelling.js";
import { listZip } from "./unzip.js";
import { VirtualList } from "./virtual_list.js";
import {
  Action,
  colour,
  Field,
  Head,
  html,
  Loaded,
  number,
  percent,
  Problem,
  Progress,
  useEvery,
  useFocus,
  useLoad,
} from "./ui.js";
import { t } from "./words.js";

const DEFAULT_COUNT = 50;
// The service's limit for one ranking.
const MAX_COUNT = 1000;
// Enough for the header line of any table.
const HEAD_BYTES = 4096;

export function LabelNext({ rest: [family, id] }) {
  const loaded = useLoad(async () => {
    const model = await call("training", { variables: { family, model_id: id } });
    return { model, dataset: await call("dataset", { variables: { family, dataset_id: model.datasetId } }) };
  }, [family, id]);
  const [ranking, setRanking] = useState(null);
  const open = ranking !== null && isOpen(ranking);
  useEvery(700, open, async () =>
    setRanking({ ...ranking, ...(await call("batch", { variables: { family, batch_id: ranking.id } })) }),
  );
  return html`
    <${Loaded} of=${loaded}>
      ${({ model, dataset }) => html`
        <${Head} title=${t("next.title")} back=${{ href: `#/model/${family}/${id}`, text: model.name }} />
        ${
          ranking?.status !== "SUCCEEDED" &&
          html`<${RankingForm} family=${family} model=${id} open=${open} set=${setRanking} />`
        }
        ${open && html`<${Progress} value=${ranking.progress} label=${t("next.choosing")} />`}
        ${ranking?.failureMsg && html`<${Problem} error=${{ message: ranking.failureMsg }} />`}
        ${
          ranking?.status === "SUCCEEDED" &&
          html`<${Ranked} ranking=${ranking} family=${family} model=${model} dataset=${dataset} />`
        }
      `}
    <//>
  `;
}

/** List the images of a folder or of a zip archive. */
async function imagesOf(found) {
  const [one] = found;
  if (one && one.file.size > MAX_BYTES) throw new CallError(t("upload.tooLarge", { limit: 2 }));
  const isArchive = found.length === 1 && /\.zip$/i.test(one.path);
  const images = (isArchive ? await listZip(one.file) : found).filter(({ path }) => IMAGE_NAME.test(path));
  if (!images.length) throw new CallError(t("next.noImages"));
  return images;
}

/** Guess the text column: none needed if the header has `text`, otherwise the first. */
async function guessTextColumn(file) {
  if (!/\.(csv|tsv|txt)$/i.test(file.name)) return "";
  const [first] = (await file.slice(0, HEAD_BYTES).text()).split(/\r?\n/);
  return /(^|[,;\t|"\ufeff])text($|[,;\t|"])/i.test(first) ? "" : "1";
}

function RankingForm({ family, model, open, set }) {
  const [files, setFiles] = useState([]);
  const [count, setCount] = useState(DEFAULT_COUNT);
  const [column, setColumn] = useState("");
  const [sent, setSent] = useState(null);
  const [error, setError] = useState(null);
  const first = useFocus();
  const choose = async (found) => {
    setFiles([]);
    setError(null);
    if (!found.length) return;
    try {
      setFiles(family === "vision" ? await imagesOf(found) : found);
    } catch (problem) {
      setError(problem);
    }
    if (family === "language") setColumn(await guessTextColumn(found[0].file));
  };
  const submit = async () => {
    const images = family === "vision" ? new Map() : null;
    try {
      setSent(0);
      const file = images ? await zipFiles(files, setSent, { packed: images }) : files[0].file;
      const parts = await uploadIfLarge(file, setSent);
      const fields = {
        modelId: model,
        count: Math.min(MAX_COUNT, count),
        textColumn: column,
        ...parts.fields,
      };
      set({ ...(await call("rank", { variables: { family }, fields, file: parts.file })), images });
    } finally {
      setSent(null);
    }
  };
  const input = (more) => html`
    <input type="file" ...${more} onChange=${(e) => choose([...e.target.files].map(withPath))} />
  `;
  return html`
    <section class="card">
      <p>${t("next.lead")}</p>
      ${
        family === "vision"
          ? html`
            <div class="row">
              <${Field} label=${t("next.folder")} hint=${t("next.cost")}>
                ${input({ ref: first, webkitdirectory: true })}
              <//>
              <${Field} label=${t("next.zip")}>${input({ accept: ".zip" })}<//>
            </div>
          `
          : html`
            <${Field} label=${t("next.texts")} hint=${t("next.cost")}>
              ${input({ ref: first, accept: ".csv,.tsv,.jsonl,.xlsx,.txt" })}
            <//>
          `
      }
      ${
        files.length > 0 &&
        family === "vision" &&
        html`<p class="muted" role="status">${t("next.images", { count: number(files.length) })}</p>`
      }
      ${error && html`<${Problem} error=${error} />`}
      <div class="row">
        <${Field} label=${t("next.count")}>
          <input
            type="number"
            min="1"
            max=${MAX_COUNT}
            value=${count}
            onInput=${(e) => setCount(Number(e.target.value) || DEFAULT_COUNT)}
          />
        <//>
        ${
          family === "language" &&
          html`
            <${Field} label=${t("next.column")}>
              <input value=${column} onInput=${(e) => setColumn(e.target.value)} />
            <//>
          `
        }
      </div>
      ${sent !== null && html`<${Progress} value=${sent} label=${t("upload.sending")} />`}
      <${Action} kind="primary" disabled=${open || !files.length} run=${submit}>${t("next.choose")}<//>
    </section>
  `;
}

/** The ranked samples, to be labelled one after the other. */
function Ranked({ ranking, family, model, dataset }) {
  const loaded = useLoad(() => readLines(ranking.resultUrl), [ranking.id]);
  return html`
    <${Loaded} of=${loaded}>
      ${(items) =>
        items.length
          ? html`
            <${LabelSamples}
              items=${items}
              images=${ranking.images}
              family=${family}
              model=${model}
              dataset=${dataset}
            />
          `
          : html`<p class="empty">${t("next.nothing")}</p>`}
    <//>
  `;
}

function LabelSamples({ items, images, family, model, dataset }) {
  const [, redraw] = useState(0);
  const labelling = useMemo(
    () => new Labelling({ family, dataset_id: dataset.id }, images, () => redraw((count) => count + 1)),
    [items],
  );
  const [at, setAt] = useState(0);
  const list = useRef(null),
    search = useRef(null);
  const { labels } = dataset.labelSummary;
  const labelled = items.filter((item) => item.label).length;
  useEffect(() => {
    list.current?.focus({ preventScroll: true });
  }, []);
  const step = (by) => setAt((now) => Math.max(0, Math.min(items.length - 1, now + by)));
  const assign = (label) => {
    if (label) labelling.assign([items[at]], label);
    step(1);
    list.current?.focus({ preventScroll: true });
  };
  const accept = () => assign(labels.find((label) => label.name === items[at].suggestion));
  const undo = () => {
    labelling.undo();
    step(-1);
  };
  const keys = {
    j: () => step(1),
    ArrowDown: () => step(1),
    k: () => step(-1),
    ArrowUp: () => step(-1),
    a: accept,
    s: () => step(1),
    u: undo,
    "/": () => search.current.focus(),
  };
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) return;
    const act =
      /^[1-9]$/.test(event.key) && labels[event.key - 1]
        ? () => assign(labels[event.key - 1])
        : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  const Item = images ? ImageItem : TextItem;
  return html`
    ${labelling.error && html`<${Problem} error=${labelling.error} />`}
    <div class="review" onKeyDown=${press}>
      <div class="review-main">
        <div class="review-bar">
          <span role="status">${t("next.done", { done: number(labelled), count: number(items.length) })}</span>
          <span class="muted">
            ${labelling.unsent ? t("browse.saving") : labelled ? t("browse.saved") : ""}
          </span>
        </div>
        <${VirtualList}
          list=${list}
          label=${t("next.title")}
          count=${items.length}
          at=${at}
          wide=${Boolean(images)}
          load=${() => {}}
          chosen=${new Set()}
          pick=${(index) => setAt(index)}
          row=${(index) => html`
            <${Item}
              item=${items[index]}
              hue=${labels.indexOf(items[index].label)}
              file=${images?.get(items[index].id)}
            />
          `}
        />
      </div>
      <${Palette}
        labels=${labels}
        search=${search}
        assign=${assign}
        leave=${() => list.current?.focus()}
        isNew
        accept=${accept}
        keep=${() => step(1)}
        undo=${undo}
        example=${items[at]}
      />
    </div>
    <${Retraining} labelling=${labelling} labelled=${labelled} family=${family} model=${model} />
  `;
}

const SampleLabel = ({ item, hue }) => html`
  <span class="text-labels">
    ${
      item.label
        ? html`
          <span class="chip">
            <span class="dot" style=${{ background: colour(hue) }}></span>
            <bdi>${item.label.name}</bdi>
          </span>
        `
        : item.suggestion &&
          html`
            <span class="suggestion">
              → <bdi>${item.suggestion}</bdi> <span class="muted">${percent(item.confidence)}</span>
            </span>
          `
    }
    <span class="muted small">${t(`reason.${item.reason}`)}</span>
  </span>
`;

const TextItem = ({ item, hue }) => html`
  <span class="text-row">
    <span class="text" dir="auto">${item.text}</span>
    <${SampleLabel} item=${item} hue=${hue} />
  </span>
`;

function ImageItem({ item, hue, file }) {
  const [source, setSource] = useState("");
  useEffect(() => {
    if (!file) return undefined;
    const url = URL.createObjectURL(file);
    setSource(url);
    return () => URL.revokeObjectURL(url);
  }, [file]);
  return html`
    <span class="cell">
      <span class="boxed">${source && html`<img src=${source} alt=${item.id} decoding="async" />`}</span>
      <${SampleLabel} item=${item} hue=${hue} />
    </span>
  `;
}

/** Train with the new examples, and show how the accuracy changed. */
function Retraining({ labelling, labelled, family, model }) {
  const [trained, setTrained] = useState(null);
  const variables = (id) => ({ family, model_id: id });
  const open = trained !== null && isOpen(trained);
  useEvery(700, open, async () =>
    setTrained(await call("training", { variables: variables(trained.modelId) })),
  );
  const start = async () => {
    await labelling.finish();
    setTrained(
      await call("train", { variables: { family }, json: { name: model.name, datasetId: model.datasetId } }),
    );
  };
  return html`
    <section class="card" aria-live="polite">
      <h2>${t("next.gain")}</h2>
      <p class="muted">${t("next.gainLead")}</p>
      ${open && html`<${Progress} value=${trained.progress} label=${t("model.training")} />`}
      ${trained?.failureMsg && html`<${Problem} error=${{ message: trained.failureMsg }} />`}
      ${
        trained?.status === "SUCCEEDED" &&
        html`
          <${AccuracyChange} ids=${[model.modelId, trained.modelId]} family=${family} labelled=${labelled} />
        `
      }
      <${Action} kind=${trained ? "" : "primary"} disabled=${open || !labelled} run=${start}>
        ${t("next.train", { count: number(labelled) })}
      <//>
    </section>
  `;
}

function AccuracyChange({ ids, family, labelled }) {
  const cards = useLoad(
    () => Promise.all(ids.map((id) => call("card", { variables: { family, model_id: id } }))),
    [ids[1]],
  );
  const figure = ({ metrics: { testAccuracy: found } }) =>
    found
      ? t("next.figure", {
          value: percent(found.value, 1),
          low: percent(found.low),
          high: percent(found.high),
        })
      : "–";
  const compare = useFocus(cards.data !== null);
  return html`
    <${Loaded} of=${cards}>
      ${([before, after]) => html`
        <dl class="facts">
          <div><dt>${t("next.before")}</dt><dd>${figure(before)}</dd></div>
          <div><dt>${t("next.after", { count: number(labelled) })}</dt><dd>${figure(after)}</dd></div>
        </dl>
        <div class="row">
          <a class="button primary" ref=${compare} href=${`#/compare?a=${ids[0]}&b=${ids[1]}`}>
            ${t("next.compare")}
          </a>
          <a class="button" href=${`#/next/${family}/${ids[1]}`}>${t("next.again")}</a>
        </div>
      `}
    <//>
  `;
}
