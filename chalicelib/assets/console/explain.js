// Explanations: how much each word or image region contributed to the first label.

import { useState } from "./hooks.module.js";
import { call as send } from "./api.js";
import { Action, html, percent } from "./ui.js";
import { t } from "./words.js";

const strength = (part, parts) =>
  Math.round((Math.abs(part.share) / Math.max(...parts.map((one) => Math.abs(one.share)), 1e-9)) * 60);

/** Repeat a prediction with its explanation; `show` renders that. */
export function Explanation({ call, options, show }) {
  const [found, setFound] = useState(null);
  const explain = async () => setFound((await send(call, options)).explanation ?? []);
  if (found === null) return html`<${Action} small run=${explain}>${t("explain.show")}<//>`;
  if (!found.length) return html`<p class="muted">${t("explain.none")}</p>`;
  return html`${show(found)}<p class="muted small">${t("explain.lead")}</p>`;
}

/** A text with highlighted words. Offsets count code points, as the API does, not UTF-16 units. */
export function HighlightedText({ text, parts }) {
  const characters = [...text];
  let at = 0;
  const fragments = parts.flatMap((part) => {
    const before = characters.slice(at, part.start).join("");
    at = part.end;
    return [
      before,
      html`
        <span
          class=${part.share < 0 ? "against" : "for"}
          style=${{ "--strength": `${strength(part, parts)}%` }}
          title=${percent(part.share, 1)}
        >
          ${part.text}
        </span>
      `,
    ];
  });
  return html`<p class="explanation" dir="auto">${fragments}${characters.slice(at).join("")}</p>`;
}

/** An image with highlighted regions. */
export function HighlightedImage({ source, name, parts }) {
  const [size, setSize] = useState(null);
  return html`
    <span class="boxed">
      <img
        src=${source}
        alt=${name}
        onLoad=${(e) => setSize([e.target.naturalWidth, e.target.naturalHeight])}
      />
      ${
        size &&
        html`
          <svg viewBox=${`0 0 ${size.join(" ")}`} aria-hidden="true">
            ${parts.map(
              (part) => html`
                <rect
                  class=${`region ${part.share < 0 ? "against" : "for"}`}
                  x=${part.boundingBox.minX}
                  y=${part.boundingBox.minY}
                  width=${part.boundingBox.maxX - part.boundingBox.minX}
                  height=${part.boundingBox.maxY - part.boundingBox.minY}
                  style=${{ fillOpacity: strength(part, parts) / 100 }}
                />
              `,
            )}
          </svg>
        `
      }
    </span>
  `;
}
