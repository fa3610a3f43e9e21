"""Right answers to packed_mask."""

import numpy as np
import torch

from course_lib.masks import causal_mask, may_read
from tests.answers import right


@right("may_read and a comparison of ids")
def two_conditions(document_ids):
    positions = torch.arange(document_ids.shape[0])
    same = document_ids[:, None] == document_ids[None, :]
    return may_read(positions, positions) & same


@right("lower triangle of the comparison")
def tril_of_same(document_ids):
    return torch.tril(document_ids.unsqueeze(0) == document_ids.unsqueeze(-1))


@right("nested loops over a list")
def loops(document_ids):
    ids = document_ids.tolist()
    n = len(ids)
    return torch.tensor(
        [[j <= i and ids[i] == ids[j] for j in range(n)] for i in range(n)]
    )


@right("a triangle for each document on the diagonal")
def block_diagonal(document_ids):
    _, counts = torch.unique_consecutive(document_ids, return_counts=True)
    return torch.block_diag(*[causal_mask(n) for n in counts.tolist()]).bool()


@right("first place of the own document")
def from_the_start_of_the_document(document_ids):
    places = torch.arange(len(document_ids))
    start = torch.zeros_like(places)
    for i in range(1, len(places)):
        start[i] = start[i - 1] if document_ids[i] == document_ids[i - 1] else i
    return (places >= start[:, None]) & (places <= places[:, None])


@right("numpy")
def with_numpy(document_ids):
    ids = document_ids.numpy()
    return torch.from_numpy(np.tril(np.equal.outer(ids, ids)))
