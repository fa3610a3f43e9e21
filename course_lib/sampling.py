"""From logits to the next id: filters that hide ids, and a sampler that draws one.

A filter takes logits and returns new ones, with -inf where an id is hidden. None of
them reorders the ids that stay.
"""

from collections.abc import Sequence

import torch
from torch import Tensor


def apply_temperature(logits: Tensor, temperature: float) -> Tensor:
    """Sharpen (below 1) or flatten (above 1) the distribution: logits / temperature.

    Args:
        logits: (..., vocab) float.
        temperature: 0 or more; 0 keeps only the largest logit, the lowest id of equals.

    Returns:
        logits: the same shape.

    Raises:
        ValueError: temperature is negative or not finite, or logits hold NaN.

    Source: Ackley, Hinton, Sejnowski (1985), A learning algorithm for Boltzmann machines.
    Lesson: notebooks/09_sampling.ipynb

    >>> apply_temperature(torch.tensor([1.0, 3.0]), 2.0)
    tensor([0.5000, 1.5000])
    >>> apply_temperature(torch.tensor([1.0, 3.0, 3.0]), 0)
    tensor([-inf, 3., -inf])
    """
    _check(logits)
    if not 0 <= temperature < float("inf"):
        raise ValueError(
            f"temperature was {temperature}; pass a finite number of 0 or more (0 = greedy)"
        )
    if temperature == 0:
        best = logits.argmax(-1, keepdim=True)
        hidden = torch.ones_like(logits, dtype=torch.bool).scatter(-1, best, False)
        return logits.masked_fill(hidden, -torch.inf)
    # What is smaller is 0 in float32, and 0 / 0 is NaN.
    temperature = max(temperature, torch.finfo(torch.float32).tiny)
    cooled = logits / temperature
    overflows = (cooled.isinf() & logits.isfinite()).any(-1, keepdim=True)
    if bool(overflows.any()):
        # Shifting first changes no probability. Only in that row, so that a row does
        # not depend on its batch; and by a finite number, since inf - inf is NaN.
        limits = torch.finfo(logits.dtype)
        largest = logits.amax(-1, keepdim=True).clamp(limits.min, limits.max)
        cooled = torch.where(overflows, (logits - largest) / temperature, cooled)
    return cooled


def top_k(logits: Tensor, k: int) -> Tensor:
    """Keep the k largest logits, no more and no fewer; of equals, the lowest ids.

    Args:
        logits: (..., vocab) float.
        k: at least 1; vocab or more keeps all.

    Returns:
        logits: the same shape, -inf where hidden.

    Raises:
        ValueError: k is smaller than 1 or not a whole number, or logits hold NaN.

    Source: Fan, Lewis, Dauphin (2018), arXiv:1805.04833, section 5.4.
    Lesson: notebooks/09_sampling.ipynb

    >>> top_k(torch.tensor([2.0, 5.0, 2.0]), 2)
    tensor([2., 5., -inf])
    """
    _check(logits)
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ValueError(
            f"k was {k!r}; pass how many ids to keep, a whole number of at least 1"
        )
    if k >= logits.shape[-1]:
        return logits.clone()
    least = logits.topk(k, dim=-1).values[..., -1:]
    above, equal = logits > least, logits == least
    room = k - above.sum(-1, keepdim=True)
    kept = above | (equal & (equal.cumsum(-1) <= room))
    return logits.masked_fill(~kept, -torch.inf)


def top_p(logits: Tensor, p: float) -> Tensor:
    """Keep the fewest most probable ids whose probabilities sum to p or more.

    The id that crosses p is kept, so there is always one. Equal probabilities are
    taken in the order of their ids.

    Args:
        logits: (..., vocab) float.
        p: above 0, at most 1; 1 keeps all.

    Returns:
        logits: the same shape, -inf where hidden.

    Raises:
        ValueError: p is not in (0, 1], or logits hold NaN.

    Source: Holtzman et al. (2020), arXiv:1904.09751, section 3.1.
    Lesson: notebooks/09_sampling.ipynb

    >>> top_p(torch.tensor([0.5, 0.3, 0.2]).log(), 0.7).exp()
    tensor([0.5000, 0.3000, 0.0000])
    """
    _check(logits)
    _check_share("p", p)
    if p == 1:
        return logits.clone()
    ordered, ids = _probabilities(logits).sort(dim=-1, descending=True, stable=True)
    mass_before = ordered.double().cumsum(-1) - ordered.double()
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, ids, mass_before < p)
    return logits.masked_fill(~kept, -torch.inf)


