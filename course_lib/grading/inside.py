"""What runs in the sandbox: a notebook's cells, then the probes; numbers come out.

Untrusted code runs in this very process and may do to it what it likes. So nothing is
here that must stay hidden, and nothing that comes out is believed.

A job comes in on stdin, one JSON object a line goes out on what was stdout:
{"cell": 3}                                    cell 3 begins
{"exercise": "softmax", "found": true}         its probes begin
{"exercise": "softmax", "outcome": {...}}      what the next probe gave
{"end": true}                                  all came to its end
"""

import contextlib
import json
import os
import pickle
import resource
import sys
from dataclasses import asdict
from typing import Any


def main() -> None:
    """Run the job that stands on stdin."""
    job = pickle.load(sys.stdin.buffer)
    out = os.fdopen(os.dup(1), "w", buffering=1)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):  # what a notebook prints is no one's to read
        os.dup2(nothing, number)
    for name, most in job["limits"].items():
        resource.setrlimit(getattr(resource, name), (most, most))

    def tell(**what: Any) -> None:
        out.write(json.dumps(what) + "\n")

    names = _run_cells(job["cells"], job["skip"], tell)
    _answer(pickle.loads(job["tasks"]), names, tell)
    tell(end=True)
    out.flush()
    os._exit(0)  # threads and exit handlers of the notebook do not matter any more


def _run_cells(cells: list[str], skip: list[int], tell) -> dict[str, Any]:
    """Run the cells as a notebook does; a cell that fails does not end the others."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.showtraceback = lambda *args, **kwargs: None
    # IPython keeps all that is printed, and one who prints for ever fills the memory
    shell._tee = lambda channel: contextlib.nullcontext()
    # `%matplotlib inline`, the usual first line, is for a kernel; its cell goes on here
    run_magic = shell.run_line_magic

    def line_magic(name, line, _stack_depth=1):
        with contextlib.suppress(Exception):
            return run_magic(name, line, _stack_depth + 1)

    shell.run_line_magic = line_magic
    for at, source in enumerate(cells):
        if at not in skip:
            tell(cell=at)
            shell.run_cell(source, store_history=False, silent=True)
    return shell.user_ns


def _answer(tasks: list, names: dict[str, Any], tell) -> None:
    from course_lib.feedback.observe import observe
    from course_lib.feedback.task import Probe
    from course_lib.grading.wire import encode

    for name, use, inputs in tasks:
        answer = names.get(name)
        tell(exercise=name, found=callable(answer))
        if not callable(answer):
            continue
        probes = [Probe("", *args, **kwargs) for args, kwargs in inputs]
        for outcome in observe(use, answer, probes):
            noted = asdict(outcome) | {"value": None}
            try:
                noted["value"] = encode(outcome.value)
                tell(exercise=name, outcome=noted)
            except Exception:  # an object that plays a number
                noted["value"] = {"unreadable": "object"}
                tell(exercise=name, outcome=noted)


if __name__ == "__main__":
    main()
