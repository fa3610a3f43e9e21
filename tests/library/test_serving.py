"""A server of many conversations: each gets what it would get alone."""

import math
import random

import pytest
import torch

from course_lib.apps.serving import Server
from course_lib.decoder import Decoder
from course_lib.generation import generate
from course_lib.sampling import Sampler
from tests.library.small_models import (
    scatter_weights,
    small_config,
    small_decoder,
)

SIZE, LONGEST = 4, 40


def decoder_of(positions="rotary", **changes):
    return small_decoder(
        positions=positions, dtype=torch.float64, max_length=LONGEST, **changes
    )


def sampler_of(seed):
    return Sampler(temperature=0 if seed % 3 == 0 else 0.8, top_k=7, seed=seed)


def alone(decoder, prompt, budget, seed, eos_id=None):
    return generate(decoder, prompt, budget, sampler_of(seed), eos_id)


def assert_blocks_fit(server):
    """No request holds more blocks than its tokens fill, and no block is lost."""
    held = [r.cache.blocks[0] for r in server.requests if r.cache is not None]
    assert server.pool.n_used == len({block for row in held for block in row})
    for request in server.requests:
        if request.cache is not None:
            blocks = request.cache.blocks[0]
            assert len(blocks) == math.ceil(request.n_fed / SIZE)
    block_bytes = (
        2 * 2 * 3 * SIZE * 4 * 8
    )  # layers, K and V, heads, slots, width, float64
    assert server.bytes == server.pool.n_used * block_bytes


@pytest.mark.parametrize("positions", ["rotary", "learned", "alibi"])
@pytest.mark.parametrize("seed", range(4))
def test_twenty_conversations_that_come_and_go_get_what_each_gets_alone(
    positions, seed
):
    decoder = decoder_of(positions)
    draw = random.Random(seed)
    server = Server(decoder, SIZE, max_blocks=30, max_rows=6, chunk=draw.randint(1, 9))
    calls = []
    decoder.stack.register_forward_pre_hook(lambda *_: calls.append(1))
    system = [draw.randrange(13) for _ in range(9)]
    plans = {}
    while len(plans) < 20 or any(r.state != "done" for r in server.requests):
        if len(plans) < 20 and draw.random() < 0.5:
            prompt = system * (draw.random() < 0.7)
            prompt = prompt + [draw.randrange(13) for _ in range(draw.randint(1, 12))]
            budget, number = draw.randint(1, 15), len(plans)
            request = server.join(prompt, budget, sampler_of(number), eos_id=5)
            plans[request] = number
        if draw.random() < 0.1 and server.requests:
            server.leave(draw.choice(server.requests))
        n_calls, active = len(calls), any(r.state != "done" for r in server.requests)
        server.step()
        assert len(calls) - n_calls == (1 if active else 0)
        assert_blocks_fit(server)
    n_done = 0
    for request, number in plans.items():
        expected = alone(
            decoder, request.prompt_ids, request.max_new_tokens, number, eos_id=5
        )
        if request.state == "done":
            assert request.new_ids == expected
            n_done += 1
        else:
            assert request.state == "left"
            assert request.new_ids == expected[: len(request.new_ids)]
    assert n_done >= 8
    for request in list(server.requests):
        server.leave(request)
    assert (server.pool.n_used, server.bytes) == (0, 0)


def test_one_pass_a_step_feeds_all_that_are_active():
    decoder = decoder_of()
    server = Server(decoder, SIZE, chunk=3)
    shapes = []
    decoder.stack.register_forward_pre_hook(lambda _, x: shapes.append(x[0].shape[:2]))
    first = server.join([1, 2, 3, 4, 5], 3)
    assert server.step() == {}  # 3 of 5 tokens are read
    second = server.join([6, 7], 2)
    assert set(server.step()) == {first, second}
    assert set(server.step()) == {first, second}
    assert (second.state, set(server.step())) == ("done", {first})
    assert server.step() == {}
    assert [tuple(shape) for shape in shapes] == [(1, 3), (2, 2), (2, 1), (1, 1)]
    assert (server.n_forwards, server.n_fed, server.n_places) == (4, 10, 10)


def test_a_common_beginning_is_computed_once_and_held_once():
    decoder = decoder_of()
    server = Server(decoder, SIZE)
    system = list(range(10))
    first = server.join([*system, 11], 2)
    server.step()
    second, third = server.join([*system, 12], 2), server.join(system, 2)
    server.run()
    assert [r.n_shared for r in (first, second, third)] == [0, 8, 8]
    assert first.cache.blocks[0][:2] == second.cache.blocks[0][:2]
    assert server.pool.n_used == 2 + 3  # two in common, one more each
    assert server.n_fed == (11 + 1) + (3 + 1) + (2 + 1)
    for request in (first, second, third):
        assert request.new_ids == generate(decoder, request.prompt_ids, 2)


