"""Live demos for a projector: one idea each, taken through by questions.

A topic is a module with one function, `demo()`, which gives a `Demo` ready to show.
`notebooks/demos/` holds a notebook a topic, with the speaker's notes.
"""

from course_lib.demos.control import Control, choice, slider, switch, words
from course_lib.demos.demo import Demo, Step
from course_lib.demos.plot import Plot
from course_lib.demos.stage import new_stage

__all__ = [
    "Control",
    "Demo",
    "Plot",
    "Step",
    "choice",
    "new_stage",
    "slider",
    "switch",
    "words",
]
