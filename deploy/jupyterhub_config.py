"""A server for a class: every student works in a browser, in a container of their own.

`make hub` starts it; INSTRUCTORS.md, "A server for the class", says how to set it up.
COURSE_CLASS names the folder that holds the class: the students' homes, what was handed
in, and the hub's own files. COURSE_SPAWNER=local needs no Docker: bubblewrap keeps the
students apart, but nothing limits their memory. It is for a trial and for the tests.
"""

import os
import shutil
import sys
from pathlib import Path

from course_lib.grading.sandbox import python_folders
from course_lib.pretrained.storage import cache_folder

INSTRUCTORS = {"instructor"}  # the logins that let students in
MEMORY, CPUS, PROCESSES = "4G", 2, 512  # at most, for each student
IDLE_SECONDS = 3600  # then a server stops; saved work stays
GATEWAY = "172.30.0.1"  # the host, seen from the Docker network `course`

COURSE = Path(__file__).resolve().parents[1]
CLASS = Path(os.environ.get("COURSE_CLASS", "class")).resolve()
LOCAL = os.environ.get("COURSE_SPAWNER", "docker") == "local"
HOME = "/home/student"

if os.geteuid() == 0:
    sys.exit("The hub runs as an ordinary account in the group `docker`, not as root.")
(CLASS / "homes").mkdir(mode=0o700, parents=True, exist_ok=True)
CLASS.chmod(0o700)

c = get_config()  # noqa: F821  JupyterHub defines it

# Login: everybody chooses a password, and an instructor lets them in (/hub/authorize).
# A public server does better with the university's own login: oauthenticator.
c.JupyterHub.authenticator_class = "native"
c.Authenticator.admin_users = INSTRUCTORS
c.Authenticator.allow_all = True  # whoever was let in
c.Authenticator.username_pattern = r"[a-z][a-z0-9.-]{0,39}\Z"  # it names a folder
c.NativeAuthenticator.minimum_password_length = 10
c.NativeAuthenticator.check_common_password = True
c.NativeAuthenticator.allowed_failed_logins = 10

# The hub's own files.
c.JupyterHub.bind_url = "http://127.0.0.1:8000"  # HTTPS ends in front of it
c.JupyterHub.db_url = f"sqlite:///{CLASS / 'hub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(CLASS / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(CLASS / "proxy.pid")
c.ConfigurableHTTPProxy.command = [
    str(Path(sys.executable).with_name("configurable-http-proxy"))
]

# A server that nobody uses is stopped.
idle = ["list:users", "read:users:activity", "read:servers", "delete:servers"]
c.JupyterHub.load_roles = [{"name": "idle", "scopes": idle, "services": ["idle"]}]
culler = [sys.executable, "-m", "jupyterhub_idle_culler", f"--timeout={IDLE_SECONDS}"]
c.JupyterHub.services = [{"name": "idle", "command": culler}]

# What every student's server has in common.
c.Spawner.notebook_dir = HOME
c.Spawner.default_url = "/lab/tree/notebooks/00_start.ipynb"
# One thread: where a class shares the cores, a second one makes small models far slower.
c.Spawner.environment = {"OMP_NUM_THREADS": "1", "USER": "student", "HOME": HOME}
c.Spawner.start_timeout = 120
c.Spawner.http_timeout = 120


def home_of(spawner) -> Path:
    """Return the student's own folder on the host; it outlives the server."""
    home = CLASS / "homes" / spawner.user.name
    home.mkdir(mode=0o700, exist_ok=True)
    return home


# A container sees its student's folder and nothing else of the host. It runs under the
# hub's own number, so that collecting and grading need no root; since all homes have
# that one owner, it is the mount, not the owner, that keeps students apart. For the same
# reason nbgrader's exchange, one folder that all may write to, would hide nothing here.
def bind_home(spawner) -> None:
    """Show the container its student's folder."""
    spawner.volumes = {str(home_of(spawner)): HOME}


c.DockerSpawner.image = "decoder-course"
c.DockerSpawner.cmd = ["/srv/course/deploy/start-server"]
c.DockerSpawner.network_name = "course"
c.DockerSpawner.use_internal_ip = True
c.DockerSpawner.remove = True  # the next start takes the newest image
c.DockerSpawner.mem_limit = MEMORY
c.DockerSpawner.cpu_limit = CPUS
c.DockerSpawner.extra_create_kwargs = {"user": f"{os.getuid()}:{os.getgid()}"}
c.DockerSpawner.extra_host_config = {
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
    "pids_limit": PROCESSES,
}


def wall_in(spawner) -> None:
    """Start the server in a view that holds the course and the student's folder."""
    home, weights = home_of(spawner), cache_folder()
    line = ["bwrap", "--unshare-all", "--share-net", "--die-with-parent"]
    line += ["--cap-drop", "ALL", "--ro-bind", "/usr", "/usr"]
    line += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    for name in ("bin", "lib", "lib64", "sbin"):
        line += ["--symlink", f"usr/{name}", f"/{name}"]
    shown = [Path("/etc/ld.so.cache"), *python_folders(), weights]
    parts = ("course_lib", "notebooks", "exercises", "README.md", "deploy/start-server")
    for path in [*shown, *(COURSE / part for part in parts)]:
        line += ["--ro-bind-try", str(path), str(path)]
    line += ["--bind", str(home), HOME, "--chdir", HOME, "--setenv", "HOME", HOME]
    line += ["--setenv", "COURSE_CACHE", str(weights)]
    line += ["--setenv", "PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin"]
    spawner.home_dir = str(home)
    spawner.cmd = [*line, "--", str(COURSE / "deploy" / "start-server")]


if LOCAL:
    if shutil.which("bwrap") is None:
        sys.exit("COURSE_SPAWNER=local needs bubblewrap: apt-get install bubblewrap")
    c.JupyterHub.spawner_class = "simple"
    c.Spawner.pre_spawn_hook = wall_in
else:
    c.JupyterHub.spawner_class = "docker"
    c.JupyterHub.hub_ip = GATEWAY
    c.Spawner.pre_spawn_hook = bind_home
