"""Prepare .venv: make it, install this folder with the pinned versions, stamp it.

    python3 tools/install.py                    what a learner needs
    python3 tools/install.py --extra dev        what `make test` needs, too
    python3 tools/install.py --torch-index cpu  torch from pytorch.org's CPU wheels

Running it again does nothing until pyproject.toml or constraints.txt ask for
something else. Whatever goes wrong ends in one sentence; pip's own words are in
.venv/install.log. Only the standard library is used, and the file is readable to
old Pythons, so that these get the sentence, too.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OLDEST = (3, 11)
NEEDED_GB = 2.5
AGAIN = "then run the same command again."

# What pip and venv print when something is wrong -> what to do. The first match
# counts: a dead network also makes pip say "No matching distribution".
TROUBLES = [
    (
        r"No space left on device|Errno 28\b|Disk quota exceeded",
        "The disk is full (or the folder for temporary files): free about "
        "{needed} GB, " + AGAIN,
    ),
    (
        r"ensurepip is not available|No module named '?(venv|ensurepip)",
        "This Python cannot make virtual environments: on Debian or Ubuntu run "
        "'sudo apt install python3-venv', elsewhere install Python from "
        "python.org, " + AGAIN,
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError",
        "A secure connection to the package index failed (often a company proxy or "
        "a wrong clock): mend that or set PIP_CERT, " + AGAIN,
    ),
    (
        r"Failed to establish a new connection|Temporary failure in name resolution"
        r"|Name or service not known|Network is unreachable|Connection refused"
        r"|Connection reset|Connection broken|Connection aborted|IncompleteRead"
        r"|Read timed out|ConnectTimeout|ProxyError|Max retries exceeded",
        "The package index cannot be reached: check the network (or proxy), " + AGAIN,
    ),
    (
        r"Permission denied|Read-only file system",
        "A file or folder may not be written: make {root} (and its .venv) your own, "
        + AGAIN,
    ),
    (
        r"satisfies the requirement ([^\s(]+).*\(from versions: none\)",
        "The package index cannot be reached, or has no {found} for this Python "
        "({python}) and system: check the network (or proxy); Python 3.11 is the "
        "tested one.",
    ),
    (
        r"No matching distribution found for ([^\s(]+)",
        "The package index has no {found} for this Python ({python}) and system: "
        "Python 3.11 is the tested one.",
    ),
    (
        r"ResolutionImpossible|conflicting dependencies",
        "pyproject.toml and constraints.txt contradict each other.",
    ),
]


class Trouble(Exception):
    """Something the reader can mend; its text is the sentence they see."""


def check_python(version):
    """Raise Trouble where the running Python is too old for the course."""
    if tuple(version[:2]) < OLDEST:
        raise Trouble(
            f"Python 3.11 or newer is needed and this is {version[0]}.{version[1]} "
            f"({sys.executable}): install a newer one, or name it, as in "
            "'make lab PYTHON=python3.12'."
        )


def check_disk(folder, free_bytes):
    """Raise Trouble where the installation would fill the disk."""
    if free_bytes < NEEDED_GB * 1e9:
        raise Trouble(
            f"The disk is nearly full: {free_bytes / 1e9:.1f} GB are free in {folder} "
            f"and the installation needs {NEEDED_GB} GB. Make room, {AGAIN}"
        )


def explain(output, log):
    """Turn the output of a failed pip or venv into one sentence."""
    for pattern, sentence in TROUBLES:
        match = re.search(pattern, output)
        if match:
            return sentence.format(
                found=match.group(1) if match.groups() else "",
                needed=NEEDED_GB,
                python="{}.{}".format(*sys.version_info),
                root=ROOT,
            )
    return f"The installation failed; the last lines of {log} say why."


def index_arguments(torch_index):
    """Tell pip where else to look for torch: '', a wheel name such as cpu, or a URL."""
    if not torch_index:
        return []
    if "://" not in torch_index:
        torch_index = "https://download.pytorch.org/whl/" + torch_index
    return ["--extra-index-url", torch_index]


def fingerprint():
    """Digest what the installation depends on, and no other setting."""
    import tomllib

    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    text = json.dumps([settings["project"], settings["build-system"]], sort_keys=True)
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    return hashlib.sha256((text + pins).encode()).hexdigest()


def read_stamp(venv):
    """Read what is installed in venv, as the last finished run noted it."""
    try:
        stamp = json.loads((venv / "installed.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stamp = {}
    # A folder that was moved or copied has the old paths inside: not usable.
    if stamp.get("path", str(venv)) != str(venv):
        stamp = {"broken": True}
    return stamp


def interpreter(venv):
    """Name the environment's Python, also on Windows."""
    if os.name == "nt":
        return venv / "Scripts" / "python.exe"
    return venv / "bin" / "python"


