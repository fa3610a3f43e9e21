# %% [markdown]
# # Exercises 01: how do scores become a choice?
#
# **You need:** lesson 01, [softmax](../../notebooks/01_softmax.ipynb). About 55 minutes, 12 points.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.
#
# You may use torch and what the library has from the lesson, such as `softmax` and `log_softmax`.

# %%
import math

import torch

from course_lib.feedback import check
from course_lib.softmax import log_softmax

# %% [markdown]
# ## 1. Predict: how far ahead must the best be?
#
# Difficulty 2 of 5, 2 points, 8 minutes.
#
# One id has a logit that lies `gap` above all the others, and the others are equal. Of 2 ids, the best gets a share of 0.9 with a gap of $\ln 9$ = 2.2. **Predict** the gap that 0.9 takes among 49,152 ids: about 13, 220 or 54,000?
#
# Now the formula. Write `needed_gap(share, vocab, temperature=1.0)`: the gap between the *logits* with which the best of `vocab` ids gets exactly `share`, when all logits are divided by `temperature`. It may be negative: then the id has less than the others. `share` lies between 0 and 1 (neither of them), `vocab` is at least 2, `temperature` is above 0. Return a number, without a loop or a search.


# %% tags=["solution:needed_gap"]
def needed_gap(share, vocab, temperature=1.0):
    """-> float: how far one logit lies above vocab - 1 equal ones."""
    ### BEGIN SOLUTION
    share_of_another = (1 - share) / (vocab - 1)
    return temperature * math.log(share / share_of_another)
    ### END SOLUTION


# %% tags=["check:needed_gap", "points:2"]
check("needed_gap", needed_gap, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# A difference of scores is a ratio of shares. Which two shares does this gap compare?
# </details>
# <details><summary>A stronger hint</summary>
#
# All the others together have 1 − `share`, each the same part of it. The gap *after* the division is the logarithm of the best one's share over that of one other. Before the division it was how many times as large?
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/01_softmax](../../solutions/01_softmax/softmax.ipynb), exercise 1. (The gap for 49,152 ids is $\ln(9 \cdot 49{,}151)$ = 13.0: logits pay for a large vocabulary with a logarithm.)
# </details>

# %% [markdown]
# ## 2. How undecided is a model?
#
# Difficulty 2 of 5, 2 points, 10 minutes.
#
# The loss is the surprise at the *right* id. Before anyone knows what is right, a model can say how surprised it expects to be: the surprise of each id, weighted by the id's own probability,
#
# $$-\sum_i p_i \ln p_i$$
#
# It is 0 for a model that is sure, and $\ln V$ for one that guesses evenly among $V$ ids. Write `mean_surprise(logits)`, (..., vocab) → (...), in nats. Logits may be of any size, and some may be `-inf`: such an id has probability 0, and adds nothing. At least one logit in each row is finite. Gradients are not asked for.


# %% tags=["solution:mean_surprise"]
def mean_surprise(logits):
    """(..., vocab) -> (...), in nats."""
    ### BEGIN SOLUTION
    log_probabilities = log_softmax(logits)
    # 0 · inf is NaN: where the probability is 0, its surprise is not asked for.
    surprises = -log_probabilities.masked_fill(log_probabilities.isinf(), 0.0)
    return (log_probabilities.exp() * surprises).sum(-1)
    ### END SOLUTION


