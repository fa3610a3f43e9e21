"""The loop that writes: feed the model its own choices, one id at a time."""

from collections.abc import Iterator, Sequence

from torch import Tensor, nn

from course_lib.generation.prompts import (
    check_end,
    check_room,
    last_logits,
    pad,
    prompt_ids_of,
)
from course_lib.kv_cache import KeyValueCache
from course_lib.sampling import Sampler


def generate(
    model: nn.Module,
    prompt_ids: Sequence[int] | Tensor,
    max_new_tokens: int,
    sampler: Sampler | None = None,
    eos_id: int | None = None,
    cache: bool | KeyValueCache = True,
    memory: Tensor | None = None,
    memory_lengths: Tensor | Sequence[int] | None = None,
) -> list[int]:
    """Continue a prompt until the end token or the budget.

    Args:
        model: a Decoder, or an EncoderDecoder whose decoder writes.
        prompt_ids: (position,) ids; with a caller's cache only those not yet fed, the
            last sampled one included.
        max_new_tokens: budget, 0 or more.
        sampler: chooses each id; None: the largest logit. A repetition penalty counts
            prompt_ids and the new ids.
        eos_id: stop after this id; None: never stop early.
        cache: True makes one for this call, False feeds everything at every step, a
            cache of batch 1 is continued (and still lacks the last id afterwards).
        memory: (1, key, d_model) for cross-attention; None if the cache has it.
        memory_lengths: (1,) int, real places of the memory.

    Returns:
        The new ids, the end token included.

    Raises:
        ValueError: the prompt is empty, the budget negative, prompt and budget
            together exceed what model or cache can hold, or an id or memory does
            not fit.

    Lesson: notebooks/09_sampling.ipynb

    >>> from course_lib.decoder import Decoder, DecoderConfig
    >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
    >>> len(generate(decoder, [1, 2, 3], max_new_tokens=5))
    5
    """
    return list(
        stream(
            model,
            prompt_ids,
            max_new_tokens,
            sampler,
            eos_id,
            cache,
            memory,
            memory_lengths,
        )
    )


def stream(
    model: nn.Module,
    prompt_ids: Sequence[int] | Tensor,
    max_new_tokens: int,
    sampler: Sampler | None = None,
    eos_id: int | None = None,
    cache: bool | KeyValueCache = True,
    memory: Tensor | None = None,
    memory_lengths: Tensor | Sequence[int] | None = None,
) -> Iterator[int]:
    """Yield the ids of `generate` one by one, each as soon as it is chosen.

    Args:
        model: as in generate.
        prompt_ids: as in generate.
        max_new_tokens: as in generate.
        sampler: as in generate.
        eos_id: as in generate.
        cache: as in generate.
        memory: as in generate.
        memory_lengths: as in generate.

    Yields:
        The new ids, the end token included.

    Raises:
        ValueError: as generate, at the call, before the first id is asked for.

    Lesson: notebooks/09_sampling.ipynb

    >>> from course_lib.decoder import Decoder, DecoderConfig
    >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
    >>> ids = stream(decoder, [1, 2, 3], max_new_tokens=5)
    >>> 0 <= next(ids) < 11
    True
    """
    rows = _batches(
        model,
        [prompt_ids],
        max_new_tokens,
        sampler,
        eos_id,
        cache,
        memory,
        memory_lengths,
    )
    return (chosen[0] for chosen in rows)


def generate_batch(
    model: nn.Module,
    prompts: Sequence[Sequence[int] | Tensor],
    max_new_tokens: int,
    sampler: Sampler | None = None,
    eos_id: int | None = None,
    cache: bool | KeyValueCache = True,
    memory: Tensor | None = None,
    memory_lengths: Tensor | Sequence[int] | None = None,
) -> list[list[int]]:
    """Continue several prompts at once; each row gets what it would get alone.

    Prompts may differ in length, and a row that ends waits for the others without
    being fed.

    Args:
        model: as in generate.
        prompts: a list of ids per row.
        max_new_tokens: as in generate, for each row.
        sampler: as in generate.
        eos_id: as in generate.
        cache: as in generate; a caller's cache has a row per prompt.
        memory: (batch, key, d_model).
        memory_lengths: (batch,) int, real places of each memory.

    Returns:
        The new ids of each row, the end token included.

    Raises:
        ValueError: as generate.

    Lesson: notebooks/09_sampling.ipynb

    >>> from course_lib.decoder import Decoder, DecoderConfig
    >>> decoder = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3))
    >>> [len(ids) for ids in generate_batch(decoder, [[1, 2, 3], [5]], max_new_tokens=4)]
    [4, 4]
    """
    written: list[list[int]] = [[] for _ in prompts]
    for chosen in _batches(
        model, prompts, max_new_tokens, sampler, eos_id, cache, memory, memory_lengths
    ):
        for row, new_id in chosen.items():
            written[row].append(new_id)
    return written


def _batches(
    model, prompts, max_new_tokens, sampler, eos_id, cache, memory, memory_lengths
) -> Iterator[dict[int, int]]:
    """Check everything now, then return the generator that writes."""
    decoder = getattr(model, "decoder", model)
    prompts = [prompt_ids_of(prompt) for prompt in prompts]
    if max_new_tokens < 0:
        raise ValueError(
            f"max_new_tokens was {max_new_tokens}; pass a budget of 0 or more"
        )
    if not prompts:
        raise ValueError("no prompts were given; pass at least one list of ids")
    if not isinstance(cache, bool | KeyValueCache):
        raise ValueError(
            f"cache was {cache!r}; pass True, False, or a cache made with model.new_cache"
        )
    if eos_id is not None:
        check_end(decoder, eos_id)
    held = None if isinstance(cache, bool) else cache
    check_room(decoder, held, prompts, max_new_tokens)
    tokens, _ = pad(prompts, decoder.embedding.weight.device)
    decoder.check(tokens, memory, memory_lengths, held)
    if cache is True:
        longest = max(map(len, prompts)) + max_new_tokens
        held = decoder.new_cache(len(prompts), max_length=longest)
    sampler = Sampler(temperature=0) if sampler is None else sampler
    return _write(
        decoder, prompts, max_new_tokens, sampler, eos_id, held, memory, memory_lengths
    )


def _write(
    decoder, prompts, max_new_tokens, sampler, eos_id, cache, memory, memory_lengths
) -> Iterator[dict[int, int]]:
    """Yield, step by step, the new id of each row that still writes."""
    device = decoder.embedding.weight.device
    history = [list(prompt) for prompt in prompts]
    feed, writing = prompts, set(range(len(prompts)))
    for _ in range(max_new_tokens):
        tokens, lengths = pad(feed, device)
        logits = last_logits(decoder, tokens, lengths, cache, memory, memory_lengths)
        chosen = sampler(logits, history).tolist()
        new = {row: chosen[row] for row in sorted(writing)}
        for row, new_id in new.items():
            history[row].append(new_id)
            if new_id == eos_id:
                writing.discard(row)
        yield new
        if not writing:
            return
        if cache is None:
            feed = history
        else:
            memory = memory_lengths = None  # the cache has them now
            feed = [
                [chosen[row]] if row in writing else [] for row in range(len(prompts))
            ]
