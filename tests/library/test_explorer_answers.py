"""What the explorer says of a run equals a forward pass that is written out here."""

import json
import math

import pytest
import torch
import torch.nn.functional as F

from course_lib.explorer import explore
from course_lib.explorer.answers import answer, header
from course_lib.sampling import Sampler
from course_lib.trace import Trace
from course_lib.trace.buffer import packed
from tests.library.small_models import ids, numbers, scatter_weights, small_decoder

CASES = {
    "learned positions": {},
    "sinusoids": dict(positions="sinusoidal", embed_scale=True),
    "rotary and gated": dict(
        positions="rotary", norm="rms", gated=True, activation="silu", bias=False
    ),
    "rotary in pairs": dict(positions="rotary", rotary_pairing="interleaved"),
    "relative": dict(positions="relative", max_distance=3),
    "alibi": dict(positions="alibi"),
    "a window": dict(window=3, activation="relu"),
    "norm behind": dict(pre_norm=False),
    "a memory": dict(cross_attention=True, positions="none"),
    "a memory, norm behind": dict(cross_attention=True, pre_norm=False),
}
ALIBI_SLOPES = (1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8)  # of six heads
CLOSE = dict(atol=1e-4, rtol=1e-4)


def run(**changes):
    """Give a model, its memory or None, and the explorer of four tokens and three."""
    model = small_decoder(**changes)
    memory = numbers(1, 7, 24, seed=5) if "cross_attention" in changes else None
    return (
        model,
        memory,
        explore(model, ids(4), memory, max_new_tokens=3, sampler=Sampler(seed=2)),
    )


def asked(explorer, about, trace="main", step=0, **rest):
    question = {"about": about, "trace": trace, "step": step, **rest}
    return answer(explorer.traces, question)


def forward(model, tokens, memory, masked=True):
    """Run a decoder row by row with loops; give what each layer did, and the logits."""
    config, n = model.config, len(tokens)
    x = model.embedding.weight[tokens]
    if config.embed_scale:
        x = x * math.sqrt(config.d_model)
    if config.positions == "learned":
        x = x + next(model.embedding.positions.parameters())[:n]
    if config.positions == "sinusoidal":
        for at, i in ((at, i) for at in range(n) for i in range(0, 24, 2)):
            angle = at / 10000 ** (i / 24)
            x[at, i] += math.sin(angle)
            x[at, i + 1] += math.cos(angle)
    layers = []
    for block in model.stack.blocks:
        layer = {"stream": [x], "normed": [], "outputs": []}
        parts = [("self", block.self_norm, block.self_attention)]
        if block.cross_attention is not None:
            parts.append(("cross", block.cross_norm, block.cross_attention))
        parts.append(("feed", block.feed_norm, block.feed_forward))
        for kind, norm, part in parts:
            inputs = normed(norm, x, config) if config.pre_norm else x
            if kind == "feed":
                layer["hidden"] = hidden(part, inputs, config)
                found = part.to_output(layer["hidden"])
            else:
                read = memory[0] if kind == "cross" else inputs
                layer[kind] = attend(part, inputs, read, config, masked)
                found = part.to_output(torch.cat([*layer[kind]["outputs"]], -1))
            before = x if config.pre_norm else x + found
            behind = normed(norm, before, config)
            x = x + found if config.pre_norm else behind
            layer["normed"].append((before, behind))
            layer["stream"].append(x)
            layer["outputs"].append(found)
        layers.append(layer)
    if config.pre_norm:
        x = normed(model.stack.final_norm, x, config)
    return layers, F.linear(x, model.head.weight)


def normed(norm, x, config):
    if config.norm == "rms":
        return F.rms_norm(x, (24,), norm.gain, config.eps)
    return F.layer_norm(x, (24,), norm.gain, norm.bias, config.eps)


def hidden(part, x, config):
    bend = {"gelu": F.gelu, "silu": F.silu, "relu": F.relu}[config.activation]
    if config.gated:
        return bend(part.to_gate(x)) * part.to_hidden(x)
    return bend(part.to_hidden(x))


