"""Tell a learner which mistake an answer makes: `check(name, answer)`."""

from course_lib.feedback.checking import check
from course_lib.feedback.result import Result

__all__ = ["Result", "check"]
