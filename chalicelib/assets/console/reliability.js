// The calibration chart: predicted probability against observed accuracy.

import { call } from "./api.js";
import { html, number, percent, useLoad } from "./ui.js";
import { t } from "./words.js";

const SIDE = 300;
const EDGE = 44;

const position = (rate) => EDGE + rate * (SIDE - EDGE - 18);

export function Reliability({ variables, trainedAt }) {
  const found = useLoad(
    () => call("evaluation", { variables, query: { count: 1 } }).catch(() => ({ reliability: [] })),
    [variables.model_id, trainedAt],
  );
  const bins = (found.data?.reliability ?? []).filter((bin) => bin.count);
  if (!bins.length) return null;
  const most = Math.max(...bins.map((bin) => bin.count));
  return html`
    <section class="card">
      <h2>${t("reliability.title")}</h2>
      <p class="muted">${t("reliability.lead")}</p>
      <div class="reliability">
        <svg viewBox=${`0 0 ${SIDE} ${SIDE}`} role="img" aria-label=${t("reliability.title")}>
          <line
            class="ideal"
            x1=${position(0)}
            y1=${SIDE - position(0)}
            x2=${position(1)}
            y2=${SIDE - position(1)}
          />
          ${[0, 0.5, 1].map(
            (tick) => html`
              <text x=${position(tick)} y=${SIDE - 8} text-anchor="middle">${percent(tick)}</text>
              <text x=${EDGE - 6} y=${SIDE - position(tick) + 4} text-anchor="end">${percent(tick)}</text>
            `,
          )}
          ${bins.map(
            (bin) => html`
              <circle
                cx=${position(bin.probability)}
                cy=${SIDE - position(bin.accuracy)}
                r=${4 + 8 * Math.sqrt(bin.count / most)}
              />
            `,
          )}
        </svg>
        <table>
          <thead>
            <tr>
              ${["predicted", "correct", "count"].map(
                (name) => html`<th scope="col">${t(`reliability.${name}`)}</th>`,
              )}
            </tr>
          </thead>
          <tbody>
            ${bins.map(
              (bin) => html`
                <tr>
                  <td>${percent(bin.probability)}</td>
                  <td>${percent(bin.accuracy)}</td>
                  <td>${number(bin.count)}</td>
                </tr>
              `,
            )}
          </tbody>
        </table>
      </div>
    </section>
  `;
}
