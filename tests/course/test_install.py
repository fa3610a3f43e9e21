"""Whatever is wrong with a machine, the installer says it in one sentence."""

import ast
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "tools" / "install.py"


@pytest.fixture
def installer():
    spec = importlib.util.spec_from_file_location("install", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def steps(installer, monkeypatch):
    """Let the installer take its steps without doing them; list what it did."""
    done = []

    def make_environment(venv):
        venv.mkdir(exist_ok=True)
        done.append("environment")

    monkeypatch.setattr(installer, "make_environment", make_environment)
    monkeypatch.setattr(installer, "works", lambda venv: venv.exists())
    monkeypatch.setattr(
        installer, "install", lambda venv, extras, index: done.append((extras, index))
    )
    monkeypatch.setattr(installer, "check_disk", lambda folder, free_bytes: None)
    return done


def run(*arguments, **environment):
    return subprocess.run(
        arguments,
        cwd=ROOT,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


# What is wrong, in pip's and venv's own words -----------------------------------

PIP_SAYS = {
    "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on "
    "device": "disk is full",
    "The virtual environment was not created successfully because ensurepip is not "
    "available.  On Debian/Ubuntu systems, you need to install the python3-venv "
    "package": "apt install python3-venv",
    "/usr/bin/python3: No module named venv": "apt install python3-venv",
    "WARNING: Retrying (Retry(total=4)) after connection broken by "
    "'NewConnectionError('Failed to establish a new connection: [Errno -3] Temporary "
    "failure in name resolution')': /simple/torch/\n"
    "ERROR: No matching distribution found for torch": "cannot be reached",
    "ERROR: Exception:\nReadTimeoutError: HTTPSConnectionPool(host='files'): Read "
    "timed out.": "cannot be reached",
    "SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]')) - "
    "Max retries exceeded": "secure connection",
    "ERROR: Could not install packages due to an OSError: [Errno 13] Permission "
    "denied: 'x'": "may not be written",
    "ERROR: Could not find a version that satisfies the requirement torch==2.13.0 "
    "(from versions: 2.8.0, 2.9.0)\n"
    "ERROR: No matching distribution found for torch==2.13.0": (
        "The package index has no torch==2.13.0 for this Python"
    ),
    "ERROR: Could not find a version that satisfies the requirement setuptools>=77 "
    "(from versions: none)\nERROR: No matching distribution found for setuptools>=77": (
        "cannot be reached, or has no setuptools>=77"
    ),
    "ERROR: ResolutionImpossible: for help visit": "contradict each other",
    "something nobody has seen before": "the last lines of install.log say why",
}


@pytest.mark.parametrize(("output", "part"), PIP_SAYS.items())
def test_each_failure_of_pip_becomes_one_sentence(installer, output, part):
    sentence = installer.explain(output, "install.log")
    assert part in sentence
    assert "\n" not in sentence
    assert "{" not in sentence


def test_an_old_python_is_told_what_is_needed(installer):
    with pytest.raises(installer.Trouble, match=r"3\.11 or newer is needed.* 3\.9 "):
        installer.check_python((3, 9, 2))


def test_an_old_python_can_read_the_script_at_all():
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 7))


def test_a_nearly_full_disk_is_said_before_anything_is_loaded(installer, tmp_path):
    with pytest.raises(installer.Trouble, match=r"0\.3 GB are free in .*Make room"):
        installer.check_disk(tmp_path, 300_000_000)


