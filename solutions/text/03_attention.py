# %% [markdown]
# # Exercises 03: how does a position read from the others?
#
# **You need:** lesson 03, [attention](../../notebooks/03_attention.ipynb). About 55 minutes, 13 points.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.
#
# You may use torch and what the library has from the lesson, such as `split_heads`.

# %%
import math

import torch

from course_lib.attention import split_heads
from course_lib.feedback import check
from course_lib.softmax import softmax

# %% [markdown]
# ## 1. Predict: how many multiplications?
#
# Difficulty 2 of 5, 2 points, 8 minutes.
#
# Self-attention over `n` positions, one row of a batch: four projections, the scores, the mix of the values. **Predict** two things. How does the number of multiplications change with the number of heads, at the same d_model? And with d_model 512, from which length on do scores and mix take more of them than the projections?
#
# Write `attention_multiplications(n, d_model, n_heads, causal=False)`, a whole number. Count the products of two numbers in these six steps, and nothing else: not the softmax, the division by the root or the biases. With `causal`, a score that the mask hides is not computed, and its weight of 0 is not multiplied; the projections stay. No loop.


# %% tags=["solution:attention_multiplications"]
def attention_multiplications(n, d_model, n_heads, causal=False):
    """-> int, for one row of n positions."""
    ### BEGIN SOLUTION
    cells = n * (n + 1) // 2 if causal else n * n
    # A head takes d_head a cell, twice, and all heads together d_model a cell.
    return 4 * n * d_model**2 + 2 * cells * d_model
    ### END SOLUTION


# %% tags=["check:attention_multiplications", "points:2"]
check("attention_multiplications", attention_multiplications, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# How many products are summed in one number of a matrix product? Multiply by how many numbers it gives.
# </details>
# <details><summary>A stronger hint</summary>
#
# A projection makes n · d_model numbers, each a sum of d_model products. A cell of a head's table costs d_head products for the score, and d_head again when its weight meets a value. How many tables are there, and what is d_head times that?
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/03_attention](../../solutions/03_attention/attention.ipynb), exercise 1. (The number of heads does not matter. $2n^2d$ exceeds $4nd^2$ where $n > 2d$: with d_model 512 beyond 1,024 positions.)
# </details>

# %% [markdown]
# ## 2. Repair: three projections in one
#
# Difficulty 3 of 5, 3 points, 12 minutes.
#
# Many models make queries, keys and values with one matrix: `fused`, (batch, position, 3 · d_model). In the weights of this model, as in those of GPT-NeoX, the width is laid out *head by head*: the query of head 0, its key, its value; then query, key and value of head 1, and so on, d_head numbers each. They loaded without an error, this code cut what the matrix gave, and the model wrote nonsense:
#
# ```python
# def split_fused(fused, n_heads):
#     queries, keys, values = fused.chunk(3, -1)
#     return tuple(split_heads(part, n_heads) for part in (queries, keys, values))
# ```
#
# Repair it. Return queries, keys and values, each (batch, head, position, d_head).


# %% tags=["solution:split_fused"]
def split_fused(fused, n_heads):
    """(batch, position, 3 d_model) -> three of (batch, head, position, d_head)."""
    ### BEGIN SOLUTION
    # The outer grouping is cut first: heads, and then the three parts of each.
    return split_heads(fused, n_heads).chunk(3, -1)
    ### END SOLUTION


# %% tags=["check:split_fused", "points:3"]
check("split_fused", split_fused, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Write down the width for two heads with d_head 1: six numbers, and whose is each? Which does `chunk(3, -1)` call queries?
# </details>
# <details><summary>A stronger hint</summary>
#
# Both steps of the broken code are right, and their order is not. What is the *outer* grouping of the width here: three parts of all heads, or all heads of three parts?
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/03_attention](../../solutions/03_attention/attention.ipynb), exercise 2. (With one head both orders agree: such a fault needs a test with several.)
# </details>

