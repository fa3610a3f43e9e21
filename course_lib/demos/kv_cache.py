"""Demo: with a cache only the newest position is computed; every old key is still read."""

import torch
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course_lib.demos.control import choice, slider, switch
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage
from course_lib.figures import Still
from course_lib.figures.show import BLUE, INK, ORANGE, SKY, write
from course_lib.pretrained import load

PROMPT, N_STEPS = "She looked out of the", 6
COMPUTED, PAIRS = "positions computed", "keys compared"
KEPT, LOGITS = "KiB kept", "next token's logits"
N_BARS = 5
LOOKS = {
    False: {"label": "no cache", "fc": "white", "ec": INK},
    True: {"label": "cache", "fc": ORANGE},
}


def demo() -> Demo:
    """Make the demo: SmolLM2 writes six tokens, without and with a cache.

    Raises:
        AssetError: its weights are not there yet; the message says how to fetch them.

    Lesson: notebooks/10_kv_cache.ipynb
    """
    run = _both_ways()

    def draw(cache: bool, step: int, count: str) -> Still:
        return _picture(run, cache, step, count)

    view = Plot(
        draw,
        cache=switch("KV cache"),
        step=slider("Step", 1, low=1, high=N_STEPS),
        count=choice("Count", [COMPUTED, PAIRS, KEPT, LOGITS]),
    )
    all_steps = {"step": N_STEPS}
    steps = [
        Step(
            "5 tokens gave “window”, and nothing was kept. How many positions go through the "
            "model in step 2?",
            "6: without a cache the whole text goes through all 30 layers again.",
            after={"step": 2},
        ),
        Step(
            "How many positions go through the model in all six steps together?",
            "5 + 6 + 7 + 8 + 9 + 10 = 45, though the text has only 10 positions.",
            before={"step": 2},
            after=all_steps,
        ),
        Step(
            "Now we keep the keys and values of old positions. How many positions are "
            "computed in all?",
            "10: each once. 5 for the prompt, then 1 a step.",
            before=all_steps,
            after=all_steps | {"cache": True},
        ),
        Step(
            "One position a step. Does a step now cost the same at every length?",
            "No. The newest query reads every key: 6, then 7, … 10. Fewer than without, but "
            "more at each step.",
            before=all_steps | {"cache": True},
            after=all_steps | {"cache": True, "count": PAIRS},
        ),
        Step(
            "What does it cost? 5 positions take 225 KiB. How much do 10 take?",
            "450 KiB: 45 a position, for keys and values of 30 layers. It grows as the text "
            "does.",
            before={"cache": True, "count": KEPT},
            after=all_steps | {"cache": True, "count": KEPT},
        ),
        Step(
            "Does the cache change what the model says?",
            "No. All 49,152 logits are the same but for rounding.",
            before=all_steps | {"count": LOGITS},
            after=all_steps | {"cache": True, "count": LOGITS},
        ),
    ]
    return Demo("The KV cache", view, steps)


@torch.inference_mode()
def _both_ways() -> dict:
    """Write greedily, without and with a cache, and count what the model does."""
    model, tokenizer = load("smollm2")
    layer = model.stack.blocks[0].self_attention
    run = {"logits": {}, "computed": {}, "kept": {True: [], False: [0] * N_STEPS}}
    for cached in (False, True):
        ids = tokenizer.encode(PROMPT)
        cache = model.new_cache(kind="append") if cached else None
        computed, logits = [], []
        hook = layer.to_keys.register_forward_hook(
            lambda _, given, made, computed=computed: computed.append(made.shape[1])
        )
        for _ in range(N_STEPS):
            n_fed = int(cache.lengths) if cached else 0
            feed = torch.tensor([ids[n_fed:]])
            logits.append(model(feed, cache=cache, only_last=True)[0, -1])
            ids.append(int(logits[-1].argmax()))
            if cached:
                run["kept"][True].append(cache.bytes)
        hook.remove()
        run["computed"][cached], run["logits"][cached] = computed, logits

    def word(one: int) -> str:
        return tokenizer.decode([one]).strip() or repr(tokenizer.decode([one]))

    run["words"] = [word(one) for one in ids]
    best = [row.topk(N_BARS).indices.tolist() for row in run["logits"][False]]
    run["best"] = [[(one, word(one)) for one in row] for row in best]
    return run


