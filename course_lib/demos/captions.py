"""Demo: drafts of live speech change; what two in a row agree on may be shown."""

from dataclasses import dataclass

import torch
from matplotlib.axes import Axes
from torch import Tensor
from torch.nn.functional import avg_pool2d

from course_lib.apps.captions import StablePrefix, Word
from course_lib.audio import SAMPLE_RATE, log_mel
from course_lib.data.speech import Sentence, sentences
from course_lib.demos.control import choice, slider
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage
from course_lib.figures import Still
from course_lib.figures.show import BLUE, INK, ORANGE, PAPER, SKY
from course_lib.generation import generate_batch
from course_lib.pretrained import load
from course_lib.sampling import Sampler

MOVIE, STORY = "about a movie", "about a dog"
CHUNK, PAUSE, LONGEST = 0.5, 0.5, 4.5  # seconds: a draft, a pause, the slider
WINDOW = 10.0  # seconds that the model gets: after the sound, silence
SHOWN = "the viewer sees"
ROWS = {"previous draft": -1.0, "newest draft": -2.0, SHOWN: -3.2}


def demo() -> Demo:
    """Make the demo; Whisper tiny.en hears two sentences, half a second at a time.

    Raises:
        AssetError: its weights are not there yet; the message says how to fetch them.

    Lesson: notebooks/14_captions.ipynb
    """
    whisper = load("whisper-tiny.en")
    spoken = {one.name: one for one in sentences()}
    with torch.inference_mode():
        talks = {
            MOVIE: _talk(*whisper, spoken["movie"]),
            STORY: _talk(*whisper, spoken["story"]),
        }

    def draw(sentence: str, heard: float, agreement: int) -> Still:
        return _picture(talks[sentence], heard, agreement)

    view = Plot(
        draw,
        sentence=choice("Sentence", list(talks)),
        heard=slider("Seconds heard", 0.5, low=0.5, high=LONGEST, step=CHUNK),
        agreement=slider("Drafts that agree", 2, low=1, high=3),
    )
    steps = [
        Step(
            "Half a second is heard, six words are drafted. How many of them will the next "
            "draft keep?",
            "Four: “to do?” is taken back, though it will be said. The encoder reads all sound "
            "anew, so any word may change.",
            after={"heard": 1.0},
        ),
        Step(
            "Two drafts in a row must agree; the newest one's last word waits at . or ?. Next: "
            "“What do you want to do to me?” What is shown?",
            "“What do you want”, four words. “to do to me?” has to wait, and “to me?” is "
            "never seen.",
            before={"heard": 1.0},
            after={"heard": 1.5},
        ),
        Step(
            "If each draft is shown at once, and what is shown stays: will the finished caption "
            "be right, too?",
            "No: 4 of 13 words are wrong, taken from drafts that were too early. Waiting for a "
            "second draft costs half a second or more.",
            before={"heard": 4.5},
            after={"heard": 4.5, "agreement": 1},
        ),
        Step(
            "3 seconds heard: the draft says “daughter”. Will the viewer ever read it?",
            "No: the next draft says “dog”, so no two agree on “daughter”. The last word of a "
            "draft is often half heard.",
            before={"sentence": STORY, "heard": 3.0},
            after={"heard": 3.5},
        ),
        Step(
            "“movie.” ended at 3.6 s. At 4 s it waits: the drafts differ, and it has a full stop. "
            "What brings it to the viewer?",
            "The pause: after half a second of quiet the sentence counts as ended, and all that "
            "waits is shown.",
            before={"heard": 4.0},
            after={"heard": 4.5},
        ),
    ]
    return Demo("Live captions", view, steps)


@dataclass(frozen=True)
class _Talk:
    """A sentence, how it looks, and the draft after each half second."""

    sentence: Sentence
    spectrogram: Tensor
    drafts: list[list[Word]]

    @property
    def ends(self) -> list[float]:
        """When each word has been said: where the next begins."""
        return [*self.sentence.starts[1:], self.spectrogram.shape[-1] / 100]

    def shown(self, n_drafts: int, agreement: int) -> list[str]:
        """Give the words that a viewer sees after some drafts; a pause shows all."""
        policy = StablePrefix(agreement)
        for number, draft in enumerate(self.drafts[:n_drafts], 1):
            paused = CHUNK * number >= self.ends[-1] + PAUSE
            policy.hear(draft[len(policy.committed) :], flush=paused)
        return [word.text for word in policy.committed]


