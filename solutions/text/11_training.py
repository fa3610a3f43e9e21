# %% [markdown]
# # Exercises 11: how does it learn?
#
# **You need:** lesson 11, [training](../../notebooks/11_training.ipynb). About 55 minutes, 13 points.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.
#
# You may use torch and all of the library.

# %%
import math

import torch
import torch.nn.functional as F

from course_lib.feedback import check

# %% [markdown]
# ## 1. Predict: how low can it go?
#
# Difficulty 2 of 5, 2 points, 10 minutes.
#
# With label smoothing a loss of 0 is out of reach, even for a model that knows every answer. Which loss is the least for one target? The lesson found the best probabilities: $1 - \varepsilon + \varepsilon / V$ on the target and $\varepsilon / V$ on each other token.
#
# Write `smoothing_floor(vocab_size, label_smoothing)`: the least loss in nats, a number. `vocab_size` is 2 or more; `label_smoothing` goes from 0 to 1, *both included*. A formula: no tensor of logits, no descent. Do it by hand for $V = 2$ and $\varepsilon = 1$ first, and compare $V = 5$, $\varepsilon = 0.1$ with what the lesson's descent printed.


# %% tags=["solution:smoothing_floor"]
def smoothing_floor(vocab_size, label_smoothing):
    """-> float: the least loss of one target, in nats."""
    ### BEGIN SOLUTION
    other = label_smoothing / vocab_size
    target = 1 - label_smoothing + other

    def surprise(p):
        # What has probability 0 never comes: it adds nothing, and has no logarithm.
        return -p * math.log(p) if p > 0 else 0.0

    return surprise(target) + (vocab_size - 1) * surprise(other)
    ### END SOLUTION


# %% tags=["check:smoothing_floor", "points:2"]
check("smoothing_floor", smoothing_floor, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Take the definition of the smoothed loss and count: with which share in all is the surprise of the target weighed, and with which that of each other token?
# </details>
# <details><summary>A stronger hint</summary>
#
# The shares are the best probabilities themselves. So one term is $-a \ln a$ with $a = 1 - \varepsilon + \varepsilon / V$; there are $V - 1$ others, all alike. Then look at $\varepsilon = 0$: which logarithm is not there?
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/11_training](../../solutions/11_training/training.ipynb), exercise 1. (By hand: two tokens at 1/2 each, ln 2 = 0.693. With five tokens and 0.1: 0.390.)
# </details>

# %% [markdown]
# ## 2. Write: a schedule without a horizon
#
# Difficulty 2 of 5, 2 points, 10 minutes.
#
# The cosine must know from its first step how long the run will be. A *trapezoid* need not: it warms up, stays at the peak as long as one likes, and cools down when one decides to stop (Hägele et al., 2024, arXiv:2405.18392).
#
# Write `trapezoid_rate(step, n_steps, peak, warmup_steps, cooldown_steps)`: the learning rate of step `step`, from 0 to `n_steps - 1`.
#
# - The warm-up is the lesson's: the first `warmup_steps` steps rise in a line, step 0 has `peak / warmup_steps`, and the last of them has the peak.
# - The cool-down is a warm-up read from the end: the last step has `peak / cooldown_steps`, the one before twice that, and so on up to the peak.
# - In between the rate is the peak.
# - Either may be 0 steps long: then that side has no slope.
# - In a short run the two may overlap; there the *smaller* of both lines counts.


# %% tags=["solution:trapezoid_rate"]
def trapezoid_rate(step, n_steps, peak, warmup_steps, cooldown_steps):
    """-> float: the learning rate of one step."""
    ### BEGIN SOLUTION
    # Where a slope has no steps, max(..., 1) gives it a share of 1 or more: no limit.
    rise = (step + 1) / max(warmup_steps, 1)
    fall = (n_steps - step) / max(cooldown_steps, 1)
    return peak * min(1.0, rise, fall)
    ### END SOLUTION


