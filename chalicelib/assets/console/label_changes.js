// Changes of labels that a person plans before the dataset exists: merges, new names and removals.

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

/** Apply changes, each {`into`}, {`name`} or {`remove`} by label name, as soon as a new dataset is read. */
export async function applyChanges(family, { id }, changes) {
  const planned = Object.entries(changes);
  if (!planned.length) return;
  const dataset = await waitUntilRead({ family, dataset_id: id });
  const ids = new Map(dataset.labelSummary.labels.map((label) => [label.name, label.id]));
  for (const [name, { into, remove }] of planned) {
    const variables = { family, dataset_id: id, label_id: ids.get(name) };
    if (!variables.label_id) continue;
    if (remove) await call("removeLabel", { variables });
    else await call("changeLabel", { variables, json: { mergeInto: ids.get(into) } });
  }
}