def turned(vectors, config):
    """Rotate (position, 4): pairs are complex numbers, turned by the position."""
    pairs = [(0, 2), (1, 3)] if config.rotary_pairing == "half" else [(0, 1), (2, 3)]
    turned = vectors.clone()
    for at, vector in enumerate(vectors):
        for i, (real, imaginary) in enumerate(pairs):
            angle = at / config.rotary_base ** (2 * i / 4)
            point = complex(vector[real], vector[imaginary])
            point *= complex(math.cos(angle), math.sin(angle))
            turned[at, real], turned[at, imaginary] = point.real, point.imag
    return turned


def attend(part, x, read, config, masked):
    """One attention, head by head and pair by pair."""
    cross, n_queries, n_keys = part.cross, len(x), len(read)
    found = {name: [] for name in ("queries", "products", "scores", "weights")}
    found |= {"keys": [], "values": [], "outputs": []}
    allowed = torch.ones(n_queries, n_keys, dtype=torch.bool)
    for query in range(n_queries):
        for key in range(n_keys):
            late = masked and key > query
            old = config.window is not None and key <= query - config.window
            allowed[query, key] = cross or not (late or old)
    for head in range(6):
        one, shared = slice(4 * head, 4 * head + 4), head // 2
        of_kv = slice(4 * shared, 4 * shared + 4)
        queries = part.to_queries(x)[:, one]
        keys, values = part.to_keys(read)[:, of_kv], part.to_values(read)[:, of_kv]
        if config.positions == "rotary" and not cross:
            queries, keys = turned(queries, config), turned(keys, config)
        products = torch.einsum("qd,kd->qk", queries, keys)
        scores = products / 2  # the root of d_head 4
        for query in range(n_queries if not cross else 0):
            for key in range(n_keys):
                if config.positions == "alibi":
                    scores[query, key] -= ALIBI_SLOPES[head] * abs(query - key)
                if config.positions == "relative":
                    row = max(-3, min(3, key - query)) + 3
                    bias = queries[query] @ part.scheme.table[row] / 2
                    scores[query, key] += bias
        weights = F.softmax(scores.masked_fill(~allowed, -math.inf), -1)
        one_head = (queries, products, scores, weights, keys, values, weights @ values)
        for name, array in zip(found, one_head, strict=True):
            found[name].append(array)
    return found | {"allowed": allowed}


def expected_of(model, memory, explorer, trace, step):
    """Give the layers and logits of the pass that this step stands for, and its rows."""
    entry = explorer.traces[trace].steps[step]
    end = entry["start"] + entry["n_positions"]
    with torch.no_grad():
        layers, logits = forward(
            model, explorer.traces[trace].tokens[:end], memory, trace != "unmasked"
        )
    return layers, logits, slice(entry["start"], end)


def all_steps(explorer):
    return [
        (name, step)
        for name, trace in explorer.traces.items()
        for step in range(len(trace.steps))
    ]


@pytest.mark.parametrize("case", CASES)
@torch.no_grad()
def test_every_number_of_every_head_is_that_of_the_pass_written_out(case):
    model, memory, explorer = run(**CASES[case])
    kinds = ("self", "cross") if memory is not None else ("self",)
    names = ("queries", "products", "scores", "weights", "outputs")
    for trace, step in all_steps(explorer):
        layers, _, rows = expected_of(model, memory, explorer, trace, step)
        for layer, head, kind in (
            (a, b, c) for a in range(2) for b in range(6) for c in kinds
        ):
            wanted = layers[layer][kind]
            plain, found = asked(
                explorer, "attention", trace, step, layer=layer, head=head, kind=kind
            )
            for name in names:
                torch.testing.assert_close(
                    found[name], wanted[name][head][rows], **CLOSE
                )
            for name in ("keys", "values"):
                torch.testing.assert_close(found[name], wanted[name][head], **CLOSE)
            scaled = wanted["products"][head][rows] / 2
            torch.testing.assert_close(found["scaled"], scaled, **CLOSE)
            assert torch.equal(found["allowed"], wanted["allowed"][rows])
            assert found["sums"].tolist() == pytest.approx([1] * len(found["sums"]))
            assert plain["kv_head"] == head // 2
            bias = kind == "self" and model.config.positions in ("alibi", "relative")
            assert plain["biased"] == bias
            if kind == "cross":
                torch.testing.assert_close(
                    found["alignment"], wanted["weights"][head], **CLOSE
                )


