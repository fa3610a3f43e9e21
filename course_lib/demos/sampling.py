"""Demo: the model gives probabilities; how one chooses from them decides what is written."""

from collections.abc import Callable
from functools import partial
from math import prod

import torch
from torch import Tensor, nn

from course_lib.demos.control import choice, slider
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage
from course_lib.figures import Still
from course_lib.figures.show import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, write
from course_lib.generation import beam_search
from course_lib.pretrained import load
from course_lib.sampling import apply_temperature, top_k, top_p
from course_lib.softmax import softmax

NEXT, PAIRS, LOOP = "next token", "next two tokens", "a whole text"
PROMPT, QUESTION = "In the morning I", "Write a haiku about autumn."
GREEDY = [  # what greedy decoding writes; demo() looks each token up
    "In the heart of the autumn,",
    " a leaf's fate is not determined,",
    " but the leaves' fate is determined,",
    *[" a leaf's fate is determined,"] * 5,
]
N_BARS, N_FIRST, N_SECOND, N_BEAMS = 6, 4, 2, 2
GREY = "#767676"


def demo() -> Demo:
    """Make the demo; all scores are SmolLM2's.

    Raises:
        AssetError: its weights are not there yet; the message says how to fetch them.

    Lesson: notebooks/09_sampling.ipynb
    """
    looks = _looks(*load("smollm2"))

    def draw(look: str, temperature: float, k: str, p: float) -> Still:
        settings = f"Temperature {temperature:.1f}, top-k {k}, top-p {p:.2f}: "
        return looks[look](partial(_chain, temperature=temperature, k=k, p=p), settings)

    view = Plot(
        draw,
        look=choice("Look at", list(looks)),
        temperature=slider("Temperature", 1.0, low=0.0, high=2.0, step=0.1),
        k=choice("Top-k", ["off", "1", "3", "5", "20"]),
        p=slider("Top-p", 1.0, low=0.05, high=1.0, step=0.05),
    )
    greedy = {"temperature": 0.0}
    steps = [
        Step(
            "We always take the longest bar. What can be drawn after “In the morning I”?",
            "Only “was”: temperature 0, greedy. The model gave it 8 %; now it is drawn with "
            "probability 1.",
            after=greedy,
        ),
        Step(
            "We keep the 5 likeliest tokens, top-k 5. How much of the probability is cut off?",
            "74 %. The five hold 26 %; divided by 0.26, they sum to 1 again.",
            after={"k": "5"},
        ),
        Step(
            "Top-p 0.5 keeps 17 tokens, half of the probability. With temperature 0.5: more or "
            "fewer?",
            "Fewer, only 2: the temperature sharpens first, and then two tokens hold half. In the "
            "other order all 17 would stay.",
            before={"p": 0.5},
            after={"p": 0.5, "temperature": 0.5},
        ),
        Step(
            "Greedy takes “was”, 8 %, then “in”. Is there a pair to which the model gives a "
            "higher probability?",
            "“woke up”: 0.066 · 0.77 = 0.051, ten times as likely. Two beams keep “was” "
            "and “woke”, and find it.",
            before={"look": PAIRS} | greedy,
            after={"look": PAIRS, "temperature": 1.0},
        ),
        Step(
            "Greedy wrote this. If we draw instead: how likely is line 5, the first copy? Are "
            "the later copies likelier?",
            "25 %, then 43, 62, 75 %: each copy makes the next one likelier. But a draw seldom "
            "gets there: line 4 itself has 1 %.",
            before={"look": LOOP} | greedy,
            after={"look": LOOP, "temperature": 1.0},
        ),
    ]
    return Demo("Choosing the next token", view, steps)


