"""The page's program, put together from its parts."""

from pathlib import Path

PAGE = Path(__file__).parent / "page"
# one ES module without imports, in this order
PARTS = (
    "elements",
    "colours",
    "sizes",
    "drawing",
    "store",
    "controls",
    "predict",
    "whole",
    "alignment",
    "head",
    "feed",
    "sampler",
    "beams",
    "training",
    "steps",
    "explorer",
)


def page_source() -> str:
    """Return the page's program: one ES module that imports nothing.

    Lesson: notebooks/00_start.ipynb

    >>> page_source().count("export default")
    1
    """
    return "\n".join((PAGE / f"{part}.js").read_text("utf-8") for part in PARTS)
