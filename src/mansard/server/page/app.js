// Wires the page: one question, asked again at every change, and all that shows its answer.

import { newest, post, Refused, text } from "./api.js";
import { chartTable, drawChart, viewOf } from "./charts.js";
import { buildDevices, buildForm, clearFaults, element, showFaults } from "./form.js";
import { buildLessons } from "./learn.js";
import { buildSimple } from "./simple.js";
import { asCommand, asked, asPython, fromLink, toLink } from "./state.js";
import { drawBlocks } from "./tables.js";

const CHARTS = ["roofline", "clocks", "operators", "batch", "context", "memory", "request", "hardware"];
const at = (id) => document.getElementById(id);
let state = fromLink(location.hash);
let shownRun = 0;
let lastPage = null;
let asking = false, again = false;

function theme() {
  return document.documentElement.dataset.theme;
}

function chartWidth() {
  return Math.round(Math.max(240, Math.min(1400, at("chart").clientWidth - 110)));
}

// One request at a time: what changes meanwhile is asked when the answer is drawn, so that a slider never queues up.
async function ask() {
  if (asking) { again = true; return; }
  asking = true;
  try { await askOnce(); } finally { asking = false; }
  if (again) { again = false; ask(); }
}

async function askOnce() {
  history.replaceState(null, "", toLink(state));
  if (state.mode !== "model") return;
  let runs;
  try {
    runs = state.devices.map((device) => asked(state, device));
  } catch (error) {
    showFaults({ faults: [{ key: "model", problem: `the config is no JSON: ${error.message}` }] });
    at("answer").classList.add("quiet");
    return;
  }
  const chart = { kind: state.chart, theme: theme(), width: chartWidth() };
  if (state.chart === "roofline" && state.along) chart.along = state.along;
  try {
    const found = await newest("page", "/api/page", { runs, chart });
    if (!found) return;
    clearFaults();
    at("answer").classList.remove("quiet");
    await show(found, runs);
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    showFaults(error);
    at("answer").classList.add("quiet");
  }
}

async function show(found, runs) {
  lastPage = found;
  shownRun = Math.min(shownRun, found.runs.length - 1);
  at("verdict").replaceChildren(...found.runs.map((run) => element("p", { class: run.fits === false ? "misfit" : null }, run.headline)));
  showRunTabs(found, runs);
  at("tables").replaceChildren(...drawBlocks(found.runs[shownRun].blocks, runs[shownRun]));
  await drawChart(at("chart-view"), found.chart);
  if (at("chart").querySelector("details").open) at("chart-table").replaceChildren(...chartTable(found.chart));
  document.documentElement.dataset.answered = String(performance.now());
}

function showRunTabs(found, runs) {
  const tabs = at("run-tabs");
  tabs.hidden = found.runs.length < 2;
  tabs.replaceChildren(...found.runs.map((run, place) => element("button", {
    type: "button", role: "tab", "aria-selected": String(place === shownRun), tabindex: place === shownRun ? 0 : -1,
    onclick: () => { shownRun = place; show(found, runs); },
  }, run.device)));
}

function buildChartTabs() {
  at("chart-tabs").replaceChildren(...CHARTS.map((kind) => element("button", {
    type: "button", role: "tab", "data-chart": kind, "aria-selected": String(kind === state.chart),
    "aria-controls": "chart", tabindex: kind === state.chart ? 0 : -1,
    onclick: () => { state.chart = kind; buildChartTabs(); at("chart-tabs").querySelector(`[data-chart=${kind}]`).focus(); ask(); },
  }, kind)));
  const along = element("select", { id: "along", onchange: (event) => { state.along = event.target.value; ask(); } },
    ...[["", "none"], ["batch", "the batch"], ["context", "the context"]].map(([value, said]) =>
      element("option", { value, selected: value === state.along }, said)));
  at("chart-options").replaceChildren(...(state.chart === "roofline"
    ? [element("label", { for: "along" }, "Decode along ", along)] : []));
}

function walkTabs(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const tabs = [...event.currentTarget.querySelectorAll("[role=tab]")];
  const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
  next.focus();
  next.click();
}

