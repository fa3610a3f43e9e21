"""Positions equal the papers' formulas by a loop, and transformers' code."""

import itertools
import math
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course_lib.attention import attention_scores
from course_lib.config import DecoderConfig
from course_lib.positions import (
    SCHEMES,
    AlibiPositions,
    Angles,
    LearnedPositions,
    Positions,
    RelativePositions,
    RotaryPositions,
    SinusoidalPositions,
    alibi_bias,
    angles,
    attention_scheme,
    embedding_scheme,
    relative_scores,
    rotate,
    sinusoids,
)
from tests.library.parity import assert_same, few, gradients_of, normal

both_pairings = pytest.mark.parametrize("pairing", ["interleaved", "half"])
AT = torch.tensor([0, 1, 5, 6, 300])
ROWS_AT = torch.tensor([[0, 1, 2, 3, 4], [7, 8, 9, 11, 13]])


def transformers_module(name):
    return pytest.importorskip(
        f"transformers.models.{name}", reason="needs the extra `compare`"
    )


# -- sinusoids ----------------------------------------------------------------------


def waves_by_loop(positions, d_model, exponent):
    """Tabulate (sine, cosine) of each pair: (position, pair, 2)."""
    table = [
        [(math.sin(p / 10000 ** exponent(i)), math.cos(p / 10000 ** exponent(i)))]
        for p, i in itertools.product(positions, range(d_model // 2))
    ]
    return torch.tensor(table).reshape(len(positions), d_model // 2, 2)


def test_interleaved_sinusoids_are_the_papers_formula():
    expected = waves_by_loop(range(11), 6, lambda i: 2 * i / 6).flatten(1)
    torch.testing.assert_close(sinusoids(11, 6), expected)
    assert sinusoids(11, 6).dtype == torch.float32


def test_halves_hold_all_sines_then_all_cosines():
    expected = waves_by_loop(range(11), 6, lambda i: i / 2).transpose(1, 2).flatten(1)
    torch.testing.assert_close(sinusoids(11, 6, layout="halves"), expected)
    smallest = waves_by_loop(range(5), 2, lambda i: 0).flatten(1)
    torch.testing.assert_close(sinusoids(5, 2, layout="halves"), smallest)


@pytest.mark.compare
def test_halves_equal_whispers_sinusoids():
    whisper = transformers_module("whisper.modeling_whisper")
    ours = sinusoids(1500, 384, layout="halves")
    torch.testing.assert_close(ours, whisper.sinusoids(1500, 384), atol=3e-4, rtol=0)


def test_the_last_pair_turns_slowest():
    """sinusoid-inverted-frequency."""
    table = sinusoids(2, 64)
    assert math.isclose(table[1, 0], math.sin(1), rel_tol=1e-6)
    assert abs(table[1, -2]) < 2e-4


def test_the_two_numbers_of_a_pair_share_one_frequency():
    """cosine-own-exponent: sin^2 + cos^2 = 1 at every position."""
    squares = sinusoids(50, 14).square().unflatten(1, (7, 2)).sum(2)
    torch.testing.assert_close(squares, torch.ones(50, 7))


def test_equal_tokens_at_different_positions_get_different_vectors():
    """pe-indexed-by-batch."""
    for scheme in (SinusoidalPositions(6), LearnedPositions(11, 6)):
        vectors = scheme.embed(torch.arange(11))
        assert torch.cdist(vectors, vectors).fill_diagonal_(1).min() > 1e-3


@pytest.mark.parametrize("layout", ["interleaved", "halves"])
def test_the_sinusoidal_scheme_looks_up_any_positions(layout):
    table = sinusoids(14, 6, layout)
    scheme = SinusoidalPositions(6, layout)
    torch.testing.assert_close(scheme.embed(ROWS_AT), table[ROWS_AT])
    torch.testing.assert_close(scheme.embed(ROWS_AT[1]), table[ROWS_AT[1]])


def test_far_positions_are_as_exact_as_near_ones():
    far = SinusoidalPositions(6).embed(torch.tensor([99_999]))
    expected = waves_by_loop([99_999], 6, lambda i: 2 * i / 6).flatten(1)
    torch.testing.assert_close(far, expected, atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize(
    ("width", "layout"), [(7, "interleaved"), (0, "interleaved"), (6, "sideways")]
)
def test_waves_of_an_odd_width_or_unknown_layout_are_refused(width, layout):
    message = f"d_model={width} and layout='{layout}'.*even width.*'halves'"
    with pytest.raises(ValueError, match=message):
        sinusoids(3, width, layout)
    with pytest.raises(ValueError, match=message):
        SinusoidalPositions(width, layout)


# -- learned ------------------------------------------------------------------------


def test_learned_positions_are_rows_of_a_table_that_learns():
    scheme = LearnedPositions(14, 6)
    vectors = scheme.embed(ROWS_AT)
    torch.testing.assert_close(vectors, scheme.table[ROWS_AT])
    (gradient,) = gradients_of(vectors, [scheme.table])
    used = (gradient != 0).all(1).nonzero()[:, 0].tolist()
    assert used == sorted(set(ROWS_AT.flatten().tolist()))


def test_a_learned_table_starts_small():
    torch.manual_seed(0)
    for scheme in (LearnedPositions(200, 70), RelativePositions(70, max_distance=100)):
        assert 0.019 < scheme.table.std() < 0.021


# -- rotary -------------------------------------------------------------------------


def rotate_by_complex_numbers(x, positions, pairing, base=10000.0):
    """Multiply each pair, as a complex number, by exp(i position / base^(2i / d))."""
    d_head = x.shape[-1]
    halves, neighbours = torch.stack(x.chunk(2, -1), -1), x.unflatten(-1, (-1, 2))
    pairs = halves if pairing == "half" else neighbours
    frequencies = base ** (-torch.arange(0, d_head, 2).double() / d_head)
    turns = torch.exp(1j * positions[..., None] * frequencies)
    turns = turns if positions.ndim == 1 else turns[:, None]
    turned = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * turns)
    return (
        turned.transpose(-1, -2).flatten(-2)
        if pairing == "half"
        else turned.flatten(-2)
    )


@both_pairings
@pytest.mark.parametrize("base", [10000.0, 100.0])
@pytest.mark.parametrize("positions", [AT, ROWS_AT])
def test_a_rotation_is_a_product_of_complex_numbers(pairing, base, positions):
    assert_same(
        lambda x: rotate(x, positions, base, pairing),
        lambda x: rotate_by_complex_numbers(x, positions, pairing, base),
        normal(2, 3, 5, 8, dtype=torch.float64),
        atol=2e-5,  # angles are float32: 300 * 6e-8
        rtol=1e-5,
    )


def test_pairs_are_neighbours_and_the_base_is_10000_by_default():
    x = normal(2, 3, 5, 8, dtype=torch.float64)
    expected = rotate_by_complex_numbers(x, ROWS_AT, "interleaved")
    torch.testing.assert_close(rotate(x, ROWS_AT), expected, atol=2e-5, rtol=1e-5)


@pytest.mark.compare
@pytest.mark.parametrize("positions", [AT[None], ROWS_AT])
def test_the_half_pairing_equals_transformers_llama(positions):
    llama = transformers_module("llama.modeling_llama")
    config = llama.LlamaConfig(
        hidden_size=24,
        num_attention_heads=3,
        rope_parameters={"rope_type": "default", "rope_theta": 5000.0},
    )
    queries, keys = normal(2, 3, 5, 8), normal(2, 1, 5, 8, seed=1)
    cosines, sines = llama.LlamaRotaryEmbedding(config)(queries, positions)
    expected = llama.apply_rotary_pos_emb(queries, keys, cosines, sines)
    ours = [rotate(x, positions, 5000.0, "half") for x in (queries, keys)]
    torch.testing.assert_close(ours, list(expected))


@both_pairings
def test_position_zero_stays_and_lengths_are_kept(pairing):
    """rope-mixed-pairing."""
    x = normal(2, 3, 5, 8)
    turned = rotate(x, AT, pairing=pairing)
    torch.testing.assert_close(turned[:, :, 0], x[:, :, 0])
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))


def test_equal_vectors_turn_by_position_and_alike_in_every_head():
    """rope-wrong-axis."""
    x = normal(8).expand(2, 3, 5, 8)
    turned = rotate(x, AT)
    torch.testing.assert_close(turned, turned[:1, :1].expand(2, 3, 5, 8))
    assert (turned[0, 0, 2] - turned[0, 0, 0]).abs().max() > 0.1


def test_the_pairings_differ_only_in_the_order_of_the_width():
    x, order = normal(2, 3, 5, 8), torch.tensor([0, 4, 1, 5, 2, 6, 3, 7])
    half, neighbours = rotate(x, AT, pairing="half"), rotate(x[..., order], AT)
    torch.testing.assert_close(neighbours, half[..., order])


@both_pairings
@few
@given(shift=st.integers(0, 500))
def test_rotary_scores_depend_on_the_distance_alone(pairing, shift):
    """rope-mixed-pairing."""
    queries, keys = normal(2, 3, 5, 8), normal(2, 3, 7, 8, seed=1)
    scores = []
    for start in (0, shift):
        at, keys_at = start + AT, start + torch.arange(7)
        turned = (
            rotate(queries, at, pairing=pairing),
            rotate(keys, keys_at, pairing=pairing),
        )
        scores.append(attention_scores(*turned))
    torch.testing.assert_close(scores[1], scores[0], atol=1e-3, rtol=0)


@both_pairings
def test_each_row_turns_by_its_own_positions(pairing):
    x = normal(2, 3, 5, 8)
    together = rotate(x, ROWS_AT, pairing=pairing)
    for row in range(2):
        alone = rotate(x[row : row + 1], ROWS_AT[row], pairing=pairing)
        torch.testing.assert_close(together[row], alone[0])


@both_pairings
@pytest.mark.parametrize("positions", [AT, ROWS_AT])
def test_prepared_angles_turn_as_positions_do(pairing, positions):
    x = normal(2, 3, 5, 8)
    scheme = RotaryPositions(8, base=500.0, pairing=pairing)
    prepared = scheme.prepare(positions)
    assert isinstance(prepared, Angles)
    expected = rotate(x, positions, 500.0, pairing)
    torch.testing.assert_close(scheme.turn(x, prepared), expected)
    torch.testing.assert_close(scheme.turn(x, positions), expected)
    direct = angles(positions, 8, 500.0, pairing)
    torch.testing.assert_close(rotate(x, direct, pairing=pairing), expected)


def test_the_rotary_scheme_pairs_halves_by_default():
    scheme, x = RotaryPositions(8), normal(2, 3, 5, 8)
    expected = rotate(x, AT, base=10000.0, pairing="half")
    torch.testing.assert_close(scheme.turn(x, scheme.prepare(AT)), expected)


def test_angles_of_a_batch_leave_room_for_the_heads():
    assert angles(ROWS_AT, 8).cosines.shape == (2, 1, 5, 8)
    cosines, sines = angles(AT, 8)
    torch.testing.assert_close(cosines[:, :2], AT[:, None].cos().expand(5, 2))
    torch.testing.assert_close(sines[:, :2], AT[:, None].sin().expand(5, 2))


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_a_rotation_keeps_the_dtype_and_its_input(dtype):
    x = normal(2, 3, 5, 8, dtype=dtype)
    turned = rotate(x, AT)
    assert turned.dtype == dtype
    assert torch.equal(x, normal(2, 3, 5, 8, dtype=dtype))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: rotate(x[..., :7], AT), "d_head=7.*even d_head.*'half'"),
        (lambda x: angles(AT, 7), "d_head=7.*even d_head.*'half'"),
        (lambda x: RotaryPositions(7), "d_head=7.*even d_head.*'half'"),
        (lambda x: rotate(x, AT, pairing="other"), "pairing='other'.*'interleaved'"),
        (lambda x: angles(AT, 8, pairing="other"), "pairing='other'.*'interleaved'"),
        (lambda x: rotate(x, angles(AT, 8), pairing="x"), "pairing='x'.*'interleaved'"),
        (
            lambda x: rotate(x, AT[:3]),
            r"x \(2, 3, 5, 8\) and the angles of 3 positions",
        ),
        (lambda x: rotate(x, AT[:1]), "angles of 1 positions.*one position for each"),
        (
            lambda x: rotate(x, AT.expand(3, 5)),
            r"batch 3, .*one position for each place",
        ),
        (lambda x: rotate(x, angles(AT, 4)), "width 4.*one position for each place"),
    ],
)
def test_a_rotation_that_does_not_fit_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call(normal(2, 3, 5, 8))


