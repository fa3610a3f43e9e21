"""Measure how long the explorer takes from a key to its picture, in a real JupyterLab.

    .venv/bin/python -m benchmarks.explorer

Writes benchmarks/EXPLORER.md. The clock is the browser's own: it runs from the time stamp
of the key press to the animation frame after the one that drew the new picture: by then
it is on the screen. A frame comes 60 times a second, so up to 33 ms of each number are
waiting. Half a second lies between two presses; meanwhile the page asks for what the
next press may want.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

import nbformat

from benchmarks.rounds import conditions
from tests.browser.lab import find, missing, open_browser, serve_lab, until

HERE = Path(__file__).parent
N_PRESSES = 20
BETWEEN_SECONDS = 0.5
ASKED_MS = {32: 50, 64: 100}
SOURCE = """
import torch
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.explorer import explore

torch.set_num_threads(1)
config = DecoderConfig(
    vocab_size=512, d_model=192, n_layers=30, n_heads=3, positions="rotary", norm="rms"
)
decoder = Decoder(config, generator=torch.Generator().manual_seed(3))
tokens = torch.randint(512, ({n_prompt},), generator=torch.Generator().manual_seed(5))
explore(decoder, tokens, max_new_tokens={n_new}, text="tok{{}}".format, mode={mode!r})
"""
# Notes the time of the next key press.
LISTEN = """
const status = document.querySelector(".dx-status");
window.painted = null;
addEventListener("keydown", ({ timeStamp }) => {
  const seen = new MutationObserver(() => {
    seen.disconnect();
    requestAnimationFrame(() => (window.painted = performance.now() - timeStamp));
  });
  seen.observe(status, { childList: true, characterData: true, subtree: true });
}, { once: true, capture: true });
"""


def pressed(browser, key: str) -> float:
    """Press a key where the focus is; give the time in milliseconds."""
    time.sleep(BETWEEN_SECONDS)
    browser.execute_script(LISTEN)
    browser.switch_to.active_element.send_keys(key)
    return until(browser, lambda: browser.execute_script("return window.painted"))


def actions(keys) -> dict:
    """Give what is measured: mode, new tokens, what has the focus, and the key."""
    return {
        "arrow on the matrix": ("local", 0, "weights", keys.ARROW_UP),
        "layer slider": ("local", 0, "layer", keys.ARROW_RIGHT),
        "position slider of the whole": ("global", 0, "query", keys.ARROW_LEFT),
        "next step": ("dynamic", N_PRESSES + 1, "next", keys.ENTER),
    }


def measure(browser, lab, n_tokens: int, mode: str, n_new: int, control: str, key: str):
    """Open a notebook with an explorer and press the keys; give the times of each."""
    code = SOURCE.format(n_prompt=n_tokens - n_new, n_new=n_new, mode=mode)
    cell = nbformat.v4.new_code_cell(code)
    lab.run(browser, nbformat.v4.new_notebook(cells=[cell]))
    selector = f'.dx [data-key="{control}"]'
    find(browser, selector)
    browser.execute_script(f"document.querySelector('{selector}').focus()")
    return [pressed(browser, key) for _ in range(N_PRESSES)]


def row(name: str, n_tokens: int, times: list) -> str:
    """Write the times of one action as a row of the table."""
    median = statistics.median(times)
    verdict = "yes" if median <= ASKED_MS[n_tokens] else "no"
    return (
        f"| {name} | {n_tokens} | {median:.0f} / {max(times):.0f} | "
        f"≤ {ASKED_MS[n_tokens]}: {verdict} |"
    )


def main() -> None:
    """Measure all actions at both lengths and write the table."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    if reason := missing():
        raise SystemExit(reason)
    from selenium.webdriver.common.keys import Keys

    rows, loads = [], [os.getloadavg()[0]]
    with (
        tempfile.TemporaryDirectory() as folder,
        open_browser(Path(folder, "profile")) as browser,
        serve_lab(Path(folder, "lab")) as lab,
    ):
        for n_tokens in ASKED_MS:
            for name, action in actions(Keys).items():
                times = measure(browser, lab, n_tokens, *action)
                rows.append(row(name, n_tokens, times))
                print(rows[-1], flush=True)
                loads.append(os.getloadavg()[0])
        version = browser.capabilities["browserVersion"]
    known = conditions()
    where = ", ".join(f"{name} {known[name]}" for name in ("cpu", "python", "torch"))
    text = [
        "# The decoder explorer, measured",
        "",
        "Written by `python -m benchmarks.explorer`; see there. Wall-clock time in a headless",
        "Chromium with JupyterLab, from the key press to the frame after the one that drew the",
        f"new picture, median / largest of {N_PRESSES} presses. 30 layers, 3 heads of width 64.",
        "",
        f"Measured with: {where}, Chromium {version}, {os.cpu_count()} CPUs shared with the "
        f"kernel, load average {min(loads):.1f} to {max(loads):.1f} meanwhile.",
        "",
        "| key press | tokens | ms to the picture | asked (median) |",
        "|---|---|---|---|",
        *rows,
        "",
    ]
    (HERE / "EXPLORER.md").write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
