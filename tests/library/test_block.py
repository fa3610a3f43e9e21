"""A block equals torch's layers; its sublayers only add to the residual stream."""

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from course_lib.block import Block, Stack, make_norm
from course_lib.config import DecoderConfig
from course_lib.feed_forward import FeedForward, GatedFeedForward, activation
from course_lib.masks import causal_mask, padding_mask
from course_lib.norms import LayerNorm, RMSNorm
from course_lib.positions import angles
from tests.library.families import copy_torch_block, randomise
from tests.library.parity import assert_same_modules, gradients_of, normal

X, MEMORY = normal(2, 5, 24), normal(2, 7, 24, seed=1)
both_orders = pytest.mark.parametrize("pre_norm", [True, False])


def config(**changes):
    sizes = dict(vocab_size=53, d_model=24, n_layers=2, n_heads=3, d_ff=11)
    return DecoderConfig(**{**sizes, "positions": "none", **changes})


def block(seed=1, **changes):
    return randomise(Block(config(**changes)), seed)


def pairs_of(ours, theirs):
    """Pair the norms, the feed-forward network and what attention writes."""
    norms = [ours.self_norm, ours.cross_norm, ours.feed_norm]
    their_norms = [theirs.norm1, theirs.norm2, getattr(theirs, "norm3", None)]
    attentions = [(ours.self_attention, theirs.self_attn)]
    if ours.cross_attention is None:
        del norms[1]
    else:
        attentions.append((ours.cross_attention, theirs.multihead_attn))
    pairs = [(ours.feed_forward.to_hidden.weight, theirs.linear1.weight)]
    pairs += [(ours.feed_forward.to_output.bias, theirs.linear2.bias)]
    pairs += [(a.to_output.weight, b.out_proj.weight) for a, b in attentions]
    for norm, theirs_norm in zip(norms, their_norms, strict=False):
        pairs += [(norm.gain, theirs_norm.weight), (norm.bias, theirs_norm.bias)]
    return pairs


def torch_layer(kind, pre_norm, **options):
    layer = kind(
        24, 3, 11, dropout=0.0, batch_first=True, norm_first=pre_norm, **options
    )
    return randomise(layer, seed=2).train()  # train: the plain path


# -- parity -------------------------------------------------------------------------


@both_orders
@pytest.mark.parametrize("activation", ["relu", "gelu"])
def test_a_block_with_cross_attention_equals_torchs_decoder_layer(pre_norm, activation):
    theirs = torch_layer(nn.TransformerDecoderLayer, pre_norm, activation=activation)
    ours = block(pre_norm=pre_norm, activation=activation, cross_attention=True)
    copy_torch_block(ours, theirs)
    allowed = padding_mask([7, 4], 7)
    assert_same_modules(
        lambda x, m: ours(x, m, causal_mask(5), allowed),
        lambda x, m: theirs(
            x, m, ~causal_mask(5), memory_key_padding_mask=~allowed[:, 0, 0]
        ),
        pairs_of(ours, theirs),
        *(X, MEMORY),
    )


@both_orders
def test_a_block_without_cross_attention_equals_torchs_encoder_layer(pre_norm):
    theirs = torch_layer(nn.TransformerEncoderLayer, pre_norm)
    ours = block(pre_norm=pre_norm, activation="relu")
    copy_torch_block(ours, theirs)
    hidden = ~causal_mask(5)
    pairs = pairs_of(ours, theirs)
    assert_same_modules(ours, theirs, pairs, X)
    assert_same_modules(
        lambda x: ours(x, causal=True), lambda x: theirs(x, hidden), pairs, X
    )


# -- residual and norm --------------------------------------------------------------


def silence(module):
    """Let every sublayer write 0."""
    for name, parameter in module.named_parameters():
        if "to_output" in name:
            parameter.data.zero_()
    return module


def test_with_silent_sublayers_a_pre_norm_block_is_the_identity():
    """prenorm-residual-from-normed."""
    silent = silence(block(cross_attention=True))
    torch.testing.assert_close(silent(X, MEMORY), X, rtol=0, atol=0)


def test_with_silent_sublayers_a_post_norm_block_norms_three_times():
    silent = silence(block(cross_attention=True, pre_norm=False))
    expected = X
    for norm in (silent.self_norm, silent.cross_norm, silent.feed_norm):
        expected = norm(expected)
    torch.testing.assert_close(silent(X, MEMORY), expected)


