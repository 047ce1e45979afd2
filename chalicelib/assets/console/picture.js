// A picture with the boxes that lie on it.

import { useState } from "./hooks.module.js";
import { colour, html, percent } from "./ui.js";

/** Shows an example small; without a thumbnail the picture itself is shown. */
export function Picture({ example }) {
  const [lost, setLost] = useState("");
  const { thumbnail, location, width, height } = example;
  const boxes = example.box ? [{ ...example.box, name: example.label.name }] : [];
  const isSmall = thumbnail && thumbnail !== lost;
  return html`<${Boxed} source=${isSmall ? thumbnail : location} name=${example.name} boxes=${boxes} whole=${isSmall ? { width, height } : null} onLost=${() => isSmall && setLost(thumbnail)} />`;
}

/** Draws boxes, in pixels of the picture as it is displayed, over it; `whole` is its size where a smaller one is shown. With `captions` boxes may come later than the picture. */
export function Boxed({ source, name, boxes, captions = false, whole = null, onLost }) {
  const [seen, setSeen] = useState(null);
  const size = whole ?? seen;
  const loaded = (event) => setSeen({ width: event.target.naturalWidth, height: event.target.naturalHeight });
  return html`<span class="boxed"><img src=${source} alt=${name} decoding="async" onLoad=${(captions || boxes.length) && !whole ? loaded : undefined} onError=${onLost} />
    ${size && boxes.length > 0 && html`<svg viewBox=${`0 0 ${size.width} ${size.height}`} aria-hidden="true">${boxes.map((box, index) => html`
      <rect x=${box.x} y=${box.y} width=${box.width} height=${box.height} stroke=${colour(box.hue ?? index)} />
      ${captions && html`<text x=${box.x} y=${Math.max(size.height * 0.03, box.y - size.height * 0.008)} font-size=${size.height * 0.03} fill=${colour(box.hue ?? index)}>${box.name}${box.probability === undefined ? "" : ` ${percent(box.probability)}`}</text>`}`)}</svg>`}</span>`;
}
