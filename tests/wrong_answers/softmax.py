"""Wrong answers to softmax."""

import torch
import torch.nn.functional as F

from tests.answers import wrong


@wrong("softmax-no-max-shift")
def plain_formula(scores, dim=-1):
    e = torch.exp(scores)
    return e / e.sum(dim=dim, keepdim=True)


@wrong("softmax-no-max-shift")
def guarded_denominator(scores, dim=-1):
    total = scores.exp().sum(dim, keepdim=True) + 1e-9
    return scores.exp() / total


@wrong("softmax-wrong-dim")
def first_axis(scores, dim=-1):
    return F.softmax(scores, dim=0)


@wrong("softmax-wrong-dim")
def default_axis(scores, dim=-1):
    return F.softmax(scores, dim=None)


@wrong("softmax-wrong-dim")
def queries_axis(scores, dim=-1):
    if scores.ndim == 1:
        return torch.softmax(scores, 0)
    e = torch.exp(scores - scores.max(dim=-2, keepdim=True).values)
    return e / e.sum(dim=-2, keepdim=True)


@wrong("softmax-ignores-dim")
def always_last(scores, dim=-1):
    exps = torch.exp(scores - scores.max(-1, keepdim=True)[0])
    return exps / exps.sum(-1, keepdim=True)


@wrong("softmax-ignores-dim")
def axis_fixed_in_torch_call(scores, dim=-1):
    return torch.softmax(scores, dim=-1)


@wrong("softmax-global-max")
def one_max_for_all(scores, dim=-1):
    e = torch.exp(scores - torch.max(scores))
    return e / torch.sum(e, dim=dim, keepdim=True)


@wrong("softmax-global-max")
def max_as_number(scores, dim=-1):
    m = scores.max().item()
    weights = (scores - m).exp()
    return weights / weights.sum(dim).unsqueeze(dim)


@wrong("softmax-shifts-by-wrong-constant")
def shifts_by_mean(scores, dim=-1):
    e = (scores - scores.mean(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True)


@wrong("softmax-shifts-by-wrong-constant")
def shifts_by_minimum(scores, dim=-1):
    e = torch.exp(scores - scores.min(dim=dim, keepdim=True).values)
    return e / e.sum(dim=dim, keepdim=True)


@wrong("softmax-shifts-by-wrong-constant")
def shifts_by_largest_magnitude(scores, dim=-1):
    e = torch.exp(scores - scores.abs().amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


@wrong("softmax-clamps-scores")
def clamps(scores, dim=-1):
    e = torch.exp(scores.clamp(-10, 10))
    return e / e.sum(dim, keepdim=True)


@wrong("sum-without-keepdim")
def forgets_keepdim(scores, dim=-1):
    e = torch.exp(scores - scores.amax(dim, keepdim=True))
    return e / e.sum(dim)


@wrong("softmax-over-everything")
def one_distribution(scores, dim=-1):
    e = torch.exp(scores - scores.max())
    return e / e.sum()


@wrong("softmax-over-everything")
def flattens(scores, dim=-1):
    return torch.softmax(scores.flatten(), 0).reshape(scores.shape)


@wrong("returns-log-probabilities")
def logarithm(scores, dim=-1):
    m = scores.max(dim, keepdim=True).values
    return scores - m - (scores - m).exp().sum(dim, keepdim=True).log()


@wrong("wrong-base")
def powers_of_two(scores, dim=-1):
    e = 2 ** (scores - scores.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


@wrong("softmax-sign")
def prefers_the_smallest(scores, dim=-1):
    e = torch.exp(scores.amin(dim, keepdim=True) - scores)
    return e / e.sum(dim, keepdim=True)


@wrong("no-exp")
def shares(scores, dim=-1):
    scores = scores - scores.amin(dim, keepdim=True)
    return scores / scores.sum(dim, keepdim=True)


@wrong("sigmoid-instead-of-softmax")
def each_alone(scores, dim=-1):
    return torch.sigmoid(scores)


@wrong("only-the-largest")
def hard_choice(scores, dim=-1):
    best = scores.argmax(dim, keepdim=True)
    return torch.zeros_like(scores).scatter(dim, best, 1.0)


@wrong("input-changed-in-place")
def shifts_the_input(scores, dim=-1):
    scores -= scores.max(dim, keepdim=True).values
    e = torch.exp(scores)
    return e / e.sum(dim, keepdim=True)


@wrong("input-changed-in-place")
def underscores(scores, dim=-1):
    return scores.sub_(scores.logsumexp(dim, keepdim=True)).exp()


@wrong("only-two-axes")
def row_by_row(scores, dim=-1):
    if scores.dim() == 1:
        e = torch.exp(scores - scores.max())
        return e / e.sum()
    x = scores if dim in (-1, 1) else scores.T
    rows = []
    for row in x:
        e = torch.exp(row - row.max())
        rows.append(e / e.sum())
    out = torch.stack(rows)
    return out if dim in (-1, 1) else out.T


@wrong("softmax-no-max-shift", "softmax-ignores-dim")
def short_and_wrong(scores, dim=-1):
    return scores.exp() / scores.exp().sum(-1, keepdim=True)


@wrong("softmax-no-max-shift", "sum-without-keepdim")
def two_slips(scores, dim=-1):
    num = torch.exp(scores)
    den = torch.exp(scores).sum(dim)
    return num / den


@wrong("uniform-weights")
def equal_shares(scores, dim=-1):
    return torch.full_like(scores, 1 / scores.shape[dim])
