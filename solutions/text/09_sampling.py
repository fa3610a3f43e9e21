# %% [markdown]
# # Exercises 09: how does it write?
#
# **You need:** lesson 09, [sampling](../../notebooks/09_sampling.ipynb). About 55 minutes, 13 points.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.
#
# You may use torch and all of the library.

# %%
import math

import torch

from course_lib.feedback import check
from course_lib.softmax import log_softmax, softmax

# %% [markdown]
# ## 1. Write: a draw from one number
#
# Difficulty 3 of 5, 3 points, 12 minutes.
#
# The lesson left the draw itself to `torch.multinomial`. Here it is from one number: lay the probabilities end to end on the line from 0 to 1, in the order of the ids, and take the id whose piece holds the number. Two programs that are given the same numbers then write the same text.
#
# By hand: probabilities 0.5, 0.2 and 0.3; their pieces end at 0.5, 0.7 and 1. The number 0.1 gives id 0, 0.6 gives id 1, and 0.7 gives id 2: a piece holds its beginning and not its end.
#
# Write `draw_at(logits, numbers)`. `logits` is (batch, vocab), with $-\infty$ where a filter has hidden an id, but not in a whole row. `numbers` is (batch,) float64, each at least 0 and less than 1. Return ids, (batch,). A hidden id is never drawn, neither with the number 0 nor with the largest number below 1, where a sum that was rounded may end too early. (The other numbers are not so near a boundary that rounding decides.)


# %% tags=["solution:draw_at"]
def draw_at(logits, numbers):
    """(batch, vocab), (batch,) -> (batch,) int."""
    ### BEGIN SOLUTION
    ends = softmax(logits.double()).cumsum(-1)
    # Divided by itself the last end is exactly 1, and so is that of the last id with a
    # piece of its own: every number lies before it.
    ends = ends / ends[:, -1:]
    return (ends <= numbers[:, None]).sum(-1)
    ### END SOLUTION


# %% tags=["check:draw_at", "points:3"]
check("draw_at", draw_at, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Where does the piece of each id end? How many pieces end before the number, or at it?
# </details>
# <details><summary>A stronger hint</summary>
#
# `cumsum` gives the ends; the id is the count of ends that are *not above* the number. A hidden id has a piece of length 0: it ends where the one before it ends, so with `<=` it is counted too, and passed over. Then look at the last end: print it in float32 for a vocabulary of 50,000. What if it is below the number?
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/09_sampling](../../solutions/09_sampling/sampling.ipynb), exercise 1.
# </details>

# %% [markdown]
# ## 2. Predict: how many survive?
#
# Difficulty 3 of 5, 2 points, 10 minutes.
#
# Sorted by likelihood, each token is `ratio` times as likely as the one before it: the probabilities stand as 1, $r$, $r^2$, ... with $0 < r < 1$, in a vocabulary so large that its end does not matter. The temperature comes first, then top-p. **Predict:** what does a temperature of 2 do to the number of survivors? And what does it take to go from $p = 0.9$ to $0.99$?
#
# Write `nucleus_size(ratio, temperature, p)`, a whole number: the survivors. Temperature above 0, `p` above 0 and below 1. A formula: no loop, no tensor. (Rounding decides for none of the inputs that are tried.) By hand: ratio ½ and temperature 1 give ½, ¼, ⅛, ...; at $p = 0.8$ three survive, with 0.875, and at $p = 0.75$ two, which hold just that.


# %% tags=["solution:nucleus_size"]
def nucleus_size(ratio, temperature, p):
    """-> int, the number of tokens that top-p keeps."""
    ### BEGIN SOLUTION
    # With q = ratio ** (1 / temperature) the first n hold 1 - q ** n of the mass;
    # the nucleus is the first n for which q ** n <= 1 - p.
    return math.ceil(temperature * math.log(1 - p) / math.log(ratio))
    ### END SOLUTION


