"""What goes wrong in decoder_forward."""

import torch

from course_lib.feedback.adapters.answers import Named, settled, written
from course_lib.feedback.task import Draw, Probe, Task


def decoder_forward(tokens, token_table, position_table, blocks, final_norm):
    """Score every next token: embed, pass the blocks, norm, compare with the table.

    Args:
        tokens: (batch, position) int.
        token_table: (vocab, d_model), the embedding and the head.
        position_table: (max_length, d_model).
        blocks: functions of (batch, position, d_model).
        final_norm: a function of the same.

    Returns:
        logits: (batch, position, vocab).

    Source: Radford et al. (2019), section 2.3.

    >>> table = torch.eye(3)
    >>> decoder_forward(torch.tensor([[2, 0]]), table, 0 * table, [], lambda x: x)
    tensor([[[0., 0., 1.],
             [1., 0., 0.]]])
    """
    residual = token_table[tokens] + position_table[: tokens.shape[1]]
    for block in blocks:
        residual = block(residual)
    return final_norm(residual) @ token_table.T


def use(answer, tokens, token_table, position_table, blocks, final_norm):
    """Call the answer; one that draws numbers of its own gives two results."""
    given = tokens, token_table, position_table, blocks, final_norm
    return settled(lambda: written(answer(*given)))


task = Task(
    "decoder_forward",
    asks="logits (batch, position, vocab): token and position vectors added, the blocks "
    "in turn, the final norm, the token table as head.",
    lesson="08_decoder",
    reference=decoder_forward,
    use=use,
    read="4. The decoder",
)

POSITION = "Which row of position_table belongs to the first token?"
NORM = "In a pre-norm stack, who normalises the last block's output?"
HEAD = "Which table turns a vector into scores of ids, and with what factor?"
ORDER = "Through which blocks does the stream pass, and in which order?"
STREAM = "A block gives the new stream: what is left to add?"


@task.inputs
def probes(draw: Draw):
    tables = draw.normal(3, 2), torch.zeros(4, 2)
    yield Probe(
        "one token, no blocks, no norm", draw.ints(0, 3, 1, 1), *tables, [], same
    )
    tables = draw.normal(5, 3), draw.normal(7, 3)
    yield Probe("with positions", draw.ints(0, 5, 1, 4), *tables, [], same)
    yield Probe("a block", draw.ints(0, 5, 2, 3), *tables, [plus_two], same)
    yield Probe("two blocks", draw.ints(0, 5, 2, 3), *tables, [plus_two, squares], same)
    yield Probe("a final norm", draw.ints(0, 5, 1, 3), *tables, [squares], halves)
    tables = draw.normal(11, 4), draw.normal(9, 4)
    tokens, blocks = draw.ints(0, 11, 2, 5), [before, squares, plus_two]
    yield Probe("three blocks, one reads its neighbour", tokens, *tables, blocks, unit)
    yield Probe(
        "more rows than places", draw.ints(0, 11, 7, 3), *tables, [before], unit
    )
    yield Probe(
        "as long as the table", draw.ints(0, 11, 2, 9), *tables, [squares], unit
    )


same = Named("x -> x", lambda x: x)
plus_two = Named("x -> x + 2", lambda x: x + 2)
squares = Named("x -> x + x²", lambda x: x + x**2)
halves = Named("x -> x / 2 - 1", lambda x: x / 2 - 1)
before = Named("x -> x + 0.5 * x of the place before", lambda x: x + 0.5 * shifted(x))
unit = Named(
    "x -> 3 * x / root of mean x²", lambda x: 3 * x / x.square().mean(-1, True).sqrt()
)


def shifted(x):
    """Return x of the place before, 0 at the first."""
    return torch.cat((torch.zeros_like(x[:, :1]), x[:, :-1]), 1)


@task.property("shape", HEAD)
def shape(values) -> bool:
    return tuple(values["more rows than places"].shape) == (7, 3, 11)


@task.mistake(
    "positions-missing", "Would your model notice if the tokens changed places?"
)
def no_positions(tokens, token_table, position_table, blocks, final_norm):
    return logits(token_table[tokens], token_table, blocks, final_norm)


@task.mistake("pe-indexed-by-batch", "What does tokens.shape[0] count?")
def position_by_row(tokens, token_table, position_table, blocks, final_norm):
    places = position_table[: len(tokens)][:, None]
    return logits(token_table[tokens] + places, token_table, blocks, final_norm)


