"""Caches, used step by step, in whatever order they keep the keys."""

import functools

import torch
from torch import Tensor

from course_lib.feedback.adapters.answers import several, written


def use_cache(answer, sizes: dict, *steps, window=None) -> list:
    """Build a cache and use it step by step; read what every step gives.

    A step is ("extend", layer, keys, values), ("feed", ...), which is the same but not
    read, ("reorder", rows), ("crop", length), ("lengths",) or ("another",), which builds
    a second cache and goes on with it. Keys
    are put in the order of their positions, where the cache tells them; those that it
    marks as empty, or that a window has left, are taken out.
    """
    options = {} if window is None else {"window": window}
    build = functools.partial(answer, **sizes, **options)
    cache, found = written(build()), []
    for kind, *rest in steps:
        if kind == "another":
            cache = build()
        elif kind in ("extend", "feed"):
            given = cache.extend(rest[0], *(x.clone() for x in rest[1:]))
            keys_values = several(given, stack_ndim=5)
            if kind == "extend":
                readable = _readable(keys_values, rest[1].shape[2], window)
                found.append(dict(zip(("keys", "values"), readable, strict=True)))
        elif kind == "lengths":
            found.append(torch.as_tensor(cache.lengths).clone())
        else:
            getattr(cache, kind)(*rest)
    return found


def _readable(result, n_new: int, window: int | None) -> list[Tensor]:
    """Return keys and values of the tokens that may still be read, oldest first."""
    keys, values, *positions = result
    if not positions or positions[0] is None:
        return [keys.clone(), values.clone()]
    places = torch.as_tensor(positions[0]).expand(len(keys), -1)
    if not places.shape[1] == keys.shape[2] == values.shape[2]:
        return [keys.clone(), values.clone()]
    oldest = 0
    if window is not None and keys.shape[2] <= window + n_new:
        oldest = max(0, int(places.max()) - n_new - window + 2)
    n_real = int((places[0] >= oldest).sum())
    order = places.argsort(dim=-1, descending=True)[:, :n_real].flip(-1)
    index = order[:, None, :, None].expand(-1, keys.shape[1], -1, keys.shape[3])
    return [keys.gather(2, index), values.gather(2, index)]