# -- ALiBi --------------------------------------------------------------------------

# Powers of two as in section 3 of the paper; the others as its code fills them up.
SLOPES = {
    1: [2**-8],
    2: [2**-4, 2**-8],
    4: [2**-2, 2**-4, 2**-6, 2**-8],
    8: [2**-1, 2**-2, 2**-3, 2**-4, 2**-5, 2**-6, 2**-7, 2**-8],
    3: [2**-4, 2**-8, 2**-2],
    6: [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3],
}


@pytest.mark.parametrize("n_heads", SLOPES)
def test_alibi_takes_slope_times_distance_off(n_heads):
    queries, keys = [3, 5], [0, 1, 2, 4, 9]
    expected = [
        [[-slope * abs(i - j) for j in keys] for i in queries]
        for slope in SLOPES[n_heads]
    ]
    actual = alibi_bias(n_heads, torch.tensor(queries), torch.tensor(keys))
    torch.testing.assert_close(actual, torch.tensor(expected))


@pytest.mark.compare
@pytest.mark.parametrize("n_heads", [1, 5, 6, 8, 12, 16, 20])
def test_alibi_slopes_equal_transformers_bloom(n_heads):
    """Bloom adds slope * key position: the same within a row, up to a constant."""
    bloom = transformers_module("bloom.modeling_bloom")
    theirs = bloom.build_alibi_tensor(torch.ones(1, 7), n_heads, torch.float32)
    ours = alibi_bias(n_heads, torch.tensor([6]), torch.arange(7))
    torch.testing.assert_close(ours - ours[..., :1], theirs)