@task.mistake("pe-indexed-by-batch", "What does tokens.shape[0] count?")
def position_by_batch_size(tokens, token_table, position_table, blocks, final_norm):
    places = position_table[: tokens.shape[0]]
    return logits(token_table[tokens] + places, token_table, blocks, final_norm)


@task.mistake("positions-off-by-one", POSITION)
def from_one(tokens, token_table, position_table, blocks, final_norm):
    places = position_table[1 : tokens.shape[1] + 1]
    return logits(token_table[tokens] + places, token_table, blocks, final_norm)


@task.mistake("positions-from-the-end", POSITION)
def from_the_end(tokens, token_table, position_table, blocks, final_norm):
    places = position_table[-tokens.shape[1] :]
    return logits(token_table[tokens] + places, token_table, blocks, final_norm)


@task.mistake("positions-from-the-end", POSITION)
def backwards(tokens, token_table, position_table, blocks, final_norm):
    places = position_table[: tokens.shape[1]].flip(0)
    return logits(token_table[tokens] + places, token_table, blocks, final_norm)


@task.mistake("one-position-for-all", POSITION)
def first_place_for_all(tokens, token_table, position_table, blocks, final_norm):
    residual = token_table[tokens] + position_table[0]
    return logits(residual, token_table, blocks, final_norm)


@task.mistake("one-position-for-all", POSITION)
def last_place_for_all(tokens, token_table, position_table, blocks, final_norm):
    residual = token_table[tokens] + position_table[tokens.shape[1] - 1]
    return logits(residual, token_table, blocks, final_norm)


@task.mistake(
    "position-of-the-id", "What is the index into position_table: an id, or a place?"
)
def position_of_the_id(tokens, token_table, position_table, blocks, final_norm):
    places = position_table[tokens % len(position_table)]
    return logits(token_table[tokens] + places, token_table, blocks, final_norm)


@task.mistake(
    "positions-at-the-wrong-place", "Before which block is the position added?"
)
def positions_after_the_blocks(tokens, token_table, position_table, blocks, final_norm):
    residual = token_table[tokens]
    for block in blocks:
        residual = block(residual)
    residual = residual + position_table[: tokens.shape[1]]
    return final_norm(residual) @ token_table.T


@task.mistake(
    "positions-at-the-wrong-place", "Before which block is the position added?"
)
def positions_before_each(tokens, token_table, position_table, blocks, final_norm):
    residual, places = token_table[tokens], position_table[: tokens.shape[1]]
    for block in blocks:
        residual = block(residual + places)
    return final_norm(residual) @ token_table.T


@task.mistake("positions-multiplied", "Are the two vectors added?")
def multiplied(tokens, token_table, position_table, blocks, final_norm):
    residual = token_table[tokens] * position_table[: tokens.shape[1]]
    return logits(residual, token_table, blocks, final_norm)


@task.mistake(
    "embedding-scaled",
    "What do you do to a token's vector before the position is added?",
)
def embedding_scaled(tokens, token_table, position_table, blocks, final_norm):
    residual = token_table[tokens] * token_table.shape[1] ** 0.5
    residual = residual + position_table[: tokens.shape[1]]
    return logits(residual, token_table, blocks, final_norm)


