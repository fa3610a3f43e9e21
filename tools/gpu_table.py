"""Keep notebooks/GPU.md: where and when each `gpu` and `cuda` cell last ran on CUDA.

    python tools/gpu_table.py    list the cells as they are now

`make test-gpu` fills in the device and the date. A cell is known by its code: one that
was changed is back to "never".
"""

import datetime
import hashlib
import re
from pathlib import Path

import nbformat

NOTEBOOKS = Path(__file__).resolve().parent.parent / "notebooks"
TABLE = NOTEBOOKS / "GPU.md"
HEAD = """# Where the GPU cells ran

One row for each cell tagged `gpu` or `cuda`, with the CUDA device on which it last
passed under `make test-gpu`. Written by `tools/gpu_table.py`; do not edit by hand.

| notebook | cell | tag | code | device | date |
|---|---|---|---|---|---|
"""
ROW = re.compile(r"^\| .* \| `(\w{8})` \| (.*) \| (.*) \|$", re.MULTILINE)


def digest(source: str) -> str:
    """Name a cell by its code."""
    return hashlib.sha256(source.encode()).hexdigest()[:8]


def cells():
    """Yield (notebook, id, tag, digest) of every cell that has a GPU side."""
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            for tag in sorted({"gpu", "cuda"} & set(cell.metadata.get("tags", []))):
                yield path.stem, cell.id, tag, digest(cell.source)


def known(text: str) -> dict[str, tuple[str, str]]:
    """Read device and date of each cell from the table."""
    return {code: (device, date) for code, device, date in ROW.findall(text)}


def rows(ran: dict[str, tuple[str, str]]) -> str:
    """Write the table of the cells as they are now."""
    lines = [
        "| "
        + " | ".join((*where, f"`{code}`", *ran.get(code, ("never", "never"))))
        + " |"
        for *where, code in cells()
    ]
    return HEAD + "\n".join(lines) + "\n"


def update(passed: list[str] = (), device: str = "") -> None:
    """Write the table; cells in `passed` (digests) ran today on `device`."""
    ran = known(TABLE.read_text(encoding="utf-8")) if TABLE.exists() else {}
    today = datetime.date.today().isoformat()
    ran |= {code: (device, today) for code in passed}
    TABLE.write_text(rows(ran), encoding="utf-8")


if __name__ == "__main__":
    update()
