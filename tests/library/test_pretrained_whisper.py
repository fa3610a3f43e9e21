"""Whisper is read from either of its files, hears what transformers hears, and speaks text."""

import json

import pytest
import torch

from course_lib import pretrained
from course_lib.audio import log_mel
from course_lib.config import DecoderConfig
from course_lib.generation import generate
from course_lib.pretrained.assets import WHISPER_TINY_EN, AssetError
from course_lib.pretrained.ctranslate2 import read_ctranslate2
from course_lib.pretrained.speech import SpeechTokenizer
from course_lib.pretrained.storage import verified_files
from course_lib.pretrained.whisper import Whisper, read_whisper
from course_lib.pretrained.whisper_names import our_names
from course_lib.sampling import Sampler
from tests.library.small_models import CallCounter, numbers
from tests.library.tiny_whisper import (
    CONFIG,
    N_POSITIONS,
    SETTINGS,
    fused,
    tokenizer_json,
    transformers_whisper,
    unfuse,
    write_converted,
    write_published,
)

END, START, PREVIOUS, PLAIN, TIME = 256, 257, 258, 259, 260


@pytest.fixture(scope="module")
def theirs():
    """A random Whisper of transformers whose numbers half precision can hold."""
    model = transformers_whisper(CONFIG, N_POSITIONS)
    generator = torch.Generator().manual_seed(3)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator) * 0.3
        noise += "norm.weight" in name
        fixed = name == "model.encoder.embed_positions.weight"
        parameter.data.copy_((parameter.data if fixed else noise).half())
    return model


@pytest.fixture(scope="module")
def converted(theirs, tmp_path_factory):
    """Return the model and the tokenizer of its conversion."""
    folder = write_converted(tmp_path_factory.mktemp("converted"), fused(theirs))
    return read_whisper(folder, CONFIG)


def spectrogram(n_frames=2 * N_POSITIONS, batch=2):
    return numbers(batch, 80, n_frames)


TOKENS = torch.tensor([[START, PLAIN, 40, 41, 42], [START, PREVIOUS, 7, TIME, END]])


@pytest.mark.compare
def test_a_conversion_gives_the_states_and_logits_of_transformers(converted, theirs):
    model, _ = converted
    with torch.no_grad():
        expected = theirs(spectrogram(), decoder_input_ids=TOKENS)
        memory = model.encoder(spectrogram())
        logits = model(spectrogram(), TOKENS)
    assert (memory - expected.encoder_last_hidden_state).abs().max() < 1e-4
    assert (logits - expected.logits).abs().max() < 1e-4
    assert not model.training
    assert model.decoder.head.weight is model.decoder.embedding.weight


@pytest.mark.compare
def test_the_hubs_file_is_the_same_model(converted, theirs, tmp_path):
    model, tokenizer = read_whisper(write_published(tmp_path, theirs), CONFIG)
    for ours, same in zip(model.parameters(), converted[0].parameters(), strict=True):
        assert torch.equal(ours, same)
    assert model.alignment_heads == converted[0].alignment_heads == [(1, 2), (0, 3)]
    assert (tokenizer.suppressed, tokenizer.suppressed_first) == ([1, 7], [220, 256])


@pytest.mark.compare
def test_the_hubs_own_names_without_a_prefix_are_read_too(theirs):
    stored = {n.removeprefix("model."): p for n, p in theirs.named_parameters()}
    assert our_names(stored).keys() == our_names(dict(theirs.named_parameters())).keys()


