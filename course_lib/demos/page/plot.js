// A plot: native controls, and the picture that Python drew for where they stand.

const LOWEST = 160; // pixels of a picture
const EDGE = 24; // pixels around and between what is shown

// Makes one control; `put` shows a value in it, `tell` hears what a person sets.
function control(name, spec, tell) {
  const makers = {
    slider: () => element("input", { type: "range", min: spec.low, max: spec.high, step: spec.step }),
    switch: () => element("input", { type: "checkbox" }),
    words: () => element("input", { type: "text", maxLength: spec.longest, size: Math.min(spec.longest, 36) }),
    choice: () =>
      element("select", {}, ...spec.options.map((value) => element("option", { value, textContent: value }))),
  };
  const input = makers[spec.kind]();
  input.dataset.key = name;
  const output = element("output");
  const digits = spec.kind === "slider" ? (String(spec.step).split(".")[1] ?? "").length : 0;
  const put = (value) => {
    if (spec.kind === "switch") input.checked = value;
    else if (input !== document.activeElement || spec.kind !== "words") input.value = value;
    if (spec.kind === "slider") output.value = Number(value).toFixed(digits);
  };
  const read = () => (spec.kind === "slider" ? Number(input.value) : spec.kind === "switch" ? input.checked : input.value);
  // words are sent when they are whole: Enter, or the focus goes elsewhere
  input.addEventListener(spec.kind === "slider" ? "input" : "change", () => {
    if (spec.kind === "slider") output.value = Number(input.value).toFixed(digits);
    tell({ [name]: read() });
  });
  const whole = element("label", { className: "demo-control" }, element("span", { textContent: spec.label }), input);
  if (spec.kind === "slider") whole.append(output);
  return { whole, put };
}

function render({ model, el }) {
  const root = element("div", { className: "demo demo-plot" });
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Plot and its controls");
  const readout = element("p", { className: "demo-readout" });
  readout.setAttribute("role", "status");
  const picture = element("div", { className: "demo-picture" });

  // One wish at a time: a slider that is dragged asks for its newest place only.
  let waiting = null;
  let wish = null;
  const send = () => {
    const look = wish;
    wish = null;
    waiting = setTimeout(() => {
      waiting = null;
      readout.textContent = GONE;
    }, PATIENCE_MS);
    root.setAttribute("aria-busy", "true");
    model.send({ look });
  };
  const tell = (values) => {
    wish = { ...wish, ...values };
    if (waiting === null) send();
  };
  const done = (message) => {
    if (!message.done) return;
    clearTimeout(waiting);
    waiting = null;
    root.setAttribute("aria-busy", "false");
    if (wish) send();
    else show();
  };

  const made = Object.entries(model.get("controls")).map(([name, spec]) => [name, control(name, spec, tell)]);
  const row = element("div", { className: "demo-row" }, ...made.map(([, one]) => one.whole));
  root.append(row, picture, readout);

  const show = () => {
    if (wish) return; // a hand is on it
    const values = model.get("values");
    for (const [name, one] of made) one.put(values[name]);
  };
  const draw = () => {
    picture.innerHTML = model.get("picture"); // written and escaped by course_lib.figures
    picture.querySelector("figcaption")?.remove(); // it is the read-out
  };
  const say = () => {
    readout.textContent = model.get("readout");
  };
  const scale = () => {
    root.style.setProperty("--demo-scale", model.get("font_scale"));
  };
  // The picture gets the room that all words leave, so that the read-out is seen, too.
  const fit = () => {
    const parts = [...(root.closest(".demo-stage") ?? root.parentElement).querySelectorAll(".demo")];
    const words = parts.reduce((sum, part) => sum + part.offsetHeight, 0) - picture.offsetHeight;
    picture.style.setProperty("--demo-room", `${Math.max(LOWEST, innerHeight - words - EDGE)}px`);
  };
  const watcher = new ResizeObserver(fit);
  const watched = { "change:values": show, "change:picture": draw, "change:readout": say };
  const all = { ...watched, "change:font_scale": scale, "msg:custom": done };
  for (const [event, act] of Object.entries(all)) model.on(event, act);
  root.addEventListener("keydown", guard);
  for (const act of [show, draw, say, scale]) act();
  el.append(root);
  requestAnimationFrame(() => {
    // the bar's height changes with question and answer
    for (const part of (root.closest(".demo-stage") ?? root).querySelectorAll(".demo")) watcher.observe(part);
  });
  addEventListener("resize", fit);
  return () => {
    watcher.disconnect();
    removeEventListener("resize", fit);
    clearTimeout(waiting);
    for (const [event, act] of Object.entries(all)) model.off(event, act);
  };
}

export default { render };
