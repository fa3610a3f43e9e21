# %% [markdown]
# # Exercises 05: how does the decoder consult the source?
#
# **You need:** lesson 05, [cross-attention](../../notebooks/05_cross_attention.ipynb). About 57 minutes, 13 points.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.

# %%
import torch

from course_lib.feedback import check
from course_lib.masks import causal_mask

# %% [markdown]
# ## 1. Predict: what does an answer cost?
#
# Difficulty 2 of 5, 2 points, 12 minutes.
#
# A decoder writes `n_written` tokens one by one; a source of `n_source` places is ready. Count the multiplications that the **two attentions of one block** need: self-attention, in which token $t$ (the first is $t = 1$) reads the keys 1 to $t$, and cross-attention. Everything is kept: keys and values of what was written, and those of the source, which are projected at the first token.
#
# Write the count as a formula in `n_written`, `n_source` and `d_model`, an integer. All four matrices of each attention count. A projection of one vector costs $d^2$; to read $k$ keys costs $2kd$. Biases, softmax and division by the root do not count. All numbers are at least 1. Try it on paper first: one token, a source of 10, $d = 4$ gives 504.

# %% tags=["solution:writing_cost"]
def writing_cost(n_written, n_source, d_model):
    """-> int: the multiplications of self- and cross-attention together."""
    ### BEGIN SOLUTION
    read_self = n_written * (n_written + 1) // 2  # 1 + 2 + ... + n_written keys
    read_source = n_written * n_source
    # Self-attention has four matrices for each token, cross-attention two; its other
    # two meet the source, once.
    projected = 6 * n_written + 2 * n_source
    return projected * d_model**2 + 2 * (read_self + read_source) * d_model
    ### END SOLUTION


