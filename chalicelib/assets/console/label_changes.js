// Changes of labels that a person plans before an upload or a training: merges and removals.

import { call } from "./api.js";

const POLL_MILLISECONDS = 700;
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Wait until the upload of a new dataset has ended, and return the dataset. */
async function waitUntilRead(variables) {
  for (;;) {
    const dataset = await call("dataset", { variables });
    if (dataset.statusMsg !== "UPLOADING") return dataset;
    await pause(POLL_MILLISECONDS);
  }
}

/** Merge labels of a dataset as planned by name. */
export async function mergeLabels(variables, labels, changes) {
  const ids = new Map(labels.map((label) => [label.name, label.id]));
  for (const [name, { into }] of Object.entries(changes))
    if (into)
      await call("changeLabel", {
        variables: { ...variables, label_id: ids.get(name) },
        json: { mergeInto: ids.get(into) },
      });
}

/** Apply planned merges and removals, by label name, as soon as a new dataset is read. */
export async function applyChanges(family, { id }, changes) {
  if (!Object.keys(changes).length) return;
  const variables = { family, dataset_id: id };
  const { labels } = (await waitUntilRead(variables)).labelSummary;
  await mergeLabels(variables, labels, changes);
  for (const label of labels)
    if (changes[label.name]?.remove)
      await call("removeLabel", { variables: { ...variables, label_id: label.id } });
}
