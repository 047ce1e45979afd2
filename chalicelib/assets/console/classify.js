// Classify files: predict each row, image or document, and download a file with the answers.

import { useRef, useState } from "./hooks.module.js";
import { AnswerTable } from "./answers.js";
import { call, CallError, uploadIfLarge } from "./api.js";
import { FORM_TYPES, TASKS } from "./document.js";
import { DOCUMENT_NAME, IMAGE_NAME, shrinkImage, zipFiles } from "./folder.js";
import { usableModels } from "./models.js";
import { Controls, Rows } from "./preview.js";
import { fieldsOf, recallTexts, rolesOf } from "./reading.js";
import { OpenTemplate, useTemplate } from "./template.js";
import {
  Action,
  bytes,
  familyOf,
  Field,
  Head,
  html,
  Loaded,
  number,
  percent,
  Problem,
  Progress,
  useEvery,
  useLoad,
} from "./ui.js";
import { listZip } from "./unzip.js";
import { FileChooser, ReadingState } from "./upload.js";
import { useReading } from "./use_reading.js";
import { t } from "./words.js";

const FORMATS = ["xlsx", "csv"];
// The largest document that the service reads, and the longest side of an image that is larger.
const MAX_DOCUMENT_BYTES = 10_000_000;
const DOCUMENT_SIDE = 3200;
const OWN_FORM = "own";
const REVIEW_BELOW = 0.6;
const POLL_MILLISECONDS = 700;
const isOpen = (batch) => ["QUEUED", "RUNNING"].includes(batch?.status);
const isReader = (model) => model.modelType === "ocr";
// Models whose answers are more than labels.
const findsItems = (model) => isReader(model) || model.modelType === "image-detection";

/** Make one file of chosen images and documents. They are packed when they are sent: the model decides how. */
function collect(chosen) {
  const isFolder = chosen.length > 1 || chosen[0].path.includes("/");
  const files = chosen.filter(({ path }) => DOCUMENT_NAME.test(path));
  if (!files.length && !isFolder) return null;
  if (!files.length) throw new CallError(t("classify.noFiles"));
  const folder = files[0].path.split("/")[0].replace(/\.\w+$/, "");
  const size = files.reduce((sum, { file }) => sum + file.size, 0);
  return { name: `${folder}.zip`, size, files };
}

export function Classify({ rest: [, id], query }) {
  const reading = useReading((type) => familyOf(type) === "language", collect);
  const models = useLoad(usableModels, []);
  const { file, type, sent, error, parts } = reading;
  const isText = familyOf(type) === "language";
  const below = Number(query.below) || REVIEW_BELOW;
  return html`
    <${Head} title=${t("classify.title")} />
    <p class="muted">${t("classify.lead")}</p>
    <${FileChooser}
      reading=${reading}
      kinds=${t("classify.kinds")}
      accept=".csv,.tsv,.jsonl,.xlsx,.txt,.zip,.pdf,.png,.jpg,.jpeg,.webp,.heic"
      multiple
    />
    <${ReadingState} reading=${reading} />
    ${
      file &&
      sent === null &&
      (isText ? parts : !error) &&
      html`
        <${Loaded} of=${models}>
          ${(all) =>
            isText
              ? html`
                <${TextSettings}
                  key=${file}
                  reading=${reading}
                  models=${all.filter((model) => familyOf(model.modelType) === "language")}
                  id=${id}
                  below=${below}
                />
              `
              : html`<${ImageSettings} key=${file} file=${file} models=${all} id=${id} below=${below} />`}
        <//>
      `
    }
  `;
}

/** Take the text columns of the model's dataset, or those recognised, or else the best column. */
function withTexts(options, found, model) {
  const of = (!options.roles && recallTexts(model?.datasetId, found)) || rolesOf(options, found);
  const hasText = Object.values(of).includes("text");
  const best = found.columns.find(({ rank }) => rank.text === 1);
  return {
    ...options,
    roles: { of: hasText || !best ? of : { [best.position]: "text" }, columns: found.columns },
  };
}

/** Return the running batch, and what starts one with these fields and this file. */
function useBatch(family) {
  const [batch, setBatch] = useState(null);
  useEvery(POLL_MILLISECONDS, isOpen(batch), async () =>
    setBatch(await call("batch", { variables: { family, batch_id: batch.id } })),
  );
  const start = async (fields, { fields: place, file }) => {
    setBatch(null);
    setBatch(await call("createBatch", { variables: { family }, fields: { ...fields, ...place }, file }));
  };
  return { batch, start };
}

