// The list of models; two can be compared.

import { useState } from "./hooks.module.js";
import { readAll } from "./api.js";
import { ImportModel } from "./import_model.js";
import { Empty, familyOf, go, Head, html, Loaded, percent, useEvery, useLoad, when } from "./ui.js";
import { t } from "./words.js";

export const isOpen = (model) => model.status === "QUEUED" || model.status === "RUNNING";

/** Read all models, newest first. */
export async function allModels() {
  const found = await readAll("models", { variables: { family: "language" } }, 1000, 100);
  return found.reverse();
}

const SHARED_MODELS = [
  { modelId: "OCRModel", modelType: "ocr" },
  { modelId: "GlobalIntentModel", modelType: "text-intent" },
  { modelId: "CommunitySentiment", modelType: "text-sentiment" },
  { modelId: "GeneralImageClassifier", modelType: "image" },
].map((model) => ({ ...model, name: model.modelId, status: "SUCCEEDED" }));
/** Read the models that can predict: those of the account and the prebuilt ones. */
export async function usableModels() {
  return [...(await allModels()).filter((model) => model.status === "SUCCEEDED"), ...SHARED_MODELS];
}

export function Models() {
  const loaded = useLoad(allModels, []);
  const [chosen, setChosen] = useState([]);
  useEvery(1500, (loaded.data ?? []).some(isOpen), loaded.reload);
  const choose = (id) =>
    setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id].slice(-2));
  return html`
    <${Head} title=${t("menu.models")}>
      <button
        type="button"
        class="button"
        disabled=${chosen.length < 2}
        onClick=${() => go(`#/compare?a=${chosen[0]}&b=${chosen[1]}`)}
      >
        ${t("models.compare")}
      </button>
    <//>
    <${Loaded} of=${loaded}>
      ${(models) =>
        models.length === 0
          ? html`<${Empty} text=${t("models.none")} href="#/datasets" action=${t("models.begin")} />`
          : html`
            <ul class="rows">
              ${models.map(
                (model) => html`
                  <${ModelRow}
                    key=${model.modelId}
                    model=${model}
                    chosen=${chosen.includes(model.modelId)}
                    choose=${choose}
                  />
                `,
              )}
            </ul>
          `}
    <//>
    <${ImportModel} />
  `;
}

const modelUrl = (model) => `#/model/${familyOf(model.modelType)}/${model.modelId}`;

export function ModelRow({ model, chosen, choose }) {
  return html`
    <li class="card model-row">
      ${
        choose &&
        html`
          <input
            type="checkbox"
            checked=${chosen}
            aria-label=${t("models.choose", { name: model.name })}
            onChange=${() => choose(model.modelId)}
          />
        `
      }
      <div>
        <h2><a href=${modelUrl(model)} dir="auto">${model.name}</a></h2>
        <p class="muted small">${t(`type.${model.modelType}`)} · ${when(model.updatedAt)}</p>
      </div>
      <span class=${`tag ${model.status}`}>
        ${t(`status.${model.status}`)}
        ${model.status === "RUNNING" ? ` ${percent(model.progress)}` : ""}
      </span>
    </li>
  `;
}
