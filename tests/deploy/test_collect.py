"""Collecting reads strangers' folders: it takes notebooks and follows nothing."""

import os

from course_lib.grading.submissions import MOST_BYTES, find_submissions
from deploy.collect import collect

NOTEBOOK = '{"cells": [{"cell_type": "code", "source": "mine = 1"}]}'


def home(homes, name):
    """Make a student's home with an open exercise."""
    place = homes / name / "exercises" / "02_masks"
    place.mkdir(parents=True)
    return place


def said(homes, target):
    """Collect, and return what was said of each student."""
    return dict(line.split(": ", 1) for line in collect(homes, "02_masks", target))


def test_the_grader_finds_what_was_collected(tmp_path):
    for name in ("ada", "grace"):
        (home(tmp_path / "homes", name) / "masks.ipynb").write_text(NOTEBOOK)
    (tmp_path / "homes" / "idle").mkdir()
    out = tmp_path / "out"
    lines = said(tmp_path / "homes", out)
    assert lines["ada"] == lines["grace"] == "masks.ipynb"
    assert lines["idle"].startswith("nothing")
    found = {one.student: one for one in find_submissions(out, ["mine"], "02_masks")}
    assert found["ada"].cells == ("mine = 1",)
    assert found["idle"].status == "missing"


def test_no_link_leads_to_another_students_work(tmp_path):
    homes = tmp_path / "homes"
    victim = home(homes, "victim")
    (victim / "masks.ipynb").write_text(NOTEBOOK)
    (home(homes, "file") / "masks.ipynb").symlink_to(victim / "masks.ipynb")
    (homes / "folder" / "exercises").mkdir(parents=True)
    (homes / "folder" / "exercises" / "02_masks").symlink_to(victim)
    (homes / "above").mkdir()
    (homes / "above" / "exercises").symlink_to(victim.parent)
    said(homes, tmp_path / "out")
    taken = {path.parent.name for path in (tmp_path / "out").glob("*/*")}
    assert taken == {"victim"}


def test_what_is_no_ordinary_notebook_is_left_and_named(tmp_path):
    homes = tmp_path / "homes"
    os.mkfifo(home(homes, "pipe") / "masks.ipynb")
    with (home(homes, "big") / "masks.ipynb").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    (home(homes, "data") / "notes.csv").write_text("1")
    lines = said(homes, tmp_path / "out")
    assert "left" in lines["pipe"]
    assert "left" in lines["big"]
    assert lines["data"] == "nothing"
    assert not list((tmp_path / "out").glob("*/*"))
