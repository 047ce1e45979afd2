// Starts trainings: of a dataset, or of an existing model again.

import { call } from "./api.js";
import { go } from "./ui.js";

// The service accepts names of at most 180 characters, for datasets and models alike.
const MAX_NAME_LENGTH = 180;

/** Train a new model, or retrain `modelId`, and go to its page. */
export async function startTraining(dataset, family, modelId) {
  const name = dataset.name.slice(0, MAX_NAME_LENGTH);
  const json = modelId ? { modelId } : { name, datasetId: dataset.id };
  const training = await call(modelId ? "retrain" : "train", { variables: { family }, json });
  go(`#/model/${family}/${training.modelId}`);
}
