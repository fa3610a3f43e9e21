"""What goes wrong in most_conversations: a pool, and a beginning that is held once."""

from course_lib.feedback.task import Draw, Probe, Task


def most_conversations(n_blocks, block_size, n_shared, n_own):
    whole, rest = divmod(n_shared, block_size)
    n, left = 0, n_blocks - whole
    while left >= rounded_up(rest + n_own, block_size):
        left -= rounded_up(rest + n_own, block_size)
        n += 1
    return n


def rounded_up(n_tokens, block_size):
    """Count the blocks that hold so many tokens."""
    return -(-n_tokens // block_size)


task = Task(
    "most_conversations",
    asks="how many conversations fit into the pool, whole blocks of the common beginning "
    "held once.",
    lesson="13_chat",
    reference=most_conversations,
    read="8. A beginning in common",
)

WHOLE = (
    "10 common tokens in blocks of 4: in which block do they end, and who shares it?"
)
INSIDE = "At which place of a block does the first own token stand?"
ONCE = "The common blocks are held, too: out of which pool?"
SHARED = "How often is a whole block of the common beginning held?"
LAST = "A block has one token in it: how much memory does it take?"
NONE = "What if the pool is smaller than the beginning?"


@task.inputs
def probes(draw: Draw):
    size = draw.size(5, 12)
    shared, own = size * draw.size(4, 9), size * draw.size(2, 5)
    end, rest = draw.size(1, size), draw.size(1, size)
    many = draw.size(200, 400)
    yield Probe("blocks of 4, 8 common tokens", 20, 4, 8, 5)
    yield Probe("blocks of 4, 10 common tokens", 20, 4, 10, 5)
    yield Probe("blocks of 4, 10 common and 7 own tokens", 20, 4, 10, 7)
    yield Probe("nothing in common", many, size, 0, own + end)
    yield Probe("whole blocks in common", many, size, shared, own + end)
    yield Probe("the own tokens end a block", many, size, shared + end, own - end)
    yield Probe("they go on by one", many, size, shared + end, own - end + 1)
    yield Probe("no end at a block", 3 * many, size, shared + end, 3 * own + rest)
    yield Probe("less than a block in common", many, size, end, own)
    yield Probe("a pool that is full of the beginning", shared // size, size, shared, 3)
    yield Probe("a pool that is too small", 2, size, shared + end, own)
    yield Probe("blocks of one token", many, 1, shared, own)


@task.property("never-negative", NONE)
def never_negative(values) -> bool:
    return all(value >= 0 for value in values.values())


@task.property("whole-number", "How many conversations are 2.5 conversations?")
def whole_number(values) -> bool:
    return all(value == int(value) for value in values.values())


def fits(n_blocks, once, each):
    """Count what fits; never less than nothing."""
    return max(0, (n_blocks - once) // max(each, 1))


@task.mistake("sharing-forgotten", SHARED)
def each_holds_all(n_blocks, block_size, n_shared, n_own):
    return fits(n_blocks, 0, rounded_up(n_shared + n_own, block_size))


@task.mistake("shared-held-by-each", SHARED)
def once_and_by_each(n_blocks, block_size, n_shared, n_own):
    once = n_shared // block_size
    return fits(n_blocks, once, rounded_up(n_shared + n_own, block_size))


@task.mistake("shared-not-in-the-pool", ONCE)
def own_blocks_only(n_blocks, block_size, n_shared, n_own):
    once = n_shared // block_size
    return fits(n_blocks, 0, rounded_up(n_shared + n_own, block_size) - once)


@task.mistake("half-a-block-shared", WHOLE)
def shared_rounded_up(n_blocks, block_size, n_shared, n_own):
    once = rounded_up(n_shared, block_size)
    return fits(n_blocks, once, rounded_up(n_own, block_size))


@task.mistake("half-a-block-shared", WHOLE)
def last_shared_block_as_well(n_blocks, block_size, n_shared, n_own):
    once = rounded_up(n_shared, block_size)
    each = rounded_up(n_shared + n_own, block_size) - once
    return fits(n_blocks, once, each)


@task.mistake("own-tokens-rounded-alone", INSIDE)
def rest_of_the_beginning_is_lost(n_blocks, block_size, n_shared, n_own):
    once = n_shared // block_size
    return fits(n_blocks, once, rounded_up(n_own, block_size))


@task.mistake("own-tokens-rounded-alone", INSIDE)
def rest_in_a_block_of_its_own(n_blocks, block_size, n_shared, n_own):
    once, rest = divmod(n_shared, block_size)
    return fits(n_blocks, once, (rest > 0) + rounded_up(n_own, block_size))


@task.mistake("last-block-not-counted", LAST)
def rounded_down(n_blocks, block_size, n_shared, n_own):
    once = n_shared // block_size
    return fits(n_blocks, once, (n_shared + n_own) // block_size - once)


@task.mistake("last-block-not-counted", LAST)
def own_tokens_rounded_down(n_blocks, block_size, n_shared, n_own):
    return fits(n_blocks, n_shared // block_size, n_own // block_size)


@task.mistake(
    "one-block-too-many", "Do 8 tokens fill two blocks of 4, or begin a third?"
)
def always_one_more(n_blocks, block_size, n_shared, n_own):
    once = n_shared // block_size
    return fits(n_blocks, once, (n_shared + n_own) // block_size + 1 - once)


@task.mistake("tokens-for-blocks", LAST)
def by_tokens(n_blocks, block_size, n_shared, n_own):
    return max(0, (n_blocks * block_size - n_shared) // n_own)


@task.mistake("pool-too-small", NONE)
def negative(n_blocks, block_size, n_shared, n_own):
    once = n_shared // block_size
    each = rounded_up(n_shared + n_own, block_size) - once
    return (n_blocks - once) // each


@task.mistake("not-a-whole-number", "How many conversations are 2.5 conversations?")
def not_whole(n_blocks, block_size, n_shared, n_own):
    once = n_shared // block_size
    each = rounded_up(n_shared + n_own, block_size) - once
    return max(0, (n_blocks - once) / each)
