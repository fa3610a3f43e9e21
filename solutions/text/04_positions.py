# %% [markdown]
# # Exercises 04: how does order enter?
#
# **You need:** lesson 04, [positions](../../notebooks/04_positions.ipynb). About 57 minutes, 13 points.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.
#
# Positions and pairs count from 0, as in the lesson.

# %%
import math

import torch

from course_lib.feedback import check

# %% [markdown]
# ## 1. Repair: prompts of different lengths
#
# Difficulty 2 of 5, 2 points, 10 minutes.
#
# Three prompts go through a model as one batch. The short ones are filled up with padding *on the left*, so that all end at the same place. Attention never reads padding (lesson 02). Still, the longest prompt gets a good answer and the others nonsense, with learned or sinusoidal positions. They were numbered so:
#
# ```python
# def counted_positions(is_real):
#     return torch.arange(is_real.shape[1]).expand_as(is_real)
# ```
#
# Repair it. `is_real` is (batch, position) bool: False is padding. It stands left of the row's tokens, or right of them, or on both sides, never between. Return (batch, position) int: the real tokens of *each* row are counted from 0. What padding gets is free, as long as it is a row that the table of positions has: from 0 to one less than the number of places. A row may hold no real token at all.


# %% tags=["solution:counted_positions"]
def counted_positions(is_real):
    """(batch, position) bool -> (batch, position) int."""
    ### BEGIN SOLUTION
    # How many real tokens stand here or before, less this one. Padding on the left
    # would get -1, and a table reads that as its last row without an error.
    return (is_real.cumsum(-1) - 1).clamp(min=0)
    ### END SOLUTION


