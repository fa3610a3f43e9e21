"""What goes wrong in mixture_of_experts: each position goes to a few of several layers."""

import torch
from torch import nn

from course_lib.feed_forward import FeedForward
from course_lib.feedback.task import Draw, Probe, Task


class Bent(nn.Module):
    """A small expert that can be computed by hand."""

    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, x):
        return self.factor * (x + 4).relu()

    def __repr__(self) -> str:
        return f"{self.factor:g} relu(x + 4)"


class Expert(FeedForward):
    """A feed-forward layer with a short name."""

    def __repr__(self) -> str:
        return f"FeedForward{tuple(self.to_output.weight.shape)}"


def mixture_of_experts(x, router, experts, n_active):
    scores = x @ router.T
    least = scores.topk(n_active, -1).values[..., -1:]
    weights = scores.masked_fill(scores < least, -torch.inf).softmax(-1)
    return weighted(x, weights, experts)


def weighted(x, weights, experts):
    """Sum of all experts, each times its weight, (..., expert)."""
    parts = [expert(x) for expert in experts]
    return sum(
        w[..., None] * part for w, part in zip(weights.unbind(-1), parts, strict=True)
    )


task = Task(
    "mixture_of_experts",
    asks="for each position the n_active experts with the largest scores, summed with "
    "weights: the softmax of their scores alone.",
    lesson="06_feed_forward",
    reference=mixture_of_experts,
    read="5. The gate",
)


@task.inputs
def probes(draw: Draw):
    def layers(d_model, n_experts):
        made = [Expert(d_model, 3, "silu") for _ in range(n_experts)]
        with torch.no_grad():
            for parameter in nn.ModuleList(made).parameters():
                parameter.copy_(draw.normal(*parameter.shape))
        return made

    def case(label, n_experts, n_active, *shape):
        d_model = shape[-1]
        router = draw.normal(n_experts, d_model)
        experts = layers(d_model, n_experts)
        return Probe(label, draw.normal(*shape), router, experts, n_active)

    hand = torch.tensor([[0.0], [1.0], [-1.0]]) + 0.1 * draw.normal(3, 1)
    by_hand = [Bent(1.0), Bent(10.0), Bent(100.0)]
    x = 2 + torch.rand(1, 1, generator=draw.generator)
    yield Probe("one position, one of three", x, hand, by_hand, 1)
    yield Probe("one position, two of three", x, hand, by_hand, 2)
    yield Probe("two positions", torch.cat([x, -x]), hand, by_hand, 2)
    yield case("all of them", 3, 3, 5, 2)
    yield case("two of five, two texts", 5, 2, 2, 3, 4)
    yield case("one of five, two texts", 5, 1, 2, 3, 4)
    yield case("a single vector", 4, 2, 3)
    yield case("three of eleven", 11, 3, 2, 7, 3)


@task.property("positions-alone", "Does the second position change the first's choice?")
def each_position_alone(values) -> bool:
    alone, both = values["one position, two of three"], values["two positions"]
    return torch.allclose(alone[0], both[0], atol=1e-4)


CHOOSE = "Which experts does this position use, and who decides?"


@task.mistake(
    "weights-not-renormalised",
    "What do the weights of the chosen experts add up to?",
)
def softmax_over_all(x, router, experts, n_active):
    scores = x @ router.T
    least = scores.topk(n_active, -1).values[..., -1:]
    weights = scores.softmax(-1).masked_fill(scores < least, 0.0)
    return weighted(x, weights, experts)


@task.mistake("all-experts-used", "How many experts does one position use?")
def everybody(x, router, experts, n_active):
    return weighted(x, (x @ router.T).softmax(-1), experts)


@task.mistake("first-choice-only", "Which is the second expert of a position?")
def only_the_best(x, router, experts, n_active):
    return mixture_of_experts(x, router, experts, 1)


@task.mistake("equal-weights", "Does the first choice count more than the second?")
def mean_of_the_chosen(x, router, experts, n_active):
    scores = x @ router.T
    chosen = scores >= scores.topk(n_active, -1).values[..., -1:]
    return weighted(x, chosen / n_active, experts)


@task.mistake("weights-forgotten", "What are the experts' outputs multiplied by?")
def plain_sum(x, router, experts, n_active):
    scores = x @ router.T
    chosen = scores >= scores.topk(n_active, -1).values[..., -1:]
    return weighted(x, chosen.float(), experts)


@task.mistake(
    "one-choice-for-all",
    "May two positions choose different experts?",
    "“It sees the neighbours.”",
)
def choice_of_the_mean(x, router, experts, n_active):
    scores = x @ router.T
    mean = scores.flatten(0, -2).mean(0) if x.ndim > 1 else scores
    chosen = mean.topk(n_active).indices
    hidden = torch.full_like(scores, -torch.inf)
    hidden[..., chosen] = scores[..., chosen]
    return weighted(x, hidden.softmax(-1), experts)


