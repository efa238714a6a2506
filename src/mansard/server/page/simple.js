// The simple mode: one weight matrix, a batch, a peak and a bandwidth, and the algebra of the roofline.

import { newest } from "./api.js";
import { drawChart } from "./charts.js";
import { element, sized } from "./form.js";
import { drawTable } from "./tables.js";

const asked = { batch: 1, peak: 990e12, bandwidth: 3.35e12 };
const SIZES = [
  { name: "batch", label: "Batch [sequences]", least: 1, most: 4096, factor: 1, whole: true },
  { name: "peak", label: "Peak [TFLOP/s]", least: 1, most: 10000, factor: 1e12, whole: false },
  { name: "bandwidth", label: "Bandwidth [TB/s]", least: 0.02, most: 30, factor: 1e12, whole: false },
];

export function buildSimple() {
  document.getElementById("simple-sizes").replaceChildren(...SIZES.map((size) => sized({
    id: `simple-${size.name}`, ...size, value: asked[size.name] / size.factor,
    change: (value) => { asked[size.name] = value * size.factor; showSimple(); },
  })));
  showSimple();
}

export async function showSimple() {
  const error = document.getElementById("simple-error");
  try {
    const found = await newest("algebra", "/api/algebra", { ...asked });
    if (!found) return;
    error.textContent = "";
    draw(found);
  } catch (refused) {
    error.textContent = refused.message;
  }
}

function draw(found) {
  const bound = found.bound === "bandwidth" ? "BANDWIDTH-bound" : "COMPUTE-bound";
  const kind = found.bound === "bandwidth" ? "memory" : "compute";
  document.getElementById("simple-verdict").replaceChildren(element("p", {},
    element("span", { class: kind }, bound), `: ${rate(found.attainable_flops_per_s)} of ${rate(asked.peak)}, `
    + `${percent(found.share_of_peak)} of the peak`));
  const rows = [
    ["bandwidth", `${figure(asked.bandwidth / 1e12)} TB/s`, "what a second can read"],
    ["intensity", `${figure(found.intensity)} FLOP/byte`, "two FLOPs for each weight and sequence, two bytes a weight"],
    ["attainable", rate(found.attainable_flops_per_s), "the smaller of bandwidth times intensity, and the peak"],
    ["percent of peak", percent(found.share_of_peak), ""],
    ["ridge point", `${figure(found.ridge_point)} FLOP/byte`, "peak over bandwidth: from there on compute binds"],
    ["batch to saturate", String(found.batch_to_saturate), "the smallest batch that reaches the ridge"],
  ];
  const columns = [{ title: "" }, { title: "", right: true }, { title: "" }];
  document.getElementById("simple-table").replaceChildren(drawTable({ title: "", columns, rows }, null));
  drawChart(document.getElementById("simple-chart"), spec(found));
}

function spec(found) {
  const dark = document.documentElement.dataset.theme === "dark";
  const ink = dark ? "#f0f0f0" : "#1a1a1a", grid = dark ? "#33373d" : "#e4e4e4";
  const across = { field: "x", type: "quantitative", scale: { type: "log", domain: [0.5, 8192], clamp: true },
    axis: { title: "intensity [FLOP/byte]", format: "~s", values: [1, 10, 100, 1000] } };
  const up = { field: "y", type: "quantitative", scale: { type: "log", domain: [1e9, 2e16], clamp: true },
    axis: { title: "attainable [FLOP/s]", format: "~s", values: [1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16] } };
  const roof = [0.5, found.ridge_point, 8192].map((x) => ({ x, y: Math.min(asked.peak, asked.bandwidth * x) }));
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    description: `roofline: ${figure(found.intensity)} FLOP per byte reaches ${rate(found.attainable_flops_per_s)}`,
    width: Math.min(620, document.getElementById("simple-view").clientWidth - 120), height: 300,
    layer: [
      { data: { name: "roof" }, mark: { type: "line", color: ink }, encoding: { x: across, y: up, order: { field: "x" } } },
      { data: { name: "here" }, mark: { type: "point", filled: true, size: 160, opacity: 1 },
        encoding: { x: across, y: up, color: { field: "bound", type: "nominal", legend: null,
          scale: { domain: ["bandwidth", "compute"], range: dark ? ["#56b4e9", "#e69f00"] : ["#0072b2", "#d55e00"] } } } },
    ],
    datasets: { roof, here: [{ x: found.intensity, y: found.attainable_flops_per_s, bound: found.bound }] },
    config: { background: "transparent", view: { stroke: grid },
      axis: { labelColor: ink, titleColor: ink, gridColor: grid, titleFontWeight: "normal", labelFontSize: 12, titleFontSize: 13 } },
  };
}

function figure(value) {
  return value >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(4)));
}

function rate(value) {
  return value >= 1e15 ? `${figure(value / 1e15)} PFLOP/s` : `${figure(value / 1e12)} TFLOP/s`;
}

function percent(share) {
  return `${Number((100 * share).toPrecision(3))} %`;
}
