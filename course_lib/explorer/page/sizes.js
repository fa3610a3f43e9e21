// What fits: letters and cells, for the width of the page and for a projector.

const LEAST_PX = 16; // of a letter that is projected
const SLANT = Math.PI / 3; // of the labels of columns
const GAP_PX = 12; // between two matrices, as in explorer.css
const ruler = document.createElement("canvas").getContext("2d");

// Letters on a canvas; where they are enlarged they follow the window, as all words do.
function letters(scale) {
  return scale > 1 ? clamp(0.013 * innerWidth, LEAST_PX, 13 * scale) : 13 * scale;
}

// How long the longest of some labels is; very long ones are drawn narrower.
function widest(labels, font) {
  ruler.font = `${font}px sans-serif`;
  const longest = Math.max(0, ...labels.map((words) => ruler.measureText(words).width));
  return Math.min(longest, 6 * font);
}

// How high a picture may be, so that what stands above and below it is seen, too.
function tallest(px, scale) {
  return Math.min(px * scale, Math.max(0.4 * innerHeight, px));
}

// Cells of a square picture of about 190 pixels; a few cells may be large.
function cellSize(n_rows, n_columns, scale) {
  return clamp(Math.floor((190 * scale) / Math.max(n_rows, n_columns, 1)), 3, 44 * scale);
}

// Cells that let five matrices stand side by side, the last with d_head columns; null
// where they would be too small, so that they have to stand in lines.
function sideBySide(n_rows, n_columns, d_head, taken, { width, scale }) {
  const spare = 30; // for frames, and a scroll bar that may come
  const room = width - taken - 4 * GAP_PX - spare;
  const last = Math.min(d_head, n_columns);
  const words = 8 * letters(scale); // below the last one, whose cells may be few
  const cell = Math.floor(Math.min(room / (4 * n_columns + last), (room - words) / (4 * n_columns)));
  if (cell < 3 || cell * n_columns < 7 * letters(scale)) return null;
  return clamp(Math.floor(tallest(190, scale) / n_rows), 3, Math.min(cell, 44 * scale));
}
