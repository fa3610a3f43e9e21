"""A trace: everything a picture of a decoder needs, from its real forward passes."""

from course_lib.trace.record import Trace

__all__ = ["Trace"]
