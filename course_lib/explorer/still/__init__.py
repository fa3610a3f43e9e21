"""A still: one picture of a trace, with alt text and caption, for a page or for print."""

from course_lib.explorer.still.picture import draw_still

__all__ = ["draw_still"]