def test_far_keys_lose():
    """alibi-sign."""
    weights = alibi_bias(3, torch.tensor([6]), torch.arange(7)).softmax(-1)
    assert (weights.diff(dim=-1) > 0).all()


def test_alibi_of_rows_with_their_own_positions():
    keys_at = torch.stack((torch.arange(7), torch.arange(7) + 2))
    together = alibi_bias(3, ROWS_AT, keys_at)
    assert together.shape == (2, 3, 5, 7)
    for row in range(2):
        alone = alibi_bias(3, ROWS_AT[row], keys_at[row])
        torch.testing.assert_close(together[row], alone)
    mixed = alibi_bias(3, ROWS_AT[0], keys_at)
    torch.testing.assert_close(mixed[1], alibi_bias(3, ROWS_AT[0], keys_at[1]))


def test_the_alibi_scheme_gives_the_bias_in_the_dtype_of_the_queries():
    queries = normal(2, 3, 5, 8, dtype=torch.bfloat16)
    actual = AlibiPositions(3).bias(queries, AT, AT)
    torch.testing.assert_close(actual, alibi_bias(3, AT, AT).to(torch.bfloat16))
    assert alibi_bias(3, AT, AT).dtype == torch.float32


def test_alibi_without_heads_is_refused():
    with pytest.raises(ValueError, match="given 0 heads; it needs at least 1"):
        alibi_bias(0, AT, AT)


