"""Serve many conversations at once: one forward pass a step, one pool of pages."""

from course_lib.apps.serving.request import Request
from course_lib.apps.serving.server import Server

__all__ = ["Request", "Server"]
