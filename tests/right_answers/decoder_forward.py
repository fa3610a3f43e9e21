"""Right answers to decoder_forward, each in its own style."""

from functools import reduce

import torch
import torch.nn.functional as F
from torch import nn

from tests.answers import right


@right("indexing and matmul")
def plain(tokens, token_table, position_table, blocks, final_norm):
    x = token_table[tokens] + position_table[: tokens.shape[1]]
    for block in blocks:
        x = block(x)
    return final_norm(x) @ token_table.T


@right("torch.nn.functional")
def functional(tokens, token_table, position_table, blocks, final_norm):
    batch, n = tokens.size()
    positions = torch.arange(n).unsqueeze(0).expand(batch, n)
    x = F.embedding(tokens, token_table) + F.embedding(positions, position_table)
    for i in range(len(blocks)):
        x = blocks[i](x)
    return F.linear(final_norm(x), token_table)


@right("one-hot vectors and einsum")
def one_hot(tokens, token_table, position_table, blocks, final_norm):
    vocab = token_table.shape[0]
    x = torch.einsum(
        "bpv,vd->bpd", F.one_hot(tokens, vocab).to(token_table.dtype), token_table
    )
    x = x + position_table[None, : x.shape[1], :]
    x = reduce(lambda stream, block: block(stream), blocks, x)
    return torch.einsum("bpd,vd->bpv", final_norm(x), token_table)


@right("modules that hold the tables")
def with_modules(tokens, token_table, position_table, blocks, final_norm):
    embed = nn.Embedding.from_pretrained(token_table)
    head = nn.Linear(token_table.shape[1], token_table.shape[0], bias=False)
    head.weight = embed.weight
    x = embed(tokens)
    x += nn.Embedding.from_pretrained(position_table)(torch.arange(tokens.shape[1]))
    for block in blocks:
        x = block(x)
    x = final_norm(x)
    return head(x)


@right("one row at a time")
def row_by_row(tokens, token_table, position_table, blocks, final_norm):
    logits = []
    for row in tokens:
        x = torch.stack([token_table[t] + position_table[i] for i, t in enumerate(row)])
        x = x.unsqueeze(0)
        for block in blocks:
            x = block(x)
        logits.append(torch.matmul(final_norm(x), token_table.transpose(0, 1)))
    return torch.cat(logits, dim=0)