function setMode(mode) {
  state.mode = mode;
  for (const button of document.querySelectorAll("[data-mode]")) {
    button.setAttribute("aria-pressed", String(button.dataset.mode === mode));
  }
  for (const name of ["model", "simple", "learn"]) at(`${name}-view`).hidden = name !== mode;
  if (mode === "simple") buildSimple();
  if (mode === "learn") buildLessons();
  ask();
}

async function copy(what, said) {
  try {
    await navigator.clipboard.writeText(what);
    at("copied").textContent = `${said} copied`;
  } catch {
    at("copied").textContent = what;
  }
}

async function download(form) {
  const words = asked(state, state.devices[shownRun]);
  const name = `${state.chart}-${lastPage.runs[shownRun].model}-${lastPage.runs[shownRun].device}`.replace(/[^\w.-]+/g, "-");
  if (form === "json" || form === "csv") {
    return save(`${name}.${form}`, new Blob([await text(`/api/analyze?format=${form}`, words)]));
  }
  const view = viewOf(at("chart-view"));
  if (form === "svg") return save(`${name}.svg`, new Blob([await view.toSVG()], { type: "image/svg+xml" }));
  const link = element("a", { href: await view.toImageURL("png", 2), download: `${name}.png` });
  return link.click();
}

function save(name, blob) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem("mansard-theme", name); } catch { /* a private window keeps nothing */ }
}

function readConfig(content) {
  state.config = content.trim();
  if (state.config) at("model").value = "";
  ask();
}

async function names() {
  for (const [kind, place] of [["models", "models"], ["devices", "device-names"]]) {
    const found = await post("/api/list", { kind });
    at(place).replaceChildren(...found[kind].map((row) => element("option", { value: row.name })));
  }
}

function wire() {
  at("model").addEventListener("change", (event) => {
    state.model = event.target.value.trim() || "llama-3.1-8b";
    state.config = "";
    at("config").value = "";
    ask();
  });
  at("config").addEventListener("input", (event) => readConfig(event.target.value));
  at("config-file").addEventListener("change", async (event) => {
    const content = await event.target.files[0]?.text();
    if (content !== undefined) { at("config").value = content; readConfig(content); }
  });
  for (const name of ["dragover", "drop"]) at("controls").addEventListener(name, (event) => event.preventDefault());
  at("controls").addEventListener("drop", async (event) => {
    const content = await event.dataTransfer.files[0]?.text();
    if (content !== undefined) { at("paste").open = true; at("config").value = content; readConfig(content); }
  });
  at("controls").addEventListener("submit", (event) => event.preventDefault());
  at("simple-controls").addEventListener("submit", (event) => event.preventDefault());
  at("add-device").addEventListener("click", () => {
    state.devices.push("h200-sxm");
    buildDevices(state, ask);
    ask();
  });
  for (const button of document.querySelectorAll("[data-mode]")) button.addEventListener("click", () => setMode(button.dataset.mode));
  at("to-model").addEventListener("click", () => setMode("model"));
  at("copy-link").addEventListener("click", () => copy(location.href, "link"));
  at("copy-command").addEventListener("click", () => copy(asCommand(state), "command"));
  at("copy-python").addEventListener("click", () => copy(asPython(state), "Python"));
  for (const button of document.querySelectorAll("[data-download]")) {
    button.addEventListener("click", () => download(button.dataset.download));
  }
  at("theme").addEventListener("click", () => { setTheme(theme() === "dark" ? "light" : "dark"); setMode(state.mode); });
  at("chart").querySelector("details").addEventListener("toggle", () => {
    if (lastPage) at("chart-table").replaceChildren(...chartTable(lastPage.chart));
  });
  at("chart-tabs").addEventListener("keydown", walkTabs);
  at("run-tabs").addEventListener("keydown", walkTabs);
  addEventListener("hashchange", () => {
    if (location.hash === toLink(state)) return;
    state = fromLink(location.hash);
    start();
  });
  let resized;
  addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(ask, 150); });
}

function start() {
  buildForm(state, ask);
  buildChartTabs();
  setMode(state.mode);
}

let kept = null;
try { kept = localStorage.getItem("mansard-theme"); } catch { /* a private window keeps nothing */ }
setTheme(kept ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
wire();
start();
names();
