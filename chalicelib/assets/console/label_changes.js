// Changes that a person plans before an upload or a training: of labels merges and removals, of examples removals.

import { call, readAll } from "./api.js";

const POLL_MILLISECONDS = 700;
// The service warns of boxes that are narrower or lower.
const TINY_SIDE = 4;
// Words that models read, as the service counts them: Han and kana are one word each. Python has other white space
// than JavaScript.
const READ_WORDS = 1200;
const SINGLE = String.raw`\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff`;
const MORE_SPACE = String.fromCharCode(0x1c, 0x1d, 0x1e, 0x1f, 0x85);
const WORD = new RegExp(
  String.raw`[${SINGLE}]|(?:\ufeff|[^\s${MORE_SPACE}\u3040-\u30ff\u3400-\u9fff]){1,60}`,
  "gu",
);
const MAX_EXAMPLES = 1_000_000,
  PAGE = 100,
  MAX_CORRECTIONS = 10_000;
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Wait until the upload of a new dataset has ended, and return the dataset. */
async function waitUntilRead(variables) {
  for (;;) {
    const dataset = await call("dataset", { variables });
    if (dataset.statusMsg !== "UPLOADING") return dataset;
    await pause(POLL_MILLISECONDS);
  }
}

/** Merge labels of a dataset as planned by name. The first one that goes into a new label gets its name. */
export async function mergeLabels(variables, labels, changes) {
  const ids = new Map(labels.map((label) => [label.name, label.id]));
  for (const [name, { into }] of Object.entries(changes)) {
    const id = ids.get(name);
    // A label may have no example left, if all were duplicates.
    if (!into || id === undefined) continue;
    await call("changeLabel", {
      variables: { ...variables, label_id: id },
      json: ids.has(into) ? { mergeInto: ids.get(into) } : { name: into },
    });
    if (!ids.has(into)) ids.set(into, id);
  }
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

// The examples that are removed, by the code of the warning about them.
const REMOVED = {
  textsCut: (examples) => examples.filter(({ name }) => (name.match(WORD) ?? []).length > READ_WORDS),
  missingText: (examples, places) => examples.filter(({ name }) => places.includes(name.trim())),
  tinyBoxes: (examples) => examples.filter(({ box }) => Math.min(box.width, box.height) < TINY_SIDE),
  contradictingTexts: (examples) => {
    const same = Map.groupBy(examples, (example) => example.name);
    return examples.filter(({ name }) => new Set(same.get(name).map(({ label }) => label.id)).size > 1);
  },
};

/** Remove the examples of a new dataset that warnings are about; `planned` has their places by code. */
export async function removeExamples(family, { id }, planned) {
  const codes = Object.keys(planned).filter((code) => planned[code]);
  if (!codes.length) return;
  const variables = { family, dataset_id: id };
  await waitUntilRead(variables);
  const examples = await readAll("browse", { variables }, MAX_EXAMPLES, PAGE);
  const found = codes.flatMap((code) => REMOVED[code](examples, planned[code])).map((example) => example.id);
  for (let at = 0; at < found.length; at += MAX_CORRECTIONS) {
    const corrections = found
      .slice(at, at + MAX_CORRECTIONS)
      .map((exampleId) => ({ exampleId, remove: true }));
    await call("correct", { variables, json: { corrections } });
  }
}
