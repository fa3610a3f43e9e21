"""Cut the exercises: text -> solutions/ (with answers) -> exercises/ (without).

    python tools/exercises.py build   [NAME ...]   text -> solutions/NN_word/word.ipynb
    python tools/exercises.py release [NAME ...]   build, then cut exercises/ from it
    python tools/exercises.py check   [NAME ...]   fail where something is out of step

An author writes `solutions/text/NN_word.py` (jupytext, py:percent) and marks cells by
tags: `solution:NAME` for the cell that a student fills in, with the answer between
`### BEGIN SOLUTION` and `### END SOLUTION`; `check:NAME` and `points:N` for the cell
that checks it; `manual:NAME` and `points:N` for an answer in words that a person marks.
`build` turns the tags into nbgrader's metadata; nbgrader itself cuts the release.
"""

import argparse
import filecmp
import re
import sys
import tempfile
from pathlib import Path

import jupytext
import nbformat
from nbformat import NotebookNode

sys.path.insert(0, str(Path(__file__).parent))
from notebooks import METADATA, dump, tags  # noqa: E402  the tool beside this one

ROOT = Path(__file__).resolve().parent.parent
TEXTS, SOLUTIONS, EXERCISES = (
    ROOT / "solutions" / "text",
    ROOT / "solutions",
    ROOT / "exercises",
)


def assembled(name: str) -> NotebookNode:
    """Read a text as a notebook with nbgrader's metadata, ids by place, no outputs."""
    source = (TEXTS / f"{name}.py").read_text(encoding="utf-8")
    word, cells = name.split("_", 1)[1], []
    for place, old in enumerate(jupytext.reads(source, fmt="py:percent").cells, 1):
        metadata = graded_by(tags(old))
        cell = NotebookNode(
            cell_type=old.cell_type,
            id=f"{word.replace('_', '-')}-{place:02d}",
            metadata=NotebookNode(nbgrader=metadata) if metadata else NotebookNode(),
            source=old.source,
        )
        if old.cell_type == "code":
            cell.update(execution_count=None, outputs=[])
        cells.append(cell)
    return NotebookNode(
        cells=cells,
        metadata=nbformat.from_dict(METADATA),
        nbformat=4,
        nbformat_minor=5,
    )


def graded_by(cell_tags: list[str]) -> NotebookNode | None:
    """Turn an author's tags into nbgrader's metadata (schema 3)."""
    known = dict(tag.split(":", 1) for tag in cell_tags if ":" in tag)
    if name := known.get("solution"):
        role = {"grade": False, "solution": True, "locked": False}
    elif name := known.get("manual"):
        role = {"grade": True, "solution": True, "locked": False}
    elif name := known.get("check"):
        role, name = {"grade": True, "solution": False, "locked": True}, f"{name}-check"
    else:
        return None
    if role["grade"]:
        role["points"] = int(known["points"])
    return NotebookNode(grade_id=name, schema_version=3, task=False, **role)


def solution_path(name: str) -> Path:
    """Give the notebook with answers."""
    return SOLUTIONS / name / f"{name.split('_', 1)[1]}.ipynb"


def build(name: str) -> None:
    """Write the notebook with answers."""
    solution_path(name).parent.mkdir(parents=True, exist_ok=True)
    solution_path(name).write_text(dump(assembled(name)), encoding="utf-8")


def release(names: list[str], into: Path) -> None:
    """Let nbgrader cut the notebooks without answers, all in this process."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import PyFileConfigLoader

    config = PyFileConfigLoader("nbgrader_config.py", str(ROOT)).load_config()
    config.CourseDirectory.merge({"root": str(ROOT), "release_directory": str(into)})
    config.SaveCells.enabled = False  # as --no-db does
    for name in names:
        config.CourseDirectory.assignment_id = name
        folder = CourseDirectory(config=config)
        options = {"no_database": True, "force": True}
        GenerateAssignment(coursedir=folder, config=config, **options).start()


def faults(name: str) -> list[str]:
    """List what is wrong with one text: markers, twins, leaks."""
    source = (TEXTS / f"{name}.py").read_text(encoding="utf-8")
    found = []
    begun = False
    for line in source.splitlines():
        if re.search(r"(begin|end) (solution|hidden tests)", line, re.IGNORECASE):
            kind = line.strip().removeprefix("# ")
            wanted = f"### {'END' if begun else 'BEGIN'} SOLUTION"
            if kind != wanted:
                found.append(f"marker {kind!r} where {wanted!r} was due")
            begun = not begun
    if begun:
        found.append("a solution is not ended")
    if not solution_path(name).exists() or solution_path(name).read_text(
        encoding="utf-8"
    ) != dump(assembled(name)):
        found.append("solutions/ differs from its text: run build")
    return found


def solution_lines(name: str) -> set[str]:
    """List the lines that only the answers hold."""
    source = (TEXTS / f"{name}.py").read_text(encoding="utf-8")
    inside = re.findall(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", source, re.S)
    lines = {line.strip() for part in inside for line in part.splitlines()}
    return {line for line in lines if len(line) > 12}


def out_of_step(name: str, folder: Path) -> list[str]:
    """List the files of a release that differ from the stored ones."""
    fresh, stored = folder / name, EXERCISES / name
    names = {p.name for p in fresh.iterdir()}
    if not stored.is_dir() or names != {p.name for p in stored.iterdir()}:
        return [f"exercises/{name} holds other files than a release: run release"]
    _, differ, errors = filecmp.cmpfiles(fresh, stored, names, shallow=False)
    return [f"exercises/{name}/{file} differs: run release" for file in differ + errors]


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; give the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["build", "release", "check"])
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args(arguments)
    names = options.names or sorted(path.stem for path in TEXTS.glob("*.py"))
    if options.command != "check":
        for name in names:
            build(name)
        if options.command == "release":
            release(names, EXERCISES)
        return 0
    found = [f"{name}: {fault}" for name in names for fault in faults(name)]
    with tempfile.TemporaryDirectory() as folder:
        release(names, Path(folder))
        found += [fault for name in names for fault in out_of_step(name, Path(folder))]
    print("\n".join(found) or "in step")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
