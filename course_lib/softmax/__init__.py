"""Scores become a choice: probabilities, a loss, and whether they are true."""

from course_lib.softmax.confidence import Calibration, calibration, fit_temperature
from course_lib.softmax.probabilities import cross_entropy, log_softmax, softmax

__all__ = [
    "Calibration",
    "calibration",
    "cross_entropy",
    "fit_temperature",
    "log_softmax",
    "softmax",
]
