"""GPT-2 from the Hugging Face hub, for those who have a way there."""

import json
import os
import tempfile
from pathlib import Path

from course_lib.pretrained.assets import AssetError
from course_lib.pretrained.storage import cache_folder, sha256_of

REPOSITORY = "openai-community/gpt2"
FILES = ("config.json", "model.safetensors", "tokenizer.json")
SUMS = "sha256.json"
COMMAND = "python -m course_lib.pretrained fetch gpt2"


def gpt2_folder() -> Path:
    """Return the folder that GPT-2 is kept in, after comparing each file's sha256.

    Raises:
        AssetError: a file is missing or not the one that was fetched.

    Source: Hugging Face hub, openai-community/gpt2.
    Lesson: notebooks/08_decoder.ipynb
    """
    folder = cache_folder() / "gpt2"
    try:
        sums = json.loads((folder / SUMS).read_text(encoding="utf-8"))
        found = {name: sha256_of(folder / name) for name in FILES}
    except OSError:
        raise AssetError(
            f"The weights gpt2 are not on this computer: {folder} is missing or not whole. "
            f"Fetch them once (0.5 GB, from the Hugging Face hub) with {COMMAND}"
        ) from None
    for name in FILES:
        if found[name] != sums.get(name):
            raise AssetError(
                f"The file {folder / name} is damaged: it has sha256 {found[name][:12]}…, "
                f"expected was {str(sums.get(name))[:12]}…. Fetch it anew with {COMMAND}"
            )
    return folder


def fetch_gpt2() -> Path:
    """Bring GPT-2 from the hub into the cache, with progress; 0.5 GB.

    The hub names the sha256 of the weights; a file that does not have it is not kept.

    Returns:
        The folder of the files.

    Raises:
        AssetError: the hub cannot be reached, COURSE_OFFLINE forbids it, a checksum is
            wrong, or the cache cannot be written.

    Source: Hugging Face hub, openai-community/gpt2.
    Lesson: notebooks/08_decoder.ipynb
    """
    if os.environ.get("COURSE_OFFLINE", "0") not in ("", "0"):
        raise AssetError(
            "COURSE_OFFLINE is set and forbids fetching gpt2: unset it first."
        )
    import huggingface_hub  # late: only this route needs it

    folder = cache_folder() / "gpt2"
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=".fetch-", dir=folder.parent
        ) as temporary:
            for name in FILES:
                huggingface_hub.hf_hub_download(REPOSITORY, name, local_dir=temporary)
            url = huggingface_hub.hf_hub_url(REPOSITORY, "model.safetensors")
            expected = huggingface_hub.get_hf_file_metadata(url).etag
            sums = {name: sha256_of(Path(temporary) / name) for name in FILES}
            if sums["model.safetensors"] != expected:
                raise AssetError(
                    f"model.safetensors of {REPOSITORY} has sha256 "
                    f"{sums['model.safetensors'][:12]}…, the hub says {str(expected)[:12]}…; "
                    f"nothing was kept. Fetch it again with {COMMAND}"
                )
            folder.mkdir(exist_ok=True)
            for name in FILES:
                os.replace(Path(temporary) / name, folder / name)
            (folder / SUMS).write_text(json.dumps(sums), encoding="utf-8")
    except AssetError:
        raise
    except (
        Exception
    ) as error:  # the hub client raises many kinds, all mean the same here
        raise AssetError(
            f"gpt2 could not be fetched from the Hugging Face hub "
            f"({type(error).__name__}: {str(error).splitlines()[0][:120] if str(error) else ''}); "
            f"nothing was kept. Check network and disk, then run {COMMAND}"
        ) from error
    return folder
