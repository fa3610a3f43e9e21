"""GPT-2 is read from a saved checkpoint, and fetched from the hub or plainly refused."""

import json
from hashlib import sha256

import pytest
import tokenizers
import torch

from course_lib import pretrained
from course_lib.pretrained import AssetError
from course_lib.pretrained.__main__ import main
from course_lib.pretrained.gpt2 import read_gpt2
from course_lib.pretrained.hub import fetch_gpt2

TEXT = "low lower lowest"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A random GPT-2 of 3 layers, saved by transformers, with a small real BPE."""
    transformers = pytest.importorskip(
        "transformers", reason="needs the extra `compare`"
    )
    folder = tmp_path_factory.mktemp("gpt2")
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=270,
        special_tokens=["<|endoftext|>"],
        show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
    )
    bpe.train_from_iterator([TEXT] * 3, trainer)
    bpe.save(str(folder / "tokenizer.json"))
    config = transformers.GPT2Config(
        vocab_size=bpe.get_vocab_size(),
        n_embd=21,
        n_layer=3,
        n_head=7,
        n_positions=32,
        bos_token_id=0,
        eos_token_id=0,
    )
    torch.manual_seed(3)
    model = transformers.GPT2LMHeadModel(config).eval()
    for parameter in model.parameters():
        parameter.data.normal_(std=0.2)
    model.save_pretrained(folder)
    return folder, model


def copied(checkpoint, tmp_path):
    for file in checkpoint[0].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def test_logits_equal_transformers_on_the_same_checkpoint(checkpoint):
    folder, theirs = checkpoint
    decoder, tokenizer = read_gpt2(folder)
    tokens = torch.tensor([tokenizer.encode(TEXT)])
    torch.testing.assert_close(
        decoder(tokens), theirs(tokens).logits, atol=2e-5, rtol=1e-4
    )
    assert tokenizer.decode(tokens[0].tolist()) == TEXT
    assert tokenizer.token(tokenizer.eos_id) == "<|endoftext|>"
    assert not decoder.training


def test_the_hubs_own_names_without_a_prefix_are_read_too(checkpoint, tmp_path):
    from safetensors.torch import load_file, save_file

    folder = copied(checkpoint, tmp_path)
    stored = load_file(folder / "model.safetensors")
    renamed = {name.removeprefix("transformer."): t for name, t in stored.items()}
    save_file(renamed, folder / "model.safetensors")
    torch.testing.assert_close(
        read_gpt2(folder)[0].embedding.weight, checkpoint[1].transformer.wte.weight
    )


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.safetensors", None, "holds no model.safetensors"),
        ("model.safetensors", b"{", "cannot be read"),
        ("tokenizer.json", b"{", "tokenizer.json cannot be read"),
        (
            "config.json",
            b'{"model_type": "bert"}',
            "describes a 'bert', expected 'gpt2'",
        ),
        ("config.json", b"{", "Expecting property name"),
    ],
)
def test_a_damaged_checkpoint_is_named(checkpoint, tmp_path, file, content, message):
    folder = copied(checkpoint, tmp_path)
    (folder / file).unlink() if content is None else (folder / file).write_bytes(
        content
    )
    with pytest.raises(ValueError, match=message):
        read_gpt2(folder)


def test_weights_of_another_size_are_refused(checkpoint, tmp_path):
    folder = copied(checkpoint, tmp_path)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "n_positions": 31}))
    with pytest.raises(ValueError, match=r"have shape \(32, 21\), expected \(31, 21\)"):
        read_gpt2(folder)


@pytest.fixture
def fake_hub(checkpoint, tmp_path, monkeypatch):
    """A hub that serves the small checkpoint, and says a sha256 that a test may change."""
    import huggingface_hub

    monkeypatch.setenv("COURSE_CACHE", str(tmp_path / "cache"))
    said = {
        "etag": sha256((checkpoint[0] / "model.safetensors").read_bytes()).hexdigest()
    }

    def download(_repository, name, local_dir):
        with open(f"{local_dir}/{name}", "wb") as file:
            file.write((checkpoint[0] / name).read_bytes())

    metadata = type("Metadata", (), {"etag": property(lambda _self: said["etag"])})
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    monkeypatch.setattr(
        huggingface_hub, "get_hf_file_metadata", lambda _url: metadata()
    )
    return said


def test_what_the_hub_sends_is_kept_verified_and_loaded(fake_hub, checkpoint, capsys):
    assert main(["fetch", "gpt2"]) == 0
    decoder, _ = pretrained.load("gpt2")
    torch.testing.assert_close(
        decoder.embedding.weight, checkpoint[1].transformer.wte.weight
    )
    assert main(["fetch", "gpt2"]) == 0
    assert "already here, checksum right" in capsys.readouterr().out


def test_weights_with_another_checksum_are_not_kept(fake_hub, tmp_path):
    fake_hub["etag"] = "0" * 64
    with pytest.raises(
        AssetError, match="the hub says 000000000000…; nothing was kept"
    ):
        fetch_gpt2()
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_file_changed_after_the_fetch_is_noticed(fake_hub, tmp_path):
    folder = fetch_gpt2()
    with open(folder / "tokenizer.json", "a") as file:
        file.write(" ")
    with pytest.raises(AssetError, match=r"tokenizer.json is damaged: it has sha256"):
        pretrained.load("gpt2")


def test_without_a_hub_one_sentence_says_so_and_nothing_is_kept(
    tmp_path, monkeypatch, capsys
):
    import huggingface_hub

    def unreachable(*_args, **_kwargs):
        raise ConnectionError("no route to host\nand a long story")

    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", unreachable)
    assert main(["fetch", "gpt2"]) == 1
    message = capsys.readouterr().err
    assert "could not be fetched from the Hugging Face hub (ConnectionError" in message
    assert "long story" not in message
    assert list(tmp_path.iterdir()) == []


def test_missing_weights_name_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    with pytest.raises(AssetError, match="fetch gpt2"):
        pretrained.load("gpt2")


def test_offline_forbids_the_hub(monkeypatch):
    monkeypatch.setenv("COURSE_OFFLINE", "1")
    with pytest.raises(AssetError, match="COURSE_OFFLINE is set"):
        fetch_gpt2()
