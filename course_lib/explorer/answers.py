"""What the page asks for: one head, one position, one row of logits, each in numbers.

The page draws and computes nothing of the model. Every number that it shows comes from
here: plain values, and tensors packed into one float32 buffer.
"""

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from course_lib.masks import causal_mask
from course_lib.sampling import Sampler
from course_lib.trace import Trace

ATTENTIONS = ("self", "cross")
BIASES = ("alibi", "relative")
STAGES = ("top_k", "top_p", "min_p")


def header(traces: Mapping[str, Trace]) -> dict:
    """Return what the page has to know before it asks: settings, tokens, steps.

    Args:
        traces: "main", and perhaps "unmasked" and "training".

    Returns:
        "config", "tree" and, by name of the trace, tokens, steps, beams, losses …;
        plain values for JSON, numbers that JSON does not know as words ("nan").

    Lesson: notebooks/00_start.ipynb
    """
    main = traces["main"]
    views = {}
    for name, trace in traces.items():
        fields = {
            key: value
            for key, value in vars(trace).items()
            if key not in ("config", "tree", "arrays")
        }
        losses = trace.arrays.get(("losses", 0), torch.zeros(0))
        counted = losses[torch.tensor(trace.targets, dtype=torch.long) >= 0]
        views[name] = fields | {
            "losses": losses.tolist(),
            "shares": (-losses).exp().tolist(),  # the probability of each target
            "mean_loss": counted.mean().item() if len(counted) else None,
        }
    return _plain({"config": main.config, "tree": main.tree, "traces": views})


def answer(traces: Mapping[str, Trace], question: Mapping) -> tuple[dict, dict]:
    """Answer one question of the page.

    Args:
        traces: as in header().
        question: "about" ("attention", "position", "stream" or "sampler"), "trace"
            (its name), "step", and what that needs: "layer", "head" and "kind",
            "query" (row of the step), or "temperature", "top_k", "top_p" and "min_p"
            (0 or 1 where they are off).

    Returns:
        plain values; tensors by name.

    Raises:
        ValueError: the question does not fit the trace.

    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.decoder import Decoder, DecoderConfig
    >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
    >>> traces = {"main": Trace.record(decoder, [1, 2, 3, 4])}
    >>> asked = {"about": "attention", "trace": "main", "step": 0}
    >>> plain, arrays = answer(traces, asked | {"layer": 1, "head": 2, "kind": "self"})
    >>> tuple(arrays["weights"].shape), tuple(arrays["values"].shape)
    ((4, 4), (4, 2))
    """
    about = {
        "attention": _attention,
        "position": _position,
        "stream": _stream,
        "sampler": _sampler,
    }.get(question.get("about"))
    trace = traces.get(question.get("trace"))
    if about is None or trace is None:
        raise ValueError(f"nothing is known about {question!r}")
    step = _within("step", question.get("step"), len(trace.steps))
    try:
        plain, arrays = about(trace, step, question)
    except KeyError as missing:  # an array that a hook did not deliver
        name, _ = missing.args[0]
        raise ValueError(f"step {step} of this trace holds no {name}") from None
    return _plain(plain), arrays


def _attention(trace: Trace, step: int, question: Mapping) -> tuple[dict, dict]:
    """One head: what it compared, what it was allowed, how it read, what it took."""
    kind = question.get("kind")
    if kind not in ATTENTIONS or (f"{kind}_weights", step) not in trace.arrays:
        raise ValueError(f"step {step} of this trace has no {kind} attention")
    arrays = trace.arrays
    n_layers, n_heads = arrays[f"{kind}_weights", step].shape[:2]
    layer = _within("layer", question.get("layer"), n_layers)
    head = _within("head", question.get("head"), n_heads)
    prefix = "cross_" if kind == "cross" else ""
    queries = arrays[f"{prefix}queries", step][layer, head]
    keys, values = (
        _so_far(trace, f"{prefix}{name}", step)[layer] for name in ("keys", "values")
    )
    kv_head = head // (n_heads // len(keys))  # of grouped heads, several share one
    keys, values = keys[kv_head], values[kv_head]
    products = queries.float() @ keys.float().T
    scaled = products / math.sqrt(queries.shape[-1])
    scores, weights = (
        arrays[f"{kind}_{name}", step][layer, head].float()
        for name in ("scores", "weights")
    )
    allowed = arrays[f"{kind}_allowed", step]
    found = {
        "products": products,
        "scaled": scaled,
        "scores": scores,
        "allowed": allowed,
        "weights": weights,
        "sums": weights.sum(-1),
        "outputs": weights @ values.float(),
        "queries": queries,
        "keys": keys,
        "values": values,
        "leaks": torch.zeros_like(allowed),
    }
    if kind == "self" and not trace.masked:
        found["leaks"] = ~causal_mask(*allowed.shape)
    if kind == "cross":
        found["alignment"] = _so_far(trace, "cross_weights", step)[layer, head]
    leaked = (weights * found["leaks"]).sum(-1)
    # a bias on the scores is a step of its own
    biased = kind == "self" and trace.config["positions"] in BIASES
    plain = {"kv_head": kv_head, "biased": biased, "leaked": leaked.tolist()}
    return plain, found


