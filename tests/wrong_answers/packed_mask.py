"""Wrong answers to packed_mask."""

import torch

from course_lib.masks import causal_mask, may_read
from tests.answers import wrong


@wrong("no-causal-mask")
def only_the_same_document(document_ids):
    return document_ids[:, None] == document_ids[None, :]


@wrong("no-causal-mask")
def blocks_of_ones(document_ids):
    _, counts = torch.unique_consecutive(document_ids, return_counts=True)
    blocks = [torch.ones(n, n, dtype=torch.bool) for n in counts.tolist()]
    return torch.block_diag(*blocks).bool()


@wrong("ignores-documents")
def plain_triangle(document_ids):
    return causal_mask(len(document_ids))


@wrong("ignores-documents")
def compares_ids_with_themselves(document_ids):
    n = document_ids.shape[0]
    same = document_ids == document_ids  # noqa: PLR0124
    return torch.tril(torch.ones(n, n)).bool() & same


@wrong("ids-as-positions")
def hands_ids_to_may_read(document_ids):
    return may_read(document_ids, document_ids)


@wrong("ids-as-positions")
def earlier_or_equal_id(document_ids):
    n = len(document_ids)
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        for j in range(i + 1):
            mask[i, j] = document_ids[j] <= document_ids[i]
    return mask


@wrong("positions-restart-only")
def counts_anew_in_each_document(document_ids):
    places, last, count = [], None, 0
    for d in document_ids.tolist():
        count = 0 if d != last else count + 1
        places.append(count)
        last = d
    places = torch.tensor(places)
    return may_read(places, places)


@wrong("ids-as-padding")
def negative_ids_are_padding(document_ids):
    positions = torch.arange(len(document_ids))
    positions = torch.where(document_ids >= 0, positions, -1)
    same = document_ids[:, None] == document_ids[None, :]
    return may_read(positions, positions) & same


@wrong("ids-from-zero")
def counts_up_to_the_largest_id(document_ids):
    n = len(document_ids)
    mask = torch.zeros(n, n, dtype=torch.bool)
    for d in range(int(document_ids.max()) + 1):
        member = document_ids == d
        mask |= member[:, None] & member[None, :]
    return mask.tril()


@wrong("ids-sorted")
def counts_by_sorted_id(document_ids):
    _, counts = torch.unique(document_ids, return_counts=True)
    blocks = [torch.tril(torch.ones(n, n)) for n in counts.tolist()]
    return torch.block_diag(*blocks).bool()


@wrong("neighbours-only")
def looks_one_back(document_ids):
    n = len(document_ids)
    mask = torch.eye(n, dtype=torch.bool)
    for i in range(1, n):
        if document_ids[i] == document_ids[i - 1]:
            mask[i, i - 1] = True
    return mask


@wrong("causal-mask-flipped")
def upper_triangle(document_ids):
    n = len(document_ids)
    same = document_ids.view(n, 1) == document_ids.view(1, n)
    return torch.triu(torch.ones(n, n)).bool() & same


@wrong("causal-mask-flipped")
def column_and_row_swapped(document_ids):
    p = torch.arange(len(document_ids))
    same = document_ids[:, None] == document_ids[None, :]
    return (p[:, None] <= p[None, :]) & same


@wrong("causal-diagonal-masked")
def strictly_before(document_ids):
    p = torch.arange(len(document_ids))
    same = document_ids.unsqueeze(1) == document_ids.unsqueeze(0)
    return same & (p.unsqueeze(0) < p.unsqueeze(1))


@wrong("causal-diagonal-masked")
def may_see_the_next(document_ids):
    same = document_ids.unsqueeze(1) == document_ids.unsqueeze(0)
    return same.tril(diagonal=1)


@wrong("or-for-and")
def either_will_do(document_ids):
    p = torch.arange(len(document_ids))
    return may_read(p, p) | (document_ids[:, None] == document_ids[None, :])


@wrong("bool-polarity-mha-vs-sdpa")
def true_hides(document_ids):
    n = len(document_ids)
    future = torch.ones(n, n).triu(1).bool()
    other = document_ids[:, None] != document_ids[None, :]
    return future | other


@wrong("documents-compared-wrongly")
def other_documents(document_ids):
    p = torch.arange(len(document_ids))
    return may_read(p, p) & (document_ids[:, None] != document_ids)


@wrong("causal-diagonal-masked", "ignores-documents")
def before_in_any_document(document_ids):
    n = len(document_ids)
    return torch.ones(n, n, dtype=torch.bool).tril(-1)


@wrong("causal-mask-flipped", "ids-as-positions")
def later_ids(document_ids):
    return document_ids[:, None] <= document_ids[None, :]
