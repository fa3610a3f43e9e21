"""Subtitles: words become lines on the screen, in the formats that players read."""

from collections.abc import Iterable
from dataclasses import dataclass

from course_lib.apps.captions.words import Word

LINE = 42  # characters: two such lines are read at a glance
LINES = 2
LONGEST_SECONDS, SHORTEST_SECONDS = 7.0, 1.0
PAUSE_SECONDS = 1.0  # a longer silence ends a cue


@dataclass(frozen=True)
class Cue:
    """What stands on the screen from one time to another, in seconds."""

    start: float
    end: float
    words: tuple[Word, ...]

    @property
    def text(self) -> str:
        """The words in a row."""
        return " ".join(word.text for word in self.words)

    @property
    def lines(self) -> list[str]:
        """The words in at most two lines, as long as they fit."""
        text = self.text
        if len(text) <= LINE:
            return [text]
        blanks = [i for i, letter in enumerate(text) if letter == " "]
        if not blanks:
            return [text]
        middle = min(blanks, key=lambda i: abs(i - len(text) / 2))
        return [text[:middle], text[middle + 1 :]]


def cues(words: Iterable[Word]) -> list[Cue]:
    """Group words into what is shown at a time.

    A cue ends with a sentence, before a pause, and where it would be too long to read.
    It stays for a second at least, unless the next one begins.

    Args:
        words: in the order of time.

    Returns:
        Cues whose times, in whole milliseconds, never overlap and never run back.

    Source: Netflix Timed Text Style Guide, English (42 characters, 2 lines, 7 s).
    Lesson: notebooks/14_captions.ipynb

    >>> say = [Word("Wait.", 0, 0.4), Word("Ask", 0.5, 1), Word("not.", 1, 1.6)]
    >>> [(cue.start, cue.end, cue.text) for cue in cues(say)]
    [(0, 0.5, 'Wait.'), (0.5, 1.6, 'Ask not.')]
    """
    groups: list[list[Word]] = []
    for word in words:
        if not groups or _is_full(groups[-1], word):
            groups.append([])
        groups[-1].append(word)
    shown, earliest = [], 0.0
    for i, group in enumerate(groups):
        start = round(max(group[0].start, earliest), 3)  # as it will be written
        end = max(group[-1].end, start + SHORTEST_SECONDS)
        if i + 1 < len(groups):
            end = min(end, groups[i + 1][0].start)
        # Players drop what has no duration.
        earliest = end = round(max(end, start + 0.001), 3)
        shown.append(Cue(start, end, tuple(group)))
    return shown


def srt(words: Iterable[Word]) -> str:
    """Write subtitles in the SubRip format.

    Args:
        words: in the order of time.

    Source: https://www.matroska.org/technical/subtitles.html#srt-subtitles
    Lesson: notebooks/14_captions.ipynb

    >>> print(srt([Word("Ask", 3.2, 3.7), Word("not.", 3.7, 4.4)]), end="")
    1
    00:00:03,200 --> 00:00:04,400
    Ask not.
    """
    blocks = []
    for number, cue in enumerate(cues(words), start=1):
        times = f"{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}"
        # An arrow begins a cue for some readers, wherever it stands.
        lines = [line.replace("-->", "->") for line in cue.lines]
        blocks.append("\n".join([str(number), times, *lines]))
    return _joined(blocks)


def vtt(words: Iterable[Word]) -> str:
    """Write subtitles in the WebVTT format, which browsers show.

    Args:
        words: in the order of time.

    Source: W3C, WebVTT, https://www.w3.org/TR/webvtt1, section 4.
    Lesson: notebooks/14_captions.ipynb

    >>> print(vtt([Word("x<y", 3.2, 4.4)]), end="")
    WEBVTT
    <BLANKLINE>
    00:00:03.200 --> 00:00:04.400
    x&lt;y
    """
    return _joined(["WEBVTT", *(vtt_cue(c.start, c.end, c.lines) for c in cues(words))])


def vtt_cue(start: float, end: float, lines: Iterable[str]) -> str:
    """Write one WebVTT cue; times in seconds, lines as plain text."""
    escaped = [
        line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        for line in lines
    ]
    return "\n".join([f"{_clock(start, '.')} --> {_clock(end, '.')}", *escaped])


def _is_full(group: list[Word], word: Word) -> bool:
    """Whether a word has to begin a new cue."""
    length = sum(len(each.text) + 1 for each in group) + len(word.text)
    return (
        group[-1].ends_sentence
        or word.start - group[-1].end > PAUSE_SECONDS
        or length > LINES * LINE - 10  # two lines break at a blank, not evenly
        or word.end - group[0].start > LONGEST_SECONDS
    )


def _clock(seconds: float, point: str) -> str:
    """Write a time as hours, minutes, seconds and thousandths."""
    rest, thousandths = divmod(round(seconds * 1000), 1000)
    minutes, rest = divmod(rest, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{rest:02d}{point}{thousandths:03d}"


def _joined(blocks: list[str]) -> str:
    return "".join(f"{block}\n" for block in ["\n\n".join(blocks)] if block)
