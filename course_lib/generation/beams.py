"""Beam search: several continuations at once, the best by score."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from course_lib.generation.prompts import (
    check_end,
    check_room,
    last_logits,
    prompt_ids_of,
)
from course_lib.sampling import top_k


def beam_search(
    model: nn.Module,
    prompt_ids: Sequence[int] | Tensor,
    n_beams: int,
    max_new_tokens: int,
    eos_id: int,
    length_penalty: float = 1.0,
    memory: Tensor | None = None,
    memory_lengths: Tensor | Sequence[int] | None = None,
    record: list | None = None,
) -> list[tuple[list[int], float]]:
    """Keep the n_beams best continuations at every step, finished ones among them.

    The score of a continuation is the sum of the log-probabilities of its new tokens,
    the end token counted, divided by their number to the power length_penalty. A
    finished continuation keeps its place only while its score is among the best. The
    search ends when all kept ones are finished, or at the budget; those that are not
    finished then are returned as they stand. With one beam this is greedy decoding.

    Args:
        model: a Decoder, or an EncoderDecoder whose decoder writes.
        prompt_ids: (position,) ids.
        n_beams: continuations to keep, at least 1.
        max_new_tokens: budget of each.
        eos_id: the id that finishes a continuation.
        length_penalty: 0 compares sums, 1 means; above 1 favours long ones.
        memory: (1, key, d_model) for cross-attention.
        memory_lengths: (1,) int, real places of the memory.
        record: a list that receives what is kept after each step, best first:
            [(new ids, sum of log-probabilities)].

    Returns:
        [(new ids, score)], at most n_beams, best first.

    Raises:
        ValueError: n_beams is smaller than 1, or as generate.

    Source: Wu et al. (2016), arXiv:1609.08144, section 7 (length normalisation).
    Lesson: notebooks/09_sampling.ipynb

    >>> from course_lib.decoder import Decoder, DecoderConfig
    >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
    >>> found = beam_search(decoder, [1, 2], n_beams=3, max_new_tokens=5, eos_id=0)
    >>> len(found)
    3
    """
    decoder = getattr(model, "decoder", model)
    if n_beams < 1:
        raise ValueError(f"n_beams was {n_beams}; pass at least 1")
    if max_new_tokens < 0:
        raise ValueError(
            f"max_new_tokens was {max_new_tokens}; pass a budget of 0 or more"
        )
    check_end(decoder, eos_id)
    prompt = prompt_ids_of(prompt_ids)
    check_room(decoder, None, [prompt], max_new_tokens)
    feed = torch.tensor([prompt], device=decoder.embedding.weight.device)
    decoder.check(feed, memory, memory_lengths)
    cache = decoder.new_cache(1, max_length=len(prompt) + max_new_tokens)
    beams = [([], 0.0)]  # (new ids, sum of log-probabilities)
    for _ in range(max_new_tokens):
        logits = last_logits(decoder, feed, None, cache, memory, memory_lengths)
        memory = memory_lengths = None
        beams, parents = _extend_beams(beams, logits, n_beams, eos_id, length_penalty)
        if record is not None:
            record.append(beams)
        if not parents:
            break
        cache.reorder(parents)
        last = [[ids[-1]] for ids, _ in beams if ids[-1] != eos_id]
        feed = torch.tensor(last, device=feed.device)
    return [(ids, _score(ids, total, length_penalty)) for ids, total in beams]


def _score(ids: list[int], total: float, length_penalty: float) -> float:
    return total / max(len(ids), 1) ** length_penalty


def _extend_beams(
    beams: list[tuple[list[int], float]],
    logits: Tensor,
    n_beams: int,
    eos_id: int,
    length_penalty: float,
) -> tuple[list[tuple[list[int], float]], list[int]]:
    """Extend the unfinished beams, keep the best of all, name the rows they grew from.

    Row i of logits (row, vocab) belongs to the i-th beam that is not finished. Of equal
    scores the earlier beam and the lower id win, as in greedy decoding.
    """
    finished = [beam for beam in beams if beam[0] and beam[0][-1] == eos_id]
    unfinished = [beam for beam in beams if beam not in finished]
    totals = torch.tensor([total for _, total in unfinished], dtype=torch.float64)
    sums = totals[:, None] + logits.double().log_softmax(-1).cpu()
    # All sums belong to continuations of one length, so their best have the best scores.
    best = top_k(sums.flatten(), n_beams).reshape(sums.shape)
    candidates = [(ids, total, None) for ids, total in finished]
    for row, new_id in (best > -torch.inf).nonzero().tolist():
        new_ids = unfinished[row][0] + [new_id]
        candidates.append((new_ids, best[row, new_id].item(), row))
    candidates.sort(key=lambda c: -_score(c[0], c[1], length_penalty))
    kept = candidates[:n_beams]
    parents = [row for ids, _, row in kept if row is not None and ids[-1] != eos_id]
    return [(ids, total) for ids, total, _ in kept], parents
