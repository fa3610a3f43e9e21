"""Demo: learning asks all places at once and feeds the truth; writing feeds itself."""

from functools import cache

import torch
from torch.nn.functional import cross_entropy

from course_lib.demos.control import choice, slider, words
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage
from course_lib.figures import Still
from course_lib.figures.show import BLUE, FAINT, INK, ORANGE, SKY, write
from course_lib.generation import generate
from course_lib.pretrained import load

PROMPT, TEXT = "The alphabet: a b c d e f", " g h i j k l m n o p"
TRUTH = TEXT.split()
N, FORCED = len(TRUTH), 1  # the second place is the one that can be forced
LEFT = PROMPT[:-2]  # the last letter of the prompt is fed at place 1
LEARNING, WRITING = "learning: the truth is fed", "writing: what it wrote is fed"


def demo() -> Demo:
    """Make the demo; the decoder is SmolLM2.

    Raises:
        AssetError: its weights are not there yet; the message says how to fetch them.

    Lesson: notebooks/11_training.ipynb
    """
    model, tokenizer = load("smollm2")
    prompt, truth = tokenizer.encode(PROMPT), tokenizer.encode(TEXT)
    fed = torch.tensor([prompt + truth[:-1]])
    with torch.inference_mode():
        logits = model(fed)[0, len(prompt) - 1 :]
    losses = cross_entropy(logits, torch.tensor(truth), reduction="none").tolist()
    guesses = [_shown(tokenizer.decode([i])) for i in logits.argmax(-1).tolist()]

    untouched = generate(model, prompt, N)

    def begun(wrong: str) -> list[int]:
        return truth[:FORCED] + tokenizer.encode(f" {wrong}")[:1]

    @cache
    def written(wrong: str) -> list[str]:
        ids = begun(wrong) if wrong else untouched
        ids = ids + generate(model, prompt + ids, N - len(ids)) if wrong else ids
        return [_shown(tokenizer.decode([i])) for i in ids]

    def draw(feeding: str, place: int, wrong: str) -> Still:
        wrong = wrong.strip()
        if feeding == WRITING:
            return _picture(written(wrong)[:place], [], place)
        says = list(guesses)
        if wrong:
            says[FORCED] = _shown(tokenizer.decode(begun(wrong)[FORCED:]))
        return _picture(says if place else [], losses, place)

    view = Plot(
        draw,
        feeding=choice("Mode", [LEARNING, WRITING]),
        place=slider("Place", 0, low=0, high=N),
        wrong=words("Force place 2 to say", "", longest=8),
    )
    steps = [
        Step(
            "Learning: ten guesses at a known text. How many passes?",
            "One. Each place reads what is fed up to it, and all answer at once, each with "
            "a loss of its own.",
            after={"place": N},
        ),
        Step(
            "Place 3 should say i, and i is fed right beside it, at place 4. May it look there?",
            "No: the causal mask hides the places after it. It gives i the probability 0.72; "
            "its loss is −ln 0.72 = 0.33.",
            before={"place": N},
            after={"place": 3},
        ),
        Step(
            "Now it writes alone: what it says is what it is fed next. How many passes for ten "
            "letters?",
            "Ten: each letter waits for the one before it. And nobody tells it what is right, "
            "so there is no loss.",
            before={"feeding": WRITING},
            after={"place": N},
        ),
        Step(
            "Learning again. We make place 2 say j, not h. What else changes?",
            "Nothing: place 3 is fed h, the truth, whatever place 2 said (teacher forcing). "
            "The other nine stay right.",
            before={"place": N},
            after={"wrong": "j"},
        ),
        Step(
            "Writing: place 3 is fed the wrong j. How many of the eight letters to come will be "
            "wrong?",
            "All eight: after j, k is a good answer. Learning fed only the truth, writing feeds "
            "its own slips; this gap is called exposure bias.",
            before={"feeding": WRITING, "place": 2, "wrong": "j"},
            after={"place": N},
        ),
    ]
    return Demo("Learning and writing", view, steps)


def _shown(token: str) -> str:
    """Make a token short and visible; matplotlib reads $ as mathematics."""
    plain = "".join(c if " " < c <= "~" else "?" for c in token.strip())
    return plain[:5].replace("$", r"\$") or ("↵" if "\n" in token else "␣")


