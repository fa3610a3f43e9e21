"""Demo: a chat is one text with marks in it, and the model only goes on with it."""

from math import prod

from matplotlib.axes import Axes

from course_lib.demos.control import choice, slider, switch
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage
from course_lib.figures import Still
from course_lib.figures.show import BLUE, INK, ORANGE
from course_lib.generation import stream
from course_lib.pretrained import load
from course_lib.sampling import Sampler

FRANCE, ITALY = "What is the capital of France?", "And of Italy?"
MOON = "In which year did Albert Einstein walk on the Moon?"
SAID = {
    "Hi!": "Hi!",
    "Capital of France?": FRANCE,
    ITALY: ITALY,
    "France, then Italy": ITALY,
    "Einstein on the Moon?": MOON,
}
BOTH = list(SAID)[3]
FIRST_TURN = [
    {"role": "user", "content": FRANCE},
    {"role": "assistant", "content": "The capital of France is Paris."},
]
MARKED, BARE = "chat format", "bare text"
MOST, SHOWN = 20, 8  # tokens that are written, and that get a bar
COLUMNS, LINES = 56, 10  # of letters of one width, 12 points
LEFT, RIGHT = (0.008, 0.02, 0.628, 0.96), (0.775, 0.2, 0.22, 0.76)


def demo() -> Demo:
    """Make the demo; SmolLM2 writes, always its likeliest token.

    Raises:
        AssetError: its weights are not there yet; the message says how to fetch them.

    Lesson: notebooks/13_chat.ipynb
    """
    model, tokenizer = load("smollm2")
    texts = {
        (said, sent): _Text(model, tokenizer, said, sent == MARKED)
        for said in SAID
        for sent in (MARKED, BARE)
    }

    def draw(said: str, sent: str, stop: bool, written: int) -> Still:
        return _picture(texts[said, sent], written, stop)

    view = Plot(
        draw,
        said=choice("You say", list(SAID)),
        sent=choice("Sent as", [MARKED, BARE]),
        stop=switch("Stop at the end", True),
        written=slider("Tokens written", 0, low=0, high=MOST),
    )
    steps = [
        Step(
            "You type “Hi!”, and all this goes in. What comes after it?",
            "An answer, and then the mark that ends a turn: it was trained on texts of this "
            "form, and this is how they go on.",
            after={"written": 10},
        ),
        Step(
            "“Hi!” alone, without marks: what does the model write now?",
            "It speaks as you: whoever says Hi! goes on talking. Without marks it has to guess "
            "whose turn it is.",
            before={"sent": BARE},
            after={"written": 12},
        ),
        Step(
            "We asked about France first, yet “And of Italy?” gets this. Where must the first "
            "question stand?",
            "In the text. The whole talk goes in again each turn (or its cache is kept); no "
            "weight remembers.",
            before={"said": ITALY, "written": 10},
            after={"said": BOTH, "written": 8},
        ),
        Step(
            "Rome, and <|im_end|>. If nobody stops the loop there, what comes next?",
            "Your next question: it writes your part too. The end mark is a token like any "
            "other; the program must stop.",
            before={"said": BOTH, "written": 8},
            after={"written": 20, "stop": False},
        ),
        Step(
            "The true answer about Paris had a mean probability of 0.70 a token. Will an "
            "invented year have much less?",
            "Hardly: 0.65. The number says how usual the words are after the question, not "
            "whether they are true.",
            before={"said": "Einstein on the Moon?"},
            after={"written": 15},
        ),
    ]
    for step in steps:  # written now, so that no reveal waits for the model
        look = view.state | step.before | step.after
        texts[look["said"], look["sent"]].written(look["written"], look["stop"])
    return Demo("A chat is one text", view, steps)


class _Noting(Sampler):
    """Takes the likeliest token, and notes its probability."""

    def __init__(self):
        super().__init__(temperature=0)
        self.chances: list[float] = []

    def __call__(self, logits, history=None):
        ids = super().__call__(logits, history)
        self.chances.append(float(logits.softmax(-1)[0, ids[0]]))
        return ids


