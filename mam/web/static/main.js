// The page: tabs, and where pictures come from.
import * as api from "./api.js";
import * as curves from "./curves.js";
import * as find from "./find.js";
import * as models from "./models.js";
import * as paint from "./paint.js";
import * as stage from "./stage.js";
import { byId, html, say } from "./dom.js";

const TABS = ["curves", "find", "model"];
let chosenTab = "curves";
let samples = {};

function choose(name, focus = false) {
  for (const tab of TABS) {
    const chosen = tab === name;
    const button = byId(`tab-${tab}`);
    button.setAttribute("aria-selected", String(chosen));
    button.tabIndex = chosen ? 0 : -1;
    if (chosen && focus) button.focus();
    byId(`panel-${tab}`).hidden = !chosen;
  }
  chosenTab = name;
  listSamples();
  const model = name === "model";
  byId("picture-bar").hidden = model;
  byId("hint").hidden = name !== "curves";
  if (model) { leaveDrawing(); paint.stop(); }
  stage.showModel(model);
  stage.on("click", () => {});
  stage.on("move", () => {});
  if (name === "curves") { find.forget(); curves.listen(); redraw(); }
  if (model) models.show();
}

function listSamples() {
  const own = Object.entries(samples).filter(([, one]) => one.tab === chosenTab);
  byId("sample").replaceChildren(html("option", { value: "" }, "choose"), ...own.map(([name, one]) => html("option", { value: name }, one.title)));
}

async function redraw() {
  stage.plain(false);
  if (curves.current()) byId("kind").dispatchEvent(new Event("change"));
}

for (const tab of TABS) {
  byId(`tab-${tab}`).addEventListener("click", () => choose(tab));
  byId(`tab-${tab}`).addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) choose(TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length], true);
  });
}

async function take(sending, blob) {
  find.forget();
  try {
    say("reading …");
    await curves.take(await sending, blob, chosenTab === "curves");
    stage.plain(chosenTab === "find");
  } catch (error) {
    if (!(error instanceof api.Cancelled)) say(error.message, true);
  }
}

function open(file) {
  if (!file) return;
  leaveDrawing();
  take(api.upload(file, file.name || "pasted.png"));
}

byId("file").addEventListener("change", () => { open(byId("file").files[0]); byId("file").value = ""; });
byId("sample").addEventListener("change", () => {
  const name = byId("sample").value;
  if (!name) return;
  leaveDrawing();
  take(api.takeSample(name));
});
addEventListener("paste", (event) => {
  const file = [...event.clipboardData.files].find((one) => one.type.startsWith("image/"));
  if (file) open(file);
});
const area = byId("stage");
for (const kind of ["dragenter", "dragover"]) {
  addEventListener(kind, (event) => { event.preventDefault(); area.classList.add("drop"); });
}
addEventListener("dragleave", (event) => { if (!event.relatedTarget) area.classList.remove("drop"); });
addEventListener("drop", (event) => {
  event.preventDefault();
  area.classList.remove("drop");
  open(event.dataTransfer.files[0]);
});

// Drawing: every stroke that ends is grouped with all before it.
const drawing = () => byId("draw").getAttribute("aria-pressed") === "true";
let empty = null;

async function enterDrawing() {
  const { rows, cols } = paint.paper();
  empty = await paint.blob();
  stage.showPicture(empty, rows, cols);
  stage.plain(true);
  area.classList.add("drawing");
  paint.start("draw", rows, cols, groupDrawing);
  byId("clear").hidden = false;
  say("Draw with pen, finger or mouse.");
}

async function groupDrawing() {
  const drawn = await paint.blob();
  await take(api.upload(drawn, "drawing.png"), drawn);
  if (drawing() && chosenTab === "curves") { stage.plain(true); paint.start("draw", ...paper(), groupDrawing); paint.veil(); }
}

const paper = () => [byId("canvas").height, byId("canvas").width];

function leaveDrawing() {
  byId("draw").setAttribute("aria-pressed", "false");
  byId("clear").hidden = true;
  area.classList.remove("drawing");
  paint.stop();
}

byId("draw").addEventListener("click", () => {
  if (drawing()) { leaveDrawing(); stage.plain(false); return; }
  byId("draw").setAttribute("aria-pressed", "true");
  enterDrawing();
});
byId("clear").addEventListener("click", enterDrawing);

async function begin() {
  choose("curves");
  try {
    const about = await api.about();
    byId("version").textContent = `mam ${about.version}`;
    samples = about.samples;
    listSamples();
    find.setModels(about.models);
    if (!about.ready) say("warming up: the first picture may take some seconds");
  } catch (error) {
    say(error.message, true);
  }
}
begin();