@pytest.mark.parametrize("case", ["learned positions", "a window", "a memory"])
def test_a_leak_is_a_key_behind_the_query_that_the_run_could_read(case):
    model, memory, explorer = run(**CASES[case])
    n = len(explorer.traces["unmasked"].tokens)
    layers, _, _ = expected_of(model, memory, explorer, "unmasked", 0)
    for head in range(6):
        plain, found = asked(
            explorer, "attention", "unmasked", layer=1, head=head, kind="self"
        )
        behind = [[key > query for key in range(n)] for query in range(n)]
        assert found["leaks"].tolist() == behind
        weights = layers[1]["self"]["weights"][head]
        leaked = [weights[query, query + 1 :].sum().item() for query in range(n)]
        assert plain["leaked"] == pytest.approx(leaked, abs=1e-5)
        assert max(leaked) > 0.1
    for trace in ("main", "training"):
        plain, found = asked(explorer, "attention", trace, layer=1, head=0, kind="self")
        assert not found["leaks"].any()
        assert not any(plain["leaked"])
    if memory is not None:
        asked_of = {"layer": 0, "head": 3, "kind": "cross"}
        plain, found = asked(explorer, "attention", "unmasked", **asked_of)
        assert not found["leaks"].any(), "a memory lies behind nothing"


def test_without_a_cache_each_step_is_the_whole_pass():
    model = small_decoder()
    explorer = explore(model, ids(4), max_new_tokens=3, use_cache=False)
    for step in range(3):
        layers, logits, rows = expected_of(model, None, explorer, "main", step)
        assert rows == slice(0, 4 + step)
        _, found = asked(explorer, "attention", step=step, layer=1, head=5, kind="self")
        for name in ("weights", "keys", "values"):
            wanted = layers[1]["self"][name][5]
            torch.testing.assert_close(found[name], wanted, **CLOSE)
        assert explorer.traces["main"].tokens[4 + step] == logits[-1].argmax()


@pytest.mark.parametrize("case", CASES)
def test_a_position_is_the_stream_its_norms_and_its_hidden_numbers(case):
    model, memory, explorer = run(**CASES[case])
    for trace, step in all_steps(explorer):
        layers, _, rows = expected_of(model, memory, explorer, trace, step)
        for layer in range(2):
            for query in range(rows.stop - rows.start):
                at = rows.start + query
                wanted = {
                    "stream": torch.stack([x[at] for x in layers[layer]["stream"]]),
                    "hidden": layers[layer]["hidden"][at],
                }
                for i, name in enumerate(("before_norm", "behind_norm")):
                    pairs = layers[layer]["normed"]
                    wanted[name] = torch.stack([pair[i][at] for pair in pairs])
                plain, found = asked(
                    explorer, "position", trace, step, layer=layer, query=query
                )
                assert found.keys() == wanted.keys()
                for name, strip in wanted.items():
                    torch.testing.assert_close(found[name], strip, **CLOSE)
                    measured = by_hand(strip)
                    for measure, value in plain["measures"][name].items():
                        assert value == pytest.approx(measured[measure], abs=1e-4)
                above = [number for number in wanted["hidden"] if number > 0]
                assert plain["n_positive"] == len(above)


def by_hand(strip):
    """Length, mean and deviation of each row, summed number by number."""
    measures = {"length": [], "mean": [], "deviation": []}
    for row in strip.reshape(-1, strip.shape[-1]).tolist():
        mean = sum(row) / len(row)
        squares = sum((value - mean) ** 2 for value in row)
        measures["length"].append(math.hypot(*row))
        measures["mean"].append(mean)
        measures["deviation"].append(math.sqrt(squares / len(row)))
    if strip.ndim == 1:
        return {name: found[0] for name, found in measures.items()}
    return measures