def test_a_second_turn_reads_only_what_is_new():
    decoder = decoder_of()
    server = Server(decoder, SIZE)
    first = server.join([1, 2, 3, 4, 5], 6)
    server.run()
    n_fed = server.n_fed
    second = server.join([*first.ids, 7, 8], 3)
    server.leave(first)  # before the second was read: nothing is left to share
    server.run()
    assert (second.n_shared, server.n_fed - n_fed) == (0, 13 + 2)
    third = server.join([*second.ids, 9], 3)
    server.run()
    assert third.n_shared == 12  # 15 tokens were fed: three whole blocks
    for request in (second, third):
        assert request.new_ids == generate(decoder, request.prompt_ids, 3)


def test_who_finds_no_room_waits_and_nobody_overtakes():
    decoder = decoder_of()
    server = Server(decoder, SIZE, max_blocks=4)
    first = server.join([1, 2, 3], 10)  # 12 tokens are fed: 3 blocks
    second = server.join([4, 5, 6], 4)  # 6 tokens: 2 blocks
    third = server.join([7], 2)  # 1 block, which would be free
    server.step()
    assert [r.state for r in (first, second, third)] == [
        "writing",
        "waiting",
        "waiting",
    ]
    server.run()
    for request, budget in ((first, 10), (second, 4), (third, 2)):
        assert request.new_ids == generate(decoder, request.prompt_ids, budget)


def test_what_is_done_gives_its_blocks_to_who_waits():
    server = Server(decoder_of(), SIZE, max_blocks=3)
    first = server.join([1, 2, 3, 4, 5], 4)
    server.run()
    assert (server.pool.n_used, first.n_fed) == (2, 8)
    second = server.join([6, 7, 8, 9, 10], 5)
    server.run()
    assert (first.n_fed, second.n_fed) == (0, 9)
    assert first.new_ids == generate(server.model, [1, 2, 3, 4, 5], 4)


def test_no_more_rows_than_allowed_are_fed():
    server = Server(decoder_of(), SIZE, max_rows=2)
    requests = [server.join([number], 5) for number in range(5)]
    most = 0
    while any(request.state != "done" for request in requests):
        most = max(most, len(server.step()))
    assert most == 2


class Interrupt:
    """Raises at the n-th module call that it sees."""

    def __init__(self, decoder, after):
        self.left, self.handles = after, []
        for module in decoder.modules():
            self.handles.append(module.register_forward_hook(self))

    def __call__(self, *_):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt

    def remove(self):
        for handle in self.handles:
            handle.remove()


def test_an_interrupt_at_any_point_of_a_pass_changes_no_text():
    decoder = decoder_of()
    n_modules = len(list(decoder.modules()))
    for after in range(1, 4 * n_modules, 5):
        server = Server(decoder, SIZE, chunk=3)
        requests = [
            server.join([1, 2, 3, 4, 5], 4, sampler_of(1)),
            server.join([6, 7], 5, sampler_of(2)),
        ]
        interrupt = Interrupt(decoder, after)
        with pytest.raises(KeyboardInterrupt):
            server.run()
        interrupt.remove()
        assert_blocks_fit(server)
        server.run()
        for seed, request in enumerate(requests, start=1):
            expected = alone(decoder, request.prompt_ids, request.max_new_tokens, seed)
            assert request.new_ids == expected


def test_an_interrupt_while_a_token_is_chosen_loses_none_that_was_written():
    decoder = decoder_of()

    class Broken(Sampler):
        broken = True

        def __call__(self, *arguments):
            if self.broken:
                raise KeyboardInterrupt
            return super().__call__(*arguments)

    server, broken = Server(decoder, SIZE), Broken(temperature=0)
    first, second = server.join([1, 2, 3], 4), server.join([4, 5], 4, broken)
    with pytest.raises(KeyboardInterrupt):
        server.step()
    assert (len(first.new_ids), second.new_ids, second.n_fed) == (1, [], 0)
    broken.broken = False
    server.run()
    for request in (first, second):
        assert request.new_ids == generate(decoder, request.prompt_ids, 4)


