"""Every public name keeps the docstring contract of STYLE.md."""

import ast
import re
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parents[2] / "course_lib"
LESSONS = """
00_start 01_softmax 02_masks 03_attention 04_positions 05_cross_attention
06_feed_forward 07_block 08_decoder 09_sampling 10_kv_cache 11_training
12_translation 13_chat 14_captions 15_scale
""".split()
LESSON = re.compile(r"Lesson: notebooks/(\w+)\.ipynb")


def public_names(package):
    """Names that a package's __init__ offers; its other files' names are its own."""
    for node in ast.parse((package / "__init__.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def public_definitions():
    """Yield (id, node) of each function and class that a lesson may import."""
    for path in sorted(LIBRARY.rglob("*.py")):
        if path == LIBRARY / "__main__.py":
            continue  # a command, not a module
        offered = None if path.parent == LIBRARY else public_names(path.parent)
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            if node.name in offered if offered is not None else node.name[0] != "_":
                yield pytest.param(node, id=f"{path.relative_to(LIBRARY)}:{node.name}")


DEFINITIONS = list(public_definitions())


@pytest.mark.parametrize("node", DEFINITIONS)
def test_the_first_line_is_one_sentence(node):
    first = (ast.get_docstring(node) or "").splitlines()[0]
    assert first.endswith((".", ":", "?")), first
    assert first[0].isupper() or first.split()[0].rstrip("()").isidentifier()


@pytest.mark.parametrize("node", DEFINITIONS)
def test_a_lesson_of_the_curriculum_is_named(node):
    found = LESSON.findall(ast.get_docstring(node) or "")
    assert found, node.name
    assert all(lesson in LESSONS for lesson in found)


@pytest.mark.parametrize("node", DEFINITIONS)
def test_arguments_and_errors_are_described(node):
    if not isinstance(node, ast.FunctionDef):
        return
    text = ast.get_docstring(node) or ""
    for argument in [*node.args.args, *node.args.kwonlyargs]:
        described = re.search(rf"^\s*{argument.arg}( \(.*\))?:", text, re.MULTILINE)
        assert described, f"{argument.arg} of {node.name}"
    raises = any(isinstance(part, ast.Raise) for part in ast.walk(node))
    assert not raises or "Raises:" in text, f"{node.name} does not say what it raises"


@pytest.mark.parametrize("node", DEFINITIONS)
def test_a_public_function_has_an_example(node):
    if isinstance(node, ast.FunctionDef):
        assert ">>> " in (ast.get_docstring(node) or ""), node.name


def test_there_are_public_names_at_all():
    names = {param.values[0].name for param in DEFINITIONS}
    assert {"softmax", "attention", "Decoder", "PagedCache", "train", "load"} <= names
