"""A module imports only from the floors above it, never in a circle."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

LIBRARY = Path(__file__).parents[2] / "course_lib"
# The order of the lessons, from the ground up; a package counts as one module.
FLOORS = """
hardware progress modes softmax linear masks kv_cache attention positions feed_forward norms block
config embedding initial audio memory decoder encoder sampling generation training tokens
data pretrained apps trace figures explorer demos feedback grading quiz overview
""".split()


def modules():
    return sorted(
        path.stem if path.is_file() else path.name
        for path in LIBRARY.iterdir()
        if (path.suffix == ".py" and path.stem[0] != "_")
        or (path / "__init__.py").exists()
    )


def imported(path):
    """Names of the course_lib modules that a file imports, wherever the import stands."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(
            "course_lib"
        ):
            parts = node.module.split(".")
            yield from (
                [parts[1]] if len(parts) > 1 else [name.name for name in node.names]
            )
        elif isinstance(node, ast.Import):
            for name in node.names:
                if name.name.startswith("course_lib."):
                    yield name.name.split(".")[1]


def test_every_module_has_a_floor():
    assert sorted(FLOORS) == modules()


@pytest.mark.parametrize("name", FLOORS)
def test_a_module_imports_only_from_above(name):
    place = LIBRARY / name
    files = place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]
    above = FLOORS[: FLOORS.index(name)]
    for file in files:
        below = [
            other for other in imported(file) if other != name and other not in above
        ]
        assert not below, f"{file.relative_to(LIBRARY.parent)} imports {below}"


def test_only_hardware_knows_cuda():
    for path in LIBRARY.rglob("*.py"):
        if path.parent.name != "hardware":
            assert "torch.cuda" not in path.read_text(), path
            assert '"cuda' not in path.read_text(), path


def test_importing_the_decoder_needs_no_extra_and_draws_no_picture():
    code = (
        "import sys, course_lib.generation, course_lib.training; "
        "print(sorted(set(sys.modules) & {'transformers', 'matplotlib', 'IPython', 'tokenizers'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
