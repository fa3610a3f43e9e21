"""Writing: feed the model its own choices, one id at a time."""

from course_lib.generation.beams import beam_search
from course_lib.generation.prompts import pad_rows
from course_lib.generation.writing import generate, generate_batch, stream

__all__ = ["beam_search", "generate", "generate_batch", "pad_rows", "stream"]
