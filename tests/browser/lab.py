"""A real Chromium, and a real JupyterLab for it to open."""

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from urllib.request import urlopen

FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
    "--disable-background-networking --disable-component-update --disable-sync "
    "--disable-dev-shm-usage --window-size=1280,1600"
).split()
STARTED_SECONDS = 60
# Runs every cell of the notebook that is open, once its kernel is there: before that,
# JupyterLab takes the command and does nothing.
RUN_ALL = """
const done = arguments[arguments.length - 1];
const until = async (ready) => {
  const start = Date.now();
  while (!(await ready())) {
    if (Date.now() - start > 60000) throw Error(`not within a minute: ${ready}`);
    await new Promise((go) => setTimeout(go, 50));
  }
};
(async () => {
  await until(() => window.jupyterapp);
  const app = window.jupyterapp;
  await app.restored;
  await until(() => app.shell.currentWidget?.sessionContext);
  const panel = app.shell.currentWidget;
  await panel.context.ready;
  await panel.sessionContext.ready;
  const kernel = () => panel.sessionContext.session?.kernel;
  await until(() => kernel()?.connectionStatus === "connected" && kernel().status === "idle");
  await app.commands.execute("notebook:run-all-cells");
  const cells = [...panel.content.model.cells].filter((cell) => cell.type === "code");
  done(cells.map((cell) => cell.executionCount));
})().catch((error) => done(String(error)));
"""


def missing():
    """Say what is not there to drive a browser, or give None."""
    for package in ("selenium", "selenium_axe_python"):
        if importlib.util.find_spec(package) is None:
            return f"needs {package}: pip install -e '.[browser]'"
    for command in ("chromium", "chromedriver"):
        if not installed(command):
            return f"needs {command} (Debian: apt-get install chromium chromium-driver)"
    return None


def installed(command):
    """Find the browser or its driver under the names that systems give it."""
    names = [command, "chromium-browser", "google-chrome"]
    names = names if command == "chromium" else [command]
    return next(filter(None, map(shutil.which, names)), None)


@contextlib.contextmanager
def open_browser(profile):
    """Open a headless Chromium with a fresh profile."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = installed("chromium")
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    driver = webdriver.Chrome(
        options=options, service=Service(installed("chromedriver"))
    )
    driver.set_script_timeout(120)
    try:
        yield driver
    finally:
        driver.quit()


class Lab:
    """A running JupyterLab: where it answers, and the folder that it shows."""

    def __init__(self, url, folder, progress):
        self.url, self.folder, self.progress = url, folder, progress

    def run(self, browser, notebook):
        """Write a notebook, open it, run it from top to bottom."""
        import nbformat

        # Without it JupyterLab asks which kernel is meant.
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook.metadata["kernelspec"] = kernel
        nbformat.write(notebook, self.folder / "probe.ipynb")
        browser.get(f"{self.url}lab/tree/probe.ipynb?reset")
        counts = browser.execute_async_script(RUN_ALL)
        assert isinstance(counts, list), counts
        assert all(counts), counts


@contextlib.contextmanager
def serve_lab(home):
    """Start JupyterLab in an empty home, with a progress file of its own."""
    from course_lib.pretrained.storage import cache_folder

    folder, settings = home / "work", home / "config" / "labconfig"
    folder.mkdir(parents=True)
    settings.mkdir(parents=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "default_setting_overrides.json").write_text(
        json.dumps({"@jupyterlab/apputils-extension:notification": quiet})
    )
    places = {
        "HOME": home,
        "JUPYTER_CONFIG_DIR": home / "config",
        "JUPYTER_DATA_DIR": home / "data",
        "JUPYTER_RUNTIME_DIR": home / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "IPYTHONDIR": home / "ipython",
        "MPLCONFIGDIR": home / "matplotlib",
        "COURSE_PROGRESS": home / "progress.json",
        "COURSE_CACHE": cache_folder(os.environ),  # the home is empty, the weights stay
    }
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ip=127.0.0.1", "--port=0", "--IdentityProvider.token="),
        *("--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly"),
        f"--ServerApp.root_dir={folder}",
    ]
    environment = os.environ | {name: str(place) for name, place in places.items()}
    with open(home / "log", "w") as log:
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        url = wait_for_server(server, home)
        yield Lab(url, folder, places["COURSE_PROGRESS"])
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, signal.SIGTERM)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:  # a busy machine: its kernels still close
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(20)


def wait_for_server(server, home):
    """Give the address that the server writes down once it answers there."""
    deadline = time.monotonic() + STARTED_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        for note in (home / "runtime").glob("jpserver-*.json"):
            with contextlib.suppress(OSError, ValueError, KeyError):
                url = json.loads(note.read_text())["url"]
                urlopen(url + "api", timeout=2)
                return url
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{(home / 'log').read_text()}")


def until(browser, ready, seconds=30):
    """Wait until something is true, and give it."""
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, seconds, poll_frequency=0.02).until(lambda _: ready())


def find(browser, selector, seconds=30):
    """Wait until there is such an element, and give all of them."""
    from selenium.webdriver.common.by import By

    return until(
        browser, lambda: browser.find_elements(By.CSS_SELECTOR, selector), seconds
    )


# Runs code in the kernel of the open notebook and gives what it printed.
ASK = """
const [code, done] = arguments;
const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
const asked = kernel.requestExecute({ code });
let said = "";
asked.onIOPub = ({ content }) => (said += content.text ?? content.evalue ?? "");
asked.done.then(() => done(said.trim()));
"""


def ask(browser, code):
    """Run code in the open notebook's kernel, and give what it printed."""
    return browser.execute_async_script(ASK, code)


def severe(browser):
    """Give the console's severe lines since the log was last read."""
    return [line for line in browser.get_log("browser") if line["level"] == "SEVERE"]


def outside(browser, *own):
    """Give what was asked of other places than these since the log was last read."""
    messages = [
        json.loads(line["message"])["message"]
        for line in browser.get_log("performance")
    ]
    urls = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    assert urls, "the log holds no request at all"
    own = (*own, "data:", "blob:", "chrome")
    return [url for url in urls if not url.startswith(own)]
