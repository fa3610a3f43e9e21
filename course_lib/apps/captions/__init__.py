"""Live captions: speech becomes words with times while it is spoken.

python -m course_lib captions talk.wav --live
"""

from course_lib.apps.captions.captions import Captions
from course_lib.apps.captions.player import show_captions
from course_lib.apps.captions.policy import StablePrefix
from course_lib.apps.captions.recogniser import Hypothesis, Recogniser
from course_lib.apps.captions.subtitles import cues, srt, vtt
from course_lib.apps.captions.words import Word

__all__ = [
    "Captions",
    "Hypothesis",
    "Recogniser",
    "StablePrefix",
    "Word",
    "cues",
    "show_captions",
    "srt",
    "vtt",
]
