"""notebooks/GPU.md says of each GPU cell where it last ran, or that it never did."""

import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import gpu_table  # noqa: E402


def test_the_stored_table_lists_the_cells_as_they_are():
    stored = gpu_table.TABLE.read_text(encoding="utf-8")
    assert stored == gpu_table.rows(gpu_table.known(stored)), (
        "python tools/gpu_table.py"
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with one notebook of three cells, two of them with a GPU side."""
    notebook = nbformat.v4.new_notebook()
    for number, tags in enumerate((["gpu"], [], ["cuda"]), start=1):
        cell = nbformat.v4.new_code_cell(f"print({number})", id=f"09-00{number}")
        notebook.cells.append(cell)
        cell.metadata["tags"] = tags
    nbformat.write(notebook, tmp_path / "09_test.ipynb")
    monkeypatch.setattr(gpu_table, "NOTEBOOKS", tmp_path)
    monkeypatch.setattr(gpu_table, "TABLE", tmp_path / "GPU.md")
    return tmp_path


def table(folder):
    lines = (folder / "GPU.md").read_text().splitlines()
    return [
        [word.strip() for word in line.split("|")[1:-1]]
        for line in lines
        if "| 09" in line
    ]


def test_cells_that_never_ran_on_cuda_say_so(folder):
    gpu_table.update()
    assert [(row[1], row[2], row[4]) for row in table(folder)] == [
        ("09-001", "gpu", "never"),
        ("09-003", "cuda", "never"),
    ]


def test_a_run_is_kept_until_the_cell_changes(folder):
    gpu_table.update([gpu_table.digest("print(1)")], "NVIDIA Test")
    gpu_table.update()
    assert [row[4] for row in table(folder)] == ["NVIDIA Test", "never"]
    notebook = nbformat.read(folder / "09_test.ipynb", as_version=4)
    notebook.cells[0].source = "print(11)"
    nbformat.write(notebook, folder / "09_test.ipynb")
    gpu_table.update()
    assert [row[4] for row in table(folder)] == ["never", "never"]