@pytest.mark.compare
@pytest.mark.parametrize("n_frames", [2, 8, 40])
def test_a_shorter_window_is_heard_with_the_first_positions(
    converted, theirs, n_frames
):
    short = transformers_whisper(CONFIG, n_frames // 2)
    weights, name = theirs.state_dict(), "model.encoder.embed_positions.weight"
    short.load_state_dict({**weights, name: weights[name][: n_frames // 2]})
    with torch.no_grad():
        memory = converted[0].encoder(spectrogram(n_frames))
        expected = short.model.encoder(spectrogram(n_frames)).last_hidden_state
    assert (memory - expected).abs().max() < 1e-4


@pytest.mark.compare
def test_the_cross_weights_of_the_alignment_heads_are_those_of_transformers(
    converted, theirs
):
    model, record = converted[0], {}
    theirs.set_attn_implementation("eager")
    with torch.no_grad():
        expected = theirs(
            spectrogram(), decoder_input_ids=TOKENS, output_attentions=True
        ).cross_attentions
        model.decoder(TOKENS, model.encoder(spectrogram()), record=record)
    for layer, head in model.alignment_heads:
        ours = record["cross", layer][:, head]
        torch.testing.assert_close(ours, expected[layer][:, head], atol=1e-5, rtol=0)


# -- one window


@pytest.mark.compare
def test_keys_and_values_of_the_sound_are_computed_once_a_window(converted):
    model, _ = converted
    blocks = model.decoder.stack.blocks
    counters = [
        CallCounter(getattr(block.cross_attention, name))
        for block in blocks
        for name in ("to_keys", "to_values")
    ]
    memory = model.encoder(spectrogram(batch=1))
    written = generate(model, [START, PLAIN], 20, memory=memory)
    assert len(written) == 20
    assert [counter.shapes for counter in counters] == [[(1, N_POSITIONS, 24)]] * 4


@pytest.mark.compare
def test_a_cache_makes_no_difference(converted):
    model, tokenizer = converted
    memory = model.encoder(spectrogram(batch=1))
    sampler = Sampler(temperature=0, suppress=tokenizer.suppressed)
    with_cache, without = (
        generate(model, tokenizer.prompt, 15, sampler, cache=cache, memory=memory)
        for cache in (True, False)
    )
    assert with_cache == without


@pytest.mark.compare
def test_forced_tokens_after_a_window_read_the_same_sound_again(converted):
    """The alignment's pass: the cache is emptied and keeps what it knows of the sound."""
    model, _ = converted
    memory = model.encoder(spectrogram(batch=1))
    cache = model.decoder.new_cache()
    generate(model, [START, PLAIN], 5, cache=cache, memory=memory)
    cache.crop(0)
    again, anew = {}, {}
    model.decoder(TOKENS[:1], cache=cache, record=again)
    model.decoder(TOKENS[:1], memory, record=anew)
    for layer in range(2):
        torch.testing.assert_close(again["cross", layer], anew["cross", layer])


@pytest.mark.compare
def test_an_alignment_head_outside_the_decoder_is_refused(converted):
    model, _ = converted
    for head in ((2, 0), (0, 4), (-1, 0)):
        with pytest.raises(ValueError, match="2 layers of 4 heads"):
            Whisper(model.encoder, model.decoder, [head])


# -- the tokenizer


@pytest.fixture(scope="module")
def tokenizer():
    return SpeechTokenizer(tokenizer_json(), suppressed=[1, 7])


def test_text_comes_back_and_steering_tokens_do_not(tokenizer):
    ids = tokenizer.encode(" Ask not — 日本!")
    assert tokenizer.decode(ids) == " Ask not — 日本!"
    steered = [PREVIOUS, *ids, START, PLAIN, TIME, 1760, END]
    assert tokenizer.decode(steered) == " Ask not — 日本!"
    assert "".join(tokenizer.decode_stream(iter(steered))) == " Ask not — 日本!"
    assert tokenizer.decode([START, TIME + 75], skip_special=False) == (
        "<|startoftranscript|><|1.50|>"
    )


def test_the_name_of_a_steering_token_in_a_text_is_text(tokenizer):
    ids = tokenizer.encode("<|endoftext|><|1.50|>")
    assert max(ids) < END
    assert tokenizer.decode(ids) == "<|endoftext|><|1.50|>"


def test_steering_ids_have_names(tokenizer):
    assert (tokenizer.prompt, tokenizer.eos_id) == ([START, PLAIN], END)
    assert tokenizer.start_of_previous == PREVIOUS
    assert tokenizer.suppressed == [1, 7]
    assert (tokenizer.vocab_size, tokenizer.token(1760)) == (1761, "<|30.00|>")


@pytest.mark.parametrize(
    ("stored", "suppressed", "message"),
    [
        ("{", [], "the tokenizer cannot be read .* whole"),
        (tokenizer_json().replace("startofprev", "before"), [], "has no <.startofpr"),
        (tokenizer_json(), [1761], "no token has id 1761"),
        (tokenizer_json(), ["a"], "whole number"),
    ],
)
def test_a_tokenizer_of_another_model_is_refused(stored, suppressed, message):
    with pytest.raises(ValueError, match=message):
        SpeechTokenizer(stored, suppressed)


# -- damaged files


@pytest.mark.compare
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decoder/layer_9/ffn/linear_0/bias": numbers(20)}, "1 weights have no place"),
        ({"decoder/gate/weight": numbers(20, 3)}, "decoder/gate/weight have no place"),
        ({"decoder/layer_1/ffn/linear_0/bias": numbers(21)}, r"\(21,\), expected \(20"),
        (
            {"decoder/layer_1/self_attention/linear_0/bias": numbers(1)},
            r"shape \((1|0),\), expected \(24",
        ),
        ({"encoder/conv1/bias": None}, "first.bias have shape None, expected"),
        ({"encoder/position_encodings/encodings": None}, "table have shape None, exp"),
    ],
)
def test_weights_of_another_model_are_refused(theirs, tmp_path, change, message):
    tensors = {**fused(theirs), **change}
    kept = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    with pytest.raises(ValueError, match=message):
        read_whisper(write_converted(tmp_path, kept), CONFIG)


@pytest.mark.compare
@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("model.bin", "", "is cut"),
        ("tokenizer.json", None, "No such file .*tokenizer.json"),
        ("tokenizer.json", "{", "the tokenizer cannot be read"),
        ("config.json", None, "No such file .*config.json"),
        ("config.json", "{", "cannot be read: Expecting property name"),
        ("config.json", "[]", "cannot be read: list indices"),
        ("config.json", "{}", "config.json lacks 'suppress_ids'"),
        (
            "config.json",
            json.dumps(SETTINGS | {"alignment_heads": [[7, 0]]}),
            r"\(layer, head\) = \(7, 0\)",
        ),
    ],
)
def test_a_damaged_folder_is_named(theirs, tmp_path, file, content, message):
    folder = write_converted(tmp_path, fused(theirs))
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(content)
    with pytest.raises(ValueError, match=message):
        read_whisper(folder, CONFIG)


