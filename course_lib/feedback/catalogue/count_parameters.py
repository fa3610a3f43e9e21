"""What goes wrong in count_parameters."""

import dataclasses
import functools

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.feedback.task import Draw, Probe, Task


def count_parameters(config: DecoderConfig) -> int:
    """Count the parameters of Decoder(config); a tied table counts once.

    Args:
        config: a DecoderConfig.

    Source: lesson 08, step 6.

    >>> config = DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3)
    >>> count_parameters(config)
    7242
    """
    decoder = Decoder(config, initialise=False)
    return sum(parameter.numel() for parameter in decoder.parameters())


task = Task(
    "count_parameters",
    asks="the exact number of parameters of Decoder(config), a tied table counted once.",
    lesson="08_decoder",
    reference=count_parameters,
    read="6. Count",
)

TIED = "Embedding and head: one table, or two?"
TIED_HEADING = "3. One table, two sizes"
PLACES = "Which kinds of positions are learned, and how large is their table?"
GROUPS = "How wide are keys and values when heads share them?"
BIAS = "Which layers have a bias, and does config.bias say so?"
NORMS = "How many norms has a block, how many the stack, and what does each learn?"
FEED = "How many matrices has the feed-forward network, and how wide are they?"
CROSS = "What does a block have in addition when it reads a source?"
LAYERS = "How many blocks does the stack have?"


@task.inputs
def probes(draw: Draw):
    v, n = draw.size(11, 20), draw.size(2, 5)
    plain = functools.partial(
        DecoderConfig, vocab_size=v, d_model=12, n_layers=n, n_heads=6, d_ff=7
    )
    bare = dict(positions="sinusoidal", norm="rms", bias=False)
    yield Probe("sinusoidal, no biases, RMSNorm", plain(**bare))
    yield Probe("biases", plain(**bare | {"bias": True}))
    yield Probe("layer norm, no biases", plain(**bare | {"norm": "layer"}))
    yield Probe("layer norm, biases", plain(positions="rotary"))
    yield Probe("learned positions", plain(max_length=draw.size(30, 50)))
    yield Probe("a head of its own", plain(**bare, tie_weights=False))
    yield Probe("two key heads", plain(**bare, n_kv_heads=2))
    yield Probe("gated", plain(**bare, gated=True))
    yield Probe("gated, biases", plain(gated=True))
    yield Probe("post-norm", plain(pre_norm=False))
    yield Probe("cross-attention", plain(**bare, cross_attention=True))
    both = dict(n_kv_heads=3, cross_attention=True, pre_norm=False, tie_weights=False)
    yield Probe("cross-attention, three key heads, post-norm, biases", plain(**both))


@task.property("grows-with-depth", LAYERS)
def at_least_one_layer(values) -> bool:
    return all(value == int(value) and value > 0 for value in values.values())


@task.property("biases-count", BIAS)
def biases_count(values) -> bool:
    return values["biases"] > values["sinusoidal, no biases, RMSNorm"]


@task.property("keys-are-shared", GROUPS)
def keys_are_shared(values) -> bool:
    return values["two key heads"] < values["sinusoidal, no biases, RMSNorm"]


def formula(c, changed=lambda term, number: number) -> int:
    """Add up the terms; `changed` may replace each by another number."""
    d, kv, bias = c.d_model, c.n_kv_heads * c.d_head, int(c.bias)
    attention = {
        "queries": d * d,
        "keys and values": 2 * d * kv,
        "output": d * d,
        "attention biases": bias * (2 * d + 2 * kv),
    }
    n_hidden = 2 if c.gated else 1
    norm = d * (1 + (c.norm == "layer") * bias)
    block = {
        **attention,
        "feed-forward": (n_hidden + 1) * d * c.d_ff,
        "feed-forward biases": bias * (n_hidden * c.d_ff + d),
        "norms": 2 * norm,
    }
    if c.cross_attention:
        block |= {f"cross {term}": number for term, number in attention.items()}
        block["cross norm"] = norm
    model = {
        "embedding": c.vocab_size * d,
        "positions": c.max_length * d if c.positions == "learned" else 0,
        "final norm": norm if c.pre_norm else 0,
        "head": 0 if c.tie_weights else c.vocab_size * d,
        "layers": c.n_layers,
    }
    model = {term: changed(term, number) for term, number in model.items()}
    layers = model.pop("layers")
    each = sum(changed(term, number) for term, number in block.items())
    return sum(model.values()) + layers * each


