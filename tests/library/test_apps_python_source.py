"""The app of Python's source: it trains, resumes, measures and completes."""

import math

import pytest
import torch

from course_lib import pretrained
from course_lib.apps.python_source import __main__ as app
from course_lib.apps.python_source import bits, bits_per_byte, compare
from course_lib.apps.python_source import card as cards
from course_lib.apps.python_source.card import card
from course_lib.apps.python_source.run import text_windows
from course_lib.data import PARTS
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.pretrained import checkpoints
from course_lib.tokens import BPETokenizer, ByteTokenizer
from course_lib.training import perplexity

CODE = "def f{0}(x):\n    return x + {0}\n\n\nclass C{0}:\n    '''It is {0}.'''\n"
FILES = {
    part: [(f"{part}{i}.py", CODE.format(i + shift) * 5) for i in range(3)]
    for shift, part in enumerate(PARTS)
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A tiny corpus and a tiny decoder."""
    for module in (app, bits, cards):
        monkeypatch.setattr(module, "python_files", FILES.get)
    sizes = {"d_model": 12, "n_layers": 1, "n_heads": 3, "d_ff": 20}
    for name, value in {"VOCAB": 280, "CONTEXT": 16, "ROWS": 5, "SIZES": sizes}.items():
        monkeypatch.setattr(app, name, value)


def stored(out):
    decoder, (tokenizer,) = checkpoints.read("python-source", out)
    return decoder.state_dict(), tokenizer, (out / "python-source/card.md").read_text()


def test_training_writes_a_model_and_its_card(tmp_path, capsys):
    app.main(["train", "--out", str(tmp_path), "--steps", "50"])
    _, tokenizer, text = stored(tmp_path)
    assert tokenizer.eos_id is not None
    assert "| updates | 50 |" in text
    assert "| bits per byte | validation |" in text
    assert "--steps 50" in text
    progress = capsys.readouterr().err
    assert "step 50 of 50, " in progress
    assert "min left" in progress
    assert "bits per byte" in progress


def test_the_test_files_are_measured_only_when_asked(tmp_path, monkeypatch):
    def refuse(part):
        if part == "test":
            raise AssertionError("the test files were read")
        return FILES[part]

    for module in (app, bits, cards):
        monkeypatch.setattr(module, "python_files", refuse)
    # It counts the bytes of every part, which tells nothing about the model.
    monkeypatch.setattr(cards, "_facts", lambda decoder, run: run)
    app.main(["train", "--out", str(tmp_path), "--steps", "2"])
    with pytest.raises(AssertionError, match="the test files were read"):
        app.main(
            ["train", "--out", str(tmp_path), "--steps", "2", "--resume", "--test"]
        )


def test_a_run_that_was_broken_off_ends_as_one_that_was_not(tmp_path, monkeypatch):
    app.main(["train", "--out", str(tmp_path / "whole"), "--steps", "110"])
    broken = ["train", "--out", str(tmp_path / "broken"), "--steps", "110"]
    with monkeypatch.context() as patch:
        patch.setattr(app.Progress, "__call__", break_off_at(105))
        with pytest.raises(KeyboardInterrupt):
            app.main(broken)
    app.main([*broken, "--resume"])
    whole, again = stored(tmp_path / "whole")[0], stored(tmp_path / "broken")[0]
    assert all(torch.equal(whole[name], again[name]) for name in whole)


def break_off_at(last):
    def call(self, step, loss_nats):
        if step == last:
            raise KeyboardInterrupt

    return call


def test_a_folder_with_a_run_needs_resume(tmp_path, capsys):
    (tmp_path / "training.pt").touch()
    with pytest.raises(SystemExit):
        app.main(["train", "--out", str(tmp_path), "--steps", "2"])
    assert "add --resume, or name another folder" in capsys.readouterr().err


def test_windows_are_the_same_for_the_same_number():
    ids = torch.arange(40)
    first, second = (text_windows(ids, 7, 3, seed=5) for _ in range(2))
    for i in (0, 11):
        for mine, theirs in zip(first(i), second(i), strict=True):
            assert torch.equal(mine, theirs)
    assert not torch.equal(first(0)[0], first(1)[0])
    assert not torch.equal(first(0)[0], text_windows(ids, 7, 3, seed=6)(0)[0])


def test_windows_reach_the_first_and_the_last_token():
    batch = text_windows(torch.arange(9), 7, 200, seed=0)
    inputs, targets = batch(0)
    assert inputs.min() == 0
    assert targets.max() == 8
    assert torch.equal(inputs + 1, targets)


def test_windows_need_enough_tokens():
    with pytest.raises(ValueError, match="the text has 7 tokens, a row needs 8"):
        text_windows(torch.arange(7), context=7, rows=2, seed=0)


# Measuring -------------------------------------------------------------------------

BYTES = ByteTokenizer(specials=["eos"])


def byte_decoder(max_length):
    torch.manual_seed(0)
    return Decoder(
        DecoderConfig(BYTES.vocab_size, 12, 1, 3, max_length=max_length)
    ).eval()


def test_a_file_that_fits_is_measured_as_perplexity_does():
    decoder, text = byte_decoder(50), "import sys\n"
    ids = torch.tensor([[BYTES.eos_id, *text.encode(), BYTES.eos_id]])
    nats = math.log(perplexity(decoder, [(ids[:, :-1], ids[:, 1:])])) * (len(text) + 1)
    found = bits_per_byte(decoder, BYTES, [("a.py", text)])
    assert found == pytest.approx(nats / math.log(2) / len(text), rel=1e-5)


@pytest.mark.parametrize("length", [3, 7, 8, 9, 11, 12, 13, 40])
def test_windows_count_every_token_once(length):
    class Uniform(torch.nn.Module):
        config = DecoderConfig(BYTES.vocab_size, 12, 1, 3, max_length=8)

        def forward(self, tokens):
            assert 1 <= tokens.shape[1] <= 8
            return torch.zeros(*tokens.shape, BYTES.vocab_size)

    found = bits_per_byte(Uniform(), BYTES, [("a.py", "x" * length)])
    each = math.log2(BYTES.vocab_size)
    assert found == pytest.approx(each * (length + 1) / length, rel=1e-5)


def test_bytes_are_counted_not_characters():
    decoder = byte_decoder(50)
    two = bits_per_byte(decoder, BYTES, [("a.py", "ab"), ("b.py", "é")])
    each = [bits_per_byte(decoder, BYTES, [("a.py", text)]) for text in ("ab", "é")]
    assert two == pytest.approx(sum(each) / 2, rel=1e-5)


def test_files_without_text_cannot_be_measured():
    with pytest.raises(ValueError, match="the files hold no text"):
        bits_per_byte(byte_decoder(8), BYTES, [("a.py", "")])


def test_the_card_says_what_beats_the_model():
    tokenizer = BPETokenizer.train(["x"], vocab_size=257, specials=["eos"])
    decoder = Decoder(DecoderConfig(257, 12, 1, 3, max_length=8)).eval()
    figures = compare(decoder, tokenizer, ["validation", "test"])
    text = card(decoder.config, {"updates": 7}, figures)
    assert "| bits per byte | validation | test |" in text
    assert (
        "On the test files the model is better than: none; and worse than: gzip" in text
    )
    assert "train --out DIR --test --steps 7" in text


# Writing ---------------------------------------------------------------------------


@pytest.fixture
def loaded(monkeypatch):
    tokenizer = BPETokenizer.train([CODE], vocab_size=270, specials=["eos"])
    decoder = Decoder(DecoderConfig(tokenizer.vocab_size, 12, 1, 3, max_length=20))
    monkeypatch.setattr(pretrained, "load", lambda name: (decoder.eval(), tokenizer))


def test_completing_prints_the_prompt_and_goes_on(capsys, loaded):
    app.main(["complete", "def mean(", "--tokens", "5"])
    first = capsys.readouterr().out
    assert first.startswith("def mean(")
    app.main(["complete", "def mean(", "--tokens", "5"])
    assert capsys.readouterr().out == first


def test_a_long_prompt_and_many_tokens_end_where_the_room_ends(capsys, loaded):
    app.main(["complete", "x = " * 30, "--tokens", "1000"])
    assert capsys.readouterr().out.startswith("x = " * 30)
