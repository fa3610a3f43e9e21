"""A bare page for the explorer: its program, a stub of its model, Python's answers.

The page queues what the explorer sends; `Page.settle` takes it from there, lets the
real Explorer answer, and hands the answers back.
"""

import base64
import json
import time

from selenium.webdriver.common.by import By

from course_lib.explorer.source import PAGE, page_source
from tests.browser.lab import until

# JupyterLab's own values; "" is a page without its variables.
LIGHT = (
    "--jp-layout-color0: #fff; --jp-layout-color1: #fff;"
    "--jp-ui-font-color1: rgba(0, 0, 0, .87); --jp-ui-font-color2: rgba(0, 0, 0, .54);"
    "--jp-border-color1: #bdbdbd; --jp-brand-color1: #2196f3; background: #fff;"
)
DARK = (
    "--jp-layout-color0: #111; --jp-layout-color1: #212121;"
    "--jp-ui-font-color1: rgba(255, 255, 255, 1);"
    "--jp-ui-font-color2: rgba(255, 255, 255, .7);"
    "--jp-border-color1: #616161; --jp-brand-color1: #2196f3; background: #111;"
)
HTML = """<!doctype html><html lang="en"><title>waits</title><meta charset="utf-8">
<style>{css}</style><style>html {{ {theme} }}</style>
<main><h1>Explorer</h1><div id="place"></div></main>
<script type="module">
const values = {values}, heard = {{}};
const tell = (name, ...said) => (heard[name] ?? []).slice().forEach((hear) => hear(...said));
Object.assign(window, {{ sent: [], keys: [], faults: [], draws: 0, values }});
addEventListener("error", (event) => window.faults.push(event.message));
addEventListener("unhandledrejection", (event) => window.faults.push(String(event.reason)));
document.addEventListener("keydown", (event) => window.keys.push(event.key));
const model = {{
  get: (name) => values[name],
  set(name, value) {{
    if (Object.is(values[name], value)) return;
    values[name] = value;
    tell("change:" + name);
  }},
  save_changes() {{}},
  send: (message) => window.sent.push(message),
  on: (name, hear) => (heard[name] ??= []).push(hear),
  off(name, hear) {{ heard[name] = heard[name].filter((one) => one !== hear); }},
}};
window.model = model;
window.heard = heard;
window.hand = (content, coded) => {{
  const letters = atob(coded), bytes = new Uint8Array(letters.length + 8);
  for (let i = 0; i < letters.length; i++) bytes[i + 8] = letters.charCodeAt(i);
  tell("msg:custom", content, [new DataView(bytes.buffer, 8)]);
}};
const widget = await import("data:text/javascript;base64,{script}");
window.clean = widget.default.render({{ model, el: document.getElementById("place") }});
new MutationObserver(() => window.draws++).observe(
  document.querySelector(".dx-view"), {{ childList: true }});
document.title = "ready";
</script></html>"""
STATE = (
    "mode step layer head kind cell masked training_shown predict font_scale".split()
)
SAMPLER = "temperature top_k top_p min_p".split()
# The questions that wait, behind a frame in which a new look may ask more.
TAKE = """
const done = arguments[0];
requestAnimationFrame(() => requestAnimationFrame(() => done(window.sent.splice(0))));
"""
TABLES = """
return [...document.querySelectorAll(".dx-table")].map((table) => ({
  caption: table.caption.textContent,
  heads: [...table.querySelectorAll("thead th")].map((cell) => cell.textContent),
  rows: [...table.querySelectorAll("tbody tr")].map((row) =>
    [...row.children].map((cell) => cell.textContent)),
}));
"""
PIXELS = """
const canvas = document.querySelector(`[data-key="${CSS.escape(arguments[0])}"]`);
const [left, top, cell] = ["left", "top", "cell"].map((name) => Number(canvas.dataset[name]));
const [n_rows] = arguments[2];
const height = (parseFloat(canvas.style.height) - top - 2) / n_rows;
const ratio = canvas.width / parseFloat(canvas.style.width);
const pen = canvas.getContext("2d");
return arguments[1].map(([row, column]) => {
  // below what is written in a large cell; in a small one away from its neighbours
  const low = height < 20 ? 0.5 : 0.88;
  const [x, y] = [left + 1 + (column + 0.5) * cell, top + 1 + (row + low) * height];
  return [...pen.getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1).data];
});
"""


