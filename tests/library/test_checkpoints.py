"""Checkpoints of our own: what is read is what was saved, and damage is noticed."""

import hashlib
import json
import platform
import re

import pytest
import safetensors.torch
import torch
from safetensors import safe_open

from course_lib import pretrained
from course_lib.apps.python_source.bits import bits_per_byte
from course_lib.data import python_files
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.encoder import Encoder, EncoderDecoder
from course_lib.pretrained import checkpoints
from course_lib.pretrained.checkpoints import read, save
from course_lib.tokens import BPETokenizer, CharacterTokenizer, WordTokenizer, describe

TEXT = "def mean(values):\n    return sum(values) / len(values)\n"
TOKENIZER = BPETokenizer.train([TEXT] * 3, vocab_size=275, specials=["eos", "pad"])
FAMILIES = {
    "original": {"cross_attention": True},
    "gpt2_small": {},
    "smollm2_135m": {"n_kv_heads": 1},
}


def tiny(family="smollm2_135m", seed=0, **changes):
    torch.manual_seed(seed)
    sizes = {"d_model": 12, "n_layers": 2, "n_heads": 3, "d_ff": 20, "max_length": 50}
    sizes |= {"vocab_size": TOKENIZER.vocab_size, **FAMILIES[family], **changes}
    decoder = Decoder(getattr(DecoderConfig, family)(**sizes))
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.add_(torch.randn(parameter.shape) / 10)
    return decoder


@pytest.fixture
def home(tmp_path):
    save(tmp_path / "tiny", tiny(), [TOKENIZER], card="# Tiny\n\nA test's own.")
    return tmp_path


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("tied", [True, False])
def test_what_is_read_is_what_was_saved_but_for_rounding(tmp_path, family, tied):
    decoder = tiny(family, tie_weights=tied)
    save(tmp_path / "it", decoder, [TOKENIZER], card="# It")
    found, (tokenizer,) = read("it", tmp_path)
    assert found.config == decoder.config
    assert not found.training
    mine = dict(decoder.named_parameters())
    for name, parameter in found.named_parameters():
        assert parameter.dtype == torch.float32
        assert parameter.device.type == "cpu"
        assert torch.equal(parameter, mine[name].half().float()), name
    assert tokenizer.encode(TEXT) == TOKENIZER.encode(TEXT)
    assert tokenizer.decode(tokenizer.encode("naïve 你好")) == "naïve 你好"
    for kind in ("bos_id", "eos_id", "pad_id", "vocab_size", "special_ids"):
        assert getattr(tokenizer, kind) == getattr(TOKENIZER, kind)


def test_saving_what_was_read_changes_no_byte(home):
    decoder, tokenizers = read("tiny", home)
    save(home / "again", decoder, tokenizers, card="# Tiny\n\nA test's own.")
    for name in ("model.safetensors", "tokenizers.json", "card.md"):
        assert (home / "again" / name).read_bytes() == (
            home / "tiny" / name
        ).read_bytes()


def test_the_file_is_in_half_precision_and_holds_the_config(home):
    path = home / "tiny" / "model.safetensors"
    tensors = safetensors.torch.load_file(path)
    assert {tensor.dtype for tensor in tensors.values()} == {torch.float16}
    with safe_open(path, framework="pt") as file:
        config = json.loads(file.metadata()["configs"])["decoder"]
    assert DecoderConfig(**config) == tiny().config


def test_the_card_holds_the_digest_of_the_weights(home):
    digest = hashlib.sha256((home / "tiny" / "model.safetensors").read_bytes())
    card = (home / "tiny" / "card.md").read_text()
    assert card.startswith("# Tiny\n\nA test's own.\n\n")
    assert f"`{digest.hexdigest()}`" in card


def test_an_encoder_and_a_decoder_are_stored_together(tmp_path):
    source = CharacterTokenizer("abc")
    target = WordTokenizer(["ein zwei"], specials=["bos", "eos"])
    sizes = {"d_model": 6, "n_layers": 1, "n_heads": 3, "cross_attention": True}
    encoder = Encoder(DecoderConfig(source.vocab_size, **sizes))
    decoder = Decoder(DecoderConfig(target.vocab_size, **sizes))
    model = EncoderDecoder(encoder, decoder).eval()
    save(tmp_path / "it", model, [source, target], card="# It")
    found, (first, second) = read("it", tmp_path)
    assert first.encode("cab") == source.encode("cab")
    assert second.encode("zwei") == target.encode("zwei")
    inputs = torch.tensor([[0, 2, 1]]), torch.tensor([[2, 0]])
    torch.testing.assert_close(found(*inputs), model(*inputs), atol=5e-3, rtol=5e-3)


def test_each_vocabulary_needs_its_tokenizer(tmp_path):
    with pytest.raises(ValueError, match="2 tokenizers .* one for each of decoder"):
        save(tmp_path / "it", tiny(), [TOKENIZER, TOKENIZER], card="")


def test_a_tokenizer_of_another_decoder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="decoder has 11 ids and its tokenizer 275"):
        save(tmp_path / "it", tiny(vocab_size=11), [TOKENIZER], card="")
    assert not (tmp_path / "it").exists()


