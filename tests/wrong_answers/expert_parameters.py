"""Wrong answers to expert_parameters."""

from tests.answers import wrong


@wrong("gate-not-counted")
def plain_layer(d_model, d_ff, n_experts, n_active):
    one = d_model * d_ff + d_ff * d_model
    return one * n_experts + d_model * n_experts, one * n_active + d_model * n_experts


@wrong("router-forgotten")
def no_router(d_model, d_ff, n_experts, n_active):
    one = 3 * d_ff * d_model
    return n_experts * one, n_active * one


@wrong("router-cut-to-active")
def router_rows_of_the_chosen(d_model, d_ff, n_experts, n_active):
    one = 3 * d_ff * d_model + d_model  # with its row of the router
    return [n_experts * one, n_active * one]


@wrong("order-swapped")
def used_then_stored(d_model, d_ff, n_experts, n_active):
    used = d_model * n_experts + 3 * d_model * d_ff * n_active
    stored = d_model * n_experts + 3 * d_model * d_ff * n_experts
    return used, stored


@wrong("biases-counted")
def biases_too(d_model, d_ff, n_experts, n_active):
    one = 2 * (d_model * d_ff + d_ff) + d_ff * d_model + d_model
    router = d_model * n_experts + n_experts
    return router + n_experts * one, router + n_active * one


@wrong("all-experts-used")
def dense(d_model, d_ff, n_experts, n_active):
    total = n_experts * (3 * d_model * d_ff + d_model)
    return total, total


@wrong("router-for-each-expert")
def router_inside(d_model, d_ff, n_experts, n_active):
    layer = 3 * d_model * d_ff + n_experts * d_model
    return tuple(n * layer for n in (n_experts, n_active))


@wrong("one-number-only")
def stored_only(d_model, d_ff, n_experts, n_active):
    return n_experts * d_model * (3 * d_ff + 1)