# %% [markdown]
# ## 3. A head that may decline
#
# Difficulty 3 of 5, 3 points, 15 minutes.
#
# In the lesson, reading could not be declined: every query hands out a weight of 1. So heads that find nothing park their weight somewhere. The gpt-oss models give each head an **exit**: one learned score that joins every softmax as if it belonged to one more key. What it wins is taken from the others; it hands over no value.
#
# By hand: one query, two keys with scores 0 and $\ln 2$, an exit of $\ln 3$. The exponentials 1, 2 and 3 give the weights 1/6, 1/3 and 1/2; from the values 6 and 12 the output is 1 + 4 = 5.
#
# Write `attention_with_exit(queries, keys, values, exit_scores, allowed=None)`. Queries are (batch, head, query, d_head); keys and values (batch, head, key, d_head); `exit_scores` (head,), any finite numbers, used as they are: the root divides the other scores only. `allowed` is (query, key) bool or None, and never hides the exit. Return the outputs, (batch, head, query, d_head). Scores may be in the thousands; a query that may read no key gets 0.


# %% tags=["solution:attention_with_exit"]
def attention_with_exit(queries, keys, values, exit_scores, allowed=None):
    """(batch, head, query, d_head), with an exit a head: (head,)."""
    ### BEGIN SOLUTION
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -math.inf)
    exits = exit_scores[:, None, None].expand(*scores.shape[:-1], 1)
    # Inside the softmax the exit counts for the largest score, too: nothing overflows.
    weights = softmax(torch.cat([scores, exits], -1))
    return weights[..., :-1] @ values
    ### END SOLUTION


# %% tags=["check:attention_with_exit", "points:3"]
check("attention_with_exit", attention_with_exit, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# The exit is a key whose score is given and whose value is 0. You know an attention with one more key.
# </details>
# <details><summary>A stronger hint</summary>
#
# Make the exits a column, (batch, head, query, 1), and join it to the scores with `torch.cat` *before* the softmax. Afterwards leave its column out, and mix the values with what remains.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/03_attention](../../solutions/03_attention/attention.ipynb), exercise 3.
# </details>

# %% [markdown]
# ## 4. What does one head add?
#
# Difficulty 4 of 5, 3 points, 15 minutes.
#
# `to_output` joins the heads by one matrix product. A matrix product is a sum, so it can be taken apart: what the module returns is the bias plus one vector *from each head*. To see what a head does in a trained model, one looks at its vector.
#
# Write `head_contributions(heads, output_weight)`. `heads` (batch, head, position, d_head) is what the heads have read, before they are joined. `output_weight` is `to_output.weight`, (d_model, d_model), and `nn.Linear` computes `x @ weight.T`. Return (batch, head, position, d_model). Added up over the heads it must be `to_output(merge_heads(heads))` without its bias.


# %% tags=["solution:head_contributions"]
def head_contributions(heads, output_weight):
    """(batch, head, position, d_head) -> (batch, head, position, d_model)."""
    ### BEGIN SOLUTION
    n_heads = heads.shape[1]
    # A row of the transposed weight for each feature that is read; d_head rows a head.
    of_heads = output_weight.T.unflatten(0, (n_heads, -1))  # (head, d_head, d_model)
    return heads @ of_heads
    ### END SOLUTION


# %% tags=["check:head_contributions", "points:3"]
check("head_contributions", head_contributions, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Silence all heads but one: put zeros where the others stood, join, multiply. Which part of the matrix was used?
# </details>
# <details><summary>A stronger hint</summary>
#
# After the join, the features of head $h$ stand at places $h \cdot$ d_head and on. In `x @ weight.T` each place of `x` meets one *row of `weight.T`*. So cut `weight.T` into slices of d_head rows, (head, d_head, d_model), and multiply each head by its own.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/03_attention](../../solutions/03_attention/attention.ipynb), exercise 4.
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 5 minutes; a person marks this one.
#
# "A score is $(x_i W^Q)(x_j W^K)^{\top} = x_i\,(W^Q W^{K\top})\,x_j^{\top}$", says a colleague. "So one matrix a head is enough. Let us train $M = W^Q W^{K\top}$ and save the second." Biases aside, are the scores the same? And is it a saving, with d_model 512 and heads of 64? Three or four sentences, with numbers.

# %% [markdown] tags=["manual:one_matrix_for_two", "points:2"]
# The formula is right: with that $M$ every score is the same, so two matrices can do nothing that one cannot (1 point).
#
# But it is no saving. $M$ is 512 by 512, 262,144 numbers a head; $W^Q$ and $W^K$ are 512 by 64 each, 65,536 together. And each score becomes a product of vectors of width 512 where it was 64, eight times the multiplications. (A free $M$ could also hold more than such a product can: the two thin matrices let each head compare 64 numbers only.) (1 point for one of the two costs, with its numbers.)
