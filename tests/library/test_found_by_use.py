"""Faults that were met by using the library from outside: each stays mended."""

import math

import pytest
import torch

from course_lib.attention import MultiHeadAttention, attention
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.encoder import Encoder, EncoderDecoder
from course_lib.generation import generate
from course_lib.kv_cache import AppendCache, PreallocatedCache
from course_lib.sampling import Sampler, min_p, repetition_penalty, top_p
from course_lib.softmax import cross_entropy
from course_lib.trace import Trace
from course_lib.training import inputs_and_targets, next_token_loss, perplexity, train


def decoder(**changes):
    sizes = dict(vocab_size=7, d_model=12, n_layers=2, n_heads=3, max_length=16)
    generator = torch.Generator().manual_seed(3)
    return Decoder(DecoderConfig(**{**sizes, **changes}), generator).eval()


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


# -- attention and memory ---------------------------------------------------------------


@pytest.mark.parametrize("n_keys", [1, 2, 5, 40])
@pytest.mark.parametrize("where", ["queries", "keys", "values"])
def test_visible_nan_is_never_turned_into_a_number(n_keys, where):
    given = {
        "queries": numbers(1, 1, 2, 4),
        "keys": numbers(1, 1, n_keys, 4),
        "values": numbers(1, 1, n_keys, 4, seed=1),
    }
    given[where][0, 0, 0, 1] = torch.nan
    fused, _ = attention(**given)
    explicit, _ = attention(**given, need_weights=True)
    assert torch.equal(fused.isnan().any(-1), explicit.isnan().any(-1))
    assert fused.isnan().any()


def test_causal_contains_nan_as_the_mask_does():
    q = numbers(1, 2, 5, 4)
    spoiled = q.clone()
    spoiled[0, 0, 3] = torch.nan
    outputs, _ = attention(q, spoiled, spoiled, causal=True)
    clean, _ = attention(q, q, q, causal=True)
    assert outputs[0, 0, 3:].isnan().all()
    torch.testing.assert_close(outputs[0, 0, :3], clean[0, 0, :3])
    torch.testing.assert_close(outputs[0, 1], clean[0, 1])


def test_nan_weights_are_seen_by_the_sampler():
    broken = decoder()
    broken.stack.blocks[0].self_attention.to_queries.weight.data.fill_(torch.nan)
    with pytest.raises(ValueError, match="logits hold NaN"):
        generate(broken, [1, 2], 3)


def test_a_mask_or_bias_with_only_a_key_axis_works_on_both_paths():
    q, k = numbers(1, 2, 5, 4), numbers(1, 2, 3, 4, seed=1)
    mask, bias = torch.tensor([True, False, True]), torch.tensor([0.5, 1.0, -2.0])
    fused, _ = attention(q, k, k, mask, bias)
    explicit, _ = attention(q, k, k, mask, bias, need_weights=True)
    torch.testing.assert_close(fused, explicit)


def test_an_attention_refuses_another_memory_than_its_cache_has():
    heads, cache = MultiHeadAttention(6, 3), AppendCache(2, 1, 3, 2, 9)
    x, memory = numbers(2, 1, 6), numbers(2, 5, 6, seed=1)
    first, _ = heads(x, memory=memory, cache=cache)
    again, _ = heads(x, memory=memory.clone(), cache=cache)
    torch.testing.assert_close(again, first)
    with pytest.raises(ValueError, match="keys and values of another memory"):
        heads(x, memory=memory + 1, cache=cache)


def test_a_memory_buffer_that_was_filled_anew_is_another_memory():
    model = decoder(cross_attention=True)
    memory, cache = numbers(1, 5, 12), model.new_cache()
    model(torch.tensor([[1, 2]]), memory, cache=cache)
    memory.copy_(numbers(1, 5, 12, seed=1))
    with pytest.raises(ValueError, match="already reads another memory"):
        model(torch.tensor([[3]]), memory, cache=cache)


