# %% [markdown]
# # Exercises 02: who may read what?
#
# **You need:** lesson 02, [masks](../../notebooks/02_masks.ipynb). About 55 minutes, 12 points.
#
# A mask is a bool tensor, and `True` means *may read*. Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof. You may use torch and what the library has from the lesson, such as `may_read` and `softmax`. A function leaves its inputs as they are.

# %%
import torch

from course_lib.feedback import check
from course_lib.masks import may_read
from course_lib.softmax import softmax

# %% [markdown]
# ## 1. Several documents in one row
#
# Difficulty 2 of 5, 2 points, 10 minutes.
#
# To waste no padding, training packs several documents into one row. `document_ids`, (position,) int, says which document each position belongs to, for example `[4, 4, 4, 7, 7]`. A position reads itself and what came before it *in its own document*.
#
# Return a bool table, (position, position). The ids may be any integers; documents are never interleaved.

# %% tags=["solution:packed_mask"]
def packed_mask(document_ids):
    """(position,) int -> (query, key) bool."""
    ### BEGIN SOLUTION
    positions = torch.arange(len(document_ids))
    # Only equality of ids matters; their order and sign mean nothing.
    same_document = document_ids[:, None] == document_ids[None, :]
    return may_read(positions, positions) & same_document
    ### END SOLUTION


# %% tags=["check:packed_mask", "points:2"]
check("packed_mask", packed_mask, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Two conditions must hold at once. The lesson gave you one; say the other as a comparison of two ids.
# </details>
# <details><summary>A stronger hint</summary>
#
# `document_ids[:, None]` is a column (one row a query), `document_ids[None, :]` a row (one column a key). Compared, they give a table.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/02_masks](../../solutions/02_masks/masks.ipynb), exercise 1.
# </details>

# %% [markdown]
# ## 2. A window that keeps the first keys
#
# Difficulty 3 of 5, 3 points, 15 minutes.
#
# With a sliding window a model loses its first tokens, and many models then write nonsense: they have learned to park attention there. Xiao et al. (2023, arXiv:2309.17453) keep the first few keys, the **sinks**, readable for ever.
#
# Write `sink_mask(n_queries, window, n_sinks, offset=0)`, bool (query, key). Query $i$ stands at absolute position `offset + i`; keys are numbered from 0, and there are `offset + n_queries` of them. A query reads the last `window` keys up to and with its own, and the first `n_sinks` keys. Sinks take no place away from the window. A query never reads a key that comes after it, not even a sink. `window` is at least 1; `n_sinks` may be 0.

# %% tags=["solution:sink_mask"]
def sink_mask(n_queries, window, n_sinks, offset=0):
    """-> (query, key) bool, with offset + n_queries keys."""
    ### BEGIN SOLUTION
    queries = offset + torch.arange(n_queries)[:, None]
    keys = torch.arange(offset + n_queries)[None, :]
    near = queries - keys < window
    # The outer condition holds for sinks, too: none is read before it is written.
    return (keys <= queries) & (near | (keys < n_sinks))
    ### END SOLUTION


# %% tags=["check:sink_mask", "points:3"]
check("sink_mask", sink_mask, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Write the sentence "a query reads ..." with *and* and *or* before you write code. Where do the brackets go?
# </details>
# <details><summary>A stronger hint</summary>
#
# Give queries and keys their absolute positions as a column and a row. Then every condition is one comparison: not after, near enough, a sink.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/02_masks](../../solutions/02_masks/masks.ipynb), exercise 2.
# </details>

# %% [markdown]
# ## 3. Predict: how many cells?
#
# Difficulty 2 of 5, 2 points, 10 minutes.
#
# Before a kernel is written one counts. How many cells of a causal window mask with `n` queries and `n` keys are `True`, if each query reads at most `window` keys, its own among them? Write a formula in `n` and `window`: no tensor, no loop. Both are at least 1, and the window may be longer than the row. Try it on paper with $n = 4$ and a window of 2 first.
#
# **Predict**: of the cells that a causal mask of 32,768 tokens has, how many are left with a window of 4,096: an eighth, a bit less than a quarter, or a half?

# %% tags=["solution:n_readable"]
def n_readable(n, window):
    """-> int: the True cells of window_mask(n, window)."""
    ### BEGIN SOLUTION
    short = min(window, n)  # a window longer than the row is the row
    return short * (short + 1) // 2 + (n - short) * short
    ### END SOLUTION


# %% tags=["check:n_readable", "points:2"]
check("n_readable", n_readable, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Count row by row: how many keys does query 0 read, query 1, ... and from which row on does the number stay the same?
# </details>
# <details><summary>A stronger hint</summary>
#
# The first `window` rows are a triangle, 1 + 2 + ... + `window`; every later row has `window` cells. A window longer than `n` leaves only a triangle.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/02_masks](../../solutions/02_masks/masks.ipynb), exercise 3. Of the prediction: 125,831,168 of 536,887,296 cells are left, 0.234.
# </details>

# %% [markdown]
# ## 4. Repair a mask that is multiplied
#
# Difficulty 3 of 5, 3 points, 15 minutes.
#
# This was found in a real repository: scores are multiplied by a mask of 0 and 1, and then softmax is taken.
#
# ```python
# def masked_weights(scores, allowed):
#     return (scores * allowed).softmax(-1)
# ```
#
# Repair it. `scores` is (batch, query, key) float of any size, `allowed` (query, key) bool. Return weights, (batch, query, key): 0 where a key may not be read; over the readable keys, the softmax of their scores. A query that may read no key gets weights of 0, not NaN. Scores may hold inf, -inf or NaN *where they may not be read*, and that must not matter; readable ones are finite. They may be float16, too. Gradients are not asked for.

# %% tags=["solution:masked_weights"]
def masked_weights(scores, allowed):
    """(batch, query, key), (query, key) bool -> (batch, query, key)."""
    ### BEGIN SOLUTION
    weights = softmax(scores.masked_fill(~allowed, -torch.inf))
    # A row of -inf alone gives NaN; the second fill writes over it.
    return weights.masked_fill(~allowed, 0.0)
    ### END SOLUTION


# %% tags=["check:masked_weights", "points:3"]
check("masked_weights", masked_weights, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Print the weights for three scores of -50 with one key hidden. Which key gets them, and why?
# </details>
# <details><summary>A stronger hint</summary>
#
# Select instead of multiplying: `masked_fill` does not care what stood there before. Then look at a row that is hidden as a whole: what is 0 divided by 0?
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/02_masks](../../solutions/02_masks/masks.ipynb), exercise 4.
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 5 minutes; a person marks this one.
#
# A decoder has 4 layers, each with a window of 3. A colleague says: "So no output depends on a token that is more than 2 places back." Is that so? How far back can the output at position 15 depend on tokens, and why no further? And what does one sink, key 0, add? Three or four sentences, with numbers.

# %% [markdown] tags=["manual:reach_of_a_window", "points:2"]
# No. Each layer hands on what its keys have read, so each adds window - 1 = 2 places: 4 · 2 = 8, back to position 7, and not further, since no layer reaches more than 2 (1 point).
#
# The sink adds token 0 alone: key 0 can itself read nothing but itself, so it carries nothing of the tokens between (1 point).
