"""Checkpoints: written whole or not at all, and read back exactly."""

import os
from pathlib import Path

import torch
from torch import nn

from course_lib import hardware


def save(
    path: Path,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    losses: list[float],
    n_steps: int,
) -> None:
    """Write a checkpoint beside its place, then move it there: a kill leaves the old one."""
    state = {
        "model": model.state_dict(),
        "optimiser": optimiser.state_dict(),
        "losses": list(losses),
        "n_steps": n_steps,
        "rng": hardware.random_state(),
    }
    part = path.with_name(path.name + ".part")
    try:
        with open(part, "wb") as file:
            torch.save(state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def resume(
    checkpoint: str | Path | None, model: nn.Module, optimiser, n_steps: int
) -> list[float]:
    """Load the checkpoint if there is one; return the losses of the steps it holds."""
    if checkpoint is None or not Path(checkpoint).exists():
        return []
    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    if state["n_steps"] != n_steps:
        raise ValueError(
            f"the checkpoint {checkpoint} is of a run of {state['n_steps']} steps and n_steps is "
            f"{n_steps}, which is another schedule; use the same number or another file"
        )
    try:
        model.load_state_dict(state["model"])
        optimiser.load_state_dict(state["optimiser"])
    except (RuntimeError, ValueError) as error:
        raise ValueError(
            f"the checkpoint {checkpoint} is of another model: {error}"
        ) from error
    hardware.restore_random_state(state["rng"])
    return state["losses"]
