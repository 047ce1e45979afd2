// The confusion matrix: expected against predicted labels. A cell links to its examples.

import { html, percent } from "./ui.js";
import { t } from "./words.js";

// More labels do not fit a screen; those with most errors are shown.
const MAX_LABELS = 40;

export function Matrix({ data, place, model }) {
  const { labels, confusionMatrix: matrix } = data;
  const names = [...labels, t("matrix.none")];
  const order = matrix.length > MAX_LABELS ? worstRows(matrix) : matrix.map((_, index) => index);
  return html`
    <section class="card">
      <h2>${t("matrix.title")}</h2>
      <p class="muted">${t("matrix.lead")}</p>
      ${
        matrix.length > MAX_LABELS &&
        html`<p class="muted small">${t("matrix.most", { count: MAX_LABELS })}</p>`
      }
      <div class="scroll" tabindex="0" role="region" aria-label=${t("matrix.title")}>
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col">${t("matrix.corner")}</th>
              ${order.map((column) => html`<th scope="col"><span dir="auto">${names[column]}</span></th>`)}
            </tr>
          </thead>
          <tbody>
            ${order.map((row) => {
              const total = matrix[row].reduce((sum, count) => sum + count, 0);
              return html`
                <tr>
                  <th scope="row" dir="auto">${names[row]}</th>
                  ${order.map(
                    (column) => html`
                      <${Cell}
                        count=${matrix[row][column]}
                        total=${total}
                        right=${row === column}
                        names=${[names[row], names[column]]}
                        href=${`${place}?${cellQuery(names[row], names[column], model)}`}
                      />
                    `,
                  )}
                </tr>
              `;
            })}
          </tbody>
        </table>
      </div>
    </section>
  `;
}

const cellQuery = (label, predicted, model) => new URLSearchParams({ label, as: predicted, model });

function Cell({ count, total, right, names: [expected, predicted], href }) {
  if (!count) return html`<td class="empty-cell">·</td>`;
  const strength = Math.round((count / total) * 80) + 10;
  const title = t("matrix.cell", { count, expected, predicted, share: percent(count / total) });
  return html`
    <td class=${right ? "right" : "wrong"} style=${{ "--strength": `${strength}%` }}>
      <a href=${href} title=${title} aria-label=${title}>${count}</a>
    </td>
  `;
}

/** Return the indices of the rows with most errors. */
function worstRows(matrix) {
  const wrong = matrix.map((row, index) => [index, row.reduce((sum, count) => sum + count, 0) - row[index]]);
  return wrong
    .sort((one, other) => other[1] - one[1])
    .slice(0, MAX_LABELS)
    .map(([index]) => index);
}