@torch.inference_mode()
def _looks(model: nn.Module, tokenizer) -> dict[str, Callable]:
    """Ask the model for all scores once; give what draws each look from them."""

    def word(one: int) -> str:
        return tokenizer.decode([one]).strip() or repr(tokenizer.decode([one]))

    ids = tokenizer.encode(PROMPT)
    first = model(torch.tensor([ids]), only_last=True)[0, -1]
    scores, order = first.sort(descending=True)
    heads = order[:N_FIRST].tolist()
    second = model(torch.tensor([[*ids, one] for one in heads]), only_last=True)[:, -1]
    tails = second.topk(N_SECOND).indices.tolist()
    kept = beam_search(model, ids, N_BEAMS, 2, tokenizer.eos_id, length_penalty=0)
    beams = {tuple(new_ids) for new_ids, _ in kept}

    parts = [tokenizer.encode(part) for part in GREEDY]
    prompt, text = tokenizer.chat(QUESTION), sum(parts, [])
    written = model(torch.tensor([prompt + text[:-1]]))[0, len(prompt) - 1 :]
    return {
        NEXT: partial(
            _draw_next, [word(one) for one in order[:N_BARS].tolist()], scores
        ),
        PAIRS: partial(_draw_pairs, word, first, second, heads, tails, beams),
        LOOP: partial(_draw_loop, parts, written),
    }


def _chain(logits: Tensor, temperature: float, k: str, p: float) -> list[Tensor]:
    """Give the logits after the temperature, after top-k, after top-p."""
    warm = apply_temperature(logits, temperature)
    few = warm if k == "off" else top_k(warm, int(k))
    return [warm, few, top_p(few, p)]


def _draw_next(
    names: list[str], scores: Tensor, chain: Callable, settings: str
) -> Still:
    """Draw the model's probabilities, what is left to draw from, and what was cut off."""
    left = chain(scores)
    warm, given, drawn = softmax(left[0]), softmax(scores), softmax(left[2])
    n_left = int((left[2] > -torch.inf).sum())
    masses = [float(warm[one > -torch.inf].sum()) for one in left]
    fig, (model, choosing, mass) = new_stage([1, 1, 0.42])
    bars = model.barh(names, given[:N_BARS], color=BLUE)
    model.bar_label(bars, fmt="%.2f", padding=3, size=13)
    model.set(xlabel="the model's probability", xlim=(0, 1.3 * float(given.max())))
    model.locator_params(axis="x", nbins=3)
    model.invert_yaxis()
    bars = choosing.barh(names, drawn[:N_BARS], color=ORANGE)
    # what the temperature alone brought to 0 is not cut off by a filter
    rows = zip(drawn[:N_BARS].tolist(), warm[:N_BARS].tolist(), strict=True)
    labels = [f"{one:.2f}" if one or not had else "cut off" for one, had in rows]
    choosing.bar_label(bars, labels, padding=3, size=13)
    fig.suptitle("first the temperature, then top-k, then top-p", size=14)
    choosing.set(
        xlabel="drawn with probability", xlim=(0, 1.25), xticks=[0, 0.5, 1], yticks=[]
    )
    choosing.invert_yaxis()
    cut_p, cut_k = masses[1] - masses[2], masses[0] - masses[1]
    bottom, box = 0.0, {"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none"}
    for name, height, colour in (
        ("kept", masses[2], ORANGE),
        ("cut by\ntop-p", cut_p, SKY),
        ("cut by\ntop-k", cut_k, "white"),
    ):
        mass.bar(0, height, 0.6, bottom, color=colour, edgecolor=INK)
        if height > 0.07 * (2 + name.count("\n")):  # or its lines would not fit
            words = f"{name}\n{height:.0%}"
            write(mass, 0, bottom + height / 2, words, size=13, bbox=box)
        bottom += height
    mass.set(
        xlim=(-0.45, 0.45), ylim=(0, 1), xticks=[], yticks=[], xlabel="cut or kept"
    )
    said = f"Tokens left: {n_left:,} of {len(scores):,}. Of the probability after "
    said += f"the temperature, top-k cut off {cut_k:.0%}, top-p {cut_p:.0%}."
    pairs = zip(names, given.tolist(), drawn.tolist(), strict=False)
    alt = f"Bars of the likeliest tokens after “{PROMPT}”, the model's and those drawn with: "
    alt += "; ".join(f"{name} {p:.2f}, {q:.2f}" for name, p, q in pairs)
    return Still(fig, f"{alt}. {said}", settings + said)


