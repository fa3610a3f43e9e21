"""Masks: one question about two positions, asked by a loop and by the library."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.masks import (
    causal_mask,
    combine,
    may_read,
    padding_mask,
    token_positions,
    window_mask,
)
from tests.library.parity import few

counts = st.integers(0, 6)
offsets = st.one_of(st.none(), st.integers(-4, 5))
windows = st.integers(1, 7)


def loop(query_positions, key_positions, rule):
    """Ask rule(i, j) of every query position i and key position j."""
    answers = [[rule(i, j) for j in key_positions] for i in query_positions]
    return torch.tensor(answers, dtype=torch.bool).reshape(
        len(query_positions), len(key_positions)
    )


# -- the causal mask ----------------------------------------------------------------


def test_row_i_reads_exactly_the_keys_up_to_i():
    """causal-mask-flipped."""
    expected = [[True, False, False], [True, True, False], [True, True, True]]
    assert causal_mask(3).tolist() == expected
    assert causal_mask(3).dtype == torch.bool


def test_each_token_reads_itself():
    """causal-diagonal-masked."""
    mask = causal_mask(7)
    assert mask.diagonal().all()
    assert mask.sum() == 7 * 8 // 2


@few
@given(counts, counts, offsets)
def test_a_causal_mask_compares_absolute_positions(n_queries, n_keys, offset):
    start = n_keys - n_queries if offset is None else offset
    queries = range(start, start + n_queries)
    expected = loop(queries, range(n_keys), lambda i, j: j <= i)
    assert torch.equal(causal_mask(n_queries, n_keys, offset), expected)


def test_one_new_query_reads_every_key():
    """is-causal-top-left-with-cache: the triangle hangs on the newest key."""
    assert causal_mask(1, 7).tolist() == [[True] * 7]


def test_a_chunk_has_the_last_rows_of_the_whole_mask():
    """chunk-mask-without-offset."""
    assert torch.equal(causal_mask(3, 7), causal_mask(7)[4:])
    assert torch.equal(causal_mask(2, 7, offset=3), causal_mask(7)[3:5])
    assert torch.equal(window_mask(3, 2, 7), window_mask(7, 2)[4:])


def test_an_offset_alone_also_says_how_many_keys_there_are():
    assert torch.equal(causal_mask(2, offset=3), causal_mask(5)[3:])
    assert torch.equal(window_mask(2, 3, offset=5), window_mask(7, 3)[5:])


@pytest.mark.parametrize("make", [causal_mask, lambda n, **at: window_mask(n, 2, **at)])
def test_a_mask_is_made_on_the_device_asked_for(make):
    assert make(3, device=torch.device("meta")).device.type == "meta"
    assert make(3).device.type == "cpu"


# -- the window ---------------------------------------------------------------------


@few
@given(counts, windows, counts, offsets)
def test_a_window_of_w_keys_counts_the_query_itself(n_queries, window, n_keys, offset):
    start = n_keys - n_queries if offset is None else offset
    queries = range(start, start + n_queries)
    expected = loop(queries, range(n_keys), lambda i, j: 0 <= i - j < window and i >= 0)
    assert torch.equal(window_mask(n_queries, window, n_keys, offset), expected)


def test_a_window_of_one_reads_itself_and_a_wide_one_is_the_causal_mask():
    assert torch.equal(window_mask(5, 1), torch.eye(5, dtype=torch.bool))
    assert torch.equal(window_mask(5, 5), causal_mask(5))
    assert window_mask(5, 4)[4].tolist() == [False, True, True, True, True]


# -- the one question ---------------------------------------------------------------


@few
@given(
    st.lists(st.integers(-1, 6), min_size=1, max_size=5),
    st.lists(st.integers(-1, 6), min_size=1, max_size=5),
    st.booleans(),
    st.one_of(st.none(), windows),
)
def test_may_read_asks_real_not_later_and_not_too_old(queries, keys, causal, window):
    def rule(i, j):
        late, old = causal and j > i, window is not None and j <= i - window
        return i >= 0 and j >= 0 and not late and not old

    actual = may_read(torch.tensor(queries), torch.tensor(keys), causal, window)
    assert torch.equal(actual, loop(queries, keys, rule))


def test_positions_of_several_rows_give_a_mask_with_room_for_the_heads():
    queries, keys = torch.tensor([[0, 1, 2], [-1, 0, 1]]), torch.arange(5)
    rows = torch.stack([may_read(row, keys) for row in queries])
    assert torch.equal(may_read(queries, keys), rows[:, None])
    columns = torch.stack([may_read(keys, row) for row in queries])
    assert torch.equal(may_read(keys, queries), columns[:, None])
    both = torch.stack([may_read(row, row) for row in queries])
    assert torch.equal(may_read(queries, queries), both[:, None])


def test_causal_is_the_default_and_padding_stays_hidden_without_it():
    positions = torch.tensor([-1, 0, 1])
    assert torch.equal(may_read(positions, positions)[1:, 1:], causal_mask(2))
    both_ways = may_read(positions, positions, causal=False)
    assert both_ways.tolist() == [[False] * 3, [False, True, True], [False, True, True]]


# -- padding ------------------------------------------------------------------------


@few
@given(st.lists(st.integers(0, 5), min_size=1, max_size=3), st.booleans())
def test_padding_hides_what_stands_beyond_the_length(lengths, left):
    expected = [
        [5 - length <= key if left else key < length for key in range(5)]
        for length in lengths
    ]
    mask = padding_mask(lengths, 5, "left" if left else "right")
    assert mask.dtype == torch.bool
    assert mask.shape == (len(lengths), 1, 1, 5)
    assert mask[:, 0, 0].tolist() == expected


def test_padding_stands_on_the_key_axis_and_by_default_on_the_right():
    """padding-mask-on-query-axis."""
    mask = padding_mask(torch.tensor([1, 3]), 3).expand(2, 1, 2, 3)
    assert mask[0, 0].tolist() == [[True, False, False]] * 2


@few
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), min_size=1, max_size=3),
    st.booleans(),
)
def test_positions_count_the_real_tokens_from_each_rows_start(rows, left):
    """left-pad-positions."""
    expected = []
    for length, start in rows:
        real, padding = list(range(start, start + length)), [-1] * (5 - length)
        expected.append(padding + real if left else real + padding)
    lengths, starts = zip(*rows, strict=True)
    side = "left" if left else "right"
    assert token_positions(5, lengths, starts, side).tolist() == expected


def test_positions_start_at_zero_and_pad_on_the_right_by_default():
    positions = token_positions(3, torch.tensor([2, 3]))
    assert positions.tolist() == [[0, 1, -1], [0, 1, 2]]
    assert positions.dtype == torch.int64


# -- combining ----------------------------------------------------------------------


def test_combined_masks_allow_what_all_of_them_allow():
    padding, window = padding_mask([1, 3], 3), window_mask(3, 2)
    actual = combine(padding, None, causal_mask(3), window)
    in_window = loop(range(3), range(3), lambda i, j: 0 <= i - j < 2)
    first_key_only = loop(range(3), range(3), lambda i, j: i < 2 and j == 0)
    assert torch.equal(actual, torch.stack([first_key_only, in_window])[:, None])


def test_none_allows_everything():
    assert combine() is None
    assert combine(None, None) is None
    assert torch.equal(combine(None, causal_mask(3)), causal_mask(3))


def test_combining_leaves_the_masks_as_they_were():
    first, second = causal_mask(3), padding_mask([1, 2], 3)
    combine(first, second)
    assert torch.equal(first, causal_mask(3))
    assert torch.equal(second, padding_mask([1, 2], 3))


# -- errors -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: window_mask(3, 0), "window was 0; it counts the query.*at least 1"),
        (
            lambda: may_read(torch.arange(2), torch.arange(2), window=-1),
            "window was -1; it counts the query.*at least 1",
        ),
        (lambda: causal_mask(-1, 3), "-1 queries and 3 keys.*0 or more"),
        (lambda: causal_mask(2, -3), "2 queries and -3 keys.*0 or more"),
        (lambda: window_mask(2, 3, -5), "2 queries and -5 keys.*0 or more"),
        (lambda: combine(causal_mask(3).int()), "int32; masks here are bool"),
        (lambda: combine(None, torch.zeros(3, 3)), "float32; masks here are bool"),
        (
            lambda: padding_mask([1, 2], 3, "top"),
            "side was 'top'.*'right' or.*'left'",
        ),
        (lambda: padding_mask([1, 4], 3), r"lengths were \[1, 4\].*0 and the 3 places"),
        (lambda: padding_mask([-1, 2], 3), r"lengths were \[-1, 2\].*0 and the 3"),
        (lambda: token_positions(3, [5]), r"lengths were \[5\].*0 and the 3 places"),
        (lambda: token_positions(3, [1], side=""), "side was ''.*'right' or.*'left'"),
        (lambda: token_positions(3, [1.5]), r"float32; pass one whole number per row"),
        (lambda: token_positions(3, [[1]]), r"shape \(1, 1\).*one whole number per"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