def _picture(run: dict, cache: bool, step: int, count: str) -> Still:
    """Draw who is computed and who is read on the left, the count on the right."""
    fig, (left, right) = new_stage([1.25, 1])
    n_prompt = len(run["words"]) - N_STEPS
    _draw_steps(left, run["words"], n_prompt, cache, step)
    if count == LOGITS:
        said = _draw_logits(right, run, cache, step)
    else:
        said = _draw_counts(right, _counts(run, n_prompt, count), cache, step, count)
    way = "With a cache" if cache else "Without a cache"
    newest = run["computed"][cache][step - 1]
    alt = (
        f"{way}, the table of steps by positions has its computed cells, in step {step}, at "
        f"{newest} of {n_prompt + step - 1} positions"
        + ("; older positions are kept and read. " if cache else ". ")
        + f"Beside it: {said}"
    )
    return Still(fig, alt, f"{way}, step {step}: {said}")


def _counts(run: dict, n_prompt: int, count: str) -> dict[bool, list[float]]:
    """Give the count of each step, without and with a cache."""
    if count == COMPUTED:
        return run["computed"]
    if count == KEPT:
        return {way: [n / 1024 for n in kept] for way, kept in run["kept"].items()}
    ends = range(n_prompt, n_prompt + N_STEPS)
    return {  # each position that is computed compares its query with its own past
        way: [
            sum(range(end - new + 1, end + 1))
            for end, new in zip(ends, run["computed"][way], strict=True)
        ]
        for way in (False, True)
    }


def _draw_steps(axes: Axes, words: list[str], n_prompt: int, cache: bool, step: int):
    """Draw a row a step: computed positions with a dot, kept ones without."""
    for row in range(step):
        end = n_prompt + row
        for place in range(end):
            new = not cache or row == 0 or place == end - 1
            colour = BLUE if new else SKY
            axes.add_patch(Rectangle((place, row), 1, 1, ec=INK, fc=colour))
            if new:
                write(axes, place + 0.5, row + 0.5, "●", color="white")
    n_seen, n_places = n_prompt + step - 1, n_prompt + N_STEPS - 1
    axes.set(xlim=(0, n_places), ylim=(N_STEPS, 0), ylabel="step")
    places = [place + 0.5 for place in range(n_places)]
    seen = words[:n_seen] + [""] * (n_places - n_seen)
    turned = {"rotation": 55, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(places, seen, size=13, **turned)
    axes.set_yticks(places[:N_STEPS], range(1, N_STEPS + 1))
    axes.tick_params(length=0)
    only_read = "    no dot: kept, and only read" if cache else ""
    axes.set_title("dot: computed" + only_read, size=13)


def _draw_counts(axes: Axes, counts: dict, cache: bool, step: int, count: str) -> str:
    """Draw the count of each step so far, and say the newest and the sum."""
    ways, width = ((False, -0.2), (True, 0.2)) if cache else ((False, 0),), 0.8
    for way, shift in ways:
        x = [row + 1 + shift for row in range(step)]
        bars = axes.bar(x, counts[way][:step], width / len(ways), **LOOKS[way])
        for label in axes.bar_label(bars, fmt="%.0f", size=13, padding=1):
            label.set_position((8 * shift, 1))  # points: two labels side by side
    highest = max(max(counts[way]) for way in counts)
    axes.set(
        xlim=(0.4, N_STEPS + 0.6), ylim=(0, 1.12 * highest), xlabel="step", ylabel=count
    )
    _legend(axes)
    newest, so_far = counts[cache][step - 1], sum(counts[cache][:step])
    if count == KEPT:
        return f"{newest:,.0f} KiB of keys and values are kept for the next step."
    where = "each layer and head" if count == PAIRS else "each layer"
    return f"{count} in {where}: {newest:,.0f}; in all steps so far {so_far:,.0f}."


def _draw_logits(axes: Axes, run: dict, cache: bool, step: int) -> str:
    """Draw the five largest logits of a step, and say how far the two ways differ."""
    logits = {way: run["logits"][way][step - 1] for way in (False, True)}
    ids, names = zip(*run["best"][step - 1], strict=True)
    y, gap = torch.arange(N_BARS), float((logits[False] - logits[True]).abs().max())
    for way, shift in ((False, -0.2), (True, 0.2)) if cache else ((False, 0),):
        height = 0.4 if cache else 0.8
        bars = axes.barh(y + shift, logits[way][list(ids)], height, **LOOKS[way])
        axes.bar_label(bars, fmt="%.3f", size=13, padding=3)
    axes.set_yticks(y, names, size=13)
    axes.invert_yaxis()
    axes.set(xlabel="logit", xlim=(0, 1.35 * float(logits[False].max())))
    axes.locator_params(axis="x", nbins=4)
    _legend(axes)
    if cache:
        return (
            f"the largest difference among {len(logits[True]):,} logits is {gap:.6f}."
        )
    return f"the likeliest next token is “{names[0]}”, logit {logits[False].max():.3f}."


def _legend(axes: Axes) -> None:
    """Say above the picture which bar is which."""
    look = {"fontsize": 13, "frameon": False, "ncols": 2, "borderaxespad": 0.2}
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1), **look)