@both_orders
@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_every_parameter_of_a_block_learns(pre_norm, gated, norm):
    """wrong-norm-instance: a norm used twice leaves another without gradient."""
    ours = block(pre_norm=pre_norm, gated=gated, norm=norm, cross_attention=True)
    names = [name for name, _ in ours.named_parameters() if "keys.bias" not in name]
    gradients = gradients_of(ours(X, MEMORY), [ours.get_parameter(n) for n in names])
    for name, gradient in zip(names, gradients, strict=True):
        assert gradient.abs().max() > 1e-5, name


SUBLAYERS = {
    "self_norm": "self_attention",
    "cross_norm": "cross_attention",
    "feed_norm": "feed_forward",
}


@pytest.mark.parametrize("norm", SUBLAYERS)
def test_a_sublayer_reads_through_its_own_norm(norm):
    """wrong-norm-instance: silence one norm, and one sublayer reads zeros."""
    ours, inputs = block(cross_attention=True, bias=False), {}
    for name in SUBLAYERS.values():
        getattr(ours, name).register_forward_pre_hook(
            lambda _, given, name=name: inputs.update({name: given[0]})
        )
    getattr(ours, norm).gain.data.zero_()
    ours(X, MEMORY)
    silent = [name for name, x in inputs.items() if not x.any()]
    assert silent == [SUBLAYERS[norm]]


def test_the_residual_given_is_not_changed():
    residual = X.clone()
    block()(residual, causal=True)
    assert torch.equal(residual, X)


@pytest.mark.parametrize(
    ("changes", "kind"), [({"norm": "layer"}, LayerNorm), ({"norm": "rms"}, RMSNorm)]
)
def test_a_config_names_the_norm_and_its_eps(changes, kind):
    norm = make_norm(config(eps=0.5, **changes))
    assert isinstance(norm, kind)
    expected = kind(24, eps=0.5)(X)
    torch.testing.assert_close(norm(X), expected)
    assert make_norm(config(bias=False)).bias is None


def test_an_unknown_norm_is_refused():
    with pytest.raises(ValueError, match="norm was 'batch'; choose 'layer' or 'rms'"):
        make_norm(SimpleNamespace(norm="batch"))


def test_a_config_chooses_the_parts_of_a_block():
    plain = block(activation="silu")
    assert isinstance(plain.feed_forward, FeedForward)
    assert plain.feed_forward.activation is activation("silu")
    gated = block(gated=True, activation="gelu", bias=False, n_kv_heads=1)
    assert isinstance(gated.feed_forward, GatedFeedForward)
    assert gated.feed_forward.activation is activation("gelu")
    assert gated.self_attention.n_kv_heads == 1
    assert not [name for name in gated.state_dict() if "bias" in name]
    assert not [name for name in gated.state_dict() if "cross" in name]
    crossing = block(cross_attention=True, n_kv_heads=1)
    assert crossing.cross_attention.to_keys.weight.shape == (8, 24)


@pytest.mark.parametrize("gated", [True, False])
def test_a_config_gives_all_layers_of_a_block_a_bias_or_none(gated):
    for bias in (True, False):
        ours = block(gated=gated, bias=bias, cross_attention=True)
        biases = [name for name in ours.state_dict() if name.endswith("bias")]
        assert len(biases) == bias * (4 + 4 + 2 + gated + 3)


# -- cross-attention ----------------------------------------------------------------


def test_the_first_token_reads_the_last_place_of_the_source():
    """causal-mask-in-cross-attn, cross-attn-ignores-memory."""
    memory = MEMORY.clone().requires_grad_()
    outputs = block(cross_attention=True)(X, memory, causal=True)
    (gradient,) = gradients_of(outputs[:, 0], [memory])
    assert (gradient.abs().amax(-1) > 1e-6).all()


def test_each_mask_hides_from_its_own_sublayer():
    memory = MEMORY.clone().requires_grad_()
    x = X.clone().requires_grad_()
    outputs = block(cross_attention=True)(
        x, memory, causal_mask(5), padding_mask([7, 4], 7)
    )
    to_x, to_memory = gradients_of(outputs[:, 2], [x, memory])
    assert (to_x != 0).any(-1).tolist() == [[True, True, True, False, False]] * 2
    assert (to_memory != 0).any(-1).tolist() == [[True] * 7, [True] * 4 + [False] * 3]


def test_positions_act_on_self_attention_only():
    ours = block(cross_attention=True, positions="rotary")
    assert ours.self_attention.scheme is not None
    assert ours.cross_attention.scheme is None
    first, later = (ours(X, MEMORY, positions=torch.arange(5) + n) for n in (0, 9))
    torch.testing.assert_close(later, first)
    stretched = ours(X, MEMORY, positions=torch.arange(5) * 3)
    assert (stretched - first).abs().max() > 1e-4


