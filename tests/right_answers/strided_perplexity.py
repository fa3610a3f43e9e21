"""Right answers to strided_perplexity."""

import math

import torch
import torch.nn.functional as F

from course_lib.training import next_token_loss
from tests.answers import right


@right("windows from the last to the first, so that the first one stays")
def backwards(model, tokens, window, stride):
    nats = torch.zeros(len(tokens) - 1)
    for start in reversed(range(0, len(tokens) - 1, stride)):
        y = tokens[start + 1 : start + window + 1]
        logits = model(tokens[None, start : start + len(y)])[0]
        nats[start : start + len(y)] = F.cross_entropy(logits, y, reduction="none")
    return nats.mean().exp()


@right("the loss's own mark for what does not count")
def marked(model, tokens, window, stride):
    total, done = 0.0, 0
    for start in range(0, len(tokens) - 1, stride):
        y = tokens[None, start + 1 : start + window + 1].clone()
        end = start + y.shape[1]
        y[:, : max(done - start, 0)] = -100
        loss = next_token_loss(model(tokens[None, start:end]), y)
        total += loss.item() * int((y != -100).sum())
        done = end
    return math.exp(total / (len(tokens) - 1))


@right("token by token")
def one_token_at_a_time(model, tokens, window, stride):
    total = 0.0
    for place in range(1, len(tokens)):
        late = max(place - window, 0)
        start = -(-late // stride) * stride  # the first window that asks for it
        logits = model(tokens[None, start:place])[0, -1]
        total -= torch.log_softmax(logits.double(), -1)[tokens[place]].item()
    return math.exp(total / (len(tokens) - 1))


@right("a dict of first findings")
@torch.no_grad()
def first_findings(model, tokens, window, stride):
    nats = {}
    for start in range(0, len(tokens), stride):
        fed = tokens[start : start + window]
        for i, row in enumerate(model(fed[None])[0].log_softmax(-1)):
            place = start + i + 1
            if place < len(tokens) and place not in nats:
                nats[place] = -row[tokens[place]].item()
    return math.exp(sum(nats.values()) / len(nats))