/** The options of an answer of labels: format, number and threshold; and the fields of a call for them. */
function useLabelOptions(name, reviewBelow) {
  const [format, setFormat] = useState(/\.(csv|tsv|txt)$/i.test(name) ? "csv" : "xlsx");
  const [count, setCount] = useState("1");
  const [below, setBelow] = useState(reviewBelow);
  const fields = { format, numResults: count, reviewBelow: below > 0 ? below : "", columns: "input" };
  return { fields, format, setFormat, count, setCount, below, setBelow };
}

function LabelOptions({ of: { format, setFormat, count, setCount, below, setBelow } }) {
  return html`
    <div class="row">
      <${Field} label=${t("classify.format")}>
        <select value=${format} onChange=${(e) => setFormat(e.target.value)}>
          ${FORMATS.map((one) => html`<option value=${one}>${t(`result.${one}`)}</option>`)}
        </select>
      <//>
      <${Field} label=${t("classify.count")}>
        <select value=${count} onChange=${(e) => setCount(e.target.value)}>
          <option value="1">${t("classify.one")}</option>
          <option value="3">${t("classify.three")}</option>
        </select>
      <//>
    </div>
    <${Field} label=${t("classify.review", { value: percent(below) })} hint=${t("classify.reviewHint")}>
      <input
        type="range"
        min="0"
        max="0.99"
        step="0.001"
        value=${below}
        onInput=${(e) => setBelow(Number(e.target.value))}
      />
    <//>
  `;
}

function ModelChooser({ models, model, choose }) {
  return html`
    <${Field} label=${t("try.model")}>
      <select value=${model.modelId} onChange=${(e) => choose(e.target.value)}>
        ${models.map((one) => html`<option value=${one.modelId}>${one.name}</option>`)}
      </select>
    <//>
  `;
}

function TextSettings({ reading, models, id, below }) {
  const { file, found, parts } = reading;
  const [chosen, choose] = useState(id);
  const labels = useLabelOptions(file.name, below);
  const { batch, start } = useBatch("language");
  const isSent = useRef(false);
  const model = models.find((one) => one.modelId === chosen) ?? models[0];
  const options = found?.columns.length ? withTexts(reading.options, found, model) : reading.options;
  const change = (given) => (given.roles ? reading.setOptions(given) : reading.change(given));
  const run = async () => {
    const { labelColumn: _labels, ...fields } = fieldsOf(options);
    // A large file that was uploaded serves one batch.
    const source = isSent.current ? await uploadIfLarge(file) : parts;
    isSent.current = true;
    const name = file.name.slice(0, 180);
    await start({ modelId: model.modelId, name, ...labels.fields, ...fields }, source);
  };
  return html`
    <section class="card">
      ${
        found &&
        html`
          <h2>${t("classify.columns")}</h2>
          <${Controls} found=${found} options=${options} change=${change} />
          <${Rows} found=${found} options=${options} change=${change} choices=${["", "text"]} />
        `
      }
      <${ModelChooser} models=${models} model=${model} choose=${choose} />
      <${LabelOptions} of=${labels} />
      <${Action} kind="primary" focused disabled=${isOpen(batch)} run=${run}>${t("classify.start")}<//>
      <p class="muted small">${t("classify.cost")}</p>
    </section>
    ${batch && html`<${Outcome} batch=${batch} />`}
  `;
}

/** Load the paths of the files that will be sent. */
const pathsOf = async (file) =>
  (file.files ?? (await listZip(file))).map(({ path }) => path).filter((path) => DOCUMENT_NAME.test(path));

/** Pack images and documents in the size that a model needs; an archive stays as it is. */
function pack(file, model, onProgress) {
  if (!file.files) return file;
  const isPacked = (path) => (isReader(model) ? DOCUMENT_NAME : IMAGE_NAME).test(path);
  const shrink = isReader(model)
    ? (one) => shrinkImage(one, MAX_DOCUMENT_BYTES, DOCUMENT_SIDE)
    : (one) => shrinkImage(one);
  return zipFiles(file.files, onProgress, { shrink, isPacked });
}

function ImageSettings({ file, models, id, below }) {
  const paths = useLoad(() => pathsOf(file), [file]);
  // Only some models read PDFs. Where there are none, models that classify come first.
  const hasPdf = paths.data?.some((path) => !IMAGE_NAME.test(path));
  const offered = models
    .filter((model) => (hasPdf ? isReader(model) : familyOf(model.modelType) === "vision"))
    .toSorted((one, other) => isReader(one) - isReader(other));
  const [chosen, choose] = useState(id);
  const model = offered.find((one) => one.modelId === chosen) ?? offered[0];
  return html`
    <${Loaded} of=${paths}>
      ${(found) => html`
        <${ImageBatch} file=${file} count=${found.length} model=${model} below=${below}>
          <${ModelChooser} models=${offered} model=${model} choose=${choose} />
        <//>
      `}
    <//>
  `;
}