@pytest.mark.compare
def test_a_damaged_hub_file_is_named(theirs, tmp_path):
    folder = write_published(tmp_path, theirs)
    (folder / "model.safetensors").write_bytes(b"{")
    with pytest.raises(ValueError, match=r"the Whisper in .* cannot be read"):
        read_whisper(folder, CONFIG)


@pytest.mark.compare
def test_a_tokenizer_that_does_not_fit_the_model_is_refused(theirs, tmp_path):
    folder = write_converted(tmp_path, fused(theirs))
    more = DecoderConfig.whisper_tiny()
    with pytest.raises(ValueError, match="has 1761 ids and the model 51864"):
        read_whisper(folder, more)


# -- the real weights


def test_missing_weights_name_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_CACHE", str(tmp_path))
    with pytest.raises(AssetError, match=r"course_lib\.pretrained fetch whisper-tiny"):
        pretrained.load("whisper-tiny.en")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def whisper():
    """Return the real files, the model and the tokenizer, or skip with the reason."""
    try:
        paths = verified_files(WHISPER_TINY_EN)
        return paths, *pretrained.load("whisper-tiny.en")
    except AssetError as error:
        pytest.skip(str(error))


@pytest.mark.weights
@pytest.mark.compare
@pytest.mark.slow
def test_the_real_weights_give_the_states_and_logits_of_transformers(whisper):
    (path, *_), model, tokenizer = whisper
    theirs = unfuse(
        read_ctranslate2(path), transformers_whisper(model.decoder.config, 1500)
    )
    spectrogram = log_mel(numbers(16000) * 0.1, window_seconds=30)
    tokens = torch.tensor([tokenizer.prompt + tokenizer.encode(" Ask what you can do")])
    with torch.inference_mode():
        expected = theirs(spectrogram, decoder_input_ids=tokens)
        memory = model.encoder(spectrogram)
        logits = model.decoder(tokens, memory)
    states = (memory - expected.encoder_last_hidden_state).abs().max().item()
    scores = (logits - expected.logits).abs().max().item()
    print(f"largest difference of states {states:.1e}, of logits {scores:.1e}")
    assert max(states, scores) < 1e-4
    assert torch.equal(logits.argmax(-1), expected.logits.argmax(-1))


@pytest.mark.weights
def test_the_real_tokenizer_has_whispers_ids(whisper):
    _, model, tokenizer = whisper
    assert (tokenizer.prompt, tokenizer.eos_id) == ([50257, 50362], 50256)
    assert tokenizer.start_of_previous == 50360
    assert tokenizer.vocab_size == model.decoder.config.vocab_size == 51864
    assert (len(tokenizer.suppressed), tokenizer.suppressed_first) == (90, [220, 50256])
    assert tokenizer.token(51863) == "<|30.00|>"
    assert tokenizer.decode(range(50257, 51864)) == ""
    ids = tokenizer.encode(" And so, my fellow Americans")
    assert ids == [843, 523, 11, 616, 5891, 3399]  # as GPT-2 has them


@pytest.mark.weights
def test_the_keys_of_the_real_weights_have_no_bias(whisper):
    biases = [
        parameter
        for name, parameter in whisper[1].named_parameters()
        if name.endswith("to_keys.bias")
    ]
    assert len(biases) == 12
    assert not any(bias.any() for bias in biases)


@pytest.mark.weights
def test_a_sentence_that_we_ship_is_written_down(whisper):
    from course_lib.data.speech import sentences

    _, model, tokenizer = whisper
    sentence = sentences()[0]
    memory = model.encoder(log_mel(sentence.samples(), window_seconds=10))
    cache = model.decoder.new_cache()
    hidden = tokenizer.suppressed + tokenizer.suppressed_first
    first = Sampler(temperature=0, suppress=hidden)
    others = Sampler(temperature=0, suppress=tokenizer.suppressed)
    ids = generate(model, tokenizer.prompt, 1, first, cache=cache, memory=memory)
    ids += generate(model, ids, 40, others, tokenizer.eos_id, cache=cache)
    assert tokenizer.decode(ids) == f" {sentence.text}"
