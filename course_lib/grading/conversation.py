"""Give a sandbox its job, and read what comes out: never more, never longer, than allowed."""

import atexit
import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from functools import cache
from pathlib import Path

from course_lib.grading.sandbox import Limits, Sandbox, SandboxError
from course_lib.grading.view import make_view
from course_lib.grading.wire import clean

END = b'\n{"end": true}\n'
VIEW = "course-view-"


def converse(sandbox: Sandbox, job: bytes) -> tuple[list[bytes], str]:
    """Give a sandbox its job, and read lines until it ends, is late or says too much.

    Args:
        sandbox: what keeps the process in; it is killed with all its children.
        job: what its process reads from its standard input.

    Returns:
        the lines that came out, and how it ended: "graded", "timeout", "kernel_died" or
        "forbidden" (more came out than is read).

    Raises:
        SandboxError: the sandbox itself does not start.
    """
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            sandbox.command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env=os.environ if sandbox.kind == "docker" else sandbox.environment(),
            cwd=sandbox.view,  # hidden by a sandbox; without one, not where we stand
            start_new_session=True,
        )
        feeder = threading.Thread(target=_feed, args=(process, job), daemon=True)
        feeder.start()
        try:
            data, end = _read(process, sandbox.limits)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            process.stdout.close()
            feeder.join(5)
        if not data and end == "kernel_died":
            complaints.seek(0)
            said = clean(complaints.read(2000).decode(errors="replace")).strip()
            raise SandboxError(
                f"the sandbox did not start: {said or 'no reason given'}"
            )
    return data.split(b"\n")[:-1], end


def _feed(process, job: bytes) -> None:
    with contextlib.suppress(OSError):
        process.stdin.write(job)
        process.stdin.close()


def _read(process, limits: Limits) -> tuple[bytes, str]:
    data, until = bytearray(), time.monotonic() + limits.seconds
    os.set_blocking(process.stdout.fileno(), False)
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while (left := until - time.monotonic()) > 0:
            if not ready.select(left):
                continue
            part = process.stdout.read1(2**16)
            if not part:
                return bytes(data), "kernel_died"
            data += part
            if len(data) > limits.out:
                return bytes(data), "forbidden"
            if data.endswith(END):  # whatever it still does
                return bytes(data), "graded"
    return bytes(data), "timeout"


@cache
def shared_view() -> Path:
    """Give what a student's process sees of the course; it goes when our process does."""
    _clear(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=f"{VIEW}{os.getpid()}-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return make_view(folder)


def _clear(folder: Path) -> None:
    """Take away the views of our own processes that were killed."""
    for view in folder.glob(f"{VIEW}*-*"):
        process = view.name.removeprefix(VIEW).split("-")[0]
        with contextlib.suppress(OSError):
            if (
                view.lstat().st_uid == os.geteuid()
                and not Path("/proc", process).exists()
            ):
                shutil.rmtree(view, ignore_errors=True)
