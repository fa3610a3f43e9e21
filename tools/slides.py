"""Cut slides from the lessons and the demos: pages that need no network.

    python tools/slides.py [NAME ...]    02_masks, demos/masks, ...; all without one

Writes slides/NAME.html, and reveal.js beside them; `slides/index.html` lists them.
Open one in a browser: arrows or space go on, `s` opens the speaker's view.

A cell tagged `slide` is on a slide: a text begins a new one, and code that stands right
behind it goes on there, if there is room; of code that draws, only the picture is shown.
A text without the tag becomes the speaker's notes of the slide before it. Of a demo,
each step is a slide, as its notebook keeps it for the day without a kernel.
"""

import argparse
import html
import importlib.util
import re
import shutil
import sys
from pathlib import Path

import nbformat
from latex2mathml.converter import convert as to_mathml
from nbconvert import SlidesExporter
from nbformat import NotebookNode
from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
TEMPLATES = ROOT / "tools" / "templates"
LETTERS_BESIDES = 350  # of a text that a picture still fits below
# Code in backticks may hold a dollar, so it is matched first and left alone.
FORMULA = re.compile(r"(```.*?```|`[^`]*`)|\$\$(.+?)\$\$|\$([^$\n]+?)\$", re.DOTALL)


def with_mathml(text: str) -> str:
    """Write each formula of a Markdown text as MathML, which browsers draw themselves."""

    def written(match: re.Match) -> str:
        code, block, inline = match.groups()
        if code:
            return code
        drawn = to_mathml(block or inline, display="block" if block else "inline")
        return drawn.replace("\n", " ")

    return FORMULA.sub(written, text)


def kind_of(cell: NotebookNode, is_demo: bool, goes_on: bool) -> str:
    """Say what becomes of a cell: "slide", "-" (goes on), "notes" or "skip"."""
    tags = cell.metadata.get("tags", [])
    is_text = cell.cell_type == "markdown"
    if "notes" in tags:
        return "notes"
    if "slide" in tags or "still" in tags or (is_demo and is_text):
        return "-" if goes_on and not is_text else "slide"
    return "notes" if is_text else "skip"


def draws(cell: NotebookNode) -> bool:
    """Tell whether a cell shows a picture."""
    return "<figure" in str(cell.get("outputs", ""))


def has_room(before: NotebookNode | None, cell: NotebookNode) -> bool:
    """Tell whether a cell may go on the slide of the one right before it."""
    if before is None or draws(before):
        return False
    is_short = before.cell_type == "markdown" and len(before.source) <= LETTERS_BESIDES
    return is_short or not draws(cell)


def as_slides(notebook: NotebookNode, is_demo: bool = False) -> NotebookNode:
    """Say of each cell where it goes, and write formulas as MathML."""
    slides = nbformat.from_dict(notebook)
    begun, before = False, None
    for cell in slides.cells:
        kind = kind_of(cell, is_demo, has_room(before, cell))
        # notes need a slide that they belong to
        kind = "skip" if kind == "notes" and not begun else kind
        shown = kind in ("slide", "-")
        begun, before = begun or shown, cell if shown else None
        cell.metadata["slideshow"] = {"slide_type": kind}
        if cell.cell_type == "markdown":
            cell.source = with_mathml(cell.source)
        elif draws(cell):
            cell.metadata["transient"] = {
                "remove_source": True
            }  # the picture speaks, not its code
    return slides


def exporter() -> SlidesExporter:
    """Make the exporter with the course's page."""
    settings = Config()
    settings.SlidesExporter.extra_template_basedirs = [str(TEMPLATES)]
    settings.SlidesExporter.template_name = "slides"
    settings.SlidesExporter.reveal_url_prefix = "reveal"
    settings.SlidesExporter.reveal_theme = "white"
    settings.SlidesExporter.exclude_input_prompt = True
    settings.SlidesExporter.exclude_output_prompt = True
    return SlidesExporter(config=settings)


def reveal_folder() -> Path:
    """Find the copy of reveal.js that the package sphinx-revealjs carries."""
    found = importlib.util.find_spec("sphinx_revealjs")
    if found is None:
        sys.exit(
            "needs sphinx-revealjs, which carries reveal.js: pip install -e '.[teach]'"
        )
    return Path(found.origin).parent / "_static" / "revealjs"


def put_reveal(folder: Path) -> None:
    """Copy what the pages need of reveal.js, with its licence."""
    source = reveal_folder()
    for name in (
        "LICENSE",
        "dist/reveal.js",
        "dist/reveal.css",
        "dist/theme/white.css",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, folder / name)
    shutil.copytree(
        source / "plugin/notes", folder / "plugin/notes", dirs_exist_ok=True
    )
    theme = folder / "dist/theme/white.css"
    # the theme's own fonts are files that the slides do not use
    theme.write_text(re.sub(r"@import[^;]*;", "", theme.read_text("utf-8")), "utf-8")


def page_of(path: Path) -> str:
    """Give the slides of a notebook as one page."""
    notebook = nbformat.read(path, as_version=4)
    slides = as_slides(notebook, is_demo=path.parent.name == "demos")
    if all(cell.metadata.slideshow.slide_type == "skip" for cell in slides.cells):
        sys.exit(
            f"{path.name} has no cell tagged `slide`: tag what a slide should show"
        )
    title = path.stem.lstrip("0123456789_").replace("_", " ")
    css = (TEMPLATES / "slides" / "slides.css").read_text("utf-8")
    resources = {"metadata": {"name": title}, "slides_css": css}
    page, _ = exporter().from_notebook_node(slides, resources=resources)
    return page


def notebook_paths(names: list[str]) -> list[Path]:
    """Find the notebooks that slides are asked of; all lessons and demos without names."""
    if not names:
        return sorted(NOTEBOOKS.glob("*.ipynb")) + sorted(
            NOTEBOOKS.glob("demos/*.ipynb")
        )
    paths = [NOTEBOOKS / f"{name.removesuffix('.ipynb')}.ipynb" for name in names]
    for path in paths:
        if not path.is_file():
            every = (one.relative_to(NOTEBOOKS) for one in notebook_paths([]))
            known = [one.with_suffix("").as_posix() for one in every]
            sys.exit(f"no notebook {path.stem}: there are {', '.join(known)}")
    return paths


def file_name(path: Path) -> str:
    """Name the page of a notebook: demos stand beside lessons."""
    prefix = "demo_" if path.parent.name == "demos" else ""
    return f"{prefix}{path.stem}.html"


def index(pages: list[str]) -> str:
    """List the pages that lie here."""
    items = "".join(
        f'<li><a href="{name}">{html.escape(name.removesuffix(".html").replace("_", " "))}</a></li>'
        for name in pages
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Slides</title>'
        f"</head><body><main><h1>Slides</h1><ul>{items}</ul></main></body></html>"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; give the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--to", type=Path, default=ROOT / "slides", metavar="FOLDER")
    options = parser.parse_args(arguments)
    paths = notebook_paths(options.names)
    options.to.mkdir(parents=True, exist_ok=True)
    put_reveal(options.to / "reveal")
    for path in paths:
        page = page_of(path)
        (options.to / file_name(path)).write_text(page, encoding="utf-8")
        print(f"{file_name(path)}: {page.count('<section') // 2} slides", flush=True)
    pages = sorted(p.name for p in options.to.glob("*.html") if p.name != "index.html")
    (options.to / "index.html").write_text(index(pages), encoding="utf-8")
    print(
        f"Open {options.to / 'index.html'} in a browser; s shows the speaker's notes."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
