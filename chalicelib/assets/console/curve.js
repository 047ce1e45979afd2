// The learning curve, drawn by uPlot, with its last figures in words.

import { useEffect, useRef } from "./hooks.module.js";
import uPlot from "./uPlot.esm.js";
import { html, percent } from "./ui.js";
import { t } from "./words.js";

const HEIGHT = 240;
const SERIES = [["trainingLoss", "--plot-1"], ["testLoss", "--plot-2"], ["testAccuracy", "--plot-3"]];

/** Draws columns of numbers over the first one; follows width and theme. */
export function Plot({ columns, names, shares = [], label }) {
  const place = useRef(null);
  const plot = useRef(null);
  useEffect(() => {
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(options(place.current.clientWidth, names, shares), columns, place.current);
    };
    draw();
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const theme = new MutationObserver(draw);
    const size = new ResizeObserver(() => plot.current.setSize({ width: place.current.clientWidth, height: HEIGHT }));
    scheme.addEventListener("change", draw);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    size.observe(place.current);
    return () => { scheme.removeEventListener("change", draw); theme.disconnect(); size.disconnect(); plot.current.destroy(); };
  }, [names.join()]);
  useEffect(() => { plot.current?.setData(columns); }, [columns]);
  return html`<div class="plot" role="img" aria-label=${label} ref=${place}></div>`;
}

function options(width, names, shares) {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  const axis = { stroke: value("--muted"), grid: { stroke: value("--line"), width: 1 }, ticks: { show: false } };
  const series = names.map(([label, variable, scale]) => ({ label, scale, stroke: value(variable), width: 2, points: { show: false } }));
  const sides = [...new Set(names.map(([, , scale]) => scale))];
  const axes = [{ ...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 200] }, ...sides.map((scale, index) => ({ ...axis, scale, side: index ? 1 : 3, grid: { ...axis.grid, show: !index },
    values: shares.includes(scale) ? (_, ticks) => ticks.map((tick) => percent(tick)) : undefined }))];
  const scales = { x: { time: false }, ...Object.fromEntries(shares.map((scale) => [scale, { range: [0, 1] }])) };
  return { width, height: HEIGHT, series: [{}, ...series], axes, scales, legend: { live: false }, cursor: { drag: { x: false, y: false } } };
}

export function CurveChart({ epochs }) {
  const known = SERIES.filter(([name]) => epochs.some((one) => Number.isFinite(one.metricsData[name])));
  const names = known.map(([name, variable]) => [t(`curve.${name}`), variable, name.endsWith("Loss") ? "loss" : "share"]);
  const columns = [epochs.map((one) => one.epoch), ...known.map(([name]) => epochs.map((one) => one.metricsData[name] ?? null))];
  const last = epochs.at(-1);
  const said = known.map(([name]) => `${t(`curve.${name}`)} ${name.endsWith("Loss") ? last.metricsData[name]?.toFixed(3) : percent(last.metricsData[name], 1)}`).join(", ");
  return html`<${Plot} columns=${columns} names=${names} shares=${["share"]} label=${t("curve.said", { epoch: last.epoch, said })} />
    <p class="muted small">${t("curve.said", { epoch: last.epoch, said })}</p>`;
}
