"""The encoder, and both halves together."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.decoder import Decoder
from course_lib.encoder import AudioEncoder, Encoder, EncoderDecoder
from tests.library.small_models import (
    SCHEMES,
    CallCounter,
    ids,
    numbers,
    scatter_weights,
    small_config,
    small_decoder,
)

assert_close = torch.testing.assert_close
NEAR = dict(atol=2e-5, rtol=1e-4)


def small_encoder(seed=1, **changes):
    return scatter_weights(Encoder(small_config(**changes)), seed)


def both_halves(**changes):
    return EncoderDecoder(
        small_encoder(seed=2, **changes), small_decoder(seed=3, cross_attention=True)
    ).eval()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_place_of_a_source_reads_every_other(scheme):
    encoder, tokens = small_encoder(positions=scheme), ids(2, 7)
    for place in (0, 3, 6):
        changed = tokens.clone()
        changed[:, place] = (changed[:, place] + 1) % 13
        moved = (encoder(changed) - encoder(tokens)).abs().amax(-1)
        assert moved.min() > 1e-4


def test_a_source_without_positions_has_no_order():
    encoder, tokens = small_encoder(positions="none"), ids(2, 7)
    order = torch.tensor([3, 0, 6, 5, 1, 4, 2])
    assert_close(encoder(tokens[:, order]), encoder(tokens)[:, order], **NEAR)


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=5, derandomize=True, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 7), min_size=2, max_size=5),
    side=st.sampled_from(("right", "left")),
)
def test_a_source_alone_is_the_source_in_a_batch(scheme, lengths, side):
    encoder, tokens = small_encoder(positions=scheme), ids(len(lengths), 7)
    memory = encoder(tokens, lengths, side)
    assert memory.isfinite().all()
    for row, length in enumerate(lengths):
        real = slice(0, length) if side == "right" else slice(7 - length, 7)
        if length:
            alone = encoder(tokens[row : row + 1, real])[0]
            assert_close(memory[row, real], alone, **NEAR)


def test_a_window_hides_what_is_too_old_and_no_more():
    encoder, tokens = small_encoder(window=3, n_layers=1), ids(2, 7)
    changed = tokens.clone()
    changed[:, 2] = (changed[:, 2] + 1) % 13
    moved = (encoder(changed) - encoder(tokens)).abs().amax(-1) > 1e-5
    assert moved.tolist() == [[True] * 5 + [False] * 2] * 2


def test_an_encoder_switches_causality_and_cross_attention_off():
    encoder = small_encoder(cross_attention=True, causal=True)
    assert (encoder.config.causal, encoder.config.cross_attention) == (False, False)
    assert not any("cross" in name for name, _ in encoder.named_parameters())


def test_recording_the_weights_changes_no_memory():
    encoder, tokens, record = small_encoder(), ids(2, 7), {}
    assert_close(
        encoder(tokens, [7, 3], record=record), encoder(tokens, [7, 3]), **NEAR
    )
    assert not record["self", 1][1, :, :, 3:].any()
    assert_close(record["self", 1][1, :, :3].sum(-1), torch.ones(6, 3))


def test_a_generator_decides_the_first_weights():
    seeds = (1, 1, 2)
    make = [Encoder(small_config(), torch.Generator().manual_seed(s)) for s in seeds]
    one, same, other = (encoder(ids(1, 3)) for encoder in make)
    assert_close(one, same, atol=0, rtol=0)
    assert (one - other).abs().max() > 1e-3


@pytest.mark.parametrize(
    ("tokens", "lengths", "message"),
    [
        (torch.tensor([1, 2]), None, r"shape \(2,\)"),
        (torch.tensor([[1.0]]), None, "dtype torch.float32"),
        (torch.tensor([[1, 13]]), None, "ids 0 to 12"),
        (torch.zeros(1, 12, dtype=torch.int64), None, "12 tokens long .* at most 11"),
        (torch.zeros(2, 3, dtype=torch.int64), [1], "lengths has 1 entries for 2 rows"),
        (torch.zeros(2, 3, dtype=torch.int64), [1, 4], "between 0 and the 3 places"),
    ],
)
def test_a_source_that_does_not_fit_is_refused(tokens, lengths, message):
    with pytest.raises(ValueError, match=message):
        small_encoder()(tokens, lengths)


def test_a_source_of_exactly_max_length_is_read():
    assert small_encoder()(ids(1, 11)).isfinite().all()


# -- sound -----------------------------------------------------------------------------


def small_audio_encoder(seed=1, **changes):
    return scatter_weights(AudioEncoder(small_config(**changes), n_mels=5), seed)


def test_sound_is_the_stem_and_then_the_stack_of_text():
    sound, text, spectrogram = small_audio_encoder(), small_encoder(), numbers(2, 5, 14)
    text.stack.load_state_dict(sound.stack.state_dict())
    expected = text.stack(sound.stem(spectrogram))
    assert_close(sound(spectrogram), expected, **NEAR)


def test_every_place_of_a_sound_reads_every_other():
    encoder, spectrogram = small_audio_encoder(), numbers(2, 5, 14)
    for frame in (0, 7, 13):
        changed = spectrogram.clone()
        changed[:, :, frame] += 1
        moved = (encoder(changed) - encoder(spectrogram)).abs().amax(-1)
        assert moved.min() > 1e-4


def test_a_sound_alone_is_the_sound_in_a_batch():
    encoder, spectrogram = small_audio_encoder(), numbers(3, 5, 14)
    for row, memory in zip(spectrogram, encoder(spectrogram), strict=True):
        assert_close(encoder(row[None])[0], memory, **NEAR)


@pytest.mark.parametrize("n_frames", [2, 8, 22])
def test_any_even_number_of_frames_is_heard(n_frames):
    memory = small_audio_encoder()(numbers(2, 5, n_frames))
    assert memory.shape == (2, n_frames // 2, 24)
    assert memory.isfinite().all()


def test_an_encoder_of_sound_looks_forward_and_has_no_memory():
    encoder = small_audio_encoder(cross_attention=True, causal=True, window=3)
    assert (encoder.config.causal, encoder.config.cross_attention) == (False, False)
    assert encoder.config.window is None
    assert not any("cross" in name for name, _ in encoder.named_parameters())


def test_recording_what_a_sound_reads_changes_no_memory():
    encoder, spectrogram, record = small_audio_encoder(), numbers(2, 5, 14), {}
    assert_close(encoder(spectrogram, record=record), encoder(spectrogram), **NEAR)
    assert_close(record["self", 1].sum(-1), torch.ones(2, 6, 7))


def test_a_generator_decides_the_first_weights_of_the_stem_too():
    seeds, spectrogram = (1, 1, 2), numbers(2, 5, 14)
    made = [
        AudioEncoder(small_config(), 5, torch.Generator().manual_seed(seed))
        for seed in seeds
    ]
    one, same, other = (encoder.stem(spectrogram) for encoder in made)
    assert_close(one, same, atol=0, rtol=0)
    assert (one - other).abs().max() > 1e-3


def test_sound_and_text_are_trained_together():
    model = EncoderDecoder(
        small_audio_encoder(), small_decoder(seed=3, cross_attention=True)
    )
    logits = model(numbers(2, 5, 14), ids(2, 3))
    assert logits.shape == (2, 3, 13)
    logits.square().sum().backward()
    assert model.encoder.stem.first.weight.grad.abs().max() > 1e-6


@pytest.mark.parametrize(
    ("spectrogram", "lengths", "message"),
    [
        (numbers(2, 5, 14), [7, 3], "lengths were given to an encoder of sound"),
        (numbers(2, 5, 13), None, "13 frames; pass an even number from 2 to 22"),
        (numbers(2, 5, 24), None, "24 frames; pass an even number from 2 to 22"),
        (numbers(2, 4, 14), None, "with 5 bands"),
        (numbers(5, 14), None, r"shape \(5, 14\)"),
    ],
)
def test_a_sound_that_does_not_fit_is_refused(spectrogram, lengths, message):
    with pytest.raises(ValueError, match=message):
        small_audio_encoder()(spectrogram, lengths)


# -- both halves -----------------------------------------------------------------------


def test_the_decoder_reads_the_real_part_of_what_the_encoder_wrote():
    model, source, tokens = both_halves(), ids(2, 7), ids(2, 5, seed=1)
    logits = model(source, tokens, source_lengths=[7, 3], lengths=[2, 5])
    for row, (n_source, n) in enumerate(((7, 2), (3, 5))):
        memory = model.encoder(source[row : row + 1, :n_source])
        alone = model.decoder(tokens[row : row + 1, :n], memory)
        assert_close(logits[row, :n], alone[0], **NEAR)


def test_padding_of_a_source_cannot_change_the_target():
    model, source, tokens = both_halves(), ids(2, 7), ids(2, 5, seed=1)
    other = source.clone()
    other[1, 3:] = (other[1, 3:] + 1) % 13
    pair = [model(s, tokens, source_lengths=[7, 3]) for s in (source, other)]
    assert_close(pair[0], pair[1], atol=0, rtol=0)
    moved = model(other, tokens) - model(source, tokens)
    assert moved[1].abs().amax(-1).min() > 1e-4


def test_a_gradient_reaches_the_encoder():
    model = both_halves()
    model(ids(2, 7), ids(2, 5)).square().sum().backward()
    weight = model.encoder.stack.blocks[0].self_attention.to_queries.weight
    assert weight.grad.abs().max() > 1e-6


def test_the_source_is_read_once_per_call():
    model = both_halves()
    calls = CallCounter(model.encoder.stack)
    model(ids(2, 7), ids(2, 5))
    assert calls.shapes == [(2, 7, 24)]


def test_a_decoder_that_would_ignore_the_source_is_refused():
    with pytest.raises(ValueError, match="has no cross-attention .* cross_attention=T"):
        EncoderDecoder(small_encoder(), Decoder(small_config()))


@pytest.mark.parametrize(
    ("source", "tokens", "lengths", "message"),
    [
        (ids(2, 12), ids(2, 5), {}, "12 tokens long"),
        (ids(2, 7) + 13, ids(2, 5), {}, "ids 0 to 12"),
        (ids(2, 7), ids(2, 12), {}, "12 tokens long"),
        (ids(2, 7), ids(3, 5), {}, r"memory has shape \(2, 7, 24\)"),
        (ids(2, 7), ids(2, 5), {"source_lengths": [8, 1]}, "between 0 and the 7"),
        (ids(2, 7), ids(2, 5), {"lengths": [6, 1]}, "between 0 and the 5 places"),
    ],
)
def test_halves_refuse_what_each_would(source, tokens, lengths, message):
    with pytest.raises(ValueError, match=message):
        both_halves()(source, tokens, **lengths)


def test_a_memory_of_another_width_is_refused():
    encoder = small_encoder(d_model=30)
    model = EncoderDecoder(encoder, small_decoder(cross_attention=True))
    with pytest.raises(ValueError, match=r"= \(2, any, 24\)"):
        model(ids(2, 7), ids(2, 5))


def test_any_module_that_writes_a_memory_can_be_the_encoder():
    class Spoken(torch.nn.Module):
        def forward(self, source, lengths=None):
            return numbers(*source.shape, 24)

    model = EncoderDecoder(Spoken(), small_decoder(cross_attention=True))
    expected = model.decoder(ids(2, 5), numbers(2, 7, 24))
    assert_close(model(ids(2, 7), ids(2, 5)), expected)
