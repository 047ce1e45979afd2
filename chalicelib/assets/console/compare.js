// Compares the metrics of two models.

import { call } from "./api.js";
import { interval, labelMetrics } from "./metrics.js";
import { allModels } from "./models.js";
import { familyOf, Head, html, Loaded, percent, useLoad } from "./ui.js";
import { t } from "./words.js";

async function readMetrics(model) {
  const variables = { family: familyOf(model.modelType), model_id: model.modelId };
  const [metrics, card] = await Promise.all([call("metrics", { variables }), call("card", { variables })]);
  return { ...model, data: metrics.metricsData, card };
}

export function Compare({ query }) {
  const loaded = useLoad(async () => {
    const models = await allModels();
    return Promise.all([query.a, query.b].map((id) => readMetrics(models.find((one) => one.modelId === id))));
  }, [query.a, query.b]);
  return html`
    <${Head} title=${t("compare.title")} back=${{ href: "#/models", text: t("menu.models") }} />
    <${Loaded} of=${loaded}>
      ${([one, other]) => html`
        <section class="card">
          <div class="scroll" tabindex="0" role="region" aria-label=${t("compare.title")}>
            <table>
              <thead>
                <tr>
                  <th scope="col">${t("metrics.label")}</th>
                  ${[one, other].map((model) => html`<th scope="col" dir="auto">${model.name}</th>`)}
                  <th scope="col">${t("compare.change")}</th>
                </tr>
              </thead>
              <tbody>
                ${compareRows(one, other).map(
                  ([name, first, second, counts]) => html`
                    <tr>
                      <th scope="row" dir="auto">${name}</th>
                      <td>${shown(first, counts?.[0])}</td>
                      <td>${shown(second, counts?.[1])}</td>
                      <td><${Change} from=${first} to=${second} /></td>
                    </tr>
                  `,
                )}
              </tbody>
            </table>
          </div>
          <p class="muted small">${t("compare.note")}</p>
        </section>
      `}
    <//>
  `;
}

/** List the metrics of both models: overall, then the recall of each label that both have. */
function compareRows(one, other) {
  const accuracy = (model) => model.card.metrics.testAccuracy?.value ?? model.data.testAccuracy;
  const f1 = (model) => model.card.metrics.macroF1?.value ?? null;
  const labels = [one, other].map(
    (model) =>
      new Map(model.data.confusionMatrix ? labelMetrics(model.data).map((row) => [row.name, row]) : []),
  );
  const names = [...labels[0].keys()].filter((name) => labels[1].has(name));
  return [
    [t("card.accuracy"), accuracy(one), accuracy(other)],
    [t("card.f1"), f1(one), f1(other)],
    ...names.map((name) => [
      t("compare.recall", { name }),
      ...labels.map((rows) => rows.get(name).recall),
      labels.map((rows) => rows.get(name).expected),
    ]),
  ];
}

function shown(value, count) {
  if (value === null || value === undefined) return "–";
  if (count === undefined) return percent(value, 1);
  const [low, high] = interval(value, count);
  return html`${percent(value)} <span class="muted small">${percent(low)}–${percent(high)}</span>`;
}

function Change({ from, to }) {
  if (!Number.isFinite(from) || !Number.isFinite(to)) return "–";
  const points = (to - from) * 100;
  return html`
    <span class=${points > 0 ? "good-text" : points < 0 ? "bad-text" : "muted"}>
      ${points > 0 ? "▲ +" : points < 0 ? "▼ −" : ""}
      ${Math.abs(points).toFixed(1)}
    </span>
  `;
}