def test_a_cache_is_refused_where_the_future_is_read():
    model = decoder(causal=False)
    with pytest.raises(ValueError, match="config.causal is False"):
        model.new_cache()
    with pytest.raises(ValueError, match="use cache=False"):
        generate(model, [1, 2], 3)
    with pytest.raises(ValueError, match=r"reads the future \(causal=False\)"):
        model(torch.tensor([[1]]), cache=decoder().new_cache())
    assert len(generate(model, [1, 2], 3, cache=False)) == 3


def test_a_cache_of_another_dtype_is_refused_before_anything_changes():
    model = decoder(cross_attention=True)
    cache = model.double().new_cache()
    model.float()
    with pytest.raises(ValueError, match="the cache holds torch.float64"):
        model(torch.tensor([[1]]), numbers(1, 5, 12), cache=cache)
    assert cache.memory is None


@pytest.mark.parametrize("kind", [AppendCache, PreallocatedCache])
def test_crop_takes_whole_numbers_only(kind):
    cache = kind(1, 1, 3, 2, 9)
    cache.extend(0, *torch.zeros(2, 1, 3, 4, 2))
    with pytest.raises(ValueError, match="crop was given 1.5"):
        cache.crop(1.5)
    assert cache.lengths.tolist() == [4]


# -- losses and training ------------------------------------------------------------------


def test_narrow_ids_keep_their_padding_and_their_values():
    tokens = torch.tensor([[1, 5, 2, 2]], dtype=torch.uint8)
    assert inputs_and_targets(tokens, [3])[1].tolist() == [[5, 2, -100]]
    logits = numbers(1, 256)
    target = torch.tensor([156], dtype=torch.uint8)
    expected = torch.nn.functional.cross_entropy(logits, torch.tensor([156]))
    torch.testing.assert_close(cross_entropy(logits, target), expected)
    torch.testing.assert_close(next_token_loss(logits, target), expected)


@pytest.mark.parametrize(
    "targets", [torch.tensor([[1.9, 2.2]]), torch.tensor([[True, False]])]
)
def test_targets_must_be_ids(targets):
    with pytest.raises(ValueError, match="it needs floats and ids"):
        next_token_loss(numbers(1, 2, 5), targets)


def test_perplexity_may_be_infinite():
    logits = torch.tensor([[[0.0, 1000.0]]])
    assert (
        perplexity(lambda _: logits, [(torch.tensor([[0]]), torch.tensor([[0]]))])
        == math.inf
    )


def test_every_part_gets_its_mode_back():
    model = decoder().train()
    model.stack.blocks[1].eval()
    batch = inputs_and_targets(torch.tensor([[1, 2, 3]]))
    perplexity(model, [batch])
    train(model, [batch], 1)
    assert model.training
    assert not model.stack.blocks[1].training
    model.eval()
    model.stack.blocks[0].train()
    generate(model, [1, 2], 2)
    assert (model.training, model.stack.blocks[0].training) == (False, True)