@task.mistake("prenorm-no-final-norm", NORM)
def no_final_norm(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    return logits(residual, token_table, blocks, same)


@task.mistake("norm-at-the-wrong-place", NORM)
def norm_before_the_blocks(tokens, token_table, position_table, blocks, final_norm):
    residual = final_norm(embedded(tokens, token_table, position_table))
    return logits(residual, token_table, blocks, same)


@task.mistake("norm-at-the-wrong-place", NORM)
def norm_after_the_head(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    return final_norm(logits(residual, token_table, blocks, same))


@task.mistake("norm-after-every-block", "How often is the final norm used?")
def norm_after_every_block(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    for block in blocks:
        residual = final_norm(block(residual))
    return (residual if blocks else final_norm(residual)) @ token_table.T


@task.mistake("norm-after-every-block", "How often is the final norm used?")
def norm_before_every_block(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    for block in blocks:
        residual = block(final_norm(residual))
    return final_norm(residual) @ token_table.T


@task.mistake("norm-after-every-block", "How often is the final norm used?")
def norm_twice(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    for block in blocks:
        residual = final_norm(block(residual))
    return final_norm(residual) @ token_table.T


@task.mistake("one-layer-repeated", ORDER)
def first_block_repeated(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    return logits(residual, token_table, blocks[:1] * len(blocks), final_norm)


@task.mistake("blocks-left-out", ORDER)
def first_block_only(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    return logits(residual, token_table, blocks[:1], final_norm)


@task.mistake("blocks-left-out", ORDER)
def no_blocks(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    return logits(residual, token_table, [], final_norm)


@task.mistake("blocks-left-out", ORDER)
def last_block_only(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    return logits(residual, token_table, blocks[-1:], final_norm)


@task.mistake("blocks-left-out", ORDER)
def all_but_the_last(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    return logits(residual, token_table, blocks[:-1], final_norm)


@task.mistake("blocks-backwards", ORDER)
def blocks_backwards(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    return logits(residual, token_table, blocks[::-1], final_norm)


@task.mistake("residual-added-twice", STREAM)
def residual_added_again(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    for block in blocks:
        residual = residual + block(residual)
    return final_norm(residual) @ token_table.T


@task.mistake("blocks-side-by-side", ORDER)
def summed_side_by_side(tokens, token_table, position_table, blocks, final_norm):
    start = embedded(tokens, token_table, position_table)
    residual = sum([block(start) for block in blocks], start)
    return final_norm(residual) @ token_table.T


@task.mistake("double-softmax-in-loss", "Does whoever takes your result expect logits?")
def probabilities(tokens, token_table, position_table, blocks, final_norm):
    return decoder_forward(
        tokens, token_table, position_table, blocks, final_norm
    ).softmax(-1)


@task.mistake("double-softmax-in-loss", "Does whoever takes your result expect logits?")
def log_probabilities(tokens, token_table, position_table, blocks, final_norm):
    return decoder_forward(
        tokens, token_table, position_table, blocks, final_norm
    ).log_softmax(-1)


@task.mistake("head-missing", HEAD)
def no_head(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    for block in blocks:
        residual = block(residual)
    return final_norm(residual)


@task.mistake("head-scaled", HEAD)
def head_scaled(tokens, token_table, position_table, blocks, final_norm):
    scores = decoder_forward(tokens, token_table, position_table, blocks, final_norm)
    return scores / token_table.shape[1] ** 0.5


@task.mistake("head-not-tied", HEAD)
def head_of_its_own(tokens, token_table, position_table, blocks, final_norm):
    head = torch.nn.Linear(token_table.shape[1], len(token_table), bias=False)
    residual = embedded(tokens, token_table, position_table)
    return logits(residual, head.weight, blocks, final_norm)


@task.mistake("head-is-another-table", HEAD)
def position_table_as_head(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table)
    return logits(residual, position_table, blocks, final_norm)


@task.mistake(
    "last-position-only", "How many positions does the model learn from at once?"
)
def last_position_only(tokens, token_table, position_table, blocks, final_norm):
    scores = decoder_forward(tokens, token_table, position_table, blocks, final_norm)
    return scores[:, -1]


@task.mistake(
    "last-position-only", "How many positions does the model learn from at once?"
)
def last_position_kept_axis(tokens, token_table, position_table, blocks, final_norm):
    scores = decoder_forward(tokens, token_table, position_table, blocks, final_norm)
    return scores[:, -1:]


@task.mistake("first-row-only", "Whose tokens stand in row 1 of your result?")
def first_row_only(tokens, token_table, position_table, blocks, final_norm):
    first = tokens[:1].expand_as(tokens)
    return decoder_forward(first, token_table, position_table, blocks, final_norm)


@task.mistake(
    "batch-and-position-swapped", "Which axis do the blocks take for the position?"
)
def position_first(tokens, token_table, position_table, blocks, final_norm):
    residual = embedded(tokens, token_table, position_table).transpose(0, 1)
    return logits(residual, token_table, blocks, final_norm).transpose(0, 1)


def embedded(tokens, token_table, position_table):
    """Return token and position vectors, added."""
    return token_table[tokens] + position_table[: tokens.shape[1]]


def logits(residual, head, blocks, final_norm):
    """Pass the blocks, the norm and the head."""
    for block in blocks:
        residual = block(residual)
    return final_norm(residual) @ head.T
