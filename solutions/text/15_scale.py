# %% [markdown]
# # Exercises 15: what changes on many?
#
# **You need:** lesson 15, [scale](../../notebooks/15_scale.ipynb). About 60 minutes, 13 points.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.
#
# You may use torch and all of the library. One process is enough: where there are several, the check plays them.

# %%
import math

import torch
import torch.nn.functional as F

from course_lib.feedback import check

# %% [markdown]
# ## 1. Predict: how many devices?
#
# Difficulty 2 of 5, 2 points, 10 minutes.
#
# The lesson's 7 billion parameters need 112 GB to train: for each parameter a weight and a gradient of 4 bytes and two moments of 4. Sharding spreads some of them evenly over $N$ processes; the rest lies on every process as a whole. Rajbhandari et al. (2020, arXiv:1910.02054) go in three steps: `"moments"` spreads the moments, `"gradients"` the moments and the gradients, `"weights"` everything. `"nothing"` is plain data parallel.
#
# **Predict** first: how many devices of 80 GB does each step need, and how many of 24 GB? Activations do not count here.
#
# Write `least_processes(n_parameters, memory_bytes, spread)`: the least number of processes with which each holds at most `memory_bytes`; `math.inf` if no number is enough. `n_parameters` and `memory_bytes` are whole numbers above 0. What just fits, fits. A share need not be a whole number of parameters. No search over numbers of processes.


