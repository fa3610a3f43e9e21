"""A student's process and we: one job goes in, lines come out, and it is ended."""

import contextlib
import os
import selectors
import signal
import subprocess
import tempfile
import threading
import time

from course_lib.grading.sandbox import Limits, Sandbox, SandboxError
from course_lib.grading.wire import clean

END = b'\n{"end": true}\n'


def converse(sandbox: Sandbox, job: bytes) -> tuple[list[bytes], str]:
    """Give a sandbox its job, and read lines until it ends, is late or says too much.

    Args:
        sandbox: keeps the process in; its limits say how long and how much.
        job: what grading.inside reads.

    Returns:
        the whole lines that came out, and "graded", "timeout", "kernel_died" or
        "forbidden".

    Raises:
        SandboxError: the sandbox itself did not start.
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
