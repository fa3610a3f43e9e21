// Alignment: cross-attention as ribbons.

// Ribbons between what is written and what it reads in the memory.
function alignment(state, answer) {
  const { trace, layer, head, scale } = state;
  const { shape: [n_rows, n_keys], data } = answer.arrays.alignment;
  const [font, tall] = [letters(scale), tallest(150, scale)];
  const width = 5 * font * Math.max(n_rows, n_keys);
  const x = (i, n) => ((i + 0.5) * width) / n;
  const picture = shape("svg", { viewBox: `0 0 ${width} ${tall}`, width, height: tall, role: "img", "aria-label": "Ribbons from each token fed to the places of the memory that it reads; wider reads more" });
  picture.append(shape("rect", { width, height: tall, fill: "white" }));
  for (let row = 0; row < n_rows; row++) {
    for (let key = 0; key < n_keys; key++) {
      const weight = data[row * n_keys + key];
      if (!(weight >= 0.05)) continue;
      const [from, to] = [x(row, n_rows), x(key, n_keys)];
      const path = `M${from} ${tall - 1.8 * font} C${from} ${tall / 2} ${to} ${tall / 2} ${to} ${1.8 * font}`;
      const newest = row === n_rows - 1;
      picture.append(shape("path", { d: path, fill: "none", stroke: newest ? "#D55E00" : "#0072B2", "stroke-width": 9 * weight * scale, "stroke-opacity": newest ? 0.9 : 0.45 }));
    }
  }
  const write = (words, at, y) => shape("text", { x: at, y, "text-anchor": "middle", "font-size": font, fill: INK, direction: "ltr" }, label(words));
  memoryLabels(trace).forEach((words, key) => picture.append(write(words, x(key, n_keys), 1.2 * font)));
  trace.strings.slice(0, n_rows).forEach((words, row) => picture.append(write(words, x(row, n_rows), tall - 0.6 * font)));
  return panel(
    "Alignment",
    element("p", {}, `Cross-attention of layer ${layer}, head ${head}: what was read while each token below was fed; the newest in orange. Weights below 0.05 are left out.`),
    element("div", { className: "dx-scroll", tabIndex: 0, role: "group", "aria-label": "Ribbons" }, picture),
  );
}
