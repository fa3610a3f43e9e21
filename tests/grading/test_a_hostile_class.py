"""A class of attackers, and students who are merely odd, in one batch."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import nbformat
import pytest
from filelock import FileLock
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.grading.attacks import ALLOWED, CELLS, NAMES, ROOT, solved
from tests.grading.conftest import run_as_ordinary_user

pytestmark = pytest.mark.slow


def notebook(cells):
    return new_notebook(cells=[new_code_cell(cell) for cell in cells])


def odd_but_honest(folder):
    """Write right answers in all the ways in which people hand them in."""
    plain = notebook(solved())

    def put(student, text, name="masks.ipynb"):
        (folder / student).mkdir()
        path = folder / student / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)

    text = nbformat.writes(plain)
    put("honest", text)
    put("renamed", text, "masks (1) FINAL.IPYNB")
    put("deep down", "")
    (folder / "deep down" / "a" / "02_masks").mkdir(parents=True)
    (folder / "deep down" / "a" / "02_masks" / "x.ipynb").write_text(text)
    (folder / "deep down" / "masks.ipynb").unlink()
    put("windows", text.replace("\\n", "\\r\\n").replace("\n", "\r\n"))
    put("byte order mark", b"\xef\xbb\xbf" + text.encode())
    put("utf-16", text.encode("utf-16"))
    (folder / "a file alone.ipynb").write_text(text)
    put("two notebooks", text, "z.ipynb")
    (folder / "two notebooks" / "a.ipynb").write_text(nbformat.writes(new_notebook()))
    put("ünï cödé 学生", text)

    bare = json.loads(text)
    bare["metadata"] = {}
    for cell in bare["cells"]:
        cell["metadata"] = {}
        cell.pop("id", None)
    put("no metadata", json.dumps(bare))
    other = json.loads(text)
    other["metadata"] = {"kernelspec": {"name": "conda-env-py27", "display_name": "?"}}
    put("another kernel", json.dumps(other))
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}}
    cells = [{"cell_type": "code", "input": cell, "outputs": []} for cell in solved()]
    put("format 3", json.dumps(old | {"worksheets": [{"cells": cells}]}))

    warns = (
        "import warnings, sys\nwarnings.warn('careful')\nprint('x', file=sys.stderr)\n"
    )
    put("warnings", nbformat.writes(notebook([warns, *solved()])))
    put("duplicate cells", nbformat.writes(notebook([*solved(), *solved()])))
    imports, *rest = solved()
    put("another order", nbformat.writes(notebook([imports, *reversed(rest)])))
    fails = [
        "1 / 0",
        "undefined_name",
        "def broken(:",
        "%nonsense",
        "!false",
        "raise SystemExit",
    ]
    put("cells that fail", nbformat.writes(notebook([*fails, *solved(), *fails])))
    magics = [
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()"
    ]
    magics += [
        "%%time\nx = 1",
        "await __import__('asyncio').sleep(0)",
        "display(1)",
        "input()",
    ]
    # the imports count, whatever a line above them says
    first = f"%matplotlib inline\n%matplotlib widget\n{imports}"
    put("magics", nbformat.writes(notebook([*magics, first, *rest])))
    mixed = new_notebook(cells=[new_markdown_cell("# mine"), *plain.cells])
    put("extra text", nbformat.writes(mixed))
    as_lambda = re.sub(r"def packed_mask\(", "def my_mask(", "\n".join(solved()[1:2]))
    put(
        "under a name",
        nbformat.writes(notebook([*solved(), as_lambda, "packed_mask = my_mask"])),
    )


REFUSED = {
    "a link": "forbidden",
    "links in it": "forbidden",
    "a pipe": "forbidden",
    "too large": "forbidden",
    "cut off": "unreadable",
    "merged": "unreadable",
    "empty": "unreadable",
    "json, no notebook": "unreadable",
    "json, too deep": "unreadable",
    "cells of another kind": "unreadable",
    "no notebook": "missing",
    "an empty folder": "missing",
    "no code": "missing",
    "not begun": "missing",
}


def refused(folder):
    """Write what cannot be graded."""
    for student in REFUSED:
        if student != "a link":
            (folder / student).mkdir()
    (folder / "a link").symlink_to(folder / "honest")
    (folder / "links in it" / "masks.ipynb").symlink_to(
        folder / "honest" / "masks.ipynb"
    )
    os.mkfifo(folder / "a pipe" / "masks.ipynb")
    contents = {
        "too large": "x" * (6 * 2**20),
        "cut off": nbformat.writes(notebook(solved()))[:2000],
        "merged": "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> mine\n",
        "empty": "",
        "json, no notebook": "[1, 2]",
        "json, too deep": "[" * 10**5,
        "cells of another kind": '{"cells": [1, null, {"cell_type": "code", "source": 7}]}',
        "no code": nbformat.writes(new_notebook(cells=[new_markdown_cell("later")])),
        "not begun": (ROOT / "exercises" / "02_masks" / "masks.ipynb").read_text(),
    }
    for student, text in contents.items():
        (folder / student / "masks.ipynb").write_text(text)
    (folder / "no notebook" / "masks.py").write_text("x = 1")


@pytest.fixture(scope="module")
def graded(sandbox, tmp_path_factory):
    """Grade them all in one batch, once for all test processes.

    Returns:
        {student: marks}, the files that were there before, and the folder.
    """
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    note = shared / "hostile.json"
    with FileLock(shared / "hostile.lock"):
        if not note.exists():
            note.write_text(json.dumps(grade_them_all()))
    before, folder = json.loads(note.read_text())
    lines = Path(folder, "results.jsonl").read_text().splitlines()
    rows = {row["student"]: row["marks"] for row in map(json.loads, lines)}
    assert len(rows) == len(lines)
    return rows, before, Path(folder)


def grade_them_all():
    """Write the class and grade it; return what was there before, and the folder."""
    folder = Path(
        tempfile.mkdtemp(prefix="class-")
    )  # pytest's own are closed to others
    folder.chmod(0o777)
    submissions = folder / "submissions"
    submissions.mkdir()
    odd_but_honest(submissions)
    refused(submissions)
    names = f"FOLDER, ROOT = {str(folder)!r}, {str(ROOT)!r}"
    for name, cells in CELLS.items():
        (submissions / name).mkdir()
        file = submissions / name / "masks.ipynb"
        file.write_text(nbformat.writes(notebook([names, *cells])))
    (submissions / "honest" / "course_lib.py").write_text("raise SystemExit('mine')")
    (folder / "temporary").mkdir()
    (folder / "temporary").chmod(0o777)
    before = listing(folder)
    done = run_as_ordinary_user(
        *["-m", "course_lib", "grade", "02_masks", "--submissions", submissions],
        *["--out", folder / "results.jsonl", "--jobs", "2", "--seconds", "25"],
        timeout=580,
        env=os.environ | {"TMPDIR": str(folder / "temporary")},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return before, str(folder)


def listing(folder):
    """Return every file's name, size and time of change."""
    found = {}
    for place, _, files in os.walk(folder):
        for name in files:
            about = os.lstat(os.path.join(place, name))
            found[os.path.join(place, name)] = [about.st_size, about.st_mtime_ns]
    return found