@pytest.mark.parametrize("case", CASES)
def test_the_stream_grows_by_what_the_sublayers_add(case):
    model, memory, explorer = run(**CASES[case])
    for trace, step in all_steps(explorer):
        layers, _, rows = expected_of(model, memory, explorer, trace, step)
        _, found = asked(explorer, "stream", trace, step)
        for layer, wanted in enumerate(layers):
            for name, parts in (("stream", "stream"), ("added", "outputs")):
                lengths = [
                    [math.hypot(*vector) for vector in part[rows].tolist()]
                    for part in wanted[parts]
                ]
                torch.testing.assert_close(
                    found[name][layer], torch.tensor(lengths), **CLOSE
                )


@pytest.mark.parametrize("case", ["learned positions", "rotary and gated", "a memory"])
def test_losses_and_predictions_are_those_of_the_logits(case):
    model, memory, explorer = run(**CASES[case])
    _, logits, _ = expected_of(model, memory, explorer, "training", 0)
    view = header(explorer.traces)["traces"]["training"]
    written = explorer.traces["main"].tokens
    assert (view["tokens"], view["targets"]) == (written[:-1], written[1:])
    rows = zip(logits.tolist(), written[1:], strict=True)
    losses = [
        math.log(sum(math.exp(logit) for logit in row)) - row[target]
        for row, target in rows
    ]
    assert view["losses"] == pytest.approx(losses, abs=1e-4)
    predicted = [one["id"] for one in view["steps"][0]["predicted"]]
    assert predicted == [row.index(max(row)) for row in logits.tolist()]


def filtered(logits, temperature, top_k, top_p, min_p):
    """Temperature, then each filter, over a list of numbers; a list of shares a stage."""

    def shares_of(alive):
        top = max(logits)
        if temperature == 0:
            return [float(i == logits.index(top)) for i in range(len(logits))]
        mass = [
            math.exp((logit - top) / temperature) if i in alive else 0.0
            for i, logit in enumerate(logits)
        ]
        return [one / sum(mass) for one in mass]

    alive = set(range(len(logits)))
    if temperature == 0:
        alive = {logits.index(max(logits))}
    stages = [(shares_of(alive), set(alive))]
    if top_k:
        best = sorted(alive, key=lambda i: (-logits[i], i))
        alive = set(best[:top_k])
    stages.append((shares_of(alive), set(alive)))
    if top_p < 1:
        shares, kept, mass = shares_of(alive), set(), 0.0
        for i in sorted(alive, key=lambda i: (-shares[i], i)):
            if mass < top_p:
                kept.add(i)
            mass += shares[i]
        alive = kept
    stages.append((shares_of(alive), set(alive)))
    if min_p:
        shares = shares_of(alive)
        alive = {i for i in alive if shares[i] >= min_p * max(shares)}
    stages.append((shares_of(alive), set(alive)))
    return stages


