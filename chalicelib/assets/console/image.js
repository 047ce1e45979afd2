// An image with its boxes.

import { useState } from "./hooks.module.js";
import { colour, html, percent } from "./ui.js";

/** The thumbnail of an example; without one, the image itself. */
export function Thumbnail({ example }) {
  const [missing, setMissing] = useState("");
  const { thumbnail, location, width, height } = example;
  const boxes = example.box ? [{ ...example.box, name: example.label.name }] : [];
  const isSmall = thumbnail && thumbnail !== missing;
  return html`
    <${BoxedImage}
      source=${isSmall ? thumbnail : location}
      name=${example.name}
      boxes=${boxes}
      whole=${isSmall ? { width, height } : null}
      onError=${() => isSmall && setMissing(thumbnail)}
    />
  `;
}

/**
 * An image with boxes in pixels. `whole` is the original size when a smaller image is shown.
 * With `captions` the boxes may come later than the image.
 */
export function BoxedImage({ source, name, boxes, captions = false, whole = null, onError }) {
  const [seen, setSeen] = useState(null);
  const size = whole ?? seen;
  const loaded = (event) => setSeen({ width: event.target.naturalWidth, height: event.target.naturalHeight });
  return html`
    <span class="boxed">
      <img
        src=${source}
        alt=${name}
        decoding="async"
        onLoad=${(captions || boxes.length) && !whole ? loaded : undefined}
        onError=${onError}
      />
      ${
        size &&
        boxes.length > 0 &&
        html`
          <svg viewBox=${`0 0 ${size.width} ${size.height}`} aria-hidden="true">
            ${boxes.map(
              (box, index) => html`
                <rect
                  x=${box.x}
                  y=${box.y}
                  width=${box.width}
                  height=${box.height}
                  stroke=${colour(box.hue ?? index)}
                />
                ${
                  captions &&
                  html`
                  <text
                    x=${box.x}
                    y=${Math.max(size.height * 0.03, box.y - size.height * 0.008)}
                    font-size=${size.height * 0.03}
                    fill=${colour(box.hue ?? index)}
                  >
                    ${box.name}
                    ${box.probability === undefined ? "" : ` ${percent(box.probability)}`}
                  </text>
                `
                }
              `,
            )}
          </svg>
        `
      }
    </span>
  `;
}
