# %% [markdown]
# # Exercises 06: what happens between two readings?
#
# **You need:** lesson 06, [feed-forward](../../notebooks/06_feed_forward.ipynb). About 58 minutes, 13 points.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.

# %%
import torch
import torch.nn.functional as F

from course_lib.feed_forward import FeedForward
from course_lib.feedback import check

# %% [markdown]
# ## 1. Predict: stored and used
#
# Difficulty 2 of 5, 2 points, 8 minutes.
#
# A *mixture of experts* has several feed-forward layers side by side, the experts, and each position uses only a few of them. A router chooses: one linear layer from d_model to a score for each expert.
#
# How many parameters does such a layer store, and how many does one position use? The experts are SwiGLU layers of the lesson's kind, without biases; the router has no bias either. It scores all experts. Return both numbers, `(stored, used)`. On paper first: width 2, d_ff 3, four experts, one active: 80 and 26.
#
# Then try the sizes of Mixtral 8x7B (Jiang et al. 2024, arXiv:2401.04088): 4096, 14336, 8 experts, 2 active, in each of its 32 layers.

# %% tags=["solution:expert_parameters"]
def expert_parameters(d_model, d_ff, n_experts, n_active):
    """-> (stored, used): two integers."""
    ### BEGIN SOLUTION
    expert = 3 * d_model * d_ff  # gate, hidden, output
    router = d_model * n_experts  # whole in both: nobody is chosen without a score
    return router + n_experts * expert, router + n_active * expert
    ### END SOLUTION