def _draw_pairs(word, first, second, heads, tails, beams, chain, settings) -> Still:
    """Draw a tree of two tokens with the probability of each way through it."""
    chances = softmax(chain(first)[2])[heads].tolist()
    then = softmax(chain(second)[2])
    pairs = [(a, b) for a in range(len(heads)) for b in tails[a]]
    both = {(a, b): chances[a] * float(then[a, b]) for a, b in pairs}
    best, greedy, middle = max(both, key=both.get), pairs[0], (len(pairs) - 1) / 2
    alone = sum(chance > 0 for chance in both.values()) == 1  # a 1 would say nothing
    fig, (axes,) = new_stage()
    axes.set(xlim=(-0.1, 11.3), ylim=(len(pairs) - 0.4, -1.3))
    axes.axis("off")

    def put(x: float, y: float, words: str, **style) -> None:
        axes.text(x, y, words, va="center", **style)

    put(0, middle, f"{PROMPT} …")
    for x, name in ((3.4, "first"), (5.9, "second"), (7.9, "both")):
        put(x, -1, name, weight="bold")
    for row, ((a, b), chance) in enumerate(both.items()):
        y, colour = N_SECOND * a + (N_SECOND - 1) / 2, INK if chance else GREY
        line = {"color": colour, "ls": "-" if chance else ":"}
        line["lw"] = 3.5 if (a, b) == greedy else 1.2
        if b == tails[a][0]:
            axes.plot([2.6, 3.3], [middle, y], **line)
            number = f" {chances[a]:.3f}" if chances[a] and not alone else ""
            put(3.4, y, word(heads[a]) + number, color=colour)
        axes.plot([5.2, 5.8], [y, row], **line)
        if not chance:  # cut off: what could have been is not told
            put(5.9, row, "…", color=colour)
            continue
        if alone:
            put(5.9, row, word(b), color=colour)
            put(7.9, row, "◀ greedy" if (a, b) == greedy else "◀ alone left")
            continue
        put(5.9, row, f"{word(b)} {float(then[a, b]):.2f}", color=colour)
        marks = ["greedy"] * ((a, b) == greedy)
        marks += [f"{N_BEAMS} beams"] * ((heads[a], b) in beams)
        said = f"{chance:.3f}" + (f"  ◀ {', '.join(marks)}" if marks else "")
        is_best = {"color": GREEN, "weight": "bold"} if (a, b) == best != greedy else {}
        put(7.9, row, said, **({"color": colour} | is_best))
    names = {pair: f"{word(heads[pair[0]])} {word(pair[1])}" for pair in pairs}
    said = f"greedy’s pair, “{names[greedy]}”, has {both[greedy]:.3f}; "
    said += f"the likeliest here, “{names[best]}”, {both[best]:.3f}."
    drawn = {names[pair]: chance for pair, chance in both.items() if chance}
    ways = "; ".join(f"{name} {chance:.3f}" for name, chance in drawn.items())
    if alone:
        (ways,) = drawn
        said = f"only “{ways}” can be drawn; the other ways have chance 0."
    return Still(fig, f"A tree from “{PROMPT}” to two tokens: {ways}.", settings + said)


def _draw_loop(parts: list[list[int]], logits: Tensor, chain, settings: str) -> Still:
    """Draw, for each line of the greedy text, how likely a draw writes just that."""
    ids = torch.tensor(sum(parts, []))
    each = softmax(chain(logits)[2]).gather(1, ids[:, None])[:, 0]
    chances = [prod(one.tolist()) for one in each.split([len(part) for part in parts])]
    fig, (axes,) = new_stage()
    names = [f"{row + 1}  {part.strip()}" for row, part in enumerate(GREEDY)]
    bars = axes.barh(names, chances, color=[BLUE] * 4 + [PURPLE] * (len(parts) - 4))
    axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1.12), xlabel="probability of the line, given all lines above")
    axes.set_title(f"“{QUESTION}”  Purple: copies of line 4", size=14, x=0.3)
    n_best = int((logits.argmax(-1) == ids).sum())
    said = f"first copy (line 5) {chances[4]:.0%}, last {chances[-1]:.0%}. "
    said += (
        f"Greedy: {n_best} of the {len(ids)} tokens are the likeliest at their place."
    )
    lines = zip(names, chances, strict=True)
    alt = "Bars, one a line: " + "; ".join(f"{line} {c:.2f}" for line, c in lines)
    return Still(fig, alt + ".", settings + said)
