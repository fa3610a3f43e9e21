"""A picture with controls: Python draws it, the page shows it."""

from collections.abc import Callable
from pathlib import Path
from threading import RLock

import anywidget
import matplotlib
import traitlets

from course_lib.demos.control import Control
from course_lib.demos.stage import STAGE_STYLE
from course_lib.figures import Still, figure_html

PAGE = Path(__file__).parent / "page"


def page_source(part: str) -> str:
    """Return the program of a widget's page: one ES module that imports nothing.

    Args:
        part: "plot" or "steps".

    Lesson: notebooks/00_start.ipynb

    >>> page_source("steps").count("export default")
    1
    """
    files = (PAGE / f"{name}.js" for name in ("shared", part))
    return "\n".join(file.read_text("utf-8") for file in files)


class Plot(anywidget.AnyWidget):
    """A picture that is drawn anew when one of its controls is moved.

    The caption of the picture is its read-out: it says in words and numbers what is to
    be seen, and is announced when it changes.

    Args:
        draw: takes the controls' values by name and gives a Still, the same one for the
            same values; a ValueError is shown as its sentence.
        **controls: slider, choice, switch or words, by the name that draw takes.

    Attributes:
        values: where the controls stand.
        readout: the caption of what is shown, or why there is none.
        font_scale: 1 to 3, for a projector.

    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.demos.control import slider
    >>> from course_lib.figures import Still, new_figure
    >>> def draw(layer):
    ...     return Still(new_figure(2, 1)[0], "Nothing.", f"Layer {layer}.")
    >>> plot = Plot(draw, layer=slider("Layer", 0, low=0, high=3))
    >>> plot.look(layer=2)
    >>> plot.readout
    'Layer 2.'
    """

    _esm = page_source("plot")
    _css = PAGE / "demo.css"
    controls = traitlets.Dict().tag(sync=True)
    values = traitlets.Dict().tag(sync=True)
    picture = traitlets.Unicode().tag(sync=True)
    readout = traitlets.Unicode().tag(sync=True)
    font_scale = traitlets.Float(1.0, min=0.5, max=3).tag(sync=True)

    # The page's wishes may come in another thread than the cells, and what matplotlib
    # draws with is one for all.
    _drawing = RLock()

    def __init__(self, draw: Callable[..., Still], **controls: Control):
        self._draw, self._controls = draw, controls
        plain = {name: control.plain() for name, control in controls.items()}
        super().__init__(controls=plain)
        self.look(**{name: control.value for name, control in controls.items()})
        self.on_msg(self._on_wish)

    @property
    def state(self) -> dict:
        """Where the controls stand, as look() takes it."""
        return dict(self.values)

    def look(self, **values) -> None:
        """Move controls, and draw; a value that is not allowed becomes the nearest.

        Raises:
            ValueError: there is no control of that name.

        Lesson: notebooks/00_start.ipynb
        """
        values = self._allowed(values)
        with self._drawing, self.hold_sync():
            self.values = values
            try:
                still = self._drawn(values)
            except ValueError as error:  # the last picture stays
                self.readout = str(error)
                return
            self.picture = figure_html(still.figure, still.alt, still.caption)
            self.readout = still.caption

    def figure(self, **values) -> Still:
        """Draw what would be shown with some controls moved, and move none.

        Raises:
            ValueError: there is no control of that name, or draw's own.

        Lesson: notebooks/00_start.ipynb
        """
        return self._drawn(self._allowed(values))

    def _drawn(self, values: dict) -> Still:
        with self._drawing, matplotlib.rc_context(STAGE_STYLE):
            return self._draw(**values)

    def _allowed(self, values: dict) -> dict:
        """Complete the values by those that stand, each as its control allows."""
        if unknown := values.keys() - self._controls.keys():
            raise ValueError(
                f"there is no control named {', '.join(sorted(unknown))}: "
                f"there are {', '.join(self._controls)}"
            )
        wished = self.values | values
        return {name: one.nearest(wished[name]) for name, one in self._controls.items()}

    def _on_wish(self, _widget, wish: dict, _buffers) -> None:
        """Move what the page asks for, and tell it that this is done."""
        known = {k: v for k, v in wish.get("look", {}).items() if k in self._controls}
        try:
            self.look(**known)
        finally:  # or the page would say that nobody answers
            self.send({"done": True})
