"""A trace holds the numbers of the model's own forward pass, nothing else."""

import math
from itertools import pairwise

import pytest
import torch

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.generation import beam_search, generate
from course_lib.sampling import Sampler
from course_lib.trace import Trace

SIZES = dict(vocab_size=13, d_model=15, n_layers=2, n_heads=3, max_length=32)


def decoder(**changes):
    return Decoder(
        DecoderConfig(**{**SIZES, **changes}),
        generator=torch.Generator().manual_seed(3),
    ).eval()


def test_weights_are_those_of_the_forward_pass():
    model, record = decoder(), {}
    model(torch.tensor([[1, 2, 3, 5, 7]]), record=record)
    trace = Trace.record(model, [1, 2, 3, 5, 7])
    expected = torch.cat([record["self", layer] for layer in range(2)])
    torch.testing.assert_close(
        trace.arrays["self_weights", 0], expected, rtol=0, atol=0
    )


def test_scores_softmaxed_over_the_allowed_keys_are_the_weights():
    trace = Trace.record(decoder(positions="alibi"), [1, 2, 3, 5, 7])
    for row in range(5):
        scores = trace.arrays["self_scores", 0][1, 2, row]
        allowed = trace.arrays["self_allowed", 0][row]
        assert allowed.tolist() == [key <= row for key in range(5)]
        exponentials = [
            math.exp(s) if a else 0.0 for s, a in zip(scores, allowed, strict=True)
        ]
        by_hand = [e / sum(exponentials) for e in exponentials]
        weights = trace.arrays["self_weights", 0][1, 2, row].tolist()
        assert weights == pytest.approx(by_hand, abs=1e-6)


def test_it_writes_what_generate_writes():
    model = decoder()
    trace = Trace.record(model, [1, 2, 3], max_new_tokens=6, sampler=Sampler(seed=5))
    assert trace.tokens[3:] == generate(model, [1, 2, 3], 6, sampler=Sampler(seed=5))
    assert [step["chosen"] for step in trace.steps] == trace.tokens[3:]


def test_a_step_notes_that_the_cache_changed_nothing_and_what_it_saved():
    trace = Trace.record(decoder(), [1, 2, 3, 5], max_new_tokens=3)
    last = trace.steps[-1]
    assert (last["start"], last["n_positions"]) == (5, 1)
    assert last["difference"] < 1e-5
    projections = (
        2 * (4 * 15 * 15 + 2 * 15 * 60) + 15 * 13
    )  # per position, head included
    pairs = 2 * 2 * 15  # score and mix, per query-key pair of both layers
    assert last["multiply_adds"]["cached"] == projections + pairs * 6
    assert last["multiply_adds"]["uncached"] == 6 * projections + pairs * 36
    assert set(last["milliseconds"]) == {"cached", "uncached"}


def test_cached_steps_keep_one_row_and_the_keys_of_what_was_fed():
    model = decoder()
    trace = Trace.record(model, [1, 2, 3, 5], max_new_tokens=2)
    whole = Trace.record(model, trace.tokens[:5])
    assert trace.arrays["self_weights", 1].shape == (2, 3, 1, 5)
    torch.testing.assert_close(
        trace.arrays["keys", 1][:, :, 0],
        whole.arrays["keys", 0][:, :, 4],
        atol=1e-6,
        rtol=1e-5,
    )


def test_mask_off_is_a_second_forward_pass_in_which_the_future_leaks():
    model = decoder()
    masked = Trace.record(model, [1, 2, 3])
    unmasked = Trace.record(model, [1, 2, 3], masked=False)
    assert (masked.arrays["self_weights", 0][0, :, 0, 1:] == 0).all()
    assert (unmasked.arrays["self_weights", 0][0, :, 0, 1:] > 0).all()
    # In layer 1 even the queries differ: the leak has gone through a whole block.
    assert not torch.equal(
        masked.arrays["queries", 0][1, :, 0], unmasked.arrays["queries", 0][1, :, 0]
    )
    assert model.config.causal


