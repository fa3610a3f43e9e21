"""The decoder explorer: one trace, looked at in four ways."""

from course_lib.explorer.runs import explore
from course_lib.explorer.widget import Explorer

__all__ = ["Explorer", "explore"]
