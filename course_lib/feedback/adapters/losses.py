"""Filters, losses and what is measured or trained with them."""

import torch
from torch import Tensor, nn

from course_lib.feedback.adapters.answers import written


def use_filter(answer, *args, **kwargs) -> Tensor:
    """Call a filter of logits; read the probabilities that it leaves."""
    return torch.softmax(written(answer(*args, **kwargs)).double(), -1)


def use_loss(answer, logits, targets, *args, ignored=-100, **kwargs) -> dict:
    """Call a loss; read it and its gradient. With nothing to predict it may be NaN."""
    logits = logits.clone().requires_grad_()
    loss = torch.as_tensor(written(answer(logits, targets, *args, **kwargs)))
    gradient = torch.zeros_like(logits)
    if loss.requires_grad:
        gradient = torch.autograd.grad(loss, logits)[0]
    found = {"loss": loss.detach(), "gradient": gradient}
    if bool((targets == kwargs.get("ignore_index", ignored)).all()):
        found = {name: part.nan_to_num(0.0) for name, part in found.items()}
    return found


class Table(nn.Module):
    """A model of two ids at a time: a row of scores for each last id.

    In training mode it hides every second score and doubles the others: a dropout
    that needs no chance.

    Args:
        scores: (vocab, vocab), a row for each last id.
        drops: whether training mode differs.
    """

    def __init__(self, scores: Tensor, drops: bool = False):
        super().__init__()
        self.scores = nn.Parameter(scores.clone())
        self.shift = nn.Parameter(torch.zeros(scores.shape[-1]))
        self.drops = drops

    def forward(self, tokens: Tensor) -> Tensor:
        """Score the id after each of tokens (batch, position)."""
        logits = self.scores[tokens] + self.shift
        if self.drops and self.training:
            hidden = torch.arange(logits.shape[-1]) % 2 == 1
            logits = (2 * logits).masked_fill(hidden, 0.0)
        return logits

    def __repr__(self) -> str:
        mode = " in training mode, with dropout" if self.drops and self.training else ""
        return f"a model of {len(self.scores)} ids{mode}"


def use_perplexity(answer, model: nn.Module, batches) -> dict:
    """Measure a model; read the number and what is left of the measuring."""
    found = written(answer(model, batches))
    return {
        "perplexity": torch.as_tensor(found).detach().double(),
        "in training mode afterwards": model.training,
        "keeps a graph": isinstance(found, Tensor) and found.requires_grad,
    }


def use_gradients(answer, model: nn.Module, micro_batches, old_gradient=None) -> dict:
    """Accumulate gradients, perhaps over old ones; read the loss and what has changed.

    Who fills the gradients in and returns nothing has written something.
    """
    if old_gradient is not None:
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, old_gradient)
    weights = [parameter.detach().clone() for parameter in model.parameters()]
    before = [gradient.clone() for gradient in _gradients(model)]
    loss = answer(model, micro_batches)
    if all(map(torch.equal, before, _gradients(model))):
        loss = written(loss)
    return {
        "loss": "none" if loss is None else torch.as_tensor(loss).detach().double(),
        "gradients": _gradients(model),
        "keeps a graph": isinstance(loss, Tensor) and loss.requires_grad,
        "weights kept": all(map(torch.equal, weights, model.parameters())),
    }


def _gradients(model: nn.Module) -> list[Tensor]:
    return [
        torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        for parameter in model.parameters()
    ]