# %% tags=["check:counted_positions", "points:2"]
check("counted_positions", counted_positions, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Alone, a prompt of three tokens has the positions 0, 1, 2. Which does it have behind two places of padding?
# </details>
# <details><summary>A stronger hint</summary>
#
# A token's position is the number of *real* tokens before it. `cumsum(-1)` counts the real ones up to and with each place. Look at what your code gives to padding, too.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/04_positions](../../solutions/04_positions/positions.ipynb), exercise 1. (Rotary, relative and ALiBi count steps, and forgive a shift of the whole row: the fault shows only where positions are numbers.)
# </details>

# %% [markdown]
# ## 2. Predict: how large must the base be?
#
# Difficulty 3 of 5, 3 points, 12 minutes.
#
# A pair of a rotary head that turns more than once over a text shows several distances as one angle. So one wants *some* pairs that turn at most once. **Predict:** a model shall read twice as far, with as many such pairs as before. Is twice the base enough, too little, or more than needed?
#
# Write `smallest_base(max_length, d_head, n_slow=1)`: the smallest base with which the `n_slow` slowest pairs of a head turn at most once over `max_length` positions, that is, by at most $2\pi$ when the position grows by `max_length`. `d_head` is even, `n_slow` is at least 1 and less than the number of pairs, and `max_length` is a whole number above 6. Return a number, by a formula: no loop, no search.


# %% tags=["solution:smallest_base"]
def smallest_base(max_length, d_head, n_slow=1):
    """-> float: the base of a rotary head of this width."""
    ### BEGIN SOLUTION
    pair = d_head // 2 - n_slow  # the fastest of the slow ones decides
    # max_length · base ** (-2 · pair / d_head) = 2π, solved for the base
    return (max_length / (2 * math.pi)) ** (d_head / (2 * pair))
    ### END SOLUTION


# %% tags=["check:smallest_base", "points:3"]
check("smallest_base", smallest_base, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Which pair of the `n_slow` slowest is the one that decides? Pair 0 is the fastest, and turns by 1 radian a position whatever the base is.
# </details>
# <details><summary>A stronger hint</summary>
#
# That pair has the number $t = d_\text{head}/2 -$ `n_slow`, and turns by $\text{base}^{-2t/d_\text{head}}$ a position. Set `max_length` times this equal to $2\pi$, and solve for the base: a power is undone by the power of the inverse.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/04_positions](../../solutions/04_positions/positions.ipynb), exercise 2. (Twice is too little: the exponent is above 1. With heads of 64 and 7 slow pairs, twice the length takes $2^{64/50}$ = 2.4 times the base.)
# </details>

# %% [markdown]
# ## 3. Near exactly, far roughly
#
# Difficulty 3 of 5, 3 points, 14 minutes.
#
# T5 adds one trained number to a score, and shares it among a *range* of distances: each small distance has its own, and the ranges grow with the distance (Raffel et al. 2020, arXiv:1910.10683, section 2.1). So nothing far away is ever new. The table has `n_buckets` rows; which row belongs to which distance?
#
# By hand, with 8 buckets and `max_distance` 64: distances 0, 1, 2, 3 have the buckets 0, 1, 2, 3. The other four share the way from 4 to 64, a factor of 16, in equal *ratios*, here of 2: bucket 4 holds 4 to 7, bucket 5 holds 8 to 15, then 16 to 31, and bucket 7 all the rest, beyond 64 too.
#
# Write `distance_bucket(distances, n_buckets=32, max_distance=128)`. `distances` is an int tensor of any shape, at least 0; `n_buckets` is even, and `max_distance` above half of it. With $h$ = `n_buckets` / 2 and $d < h$ the bucket is $d$; else it is
#
# $$h + \left\lfloor h \cdot \frac{\ln(d / h)}{\ln(\text{max\_distance} / h)} \right\rfloor, \quad \text{but at most } 2h - 1$$
#
# where $\lfloor\;\rfloor$ rounds down. Return an int tensor of the same shape. (Where rounding of a logarithm could decide, the check does not look.)


# %% tags=["solution:distance_bucket"]
def distance_bucket(distances, n_buckets=32, max_distance=128):
    """Int tensor of distances -> int tensor of rows, the same shape."""
    ### BEGIN SOLUTION
    half = n_buckets // 2
    far = distances.clamp(min=half)  # keeps the logarithm of 0 away
    ratios = (far / half).log() / math.log(max_distance / half)
    rows = (half + (half * ratios).long()).clamp(max=n_buckets - 1)
    return torch.where(distances < half, distances, rows)
    ### END SOLUTION


# %% tags=["check:distance_bucket", "points:3"]
check("distance_bucket", distance_bucket, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Write the two cases as two tensors for *all* distances, and choose with `torch.where`. Try the example by hand.
# </details>
# <details><summary>A stronger hint</summary>
#
# For the far case, first lift small distances to $h$ with `clamp(min=h)`: their result is thrown away, but the logarithm of 0 must not turn into a strange number. `.long()` rounds a positive number down. The cap comes last.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/04_positions](../../solutions/04_positions/positions.ipynb), exercise 3.
# </details>

# %% [markdown]
# ## 4. A matrix that moves every position
#
# Difficulty 4 of 5, 3 points, 15 minutes.
#
# Why waves? One reason of the original paper: $p_{i+s}$ is a *linear function* of $p_i$, so that a head could learn to look $s$ places back, from wherever it stands (Vaswani et al. 2017, section 3.5). Find that function.
#
# Write `shift_matrix(steps, d_model)`, a float matrix $M$ of (d_model, d_model) with
#
# $$M\,p_i = p_{i+s} \qquad \text{for every position } i$$
#
# where $s$ is `steps`, a whole number that may be negative, and $p_i$ is row $i$ of the lesson's `sinusoids`, as a column: $\sin$ and $\cos$ of pair 0, then of pair 1, and so on, with base 10,000. `d_model` is even. The matrix must not depend on $i$. The check compares it to 0.001.


# %% tags=["solution:shift_matrix"]
def shift_matrix(steps, d_model):
    """-> (d_model, d_model), the matrix that moves every position by steps."""
    ### BEGIN SOLUTION
    angles = steps * 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    sines, cosines = angles.sin(), angles.cos()
    # sin(a + b) = cos b · sin a + sin b · cos a; cos(a + b) = cos b · cos a - sin b · sin a.
    # A pair here is (sin, cos), not (cos, sin), so the minus stands in the second row.
    turns = torch.stack([cosines, sines, -sines, cosines], -1).unflatten(-1, (2, 2))
    return torch.block_diag(*turns)  # each pair turns by itself
    ### END SOLUTION


# %% tags=["check:shift_matrix", "points:3"]
check("shift_matrix", shift_matrix, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Begin with d_model 2: a matrix of four numbers that makes $(\sin(i + s), \cos(i + s))$ of $(\sin i, \cos i)$. Which two rules of school does that need?
# </details>
# <details><summary>A stronger hint</summary>
#
# $\sin(a + b) = \cos b \sin a + \sin b \cos a$ gives the first row of a pair's block, $\cos(a + b) = \cos b \cos a - \sin b \sin a$ the second. Pairs do not mix: the blocks stand on the diagonal, each with its own angle $b = s\,\omega_t$, and zeros elsewhere. `torch.block_diag` puts them there.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/04_positions](../../solutions/04_positions/positions.ipynb), exercise 4. (It is a rotation. Rotary turns queries and keys by such blocks, the other way round, since its pairs are (cos, sin); and it does so itself instead of hoping that a head learns it.)
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 6 minutes; a person marks this one.
#
# The lesson moved all positions of a causal decoder with rotary positions 300 places on, and its outputs stayed the same. "So such a decoder cannot know which token is the *first* of its text", says a colleague. Is that so? Say what the test shows and what it does not, and how the decoder could know, in three or four sentences.

# %% [markdown] tags=["manual:who_is_first", "points:2"]
# The test shows that no *number* of a position reaches the outputs: rotary scores depend on distances alone, and these stayed. It does not show that the tokens are alike, for moving the numbers changed nothing in who may read whom (1 point).
#
# The causal mask tells them apart. The first token may read only itself, the second two, and so on; so in one layer the share that a token has in its own mean is 1, 1/2, 1/3, ..., and from there the next layer can look for the one that has nothing before it. What the decoder cannot know is what stood before the text that it was given (1 point for the mask, with how it shows).
