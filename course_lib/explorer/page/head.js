// LOCAL: one head in five matrices, or one position through a feed-forward sublayer.

function headView(state, store, tools) {
  return state.kind === "feed_forward" ? feedView(state, store) : attentionView(state, store, tools);
}

function attentionQuestion({ name, step, layer, head }, kind) {
  return { about: "attention", trace: name, step, layer, head, kind };
}

function attentionView(state, store, { set, model, memo, hovered, hover, redraw }) {
  const { trace, kind, layer, head, start, scale, name, step } = state;
  const answer = store.ask(attentionQuestion(state, kind));
  if (!answer || answer.error) {
    return { body: [store.stead(answer)], description: answer?.error ?? "", waiting: !answer };
  }
  const { arrays } = answer;
  const [n_queries, n_keys] = arrays.weights.shape;
  const d_head = arrays.queries.shape[1];
  const secret = [name, step, layer, head, kind, state.query].join();
  const asks = model.get("predict") && !memo.has(secret);
  const under = asks ? null : hovered; // a question stays about its row
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
  const common = { owner: answer, written: true, n_rows: n_queries, n_columns: n_keys, chosen: [query, key], choose, move, hover, scale };
  const signed = (array, top) => ({
    top,
    value: (row, column) => at(array, row, column),
    colour: (value) => signedColour(value, top),
  });
  const labels = { rows: rowNames.map(label), columns: state.keys.map(label) };
  const stages = [
    ["products", "q · k", { ...signed("products", largest(arrays.products.data)), ...labels }],
    ["scaled", answer.biased ? "÷ √d_head, + bias" : "÷ √d_head", signed("scores", most)],
    ["allowed", "mask", { ...signed("scores", most), hidden, marked: leaks }],
    [
      "weights",
      "softmax: weights",
      asks
        ? { value: () => 0, colour: () => WHITE, written: false, ...labels }
        : {
            value: (row, column) => at("weights", row, column),
            colour: weightColour,
            hidden,
            marked: (row, column) => leaks(row, column) && at("weights", row, column) > 0,
            ...labels,
          },
    ],
  ].map(([array, title, options]) =>
    element(
      "figure",
      { className: "dx-stage" },
      element("figcaption", {}, options.top ? `${title} (±${number(options.top, 2)})` : title),
      matrix({ ...common, key: array, name: `${title}: one row a query, one column a key`, ...options }),
    ),
  );
  const cell = cellSize(n_queries, n_keys, scale);
  const outputs = matrix({
    key: "outputs",
    owner: answer,
    name: "weights times values: one row a query, one column a number of the head",
    n_rows: n_queries,
    n_columns: d_head,
    cell: clamp((190 * scale) / d_head, 1, cell),
    cell_height: cell,
    chosen: [query, null],
    scale,
    written: true,
    ...signed("outputs", largest(arrays.outputs.data)),
  });
  if (!asks) stages.push(element("figure", { className: "dx-stage" }, element("figcaption", {}, "weights · values"), outputs));

  const order = Array.from({ length: n_keys }, (_, column) => column);
  const weight = (column) => at("weights", query, column);
  const best = order.reduce((top, column) => (weight(column) > weight(top) ? column : top), 0);
  const rows = order.map((column) => ({
    className: column === key ? "dx-chosen" : "",
    "data-column": column,
    cells: [
      [token(state.keys[column] ?? ""), ` ${column}`],
      number(at("products", query, column)),
      number(at("scaled", query, column)),
      ...(answer.biased ? [number(at("scores", query, column) - at("scaled", query, column))] : []),
      allowed(query, column) ? (leaks(query, column) ? "✓ leak" : "✓") : "▨ hidden",
      asks ? "?" : number(weight(column)),
    ],
  }));
  const heads = ["key", "q · k", `÷ √${d_head}`, ...(answer.biased ? ["bias"] : []), "mask", "weight"];
  const sum = asks ? "?" : number(arrays.sums.data[query]);
  const grid = table(`What “${label(queryText)}” (position ${start + query}) reads; the weights sum to ${sum}`, heads, rows);
  const widest = Math.max(largest(arrays.queries.data), largest(arrays.keys.data));
  const slice = (array, row) => arrays[array].data.slice(row * d_head, (row + 1) * d_head);
  const dot = at("products", query, key);
  const bias = at("scores", query, key) - at("scaled", query, key);
  const sentence = [
    `q(${label(queryText)}) · k(${label(state.keys[key] ?? "")}) = ${number(dot)}`,
    `÷ √${d_head} = ${number(at("scaled", query, key))}`,
    ...(answer.biased ? [`+ bias ${number(bias)} = ${number(at("scores", query, key))}`] : []),
    allowed(query, key) ? (leaks(query, key) ? "allowed, and it comes after the query: a leak" : "allowed") : `hidden by the ${hides}`,
    asks ? "weight ?" : `weight ${number(weight(key))}`,
  ].join("; ");
  const strips = [
    ["query", slice("queries", query), widest],
    ["key", slice("keys", key), widest],
    ["value", slice("values", key), largest(arrays.values.data)],
    ["output", slice("outputs", query), largest(arrays.outputs.data)],
  ].filter(([which]) => which !== "output" || !asks).map(([which, data, top]) =>
    element(
      "div",
      { className: "dx-strip" },
      element("span", {}, which),
      strip(`strip-${which}`, `${which} vector, ${d_head} numbers`, data, top, scale, 320),
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
  if (n_hidden) description += ` ${n_hidden} of ${n_keys} keys are hidden by the ${hides}.`;
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
  if (kind === "cross" && !asks) body.push(alignment(state, answer));
  const ahead = neighbours(state).map((near) => attentionQuestion(near, kind));
  return { body, description, waiting: false, ahead };
}

function legend(unmasked) {
  const words = "Weights: white 0, dark 1. Other numbers: blue below 0, orange above, white 0. Hatched: hidden by the mask. Crossed: not a number.";
  return element("p", { className: "dx-note" }, unmasked ? `${words} Dot: a key that comes after the query, which the mask would hide.` : words);
}

// Predict, then look: which key does this row read most?
function askKey(state, queryText, best, memo, secret, reveal) {
  const names = state.keys.map((text, i) => `${label(text)} (${i})`);
  const select = element(
    "select",
    { "aria-label": "Your prediction", "data-key": "prediction" },
    names.map((name, value) => element("option", { value }, name)),
  );
  select.value = memo.get(`${secret}?`) ?? 0;
  select.onchange = () => memo.set(`${secret}?`, select.value);
  const look = element("button", { type: "button", "data-key": "look" }, "Look");
  look.onclick = () => {
    const said = Number(select.value);
    if (best === null) reveal("Its weights are NaN, not a number.");
    else reveal(said === best ? `As you predicted: ${names[best]}.` : `You said ${names[said]}; it reads ${names[best]} most.`);
  };
  const question = `Predict: which key does “${label(queryText)}” read most? `;
  return element("p", { className: "dx-predict" }, question, select, " ", look);
}

function feedView(state, store) {
  const { name, step, layer, query, start, config, trace, scale } = state;
  const answer = store.ask({ about: "position", trace: name, step, layer, query: query - start });
  if (!answer || answer.error) {
    return { body: [store.stead(answer)], description: answer?.error ?? "", waiting: !answer };
  }
  const { arrays, measures, n_positive } = answer;
  const last = state.kinds.length - 1;
  const row = (array, i) => {
    const width = arrays[array].shape.at(-1);
    return arrays[array].data.slice(i * width, (i + 1) * width);
  };
  const of = (strip, i) => (i === null ? measures[strip] : Object.fromEntries(Object.entries(measures[strip]).map(([k, v]) => [k, v[i]])));
  const behind = ["behind the norm", row("behind_norm", last), of("behind_norm", last)];
  const before = ["before the norm", row("before_norm", last), of("before_norm", last)];
  const hidden = [`hidden, ${count(arrays.hidden.data.length)} wide`, arrays.hidden.data, of("hidden", null)];
  const parts = [
    ["stream before", row("stream", last), of("stream", last)],
    ...(config.pre_norm ? [behind, hidden] : [hidden, before]),
    ["stream behind", row("stream", last + 1), of("stream", last + 1)],
  ];
  const text = label(trace.strings[query] ?? "");
  const rows = parts.map(([words, , found]) => ({
    cells: [words, number(found.length), number(found.mean), number(found.deviation)],
  }));
  const n_hidden = count(arrays.hidden.data.length);
  const description =
    `Layer ${layer}, feed-forward, position ${query}, “${text}”. The vector has length ${number(of("stream", last).length)} before and ` +
    `${number(of("stream", last + 1).length)} behind; ${n_positive} of ${n_hidden} hidden numbers are above 0.`;
  const body = [
    element("p", {}, "Each position alone: no other position's numbers enter here."),
    parts.map(([words, data]) =>
      element("div", { className: "dx-strip" }, element("span", {}, words), strip(`strip-${words}`, `${words}: ${data.length} numbers`, data, largest(data), scale)),
    ),
    table(`“${text}” at position ${query}`, ["vector", "length", "mean", "deviation"], rows),
    element("p", {}, `${n_positive} of ${n_hidden} hidden numbers are above 0.`),
    legend(false),
  ];
  return { body, description, waiting: false };
}
