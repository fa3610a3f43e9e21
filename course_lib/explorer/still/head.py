"""One head as five tables: q · k, scaled, mask, weights, and what is read."""

from collections.abc import Sequence

from torch import Tensor

from course_lib.explorer.still.labels import (
    are,
    counted,
    drawn,
    inches,
    not_numbers,
    said,
)
from course_lib.explorer.still.panels import SPREAD, Panel, draw_panel
from course_lib.explorer.still.paper import (
    EDGE,
    GAP,
    LINE,
    SHARES,
    SIGNED,
    WIDTH,
    Paper,
    limit_of,
)
from course_lib.explorer.still.spot import SUBLAYERS, Spot


def draw_head(paper: Paper, spot: Spot) -> tuple[str, str]:
    """Draw one head; return caption and alt text."""
    found = _found(spot)
    part = f"layer {spot.layer}, head {spot.head}, {SUBLAYERS[spot.kind]}"
    paper.headline(spot, f"{part}, rows read columns")
    panels = _panels(spot, found)
    _draw_panels(paper, spot, panels)
    _draw_legend(paper, panels, found)
    return _words(spot, found)


def _found(spot: Spot) -> dict:
    """Ask for the numbers of the head; `leaking` are leaks that are really read."""
    plain, found = spot.attention(spot.kind)
    found["leaking"] = found["leaks"] & (found["weights"] > 0)
    return found | {"biased": plain["biased"]}


def _panels(spot: Spot, found: dict) -> list[Panel]:
    """Lay out the five tables."""
    products, scores, allowed, weights, outputs = (
        found[name] for name in ("products", "scores", "allowed", "weights", "outputs")
    )
    row, d_head = weights[spot.row], outputs.shape[-1]
    marked = int(row.argmax()) if row.isfinite().all() else None
    of_keys = {"columns": key_labels(spot, weights.shape[-1]), "marked": marked}
    signed = {"colours": SIGNED, "limit": limit_of(products, scores)}
    shares = {"colours": SHARES, "limit": limit_of(weights)}
    of_outputs = {"columns": [""] * d_head, "colours": SIGNED}
    bias = " + position bias" if found["biased"] else ""
    signs = {"hidden": ~allowed, "leaks": found["leaking"]}
    return [
        Panel("1  query · key", products, **of_keys, **signed),
        Panel(f"2  ÷ √{d_head}{bias}", scores, **of_keys, **signed),
        Panel("3  mask", allowed, **of_keys),
        Panel("4  softmax: weights", weights, **of_keys, **shares, **signs),
        Panel("5  weights · values", outputs, **of_outputs, limit=limit_of(outputs)),
    ]


def key_labels(spot: Spot, n_keys: int) -> list[str]:
    """Label the keys: tokens, or places of the memory."""
    if spot.kind != "cross":
        return [spot.drawn(position) for position in range(spot.end - n_keys, spot.end)]
    names = spot.trace.memory_strings or map(str, range(n_keys))
    return [drawn(name, place) for place, name in enumerate(names)]


def _draw_panels(paper: Paper, spot: Spot, panels: Sequence[Panel]) -> None:
    """Draw the tables side by side, in as many lines as they need."""
    rows = [spot.drawn(position) for position in range(spot.entry["start"], spot.end)]
    margin = EDGE + max(inches(word) for word in rows) * 1.1 + 0.1
    room = min((WIDTH - EDGE - margin - 2 * GAP) / 3, SPREAD)
    x, tallest = margin, 0.0
    for panel in panels:
        title = inches(panel.title, 11) * 1.12  # it is bold
        width = max(panel.cell(room)[0] * len(panel.columns), title)
        if x + width > WIDTH - EDGE / 2:
            x, paper.y, tallest = margin, paper.y + tallest + GAP, 0.0
        labels = rows if x == margin else []
        height = draw_panel(paper, x, panel, room, labels, spot.row)
        x, tallest = x + width + GAP, max(tallest, height)
    paper.y += tallest + GAP / 2


