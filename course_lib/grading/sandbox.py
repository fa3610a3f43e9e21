"""Who keeps a student's process in: bubblewrap, a container, or nobody if so told."""

import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from course_lib.pretrained.storage import cache_folder

KINDS = ("auto", "bwrap", "docker", "none")
INSTALL = {
    "bwrap": "apt-get install bubblewrap (Debian, Ubuntu) or dnf install bubblewrap",
    "docker": "https://docs.docker.com/engine/install/",
}
MEMORY_BYTES, FILE_BYTES = 4 * 2**30, 64 * 2**20
IMAGE = "decoder-course-grading"


class SandboxError(ValueError):
    """No sandbox can be had; the message says what to install."""


@dataclass(frozen=True)
class Limits:
    """What one student's process may use.

    seconds: wall time of one run, cells and probes together.
    memory: bytes of address space.
    processes: at once, itself and its threads included.
    out: bytes of values that are read.
    """

    seconds: float = 120.0
    memory: int = MEMORY_BYTES
    processes: int = 256
    out: int = 16 * 2**20

    def resources(self) -> dict[str, int]:
        """Return the names and values that the process sets upon itself at its start."""
        return {
            "RLIMIT_AS": self.memory,
            "RLIMIT_FSIZE": FILE_BYTES,
            "RLIMIT_NPROC": self.processes,
            "RLIMIT_CPU": int(2 * self.seconds) + 1,
            "RLIMIT_CORE": 0,
        }


@dataclass(frozen=True)
class Sandbox:
    """A kind of sandbox, and the view that it shows.

    kind: "bwrap", "docker" or "none".
    view: folder that holds the package as students see it.
    """

    kind: str
    view: Path
    limits: Limits = field(default_factory=Limits)

    def command(self) -> list[str]:
        """Return the command line that runs grading.inside."""
        return {"bwrap": self._bwrap, "docker": self._docker, "none": self._none}[
            self.kind
        ]()

    def environment(self) -> dict[str, str]:
        """Return all that the process knows of ours."""
        return {
            "PATH": f"{Path(sys.prefix) / 'bin'}:/usr/bin:/bin",
            "HOME": str(Path.home()) if self.kind == "none" else "/home/student",
            "LANG": "C.UTF-8",
            "OMP_NUM_THREADS": "1",
            "MPLBACKEND": "agg",
            "PYTHONPATH": "/course" if self.kind != "none" else str(self.view),
            "PYTHONSAFEPATH": "1",
            "PYTHONHASHSEED": "0",  # the order of a set, and so a mark, can be had again
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def _inside(self) -> list[str]:
        return [sys.executable, "-m", "course_lib.grading.inside"]

    def _none(self) -> list[str]:
        return self._inside()

    def _bwrap(self) -> list[str]:
        line = ["bwrap", "--unshare-all", "--unshare-user", "--die-with-parent"]
        line += ["--new-session", "--cap-drop", "ALL", "--clearenv"]
        line += ["--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]
        for name, value in self.environment().items():
            line += ["--setenv", name, value]
        line += ["--ro-bind", "/usr", "/usr"]
        for name in ("bin", "lib", "lib64", "sbin"):
            if Path("/", name).is_symlink():
                line += ["--symlink", f"usr/{name}", f"/{name}"]
            elif Path("/", name).is_dir():
                line += ["--ro-bind", f"/{name}", f"/{name}"]
        line += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
        line += ["--proc", "/proc", "--dev", "/dev"]
        line += ["--size", str(FILE_BYTES), "--tmpfs", "/tmp"]
        line += ["--size", str(FILE_BYTES), "--tmpfs", "/home/student"]
        for folder in python_folders():
            line += ["--ro-bind", str(folder), str(folder)]
        installed = Path(sysconfig.get_path("purelib"), "course_lib")
        if installed.is_dir():  # the whole package, answers included
            line += ["--tmpfs", str(installed)]
        line += ["--ro-bind", str(self.view), "/course"]
        weights = cache_folder()
        if weights.is_dir():
            line += ["--ro-bind", str(weights), "/home/student/.cache/decoder-course"]
        line += ["--remount-ro", "/", "--chdir", "/home/student"]
        return [*line, "--", *self._inside()]

    def _docker(self) -> list[str]:
        line = ["docker", "run", "--rm", "--interactive", "--network", "none"]
        line += ["--read-only", "--cap-drop", "ALL", "--user", "65534"]
        line += ["--security-opt", "no-new-privileges"]
        line += ["--pids-limit", str(self.limits.processes)]
        line += ["--memory", str(self.limits.memory), "--workdir", "/home/student"]
        for folder in ("/tmp", "/home/student"):
            line += ["--tmpfs", f"{folder}:rw,mode=1777,size={FILE_BYTES}"]
        line += ["--volume", f"{self.view}:/course:ro"]
        for name, value in self.environment().items():
            if name != "PATH":
                line += ["--env", f"{name}={value}"]
        return [*line, IMAGE, "python", "-m", "course_lib.grading.inside"]


def python_folders() -> list[Path]:
    """List the folders that this Python lives in, outermost first, /usr left out."""
    found = [Path(sys.base_prefix), Path(sys.prefix)]
    found += [Path(os.path.realpath(folder)) for folder in found]
    kept = []
    for folder in dict.fromkeys(found):
        if not folder.is_relative_to("/usr") or folder.is_relative_to("/usr/local"):
            kept.append(folder)
    return kept


def choose(kind: str, trust: bool = False) -> str:
    """Decide what keeps the students' processes in, and refuse rather than guess.

    Args:
        kind: "auto", "bwrap" or "docker".
        trust: run without a sandbox, because all submissions are trusted.

    Raises:
        SandboxError: there is none, or we are root; the message says what to do.
    """
    if trust:
        return "none"
    if os.geteuid() == 0:
        raise SandboxError(
            "grading runs strangers' code: not as root. Use an ordinary account."
        )
    wanted = ["bwrap", "docker"] if kind == "auto" else [kind]
    reasons = []
    for one in wanted:
        why = missing(one)
        if why is None:
            return one
        reasons.append(f"{one}: {why}; install it: {INSTALL[one]}")
    raise SandboxError("no sandbox works here.\n" + "\n".join(reasons))


@cache
def missing(kind: str) -> str | None:
    """Say why a sandbox does not work here, or None where it does."""
    tries = {
        "bwrap": ["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"],
        "docker": ["docker", "image", "inspect", IMAGE],
    }[kind]
    if shutil.which(kind) is None:
        return "it is not installed"
    done = subprocess.run(tries, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    said = done.stderr.strip().splitlines()
    return said[-1] if said else f"it ended with {done.returncode}"