class Page:
    """The explorer in a bare page, answered by Python."""

    def __init__(self, browser, folder, explorer, theme=LIGHT):
        self.browser, self.explorer = browser, explorer
        self.replies = []
        explorer.send = lambda content, buffers: self.replies.append((content, buffers))
        values = {
            name: getattr(explorer, name) for name in [*STATE, *SAMPLER, "header"]
        }
        values |= {"description": ""}
        # as a script it must not hold the end of one
        coded = json.dumps(values, allow_nan=False).replace("<", "\\u003c")
        script = base64.b64encode(page_source().encode()).decode()
        css = (PAGE / "explorer.css").read_text("utf-8")
        html = HTML.format(css=css, theme=theme, values=coded, script=script)
        (folder / "page.html").write_text(html, encoding="utf-8")
        browser.get((folder / "page.html").as_uri())
        until(browser, lambda: browser.title == "ready")
        self.settle()

    def settle(self):
        """Answer until the page asks nothing more, and keep the traits as it set them."""
        while questions := self.browser.execute_async_script(TAKE):
            for question in questions:
                self.explorer._on_question(None, question, [])
            for content, (buffer, *_) in self.replies:
                json.dumps(content, allow_nan=False)
                coded = base64.b64encode(buffer).decode()
                self.browser.execute_script("window.hand(...arguments)", content, coded)
            self.replies.clear()
        names = [*STATE, *SAMPLER, "description"]
        script = "return Object.fromEntries(arguments[0].map((n) => [n, values[n]]))"
        for name, value in self.browser.execute_script(script, names).items():
            setattr(self.explorer, name, tuple(value) if name == "cell" else value)

    def show(self, **traits):
        """Set traits as a script in the kernel does, and draw."""
        self.browser.execute_script(
            "for (const [name, value] of Object.entries(arguments[0])) model.set(name, value)",
            traits,
        )
        self.settle()
        return self

    def find(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def every(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def control(self, key):
        return self.find(f'[data-key="{key}"]')

    def press(self, *keys):
        """Press keys one after another on whatever has the focus."""
        for key in keys:
            self.browser.switch_to.active_element.send_keys(key)
            self.settle()

    def focus(self):
        return self.browser.execute_script(
            "return document.activeElement?.dataset.key ?? document.activeElement?.tagName"
        )

    @property
    def status(self):
        return self.text(".dx-status")

    def text(self, selector):
        """Give the text as it stands, white space and all."""
        return self.browser.execute_script(
            "return document.querySelector(arguments[0])?.textContent ?? null", selector
        )

    def part(self, name):
        return self.text(f'[data-part="{name}"]')

    def tables(self):
        return self.browser.execute_script(TABLES)

    def table(self, words):
        (found,) = [one for one in self.tables() if words in one["caption"]]
        return found

    def scale(self, key):
        """Give the words below a matrix: what its outermost colours mean."""
        script = (
            "return [...document.querySelector(arguments[0]).parentElement"
            ".querySelectorAll('.dx-scale span:not([aria-hidden])')]"
            ".map((end) => end.textContent)"
        )
        return self.browser.execute_script(script, f'[data-key="{key}"]')

    def pixels(self, key, cells, shape):
        """Give the red, green, blue of a spot below the middle of each cell."""
        found = self.browser.execute_script(PIXELS, key, cells, shape)
        return [tuple(pixel[:3]) for pixel in found]

    def faults(self):
        """Name exceptions and severe console lines since the last look."""
        severe = [
            line["message"]
            for line in self.browser.get_log("browser")
            if line["level"] == "SEVERE"
        ]
        return severe + self.browser.execute_script("return window.faults.splice(0)")


def leave(browser):
    """Leave the page before, and forget what it and leaving it logged."""
    browser.get("about:blank")
    for log in ("browser", "performance"):
        browser.get_log(log)


def wait_for_words(page, words, seconds=6):
    """Wait for words in the page without answering it."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if words in page.text(".dx"):
            return True
        time.sleep(0.05)
    return False
