"""Demo: a query is compared with keys, softmax shares out, and values are mixed."""

import math

import torch
from matplotlib.axes import Axes
from torch import Tensor

from course_lib.attention import attention, attention_scores
from course_lib.demos.control import choice, slider, switch
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage
from course_lib.figures import Still
from course_lib.figures.show import BLUE, GREEN, INK, ORANGE, write
from course_lib.pretrained import load

WORDS = ["Anna", "letter", "it"]
KEYS = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.5]])
QUERIES = {"“it”": [0.0, 2.0], "“Anna”": [2.0, 0.0], "“letter”": [0.0, 0.0]}
SENTENCE, LAYER, HEAD = "One day Anna wrote a letter and she sent it", 16, 5
Reading = tuple[list[str], Tensor, Tensor]  # words, a query, a key for each word


def demo() -> Demo:
    """Make the demo; its last two steps read with a head of SmolLM2.

    Raises:
        AssetError: its weights are not there yet; the message says how to fetch them.

    Lesson: notebooks/03_attention.ipynb
    """
    readings = {name: (WORDS, torch.tensor(q), KEYS) for name, q in QUERIES.items()}
    readings |= _real_readings()

    def draw(query: str, times: float, root: bool, value: int) -> Still:
        return _picture(query, readings[query], times, root, value)

    view = Plot(
        draw,
        query=choice("Query of", list(readings)),
        times=slider("Query ×", 1.0, low=0.0, high=5.0, step=0.5),
        root=switch("÷ √", True),
        value=slider("Value of “letter”", 10, low=-10, high=10),
    )
    steps = [
        Step(
            "“it” asks for a thing, (0, 2); “Anna” for a person, (2, 0). Which key will Anna's "
            "query match?",
            "Her own, (1, 0): score 2 / √2 = 1.41, weight 0.67. The two scores of 0 still get "
            "0.16 each.",
            after={"query": "“Anna”"},
        ),
        Step(
            "The query of “letter” is (0, 0): it asks for nothing. How is its weight shared out?",
            "One third each: all scores are 0. Weights sum to 1, so a word cannot read nothing; "
            "the output is the mean of the values.",
            after={"query": "“letter”"},
        ),
        Step(
            "“it” again, but its query is four times as long: (0, 8). Where does the output go?",
            "Close to the value of “letter”: its weight grows from 0.58 to 0.94. A longer query "
            "makes sharper weights.",
            after={"times": 4.0},
        ),
        Step(
            "The value of “letter” becomes (0, −10); its key stays. Which of the bars change?",
            "None. Only its corner and the output move, from (1.4, 5.8) to (1.4, −5.8): keys "
            "decide who is read, values what is handed over.",
            after={"value": -10},
        ),
        Step(
            "A head of SmolLM2, 64 numbers a key: its “it” reads “letter”. Whom will “she” read?",
            "Anna, with a weight of 0.52. Nobody programmed it: this head, one of 270, has "
            "learned it from text alone.",
            before={"query": "SmolLM2: “it”"},
            after={"query": "SmolLM2: “she”"},
        ),
        Step(
            "The same head, but we leave out the division by √64 = 8. What becomes of the "
            "weights?",
            "Anna's weight grows from 0.52 to 0.9998: the gaps between scores are eight times as "
            "wide. With such weights a head hardly learns.",
            before={"query": "SmolLM2: “she”"},
            after={"root": False},
        ),
    ]
    return Demo("Attention", view, steps)