def test_recorded_weights_are_those_of_the_pass():
    ours, record = randomise(Block(config(cross_attention=True), layer=7), 1), {}
    recorded = ours(X, MEMORY, causal=True, record=record)
    torch.testing.assert_close(recorded, ours(X, MEMORY, causal=True))
    normed = ours.self_norm(X)
    read, own = ours.self_attention(normed, causal=True, need_weights=True)
    torch.testing.assert_close(record["self", 7], own)
    crossing = ours.cross_norm(X + read)
    _, across = ours.cross_attention(crossing, MEMORY, need_weights=True)
    torch.testing.assert_close(record["cross", 7], across)


# -- dropout ------------------------------------------------------------------------


@both_orders
def test_dropout_acts_in_training_only(pre_norm):
    """sdpa-dropout-at-eval."""
    ours = block(pre_norm=pre_norm, dropout=0.5, cross_attention=True)
    without = block(pre_norm=pre_norm, cross_attention=True)
    torch.testing.assert_close(ours.eval()(X, MEMORY), without(X, MEMORY))
    assert not torch.equal(ours.train()(X, MEMORY), ours(X, MEMORY))
    torch.testing.assert_close(without.train()(X, MEMORY), ours.eval()(X, MEMORY))


def test_dropout_drops_what_a_sublayer_adds_and_never_the_stream():
    """The feed-forward network adds 3 everywhere: 0 or 3 / (1 - p) must arrive."""
    torch.manual_seed(0)
    ours = silence(block(dropout=0.25)).train()
    ours.feed_forward.to_output.bias.data.fill_(3.0)
    x = normal(7, 50, 24)
    added = ours(x) - x
    dropped = added.abs() < 1e-4
    torch.testing.assert_close(added[~dropped], torch.full_like(added[~dropped], 4.0))
    assert 0.23 < dropped.float().mean() < 0.27


# -- the stack ----------------------------------------------------------------------


@both_orders
def test_a_stack_runs_its_blocks_in_order_and_norms_at_the_end(pre_norm):
    stack = randomise(Stack(config(n_layers=3, pre_norm=pre_norm)), seed=3)
    expected = X
    for one in stack.blocks:
        expected = one(expected, allowed=causal_mask(5))
    if pre_norm:
        expected = stack.final_norm(expected)
    torch.testing.assert_close(stack(X, causal=True), expected)
    assert (stack.final_norm is not None) == pre_norm


@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_what_leaves_a_pre_norm_stack_has_a_standard_size(norm):
    """prenorm-no-final-norm: it does not grow with the stream."""
    stack = silence(Stack(config(norm=norm)))
    for scale in (1.0, 100.0):
        size = stack(scale * X).square().mean(-1).sqrt()
        torch.testing.assert_close(size, torch.ones(2, 5), atol=1e-4, rtol=0)


def test_every_layer_has_its_own_weights():
    """one-layer-repeated, layers-in-python-list."""

    def parameters(n_layers):
        return list(Stack(config(n_layers=n_layers)).parameters())

    sizes = [sum(p.numel() for p in parameters(n)) for n in (1, 2, 7)]
    assert sizes[2] - sizes[1] == 5 * (sizes[1] - sizes[0])
    assert len({p.data_ptr() for p in parameters(7)}) == len(parameters(7))
    stack = Stack(config(n_layers=7))
    layers = {name.split(".")[1] for name in stack.state_dict() if "blocks" in name}
    assert layers == set("0123456")


def test_every_layer_knows_its_place():
    stack = Stack(config(n_layers=3, cross_attention=True))
    for layer, one in enumerate(stack.blocks):
        assert one.self_attention.layer == layer
        assert one.cross_attention.layer == layer


@pytest.mark.parametrize("positions", ["rotary", "alibi", "relative"])
@pytest.mark.parametrize("at", [torch.arange(5) + 3, torch.arange(10).reshape(2, 5)])
def test_a_stack_gives_every_block_the_positions(positions, at):
    stack = randomise(Stack(config(positions=positions)), seed=3)
    expected = stack.blocks[1](stack.blocks[0](X, positions=at), positions=at)
    torch.testing.assert_close(stack(X, at), stack.final_norm(expected))


def test_the_angles_of_a_pass_are_computed_once(monkeypatch):
    calls = []
    monkeypatch.setattr(
        "course_lib.positions.schemes.angles",
        lambda *given: calls.append(given) or angles(*given),
    )
    Stack(config(n_layers=7, positions="rotary"))(X, torch.arange(5))
    assert len(calls) == 1


@pytest.mark.parametrize("positions", ["rotary", "alibi", "relative"])
def test_a_stack_that_needs_positions_says_so(positions):
    with pytest.raises(ValueError, match="got no positions; pass some, for example"):
        Stack(config(positions=positions))(X)
