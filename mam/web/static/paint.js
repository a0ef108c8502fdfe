// A canvas over the picture: to draw strokes on paper, or to paint a mask.
import * as stage from "./stage.js";
import { byId } from "./dom.js";

const canvas = byId("canvas");
const overlay = byId("overlay");
const PAPER = { rows: 480, cols: 720 };
let mode = null; // null, "draw" or "mask"
let ended = () => {};
let last = null;

const pen = () => canvas.getContext("2d", { willReadFrequently: true });

function fit() {
  // The canvas lies where the picture lies.
  const box = overlay.getBoundingClientRect();
  const around = byId("stage").getBoundingClientRect();
  const scale = Math.min(box.width / canvas.width, box.height / canvas.height);
  canvas.style.width = `${canvas.width * scale}px`;
  canvas.style.height = `${canvas.height * scale}px`;
  canvas.style.left = `${box.left - around.left + (box.width - canvas.width * scale) / 2}px`;
  canvas.style.top = `${box.top - around.top + (box.height - canvas.height * scale) / 2}px`;
}

export function start(kind, rows, cols, done) {
  const fresh = canvas.width !== cols || canvas.height !== rows || mode !== kind;
  mode = kind;
  ended = done;
  if (fresh) { canvas.width = cols; canvas.height = rows; wipe(); }
  canvas.hidden = false;
  if (!last) canvas.style.opacity = kind === "mask" ? "0.55" : "0";
  fit();
}

// Paper: a white picture of its own, which the stage shows while people draw.
export const paper = () => {
  canvas.width = PAPER.cols;
  canvas.height = PAPER.rows;
  mode = "draw";
  wipe();
  return PAPER;
};

export function stop() {
  canvas.hidden = true;
}

export function wipe() {
  const brush = pen();
  brush.clearRect(0, 0, canvas.width, canvas.height);
  if (mode === "draw") { brush.fillStyle = "#fff"; brush.fillRect(0, 0, canvas.width, canvas.height); }
}

export const forgetMask = () => { if (mode === "mask") { stop(); canvas.width = canvas.height = 1; mode = null; } };
export const blob = () => new Promise((done) => canvas.toBlob(done, "image/png"));

// The mask in black and white, as base64.
export function mask(rows, cols) {
  if (mode !== "mask" || canvas.width !== cols || canvas.height !== rows) return null;
  const made = document.createElement("canvas");
  made.width = cols;
  made.height = rows;
  const brush = made.getContext("2d");
  const painted = pen().getImageData(0, 0, cols, rows);
  let any = false;
  for (let k = 0; k < painted.data.length; k += 4) {
    const on = painted.data[k + 3] > 127;
    any = any || on;
    painted.data[k] = painted.data[k + 1] = painted.data[k + 2] = on ? 255 : 0;
    painted.data[k + 3] = 255;
  }
  brush.putImageData(painted, 0, 0);
  return any ? made.toDataURL("image/png").split(",")[1] : null;
}

function at(event) {
  const box = canvas.getBoundingClientRect();
  return [((event.clientX - box.left) * canvas.width) / box.width, ((event.clientY - box.top) * canvas.height) / box.height];
}

function stroke(from, to) {
  const brush = pen();
  brush.lineCap = brush.lineJoin = "round";
  brush.strokeStyle = mode === "mask" ? "#e69f00" : "#141414";
  brush.lineWidth = mode === "mask" ? Number(byId("brush").value) * stage.unit() : 5;
  brush.beginPath();
  brush.moveTo(...from);
  brush.lineTo(...to);
  brush.stroke();
}

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  if (mode === "draw") canvas.style.opacity = "1";
  last = at(event);
  stroke(last, last);
});
canvas.addEventListener("pointermove", (event) => {
  if (!last) return;
  for (const one of event.getCoalescedEvents?.() || [event]) {
    const here = at(one);
    stroke(last, here);
    last = here;
  }
});
for (const kind of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(kind, () => {
    if (!last) return;
    last = null;
    ended();
  });
}
new ResizeObserver(() => { if (!canvas.hidden) fit(); }).observe(overlay);
export const veil = () => { if (mode === "draw" && !last) canvas.style.opacity = "0"; };
