// Small models as graphs: clamp a variable, see states, margins and independence change.
import * as api from "./api.js";
import * as stage from "./stage.js";
import { byId, html, say, svg } from "./dom.js";

let given = {};
let focused = null;

export async function show() {
  try {
    const answer = await api.ask("/api/model", { name: byId("toy").value, given }, (text) => say(`${text} …`));
    say("");
    byId("toy-title").textContent = answer.title;
    byId("story").textContent = answer.story;
    if (!answer.possible) {
      byId("toy-answer").textContent = "Nothing agrees with all that: take something back.";
      return;
    }
    draw(answer);
    list(answer);
  } catch (error) {
    if (!(error instanceof api.Cancelled)) say(error.message, true);
  }
}

function turn(label) {
  const next = { undefined: 1, 1: 0, 0: undefined }[String(given[label])];
  given = { ...given };
  if (next === undefined) delete given[label];
  else given[label] = next;
  focused = label;
  show();
}

function node(variable, x, y) {
  const attention = Boolean(variable.between);
  const r = attention ? 0.028 : 0.055;
  const known = variable.given !== null;
  const words = `${attention ? "attention variable " : ""}${variable.name}, ${variable.state ? "ON" : "OFF"}${known ? ", known" : ""}`;
  const shape = attention
    ? svg("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, rx: 0.008, transform: `rotate(45 ${x} ${y})` })
    : svg("circle", { cx: x, cy: y, r });
  const press = (event) => { event.preventDefault(); event.stopPropagation(); turn(variable.label); };
  const one = svg("g", {
    class: `node${variable.state ? " on" : ""}${known ? " known" : ""}`, role: "button", tabindex: "0", "aria-label": words,
    "data-label": variable.label, onclick: press,
    onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") press(event); },
  }, shape);
  if (!attention || variable.name.length < 4) one.append(svg("text", attention ? { x, y: y - 0.06 } : { x, y }, variable.name.replace("right ", "R").replace("left ", "L").replace("line ", "#")));
  return one;
}

function draw({ variables, joined, context }) {
  const layer = stage.layer("model");
  const places = new Map(variables.filter((one) => !one.between).map((one) => [one.label, one]));
  const line = (kind, a, b) => svg("line", { class: kind, x1: a.x, y1: a.y, x2: b.x, y2: b.y });
  const wires = joined.map(([a, b]) => line("plain", places.get(a), places.get(b)));
  const nodes = [];
  for (const one of variables) {
    if (!one.between) { nodes.push(node(one, one.x, one.y)); continue; }
    const [a, b] = one.between.map((label) => places.get(label));
    wires.push(line(`wire${one.state ? "" : " off"}`, a, b));
    // Not in the middle: wires that cross would hide each other's variables.
    const t = variables.length > 12 ? 0.32 : 0.5;
    const at = { x: a.x + t * (b.x - a.x), y: a.y + t * (b.y - a.y) };
    for (const [own, other] of context) if (own === one.label) wires.push(line("context", at, places.get(other)));
    nodes.unshift(node(one, at.x, at.y));
  }
  layer.replaceChildren(...wires, ...nodes);
  if (focused) [...layer.children].find((one) => one.dataset.label === focused)?.focus();
}

function list(answer) {
  const on = answer.variables.filter((one) => one.state).map((one) => one.name);
  byId("toy-answer").textContent = `ON: ${on.join(", ") || "nothing"}. Score ${answer.score}, ${answer.proof ? "proved optimal" : "not proved"}.`;
  byId("variables").replaceChildren(...answer.variables.map((one) => html("tr", {},
    html("td", {}, one.name), html("td", {}, one.state ? "ON" : "OFF"),
    html("td", {}, one.margin === null ? "certain" : one.margin.toFixed(2)), html("td", {}, one.given === null ? "" : "yes"))));
  const pairs = answer.independent.map(([a, b, yes]) => html("li", {}, `${a} and ${b}: ${yes ? "independent" : "dependent"}`));
  byId("independent").replaceChildren(...(pairs.length ? pairs : [html("li", {}, "not asked in this model")]));
}

byId("toy").addEventListener("change", () => { given = {}; focused = null; show(); });
byId("forget").addEventListener("click", () => { given = {}; focused = null; show(); });