# -- relative -----------------------------------------------------------------------

TABLE = normal(5, 8, seed=2)  # distances from -2 to 2
KEYS_AT = torch.tensor([0, 1, 4, 6, 7, 9, 12])


def relative_by_loop(queries, table, query_positions, key_positions):
    """Dot each query with the vector of the clipped distance, one pair at a time."""
    columns = []
    for i, j in itertools.product(
        range(len(query_positions)), range(len(key_positions))
    ):
        distance = int(key_positions[j] - query_positions[i])
        row = table[max(-2, min(2, distance)) + 2]
        columns.append((queries[:, :, i] * row).sum(-1))
    return torch.stack(columns, -1).unflatten(-1, (len(query_positions), -1))


def test_relative_scores_equal_the_loop():
    assert_same(
        lambda queries, table: relative_scores(queries, table, AT, KEYS_AT),
        lambda queries, table: relative_by_loop(queries, table, AT, KEYS_AT),
        normal(2, 3, 5, 8),
        TABLE,
    )


def test_relative_scores_of_rows_with_their_own_positions():
    queries, keys_at = normal(2, 3, 5, 8), torch.stack((KEYS_AT, KEYS_AT + 1))
    cases = [(ROWS_AT, keys_at), (ROWS_AT, KEYS_AT), (ROWS_AT[0], keys_at)]
    for at, key_at in cases:
        together = relative_scores(queries, TABLE, at, key_at)
        for row in range(2):
            alone = relative_by_loop(
                queries[row : row + 1],
                TABLE,
                at[row] if at.ndim == 2 else at,
                key_at[row] if key_at.ndim == 2 else key_at,
            )
            torch.testing.assert_close(together[row], alone[0])


