"""Runs in the grader's place: what does a process in the sandbox see and reach?

python -m tests.grading.canary KIND FOLDER PORT   prints the findings as JSON
"""

import json
import os
import pickle
import sys
from dataclasses import replace
from pathlib import Path

import cloudpickle

from course_lib.feedback.task import call
from course_lib.grading.conversation import converse
from course_lib.grading.sandbox import Limits, Sandbox
from course_lib.grading.view import kept_view

CELL = '''
import os, signal, socket, subprocess, resource
from pathlib import Path

def refused(work):
    """Return the kind of error that work meets, or "done"."""
    try:
        work()
    except BaseException as error:
        return type(error).__name__
    return "done"

def canary():
    return {
        "network": refused(lambda: socket.create_connection(("127.0.0.1", PORT), 2)),
        "names": refused(lambda: socket.gethostbyname("example.org")),
        "interfaces": sorted(os.listdir("/sys/class/net")) if os.path.isdir("/sys") else [],
        "marks": refused(lambda: open(FOLDER + "/results.jsonl")),
        "passwords": refused(lambda: open("/etc/passwd")),
        "solutions": refused(lambda: os.listdir(ROOT + "/solutions")),
        "catalogue": refused(lambda: __import__("course_lib.feedback.catalogue")),
        "any answers": sum(
            path.name in ("catalogue", "solutions", "right_answers")
            for top in ("/course", "/home", "/tmp", "/usr/local", PREFIX)
            for path in Path(top).rglob("*")
        ),
        "secrets": [key for key in os.environ if "SECRET" in key],
        "library": refused(lambda: open("/course/course_lib/x.py", "w")),
        "environment": refused(lambda: open(PREFIX + "/x.py", "w")),
        "root": refused(lambda: open("/x", "w")),
        "user": os.getuid(),
        "processes": sum(name.isdigit() for name in os.listdir("/proc")),
        "parent": refused(lambda: os.kill(GRADER, signal.SIGKILL)),
        "more memory": refused(
            lambda: resource.setrlimit(resource.RLIMIT_AS, (2**50, 2**50))
        ),
        "capabilities": [
            line.split()[1]
            for line in open("/proc/self/status")
            if line.startswith("CapEff")
        ],
        "forks": forks(),
        "large file": refused(lambda: open("/tmp/large", "wb").write(bytes(10**8))),
    }

def forks():
    n = 0
    try:
        while n < 1000:
            if os.fork() == 0:
                signal.pause()
            n += 1
    except OSError:
        pass
    return n < 300
'''


def main() -> None:
    """Let the canary fly and print what it brings."""
    kind, folder, port = sys.argv[1:]
    root = str(Path(__file__).parents[2])
    names = {"FOLDER": folder, "ROOT": root, "PORT": int(port)}
    names |= {"PREFIX": sys.prefix, "GRADER": os.getpid()}
    first = "\n".join(f"{name} = {value!r}" for name, value in names.items())
    sandbox = Sandbox(kind, kept_view(), replace(Limits(), seconds=60))
    job = {"cells": [first, CELL], "skip": [], "limits": sandbox.limits.resources()}
    job["tasks"] = cloudpickle.dumps([("canary", call, [((), {})])])
    lines, end = converse(sandbox, pickle.dumps(job))
    outcome = next(
        said["outcome"] for said in map(json.loads, lines) if "outcome" in said
    )
    if outcome["error"]:
        sys.exit(outcome["error"] + " " + outcome["where"])
    print(json.dumps(dict(outcome["value"]["parts"]) | {"end": end}))


if __name__ == "__main__":
    main()