def _talk(model, tokenizer, sentence: Sentence) -> _Talk:
    """Let the model write down what it heard, with each half second, until the pause."""
    samples, size = sentence.samples(), round(CHUNK * SAMPLE_RATE)
    ends = range(size, len(samples) + round(PAUSE * SAMPLE_RATE) + size, size)
    memory = model.encoder(torch.cat([log_mel(samples[:end], WINDOW) for end in ends]))
    choose = Sampler(temperature=0, suppress=tokenizer.suppressed)
    prompts = [tokenizer.prompt] * len(ends)
    written = generate_batch(
        model.decoder, prompts, 30, choose, tokenizer.eos_id, memory=memory
    )
    texts = [tokenizer.decode(ids) for ids in written]
    drafts = [[Word(word, 0, 0) for word in text.split()] for text in texts]
    return _Talk(sentence, log_mel(samples), drafts)


def _picture(talk: _Talk, heard: float, agreement: int) -> Still:
    """Draw the sound that was heard, two drafts, and what is shown."""
    n = min(round(heard / CHUNK), len(talk.drafts))
    shown = talk.shown(n, agreement)
    drafts = ["", *(" ".join(word.text for word in draft) for draft in talk.drafts[:n])]
    lines = [drafts[-2] or "—", drafts[-1], " ".join(shown) or "—"]
    fig, (axes,) = new_stage()
    _draw_sound(axes, talk, heard)
    for (name, y), line in zip(ROWS.items(), lines, strict=True):
        style = {"weight": "bold", "color": BLUE} if name == SHOWN else {}
        axes.text(0.04, y, line, va="center", **style)
    axes.set_yticks([*ROWS.values(), 1], [*ROWS, "the sound"])
    axes.tick_params(axis="y", length=0)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set(xlim=(0, LONGEST + 0.3), ylim=(-3.8, 3.6), xlabel="seconds")
    words = talk.sentence.words
    spoken = sum(end <= heard + 0.01 for end in talk.ends)
    wrong = sum(
        Word(one, 0, 0).letters != Word(other, 0, 0).letters
        for one, other in zip(shown, words, strict=False)
    )
    caption = (
        f"{heard:.1f} s: {spoken} of {len(words)} words spoken, {len(shown)} shown, "
        f"{wrong} wrong"
    )
    if shown and not wrong:
        late = heard - talk.ends[len(shown) - 1]
        caption += f", {max(late, 0):.1f} s late"
    if (quiet := heard - talk.ends[-1]) > 0:
        caption += f"; quiet for {quiet:.1f} s"
    alt = (
        f"A spectrogram of the {heard:.1f} s that were heard, with the words that began: "
        f"{' '.join(_begun(talk, heard))}. Below it, the previous draft: {lines[0]} The "
        f"newest draft: {lines[1]} The viewer sees, as {agreement} must agree: {lines[2]}"
    )
    return Still(fig, alt, caption + ".")


def _begun(talk: _Talk, heard: float) -> list[str]:
    """Give the words of which something was heard."""
    pairs = zip(talk.sentence.words, talk.sentence.starts, strict=True)
    return [word for word, start in pairs if start < heard]


def _draw_sound(axes: Axes, talk: _Talk, heard: float) -> None:
    """Draw the spectrogram up to now, and the words above where they begin."""
    seen = talk.spectrogram[0, :, : round(100 * heard)]
    shades = avg_pool2d(seen[None], (5, 4)).mul(5).round()[0]  # few: a small file
    look = {"origin": "lower", "aspect": "auto", "interpolation": "nearest"}
    extent = (0, shades.shape[1] / 25, 0, 2)
    axes.imshow(shades.numpy(), cmap="cividis", extent=extent, **look)
    for place, word in enumerate(_begun(talk, heard)):
        start = talk.sentence.starts[place]
        axes.plot([start, start], [0, 2.3 + 0.6 * (place % 2)], ":", color=INK, lw=1)
        style = {
            "size": 13,
            "va": "center",
            "bbox": {"fc": PAPER, "ec": "none", "pad": 1},
        }
        axes.text(start, 2.4 + 0.6 * (place % 2), word, **style)
    if (quiet := heard - talk.ends[-1]) > 0:  # a pause has begun
        axes.fill_between([talk.ends[-1], heard], 0, 2, color=SKY, alpha=0.5, lw=0)
        words = f"quiet\n{quiet:.1f} s"
        if quiet > 0.3:  # wide enough for the words
            middle = (talk.ends[-1] + heard) / 2
            axes.text(middle, 1, words, size=13, ha="center", va="center")
    axes.plot([heard, heard], [0, 2.2], color=ORANGE, linewidth=3)
    axes.text(heard + 0.04, 1, "now", va="center")
