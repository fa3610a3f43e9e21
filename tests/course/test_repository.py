"""What binds the folders together: links, the map, commands, versions, CI."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "STYLE.md", "CONTRIBUTING.md"]
LESSONS = (
    "start softmax masks attention positions cross_attention feed_forward block "
    "decoder sampling kv_cache training translation chat captions scale"
).split()


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def project():
    return tomllib.loads(read("pyproject.toml"))["project"]


def pins():
    lines = [
        line.split("#")[0].strip() for line in read("constraints.txt").splitlines()
    ]
    requirements = [Requirement(line) for line in lines if line]
    return {canonicalize_name(each.name): each for each in requirements}


def tracked_files():
    """List the files that are, or would be, in the repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    if not names:
        pytest.skip("needs a git checkout")
    return [
        ROOT / name for name in names.split("\0") if name and (ROOT / name).exists()
    ]


# Pages ---------------------------------------------------------------------------


def prose(page):
    """Give a page without its code blocks."""
    return re.sub(r"^```.*?^```", "", read(page), flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", heading).strip().lower() for heading in headings]
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_inside_the_course_leads_somewhere(page):
    targets = re.findall(r"\]\(([^)\s]+)\)", prose(page))
    inside = [target for target in targets if "://" not in target]
    for target in inside:
        name, _, anchor = target.partition("#")
        assert (ROOT / (name or page)).exists(), f"{page} links to {target}"
        if anchor:
            assert anchor in anchors(name or page), f"{page} links to {target}"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_only_make_targets_that_exist(page):
    targets = set(re.findall(r"^([a-z][a-z-]*):", read("Makefile"), flags=re.MULTILINE))
    named = set(re.findall(r"`?\bmake ([a-z-]+)(?=[`\s]*(?:[A-Z_]+=|`|$))", read(page)))
    assert named <= targets


def test_the_picture_can_be_read_without_seeing_it():
    (alt,) = re.findall(
        r"!\[([^\]]+)\]\(notebooks/figures/decoder\.svg\)", read("README.md")
    )
    assert len(alt.split()) > 20
    picture = ElementTree.parse(ROOT / "notebooks/figures/decoder.svg").getroot()
    for part in ("title", "desc"):
        assert picture.find(f"{{http://www.w3.org/2000/svg}}{part}").text.strip()


# The map -------------------------------------------------------------------------


def map_rows():
    rows = re.findall(r"^\| (\d\d) \|(.*)\|$", read("README.md"), flags=re.MULTILINE)
    cells = {number: [cell.strip() for cell in row.split("|")] for number, row in rows}
    assert len(cells) == len(rows)
    return cells


def test_the_map_has_a_row_for_each_lesson_in_order():
    rows = map_rows()
    assert list(rows) == [f"{number:02d}" for number in range(len(LESSONS))]
    for question, *others in rows.values():
        assert question.endswith("?")
        assert len(others) == 4
        assert all(others)


@pytest.mark.parametrize("number", range(len(LESSONS)))
def test_a_row_links_its_notebook_and_its_exercise(number):
    word = LESSONS[number]
    name, cells = f"{number:02d}_{word}", map_rows()[f"{number:02d}"]
    assert cells[1] == f"[{word}](notebooks/{name}.ipynb)"
    exercise = f"[{word}](exercises/{name}/{word}.ipynb)"
    assert cells[3] == ("none" if number == 0 else exercise)


def test_every_notebook_is_a_lesson_of_the_map():
    names = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert names <= {f"{number:02d}_{word}" for number, word in enumerate(LESSONS)}


def test_the_library_lists_each_of_its_modules_once():
    docstring = ast.get_docstring(ast.parse(read("course_lib/__init__.py")))
    listed = re.findall(r"^ {4}(\w+)  ", docstring, flags=re.MULTILINE)
    files = {path.stem for path in (ROOT / "course_lib").glob("[a-z]*.py")}
    folders = {path.parent.name for path in (ROOT / "course_lib").glob("*/__init__.py")}
    assert sorted(listed) == sorted(files | folders)


def test_what_the_library_reads_is_installed_with_it():
    setting = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    named = {
        path
        for package, patterns in setting["package-data"].items()
        for pattern in patterns
        for path in (ROOT / package.replace(".", "/")).glob(pattern)
    }
    listed = subprocess.check_output(
        ["git", "ls-files", "course_lib"], cwd=ROOT, text=True
    )
    read = {ROOT / name for name in listed.split() if not name.endswith(".py")}
    assert read <= named


def test_the_library_re_exports_nothing():
    body = ast.parse(read("course_lib/__init__.py")).body
    assert len(body) == 1


# Versions ------------------------------------------------------------------------


def declared(*extras):
    lists = [project()["dependencies"]]
    lists += [project()["optional-dependencies"][extra] for extra in extras]
    return [Requirement(line) for group in lists for line in group]


def installed_closure(requirements):
    """Follow what is required, from the installed packages' own metadata."""
    found, waiting = {}, list(requirements)
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in found:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            pytest.skip(f"needs {name}: make test installs it")
        found[name] = package.version
        for line in package.requires or []:
            needed = Requirement(line)
            extras = requirement.extras or {""}
            if not needed.marker or any(
                needed.marker.evaluate({"extra": extra}) for extra in extras
            ):
                waiting.append(needed)
    return found


def test_pyproject_has_ranges_and_constraints_have_their_pins():
    for requirement in declared("test", "compare"):
        assert "==" not in str(requirement.specifier)
        pin = pins()[canonicalize_name(requirement.name)]
        (only,) = pin.specifier
        assert only.operator == "=="
        assert requirement.specifier.contains(only.version), requirement


def test_whatever_is_needed_has_a_pin_and_is_installed_at_it():
    needed = installed_closure(declared("test", "compare"))
    pinned = pins()
    assert sorted(needed.keys() - pinned.keys()) == []
    wrong = {
        name
        for name, version in needed.items()
        if version not in pinned[name].specifier
    }
    assert wrong == set()


def test_the_pins_install_on_the_oldest_python_too():
    for name in installed_closure(declared("test", "compare")):
        range_of_python = distribution(name).metadata.get("Requires-Python") or ""
        assert "3.11.0" in SpecifierSet(range_of_python), f"{name} needs a newer one"


def test_the_learners_install_is_light():
    needed = installed_closure(declared()).keys()
    heavy = {"transformers", "nbgrader", "playwright", "selenium", "pytest", "ruff"}
    assert needed.isdisjoint(heavy)


def imported_packages(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0]


def test_the_library_imports_only_what_the_learner_installs():
    known = sys.stdlib_module_names | {"course_lib", "IPython"}
    base = {canonicalize_name(each.name) for each in declared()}
    # an instructor's command; without the extra it says what to install
    grading = base | {canonicalize_name(each.name) for each in declared("grade")}
    for path in (ROOT / "course_lib").rglob("*.py"):
        allowed = grading if path.parent.name == "grading" else base
        for name in set(imported_packages(path)) - known:
            package = {"PIL": "pillow"}.get(name, name)
            assert canonicalize_name(package) in allowed, f"{path} imports {name}"


# The conda route -----------------------------------------------------------------


def conda_environment():
    *conda, pip = yaml.safe_load(read("environment.yml"))["dependencies"]
    return conda, pip["pip"]


def test_conda_brings_python_and_pip_only():
    conda, _ = conda_environment()
    assert conda == ["python=3.11", "pip"]


def test_conda_installs_this_folder_with_the_same_pins():
    _, lines = conda_environment()
    assert lines == ["-c constraints.txt", "-e ."]


@pytest.mark.slow
def test_pip_accepts_the_lines_of_the_conda_route(tmp_path):
    installed_closure(declared())
    for name in ("pyproject.toml", "constraints.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "course_lib").mkdir()
    (tmp_path / "lines.txt").write_text("\n".join(conda_environment()[1]))
    # Without an index, pip may only use what is installed: at other pins it fails.
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index"]
    done = subprocess.run(
        [*pip, "--no-build-isolation", "-r", "lines.txt"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Would install decoder-course" in done.stdout
    assert len(done.stdout.split("Would install")[1].split()) == 1


# Commands and CI -------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("make"), reason="needs make")
def test_make_alone_lists_its_targets():
    listed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True).stdout
    for target in ("lab", "test", "check", "build", "weights", "env", "clean"):
        assert f"  make {target} " in listed


def test_ci_runs_the_command_of_the_readme():
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert subprocess.run(["bash", "-n", str(script)]).returncode == 0
    assert "\nmake test" in script.read_text()
    assert "make test" in read("README.md")


def test_the_workflow_calls_the_same_script():
    workflow = yaml.safe_load(read(".github/workflows/ci.yml"))
    triggers = workflow[True]  # YAML 1.1 reads the key `on` as true
    assert {"push", "pull_request", "schedule"} <= triggers.keys()
    steps = workflow["jobs"]["test"]["steps"]
    assert steps[-1]["run"] == "bash .ci/run"


def test_pre_commit_uses_the_pinned_ruff():
    hooks = yaml.safe_load(read(".pre-commit-config.yaml"))["repos"][0]["hooks"]
    named = {line for hook in hooks for line in hook["additional_dependencies"]}
    assert str(pins()["ruff"]) in named
    assert all("==" in line for line in named)


def test_nothing_that_git_ignores_is_in_the_repository():
    command = ["git", "ls-files", "--cached", "--ignored", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert listed.stdout == ""


def test_no_file_is_larger_than_500_kb_but_for_weights_of_our_own():
    trained = ROOT / "course_lib" / "pretrained" / "trained"
    for path in tracked_files():
        weights = path.suffix == ".safetensors" and trained in path.parents
        assert path.stat().st_size <= (5_000_000 if weights else 500_000), path