class _Text:
    """What goes in, and what the model writes after it, as far as it is wanted."""

    def __init__(self, model, tokenizer, said: str, marked: bool):
        talk = [{"role": "user", "content": SAID[said]}]
        talk = [*FIRST_TURN, *talk] if said == BOTH else talk
        bare = "\n".join(turn["content"] for turn in talk)
        self.tokenizer = tokenizer
        self.ids = tokenizer.chat(talk) if marked else tokenizer.encode(bare)
        self.new: list[int] = []
        self._noting = _Noting()
        self._going_on = stream(model, self.ids, MOST, self._noting)

    def written(self, n: int, stop: bool) -> tuple[list[int], list[float]]:
        """Give at most n new tokens and their probabilities."""
        while len(self.new) < max(n, 1):  # reads the text while people still think
            self.new.append(next(self._going_on))
        new = self.new[:n]
        if stop and self.tokenizer.eos_id in new:
            new = new[: new.index(self.tokenizer.eos_id) + 1]
        return new, self._noting.chances[: len(new)]

    @property
    def pieces(self) -> list[tuple[str, str]]:
        """What goes in, as (text, kind); the system's words are cut short."""
        pieces = [self.piece(i, "read") for i in self.ids]
        if self.ids[0] == self.tokenizer.bos_id:
            pieces[7 : self.ids.index(self.tokenizer.eos_id)] = [(" …", "read")]
        return pieces

    def piece(self, new_id: int, kind: str) -> tuple[str, str]:
        """Give a token's text, with its line breaks to be seen."""
        special = new_id in (self.tokenizer.bos_id, self.tokenizer.eos_id)
        text = self.tokenizer.decode([new_id]).replace("\n", "⏎")
        return text, f"{kind} mark" if special else kind


def _picture(text: _Text, written: int, stop: bool) -> Still:
    """Draw the one text on the left, the newest tokens' probabilities on the right."""
    new, chances = text.written(written, stop)
    pieces = [text.piece(i, "new") for i in new]
    fig, (left, right) = new_stage([1, 1])
    fig.set_layout_engine("none")  # letters keep their columns, whatever the bars say
    left.set_position(LEFT)
    right.set_position(RIGHT)
    _write(left, [*text.pieces, *pieces])
    names = [name.replace(" ", "␣") for name, _ in pieces][-SHOWN:]
    places = range(len(new))[-SHOWN:]
    bars = right.barh([*places], chances[-SHOWN:], color=BLUE)
    right.bar_label(bars, fmt="%.2f", padding=3)
    right.set_yticks([*places], names)
    right.set(xlim=(0, 1.35), xticks=(0, 0.5, 1), xlabel="probability")
    right.set_ylim(max(len(new), SHOWN) - 0.4, max(len(new), SHOWN) - SHOWN - 0.6)
    right.spines[["top", "right"]].set_visible(False)
    right.tick_params(axis="y", length=0)
    answer = text.tokenizer.decode(new)
    caption = f"{len(text.ids)} tokens go in; "
    if not new:
        caption += "nothing is written yet."
        right.text(0.67, SHOWN / 2 - 0.5, "nothing\nwritten yet", ha="center")
    else:
        mean = _geometric_mean(chances)
        ended = stop and new[-1] == text.tokenizer.eos_id
        caption += f"{len(new)} written{', then stopped' * ended}. "
        caption += f"Mean probability {mean:.2f}."
    shares = [f"{n} {c:.2f}" for (n, _), c in zip(pieces, chances, strict=True)]
    alt = (
        f"On the left the one text. Read: {''.join(piece for piece, _ in text.pieces)} "
        f"Written by the model: {answer.strip() or 'nothing yet'}. On the right the "
        f"probabilities of what was written: {', '.join(shares) or 'none yet'}."
    )
    return Still(fig, alt, caption)


def _geometric_mean(chances: list[float]) -> float:
    """Give the mean of probabilities that multiply."""
    return prod(chances) ** (1 / len(chances))


def _write(axes: Axes, pieces: list[tuple[str, str]]) -> None:
    """Write tokens in lines: boxed marks, bold what the model wrote."""
    axes.axis("off")
    axes.set(xlim=(0, COLUMNS), ylim=(LINES - 0.4, -1.5))
    line, column, before = 0, 0.0, ""
    for text, kind in pieces:
        is_full = column + len(text) > COLUMNS and len(text) > 1
        if is_full or before.endswith("|>⏎"):
            line, column, text = line + 1, 0.0, text.lstrip(" ")
        column += 0.5 * ("mark" in kind)
        style = {"weight": "bold", "color": BLUE} if "new" in kind else {}
        if "mark" in kind:
            style["bbox"] = {
                "boxstyle": "square,pad=0.1",
                "fc": "#FFF0D0",
                "ec": ORANGE,
            }
        font = {"family": "DejaVu Sans Mono", "size": 12, "va": "center"}
        axes.text(column, line, text, **font | style)
        column += len(text) + 0.5 * ("mark" in kind)
        before = before[-9:] + text
    axes.text(0, -0.9, "Boxes: special tokens. Bold: model.", color=INK)