class Rooted(torch.nn.Module):
    """A finite loss whose gradient is not: the root has no slope at 0."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(5))

    def forward(self, tokens):
        return self.weight.abs().sqrt().expand(*tokens.shape, 5)


def test_a_gradient_that_is_not_finite_stops_before_the_weights_are_touched():
    model = Rooted()
    batch = inputs_and_targets(torch.tensor([[1, 2, 3]]))
    for clip_norm in (None, 1.0):
        with pytest.raises(RuntimeError, match="the gradient at step 0 was not finite"):
            train(model, [batch], 2, clip_norm=clip_norm)
    assert model.weight.isfinite().all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(learning_rate=math.nan), "learning_rate was nan"),
        (dict(learning_rate=-0.05), "learning_rate was -0.05"),
        (dict(weight_decay=-1.0), "weight_decay was -1.0"),
        (dict(clip_norm=-1.0), "clip_norm was -1.0"),
        (dict(clip_norm=math.nan), "clip_norm was nan"),
        (dict(checkpoint="no such folder/run.pt"), "a folder that does not exist"),
        (dict(batches=[]), "no batches"),
    ],
)
def test_settings_of_a_run_are_checked_first(settings, message):
    batch = inputs_and_targets(torch.tensor([[1, 2, 3]]))
    with pytest.raises(ValueError, match=message):
        train(decoder(), **{"batches": [batch], "n_steps": 1, **settings})


@pytest.mark.parametrize("junk", [b"", b"junk", b"PK\x03\x04 and so on"])
def test_a_damaged_checkpoint_is_named(tmp_path, junk):
    path = tmp_path / "run.pt"
    path.write_bytes(junk)
    batch = inputs_and_targets(torch.tensor([[1, 2, 3]]))
    with pytest.raises(ValueError, match="cannot be read as a checkpoint of train"):
        train(decoder(), [batch], 1, checkpoint=path)


def test_a_refused_checkpoint_leaves_the_model_alone(tmp_path):
    path = tmp_path / "run.pt"
    batch = inputs_and_targets(torch.tensor([[1, 2, 3]]))
    train(decoder(n_layers=3), [batch], 1, checkpoint=path)
    model = decoder()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with pytest.raises(ValueError, match="is of another model: it differs in stack"):
        train(model, [batch], 1, checkpoint=path)
    assert all(torch.equal(t, before[name]) for name, t in model.state_dict().items())


# -- sampling and generation ----------------------------------------------------------------


@pytest.mark.parametrize("keep", [top_p, min_p])
def test_infinite_logits_are_named(keep):
    with pytest.raises(ValueError, match=r"logits hold \+inf"):
        keep(torch.tensor([math.inf, 1.0]), 0.5)


@pytest.mark.parametrize("history", [[1, 2, 3], [[1.9], [1], [2]], [[True], [1], [2]]])
def test_a_history_is_a_list_of_ids_for_each_row(history):
    with pytest.raises(ValueError, match="a flat list of whole numbers"):
        repetition_penalty(torch.ones(3, 5), history, 2.0)


@pytest.mark.parametrize("seed", [1.5, "abc", [1, 2.5]])
def test_a_seed_is_checked_when_the_sampler_is_made(seed):
    with pytest.raises(ValueError, match="seed was"):
        Sampler(seed=seed)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(cache="paged"), "cache was 'paged'"),
        (dict(eos_id=7), "eos_id was 7; this vocabulary has ids 0 to 6"),
        (dict(prompt_ids="ab"), "a prompt was 'ab'"),
        (dict(prompt_ids=None), "a prompt was None"),
    ],
)
def test_what_generate_cannot_use_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        generate(decoder(), **{"prompt_ids": [1, 2], "max_new_tokens": 2, **arguments})


def test_tokens_in_a_list_and_an_unknown_side_are_named():
    with pytest.raises(ValueError, match="tokens are a list; pass a tensor"):
        decoder()([[1, 2]])
    with pytest.raises(ValueError, match="side was 'middle'"):
        decoder()(torch.tensor([[1, 2]]), side="middle")


def test_a_trace_takes_both_halves_of_a_translator():
    config = DecoderConfig(7, 12, 2, 3, cross_attention=True)
    model = EncoderDecoder(Encoder(config), Decoder(config))
    memory = model.encoder(torch.tensor([[1, 2, 3]]))
    trace = Trace.record(model, [1], memory.detach(), max_new_tokens=2)
    assert trace.tokens[1:] == generate(model, [1], 2, memory=memory.detach())


def test_writing_keeps_no_graph_alive():
    """kv-graph-retained."""
    model = decoder()
    cache = model.new_cache(kind="append")
    generate(model, [1, 2], 3, cache=cache)
    assert not any(tensor.requires_grad for pair in cache._kept for tensor in pair)


def test_reported_losses_hold_no_graph():
    """loss-accumulates-graph."""
    batch = inputs_and_targets(torch.tensor([[1, 2, 3]]))
    assert all(type(loss) is float for loss in train(decoder(), [batch, batch], 2))
    assert type(perplexity(decoder(), [batch])) is float
