// The page of a dataset: examples, labels, models, uploads and export.

import { useEffect } from "./hooks.module.js";
import { readAll, call } from "./api.js";
import { Browse } from "./browse.js";
import { datasetUrl } from "./datasets.js";
import { ask } from "./dialog.js";
import { Labels } from "./labels.js";
import { ModelRow } from "./models.js";
import { Rejections } from "./preview.js";
import { Action, go, Head, html, Loaded, number, useEvery, useLoad, when } from "./ui.js";
import { startTraining } from "./training.js";
import { Exports } from "./exports.js";
import { t } from "./words.js";

const TABS = ["examples", "labels", "models", "uploads", "export"];

export function DatasetPage({ rest: [family, id, tab = "examples"], query }) {
  const variables = { family, dataset_id: id };
  const loaded = useLoad(() => call("dataset", { variables }), [family, id]);
  const isReading = loaded.data?.statusMsg === "UPLOADING";
  useEvery(700, isReading, loaded.reload);
  return html`
    <${Loaded} of=${loaded}>
      ${(dataset) => html`
        <${Head}
          title=${dataset.name}
          back=${{ href: "#/datasets", text: t("menu.datasets") }}
          tags=${[t(`type.${dataset.type}`)]}
        >
          <${Action}
            kind="primary"
            focused=${Boolean(query.first) || tab === "models"}
            disabled=${!dataset.available || !dataset.totalExamples}
            run=${() => startTraining(dataset, family)}
          >
            ${t("dataset.train")}
          <//>
        <//>
        ${
          isReading &&
          html`
            <p class="waiting" role="status">
              <span class="spinner" aria-hidden="true"></span>
              ${t("datasets.reading")}
            </p>
          `
        }
        ${
          dataset.statusMsg.startsWith("FAILED") &&
          html`<p class="notice bad" role="alert">${dataset.statusMsg}</p>`
        }
        ${query.first && html`<p class="notice">${t("dataset.first")}</p>`}
        <nav class="tabs" aria-label=${t("dataset.tabs")}>
          ${TABS.map(
            (name) => html`
              <a href=${datasetUrl(dataset, name)} aria-current=${tab === name ? "page" : undefined}>
                ${t(`tab.${name}`)}
              </a>
            `,
          )}
        </nav>
        ${
          dataset.available &&
          html`
            <${Tab}
              name=${tab}
              dataset=${dataset}
              variables=${variables}
              query=${query}
              reload=${loaded.reload}
            />
          `
        }
        <footer class="row foot">
          <${Action} small run=${() => rename(dataset, variables, loaded.reload)}>${t("dataset.rename")}<//>
          <${Action} small kind="danger" run=${() => remove(dataset, variables)}>${t("dataset.delete")}<//>
        </footer>
      `}
    <//>
  `;
}

function Tab({ name, dataset, variables, query, reload }) {
  if (name === "labels")
    return html`<${Labels} dataset=${dataset} variables=${variables} reload=${reload} />`;
  if (name === "models") return html`<${DatasetModels} dataset=${dataset} variables=${variables} />`;
  if (name === "uploads") return html`<${Uploads} dataset=${dataset} variables=${variables} />`;
  if (name === "export") return html`<${Exports} dataset=${dataset} variables=${variables} />`;
  return html`<${Browse} dataset=${dataset} variables=${variables} query=${query} reload=${reload} />`;
}

async function rename(dataset, variables, reload) {
  const name = await ask(t("dataset.newName"), { action: t("dataset.rename"), value: dataset.name });
  if (name && name !== dataset.name) await call("renameDataset", { variables, json: { name } });
  reload();
}

async function remove(dataset, variables) {
  const question = t("dataset.sure", { name: dataset.name, count: number(dataset.totalExamples) });
  if (!(await ask(question, { action: t("dataset.delete") }))) return;
  await call("deleteDataset", { variables });
  go("#/datasets");
}

function DatasetModels({ dataset, variables }) {
  const loaded = useLoad(() => readAll("datasetModels", { variables }), [variables.dataset_id]);
  return html`
    <${Loaded} of=${loaded}>
      ${(models) =>
        models.length
          ? html`<ul class="rows">${models.map((model) => html`<${ModelRow} model=${model} />`)}</ul>`
          : html`
            <div class="empty">
              <p>${t("dataset.noModels")}</p>
              <${Action} kind="primary" run=${() => startTraining(dataset, variables.family)}>
                ${t("dataset.train")}
              <//>
            </div>
          `}
    <//>
  `;
}

function Uploads({ dataset, variables }) {
  const loaded = useLoad(() => readAll("receipts", { variables }), [variables.dataset_id]);
  useEffect(() => {
    loaded.reload();
  }, [dataset.updatedAt]);
  return html`
    <div class="row">
      <a class="button" href=${`#/upload?family=${variables.family}&to=${dataset.id}`}>${t("dataset.add")}</a>
    </div>
    <${Loaded} of=${loaded}>
      ${(receipts) => html`
        <ul class="rows">
          ${receipts.map(
            (receipt) => html`
              <li class="card">
                <p>
                  <strong>${when(receipt.createdAt)}</strong>
                  ${" "}
                  <span class="tag">${t(`status.${receipt.status}`)}</span>
                </p>
                <p class="muted">
                  ${t("receipt.summary", {
                    kept: number(receipt.kept),
                    duplicates: number(receipt.duplicates),
                    rejected: number(receipt.rejected),
                  })}
                </p>
                ${receipt.message && html`<p class="notice bad">${receipt.message}</p>`}
                ${receipt.warnings.map((warning) => html`<p class="notice warn">${warning.message}</p>`)}
                <${Rejections} of=${receipt} />
              </li>
            `,
          )}
        </ul>
      `}
    <//>
  `;
}
