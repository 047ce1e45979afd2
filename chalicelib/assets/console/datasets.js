// The list of datasets, or a welcome for a new account.

import { useState } from "./hooks.module.js";
import { readAll, call, BASE_PATH } from "./api.js";
import { Thumbnail } from "./image.js";
import { Action, colour, familyOf, go, Head, html, Loaded, number, useEvery, useLoad, when } from "./ui.js";
import { t } from "./words.js";

const FAMILIES = ["language", "vision"];
const SHOWN_LABELS = 60;
const SHOWN_IMAGES = 4;

/** Read the datasets of both families, newest first. */
async function allDatasets() {
  const lists = await Promise.all(FAMILIES.map((family) => readAll("datasets", { variables: { family } })));
  return lists.flat().sort((one, other) => other.id - one.id);
}

export const datasetUrl = (dataset, tab = "") =>
  `#/dataset/${familyOf(dataset.type)}/${dataset.id}${tab && `/${tab}`}`;

/** Create a dataset from the shipped sample, and go to its page. */
async function createSample() {
  const text = await (await fetch(`${BASE_PATH}/console/shop_intents.csv`)).text();
  const file = new File([text], "shop_intents.csv", { type: "text/csv" });
  const dataset = await call("upload", {
    variables: { family: "language" },
    fields: { type: "text-intent", name: t("sample.name") },
    file,
  });
  go(`${datasetUrl(dataset)}?first=1`);
}

export function Datasets() {
  const loaded = useLoad(allDatasets, []);
  const [wanted, setWanted] = useState("");
  const busy = (loaded.data ?? []).some((dataset) => dataset.statusMsg === "UPLOADING");
  useEvery(1500, busy, loaded.reload);
  return html`
    <${Head} title=${t("menu.datasets")}>
      <a class="button primary" href="#/upload">${t("datasets.upload")}</a>
    <//>
    <${Loaded} of=${loaded}>
      ${(found) =>
        found.length === 0
          ? html`<${Welcome} />`
          : html`
            ${
              found.length > 8 &&
              html`
                <input
                  type="search"
                  class="find"
                  placeholder=${t("datasets.find")}
                  aria-label=${t("datasets.find")}
                  value=${wanted}
                  onInput=${(e) => setWanted(e.target.value)}
                />
              `
            }
            <ul class="cards">
              ${found
                .filter((one) => one.name.toLowerCase().includes(wanted.toLowerCase()))
                .map((dataset) => html`<${DatasetCard} key=${dataset.id} dataset=${dataset} />`)}
            </ul>
          `}
    <//>
  `;
}

function DatasetCard({ dataset }) {
  const failed = dataset.statusMsg.startsWith("FAILED");
  return html`
    <li class="card link">
      <h2><a href=${datasetUrl(dataset)} dir="auto">${dataset.name}</a></h2>
      <p class="muted">
        ${t(`type.${dataset.type}`)}
        ${" "}·${" "}
        ${t("count.examples", { count: number(dataset.totalExamples) })}
        ${" "}·${" "}
        ${t("count.labels", { count: number(dataset.totalLabels) })}
      </p>
      ${familyOf(dataset.type) === "vision" && dataset.available && html`<${Thumbnails} dataset=${dataset} />`}
      <${LabelStripe} labels=${dataset.labelSummary.labels} />
      <p class="muted small">
        ${
          failed
            ? html`<span class="bad-text">${t("datasets.failed")}</span>`
            : dataset.statusMsg === "UPLOADING"
              ? html`<span class="spinner" aria-hidden="true"></span> ${t("datasets.reading")}`
              : t("datasets.changed", { when: when(dataset.updatedAt) })
        }
      </p>
    </li>
  `;
}

/** The first images of a dataset. */
function Thumbnails({ dataset }) {
  const variables = { family: "vision", dataset_id: dataset.id };
  const found = useLoad(
    async () => (await call("browse", { variables, query: { count: SHOWN_IMAGES } })).data,
    [dataset.id, dataset.updatedAt],
  );
  // A detection dataset lists an image once for each box.
  const images = new Map((found.data ?? []).map((example) => [example.name, { ...example, box: null }]));
  return html`
    <div class="thumbs" aria-hidden="true">
      ${[...images.values()].map((example) => html`<${Thumbnail} key=${example.id} example=${example} />`)}
    </div>
  `;
}

/** The distribution of the examples over the labels, as one bar. */
function LabelStripe({ labels }) {
  const total = labels.reduce((sum, label) => sum + label.numExamples, 0);
  if (!total) return html`<div class="stripe"></div>`;
  return html`
    <div class="stripe" role="img" aria-label=${t("datasets.spread", { count: labels.length })}>
      ${labels.slice(0, SHOWN_LABELS).map(
        (label, index) => html`
          <span
            title=${`${label.name}: ${label.numExamples}`}
            style=${{ flexGrow: label.numExamples, background: colour(index) }}
          ></span>
        `,
      )}
    </div>
  `;
}

function Welcome() {
  return html`
    <section class="card welcome">
      <h2>${t("welcome.title")}</h2>
      <p>${t("welcome.lead")}</p>
      <ol class="steps">
        ${["upload", "train", "review", "try"].map(
          (step) => html`
            <li><strong>${t(`welcome.${step}`)}</strong><span>${t(`welcome.${step}Text`)}</span></li>
          `,
        )}
      </ol>
      <div class="row">
        <${Action} kind="primary" focused run=${createSample}>${t("welcome.sample")}<//>
        <a class="button" href="#/upload">${t("welcome.own")}</a>
      </div>
      <p class="muted small">${t("welcome.sampleText")}</p>
    </section>
  `;
}