# %% tags=["check:expert_parameters", "points:2"]
check("expert_parameters", expert_parameters, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Count one expert first: how many matrices does a gated layer have, and of which shape?
# </details>
# <details><summary>A stronger hint</summary>
#
# Both numbers are "router + some experts". The router's matrix is (n_experts, d_model), and to find the best scores it must compute all of them.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/06_feed_forward](../../solutions/06_feed_forward/feed_forward.ipynb), exercise 1. (Mixtral: 1.409 and 0.352 billion a layer, 45.1 and 11.3 billion in 32 layers.)
# </details>

# %% [markdown]
# ## 2. Repair a packed SwiGLU
#
# Difficulty 2 of 5, 2 points, 10 minutes.
#
# Many published weights pack the gate's matrix and the hidden units' into one, so that one product does for both. To take it apart in the wrong way is a fault of several public bug reports: nothing complains, and the numbers look plausible. This function has *two* faults, and the second hides behind the first.
#
# ```python
# def packed_swiglu(x, packed, narrow):
#     hidden, gate = F.linear(x, packed).chunk(2, -1)
#     return F.linear(F.silu(gate * hidden), narrow)
# ```
#
# Repair it. `x` is (..., d_model). `packed` is (2 · d_ff, d_model): the first d_ff rows make the gate, the last d_ff rows the hidden units. `narrow` is (d_model, d_ff). There are no biases. Return what SwiGLU gives, in the shape of `x`.

# %% tags=["solution:packed_swiglu"]
def packed_swiglu(x, packed, narrow):
    """(..., d_model), (2 * d_ff, d_model), (d_model, d_ff) -> (..., d_model)."""
    ### BEGIN SOLUTION
    gate, hidden = F.linear(x, packed).chunk(2, -1)  # in the order of the rows
    return F.linear(F.silu(gate) * hidden, narrow)  # only the gate is bent
    ### END SOLUTION


# %% tags=["check:packed_swiglu", "points:2"]
check("packed_swiglu", packed_swiglu, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Compare the last line with the definition: on what does the bend work there? Why could the order of gate and hidden units not matter before that was repaired?
# </details>
# <details><summary>A stronger hint</summary>
#
# `F.linear(x, packed)` has 2 · d_ff numbers, in the order of the rows of `packed`. `chunk(2, -1)` gives the first half first. Which name belongs to it?
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/06_feed_forward](../../solutions/06_feed_forward/feed_forward.ipynb), exercise 2.
# </details>

# %% [markdown]
# ## 3. Bury the dead units
#
# Difficulty 3 of 5, 3 points, 15 minutes.
#
# A hidden unit that is not above 0 at any position hands on 0 everywhere; the lesson called it *dead*. Without it the layer is smaller and does the same.
#
# `network` is a `FeedForward` with ReLU, perhaps without biases (then `.bias` is `None`); `x` is (..., d_model), of any number of axes from 2 on. Return a **new** `FeedForward`, with parameters of its own, that has only the units that are above 0 at *some* position of `x`. For `x` it must give what `network` gives. `network` must not change. At least one unit is alive. The order of the units is free, and gradients are not asked for.

# %% tags=["solution:without_dead_units"]
def without_dead_units(network, x):
    """FeedForward, (..., d_model) -> a smaller FeedForward."""
    ### BEGIN SOLUTION
    up, down = network.to_hidden, network.to_output
    alive = (up(x) > 0).flatten(0, -2).any(0)  # (d_ff,): positions are all alike here
    n_alive = int(alive.sum())
    smaller = FeedForward(up.in_features, n_alive, "relu", up.bias is not None)
    # A unit is a row of one matrix, a number of its bias and a column of the other.
    kept = {
        "to_hidden.weight": up.weight[alive],
        "to_output.weight": down.weight[:, alive],
    }
    if up.bias is not None:
        kept |= {"to_hidden.bias": up.bias[alive], "to_output.bias": down.bias}
    smaller.load_state_dict(kept)
    return smaller
    ### END SOLUTION


# %% tags=["check:without_dead_units", "points:3"]
check("without_dead_units", without_dead_units, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Where does one hidden unit stand in the parameters? It has a place in three of the four tensors. What does the fourth belong to?
# </details>
# <details><summary>A stronger hint</summary>
#
# `network.to_hidden(x) > 0` is (..., d_ff). Flatten all axes but the last, ask `any(0)`: a bool index of length d_ff. It picks rows of `to_hidden.weight`, numbers of `to_hidden.bias`, columns of `to_output.weight`. `load_state_dict` copies tensors into a new layer.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/06_feed_forward](../../solutions/06_feed_forward/feed_forward.ipynb), exercise 3.
# </details>

# %% [markdown]
# ## 4. A mixture of experts
#
# Difficulty 4 of 5, 4 points, 20 minutes.
#
# Now the layer of exercise 1 itself. `x` is (..., d_model), from one axis on; `router` is the matrix of the router, (n_experts, d_model), so the scores of a position are its products with the rows. `experts` is a list of `n_experts` functions or modules from (..., d_model) to the same shape.
#
# For each position by itself: take the `n_active` experts with the largest scores (1 to all of them; no two scores are equal). Their weights are the softmax of *these* scores alone, so they sum to 1. The result is the sum of these experts' outputs, each times its weight, in the shape of `x`.
#
# You may run every expert on every position; whoever wants the point of the whole design lets an expert see only the positions that chose it. Gradients and speed are not checked.

# %% tags=["solution:mixture_of_experts"]
def mixture_of_experts(x, router, experts, n_active):
    """(..., d_model) -> (..., d_model)."""
    ### BEGIN SOLUTION
    rows = x.reshape(-1, x.shape[-1])  # which axes the positions have does not matter
    scores, chosen = (rows @ router.T).topk(n_active, -1)  # both (row, n_active)
    weights = scores.softmax(-1)
    outputs = torch.zeros_like(rows)
    for place, expert in enumerate(experts):
        row, rank = (chosen == place).nonzero(as_tuple=True)  # who chose it, as which
        # Only these rows are computed; each row chooses an expert at most once.
        outputs[row] += weights[row, rank, None] * expert(rows[row])
    return outputs.view_as(x)
    ### END SOLUTION


# %% tags=["check:mixture_of_experts", "points:4"]
check("mixture_of_experts", mixture_of_experts, points=4)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Write it for one position first: scores, the best `n_active` of them, their softmax, a loop over the chosen. What changes when there are two positions that choose differently?
# </details>
# <details><summary>A stronger hint</summary>
#
# Without a loop over positions: give the experts that were not chosen a score of minus infinity, as a mask does, and take the softmax. Then every position has a weight for every expert, most of them 0, and one sum over experts does it. `topk(n_active, -1)` gives the largest scores and their places.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/06_feed_forward](../../solutions/06_feed_forward/feed_forward.ipynb), exercise 4.
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 5 minutes; a person marks this one.
#
# A colleague trains a decoder whose feed-forward layers (d_ff = 4 · d_model, with biases) have no bend. "The loss is only a little higher. So I can store each of them as one small layer, and the bend was superfluous anyway." Which half of this is right, and how many parameters are left of $8d^2 + 5d$? Which half does not follow, and why was the loss not much worse? Three or four sentences.

# %% [markdown] tags=["manual:merged_layers", "points:2"]
# The first half is right: two linear layers are one, with the matrix $W_1 W_2$, (d_model, d_model), and the bias $b_1 W_2 + b_2$, so $d^2 + d$ parameters do exactly the same (1 point).
#
# The second does not follow. The model is not linear without these bends: attention (its softmax) and the norms still bend, and on this task they made up for a part. But a position by itself is left with the bend of its norms, one factor for its whole vector, instead of `d_ff` units that each bend where they have learned to; and "a little higher" is a difference: whether it counts shows only against a model of equal parameters, over several seeds (1 point).
