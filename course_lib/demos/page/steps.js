// The bar above a demo: which step, its question, its answer when asked for, the way on.

const SCALES = [1, 1.5, 2];

function render({ model, el }) {
  const root = element("div", { className: "demo demo-bar" });
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Steps of the demo");
  const steps = model.get("steps");
  let waiting = null;
  const wait = () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      answer.textContent = GONE;
    }, PATIENCE_MS);
  };
  const done = (message) => {
    if (!message.done) return;
    clearTimeout(waiting);
    show(); // if it came late, the answer stands where the sentence was
  };
  const set = (values) => {
    for (const [name, value] of Object.entries(values)) model.set(name, value);
    model.save_changes();
    if ("at" in values || "revealed" in values) wait();
  };
  const button = (key, words, act) => {
    const made = element("button", { type: "button", textContent: words, onclick: act });
    made.dataset.key = key;
    return made;
  };
  const go = (by) => {
    const at = Math.min(Math.max(model.get("at") + by, 0), steps.length - 1);
    if (at !== model.get("at")) set({ at, revealed: false });
  };
  const back = button("back", "◂ Back", () => go(-1));
  const reveal = button("reveal", "Reveal", () => set({ revealed: !model.get("revealed") }));
  const next = button("next", "Next ▸", () => go(1));
  const again = button("again", "Start over", () => {
    model.send({ again: true });
    wait();
  });
  const present = button("present", "Present", () => {
    if (document.fullscreenElement) document.exitFullscreen();
    else root.closest(".demo-stage")?.requestFullscreen?.();
  });
  const size = element(
    "select",
    {},
    ...SCALES.map((scale) => element("option", { value: scale, textContent: `${scale} ×` })),
  );
  size.dataset.key = "font_scale";
  size.onchange = () => set({ font_scale: Number(size.value) });
  const sized = element("label", { className: "demo-control" }, element("span", { textContent: "Size" }), size);

  const title = element("strong", { className: "demo-title", textContent: model.get("title") });
  const place = element("span", { className: "demo-place" });
  const question = element("p", { className: "demo-question" });
  const answer = element("p", { className: "demo-answer" });
  question.setAttribute("role", "status");
  answer.setAttribute("role", "status");
  root.append(
    element("div", { className: "demo-row" }, title, place, back, reveal, next, again, sized, present),
    question,
    answer,
  );

  const show = () => {
    const at = Math.min(Math.max(model.get("at"), 0), steps.length - 1);
    const revealed = model.get("revealed");
    place.textContent = `${at + 1} of ${steps.length}`;
    question.textContent = steps[at].ask;
    answer.textContent = revealed ? steps[at].answer : "";
    reveal.textContent = revealed ? "Hide" : "Reveal";
    // not disabled: a button that is loses the focus, and keys fall through to the notebook
    back.setAttribute("aria-disabled", at === 0);
    next.setAttribute("aria-disabled", at === steps.length - 1);
    const scale = model.get("font_scale");
    size.value = SCALES.includes(scale) ? scale : "";
    root.style.setProperty("--demo-scale", scale);
  };
  const watched = ["change:at", "change:revealed", "change:font_scale"];
  for (const event of watched) model.on(event, show);
  model.on("msg:custom", done);
  root.addEventListener("keydown", guard);
  show();
  el.append(root);
  return () => {
    clearTimeout(waiting);
    for (const event of watched) model.off(event, show);
    model.off("msg:custom", done);
  };
}

export default { render };
