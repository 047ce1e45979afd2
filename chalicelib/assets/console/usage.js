// This month's predictions, recent batches, and the state of the service.

import { call } from "./api.js";
import {
  Bar,
  bytes,
  day,
  Empty,
  Head,
  html,
  Loaded,
  number,
  percent,
  Table,
  useEvery,
  useLoad,
  when,
} from "./ui.js";
import { t } from "./words.js";

/** Return the word for the state of an engine, whose name may stand for it. */
const stateOf = (state) => `engine.${state === "missing" ? state : "ready"}`;

/** Read the latest batches of both families, newest first. */
async function allBatches() {
  const lists = await Promise.all(
    ["language", "vision"].map((family) => call("batches", { variables: { family }, query: { count: 25 } })),
  );
  return lists.flatMap(({ data }) => data).sort((one, other) => other.createdAt.localeCompare(one.createdAt));
}

export function Usage() {
  const usage = useLoad(async () => (await call("usage")).data, []);
  const batches = useLoad(allBatches, []);
  const health = useLoad(() => call("health"), []);
  useEvery(
    2000,
    (batches.data ?? []).some((one) => ["QUEUED", "RUNNING"].includes(one.status)),
    batches.reload,
  );
  return html`
    <${Head} title=${t("menu.usage")} />
    <${Loaded} of=${usage}>
      ${(months) =>
        months.map(
          (month) => html`
            <section class="card">
              <h2>${t("usage.month")}</h2>
              <p class="muted">
                ${t("usage.plan", {
                  plan: month.planData.map((one) => one.plan).join(", "),
                  from: day(month.startsAt),
                  to: day(month.endsAt),
                })}
              </p>
              <${Bar}
                label=${t("usage.predictions")}
                value=${month.predictionsUsed}
                most=${month.predictionsMax}
                text=${t("usage.of", { used: number(month.predictionsUsed), max: number(month.predictionsMax) })}
                hue=${0}
              />
              <p>${t("usage.left", { count: number(month.predictionsRemaining) })}</p>
            </section>
          `,
        )}
    <//>
    <section class="card">
      <h2>${t("usage.batches")}</h2>
      <${Loaded} of=${batches}>
        ${(found) =>
          found.length === 0
            ? html`<${Empty} text=${t("usage.noBatches")} href="#/classify" action=${t("classify.title")} />`
            : html`
              <${Table}
                label=${t("usage.batches")}
                heads=${["name", "status", "lines", "when", "result"].map((name) => t(`batch.${name}`))}
              >
                    ${found.map(
                      (batch) => html`
                        <tr>
                          <th scope="row" dir="auto">${batch.name}</th>
                          <td>
                            ${t(`status.${batch.status}`)}
                            ${" "}
                            ${batch.status === "RUNNING" ? percent(batch.progress) : ""}
                          </td>
                          <td>
                            ${t("batch.counts", {
                              done: number(batch.counts.done),
                              total: number(batch.counts.total),
                              failed: number(batch.counts.failed),
                            })}
                          </td>
                          <td>${when(batch.createdAt)}</td>
                          <td>
                            ${
                              batch.resultUrl
                                ? html`<a href=${batch.resultUrl}>${bytes(batch.resultBytes)}</a>`
                                : (batch.failureMsg ?? "–")
                            }
                          </td>
                        </tr>
                      `,
                    )}
              <//>
            `}
      <//>
    </section>
    <${Loaded} of=${health}>
      ${(found) => html`
        <section class="card">
          <h2>${t("usage.service")}</h2>
          <dl class="facts">
            <div><dt>${t("usage.version")}</dt><dd>${found.version}</dd></div>
            ${Object.entries(found.engines).map(
              ([name, state]) => html`
                <div><dt>${t(`engine.${name}`)}</dt><dd>${t(stateOf(state))}</dd></div>
              `,
            )}
          </dl>
        </section>
      `}
    <//>
  `;
}
