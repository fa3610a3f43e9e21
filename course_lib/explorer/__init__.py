"""The decoder explorer: one trace, looked at in four ways."""

from course_lib.explorer.widget import Explorer, explore

__all__ = ["Explorer", "explore"]
