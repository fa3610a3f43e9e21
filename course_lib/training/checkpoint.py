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
    try:
        state = torch.load(checkpoint, map_location="cpu", weights_only=True)
        written, weights = state["n_steps"], state["model"]
    except Exception as error:  # a damaged file raises nearly anything
        raise ValueError(
            f"{checkpoint} cannot be read as a checkpoint of train ({type(error).__name__}); "
            f"delete it to begin anew, or name another file"
        ) from error
    if written != n_steps:
        raise ValueError(
            f"the checkpoint {checkpoint} is of a run of {written} steps and n_steps is "
            f"{n_steps}, which is another schedule; use the same number or another file"
        )
    # Compared before anything is copied: a refusal must leave the model as it is.
    mine = {name: tensor.shape for name, tensor in model.state_dict().items()}
    theirs = {name: tensor.shape for name, tensor in weights.items()}
    sizes = [len(group["params"]) for group in optimiser.state_dict()["param_groups"]]
    stored = [len(group["params"]) for group in state["optimiser"]["param_groups"]]
    if mine != theirs or sizes != stored:
        other = sorted(set(mine.items()) ^ set(theirs.items()))
        raise ValueError(
            f"the checkpoint {checkpoint} is of another model: it differs in "
            f"{other[0][0] if other else 'which parameters are trained'}; name another file"
        )
    model.load_state_dict(weights)
    optimiser.load_state_dict(state["optimiser"])
    hardware.restore_random_state(state["rng"])
    return state["losses"]
