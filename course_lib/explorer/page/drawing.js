// Matrices on a canvas: thousands of cells in a few milliseconds.

const DEVICE = () => Math.min(globalThis.devicePixelRatio || 1, 3);

// One canvas with rows × columns cells.
//   colour(row, column): of the cell; NaN is given a cross by `value`.
//   value(row, column): its number, hidden(row, column): hatched, marked(row, column): a leak.
//   covered: for each row, whether its numbers are still to be predicted.
//   rows, columns: labels or null; chosen: [row, column]; choose(row, column): on click.
//   owner: the answer that the numbers are of; its cells are painted once and kept with it.
function matrix(options) {
  const { name, n_rows, n_columns, scale, chosen } = options;
  const font = letters(scale);
  const slanted = options.columns ? widest(options.columns, font) : 0;
  const labelWidth = options.rows ? Math.ceil(widest(options.rows, font)) + 8 : 0;
  const labelHeight = options.columns ? Math.ceil(slanted * Math.sin(SLANT) + font) : 0;
  const size = options.cell ?? cellSize(n_rows, n_columns, scale);
  const height = options.cell_height ?? size;
  const overhang = Math.ceil(slanted * Math.cos(SLANT)); // of the last slanted label
  const width = labelWidth + n_columns * size + 2 + overhang;
  const tall = labelHeight + n_rows * height + 2;
  const canvas = element("canvas", {
    className: "dx-canvas",
    role: "img",
    "aria-label": name,
    "data-key": options.key,
    "data-left": labelWidth,
    "data-top": labelHeight,
    "data-cell": size,
    tabIndex: options.move ? 0 : -1,
    width: Math.ceil(width * DEVICE()),
    height: Math.ceil(tall * DEVICE()),
  });
  canvas.style.width = `${width}px`;
  canvas.style.height = `${tall}px`;
  const pen = canvas.getContext("2d");
  pen.scale(DEVICE(), DEVICE());
  pen.fillStyle = "white";
  pen.fillRect(0, 0, width, tall);
  pen.translate(labelWidth + 1, labelHeight + 1);
  fill(pen, kept(options, size, height), n_columns * size, n_rows * height);
  pen.strokeStyle = "#999999";
  pen.strokeRect(-0.5, -0.5, n_columns * size + 1, n_rows * height + 1);
  if (chosen) frame(pen, chosen, size, height, n_rows, n_columns, options.whole);
  pen.font = `${font}px sans-serif`;
  pen.fillStyle = INK;
  pen.textBaseline = "middle";
  const every = (step) => Math.max(1, Math.ceil(font / step));
  if (options.rows) {
    pen.textAlign = "right";
    options.rows.forEach((words, row) => {
      if (row % every(height) === 0) pen.fillText(words, -6, (row + 0.5) * height, labelWidth - 8);
    });
  }
  if (options.columns) {
    pen.textAlign = "left";
    options.columns.forEach((words, column) => {
      if (column % every(size)) return;
      pen.save();
      pen.translate((column + 0.5) * size, -6);
      pen.rotate(-SLANT);
      pen.fillText(words, 0, 0, slanted);
      pen.restore();
    });
  }
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - labelWidth - 1) / size);
    const row = Math.floor((event.clientY - box.top - labelHeight - 1) / height);
    return row < 0 || column < 0 || row >= n_rows || column >= n_columns ? null : [row, column];
  };
  if (options.choose) {
    canvas.style.cursor = "pointer";
    canvas.onclick = (event) => at(event) && options.choose(...at(event));
  }
  if (options.hover) {
    canvas.onpointermove = (event) => options.hover(at(event));
    canvas.onpointerleave = () => options.hover(null);
  }
  if (options.move) canvas.onkeydown = options.move;
  return canvas;
}

const PAINTED = new WeakMap();

// The cells alone, without frames and labels: a step of the arrow mixes no colour anew.
function kept(options, width, height) {
  const { owner = {}, key, scale, written, covered } = options;
  if (!PAINTED.has(owner)) PAINTED.set(owner, new Map());
  const pictures = PAINTED.get(owner);
  const id = [key, letters(scale), written, width, height, covered].join();
  if (!pictures.has(id)) pictures.set(id, cells(options, width, height));
  return pictures.get(id);
}