def test_everybody_has_a_status_for_each_exercise(graded):
    rows, _, folder = graded
    assert set(rows) == {
        name.removesuffix(".ipynb") for name in os.listdir(folder / "submissions")
    }
    for marks in rows.values():
        assert [mark["exercise"] for mark in marks] == NAMES
        for mark in marks:
            assert (mark["score"] is None) >= (
                mark["status"] in ("unreadable", "missing")
            )
            assert mark["message"] or mark["status"] == "graded"


def test_an_honest_student_keeps_all_marks_however_odd_the_file(graded):
    rows, _, _ = graded
    odd = set(rows) - set(CELLS) - set(REFUSED)
    assert len(odd) >= 18
    lost = {name for name in odd if any(mark["score"] != 1 for mark in rows[name])}
    assert not lost


def test_what_cannot_be_graded_is_named_and_has_no_score(graded):
    rows, _, _ = graded
    found = {name: {mark["status"] for mark in rows[name]} for name in REFUSED}
    assert found == {name: {status} for name, status in REFUSED.items()}
    assert all(mark["score"] is None for name in REFUSED for mark in rows[name])


@pytest.mark.parametrize("name", CELLS)
def test_an_attack_gains_nothing_and_loses_nothing_that_is_right(graded, name):
    marks = graded[0][name]
    scores = [mark["score"] for mark in marks]
    if ALLOWED[name] == "all":
        assert scores == [1.0] * 4, [
            (mark["status"], mark["message"]) for mark in marks
        ]
    elif ALLOWED[name] == "what is left":
        assert set(scores) <= {1.0, None}
    else:
        # a property of an empty case may hold by chance, a fifth of a mark at most
        assert all(not score or score <= 0.2 for score in scores), scores


def test_no_file_is_changed_and_none_is_left(graded):
    _, before, folder = graded
    after = listing(folder)
    after.pop(str(folder / "results.jsonl"))
    assert after == before
    assert not os.path.exists("/tmp/evil")


def test_no_process_is_left(graded):
    running = subprocess.run(["ps", "axww"], capture_output=True, text=True).stdout
    assert "31415" not in running
    assert str(graded[2]) not in running  # each sandbox's command names its view


def test_what_a_student_wrote_cannot_steer_a_terminal(graded):
    rows, _, _ = graded
    for marks in rows.values():
        for mark in marks:
            assert not re.search(
                r"[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]", mark["message"]
            )
