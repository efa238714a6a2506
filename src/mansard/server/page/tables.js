// The answer's blocks as tables, in which every number opens its arithmetic and its sources.

import { post } from "./api.js";
import { element } from "./form.js";

// Which blocks of the explanation stand behind which table of the answer.
const BEHIND = { Memory: ["Memory"], Phases: [], Operators: [], Request: ["Request"], Saturation: ["Saturation"] };

export function drawBlocks(blocks, words) {
  return blocks.map((block) => element("div", { class: "block" },
    block.title ? element("h2", {}, block.title) : null,
    block.columns ? drawTable(block, words) : drawLines(block)));
}

function drawLines(block) {
  if (block.literal) return element("pre", {}, block.lines.join("\n"));
  if (block.lines.every((line) => line.startsWith("- "))) {
    return element("ul", { class: "notes" }, ...block.lines.map((line) => element("li", {}, line.slice(2))));
  }
  return element("div", {}, ...block.lines.map((line) => element("p", {}, line)));
}

export function drawTable(block, words) {
  const titled = block.columns.some((column) => column.title);
  const head = element("thead", {}, element("tr", {}, ...block.columns.map((column) =>
    element("th", { scope: "col", class: column.right && "right" }, column.title))));
  const body = block.rows.map((row) => element("tr", {}, ...row.map((cell, place) => {
    const column = block.columns[place];
    const depth = cell.length - cell.trimStart().length;
    const style = depth ? `padding-left:${depth * .5}rem` : undefined;
    const bound = ["memory", "compute", "network", "overhead"].includes(cell) ? cell : undefined;
    if (place === 0) return element("th", { scope: "row", style, class: column.right && "right" }, cell.trim());
    const opens = words && /\d/.test(cell) && column.right;
    return element("td", { class: [column.right && "right", bound].filter(Boolean).join(" ") || undefined },
      opens ? element("button", { type: "button", class: "number", title: "Show the arithmetic",
        onclick: () => explain(block.title, column.title, row[0].trim(), cell, words) }, cell) : cell);
  })));
  return element("div", { class: "scroll" }, element("table", {}, titled ? head : null, element("tbody", {}, ...body)));
}

async function explain(title, column, row, cell, words) {
  const dialog = document.getElementById("explanation");
  const body = document.getElementById("explanation-body");
  document.getElementById("explanation-title").textContent = `${row}: ${cell}`;
  body.replaceChildren(element("p", {}, "…"));
  if (!dialog.open) dialog.showModal();
  try {
    const found = await post("/api/report", words);
    const wanted = chosen(found.blocks, title, column);
    body.replaceChildren(...drawBlocks(wanted, null));
  } catch (error) {
    body.replaceChildren(element("p", { class: "error" }, error.message));
  }
}

function chosen(blocks, title, column) {
  const word = title.split(/[,: ]/)[0];
  const phase = title.startsWith("Operators of ") ? title.split(/[ ,]/)[2] : column;
  const given = blocks.filter((block) => block.title.startsWith("Given"));
  const sources = blocks.filter((block) => block.title === "Sources");
  let behind = blocks.filter((block) => (BEHIND[word] ?? []).some((name) => block.title.startsWith(name)));
  if (word === "Phases" || word === "Operators") behind = ofPhase(blocks, phase);
  return [...(behind.length ? behind : blocks.filter((block) => block.title !== "Notes")), ...given, ...sources]
    .filter((block, place, all) => all.indexOf(block) === place);
}

// The blocks from a phase's first one to the next phase's.
function ofPhase(blocks, phase) {
  const named = (block) => block.title.toLowerCase().match(/^(\w+)(: (the step|sums|clocks))?$/);
  const from = blocks.findIndex((block) => named(block)?.[1] === phase);
  if (from < 0) return [];
  const rest = blocks.slice(from);
  const ends = ["request", "saturation", "notes", "sources"];
  const to = rest.findIndex((block) => {
    const found = named(block);
    return found && (found[2] ? found[1] !== phase : ends.includes(found[1]));
  });
  return to < 0 ? rest : rest.slice(0, to);
}
