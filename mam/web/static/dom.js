// Small helpers. Text is always set as text, never as markup.
const SVG = "http://www.w3.org/2000/svg";

export const byId = (id) => document.getElementById(id);

function made(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

export const html = (tag, attributes = {}, ...children) =>
  made(document.createElement(tag), attributes, children);

export const svg = (tag, attributes = {}, ...children) =>
  made(document.createElementNS(SVG, tag), attributes, children);

export const points = (line) => line.map(([row, col]) => `${col},${row}`).join(" ");

// Okabe and Ito: told apart by most colour-blind eyes; the same as in the files.
const PALETTE = ["#e69f00", "#56b4e9", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7", "#969696"];
export const colour = (number) => PALETTE[number % PALETTE.length];

let last = "";
export function say(text, wrong = false) {
  const status = byId("status");
  status.classList.toggle("wrong", wrong);
  if (text !== last) status.textContent = text;
  last = text;
}

export function save(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = html("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

export const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

export function swatch(number) {
  const one = html("span", { class: "swatch", "aria-hidden": "true" });
  one.style.background = colour(number);
  return one;
}
