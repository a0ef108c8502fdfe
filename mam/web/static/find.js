// Find the objects of a model in the picture; learn an object from a painted mask.
import * as api from "./api.js";
import * as paint from "./paint.js";
import * as stage from "./stage.js";
import { byId, colour, html, save, say, svg, swatch } from "./dom.js";
import { current } from "./curves.js";

const learned = new Map(); // key of the server -> name
let latest = null;

export function setModels(names) {
  byId("model").replaceChildren(...names.map((name) => html("option", { value: name }, name)));
}

export function forget() {
  stage.clear("masks");
  byId("found").replaceChildren();
  paint.forgetMask();
  byId("paint").setAttribute("aria-pressed", "false");
}

async function find() {
  const picture = current();
  if (!picture) { say("First open a picture.", true); return; }
  paint.stop();
  byId("paint").setAttribute("aria-pressed", "false");
  byId("find").disabled = true;
  try {
    const question = { picture: picture.picture, model: byId("model").value, copies: Number(byId("copies").value) };
    const answer = await api.ask("/api/find", question, (text) => say(text === "warming up" ? "preparing the search; the first time takes up to a minute …" : `${text} …`));
    draw(answer.found);
    say(`${answer.found.filter((one) => one.there).length} found.`);
  } catch (error) {
    if (!(error instanceof api.Cancelled)) say(error.message, true);
  } finally {
    byId("find").disabled = false;
  }
}

function draw(found) {
  stage.clear("curves", "otherwise", "links", "ends", "marks", "masks", "ink", "pieces");
  const layer = stage.layer("masks");
  const r = 2.5 * stage.unit();
  found.forEach((one, k) => {
    if (!one.there) return;
    const filter = `tint-${k}`;
    // A white mask on black becomes the colour, and black becomes clear.
    const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour(k).slice(at, at + 2), 16) / 255);
    layer.append(
      svg("filter", { id: filter, "color-interpolation-filters": "sRGB" },
        svg("feColorMatrix", { values: `0 0 0 0 ${red} 0 0 0 0 ${green} 0 0 0 0 ${blue} 1 0 0 0 0` })),
      stage.maskImage(one.mask, { class: "mask", filter: `url(#${filter})` }),
      ...one.edges.map(([a, b]) => svg("line", { class: "edge", stroke: "#fff", x1: one.vertices[a][1], y1: one.vertices[a][0], x2: one.vertices[b][1], y2: one.vertices[b][0] })),
      ...one.vertices.map(([row, col]) => svg("circle", { cx: col, cy: row, r, fill: colour(k), stroke: "#000", "stroke-width": r / 4 })),
    );
  });
  byId("found").replaceChildren(...found.map((one, k) => {
    const margin = one.margin === null ? "" : `, margin ${one.margin}`;
    const text = one.there ? `${one.name}: score ${one.score}${margin}, ${one.pixels} px` : `${one.name} is not there: ${notThere(one)}, there from ${one.threshold} on`;
    return html("li", { class: "split" }, swatch(k), html("span", {}, text));
  }));
}

// Letters are there by their contrast, objects by their score.
const notThere = (one) => (typeof one.contrast === "number" ? `contrast ${one.contrast}` : `score ${one.score}`);

async function learn() {
  const picture = current();
  if (!picture) { say("First open a picture.", true); return; }
  const mask = paint.mask(picture.rows, picture.cols);
  if (!mask) { say("First paint over the object.", true); return; }
  byId("learn").disabled = true;
  try {
    const name = byId("object").value.trim() || "object";
    const answer = await api.ask("/api/learn", { picture: picture.picture, mask, name }, (text) => say(text === "warming up" ? "preparing …" : `${text} …`));
    latest = { key: answer.model, name };
    if (!learned.has(answer.model)) byId("model").append(html("option", { value: answer.model }, `${name} (learned)`));
    learned.set(answer.model, name);
    byId("model").value = answer.model;
    byId("copies").value = 1;
    byId("copies-value").textContent = "1";
    byId("model-file").hidden = false;
    say(`Learned ${name}: a graph of ${answer.vertices} vertices. Open another picture, and find it.`);
  } catch (error) {
    if (!(error instanceof api.Cancelled)) say(error.message, true);
  } finally {
    byId("learn").disabled = false;
  }
}

byId("find").addEventListener("click", find);
byId("learn").addEventListener("click", learn);
byId("model-file").addEventListener("click", async () => save(await api.modelFile(latest.key), `${latest.name}.safetensors`));
byId("copies").addEventListener("input", () => { byId("copies-value").textContent = byId("copies").value; });
byId("brush").addEventListener("input", () => { byId("brush-value").textContent = `${byId("brush").value} px`; });
byId("unpaint").addEventListener("click", () => paint.wipe());
byId("paint").addEventListener("click", () => {
  const picture = current();
  if (!picture) { say("First open a picture.", true); return; }
  const painting = byId("paint").getAttribute("aria-pressed") !== "true";
  byId("paint").setAttribute("aria-pressed", String(painting));
  if (painting) { stage.clear("masks", "curves", "otherwise", "links", "ends", "marks"); stage.plain(true); paint.start("mask", picture.rows, picture.cols, () => {}); } else paint.stop();
});