def min_p(logits: Tensor, p: float) -> Tensor:
    """Keep the ids at least p times as probable as the most probable one.

    Args:
        logits: (..., vocab) float.
        p: above 0, at most 1.

    Returns:
        logits: the same shape, -inf where hidden.

    Raises:
        ValueError: p is not in (0, 1], or logits hold NaN.

    Source: Nguyen et al. (2024), arXiv:2407.01082, section 3.
    Lesson: notebooks/09_sampling.ipynb

    >>> min_p(torch.tensor([0.5, 0.3, 0.2]).log(), 0.5).exp()
    tensor([0.5000, 0.3000, 0.0000])
    """
    _check(logits)
    _check_share("p", p)
    probabilities = _probabilities(logits)
    kept = probabilities >= p * probabilities.amax(-1, keepdim=True)
    return logits.masked_fill(~kept, -torch.inf)


def repetition_penalty(
    logits: Tensor, history: Tensor | Sequence[Sequence[int]], penalty: float
) -> Tensor:
    """Make ids that were already written less likely, once each, however often they came.

    A positive logit is divided by the penalty, a negative one multiplied.

    Args:
        logits: (batch, vocab) float.
        history: (batch, position) int, or a list of ids per row.
        penalty: above 0; 1 changes nothing, above 1 discourages.

    Returns:
        logits: the same shape.

    Raises:
        ValueError: penalty is not above 0, history does not fit or holds unknown ids,
            or logits hold NaN.

    Source: Keskar et al. (2019), CTRL, arXiv:1909.05858, section 4.1.
    Lesson: notebooks/09_sampling.ipynb

    >>> repetition_penalty(torch.tensor([[2.0, -2.0, 3.0]]), [[0, 1, 1]], 2.0)
    tensor([[ 1., -4.,  3.]])
    """
    _check(logits)
    if not 0 < penalty < float("inf"):
        raise ValueError(
            f"penalty was {penalty}; pass a finite number above 0 (1 = no penalty)"
        )
    if logits.ndim != 2 or len(history) != len(logits):
        raise ValueError(
            f"repetition_penalty was given logits {tuple(logits.shape)} and a history of "
            f"{len(history)} rows; it needs (batch, vocab) and one history per row"
        )
    seen = torch.zeros_like(logits, dtype=torch.bool)
    for row, ids in enumerate(history):
        ids = torch.as_tensor(ids, dtype=torch.long, device=logits.device)
        if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < logits.shape[-1]:
            raise ValueError(
                f"history row {row} holds ids from {int(ids.min())} to {int(ids.max())}; this "
                f"vocabulary has ids 0 to {logits.shape[-1] - 1}"
            )
        seen[row, ids] = True
    penalised = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, penalised, logits)


class Sampler:
    """Choose the next id of each row: penalty, temperature, top-k, top-p, min-p, draw.

    Every row draws from its own generator, so a row in a batch gets the ids that it
    would get alone; rows with the same prompt and seed therefore get the same ids.

    Args:
        temperature: 0 chooses the largest logit and draws nothing.
        top_k: as in top_k(); None: off.
        top_p: as in top_p(); None: off.
        min_p: as in min_p(); None: off.
        repetition_penalty: as in repetition_penalty(); None: off.
        seed: starts every row's generator; a list gives one per row; None: by chance.

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
    ):
        self.temperature, self.top_k, self.top_p, self.min_p = (
            temperature,
            top_k,
            top_p,
            min_p,
        )
        self.repetition_penalty, self.seed = repetition_penalty, seed
        self._generators: list[torch.Generator] = []
        self.filtered(
            torch.zeros(1, 2), [[]]
        )  # wrong settings are named here, not later

    def filtered(self, logits: Tensor, history=None) -> Tensor:
        """Apply the penalty and all filters, in order.

        Args:
            logits: (batch, vocab) float.
            history: as in repetition_penalty(); needed only for a penalty.

        Returns:
            logits: (batch, vocab), -inf where an id cannot be drawn.

        Raises:
            ValueError: a penalty is set and no history given, or logits hold NaN.
        """
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
        _check(logits)
        if bool((logits.amax(-1).isinf()).any()):
            raise ValueError(
                "a row of logits holds +inf or nothing but -inf, so it has no probabilities; "
                "look for an overflow or a filter that hides every id"
            )
        kept = self.filtered(logits, history)
        if self.temperature == 0:
            return kept.argmax(-1)
        probabilities = _probabilities(kept).cpu()
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


def _check(logits: Tensor) -> None:
    if not logits.is_floating_point():
        raise ValueError(f"logits have dtype {logits.dtype}; pass floats")
    if bool(logits.isnan().any()):
        raise ValueError(
            "logits hold NaN; look for the layer that made it before you sample"
        )


def _check_share(name: str, share: float) -> None:
    if not 0 < share <= 1:
        raise ValueError(f"{name} was {share}; pass a share above 0 and at most 1")


def _probabilities(logits: Tensor) -> Tensor:
    """Return softmax in at least float32."""
    return torch.softmax(
        logits, -1, dtype=torch.promote_types(logits.dtype, torch.float32)
    )
