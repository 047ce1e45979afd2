// What decided: how far each word, or each part of a picture, speaks for the first label.

import { useState } from "./hooks.module.js";
import { call as send } from "./api.js";
import { Action, html, percent } from "./ui.js";
import { t } from "./words.js";

const strength = (part, parts) => Math.round((Math.abs(part.share) / Math.max(...parts.map((one) => Math.abs(one.share)), 1e-9)) * 60);

/** Asks the call again for its reasons; `show` draws them. */
export function Decided({ call, options, show }) {
  const [found, setFound] = useState(null);
  const explain = async () => setFound((await send(call, options)).explanation ?? []);
  if (found === null) return html`<${Action} small run=${explain}>${t("decided.ask")}<//>`;
  if (!found.length) return html`<p class="muted">${t("decided.none")}</p>`;
  return html`${show(found)}<p class="muted small">${t("decided.lead")}</p>`;
}

/** A text whose words are as strong as what they did; places are counted in whole characters. */
export function Words({ text, parts }) {
  const signs = [...text];
  let at = 0;
  const pieces = parts.flatMap((part) => {
    const before = signs.slice(at, part.start).join("");
    at = part.end;
    return [before, html`<span class=${part.share < 0 ? "against" : "for"} style=${{ "--share": `${strength(part, parts)}%` }} title=${percent(part.share, 1)}>${part.text}</span>`];
  });
  return html`<p class="decided" dir="auto">${pieces}${signs.slice(at).join("")}</p>`;
}

/** A picture whose regions are as strong as what they did. */
export function Regions({ source, name, parts }) {
  const [size, setSize] = useState(null);
  return html`<span class="boxed"><img src=${source} alt=${name} onLoad=${(e) => setSize([e.target.naturalWidth, e.target.naturalHeight])} />
    ${size && html`<svg viewBox=${`0 0 ${size.join(" ")}`} aria-hidden="true">${parts.map((part) => html`<rect class=${`region ${part.share < 0 ? "against" : "for"}`} x=${part.boundingBox.minX} y=${part.boundingBox.minY} width=${part.boundingBox.maxX - part.boundingBox.minX} height=${part.boundingBox.maxY - part.boundingBox.minY} style=${{ fillOpacity: strength(part, parts) / 100 }} />`)}</svg>`}</span>`;
}