# %% tags=["check:nucleus_size", "points:2"]
check("nucleus_size", nucleus_size, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Look at what is *left out*. With ratio ½, which share of the mass stands after the first $n$ tokens?
# </details>
# <details><summary>A stronger hint</summary>
#
# After the temperature the ratio is $q = r^{1/T}$, and the tokens after the first $n$ hold the share $q^n$. The nucleus is the smallest whole $n$ with $q^n \le 1 - p$: take logarithms, and mind that both are negative.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/09_sampling](../../solutions/09_sampling/sampling.ipynb), exercise 2. (The number grows in proportion to $T$; from 0.9 to 0.99 it doubles, since $\ln 0.01 = 2 \ln 0.1$.)
# </details>

# %% [markdown]
# ## 3. Repair: half a stop word on the screen
#
# Difficulty 3 of 5, 3 points, 12 minutes.
#
# A chat program shows its text while it is written, and ends at a *stop word*, a piece of text such as `"\nUser:"`. After each token it asks how many letters of the text so far may be shown:
#
# ```python
# def n_shown(text, stops):
#     for stop in stops:
#         if text.endswith(stop):
#             return len(text) - len(stop)
#     return len(text)
# ```
#
# Users saw `\nUs` flash up at the end of an answer, and some answers ran on into the next question. Tokens and stop words do not end at the same letters: a token can bring half a stop word, or a whole one and more.
#
# Repair it. `stops` is a list of texts, none empty; the list may be. If a stop word stands anywhere in the text, return where the first one in the *text* begins. Otherwise hold back the letters at the end that may still become a stop word, as many as that takes, and return the number of those before them.


# %% tags=["solution:n_shown"]
def n_shown(text, stops):
    """-> int: text[:n_shown(text, stops)] may be shown."""
    ### BEGIN SOLUTION
    begins = [text.index(stop) for stop in stops if stop in text]
    if begins:
        return min(begins)
    # Of all ends that begin a stop word the longest is held back: the smallest place.
    waiting = (
        place
        for place in range(len(text))
        if any(stop.startswith(text[place:]) for stop in stops)
    )
    return next(waiting, len(text))
    ### END SOLUTION


# %% tags=["check:n_shown", "points:3"]
check("n_shown", n_shown, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Write down the text after each token for the stop word `END` and the tokens `"The E"`, `"N"`, `"D of"`. What may be shown after each?
# </details>
# <details><summary>A stronger hint</summary>
#
# Two questions, one after the other. Is a whole stop word there? Then the smallest of all `text.index(stop)`. If not: for which ends `text[start:]` does some `stop.startswith(...)` hold? The longest of them counts, so try the smallest `start` first.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/09_sampling](../../solutions/09_sampling/sampling.ipynb), exercise 3.
# </details>

# %% [markdown]
# ## 4. Write: neither too likely nor too rare
#
# Difficulty 4 of 5, 3 points, 16 minutes.
#
# People often do not write the likeliest word: it says the least. *Locally typical sampling* (Meister et al., 2022, arXiv:2202.00666) keeps the tokens whose surprise is nearest to what is to be expected. The surprise of token $i$ is $-\ln q_i$; the expected one is their mean, each weighted by its probability: $H = -\sum_i q_i \ln q_i$, the entropy.
#
# Write `typical(logits, p)`: order the tokens by the distance $|-\ln q_i - H|$, the nearest first, of equals the lowest id. Keep the fewest of them whose probabilities sum to `p` or more; all others get $-\infty$. `logits` is (vocab,) or (batch, vocab), `p` above 0 and at most 1; `p = 1` hides nothing. A token that is hidden already ($-\infty$) adds nothing to the entropy and stays hidden. The input stays as it is.
#
# **Predict** first: one token has 0.3 and seven have 0.1 each; which stay at $p = 0.55$?


# %% tags=["solution:typical"]
def typical(logits, p):
    """(..., vocab) -> (..., vocab), with -inf where hidden."""
    ### BEGIN SOLUTION
    if p == 1:
        return logits.clone()
    log_q = log_softmax(logits.double())
    q = log_q.exp()
    # Where q is 0, q * log_q would be 0 times infinity; entr knows that it is 0.
    entropy = torch.special.entr(q).sum(-1, keepdim=True)
    order = (-log_q - entropy).abs().argsort(dim=-1, stable=True)
    ordered = q.gather(-1, order)
    too_many = ordered.cumsum(-1) - ordered >= p
    hidden = torch.zeros_like(too_many).scatter(-1, order, too_many)
    return logits.masked_fill(hidden, -torch.inf)
    ### END SOLUTION


# %% tags=["check:typical", "points:3"]
check("typical", typical, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# It is the lesson's top-p with another order. What decides the order there, and what here? Everything after the sorting stays.
# </details>
# <details><summary>A stronger hint</summary>
#
# Sort the distances with `argsort(dim=-1, stable=True)` and bring the probabilities into that order with `gather`; the sum *before* each token decides, and `scatter` brings the decision back to the ids. In the entropy, take care of $0 \cdot \ln 0$.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/09_sampling](../../solutions/09_sampling/sampling.ipynb), exercise 4. (In the prediction $H = 1.97$; the surprise of 0.1 is 2.30, that of 0.3 is 1.20. So six of the seven stay, ids 1 to 6, and the likeliest token is hidden.)
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 5 minutes; a person marks this one.
#
# Two servers hold the same weights in bfloat16 and write greedily; the second one has a batch of other users' prompts beside yours. The first 40 tokens are equal, then the texts differ for good. "Greedy has no chance in it", says a colleague, "so one of the servers has a bug." Is that so? And how would you find out? Three or four sentences.

# %% [markdown] tags=["manual:greedy_and_rounding", "points:2"]
# It need not be a bug. In another batch the sums may run in another order and round otherwise, and in bfloat16 the best two logits are often equal or a last digit apart; then rounding chooses. One other token changes the prompt of all later steps, so the texts never meet again (1 point).
#
# Compare logits, not texts: feed both servers the same text and look at the place of the first difference, or repeat in float32. Differences of about the spacing of bfloat16 numbers, at a place where two tokens are nearly tied, are rounding; large ones, or ones at places without a tie, are a bug, for example padding that is read (1 point).