# %% tags=["check:mean_surprise", "points:2"]
check("mean_surprise", mean_surprise, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# By hand first: for the shares 1/2, 1/4, 1/4 and 0 it is 0.347 + 0.347 + 0.347 + 0 = 1.04. What does your code make of the fourth?
# </details>
# <details><summary>A stronger hint</summary>
#
# `log_softmax` gives every $\ln p$ safely, and its `exp()` the $p$. Only the product 0 · −inf is NaN: replace one of its factors where $\ln p$ is infinite, by `masked_fill` or `torch.where`.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/01_softmax](../../solutions/01_softmax/softmax.ipynb), exercise 2.
# </details>

# %% [markdown]
# ## 3. Repair a logarithm that is kept from the worst
#
# Difficulty 3 of 5, 3 points, 12 minutes.
#
# Two models that cut a text into different tokens cannot be compared by their loss a token. But both can be charged for the whole text: all surprises together, in *bits* (1 bit is $\ln 2$ nats), divided by the number of bytes of the text. This was written to do so; the small number is there "so that the logarithm is never infinite".
#
# ```python
# def bits_per_byte(logits, targets, n_bytes):
#     probabilities = torch.softmax(logits, -1)
#     chosen = probabilities.gather(-1, targets[:, None])
#     return -torch.log2(chosen + 1e-9).sum() / n_bytes
# ```
#
# It runs, and no number looks odd. **Predict** first: what does it charge, for a text of one byte, when the logits were 0 and −200 and id 1 was right? And where does the gradient push that logit?
#
# Repair it. `logits` is (token, vocab) float, of any size but finite; `targets` (token,) int, and every one counts; `n_bytes` a number. Return bits a byte, a tensor () whose `backward` gives the true gradient.


# %% tags=["solution:bits_per_byte"]
def bits_per_byte(logits, targets, n_bytes):
    """(token, vocab), (token,), int -> (), the bits that a byte costs."""
    ### BEGIN SOLUTION
    # No 1e-9 is needed where no probability of 0 is ever formed.
    chosen = log_softmax(logits).gather(-1, targets[:, None])
    return -chosen.sum() / (math.log(2) * n_bytes)
    ### END SOLUTION


# %% tags=["check:bits_per_byte", "points:3"]
check("bits_per_byte", bits_per_byte, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# What is the largest surprise that `-log2(p + 1e-9)` can give? And when $p$ is far below 1e-9, what changes if $p$ doubles?
# </details>
# <details><summary>A stronger hint</summary>
#
# The lesson has a function that gives $\ln p$ without forming $p$. Then nothing can be infinite, and nothing need be added. A surprise in nats, divided by $\ln 2$, is one in bits.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/01_softmax](../../solutions/01_softmax/softmax.ipynb), exercise 3. (The broken one charges 29.9 bits, whatever happened, instead of 288.5; and its slope there is 0: what the model got most wrong, it never learns.)
# </details>

# %% [markdown]
# ## 4. A softmax that can say 0
#
# Difficulty 4 of 5, 3 points, 20 minutes.
#
# Softmax gives every score *some* weight, which is a pity where most should count for nothing. Martins and Astudillo (2016, arXiv:1602.02068) proposed **sparsemax**: subtract one number $\tau$ from all scores of a row, and cut off what is below 0,
#
# $$p_i = \max(z_i - \tau,\ 0), \qquad \text{with } \tau \text{ such that } \sum_i p_i = 1$$
#
# By hand, for the scores 0, 0.4 and 1: were all three above $\tau$, it would be (1.4 − 1) / 3 = 0.13, but then 0 is not above it. With the best two it is (1.4 − 1) / 2 = 0.2, and the weights are 0, 0.2 and 0.8.
#
# Write `sparsemax(scores)`: (..., key) → (..., key), float, along the last axis. Each row has its own $\tau$. Scores are finite, between −100 and 100; they may be equal, and come in any order. A sort, a loop or a search by halves are all right, if the weights are within 0.0001. Gradients are not asked for.


# %% tags=["solution:sparsemax"]
def sparsemax(scores):
    """(..., key) -> (..., key), weights of which many may be 0."""
    ### BEGIN SOLUTION
    highest_first = scores.sort(-1, descending=True).values
    counts = torch.arange(1, scores.shape[-1] + 1)
    # The threshold if exactly the best 1, 2, ... were above it. None is larger than the
    # right one: to leave out a score that counts, or take in one below, lowers it.
    thresholds = (highest_first.cumsum(-1) - 1) / counts
    return (scores - thresholds.amax(-1, keepdim=True)).clamp(min=0.0)
    ### END SOLUTION


# %% tags=["check:sparsemax", "points:3"]
check("sparsemax", sparsemax, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# If you knew *how many* scores are above $\tau$, you would know which, and $\tau$ would follow from their sum. So try each number: the best one, the best two, ...
# </details>
# <details><summary>A stronger hint</summary>
#
# With the best $k$ above it, $\tau_k$ = (their sum − 1) / $k$. It is consistent when the $k$-th best is really above $\tau_k$; take the largest such $k$. `sort(-1, descending=True)` and `cumsum(-1)` give all sums at once. Print all $\tau_k$ of the example: the right one stands out.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/01_softmax](../../solutions/01_softmax/softmax.ipynb), exercise 4.
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 5 minutes; a person marks this one.
#
# A network that learned as in the lesson is too sure. A colleague wants it modest from the start, and trains it with `cross_entropy(logits / 2, targets)`; afterwards its shares are `softmax(logits)`, without a temperature. Suppose that it is free to make its logits as large as it likes, and learns long enough. Will those shares be more modest than before, the same, or surer? Say why, in three or four sentences.

# %% [markdown] tags=["manual:trained_with_a_temperature", "points:2"]
# Surer. The loss sees only `logits / 2`, so what is best for it is the same as before, and the network reaches it by making its logits twice as large: `logits / 2` then is what the logits were (1 point).
#
# Without the division afterwards the differences of the logits are twice as large, and the ratios of the shares the squares of what they were. So the shares lie further apart, and the network is even surer; with the division they would be as they were, not more modest. A temperature mends only where it is chosen *after* training, on data that the network did not learn from (1 point).
