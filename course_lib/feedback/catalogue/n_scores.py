"""What goes wrong in n_scores: a prompt in chunks."""

from course_lib.feedback.task import Draw, Probe, Task


def n_scores(n, chunk):
    ends = [min(start + chunk, n) for start in range(0, n, chunk)]
    starts = [0, *ends[:-1]]
    return sum((end - start) * end for start, end in zip(starts, ends, strict=True))


task = Task(
    "n_scores",
    asks="how many scores a plain program computes for n positions in pieces of `chunk`: "
    "queries of the piece times all keys up to its end.",
    lesson="10_kv_cache",
    reference=n_scores,
    read="4. A chunk at a time",
)

KEYS = "How many keys does the second piece read, the first one's included?"
REST = "How many queries has the last piece, and how many keys does it read?"
HIDDEN = "Are pairs that the mask hides left out, or computed and hidden?"


@task.inputs
def probes(draw: Draw):
    chunk = draw.size(5, 9)
    yield Probe("7 positions in chunks of 3", 7, 3)
    yield Probe("6 positions in chunks of 2", 6, 2)
    yield Probe("one by one", 3 + chunk, 1)
    yield Probe("all at once", chunk, chunk)
    yield Probe("a chunk longer than the prompt", chunk, chunk + 6)
    yield Probe("a short rest", 4 * chunk + 1, chunk)
    yield Probe("a long rest", 7 * chunk - 1, chunk)
    yield Probe("a long prompt", 100 * chunk + 3, chunk)


@task.property("whole-numbers", "Can half a score be computed?")
def whole_numbers(values) -> bool:
    return all(float(value) == int(value) for value in values.values())


@task.property("no-more-than-at-once", "Which pairs are computed in chunks only?")
def no_more_than_at_once(values) -> bool:
    return values["6 positions in chunks of 2"] <= 36


@task.mistake("chunks-ignored", "Does the first piece read the last key?")
def at_once(n, chunk):
    return n * n


@task.mistake("hidden-pairs-left-out", HIDDEN, "Definition")
def triangle(n, chunk):
    return n * (n + 1) // 2


@task.mistake("rest-forgotten", REST)
def full_ones_only(n, chunk):
    full = n // chunk
    return chunk**2 * full * (full + 1) // 2


@task.mistake("rest-counted-as-full", REST)
def rounded_up(n, chunk):
    full = -(-n // chunk)
    return chunk**2 * full * (full + 1) // 2


@task.mistake("rest-counted-as-full", REST)
def short_piece_reads_a_full_one(n, chunk):
    full, rest = divmod(n, chunk)
    return full_ones_only(n, chunk) + rest * (full + 1) * chunk


@task.mistake("rest-reads-itself-only", REST)
def square_of_the_rest(n, chunk):
    return full_ones_only(n, chunk) + (n % chunk) ** 2


@task.mistake("rest-by-the-full-formula", REST)
def one_formula(n, chunk):
    return n * (n + chunk) // 2


@task.mistake("rest-by-the-full-formula", REST)
def one_formula_up_to_n(n, chunk):
    return n * (n + min(n, chunk)) // 2


@task.mistake("earlier-keys-forgotten", KEYS)
def squares(n, chunk):
    full, rest = divmod(n, chunk)
    return full * chunk**2 + rest**2


@task.mistake("own-keys-forgotten", "Does a query read the keys of its own piece?")
def earlier_keys_only(n, chunk):
    return n_scores(n, chunk) - squares(n, chunk)


@task.mistake("largest-table", "One table, or all of them together?")
def last_table(n, chunk):
    return (n % chunk or min(n, chunk)) * n


@task.mistake("largest-table", "One table, or all of them together?")
def widest_table(n, chunk):
    return min(n, chunk) * n
