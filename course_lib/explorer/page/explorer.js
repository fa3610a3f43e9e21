// The whole: controls, the view of the mode, and what is shown in words.

const TRAITS = [
  ...["mode", "step", "layer", "head", "kind", "cell", "masked", "training_shown", "predict"],
  ...["temperature", "top_k", "top_p", "min_p", "font_scale", "header"],
];
const VIEWS = { global: wholeView, local: headView, dynamic: stepsView, static: stillView };

// STATIC: the picture that Python draws of this state, for print.
function stillView(state, store) {
  const { name, step, layer, head, kind, query } = state;
  const mode = name === "training" ? "dynamic" : "local";
  const answer = store.ask({ about: "still", trace: name, mode, step, layer, head, kind, query });
  if (!answer || answer.error) {
    return { body: [store.stead(answer)], description: answer?.error ?? "", waiting: !answer };
  }
  const still = element("div", { className: "dx-still" });
  still.innerHTML = answer.html; // written and escaped by course_lib.figures
  return { body: [still], description: still.querySelector("img")?.alt ?? "", waiting: false };
}

function render({ model, el }) {
  const root = element("div", { className: "dx", role: "group", "aria-label": "Decoder explorer" });
  const words = element("p", { className: "dx-status", role: "status" });
  const view = element("div", { className: "dx-view", tabIndex: -1 });
  const memo = new Map(); // what was predicted in this view
  let hovered = null;
  let drawing = 0;
  let width = 900;

  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
    schedule();
  };
  const schedule = () => {
    drawing ||= requestAnimationFrame(draw);
  };
  const store = new Store(model, schedule);
  const tools = {
    set,
    model,
    memo,
    offline: model.offline ?? false,
    redraw: schedule,
    hover: (cell) => {
      if (String(cell) === String(hovered)) return; // a redraw would swallow a click
      hovered = cell;
      schedule();
    },
  };
  const { bar, update, stop } = controls(model, set);
  root.append(bar, words, view);

  function draw() {
    drawing = 0;
    const state = { ...shown(model), width };
    root.style.setProperty("--dx-size", `${16 * state.scale}px`);
    root.classList.toggle("dx-slim", state.scale > 1 || document.fullscreenElement === root);
    update(state);
    const found = VIEWS[state.mode](state, store, { ...tools, hovered });
    root.setAttribute("aria-busy", found.waiting);
    if (found.waiting && view.childElementCount && view.dataset.mode === state.mode && !store.late) return; // the last picture stays till the next is there
    const { activeElement } = document;
    const focused = view.contains(activeElement) ? activeElement.dataset.key ?? "" : null;
    view.replaceChildren(...found.body.flat().filter(Boolean));
    view.dataset.mode = state.mode;
    // what had the focus may be gone: keys must not fall through to the notebook
    if (!tools.offline) setTimeout(() => found.ahead?.forEach((question) => store.ask(question, true)));
    if (focused !== null) (view.querySelector(`[data-key="${CSS.escape(focused)}"]`) ?? view).focus({ preventScroll: true });
    const said = found.waiting && store.late ? GONE : found.description;
    if (hovered || (found.waiting && !store.late) || words.textContent === said) return;
    words.textContent = said;
    model.set("description", said);
    model.save_changes();
  }

  const changed = () => {
    hovered = null;
    schedule();
  };
  const anew = () => {
    store.forget();
    memo.clear();
    changed();
  };
  const room = new ResizeObserver(([{ contentRect }]) => {
    if (Math.abs(contentRect.width - width) < 20) return; // a scroll bar that comes and goes
    width = contentRect.width;
    schedule();
  });
  room.observe(root);
  document.addEventListener("fullscreenchange", schedule);
  for (const name of TRAITS) model.on(`change:${name}`, name === "header" ? anew : changed);
  // In a notebook, keys such as x and the arrows are also commands on cells; Ctrl+S is meant.
  root.addEventListener("keydown", (event) => {
    const leaves = ["Escape", "Tab"].includes(event.key) || event.ctrlKey || event.metaKey;
    if (!leaves) event.stopPropagation();
  });
  el.append(root);
  draw();
  return () => {
    stop();
    room.disconnect();
    document.removeEventListener("fullscreenchange", schedule);
    cancelAnimationFrame(drawing);
    store.close();
    for (const name of TRAITS) model.off(`change:${name}`, name === "header" ? anew : changed);
  };
}

export default { render };
