// The controls: native, so that keyboard and screen readers know them. Made once; each
// look at the state only sets their values and bounds.

const MODES = { global: "Whole", local: "One head", dynamic: "Step by step", static: "Still" };
const KIND_NAMES = {
  self: "self-attention",
  cross: "cross-attention",
  feed_forward: "feed-forward",
};
const PLAY_MS = 700;

function controls(model, set) {
  const named = (words, input) => element("label", { className: "dx-control" }, element("span", {}, words), input);
  const slider = (words, name, put) => {
    const output = element("output", {});
    const input = element("input", { type: "range", min: 0, step: 1, "data-key": name });
    input.oninput = () => put(Number(input.value));
    const whole = named(words, input);
    whole.append(output);
    return { whole, input, output, name };
  };
  const tick = (words, name) => {
    const input = element("input", { type: "checkbox", "data-key": name });
    input.onchange = () => set({ [name]: input.checked });
    return { whole: named(words, input), input };
  };
  const choice = (words, name, options, put) => {
    const input = element("select", { "data-key": name });
    const fill = (values) =>
      input.replaceChildren(...values.map(([value, text]) => element("option", { value }, text)));
    fill(options);
    input.onchange = () => put(input.value);
    return { whole: named(words, input), input, fill };
  };

  const tabs = Object.entries(MODES).map(([mode, words]) => {
    const tab = element("button", { type: "button", className: "dx-tab", "data-key": `mode-${mode}` }, words);
    tab.onclick = () => set({ mode });
    return [mode, tab];
  });
  const parts = {
    step: slider("Step", "step", (step) => set({ step })),
    layer: slider("Layer", "layer", (layer) => set({ layer })),
    head: slider("Head", "head", (head) => set({ head })),
    query: slider("Reads", "query", (query) => set({ cell: [query, model.get("cell")[1]] })),
    key: slider("Is read", "key", (key) => set({ cell: [model.get("cell")[0], key] })),
  };
  const kind = choice("Sublayer", "kind", [], (value) => set({ kind: value }));
  const masked = tick("Mask", "masked");
  const training = tick("Training pass", "training_shown");
  const predict = tick("Predict first", "predict");
  const scales = [1, 1.5, 2].map((scale) => [scale, `${scale} ×`]);
  const scale = choice("Size", "font_scale", scales, (value) => set({ font_scale: Number(value) }));

  const press = (words, key, act) => {
    const button = element("button", { type: "button", "data-key": key }, words);
    button.onclick = act;
    return button;
  };
  let playing = null;
  const stop = () => {
    clearInterval(playing);
    playing = null;
    play.textContent = "Play";
  };
  const go = (by) => {
    const { step, trace } = shown(model);
    const next = clamp(step + by, 0, trace.steps.length - 1);
    if (next === step) stop();
    else set({ step: next });
  };
  const back = press("◂ Prev", "prev", () => (stop(), go(-1)));
  const forth = press("Next ▸", "next", () => (stop(), go(1)));
  const play = press("Play", "play", () => {
    if (playing) return stop();
    playing = setInterval(() => go(1), PLAY_MS);
    play.textContent = "Stop";
  });
  // somebody who asked for no motion steps by hand
  play.hidden = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;
  // of a large font only the first row stands there until somebody asks for more
  const more = press("More controls", "more", () => more.setAttribute("aria-expanded", !isOpen()));
  const isOpen = () => more.getAttribute("aria-expanded") === "true";
  more.setAttribute("aria-expanded", false);
  const present = press("Present", "present", (event) => event.target.closest(".dx").requestFullscreen?.());
  for (const part of [parts.step, kind, parts.query, parts.key]) part.whole.classList.add("dx-more");
  const bar = element(
    "div",
    { className: "dx-controls" },
    element("div", { role: "group", "aria-label": "View", className: "dx-tabs" }, tabs.map(([, tab]) => tab)),
    element("div", { className: "dx-row dx-more" }, scale.whole, predict.whole, masked.whole, training.whole, present),
    element(
      "div",
      { className: "dx-row" },
      element("div", { role: "group", "aria-label": "Steps", className: "dx-steps" }, back, play, forth),
      parts.step.whole,
      parts.layer.whole,
      parts.head.whole,
      kind.whole,
      parts.query.whole,
      parts.key.whole,
    ),
    more,
  );

  const update = (state) => {
    // what has the focus stays there: keys must not fall through to the notebook
    if (bar.querySelector(".dx-more:focus-within")) more.setAttribute("aria-expanded", true);
    const { mode, trace, config } = state;
    const { traces } = state.header;
    for (const [name, tab] of tabs) tab.setAttribute("aria-pressed", name === mode);
    const last = trace.steps.length - 1;
    const bounds = {
      step: [0, last, state.step, `${state.step} of ${last}`],
      layer: [0, config.n_layers - 1, state.layer, `${state.layer}`],
      head: [0, config.n_heads - 1, state.head, `${state.head}`],
      query: [state.start, state.start + state.n_positions - 1, state.query, label(trace.strings[state.query] ?? "")],
      key: [0, state.n_keys - 1, state.key, label(state.keys[state.key] ?? "")],
    };
    for (const [name, [low, high, value, words]] of Object.entries(bounds)) {
      const { input, output } = parts[name];
      Object.assign(input, { min: low, max: high, value });
      input.setAttribute("aria-valuetext", words);
      output.value = words;
    }
    kind.fill(state.kinds.map((one) => [one, KIND_NAMES[one]]));
    kind.input.value = state.kind;
    scale.input.value = state.scale;
    if (scale.input.value === "") {
      const sizes = [...scales, [state.scale, `${state.scale} ×`]]; // Python may ask for any
      scale.fill(sizes.sort(([one], [other]) => one - other));
      scale.input.value = state.scale;
    }
    masked.input.checked = state.name !== "unmasked";
    training.input.checked = state.name === "training";
    predict.input.checked = model.get("predict");
    masked.whole.hidden = !("unmasked" in traces);
    masked.input.disabled = state.name === "training";
    training.whole.hidden = !("training" in traces);
    const attends = state.kind !== "feed_forward";
    const trains = mode === "dynamic" && state.name === "training";
    parts.layer.whole.hidden = trains;
    parts.head.whole.hidden = trains || mode === "global" || (mode === "local" && !attends);
    parts.query.whole.hidden = mode === "dynamic";
    parts.key.whole.hidden = mode !== "local" || !attends;
    kind.whole.hidden = mode === "global" || mode === "dynamic";
    predict.whole.hidden = mode === "global" || mode === "static" || trains || (mode === "local" && !attends);
    // not disabled: a button that is loses the focus, and keys fall through to the notebook
    back.setAttribute("aria-disabled", state.step === 0);
    forth.setAttribute("aria-disabled", state.step === last);
  };
  return { bar, update, stop };
}
