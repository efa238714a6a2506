// Sliders, fields and choices. A slider is logarithmic; the field beside it takes every whole number.

import { CHOICES, MEDIA, MOST_DEVICES, SIZES } from "./state.js";

const STEPS = 200;

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

// A slider with its field; `change` gets the number.
export function sized({ id, label, least, most, value, change, whole = true }) {
  const offset = least === 0 ? 1 : 0;
  const low = Math.log(least + offset), high = Math.log(most + offset);
  const position = (number) => Math.round(STEPS * (Math.log(number + offset) - low) / (high - low));
  const at = (place) => {
    const number = Math.exp(low + (high - low) * place / STEPS) - offset;
    return whole ? Math.min(most, Math.max(least, Math.round(number))) : Number(number.toPrecision(3));
  };
  const slider = element("input", { type: "range", id: `${id}-slider`, min: 0, max: STEPS, value: position(value),
    "aria-label": label, "aria-valuetext": value });
  const field = element("input", { type: "number", id, value, min: least, step: whole ? 1 : "any", inputmode: "decimal",
    "aria-describedby": `${id}-error` });
  const error = element("p", { class: "error", id: `${id}-error`, role: "alert" });
  slider.addEventListener("input", () => {
    const number = at(Number(slider.value));
    field.value = number;
    slider.setAttribute("aria-valuetext", number);
    change(number);
  });
  field.addEventListener("input", () => {
    const number = Number(field.value);
    if (field.value === "" || !Number.isFinite(number) || (whole && !Number.isInteger(number))) {
      error.textContent = whole ? "a whole number" : "a number";
      field.setAttribute("aria-invalid", "true");
      return;
    }
    slider.value = position(Math.min(most, Math.max(least, number)));
    slider.setAttribute("aria-valuetext", number);
    change(number);
  });
  return element("div", { class: "size" }, element("label", { for: id }, label), slider, field, error);
}

export function buildForm(state, change) {
  for (const [place, sizes] of [["sizes", SIZES], ["media", MEDIA]]) {
    document.getElementById(place).replaceChildren(...sizes.map((size) => sized({
      id: size.name, ...size, value: state[size.name], change: (value) => { state[size.name] = value; change(); },
    })));
  }
  if (MEDIA.some(({ name, usual }) => state[name] !== usual)) document.getElementById("reads").open = true;
  for (const place of ["choices", "media-choices"]) {
    const own = CHOICES.filter((choice) => (choice.place ?? "choices") === place);
    document.getElementById(place).replaceChildren(...own.map((choice) => chosen(choice, state, change)));
  }
  buildDevices(state, change);
  const model = document.getElementById("model"), config = document.getElementById("config");
  model.value = state.config ? "" : state.model;
  config.value = state.config;
  if (state.config) document.getElementById("paste").open = true;
}

function chosen(choice, state, change) {
  return element("div", {},
    element("label", { for: choice.name }, choice.label),
    element("select", { id: choice.name, onchange: (event) => { state[choice.name] = event.target.value; change(); } },
      ...choice.options.map((option) => element("option",
        { value: option, selected: option === state[choice.name] }, option || choice.usual))),
    element("p", { class: "error", id: `${choice.name}-error`, role: "alert" }));
}

export function buildDevices(state, change) {
  const rows = state.devices.map((device, place) => element("div", { class: "device" },
    element("input", { list: "device-names", value: device, spellcheck: "false", "aria-label": `Device ${place + 1}`,
      "data-device": place, "aria-describedby": "on-error",
      onchange: (event) => { state.devices[place] = event.target.value.trim(); change(); } }),
    element("button", { type: "button", "aria-label": `Remove device ${place + 1}`, disabled: state.devices.length === 1,
      onclick: () => { state.devices.splice(place, 1); buildDevices(state, change); change(); } }, "×")));
  document.getElementById("devices").replaceChildren(...rows);
  document.getElementById("add-device").disabled = state.devices.length >= MOST_DEVICES;
}

// Messages at their fields; what belongs to none stands under the form.
export function showFaults(error) {
  clearFaults();
  const elsewhere = [];
  const faults = error.faults?.length ? error.faults : [{ key: "", problem: error.message, hint: error.hint }];
  for (const fault of faults) {
    const name = fault.key.split(".").pop();
    const inConfig = document.getElementById("config").value !== "" && !document.getElementById(`${name}-error`);
    const said = `${fault.key && !inConfig ? "" : fault.key ? `${fault.key}: ` : ""}${fault.problem}`
      + (fault.value ? ` (found ${fault.value})` : "") + (fault.hint ? `\n${fault.hint}` : "");
    const place = fault.key === "" && /device/.test(fault.problem) ? "on" : inConfig ? "model" : name;
    const target = document.getElementById(`${place}-error`);
    if (!target) { elsewhere.push(fault.key ? `${fault.key}: ${said}` : said); continue; }
    target.textContent += (target.textContent ? "\n" : "") + said;
    for (const field of document.querySelectorAll(`[aria-describedby="${place}-error"]`)) field.setAttribute("aria-invalid", "true");
  }
  document.getElementById("form-error").textContent = elsewhere.join("\n");
}

export function clearFaults() {
  for (const place of document.querySelectorAll("#controls .error")) place.textContent = "";
  for (const field of document.querySelectorAll("#controls [aria-invalid]")) field.removeAttribute("aria-invalid");
}
