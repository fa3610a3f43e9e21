"""Wrong answers to attention_multiplications."""

from tests.answers import wrong


@wrong("heads-multiplied")
def tables_of_full_width(n, d_model, n_heads, causal=False):
    pairs = n * (n + 1) // 2 if causal else n * n
    projections = 4 * n * d_model * d_model
    scores = n_heads * pairs * d_model
    return projections + 2 * scores


@wrong("one-table")
def forgets_to_sum_heads(n, d_model, n_heads, causal=False):
    d_head = d_model // n_heads
    pairs = sum(i + 1 for i in range(n)) if causal else n**2
    return 4 * n * d_model**2 + 2 * pairs * d_head


@wrong("mix-forgotten")
def no_weights_times_values(n, d_model, n_heads, causal=False):
    pairs = n * (n + 1) // 2 if causal else n * n
    return n * d_model * (4 * d_model) + pairs * d_model


@wrong("no-output-projection")
def q_k_v(n, d_model, n_heads, causal=False):
    pairs = n * (n + 1) // 2 if causal else n * n
    return 3 * n * d_model * d_model + 2 * pairs * d_model


@wrong("no-causal-mask")
def same_either_way(n, d_model, n_heads, causal=False):
    return 4 * n * d_model * d_model + 2 * n * n * d_model


@wrong("causal-diagonal-masked")
def pairs_below(n, d_model, n_heads, causal=False):
    pairs = sum(range(n)) if causal else n * n
    return 4 * n * d_model**2 + pairs * d_model * 2


@wrong("half-of-the-table")
def half_by_division(n, d_model, n_heads, causal=False):
    pairs = n * n / 2 if causal else n * n
    return 4 * n * d_model**2 + 2 * pairs * d_model


@wrong("causal-everywhere")
def all_of_it_halved(n, d_model, n_heads, causal=False):
    total = 4 * n * d_model**2 + 2 * n**2 * d_model
    return total / 2 if causal else total


@wrong("projections-forgotten")
def scores_and_mix(n, d_model, n_heads, causal=False):
    pairs = n * (n + 1) // 2 if causal else n * n
    return n_heads * (d_model // n_heads) * pairs * 2


@wrong("biases-counted")
def with_biases(n, d_model, n_heads, causal=False):
    pairs = n * (n + 1) // 2 if causal else n * n
    return 4 * n * d_model * (d_model + 1) + 2 * pairs * d_model


@wrong("mix-forgotten", "no-output-projection")
def two_slips(n, d_model, n_heads, causal=False):
    pairs = n * (n + 1) // 2 if causal else n * n
    return 3 * n * d_model**2 + pairs * d_model
