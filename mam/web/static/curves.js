// Curves: group a picture, ask whether two places are on one curve, correct links, take it home.
import * as api from "./api.js";
import * as stage from "./stage.js";
import { byId, colour, counted, html, points, save, say, svg, swatch } from "./dom.js";
import { linkTool } from "./links.js";

const WAIT = 70; // milliseconds that a slider may rest before it acts
let picture = null;
let answer = null;
let markers = [];
let lit = null;
let timer = 0;
export const links = linkTool(() => answer, refresh);
const tool = () => document.querySelector("input[name=tool]:checked").value;
export const current = () => picture;

const HINTS = {
  point: "Click a curve to keep it lit.",
  ask: "Click two places: are they on the same curve?",
  link: "Click two ends: what is joined is parted, what is apart is joined.",
};

export function showHint() {
  byId("hint").textContent = picture ? HINTS[tool()] : "";
}

// A picture that the server has: show it, then group it if that is wanted.
export async function take(sent, blob, wanted = true) {
  picture = sent;
  answer = null;
  markers = [];
  links.reset();
  stage.showPicture(blob || (await api.view(sent.picture)), sent.rows, sent.cols);
  showHint();
  if (wanted) await refresh();
  else say(`${sent.name}: ${sent.cols} x ${sent.rows} px`);
}

function question() {
  return {
    picture: picture.picture,
    model: byId("kind").value,
    threshold: byId("automatic").checked ? null : Number(byId("threshold").value),
    ink: byId("ink").value,
    bridging: Number(byId("bridging").value),
    markers: markers.length === 2 ? markers : null,
    ...links.known(),
  };
}

async function refresh() {
  if (!picture) return;
  const start = performance.now();
  try {
    answer = await api.ask("/api/group", question(), (text) => say(`${text} …`));
    render();
    say(`${counted(answer.curves.length, "curve")}; ${((performance.now() - start) / 1000).toFixed(2)} s`);
  } catch (error) {
    if (error instanceof api.Cancelled) return;
    say(error.message, true);
    if (markers.length === 2) { markers = []; drawMarks(); } else if (!answer) byId("count").textContent = "No curves";
    links.failed();
  }
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(refresh, WAIT);
}

function render() {
  const many = answer.curves.length;
  byId("count").textContent = `${counted(many, "curve")} of ${counted(answer.pieces.length, answer.piece)}`;
  const sure = answer.proof ? proved() : answer.bound === null ? "not proved optimal" : `within ${(answer.bound - answer.score).toFixed(2)} of the optimum`;
  byId("certificate").textContent = `Score ${answer.score.toFixed(2)}, ${sure}. Assumed: ${answer.assumed}.`;
  byId("command").textContent = answer.command;
  if (byId("automatic").checked && answer.threshold !== null) byId("threshold").value = answer.threshold;
  showNumbers();
  drawLayers();
  drawCurves();
  drawMarks();
  drawOtherwise();
  links.draw();
  listCurves();
}

function showNumbers() {
  const automatic = byId("automatic").checked;
  byId("threshold-value").textContent = automatic ? (!answer ? "automatic" : answer.threshold === null ? "by the paper around" : `${answer.threshold} (found)`) : byId("threshold").value;
  const times = Number(byId("bridging").value);
  byId("bridging-value").textContent = times === 1 ? "as learned" : times === 0 ? "not at all" : `${times} times as far`;
}

function drawLayers() {
  stage.clear("ink", "pieces");
  if (byId("show-ink").checked) stage.layer("ink").append(stage.maskImage(answer.ink));
  if (byId("show-pieces").checked) {
    for (const line of answer.pieces) stage.layer("pieces").append(svg("polyline", { class: "line", points: points(line) }));
  }
}

function drawCurves() {
  const layer = stage.layer("curves");
  layer.replaceChildren();
  lit = undefined;
  light(null);
  if (!byId("show-curves").checked) return;
  const height = 15 * stage.unit();
  answer.curves.forEach((curve, k) => {
    const line = points(curve.points);
    const group = svg("g", { class: "curve", "data-curve": k },
      svg("polyline", { class: "line casing", points: line }),
      svg("polyline", { class: "line", points: line, stroke: colour(k) }));
    if (curve.pieces > 1 || answer.piece === "strand") {
      const [row, col] = curve.points[0];
      group.append(svg("text", { class: "number", transform: `translate(${col} ${row}) scale(${height})`, fill: colour(k), "stroke-width": 0.2 }, String(k + 1)));
    }
    layer.append(group);
  });
}

function drawMarks() {
  const layer = stage.layer("marks");
  layer.replaceChildren();
  const r = 8 * stage.unit();
  for (const [row, col] of markers) {
    layer.append(svg("circle", { class: "mark casing", cx: col, cy: row, r }), svg("circle", { class: "mark", cx: col, cy: row, r }));
  }
}

