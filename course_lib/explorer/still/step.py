"""One step of writing: tokens, keys and values, work, candidates, and what it read."""

from collections.abc import Sequence

from torch import Tensor

from course_lib.explorer.still.beams import draw_beams
from course_lib.explorer.still.labels import (
    are,
    counted,
    drawn,
    inches,
    label,
    not_numbers,
    said,
    tiny,
)
from course_lib.explorer.still.panels import Panel, draw_panel
from course_lib.explorer.still.paper import (
    EDGE,
    GAP,
    LINE,
    OUTLINE,
    SIGNED,
    TITLE,
    WIDTH,
    Paper,
    limit_of,
)
from course_lib.explorer.still.ribbons import draw_ribbons
from course_lib.explorer.still.spot import Spot
from course_lib.figures.show import BLUE, PAPER, SKY
from course_lib.softmax import softmax

MOST_CHIPS = 64
COSTS = {"multiply_adds": ",.0f", "milliseconds": ".2f"}
WAYS = {"cached": ("with cache", 3.6), "uncached": ("without", 5.2)}
NAMES, BARS, ROOM = 5.8, 7.7, 2.6  # of the candidates


def draw_step(paper: Paper, spot: Spot) -> tuple[str, str]:
    """Draw one step of writing; return caption and alt text."""
    paper.headline(spot, "what goes in, what is kept, what comes out")
    start, end = spot.entry["start"], spot.end
    tokens = [spot.drawn(position) for position in range(len(spot.trace.strings))]
    _draw_chips(paper, "in the cache", tokens[:start], facecolor="#EEEEEE")
    _draw_chips(paper, "fed now", tokens[start:end], linewidth=2.2)
    if "chosen" in spot.entry:
        _draw_chips(paper, "chosen", tokens[end : end + 1], linestyle="--")
    held = _held(spot)
    _draw_held(paper, spot, held, tokens[:end])
    top = paper.y = paper.y + GAP / 2
    _draw_work(paper, spot)
    bottom, paper.y = paper.y, top
    _draw_candidates(paper, spot)
    paper.y = max(bottom, paper.y)
    more = draw_ribbons(paper, spot) if spot.trace.n_memory else []
    more += draw_beams(paper, spot) if spot.trace.beams else []
    caption, alt = _words(spot, held)
    return caption, " ".join([alt, *more])


def _held(spot: Spot) -> dict[str, Tensor]:
    """Look the keys and values of the head up, those of earlier steps included."""
    found = spot.attention("self")[1]
    return {name: found[name] for name in ("keys", "values")}


def _draw_chips(paper: Paper, name: str, tokens: Sequence[str], **style) -> None:
    """Draw tokens in rows of chips, the last of them where they are many."""
    style = {"facecolor": PAPER, "edgecolor": BLUE, "linewidth": 1.0} | style
    cut = len(tokens) - MOST_CHIPS
    if cut > 0:
        tokens = [f"{cut} more …", *tokens[cut:]]
    paper.write(EDGE, paper.y + 0.15, f"{name}:", weight="bold")
    x = first = EDGE + 1.25
    for token in tokens or ["none"]:
        width = inches(token) + 0.16
        if x + width > WIDTH - EDGE:
            x, paper.y = first, paper.y + 0.36
        if tokens:
            paper.box(x, paper.y, width, 0.3, **style)
        paper.write(x + width / 2, paper.y + 0.15, token, ha="center")
        x += width + 0.06
    paper.y += 0.4


def _draw_held(
    paper: Paper, spot: Spot, held: dict[str, Tensor], tokens: Sequence[str]
) -> None:
    """Draw keys and values as columns, and frame what this step added."""
    paper.y += GAP / 3
    # grouped heads share their keys and values
    owner = f"head {spot.head}" if spot.n_sharing == 1 else f"kv_head {spot.kv_head}"
    x, start, room = EDGE, spot.entry["start"], WIDTH / 2 - EDGE - GAP
    for name, table in held.items():
        (n_keys, d_head), limit = table.shape, limit_of(table)
        title = f"{name} of layer {spot.layer}, {owner}: {d_head} numbers each"
        look = {"colours": SIGNED, "limit": limit, "marked": n_keys - 1, "most": 2.0}
        panel = Panel(title, table.T, tokens, **look)
        below = paper.y + draw_panel(paper, x, panel, room)
        cell, row = panel.cell(room)
        place = x + start * cell, below - d_head * row
        paper.box(*place, (n_keys - start) * cell, d_head * row, **OUTLINE)
        legend = below + LINE / 2 + 0.04
        paper.write(x, legend, "framed: fed now")
        paper.ramp(x + 2.4, legend, SIGNED, limit)
        x = WIDTH / 2 + GAP / 2
    paper.y = below + LINE + 0.04


