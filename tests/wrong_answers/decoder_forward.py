"""Wrong answers to decoder_forward, each with its mistake."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.answers import wrong


@wrong("prenorm-no-final-norm")
def straight_to_the_head(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    for block in blocks:
        x = block(x)
    return x @ token_table.T


@wrong("prenorm-no-final-norm")
def norm_result_dropped(tokens, token_table, position_table, blocks, final_norm):
    positions = torch.arange(tokens.shape[1])
    hidden = F.embedding(tokens, token_table) + F.embedding(positions, position_table)
    for block in blocks:
        hidden = block(hidden)
    final_norm(hidden)
    return F.linear(hidden, token_table)


@wrong("pe-indexed-by-batch")
def positions_by_size_zero(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens]
    x = x + position_table[: x.size(0)].unsqueeze(1)
    for block in blocks:
        x = block(x)
    return final_norm(x) @ token_table.t()


@wrong("pe-indexed-by-batch")
def positions_by_len(tokens, token_table, position_table, blocks, final_norm):
    positions = torch.arange(len(tokens))[:, None].expand_as(tokens)
    h = F.embedding(tokens, token_table) + F.embedding(positions, position_table)
    for block in blocks:
        h = block(h)
    return F.linear(final_norm(h), token_table)


@wrong("positions-missing")
def no_positions(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens]
    for block in blocks:
        x = block(x)
    return final_norm(x) @ token_table.T


@wrong("positions-missing")
def same_position_for_all(tokens, token_table, position_table, blocks, final_norm):
    positions = torch.zeros_like(tokens)
    x = F.embedding(tokens, token_table) + F.embedding(positions, position_table)
    for block in blocks:
        x = block(x)
    return F.linear(final_norm(x), token_table)


@wrong("positions-start-at-one")
def counts_from_one(tokens, token_table, position_table, blocks, final_norm):
    positions = torch.arange(1, tokens.shape[1] + 1)
    positions = positions.clamp(max=len(position_table) - 1)
    x = token_table[tokens] + position_table[positions]
    for block in blocks:
        x = block(x)
    return final_norm(x) @ token_table.T


@wrong("positions-from-the-end")
def last_rows_of_the_table(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[-tokens.shape[1] :]
    for block in blocks:
        x = block(x)
    return F.linear(final_norm(x), token_table)


@wrong("positions-from-token-ids")
def ids_as_positions(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[tokens % len(position_table)]
    for block in blocks:
        x = block(x)
    return final_norm(x) @ token_table.T


@wrong("embedding-scaled")
def as_in_the_paper(tokens, token_table, position_table, blocks, final_norm):
    n, d_model = tokens.shape[1], token_table.shape[1]
    x = token_table[tokens] * math.sqrt(d_model) + position_table[:n]
    for block in blocks:
        x = block(x)
    return final_norm(x) @ token_table.T


@wrong("logits-scaled")
def head_divided_by_root(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    for block in blocks:
        x = block(x)
    return final_norm(x) @ token_table.T / token_table.shape[-1] ** 0.5


@wrong("one-layer-repeated")
def first_block_again(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    for _ in range(len(blocks)):
        x = blocks[0](x)
    return final_norm(x) @ token_table.T


@wrong("one-layer-repeated")
def stack_of_copies(tokens, token_table, position_table, blocks, final_norm):
    x = F.embedding(tokens, token_table) + position_table[None, : tokens.size(1)]
    for block in blocks[:1] * len(blocks):
        x = block(x)
    return F.linear(final_norm(x), token_table)


@wrong("block-skipped")
def stops_before_the_last(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    for i in range(len(blocks) - 1):
        x = blocks[i](x)
    return final_norm(x) @ token_table.T


@wrong("blocks-not-chained")
def every_block_reads_embeddings(
    tokens, token_table, position_table, blocks, final_norm
):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    h = x
    for block in blocks:
        h = block(x)
    return final_norm(h) @ token_table.T


@wrong("blocks-not-chained")
def sum_of_blocks(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    x = x + sum(block(x) for block in blocks)
    return F.linear(final_norm(x), token_table)


@wrong("residual-added-twice")
def one_more_skip(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    for block in blocks:
        x = x + block(x)
    return final_norm(x) @ token_table.T


@wrong("norm-after-every-block")
def norm_in_the_loop(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    for block in blocks:
        x = final_norm(block(x))
    return x @ token_table.T


@wrong("final-norm-misplaced")
def norm_before_the_blocks(tokens, token_table, position_table, blocks, final_norm):
    x = final_norm(token_table[tokens] + position_table[: tokens.shape[1]])
    for block in blocks:
        x = block(x)
    return x @ token_table.T


@wrong("final-norm-misplaced")
def blocks_after_the_norm(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    for block in [final_norm, *blocks]:
        x = block(x)
    return F.linear(x, token_table)


@wrong("head-not-tied")
def head_of_its_own(tokens, token_table, position_table, blocks, final_norm):
    vocab, d_model = token_table.shape
    head = nn.Linear(d_model, vocab, bias=False)
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    for block in blocks:
        x = block(x)
    return head(final_norm(x))


@wrong("head-has-bias")
def mean_taken_off(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    for block in blocks:
        x = block(x)
    return F.linear(final_norm(x), token_table, bias=-token_table.mean(dim=1))


@wrong("softmax-on-logits")
def gives_probabilities(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    for block in blocks:
        x = block(x)
    return torch.softmax(final_norm(x) @ token_table.T, dim=-1)


@wrong("softmax-on-logits")
def gives_log_probabilities(tokens, token_table, position_table, blocks, final_norm):
    x = F.embedding(tokens, token_table) + position_table[: tokens.shape[1]]
    for block in blocks:
        x = block(x)
    return F.log_softmax(F.linear(final_norm(x), token_table), dim=-1)


@wrong("only-last-position")
def scores_the_last_only(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    for block in blocks:
        x = block(x)
    return final_norm(x)[:, -1:] @ token_table.T


@wrong("first-row-only")
def batch_of_one(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens[0]] + position_table[: len(tokens[0])]
    x = x[None]
    for block in blocks:
        x = block(x)
    return (final_norm(x) @ token_table.T).expand(len(tokens), -1, -1)


@wrong("blocks-reversed")
def last_block_first(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    for block in reversed(blocks):
        x = block(x)
    return final_norm(x) @ token_table.T


@wrong("input-changed-in-place")
def writes_into_the_table(tokens, token_table, position_table, blocks, final_norm):
    for i in range(tokens.shape[1]):
        token_table[tokens[:, i]] += position_table[i]
    x = token_table[tokens]
    for block in blocks:
        x = block(x)
    return final_norm(x) @ token_table.T


@wrong("batch-first-mixup")
def time_first(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens.T] + position_table[: tokens.shape[1], None]
    for block in blocks:
        x = block(x)
    return (final_norm(x) @ token_table.T).transpose(0, 1)


@wrong("prenorm-no-final-norm", "positions-missing")
def neither_norm_nor_positions(tokens, token_table, position_table, blocks, final_norm):
    x = F.embedding(tokens, token_table)
    for block in blocks:
        x = block(x)
    return F.linear(x, token_table)


@wrong("softmax-on-logits", "embedding-scaled")
def scaled_and_squashed(tokens, token_table, position_table, blocks, final_norm):
    x = F.embedding(tokens, token_table) * token_table.shape[1] ** 0.5
    x = x + position_table[: tokens.shape[1]]
    for block in blocks:
        x = block(x)
    return F.linear(final_norm(x), token_table).softmax(-1)
