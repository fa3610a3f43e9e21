// DYNAMIC: one step of writing after another, or a training pass with all rows at once.

function stepsView(state, store, tools) {
  return state.name === "training" ? trainingView(state) : writingView(state, store, tools);
}

function writingView(state, store, { set, model, memo, redraw, offline }) {
  const { trace, entry, step, start, n_positions, name } = state;
  const end = start + n_positions;
  const secret = `${name}:${step}`;
  const chose = "chosen" in entry;
  const asks = model.get("predict") && chose && !memo.has(secret);
  const chips = trace.strings.slice(0, end + (chose && !asks ? 1 : 0)).map((text, position) => {
    const when = position < start ? "kept" : position < end ? "fed" : "new";
    return element(
      "li",
      { className: `dx-chip dx-${when}` },
      token(text),
      element("small", {}, ` ${{ kept: "in the cache", fed: "fed now", new: "chosen" }[when]}`),
    );
  });
  const questions = (at) => [
    attentionQuestion(at, "self"),
    ...(trace.n_memory ? [attentionQuestion(at, "cross")] : []),
    ...("chosen" in trace.steps[at.step] ? [samplerQuestion(at, model)] : []),
  ];
  const answer = store.ask(attentionQuestion(state, "self"));
  const crossed = trace.n_memory ? store.ask(attentionQuestion(state, "cross")) : null;
  const samples = chose && !asks;
  const sampled = samples ? store.ask(samplerQuestion(state, model)) : null;
  const ready = (one) => one && !one.error;

  const cachedRun = "cached" in entry.multiply_adds;
  const panels = [];
  if (asks) panels.push(askToken(trace, entry, end, memo, secret, (verdict) => (memo.set(secret, verdict), redraw())));
  if (memo.has(secret)) panels.push(element("p", { className: "dx-predict" }, memo.get(secret)));
  if (!ready(answer)) panels.push(store.stead(answer));
  else if (cachedRun) panels.push(cachePanel(state, answer));
  panels.push(workPanel(trace, step));
  if (samples) panels.push(samplerPanel(state, sampled, store, set, model, offline));
  if (crossed) panels.push(ready(crossed) ? alignment(state, crossed) : store.stead(crossed));
  if (trace.beams.length && !asks) panels.push(beamPanel(trace, state.scale));

  const phase = cachedRun
    ? { prefill: "prefill: the whole prompt in one pass", decode: "decode: one row" }[entry.phase]
    : "a pass over the whole sequence, without a cache";
  let description = `Step ${step}, ${phase}. ${n_positions} of ${end} positions ${n_positions === 1 ? "is" : "are"} fed`;
  description += start ? `; keys and values of ${start} come from the cache.` : ".";
  if (samples) description += ` Chosen: “${label(trace.strings[end] ?? "")}”.`;
  if (asks) description += " Predict the next token.";
  const { cached, uncached } = entry.multiply_adds;
  if (cached && uncached) {
    description += ` ${count(cached)} multiply-adds with the cache, ${count(uncached)} without; the logits differ by at most ${number(entry.difference, 7)}.`;
  }
  const body = [element("ol", { className: "dx-chips", "aria-label": "The sequence" }, chips), element("div", { className: "dx-panels" }, panels)];
  return { body, description, waiting: [answer, crossed, sampled].includes(undefined), ahead: neighbours(state).flatMap(questions) };
}