def _picture(says: list[str], losses: list[float], place: int) -> Still:
    """Draw, from below: loss, what is fed, the passes, what it says, what is right."""
    learning = bool(losses)
    fed = ["f", *(TRUTH if learning else says)][: N if learning else len(says) + 1][:N]
    fig, (axes,) = new_stage()
    axes.set(xlim=(-2.5, N - 0.4), ylim=(-0.2, 6.2))
    axes.axis("off")
    rows = {"place": 5.95, "should say": 5.1, "says": 4.2, "pass": 3.25, "is fed": 2.3}
    rows["loss"] = 0.8
    for name, height in rows.items():
        axes.text(-2.45, height, name, ha="left", va="center")
    axes.text(-0.55, 2.3, "… d e", ha="right", va="center")
    for column, letter in enumerate(TRUTH):
        write(axes, column, 5.95, str(column + 1), size=14)
        write(axes, column, 5.1, letter, size=17)
    for column, letter in enumerate(says):
        right = letter == TRUTH[column]
        shown = f"{letter} {'✓' if right else '✗'}"
        box = {"boxstyle": "round,pad=0.2", "fc": ORANGE, "ec": INK}
        wrong = {} if right else {"bbox": box}
        size = {1: 16, 2: 13}.get(len(letter), 11)
        write(axes, column, 4.2, shown, size=size, **wrong)
    if learning and says:
        _box(axes, 0, N, 3.25, "1 pass", BLUE)
    elif not learning:
        for column in range(len(says)):
            _box(axes, column, 1, 3.25, str(column + 1), BLUE)
    for column, letter in enumerate(fed):
        hidden = learning and 0 < place <= column
        _box(axes, column, 1, 2.3, letter, FAINT if hidden else SKY, hidden)
    if learning and says:
        heights = [3.2 * loss for loss in losses]
        marked = place - 1 if place < N else N  # at the last place nothing is hidden
        edges = [INK if column == marked else ORANGE for column in range(N)]
        axes.bar(range(N), heights, 0.6, 0, color=ORANGE, edgecolor=edges, linewidth=2)
        for column, loss in enumerate(losses):
            write(axes, column, heights[column] + 0.3, f"{loss:.2f}", size=13)
    else:
        text = "none: nobody tells it what is right" if says else "no pass yet"
        axes.text(-0.4, 0.8, text, ha="left", va="center")
    return Still(fig, *_words(says, fed, losses, place))


def _box(axes, column, width, height, label, colour, hidden=False) -> None:
    """Draw a labelled box over some columns."""
    style = {"hatch": "///", "facecolor": "white"} if hidden else {"facecolor": colour}
    style |= {"edgecolor": "#888888" if hidden else INK}
    axes.barh(height, width - 0.12, 0.72, column - 0.44, **style)
    plain = {"facecolor": "white", "edgecolor": "none", "pad": 1} if hidden else None
    colour = "white" if colour == BLUE else INK
    size = 16 if len(label) < 3 else 11 if width == 1 else 14
    middle = column - 0.5 + width / 2
    write(axes, middle, height, label, size=size, color=colour, bbox=plain)


def _words(says, fed, losses, place) -> tuple[str, str]:
    """Say what is drawn: alt text and caption."""
    n_right = sum(a == b for a, b in zip(says, TRUTH, strict=False))
    marks = ", ".join(
        f"{one} {'right' if one == right else f'wrong for {right}'}"
        for one, right in zip(says, TRUTH, strict=False)
    )
    if losses and not says:
        caption = f"“{LEFT}” and {N} more letters are ready to be fed; no pass yet."
    elif losses:
        mean = sum(losses) / N
        p = torch.tensor(-losses[place - 1]).exp().item()
        caption = (
            f"1 pass, {n_right} of {N} right, mean loss {mean:.2f} nats. "
            f"Place {place} gives “{TRUTH[place - 1]}” a probability of {p:.2f}."
        )
    else:
        caption = f"Passes made: {len(says)} of {N}; right: {n_right} of {len(says)}."
        caption = caption if says else f"It is to go on from “{PROMPT}”; no pass yet."
    alt = f"{caption} It is fed {' '.join(fed)}. It says: {marks or 'nothing yet'}."
    if losses and says:
        alt += f" Losses: {', '.join(f'{loss:.2f}' for loss in losses)}."
    return alt, caption