function ImageBatch({ file, count, model, below, children }) {
  const reads = isReader(model);
  const [sent, setSent] = useState(null);
  const [task, setTask] = useState(TASKS[0]);
  const [form, setForm] = useState(FORM_TYPES[0]);
  const [kind, setKind] = useState(null);
  const own = useTemplate();
  const labels = useLabelOptions(file.name, below);
  const { batch, start } = useBatch("vision");
  const isForm = reads && task === "form";
  const needsTemplate = isForm && form === OWN_FORM && !own.template.keys.length;
  const readingFields = {
    task,
    ...(isForm && (form === OWN_FORM ? { formTemplate: JSON.stringify(own.template) } : { formType: form })),
  };
  const run = async () => {
    try {
      setSent(0);
      const packed = await pack(file, model, setSent);
      const source = await uploadIfLarge(packed, setSent);
      setKind(reads ? task : "detect");
      const more = findsItems(model) ? reads && readingFields : labels.fields;
      await start({ modelId: model.modelId, name: file.name.slice(0, 180), ...more }, source);
    } finally {
      setSent(null);
    }
  };
  return html`
    <section class="card">
      <p class=${count ? "" : "notice bad"}>
        ${count ? t("classify.files", { count: number(count) }) : t("classify.noFiles")}
      </p>
      ${children}
      ${reads && html`<${ReadingOptions} ...${{ task, setTask, form, setForm, own }} />`}
      ${!findsItems(model) && html`<${LabelOptions} of=${labels} />`}
      <${Action}
        kind="primary"
        focused
        disabled=${isOpen(batch) || sent !== null || !count || needsTemplate}
        run=${run}
      >
        ${t(reads ? "classify.read" : "classify.start")}
      <//>
      ${sent !== null && html`<${Progress} value=${sent} label=${t("upload.sending")} />`}
      <p class="muted small">${t(reads ? "classify.free" : "classify.cost")}</p>
    </section>
    ${batch && html`<${Outcome} batch=${batch} kind=${kind} />`}
  `;
}

/** What to extract from documents: the task, and of forms the kind or a template. */
function ReadingOptions({ task, setTask, form, setForm, own }) {
  const { keys } = own.template;
  return html`
    <div class="row">
      <${Field} label=${t("try.task")}>
        <select value=${task} onChange=${(e) => setTask(e.target.value)}>
          ${TASKS.map((one) => html`<option value=${one}>${t(`task.${one}`)}</option>`)}
        </select>
      <//>
      ${
        task === "form" &&
        html`
          <${Field} label=${t("try.form")}>
            <select value=${form} onChange=${(e) => setForm(e.target.value)}>
              ${FORM_TYPES.map((one) => html`<option value=${one}>${one}</option>`)}
              <option value=${OWN_FORM}>${t("task.own")}</option>
            </select>
          <//>
        `
      }
      ${task === "form" && form === OWN_FORM && html`<${OpenTemplate} own=${own} />`}
    </div>
    ${
      task === "form" &&
      form === OWN_FORM &&
      html`
        <p class="muted small">
          ${keys.length ? keys.map(({ key }) => key.entity).join(", ") : t("classify.template")}
        </p>
      `
    }
  `;
}

/** The progress and the result of a batch. `kind` of an answer that is more than labels makes a table of it. */
function Outcome({ batch, kind }) {
  const { done, total, failed } = batch.counts;
  const counts = t("batch.counts", { done: number(done), total: number(total), failed: number(failed) });
  const hasItems = ["detect", "ocr"].includes(batch.kind);
  return html`
    <section class="card" aria-live="polite">
      ${isOpen(batch) && html`<${Progress} value=${batch.progress} label=${t("classify.running", { counts })} />`}
      ${batch.failureMsg && html`<${Problem} error=${{ message: batch.failureMsg }} />`}
      ${batch.warnings?.map((warning) => html`<p class="notice warn">${warning.message}</p>`)}
      ${
        batch.resultUrl &&
        html`
          <h2>${t("classify.done")}</h2>
          <p>${counts}</p>
          <p class="row">
            ${hasItems && html`<${AnswerTable} key=${batch.id} batch=${batch} kind=${kind} />`}
            <a class=${`button ${hasItems ? "" : "primary"}`} href=${batch.resultUrl} download>
              ${t(hasItems ? "classify.fetchLines" : "classify.fetch", { size: bytes(batch.resultBytes) })}
            </a>
          </p>
        `
      }
    </section>
  `;
}
