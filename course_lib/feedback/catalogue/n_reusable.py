"""What goes wrong in n_reusable: a cache that is used again."""

from course_lib.feedback.task import Draw, Probe, Task


def n_reusable(cached_ids, prompt_ids, block_size=1):
    return max(
        n
        for n in range(0, len(prompt_ids), block_size)
        if list(cached_ids[:n]) == list(prompt_ids[:n])
    )


task = Task(
    "n_reusable",
    asks="how many tokens of the cache may be kept: an equal beginning, in whole blocks, and "
    "at least one id of the prompt left to be fed.",
    lesson="10_kv_cache",
    reference=n_reusable,
    read="8. Pages",
)

FED = "All of the prompt lies in the cache: where do the next logits come from?"
ENDS = "What if one of the lists ends before the two differ?"
BLOCKS = "Which part of a block may differ, if the block is kept?"
ORDER = "Is a token that stands after a difference still the same to the model?"
KEPT = "2. What is worth keeping?"


@task.inputs
def probes(draw: Draw):
    ids = (10 + draw.order(30)).tolist()
    other = [i + 50 for i in ids]
    yield Probe("two equal ids, then others", [7, 5, 3], [7, 5, 9, 2])
    yield Probe("the same prompt again", [7, 5, 3], [7, 5, 3])
    yield Probe("the prompt goes on", ids[:5], ids[:8])
    yield Probe("the prompt is shorter", ids[:9], ids[:4])
    yield Probe("an empty cache", [], ids[:3])
    yield Probe("other ids", other[:6], ids[:5])
    yield Probe("equal again after a difference", ids[:11], [*ids[:3], 1, *ids[4:11]])
    yield Probe("the same ids, one place later", ids[:6], [1, *ids[:6]])
    yield Probe("blocks of 4", ids[:19], [*ids[:14], *other[14:19]], 4)
    yield Probe("blocks of 4, the same again", ids[:12], ids[:12], 4)
    yield Probe("blocks of 3, one id more", ids[:12], ids[:13], block_size=3)
    yield Probe("blocks of 5, the prompt goes on", ids[:23], ids[:29], block_size=5)


@task.property("something-is-fed", FED)
def something_is_fed(values) -> bool:
    return values["the same prompt again"] < 3


@task.property("whole-blocks", BLOCKS)
def whole_blocks(values) -> bool:
    return values["blocks of 4"] % 4 == 0


def equal(cached_ids, prompt_ids):
    """Count the equal ids at the beginning."""
    n = 0
    for one, other in zip(cached_ids, prompt_ids, strict=False):
        if one != other:
            break
        n += 1
    return n


def blocks(n, block_size):
    """Round down to whole blocks."""
    return n - n % block_size


@task.mistake("runs-past-the-end", ENDS)
def as_published(cached_ids, prompt_ids, block_size=1):
    n = 0
    while cached_ids[n] == prompt_ids[n]:
        n += 1
    return n


@task.mistake("runs-past-the-end", ENDS)
def as_published_with_blocks(cached_ids, prompt_ids, block_size=1):
    n = as_published(cached_ids, prompt_ids)
    return blocks(n, block_size)


@task.mistake("runs-past-the-end", ENDS)
def ends_with_the_prompt(cached_ids, prompt_ids, block_size=1):
    n = 0
    while n < len(prompt_ids) - 1 and cached_ids[n] == prompt_ids[n]:
        n += 1
    return blocks(n, block_size)


@task.mistake("nothing-left-to-feed", FED, KEPT)
def all_of_the_prompt(cached_ids, prompt_ids, block_size=1):
    return blocks(equal(cached_ids, prompt_ids), block_size)


@task.mistake("one-token-always-given-up", "Is there something to feed already?")
def one_less(cached_ids, prompt_ids, block_size=1):
    return blocks(max(0, equal(cached_ids, prompt_ids) - 1), block_size)


@task.mistake("one-token-too-many-given-up", "How many ids must be fed at least?")
def last_cached_is_given_up(cached_ids, prompt_ids, block_size=1):
    n = min(equal(cached_ids, prompt_ids), len(prompt_ids) - 1)
    return blocks(max(0, min(n, len(cached_ids) - 1)), block_size)


@task.mistake("blocks-ignored", BLOCKS)
def tokens_for_blocks(cached_ids, prompt_ids, block_size=1):
    return min(equal(cached_ids, prompt_ids), len(prompt_ids) - 1)


@task.mistake("blocks-rounded-up", BLOCKS)
def rounded_up(cached_ids, prompt_ids, block_size=1):
    n = min(equal(cached_ids, prompt_ids), len(prompt_ids) - 1)
    return blocks(n + block_size - 1, block_size)


@task.mistake("blocks-counted", "Does the crop count tokens or blocks?")
def number_of_blocks(cached_ids, prompt_ids, block_size=1):
    return n_reusable(cached_ids, prompt_ids, block_size) // block_size


@task.mistake(
    "one-id-given-up-after-rounding", "What comes first, blocks or the last id?"
)
def rounded_too_early(cached_ids, prompt_ids, block_size=1):
    n = blocks(equal(cached_ids, prompt_ids), block_size)
    return min(n, len(prompt_ids) - 1)


@task.mistake("one-block-too-many-given-up", "Is there something to feed already?")
def a_whole_block_less(cached_ids, prompt_ids, block_size=1):
    n = blocks(equal(cached_ids, prompt_ids), block_size)
    return max(0, n - block_size) if n >= len(prompt_ids) - 1 else n


@task.mistake("equal-places-counted", ORDER, KEPT)
def equal_anywhere(cached_ids, prompt_ids, block_size=1):
    pairs = zip(cached_ids, prompt_ids, strict=False)
    n = sum(one == other for one, other in pairs)
    return blocks(min(n, len(prompt_ids) - 1), block_size)


@task.mistake("equal-places-counted", ORDER, KEPT)
def equal_before_the_last(cached_ids, prompt_ids, block_size=1):
    pairs = zip(cached_ids, prompt_ids[:-1], strict=False)
    return blocks(sum(one == other for one, other in pairs), block_size)


@task.mistake("ids-in-common", ORDER, KEPT)
def in_both(cached_ids, prompt_ids, block_size=1):
    n = len(set(cached_ids) & set(prompt_ids))
    return blocks(min(n, len(prompt_ids) - 1), block_size)


@task.mistake(
    "left-to-feed-for-kept", "What was asked for: what is kept, or what is fed?"
)
def still_to_feed(cached_ids, prompt_ids, block_size=1):
    return len(prompt_ids) - n_reusable(cached_ids, prompt_ids, block_size)


@task.mistake("all-given-up", "How many ids must be fed at least?")
def starts_anew(cached_ids, prompt_ids, block_size=1):
    n = equal(cached_ids, prompt_ids)
    return 0 if n == len(prompt_ids) else blocks(n, block_size)