def without(*terms):
    """Leave terms out."""
    return lambda term, number: 0 if term in terms else number


def replaced(**numbers):
    """Put other numbers in place of terms; _ stands for a space."""
    numbers = {term.replace("_", " "): number for term, number in numbers.items()}
    return lambda term, number: numbers.get(term, number)


@task.mistake("tied-table-counted-twice", TIED, TIED_HEADING)
def always_a_head(config):
    return formula(config, replaced(head=config.vocab_size * config.d_model))


@task.mistake("head-forgotten", TIED, TIED_HEADING)
def never_a_head(config):
    return formula(config, without("head"))


@task.mistake("head-has-a-bias", "Does the head have a bias?")
def head_with_bias(config):
    return formula(config) + config.vocab_size


@task.mistake("head-has-a-bias", "Does the head have a bias?")
def head_with_bias_if_biases(config):
    return formula(config) + config.vocab_size * config.bias


@task.mistake("embedding-forgotten", "What does the model look ids up in?")
def no_embedding(config):
    return formula(config, without("embedding"))


@task.mistake("positions-forgotten", PLACES)
def no_positions(config):
    return formula(config, without("positions"))


@task.mistake("positions-always-counted", PLACES)
def all_positions_learned(config):
    return formula(config, replaced(positions=config.max_length * config.d_model))


@task.mistake("positions-always-counted", PLACES)
def sinusoids_learned(config):
    learned = config.positions in ("learned", "sinusoidal")
    return formula(
        config, replaced(positions=learned * config.max_length * config.d_model)
    )


@task.mistake("kv-heads-ignored", GROUPS)
def full_keys_and_values(config):
    d, bias = config.d_model, 4 * config.d_model * config.bias
    full = {"keys and values": 2 * d * d, "attention biases": bias}
    full |= {f"cross {term}": number for term, number in full.items()}
    return formula(config, lambda t, n: full.get(t, n) if n else n)


@task.mistake("kv-heads-ignored", GROUPS)
def full_keys_and_values_in_cross_attention(config):
    d, bias = config.d_model, 4 * config.d_model * config.bias
    full = {"cross keys and values": 2 * d * d, "cross attention biases": bias}
    return formula(config, lambda t, n: full.get(t, n) if n else n)


@task.mistake("kv-heads-ignored", GROUPS)
def full_biases(config):
    full = {"attention biases": 4 * config.d_model * config.bias}
    full["cross attention biases"] = full["attention biases"]
    return formula(config, lambda t, n: full.get(t, n) if n else n)


@task.mistake("one-kv-head-shared", GROUPS)
def one_kv_head(config):
    return formula(
        config,
        lambda t, n: n // config.n_kv_heads if t.endswith("keys and values") else n,
    )


@task.mistake("biases-forgotten", BIAS)
def no_biases(config):
    return formula(
        config,
        without("attention biases", "feed-forward biases", "cross attention biases"),
    )


@task.mistake("biases-forgotten", BIAS)
def no_attention_biases(config):
    return formula(config, without("attention biases", "cross attention biases"))


@task.mistake("biases-forgotten", BIAS)
def no_feed_forward_biases(config):
    return formula(config, without("feed-forward biases"))


@task.mistake("biases-forgotten", BIAS)
def no_biases_at_all(config):
    return formula(config_with(config, bias=False))


@task.mistake("biases-always-counted", BIAS)
def always_biases(config):
    return formula(config_with(config, bias=True))


