// DYNAMIC: one step of writing after another.

function stepsView(state, store, tools) {
  return state.name === "training" ? trainingView(state) : writingView(state, store, tools);
}

function writingView(state, store, { set, model, memo, redraw, offline }) {
  const { trace, entry, step, start, n_positions } = state;
  const end = start + n_positions;
  const secret = tokenSecret(state, step);
  const chose = "chosen" in entry;
  const unsaid = trace.steps.filter((one, i) => model.get("predict") && "chosen" in one && !memo.has(tokenSecret(state, i)));
  const asks = unsaid.includes(entry);
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
  if (trace.beams.length && !unsaid.length) panels.push(beamPanel(trace, state));

  const phase = cachedRun
    ? { prefill: "prefill: the whole prompt in one pass", decode: "decode: one row" }[entry.phase]
    : "a pass over the whole sequence, without a cache";
  let description = `Step ${step}, ${phase}. ${end === 1 ? "Its one position is" : `${n_positions} of ${end} positions ${n_positions === 1 ? "is" : "are"}`} fed`;
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
        cell: clamp(Math.floor(Math.min(300 * scale, (scale > 1 ? 0.19 : 0.4) * state.width) / n_keys), 3, 26 * scale),
        cell_height: clamp(tallest(160, scale) / d_head, 2, 18 * scale),
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
    `New in this step: ${counted(n_positions, "column")}${n_positions === 1 ? ", framed" : "; the last is framed"}. ` +
    `The whole cache holds ${counted(n_keys, "position")} × ${count(numbers)} numbers ` +
    `(2 · ${counted(config.n_layers, "layer")} · ${counted(config.n_kv_heads, "kv head")} · ${d_head}) = ${count(n_keys * numbers)}.`;
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
