# %% [markdown]
# # Exercises 10: why is the next token cheap?
#
# **You need:** lesson 10, [the KV cache](../../notebooks/10_kv_cache.ipynb). About 55 minutes, 13 points.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.
#
# You may use torch and all of the library.

# %%
import math

import torch

from course_lib.feedback import check
from course_lib.softmax import softmax

# %% [markdown]
# ## 1. Predict: is a prompt in chunks more work?
#
# Difficulty 2 of 5, 2 points, 8 minutes.
#
# Step 4 of the lesson fed a prompt in chunks. A plain program then computes, for each chunk, the scores of its queries against all keys that are there by then, the chunk's own included; pairs that the mask hides are computed, too. Take one layer and one head. **Predict:** compared with the whole prompt at once, is that more scores or fewer? By which factor, for many small chunks?
#
# Write `n_scores(n, chunk)`, a whole number: all scores of a prompt of `n` positions, fed in pieces of `chunk`; the last piece is shorter where `chunk` does not divide `n`. `chunk` is at least 1 and may exceed `n`. A formula: no loop. By hand: 7 positions in chunks of 3 are 3 · 3 + 3 · 6 + 1 · 7 = 34 scores; at once, 49.


# %% tags=["solution:n_scores"]
def n_scores(n, chunk):
    """-> int, the scores that are computed for a prompt of n positions."""
    ### BEGIN SOLUTION
    n_full, rest = divmod(n, chunk)
    # Full chunk i (from 1) makes chunk rows of i * chunk scores; the rest sees all n.
    return chunk**2 * n_full * (n_full + 1) // 2 + rest * n
    ### END SOLUTION


# %% tags=["check:n_scores", "points:2"]
check("n_scores", n_scores, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Draw the table of 6 queries and 6 keys, and in it the rectangles of three chunks. Which cells are never computed?
# </details>
# <details><summary>A stronger hint</summary>
#
# With chunks numbered from 1, number $i$ has `chunk` queries and `i * chunk` keys. Add up over the full ones: 1 + 2 + ... + m is m(m + 1)/2. The rest has `n % chunk` queries, and how many keys?
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/10_kv_cache](../../solutions/10_kv_cache/kv_cache.ipynb), exercise 1. (Fewer: where `chunk` divides `n` it is n(n + chunk)/2, for small chunks half of n². Most of what the mask hides is not computed.)
# </details>

# %% [markdown]
# ## 2. Repair: a cache that is used again
#
# Difficulty 3 of 5, 3 points, 12 minutes.
#
# A server keeps the cache of a conversation. When the next prompt comes, its beginning is often the same, and only what differs need be fed: the cache is cropped to the equal beginning. This function says to how many tokens. It passed its tests, and in use it failed every few minutes:
#
# ```python
# def n_reusable(cached_ids, prompt_ids):
#     n = 0
#     while cached_ids[n] == prompt_ids[n]:
#         n += 1
#     return n
# ```
#
# Two things are wrong. It fails where one of the two lists ends before they differ. And with only that mended, it would sometimes give a number with which the server cannot go on: its next step is to feed the rest of the prompt and to read the logits after the last token.
#
# Repair it, and add one thing: `n_reusable(cached_ids, prompt_ids, block_size=1)`. With pages (step 8) only whole blocks can be kept, so the result is a multiple of `block_size`, the largest that is possible. Both lists hold ids; `cached_ids` may be empty, the prompt has at least one id.


# %% tags=["solution:n_reusable"]
def n_reusable(cached_ids, prompt_ids, block_size=1):
    """-> int, the tokens to which the cache is cropped."""
    ### BEGIN SOLUTION
    # One id of the prompt is left to be fed, so it is not compared at all.
    most = min(len(cached_ids), len(prompt_ids) - 1)
    n = 0
    while n < most and cached_ids[n] == prompt_ids[n]:
        n += 1
    return n // block_size * block_size
    ### END SOLUTION


