"""What a learner has done is kept, whole, in a file of their own."""

import json
import multiprocessing
import os
from pathlib import Path

import pytest

from course_lib import progress
from course_lib.__main__ import main
from course_lib.overview import overview
from course_lib.progress import (
    ProgressError,
    note_answer,
    note_check,
    progress_path,
    read_progress,
)
from course_lib.quiz import load_questions


@pytest.fixture
def file(tmp_path):
    return tmp_path / "deep" / "progress.json"


@pytest.mark.parametrize(
    ("system", "variables", "expected"),
    [
        ("linux", {"XDG_DATA_HOME": "/x"}, "/x/decoder-course/progress.json"),
        ("linux", {}, "home/.local/share/decoder-course/progress.json"),
        (
            "linux",
            {"COURSE_PROGRESS": "/mine.json", "XDG_DATA_HOME": "/x"},
            "/mine.json",
        ),
        (
            "linux",
            {"COURSE_PROGRESS": ""},
            "home/.local/share/decoder-course/progress.json",
        ),
        ("darwin", {}, "home/Library/Application Support/decoder-course/progress.json"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/decoder-course/progress.json"),
        ("win32", {}, "home/AppData/Local/decoder-course/progress.json"),
    ],
)
def test_the_file_lies_where_the_system_keeps_data(
    system, variables, expected, monkeypatch
):
    monkeypatch.setattr(progress.sys, "platform", system)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    assert progress_path(variables).as_posix() == expected


def test_without_a_name_the_environment_of_the_process_decides(monkeypatch, file):
    monkeypatch.setenv("COURSE_PROGRESS", str(file))
    note_answer("masks", "purpose", "b", True)
    assert read_progress() == json.loads(file.read_text())


def test_the_first_answer_stays_and_the_last_one_counts(file):
    note_answer("masks", "purpose", "a", False, file)
    note_answer("masks", "purpose", "ad", False, file)
    last = note_answer("masks", "purpose", "b", True, file)
    assert read_progress(file)["quiz"]["masks"]["purpose"] == last
    assert last.pop("when").endswith("+00:00")
    assert last == {
        "first": ["a"],
        "first_right": False,
        "last": ["b"],
        "right": True,
        "tries": 3,
    }


def test_a_question_answered_right_and_then_wrong_is_not_right(file):
    note_answer("masks", "purpose", "b", True, file)
    last = note_answer("masks", "purpose", "a", False, file)
    assert (last["first_right"], last["right"]) == (True, False)


def test_lessons_and_questions_of_equal_name_are_kept_apart(file):
    note_answer("masks", "purpose", "b", True, file)
    note_answer("softmax", "purpose", "a", False, file)
    note_answer("masks", "offset", "c", True, file)
    quiz = read_progress(file)["quiz"]
    assert {lesson: sorted(found) for lesson, found in quiz.items()} == {
        "masks": ["offset", "purpose"],
        "softmax": ["purpose"],
    }


def test_what_other_parts_of_the_course_wrote_is_left_alone(file):
    file.parent.mkdir()
    file.write_text('{"exercises": {"masks": 0.5}}')
    note_answer("masks", "purpose", "b", True, file)
    assert json.loads(file.read_text())["exercises"] == {"masks": 0.5}


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", '{"quiz": []}', '{"quiz": {"m": {"q": {}}}}', "\x00"]
    + [
        '{"quiz": {"m": {"q": {"first": [], "last": [], "first_right": true, '
        f'"right": {right}, "tries": {tries}, "when": ""}}}}}}}}'
        for right, tries in (("null", 1), ('"yes"', 1), ("true", '"3"'))
    ],
)
def test_a_damaged_file_is_reported_and_never_overwritten(text, file):
    file.parent.mkdir()
    file.write_text(text)
    for use in (read_progress, lambda f: note_answer("masks", "purpose", "b", True, f)):
        with pytest.raises(ProgressError, match="damaged.*move it away"):
            use(file)
    assert file.read_text() == text


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(ProgressError, match="cannot be written.*COURSE_PROGRESS"):
        note_answer("masks", "purpose", "b", True, tmp_path / "file" / "progress.json")


def test_a_place_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ProgressError, match="cannot be read.*COURSE_PROGRESS"):
        read_progress(tmp_path)  # a folder


def test_a_folder_is_not_taken_for_a_file(tmp_path):
    with pytest.raises(ProgressError, match="is a folder.*COURSE_PROGRESS"):
        note_answer("masks", "purpose", "b", True, tmp_path)
    assert list(tmp_path.parent.glob(f"{tmp_path.name}.*")) == []


