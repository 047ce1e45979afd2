// The evaluation of a model: model card, metrics per label, and the threshold.

import { useState } from "./hooks.module.js";
import { html, number, percent, Table } from "./ui.js";
import { t } from "./words.js";

/** The 95 % confidence interval (Wilson) of a rate among `count` examples. */
export function interval(rate, count) {
  if (!count) return [0, 1];
  const z = 1.96,
    middle = (rate + z ** 2 / (2 * count)) / (1 + z ** 2 / count);
  const half =
    (z / (1 + z ** 2 / count)) * Math.sqrt((rate * (1 - rate)) / count + z ** 2 / (4 * count ** 2));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

// With fewer held-out examples their accuracy says little.
const FEW_HELD_OUT = 50;
// Rates have six digits.
const ROUNDING = 1e-6;

/** The accuracy to see first: of the held-out examples, or with few of them of all by models not trained on them. */
function Headline({ metrics: { testAccuracy, foldAccuracy }, data, examples }) {
  const heldOut = data.confusionMatrix?.flat().reduce((sum, count) => sum + count, 0) ?? 0;
  const isFold = foldAccuracy && heldOut < FEW_HELD_OUT;
  const shown = isFold ? foldAccuracy : testAccuracy;
  if (!shown) return null;
  const count = isFold ? examples : heldOut;
  const right = Math.round(shown.value * count);
  // A cross-validation may have left out some examples: then the rate is no fraction of their number.
  const isCount = count > 0 && Math.abs(right / count - shown.value) < ROUNDING;
  // The confusion matrix of an imported model is unknown, and with it the number of held-out examples.
  const folds = heldOut ? t("card.folds", { count: heldOut }) : t("card.allFolds");
  return html`
    <p class="headline">
      <strong>
        ${
          isCount
            ? t("card.right", { right: number(right), count: number(count) })
            : t("card.rate", { rate: percent(shown.value, 1) })
        }
      </strong>
      <span>${t("card.between", { low: percent(shown.low), high: percent(shown.high) })}</span>
    </p>
    <p class="muted">${isFold ? folds : t("card.heldOut")}</p>
  `;
}

export function Card({ card, data }) {
  const { testAccuracy, testAccuracies, macroF1 } = card.metrics;
  const trained = card.trainedOn,
    skipped = card.skippedLabels ?? [];
  return html`
    <section class="card">
      <h2>${t("card.title")}</h2>
      <${Headline} metrics=${card.metrics} data=${data} examples=${trained.examples} />
      <div class="figures">
        ${testAccuracy && html`<${Figure} name=${t("card.testAccuracy")} of=${testAccuracy} />`}
        ${macroF1 && html`<${Figure} name=${t("card.f1")} of=${macroF1} />`}
        ${
          Number.isFinite(card.calibrationError) &&
          html`
            <div class="figure">
              <strong>${percent(card.calibrationError, 1)}</strong>
              <span>${t("card.calibration")}</span>
            </div>
          `
        }
        <div class="figure">
          <strong>${number(trained.examples)}</strong>
          <span>${t("card.trained", { labels: trained.labels })}</span>
        </div>
      </div>
      ${
        testAccuracies &&
        html`<${LabelAccuracies} accuracies=${testAccuracies} thresholds=${card.engine.thresholds ?? {}} />`
      }
      ${
        skipped.length > 0 &&
        html`
          <p class="notice warn">
            ${t("card.skipped", { labels: skipped.map((one) => `${one.name} (${one.numExamples})`).join(", ") })}
          </p>
        `
      }
      <details>
        <summary>${t("card.whole")}</summary>
        <p class="muted small">${card.limits}</p>
        <pre tabindex="0">${JSON.stringify(card, null, 2)}</pre>
      </details>
    </section>
  `;
}

/** Threshold and accuracy of each label of a multi-label model, the worst first. */
function LabelAccuracies({ accuracies, thresholds }) {
  const rows = Object.entries(accuracies).sort(([, one], [, other]) => one.value - other.value);
  const heads = ["label", "threshold", "accuracy"].map((name) => t(`metrics.${name}`));
  return html`
    <${Table} label=${t("card.labels")} heads=${heads}>
      ${rows.map(
        ([name, { value, low, high }]) => html`
          <tr>
            <th scope="row" dir="auto">${name}</th>
            <td>${thresholds[name]?.toFixed(3) ?? t("metrics.noThreshold")}</td>
            <td>
              ${percent(value, 1)}
              <span class="muted small"> ${t("card.between", { low: percent(low), high: percent(high) })}</span>
            </td>
          </tr>
        `,
      )}
    <//>
  `;
}

function Figure({ name, of }) {
  return html`
    <div class="figure">
      <strong>${percent(of.value, 1)}</strong>
      <span>${name}</span>
      <span class="muted small">${t("card.between", { low: percent(of.low), high: percent(of.high) })}</span>
    </div>
  `;
}

/** Compute precision and recall of each label from the confusion matrix, whose rows are the expected labels. */
export function labelMetrics({ labels, confusionMatrix: matrix }) {
  return labels.map((name, index) => {
    const right = matrix[index][index];
    const expected = matrix[index].reduce((sum, count) => sum + count, 0);
    const predicted = matrix.reduce((sum, row) => sum + row[index], 0);
    return {
      name,
      expected,
      predicted,
      precision: predicted ? right / predicted : null,
      recall: expected ? right / expected : null,
    };
  });
}

export function LabelMetrics({ data }) {
  if (!data.confusionMatrix) return null;
  const rows = labelMetrics(data).sort((one, other) => (one.recall ?? 1) - (other.recall ?? 1));
  return html`
    <section class="card">
      <h2>${t("metrics.title")}</h2>
      <p class="muted">${t("metrics.lead")}</p>
      <${Table}
        label=${t("metrics.title")}
        heads=${["label", "precision", "recall", "support"].map((name) => t(`metrics.${name}`))}
      >
            ${rows.map(
              (row) => html`
                <tr>
                  <th scope="row" dir="auto">${row.name}</th>
                  <td><${Rate} of=${row.precision} count=${row.predicted} /></td>
                  <td><${Rate} of=${row.recall} count=${row.expected} /></td>
                  <td class="number">${row.expected}</td>
                </tr>
              `,
            )}
      <//>
      ${data.precisionRecallCurve && html`<${Threshold} curve=${data.precisionRecallCurve} />`}
    </section>
  `;
}

/** A rate with its confidence interval. */
function Rate({ of, count }) {
  if (of === null) return html`<span class="muted">–</span>`;
  const [low, high] = interval(of, count);
  return html`
    <span class="rate" title=${t("card.between", { low: percent(low), high: percent(high) })}>
      <span class="rate-text">${percent(of)}</span>
      <span class="rate-track" aria-hidden="true">
        <span class="rate-range" style=${{ left: `${low * 100}%`, width: `${(high - low) * 100}%` }}></span>
        <span class="rate-dot" style=${{ left: `${of * 100}%` }}></span>
      </span>
    </span>
  `;
}

function Threshold({ curve }) {
  const [at, setAt] = useState(0);
  const last = curve.threshold.length - 1;
  return html`
    <h3>${t("threshold.title")}</h3>
    <p class="muted">${t("threshold.lead")}</p>
    <label class="field">
      <span class="field-name">${t("threshold.slider", { value: curve.threshold[at].toFixed(2) })}</span>
      <input type="range" min="0" max=${last} value=${at} onInput=${(e) => setAt(Number(e.target.value))} />
    </label>
    <p role="status">
      ${t("threshold.rates", { precision: percent(curve.precision[at], 1), recall: percent(curve.recall[at], 1) })}
    </p>
  `;
}