// Keys and values as columns: what the cache holds, and what this step adds.
function cachePanel(state, answer) {
  const { config, trace, start, n_positions, layer, scale } = state;
  const n_keys = start + n_positions;
  const d_head = answer.arrays.keys.shape[1];
  const names = trace.strings.slice(0, n_keys).map(label);
  const picture = (array) => {
    const most = largest(answer.arrays[array].data);
    return element(
      "figure",
      { className: "dx-stage" },
      element("figcaption", {}, `${array}, layer ${layer}, kv head ${answer.kv_head}`),
      matrix({
        key: `cache-${array}`,
        owner: answer,
        name: `${array}: one column a position, one row a number`,
        n_rows: d_head,
        n_columns: n_keys,
        cell: clamp(Math.floor((300 * scale) / n_keys), 3, 26 * scale),
        cell_height: clamp((160 * scale) / d_head, 2, 18 * scale),
        columns: names,
        value: (row, column) => answer.arrays[array].data[column * d_head + row],
        colour: (value) => signedColour(value, most),
        chosen: [null, n_keys - 1],
        scale,
      }),
    );
  };
  const numbers = 2 * config.n_layers * config.n_kv_heads * d_head;
  const words =
    `New in this step: ${count(n_positions)} ${n_positions === 1 ? "column" : "columns"}, the last is framed. ` +
    `The whole cache holds ${count(n_keys)} positions × ${count(numbers)} numbers ` +
    `(2 · ${config.n_layers} layers · ${config.n_kv_heads} kv ${config.n_kv_heads === 1 ? "head" : "heads"} · ${d_head}) = ${count(n_keys * numbers)}.`;
  return panel("The cache fills", element("p", {}, words), element("div", { className: "dx-stages" }, picture("keys"), picture("values")));
}

// What the run itself counted, with a cache and without.
function workPanel(trace, step) {
  const entries = trace.steps.slice(0, step + 1);
  const sum = (what, how) => {
    const found = entries.map((one) => one[what][how]);
    return found.every((one) => typeof one === "number") ? found.reduce((total, one) => total + one, 0) : null;
  };
  const entry = trace.steps[step];
  const rows = [
    ["positions fed", "cached" in entry.multiply_adds ? count(entry.n_positions) : "–", count(entry.start + entry.n_positions)],
    ["multiply-adds", ...["cached", "uncached"].map((how) => count(entry.multiply_adds[how] ?? "–"))],
    ["milliseconds", ...["cached", "uncached"].map((how) => number(entry.milliseconds[how], 2))],
    ["multiply-adds, all steps so far", ...["cached", "uncached"].map((how) => count(sum("multiply_adds", how) ?? "–"))],
    ["milliseconds, all steps so far", ...["cached", "uncached"].map((how) => number(sum("milliseconds", how), 2))],
  ].map((cells) => ({ cells }));
  const same =
    "difference" in entry
      ? `The logits of both differ by at most ${number(entry.difference, 7)}.`
      : "This run kept no cache, so there is nothing to compare.";
  return panel("Same numbers, less work", table("Counted and timed in this run", ["this step", "with a cache", "without"], rows), element("p", { "data-part": "difference" }, same));
}

function samplerQuestion({ name, step }, model) {
  const settings = ["temperature", "top_k", "top_p", "min_p"].map((trait) => [trait, model.get(trait)]);
  return { about: "sampler", trace: name, step, ...Object.fromEntries(settings) };
}