@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p", "min_p"),
    [
        (1, 0, 1, 0),
        (0.3, 0, 1, 0),
        (2.5, 3, 1, 0),
        (1, 0, 0.7, 0),
        (1, 0, 1, 0.3),
        (1.7, 7, 0.8, 0.4),
        (0, 5, 0.5, 0.1),
        (1, 1, 1, 0),
        (1, 40, 0.99, 0.001),
        (10.0, 2, 0.01, 1.0),
    ],
)
def test_the_samplers_stages_are_those_of_filters_written_out(
    temperature, top_k, top_p, min_p
):
    model, memory, explorer = run()
    settings = dict(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    for step in range(3):
        _, logits, _ = expected_of(model, memory, explorer, "main", step)
        row = logits[-1].tolist()
        likeliest = sorted(range(13), key=lambda i: -row[i])[:12]
        plain, found = asked(explorer, "sampler", step=step, **settings)
        wanted = filtered(row, **settings)
        assert found["logits"].tolist() == pytest.approx(
            [row[i] for i in likeliest], abs=1e-4
        )
        warm, alive_at_first = wanted[0]
        assert alive_at_first
        for stage, (shares, alive) in enumerate(wanted):
            assert found["shares"][stage].tolist() == pytest.approx(
                [shares[i] for i in likeliest], abs=1e-4
            )
            assert plain["n_kept"][stage] == len(alive)
            left = sum(warm[i] for i in alive)
            assert plain["left"][stage] == pytest.approx(left, abs=1e-4)
        assert plain["stages"] == ["temperature", "top_k", "top_p", "min_p"]


def test_what_the_run_dropped_is_what_the_sampler_drops():
    model = small_decoder()
    sampler = Sampler(0.9, top_k=4, top_p=0.8, seed=3)
    explorer = explore(model, ids(4), max_new_tokens=2, sampler=sampler)
    settings = dict(temperature=0.9, top_k=4, top_p=0.8, min_p=0)
    for step, entry in enumerate(explorer.traces["main"].steps):
        plain, _ = asked(explorer, "sampler", step=step, **settings)
        assert plain["n_kept"][-1] == entry["n_kept"]
        dropped = 1 - plain["left"][-1]
        assert dropped == pytest.approx(entry["dropped_mass"], abs=1e-5)


def test_what_a_step_noted_of_its_cache_is_true():
    model, _, explorer = run()
    for step, entry in enumerate(explorer.traces["main"].steps):
        assert entry["difference"] < 1e-4
        n, end = entry["n_positions"], entry["start"] + entry["n_positions"]
        # queries, keys, values (half as many heads), output, two of the feed-forward
        of_layer = 2 * 24 * 24 + 2 * 24 * 12 + 2 * 24 * 17
        per_position, per_pair = 2 * of_layer + 24 * 13, 2 * 2 * 24
        done = entry["multiply_adds"]
        assert done["cached"] == n * per_position + n * end * per_pair, step
        assert done["uncached"] == end * per_position + end * end * per_pair


def test_a_buffer_unpacks_to_the_arrays_that_went_in():
    _, _, explorer = run()
    _, arrays = asked(explorer, "attention", layer=1, head=2, kind="self")
    index, buffer = packed(arrays)
    floats = torch.frombuffer(bytearray(buffer), dtype=torch.float32)
    assert [entry["name"] for entry in index] == list(arrays)
    for entry in index:
        size = math.prod(entry["shape"])
        part = floats[entry["offset"] : entry["offset"] + size]
        wanted = arrays[entry["name"]].float()
        assert torch.equal(part.reshape(entry["shape"]), wanted)


QUESTION = {"about": "attention", "trace": "main", "step": 0}
HEAD = {"layer": 0, "head": 0, "kind": "self"}


@pytest.fixture(scope="module")
def written():
    return run()[2]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"about": "weather"}, "nothing is known about"),
        ({"about": None}, "nothing is known about"),
        ({"trace": "other"}, "nothing is known about"),
        ({"step": 3}, "step was 3; there is 0 to 2"),
        ({"step": -1}, "step was -1; there is 0 to 2"),
        ({"step": None}, "step was None; there is 0 to 2"),
        ({"step": True}, "step was True; there is 0 to 2"),
        ({"layer": 2}, "layer was 2; there is 0 to 1"),
        ({"layer": 0.5}, r"layer was 0\.5; there is 0 to 1"),
        ({"head": 6}, "head was 6; there is 0 to 5"),
        ({"head": "0"}, "head was '0'; there is 0 to 5"),
        ({"kind": "cross"}, "step 0 of this trace has no cross attention"),
        ({"kind": "feed_forward"}, "step 0 of this trace has no feed_forward"),
        ({"about": "position", "query": 4}, "query was 4; there is 0 to 3"),
        ({"about": "position", "query": None}, "query was None; there is 0 to 3"),
        (
            {"about": "sampler", "trace": "training"},
            "step 0 of this trace holds no log",
        ),
        ({"about": "sampler", "temperature": -1}, "temperature was -1"),
        ({"about": "sampler", "temperature": 1, "top_p": 0}, "p was 0"),
        ({"about": "sampler", "temperature": 1, "top_k": -2}, "k was -2"),
        ({"about": "sampler", "temperature": 1, "min_p": 2}, "p was 2"),
    ],
)
def test_a_question_that_does_not_fit_gets_a_sentence(written, changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        answer(written.traces, QUESTION | HEAD | changes)


ARRAYS = {
    "attention": ("queries", "keys", "values", *(f"self_{n}" for n in ("scores",))),
    "position": ("residuals", "normed", "hidden"),
    "stream": ("residuals", "output_norms"),
    "sampler": ("logits",),
}


@pytest.mark.parametrize(
    ("about", "name"),
    [
        *((about, name) for about, names in ARRAYS.items() for name in names),
        ("attention", "self_weights"),
        ("attention", "self_allowed"),
    ],
)
def test_an_array_that_is_not_there_is_named(about, name):
    _, _, explorer = run()
    del explorer.traces["main"].arrays[name, 0]
    question = QUESTION | HEAD | {"about": about, "query": 0, "temperature": 1.0}
    named = "no self attention" if name == "self_weights" else f"no .*{name}"
    with pytest.raises(ValueError, match=named):
        answer(explorer.traces, question)


def test_an_earlier_steps_keys_that_are_not_there_are_named():
    _, _, explorer = run()
    del explorer.traces["main"].arrays["keys", 1]
    with pytest.raises(ValueError, match="no .*keys"):
        answer(explorer.traces, QUESTION | HEAD | {"step": 2})


def broken_by_nan():
    model = small_decoder()
    with torch.no_grad():
        model.stack.blocks[1].self_attention.to_keys.weight[0, 0] = math.nan
    return explore(model, ids(4))


def test_nan_stays_nan_where_it_arose_and_nowhere_else():
    explorer = broken_by_nan()
    _, before = asked(explorer, "attention", layer=0, head=0, kind="self")
    assert all(array.float().isfinite().all() for array in before.values())
    # head 0 and 1 read kv_head 0, whose keys are broken
    plain, found = asked(explorer, "attention", layer=1, head=1, kind="self")
    assert found["products"].isnan().all()
    assert found["weights"].isnan().any()
    _, sound = asked(explorer, "attention", layer=1, head=2, kind="self")
    assert sound["weights"].isfinite().all()
    plain, _ = asked(explorer, "attention", "unmasked", layer=1, head=0, kind="self")
    assert "nan" in plain["leaked"]
    plain, _ = asked(explorer, "position", layer=1, query=0)
    assert plain["measures"]["hidden"]["length"] == "nan"
    assert header(explorer.traces)["traces"]["training"]["losses"] == ["nan"] * 3


def test_the_header_and_every_plain_answer_are_strict_json():
    strings = ["", "\n", "<script>", "مرحبا", "👩‍👩‍👧", "\u2028", '"', "x" * 10_000]
    model = small_decoder()
    explorers = [
        explore(model, ids(4), max_new_tokens=2, text=lambda i: strings[i % 8]),
        broken_by_nan(),
    ]
    for explorer in explorers:
        found = json.dumps(header(explorer.traces), allow_nan=False)
        assert json.loads(found) == header(explorer.traces)
        assert json.loads(found) == explorer.header
        for about in ("attention", "position", "stream"):
            plain, _ = asked(explorer, about, "training", **HEAD, query=0)
            assert json.loads(json.dumps(plain, allow_nan=False)) == plain


def test_the_header_holds_the_run_and_none_of_its_arrays():
    _, _, explorer = run(cross_attention=True)
    found = header(explorer.traces)
    assert found["config"]["d_head" if "d_head" in found["config"] else "d_model"]
    assert len(json.dumps(found)) < 60_000
    main, trace = found["traces"]["main"], explorer.traces["main"]
    assert (main["tokens"], main["strings"]) == (trace.tokens, trace.strings)
    assert main["n_memory"] == 7
    assert "arrays" not in main
    assert main["losses"] == []


def test_beams_are_in_the_header():
    model = scatter_weights(small_decoder(), 4)
    trace = Trace.record(model, ids(4), max_new_tokens=3, eos_id=12, n_beams=3)
    assert header({"main": trace})["traces"]["main"]["beams"] == trace.beams
