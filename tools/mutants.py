"""Mutation testing: does `check` notice a small fault in a right answer?

    python tools/mutants.py            all answers; writes tests/feedback/MUTANTS.md
    python tools/mutants.py NAME ...   the answers to these; renews their rows

The right answers are the solutions of the exercises and the references of the
catalogue. Each is broken in one place at a time (mutators.py) and handed to `check`.
Where every visible check still holds, the mutant has survived. Why that is right
stands in tests/feedback/mutants.toml; a survivor without a reason is printed in the
form of that file. The exit status is 1 where one is without, where a reason has no
survivor, or where less than 95 % were noticed.
"""

import argparse
import json
import os
import re
import sys
import tomllib
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import right_answers  # noqa: E402  the tool beside this one
from right_answers import Answer  # noqa: E402

from course_lib.feedback import check  # noqa: E402

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "feedback"
TABLE, REASONS = FOLDER / "MUTANTS.md", FOLDER / "mutants.toml"
GOAL = 0.95
SECONDS = 2.0  # of wall time for one mutant; a right answer needs a twentieth
ROW = re.compile(r"^\| `(\w+)` \| ([\w./]+) \|" + r" (\d+) \|" * 4, re.MULTILINE)


@dataclass(frozen=True)
class Row:
    """What became of one answer's mutants.

    made: all of them.
    by_rule: not tried, since no check of an answer looks there.
    survived: tried, and not noticed.
    without: of these, without a reason.
    """

    task: str
    place: str
    made: int
    by_rule: int
    survived: int
    without: int

    def __str__(self) -> str:
        counts = self.made, self.by_rule, self.survived, self.without
        cells = f"`{self.task}`", self.place, *map(str, counts), score([self])
        return f"| {' | '.join(cells)} |"


def score(rows: list[Row]) -> str:
    """Write the share of the tried mutants that were noticed."""
    return f"{100 * share(rows):.1f} %"


def share(rows: list[Row]) -> float:
    """Divide what was noticed by what was tried."""
    tried = sum(row.made - row.by_rule for row in rows)
    return 1 - sum(row.survived for row in rows) / tried if tried else 1.0


class Reasons:
    """What mutants.toml says: what is left alone, and who may survive.

    beyond: {function: {first line of a statement, or argument: why it is left}}.
    survivors: {function: entries of line, becomes and why}.
    """

    def __init__(self, text: str):
        data = tomllib.loads(text)
        self.beyond, self.survivors = data["beyond"], data["survivors"]

    def of(self, task: str) -> dict[tuple[str, str], str]:
        """Give why each listed mutant of a function may survive."""
        return {
            (entry["line"], becomes): entry["why"]
            for entry in self.survivors.get(task, [])
            for becomes in entry["becomes"]
        }


def answers() -> list[Answer]:
    """List the right answers to everything that `check` knows."""
    return [*right_answers.solutions(), *right_answers.references()]


def survivors(
    answer: Answer, left: Collection[str]
) -> tuple[int, int, list[tuple[str, str]]]:
    """Break an answer in all ways: count them, and list those that pass."""
    from mutators import mutants  # needs the extra `mutants`

    names, made, by_rule, passed = answer.names(), 0, 0, []
    if not passes(answer.task, names, [*answer.pieces]):
        raise SystemExit(f"{answer.task}: the answer in {answer.place} does not pass")
    for place, (head, source) in enumerate(answer.pieces):
        for mutant in mutants(source, answer.lines, left):
            pieces = [*answer.pieces]
            pieces[place] = head, mutant.code
            made, by_rule = made + 1, by_rule + mutant.by_rule
            if not mutant.by_rule and passes(answer.task, names, pieces):
                passed.append((mutant.line, mutant.becomes))
    return made, by_rule, passed


def passes(task: str, names: dict, pieces: list[tuple[str, str]]) -> bool:
    """Define an answer from its pieces and let it be checked."""
    names = dict(names)
    try:
        exec("\n\n".join(head + source for head, source in pieces), names)
    except Exception:  # such a fault needs no check
        return False
    return check(task, names[task], seconds=SECONDS).passed


