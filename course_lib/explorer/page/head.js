// LOCAL: one head in five matrices.

function headView(state, store, tools) {
  return state.kind === "feed_forward" ? feedView(state, store) : attentionView(state, store, tools);
}

function attentionQuestion({ name, step, layer, head }, kind) {
  return { about: "attention", trace: name, step, layer, head, kind };
}

function attentionView(state, store, { set, model, memo, hovered, hover, redraw }) {
  const { trace, kind, layer, head, start, scale, name } = state;
  const answer = store.ask(attentionQuestion(state, kind));
  if (!answer || answer.error) {
    return { body: [store.stead(answer)], description: answer?.error ?? "", waiting: !answer };
  }
  const { arrays } = answer;
  const [n_queries, n_keys] = arrays.weights.shape;
  const d_head = arrays.queries.shape[1];
  const secret = rowSecret(state, state.query);
  const covered = Array.from({ length: n_queries }, (_, row) => model.get("predict") && !memo.has(rowSecret(state, start + row)));
  const asks = covered[state.query - start];
  const under = asks || covered[hovered?.[0]] ? null : hovered; // a question stays about its row
  const query = clamp(under?.[0] ?? state.query - start, 0, n_queries - 1);
  const key = clamp(under?.[1] ?? state.key, 0, n_keys - 1);
  const at = (array, row, column) => arrays[array].data[row * arrays[array].shape[1] + column];
  const rowNames = trace.strings.slice(start, start + n_queries);
  const queryText = rowNames[query] ?? "";
  const hides = name === "unmasked" ? "window" : "mask";
  const allowed = (row, column) => at("allowed", row, column) > 0;
  const hidden = (row, column) => !allowed(row, column);
  const leaks = (row, column) => at("leaks", row, column) > 0;
  const choose = (row, column) => set({ cell: [start + row, column] });
  const move = (event) => {
    const by = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const end = { Home: 0, End: n_keys - 1 }[event.key];
    if (!by && end === undefined) return;
    event.preventDefault();
    const row = clamp(query + (by?.[0] ?? 0), 0, n_queries - 1);
    choose(row, end ?? clamp(key + by[1], 0, n_keys - 1));
  };
  const most = Math.max(largest(arrays.scaled.data), largest(arrays.scores.data.filter(Number.isFinite)));
  // what is covered is not told by its scale either
  const end = (value) => (covered.includes(true) ? (value < 0 ? "−" : "+") : number(value, 2));
  const signed = (array, top) => ({
    value: (row, column) => at(array, row, column),
    colour: (value) => signedColour(value, top),
    shades: ramp((value) => signedColour(value, top), -top, top, [-top, top].map(end)),
  });
  const rows = rowNames.map(label);
  const columns = state.keys.map(label);
  const taken = widest(rows, letters(scale)) + 2 * widest(columns, letters(scale)) * Math.cos(SLANT);
  const fits = sideBySide(n_queries, n_keys, d_head, taken, state);
  const cell = fits ?? cellSize(n_queries, n_keys, scale);
  // a matrix that begins a line has names for its rows, too
  const common = { owner: answer, written: true, covered, cell, scale, n_rows: n_queries };
  const pairs = { ...common, n_columns: n_keys, chosen: [query, key], choose, move, hover };
  const stages = [
    ["products", "q · k", { ...pairs, ...signed("products", largest(arrays.products.data)), rows, columns }],
    ["scaled", answer.biased ? "÷ √d_head, + bias" : "÷ √d_head", { ...pairs, ...signed("scores", most) }],
    ["allowed", "mask", { ...pairs, ...signed("scores", most), hidden, marked: leaks }],
    [
      "weights",
      "softmax: weights",
      {
        ...pairs,
        value: (row, column) => at("weights", row, column),
        colour: weightColour,
        shades: ramp(weightColour, 0, 1, ["0", "1"]),
        hidden,
        marked: (row, column) => leaks(row, column) && at("weights", row, column) > 0,
        columns,
        rows: fits ? null : rows,
      },
    ],
    [
      "outputs",
      "weights · values",
      {
        ...common,
        ...signed("outputs", largest(arrays.outputs.data)),
        n_columns: d_head, // a wide head is drawn narrower
        cell: clamp((cell * n_keys) / d_head, 1, cell),
        cell_height: cell,
        chosen: [query, null],
      },
    ],
  ].map(([array, title, options]) => {
    const of = array === "outputs" ? "a number of the head" : "a key";
    const picture = matrix({ key: array, name: `${title}: one row a query, one column ${of}`, ...options });
    options.shades.style.marginLeft = `${picture.dataset.left}px`;
    options.shades.style.minWidth = `${options.n_columns * options.cell + 2}px`;
    return element("figure", { className: "dx-stage" }, element("figcaption", {}, title), picture, options.shades);
  });

  const order = Array.from({ length: n_keys }, (_, column) => column);
  const weight = (column) => at("weights", query, column);
  const best = order.reduce((top, column) => (weight(column) > weight(top) ? column : top), 0);
  const secretly = (value) => (asks ? "?" : number(value));
  const cells = order.map((column) => ({
    className: column === key ? "dx-chosen" : "",
    "data-column": column,
    cells: [
      [token(state.keys[column] ?? ""), ` ${column}`],
      secretly(at("products", query, column)),
      secretly(at("scaled", query, column)),
      ...(answer.biased ? [secretly(at("scores", query, column) - at("scaled", query, column))] : []),
      allowed(query, column) ? (leaks(query, column) ? "✓ leak" : "✓") : "▨ hidden",
      secretly(weight(column)),
    ],
  }));
  const heads = ["key", "q · k", `÷ √${d_head}`, ...(answer.biased ? ["bias"] : []), "mask", "weight"];
  const sum = secretly(arrays.sums.data[query]);
  const grid = table(`What “${label(queryText)}” (position ${start + query}) reads; the weights sum to ${sum}`, heads, cells);
  const longest = Math.max(largest(arrays.queries.data), largest(arrays.keys.data));
  const slice = (array, row) => arrays[array].data.slice(row * d_head, (row + 1) * d_head);
  const dot = at("products", query, key);
  const bias = at("scores", query, key) - at("scaled", query, key);
  const sentence = [
    `q(${label(queryText)}) · k(${label(state.keys[key] ?? "")}) = ${secretly(dot)}`,
    `÷ √${d_head} = ${secretly(at("scaled", query, key))}`,
    ...(answer.biased ? [`+ bias ${secretly(bias)} = ${secretly(at("scores", query, key))}`] : []),
    allowed(query, key) ? (leaks(query, key) ? "allowed, and it comes after the query: a leak" : "allowed") : `hidden by the ${hides}`,
    `weight ${secretly(weight(key))}`,
  ].join("; ");
  const strips = [
    ["query", slice("queries", query), longest],
    ["key", slice("keys", key), longest],
    ["value", slice("values", key), largest(arrays.values.data)],
    ["output", slice("outputs", query), largest(arrays.outputs.data)],
  ].filter(([which]) => which !== "output" || !asks).map(([which, data, top]) =>
    element(
      "div",
      { className: "dx-strip" },
      element("span", {}, which),
      strip(`strip-${which}`, `${which} vector, ${d_head} numbers`, data, top, scale, Math.min(320 * scale, state.width / 3)),
    ),
  );
  const n_hidden = order.filter((column) => hidden(query, column)).length;
  const broken = order.some((column) => Number.isNaN(weight(column)));
  let description = `Layer ${layer}, head ${head}, ${KIND_NAMES[kind]}. “${label(queryText)}” at position ${start + query} `;
  description += asks
    ? "reads: predict which key most."
    : n_hidden === n_keys
      ? "may read no key, so all its weights are 0."
      : broken
        ? "has weights that are NaN, not a number."
        : `reads most from “${label(state.keys[best] ?? "")}”, key ${best}: ${number(weight(best))}.`;
  if (n_hidden) description += ` ${n_hidden} of ${counted(n_keys, "key")} ${n_hidden === 1 ? "is" : "are"} hidden by the ${hides}.`;
  const leaked = answer.leaked[query];
  if (name === "unmasked" && kind === "self" && !asks) {
    description += order.some((column) => leaks(query, column))
      ? ` Without the mask ${number(leaked)} of its weight goes to keys that come after it: that leaks.`
      : " No key comes after it, so here nothing can leak.";
  }
  const body = [
    element("div", { className: "dx-stages" }, stages),
    element("p", { className: "dx-sum", "data-part": "cell" }, sentence),
    asks ? askKey(state, queryText, broken ? null : best, memo, secret, (verdict) => (memo.set(secret, verdict), redraw())) : null,
    memo.has(secret) ? element("p", { className: "dx-predict" }, memo.get(secret)) : null,
    element("div", { className: "dx-side" }, grid, element("div", {}, strips)),
    legend(name === "unmasked"),
  ];
  if (kind === "cross" && !covered.includes(true)) body.push(alignment(state, answer));
  const ahead = neighbours(state).map((near) => attentionQuestion(near, kind));
  return { body, description, waiting: false, ahead };
}

function legend(unmasked) {
  const words = "Weights: white 0, dark 1. Other numbers: blue below 0, orange above, white 0; q · k and what it becomes ÷ √d_head have a scale each, which stands below them. Hatched: hidden by the mask. Crossed: not a number.";
  return element("p", { className: "dx-note" }, unmasked ? `${words} Dot: a key that comes after the query, which the mask would hide.` : words);
}
