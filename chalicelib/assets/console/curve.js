// The learning curve, drawn by uPlot, with its last values as text.

import { useEffect, useRef } from "./hooks.module.js";
import uPlot from "./uPlot.esm.js";
import { html, percent } from "./ui.js";
import { t } from "./words.js";

const HEIGHT = 240;
const SERIES = [
  ["trainingLoss", "--plot-1"],
  ["testLoss", "--plot-2"],
  ["testAccuracy", "--plot-3"],
];

/** A line chart of columns over the first one. It follows the window's width and the theme. */
function Plot({ columns, names, fractions = [], label }) {
  const container = useRef(null);
  const plot = useRef(null);
  useEffect(() => {
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(
        chartOptions(container.current.clientWidth, names, fractions),
        columns,
        container.current,
      );
    };
    draw();
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const theme = new MutationObserver(draw);
    const size = new ResizeObserver(() =>
      plot.current.setSize({ width: container.current.clientWidth, height: HEIGHT }),
    );
    scheme.addEventListener("change", draw);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    size.observe(container.current);
    return () => {
      scheme.removeEventListener("change", draw);
      theme.disconnect();
      size.disconnect();
      plot.current.destroy();
    };
  }, [names.join()]);
  useEffect(() => {
    plot.current?.setData(columns);
  }, [columns]);
  return html`<div class="plot" role="img" aria-label=${label} ref=${container}></div>`;
}

function chartOptions(width, names, fractions) {
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: value("--muted"),
    grid: { stroke: value("--line"), width: 1 },
    ticks: { show: false },
  };
  const series = names.map(([label, variable, scale]) => ({
    label,
    scale,
    stroke: value(variable),
    width: 2,
    points: { show: false },
  }));
  const sides = [...new Set(names.map(([, , scale]) => scale))];
  const axes = [
    { ...axis, incrs: [1, 2, 5, 10, 20, 50, 100, 200] },
    ...sides.map((scale, index) => ({
      ...axis,
      scale,
      side: index ? 1 : 3,
      grid: { ...axis.grid, show: !index },
      values: fractions.includes(scale) ? (_, ticks) => ticks.map((tick) => percent(tick)) : undefined,
    })),
  ];
  const scales = {
    x: { time: false },
    ...Object.fromEntries(fractions.map((scale) => [scale, { range: [0, 1] }])),
  };
  return {
    width,
    height: HEIGHT,
    series: [{}, ...series],
    axes,
    scales,
    legend: { live: false },
    cursor: { drag: { x: false, y: false } },
  };
}

export function CurveChart({ epochs }) {
  const known = SERIES.filter(([name]) => epochs.some((one) => Number.isFinite(one.metricsData[name])));
  const names = known.map(([name, variable]) => [
    t(`curve.${name}`),
    variable,
    name.endsWith("Loss") ? "loss" : "fraction",
  ]);
  const columns = [
    epochs.map((one) => one.epoch),
    ...known.map(([name]) => epochs.map((one) => one.metricsData[name] ?? null)),
  ];
  const last = epochs.at(-1);
  const format = (name, value) => (name.endsWith("Loss") ? value?.toFixed(3) : percent(value, 1));
  const values = known
    .map(([name]) => `${t(`curve.${name}`)} ${format(name, last.metricsData[name])}`)
    .join(", ");
  return html`
    <${Plot}
      columns=${columns}
      names=${names}
      fractions=${["fraction"]}
      label=${t("curve.summary", { epoch: last.epoch, values })}
    />
    <p class="muted small">${t("curve.summary", { epoch: last.epoch, values })}</p>
  `;
}
