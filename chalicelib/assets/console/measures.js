// How good a model is, in words and per label; what its card says.

import { useState } from "./hooks.module.js";
import { html, number, percent } from "./ui.js";
import { t } from "./words.js";

/** The range of a share among so many examples, 95 times of 100 (Wilson). */
export function interval(share, count) {
  if (!count) return [0, 1];
  const z = 1.96, middle = (share + z ** 2 / (2 * count)) / (1 + z ** 2 / count);
  const half = (z / (1 + z ** 2 / count)) * Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

export function Card({ card }) {
  const { testAccuracy, macroF1 } = card.metrics;
  const trained = card.trainedOn;
  return html`<section class="card"><h2>${t("card.title")}</h2>
    <div class="figures">
      ${testAccuracy && html`<${Figure} name=${t("card.accuracy")} of=${testAccuracy} />`}
      ${macroF1 && html`<${Figure} name=${t("card.f1")} of=${macroF1} />`}
      ${Number.isFinite(card.calibrationError) && html`<div class="figure"><strong>${percent(card.calibrationError, 1)}</strong><span>${t("card.calibration")}</span></div>`}
      <div class="figure"><strong>${number(trained.examples)}</strong><span>${t("card.trained", { labels: trained.labels })}</span></div>
    </div>
    <p>${card.limits}</p>
    <details><summary>${t("card.whole")}</summary><pre tabindex="0">${JSON.stringify(card, null, 2)}</pre></details></section>`;
}

function Figure({ name, of }) {
  return html`<div class="figure"><strong>${percent(of.value, 1)}</strong><span>${name}</span>
    <span class="muted small">${t("card.between", { low: percent(of.low), high: percent(of.high) })}</span></div>`;
}

/** Precision and recall of each label from the confusion matrix, whose rows are what was expected. */
export function perLabel({ labels, confusionMatrix: matrix }) {
  return labels.map((name, index) => {
    const right = matrix[index][index];
    const expected = matrix[index].reduce((sum, count) => sum + count, 0);
    const predicted = matrix.reduce((sum, row) => sum + row[index], 0);
    return { name, expected, predicted, precision: predicted ? right / predicted : null, recall: expected ? right / expected : null };
  });
}

export function Measures({ data }) {
  if (!data.confusionMatrix) return null;
  const rows = perLabel(data).sort((one, other) => (one.recall ?? 1) - (other.recall ?? 1));
  return html`<section class="card"><h2>${t("measures.title")}</h2><p class="muted">${t("measures.lead")}</p>
    <div class="scroll" tabindex="0" role="region" aria-label=${t("measures.title")}><table><thead><tr><th scope="col">${t("measures.label")}</th><th scope="col">${t("measures.precision")}</th><th scope="col">${t("measures.recall")}</th><th scope="col" class="number">${t("measures.held")}</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr><th scope="row" dir="auto">${row.name}</th><td><${Share} of=${row.precision} count=${row.predicted} /></td><td><${Share} of=${row.recall} count=${row.expected} /></td><td class="number">${row.expected}</td></tr>`)}</tbody></table></div>
    ${data.precisionRecallCurve && html`<${Threshold} curve=${data.precisionRecallCurve} />`}</section>`;
}

/** A share with the range in which it lies, drawn. */
function Share({ of, count }) {
  if (of === null) return html`<span class="muted">–</span>`;
  const [low, high] = interval(of, count);
  return html`<span class="share" title=${t("card.between", { low: percent(low), high: percent(high) })}><span class="share-text">${percent(of)}</span>
    <span class="share-track" aria-hidden="true"><span class="share-range" style=${{ left: `${low * 100}%`, width: `${(high - low) * 100}%` }}></span><span class="share-dot" style=${{ left: `${of * 100}%` }}></span></span></span>`;
}

function Threshold({ curve }) {
  const [at, setAt] = useState(0);
  const last = curve.threshold.length - 1;
  return html`<h3>${t("threshold.title")}</h3><p class="muted">${t("threshold.lead")}</p>
    <label class="field"><span class="field-name">${t("threshold.slider", { value: curve.threshold[at].toFixed(2) })}</span>
      <input type="range" min="0" max=${last} value=${at} onInput=${(e) => setAt(Number(e.target.value))} /></label>
    <p role="status">${t("threshold.said", { precision: percent(curve.precision[at], 1), recall: percent(curve.recall[at], 1) })}</p>`;
}
