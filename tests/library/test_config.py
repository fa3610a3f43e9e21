"""The config: what it fills in, what the presets are, and what it refuses."""

from dataclasses import FrozenInstanceError

import pytest

from course_lib.config import DecoderConfig

SIZES = dict(vocab_size=53, d_model=24, n_layers=2, n_heads=6)


def test_sizes_that_are_left_out_follow_from_others():
    config = DecoderConfig(**SIZES)
    assert (config.n_kv_heads, config.d_ff, config.d_head) == (6, 96, 4)
    given = DecoderConfig(**SIZES, n_kv_heads=2, d_ff=11)
    assert (given.n_kv_heads, given.d_ff, given.d_head) == (2, 11, 4)


def test_the_defaults_are_those_of_a_gpt():
    config = DecoderConfig(**SIZES)
    assert (config.max_length, config.positions, config.norm) == (
        1024,
        "learned",
        "layer",
    )
    assert (config.activation, config.eps, config.dropout) == ("gelu", 1e-5, 0.0)
    assert (config.rotary_base, config.rotary_pairing) == (10000.0, "half")
    assert (config.max_distance, config.window) == (16, None)
    switched_on = (config.pre_norm, config.bias, config.causal, config.tie_weights)
    assert switched_on == (True, True, True, True)
    switched_off = (config.gated, config.cross_attention, config.embed_scale)
    assert switched_off == (False, False, False)


def test_a_config_cannot_be_changed_after_it_was_checked():
    with pytest.raises(FrozenInstanceError):
        DecoderConfig(**SIZES).d_model = 7


@pytest.mark.parametrize(
    "name", ["vocab_size", "d_model", "n_layers", "n_heads", "n_kv_heads", "d_ff"]
)
@pytest.mark.parametrize("size", [0, -1])
def test_a_size_below_one_is_refused(name, size):
    with pytest.raises(ValueError, match=f"{name} was {size}; a size is at least 1"):
        DecoderConfig(**{**SIZES, name: size})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_length": 0}, "max_length was 0; a size is at least 1"),
        ({"max_distance": 0}, "max_distance was 0; a size is at least 1"),
        ({"n_heads": 5}, "d_model=24, n_heads=5, n_kv_heads=5.*must divide d_model"),
        ({"n_kv_heads": 4}, "n_heads=6, n_kv_heads=4.*must divide n_heads"),
        ({"dropout": 1.0}, "dropout was 1.0; it is a probability, from 0 to below 1"),
        ({"dropout": -0.1}, "dropout was -0.1; it is a probability"),
        ({"window": 0}, "window was 0; it counts the query itself, at least 1"),
        ({"positions": "polar"}, "positions was 'polar'; choose one of learned, sinus"),
        ({"norm": "batch"}, "norm was 'batch'; choose one of layer, rms"),
        ({"activation": "swish"}, "activation was 'swish'; choose one of relu, gelu"),
        ({"rotary_pairing": "x"}, "rotary_pairing was 'x'; choose one of half, inter"),
    ],
)
def test_what_makes_no_model_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        DecoderConfig(**{**SIZES, **changes})


def test_the_smallest_values_that_make_a_model_are_taken():
    ones = {name: 1 for name in SIZES}
    smallest = DecoderConfig(**ones, d_ff=1, max_length=1, window=1, max_distance=1)
    assert (smallest.d_head, smallest.window) == (1, 1)
    assert DecoderConfig(**SIZES, dropout=0.99).dropout == 0.99


# -- presets ------------------------------------------------------------------------

PRESETS = [
    DecoderConfig.original,
    DecoderConfig.gpt2_small,
    DecoderConfig.smollm2_135m,
    DecoderConfig.whisper_tiny,
]


def test_the_original_is_the_base_model_of_the_paper():
    """Vaswani et al. (2017), table 3, sections 3.1, 3.4 and 5.4."""
    config = DecoderConfig.original()
    assert (config.vocab_size, config.d_model, config.max_length) == (37000, 512, 512)
    assert (config.n_layers, config.n_heads, config.d_ff) == (6, 8, 2048)
    assert (config.positions, config.norm) == ("sinusoidal", "layer")
    assert not config.pre_norm
    assert (config.activation, config.gated, config.dropout) == ("relu", False, 0.1)
    assert config.cross_attention
    assert config.embed_scale
    assert config.tie_weights
    assert config.bias


def test_smollm2_is_llama_like():
    config = DecoderConfig.smollm2_135m()
    assert (config.vocab_size, config.d_model, config.n_layers) == (49152, 576, 30)
    assert (config.n_heads, config.n_kv_heads, config.d_ff) == (9, 3, 1536)
    assert (config.positions, config.rotary_base) == ("rotary", 100000.0)
    assert (config.rotary_pairing, config.max_length) == ("half", 8192)
    assert (config.norm, config.eps, config.pre_norm) == ("rms", 1e-5, True)
    assert (config.activation, config.gated, config.bias) == ("silu", True, False)
    assert config.tie_weights
    switched_off = (config.cross_attention, config.embed_scale, config.dropout)
    assert switched_off == (False, False, 0.0)


@pytest.mark.compare
def test_gpt2_small_is_transformers_default():
    transformers = pytest.importorskip(
        "transformers", reason="needs the extra `compare`"
    )
    ours, theirs = DecoderConfig.gpt2_small(), transformers.GPT2Config()
    assert (ours.vocab_size, ours.d_model) == (theirs.vocab_size, theirs.n_embd)
    assert (ours.n_layers, ours.n_heads) == (theirs.n_layer, theirs.n_head)
    assert (ours.d_ff, ours.max_length) == (4 * theirs.n_embd, theirs.n_positions)
    assert (ours.eps, ours.dropout) == (theirs.layer_norm_epsilon, theirs.resid_pdrop)
    assert (ours.activation, theirs.activation_function) == ("gelu_tanh", "gelu_new")
    assert (ours.positions, ours.pre_norm, ours.bias) == ("learned", True, True)
    assert ours.tie_weights
    assert not ours.cross_attention


@pytest.mark.compare
def test_whisper_tiny_is_transformers_default_with_the_english_vocabulary():
    transformers = pytest.importorskip(
        "transformers", reason="needs the extra `compare`"
    )
    ours, theirs = DecoderConfig.whisper_tiny(), transformers.WhisperConfig()
    assert (ours.vocab_size, ours.d_model) == (51864, theirs.d_model)
    assert ours.n_layers == theirs.decoder_layers
    assert ours.n_heads == theirs.decoder_attention_heads
    assert ours.d_ff == theirs.decoder_ffn_dim
    assert ours.max_length == theirs.max_target_positions
    assert ours.activation == theirs.activation_function
    assert (ours.positions, ours.pre_norm, ours.bias) == ("learned", True, True)
    assert ours.cross_attention
    assert ours.tie_weights


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_takes_changes_and_still_checks_them(preset):
    changed = preset(n_layers=7, dropout=0.25, window=5)
    assert (changed.n_layers, changed.dropout, changed.window) == (7, 0.25, 5)
    assert changed.positions == preset().positions
    with pytest.raises(ValueError, match="norm was 'batch'"):
        preset(norm="batch")


@pytest.mark.parametrize("preset", [PRESETS[0], PRESETS[1], PRESETS[3]])
def test_sizes_that_follow_from_others_follow_a_change(preset):
    small = preset(d_model=42, n_heads=7)
    assert (small.d_ff, small.n_kv_heads, small.d_head) == (168, 7, 6)
