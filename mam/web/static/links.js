// Corrections: what a person knows of links, as evidence on their attention variables; undo.
import * as stage from "./stage.js";
import { byId, html, say, svg } from "./dom.js";

const DOUBTFUL = 12; // links that are listed
const shown = ([row, col]) => `${Math.round(row)},${Math.round(col)}`;
const same = (one, other) => String(one) === String(other) || String(one) === String([other[1], other[0]]);

export function linkTool(answerNow, refresh) {
  let known = []; // { kind: "forbid" | "demand", link: [[row, col], [row, col]] }
  let past = [];
  let first = null;
  let visible = false;
  let pending = false; // whether the last change still waits for its answer

  function inside([row, col]) {
    const { rows, cols } = stage.dimensions();
    const keep = (value, most) => Math.min(Math.max(value, 0), most - 1);
    return [keep(row, rows), keep(col, cols)];
  }
  const placeOf = (end) => inside(answerNow().ends[end]);

  function change(next) {
    past.push(known);
    known = next;
    first = null;
    pending = true;
    list();
    refresh();
  }

  function set(a, b, on) {
    const link = [placeOf(a), placeOf(b)];
    const others = known.filter((one) => !same(one.link, link));
    const before = known.length - others.length;
    const kind = on ? "forbid" : "demand";
    say(before ? "Left to the model again." : on ? "These two ends are parted." : "These two ends are joined.");
    change(before ? others : [...others, { kind, link }]);
  }

  function click([row, col]) {
    const answer = answerNow();
    let best = null;
    let least = (18 * stage.unit()) ** 2;
    answer.ends.forEach(([r, c], end) => {
      const far = (r - row) ** 2 + (c - col) ** 2;
      if (far < least && end !== first) { least = far; best = end; }
    });
    if (best === null) { say("There is no end of a piece here; the dots are ends.", true); return; }
    if (first === null) { first = best; draw(); say("Now the other end."); return; }
    const pair = [first, best];
    if (pair[0] >> 1 === pair[1] >> 1) { say("Both are ends of one piece.", true); first = null; draw(); return; }
    const found = answer.links.find(([a, b]) => same([a, b], pair));
    set(pair[0], pair[1], Boolean(found && found[2]));
  }

  function draw() {
    stage.clear("links", "ends");
    const answer = answerNow();
    if (!answer) return;
    pending = false;
    for (const { kind, link: [[r1, c1], [r2, c2]] } of known) {
      stage.layer("links").append(svg("line", { class: `link ${kind === "demand" ? "demanded" : "forbidden"}`, x1: c1, y1: r1, x2: c2, y2: r2 }));
    }
    list();
    if (!visible) return;
    for (const [a, b, on] of answer.links) {
      if (!on) continue;
      const [[r1, c1], [r2, c2]] = [answer.ends[a], answer.ends[b]];
      stage.layer("links").append(svg("line", { class: "link", x1: c1, y1: r1, x2: c2, y2: r2 }));
    }
    const r = 4.5 * stage.unit();
    answer.ends.forEach(([row, col], end) => {
      stage.layer("ends").append(svg("circle", { class: end === first ? "end chosen" : "end", cx: col, cy: row, r: end === first ? 1.6 * r : r }));
    });
  }

  function list() {
    const answer = answerNow();
    byId("undo").disabled = !past.length;
    byId("corrections").replaceChildren(...known.map((one, k) => html("li", { class: "split" },
      html("span", {}, `${one.kind === "demand" ? "joined" : "parted"}: ${shown(one.link[0])} and ${shown(one.link[1])}`),
      html("button", { onclick: () => change(known.filter((_, other) => other !== k)) }, "Take back"))));
    const doubtful = (answer?.links || []).filter((link) => link[3] !== null).sort((a, b) => a[3] - b[3]).slice(0, DOUBTFUL);
    byId("links").replaceChildren(...doubtful.map(([a, b, on, margin]) => html("li", { class: "split" },
      html("span", {}, `${shown(placeOf(a))} and ${shown(placeOf(b))}: ${on ? "joined" : "apart"}, margin ${margin.toFixed(2)}`),
      html("button", { onclick: () => set(a, b, on) }, on ? "Forbid" : "Demand"))));
  }

  function undo() {
    if (!past.length) return;
    known = past.pop();
    first = null;
    say("Undone.");
    list();
    refresh();
  }

  byId("undo").addEventListener("click", undo);
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && !event.target.matches("input:not([type=range])")) { event.preventDefault(); undo(); }
  });

  return {
    click,
    draw,
    reset() { known = []; past = []; first = null; pending = false; list(); },
    // A correction that cannot be is taken back; a slider that fails is another matter.
    failed() { if (pending) { known = past.pop(); draw(); } },
    forgetFirst() { first = null; },
    show(yes) { visible = yes; first = null; draw(); },
    known: () => ({
      forbid: known.filter((one) => one.kind === "forbid").map((one) => one.link),
      demand: known.filter((one) => one.kind === "demand").map((one) => one.link),
    }),
  };
}
