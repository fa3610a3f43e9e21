// The sampler: one row of logits, filter by filter.

function samplerQuestion({ name, step }, model) {
  const settings = ["temperature", "top_k", "top_p", "min_p"].map((trait) => [trait, model.get(trait)]);
  return { about: "sampler", trace: name, step, ...Object.fromEntries(settings) };
}

// What chose the token in the run.
function ofRun({ sampler }, entry) {
  const also = [
    "repetition_penalty" in sampler ? `a repetition penalty of ${sampler.repetition_penalty}` : "",
    "suppress" in sampler ? `${counted(sampler.suppress.length, "suppressed id")}` : "",
  ].filter(Boolean);
  const missing = also.length ? ` It also had ${also.join(" and ")}, which the table leaves out.` : "";
  if (sampler.temperature === 0) return `The run was greedy (temperature 0): it took the largest logit.${missing}`;
  return `In the run ${counted(entry.n_kept, "token")} could be drawn; its filters dropped ${number(entry.dropped_mass)}.${missing}`;
}

// The last row's logits through the course's sampler, filter by filter.
function samplerPanel({ trace, entry }, answer, store, set, model, offline) {
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
    setting("Temperature", "temperature", { min: 0, step: "any" }),
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
    element("p", { "data-part": "run" }, `${ofRun(trace, entry)} Below, the same logits with the settings above.`),
    table("Probability behind each filter; the likeliest tokens", heads, rows),
    element("p", { "data-part": "dropped" }, `The filters drop ${number(answer.dropped[last])} of the probability; the rest is scaled up to 1.`),
  );
}