function fill(pen, { dots, hatched, crossed, over }, width, height) {
  pen.imageSmoothingEnabled = false;
  pen.drawImage(dots, 0, 0, width, height);
  pen.strokeStyle = HATCH;
  pen.stroke(hatched); // all at once: thousands of strokes take longer than all the rest
  pen.strokeStyle = "#A0005A";
  pen.stroke(crossed);
  for (const draw of over) draw(pen);
}

function cells({ n_rows, n_columns, value, colour, scale, hidden, marked, written, covered }, width, height) {
  const dots = element("canvas", { width: n_columns, height: n_rows }); // one a cell
  const image = new ImageData(n_columns, n_rows);
  const over = []; // what is drawn over the colours
  const [hatched, crossed] = [new Path2D(), new Path2D()];
  const font = scale > 1 ? letters(scale) : 12 * scale;
  const numbered = written && width >= 2.8 * font && height >= font;
  for (let row = 0; row < n_rows; row++) {
    for (let column = 0; column < n_columns; column++) {
      const [x, y] = [column * width, row * height];
      const found = value(row, column);
      let rgb = GREY;
      if (hidden?.(row, column)) line(hatched, x, y + height, x + width, y);
      else if (covered?.[row]) {
        rgb = WHITE;
        if (width >= font && height >= font) over.push((pen) => write(pen, "?", rgb, x, y, width, height, font));
      } else if (Number.isNaN(found)) {
        rgb = PINK;
        line(crossed, x, y, x + width, y + height);
        line(crossed, x + width, y, x, y + height);
      } else {
        rgb = colour(found, row, column);
        if (numbered) over.push((pen) => write(pen, number(found, 2), rgb, x, y, width, height, font));
        if (marked?.(row, column)) over.push((pen) => mark(pen, x, y, width, height));
      }
      image.data.set([...rgb, 255], 4 * (row * n_columns + column));
    }
  }
  dots.getContext("2d").putImageData(image, 0, 0);
  return { dots, hatched, crossed, over };
}

function line(path, x1, y1, x2, y2) {
  path.moveTo(x1, y1);
  path.lineTo(x2, y2);
}

function write(pen, words, [red, green, blue], x, y, width, height, font) {
  pen.fillStyle = 0.3 * red + 0.6 * green + 0.1 * blue > 140 ? INK : "white";
  pen.font = `${font}px sans-serif`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(words, x + width / 2, y + height / 2, width - 2);
}

// A leak: a dot with a rim in the corner, seen on light and dark cells.
function mark(pen, x, y, width, height) {
  const radius = clamp(Math.min(width, height) / 5, 1.2, 5);
  pen.beginPath();
  pen.arc(x + width - radius - 1, y + radius + 1, radius, 0, 7);
  pen.fillStyle = LEAK;
  pen.fill();
  pen.strokeStyle = "white";
  pen.stroke();
}

function frame(pen, [row, column], width, height, n_rows, n_columns, whole) {
  const small = Math.min(width, height) < 8;
  const off = small ? 1.5 : 0; // around small cells, not over them
  pen.lineWidth = small ? 1 : 2;
  pen.strokeStyle = INK;
  if (row !== null) pen.strokeRect(0, row * height - off, n_columns * width, height + 2 * off);
  if (column !== null && !whole) {
    pen.setLineDash([4, 3]);
    pen.strokeRect(column * width - off, 0, width + 2 * off, n_rows * height);
    pen.setLineDash([]);
    if (row !== null) {
      pen.lineWidth = small ? 2 : 3;
      pen.strokeStyle = "#E69F00";
      pen.strokeRect(column * width - off, row * height - off, width + 2 * off, height + 2 * off);
    }
  }
  pen.lineWidth = 1;
}

// A vector as one row of cells, at most so many pixels wide.
function strip(key, name, data, most, scale, width) {
  return matrix({
    key,
    name,
    scale,
    n_rows: 1,
    n_columns: data.length,
    cell: clamp(width / Math.max(data.length, 1), 0.25, 22 * scale),
    cell_height: 18 * scale,
    value: (row, column) => data[column],
    colour: (found) => signedColour(found, most),
  });
}
