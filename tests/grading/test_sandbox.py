"""What keeps a student's process in, tried from within; and what refuses to start."""

import json
import os
import socket

import pytest

from course_lib.grading import sandbox as policy
from course_lib.grading.view import make_view
from tests.grading.conftest import run_as_ordinary_user


@pytest.fixture(scope="module")
def findings(sandbox, open_folder):
    (open_folder / "results.jsonl").write_text("secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        done = run_as_ordinary_user(
            *["-m", "tests.grading.canary", "bwrap", str(open_folder)],
            str(server.getsockname()[1]),
            env=os.environ | {"MY_SECRET": "x", "PYTHONDONTWRITEBYTECODE": "1"},
        )
        with pytest.raises(TimeoutError):
            server.accept()
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


EXPECTED = {
    "network": "ConnectionRefusedError",
    "names": "gaierror",
    "interfaces": [],
    "marks": "FileNotFoundError",
    "passwords": "FileNotFoundError",
    "solutions": "FileNotFoundError",
    "catalogue": "ModuleNotFoundError",
    "any answers": 0,
    "secrets": [],
    "library": "OSError",
    "environment": "OSError",
    "root": "OSError",
    "user": 1000,
    "parent": "ProcessLookupError",
    "more memory": "ValueError",
    "capabilities": ["0" * 16],
    "forks": True,
    "large file": "OSError",
    "end": "graded",
}


@pytest.mark.slow
@pytest.mark.parametrize("what", EXPECTED)
def test_the_sandbox_keeps_a_canary_in(findings, what):
    given = findings[what]
    if isinstance(given, dict):
        given = given.get("numbers", given.get("parts"))
    assert given == EXPECTED[what]


@pytest.mark.slow
def test_the_sandbox_shows_no_process_but_its_own(findings):
    assert findings["processes"] <= 3


def test_root_is_refused(monkeypatch):
    monkeypatch.setattr(policy.os, "geteuid", lambda: 0)
    with pytest.raises(policy.SandboxError, match="not as root"):
        policy.choose("auto")


def test_without_a_sandbox_the_command_to_install_one_is_named(monkeypatch):
    monkeypatch.setattr(policy.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(policy, "missing", lambda kind: "it is not installed")
    with pytest.raises(policy.SandboxError, match="apt-get install bubblewrap"):
        policy.choose("auto")
    assert policy.choose("auto", trust=True) == "none"


def test_a_container_is_the_second_choice(monkeypatch):
    monkeypatch.setattr(policy.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(
        policy, "missing", lambda kind: None if kind == "docker" else "no"
    )
    assert policy.choose("auto") == "docker"
    with pytest.raises(policy.SandboxError, match="bwrap: no"):
        policy.choose("bwrap")


def test_a_container_has_no_network_no_rights_and_a_roof(tmp_path):
    line = policy.Sandbox("docker", tmp_path).command()
    for part in ("--network none", "--read-only", "--cap-drop ALL", "--user 65534"):
        assert part in " ".join(line)
    assert f"{tmp_path}:/course:ro" in line


def test_the_view_holds_the_library_and_no_answer(tmp_path):
    view = make_view(tmp_path)
    names = {str(path.relative_to(view)) for path in view.rglob("*.py")}
    assert "course_lib/masks.py" in names
    assert "course_lib/feedback/observe.py" in names
    hidden = ("catalogue", "families", "diagnose", "checking", "grader")
    assert not [name for name in names if any(word in name for word in hidden)]
