// The decoder explorer. Python computes every number; this page asks for it and draws it.
// All text of a trace goes through textContent: nothing in it is read as html.

const LONGEST_LABEL = 12;
const SIGNS = { "\n": "⏎", "\t": "⇥", "\r": "␍" };
const SVG = "http://www.w3.org/2000/svg";
const segmenter = globalThis.Intl?.Segmenter ? new Intl.Segmenter() : null;
const graphemes = segmenter
  ? (text) => [...segmenter.segment(text)].map((part) => part.segment)
  : (text) => [...text];

function filled(made, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    const isAttribute = name.includes("-") || name === "role" || made.namespaceURI === SVG;
    if (value === undefined || value === null) continue;
    if (isAttribute) made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

function element(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

function shape(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

const LABELS = new Map();

// A token as a label: short, with its white space seen.
function label(text) {
  text = String(text ?? "");
  if (!LABELS.has(text)) LABELS.set(text, shortened(text));
  return LABELS.get(text);
}

function shortened(text) {
  if (text === "") return "∅";
  const signs = graphemes(text.slice(0, 200)).map((sign) => SIGNS[sign] ?? sign);
  if (signs[0] === " ") signs[0] = "␣";
  return signs.length > LONGEST_LABEL || text.length > 200
    ? signs.slice(0, LONGEST_LABEL - 1).join("") + "…"
    : signs.join("");
}

// A right-to-left token does not turn its neighbours around.
function token(text, properties = {}) {
  return element("bdi", { className: "dx-token", ...properties }, label(text));
}

function number(value, digits = 4) {
  if (typeof value === "string") return value; // what JSON has no number for
  if (value === undefined || value === null) return "–";
  if (!Number.isFinite(value)) return String(value);
  if (value !== 0 && Math.abs(value) < 10 ** -digits / 2) return value.toExponential(1);
  return Math.abs(value) >= 10_000 ? count(Math.round(value)) : value.toFixed(digits);
}

function count(value) {
  return typeof value === "number" ? value.toLocaleString("en-US") : String(value);
}

// A number and its word, in the plural where there is not one.
function counted(n, word) {
  return `${count(n)} ${word}${n === 1 ? "" : "s"}`;
}

function clamp(value, low, high) {
  return Math.max(low, Math.min(high, value));
}

// A table of words and numbers; the first column names the row.
function table(caption, heads, rows, properties = {}) {
  const cell = (content, i) =>
    element(i ? "td" : "th", i ? {} : { scope: "row" }, ...[content].flat());
  return element(
    "table",
    { className: "dx-table", ...properties },
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, heads.map((head) => element("th", { scope: "col" }, head)))),
    element(
      "tbody",
      {},
      rows.map(({ cells, ...more }) => element("tr", more, cells.map(cell))),
    ),
  );
}

function panel(title, ...children) {
  return element(
    "section",
    { className: "dx-panel", "aria-label": title },
    element("p", { className: "dx-title", textContent: title }),
    ...children,
  );
}
