// One quiz: a fieldset a question. The page judges, so that it works on without a kernel;
// Python hears of each answer by a message of its own, counts it in `noted` and replies in
// `note`.

const LETTERS = "abcdefgh";
const PATIENCE_MS = 4000; // a kernel that is idle replies within a few ms

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// Text with `code` in backticks, built of nodes: nothing is read as html.
function words(text) {
  const parts = text.split(/`([^`]+)`/);
  return parts.map((part, i) => (i % 2 ? element("code", { textContent: part }) : part));
}

function reasons(question, letters) {
  const items = letters.map((letter) => {
    const choice = question.choices[LETTERS.indexOf(letter)];
    const verdict = `(${letter}) ${choice.right ? "right" : "wrong"}: `;
    return element("li", {}, element("strong", { textContent: verdict }), ...words(choice.reason));
  });
  return element("ul", {}, ...items);
}

function asked(question, number, group, tell) {
  const letters = [...LETTERS.slice(0, question.choices.length)];
  const key = letters.filter((letter, i) => question.choices[i].right).join("");
  const type = question.several ? "checkbox" : "radio";
  const inputs = letters.map((letter) => element("input", { type, name: group, value: letter }));
  const labels = inputs.map((input, i) =>
    element("label", {}, input, element("span", {}, `(${letters[i]}) `, ...words(question.choices[i].text))),
  );
  const check = element("button", { type: "button", textContent: "Check" });
  check.setAttribute("aria-label", `Check question ${number}`);
  const reply = element("div", { className: "quiz-reply" });
  reply.setAttribute("role", "status");
  const others = element("button", { type: "button", textContent: "Other reasons", hidden: true });
  others.setAttribute("aria-label", `Other reasons of question ${number}`);
  others.setAttribute("aria-expanded", "false");
  const more = element("div", { className: "quiz-reply" });

  let unchosen = [];
  const fold = () => {
    more.replaceChildren();
    others.setAttribute("aria-expanded", "false");
  };
  check.onclick = () => {
    const chosen = inputs.filter((input) => input.checked).map((input) => input.value);
    fold();
    if (!chosen.length) {
      reply.replaceChildren("Choose first.");
      return;
    }
    unchosen = letters.filter((letter) => !chosen.includes(letter));
    const right = chosen.join("") === key;
    const missing = [...key].some((letter) => !chosen.includes(letter));
    const verdict = right ? "✓ Right." : "✗ Not yet.";
    const hint = question.several && !right && missing ? " One that is right is still missing." : "";
    reply.replaceChildren(element("strong", { textContent: verdict }), hint, reasons(question, chosen));
    reply.dataset.right = right;
    others.hidden = !unchosen.length;
    tell(question.id, chosen.join(""));
  };
  others.onclick = () => {
    const open = others.getAttribute("aria-expanded") === "true";
    fold();
    if (open) return;
    more.replaceChildren(reasons(question, unchosen));
    others.setAttribute("aria-expanded", "true");
  };
  for (const input of inputs) {
    input.onchange = () => {
      // what stands there speaks of another choice
      reply.replaceChildren();
      delete reply.dataset.right;
      fold();
    };
  }
  const legend = element("legend", {}, `${number}. `, ...words(question.text));
  const buttons = element("div", { className: "quiz-buttons" }, check, others);
  return element("fieldset", { className: "quiz-question" }, legend, ...labels, buttons, reply, more);
}

function render({ model, el }) {
  const tell = (question, chosen) => {
    const before = model.get("noted");
    setTimeout(() => {
      if (model.get("noted") === before) show("Not noted yet: the kernel is busy or gone.");
    }, PATIENCE_MS);
    try {
      model.send({ question, chosen }); // not a trait: a busy kernel hears only its last value
    } catch {
      // the kernel is gone, which the learner is told when patience ends
    }
  };
  const root = element("div", { className: "quiz" });
  const group = `quiz-${Math.random().toString(36).slice(2)}`; // two views do not share radios
  root.append(
    ...model.get("questions").map((question, i) => asked(question, i + 1, `${group}-${i}`, tell)),
  );
  const note = element("p", { className: "quiz-note" });
  note.setAttribute("role", "status");
  const show = (text) => note.replaceChildren(text);
  const showNote = () => show(model.get("note"));
  showNote();
  model.on("change:note change:noted", showNote);
  root.append(note);
  // In a notebook, keys such as x and the arrows are also commands on cells; Ctrl+S is meant.
  root.addEventListener("keydown", (event) => {
    const leaves = ["Escape", "Tab"].includes(event.key) || event.ctrlKey || event.metaKey;
    if (!leaves) event.stopPropagation();
  });
  el.append(root);
  return () => model.off("change:note change:noted", showNote);
}

export default { render };
