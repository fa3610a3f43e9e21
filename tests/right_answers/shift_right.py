"""Right answers to shift_right, each in its own style."""

import torch
import torch.nn.functional as F

from tests.answers import right


@right("cat with a column of starts")
def column(targets, bos_id):
    start = torch.full((targets.shape[0], 1), bos_id, dtype=targets.dtype)
    inputs = torch.cat([start, targets[:, :-1]], dim=1)
    return inputs.masked_fill(inputs == -100, bos_id)


@right("roll, as in transformers")
def rolled(targets, bos_id):
    inputs = targets.roll(1, dims=-1)
    inputs[:, 0] = bos_id
    inputs[inputs < 0] = bos_id
    return inputs


@right("new tensor, slices")
def sliced(targets, bos_id):
    inputs = targets.new_zeros(targets.shape)
    inputs[..., 1:] = targets[..., :-1].clone()
    inputs[..., 0] = bos_id
    return torch.where(inputs == -100, bos_id, inputs)


@right("lists")
def lists(targets, bos_id):
    rows = [[bos_id] + row[:-1] for row in targets.tolist()]
    return torch.tensor([[bos_id if i == -100 else i for i in row] for row in rows])


@right("pad")
def padded(targets, bos_id):
    real = torch.where(targets.eq(-100), torch.full_like(targets, bos_id), targets)
    return F.pad(real, (1, -1), value=bos_id)
