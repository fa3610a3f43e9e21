# %% [markdown]
# # Exercises 07: what keeps a deep stack trainable?
#
# **You need:** lesson 07, [the block](../../notebooks/07_block.ipynb). About 59 minutes, 13 points.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.

# %%
import torch

from course_lib.feedback import check

# %% [markdown]
# ## 1. Predict: what is left of the input?
#
# Difficulty 3 of 5, 2 points, 12 minutes.
#
# A stream starts with an input of RMS 1. Each of `n_sublayers` adds a vector of RMS `size` that knows nothing of what is there already, so it stands at a right angle to it, and squares add up. In post-norm the sum is then divided by its own RMS (an RMS norm with gain 1 and `eps` 0).
#
# The stream at the top is a sum, too: a multiple of the input, and the rest. Which part of its squares is the input's? Write a formula in `n_sublayers`, `size` and `pre_norm`, a number from 0 to 1. A final norm changes no share and can be left out. `n_sublayers` and `size` are 0 or more. On paper first: one sublayer, then two, of size 1, gives 1/2 and 1/3 in pre-norm. And in post-norm?

# %% tags=["solution:input_share"]
def input_share(n_sublayers, size, pre_norm):
    """-> float: the input's part of the squares at the top."""
    ### BEGIN SOLUTION
    if pre_norm:
        return 1 / (1 + n_sublayers * size**2)
    # Each norm scales the input's part down together with what came before it.
    return (1 + size**2) ** -n_sublayers
    ### END SOLUTION