@pytest.mark.parametrize("number", [1e6, float("nan"), float("inf")])
def test_weights_that_float16_cannot_hold_are_refused(tmp_path, number):
    decoder = tiny()
    with torch.no_grad():
        decoder.embedding.weight[7, 5] = number
    with pytest.raises(
        ValueError, match="embedding.weight holds a NaN or a number beyond 65504"
    ):
        save(tmp_path, decoder, [TOKENIZER], card="")


def test_weights_that_are_too_large_for_the_repository_are_refused(tmp_path):
    with pytest.raises(ValueError, match="at most 1000 are allowed: train a smaller"):
        save(tmp_path, tiny(), [TOKENIZER], card="", largest=1000)


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizers.json", "card.md"])
def test_a_missing_file_is_named(home, name):
    (home / "tiny" / name).unlink()
    with pytest.raises(ValueError, match=f"holds no {name}: restore"):
        read("tiny", home)


def test_one_changed_byte_is_noticed(home):
    path = home / "tiny" / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match="its card says .*: restore both"):
        read("tiny", home)


def test_a_card_without_a_digest_is_noticed(home):
    (home / "tiny" / "card.md").write_text("# Tiny")
    with pytest.raises(ValueError, match="its card says none"):
        read("tiny", home)


def replace_weights(folder, data):
    """Put other weights there, and say so in the card."""
    (folder / "model.safetensors").write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    (folder / "card.md").write_text(f"sha256 of model.safetensors: `{digest}`")


def test_weights_of_another_kind_are_refused(home):
    config = {"vocab_size": 5, "d_model": 6, "n_layers": 1, "n_heads": 3}
    whole = json.dumps({"decoder": config})
    some = {"embedding.weight": torch.zeros(5, 7)}
    for metadata in (None, {"configs": '{"decoder": {}}'}, {"configs": whole}):
        replace_weights(home / "tiny", safetensors.torch.save(some, metadata))
        with pytest.raises(ValueError, match="is no model of ours"):
            read("tiny", home)
    replace_weights(home / "tiny", b"no weights")
    with pytest.raises(ValueError, match="is no model of ours"):
        read("tiny", home)


def test_a_broken_vocabulary_is_refused(home):
    (home / "tiny" / "tokenizers.json").write_text("{}")
    with pytest.raises(ValueError, match=r"tokenizers\.json cannot be read"):
        read("tiny", home)


def test_a_vocabulary_of_another_size_is_refused(home):
    path = home / "tiny" / "tokenizers.json"
    short = BPETokenizer.train([TEXT], vocab_size=260, specials=["eos", "pad"])
    path.write_text(json.dumps([describe(short)]))
    with pytest.raises(ValueError, match="which is not the model's"):
        read("tiny", home)


def test_a_card_that_was_read_back_can_be_saved_again(home):
    decoder, tokenizers = read("tiny", home)
    card = (home / "tiny" / "card.md").read_text()
    with torch.no_grad():
        decoder.embedding.weight[0, 0] += 1
    save(home / "tiny", decoder, tokenizers, card)
    read("tiny", home)


def test_a_card_that_is_no_text_is_noticed(home):
    (home / "tiny" / "card.md").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="its card says none"):
        read("tiny", home)


def test_a_file_is_no_folder(tmp_path):
    path = tmp_path / "taken"
    path.touch()
    with pytest.raises(ValueError, match="is a file: name a folder"):
        save(path, tiny(), [TOKENIZER], card="")


# The course's own ------------------------------------------------------------------


def test_python_source_is_loaded_ready_to_use():
    decoder, tokenizer = pretrained.load("python-source")
    assert not decoder.training
    assert decoder.config.vocab_size == tokenizer.vocab_size
    assert tokenizer.eos_id is not None
    assert next(decoder.parameters()).dtype == torch.float32


def test_its_card_says_what_a_reader_must_know():
    card = (checkpoints.TRAINED / "python-source" / "card.md").read_text()
    for word in ("Python 3.", "sha256", "seed", "CPU seconds", "Licence", "gzip", "xz"):
        assert word in card
    assert "5-gram" in card
    assert "python -m course_lib.apps.python_source train" in card


def test_it_has_learnt_something_of_python():
    model = pretrained.load("python-source")
    right = "import sys\n\n\ndef main(self):\n    return None\n"
    wrong = right[::-1]
    bits = [bits_per_byte(*model, [("a.py", text)]) for text in (right, wrong)]
    assert bits[0] < 3 < bits[1]


@pytest.mark.slow
def test_it_is_as_good_as_its_card_says():
    card = (checkpoints.TRAINED / "python-source" / "card.md").read_text()
    said = float(re.search(r"\| this model \|.* (\d\.\d+) \|", card)[1])
    found = bits_per_byte(*pretrained.load("python-source"), python_files("test"))
    same = f"standard library of Python {platform.python_version()}," in card
    # Another Python has other files, but they are as hard to predict.
    assert found == pytest.approx(said, abs=0.002 if same else 0.2)