@few
@given(shift=st.integers(0, 500))
def test_relative_and_alibi_scores_depend_on_the_distance_alone(shift):
    queries = normal(2, 3, 5, 8)
    for scheme in (RelativePositions(8, 2), AlibiPositions(3)):
        near = scheme.bias(queries, AT, KEYS_AT)
        far = scheme.bias(queries, AT + shift, KEYS_AT + shift)
        torch.testing.assert_close(far, near)


def test_the_relative_scheme_scales_by_the_root_of_the_heads_width():
    scheme, queries = RelativePositions(8, max_distance=2), normal(2, 3, 5, 8)
    expected = relative_by_loop(queries, scheme.table, AT, KEYS_AT) / math.sqrt(8)
    torch.testing.assert_close(scheme.bias(queries, AT, KEYS_AT), expected)


def test_the_relative_table_has_a_row_for_each_distance_on_both_sides():
    assert RelativePositions(8, max_distance=3).table.shape == (7, 8)
    assert RelativePositions(8).table.shape == (33, 8)


@pytest.mark.parametrize("table", [TABLE[:4], TABLE[:, :7]])
def test_a_table_that_does_not_fit_is_refused(table):
    shape = rf"\({table.shape[0]}, {table.shape[1]}\)"
    message = rf"table {shape} and queries .*needs \(2 \* max_distance \+ 1, 8\)"
    with pytest.raises(ValueError, match=message):
        relative_scores(normal(2, 3, 5, 8), table, AT, KEYS_AT)


# -- one interface ------------------------------------------------------------------


def config(positions, **changes):
    sizes = dict(vocab_size=53, d_model=24, n_layers=2, n_heads=3, max_length=11)
    return DecoderConfig(**sizes, positions=positions, **changes)


def test_a_scheme_leaves_alone_what_it_does_not_do():
    x = normal(2, 3, 5, 8)
    embeds = {"learned", "sinusoidal"}
    for name in SCHEMES:
        added = embedding_scheme(config(name)).embed(torch.arange(5))
        assert (added is not None) == (name in embeds), name
        scheme = attention_scheme(config(name)) or Positions()
        turned = scheme.turn(x, scheme.prepare(AT))
        assert torch.equal(turned, x) == (name != "rotary"), name
        bias = scheme.bias(x, AT, AT)
        assert (bias is not None) == (name in {"alibi", "relative"}), name


def test_no_scheme_does_nothing():
    scheme, x = Positions(), normal(2, 3, 5, 8)
    assert scheme.embed(AT) is None
    assert scheme.bias(x, AT, AT) is None
    assert scheme.prepare(AT) is AT
    assert scheme.turn(x, AT) is x


def test_a_config_gives_the_scheme_its_sizes():
    rotary = attention_scheme(
        config("rotary", rotary_base=500.0, rotary_pairing="interleaved")
    )
    assert (rotary.d_head, rotary.base, rotary.pairing) == (8, 500.0, "interleaved")
    assert attention_scheme(config("relative", max_distance=2)).table.shape == (5, 8)
    assert attention_scheme(config("alibi")).n_heads == 3
    assert embedding_scheme(config("learned")).table.shape == (11, 24)
    sinusoidal = embedding_scheme(config("sinusoidal"))
    torch.testing.assert_close(sinusoidal.embed(AT[:3]), sinusoids(6, 24)[[0, 1, 5]])
    for name in ("learned", "sinusoidal", "none"):
        assert attention_scheme(config(name)) is None


def test_an_unknown_scheme_is_refused():
    unknown = SimpleNamespace(positions="polar")
    with pytest.raises(
        ValueError, match="positions was 'polar'; choose one of learned,"
    ):
        embedding_scheme(unknown)
