// Lessons: predict, look, read, work it out, and be checked. What is typed is judged by the server as text, never run.

import { newest, post } from "./api.js";
import { drawChart } from "./charts.js";
import { element, sized } from "./form.js";

let names = null;
let shown = "clocks";

export async function buildLessons() {
  names ??= (await (await fetch("/api/lessons")).json()).lessons;
  document.getElementById("lessons").replaceChildren(...names.map((one) => element("button", {
    type: "button", "data-lesson": one.name, "aria-current": one.name === shown ? "page" : null,
    onclick: () => { shown = one.name; buildLessons(); },
  }, `${one.place}. ${one.title}`)));
  draw(await post("/api/lesson", { name: shown }));
}

function draw(lesson) {
  const after = element("div", { hidden: true });
  document.getElementById("lesson").replaceChildren(
    element("h2", {}, `${lesson.place}. ${lesson.title}`), predict(lesson, after), after);
  after.append(
    ...lesson.text.map((paragraph) => element("p", {}, paragraph)), figure(lesson.figure),
    element("h2", {}, "Worked example"), element("pre", {}, lesson.worked.join("\n")),
    element("h2", {}, "Exercises"), ...lesson.exercises.map((one, place) => exercise(lesson.name, one, place)), next(lesson));
}

function predict(lesson, after) {
  const said = element("p", { role: "status" });
  const options = lesson.prediction.options.map((option, place) => element("button", {
    type: "button", "data-option": place, onclick: () => {
      const right = place === lesson.prediction.right;
      said.className = right ? "right-answer" : "wrong-answer";
      said.textContent = `${right ? "Right." : "No."} ${lesson.prediction.why}`;
      if (after.hidden) { after.hidden = false; after.querySelector("figure").dispatchEvent(new Event("seen")); }
    },
  }, option));
  return element("div", { class: "exercise" }, element("p", {}, element("strong", {}, "Predict first. "), lesson.prediction.question),
    element("div", { class: "row" }, ...options), said);
}

function figure(one) {
  const run = { ...one.run };
  run[one.slider] ??= Math.max(one.least, one.slider === "prompt" ? 1024 : 1);
  const place = element("div", {});
  const error = element("p", { class: "error", role: "alert" });
  const show = async () => {
    const theme = document.documentElement.dataset.theme;
    const width = Math.max(240, Math.min(620, place.clientWidth - 110));
    try {
      const spec = await newest("figure", "/api/chart", { kind: one.chart, runs: [run], theme, width });
      if (spec) await drawChart(place, spec);
      error.textContent = "";
    } catch (refused) {
      error.textContent = refused.message;
    }
  };
  const made = element("figure", {}, sized({ id: "lesson-size", label: one.slider, least: one.least, most: one.most,
    value: run[one.slider], change: (value) => { run[one.slider] = value; show(); } }),
    place, error, element("figcaption", {}, `Look at ${one.look}.`));
  made.addEventListener("seen", show);
  return made;
}

function exercise(lesson, one, place) {
  let tries = 0;
  const said = element("p", { role: "status" });
  const field = element("input", { id: `answer-${place}`, autocomplete: "off", spellcheck: "false" });
  const form = element("form", { class: "exercise", onsubmit: async (event) => {
    event.preventDefault();
    tries += 1;
    const found = await post("/api/grade", { lesson, exercise: place, answer: field.value.slice(0, 200), tries });
    said.className = found.is_right ? "right-answer" : "wrong-answer";
    said.textContent = found.says;
  } }, element("label", { for: `answer-${place}` }, `${one.question} [${one.unit}]`),
  element("div", { class: "row" }, field, element("button", {}, "Check")), said);
  return form;
}

function next(lesson) {
  const following = names.find((one) => one.place === lesson.place + 1);
  if (!following) return element("p", {}, "That was the last one. Put a model of your own in, under Model.");
  return element("button", { type: "button", onclick: () => {
    shown = following.name;
    buildLessons();
    document.getElementById("lesson").focus();
  } }, `Next: ${following.title}`);
}
