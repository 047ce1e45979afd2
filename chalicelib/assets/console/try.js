// Try a model: predict a text or an image, read a document, and copy the call as code.

import { useEffect, useState } from "./hooks.module.js";
import { call } from "./api.js";
import { Explanation, HighlightedImage, HighlightedText } from "./explain.js";
import { DocumentAnswer, FORM_TYPES, TASKS } from "./document.js";
import { DropZone } from "./drop.js";
import { shrinkImage } from "./folder.js";
import { usableModels } from "./models.js";
import { BoxedImage } from "./image.js";
import { Snippets } from "./snippets.js";
import { TemplateEditor, useClicks, useTemplate } from "./template.js";
import { Action, Bar, familyOf, Field, Head, html, Loaded, percent, useFocus, useLoad } from "./ui.js";
import { t } from "./words.js";

const CALLS = {
  "text-intent": "intent",
  "text-sentiment": "sentiment",
  "image-detection": "detect",
  ocr: "read",
};
// The service refuses larger images.
const MAX_IMAGE_BYTES = 5_000_000;
// `own` reads texts to click on, and then the fields of the template that was made of them.
const OWN_TASKS = [...TASKS, "own"];

export function Try({ rest: [, id] }) {
  const loaded = useLoad(usableModels, []);
  const [chosen, choose] = useState(id);
  useEffect(() => choose(id), [id]);
  return html`
    <${Head} title=${t("menu.try")} />
    <${Loaded} of=${loaded}>
      ${(models) => {
        const model = models.find((one) => one.modelId === chosen) ?? models[0];
        return html`
          <${Field} label=${t("try.model")}>
            <select value=${model.modelId} onChange=${(e) => choose(e.target.value)}>
              ${models.map(
                (one) => html`
                  <option value=${one.modelId} selected=${one === model}>
                    ${one.name} (${t(`type.${one.modelType}`)})
                  </option>
                `,
              )}
            </select>
          <//>
          ${
            familyOf(model.modelType) === "language"
              ? html`<${TryText} key=${model.modelId} model=${model} />`
              : html`<${TryFile} key=${model.modelId} model=${model} />`
          }
        `;
      }}
    <//>
  `;
}

function TryText({ model }) {
  const [text, setText] = useState("");
  const [answer, setAnswer] = useState(null);
  const hueOf = useHues(model);
  const first = useFocus();
  const name = CALLS[model.modelType];
  const fields = { modelId: model.modelId, document: text };
  const predict = async () => setAnswer({ fields, ...(await call(name, { json: fields })) });
  const press = (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    event.target.closest(".card").querySelector("button").click();
  };
  return html`
    <section class="card">
      <${Field} label=${t("try.text")} hint=${t("try.textHint")}>
        <textarea
          rows="3"
          dir="auto"
          maxlength="20000"
          ref=${first}
          value=${text}
          onInput=${(e) => setText(e.target.value)}
          onKeyDown=${press}
        ></textarea>
      <//>
      <${Action} kind="primary" disabled=${!text.trim()} run=${predict}>${t("try.predict")}<//>
    </section>
    ${
      answer &&
      html`
        <section class="card" aria-live="polite">
          <h2>${t("try.answer")}</h2>
          <${Probabilities} found=${answer.probabilities} hueOf=${hueOf} />
          <${Explanation}
            key=${answer.fields.document}
            call=${name}
            options=${{ json: { ...answer.fields, explain: true } }}
            show=${(parts) => html`<${HighlightedText} text=${answer.fields.document} parts=${parts} />`}
          />
        </section>
        <${Snippets}
          call=${name}
          fields=${answer.fields}
          answer=${{ probabilities: answer.probabilities, object: answer.object }}
        />
      `
    }
  `;
}

/** Return what gives a label its colour in the dataset of a model; of other models the place in the answer counts. */
function useHues(model) {
  const variables = { family: familyOf(model.modelType), dataset_id: model.datasetId };
  const dataset = useLoad(async () => model.datasetId && call("dataset", { variables }), [model.modelId]);
  const places = new Map(dataset.data?.labelSummary?.labels.map((label, index) => [label.name, index]));
  return (name, index) => places.get(name) ?? index;
}

function Probabilities({ found, hueOf }) {
  if (!found.length) return html`<p class="notice">${t("try.nothing")}</p>`;
  return html`
    <div class="bars">
      ${found.slice(0, 10).map(
        (one, index) => html`
          <${Bar}
            label=${one.label}
            value=${one.probability}
            most=${1}
            text=${percent(one.probability, 1)}
            hue=${hueOf(one.label, index)}
          />
        `,
      )}
    </div>
  `;
}

