"""A real hub on this machine, and people who use it as a browser does: over HTTP."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path

import requests
import websocket

from tests.grading.conftest import ROOT, as_ordinary_user

PASSWORD = "seven small lanterns"
# All that the hub starts lives in one namespace, and dies with the test.
TOGETHER = (
    "setpriv --pdeathsig KILL unshare --pid --fork --mount-proc --kill-child".split()
)
if os.geteuid() != 0:
    TOGETHER += ["--map-current-user"]


def free_ports(n_ports):
    """Find ports that nobody uses now."""
    doors = [socket.create_server(("127.0.0.1", 0)) for _ in range(n_ports)]
    ports = [door.getsockname()[1] for door in doors]
    for door in doors:
        door.close()
    return ports


@contextmanager
def running_hub(folder: Path):
    """Start JupyterHub with the course's own configuration; yield its address."""
    public, hub, proxy = free_ports(3)
    command = [*TOGETHER, "--", *as_ordinary_user(), sys.executable, "-m", "jupyterhub"]
    command += ["-f", str(ROOT / "deploy" / "jupyterhub_config.py")]
    command += [f"--JupyterHub.bind_url=http://127.0.0.1:{public}"]
    command += [f"--JupyterHub.hub_bind_url=http://127.0.0.1:{hub}"]
    command += [f"--ConfigurableHTTPProxy.api_url=http://127.0.0.1:{proxy}"]
    named = {"COURSE_CLASS": str(folder), "COURSE_SPAWNER": "local"}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = os.environ | named | {"PATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    log = folder.with_suffix(".log")
    with (
        log.open("w") as said,
        subprocess.Popen(
            command, stdout=said, stderr=said, env=environment, cwd=ROOT
        ) as process,
    ):
        try:
            address = f"http://127.0.0.1:{public}"
            wait_until(lambda: answers(address, process, log), 60, "the hub")
            yield address
        finally:
            process.send_signal(signal.SIGKILL)
    print(log.read_text())


def answers(address, process, log):
    """Tell whether the hub is up; fail at once where it has ended."""
    assert process.poll() is None, log.read_text()
    try:
        return requests.get(f"{address}/hub/login", timeout=5).ok
    except requests.ConnectionError:
        return False


def wait_until(true, seconds, what):
    """Ask again and again until something is true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"{what} was not ready within {seconds} s"
        time.sleep(0.3)


class Person:
    """Somebody at a browser: a session with its cookies, and nothing else."""

    def __init__(self, address, name):
        self.address, self.name = address, name
        self.session = requests.Session()

    def cookie(self, path):
        """Return the token against forged requests that belongs to a path."""
        jar = [one for one in self.session.cookies if one.name == "_xsrf"]
        return next(one.value for one in jar if one.path == path)

    def send_form(self, page, **fields):
        """Open a page with a form, fill it in, send it."""
        self.session.get(f"{self.address}/hub/{page}", timeout=30).raise_for_status()
        fields |= {"_xsrf": self.cookie("/hub/")}
        return self.session.post(
            f"{self.address}/hub/{page}", data=fields, timeout=60, allow_redirects=False
        )

    def sign_up(self):
        """Choose a name and a password."""
        fields = dict.fromkeys(
            ("signup_password", "signup_password_confirmation"), PASSWORD
        )
        return self.send_form("signup", username=self.name, **fields)

    def log_in(self, password=PASSWORD):
        """Log in; return whether the hub knows us now."""
        self.send_form("login", username=self.name, password=password)
        return self.ask("GET", "/hub/api/user").ok

    def ask(self, method, path, **options):
        """Ask the hub or a server for something; return what came back."""
        base = "/".join(path.split("/")[: 3 if path.startswith("/user/") else 2]) + "/"
        options |= {"headers": {"Accept": "application/json"}, "timeout": 60}
        if method != "GET":
            options["headers"]["X-XSRFToken"] = self.cookie(base)
        return self.session.request(method, self.address + path, **options)

    def start_server(self):
        """Start our server and open JupyterLab, as the link after the login does."""
        own = f"/hub/api/users/{self.name}"
        assert self.ask("POST", own + "/server").status_code in (201, 202)
        wait_until(lambda: self.servers().get("", {}).get("ready"), 150, "a server")
        self.session.get(f"{self.address}/user/{self.name}/lab", timeout=60)

    def stop_server(self):
        """Stop our server, as *Stop My Server* does."""
        own = f"/hub/api/users/{self.name}"
        self.ask("DELETE", own + "/server")
        wait_until(lambda: not self.servers(), 60, "the stop")

    def servers(self):
        """Return what the hub says of our servers: one at most, without a name."""
        return self.ask("GET", f"/hub/api/users/{self.name}").json()["servers"]

    def read(self, path):
        """Read a file through our server."""
        answer = self.ask("GET", f"/user/{self.name}/api/contents/{path}")
        answer.raise_for_status()
        return answer.json()["content"]

    def save(self, path, notebook):
        """Save a notebook through our server, as JupyterLab does."""
        document = {"type": "notebook", "format": "json", "content": notebook}
        answer = self.ask(
            "PUT", f"/user/{self.name}/api/contents/{path}", json=document
        )
        assert answer.status_code in (HTTPStatus.OK, HTTPStatus.CREATED), answer.text

    def delete(self, path):
        """Delete a file through our server."""
        self.ask("DELETE", f"/user/{self.name}/api/contents/{path}").raise_for_status()

    @contextmanager
    def kernel(self, folder=""):
        """Start a kernel on our server; yield a function that runs a cell in it."""
        base = f"/user/{self.name}/api/kernels"
        answer = self.ask("POST", base, json={"name": "python3", "path": folder})
        answer.raise_for_status()
        number = answer.json()["id"]
        channel = self.channel(f"{base}/{number}/channels")
        try:
            yield lambda code: run_cell(channel, code)
        finally:
            channel.close()
            self.ask("DELETE", f"{base}/{number}")

    def channel(self, path):
        """Open a websocket with our cookies."""
        url = self.address + path
        asked = requests.Request("GET", url)
        cookies = self.session.prepare_request(asked).headers.get("Cookie", "")
        return websocket.create_connection(
            url.replace("http", "ws", 1), cookie=cookies, timeout=120
        )


def run_cell(channel, code):
    """Run a cell; return what it printed, and fail where it raised."""
    header = {"msg_id": uuid.uuid4().hex, "msg_type": "execute_request"}
    header |= {"username": "", "session": uuid.uuid4().hex, "version": "5.3"}
    content = {"code": code, "allow_stdin": False, "stop_on_error": True}
    message = {"header": header, "parent_header": {}, "metadata": {}, "buffers": []}
    channel.send(json.dumps(message | {"channel": "shell", "content": content}))
    printed = []
    while True:
        answer = json.loads(channel.recv())
        if answer["parent_header"].get("msg_id") != header["msg_id"]:
            continue
        said = answer["content"]
        if answer["msg_type"] == "stream":
            printed.append(said["text"])
        assert answer["msg_type"] != "error", "\n".join([code, *said["traceback"]])
        if answer["msg_type"] == "status" and said["execution_state"] == "idle":
            return "".join(printed)