def _position(trace: Trace, step: int, question: Mapping) -> tuple[dict, dict]:
    """One position of one layer: the stream, its norms, the hidden numbers."""
    arrays = trace.arrays
    n_layers, _, n_queries, _ = arrays["residuals", step].shape
    layer = _within("layer", question.get("layer"), n_layers)
    query = _within("query", question.get("query"), n_queries)
    strips = {
        "stream": arrays["residuals", step][layer, :, query],
        "before_norm": arrays["normed", step][layer, :, 0, query],
        "behind_norm": arrays["normed", step][layer, :, 1, query],
        "hidden": arrays["hidden", step][layer, query],
    }
    measures = {
        name: {
            "length": strip.float().norm(dim=-1).tolist(),
            "mean": strip.float().mean(-1).tolist(),
            "deviation": strip.float().std(-1, correction=0).tolist(),
        }
        for name, strip in strips.items()
    }
    n_positive = int((strips["hidden"] > 0).sum())
    return {"measures": measures, "n_positive": n_positive}, strips


def _stream(trace: Trace, step: int, question: Mapping) -> tuple[dict, dict]:
    """How long the stream's vectors are, and what each sublayer adds to them."""
    return {}, {
        "stream": trace.arrays["residuals", step].float().norm(dim=-1),
        "added": trace.arrays["output_norms", step],
    }


def _sampler(trace: Trace, step: int, question: Mapping) -> tuple[dict, dict]:
    """The row of logits through the course's own sampler, filter by filter."""
    logits = trace.arrays["logits", step][None].float()
    settings = {"temperature": question.get("temperature")}
    stages = [Sampler(**settings).filtered(logits)]
    for name in STAGES:
        if question.get(name) not in (None, 0 if name != "top_p" else 1):
            settings[name] = question[name]
        stages.append(Sampler(**settings).filtered(logits))
    shares = torch.cat([stage.softmax(-1) for stage in stages])
    warm = shares[0]
    alive = torch.cat(stages).isfinite()
    candidates = trace.steps[step]["candidates"]
    ids = [candidate["id"] for candidate in candidates]
    plain = {
        "left": (warm * alive).sum(-1).tolist(),  # of 1, behind each filter
        "dropped": (warm * ~alive).sum(-1).tolist(),
        "n_kept": alive.sum(-1).tolist(),
        "stages": ["temperature", *STAGES],
    }
    return plain, {"logits": logits[0, ids], "shares": shares[:, ids]}


def _so_far(trace: Trace, name: str, step: int) -> Tensor:
    """Join what the steps recorded since the sequence was last fed from its start."""
    if name in ("cross_keys", "cross_values"):
        return trace.arrays[name, 0]  # of the memory, once
    starts = [s for s in range(step + 1) if trace.steps[s]["start"] == 0]
    parts = [trace.arrays[name, s] for s in range(starts[-1], step + 1)]
    return torch.cat(parts, dim=-2)


def _within(name: str, number: object, count: int) -> int:
    """Return a whole number below a count, or say what there is."""
    if type(number) is not int or not 0 <= number < count:
        there = f"0 to {count - 1}" if count else "none"
        raise ValueError(f"{name} was {number!r}; there is {there}")
    return number


def _plain(value: object) -> object:
    """Make JSON of it: what is no finite number becomes a word."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
