"""A demo's notebook: short to open, with a script to speak from and a picture a step."""

import re
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import notebooks as tool  # noqa: E402

PATHS = sorted((ROOT / "notebooks" / "demos").glob("*.ipynb"))
LARGEST_BYTES = 300_000
TAGS = {"title", "notes", "still", "weights"}
SAID = ("Show", "Ask", "Expect", "Goes wrong")


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def path(request):
    return request.param


@pytest.fixture
def cells(path):
    return nbformat.read(path, as_version=4).cells


def test_text_and_notebook_agree_and_the_file_is_small(path):
    assert tool.in_step(path)
    assert path.stat().st_size <= LARGEST_BYTES


def test_it_opens_with_a_title_and_one_cell_that_shows_the_demo(path, cells):
    title, first = cells[:2]
    assert title.source.startswith("# ")
    assert re.search(r"\]\(\.\./\d\d_\w+\.ipynb\)", title.source)
    assert re.search(r"\bminutes\b", title.source)
    assert tool.tags(title) == ["title"]
    assert first.source.splitlines() == [
        f"from course_lib.demos import {path.stem}",
        "",
        f"demo = {path.stem}.demo()",
        "demo",
    ]
    lesson = re.search(r"\(\.\./(\S+)\)", title.source)[1]
    assert (path.parent.parent / lesson).is_file()


def test_every_cell_has_run_and_shows_no_error_and_no_live_widget(cells):
    for cell in cells:
        assert set(tool.tags(cell)) <= TAGS
        if cell.cell_type == "code":
            assert cell.execution_count
            assert cell.outputs
            for output in cell.outputs:
                assert output.output_type in ("execute_result", "display_data")
                assert tool.WIDGET_VIEW not in output.data
                assert 'alt="' in output.data["text/html"]


def test_each_step_has_its_notes_and_its_picture(cells):
    notes = [cell.source for cell in cells if "notes" in tool.tags(cell)]
    stills = [cell for cell in cells if "still" in tool.tags(cell)]
    assert notes[0].startswith("## Speaker's notes")
    for words in ("The one idea", "Before", "Minutes"):
        assert f"**{words}**" in notes[0]
    assert [cell.source for cell in stills] == [
        f"demo.still({at})" for at in range(len(stills))
    ]
    assert len(notes) - 1 == len(stills) >= 4
    for number, note in enumerate(notes[1:], start=1):
        assert note.startswith(f"### Step {number}\n")
        missing = [words for words in SAID[1:] if f"**{words}**" not in note]
        assert not missing, f"step {number} does not say {missing}"


def test_the_minutes_of_the_steps_add_up_to_a_demo(cells):
    (line,) = re.findall(r"\*\*Minutes\*\*: ([\d., ]+)", cells[2].source)
    minutes = [float(one) for one in line.strip(". ").split(", ")]
    stills = [cell for cell in cells if "still" in tool.tags(cell)]
    assert len(minutes) == len(stills)
    assert 5 <= sum(minutes) <= 10
