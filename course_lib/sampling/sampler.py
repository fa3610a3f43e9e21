"""The sampler: the filters in order, then one draw per row."""

from collections.abc import Sequence

import torch
from torch import Tensor

from course_lib.sampling.filters import (
    apply_temperature,
    check_logits,
    min_p,
    probabilities_of,
    repetition_penalty,
    suppress,
    top_k,
    top_p,
)


class Sampler:
    """Choose the next id of each row: all filters in order, then a draw.

    The order is suppress, penalty, temperature, top-k, top-p, min-p.

    Every row draws from its own generator, so a row in a batch gets the ids that it
    would get alone, from a sampler that has drawn as often. Rows with the same prompt
    and seed therefore get the same ids.

    Args:
        temperature: 0 chooses the largest logit and draws nothing.
        top_k: as in top_k(); None: off.
        top_p: as in top_p(); None: off.
        min_p: as in min_p(); None: off.
        repetition_penalty: as in repetition_penalty(); None: off.
        seed: starts every row's generator; a list gives one per row; None: by chance.
        suppress: as in suppress(); None: off.

    Raises:
        ValueError: a setting is outside its range.

    Lesson: notebooks/09_sampling.ipynb

    >>> Sampler(temperature=0)(torch.tensor([[0.0, 2.0, 1.0]]))
    tensor([1])
    """

    def __init__(
        self,
        temperature: float = 1.0,
        top_k: int | None = None,
        top_p: float | None = None,
        min_p: float | None = None,
        repetition_penalty: float | None = None,
        seed: int | Sequence[int] | None = None,
        suppress: Sequence[int] | None = None,
    ):
        self.temperature, self.top_k, self.top_p, self.min_p = (
            temperature,
            top_k,
            top_p,
            min_p,
        )
        self.repetition_penalty, self.seed = repetition_penalty, seed
        self.suppress = None
        seeds = (
            seed if isinstance(seed, list | tuple) else [] if seed is None else [seed]
        )
        if not all(type(one) is int for one in seeds):
            raise ValueError(
                f"seed was {seed!r}; pass a whole number, a list of them, or None"
            )
        self._generators: list[torch.Generator] = []
        self.filtered(
            torch.zeros(1, 2), [[]]
        )  # wrong settings are named here, not later
        self.suppress = suppress  # but for ids, which only a vocabulary can judge

    def filtered(self, logits: Tensor, history=None) -> Tensor:
        """Apply the penalty and all filters, in order.

        Args:
            logits: (batch, vocab) float.
            history: as in repetition_penalty(); needed only for a penalty.

        Returns:
            logits: (batch, vocab), -inf where an id cannot be drawn.

        Raises:
            ValueError: a penalty is set and no history given, logits hold NaN, or
                suppress does not fit them.
        """
        if self.suppress is not None:
            logits = suppress(logits, self.suppress)
        if self.repetition_penalty is not None:
            if history is None:
                raise ValueError(
                    "this sampler has a repetition_penalty and got no history; pass the ids of "
                    "each row so far"
                )
            logits = repetition_penalty(logits, history, self.repetition_penalty)
        logits = apply_temperature(logits, self.temperature)
        for setting, keep in (
            (self.top_k, top_k),
            (self.top_p, top_p),
            (self.min_p, min_p),
        ):
            if setting is not None:
                logits = keep(logits, setting)
        return logits

    def __call__(self, logits: Tensor, history=None) -> Tensor:
        """Choose one id per row.

        Args:
            logits: (batch, vocab) float.
            history: as in repetition_penalty().

        Returns:
            ids: (batch,) int64, on the device of the logits.

        Raises:
            ValueError: logits are not (batch, vocab), hold NaN or +inf, or hide every id;
                a penalty is set and no history given; a row has no seed.
        """
        if logits.ndim != 2:
            raise ValueError(
                f"logits have shape {tuple(logits.shape)}; pass (batch, vocab)"
            )
        check_logits(logits)
        if bool((logits.amax(-1).isinf()).any()):
            raise ValueError(
                "a row of logits holds +inf or nothing but -inf, so it has no probabilities; "
                "look for an overflow or a filter that hides every id"
            )
        kept = self.filtered(logits, history)
        if self.temperature == 0:
            return kept.argmax(-1)
        probabilities = probabilities_of(kept).cpu()
        drawn = [
            torch.multinomial(row, 1, generator=self._generator(index))
            for index, row in enumerate(probabilities)
        ]
        return torch.cat(drawn).to(logits.device)

    def _generator(self, row: int) -> torch.Generator:
        """Return the generator of a row, made when the row first draws."""
        while len(self._generators) <= row:
            generator, index = torch.Generator(), len(self._generators)
            if self.seed is None:
                generator.seed()
            elif isinstance(self.seed, int):
                generator.manual_seed(self.seed)
            elif index < len(self.seed):
                generator.manual_seed(self.seed[index])
            else:
                raise ValueError(
                    f"row {index} has no seed; {len(self.seed)} were given, pass one a row, or "
                    f"one number for all"
                )
            self._generators.append(generator)
        return self._generators[row]
