"""What goes wrong in n_shown: half a stop word on the screen."""

from course_lib.feedback.task import Draw, Probe, Task


def n_shown(text, stops):
    for start in range(len(text)):
        rest = text[start:]
        if any(rest.startswith(stop) for stop in stops):
            return start
    return len(text) - held_back(text, stops)


def held_back(text, stops, lengths=max):
    """Count the letters at the end that may become a stop word."""
    sizes = range(1, len(text) + 1)
    ends = [n for n in sizes if any(stop.startswith(text[-n:]) for stop in stops)]
    return lengths(ends) if ends else 0


task = Task(
    "n_shown",
    asks="how many letters may be shown: all before the first stop word, or before an end "
    "that may become one.",
    lesson="09_sampling",
    reference=n_shown,
    read="1. The loop",
)

FIRST = "Two stop words stand in the text: which one comes first?"
INSIDE = "Can a stop word end in the middle of a token?"
HALF = "The text ends in half a stop word: what comes with the next token?"
LONGEST = "Several ends may become a stop word: which one must wait?"
LETTERS = "abcdefgh"


@task.inputs
def probes(draw: Draw):
    word = "".join(LETTERS[i] for i in draw.order(8).tolist())
    more = "".join(LETTERS[i] for i in draw.ints(0, 8, draw.size(9, 15)).tolist())
    yield Probe("a stop word at the end", "So long. END", ["END"])
    yield Probe("half a stop word at the end", "So long. EN", ["END"])
    yield Probe("one letter of a stop word at the end", "So long. E", ["END"])
    yield Probe("a stop word, and more", "So long.END of it", ["END"])
    yield Probe("no stop word", more, ["END", "STOP"])
    yield Probe("no stop words asked for", more + "END", [])
    yield Probe(
        "two, the second in the list first", "one STOP two END", ["END", "STOP"]
    )
    yield Probe("the same one twice", "one END two END", ["STOP", "END"])
    yield Probe("half of the second", word + "\nUs", ["END", "\nUser:"])
    yield Probe("two ends that may become one", "no " + "-" * 3, ["-!", "--->"])
    yield Probe("the same, listed the other way", "no " + "-" * 3, ["--->", "-!"])
    yield Probe("a beginning in the middle", "EN route, ST " + word, ["END", "STOP"])
    yield Probe("a whole one, and half of another", "one END two ST", ["STOP", "END"])
    yield Probe("the middle of a stop word at the end", "So long. AND", ["END"])
    yield Probe("a whole one inside half of another", "so <END", ["<END>", "END"])
    yield Probe("the whole text is a beginning", word[:5], [word, "END"])
    yield Probe("repeated letters", more + "IIAII", ["IIAIIB"])


@task.property("half-a-stop-word-waits", HALF)
def half_waits(values) -> bool:
    return values["half a stop word at the end"] <= 9


@task.property("text-without-stop-words-is-shown", "Why should these letters wait?")
def all_is_shown(values) -> bool:
    return values["no stop words asked for"] > 11


def earliest(text, stops):
    """Where stop words begin in the text."""
    return [text.index(stop) for stop in stops if stop in text]


@task.mistake("only-at-the-end", INSIDE)
def as_published(text, stops):
    for stop in stops:
        if text.endswith(stop):
            return len(text) - len(stop)
    return len(text)


@task.mistake("only-at-the-end", INSIDE)
def at_the_end_and_halves(text, stops):
    for stop in stops:
        if text.endswith(stop):
            return len(text) - len(stop)
    return len(text) - held_back(text, stops)


@task.mistake("half-a-stop-word-shown", HALF)
def whole_ones_only(text, stops):
    return min(earliest(text, stops), default=len(text))


@task.mistake("half-a-stop-word-shown", HALF)
def first_whole_one_of_the_list(text, stops):
    return ([*earliest(text, stops), len(text)])[0]


@task.mistake("first-of-the-list", FIRST)
def first_of_the_list(text, stops):
    begins = earliest(text, stops)
    return begins[0] if begins else len(text) - held_back(text, stops)


@task.mistake("last-in-the-text", FIRST)
def last_in_the_text(text, stops):
    begins = [text.rindex(stop) for stop in stops if stop in text]
    return max(begins) if begins else len(text) - held_back(text, stops)


@task.mistake("last-in-the-text", FIRST)
def last_of_each(text, stops):
    begins = [text.rindex(stop) for stop in stops if stop in text]
    return min(begins) if begins else len(text) - held_back(text, stops)


@task.mistake("shortest-end-held-back", LONGEST)
def shortest(text, stops):
    return min(earliest(text, stops), default=len(text) - held_back(text, stops, min))


@task.mistake("only-one-letter-held-back", LONGEST)
def one_letter(text, stops):
    waiting = any(text.endswith(stop[0]) for stop in stops)
    return min(earliest(text, stops), default=len(text) - waiting)


@task.mistake("one-stop-word-decides", LONGEST)
def first_that_has_begun(text, stops):
    begins = earliest(text, stops)
    if begins:
        return min(begins)
    for stop in stops:
        if n := held_back(text, [stop]):
            return len(text) - n
    return len(text)


@task.mistake("one-stop-word-decides", LONGEST)
def last_that_has_begun(text, stops):
    return first_that_has_begun(text, stops[::-1])


@task.mistake("only-one-stop-word", "How many stop words are in the list?")
def only_the_first(text, stops):
    return n_shown(text, stops[:1])


@task.mistake("holds-back-too-much", "Which letters at the end can begin a stop word?")
def always_waits(text, stops):
    waiting = max(map(len, stops), default=1) - 1
    return min(earliest(text, stops), default=max(0, len(text) - waiting))


@task.mistake(
    "beginning-in-the-middle", "Can letters that others follow still become one?"
)
def first_letter_anywhere(text, stops):
    begins = earliest(text, stops)
    if begins:
        return min(begins)
    halves = [text.index(stop[:2]) for stop in stops if stop[:2] in text]
    return min(halves, default=len(text) - held_back(text, stops))


@task.mistake("stop-word-shown", "Is the stop word itself part of the answer?")
def behind_the_stop_word(text, stops):
    ends = [(text.index(stop), len(stop)) for stop in stops if stop in text]
    return sum(min(ends)) if ends else len(text) - held_back(text, stops)


@task.mistake(
    "half-of-another-after-the-end", "A stop word stands there: may more be written?"
)
def halves_first(text, stops):
    whole = [stop for stop in stops if text.endswith(stop)]
    if not whole and (n := held_back(text, stops)):
        return len(text) - n
    return n_shown(text, stops)


@task.mistake(
    "middle-of-a-stop-word-waits", "With which letter does a stop word begin?"
)
def any_part(text, stops):
    begins = earliest(text, stops)
    places = range(len(text))
    waiting = (i for i in places if any(text[i:] in stop for stop in stops))
    return min(begins) if begins else next(waiting, len(text))


@task.mistake(
    "half-before-a-whole-one", "A stop word stands there: may more be written?"
)
def first_place_of_either(text, stops):
    for i in range(len(text)):
        rest = text[i:]
        if any(stop.startswith(rest) or rest.startswith(stop) for stop in stops):
            return i
    return len(text)