def test_cross_attention_is_recorded_over_the_memory():
    model = decoder(cross_attention=True)
    memory = torch.randn(1, 7, 15, generator=torch.Generator().manual_seed(2))
    trace = Trace.record(model, [1, 2], memory, max_new_tokens=2)
    assert trace.n_memory == 7
    assert trace.arrays["cross_weights", 1].shape == (2, 3, 1, 7)
    torch.testing.assert_close(
        trace.arrays["cross_weights", 1].sum(-1), torch.ones(2, 3, 1), atol=1e-6, rtol=0
    )


def test_a_training_trace_has_the_loss_of_every_position():
    model = decoder()
    trace = Trace.record(model, [1, 2, 3], targets=[2, 3, -100])
    logits = model(torch.tensor([[1, 2, 3]]))[0]
    by_hand = [
        -logits[t].log_softmax(-1)[target].item() for t, target in ((0, 2), (1, 3))
    ]
    assert trace.steps[0]["phase"] == "train"
    assert trace.arrays["losses", 0].tolist() == pytest.approx(
        [*by_hand, 0.0], abs=1e-5
    )


def test_targets_that_do_not_fit_are_refused():
    with pytest.raises(
        ValueError, match=r"targets have shape \(2,\); pass one id for each of the 3"
    ):
        Trace.record(decoder(), [1, 2, 3], targets=[2, 3])


def test_what_the_filters_dropped_is_noted():
    model = decoder()
    trace = Trace.record(
        model, [1, 2, 3], max_new_tokens=1, sampler=Sampler(top_k=2, seed=1)
    )
    probabilities = model(torch.tensor([[1, 2, 3]]))[0, -1].softmax(-1)
    best = probabilities.topk(2)
    assert sorted(trace.steps[0]["kept"]) == sorted(best.indices.tolist())
    assert trace.steps[0]["dropped_mass"] == pytest.approx(
        1 - best.values.sum().item(), abs=1e-5
    )


def test_output_norms_are_those_of_the_sublayers():
    model, seen = decoder(), []
    hook = model.stack.blocks[1].feed_forward.register_forward_hook(
        lambda _module, _inputs, output: seen.append(output)
    )
    trace = Trace.record(model, [1, 2, 3])
    hook.remove()
    expected = torch.tensor([math.hypot(*row.tolist()) for row in seen[-1][0]])
    torch.testing.assert_close(trace.arrays["output_norms", 0][1, 1], expected)


def test_a_block_without_weights_is_named():
    model = decoder()

    class Silent(torch.nn.Module):
        cross, layer, scheme = False, 1, None

        def forward(self, x, **_reading):
            return x, None

    model.stack.blocks[1].self_attention = Silent()
    with pytest.raises(ValueError, match="block 1 returned no attention weights"):
        Trace.record(model, [1, 2, 3])


def test_recording_leaves_the_model_as_it_was():
    model = decoder().train()
    before = {name: p.clone() for name, p in model.state_dict().items()}
    Trace.record(model, [1, 2, 3], max_new_tokens=2, text=lambda i: f"<{i}>")
    assert model.training
    assert not any(m._forward_hooks for m in model.modules())
    assert all(torch.equal(p, before[name]) for name, p in model.state_dict().items())


def test_a_trace_survives_packing():
    trace = Trace.record(
        decoder(), [1, 2, 3], max_new_tokens=2, text=lambda i: f"<{i}>"
    )
    again = Trace.from_buffer(*trace.to_buffer())
    assert again.strings == trace.strings
    assert again.steps == trace.steps
    assert again.arrays.keys() == trace.arrays.keys()
    for key, array in trace.arrays.items():
        torch.testing.assert_close(again.arrays[key], array.float(), rtol=0, atol=0)


def test_the_tree_lists_every_module_with_its_parameters():
    model = decoder()
    tree = {part["name"]: part for part in Trace.record(model, [1]).tree}
    assert tree["stack.blocks.1.self_attention.to_queries"]["shapes"]["weight"] == [
        15,
        15,
    ]
    assert tree[""]["n_parameters"] == sum(p.numel() for p in model.parameters())


