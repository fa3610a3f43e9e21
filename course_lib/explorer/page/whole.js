// GLOBAL: the stack as it was run, from the module tree of the trace.

const SUBLAYERS = {
  self: ["self_attention", "self_norm"],
  cross: ["cross_attention", "cross_norm"],
  feed_forward: ["feed_forward", "feed_norm"],
};
const BLOCK = /^(.*\.)?blocks\.(\d+)$/;

// Its own numbers, without those of parts that are listed by themselves.
function own({ shapes }) {
  const sizes = Object.values(shapes).map((shape) => shape.reduce((product, n) => product * n, 1));
  return sizes.reduce((sum, size) => sum + size, 0);
}

function wholeView(state, store, { set, model, memo }) {
  const { header, config, trace, entry, query, start } = state;
  const answer = store.ask({ about: "stream", trace: state.name, step: state.step });
  const byName = Object.fromEntries(header.tree.map((part) => [part.name, part]));
  const blocks = header.tree.filter((part) => BLOCK.test(part.name));
  const first = header.tree.findIndex((part) => BLOCK.test(part.name));
  // outside of the blocks: the parts that own parameters themselves
  const outer = header.tree.map((part, i) => ({ ...part, i })).filter(
    (part) =>
      Object.keys(part.shapes).length && !blocks.some((block) => part.name.startsWith(`${block.name}.`)),
  );
  const flow = `${count(entry.n_positions)} × ${count(config.d_model)}`;
  const arrow = (words) => element("p", { className: "dx-arrow" }, `↓ ${words}`);
  const box = (part) =>
    element(
      "div",
      { className: "dx-box" },
      element("strong", {}, part.name),
      ` ${part.kind} `,
      Object.entries(part.shapes).map(([name, sizes]) => `${name} ${sizes.join(" × ")} `),
      part.name === "head" && config.tie_weights
        ? "the embedding's weights"
        : counted(own(part), "parameter"),
    );
  const ready = answer && !answer.error;
  const added = ready ? answer.arrays.added : null;
  const most = added ? largest(added.data) : 0;
  const names = state.kinds;
  const at = (array, ...place) =>
    array.data[place.reduce((sum, index, i) => sum * array.shape[i] + index, 0)];

  const layers = blocks.map((block, layer) => {
    const sublayers = names.map((kind, i) => {
      const [module, norm] = SUBLAYERS[kind];
      const size = (byName[`${block.name}.${module}`]?.n_parameters ?? 0) +
        (byName[`${block.name}.${norm}`]?.n_parameters ?? 0);
      const length = ready ? at(added, layer, i, query - start) : null;
      const bar = element("span", { className: "dx-bar", "aria-hidden": "true" });
      bar.style.inlineSize = `${ready && most ? (100 * Math.log1p(length)) / Math.log1p(most) : 0}%`;
      const button = element(
        "button",
        {
          type: "button",
          className: `dx-sublayer dx-${kind}`,
          "data-key": `layer-${layer}-${kind}`,
          "aria-pressed": layer === state.layer && kind === state.kind,
          title: "Look at it",
        },
        element("span", {}, `${KIND_NAMES[kind]}, ${count(size)}`),
        element("span", { className: "dx-added" }, `adds ${ready ? number(length, 4) : "…"}`),
        bar,
      );
      button.onclick = () => set({ layer, kind, mode: "local" });
      return button;
    });
    const behind = ready ? number(at(answer.arrays.stream, layer, names.length, query - start), 4) : "…";
    return element(
      "li",
      { className: layer === state.layer ? "dx-layer dx-chosen" : "dx-layer" },
      element("span", { className: "dx-layer-name" }, `layer ${layer}`),
      sublayers,
      element("span", { className: "dx-stream" }, `stream ${behind}`),
    );
  });
  const stack = element(
    "div",
    { className: "dx-stack" },
    arrow(counted(entry.n_positions, "token id")),
    outer.filter((part) => part.i < first).map(box),
    arrow(`residual stream, ${flow}`),
    element("ol", { className: "dx-layers", start: 0 }, layers),
    arrow(flow),
    outer.filter((part) => part.i > first).map(box),
    arrow(`logits, ${count(entry.n_positions)} × ${count(config.vocab_size)}; the last row goes to the sampler`),
    "chosen" in entry && (!model.get("predict") || memo.has(tokenSecret(state, state.step)))
      ? element("p", { className: "dx-box" }, "next token: ", token(trace.strings[start + entry.n_positions]))
      : null,
  );
  const memory = trace.n_memory
    ? element(
        "div",
        { className: "dx-memory" },
        element("strong", {}, "memory"),
        element("p", {}, `${count(trace.n_memory)} × ${count(config.d_model)}, from the encoder; every cross-attention reads it →`),
        element("p", {}, memoryLabels(trace).slice(0, 64).flatMap((text) => [token(text), " "])),
      )
    : null;
  const total = header.tree[0]?.n_parameters;
  const kind = trace.n_memory ? "A decoder that reads a memory" : "A decoder";
  const words = `${kind}: ${counted(config.n_layers, "layer")}, ${counted(config.n_heads, "head")} of width ${config.d_model / config.n_heads}, ` +
    `d_model ${config.d_model}, ${config.pre_norm ? "norm before" : "norm behind"} each sublayer, ${count(total)} parameters.`;
  const text = trace.strings[query] ?? "";
  let description = `${words} Shown is position ${query}, “${label(text)}”.`;
  if (ready) {
    const all = names.map((_, i) => Array.from({ length: config.n_layers }, (_, l) => at(added, l, i, query - start)));
    const flat = all.flatMap((row, i) => row.map((length, l) => ({ length, l, kind: names[i] })));
    const top = flat.reduce((best, one) => (one.length > best.length ? one : best));
    const broken = flat.find((one) => Number.isNaN(one.length));
    if (broken) description += ` The ${KIND_NAMES[broken.kind]} of layer ${broken.l} gives NaN, not a number.`;
    else description += ` Most is added by the ${KIND_NAMES[top.kind]} of layer ${top.l}: ${number(top.length)}.`;
  }
  const body = [
    element("p", {}, "The path of ", token(text), ` at position ${query}: the length of what each sublayer adds to its vector (bars: its logarithm), and of the vector behind each layer. Behind each name: its parameters.`),
    answer?.error || !answer ? store.stead(answer) : null,
    element("div", { className: "dx-map" }, memory, stack),
  ];
  return { body, description, waiting: !answer };
}