@task.mistake("layer-norm-bias-forgotten", NORMS)
def gains_only(config):
    return formula(config_with(config, norm="rms"))


@task.mistake("norm-bias-always-counted", NORMS)
def all_norms_with_bias(config):
    return normed(config, 2 * config.d_model)


@task.mistake("norm-bias-always-counted", NORMS)
def layer_norms_always_with_bias(config):
    return normed(config, (2 if config.norm == "layer" else 1) * config.d_model)


@task.mistake("norm-bias-always-counted", NORMS)
def rms_norms_with_bias(config):
    return normed(config, (1 + config.bias) * config.d_model)


@task.mistake("norms-forgotten", NORMS)
def no_norms(config):
    return formula(config, without("norms", "final norm", "cross norm"))


@task.mistake("norms-forgotten", NORMS)
def one_norm_a_block(config):
    return formula(config, lambda t, n: n // 2 if t == "norms" else n)


@task.mistake("prenorm-no-final-norm", "Who normalises the last block's output?")
def no_final_norm(config):
    return formula(config, without("final norm"))


@task.mistake(
    "final-norm-in-post-norm", "Does a post-norm stack end with one norm more?"
)
def always_a_final_norm(config):
    norm = config.d_model * (1 + (config.norm == "layer") * config.bias)
    return formula(config, replaced(final_norm=norm))


@task.mistake("gate-forgotten", FEED)
def two_matrices(config):
    return formula(config_with(config, gated=False))


@task.mistake("gate-forgotten", FEED)
def gate_without_bias(config):
    extra = config.n_layers * config.d_ff * config.bias * config.gated
    return formula(config) - extra


@task.mistake("gate-always-counted", FEED)
def three_matrices(config):
    return formula(config_with(config, gated=True))


@task.mistake("d-ff-fixed", FEED)
def four_times_the_width(config):
    return formula(config_with(config, d_ff=4 * config.d_model))


@task.mistake("feed-forward-one-matrix", FEED)
def one_matrix(config):
    return formula(config, lambda t, n: n // 2 if t == "feed-forward" else n)


@task.mistake("no-output-projection", "Which layer lets the heads talk to each other?")
def no_output_projection(config):
    extra = (
        config.n_layers * config.d_model * config.bias * (1 + config.cross_attention)
    )
    return formula(config, without("output", "cross output")) - extra


@task.mistake("no-output-projection", "Which layer lets the heads talk to each other?")
def no_output_matrix(config):
    return formula(config, without("output", "cross output"))


@task.mistake("cross-attention-forgotten", CROSS)
def no_cross_attention(config):
    return formula(config_with(config, cross_attention=False))


@task.mistake("cross-attention-norm-forgotten", CROSS)
def no_cross_norm(config):
    return formula(config, without("cross norm"))


@task.mistake("one-layer-repeated", LAYERS)
def one_layer(config):
    return formula(config, replaced(layers=1))


@task.mistake("blocks-not-counted", "Do the parameters of the blocks reach your sum?")
def no_blocks(config):
    return formula(config, replaced(layers=0))


@task.mistake("one-bias-for-all-heads", "How many of the four projections have a bias?")
def one_bias(config):
    one = config.d_model * config.bias
    return formula(
        config, lambda t, n: one if t.endswith("attention biases") and n else n
    )


@task.mistake("bytes-not-numbers", "Do you count numbers, or the bytes they take?")
def bytes_of_float32(config):
    return 4 * formula(config)


@task.mistake("projections-per-head", "How wide is a head, and how wide are all?")
def projections_per_head(config):
    extra = config.n_layers * (config.n_heads - 1) * config.d_model**2
    return formula(config) + extra


def normed(config, norm):
    """Count with another number of parameters in each norm."""
    final = norm if config.pre_norm else 0
    return formula(config, replaced(norms=2 * norm, cross_norm=norm, final_norm=final))


def config_with(config, **changes):
    """Return the config with changes."""
    return dataclasses.replace(config, **changes)
