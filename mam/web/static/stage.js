// The picture and what is drawn over it; a cursor for the keyboard; clicks in pixels of the picture.
import { byId, svg } from "./dom.js";

const overlay = byId("overlay");
const stage = byId("stage");
const layers = {};
for (const name of ["picture", "ink", "masks", "pieces", "curves", "otherwise", "links", "ends", "marks", "model", "cursor"]) {
  layers[name] = svg("g", { class: name });
  overlay.append(layers[name]);
}
let size = { rows: 0, cols: 0 };
let photo = null;
let cursor = null;
const listeners = { click: () => {}, move: () => {}, escape: () => {} };

export const layer = (name) => layers[name];
export const on = (kind, listener) => { listeners[kind] = listener; };
export const dimensions = () => size;
// Pixels of the picture in one pixel of the screen.
export const unit = () => {
  const box = overlay.getBoundingClientRect();
  return box.width && size.cols ? Math.max(size.cols / box.width, size.rows / box.height) : 1;
};

function frame(rows, cols, before) {
  size = { rows, cols };
  overlay.setAttribute("viewBox", before || `-0.5 -0.5 ${cols} ${rows}`);
  overlay.classList.toggle("pixel", cols < 400);
  byId("welcome").hidden = true;
}

export function clear(...names) {
  for (const name of names.length ? names : Object.keys(layers)) layers[name].replaceChildren();
}

export function showPicture(blob, rows, cols) {
  if (photo) URL.revokeObjectURL(photo);
  photo = URL.createObjectURL(blob);
  clear();
  cursor = null;
  frame(rows, cols);
  layers.picture.append(svg("image", { class: "photo", href: photo, x: -0.5, y: -0.5, width: cols, height: rows }));
}

export const plain = (yes) => layers.picture.firstChild?.classList.toggle("plain", yes);
export const maskImage = (base64, attributes = {}) => svg("image", {
  href: `data:image/png;base64,${base64}`, x: -0.5, y: -0.5, width: size.cols, height: size.rows,
  preserveAspectRatio: "none", ...attributes,
});

export function showModel(show) {
  for (const [name, one] of Object.entries(layers)) one.toggleAttribute("hidden", (name === "model") !== show);
  for (const one of Object.values(layers)) one.style.display = one.hasAttribute("hidden") ? "none" : "";
  // What can be reached by the keyboard must not be hidden from a screen reader.
  overlay.setAttribute("aria-hidden", String(!show));
  if (show) overlay.setAttribute("viewBox", "-0.02 -0.02 1.04 1.04");
  else if (size.cols) frame(size.rows, size.cols);
  byId("welcome").hidden = show || size.cols > 0;
}

function place(event) {
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(overlay.getScreenCTM().inverse());
  return inside([at.y, at.x]);
}

function inside([row, col]) {
  const keep = (value, most) => Math.round(Math.min(Math.max(value, 0), most - 1) * 100) / 100;
  return [keep(row, size.rows), keep(col, size.cols)];
}

function drawCursor() {
  const r = 9 * unit();
  const [row, col] = cursor;
  layers.cursor.replaceChildren(
    svg("path", { class: "cursor", d: `M${col - r},${row}h${2 * r}M${col},${row - r}v${2 * r}` }),
    svg("circle", { class: "cursor", cx: col, cy: row, r: r / 2 }),
  );
}

const arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
stage.addEventListener("keydown", (event) => {
  if (event.target !== stage || !size.cols) return;
  if (event.key === "Escape") listeners.escape();
  const by = arrows[event.key];
  if (!by && event.key !== "Enter") return;
  event.preventDefault();
  cursor = cursor || [size.rows / 2, size.cols / 2];
  if (by) {
    const step = event.shiftKey ? 1 : Math.max(size.cols / 40, 2);
    cursor = inside([cursor[0] + by[0] * step, cursor[1] + by[1] * step]);
    listeners.move(cursor);
  } else listeners.click(cursor);
  drawCursor();
});
stage.addEventListener("blur", () => layers.cursor.replaceChildren());
overlay.addEventListener("click", (event) => { if (size.cols) listeners.click(place(event)); });
overlay.addEventListener("pointermove", (event) => {
  if (size.cols && event.pointerType === "mouse" && !layers.curves.hasAttribute("hidden")) listeners.move(place(event));
});
