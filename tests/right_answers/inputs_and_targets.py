"""Right answers to inputs_and_targets, each in its own style."""

import torch

from tests.answers import right


@right("places compared with lengths")
def compared(tokens, lengths=None):
    inputs, targets = tokens[:, :-1], tokens[:, 1:].clone()
    if lengths is not None:
        places = torch.arange(1, tokens.shape[1])
        targets[places >= torch.as_tensor(lengths).unsqueeze(1)] = -100
    return inputs, targets


@right("a loop over rows")
def loops(tokens, lengths=None):
    targets = tokens[:, 1:].clone()
    for row, length in enumerate(lengths if lengths is not None else []):
        targets[row, max(int(length) - 1, 0) :] = -100
    return tokens[:, :-1], targets


@right("masked before the cut")
def masked_first(tokens, lengths=None):
    labels = tokens
    if lengths is not None:
        real = [[i < int(n) for i in range(tokens.size(1))] for n in lengths]
        labels = torch.where(torch.tensor(real), tokens, -100)
    return tokens[..., :-1].contiguous(), labels[..., 1:].contiguous()


@right("lists")
def lists(tokens, lengths=None):
    width = tokens.shape[1]
    lengths = [width] * len(tokens) if lengths is None else lengths
    inputs, targets = [], []
    for row, n in zip(tokens.tolist(), lengths, strict=True):
        inputs.append(row[:-1])
        real = row[1 : int(n)]
        targets.append(real + [-100] * (width - 1 - len(real)))
    return torch.tensor(inputs), torch.tensor(targets)