function drawOtherwise() {
  const layer = stage.layer("otherwise");
  layer.replaceChildren();
  const box = byId("answer");
  box.hidden = !answer.markers;
  if (!answer.markers) return;
  const { same, margin } = answer.markers;
  box.className = `answer ${same ? "same" : "other"}`;
  const sure = margin === null ? "nothing could change that" : `margin ${margin.toFixed(2)}`;
  const other = answer.alternative ? ` The best other answer found, dashed, costs ${answer.alternative.cost.toFixed(2)}.` : " There is no other answer.";
  box.textContent = `${same ? "The same curve" : "Different curves"}: ${sure}.${other}`;
  for (const line of answer.alternative?.lines || []) {
    layer.append(svg("polyline", { class: "line casing", points: points(line) }), svg("polyline", { class: "line", points: points(line) }));
  }
}

function proved() {
  return answer.pieces_proof ? "proved optimal" : "proved the best of these pieces";
}

function about(curve) {
  const words = [`Curve ${curve.number}: length ${curve.length} px`, `width ${curve.width ?? "?"} px`, counted(curve.crossings, "crossing")];
  words.push(curve.closed ? "closed, no ends" : "2 ends", counted(curve.pieces, answer.piece));
  if (curve.weakest !== null) words.push(`weakest link ${curve.weakest.toFixed(2)}`);
  words.push(answer.proof ? proved() : "not proved");
  return `${words.join(", ")}.`;
}

function light(k) {
  if (k === lit) return;
  lit = k;
  const layer = stage.layer("curves");
  layer.classList.toggle("faded", k !== null);
  for (const group of layer.children) group.classList.toggle("lit", Number(group.dataset.curve) === k);
  for (const button of byId("curves").querySelectorAll("button")) button.setAttribute("aria-pressed", String(Number(button.dataset.curve) === k));
  byId("detail").textContent = k === null ? "Point at a curve, or choose it in the list." : about(answer.curves[k]);
}

function listCurves() {
  byId("curves").replaceChildren(...answer.curves.slice(0, 200).map((curve, k) => html("li", {},
    html("button", { "data-curve": k, "aria-pressed": "false", onfocus: () => light(k), onclick: () => light(k), onpointerenter: () => light(k) },
      swatch(k), `${k + 1}: ${Math.round(curve.length)} px, ${counted(curve.crossings, "crossing")}`))));
}

function nearest([row, col], within) {
  let best = null;
  let least = (within * stage.unit()) ** 2;
  answer.curves.forEach((curve, k) => {
    for (let i = 0; i < curve.points.length; i++) {
      const [r, c] = curve.points[i];
      const far = (r - row) ** 2 + (c - col) ** 2;
      if (far < least) { least = far; best = k; }
      const next = curve.points[i + 1];
      if (!next) continue;
      const middle = ((r + next[0]) / 2 - row) ** 2 + ((c + next[1]) / 2 - col) ** 2;
      if (middle < least) { least = middle; best = k; }
    }
  });
  return best;
}

let kept = false;
function click(at) {
  if (!answer) return;
  if (tool() === "link") { links.click(at); return; }
  if (tool() === "point") {
    const found = nearest(at, 12);
    kept = found !== null;
    light(found);
    return;
  }
  markers = markers.length === 2 ? [at] : [...markers, at];
  drawMarks();
  if (markers.length === 2) refresh();
  else { say("Now the second place."); byId("answer").hidden = true; stage.clear("otherwise"); }
}

// The curves panel has the picture: clicks go here.
export function listen() {
  stage.on("click", click);
  stage.on("move", (at) => { if (answer && tool() !== "link" && !kept) light(nearest(at, 10)); });
  stage.on("escape", () => { markers = []; kept = false; light(null); links.forgetFirst(); drawMarks(); refresh(); });
}

export const setDrawn = (drawn) => stage.plain(drawn);

for (const id of ["threshold", "bridging"]) {
  byId(id).addEventListener("input", () => {
    if (id === "threshold") byId("automatic").checked = false;
    showNumbers();
    later();
  });
}
for (const id of ["automatic", "ink", "kind"]) byId(id).addEventListener("change", () => { showNumbers(); refresh(); });
for (const id of ["show-ink", "show-pieces", "show-curves"]) {
  byId(id).addEventListener("change", () => { if (answer) { drawLayers(); drawCurves(); } });
}
for (const radio of document.querySelectorAll("input[name=tool]")) {
  radio.addEventListener("change", () => {
    kept = false;
    if (tool() !== "ask" && markers.length) { markers = []; refresh(); }
    showHint();
    links.show(tool() === "link");
  });
}
for (const button of byId("downloads").children) {
  button.addEventListener("click", async () => {
    if (!picture) { say("First open a picture.", true); return; }
    const ending = button.dataset.ending;
    try {
      const stem = picture.name.replace(/\.[^.]*$/, "");
      save(await api.file({ ...question(), ending }), ending === ".png" ? `${stem}-curves.png` : stem + ending);
      say(`Saved ${stem}${ending}`);
    } catch (error) {
      say(error.message, true);
    }
  });
}
byId("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(byId("command").textContent);
    say("Copied.");
  } catch {
    getSelection().selectAllChildren(byId("command"));
    say("Selected; copy it with Ctrl-C.");
  }
});
new ResizeObserver(() => { if (answer) { drawCurves(); drawMarks(); links.draw(); } }).observe(byId("overlay"));
