"""What goes wrong in expert_parameters: counting a mixture of experts."""

from course_lib.feed_forward import GatedFeedForward
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.linear import Linear


def expert_parameters(d_model, d_ff, n_experts, n_active):
    expert = sum(p.numel() for p in GatedFeedForward(d_model, d_ff).parameters())
    router = Linear(d_model, n_experts, bias=False).weight.numel()
    return router + n_experts * expert, router + n_active * expert


task = Task(
    "expert_parameters",
    asks="two integers: the parameters that are stored, and those that one position "
    "uses; experts are gated, and neither they nor the router have biases.",
    lesson="06_feed_forward",
    reference=expert_parameters,
    read="5. The gate",
)


@task.inputs
def probes(draw: Draw):
    exact = {"tolerance": 1e-12}
    some = draw.size(5, 9)
    yield Probe("width 2, d_ff 3, 4 experts, 1 active", 2, 3, 4, 1, **exact)
    yield Probe("two active", 2, 3, 4, 2, **exact)
    yield Probe("another width", some, 3, 5, 2, **exact)
    yield Probe("another d_ff", 2, some + 4, 5, 2, **exact)
    yield Probe("many experts", 3, some, 64, 6, **exact)
    yield Probe("all active", 4, some, 3, 3, **exact)
    yield Probe("one expert", 5, some, 1, 1, **exact)


@task.property("stored-at-least-used", "Can more be used than is stored?")
def stored_at_least_used(values) -> bool:
    return all(stored >= used for stored, used in values.values())


@task.mistake("gate-not-counted", "How many matrices does a gated layer have?")
def two_matrices(d_model, d_ff, n_experts, n_active):
    expert, router = 2 * d_model * d_ff, d_model * n_experts
    return router + n_experts * expert, router + n_active * expert


@task.mistake("router-forgotten", "Who decides which experts a position uses?")
def experts_only(d_model, d_ff, n_experts, n_active):
    return 3 * d_model * d_ff * n_experts, 3 * d_model * d_ff * n_active


@task.mistake(
    "router-cut-to-active",
    "To find the best experts, how many scores must the router compute?",
)
def router_of_active_experts(d_model, d_ff, n_experts, n_active):
    stored, _ = expert_parameters(d_model, d_ff, n_experts, n_active)
    return stored, n_active * (3 * d_model * d_ff + d_model)


@task.mistake(
    "router-cut-to-active", "Which part of the router does one position not need?"
)
def router_not_used(d_model, d_ff, n_experts, n_active):
    stored, used = expert_parameters(d_model, d_ff, n_experts, n_active)
    return stored, used - d_model * n_experts


@task.mistake("order-swapped", "Which of your two numbers should be the larger?")
def used_first(d_model, d_ff, n_experts, n_active):
    return expert_parameters(d_model, d_ff, n_experts, n_active)[::-1]


@task.mistake("all-experts-used", "Which experts never see this position?")
def all_are_used(d_model, d_ff, n_experts, n_active):
    stored, _ = expert_parameters(d_model, d_ff, n_experts, n_active)
    return stored, stored


@task.mistake(
    "biases-counted", "Does a gated layer of this kind have biases?", "Definition"
)
def with_biases(d_model, d_ff, n_experts, n_active):
    expert = 3 * d_model * d_ff + 2 * d_ff + d_model
    router = (d_model + 1) * n_experts
    return router + n_experts * expert, router + n_active * expert


@task.mistake(
    "biases-counted", "Does a gated layer of this kind have biases?", "Definition"
)
def experts_with_biases(d_model, d_ff, n_experts, n_active):
    expert = 3 * d_model * d_ff + 2 * d_ff + d_model
    router = d_model * n_experts
    return router + n_experts * expert, router + n_active * expert


@task.mistake(
    "router-for-each-expert",
    "How many routers are there: one for each expert, or one for the layer?",
)
def a_router_each(d_model, d_ff, n_experts, n_active):
    expert = 3 * d_model * d_ff + d_model * n_experts
    return n_experts * expert, n_active * expert


@task.mistake(
    "active-experts-stored", "Where do the experts lie that this position does not use?"
)
def only_active_are_stored(d_model, d_ff, n_experts, n_active):
    _, used = expert_parameters(d_model, d_ff, n_experts, n_active)
    return used, used


@task.mistake("one-number-only", "How many numbers are asked for?")
def stored_alone(d_model, d_ff, n_experts, n_active):
    return expert_parameters(d_model, d_ff, n_experts, n_active)[0]


@task.mistake("one-number-only", "How many numbers are asked for?")
def used_alone(d_model, d_ff, n_experts, n_active):
    return expert_parameters(d_model, d_ff, n_experts, n_active)[1]


@task.mistake("one-active-only", "How many experts does one position use?")
def as_if_one_were_active(d_model, d_ff, n_experts, n_active):
    return expert_parameters(d_model, d_ff, n_experts, 1)


@task.mistake("biases-counted", "Does this router have a bias?")
def router_with_bias(d_model, d_ff, n_experts, n_active):
    stored, used = expert_parameters(d_model, d_ff, n_experts, n_active)
    return stored + n_experts, used + n_experts