@task.mistake(
    "one-choice-for-all",
    "May two positions choose different experts?",
    "“It sees the neighbours.”",
)
def choice_of_the_first(x, router, experts, n_active):
    scores = x @ router.T
    first = scores.reshape(-1, len(router))[0]
    chosen = first.topk(n_active).indices
    hidden = torch.full_like(scores, -torch.inf)
    hidden[..., chosen] = scores[..., chosen]
    return weighted(x, hidden.softmax(-1), experts)


@task.mistake(
    "softmax-wrong-dim",
    "For one position, what should add up to one?",
    "“It sees the neighbours.”",
)
def over_positions(x, router, experts, n_active):
    scores = x @ router.T
    least = scores.topk(n_active, -1).values[..., -1:]
    hidden = scores.masked_fill(scores < least, -torch.inf)
    weights = hidden.softmax(-2 if x.ndim > 1 else -1).nan_to_num(0.0)
    return weighted(x, weights, experts)


@task.mistake(
    "softmax-wrong-dim",
    "For one position, what should add up to one?",
    "“It sees the neighbours.”",
)
def ranks_over_positions(x, router, experts, n_active):
    scores, chosen = (x @ router.T).topk(n_active, -1)
    shares = scores.softmax(-2 if x.ndim > 1 else -1)
    weights = torch.zeros(*x.shape[:-1], len(experts)).scatter(-1, chosen, shares)
    return weighted(x, weights, experts)


@task.mistake("smallest-scores-chosen", CHOOSE)
def least_wanted(x, router, experts, n_active):
    scores = x @ router.T
    most = (-scores).topk(n_active, -1).values[..., -1:]
    weights = scores.masked_fill(-scores < most, -torch.inf).softmax(-1)
    return weighted(x, weights, experts)


@task.mistake(
    "weights-before-the-bend",
    "Is half of an expert's output its output for half of x?",
    "2. Take the bend away",
)
def weighted_inputs(x, router, experts, n_active):
    scores = x @ router.T
    least = scores.topk(n_active, -1).values[..., -1:]
    chosen = scores >= least
    weights = scores.masked_fill(~chosen, -torch.inf).softmax(-1)
    inputs = (weights[..., None] * x[..., None, :]).unbind(-2)
    parts = [expert(part) for expert, part in zip(experts, inputs, strict=True)]
    on = chosen.unbind(-1)
    return sum(c[..., None] * part for c, part in zip(on, parts, strict=True))


@task.mistake(
    "weights-out-of-step",
    "topk gives the best first. Which expert does the first weight belong to?",
)
def weights_in_another_order(x, router, experts, n_active):
    scores, chosen = (x @ router.T).topk(n_active, -1)
    weights = torch.zeros(*x.shape[:-1], len(experts))
    weights.scatter_(-1, chosen.sort(-1).values, scores.softmax(-1))
    return weighted(x, weights, experts)


@task.mistake("scores-as-weights", "Can a score be negative, and a weight?")
def raw_scores(x, router, experts, n_active):
    scores = x @ router.T
    least = scores.topk(n_active, -1).values[..., -1:]
    return weighted(x, scores.masked_fill(scores < least, 0.0), experts)


@task.mistake("hidden-with-zero", "What weight does softmax give to a score of 0?")
def zeros_for_the_rest(x, router, experts, n_active):
    scores = x @ router.T
    least = scores.topk(n_active, -1).values[..., -1:]
    weights = scores.masked_fill(scores < least, 0.0).softmax(-1)
    return weighted(x, weights, experts)


@task.mistake(
    "rank-taken-for-expert",
    "topk gives the best first. Which expert has rank 0, for this position?",
)
def first_experts(x, router, experts, n_active):
    weights = (x @ router.T).topk(n_active, -1).values.softmax(-1)
    return weighted(x, weights, experts[:n_active])


@task.mistake(
    "list-asked-by-a-tensor",
    "Two positions chose different experts: which one expert can a list give for both?",
)
def indexes_the_list(x, router, experts, n_active):
    scores, chosen = (x @ router.T).topk(n_active, -1)
    weights = scores.softmax(-1)
    parts = [experts[chosen[..., rank]](x) for rank in range(n_active)]
    return sum(weights[..., rank, None] * parts[rank] for rank in range(n_active))


@task.mistake(
    "weight-axis-missing",
    "A weight for each position, d_model numbers in each: which axis has the weight not?",
)
def weights_without_their_axis(x, router, experts, n_active):
    scores = x @ router.T
    least = scores.topk(n_active, -1).values[..., -1:]
    weights = scores.masked_fill(scores < least, -torch.inf).softmax(-1)
    return sum(weights[..., i] * expert(x) for i, expert in enumerate(experts))
