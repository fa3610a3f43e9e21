"""What the chat panel is in a page: a log, a status line, and a form below them.

The message travels with the click that sends it. A field that Python mirrors would
come late: what a page types is sent on only as fast as the kernel takes it.
"""

SCRIPT = """
function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// Nothing is read as html: what was said is put into the page as text.
function shown(turn) {
  const name = element("strong", { textContent: turn.role + ": " });
  const text = element("span", { textContent: turn.text });
  return element("div", { className: "chat-turn chat-" + turn.role }, name, text);
}

function render({ model, el }) {
  const log = element("div", { className: "chat-log", tabIndex: 0 });
  log.setAttribute("role", "log");
  log.setAttribute("aria-live", "polite");
  log.setAttribute("aria-label", "Conversation");
  const status = element("div", { className: "chat-status" });
  status.setAttribute("role", "status");
  const field = element("input", { type: "text", className: "chat-field", autocomplete: "off" });
  const range = { type: "range", min: 0, max: 2, step: 0.1, value: model.get("temperature") };
  const slider = element("input", range);
  const number = element("output", { textContent: slider.value });
  const button = (textContent, type) => element("button", { textContent, type });
  const send = button("Send", "submit"), stop = button("Stop", "button");
  const clear = button("Clear", "button");
  const form = element(
    "form", { className: "chat-form" },
    element("label", { className: "chat-message" }, "Your message", field),
    element("div", {}, send, stop, clear),
    element("label", {}, "Temperature ", slider, number),
  );
  form.onsubmit = (event) => {
    event.preventDefault();
    if (model.get("busy") || !field.value.trim()) return;
    model.send({ do: "say", text: field.value, temperature: Number(slider.value) });
    field.value = "";
  };
  stop.onclick = () => model.send({ do: "stop" });
  clear.onclick = () => model.send({ do: "clear" });
  slider.oninput = () => { number.textContent = slider.value; };
  // In a notebook, keys such as x and the arrows are also commands on cells; Ctrl+S is meant.
  const root = element("div", {}, log, status, form);
  root.onkeydown = (event) => {
    const leaves = ["Escape", "Tab"].includes(event.key) || event.ctrlKey || event.metaKey;
    if (!leaves) event.stopPropagation();
  };

  const draw = () => {
    const turns = model.get("turns");
    while (log.children.length > turns.length) log.lastChild.remove();
    turns.forEach((turn, i) => {
      const place = log.children[i];
      if (!place) log.append(shown(turn));
      else if (place.textContent !== turn.role + ": " + turn.text) {
        if (place.className !== "chat-turn chat-" + turn.role) place.replaceWith(shown(turn));
        else place.lastChild.textContent = turn.text;
      }
    });
    log.scrollTop = log.scrollHeight;
  };
  const work = () => {
    const busy = model.get("busy");
    log.setAttribute("aria-busy", String(busy)); // read out the answer once it is whole
    send.disabled = busy;
    stop.disabled = !busy;
  };
  const heard = {
    turns: draw,
    busy: work,
    status: () => { status.textContent = model.get("status"); },
    returned: () => { field.value = field.value || model.get("returned"); },
  };
  for (const [name, hear] of Object.entries(heard)) {
    hear();
    model.on("change:" + name, hear);
  }
  el.append(root);
  return () => {
    for (const [name, hear] of Object.entries(heard)) model.off("change:" + name, hear);
  };
}
export default { render };
"""
STYLE = """
.chat-log {
  min-height: 6em; max-height: 24em; overflow-y: auto; padding: 0.5em; line-height: 1.4;
  border: 1px solid var(--jp-border-color1, #777);
}
.chat-turn { margin: 0 0 0.5em; white-space: pre-wrap; overflow-wrap: anywhere; }
.chat-turn { padding-left: 0.5em; border-left: 4px solid var(--jp-border-color1, #777); }
.chat-assistant { border-left-style: double; }
.chat-status { min-height: 1.4em; }
.chat-form > * { display: flex; gap: 0.5em; margin: 0.4em 0; align-items: center; }
.chat-field { flex: 1; min-width: 0; }
"""
