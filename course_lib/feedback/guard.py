"""Run untried code so that neither a loop without end nor a crash reaches us."""

import contextlib
import ctypes
import faulthandler
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

from course_lib import hardware

MEMORY_BYTES = 4 * 2**30  # more than any exercise needs


class Stopped(RuntimeError):
    """The guarded code did not come to its end; the message says what happened."""


def guarded(
    work: Callable[[], Iterable[Any]], seconds: float, process: bool | None = None
) -> tuple[list[Any], Stopped | None]:
    """Collect what work yields, for at most so many seconds.

    In a forked process a loop without end, a long torch call, a crash and a call of
    os._exit end that process and nothing else. Where forking is unsafe (Windows, macOS,
    or when CUDA is in use) a thread does the work: then a Python loop is ended, a long
    torch call is left behind, and a crash is not caught.

    Args:
        work: called without arguments; what it yields must be picklable.
        seconds: wall time allowed.
        process: fork or not; None decides as above.

    Returns:
        what was yielded, and None or why it stopped early.

    >>> guarded(lambda: iter([2, 3]), seconds=5)
    ([2, 3], None)
    """
    if process is None:
        process = hardware.may_fork()
    return (_in_process if process else _in_thread)(work, seconds)


def _in_process(work, seconds):
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    with tempfile.TemporaryFile() as notes:
        child = context.Process(target=_child, args=(work, theirs, seconds, notes))
        with warnings.catch_warnings(action="ignore"):  # "threads and fork"
            child.start()
        theirs.close()
        try:
            found, end = _receive(ours, seconds)
        finally:
            _end(child)
        notes.seek(0)
        where = _last_line(notes.read().decode(errors="replace"))
    if end == "late":
        return found, Stopped(f"it was not done after {seconds:g} seconds{where}")
    if end == "gone":
        return found, Stopped(f"it ended the Python process that ran it{where}")
    return found, None


def _end(child) -> None:
    """Kill the child and whatever it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.join()


def _child(work, pipe, seconds, notes) -> None:
    """Send what work yields, each item by itself, then None."""
    os.setsid()
    faulthandler.enable(notes)
    # A signal and not dump_traceback_later: its thread reads frames while they change,
    # which now and then ends this process.
    faulthandler.register(signal.SIGALRM, file=notes, all_threads=False)
    signal.setitimer(signal.ITIMER_REAL, seconds * 0.8)
    _limit_memory()
    with hardware.threads(1):  # a forked process has none of its parent's threads
        for item in work():
            pipe.send_bytes(pickle.dumps(item))
    pipe.send_bytes(b"")
    os._exit(0)  # no clean-up of a kernel that this process is not


def _limit_memory() -> None:
    import resource  # not on Windows, where nothing is forked

    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held + MEMORY_BYTES, most))


def _receive(pipe, seconds):
    """Take items until the empty one; "late" or "gone" where it does not come."""
    found, end = [], time.monotonic() + seconds
    while pipe.poll(max(0.0, end - time.monotonic())):
        try:
            message = pipe.recv_bytes()
        except EOFError:
            return found, "gone"
        if not message:
            return found, None
        found.append(pickle.loads(message))
    return found, "late"


def _last_line(traceback: str) -> str:
    """Find the innermost line outside libraries in faulthandler's text."""
    for line in traceback.splitlines():
        if line.startswith("  File") and not any(
            part in line for part in ("site-packages", "course_lib", "lib/python3")
        ):
            number = line.rsplit("line ", 1)[-1]
            return f"; it was at line {number}"
    return ""


def _in_thread(work, seconds):
    found: list[Any] = []
    failures: list[BaseException] = []
    late = threading.Event()

    def run() -> None:
        try:
            for item in work():
                if late.is_set():
                    return
                found.append(item)
        except BaseException as error:
            failures.append(error)

    streams = sys.stdout, sys.stderr
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if not thread.is_alive():
        return found, Stopped(repr(failures[0])) if failures else None
    late.set()
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident), ctypes.py_object(SystemExit)
    )
    sys.stdout, sys.stderr = streams  # what the thread may have redirected
    return list(found), Stopped(f"it was not done after {seconds:g} seconds")
