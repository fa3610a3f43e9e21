// What Python answered. A question is asked once; its answer is kept while there is room.

const MOST_ANSWERS = 300;
const PATIENCE_MS = 4000;
const GONE = "No answer from Python: the kernel is busy or gone.";

class Store {
  constructor(model, changed) {
    this.model = model;
    this.changed = changed;
    this.answers = new Map();
    this.waiting = new Map();
    this.wanted = new Set(); // what a picture waits for; the rest is asked ahead
    this.hear = (content, buffers) => this.take(content, buffers);
    model.on("msg:custom", this.hear);
  }

  // The answer, or undefined while Python thinks. Asked ahead, it redraws nothing.
  ask(question, ahead = false) {
    const id = JSON.stringify(question);
    const answer = this.answers.get(id);
    if (answer) return answer;
    if (!ahead) this.wanted.add(id);
    if (this.waiting.has(id)) return answer;
    const impatient = setTimeout(() => {
      this.waiting.delete(id); // the next look asks again
      if (!this.wanted.delete(id)) return;
      this.late = true;
      this.changed();
    }, PATIENCE_MS);
    this.waiting.set(id, impatient);
    try {
      this.model.send({ ...question, id });
    } catch {
      this.late = true; // the kernel is gone, which is said in place of the picture
    }
    return this.answers.get(id);
  }

  take({ id, index = [], ...plain }, buffers) {
    clearTimeout(this.waiting.get(id));
    this.waiting.delete(id);
    this.late = false;
    const arrays = {};
    if (index.length) {
      const { buffer, byteOffset, byteLength } = buffers[0];
      const floats = new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength));
      for (const { name, shape, offset } of index) {
        const size = shape.reduce((product, n) => product * n, 1);
        arrays[name] = { shape, data: floats.subarray(offset, offset + size) };
      }
    }
    if (this.answers.size >= MOST_ANSWERS) this.answers.delete(this.answers.keys().next().value);
    this.answers.set(id, { ...plain, arrays });
    if (this.wanted.delete(id)) this.changed();
  }

  // What stands where a picture will be.
  stead(answer) {
    if (answer) return element("p", { className: "dx-note" }, answer.error);
    return element("p", { className: "dx-note dx-waiting" }, this.late ? GONE : "Asking Python …");
  }

  forget() {
    for (const impatient of this.waiting.values()) clearTimeout(impatient);
    this.answers.clear();
    this.waiting.clear();
    this.wanted.clear();
  }

  close() {
    this.forget();
    this.model.off("msg:custom", this.hear);
  }
}

// The states that one press of a key leads to.
function neighbours(state) {
  const { config, trace } = state;
  const ends = { layer: config.n_layers, head: config.n_heads, step: trace.steps.length };
  return Object.entries(ends).flatMap(([name, end]) =>
    [1, -1]
      .map((by) => state[name] + by)
      .filter((place) => place >= 0 && place < end)
      .map((place) => ({ ...state, [name]: place })),
  );
}

// The state as it can be shown: a number outside of the trace becomes the nearest inside.
function shown(model) {
  const header = model.get("header");
  const { traces, config } = header;
  const training = model.get("training_shown") && "training" in traces;
  const unmasked = !training && !model.get("masked") && "unmasked" in traces;
  const name = training ? "training" : unmasked ? "unmasked" : "main";
  const trace = traces[name];
  const step = clamp(model.get("step"), 0, trace.steps.length - 1);
  const { start, n_positions } = trace.steps[step];
  const kinds = trace.n_memory ? ["self", "cross", "feed_forward"] : ["self", "feed_forward"];
  const kind = kinds.includes(model.get("kind")) ? model.get("kind") : "self";
  const n_keys = kind === "cross" ? trace.n_memory : start + n_positions;
  const [query, key] = model.get("cell");
  return {
    header,
    config,
    name,
    trace,
    step,
    entry: trace.steps[step],
    start,
    n_positions,
    n_keys,
    kinds,
    kind,
    layer: clamp(model.get("layer"), 0, config.n_layers - 1),
    head: clamp(model.get("head"), 0, config.n_heads - 1),
    query: clamp(query, start, start + n_positions - 1),
    key: clamp(key, 0, n_keys - 1),
    keys: kind === "cross" ? memoryLabels(trace) : trace.strings.slice(0, n_keys),
    scale: model.get("font_scale"),
    mode: model.get("mode"),
  };
}

function memoryLabels(trace) {
  return Array.from({ length: trace.n_memory }, (_, i) => trace.memory_strings[i] ?? `#${i}`);
}
