"""Wrong answers to writing_cost."""

from tests.answers import wrong


@wrong("cross-kv-recomputed")
def step_times_steps(n_written, n_source, d_model):
    d = d_model
    step = 6 * d**2 + 2 * n_source * d + 2 * n_source * d**2
    return n_written * step + d * n_written * (n_written + 1)


@wrong("cross-kv-recomputed")
def loop_with_source_inside(n_written, n_source, d_model):
    count = 0
    for t in range(n_written):
        count += 4 * d_model * d_model + 2 * (t + 1) * d_model  # self
        count += 2 * d_model * d_model  # query, output
        count += 2 * n_source * d_model * d_model  # keys, values
        count += 2 * n_source * d_model
    return count


@wrong("own-past-does-not-grow")
def square_of_tokens(n_written, n_source, d_model):
    n, s, d = n_written, n_source, d_model
    return 4 * n * d * d + 2 * n * n * d + 2 * n * d * d + 2 * n * s * d + 2 * s * d * d


@wrong("current-token-missing")
def counts_from_zero(n_written, n_source, d_model):
    pairs = sum(range(n_written)) + n_written * n_source
    return (6 * n_written + 2 * n_source) * d_model**2 + 2 * d_model * pairs


@wrong("self-attention-forgotten")
def lesson_formula(n_written, n_source, d_model):
    step = 2 * d_model**2 + 2 * n_source * d_model
    return n_written * step + 2 * n_source * d_model**2


@wrong("values-forgotten")
def one_product_a_pair(n_written, n_source, d_model):
    pairs = n_written * (n_written + 1) // 2 + n_written * n_source
    return (6 * n_written + 2 * n_source) * d_model**2 + d_model * pairs


@wrong("cross-projects-the-token")
def two_whole_attentions(n_written, n_source, d_model):
    n, s, d = n_written, n_source, d_model
    own = 4 * n * d**2 + n * (n + 1) * d
    cross = 4 * n * d**2 + 2 * n * s * d + 2 * s * d**2
    return own + cross


@wrong("source-not-projected")
def source_is_ready(n_written, n_source, d_model):
    total = 0
    for t in range(1, n_written + 1):
        total += 6 * d_model**2 + 2 * (t + n_source) * d_model
    return total


@wrong("own-past-projected-again")
def no_cache_for_itself(n_written, n_source, d_model):
    total = 2 * n_source * d_model**2
    for t in range(1, n_written + 1):
        total += (2 + 2 * t) * d_model**2 + 2 * t * d_model
        total += 2 * d_model**2 + 2 * n_source * d_model
    return total


@wrong("too-few-projections")
def three_and_one(n_written, n_source, d_model):
    pairs = n_written * (n_written + 1) // 2 + n_written * n_source
    vectors = 3 * n_written + n_written + 2 * n_source  # q, k, v; q; k and v
    return vectors * d_model**2 + 2 * pairs * d_model