def works(venv):
    """Tell whether venv has a Python that is new enough and has pip."""
    probe = "import pip, sys; sys.exit(sys.version_info < (3, 11))"
    try:
        done = subprocess.run(
            [str(interpreter(venv)), "-c", probe], capture_output=True, check=False
        )
    except OSError:
        return False
    return done.returncode == 0


def make_environment(venv):
    """Make venv anew, emptying what was there."""
    print(f"Making {venv.name} ...", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", str(venv)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        venv.mkdir(parents=True, exist_ok=True)
        log = venv / "install.log"
        log.write_text(done.stdout, encoding="utf-8")
        raise Trouble(explain(done.stdout, log))


def follow(process, log):
    """Show what pip is busy with, from its log, until it ends."""
    start, shown, doing = time.time(), 0.0, "starting"
    on_screen = sys.stdout.isatty()
    with log.open(encoding="utf-8", errors="replace") as lines:
        while process.poll() is None:
            for line in lines:
                match = re.match(
                    r"\s*(Collecting|Downloading|Installing) (.{0,45})", line
                )
                if match:
                    doing = " ".join(match.groups())
            seconds = time.time() - start
            if seconds - shown >= (0.5 if on_screen else 15):
                shown = seconds
                text = f"  {int(seconds):4d} s  {doing.strip():60s}"
                print(text, end="\r" if on_screen else "\n", flush=True)
            time.sleep(0.2)
    if on_screen:
        print(" " * 72, end="\r")


def install(venv, extras, torch_index):
    """Run pip with the pins; raise Trouble with one sentence where it fails."""
    log = venv / "install.log"
    folder = str(ROOT) + ("[" + ",".join(extras) + "]" if extras else "")
    command = [str(interpreter(venv)), "-m", "pip", "install", "--no-input"]
    command += ["-c", str(ROOT / "constraints.txt"), "-e", folder]
    command += index_arguments(torch_index)
    with log.open("w", encoding="utf-8") as output:
        environment = dict(os.environ, PYTHONUNBUFFERED="1", PIP_NO_COLOR="1")
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=environment
        )
        try:
            follow(process, log)
        except BaseException:
            process.terminate()
            process.wait()
            raise
    if process.returncode != 0:
        raise Trouble(explain(log.read_text(encoding="utf-8", errors="replace"), log))


def prepare(venv, extras, torch_index):
    """Bring venv to the state the files ask for; do nothing where it is."""
    check_python(sys.version_info)
    stamp = read_stamp(venv)
    extras = sorted(set(extras) | set(stamp.get("extras", [])))
    torch_index = torch_index or stamp.get("torch_index", "")
    wanted = {
        "path": str(venv),
        "fingerprint": fingerprint(),
        "extras": extras,
        "torch_index": torch_index,
    }
    usable = "broken" not in stamp and works(venv)
    if usable and stamp == wanted:
        print(f"{venv.name} is ready: nothing to install.")
        return
    check_disk(venv.parent, shutil.disk_usage(str(venv.parent)).free)
    print(
        f"Installing the course into {venv.name}: about 2 minutes and 1.6 GB with a "
        "fast network and torch's CPU build."
    )
    linux_default = sys.platform == "linux" and not torch_index
    if linux_default and not shutil.which("nvidia-smi"):
        print(
            "Hint: no NVIDIA driver was seen. On Linux, TORCH_INDEX=cpu saves "
            "gigabytes (README, 'Other ways to install')."
        )
    start = time.time()
    # Another build of the same torch counts as installed: pip would keep the old one.
    other_torch = "torch_index" in stamp and torch_index != stamp["torch_index"]
    if other_torch or not usable:
        make_environment(venv)
    (venv / "installed.json").unlink(missing_ok=True)
    install(venv, extras, torch_index)
    (venv / "installed.json").write_text(json.dumps(wanted), encoding="utf-8")
    print(f"Installed in {time.time() - start:.0f} s (log: {venv / 'install.log'}).")


def main(arguments=None):
    """Read the command line, prepare the environment, report in one sentence."""
    parser = argparse.ArgumentParser(description="Prepare .venv with pinned versions.")
    parser.add_argument("--extra", action="append", default=[], metavar="NAME")
    parser.add_argument("--torch-index", default="", metavar="cpu|cu128|URL")
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv")
    options = parser.parse_args(arguments)
    venv = options.venv.resolve()
    try:
        prepare(venv, options.extra, options.torch_index.strip())
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
        return 1
    except OSError as error:
        print(explain(str(error), venv / "install.log"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; the same command goes on from here.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
