// The page of a model: training progress, evaluation, and next steps.

import { useEffect, useState } from "./hooks.module.js";
import { Adjust } from "./adjust.js";
import { readAll, call } from "./api.js";
import { CurveChart } from "./curve.js";
import { ask } from "./dialog.js";
import { ModelExports } from "./exports.js";
import { Matrix } from "./matrix.js";
import { Card, LabelMetrics } from "./metrics.js";
import { isOpen } from "./models.js";
import { Reliability } from "./reliability.js";
import { Thresholds } from "./thresholds.js";
import { startTraining } from "./training.js";
import { Action, go, Head, html, Loaded, Progress, useEvery, useFocus, useLoad } from "./ui.js";
import { Versions } from "./versions.js";
import { t } from "./words.js";

const RANKED = ["text-intent", "text-sentiment", "image", "image-multi-label"];

export function ModelPage({ rest: [family, id] }) {
  const variables = { family, model_id: id };
  const loaded = useLoad(() => call("training", { variables }), [family, id]);
  const curve = useLoad(() => readAll("curve", { variables }, 300).catch(() => []), [family, id]);
  const open = loaded.data !== null && isOpen(loaded.data);
  useEvery(500, open, async () => {
    await Promise.all([loaded.reload(), curve.reload()]);
  });
  useEffect(() => {
    if (loaded.data && !open) curve.reload();
  }, [open]);
  // Another version has other metrics, so they are loaded again.
  const [served, setServed] = useState(0);
  const remove = async (name) => {
    if (!(await ask(t("model.sure", { name }), { action: t("model.delete") }))) return;
    await call("deleteModel", { variables });
    go("#/models");
  };
  return html`
    <${Loaded} of=${loaded}>
      ${(training) => html`
        <${Head}
          title=${training.name}
          back=${
            // Imported models have no dataset.
            training.datasetId > 0
              ? { href: `#/dataset/${family}/${training.datasetId}`, text: t("model.dataset") }
              : { href: "#/models", text: t("menu.models") }
          }
          tags=${[t(`status.${training.status}`)]}
        >
          ${
            training.datasetId > 0 &&
            html`
              <${Action}
                disabled=${open}
                run=${() =>
                  startTraining({ id: training.datasetId, name: training.name }, family, id).then(
                    loaded.reload,
                  )}
              >
                ${t("model.again")}
              <//>
            `
          }
        <//>
        ${
          open &&
          html`
            <${Progress}
              value=${training.progress}
              label=${
                training.queuePosition
                  ? t("model.queued", { place: training.queuePosition })
                  : t(training.datasetId > 0 ? "model.training" : "import.running")
              }
            />
          `
        }
        ${training.failureMsg && html`<p class="notice bad" role="alert">${training.failureMsg}</p>`}
        ${
          training.status === "SUCCEEDED" &&
          html`<${Result}
            key=${`${training.updatedAt} ${served}`}
            variables=${variables}
            training=${training}
            reload=${loaded.reload}
          />`
        }
        <${Versions} variables=${variables} trainedAt=${training.updatedAt} onServed=${() => setServed(served + 1)} />
        ${
          training.status === "SUCCEEDED" &&
          html`<${ModelExports} type=${training.modelType} variables=${variables} />`
        }
        ${
          curve.data?.length > 0 &&
          html`
            <details class="card" open=${open}>
              <summary><h2>${t("curve.title")}</h2></summary>
              <${CurveChart} epochs=${curve.data} />
            </details>
          `
        }
        <footer class="row foot">
          <${Action} small disabled=${open} kind="danger" run=${() => remove(training.name)}>
            ${t("model.delete")}
          <//>
        </footer>
      `}
    <//>
  `;
}

function Result({ variables, training, reload }) {
  const metrics = useLoad(() => call("metrics", { variables }), [training.updatedAt]);
  const card = useLoad(() => call("card", { variables }), [training.updatedAt]);
  const { family } = variables;
  const report = card.data?.dataReport;
  const suspects = report?.likelyLabelErrors?.length ?? 0;
  const next = useFocus(card.data !== null);
  const place = `#/dataset/${family}/${training.datasetId}`;
  return html`
    <${Loaded} of=${metrics}>
      ${({ metricsData }) => html`
        <${Loaded} of=${card}>${(shown) => html`<${Card} card=${shown} data=${metricsData} />`}<//>
      `}
    <//>
    <section class="card next">
      <h2>${t("model.next")}</h2>
      <div class="row">
        ${
          suspects > 0 &&
          html`
            <a class="button primary" ref=${next} href=${`${place}?suspectsOf=${training.modelId}`}>
              ${t("model.review", { count: suspects })}
            </a>
          `
        }
        <a
          class=${`button ${suspects ? "" : "primary"}`}
          ref=${suspects ? null : next}
          href=${`#/try/${family}/${training.modelId}`}
        >
          ${t("model.try")}
        </a>
        <a class="button" href=${`#/classify/${family}/${training.modelId}`}>${t("model.classify")}</a>
        ${
          RANKED.includes(training.modelType) &&
          training.datasetId > 0 &&
          html`<a class="button" href=${`#/next/${family}/${training.modelId}`}>${t("next.title")}</a>`
        }
      </div>
    </section>
    ${
      card.data?.thresholds?.length > 0 &&
      html`<${Thresholds} thresholds=${card.data.thresholds} family=${family} modelId=${training.modelId} />`
    }
    ${
      // Imported models cannot be adjusted.
      training.modelType === "text-intent" &&
      training.datasetId > 0 &&
      card.data &&
      html`
        <${Adjust}
          adjustment=${card.data.adjustment}
          labels=${(metrics.data?.metricsData.labels ?? []).filter((name) => name !== "out-of-domain")}
          variables=${variables}
          onStarted=${reload}
        />
      `
    }
    <${Loaded} of=${metrics}>
      ${({ metricsData }) => html`
        <${LabelMetrics} data=${metricsData} />
        ${
          metricsData.confusionMatrix &&
          html`<${Matrix} data=${metricsData} place=${place} model=${training.modelId} />`
        }
      `}
    <//>
    <${Reliability} variables=${variables} trainedAt=${training.updatedAt} />
  `;
}
