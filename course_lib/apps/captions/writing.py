"""Greedy writing that keeps what its alignment heads read, and starts from a guess."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from course_lib.sampling import suppress

LOOP = 3  # times in a row that a phrase stands when the model has lost itself
LONG = 8  # tokens: nobody says such a phrase twice in a row, so two times are a loop


@dataclass(frozen=True)
class Transcript:
    """What a window says.

    Attributes:
        ids: the new tokens, without the end token.
        weights: (head, token, position): what each alignment head read when it chose
            the tokens before, those in ids, and what stands behind them.
        confidence: mean log-probability of what was chosen, in nats.
    """

    ids: list[int]
    weights: Tensor
    confidence: float


def write(
    model,
    tokenizer,
    memory: Tensor,
    before: Sequence[int] = (),
    guess: Sequence[int] = (),
    limit: int = 200,
) -> Transcript:
    """Write what the memory says behind some ids, always the likeliest token.

    A guess changes nothing but the time: it is fed together with what comes before, and
    as much of it stays as the model would have chosen anyway.

    Args:
        model: a Whisper.
        tokenizer: its SpeechTokenizer.
        memory: (1, position, d_model), what the encoder made of the sound.
        before: ids that the transcript begins with.
        guess: ids that may well follow.
        limit: most new ids, 1 or more.

    Returns:
        A Transcript; a phrase that comes LOOP times in a row, or twice if it is LONG,
        ends it and stays once. What it repeats may stand in before.

    Source: Leviathan et al. (2022), Speculative decoding, arXiv:2211.17192 (the guess);
        Radford et al. (2022), arXiv:2212.04356, section 4.5.
    Lesson: notebooks/14_captions.ipynb
    """
    prompt = [*tokenizer.prompt, *before]
    cache = model.decoder.new_cache()
    fed, guess = [*prompt, *guess], list(guess)
    ids, rows, total = [], [], 0.0
    kept = None
    while len(ids) < limit and kept is None and tokenizer.eos_id not in ids[-1:]:
        record = {}
        tokens = torch.tensor([fed], device=memory.device)
        logits = model.decoder(
            tokens,
            None if ids else memory,
            cache=cache,
            record=record,
            only_last=1 + len(guess),
        )
        logits = suppress(logits[0], tokenizer.suppressed)
        if not ids and not before:
            logits[0] = suppress(logits[0], tokenizer.suppressed_first)
        chosen = logits.argmax(-1).tolist()
        n = 1 + _n_same(chosen, guess)
        total += logits.log_softmax(-1)[range(n), chosen[:n]].sum().item()
        for token_id in chosen[:n]:
            ids.append(token_id)
            kept = _before_loop(before, ids) if kept is None else kept
        n_fed = len(fed) - len(guess) + n - 1
        rows.append(_read_by(model.alignment_heads, record)[:, :n_fed])
        cache.crop(len(prompt) + len(ids) - 1)
        fed, guess = ids[-1:], []
    if kept is None:
        kept = len(ids) - (ids[-1] == tokenizer.eos_id)
    written = ids[:kept]
    weights = torch.cat(rows, dim=1)[:, len(tokenizer.prompt) - 1 :]
    return Transcript(
        written, weights[:, : len(before) + len(written) + 1], total / len(ids)
    )


def _n_same(chosen: list[int], guess: list[int]) -> int:
    """Count the first ids that are as they were guessed."""
    for n, (mine, guessed) in enumerate(zip(chosen, guess, strict=False)):
        if mine != guessed:
            return n
    return len(guess)


def _read_by(heads: Sequence[tuple[int, int]], record: dict) -> Tensor:
    """(head, token, position): the cross-attention weights of some heads."""
    return torch.stack([record["cross", layer][0, head] for layer, head in heads])


def _before_loop(before: Sequence[int], ids: list[int]) -> int | None:
    """Count the ids that stay where a phrase repeats itself at the end; None: nowhere."""
    everything = [*before, *ids]
    for n in range(1, len(everything) // 2 + 1):
        times = 2 if n >= LONG else LOOP
        if everything[-n * times :] == everything[-n:] * times:
            return max(0, len(ids) - n * (times - 1))
    return None
