"""Hold two functions equal, in their results and in the gradients of all their inputs."""

import torch
from hypothesis import settings

# The same few examples at every run: a test that fails once fails again.
few = settings(derandomize=True, max_examples=30, deadline=None)


def normal(*shape, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)


def gradients_of(outputs, leaves):
    """Differentiate a random mixture of the outputs, the same for equal shapes."""
    mixture = (outputs * normal(*outputs.shape, seed=99, dtype=outputs.dtype)).sum()
    return torch.autograd.grad(mixture, leaves)


def results_and_gradients(function, *inputs):
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    outputs = function(*leaves)
    return outputs.detach(), *gradients_of(outputs, leaves)


def assert_same(ours, theirs, *inputs, **tolerances):
    actual = results_and_gradients(ours, *inputs)
    expected = results_and_gradients(theirs, *inputs)
    torch.testing.assert_close(actual, expected, **tolerances)


def assert_same_modules(ours, theirs, pairs, *inputs, **tolerances):
    """Compare two modules: results, gradients of the inputs and of paired parameters."""
    sides = []
    for module, side in ((ours, 0), (theirs, 1)):
        leaves = [x.detach().clone().requires_grad_() for x in inputs]
        outputs = module(*leaves)
        parameters = [pair[side] for pair in pairs]
        sides.append((outputs.detach(), *gradients_of(outputs, leaves + parameters)))
    torch.testing.assert_close(*sides, **tolerances)
