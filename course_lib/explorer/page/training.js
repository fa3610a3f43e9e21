// DYNAMIC: a training pass with all rows at once.

// Teacher forcing: every row at once, each with its own loss.
function trainingView(state) {
  const { trace, entry } = state;
  const most = largest(trace.losses);
  const rows = trace.targets.map((target, i) => {
    const bar = element("span", { className: "dx-bar", "aria-hidden": "true" });
    bar.style.inlineSize = `${(100 * trace.losses[i]) / most || 0}%`;
    const counts = target >= 0;
    return {
      cells: [
        [token(trace.strings[i] ?? ""), ` ${i}`],
        counts ? token(trace.target_strings[i] ?? "") : "not counted",
        token(entry.predicted[i]?.string ?? ""),
        counts ? [number(trace.losses[i]), bar] : "–",
        counts ? number(trace.shares[i]) : "–",
      ],
    };
  });
  const words = `${trace.targets.length === 1 ? "The one row" : `All ${trace.targets.length} rows`} in one pass: each row gets the true tokens before it and is asked for the next one. Mean loss ${number(trace.mean_loss)}.`;
  const body = [
    element("p", { "data-part": "training" }, words),
    table("Loss per position", ["input", "target", "likeliest", "loss", "probability of the target"], rows),
    element("p", { className: "dx-note" }, "Switch the training pass off to see the same model write: one row at a time, each from what it wrote itself."),
  ];
  return { body, description: `Training pass: ${counted(trace.targets.length, "row")} at once, mean loss ${number(trace.mean_loss)}.`, waiting: false };
}
