// Classify a file: predict each row or image of a file, and download the file with the answers.

import { useState } from "./hooks.module.js";
import { call } from "./api.js";
import { usableModels } from "./models.js";
import { Controls, Rows } from "./preview.js";
import { fieldsOf, rolesOf } from "./reading.js";
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
import { FileChooser, ReadingState } from "./upload.js";
import { useReading } from "./use_reading.js";
import { t } from "./words.js";

const FORMATS = ["xlsx", "csv"];
const POLL_MILLISECONDS = 700;
const isOpen = (batch) => ["QUEUED", "RUNNING"].includes(batch?.status);
// Models that read documents answer with more than a label.
const classifies = (model) => model.modelType !== "ocr" && model.modelType !== "image-detection";

export function Classify({ rest: [, id] }) {
  // Only tables have a preview: images of an archive need no columns.
  const reading = useReading((type) => familyOf(type) === "language");
  const models = useLoad(async () => (await usableModels()).filter(classifies), []);
  const { file, type, sent } = reading;
  return html`
    <${Head} title=${t("classify.title")} />
    <p class="muted">${t("classify.lead")}</p>
    <${FileChooser} reading=${reading} kinds=${t("classify.kinds")} />
    <${ReadingState} reading=${reading} />
    ${
      file &&
      sent === null &&
      reading.parts &&
      html`
        <${Loaded} of=${models}>
          ${(all) => html`
            <${Settings}
              key=${file}
              reading=${reading}
              models=${all.filter((model) => familyOf(model.modelType) === familyOf(type))}
              id=${id}
            />
          `}
        <//>
      `
    }
  `;
}

/** Take the best column as the text if none was recognised. */
function withTexts(options, found) {
  const of = rolesOf(options, found);
  const hasText = Object.values(of).includes("text");
  const best = found.columns.find(({ rank }) => rank.text === 1);
  return {
    ...options,
    roles: { of: hasText || !best ? of : { [best.position]: "text" }, columns: found.columns },
  };
}

function Settings({ reading, models, id }) {
  const { file, found, type, parts } = reading;
  const [modelId, choose] = useState(models.some((one) => one.modelId === id) ? id : models[0].modelId);
  const [format, setFormat] = useState(/\.(csv|tsv|txt)$/i.test(file.name) ? "csv" : "xlsx");
  const [count, setCount] = useState("1");
  const [below, setBelow] = useState(0.6);
  const [batch, setBatch] = useState(null);
  const family = familyOf(type);
  const options = found?.columns.length ? withTexts(reading.options, found) : reading.options;
  const change = (given) => (given.roles ? reading.setOptions(given) : reading.change(given));
  useEvery(POLL_MILLISECONDS, isOpen(batch), async () =>
    setBatch(await call("batch", { variables: { family, batch_id: batch.id } })),
  );
  const start = async () => {
    const { labelColumn: _labels, encoding: _encoding, ...fields } = fieldsOf(options);
    setBatch(
      await call("createBatch", {
        variables: { family },
        fields: {
          modelId,
          name: file.name.slice(0, 180),
          format,
          numResults: count,
          reviewBelow: below > 0 ? below : "",
          columns: "input",
          ...fields,
          ...parts.fields,
        },
        file: parts.file,
      }),
    );
  };
  return html`
    <section class="card">
      ${
        found &&
        html`
          <h2>${t("classify.columns")}</h2>
          <${Controls} found=${found} options=${options} change=${change} encodings=${[]} />
          <${Rows} found=${found} options=${options} change=${change} choices=${["", "text"]} />
        `
      }
      <div class="row">
        <${Field} label=${t("try.model")}>
          <select value=${modelId} onChange=${(e) => choose(e.target.value)}>
            ${models.map((one) => html`<option value=${one.modelId}>${one.name}</option>`)}
          </select>
        <//>
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
          step="0.01"
          value=${below}
          onInput=${(e) => setBelow(Number(e.target.value))}
        />
      <//>
      <${Action} kind="primary" focused disabled=${isOpen(batch)} run=${start}>${t("classify.start")}<//>
      <p class="muted small">${t("classify.cost")}</p>
    </section>
    ${batch && html`<${Outcome} batch=${batch} />`}
  `;
}

function Outcome({ batch }) {
  const { done, total, failed } = batch.counts;
  const counts = t("batch.counts", { done: number(done), total: number(total), failed: number(failed) });
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
          <p>
            <a class="button primary" href=${batch.resultUrl} download>
              ${t("classify.fetch", { size: bytes(batch.resultBytes) })}
            </a>
          </p>
        `
      }
    </section>
  `;
}