# %% tags=["check:writing_cost", "points:2"]
check("writing_cost", writing_cost, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Make a table: which matrices does a new token meet, in self-attention and in cross-attention? Which meet the source, and how often?
# </details>
# <details><summary>A stronger hint</summary>
#
# Count two things apart: vectors that are projected ($d^2$ each), and pairs of a query and a key ($2d$ each). In self-attention the pairs are 1 + 2 + ... + `n_written`.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/05_cross_attention](../../solutions/05_cross_attention/cross_attention.ipynb), exercise 1.
# </details>

# %% [markdown]
# ## 2. Repair the masks of a translator
#
# Difficulty 3 of 5, 3 points, 12 minutes.
#
# This function makes both masks of a decoder. It holds two faults of a kind that stands in several public bug reports, and it runs as long as target and source are padded to the same length.
#
# ```python
# def decoder_masks(target, source):
#     n = target.shape[1]
#     causal = torch.ones(n, n).tril().bool()
#     self_allowed = causal & (target != 0)[:, None, None, :]
#     cross_allowed = causal & (source != 0)[:, None, :, None]
#     return self_allowed, cross_allowed
# ```
#
# Repair it. `target` is (batch, query), `source` (batch, key), both ids; 0 is padding, it stands only at the end, and the first id of each row is real. Return two bool masks, True for *may read*; the first must broadcast to (batch, head, query, query), the second to (batch, head, query, key). What a padded target position may read is left to you: its output is never used.

# %% tags=["solution:decoder_masks"]
def decoder_masks(target, source):
    """(batch, query), (batch, key) int -> two bool masks for attention."""
    ### BEGIN SOLUTION
    # The first mask was right. In the second, padding is a column, whoever asks, and
    # the source is complete: no triangle.
    own = causal_mask(target.shape[1]) & (target != 0)[:, None, None, :]
    return own, (source != 0)[:, None, None, :]
    ### END SOLUTION


# %% tags=["check:decoder_masks", "points:3"]
check("decoder_masks", decoder_masks, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Take one row, target `[5, 6, 7]` and source `[8, 9, 0]`. Write the two tables on paper, with a name for each row and each column, before you print those of the function.
# </details>
# <details><summary>A stronger hint</summary>
#
# A row of the table asks, a column is read. Which text do the columns of `cross_allowed` belong to? Then: what does "later" mean between two texts?
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/05_cross_attention](../../solutions/05_cross_attention/cross_attention.ipynb), exercise 2.
# </details>

# %% [markdown]
# ## 3. Several passages, one memory
#
# Difficulty 3 of 5, 3 points, 13 minutes.
#
# To answer a question from several passages of text, the encoder reads each passage by itself, together with the question, and the decoder reads all of them at once: their outputs are laid side by side as one memory (*fusion in the decoder*; Izacard, Grave 2020, arXiv:2007.01282).
#
# `memory` is (batch, passage, key, d_model), `lengths` (batch, passage) int: the real places of each passage, 0 to `key`; an empty passage has 0, and each row has at least one real place. Return one memory, (batch, places, d_model), and a bool mask for it, True for *may read*, that broadcasts to (batch, head, query, places). In which order the places stand is free, and padding may stay or be cut; but it is never read, even where it holds NaN. (A mask is enough: `attention` keeps hidden NaN out, lesson 02.)

# %% tags=["solution:fuse_passages"]
def fuse_passages(memory, lengths):
    """(batch, passage, key, d_model), (batch, passage) -> a memory and its mask."""
    ### BEGIN SOLUTION
    real = torch.arange(memory.shape[2]) < lengths[..., None]  # (batch, passage, key)
    # Memory and mask are joined the same way: a place keeps its permission.
    return memory.flatten(1, 2), real.flatten(1)[:, None, None]
    ### END SOLUTION


# %% tags=["check:fuse_passages", "points:3"]
check("fuse_passages", fuse_passages, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Two passages of 3 places, lengths 1 and 3. Write the six places of the fused memory in a line and mark those that may be read. Is the padding at the end?
# </details>
# <details><summary>A stronger hint</summary>
#
# Make a mask for each passage first, (batch, passage, key). Then join passage and key in the mask exactly as in the memory: `flatten(1, 2)`.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/05_cross_attention](../../solutions/05_cross_attention/cross_attention.ipynb), exercise 3.
# </details>

# %% [markdown]
# ## 4. A decoder that may copy
#
# Difficulty 4 of 5, 3 points, 15 minutes.
#
# A name that the decoder has hardly met in training stands in the source. A *pointer* lets it copy (See, Liu, Manning 2017, arXiv:1704.04368): part of the probability goes to the decoder's own choice, the rest to the words that its cross-attention looks at. The weights serve as probabilities of *places*; you turn them into probabilities of *ids*.
#
# Write `copy_mixture(weights, source, probabilities, copying)`:
#
# - `weights` (batch, query, key): each row sums to 1; 0 on padding.
# - `source` (batch, key) int: the ids of the source, in the same vocabulary. A word may stand at several places.
# - `probabilities` (batch, query, vocab): the decoder's own, each row sums to 1.
# - `copying` (batch, query), 0 to 1: which share of the probability is copied.
#
# Return (batch, query, vocab): `1 - copying` times the decoder's own, plus `copying` times what the weights give to each id. No gradient is checked.

# %% tags=["solution:copy_mixture"]
def copy_mixture(weights, source, probabilities, copying):
    """-> (batch, query, vocab) probabilities."""
    ### BEGIN SOLUTION
    share = copying[..., None]
    ids = source[:, None, :].expand_as(weights)
    # scatter_add, since a word that stands twice gets both weights. Padding adds 0.
    return ((1 - share) * probabilities).scatter_add(-1, ids, share * weights)
    ### END SOLUTION


# %% tags=["check:copy_mixture", "points:3"]
check("copy_mixture", copy_mixture, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# One query, source ids `[3, 1, 3]`, weights 0.5, 0.2, 0.3. What probability should id 3 get from copying, and id 1, and id 0?
# </details>
# <details><summary>A stronger hint</summary>
#
# Add each weight to the entry of its id. `scatter_add(-1, ids, numbers)` does this on a copy, with `ids` of the shape of `numbers`; or make a table (batch, key, vocab) with a 1 where the id stands, and multiply.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/05_cross_attention](../../solutions/05_cross_attention/cross_attention.ipynb), exercise 4.
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 5 minutes; a person marks this one.
#
# In a translator with two encoder layers, the decoder writes *und* and puts weight 0.83 on *twenty*. A colleague concludes: "*und* is the translation of *twenty*." Name two reasons why the weight does not show this, and one test that would tell whether *twenty* decides that *und* is written. Three or four sentences.

# %% [markdown] tags=["manual:what_a_weight_shows", "points:2"]
# A row of weights sums to 1, needed or not: a piece that needs no word still has to look somewhere. And a weight names a *place* of the memory; after two encoder layers, what lies there is a mixture of the whole source, so it need not be the word *twenty* (1 point for both reasons).
#
# The test is a change of the input: exchange *twenty* for *thirty* in the source, or exchange the memory at that place alone, and see whether *und* is still written, or how far its probability moves. If it stays, the word did not decide it (1 point).
