// The question as one object, which a link holds whole; and the same question as a command and as Python.

export const SIZES = [
  { name: "batch", label: "Batch [sequences]", least: 1, most: 4096, usual: 1 },
  { name: "prompt", label: "Prompt [tokens]", least: 1, most: 1048576, usual: 1024 },
  { name: "output", label: "Output [tokens]", least: 1, most: 131072, usual: 256 },
  { name: "cached", label: "Of the prompt in the cache [tokens]", least: 0, most: 1048575, usual: 0 },
];
// What only some models read: asked for where it is not the usual value.
export const MEDIA = [
  { name: "images", label: "Images or videos", least: 0, most: 256, usual: 0 },
  { name: "frames", label: "Frames of each", least: 1, most: 4096, usual: 1 },
  { name: "seconds", label: "Sound [s]", least: 0, most: 3600, usual: 0 },
];
export const CHOICES = [
  { name: "resolution", label: "Size of images", place: "media-choices", options: ["", "224x224", "336x336", "448x448", "672x672", "1024x1024", "1280x720", "1920x1080"], usual: "1024x1024, or the model's own" },
  { name: "weights", label: "Weights", options: ["", "bf16", "fp8", "int8", "int4-g128", "mxfp4"], usual: "the model's own" },
  { name: "activations", label: "Arithmetic", options: ["", "bf16", "fp16", "fp8", "int8"], usual: "the model's own" },
  { name: "kv", label: "Cache", options: ["", "bf16", "fp8", "int8", "int4"], usual: "as the arithmetic" },
  { name: "state", label: "Recurrent state", options: ["", "fp32", "bf16", "fp16", "fp8", "int8"], usual: "the model's own" },
  { name: "attention", label: "Attention", options: ["", "fused", "standard", "absorbed", "expanded"], usual: "auto" },
  { name: "engine", label: "Engine", options: ["", "ideal", "usual", "eager"], usual: "ideal" },
  { name: "mtp", label: "Layers that draft", options: ["", "loaded"], usual: "not loaded", isFlag: true },
];
export const MOST_DEVICES = 4;

const WORDS = ["chart", "along", "mode"];

export function usual() {
  const state = { mode: "model", model: "llama-3.1-8b", config: "", devices: ["h100-sxm"], chart: "roofline", along: "" };
  for (const size of [...SIZES, ...MEDIA]) state[size.name] = size.usual;
  for (const choice of CHOICES) state[choice.name] = "";
  return state;
}

export function toLink(state) {
  const words = new URLSearchParams();
  const standard = usual();
  if (state.config) words.set("config", pack(state.config));
  else words.set("model", state.model);
  words.set("on", state.devices.join("|"));
  for (const { name } of [...SIZES, ...MEDIA, ...CHOICES]) {
    if (state[name] !== standard[name]) words.set(name, state[name]);
  }
  for (const name of WORDS) if (state[name] !== standard[name]) words.set(name, state[name]);
  return `#${words}`;
}

export function fromLink(link) {
  const words = new URLSearchParams(link.replace(/^#/, ""));
  const state = usual();
  if (words.has("config")) state.config = unpack(words.get("config"));
  if (words.has("model")) state.model = words.get("model").slice(0, 200);
  if (words.get("on")) state.devices = words.get("on").split("|").slice(0, MOST_DEVICES);
  for (const size of [...SIZES, ...MEDIA]) {
    const value = Number(words.get(size.name) ?? size.usual);
    if (Number.isInteger(value)) state[size.name] = value;
  }
  for (const choice of CHOICES) state[choice.name] = (words.get(choice.name) ?? "").slice(0, 40);
  for (const name of WORDS) if (words.has(name)) state[name] = words.get(name).slice(0, 40);
  return state;
}

// What one device is asked, in the words of the interface. A config that is no JSON throws.
export function asked(state, device) {
  const words = { model: state.config ? JSON.parse(state.config) : state.model, on: device };
  for (const { name } of sizesOf(state)) words[name] = state[name];
  for (const { name, isFlag } of CHOICES) if (state[name]) words[name] = isFlag ? true : state[name];
  return words;
}

function sizesOf(state) {
  return [...SIZES, ...MEDIA.filter(({ name, usual }) => state[name] !== usual)];
}

export function asCommand(state) {
  const model = state.config ? "config.json" : state.model;
  return state.devices.map((device) => {
    const words = ["mansard", "analyze", quoted(model), "--on", quoted(device)];
    for (const { name } of sizesOf(state)) words.push(`--${name}`, String(state[name]));
    for (const { name, isFlag } of CHOICES) if (state[name]) words.push(`--${name}`, ...(isFlag ? [] : [quoted(state[name])]));
    return words.join(" ");
  }).join("\n");
}

export function asPython(state) {
  const model = JSON.stringify(state.config ? "config.json" : state.model);
  const words = sizesOf(state).map(({ name }) => `${name}=${state[name]}`);
  for (const { name, isFlag } of CHOICES) if (state[name]) words.push(`${name}=${isFlag ? "True" : JSON.stringify(state[name])}`);
  const calls = state.devices.map((device) => `ms.analyze(${model}, on=${JSON.stringify(device)}, ${words.join(", ")})`);
  return `import mansard as ms\n\n${calls.join("\n")}`;
}

function quoted(word) {
  return /^[\w.,=:/+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

function pack(text) {
  const bytes = new TextEncoder().encode(text);
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function unpack(text) {
  try {
    const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder().decode(Uint8Array.from(letters, (letter) => letter.charCodeAt(0)));
  } catch {
    return "";
  }
}