def _real_readings() -> dict[str, Reading]:
    """Give what two words of a sentence read by, in one head of SmolLM2."""
    model, tokenizer = load("smollm2")
    ids, record = tokenizer.encode(SENTENCE), {}
    with torch.inference_mode():
        model(torch.tensor([ids]), record=record, only_last=True)
    words = [tokenizer.decode([one]).strip() for one in ids]
    inputs = record["self", LAYER, "inputs"]
    queries, keys = inputs["queries"][0], inputs["keys"][0]
    keys = keys[HEAD * len(keys) // len(queries)]  # three heads share their keys
    found = {}
    for word in ("it", "she"):
        n = words.index(word) + 1  # it reads itself and what came before
        found[f"SmolLM2: “{word}”"] = words[:n], queries[HEAD, n - 1], keys[:n]
    return found


def _picture(
    name: str, reading: Reading, times: float, root: bool, value: int
) -> Still:
    """Draw scores and weights; by hand also the output among the values."""
    words, query, keys = reading
    query, by_hand = times * query, len(query) == 2
    scores, weights = _read(query, keys, root)
    fig, (left, right, *last) = new_stage([1.2, 1, 1] if by_hand else [1, 1])
    labels = words
    if by_hand:
        labels = [f"{w} ({a:g}, {b:g})" for w, (a, b) in zip(words, keys, strict=True)]
        left.set_title(f"query ({query[0]:g}, {query[1]:g})")
    share = f" / √{len(query)}" if root else ""
    _bars(left, labels, scores, BLUE, f"score: query · key{share}")
    widest = (
        8 if by_hand else 60
    )  # all steps fit, so that a longer bar is a larger score
    left.set(xlim=(0, max(widest, 1.4 * scores.max())), ylabel="key")
    _bars(right, words, weights, ORANGE, "weight")
    right.set(xlim=(0, 1.35), xticks=[0, 0.5, 1])
    told = [f"{w} {x:.2f}" for w, x in zip(words, weights.tolist(), strict=True)]
    raw = [f"{w} {x:.2f}" for w, x in zip(labels, scores.tolist(), strict=True)]
    alt = f"Bar charts by key. Scores: {', '.join(raw)}. Weights: {', '.join(told)}."
    if by_hand:
        values = torch.tensor([[10.0, 0.0], [0.0, value], [0.0, 0.0]])
        output = weights @ values
        _plane(*last, values, output)
        numbers = [f"{round(x, 1) + 0.0:.1f}" for x in output.tolist()]  # no -0.0
        at = f"({', '.join(numbers)})".replace("-", "−")
        caption = f"{name} reads {', '.join(told)}; its output is {at}."
        alt += f" The output {at} lies among the values (10, 0), (0, {value}), (0, 0)."
    else:
        first, second = weights.argsort(descending=True, stable=True).tolist()[:2]
        digits = (
            4 if weights[first] > 0.995 else 2
        )  # 1.00 and 0.00 would say too little
        caption = (
            f"{name} reads most of “{words[first]}”, {weights[first]:.{digits}f}, then of "
            f"“{words[second]}”, {weights[second]:.{digits}f}."
        )
    return Still(fig, alt, caption)


def _read(query: Tensor, keys: Tensor, root: bool) -> tuple[Tensor, Tensor]:
    """Score and weigh the keys; a longer query undoes the division by the root."""
    query = query if root else query * math.sqrt(len(query))
    queries, keys = query.view(1, 1, 1, -1), keys[None, None]
    _, weights = attention(queries, keys, keys, need_weights=True)
    return attention_scores(queries, keys)[0, 0, 0], weights[0, 0, 0]


def _bars(
    axes: Axes, names: list[str], numbers: Tensor, colour: str, what: str
) -> None:
    """Draw a bar a key, from the top down."""
    small = {"fontsize": 13} if len(names) > 6 else {}
    bars = axes.barh(range(len(names)), numbers, color=colour)
    fmt = "%.1f" if small and colour == BLUE else "%.2f"
    axes.bar_label(bars, fmt=fmt, padding=3, **small)
    axes.set_yticks(range(len(names)), names, **small)
    axes.invert_yaxis()
    axes.set_xlabel(what)


def _plane(axes: Axes, values: Tensor, output: Tensor) -> None:
    """Draw the values as the corners of a triangle, and the output in it."""
    axes.fill(*values.T, facecolor="none", edgecolor=INK)
    axes.plot(*values.T, "o", color=INK)
    up = 1 if values[1, 1] >= 0 else -1
    for word, (x, y), side in zip(WORDS, values.tolist(), (-up, up, -up), strict=True):
        write(axes, x, y + 3.8 * side, word)
    axes.plot(*output, "D", color=GREEN, markersize=13)
    axes.set(xlim=(-5, 14), ylim=(-16, 16), xticks=[0, 10], yticks=[-10, 0, 10])
    axes.set_xlabel("values; ◆ output")