def test_an_unknown_users_home_is_named():
    with pytest.raises(ProgressError, match="COURSE_PROGRESS is '~nobody-here/p.json'"):
        progress_path({"COURSE_PROGRESS": "~nobody-here/p.json"})


def test_a_link_stays_a_link_and_neighbours_stay_alone(tmp_path):
    (tmp_path / "synced").mkdir()
    real, link = tmp_path / "synced" / "p.json", tmp_path / "p.json"
    real.write_text("{}")
    link.symlink_to(real)
    (tmp_path / "synced" / "p.new").write_text("mine")
    note_answer("masks", "purpose", "b", True, link)
    assert link.is_symlink()
    assert read_progress(real)["quiz"]["masks"]["purpose"]["tries"] == 1
    assert (tmp_path / "synced" / "p.new").read_text() == "mine"


def test_a_file_saved_by_notepad_and_notes_of_another_version_are_read(file):
    first = note_answer("masks", "purpose", "b", True, file)
    text = json.dumps({"quiz": {"masks": {"purpose": first | {"note": "ü"}}}})
    file.write_text(text, encoding="utf-8-sig")
    assert note_answer("masks", "purpose", "a", False, file)["note"] == "ü"


def test_a_write_that_fails_keeps_what_was_there(file, monkeypatch):
    note_answer("masks", "purpose", "b", True, file)
    before = file.read_text()

    def full_disk(*paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(ProgressError, match="No space left"):
        note_answer("masks", "purpose", "a", False, file)
    assert file.read_text() == before


def answer_many(file, lesson):
    for number in range(20):
        note_answer(lesson, f"q{number % 5}", "a", True, file)


def test_two_notebooks_at_once_lose_nothing(file):
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=answer_many, args=(file, lesson))
        for lesson in ("masks", "masks", "softmax")
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert worker.exitcode == 0
    quiz = read_progress(file)["quiz"]
    assert [q["tries"] for q in quiz["masks"].values()] == [8] * 5
    assert [q["tries"] for q in quiz["softmax"].values()] == [4] * 5


def test_the_command_lists_each_lesson_and_the_next_step(monkeypatch, file, capsys):
    monkeypatch.setenv("COURSE_PROGRESS", str(file))
    note_answer("masks", "purpose", "a", False)
    note_answer("masks", "purpose", "b", True)
    note_answer("masks", "offset", "c", True)
    note_answer("masks", "hidden-score", "a", False)
    note_answer("masks", "no-longer-asked", "a", True)
    note_check("causal_mask", 1.0)
    note_check("causal_mask", 0.5)
    note_check("padding_mask", 0.9)
    assert main(["progress"]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = {line.split()[0]: line.split()[1:] for line in lines[1:-2]}
    quiz, exercises = table["02_masks"]
    assert quiz == "2/5"
    assert exercises.startswith("1/")
    assert table["03_attention"][0] == "0/5"
    assert lines[-2] == "next: notebooks/00_start.ipynb: its quiz"
    assert lines[-1] == f"kept in {file}"


def test_the_next_step_is_the_first_thing_that_is_not_done(file):
    for question in load_questions("start"):
        note_answer("start", question.id, "a", True, file)
    for question in load_questions("softmax"):
        note_answer("softmax", question.id, "a", True, file)
    assert 'next: notebooks/01_softmax.ipynb: check("' in overview(file)


def test_the_best_check_stays_and_the_last_one_is_known(file):
    note_check("softmax", 0.25, file)
    note_check("softmax", 1.0, file)
    kept = note_check("softmax", 0.5, file)
    assert (kept["best"], kept["last"], kept["tries"]) == (1.0, 0.5, 3)
    assert read_progress(file)["checks"]["softmax"] == kept


def test_a_reset_keeps_the_old_file_beside_it(monkeypatch, file, capsys):
    monkeypatch.setenv("COURSE_PROGRESS", str(file))
    note_check("softmax", 1.0)
    assert main(["progress", "--reset"]) == 0
    assert read_progress()["checks"] == {}
    assert "softmax" in Path(f"{file}.old").read_text()
    assert main(["progress", "--reset"]) == 0
    assert "nothing yet" in capsys.readouterr().out


@pytest.mark.parametrize("checks", [3, [], {"softmax": 1}, {"softmax": {"best": "1"}}])
def test_damaged_checks_are_refused(checks, file):
    file.parent.mkdir()
    file.write_text(json.dumps({"checks": checks}))
    with pytest.raises(ProgressError, match="damaged"):
        read_progress(file)


def test_the_command_says_what_is_wrong_with_the_file(monkeypatch, file, capsys):
    monkeypatch.setenv("COURSE_PROGRESS", str(file.parent))
    file.parent.mkdir()
    assert main(["progress"]) == 1
    assert "cannot be read" in capsys.readouterr().err