def _draw_legend(paper: Paper, panels: Sequence[Panel], found: dict) -> None:
    """Say below the tables what the colours and signs mean."""
    paper.y += LINE / 2
    x = EDGE
    for number, words in ((0, "1 and 2:"), (3, "4 weights:"), (4, "5 outputs:")):
        paper.write(x, paper.y, words, weight="bold")
        paper.ramp(x + 1.5, paper.y, panels[number].colours, panels[number].limit)
        x += 3.4
    signs = {"dots or blue in 3: may be read": True}
    signs["hatched: masked"] = not found["allowed"].all()
    signs["crossed: NaN or infinite"] = not found["outputs"].isfinite().all()
    signs["▲ a leak: the key stands behind the row"] = found["leaks"].any()
    paper.y += LINE
    paper.write(
        EDGE, paper.y, "; ".join(sign for sign, there in signs.items() if there)
    )
    paper.y += LINE / 2


def _words(spot: Spot, found: dict) -> tuple[str, str]:
    """Say how the row reads; caption and alt text."""
    part = f"Layer {spot.layer}, head {spot.head}, {SUBLAYERS[spot.kind]}"
    part += f" in {spot.step_name}"
    outputs = found["outputs"]
    row = f"{spot.token(spot.query)} {reads(spot, found['weights'][spot.row])}."
    tables = {"products": "q · k", "scores": "scores", "weights": "weights"}
    tables |= {"outputs": "outputs"}
    parts = [
        f"{part}. Row {row}",
        _masked(found["allowed"][spot.row]),
        *_compared(spot, found),
        f"What it reads has {counted(outputs.shape[-1], 'number')} and the length "
        f"{said(outputs[spot.row].norm().item())}.",
        *_leaks(spot, found),
        *_shared(spot),
        *not_numbers({words: found[name] for name, words in tables.items()}),
    ]
    return f"{part}: row {row}", " ".join(parts)


def reads(spot: Spot, weights: Tensor) -> str:
    """Say where most of a row's weight lies."""
    if not weights.isfinite().all():
        return "has weights that are NaN"
    if weights.max() <= 0:
        return "reads nothing"
    most = int(weights.argmax())
    others = int((weights == weights[most]).sum()) - 1
    also = f" and {others} other{'s' * (others > 1)}, each" if others else ""
    return f"reads most from {spot.key(most)}{also}: {said(weights[most].item())}"


def _masked(allowed: Tensor) -> str:
    """Count the keys that a row may not read."""
    n_masked, n_keys = int((~allowed).sum()), len(allowed)
    if n_masked:
        return f"{n_masked} of {counted(n_keys, 'key')} {are(n_masked)} masked."
    return (
        f"None of {n_keys} keys is masked." if n_keys > 1 else "Its one key is allowed."
    )


def _compared(spot: Spot, found: dict) -> list[str]:
    """Say how the weight that is spoken of came about."""
    weights = found["weights"][spot.row]
    if not weights.isfinite().all() or weights.max() <= 0:
        return []
    product, scaled, score = (
        said(found[stage][spot.row, int(weights.argmax())].item())
        for stage in ("products", "scaled", "scores")
    )
    d_head = found["queries"].shape[-1]
    bias = f", {score} with the position bias" if found["biased"] else ""
    return [f"There query · key is {product}, and {scaled} divided by √{d_head}{bias}."]


def _leaks(spot: Spot, found: dict) -> list[str]:
    """Say how much of a row's weight lies on keys behind it."""
    if spot.trace.masked:
        return []
    start = ["The model ran without its causal mask."]
    if spot.kind == "cross":
        return start
    mine = found["leaking"][spot.row]
    total = said(found["weights"][spot.row][mine].sum().item())
    n_leaks = int(mine.sum())
    of_row = f"{n_leaks} of the row's {counted(len(mine), 'weight')}"
    of_row += (
        f", {total} together," if n_leaks > 1 else f", {total}," if mine.any() else ""
    )
    of_row += " lies" if n_leaks == 1 else " lie"
    of_head = f"The whole head has {int(found['leaking'].sum())}."
    name = "a leak" if n_leaks == 1 else "leaks"
    return [*start, f"{of_row} on keys behind it: {name}. {of_head}"]


def _shared(spot: Spot) -> list[str]:
    """Say which heads share their keys and values, where they do."""
    if spot.n_sharing == 1:
        return []
    first = spot.kv_head * spot.n_sharing
    return [
        f"Heads {first} to {first + spot.n_sharing - 1} share the keys and values of "
        f"kv_head {spot.kv_head}."
    ]
