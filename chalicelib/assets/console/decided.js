// Which words decided: the answer is asked for again with each word left out.

import { useState } from "./hooks.module.js";
import { call as send } from "./api.js";
import { Action, html, percent } from "./ui.js";
import { t } from "./words.js";

export function Decided({ call, fields }) {
  const [found, setFound] = useState(null);
  const explain = async () => setFound((await send(call, { json: { ...fields, explain: true } })).explanation ?? []);
  if (found === null) return html`<${Action} small run=${explain}>${t("decided.ask")}<//>`;
  if (!found.length) return html`<p class="muted">${t("decided.none")}</p>`;
  const most = Math.max(...found.map((one) => Math.abs(one.share)), 1e-9);
  return html`<p class="decided" dir="auto">${found.map((one) => html`<span class=${one.share < 0 ? "against" : "for"} style=${{ "--share": `${Math.round((Math.abs(one.share) / most) * 60)}%` }} title=${percent(one.share, 1)}>${one.text}</span> `)}</p>
    <p class="muted small">${t("decided.lead")}</p>`;
}
