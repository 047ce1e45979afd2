// The learning curve, with its last values as text.

import { useEffect, useRef, useState } from "./hooks.module.js";
import { html, percent } from "./ui.js";
import { t } from "./words.js";

const SERIES = ["trainingLoss", "testLoss", "testAccuracy"];
const HEIGHT = 240;
const MARGIN = { top: 12, side: 48, bottom: 24 };

const isLoss = (name) => name.endsWith("Loss");

/** Return up to six round numbers from `least` to `most`, at least `unit` apart. */
function ticks(least, most, unit = 0) {
  const power = 10 ** Math.floor(Math.log10((most - least) / 5 || 1));
  const steps = [1, 2, 5, 10].map((factor) => Math.max(unit, factor * power));
  const step = steps.find((one) => (most - least) / one <= 5);
  const first = Math.ceil(least / step);
  return Array.from({ length: Math.floor(most / step) - first + 1 }, (_, index) => (first + index) * step);
}

/** Return the width of an element, now and after changes, and the reference to set on it. */
function useWidth() {
  const element = useRef(null);
  const [width, setWidth] = useState(640);
  useEffect(() => {
    const observer = new ResizeObserver(() => setWidth(element.current?.clientWidth || 640));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return [width, element];
}

function Plot({ epochs, known, label }) {
  const [width, element] = useWidth();
  const values = (name) => epochs.map((one) => one.metricsData[name]).filter(Number.isFinite);
  const most = Math.max(...known.filter(isLoss).flatMap(values), 0) || 1;
  const [first, last] = [epochs[0].epoch, epochs.at(-1).epoch];
  const right = width - MARGIN.side;
  const x = (epoch) => MARGIN.side + ((epoch - first) / (last - first || 1)) * (right - MARGIN.side);
  const y = (fraction) => HEIGHT - MARGIN.bottom - fraction * (HEIGHT - MARGIN.bottom - MARGIN.top);
  const points = (name) =>
    epochs
      .map((one) => [one.epoch, one.metricsData[name]])
      .filter(([, value]) => Number.isFinite(value))
      .map(([epoch, value]) => [x(epoch), y(isLoss(name) ? value / most : value)]);
  return html`
    <div class="plot" ref=${element}>
      <svg viewBox=${`0 0 ${width} ${HEIGHT}`} role="img" aria-label=${label}>
        ${ticks(0, most).map(
          (value) => html`
            <line class="grid" x1=${MARGIN.side} x2=${right} y1=${y(value / most)} y2=${y(value / most)} />
            <text x=${MARGIN.side - 8} y=${y(value / most) + 4} text-anchor="end">
              ${Number(value.toPrecision(3))}
            </text>
          `,
        )}
        ${ticks(0, 1).map((value) => html`<text x=${right + 8} y=${y(value) + 4}>${percent(value)}</text>`)}
        ${ticks(first, last, 1).map(
          (epoch) => html`<text x=${x(epoch)} y=${HEIGHT - 6} text-anchor="middle">${epoch}</text>`,
        )}
        ${known.map((name) => {
          const places = points(name);
          return html`
            <g class=${`series ${name}`}>
              <polyline points=${places.map((place) => place.join()).join(" ")} />
              <circle cx=${places.at(-1)[0]} cy=${places.at(-1)[1]} r="3" />
            </g>
          `;
        })}
      </svg>
      <p class="legend small">
        ${known.map((name) => html`<span class=${`series ${name}`}><i></i>${t(`curve.${name}`)}</span>`)}
      </p>
    </div>
  `;
}

export function CurveChart({ epochs }) {
  const known = SERIES.filter((name) => epochs.some((one) => Number.isFinite(one.metricsData[name])));
  const last = epochs.at(-1);
  const format = (name, value) => (isLoss(name) ? value?.toFixed(3) : percent(value, 1));
  const values = known
    .map((name) => `${t(`curve.${name}`)} ${format(name, last.metricsData[name])}`)
    .join(", ");
  const summary = t("curve.summary", { epoch: last.epoch, values });
  return html`
    <${Plot} epochs=${epochs} known=${known} label=${summary} />
    <p class="muted small">${summary}</p>
  `;
}