def tried(answer: Answer, reasons: Reasons) -> tuple[Row, list[tuple[str, str]]]:
    """Try an answer's mutants; print those that survive without a reason."""
    left = reasons.beyond.get(answer.task, {})
    made, by_rule, passed = survivors(answer, left)
    new = [change for change in passed if change not in reasons.of(answer.task)]
    row = Row(answer.task, answer.place, made, by_rule, len(passed), len(new))
    print(row, flush=True)
    for line, becomes in new:
        print(f"[[survivors.{answer.task}]]\nline = {json.dumps(line)}")
        print(f'becomes = [{json.dumps(becomes)}]\nwhy = ""', flush=True)
    return row, passed


def stored() -> dict[tuple[str, str], Row]:
    """Read the rows of the last run."""
    text = TABLE.read_text(encoding="utf-8") if TABLE.exists() else ""
    found = [Row(*m[:2], *map(int, m[2:])) for m in ROW.findall(text)]
    return {(row.task, row.place): row for row in found}


def rendered(rows: list[Row], reasons: Reasons) -> str:
    """Write the table: what was noticed, what was not and why."""
    made, by_rule, survived, without = (
        sum(getattr(row, key) for row in rows)
        for key in ("made", "by_rule", "survived", "without")
    )
    lines = [
        "# Mutants",
        "",
        "Does `check` notice a small fault in a right answer? Written by `make mutants`.",
        "",
        f"{made} mutants of {len(rows)} answers, {by_rule} of them not tried by rule. Of "
        f"the others {score(rows)} are noticed; {survived} survive, {without} of them "
        "without a reason.",
        "",
        "Not tried by rule: raising an error for wrong input, the validation before it, "
        "`device=` and `strict=`, and what a function of the library does beyond what its "
        "exercise asks (listed below). Docstrings and annotations are never changed.",
        "",
        "| function | answer | mutants | by rule | survived | without reason | score |",
        "|---|---|---|---|---|---|---|",
        *map(str, rows),
        f"| all | | {made} | {by_rule} | {survived} | {without} | {score(rows)} |",
        "",
        listed(reasons),
    ]
    return "\n".join(lines)


def listed(reasons: Reasons) -> str:
    """Write what mutants.toml says as two tables."""
    lines = [
        "## Helpers left alone",
        "",
        "| function | helper | why |",
        "|---|---|---|",
    ]
    lines += [
        f"| `{task}` | `{helper}` | {why} |"
        for task, helpers in sorted(reasons.beyond.items())
        for helper, why in helpers.items()
    ]
    lines += ["", "## Survivors", "", "| function | line | becomes | why |"]
    lines += ["|---|---|---|---|"]
    lines += [
        f"| `{task}` | {code(line)} | {code(becomes)} | {why} |"
        for task in sorted(reasons.survivors)
        for (line, becomes), why in reasons.of(task).items()
    ]
    return "\n".join(lines) + "\n"


def code(line: str) -> str:
    """Set a line as code in a cell of a table."""
    return f"`{line}`".replace("|", "\\|") if line else "(nothing)"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; give the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args(arguments).names
    reasons = Reasons(REASONS.read_text(encoding="utf-8"))
    every = answers()
    if unknown := set(names) - {answer.task for answer in every}:
        print(f"no exercise is called {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    rows, passed = {}, {}
    for answer in every:
        if not names or answer.task in names:
            row, changes = tried(answer, reasons)
            rows[answer.task, answer.place] = row
            passed.setdefault(answer.task, set()).update(changes)
    known = stored() | rows
    rows = [known[a.task, a.place] for a in every if (a.task, a.place) in known]
    TABLE.write_text(rendered(rows, reasons), encoding="utf-8")
    idle = [
        f"{task}: listed, and noticed all the same: {line}  ->  {becomes}"
        for task, changes in passed.items()
        for line, becomes in reasons.of(task).keys() - changes
    ]
    print(
        "\n".join(idle) + f"\nnoticed: {score(rows)}, CPU {sum(os.times()[:4]):.0f} s"
    )
    return int(share(rows) < GOAL or bool(idle) or any(row.without for row in rows))


if __name__ == "__main__":
    sys.exit(main())
