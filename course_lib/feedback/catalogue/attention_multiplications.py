"""What goes wrong in attention_multiplications: the price of one reading."""

from course_lib.feedback.task import Draw, Probe, Task


def attention_multiplications(n, d_model, n_heads, causal=False):
    d_head = d_model // n_heads
    projections = 4 * (n * d_model) * d_model
    return projections + n_heads * 2 * readable(n, causal) * d_head


def readable(n, causal):
    return sum(range(1, n + 1)) if causal else n**2


task = Task(
    "attention_multiplications",
    asks="the products of two numbers in four projections, in the scores and in the mix "
    "of the values, for one row of n positions; if causal, without the hidden cells.",
    lesson="03_attention",
    reference=attention_multiplications,
    read="8. The price",
)


@task.inputs
def probes(draw: Draw):
    n, heads, d_head = draw.size(3, 6), draw.size(2, 4), draw.size(4, 7)
    width = heads * d_head
    yield Probe("one head", n=n, d_model=2, n_heads=1)
    yield Probe("several heads", n=n, d_model=width, n_heads=heads)
    yield Probe("causal, one head", n=n, d_model=2, n_heads=1, causal=True)
    yield Probe("causal", n=n + 2, d_model=width, n_heads=heads, causal=True)
    yield Probe("longer than wide", n=100 * n, d_model=width, n_heads=heads)
    yield Probe("one position", n=1, d_model=3 * d_head, n_heads=3)
    yield Probe("a real size", n=2048, d_model=512, n_heads=8, causal=True)


@task.property(
    "whole-number", "Is a number of multiplications a whole number, and above 0?"
)
def whole_number(values) -> bool:
    return all(float(value) == int(value) > 0 for value in values.values())


@task.mistake("heads-multiplied", "Is each head as wide as the model?")
def every_head_has_the_whole_width(n, d_model, n_heads, causal=False):
    return 4 * n * d_model**2 + 2 * readable(n, causal) * d_model * n_heads


@task.mistake(
    "heads-multiplied",
    "Is each head as wide as the model?",
    "6. The module",
)
def every_head_has_its_own_projections(n, d_model, n_heads, causal=False):
    return 4 * n * d_model**2 * n_heads + 2 * readable(n, causal) * d_model


@task.mistake("one-table", "How many tables of scores are there?")
def one_head_counted(n, d_model, n_heads, causal=False):
    return 4 * n * d_model**2 + 2 * readable(n, causal) * d_model // n_heads


@task.mistake("mix-forgotten", "What happens to the weights after the softmax?")
def only_scores(n, d_model, n_heads, causal=False):
    return 4 * n * d_model**2 + readable(n, causal) * d_model


@task.mistake(
    "no-output-projection", "Which layer lets the heads be mixed?", "6. The module"
)
def three_projections(n, d_model, n_heads, causal=False):
    return 3 * n * d_model**2 + 2 * readable(n, causal) * d_model


@task.mistake(
    "projections-forgotten",
    "Where do queries, keys and values come from?",
    "Definition",
)
def tables_only(n, d_model, n_heads, causal=False):
    return 2 * readable(n, causal) * d_model


@task.mistake(
    "projections-too-narrow",
    "How many numbers does a projection give for one position, and from how many?",
    "6. The module",
)
def one_product_a_feature(n, d_model, n_heads, causal=False):
    return 4 * n * d_model + 2 * readable(n, causal) * d_model


@task.mistake("no-causal-mask", "How many keys does query 0 read under a causal mask?")
def causal_ignored(n, d_model, n_heads, causal=False):
    return attention_multiplications(n, d_model, n_heads)


@task.mistake("causal-diagonal-masked", "Does a query read itself?")
def without_the_diagonal(n, d_model, n_heads, causal=False):
    cells = n * (n - 1) // 2 if causal else n * n
    return 4 * n * d_model**2 + 2 * cells * d_model


@task.mistake(
    "half-of-the-table", "Which cells lie on the diagonal: are half of them hidden?"
)
def exactly_half(n, d_model, n_heads, causal=False):
    return 4 * n * d_model**2 + n * n * d_model * (1 if causal else 2)


@task.mistake("causal-everywhere", "Does a causal mask spare a projection?")
def projections_halved(n, d_model, n_heads, causal=False):
    found = attention_multiplications(n, d_model, n_heads)
    return found // 2 if causal else found


@task.mistake("additions-counted", "A sum of products: is adding asked for?")
def operations(n, d_model, n_heads, causal=False):
    return 2 * attention_multiplications(n, d_model, n_heads, causal)
