# %% [markdown]
# # Exercises 12: can it translate?
#
# **You need:** lesson 12, [translation](../../notebooks/12_translation.ipynb). About 58 minutes, 13 points.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.
#
# You may use torch and all of the library.

# %%
import torch

from course_lib.apps.translate.scoring import edit_distance
from course_lib.feedback import check
from course_lib.softmax import softmax

# %% [markdown]
# ## 1. Predict: when does the blank sheet win?
#
# Difficulty 2 of 5, 2 points, 10 minutes.
#
# The corpus of step 7: a share `missing` of the targets is blank, and each source has $W$ equally frequent right translations. The model has learned exactly these shares. An exact search ranks texts by
#
# $$\frac{\log p(y \mid x)}{|y|^{\alpha}}$$
#
# where $|y|$ counts the ids, the end token included (lesson 09). The blank has one id, every right translation `n_ids`. Ranked by the sum ($\alpha = 0$), the blank wins once $W$ is above 9, for a share of 0.1. **Predict** before you calculate: above which $W$ does it win if texts of 7 ids are ranked by the mean ($\alpha = 1$)?
#
# Write `blank_limit(missing, n_ids, length_penalty)`: the $W$ above which the blank has the best score of all, as a number that is not rounded. `missing` is above 0 and below 1, `n_ids` at least 2, `length_penalty` ($\alpha$) 0 or more, and need not be whole. A formula: no search, no loop.


# %% tags=["solution:blank_limit"]
def blank_limit(missing, n_ids, length_penalty):
    """-> float: the number of right ways above which the blank is ranked first."""
    ### BEGIN SOLUTION
    # Blank: log(missing) / 1. One of W ways: log((1 - missing) / W) / n_ids ** penalty.
    # Both are equal where (1 - missing) / W = missing ** (n_ids ** penalty).
    return (1 - missing) / missing ** (n_ids**length_penalty)
    ### END SOLUTION