function TryFile({ model }) {
  const isDocument = model.modelType === "ocr";
  const [file, setFile] = useState(null);
  const [source, setSource] = useState("");
  const [task, setTask] = useState("text");
  const [form, setForm] = useState(FORM_TYPES[0]);
  const [answer, setAnswer] = useState(null);
  const own = useTemplate();
  const clicks = useClicks();
  const hueOf = useHues(model);
  useEffect(() => {
    if (!file) return undefined;
    const url = URL.createObjectURL(file);
    setSource(url);
    return () => URL.revokeObjectURL(url);
  }, [file]);
  const chooseFile = async (chosen) => {
    setAnswer(null);
    clicks.setClicked({});
    if (chosen) setFile(isDocument ? chosen : await shrinkImage(chosen, MAX_IMAGE_BYTES));
  };
  const name = CALLS[model.modelType] ?? "classify";
  const isOwn = task === "own";
  const hasFields = isOwn && own.template.keys.length > 0;
  const ask = async (more) => {
    const fields = { modelId: model.modelId, ...more };
    const found = await call(name, { fields, file, part: "sampleContent" });
    if (more?.formTemplate) own.note(file, found);
    setAnswer({ fields, ...found });
  };
  const read = (more) =>
    ask({ pages: "true", ...(/\.pdf$/i.test(file.name) && { pageImages: "true" }), ...more });
  const predict = () => {
    if (!isDocument) return ask();
    return read({ task: isOwn ? "text" : task, ...(task === "form" && { formType: form }) });
  };
  const readFields = () => read({ task: "form", formTemplate: JSON.stringify(own.template) });
  const boxes = (answer?.probabilities ?? [])
    .filter((one) => one.boundingBox && !isDocument)
    .map((one, index) => ({
      x: one.boundingBox.minX,
      y: one.boundingBox.minY,
      width: one.boundingBox.maxX - one.boundingBox.minX,
      height: one.boundingBox.maxY - one.boundingBox.minY,
      name: one.label,
      probability: one.probability,
      hue: hueOf(one.label, index),
    }));
  return html`
    <section class="card">
      <${DropZone}
        choose=${([first]) => chooseFile(first?.file)}
        title=${file ? html`<bdi>${file.name}</bdi>` : t(isDocument ? "try.dropDocument" : "try.dropImage")}
        accept=${isDocument ? ".png,.jpg,.jpeg,.pdf" : "image/*"}
      />
      ${
        isDocument &&
        html`
          <div class="row">
            <${Field} label=${t("try.task")}>
              <select
                value=${task}
                onChange=${(e) => {
                  setTask(e.target.value);
                  setAnswer(null);
                }}
              >
                ${OWN_TASKS.map((one) => html`<option value=${one}>${t(`task.${one}`)}</option>`)}
              </select>
            <//>
            ${
              task === "form" &&
              html`
                <${Field} label=${t("try.form")}>
                  <select value=${form} onChange=${(e) => setForm(e.target.value)}>
                    ${FORM_TYPES.map((one) => html`<option value=${one}>${one}</option>`)}
                  </select>
                <//>
              `
            }
          </div>
        `
      }
      <div class="row">
        <${Action} kind=${hasFields ? "" : "primary"} disabled=${!file} run=${predict}>
          ${isOwn ? t("template.readText") : t(isDocument ? "try.read" : "try.predict")}
        <//>
        ${
          isOwn &&
          html`
            <${Action} kind=${hasFields ? "primary" : ""} disabled=${!file || !hasFields} run=${readFields}>
              ${t("template.readFields")}
            <//>
          `
        }
      </div>
    </section>
    ${isOwn && html`<${TemplateEditor} own=${own} clicks=${clicks} isText=${answer?.task === "text"} />`}
    ${
      file &&
      !isDocument &&
      html`
        <section class="card answer">
          <div class="stage"><${BoxedImage} source=${source} name=${file.name} boxes=${boxes} captions /></div>
          ${
            answer &&
            html`
              <div aria-live="polite">
                <h2>${t("try.answer")}</h2>
                <${Probabilities} found=${answer.probabilities} hueOf=${hueOf} />
                ${
                  name === "classify" &&
                  html`
                  <${Explanation}
                    key=${source}
                    call=${name}
                    options=${{ fields: { ...answer.fields, explain: "true" }, file, part: "sampleContent" }}
                    show=${(parts) => html`
                      <${HighlightedImage} source=${source} name=${file.name} parts=${parts} />
                    `}
                  />
                `
                }
              </div>
            `
          }
        </section>
      `
    }
    ${
      answer &&
      isDocument &&
      html`
        <${DocumentAnswer}
          answer=${answer}
          file=${file}
          source=${source}
          pick=${isOwn && answer.task === "text" ? clicks.pick : null}
        />
      `
    }
    ${
      answer &&
      html`
        <${Snippets}
          call=${name}
          fields=${answer.fields}
          file=${file.name}
          answer=${{ ...answer, fields: undefined }}
        />
      `
    }
  `;
}
