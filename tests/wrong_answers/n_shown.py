"""Wrong answers to n_shown."""

import re

from tests.answers import wrong


def longest_half(text, stop):
    """How many letters at the end of the text begin this stop word."""
    for n in range(min(len(stop), len(text)), 0, -1):
        if text.endswith(stop[:n]):
            return n
    return 0


@wrong("half-a-stop-word-shown")
def find(text, stops):
    places = [text.find(s) for s in stops]
    places = [p for p in places if p != -1]
    if len(places) > 0:
        return min(places)
    return len(text)


@wrong("first-of-the-list")
def return_in_the_loop(text, stops):
    for stop in stops:
        if stop in text:
            return text.find(stop)
    held = 0
    for stop in stops:
        held = max(held, longest_half(text, stop))
    return len(text) - held


@wrong("only-at-the-end")
def endswith(text, stops):
    n = len(text)
    for stop in stops:
        if text[-len(stop) :] == stop:
            n = min(n, len(text) - len(stop))
    return n


@wrong("shortest-end-held-back")
def grows_from_one(text, stops):
    found = [text.find(s) for s in stops if s in text]
    if found:
        return min(found)
    for n in range(1, len(text) + 1):
        for stop in stops:
            if stop.startswith(text[len(text) - n :]):
                return len(text) - n
    return len(text)


@wrong("last-in-the-text")
def split_off_the_last(text, stops):
    n = len(text)
    for stop in stops:
        if stop in text:
            n = min(n, len(text.rpartition(stop)[0]))
    if n < len(text):
        return n
    return n - max([longest_half(text, s) for s in stops], default=0)


@wrong("stop-word-shown")
def end_of_the_match(text, stops):
    pattern = "|".join(re.escape(s) for s in stops)
    match = re.search(pattern, text) if stops else None
    if match:
        return match.end()
    return len(text) - max([longest_half(text, s) for s in stops], default=0)


@wrong("holds-back-too-much")
def always_the_longest(text, stops):
    found = [text.index(s) for s in stops if s in text]
    if found:
        return min(found)
    if not stops:
        return len(text)
    return max(len(text) - max(len(s) for s in stops) + 1, 0)


@wrong("one-stop-word-decides")
def returns_at_once(text, stops):
    found = [text.index(s) for s in stops if s in text]
    if found:
        return min(found)
    for s in stops:
        if longest_half(text, s) > 0:
            return len(text) - longest_half(text, s)
    return len(text)


@wrong("only-one-letter-held-back")
def one_letter(text, stops):
    found = [text.index(s) for s in stops if s in text]
    if found:
        return min(found)
    if any(text.endswith(s[0]) for s in stops):
        return len(text) - 1
    return len(text)
