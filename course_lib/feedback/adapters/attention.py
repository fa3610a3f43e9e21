"""Attention as a function and as a module, outputs with or without weights."""

import torch
from torch import Tensor, nn

from course_lib.feedback.adapters.answers import outputs_of, settled


def use_attention(
    answer, queries, keys, values, allowed=None, bias=None, need_weights=False
) -> Tensor | dict:
    """Call attention; a query that may read nothing may get anything finite.

    Where there is such a query, also read the gradients of all that the others give.
    Where weights are needed and given, read what they make of the values.
    """
    given = (allowed, bias, *([True] if need_weights else []))
    readable = None if allowed is None else allowed.any(-1, keepdim=True)
    if readable is None or bool(readable.all()):
        read = read_by_weights if need_weights else outputs_of
        inputs = (queries, keys, values, *given)
        return settled(lambda: read(answer(*inputs), values))
    torch.manual_seed(0)
    inputs = [x.clone().requires_grad_() for x in (queries, keys, values)]
    outputs = outputs_of(answer(*inputs, *given))
    if not outputs.requires_grad:
        return outputs
    loss = torch.where(readable, outputs, 0.0).square().sum()
    gradients = torch.autograd.grad(loss, inputs, materialize_grads=True)
    names = [f"gradient of {name}" for name in ("queries", "keys", "values")]
    found = dict(zip(names, gradients, strict=True))
    return {"outputs": without_empty(outputs, readable)} | found


def read_by_weights(result, values: Tensor) -> Tensor:
    """Take what the weights make of the values; the outputs where none are given."""
    if isinstance(result, tuple | list) and len(result) > 1 and result[1] is not None:
        return result[1] @ values
    return outputs_of(result)


def without_empty(outputs: Tensor, readable: Tensor) -> Tensor:
    """Put 0 for what is finite in the rows of queries that may read nothing."""
    return torch.where(readable | ~outputs.isfinite(), outputs, 0.0)


def use_heads(answer, d_model, n_heads, x, weights, memory=None, allowed=None) -> dict:
    """Build a multi-head attention, load weights, run it; count what it would train.

    A query that may read nothing may get anything finite.
    """
    torch.manual_seed(0)  # for layers that get no weights because nobody finds them
    module = answer(d_model, n_heads)
    load_weights(module, weights)
    module.eval()
    readable = torch.tensor(True)
    if allowed is not None:
        readable = allowed.any(-1, keepdim=True)
        readable = readable[:, 0] if readable.ndim == 4 else readable
    outputs = settled(
        lambda: without_empty(outputs_of(module(x, memory, allowed)), readable)
    )
    return {
        "outputs": outputs,
        "parameters": sum(p.numel() for p in module.parameters()),
    }


def load_weights(module: nn.Module, weights: dict) -> None:
    """Put numbers into the layers' weights and biases; what is not there stays out."""
    with torch.no_grad():
        for name, numbers in weights.items():
            layer, _, kind = name.partition(".")
            parameter = getattr(getattr(module, layer, None), kind, None)
            if parameter is not None:
                parameter.copy_(numbers)