# %% tags=["solution:least_processes"]
def least_processes(n_parameters, memory_bytes, spread):
    """-> the least number of processes, or math.inf."""
    ### BEGIN SOLUTION
    spread_bytes = {"nothing": 0, "moments": 8, "gradients": 12, "weights": 16}[spread]
    to_share = n_parameters * spread_bytes
    room = memory_bytes - n_parameters * (16 - spread_bytes)
    if to_share == 0:
        return 1 if room >= 0 else math.inf
    if room <= 0:
        return math.inf
    # Rounded up in whole numbers, so that what just fits is not a rounding error off.
    return -(-to_share // room)
    ### END SOLUTION


# %% tags=["check:least_processes", "points:2"]
check("least_processes", least_processes, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Of the 16 bytes, which stay whole on every process? What is left of its memory then, and what has to fit in there?
# </details>
# <details><summary>A stronger hint</summary>
#
# With $s$ of 16 bytes spread over $N$: $P (16 - s) + P s / N \le M$. Solve for $N$ and round up; `-(-a // b)` rounds up exactly. Then the edges: nothing to spread, and no room left.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/15_scale](../../solutions/15_scale/scale.ipynb), exercise 1. (7 billion on 80 GB: no number, 3, 2, 2. On 24 GB: no number for the first three, 5 for the last.)
# </details>

# %% [markdown]
# ## 2. Write: rounding by chance
#
# Difficulty 3 of 5, 3 points, 15 minutes.
#
# In the lesson, bfloat16 weights lost small updates: rounded to nearest, they vanished. *Stochastic rounding* (Gupta et al., 2015, arXiv:1502.02551) goes up or down by chance, and up with a probability that makes the mean right: a number that stands at 3/10 of the way from one bfloat16 number to the next goes up in 3 of 10 cases.
#
# Write `round_by_chance(x, chance, fraction_bits)`. `x` is a float32 tensor of any shape; `chance`, of that shape, holds numbers from 0 to 1, 1 not included, that were drawn evenly. As in the lesson, numbers with `fraction_bits` bits of fraction stand a step apart. Let $a \le x$ be the nearest of them below, and $f = (x - a) / \text{step}$ the part of a step from there to $x$. Then $x$ becomes $a + \text{step}$ with probability $f$, and $a$ otherwise. Which chances mean *up* is yours to choose, if it is a share $f$ of them; each number decides by its own chance. A number that needs no rounding stays, whatever its chance (0 does, too). Below means towards $-\infty$, for negative numbers as well.
#
# Not required: numbers that are not finite, or so small that float32 has no such step.


# %% tags=["solution:round_by_chance"]
def round_by_chance(x, chance, fraction_bits):
    """float32, the same shape, int -> float32 of that shape."""
    ### BEGIN SOLUTION
    exponent = torch.frexp(x).exponent - 1  # x = m · 2**exponent, m from 1 to 2
    step = torch.ldexp(torch.ones_like(x), exponent - fraction_bits)
    steps = x / step  # exact, since step is a power of two
    below = steps.floor()
    # floor(steps + chance) says the same, but the sum may round up to a whole number.
    return (below + (chance < steps - below)) * step
    ### END SOLUTION


# %% tags=["check:round_by_chance", "points:3"]
check("round_by_chance", round_by_chance, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Measure `x` in steps, as the lesson's `round_to` does. Which numbers have the right fraction then? Which function finds the nearest of them below?
# </details>
# <details><summary>A stronger hint</summary>
#
# `step` is the lesson's. With `steps = x / step`, `below = steps.floor()`, $f$ is `steps - below`. Is `chance` below it? A comparison gives True or False, which adds as 1 or 0.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/15_scale](../../solutions/15_scale/scale.ipynb), exercise 2.
# </details>

# %% [markdown]
# ## 3. Repair: who divides by what?
#
# Difficulty 3 of 5, 3 points, 15 minutes.
#
# `DistributedDataParallel` does one thing otherwise than the lesson's `train`, which sums gradients over the processes: by the end of the backward pass every gradient is their *mean*. A widely used trainer divided each loss by the tokens of its own process, and so trained on another loss with two processes than with one (huggingface/transformers issue 34242). This function does so too, and one worse:
#
# ```python
# def own_gradients(model, micro_batches, n_real, n_processes):
#     for x, y in micro_batches:
#         loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
#         (loss / len(micro_batches)).backward()
# ```
#
# It runs once in each process, with the process's own micro-batches, a list of `(inputs, targets)`, (batch, position) ids, -100 where nothing counts. `n_real` is the number of targets that count in *all* processes together, 1 or more. Repair it, so that after torch has taken the mean, every `.grad` is the gradient of the mean over all real tokens of all processes. A micro-batch, even a whole process, may have no real target; `micro_batches` has at least one element.
#
# Leave gradients in `.grad`, which is empty before; torch takes the mean, not you (the check plays it when all processes are done). Return this process's part of the loss as a number: the mean of these numbers over the processes is the mean loss.


# %% tags=["solution:own_gradients"]
def own_gradients(model, micro_batches, n_real, n_processes):
    """Leave this process's gradients in .grad; -> float."""
    ### BEGIN SOLUTION
    total = 0.0
    for inputs, targets in micro_batches:
        logits = model(inputs).flatten(0, 1)
        surprise = F.cross_entropy(logits, targets.flatten(), reduction="sum")
        # Torch will divide by n_processes; a sum over processes is what we want.
        loss = surprise * n_processes / n_real
        loss.backward()
        total += loss.item()
    return total
    ### END SOLUTION


# %% tags=["check:own_gradients", "points:3"]
check("own_gradients", own_gradients, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Take the lesson's example by hand: three tokens with gradient 1 on process 0, one with gradient 5 on process 1. Which two numbers must the processes hold, so that their mean is 2?
# </details>
# <details><summary>A stronger hint</summary>
#
# Start from what is wanted, sum of all / `n_real`, and write it as a mean over processes: each brings its own sum times something. A sum (`reduction="sum"`) has no trouble with a micro-batch where nothing counts.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/15_scale](../../solutions/15_scale/scale.ipynb), exercise 3. (By hand: 3 · 2/4 = 1.5 and 5 · 2/4 = 2.5.)
# </details>

# %% [markdown]
# ## 4. Write: one softmax over several devices
#
# Difficulty 4 of 5, 3 points, 15 minutes.
#
# A cache too long for one device is cut: each device holds some of the keys and values and attends to those alone. Can the results be put together? They can, if each device also gives the *log of its softmax's denominator*, one number for each query, as the fused kernels keep it (lesson, part 4).
#
# Write `merge_attention(outputs, log_sums)`. `outputs` is (part, query, d_head): what each of the parts gives, softmax over its *own* keys. `log_sums` is (part, query): $\ln \sum_j e^{s_j}$ over these keys' scores $s_j$. Return (query, d_head): the attention over all keys.
#
# The scores may be large: `log_sums` of 1000 or -1000 must not become infinite, 0/0 or all 0. A part in which a query may read no key has the log sum $-\infty$ for it, and its outputs there may be anything, NaN as well; they must not count. Every query may read something in at least one part.


# %% tags=["solution:merge_attention"]
def merge_attention(outputs, log_sums):
    """(part, query, d_head), (part, query) -> (query, d_head)."""
    ### BEGIN SOLUTION
    shares = log_sums.softmax(0)[..., None]  # e**log_sum, of the sum over the parts
    # 0 · NaN is NaN: what has no share is left out, not multiplied away.
    return torch.where(shares > 0, shares * outputs, 0.0).sum(0)
    ### END SOLUTION


# %% tags=["check:merge_attention", "points:3"]
check("merge_attention", merge_attention, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# It is the mean of means again: a plain mean over the parts weighs a key in a part of few more. By what would you multiply a part's output to get its plain sum $\sum_j e^{s_j} v_j$ back?
# </details>
# <details><summary>A stronger hint</summary>
#
# The whole is $\sum_r e^{l_r} o_r / \sum_r e^{l_r}$ with the log sums $l_r$. That quotient of exponentials has a name, and a form that does not overflow (lesson 01). Then see to the outputs that may be NaN.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/15_scale](../../solutions/15_scale/scale.ipynb), exercise 4. (The same sum, taken piece by piece on one device, is why a fused kernel needs no table of scores.)
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 5 minutes; a person marks this one.
#
# A service writes with a decoder of 3 billion bfloat16 weights on a GPU that reads 1,000 GB/s and does 100,000 billion operations a second. The next model of the GPU reads as fast and does twice the operations. Who notices: one conversation, while the answer is written; sixty conversations in one batch; a user who pastes a prompt of 4,000 tokens? (The caches are small.) Three or four sentences with numbers.

# %% [markdown] tags=["manual:twice_the_operations", "points:2"]
# A step reads 6 GB of weights, so at least 6 ms, whoever writes. The bend is at 100,000 / 1,000 = 100 operations a byte; one row has an intensity of 2B / 2 = 1, sixty rows 60. Both lie left of the bend, where reading sets the time: neither notices anything (1 point).
#
# The prompt is 4,000 rows at once, far to the right of the bend: 2 · 3 · 10⁹ · 4,000 operations take 240 ms at best, and 120 ms on the new one. Only the time to the first token is halved (1 point).