// The last row's logits through the course's sampler, filter by filter.
function samplerPanel({ entry }, answer, store, set, model, offline) {
  const setting = (words, trait, bounds) => {
    const input = element("input", { type: "number", value: model.get(trait), "data-key": trait, disabled: offline, ...bounds });
    input.onchange = () => {
      if (input.value !== "" && input.reportValidity()) set({ [trait]: Number(input.value) });
      else input.value = model.get(trait); // the browser says what it refused
    };
    return element("label", { className: "dx-control" }, element("span", {}, words), input);
  };
  const fields = element(
    "div",
    { className: "dx-row" },
    setting("Temperature", "temperature", { min: 0, max: 10, step: "any" }),
    setting("Top-k (0: off)", "top_k", { min: 0, step: 1 }),
    setting("Top-p (1: off)", "top_p", { min: 0.0001, max: 1, step: "any" }),
    setting("Min-p (0: off)", "min_p", { min: 0, max: 1, step: "any" }),
  );
  if (!answer || answer.error) return panel("The sampler", fields, store.stead(answer));
  const { logits, shares } = answer.arrays;
  const width = shares.shape[1];
  const last = answer.stages.length - 1;
  const rows = entry.candidates.map((candidate, i) => {
    const bar = element("span", { className: "dx-bar", "aria-hidden": "true" });
    bar.style.inlineSize = `${100 * shares.data[last * width + i]}%`;
    return {
      className: candidate.id === entry.chosen ? "dx-chosen" : "",
      cells: [
        [token(candidate.string), candidate.id === entry.chosen ? " ← chosen in the run" : ""],
        number(logits.data[i]),
        ...answer.stages.map((_, stage) => number(shares.data[stage * width + i])),
        [bar],
      ],
    };
  });
  rows.push({ cells: ["tokens that are left", "", ...answer.n_kept.map(count), ""] });
  rows.push({ cells: ["of the probability, left", "", ...answer.left.map((share) => number(share)), ""] });
  const heads = ["token", "logit", "temperature", "top-k", "top-p", "min-p", "drawn with"];
  return panel(
    "The sampler",
    fields,
    offline ? element("p", { className: "dx-note" }, "This page has no kernel: the settings stand still.") : null,
    element("p", {}, `In the run ${count(entry.n_kept)} ${entry.n_kept === 1 ? "token" : "tokens"} could be drawn; its filters dropped ${number(entry.dropped_mass)}. Below, the same logits with the settings above.`),
    table("Probability behind each filter; the likeliest tokens", heads, rows),
    element("p", { "data-part": "dropped" }, `The filters drop ${number(answer.dropped[last])} of the probability; the rest is scaled up to 1.`),
  );
}

// Ribbons between what is written and what it reads in the memory.
function alignment(state, answer) {
  const { trace, layer, head, scale } = state;
  const { shape: [n_rows, n_keys], data } = answer.arrays.alignment;
  const [wide, tall] = [64 * scale, 150 * scale];
  const width = wide * Math.max(n_rows, n_keys);
  const x = (i, n) => ((i + 0.5) * width) / n;
  const picture = shape("svg", { viewBox: `0 0 ${width} ${tall}`, width, height: tall, role: "img", "aria-label": "Ribbons from each token fed to the places of the memory that it reads; wider reads more" });
  picture.append(shape("rect", { width, height: tall, fill: "white" }));
  for (let row = 0; row < n_rows; row++) {
    for (let key = 0; key < n_keys; key++) {
      const weight = data[row * n_keys + key];
      if (!(weight >= 0.05)) continue;
      const [from, to] = [x(row, n_rows), x(key, n_keys)];
      const path = `M${from} ${tall - 24 * scale} C${from} ${tall / 2} ${to} ${tall / 2} ${to} ${24 * scale}`;
      const newest = row === n_rows - 1;
      picture.append(shape("path", { d: path, fill: "none", stroke: newest ? "#D55E00" : "#0072B2", "stroke-width": 9 * weight * scale, "stroke-opacity": newest ? 0.9 : 0.45 }));
    }
  }
  const write = (words, at, y) => shape("text", { x: at, y, "text-anchor": "middle", "font-size": 13 * scale, fill: INK, direction: "ltr" }, label(words));
  memoryLabels(trace).forEach((words, key) => picture.append(write(words, x(key, n_keys), 16 * scale)));
  trace.strings.slice(0, n_rows).forEach((words, row) => picture.append(write(words, x(row, n_rows), tall - 8 * scale)));
  return panel(
    "Alignment",
    element("p", {}, `Cross-attention of layer ${layer}, head ${head}: what was read while each token below was fed; the newest in orange. Weights below 0.05 are left out.`),
    element("div", { className: "dx-scroll", tabIndex: 0, role: "group", "aria-label": "Ribbons" }, picture),
  );
}

