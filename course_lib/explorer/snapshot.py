"""A page that works without a kernel: the program, the answers that it may ask for."""

import base64
import json
from collections.abc import Iterable

from course_lib.explorer.source import page_source
from course_lib.explorer.widget import Explorer

MOST_BYTES = 8_000_000
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Decoder explorer</title>
<style>body {{ font-family: sans-serif; }}
{css}</style>
</head>
<body>
<main>
<h1>Decoder explorer</h1>
<p>A picture of one run, kept without its kernel.</p>
<div id="explorer"></div>
<noscript>{still}</noscript>
</main>
<script id="kept" type="application/json">{kept}</script>
<script type="module">
{source}
{stand_in}
</script>
</body>
</html>
"""
# What stands in for the kernel: the state, and the answers as Python gave them.
STAND_IN = """
{ // names of its own
  const kept = JSON.parse(document.getElementById("kept").textContent);
  const asWritten = ([id, answer]) => [JSON.stringify(JSON.parse(id)), answer];
  const answers = new Map(Object.entries(kept.answers).map(asWritten));
  const listeners = {};
  const tell = (name, ...heard) => (listeners[name] ?? []).forEach((listen) => listen(...heard));
  const model = {
    offline: true,
    get: (name) => kept.state[name],
    set: (name, value) => {
      if (Object.is(kept.state[name], value)) return;
      kept.state[name] = value;
      tell(`change:${name}`);
    },
    save_changes: () => {},
    on: (name, listen) => (listeners[name] ??= []).push(listen),
    off: (name, listen) => {
      listeners[name] = (listeners[name] ?? []).filter((one) => one !== listen);
    },
    send: ({ id }) => {
      const { buffer = "", ...plain } = answers.get(id) ?? { error: kept.missing };
      const bytes = Uint8Array.from(atob(buffer), (letter) => letter.charCodeAt(0));
      tell("msg:custom", { id, ...plain }, [new DataView(bytes.buffer)]);
    },
  };
  render({ model, el: document.getElementById("explorer") });
}
"""


def snapshot(
    explorer: Explorer,
    layers: Iterable[int] | None = None,
    steps: Iterable[int] | None = None,
    heads: Iterable[int] | None = None,
) -> str:
    """Write one html file with all that the explorer shows of some layers.

    It asks for nothing from any network. The sampler's settings stand still in it,
    since every other control shows numbers that were computed before.

    Args:
        explorer: the explorer, in the state that the page opens with.
        layers: which to keep; None: all.
        steps: which to keep; None: all.
        heads: which to keep; None: all.

    Raises:
        ValueError: the page would hold more than MOST_BYTES of numbers, or the trace
            has no such layer, step or head.

    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.decoder import Decoder, DecoderConfig
    >>> from course_lib.explorer import explore
    >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
    >>> page = snapshot(explore(decoder, [1, 2, 3], max_new_tokens=1), layers=[1])
    >>> page.startswith("<!doctype html>"), "http" in page.split("<script")[0]
    (True, False)
    """
    held = {
        name: None if some is None else sorted(some)
        for name, some in {"layers": layers, "steps": steps, "heads": heads}.items()
    }
    answers, size = {}, 0
    for question in _questions(explorer, **held):
        content, buffer = explorer.reply(question)
        size += len(buffer)
        if size > MOST_BYTES:
            raise ValueError(
                f"the page would hold more than {MOST_BYTES / 1e6:.0f} MB of numbers; "
                "choose fewer layers, steps or heads: to_html(layers=[0], steps=[0])"
            )
        coded = base64.b64encode(buffer).decode()
        answers[json.dumps(question)] = content | ({"buffer": coded} if coded else {})
    chosen = [f"{name} {list(some)}" for name, some in held.items() if some is not None]
    state = {
        name: getattr(explorer, name)
        for name in explorer.keys
        if not name.startswith("_") and name not in ("layout", "tabbable", "tooltip")
    }
    for name, some in (("layer", "layers"), ("step", "steps"), ("head", "heads")):
        if held[some] and state[name] not in held[some]:
            state[name] = held[some][0]  # open at something that is kept
    kept = {
        "state": state,
        "answers": answers,
        "missing": f"This page keeps only {', '.join(chosen)}."
        if chosen
        else "This page does not keep that.",
    }
    return PAGE.format(
        css=explorer._css,
        still=explorer.figure()._repr_mimebundle_()["text/html"],
        kept=json.dumps(kept).replace("<", "\\u003c"),  # no token can end the script
        source=page_source().replace("export default { render };", ""),
        stand_in=STAND_IN,
    )


def _questions(explorer, layers, steps, heads):
    """List everything that the page can ask about what is kept."""
    config = explorer.traces["main"].config
    layers = range(config["n_layers"]) if layers is None else layers
    heads = range(config["n_heads"]) if heads is None else heads
    n_steps = len(explorer.traces["main"].steps)
    steps = range(n_steps) if steps is None else steps
    if not steps or not set(steps) <= set(range(n_steps)):
        raise ValueError(f"steps were {list(steps)}; this trace has 0 to {n_steps - 1}")
    for name, trace in explorer.traces.items():
        kinds = ("self", "cross") if trace.n_memory else ("self",)
        for step, entry in enumerate(trace.steps):
            if name == "main" and step not in steps:
                continue
            of_step = {"trace": name, "step": step}
            yield {"about": "stream", **of_step}
            if "chosen" in entry:
                names = ("temperature", "top_k", "top_p", "min_p")
                settings = {n: getattr(explorer, n) for n in names}
                yield {"about": "sampler", **of_step, **settings}
            for layer in layers:
                of_layer = of_step | {"layer": layer}
                for head in heads:
                    for kind in kinds:
                        yield {"about": "attention", **of_layer, "head": head} | {
                            "kind": kind
                        }
                for query in range(entry["n_positions"]):
                    yield {"about": "position", **of_layer, "query": query}
    shown = explorer._shown()
    view = explorer._view()
    mode = "dynamic" if view == "training" else "local"
    yield {"about": "still", "trace": view} | shown | {"mode": mode}
