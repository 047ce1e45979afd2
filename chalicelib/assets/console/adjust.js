// Adjust a text model to texts as users send them: with a file, and by deciding about texts near the threshold.

import { useState } from "./hooks.module.js";
import { toCsv } from "./answers.js";
import { call, uploadIfLarge } from "./api.js";
import { Action, Field, html, number, percent, Table } from "./ui.js";
import { t } from "./words.js";

// Label of a text that belongs to no label of the model.
const OUT_OF_DOMAIN = "out-of-domain";
// Texts with a label that the service needs at least.
const LEAST_DECISIONS = 20;

/** `labels` are those of the model; `onStarted` is called when the adjustment is queued. */
export function Adjust({ adjustment, labels, variables, onStarted }) {
  const [file, setFile] = useState(null);
  const [rate, setRate] = useState("");
  const [withFeedback, setWithFeedback] = useState(false);
  const send = async (chosen) => {
    const source = await uploadIfLarge(chosen);
    const fields = { outOfDomainRate: rate, ...(withFeedback && { withFeedback: "true" }), ...source.fields };
    await call("adjust", { variables, fields, file: source.file });
    await onStarted();
  };
  return html`
    <details class="card" open=${Boolean(adjustment)}>
      <summary><h2>${t("adjust.title")}</h2></summary>
      ${adjustment && html`<${Effect} of=${adjustment} />`}
      <p class="muted">${t("adjust.lead", { least: LEAST_DECISIONS })}</p>
      <div class="row">
        <${Field} label=${t("adjust.file")}>
          <input
            type="file"
            accept=".csv,.tsv,.txt,.xlsx,.jsonl"
            onChange=${(e) => setFile(e.target.files[0] ?? null)}
          />
        <//>
        <${Field} label=${t("adjust.rate")} hint=${t("adjust.rateHint")}>
          <input
            type="number"
            min="0.001"
            max="0.999"
            step="any"
            value=${rate}
            onInput=${(e) => setRate(e.target.value)}
          />
        <//>
      </div>
      <label>
        <input
          type="checkbox"
          checked=${withFeedback}
          onChange=${(e) => setWithFeedback(e.target.checked)}
        /> ${t("adjust.withFeedback")}
      </label>
      <${Action} disabled=${!file} run=${() => send(file)}>${t("adjust.start")}<//>
      ${
        adjustment?.nearest?.length > 0 &&
        html`<${Decisions} texts=${adjustment.nearest} labels=${labels} send=${send} />`
      }
    </details>
  `;
}

const shown = ({ value, low, high }) =>
  `${percent(value, 1)} (${t("card.between", { low: percent(low), high: percent(high) })})`;

/** What an adjustment has changed. */
function Effect({ of }) {
  if (of.startedWithout)
    return html`<p class="notice warn">${t("adjust.without", { version: of.startedWithout })}</p>`;
  const { labelled, outOfDomain, unlabelled, feedback, rejectedBefore, rejectedAfter } = of;
  const counts = { labelled: number(labelled), outside: number(outOfDomain), unlabelled: number(unlabelled) };
  return html`
    <p>${t("adjust.counts", counts)} ${feedback > 0 && t("adjust.fromFeedback", { count: number(feedback) })}</p>
    ${
      rejectedAfter &&
      html`<p>${t("adjust.rejected", { before: shown(rejectedBefore), after: shown(rejectedAfter) })}</p>`
    }
  `;
}

/** The texts nearest to the threshold; what a person decides about them adjusts the model again. */
function Decisions({ texts, labels, send }) {
  const [decided, decide] = useState({});
  const found = Object.entries(decided).filter(([, label]) => label);
  const write = () => {
    const rows = found.map(([at, label]) => [texts[at].text, label]);
    return new File([toCsv([["text", "label"], ...rows])], "decisions.csv", { type: "text/csv" });
  };
  const choices = [...labels, OUT_OF_DOMAIN];
  return html`
    <h3>${t("adjust.nearest", { count: texts.length })}</h3>
    <${Table}
      label=${t("adjust.nearest", { count: texts.length })}
      heads=${["text", "answer", "decision"].map((name) => t(`adjust.${name}`))}
      kind="preview"
    >
      ${texts.map(
        ({ text, label, isRejected }, at) => html`
          <tr>
            <th scope="row" dir="auto">${text}</th>
            <td dir="auto">${isRejected ? t("adjust.none") : label}</td>
            <td>
              <select
                class="small"
                aria-label=${t("adjust.decide", { text })}
                value=${decided[at] ?? ""}
                onChange=${(e) => decide({ ...decided, [at]: e.target.value })}
              >
                <option value=""></option>
                ${choices.map((one) => html`<option value=${one}>${one}</option>`)}
              </select>
            </td>
          </tr>
        `,
      )}
    <//>
    <${Action} disabled=${found.length < LEAST_DECISIONS} run=${() => send(write())}>
      ${t("adjust.again", { count: found.length, least: LEAST_DECISIONS })}
    <//>
  `;
}