def _draw_work(paper: Paper, spot: Spot) -> None:
    """Draw the table of work with and without a cache."""
    entry = spot.entry
    for words, x in WAYS.values():
        paper.write(x, paper.y + LINE / 2, words, ha="right", weight="bold")
    paper.note("work of this step", **TITLE)
    for cost, form in COSTS.items():
        for way, (_, x) in WAYS.items():
            number = format(entry[cost][way], form) if way in entry[cost] else "–"
            paper.write(x, paper.y + LINE / 2, number, ha="right")
        paper.note(cost.replace("_", "-"))
    if "difference" in entry:
        paper.note(f"largest difference of the logits: {tiny(entry['difference'])}")


def _draw_candidates(paper: Paper, spot: Spot) -> None:
    """Draw the likeliest next tokens as bars, and mark the one that was chosen."""
    candidates = _candidates(spot)
    title = "next token, by probability" if candidates else "no token was chosen"
    paper.note(title, NAMES, **TITLE)
    for number, string, share in candidates:
        chosen = number == spot.entry["chosen"]
        style = {"weight": "bold"} if chosen else {}
        y = paper.y + LINE / 2
        words = f"{said(share)}  ◀ chosen" if chosen else said(share)
        paper.bar(BARS, y, share, ROOM, words, BLUE if chosen else SKY)
        paper.note(drawn(string, number), BARS - 0.1, ha="right", **style)


def _candidates(spot: Spot) -> list[tuple[int, str, float]]:
    """List id, text and probability of the likeliest next tokens and the chosen one."""
    if "chosen" not in spot.entry:
        return []
    shares = softmax(spot.array("logits"))
    listed = {c["id"]: c["string"] for c in spot.entry.get("candidates", [])}
    listed.setdefault(spot.entry["chosen"], spot.trace.strings[spot.end])
    return [(number, text, shares[number].item()) for number, text in listed.items()]


def _words(spot: Spot, held: dict[str, Tensor]) -> tuple[str, str]:
    """Say what one step of writing fed, cost and chose; caption and alt text."""
    entry, n_fed = spot.entry, spot.entry["n_positions"]
    cached = "cached" in entry["multiply_adds"]
    n_held = entry["start"]
    cache = f"{n_held} of {spot.end} tokens {are(n_held)} in the cache"
    if spot.end == 1:
        cache = "the cache was empty"
    fed = f"{n_fed} {are(n_fed)} fed now"
    chosen, told = _choice(spot)
    caption = f"{spot.step_name.capitalize()}: "
    caption += f"{cache if cached else 'no cache'}, {fed}{chosen}."
    parts = [
        caption,
        f"The tokens end with {spot.token(spot.end - 1)}.",
        *_work(entry),
        *told,
        *not_numbers(held),
    ]
    return caption, " ".join(parts)


def _work(entry: dict) -> list[str]:
    """Say what a step cost, with and without a cache where both were tried."""
    costs = [
        f"{entry['multiply_adds'][way]:,} multiply-adds in "
        f"{entry['milliseconds'][way]:.2f} ms"
        for way in WAYS
        if way in entry["multiply_adds"]
    ]
    without = " without a cache" if len(costs) == 2 else ""
    parts = [f"It takes {', and '.join(costs)}{without}."]
    if "difference" in entry:
        parts.append(f"The logits differ by at most {tiny(entry['difference'])}.")
    return parts


def _choice(spot: Spot) -> tuple[str, list[str]]:
    """Say for the caption what was chosen, and in sentences from what."""
    entry, candidates = spot.entry, _candidates(spot)
    if not candidates:
        return "", []
    string, share = next(
        rest for number, *rest in candidates if number == entry["chosen"]
    )
    chosen = f"; '{label(string)}' is chosen, probability {said(share)}"
    told = ", ".join(f"'{label(text)}' {said(share)}" for _, text, share in candidates)
    n_kept = entry["n_kept"]
    parts = [
        f"Candidates by probability: {told}.",
        f"{counted(n_kept, 'id')} could be drawn.",
        *(["Writing ends here."] if entry["stopped"] else []),
        *not_numbers({"logits": spot.array("logits")}),
    ]
    return chosen, parts
