// Predict first: what is asked stands nowhere on the page until somebody has looked.

// Under which name the answer about a row of a head is remembered.
function rowSecret({ name, step, layer, head, kind }, position) {
  return [name, step, layer, head, kind, position].join();
}

function tokenSecret({ name }, step) {
  return `${name}:${step}`;
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
  const question = `Predict: which key does “${label(queryText)}” read most? The strips of the query and of each key are what it goes by. `;
  return element("p", { className: "dx-predict" }, question, select, " ", look);
}

// Predict, then look: which token does the model choose?
function askToken(trace, entry, end, memo, secret, reveal) {
  const options = entry.candidates.slice(0, 4);
  if (!options.some(({ id }) => id === entry.chosen)) options[3] = { id: entry.chosen, string: trace.strings[end] };
  options.sort((one, other) => one.id - other.id); // the order gives nothing away
  const group = `dx-predict-${Math.random().toString(36).slice(2)}`;
  const inputs = options.map(({ id }) => element("input", { type: "radio", name: group, value: id, "data-key": `guess-${id}` }));
  for (const input of inputs) {
    input.checked = memo.get(`${secret}?`) === input.value;
    input.onchange = () => memo.set(`${secret}?`, input.value);
  }
  const look = element("button", { type: "button", "data-key": "look" }, "Look");
  const right = label(trace.strings[end] ?? "");
  look.onclick = () => {
    const said = inputs.findIndex((input) => input.checked);
    if (said < 0) return;
    reveal(options[said].id === entry.chosen ? `As you predicted: “${right}”.` : `You said “${label(options[said].string)}”; the model chose “${right}”.`);
  };
  return element(
    "fieldset",
    { className: "dx-predict" },
    element("legend", {}, "Predict: which token comes next?"),
    inputs.map((input, i) => element("label", { className: "dx-control" }, input, token(options[i].string))),
    look,
  );
}
