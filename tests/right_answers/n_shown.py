"""Right answers to n_shown."""

import re

from tests.answers import right


@right("find, and the longest beginning of each stop word")
def by_find(text, stops):
    places = [p for p in (text.find(s) for s in stops) if p >= 0]
    if places:
        return min(places)
    held = 0
    for stop in stops:
        for n in range(1, len(stop)):
            if text.endswith(stop[:n]):
                held = max(held, n)
    return len(text) - held


@right("one regular expression")
def by_pattern(text, stops):
    if not stops:
        return len(text)
    whole = re.search("|".join(re.escape(s) for s in stops), text)
    if whole:
        return whole.start()
    halves = {s[:n] for s in stops for n in range(1, len(s))}
    if not halves:
        return len(text)
    ordered = sorted(halves, key=len, reverse=True)
    half = re.search("(?:" + "|".join(re.escape(h) for h in ordered) + r")\Z", text)
    return half.start() if half else len(text)


@right("letter by letter")
def letter_by_letter(text, stops):
    for start in range(len(text)):
        if any(text.startswith(s, start) for s in stops):
            return start
    for start in range(len(text)):
        for s in stops:
            if s[: len(text) - start] == text[start:]:
                return start
    return len(text)