@pytest.mark.parametrize("pre_norm", [True, False])
def test_the_stream_and_the_hidden_layer_are_those_of_the_forward_pass(pre_norm):
    model = decoder(pre_norm=pre_norm)
    trace = Trace.record(model, [1, 2, 3, 5])
    stream = model.embedding(torch.tensor([[1, 2, 3, 5]]), torch.arange(4)[None])
    for layer, block in enumerate(model.stack.blocks):
        found = trace.arrays["residuals", 0][layer]
        assert found.shape == (3, 4, 15)
        torch.testing.assert_close(found[0], stream[0])
        x = block.feed_norm(found[1]) if pre_norm else found[1]
        hidden = block.feed_forward.activation(block.feed_forward.to_hidden(x))
        torch.testing.assert_close(trace.arrays["hidden", 0][layer], hidden)
        stream = block(stream, causal=True)
        torch.testing.assert_close(found[2], stream[0])


def test_a_trace_keeps_the_settings_of_its_sampler():
    sampler = Sampler(0.7, top_p=0.9, seed=1, suppress=(3, 5))
    trace = Trace.record(decoder(), [1, 2], max_new_tokens=1, sampler=sampler)
    assert trace.sampler == {"temperature": 0.7, "top_p": 0.9, "suppress": [3, 5]}
    greedy = Trace.record(decoder(), [1, 2], max_new_tokens=1)
    assert greedy.sampler == {"temperature": 0}
    assert Trace.record(decoder(), [1, 2]).sampler == {}
    assert Trace.record(decoder(), [1, 2], targets=[2, 3]).sampler == {}
    assert Trace.from_buffer(*trace.to_buffer()).sampler == trace.sampler


def test_the_logits_are_all_of_the_last_row():
    model = decoder()
    trace = Trace.record(model, [1, 2, 3], max_new_tokens=1)
    expected = model(torch.tensor([[1, 2, 3]]))[0, -1]
    torch.testing.assert_close(trace.arrays["logits", 0], expected)


def test_cross_attention_gives_its_queries_and_once_the_memorys_keys():
    model = decoder(cross_attention=True)
    memory = torch.randn(1, 7, 15, generator=torch.Generator().manual_seed(2))
    names = [f"place {i}" for i in range(7)]
    given = {"max_new_tokens": 2, "memory_strings": names}
    trace = Trace.record(model, [1, 2], memory, **given)
    assert trace.memory_strings == names
    assert trace.arrays["cross_queries", 1].shape == (2, 3, 1, 5)
    keys = trace.arrays["cross_keys", 0]
    assert keys.shape == (2, 3, 7, 5)
    assert ("cross_keys", 1) not in trace.arrays
    scores = trace.arrays["cross_queries", 1] @ keys.mT / math.sqrt(5)
    torch.testing.assert_close(scores.softmax(-1), trace.arrays["cross_weights", 1])


def test_memory_strings_that_do_not_fit_are_refused():
    model, memory = decoder(cross_attention=True), torch.zeros(1, 7, 15)
    with pytest.raises(ValueError, match="2 memory_strings were given for a memory of"):
        Trace.record(model, [1], memory, memory_strings=["a", "b"])


def test_beams_are_those_that_the_search_kept():
    model = decoder()
    trace = Trace.record(
        model, [1, 2], max_new_tokens=4, eos_id=0, n_beams=3, length_penalty=0.5
    )
    found = beam_search(model, [1, 2], 3, 4, eos_id=0, length_penalty=0.5)
    last = [(beam["ids"], beam["score"]) for beam in trace.beams[-1]]
    assert [ids for ids, _ in last] == [ids for ids, _ in found]
    assert [s for _, s in last] == pytest.approx([s for _, s in found])
    for earlier, later in pairwise(trace.beams):
        kept = [beam["ids"] for beam in earlier]
        assert all(b["ids"][:-1] in kept or b["ids"] in kept for b in later)
    for step in trace.beams:
        for beam in step:
            tokens = torch.tensor([[1, 2, *beam["ids"]]])
            steps = model(tokens)[0, 1:-1].log_softmax(-1)
            by_hand = steps[range(len(beam["ids"])), beam["ids"]].sum().item()
            assert beam["total"] == pytest.approx(by_hand, abs=1e-5)


def test_beams_without_an_end_are_refused():
    with pytest.raises(ValueError, match="beams need an eos_id"):
        Trace.record(decoder(), [1, 2], max_new_tokens=2, n_beams=2)


def test_a_training_trace_names_its_targets():
    trace = Trace.record(decoder(), [1, 2], targets=[2, -100], text="<{}>".format)
    assert (trace.targets, trace.target_strings) == ([2, -100], ["<2>", ""])
