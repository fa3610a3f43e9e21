"""Show a demo as a page of its own, for a projector.

    python tools/demo.py masks      all that follows goes to voila, such as --no-browser

The page has the demo and nothing else; the speaker's notes stay in its notebook.
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEMOS = ROOT / "notebooks" / "demos"
# without each of these no widget shows; all others only complain that this is no JupyterLab
EXTENSIONS = (
    "@jupyter-widgets/jupyterlab-manager",
    "@voila-dashboards/widgets-manager8",
    "anywidget",
)
SETTINGS = [
    "--template=demo",
    "--show_tracebacks=True",
    "--TagRemovePreprocessor.enabled=True",
    *(
        f"--TagRemovePreprocessor.remove_cell_tags={tag}"
        for tag in ("notes", "still", "title")
    ),
    *(f"--VoilaConfiguration.extension_allowlist={name}" for name in EXTENSIONS),
]


def command(name: str, *more: str) -> list[str]:
    """Write the command that serves a demo.

    Raises:
        SystemExit: there is no such demo; the message lists them.
    """
    notebook = DEMOS / f"{name}.ipynb"
    if not notebook.is_file():
        names = ", ".join(sorted(path.stem for path in DEMOS.glob("*.ipynb")))
        sys.exit(f"Which demo? make demo NAME=... with one of: {names}")
    return [sys.executable, "-m", "voila", str(notebook), *SETTINGS, *more]


def environment() -> dict[str, str]:
    """Give the environment in which voila finds the course's page."""
    paths = [str(ROOT / "tools" / "templates"), os.environ.get("JUPYTER_PATH", "")]
    return os.environ | {"JUPYTER_PATH": os.pathsep.join(filter(None, paths))}


if __name__ == "__main__":
    name, *more = [*sys.argv[1:], ""][: max(1, len(sys.argv) - 1)]
    os.execve(sys.executable, command(name, *more), environment())
