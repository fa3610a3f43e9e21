"""The training loop: schedule, accumulation, clipping, several processes, resume."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn

from course_lib.modes import mode
from course_lib.training.checkpoint import resume, save
from course_lib.training.loss import IGNORED, Batch, call, loss_and_count


def learning_rate_at(
    step: int, n_steps: int, peak: float, warmup_steps: int = 0, floor: float = 0.1
) -> float:
    """Rise linearly to the peak, then fall along half a cosine to floor * peak.

    Args:
        step: from 0 to n_steps - 1.
        n_steps: length of the run.
        peak: the highest rate.
        warmup_steps: steps of the rise; step warmup_steps - 1 has the peak.
        floor: share of the peak at the end.

    Returns:
        The learning rate of this step.

    Source: Loshchilov, Hutter (2017), SGDR, arXiv:1608.03983, eq. 5.
    Lesson: notebooks/11_training.ipynb

    >>> [round(learning_rate_at(s, 5, 1.0, warmup_steps=2), 3) for s in range(5)]
    [0.5, 1.0, 1.0, 0.55, 0.1]
    """
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    progress = (step - warmup_steps) / max(n_steps - warmup_steps - 1, 1)
    return peak * (floor + (1 - floor) * (1 + math.cos(math.pi * progress)) / 2)


def train(
    model: nn.Module,
    batches: Callable[[int], Batch] | Sequence[Batch],
    n_steps: int,
    learning_rate: float = 1e-3,
    warmup_steps: int = 0,
    accumulate: int = 1,
    weight_decay: float = 0.1,
    clip_norm: float | None = 1.0,
    label_smoothing: float = 0.0,
    dtype: torch.dtype = torch.float32,
    checkpoint: str | Path | None = None,
    checkpoint_every: int = 100,
    on_step: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Fit the model with AdamW; go on from the checkpoint if there is one.

    A step's gradient is that of the mean loss over all real targets of its
    micro-batches, on all processes: how a batch is cut changes nothing. Under torchrun
    (a process group is initialised) process r of w takes every w-th micro-batch, and
    process 0 writes the checkpoints.

    Args:
        model: called as in perplexity.
        batches: micro-batch i is batches(i), or batches[i % len(batches)].
        n_steps: updates in all, those before a resume included.
        learning_rate: peak of learning_rate_at.
        warmup_steps: as in learning_rate_at.
        accumulate: micro-batches per update and process.
        weight_decay: for matrices; biases and gains are not decayed.
        clip_norm: largest gradient norm; None: no clipping.
        label_smoothing: as in next_token_loss.
        dtype: torch.bfloat16 computes the forward pass under autocast.
        checkpoint: file to resume from and to write; None: neither.
        checkpoint_every: updates between checkpoints; the last is always written.
        on_step: called as on_step(step, loss_nats) after each update, before that step's
            checkpoint is written: what it stores is never behind the checkpoint.

    Returns:
        losses_nats: one mean loss per update, those before a resume included. The
        model's training mode is left as it was.

    Raises:
        ValueError: a setting is outside its range, or the checkpoint is of another run.
        RuntimeError: the loss or the gradient is not finite; the weights are those
            before that update.

    Source: Loshchilov, Hutter (2019), AdamW, arXiv:1711.05101.
    Lesson: notebooks/11_training.ipynb

    >>> from course_lib.decoder import Decoder, DecoderConfig
    >>> from course_lib.training import inputs_and_targets
    >>> decoder = Decoder(DecoderConfig(vocab_size=5, d_model=6, n_layers=1, n_heads=3))
    >>> batch = inputs_and_targets(torch.tensor([[1, 2, 3, 4]]))
    >>> losses = train(decoder, [batch], n_steps=40, learning_rate=0.01)
    >>> losses[-1] < losses[0]
    True
    """
    _check_run(n_steps, warmup_steps, accumulate, checkpoint_every, dtype)
    _check_rates(learning_rate, weight_decay, clip_norm)
    if not callable(batches) and len(batches) == 0:
        raise ValueError("train was given no batches; pass at least one")
    if checkpoint is not None and not Path(checkpoint).absolute().parent.is_dir():
        raise ValueError(
            f"the checkpoint {checkpoint} is to lie in a folder that does not exist; make it "
            f"first, or name another"
        )
    rank, world = (dist.get_rank(), dist.get_world_size()) if _distributed() else (0, 1)
    batch_at = batches if callable(batches) else lambda i: batches[i % len(batches)]
    optimiser = _optimiser(model, weight_decay)
    losses = resume(checkpoint, model, optimiser, n_steps)
    if world > 1:
        for parameter in model.parameters():
            dist.broadcast(parameter.data, src=0)
    with mode(model, training=True):
        for step in range(len(losses), n_steps):
            for group in optimiser.param_groups:
                group["lr"] = learning_rate_at(
                    step, n_steps, learning_rate, warmup_steps
                )
            first = step * accumulate * world
            micro_batches = [
                batch_at(first + i * world + rank) for i in range(accumulate)
            ]
            loss = _accumulate(model, micro_batches, label_smoothing, dtype)
            if not math.isfinite(loss):
                raise RuntimeError(
                    f"the loss at step {step} was {loss}; lower the learning rate, lengthen the "
                    f"warm-up, or look for NaN in the batch"
                )
            limit = math.inf if clip_norm is None else clip_norm
            norm = nn.utils.clip_grad_norm_(model.parameters(), limit)
            if not norm.isfinite():
                raise RuntimeError(
                    f"the gradient at step {step} was not finite although the loss was {loss}; "
                    f"look for a division by 0 or a root of 0 in the model"
                )
            optimiser.step()
            losses.append(loss)
            if on_step is not None:
                on_step(step, loss)
            last = step == n_steps - 1
            if (
                checkpoint
                and rank == 0
                and (last or (step + 1) % checkpoint_every == 0)
            ):
                save(Path(checkpoint), model, optimiser, losses, n_steps)
    return losses


