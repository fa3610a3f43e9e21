"""A decoder of Python's own source: trained, measured beside its rivals, completing."""

from course_lib.apps.python_source.bits import bits_per_byte, compare

__all__ = ["bits_per_byte", "compare"]
