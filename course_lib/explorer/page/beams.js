// What a beam search kept, as a tree and as a table.

// Each step's best beams, and from which beam each came.
function beamPanel(trace, state) {
  const { beams } = trace;
  const rows = beams.flatMap((kept, step) =>
    kept.map((beam, rank) => {
      const before = grownFrom(beams, step, beam);
      return {
        "data-beam": `${step}-${rank}`,
        cells: [
          `step ${step}, place ${rank + 1}`,
          before < 0 ? "the prompt" : `place ${before + 1}`,
          beam.strings.flatMap((text) => [token(text), " "]),
          number(beam.total),
          number(beam.score),
          beam.finished ? "yes" : "no",
        ],
      };
    }),
  );
  return panel(
    "Beams",
    beamTree(beams, state),
    table("What the search kept, best first", ["beam", "grown from", "tokens", "log-probability", "score", "finished"], rows),
  );
}

function beamTree(beams, { scale }) {
  const font = letters(scale);
  const [wide, tall, left, top] = [9, 3, 5.4, 2.4].map((size) => size * font);
  const width = left + wide * (beams.length + 1);
  const height = top + tall * Math.max(...beams.map((kept) => kept.length), 1);
  const picture = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "The beams as a tree, a column a step; the table below holds the same" });
  picture.append(shape("rect", { width, height, fill: "white" }));
  const place = (step, rank) => [left + wide * (step + 1), top + tall * rank];
  const root = [left, top];
  const node = (words, [cx, cy], bold) => [
    shape("circle", { cx, cy, r: 0.3 * font, fill: INK }),
    shape("text", { x: cx, y: cy - 0.7 * font, "text-anchor": "middle", "font-size": font, "font-weight": bold ? "bold" : "normal", fill: INK }, words),
  ];
  picture.append(...node("prompt", root, false));
  beams.forEach((kept, step) =>
    kept.forEach((beam, rank) => {
      const before = grownFrom(beams, step, beam);
      const [x1, y1] = before < 0 ? root : place(step - 1, before);
      const [x2, y2] = place(step, rank);
      picture.append(shape("line", { x1, y1, x2, y2, stroke: rank ? "#999999" : "#0072B2", "stroke-width": rank ? 1 : 3 }));
    }),
  );
  beams.forEach((kept, step) =>
    kept.forEach((beam, rank) =>
      picture.append(...node(`${label(beam.strings.at(-1) ?? "")}${beam.finished ? " ■" : ""}`, place(step, rank), rank === 0)),
    ),
  );
  return element("div", { className: "dx-scroll", tabIndex: 0, role: "group", "aria-label": "Tree of beams" }, picture);
}

// Which beam of the step before it continues, or is; -1: the prompt.
function grownFrom(beams, step, beam) {
  const ids = [String(beam.ids), String(beam.ids.slice(0, -1))];
  return step ? beams[step - 1].findIndex((one) => ids.includes(String(one.ids))) : -1;
}