// Each step's best beams, and from which beam each came.
function beamPanel(trace, scale) {
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
    beamTree(beams, scale),
    table("What the search kept, best first", ["beam", "grown from", "tokens", "log-probability", "score", "finished"], rows),
  );
}

function beamTree(beams, scale) {
  const [wide, tall, left, top] = [120, 40, 70, 30].map((size) => size * scale);
  const width = left + wide * (beams.length + 1);
  const height = top + tall * Math.max(...beams.map((kept) => kept.length), 1);
  const picture = shape("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "The beams as a tree, a column a step; the table below holds the same" });
  picture.append(shape("rect", { width, height, fill: "white" }));
  const place = (step, rank) => [left + wide * (step + 1), top + tall * rank];
  const root = [left, top];
  const node = (words, [cx, cy], bold) => [
    shape("circle", { cx, cy, r: 4 * scale, fill: INK }),
    shape("text", { x: cx + 3 * scale, y: cy - 8 * scale, "text-anchor": "middle", "font-size": 13 * scale, "font-weight": bold ? "bold" : "normal", fill: INK }, words),
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

// Teacher forcing: every row at once, each with its own loss.
function trainingView(state) {
  const { trace, entry } = state;
  const most = largest(trace.losses);
  const rows = trace.targets.map((target, i) => {
    const bar = element("span", { className: "dx-bar", "aria-hidden": "true" });
    bar.style.inlineSize = `${(100 * trace.losses[i]) / most || 0}%`;
    const counts = target >= 0;
    return {
      cells: [
        [token(trace.strings[i] ?? ""), ` ${i}`],
        counts ? token(trace.target_strings[i] ?? "") : "not counted",
        token(entry.predicted[i]?.string ?? ""),
        counts ? [number(trace.losses[i]), bar] : "–",
        counts ? number(trace.shares[i]) : "–",
      ],
    };
  });
  const words = `All ${trace.targets.length} rows in one pass: each row gets the true tokens before it and is asked for the next one. Mean loss ${number(trace.mean_loss)}.`;
  const body = [
    element("p", { "data-part": "training" }, words),
    table("Loss per position", ["input", "target", "likeliest", "loss", "probability of the target"], rows),
    element("p", { className: "dx-note" }, "Switch the training pass off to see the same model write: one row at a time, each from what it wrote itself."),
  ];
  return { body, description: `Training pass: ${trace.targets.length} rows at once, mean loss ${number(trace.mean_loss)}.`, waiting: false };
}

// Predict, then look: which token does the model choose?
function askToken(trace, entry, end, memo, secret, reveal) {
  const options = entry.candidates.slice(0, 4);
  if (!options.some(({ id }) => id === entry.chosen)) options[3] = { id: entry.chosen, string: trace.strings[end] };
  options.sort((one, other) => one.id - other.id); // the order gives nothing away
  const group = `dx-predict-${Math.random().toString(36).slice(2)}`;
  const inputs = options.map(({ id }) => element("input", { type: "radio", name: group, value: id, "data-key": `guess-${id}` }));
  for (const input of inputs) {
    input.checked = memo.get(`${secret}?`) === input.value;
    input.onchange = () => memo.set(`${secret}?`, input.value);
  }
  const look = element("button", { type: "button", "data-key": "look" }, "Look");
  const right = label(trace.strings[end] ?? "");
  look.onclick = () => {
    const said = inputs.findIndex((input) => input.checked);
    if (said < 0) return;
    reveal(options[said].id === entry.chosen ? `As you predicted: “${right}”.` : `You said “${label(options[said].string)}”; the model chose “${right}”.`);
  };
  return element(
    "fieldset",
    { className: "dx-predict" },
    element("legend", {}, "Predict: which token comes next?"),
    inputs.map((input, i) => element("label", { className: "dx-control" }, input, token(options[i].string))),
    look,
  );
}
