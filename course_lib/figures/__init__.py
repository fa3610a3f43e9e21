"""Pictures of the course: drawn with matplotlib, shown with words.

Every picture passes through `show_figure`, which asks for an alt text and a
caption. Colour never carries a meaning alone: cells hold numbers or signs,
hidden cells are hatched. The paper is white in light and dark themes.
"""

from course_lib.figures.curves import draw_curves
from course_lib.figures.plan import count
from course_lib.figures.reading import draw_reading
from course_lib.figures.reliability import draw_reliability
from course_lib.figures.show import (
    Still,
    figure_html,
    new_figure,
    png_bytes,
    show_figure,
)
from course_lib.figures.stack import draw_stack
from course_lib.figures.step import draw_step
from course_lib.figures.tables import (
    draw_mask,
    draw_masks,
    draw_probabilities,
    draw_weights,
)

__all__ = [
    "Still",
    "count",
    "draw_curves",
    "draw_mask",
    "draw_masks",
    "draw_probabilities",
    "draw_reading",
    "draw_reliability",
    "draw_stack",
    "draw_step",
    "draw_weights",
    "figure_html",
    "new_figure",
    "png_bytes",
    "show_figure",
]