def _accumulate(
    model: nn.Module,
    micro_batches: list[Batch],
    label_smoothing: float,
    dtype: torch.dtype,
) -> float:
    """Set the gradients of one update; return its mean loss over all processes."""
    device = next(model.parameters()).device
    real = sum(int((targets != IGNORED).sum()) for _, targets in micro_batches)
    count = torch.tensor(float(real), device=device)
    if _distributed():
        dist.all_reduce(count)
    model.zero_grad()
    total = torch.zeros((), dtype=torch.float64, device=device)
    for inputs, targets in micro_batches:
        with torch.autocast(device.type, dtype, enabled=dtype == torch.bfloat16):
            logits = call(model, inputs)
        loss, _ = loss_and_count(logits, targets.to(device), IGNORED, label_smoothing)
        (loss / count.clamp(min=1)).backward()
        total += loss.detach()
    if _distributed():
        # The loss was divided by the count of all processes, so gradients are summed.
        dist.all_reduce(total)
        for parameter in model.parameters():
            if parameter.requires_grad:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                dist.all_reduce(parameter.grad)
    return (total / count.clamp(min=1)).item()


def _optimiser(model: nn.Module, weight_decay: float) -> torch.optim.AdamW:
    parameters = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {
            "params": [p for p in parameters if p.ndim >= 2],
            "weight_decay": weight_decay,
        },
        {"params": [p for p in parameters if p.ndim < 2], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    return torch.optim.AdamW(groups, betas=(0.9, 0.95), fused=True)


def _distributed() -> bool:
    return dist.is_available() and dist.is_initialized()


def _check_rates(learning_rate: float, weight_decay: float, clip_norm) -> None:
    least = {"learning_rate": learning_rate, "weight_decay": weight_decay}
    for name, value in least.items():
        if not 0 <= value < math.inf:
            raise ValueError(
                f"{name} was {value}; it must be a finite number of 0 or more"
            )
    if clip_norm is not None and not clip_norm > 0:
        raise ValueError(f"clip_norm was {clip_norm}; it must be above 0, or None")


def _check_run(n_steps, warmup_steps, accumulate, checkpoint_every, dtype) -> None:
    for name, value, least in (
        ("n_steps", n_steps, 1),
        ("warmup_steps", warmup_steps, 0),
        ("accumulate", accumulate, 1),
        ("checkpoint_every", checkpoint_every, 1),
    ):
        if value < least:
            raise ValueError(f"{name} was {value}; it must be at least {least}")
    if dtype not in (torch.float32, torch.bfloat16):
        raise ValueError(f"dtype was {dtype}; train in torch.float32 or torch.bfloat16")