def test_scores_that_are_nan_are_named_and_nothing_is_written():
    decoder = decoder_of()
    server = Server(decoder, SIZE)
    request = server.join([1, 2, 3], 4)
    good = decoder.stack.final_norm.gain.data.clone()
    decoder.stack.final_norm.gain.data.fill_(math.nan)
    with pytest.raises(ValueError, match="NaN"):
        server.step()
    assert (request.n_fed, request.new_ids) == (0, [])
    decoder.stack.final_norm.gain.data.copy_(good)
    server.run()
    assert request.new_ids == generate(decoder, [1, 2, 3], 4)


def test_one_row_of_nan_lets_nobody_write():
    decoder = decoder_of()
    server = Server(decoder, SIZE)
    requests = [server.join([1, 2, 3], 4), server.join([4, 5, 6], 4)]

    def spoil(module, inputs, logits):
        logits = logits.clone()
        logits[1] = math.nan
        return logits

    handle = decoder.register_forward_hook(spoil)
    with pytest.raises(ValueError, match="NaN"):
        server.step()
    assert [request.n_fed for request in requests] == [0, 0]
    handle.remove()
    server.run()
    for request in requests:
        assert request.new_ids == generate(decoder, request.prompt_ids, 4)


def test_what_is_done_keeps_its_blocks_while_there_is_room():
    server = Server(decoder_of(), SIZE, max_blocks=9)
    first, second = server.join([1] * 9, 2), server.join([2] * 9, 2)
    server.run()
    again = [server.join([1] * 9, 2), server.join([2] * 9, 2)]
    server.run()
    assert [request.n_shared for request in again] == [8, 8]
    assert (first.n_fed, second.n_fed) == (10, 10)


def test_a_pool_that_is_just_big_enough_is_enough():
    server = Server(decoder_of(), SIZE, max_blocks=2)
    request = server.join([1, 2, 3, 4, 5], 4)  # the last of 9 tokens is never fed
    server.run()
    assert (request.n_fed, server.pool.n_used) == (8, 2)


def test_the_same_text_again_still_feeds_its_last_token():
    decoder = decoder_of()
    server = Server(decoder, SIZE)
    prompt = [1, 2, 3, 4, 5, 6, 7, 8]
    server.join(prompt, 3)
    server.run()
    again = server.join(prompt, 3)
    server.run()
    assert again.n_shared == 4
    assert again.new_ids == generate(decoder, prompt, 3)


SHARED = Sampler(temperature=0.7, seed=1)


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (lambda s: s.join([], 3), "a prompt was"),
        (lambda s: s.join([1], 0), "max_new_tokens was 0"),
        (lambda s: s.join([13], 3), "13"),
        (lambda s: s.join([1], 3, eos_id=13), "eos_id was 13"),
        (lambda s: s.join([1] * 30, 11), "41 tokens and the model reads 40"),
        (lambda s: s.join([1] * 13, 5), "may need 5 blocks and the pool has 4"),
        (lambda s: [s.join([1], 3, SHARED) for _ in "ab"], "each its own"),
        (lambda s: s.leave(Server(s.model).join([1], 2)), "is not here"),
        (lambda s: Server(s.model, chunk=0), "chunk was 0"),
        (lambda s: Server(s.model, max_rows=0), "max_rows was 0"),
        (lambda s: Server(s.model, max_blocks=0), "max_blocks was 0"),
        (lambda s: Server(small_decoder(window=3)), "cross-attention or a window"),
        (
            lambda s: Server(
                scatter_weights(Decoder(small_config(cross_attention=True)), 1)
            ),
            "cross-attention or a window",
        ),
    ],
)
def test_what_cannot_be_served_is_refused_with_a_sentence(act, sentence):
    server = Server(decoder_of(), SIZE, max_blocks=4)
    with pytest.raises(ValueError, match=sentence):
        act(server)


def test_one_sampler_that_draws_nothing_may_serve_all():
    server, greedy = Server(decoder_of(), SIZE), Sampler(temperature=0)
    requests = [server.join([number], 3, greedy) for number in range(3)]
    server.run()
    for request in requests:
        assert request.new_ids == generate(server.model, request.prompt_ids, 3)


def test_logits_of_rows_in_one_pass_equal_those_without_a_cache():
    decoder = decoder_of()
    server = Server(decoder, SIZE, chunk=4)
    seen = {}

    class Spy(Sampler):
        def __call__(self, logits, history):
            seen[tuple(history[0])] = logits[0]
            return super().__call__(logits, history)

    for start in range(3):
        server.join([start, *range(2 + start)], 5, Spy(temperature=0))
    server.run()
    assert len(seen) == 15
    for history, logits in seen.items():
        expected = decoder(torch.tensor([history]))[0, -1]
        torch.testing.assert_close(logits, expected, atol=1e-10, rtol=1e-10)
