"""Corpora that come with Python and its packages, and what to measure against.

words() -> English spellings      python_files(part) -> Python's own source
split(items) -> train, validation, test, the same on every machine
NGram(order, sequences).bits(sequence)      compressed_bits(data, method)
"""

from course_lib.data.baselines import NGram
from course_lib.data.compression import compressed_bits
from course_lib.data.pronunciations import words
from course_lib.data.python_source import PARTS, python_files
from course_lib.data.splits import split

__all__ = ["PARTS", "NGram", "compressed_bits", "python_files", "split", "words"]
