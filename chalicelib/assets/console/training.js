// Starts trainings: of a dataset, or of an existing model again.

import { useState } from "./hooks.module.js";
import { call } from "./api.js";
import { Dialog, openDialog } from "./dialog.js";
import { mergeLabels } from "./label_changes.js";
import { Action, go, html } from "./ui.js";
import { MIN_EXAMPLES, WeakLabels } from "./weak_labels.js";
import { t } from "./words.js";

// The service accepts names of at most 180 characters, for datasets and models alike.
const MAX_NAME_LENGTH = 180;

/**
 * Train a new model, or retrain `modelId`, and go to its page. Labels with too few examples, which the service
 * refuses, are merged or left out first; the person can also cancel.
 */
export async function startTraining(dataset, family, modelId) {
  const params = family === "language" ? await resolveWeakLabels(dataset.id, family) : {};
  if (!params) return;
  const name = dataset.name.slice(0, MAX_NAME_LENGTH);
  const json = { ...(modelId ? { modelId } : { name, datasetId: dataset.id }), ...params };
  const training = await call(modelId ? "retrain" : "train", { variables: { family }, json });
  go(`#/model/${family}/${training.modelId}`);
}

/** Return parameters of the training, or null if it was cancelled. */
async function resolveWeakLabels(id, family) {
  const variables = { family, dataset_id: id };
  const dataset = await call("dataset", { variables }).catch(() => null);
  const labels = dataset?.labelSummary.labels ?? [];
  // Without two labels the service refuses the training and says why.
  if (labels.length < 2 || labels.every(({ numExamples }) => numExamples >= MIN_EXAMPLES)) return {};
  return openDialog((end) => html`<${WeakDialog} labels=${labels} variables=${variables} end=${end} />`);
}

function WeakDialog({ labels, variables, end }) {
  const [changes, plan] = useState({});
  const weak = labels.filter(({ numExamples }) => numExamples < MIN_EXAMPLES);
  /** Return the examples of a label after the planned merges. */
  const countOf = ({ name, numExamples }) =>
    labels.reduce((sum, one) => sum + (changes[one.name]?.into === name ? one.numExamples : 0), numExamples);
  const isOpen = weak.some((label) => !changes[label.name] && countOf(label) < MIN_EXAMPLES);
  const train = async () => {
    const leaves = Object.values(changes).some(({ remove }) => remove);
    await mergeLabels(variables, labels, changes);
    end(leaves ? { trainParams: { skipSmallLabels: true } } : {});
  };
  return html`
    <${Dialog} label=${t("weak.title")} close=${() => end(null)}>
      <h2>${t("weak.title")}</h2>
      <p>${t("weak.lead", { count: MIN_EXAMPLES })}</p>
      <div onClick=${(e) => e.target.closest("a") && end(null)}>
        <${WeakLabels}
          weak=${weak}
          labels=${labels.map(({ name }) => name)}
          changes=${changes}
          plan=${plan}
          add=${`#/upload?family=${variables.family}&to=${variables.dataset_id}`}
        />
      </div>
      <div class="row">
        <${Action} kind="primary" disabled=${isOpen} run=${train}>${t("dataset.train")}<//>
        <button type="button" class="button" onClick=${() => end(null)}>${t("dialog.cancel")}</button>
      </div>
    <//>
  `;
}