# %% tags=["check:n_reusable", "points:3"]
check("n_reusable", n_reusable, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Which inputs did the tests not have? Try it by hand: an empty cache; a prompt that goes on where the cache ends; the same prompt twice. How many tokens are left to feed then? A cache holds keys and values: where would the logits come from?
# </details>
# <details><summary>A stronger hint</summary>
#
# First find the most that could be kept, whatever the ids are: no more than the cache has, and one less than the prompt has, since at least one token must be fed. Count equal ids up to there. Round down to whole blocks *last*.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/10_kv_cache](../../solutions/10_kv_cache/kv_cache.ipynb), exercise 2.
# </details>

# %% [markdown]
# ## 3. Write: fewer key heads for a trained model
#
# Difficulty 3 of 5, 3 points, 12 minutes.
#
# The number of key heads is part of the model. To convert a trained model that has one for each query head, Ainslie et al. (2023, arXiv:2305.13245) give each group of query heads the **mean** of the key heads that its members had, and then train a little more.
#
# Write `pooled_heads(parameter, n_kv_heads, d_head)`. `parameter` is the weight of `to_keys` or `to_values`, (n_heads · d_head, d_model), as `nn.Linear` holds it: the first d_head rows make head 0, the next d_head rows head 1, and so on. Or it is the bias, (n_heads · d_head). Return the pooled one, (n_kv_heads · d_head, d_model) or (n_kv_heads · d_head). As in step 7, consecutive heads form a group; `n_kv_heads` divides the number of heads. The parameter stays as it is.
#
# By hand: the bias [1, 2, 3, 4, 5, 6, 7, 8] holds four heads of 2. Two key heads get [2, 3] and [6, 7].


# %% tags=["solution:pooled_heads"]
def pooled_heads(parameter, n_kv_heads, d_head):
    """(n_heads * d_head, ...) -> (n_kv_heads * d_head, ...)."""
    ### BEGIN SOLUTION
    groups = parameter.unflatten(0, (n_kv_heads, -1, d_head))  # (kv_head, member, ...)
    return groups.mean(1).flatten(0, 1)
    ### END SOLUTION


# %% tags=["check:pooled_heads", "points:3"]
check("pooled_heads", pooled_heads, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Write the eight numbers of the example as a table with a row for each head. Which rows are averaged with which?
# </details>
# <details><summary>A stronger hint</summary>
#
# Take the first axis apart into three: group, member of the group, row of the head (`unflatten` or `view`). Over one of the three the mean is taken; the other two are joined again.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/10_kv_cache](../../solutions/10_kv_cache/kv_cache.ipynb), exercise 3. (For the keys it is a rough start: a mean of keys gives the mean of the *scores*, not of the weights. Hence the further training.)
# </details>

# %% [markdown]
# ## 4. Write: one beginning for all
#
# Difficulty 4 of 5, 3 points, 17 minutes.
#
# All conversations of a server begin with the same long instruction. Its keys and values are equal in all rows, so they are kept **once**, without a batch axis; each row has its own cache for what came after. A step must read both.
#
# Write `read_shared(queries, shared_keys, shared_values, keys, values, lengths)`:
#
# - `queries` (batch, head, 1, d_head): one new position for each row, as many key heads as query heads.
# - `shared_keys`, `shared_values` (head, shared, d_head), at least one position; all rows read all of it.
# - `keys`, `values` (batch, head, own, d_head): row $b$ reads its first `lengths[b]` positions; what stands behind them is padding, finite numbers of any size. `lengths` is (batch,) int. It counts the new position, too; a row for which it is 0 has nothing of its own and reads the shared part alone.
#
# Return the outputs, (batch, head, 1, d_head): what attention would give, were the shared positions and the row's own joined in one cache. Divide scores by √d_head. Scores may be in the thousands. Try not to copy the shared keys for each row: that would give back what was saved (the check cannot see it).


# %% tags=["solution:read_shared"]
def read_shared(queries, shared_keys, shared_values, keys, values, lengths):
    """(batch, head, 1, d_head), two caches -> (batch, head, 1, d_head)."""
    ### BEGIN SOLUTION
    # The shared part has no batch axis: its one row is broadcast to all, and not copied.
    to_shared = torch.einsum("bhqd,hkd->bhqk", queries, shared_keys)
    to_own = queries @ keys.mT
    padding = torch.arange(keys.shape[-2]) >= lengths[:, None, None, None]
    to_own = to_own.masked_fill(padding, -math.inf)
    # Scores are joined, keys are not: one softmax decides between the two parts.
    scores = torch.cat([to_shared, to_own], -1) / math.sqrt(queries.shape[-1])
    shared, own = softmax(scores).split([shared_keys.shape[-2], keys.shape[-2]], -1)
    return torch.einsum("bhqk,hkd->bhqd", shared, shared_values) + own @ values
    ### END SOLUTION


# %% tags=["check:read_shared", "points:3"]
check("read_shared", read_shared, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Two attentions, one for each part, have two softmaxes, and each hands out a weight of 1. How much should the shared part get? What must both parts have in common?
# </details>
# <details><summary>A stronger hint</summary>
#
# Compute the two tables of scores, hide the padding in the second, join the *scores* along the key axis and take one softmax. Then cut the weights at the same place; each part of them mixes its own values, and the two results are added.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/10_kv_cache](../../solutions/10_kv_cache/kv_cache.ipynb), exercise 4.
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 6 minutes; a person marks this one.
#
# Many users ask about the same handbook, each after an instruction of another length. "The same tokens have the same keys and values", says a colleague, "so let us compute those of the handbook once and put them into every cache, wherever it begins." The model has rotary positions and several layers. Where does this go wrong, and what would make it right? Three or four sentences.

# %% [markdown] tags=["manual:keys_of_a_handbook", "points:2"]
# From the second layer on a key is made from what the position has *read* in the layers below, and it has read the instruction in front of it. After another instruction the same tokens have other keys and values (1 point). In the first layer only the position differs: keys were turned for their old places. Turning them on to the new ones mends that layer, and no other.
#
# It is right where everything *before* is the same, too: put the handbook first and the instruction behind it. Then tokens, places and all that was read agree, and the keys can be kept once (1 point).
