"""The server for a class: a real hub, two students, from signing up to their marks."""

import os
import shutil
import sys
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import nbformat
import pytest

from course_lib.grading.batch import read_results
from tests.deploy.hub import Person, running_hub
from tests.grading.conftest import ROOT, open_folder, run_as_ordinary_user, sandbox

PROXY = Path(sys.executable).with_name("configurable-http-proxy")
EXERCISE = "exercises/02_masks/masks.ipynb"
__all__ = ["open_folder", "sandbox"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not find_spec("jupyterhub"), reason="needs the extra hub: make test-hub"
    ),
    pytest.mark.skipif(not PROXY.exists(), reason="needs the proxy: make test-hub"),
    pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js for the proxy"),
]


@pytest.fixture(scope="module")
def classroom(sandbox, open_folder):
    """Return the hub's address and the class's folder."""
    folder = open_folder / "class"
    with running_hub(folder) as address:
        yield address, folder


@pytest.fixture(scope="module")
def students(classroom):
    """Return two students whom the instructor let in, with their servers running."""
    address, _ = classroom
    people = [Person(address, name) for name in ("instructor", "ada", "grace")]
    instructor, *students = people
    for person in people:
        assert person.sign_up().ok
    assert instructor.log_in()
    for student in students:
        assert not student.log_in()  # nobody has let them in yet
        page = f"{address}/hub/authorize/{student.name}"
        instructor.session.get(page, timeout=30).raise_for_status()
        assert not student.log_in(password="a wrong password")
        assert student.log_in()
        student.start_server()
    return students


def solved(but=None):
    """Return the worked solution; one function may be left as the exercise has it."""
    worked = nbformat.read(ROOT / "solutions" / "02_masks" / "masks.ipynb", 4)
    released = nbformat.read(ROOT / EXERCISE, 4)

    def named(notebook):
        return {
            c.metadata.get("nbgrader", {}).get("grade_id"): c for c in notebook.cells
        }

    if but:
        named(worked)[but].source = named(released)[but].source
    return worked


MEMORY = """
from pathlib import Path
shares = [path.read_text().split("Pss:")[1].split()[0]
          for path in Path("/proc").glob("[0-9]*/smaps_rollup")]
print(sum(map(int, shares)) // 1000)
"""


def test_both_run_lesson_02_from_top_to_bottom(students):
    with ExitStack() as open_kernels:
        kernels = []
        for student in students:
            cells = student.read("notebooks/02_masks.ipynb")["cells"]
            code = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
            assert len(code) > 20
            run = open_kernels.enter_context(student.kernel("notebooks"))
            for cell in code:
                run(cell)
            kernels.append(run)
        memory = [int(run(MEMORY)) for run in kernels]
    print(f"\nMB of a server and its kernel after lesson 02, one a student: {memory}")
    assert max(memory) < 1000  # INSTRUCTORS.md reckons with that


def test_a_student_reaches_no_server_but_their_own(classroom, students):
    ada, grace = students
    stranger = Person(classroom[0], "ada")
    for person in (ada, stranger):
        for path in (f"api/contents/{EXERCISE}", "api/kernels", f"files/{EXERCISE}"):
            answer = person.ask("GET", f"/user/grace/{path}")
            led_to_login = answer.url.startswith(f"{classroom[0]}/hub/login")
            assert led_to_login or answer.status_code in (403, 404), path
            assert "packed_mask" not in answer.text
    assert ada.ask("GET", "/hub/api/users/grace").status_code in (403, 404)
    assert grace.ask("GET", f"/user/grace/api/contents/{EXERCISE}").ok


def test_a_student_finds_no_file_of_another_no_answers_and_no_secret(
    classroom, students
):
    _, folder = classroom
    ada, grace = students
    hidden = [folder / "homes" / "grace" / EXERCISE, ROOT / "solutions", ROOT / "tests"]
    hidden += [folder / name for name in ("hub.sqlite", "cookie_secret")]
    assert all(path.exists() for path in hidden)
    outside = ada.ask("GET", "/user/ada/api/contents/..%2F..%2Fetc")
    assert not outside.ok
    with ada.kernel() as run:
        seen = run(
            f"import os, glob\nfor path in {list(map(str, hidden))}:\n"
            "    print(os.path.exists(path))"
        )
        assert seen.split() == ["False"] * len(hidden)
        lines = run(
            "for name in glob.glob('/proc/[0-9]*/cmdline') + "
            "glob.glob('/proc/[0-9]*/environ'):\n    print(open(name).read())"
        )
        assert "user/ada/" in lines
        assert "grace" not in lines
        course = str(ROOT / "course_lib" / "__init__.py")
        rights = (
            f"print(os.access({course!r}, os.R_OK), os.access({course!r}, os.W_OK))"
        )
        assert run(rights).split() == ["True", "False"]


def test_what_is_handed_in_is_collected_and_marked(classroom, students):
    _, folder = classroom
    ada, grace = students
    ada.save(EXERCISE, solved())
    grace.save(EXERCISE, solved(but="sink_mask"))
    environment = os.environ | {"COURSE_CLASS": str(folder)}
    done = run_as_ordinary_user("deploy/collect.py", "02_masks", env=environment)
    assert done.returncode == 0, done.stderr
    for name in ("ada", "grace"):
        assert f"{name}: masks.ipynb" in done.stdout
    again = run_as_ordinary_user("deploy/collect.py", "02_masks", env=environment)
    assert again.returncode == 1
    assert "move it away" in again.stderr

    results = folder / "results.jsonl"
    line = [
        "-m",
        "course_lib",
        "grade",
        "02_masks",
        "--seed",
        "7",
        "--out",
        str(results),
    ]
    line += ["--submissions", str(folder / "handed-in" / "02_masks")]
    done = run_as_ordinary_user(*line)
    assert done.returncode == 0, done.stdout + done.stderr
    marks = read_results(results)
    assert {"ada", "grace"} <= marks.keys()
    assert all(mark.score == 1 for mark in marks["ada"])
    of_grace = {mark.exercise: mark.score for mark in marks["grace"]}
    assert of_grace.pop("sink_mask") in (None, 0)
    assert set(of_grace.values()) == {1}


def test_a_new_start_brings_what_is_missing_and_overwrites_nothing(students):
    ada, _ = students
    mine = solved()
    mine.cells[0].source = "my own words"
    ada.save(EXERCISE, mine)
    ada.delete("notebooks/03_attention.ipynb")
    ada.stop_server()
    ada.start_server()
    assert ada.read(EXERCISE)["cells"][0]["source"] == "my own words"
    assert ada.read("notebooks/03_attention.ipynb")["cells"]
