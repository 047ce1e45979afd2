// The thresholds of the model card: from which probability answers are right often enough, and how many remain.

import { useState } from "./hooks.module.js";
import { Bar, html, percent, Table } from "./ui.js";
import { t } from "./words.js";

// Rounded up: below the threshold fewer answers are right.
const probability = (threshold) => (Math.ceil(threshold * 1000) / 1000).toFixed(3);

/** A slider over the precisions of the card. Models with several labels an image have a threshold for each label. */
export function Thresholds({ thresholds, family, modelId }) {
  const precisions = [...new Set(thresholds.map((one) => one.precision))].sort();
  const middle = Math.max(0, precisions.length - 2);
  const [at, setAt] = useState(middle);
  const precision = precisions[at];
  const found = thresholds.filter((one) => one.precision === precision);
  const [{ label, threshold }] = found;
  return html`
    <section class="card">
      <h2>${t("thresholds.title")}</h2>
      <p class="muted">${t("thresholds.lead")}</p>
      <label class="field">
        <span class="field-name">${t("thresholds.slider", { precision: percent(precision) })}</span>
        <input
          type="range"
          min="0"
          max=${precisions.length - 1}
          value=${at}
          aria-valuetext=${percent(precision)}
          onInput=${(e) => setAt(Number(e.target.value))}
        />
      </label>
      ${label === undefined ? html`<${Coverage} of=${found[0]} />` : html`<${LabelTable} rows=${found} />`}
      ${
        label === undefined &&
        threshold !== null &&
        html`
          <p>
            <a class="button" href=${`#/classify/${family}/${modelId}?below=${probability(threshold)}`}>
              ${t("thresholds.use", { threshold: probability(threshold) })}
            </a>
          </p>
        `
      }
    </section>
  `;
}

const range = ({ coverageLow, coverageHigh }) =>
  t("card.between", { low: percent(coverageLow), high: percent(coverageHigh) });

function Coverage({ of }) {
  const { precision, threshold, coverage } = of;
  return html`
    <p role="status">
      ${
        threshold === null
          ? t("thresholds.none", { precision: percent(precision) })
          : t("thresholds.coverage", {
              threshold: probability(threshold),
              coverage: percent(coverage, 1),
              range: range(of),
            })
      }
    </p>
    ${
      threshold !== null &&
      html`
        <div class="bars">
          <${Bar} label=${t("thresholds.covered")} value=${coverage} most=${1} text=${percent(coverage)} />
        </div>
      `
    }
  `;
}

function LabelTable({ rows }) {
  const heads = [t("metrics.label"), t("metrics.threshold"), t("thresholds.covered")];
  return html`
    <${Table} label=${t("thresholds.title")} heads=${heads}>
      ${rows.map(
        (row) => html`
          <tr>
            <th scope="row" dir="auto">${row.label}</th>
            <td>${row.threshold === null ? t("thresholds.noLabel") : probability(row.threshold)}</td>
            <td>
              ${row.threshold !== null && percent(row.coverage, 1)}
              <span class="muted small"> ${row.threshold !== null && range(row)}</span>
            </td>
          </tr>
        `,
      )}
    <//>
  `;
}
