// The versions of a model: what each training made, with buttons that compare and serve one.

import { useState } from "./hooks.module.js";
import { call } from "./api.js";
import { Action, html, number, percent, Table, useLoad, when } from "./ui.js";
import { t } from "./words.js";

const HEADS = ["version", "created", "examples", "difference", "served"];

/** `onServed` is called after another version is served. */
export function Versions({ variables, trainedAt, onServed }) {
  const loaded = useLoad(() => call("versions", { variables }), [variables.model_id, trainedAt]);
  const [compared, setCompared] = useState({});
  const versions = loaded.data?.data ?? [];
  if (versions.length < 2) return null;
  const current = versions.find((one) => one.isServed);
  const serve = async (version) => {
    await call("serveVersion", { variables: { ...variables, version } });
    setCompared({});
    await loaded.reload();
    onServed();
  };
  const compare = async (version) => {
    const json = { versions: [current.version, version] };
    const found = await call("compareVersions", { variables, json });
    setCompared((before) => ({ ...before, [version]: found }));
  };
  return html`
    <details class="card">
      <summary><h2>${t("versions.title")}</h2></summary>
      <p class="muted">${t("versions.lead")}</p>
      <${Table} label=${t("versions.title")} heads=${HEADS.map((name) => t(`versions.${name}`))}>
        ${versions.map(
          (one) => html`
            <tr key=${one.version}>
              <th scope="row">${one.version}</th>
              <td>${when(one.createdAt)}</td>
              <td>${number(one.examples)}</td>
              <td>
                ${compared[one.version] ? difference(compared[one.version]) : reason(one)}
              </td>
              <td class="row">
                ${
                  one === current
                    ? t("versions.isServed")
                    : html`
                        <${Action} small run=${() => compare(one.version)}>
                          ${t("versions.compare", { version: one.version })}
                        <//>
                        <${Action} small run=${() => serve(one.version)}>
                          ${t("versions.serve", { version: one.version })}
                        <//>
                      `
                }
              </td>
            </tr>
          `,
        )}
      <//>
    </details>
  `;
}

const points = (share) => `${share > 0 ? "+" : ""}${(100 * share).toFixed(1)}`;

function reason({ notServedBecause, servedBecause }) {
  return notServedBecause ?? servedBecause ?? "";
}

function difference({ accuracies, differenceLow, differenceHigh, examples }) {
  return t("versions.points", {
    accuracy: percent(accuracies[1], 1),
    examples: number(examples),
    low: points(differenceLow),
    high: points(differenceHigh),
  });
}