# %% tags=["check:input_share", "points:2"]
check("input_share", input_share, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Keep two numbers: the squares that come from the input, and all squares. What does one sublayer do to each? And a division by the RMS of the sum?
# </details>
# <details><summary>A stronger hint</summary>
#
# In pre-norm only the second number grows, by `size**2` each time. In post-norm the second is brought back to 1 after each sum, and the first is divided by the same number, $1 + \text{size}^2$.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/07_block](../../solutions/07_block/block.ipynb), exercise 1.
# </details>

# %% [markdown]
# ## 2. Post-norm with a heavier rope
#
# Difficulty 2 of 5, 2 points, 10 minutes.
#
# Wang et al. (2022, arXiv:2203.00555) trained post-norm stacks of up to 1,000 layers. Their *DeepNorm* gives the rope more weight:
#
# $$x \leftarrow \text{norm}(\alpha\, x + f(x)), \qquad \alpha = (2N)^{1/4}$$
#
# $N$ is the number of blocks of a decoder with two sublayers each. (They also start some weights smaller; that is not asked for.) `sublayers` is a list of $2N$ functions in the order of the stream, `norms` the list of their $2N$ norms; `x` is (..., d_model). Return the stream after the last norm. There is no dropout, and no final norm.
#
# With the assumptions of exercise 1, size 1 and 96 sublayers, the input's share is 1e-29 in plain post-norm and 9e-5 with this $\alpha$. (Which formula gives both?)

# %% tags=["solution:deep_norm_stack"]
def deep_norm_stack(x, sublayers, norms):
    """(..., d_model) -> (..., d_model): the stream at the top."""
    ### BEGIN SOLUTION
    alpha = len(sublayers) ** 0.25  # the list holds two a block: its length is 2N
    for sublayer, norm in zip(sublayers, norms, strict=True):
        x = norm(alpha * x + sublayer(x))
    return x
    ### END SOLUTION


# %% tags=["check:deep_norm_stack", "points:2"]
check("deep_norm_stack", deep_norm_stack, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Write post-norm for a list of sublayers first. Then there is one factor to add: before which term?
# </details>
# <details><summary>A stronger hint</summary>
#
# `zip(sublayers, norms)` gives each sublayer with its norm. How long is the list for one block, and for $N$?
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/07_block](../../solutions/07_block/block.ipynb), exercise 2. (Both from $(\alpha^2 / (\alpha^2 + \text{size}^2))^{n}$; plain post-norm has $\alpha = 1$.)
# </details>

# %% [markdown]
# ## 3. Repair a norm for 16 bits
#
# Difficulty 3 of 5, 3 points, 12 minutes.
#
# This RMSNorm is right in float32. In float16, whose largest number is 65,504, it turns a stream with numbers near 500 into zeros, and, with a small `eps`, one of tiny numbers into infinities. Streams grow with depth, so it happens: such norms, and their zeros, stand in public bug reports.
#
# ```python
# def half_norm(x, gain, eps=1e-6):
#     mean_square = (x * x).mean(-1, keepdim=True)
#     return x / (mean_square + eps).sqrt() * gain
# ```
#
# Repair it. `x` is (..., d_model), of float16, bfloat16 or float32; `gain` is (d_model,), of the same dtype. Return the norm in the dtype of `x`, right up to the rounding of that dtype. `eps` is a Python number and may be as small as 1e-8. The result itself always fits into the dtype. Gradients are not checked.

# %% tags=["solution:half_norm"]
def half_norm(x, gain, eps=1e-6):
    """(..., d_model), (d_model,) -> (..., d_model), in the dtype of x."""
    ### BEGIN SOLUTION
    # Widened before squaring, as Llama's code does: what has overflowed is lost.
    wide = x.float()
    mean_square = wide.square().mean(-1, keepdim=True)
    normed = wide * torch.rsqrt(mean_square + eps)
    # Narrowed once, at the end: float32 times 16 bits stays float32.
    return (normed * gain).to(x.dtype)
    ### END SOLUTION


# %% tags=["check:half_norm", "points:3"]
check("half_norm", half_norm, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Compute each step for `torch.tensor([500.0, 500.0]).half()`. Which is the first that you would not believe?
# </details>
# <details><summary>A stronger hint</summary>
#
# `x.float()` makes float32. Which steps need it: the square, the mean, the sum with `eps`, the division? And what must the last step give back?
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/07_block](../../solutions/07_block/block.ipynb), exercise 3.
# </details>

# %% [markdown]
# ## 4. The norm, backwards
#
# Difficulty 5 of 5, 4 points, 20 minutes.
#
# A fused norm brings its own backward pass, written by hand. Write that of RMSNorm:
#
# $$y = g \odot n, \qquad n = \frac{x}{r}, \qquad r = \sqrt{\overline{x^2} + \varepsilon}$$
#
# `x` is (..., d_model) with two axes or more, `gain` is $g$, (d_model,). `slopes` has the shape of `x`: how much the loss changes with each number of $y$. Return two tensors: how much the loss changes with each number of `x`, in the shape of `x`; and with each number of `gain`, (d_model,), where all positions count together.
#
# Use ordinary tensor operations. (An answer that calls autograd would pass; compare yours with it afterwards.) If you make $x$ longer, $n$ hardly changes: so, but for `eps`, the gradient for $x$ must stand at a right angle to $x$. That is a test of your own.

# %% tags=["solution:rms_norm_backward"]
def rms_norm_backward(x, gain, slopes, eps=1e-5):
    """-> the gradients for x, (..., d_model), and for gain, (d_model,)."""
    ### BEGIN SOLUTION
    root = (x.square().mean(-1, keepdim=True) + eps).sqrt()
    normed = x / root
    inner = slopes * gain  # slopes for the normed vector
    # Each number of x acts twice: directly, and through the root that divides all. The
    # root's slope for x is normed / d_model: the mean below.
    along = (inner * normed).mean(-1, keepdim=True)
    for_x = (inner - normed * along) / root
    return for_x, (slopes * normed).flatten(0, -2).sum(0)
    ### END SOLUTION


# %% tags=["check:rms_norm_backward", "points:4"]
check("rms_norm_backward", rms_norm_backward, points=4)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Go back one step at a time: from $y$ to $n$ (and to $g$), from $n$ to $x$. In the last step $x$ stands in two places, above and below the line.
# </details>
# <details><summary>A stronger hint</summary>
#
# With $h$ for the slopes of $n$, and $d$ for d_model: $\partial r / \partial x_i = x_i / (d\, r)$, and $n_j = x_j / r$. So the loss changes with $x_i$ by $h_i / r$, minus $\sum_j h_j x_j / r^2$ times $x_i / (d\, r)$. Write the second part with $n$ and a mean.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/07_block](../../solutions/07_block/block.ipynb), exercise 4.
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 2 of 5, 2 points, 5 minutes; a person marks this one.
#
# A colleague builds a pre-norm stack and leaves out the final norm: "Every sublayer has a norm already." What happens to the scores as the stack gets deeper, and why does none of those norms prevent it? Name a test with a factor of 10 that finds the missing norm. Why does a post-norm stack not need one? Three or four sentences.

# %% [markdown] tags=["manual:final_norm", "points:2"]
# In pre-norm each norm stands in a branch: it measures what a sublayer *reads*, not the stream. The stream is a sum and grows with depth (in the lesson's fresh readers about like the root of the number of sublayers, in SmolLM2 faster); without a final norm so do the scores, since the head is linear (1 point).
#
# The test: multiply the stream after the last block by 10, before the final norm if there is one. With it the scores stay (but for `eps`); without it they are 10 times as large. A post-norm stack ends with a norm on the stream itself, after its last sum, so the head meets the same size at every depth (1 point).
