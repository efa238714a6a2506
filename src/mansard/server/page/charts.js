// The chart in view. New numbers and axes go into the chart that is there; only another shape of it is built anew.

import { element } from "./form.js";

const SHOWN = new WeakMap();
const SETTINGS = { actions: false, renderer: "svg", ast: false, tooltip: { theme: "custom" } };

export async function drawChart(place, spec) {
  if (!window.vegaEmbed) { place.replaceChildren(element("p", {}, "Charts need the extra charts: pip install 'mansard[web]'")); return; }
  const { datasets, params = [], title, description, ...shape } = spec;
  const key = JSON.stringify(shape);
  const shown = SHOWN.get(place);
  if (shown?.key === key) {
    for (const { name, value } of params) shown.view.signal(name, value);
    for (const [name, rows] of changed(shown.datasets, datasets)) {
      try { shown.view.data(name, rows); } catch { /* data that no mark of this chart uses */ }
    }
    await shown.view.runAsync();
    shown.datasets = datasets;
  } else {
    // Without titles of its own: the verdict above says the same, and may change without the chart's shape.
    const made = await window.vegaEmbed(place, { ...shape, params, datasets }, SETTINGS);
    shown?.view.finalize();
    SHOWN.set(place, { key, view: made.view, datasets });
  }
  // One picture with one description: its marks are in the table below it, where they can be read.
  const picture = place.querySelector("svg");
  picture?.setAttribute("role", "img");
  picture?.setAttribute("aria-label", description);
  for (const part of picture?.children ?? []) part.setAttribute("aria-hidden", "true");
}

// Rows that are the same are left alone: a chart of the whole catalogue costs a slider nothing.
function changed(before, after) {
  return Object.entries(after).filter(([name, rows]) => JSON.stringify(rows) !== JSON.stringify(before[name]));
}

export function viewOf(place) {
  return SHOWN.get(place)?.view;
}

// What the chart shows, for readers of the screen and for those who rather read numbers.
export function chartTable(spec) {
  return Object.entries(spec.datasets)
    .filter(([name, rows]) => rows.length && !["labels", "regions", "slopes", "drops", "roofs"].includes(name))
    .map(([name, rows]) => {
      const columns = Object.keys(rows[0]).filter((key) => !["marked", "line", "align", "dx", "run"].includes(key));
      return element("div", { class: "scroll" }, element("table", {}, element("caption", {}, name),
        element("thead", {}, element("tr", {}, ...columns.map((key) => element("th", { scope: "col" }, key)))),
        element("tbody", {}, ...rows.slice(0, 200).map((row) => element("tr", {}, ...columns.map((key) =>
          element("td", {}, typeof row[key] === "number" ? Number(row[key].toPrecision(4)).toLocaleString("en") : String(row[key] ?? ""))))))));
    });
}