def test_a_python_without_venv_is_told_which_package_to_install(
    installer, monkeypatch, tmp_path
):
    python = tmp_path / "python3"
    python.write_text("#!/bin/sh\necho 'ensurepip is not available'; exit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    with pytest.raises(installer.Trouble, match="apt install python3-venv"):
        installer.make_environment(tmp_path / "venv")


@pytest.mark.slow
def test_an_index_that_is_out_of_reach_gives_one_sentence_and_no_stamp(tmp_path):
    done = run(
        sys.executable,
        str(SCRIPT),
        "--venv",
        str(tmp_path / "venv"),
        PIP_INDEX_URL="http://127.0.0.1:9/simple",
        PIP_EXTRA_INDEX_URL="",
        PIP_FIND_LINKS="",
        PIP_CONFIG_FILE=os.devnull,
        PIP_RETRIES="1",
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "The package index cannot be reached" in done.stderr
    assert not (tmp_path / "venv" / "installed.json").exists()


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_make_says_which_python_it_did_not_find():
    done = run("make", "env", "PYTHON=python9")
    assert done.returncode != 0
    assert "python9 was not found: install Python 3.11 or newer" in done.stderr
    assert "Traceback" not in done.stderr


# Running it twice -----------------------------------------------------------------


def test_a_second_run_does_nothing(installer, steps, tmp_path):
    installer.prepare(tmp_path / "venv", ["dev"], "")
    installer.prepare(tmp_path / "venv", ["dev"], "")
    assert steps == ["environment", (["dev"], "")]


def test_more_extras_are_added_and_none_is_lost(installer, steps, tmp_path):
    installer.prepare(tmp_path / "venv", ["dev"], "cpu")
    installer.prepare(tmp_path / "venv", [], "")
    installer.prepare(tmp_path / "venv", ["more"], "")
    assert steps == ["environment", (["dev"], "cpu"), (["dev", "more"], "cpu")]


def test_new_pins_are_installed(installer, steps, tmp_path, monkeypatch):
    installer.prepare(tmp_path / "venv", [], "")
    monkeypatch.setattr(installer, "fingerprint", lambda: "other pins")
    installer.prepare(tmp_path / "venv", [], "")
    assert steps == ["environment", ([], ""), ([], "")]


def test_another_build_of_torch_needs_a_new_environment(installer, steps, tmp_path):
    installer.prepare(tmp_path / "venv", [], "cpu")
    installer.prepare(tmp_path / "venv", [], "cu128")
    assert steps == ["environment", ([], "cpu"), "environment", ([], "cu128")]


def test_a_folder_that_was_moved_gets_a_new_environment(installer, steps, tmp_path):
    installer.prepare(tmp_path / "venv", [], "")
    (tmp_path / "venv").rename(tmp_path / "moved")
    installer.prepare(tmp_path / "moved", [], "")
    assert steps == ["environment", ([], "")] * 2


def test_an_interrupted_run_is_not_taken_for_a_finished_one(
    installer, steps, tmp_path, monkeypatch
):
    installer.prepare(tmp_path / "venv", [], "")

    def break_off(venv, extras, index):
        raise installer.Trouble("no network")

    monkeypatch.setattr(installer, "install", break_off)
    with pytest.raises(installer.Trouble):
        installer.prepare(tmp_path / "venv", ["dev"], "")
    assert not (tmp_path / "venv" / "installed.json").exists()


def test_a_damaged_stamp_means_installing_again(installer, steps, tmp_path):
    installer.prepare(tmp_path / "venv", [], "")
    (tmp_path / "venv" / "installed.json").write_text("{half")
    installer.prepare(tmp_path / "venv", [], "")
    assert len(steps) == 3


def test_the_stamp_ignores_settings_that_install_nothing(installer, tmp_path):
    before = installer.fingerprint()
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    installer.ROOT = tmp_path
    with (tmp_path / "pyproject.toml").open("a") as settings:
        settings.write("\n[tool.other]\nline-length = 5\n")
    assert installer.fingerprint() == before
    with (tmp_path / "constraints.txt").open("a") as pins:
        pins.write("another==1.0\n")
    assert installer.fingerprint() != before


# Which torch ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("torch_index", "arguments"),
    [
        ("", []),
        ("cpu", ["--extra-index-url", "https://download.pytorch.org/whl/cpu"]),
        ("cu128", ["--extra-index-url", "https://download.pytorch.org/whl/cu128"]),
        ("https://mirror.test/x", ["--extra-index-url", "https://mirror.test/x"]),
    ],
)
def test_torch_index_is_a_wheel_name_or_an_address(installer, torch_index, arguments):
    assert installer.index_arguments(torch_index) == arguments


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_make_hands_torch_index_on():
    done = run("make", "--dry-run", "lab", "TORCH_INDEX=cu128")
    assert 'tools/install.py --torch-index "cu128"' in done.stdout


def test_pip_is_run_with_the_pins(installer, monkeypatch, tmp_path):
    python = installer.interpreter(tmp_path)
    python.parent.mkdir()
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    python.chmod(0o755)
    installer.install(tmp_path, ["dev"], "cpu")
    arguments = (tmp_path / "install.log").read_text().split("\n")
    assert arguments[arguments.index("-c") + 1] == str(ROOT / "constraints.txt")
    assert arguments[arguments.index("-e") + 1] == f"{ROOT}[dev]"
    assert "https://download.pytorch.org/whl/cpu" in arguments


def test_the_stamp_says_what_is_installed(installer, steps, tmp_path):
    installer.prepare(tmp_path / "venv", ["dev"], "cpu")
    stamp = json.loads((tmp_path / "venv" / "installed.json").read_text())
    assert stamp["extras"] == ["dev"]
    assert stamp["torch_index"] == "cpu"
