// LOCAL: one position through a feed-forward sublayer.

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
      element("div", { className: "dx-strip" }, element("span", {}, words), strip(`strip-${words}`, `${words}: ${data.length} numbers`, data, largest(data), scale, Math.min(640 * scale, 0.7 * state.width))),
    ),
    table(`“${text}” at position ${query}`, ["vector", "length", "mean", "deviation"], rows),
    element("p", {}, `${n_positive} of ${n_hidden} hidden numbers are above 0.`),
    element("p", { className: "dx-note" }, "Blue below 0, orange above, white 0; each strip has a scale of its own. Crossed: not a number."),
  ];
  return { body, description, waiting: false };
}
