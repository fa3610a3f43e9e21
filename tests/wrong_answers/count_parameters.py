"""Wrong answers to count_parameters, each with its mistake."""

from torch import nn

from course_lib.decoder import Decoder
from tests.answers import wrong


@wrong("tied-table-counted-twice")
def head_always_counted(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    total += config.vocab_size * d
    return total


@wrong("tied-table-counted-twice")
def counted_in_the_state_dict(config):
    return sum(tensor.numel() for tensor in Decoder(config).state_dict().values())


@wrong("head-never-counted")
def always_tied(config):
    d_model, d_ff, vocab = config.d_model, config.d_ff, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_kv_heads
    weights = 2 * d_model * d_model + 2 * d_model * kv_width
    biases = 2 * d_model + 2 * kv_width
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.norm == "layer" and config.bias:
        norm += d_model
    n_ff = 3 if config.gated else 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * (heads + norm) + feed + norm
    embeddings = vocab * d_model
    if config.positions == "learned":
        embeddings += config.max_length * d_model
    last = norm if config.pre_norm else 0
    return embeddings + config.n_layers * layer + last


@wrong("head-has-bias")
def head_with_bias(config):
    d_model, d_ff, vocab = config.d_model, config.d_ff, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_kv_heads
    weights = 2 * d_model * d_model + 2 * d_model * kv_width
    biases = 2 * d_model + 2 * kv_width
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.norm == "layer" and config.bias:
        norm += d_model
    n_ff = 3 if config.gated else 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * (heads + norm) + feed + norm
    embeddings = vocab * d_model
    if config.positions == "learned":
        embeddings += config.max_length * d_model
    last = norm if config.pre_norm else 0
    out = 0 if config.tie_weights else vocab * (d_model + 1)
    return embeddings + config.n_layers * layer + last + out


@wrong("position-table-always-counted")
def table_for_every_scheme(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("position-table-always-counted")
def sinusoids_counted_as_learned(config):
    d_model, d_ff, vocab = config.d_model, config.d_ff, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_kv_heads
    weights = 2 * d_model * d_model + 2 * d_model * kv_width
    biases = 2 * d_model + 2 * kv_width
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.norm == "layer" and config.bias:
        norm += d_model
    n_ff = 3 if config.gated else 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * (heads + norm) + feed + norm
    embeddings = vocab * d_model
    if config.positions != "rotary":
        embeddings += config.max_length * d_model
    last = norm if config.pre_norm else 0
    out = 0 if config.tie_weights else vocab * d_model
    return embeddings + config.n_layers * layer + last + out


@wrong("position-table-not-counted")
def no_position_table(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("biases-not-counted")
def matrices_only(config):
    d = config.d_model
    d_kv = config.d_head * config.n_kv_heads
    norm = d * 2 if config.norm == "layer" and config.bias else d
    attention = 2 * d * d + 2 * d_kv * d
    feed = config.d_ff * d * (2 if config.gated else 1) + d * config.d_ff
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("biases-always-counted")
def bias_setting_unread(config):
    d, b = config.d_model, 1
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("norm-bias-always-counted")
def layer_norm_keeps_its_bias(config):
    d_model, d_ff, vocab = config.d_model, config.d_ff, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_kv_heads
    weights = 2 * d_model * d_model + 2 * d_model * kv_width
    biases = 2 * d_model + 2 * kv_width
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.norm == "layer":
        norm += d_model
    n_ff = 3 if config.gated else 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * (heads + norm) + feed + norm
    embeddings = vocab * d_model
    if config.positions == "learned":
        embeddings += config.max_length * d_model
    last = norm if config.pre_norm else 0
    out = 0 if config.tie_weights else vocab * d_model
    return embeddings + config.n_layers * layer + last + out


@wrong("rms-norm-has-bias")
def norm_kind_unread(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b)
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("rms-norm-has-bias")
def two_vectors_per_norm(config):
    d_model, d_ff, vocab = config.d_model, config.d_ff, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_kv_heads
    weights = 2 * d_model * d_model + 2 * d_model * kv_width
    biases = 2 * d_model + 2 * kv_width
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.bias:
        norm += d_model
    n_ff = 3 if config.gated else 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * (heads + norm) + feed + norm
    embeddings = vocab * d_model
    if config.positions == "learned":
        embeddings += config.max_length * d_model
    last = norm if config.pre_norm else 0
    out = 0 if config.tie_weights else vocab * d_model
    return embeddings + config.n_layers * layer + last + out


@wrong("kv-heads-not-counted")
def keys_as_wide_as_queries(config):
    d, b = config.d_model, int(config.bias)
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 4 * d * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("kv-heads-not-counted")
def kv_width_from_n_heads(config):
    d_model, d_ff, vocab = config.d_model, config.d_ff, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_heads
    weights = 2 * d_model * d_model + 2 * d_model * kv_width
    biases = 2 * d_model + 2 * kv_width
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.norm == "layer" and config.bias:
        norm += d_model
    n_ff = 3 if config.gated else 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * (heads + norm) + feed + norm
    embeddings = vocab * d_model
    if config.positions == "learned":
        embeddings += config.max_length * d_model
    last = norm if config.pre_norm else 0
    out = 0 if config.tie_weights else vocab * d_model
    return embeddings + config.n_layers * layer + last + out


@wrong("kv-width-is-one-head")
def one_head_of_keys(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("no-output-projection")
def three_projections(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("no-output-projection")
def queries_keys_values(config):
    d_model, d_ff, vocab = config.d_model, config.d_ff, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_kv_heads
    weights = d_model * d_model + 2 * d_model * kv_width
    biases = d_model + 2 * kv_width
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.norm == "layer" and config.bias:
        norm += d_model
    n_ff = 3 if config.gated else 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * (heads + norm) + feed + norm
    embeddings = vocab * d_model
    if config.positions == "learned":
        embeddings += config.max_length * d_model
    last = norm if config.pre_norm else 0
    out = 0 if config.tie_weights else vocab * d_model
    return embeddings + config.n_layers * layer + last + out


@wrong("gate-not-counted")
def two_matrices_always(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("gate-not-counted")
def gate_setting_unread(config):
    d_model, d_ff, vocab = config.d_model, config.d_ff, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_kv_heads
    weights = 2 * d_model * d_model + 2 * d_model * kv_width
    biases = 2 * d_model + 2 * kv_width
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.norm == "layer" and config.bias:
        norm += d_model
    n_ff = 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * (heads + norm) + feed + norm
    embeddings = vocab * d_model
    if config.positions == "learned":
        embeddings += config.max_length * d_model
    last = norm if config.pre_norm else 0
    out = 0 if config.tie_weights else vocab * d_model
    return embeddings + config.n_layers * layer + last + out


@wrong("feed-forward-width-hard-coded")
def four_times_the_width(config):
    d_model, d_ff, vocab = config.d_model, 4 * config.d_model, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_kv_heads
    weights = 2 * d_model * d_model + 2 * d_model * kv_width
    biases = 2 * d_model + 2 * kv_width
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.norm == "layer" and config.bias:
        norm += d_model
    n_ff = 3 if config.gated else 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * (heads + norm) + feed + norm
    embeddings = vocab * d_model
    if config.positions == "learned":
        embeddings += config.max_length * d_model
    last = norm if config.pre_norm else 0
    out = 0 if config.tie_weights else vocab * d_model
    return embeddings + config.n_layers * layer + last + out


@wrong("cross-attention-not-counted")
def no_memory(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("cross-norm-not-counted")
def cross_without_norm(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("cross-norm-not-counted")
def two_norms_in_any_block(config):
    d_model, d_ff, vocab = config.d_model, config.d_ff, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_kv_heads
    weights = 2 * d_model * d_model + 2 * d_model * kv_width
    biases = 2 * d_model + 2 * kv_width
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.norm == "layer" and config.bias:
        norm += d_model
    n_ff = 3 if config.gated else 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * heads + feed + 2 * norm
    embeddings = vocab * d_model
    if config.positions == "learned":
        embeddings += config.max_length * d_model
    last = norm if config.pre_norm else 0
    out = 0 if config.tie_weights else vocab * d_model
    return embeddings + config.n_layers * layer + last + out


@wrong("prenorm-no-final-norm")
def no_last_norm(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("prenorm-no-final-norm")
def norms_only_in_layers(config):
    d_model, d_ff, vocab = config.d_model, config.d_ff, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_kv_heads
    weights = 2 * d_model * d_model + 2 * d_model * kv_width
    biases = 2 * d_model + 2 * kv_width
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.norm == "layer" and config.bias:
        norm += d_model
    n_ff = 3 if config.gated else 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * (heads + norm) + feed + norm
    embeddings = vocab * d_model
    if config.positions == "learned":
        embeddings += config.max_length * d_model
    out = 0 if config.tie_weights else vocab * d_model
    return embeddings + config.n_layers * layer + out


@wrong("final-norm-always-counted")
def last_norm_in_post_norm(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("final-norm-always-counted")
def norm_setting_unread(config):
    d_model, d_ff, vocab = config.d_model, config.d_ff, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_kv_heads
    weights = 2 * d_model * d_model + 2 * d_model * kv_width
    biases = 2 * d_model + 2 * kv_width
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.norm == "layer" and config.bias:
        norm += d_model
    n_ff = 3 if config.gated else 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * (heads + norm) + feed + norm
    embeddings = vocab * d_model
    if config.positions == "learned":
        embeddings += config.max_length * d_model
    last = norm
    out = 0 if config.tie_weights else vocab * d_model
    return embeddings + config.n_layers * layer + last + out


@wrong("one-norm-per-block")
def one_norm(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("one-layer-repeated")
def one_block(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("one-layer-repeated")
def same_block_many_times(config):
    decoder = Decoder(config)
    blocks = nn.ModuleList([decoder.stack.blocks[0]] * config.n_layers)
    total = sum(p.numel() for p in blocks.parameters())
    for part in (decoder.embedding, decoder.stack.final_norm):
        if part is not None:
            total += sum(p.numel() for p in part.parameters())
    return total + (0 if config.tie_weights else decoder.head.weight.numel())


@wrong("layers-in-python-list")
def blocks_in_a_list(config):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            decoder = Decoder(config)
            self.embedding, self.head = decoder.embedding, decoder.head
            self.final_norm = decoder.stack.final_norm
            self.blocks = list(decoder.stack.blocks)

    return sum(p.numel() for p in Model().parameters())


@wrong("bias-once-per-attention")
def one_bias_for_the_heads(config):
    d_model, d_ff, vocab = config.d_model, config.d_ff, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_kv_heads
    weights = 2 * d_model * d_model + 2 * d_model * kv_width
    biases = d_model
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.norm == "layer" and config.bias:
        norm += d_model
    n_ff = 3 if config.gated else 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * (heads + norm) + feed + norm
    embeddings = vocab * d_model
    if config.positions == "learned":
        embeddings += config.max_length * d_model
    last = norm if config.pre_norm else 0
    out = 0 if config.tie_weights else vocab * d_model
    return embeddings + config.n_layers * layer + last + out


@wrong("bytes-instead-of-numbers")
def bytes_of_float32(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b) if config.norm == "layer" else d
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    if config.pre_norm:
        total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return 4 * total


@wrong("rms-norm-has-bias", "final-norm-always-counted")
def norms_miscounted(config):
    d, b = config.d_model, int(config.bias)
    d_kv = config.d_head * config.n_kv_heads
    norm = d * (1 + b)
    attention = 2 * d * (d + b) + 2 * d_kv * (d + b)
    feed = config.d_ff * (d + b) * (2 if config.gated else 1) + d * (config.d_ff + b)
    block = attention + feed + 2 * norm
    if config.cross_attention:
        block += attention + norm
    total = config.vocab_size * d + config.n_layers * block
    if config.positions == "learned":
        total += config.max_length * d
    total += norm
    if not config.tie_weights:
        total += config.vocab_size * d
    return total


@wrong("kv-heads-not-counted", "tied-table-counted-twice")
def as_for_the_first_transformer(config):
    d_model, d_ff, vocab = config.d_model, config.d_ff, config.vocab_size
    kv_width = d_model // config.n_heads * config.n_heads
    weights = 2 * d_model * d_model + 2 * d_model * kv_width
    biases = 2 * d_model + 2 * kv_width
    heads = weights + biases if config.bias else weights
    norm = d_model
    if config.norm == "layer" and config.bias:
        norm += d_model
    n_ff = 3 if config.gated else 2
    feed = n_ff * d_model * d_ff
    if config.bias:
        feed += (n_ff - 1) * d_ff + d_model
    n_heads = 2 if config.cross_attention else 1
    layer = n_heads * (heads + norm) + feed + norm
    embeddings = vocab * d_model
    if config.positions == "learned":
        embeddings += config.max_length * d_model
    last = norm if config.pre_norm else 0
    out = vocab * d_model
    return embeddings + config.n_layers * layer + last + out
