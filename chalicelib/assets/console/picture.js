// A picture with the boxes that lie on it.

import { useState } from "./hooks.module.js";
import { colour, html, percent } from "./ui.js";

export function Picture({ example }) {
  const boxes = example.box ? [{ ...example.box, name: example.label.name }] : [];
  return html`<${Boxed} source=${boxes.length ? example.location : (example.thumbnail ?? example.location)} name=${example.name} boxes=${boxes} />`;
}

/** Draws boxes, in pixels of the picture as it is displayed, over it. */
export function Boxed({ source, name, boxes, captions = false }) {
  const [size, setSize] = useState(null);
  const loaded = (event) => setSize({ width: event.target.naturalWidth, height: event.target.naturalHeight });
  return html`<span class="boxed"><img src=${source} alt=${name} loading="lazy" decoding="async" onLoad=${boxes.length ? loaded : undefined} />
    ${size && boxes.length > 0 && html`<svg viewBox=${`0 0 ${size.width} ${size.height}`} aria-hidden="true">${boxes.map((box, index) => html`
      <rect x=${box.x} y=${box.y} width=${box.width} height=${box.height} stroke=${colour(box.hue ?? index)} />
      ${captions && html`<text x=${box.x} y=${Math.max(size.height * 0.03, box.y - size.height * 0.008)} font-size=${size.height * 0.03} fill=${colour(box.hue ?? index)}>${box.name}${box.probability === undefined ? "" : ` ${percent(box.probability)}`}</text>`}`)}</svg>`}</span>`;
}