# %% tags=["check:trapezoid_rate", "points:2"]
check("trapezoid_rate", trapezoid_rate, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Write the eight rates for `n_steps = 8`, a peak of 1, 2 steps of warm-up and 4 of cool-down on paper. How many steps are left, the present one counted, where the rate is 1/4, and where it is 2/4?
# </details>
# <details><summary>A stronger hint</summary>
#
# Each slope is a share of the peak that grows in a line and does not stop at 1: `(step + 1) / warmup_steps` is one of them. Three shares, and the smallest counts.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/11_training](../../solutions/11_training/training.ipynb), exercise 2.
# </details>

# %% [markdown]
# ## 3. Write: a teacher who sometimes looks away
#
# Difficulty 3 of 5, 4 points, 15 minutes.
#
# Against exposure bias one can feed the model some of its own choices while it learns. One after another that would cost a pass a place; *two* passes do for all places (Mihaylova, Martins, 2019, arXiv:1906.07651): the first reads the true inputs and only finds out what the model *would have chosen*; its choices then stand in for some of the truth, and on this mixture the second pass learns.
#
# Write `mixed_inputs(model, inputs, use_own)`, which makes the mixture. `model(inputs)` gives logits (batch, position, vocab) for ids (batch, position). `use_own`, (batch, position) bool, says at which places the model's own choice stands instead of the true input. The own choice for a place is the likeliest token *there* after the true inputs before it. The first place holds the start token, which nobody chooses: it stays, whatever `use_own` says. Return ids, (batch, position).
#
# `inputs` stays as it is. There is no padding, and no gradient is needed. One pass will do here, without a loop over places (the check sees neither).


# %% tags=["solution:mixed_inputs"]
def mixed_inputs(model, inputs, use_own):
    """model, (batch, position) int, bool -> (batch, position) int."""
    ### BEGIN SOLUTION
    with torch.no_grad():  # the second pass learns, not this one
        choices = model(inputs).argmax(-1)
    # What was chosen at place t is fed at place t + 1: the same shift as in training.
    own = torch.cat([inputs[:, :1], choices[:, :-1]], 1)
    return torch.where(use_own, own, inputs)
    ### END SOLUTION


# %% tags=["check:mixed_inputs", "points:4"]
check("mixed_inputs", mixed_inputs, points=4)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# The logits at place $t$ answer the question which token comes next. As the input of which place would a writer feed that token?
# </details>
# <details><summary>A stronger hint</summary>
#
# `choices = model(inputs).argmax(-1)` is to be shifted as `shift_right` shifts targets: something in front, the last one left out. If the true first input is what you put in front, the start token needs no case of its own. Then choose place by place with `torch.where`.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/11_training](../../solutions/11_training/training.ipynb), exercise 3.
# </details>

# %% [markdown]
# ## 4. Repair: a text longer than the window
#
# Difficulty 4 of 5, 3 points, 15 minutes.
#
# A model reads at most `window` tokens, a text is longer. So the window slides: it begins at token 0, then at token `stride`, 2 `stride`, ... Each feeds up to `window` tokens and asks for the token after each. With a stride shorter than the window, later tokens are asked for with more before them. Like this one, a published example averaged its windows wrongly (huggingface/transformers issue 34138):
#
# ```python
# def strided_perplexity(model, tokens, window, stride):
#     losses = []
#     for begin in range(0, len(tokens) - 1, stride):
#         fed = tokens[begin : begin + window]
#         targets = tokens[begin + 1 : begin + window + 1]
#         logits = model(fed[None])[0, : len(targets)]
#         losses.append(F.cross_entropy(logits, targets))
#     return torch.stack(losses).mean().exp().item()
# ```
#
# Repair it: every token but the first counts *once*, in the *first* window that asks for it, and all weigh alike. Return the perplexity, a number.
#
# `tokens` is (position,) int, of length 2 or more; `1 <= stride <= window`. `model` takes ids (batch, position) and gives logits (batch, position, vocab); it is in evaluation mode already. How many windows you feed at a time, and whether you feed windows in which nothing new is asked for, is yours to choose.


# %% tags=["solution:strided_perplexity"]
@torch.no_grad()
def strided_perplexity(model, tokens, window, stride):
    """model, (position,) int -> float: exp of the mean surprise per token."""
    ### BEGIN SOLUTION
    total, done = 0.0, 1  # tokens before `done` have counted; the first is never asked
    for start in range(0, len(tokens) - 1, stride):
        end = min(start + window + 1, len(tokens))
        if end == done:
            break  # the window before reached the end of the text
        logits = model(tokens[None, start : end - 1])[0, done - end :]
        total += F.cross_entropy(logits, tokens[done:end], reduction="sum").item()
        done = end
    return math.exp(total / (len(tokens) - 1))
    ### END SOLUTION


# %% tags=["check:strided_perplexity", "points:3"]
check("strided_perplexity", strided_perplexity, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Take 6 tokens, a window of 4 and a stride of 2, and write down for each window which tokens it asks for. How often is each asked for? What does each weigh in the mean of means?
# </details>
# <details><summary>A stronger hint</summary>
#
# Keep the number of tokens that have counted. Of a window's targets only those after it are new: the *last* ones, and so are their logits. Sum their surprise (`reduction="sum"`), and divide once, at the end. A late window may have nothing new at all.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/11_training](../../solutions/11_training/training.ipynb), exercise 4.
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 5 minutes; a person marks this one.
#
# Two translators use the same tokens and were tested on the same held-out sentences. The first was trained with label smoothing of 0.1. On the true sentences, fed as in training, its loss without smoothing is 2.0 nats a token; that of the second is 1.9. Yet a person finds the translations that the *first* one writes alone better. "Then you have measured one of the two wrongly", says a colleague. Is that so? Give two reasons, in three or four sentences, why both findings can be right.

# %% [markdown] tags=["manual:loss_and_writing", "points:2"]
# No. Smoothing asks for less than the whole probability on the target; a model that was trained so holds some back even where it is right, and that costs surprise. The loss rises, while the likeliest token, which is what gets written, can be right as often or more often (1 point).
#
# And the loss was measured with the truth before each token. Writing feeds what the model itself wrote; how it goes on after a mistake of its own, the loss never saw (exposure bias). A model can be better there and worse on true beginnings: so let it write, and measure what is written (1 point).
