"""What goes wrong in writing_cost: the multiplications of a block's two attentions."""

from course_lib.feedback.task import Draw, Probe, Task


def writing_cost(n_written, n_source, d_model):
    total = 2 * n_source * d_model**2  # the source's keys and values, once
    for own in range(1, n_written + 1):
        total += 4 * d_model**2 + 2 * own * d_model  # self-attention
        total += 2 * d_model**2 + 2 * n_source * d_model  # cross-attention
    return total


task = Task(
    "writing_cost",
    asks="the multiplications, as an integer, that self- and cross-attention of one "
    "block need to write n_written tokens one by one, with everything kept.",
    lesson="05_cross_attention",
    reference=writing_cost,
    read="6. Project the source once",
)


@task.inputs
def probes(draw: Draw):
    n, source, width = draw.size(6, 9), draw.size(11, 15), draw.size(3, 6)
    exact = {"tolerance": 1e-12}
    yield Probe("one token, a source of 10, width 4", 1, 10, 4, **exact)
    yield Probe("two tokens", 2, 10, 4, **exact)
    yield Probe("a source of one word", n, 1, width, **exact)
    yield Probe("a short source", n, 3, width, **exact)
    yield Probe("a long source", 3, 8 * source, width, **exact)
    yield Probe("a long answer", 7 * n, source, width, **exact)
    yield Probe("a wide model", n, source, 16 * width, **exact)


@task.mistake(
    "cross-kv-recomputed", "The source does not change: how often did you project it?"
)
def projects_the_source_every_time(n_written, n_source, d_model):
    again = (n_written - 1) * 2 * n_source * d_model**2
    return writing_cost(n_written, n_source, d_model) + again


@task.mistake(
    "source-not-projected", "Who made the source's keys and values, and when?"
)
def reads_what_nobody_projected(n_written, n_source, d_model):
    return writing_cost(n_written, n_source, d_model) - 2 * n_source * d_model**2


@task.mistake(
    "own-past-does-not-grow", "How many of its own keys does the first token read?"
)
def always_reads_the_whole_answer(n, n_source, d_model):
    extra = 2 * n * n * d_model - n * (n + 1) * d_model
    return writing_cost(n, n_source, d_model) + extra


@task.mistake("own-past-does-not-grow", "How many of its own keys does token t read?")
def reads_only_itself(n, n_source, d_model):
    missing = n * (n + 1) * d_model - 2 * n * d_model
    return writing_cost(n, n_source, d_model) - missing


@task.mistake("current-token-missing", "Does a token read its own key, too?")
def past_without_itself(n_written, n_source, d_model):
    return writing_cost(n_written, n_source, d_model) - 2 * n_written * d_model


@task.mistake(
    "values-forgotten",
    "A query is compared with every key. What is then done with the values?",
    "1. One glance at the card, by hand",
)
def only_compares(n, n_source, d_model):
    mixing = n * (n + 1) // 2 * d_model + n * n_source * d_model
    return writing_cost(n, n_source, d_model) - mixing


@task.mistake("self-attention-forgotten", "Which two attentions does this block have?")
def cross_attention_only(n, n_source, d_model):
    return n * (2 * d_model**2 + 2 * n_source * d_model) + 2 * n_source * d_model**2


@task.mistake(
    "too-few-projections",
    "Which of the four matrices does a new token meet: in self-, in cross-attention?",
    "3. The module",
)
def two_projections_each(n_written, n_source, d_model):
    return writing_cost(n_written, n_source, d_model) - 2 * n_written * d_model**2


@task.mistake(
    "cross-projects-the-token",
    "In cross-attention, which of the four matrices does a new token meet?",
    "3. The module",
)
def four_projections_each(n_written, n_source, d_model):
    return writing_cost(n_written, n_source, d_model) + 2 * n_written * d_model**2


@task.mistake(
    "source-half-projected", "Which two projections does the source go through?"
)
def source_keys_only(n_written, n_source, d_model):
    return writing_cost(n_written, n_source, d_model) - n_source * d_model**2


@task.mistake(
    "own-past-projected-again",
    "The earlier tokens do not change either: who keeps their keys and values?",
)
def without_a_cache_of_its_own(n, n_source, d_model):
    again = n * (n - 1) * d_model**2
    return writing_cost(n, n_source, d_model) + again


@task.mistake("source-read-once", "Does the second token look up at the source again?")
def one_look_at_the_source(n_written, n_source, d_model):
    later = 2 * (n_written - 1) * n_source * d_model
    return writing_cost(n_written, n_source, d_model) - later


@task.mistake(
    "too-few-projections",
    "Which of the four matrices does a new token meet: in self-, in cross-attention?",
    "3. The module",
)
def query_of_the_token_only(n_written, n_source, d_model):
    return writing_cost(n_written, n_source, d_model) - n_written * d_model**2


@task.mistake("cross-attention-forgotten", "Which two attentions does this block have?")
def self_attention_only(n, n_source, d_model):
    return n * 4 * d_model**2 + n * (n + 1) * d_model