# %% tags=["check:blank_limit", "points:2"]
check("blank_limit", blank_limit, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Write down two scores, each divided by *its own* length: that of the blank, and that of one right way. What is the length of the blank, to any power?
# </details>
# <details><summary>A stronger hint</summary>
#
# One right way has the probability $(1 - m) / W$. Set both scores equal, multiply by $|y|^\alpha$, take both sides to the power of e, and solve for $W$. A factor in front of a logarithm is then an exponent.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/12_translation](../../solutions/12_translation/translation.ipynb), exercise 1. (Nine million ways, where the sum needed nine: that is why the mean wrote no blank. It judges the blank as if each of the seven ids had the probability 0.1.)
# </details>

# %% [markdown]
# ## 2. Repair: exact match without writing
#
# Difficulty 3 of 5, 3 points, 13 minutes.
#
# To count exact matches the lesson let the translator write. One pass can tell as much: greedy search writes the reference exactly when each of its ids, the end token included, is the likeliest one after the *true* ids before it. The logits of a training batch hold all these places. (For the error rate this does not do. Why not?)
#
# ```python
# def exact_share(logits, targets):
#     return (logits.argmax(-1) == targets).all(-1).float().mean().item()
# ```
#
# Its result was far too low: in each batch, only the longest references ever counted as right. A metric in wide use gave 0 for the like reason (modelscope/ms-swift pull request 10049).
#
# Repair it, and add one thing. As for the lesson's `score`, a source may have several right translations, each in a row of its own: `exact_share(logits, targets, sources)`.
#
# - `logits` (row, position, vocab), of a pass in which the true translations were fed; no two largest logits are equal.
# - `targets` (row, position) int: the ids to be written, and −100 where nothing counts, be it behind a row or in front of it. Every row has at least one id.
# - `sources` (row,) int: the number of each row's source. Numbers may be left out, rows of one source need not stand together, and the same translation may be there twice.
#
# The three tensors stay as they are.
#
# Return the share of *sources* for which the text that greedy search writes equals *one* of its translations, a number.


# %% tags=["solution:exact_share"]
def exact_share(logits, targets, sources):
    """(row, position, vocab), (row, position), (row,) -> float."""
    ### BEGIN SOLUTION
    hit = (logits.argmax(-1) == targets) | (targets == -100)
    # Greedy search writes one text, so one right row is enough for its source.
    right = sources[hit.all(-1)].unique()
    return len(right) / len(sources.unique())
    ### END SOLUTION


# %% tags=["check:exact_share", "points:3"]
check("exact_share", exact_share, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Can an id ever equal −100? And two references of one source: what do you divide by?
# </details>
# <details><summary>A stronger hint</summary>
#
# Make a table of bools, True where the likeliest id is the target *or* nothing counts; a row is exact if all of it is True. Then count sources and not rows: `unique` lists the sources of the exact rows, and those of all rows.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/12_translation](../../solutions/12_translation/translation.ipynb), exercise 2. (The error rate needs what the translator writes *after* its first mistake, and there it reads its own ids and not the true ones.)
# </details>

# %% [markdown]
# ## 3. Write: the text that most agree with
#
# Difficulty 3 of 5, 3 points, 13 minutes.
#
# In step 7 ninety good translations lose to ten blanks, because each is a little different. But they are *near* each other. So let them vote: choose the text that has, on the average, the fewest edits to all that the model finds possible, each weighed by its probability (Kumar, Byrne, 2004; for today's translators Eikema, Aziz, 2020, arXiv:2005.10283).
#
# By hand: the blank has 0.4, `a b c` 0.3, `a b d` 0.2 and `a x c` 0.1. From the blank it is 3 edits to each of the others, in the mean 0.6 · 3 = 1.8. From `a b c`: 0.4 · 3 + 0.2 · 1 + 0.1 · 1 = 1.5. The others have 1.7 and 1.9. So `a b c` is chosen, though the blank is likelier.
#
# Write `consensus(texts, log_probabilities)`.
#
# - `texts`: some texts that beams have found, each a list of units (words or parts); all different, one may be empty.
# - `log_probabilities`: a list of as many numbers, $\log p(y \mid x)$ of each. The probabilities need not add up to 1: the texts are weighed in proportion to them. All of them may be far below −1000.
#
# Return the chosen text, a list of units. `edit_distance` of the library is imported. (No two texts are equally good.)


# %% tags=["solution:consensus"]
def consensus(texts, log_probabilities):
    """-> the text with the fewest edits to all of them, in the mean."""
    ### BEGIN SOLUTION
    # softmax makes them add up to 1 and, unlike exp, can read numbers below -1000.
    shares = softmax(torch.tensor(log_probabilities, dtype=torch.float64)).tolist()

    def mean_edits(text):
        distances = [edit_distance(text, other) for other in texts]
        return sum(p * n for p, n in zip(shares, distances, strict=True))

    return min(texts, key=mean_edits)
    ### END SOLUTION


# %% tags=["check:consensus", "points:3"]
check("consensus", consensus, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Do the example as a table of 4 rows and 4 columns. With which probability is the edit distance in row $i$ and column $j$ weighed: that of $i$ or that of $j$?
# </details>
# <details><summary>A stronger hint</summary>
#
# Which function of lesson 01 turns log-probabilities into shares that add up to 1, however small they are? (It reads a tensor, not a list.) For each text add up share times `edit_distance(text, other)` over all texts, and take the text with the least: `min(texts, key=...)`.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/12_translation](../../solutions/12_translation/translation.ipynb), exercise 3. (The price: $n$ texts need $n^2$ distances.)
# </details>

# %% [markdown]
# ## 4. Write: a word was left out
#
# Difficulty 4 of 5, 3 points, 17 minutes.
#
# A translation that skips a word of the source often looks likely. The cross-attention can tell: a word that was never looked at was probably not translated. Google's translator of 2016 ranked its finished beams by
#
# $$\frac{\log p(y \mid x)}{\left(\frac{5 + |y|}{6}\right)^{\alpha}} + \beta \sum_{k} \log \min\Big(1, \sum_{q} a_{qk}\Big)$$
#
# with $a_{qk}$, the weight that the row $q$ of the translation puts on the source word $k$ (Wu et al., 2016, arXiv:1609.08144, equation 14). A word that was looked at with a weight of 1 or more in all costs nothing.
#
# Write `coverage_scores(log_probabilities, weights, lengths, source_lengths, alpha, beta)` for a batch of finished translations:
#
# - `log_probabilities` (batch, query): of each written id, the end token included; $|y|$ is `lengths` (batch,) int. What stands behind is padding.
# - `weights` (batch, query, key): the cross-attention's, the mean over heads. Rows of padding have looked somewhere, too, and mean nothing. The source of row $b$ has `source_lengths[b]` words, and keys behind them got the weight 0.
#
# Return the scores, (batch,), finite. Every real word has got some weight. No loop over the batch.
#
# By hand: three ids with −0.5, −1 and −0.5 are −2 in all; with $\alpha = 1$ that is −2 / (8/6) = −1.5. The weights of two words sum to 2.5 and 0.5; with $\beta = 1$ they cost log 0.5 = −0.69. The score is −2.19.


# %% tags=["solution:coverage_scores"]
def coverage_scores(log_probabilities, weights, lengths, source_lengths, alpha, beta):
    """(batch, query), (batch, query, key), (batch,), (batch,) -> (batch,)."""
    ### BEGIN SOLUTION
    _, n_queries, n_keys = weights.shape
    written = torch.arange(n_queries) < lengths[:, None]
    words = torch.arange(n_keys) < source_lengths[:, None]
    total = log_probabilities.where(written, 0.0).sum(-1)
    looked_at = weights.where(written[..., None], 0.0).sum(1).clamp(max=1)
    # The cost of padding is set to 0 before the logarithm: log 1, and not log 0.
    cost = looked_at.where(words, 1.0).log().sum(-1)
    return total / ((5 + lengths) / 6) ** alpha + beta * cost
    ### END SOLUTION


# %% tags=["check:coverage_scores", "points:3"]
check("coverage_scores", coverage_scores, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Draw the weights of one translation as a table. Which sums are always 1, those of the rows or those of the columns? Which of the two says whether a *word* was looked at?
# </details>
# <details><summary>A stronger hint</summary>
#
# Two tables of bools, as in lesson 02: which queries are real, and which keys. Rows of padding get the weight 0 before the sum over queries. Keys of padding have the sum 0, whose logarithm is −∞: give them a sum whose logarithm is 0. The limit of 1 holds for the *sum*, not for each weight.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/12_translation](../../solutions/12_translation/translation.ipynb), exercise 4.
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 5 minutes; a person marks this one.
#
# Two translators of numbers wrote the same 500 names. The first has 92 % exact and an error rate of 6 %, the second 88 % exact and an error rate of 3 %. "One of the scores must be wrong", says a colleague, "for a translator that is more often right makes fewer errors." How can both be right? Which of the two would you let write amounts on cheques, and what would you look at before you decide? Three or four sentences.

# %% [markdown] tags=["manual:exact_and_edits", "points:2"]
# Exact match counts wrong texts, whatever is wrong in them; the error rate counts edits. The first translator fails seldom and then badly, such as with blank texts or texts that run on, so that few texts bring many edits; the second fails more often, by one part (1 point).
#
# On a cheque one wrong part makes another amount, so exact match is what counts, and the first is better at it. But look at *what* the wrong ones are: a blank or endless text is noticed by anybody and can be refused, while a name with one part exchanged reads well and is paid. If nearly all failures of the first can be seen and those of the second cannot, that is another reason for the first; were it the other way round, the second might be safer (1 point).
