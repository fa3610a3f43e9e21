# %% [markdown]
# # Exercises 08: what is the whole model?
#
# **You need:** lesson 08, [the decoder](../../notebooks/08_decoder.ipynb). About 55 minutes, 13 points.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.
#
# You may use torch and all of the library, such as `Decoder`.

# %%
import math
import re
from dataclasses import replace

import torch

from course_lib.decoder import Decoder
from course_lib.feedback import check

# %% [markdown]
# ## 1. Predict: how sure is a fresh model?
#
# Difficulty 2 of 5, 2 points, 8 minutes.
#
# Step 3 of the lesson gave two numbers: in a fresh model with a tied head the piece just read scores about $\sigma d$ (`std` times d_model); a strange piece scores about 0 beside it. Take that as exact: one score of $\sigma d$, all others 0. A target is the piece just read in a share `repeats` of all cases, a strange piece in the others.
#
# **Predict** the mean loss. Write `fresh_loss(vocab_size, d_model, std, repeats=0.0)`, a number. `vocab_size` is at least 2, `std` 0 or more, `repeats` from 0 to 1. A score of 10,000 must not overflow. By hand: 4 pieces, a score of 2, no repeats: $\ln(e^2 + 3) = 2.341$.
#
# Then compare: what does it say for the lesson's "size 1" and "scaled" (vocabulary 500, d_model 32), and what did step 4 print?


# %% tags=["solution:fresh_loss"]
def fresh_loss(vocab_size, d_model, std, repeats=0.0):
    """-> float, the mean loss of a model that has learned nothing."""
    ### BEGIN SOLUTION
    own = std * d_model
    # ln(e^own + vocab - 1), with e^own drawn out of the logarithm: nothing overflows.
    log_sum = own + math.log1p((vocab_size - 1) * math.exp(-own))
    return log_sum - repeats * own
    ### END SOLUTION


# %% tags=["check:fresh_loss", "points:2"]
check("fresh_loss", fresh_loss, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# The loss of one target is the logarithm of the sum of all exponentials, minus the target's own score. Which scores are in the sum, and what is the target's score in each of the two cases?
# </details>
# <details><summary>A stronger hint</summary>
#
# The sum is $e^{\sigma d}$ and then 1 for each of the *other* pieces; it is the same in both cases. Only the score that is taken away differs: 0, or $\sigma d$ in a share `repeats`. Against overflow, draw $e^{\sigma d}$ out of the logarithm.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/08_decoder](../../solutions/08_decoder/decoder.ipynb), exercise 1. (For "scaled" it says 6.7, and 6.6 was printed. For "size 1" it says 32, where 25 to 26 was printed: the blocks have turned the vector away from its row, as step 4 says.)
# </details>

# %% [markdown]
# ## 2. Write: what would it say after half of its blocks?
#
# Difficulty 3 of 5, 3 points, 12 minutes.
#
# Every block writes to the same residual stream, so the head can read that stream anywhere, not only at the end. Done after each block of a trained model, it shows the guess taking shape. This is known as the *logit lens*.
#
# Write `logit_lens(decoder, tokens)`. `decoder` is a pre-norm `Decoder` without cross-attention, with learned or sinusoidal positions, in evaluation mode. `tokens` is (batch, position). Return logits, (layer + 1, batch, position, vocab): entry $i$ is what final norm and head make of the stream after $i$ blocks. So entry 0 has passed no block, and the last equals `decoder(tokens)`.
#
# You find the parts under `decoder.embedding`, `decoder.stack.blocks`, `decoder.stack.final_norm` and `decoder.head`; a block is called as `block(residual, causal=True)`. A list of layer + 1 tensors is accepted, too.


# %% tags=["solution:logit_lens"]
def logit_lens(decoder, tokens):
    """(batch, position) -> (layer + 1, batch, position, vocab)."""
    ### BEGIN SOLUTION
    residual = decoder.embedding(tokens, torch.arange(tokens.shape[1]))
    streams = [residual]
    for block in decoder.stack.blocks:
        streams.append(block(streams[-1], causal=True))
    # The norm only prepares what is read; the stream itself goes on without it.
    return decoder.head(decoder.stack.final_norm(torch.stack(streams)))
    ### END SOLUTION


# %% tags=["check:logit_lens", "points:3"]
check("logit_lens", logit_lens, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Write `MyDecoder.forward` of the lesson once more, with the stack opened into its blocks. At which lines does a new state of the stream exist?
# </details>
# <details><summary>A stronger hint</summary>
#
# Keep a list that begins with the embedding's output, and append what each block returns. Final norm and head are applied to every entry of the list, and nothing of that goes back into the stream.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/08_decoder](../../solutions/08_decoder/decoder.ipynb), exercise 2. (Norm and head work on each position by itself, so one call serves all entries.)
# </details>

# %% [markdown]
# ## 3. Repair: weights that were never loaded
#
# Difficulty 3 of 5, 3 points, 12 minutes.
#
# Weights were saved while the model was wrapped: `torch.compile` puts `_orig_mod.` before every name, data-parallel training `module.`, and sometimes both did. Also, some file formats keep a shared tensor once only, so of a tied model one of `embedding.weight` and `head.weight` is not there. This code ran without an error, and the "trained" model wrote noise:
#
# ```python
# def fitted_state(state, wanted):
#     return {name: state[name] for name in wanted if name in state}
#
# model.load_state_dict(fitted_state(state, wanted), strict=False)
# ```
#
# Repair `fitted_state`, so that its result fits with `strict=True` or nothing is loaded. `state` maps saved names to tensors, `wanted` is a list of names. Return a dict with exactly the wanted names.
#
# - At the *start* of a saved name the two prefixes are taken off, as often as they stand there, in any order. Inside a name they stay. No two saved names become the same.
# - If both names of the tied table are wanted and one of them is saved, it stands for both. If both are saved, each keeps its own tensor: that model was not tied.
# - A wanted name that is still missing, and a saved name that is not wanted: raise a `ValueError` that names them. (The check does not read its text.)
#
# `state` stays as it is.


# %% tags=["solution:fitted_state"]
def fitted_state(state, wanted):
    """{saved name: tensor} -> {wanted name: tensor}, all of them and no other."""
    ### BEGIN SOLUTION
    found = {
        re.sub(r"^(_orig_mod\.|module\.)+", "", name): tensor
        for name, tensor in state.items()
    }
    tied = {"embedding.weight", "head.weight"}
    saved = tied & found.keys()
    if len(saved) == 1 and tied <= set(wanted):
        found |= dict.fromkeys(tied, found[saved.pop()])
    if wrong := found.keys() ^ set(wanted):
        raise ValueError(f"missing, or not wanted: {', '.join(sorted(wrong))}")
    return found
    ### END SOLUTION


# %% tags=["check:fitted_state", "points:3"]
check("fitted_state", fitted_state, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Step 9 of the lesson also loaded weights under other names. Which two lines there would have stopped, had a tensor been left over or missing? What plays their part in the broken code?
# </details>
# <details><summary>A stronger hint</summary>
#
# Three steps: clean all saved names, fill in the tied one, then compare two *sets* of names. For the first, `str.removeprefix` in a loop, or one regular expression with `^`; not `lstrip`, which takes letters off, and not `replace`, which works inside names, too.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/08_decoder](../../solutions/08_decoder/decoder.ipynb), exercise 3. (`strict=False` is not wrong by itself: `load_state_dict` *returns* what was missing and what was left over, and somebody must look.)
# </details>

# %% [markdown]
# ## 4. Write: a larger vocabulary
#
# Difficulty 4 of 5, 3 points, 15 minutes.
#
# A trained model is to learn new tokens, say two that open and close a tool call. With random rows a new token may at once score far above all others. A row that is the **mean of the old rows** is safe: a product with a mean is the mean of the products, so the new token gets the mean of the old logits. **Predict** first: how probable can one new token be at most, if there are $V$ old ones?
#
# Write `with_new_ids(decoder, n_new)`: return a `Decoder` with `n_new` more ids, the old ones first.
#
# - Each new row is the mean of the old rows: of the embedding, and, if the head is not tied, of the head in the same way.
# - Everything else has the old model's numbers, so the logits of old ids stay as they are. Tied stays tied, untied stays untied, and the `config`, the embedding's too, knows the new size.
# - Nothing is shared with the old model, which stays as it is.
#
# `decoder` is in evaluation mode, without dropout; any family.


# %% tags=["solution:with_new_ids"]
def with_new_ids(decoder, n_new):
    """-> Decoder with n_new more ids."""
    ### BEGIN SOLUTION
    old_size = decoder.config.vocab_size
    larger = Decoder(
        replace(decoder.config, vocab_size=old_size + n_new), initialise=False
    )
    weights = decoder.state_dict()
    # A tied table stands there under two names; equal rows are loaded twice.
    for name in ("embedding.weight", "head.weight"):
        mean = weights[name].mean(0, keepdim=True)
        weights[name] = torch.cat([weights[name], mean.expand(n_new, -1)])
    larger.load_state_dict(weights)
    return larger.eval()
    ### END SOLUTION


# %% tags=["check:with_new_ids", "points:3"]
check("with_new_ids", with_new_ids, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Which tensors of a decoder have a row for each id? And which object decides whether they are one tensor or two?
# </details>
# <details><summary>A stronger hint</summary>
#
# `replace(decoder.config, vocab_size=...)` and `Decoder(..., initialise=False)` make a model of the right shape, tied or not. Then lengthen two entries of `decoder.state_dict()` and load it all. The state dict is a new dict each time, but its tensors are the old model's: make new ones, change none.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/08_decoder](../../solutions/08_decoder/decoder.ipynb), exercise 4. (At most $1/(V+1)$: the exponential of a mean is at most the mean of the exponentials, so the new one's share is at most that of an average old one.)
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 8 minutes; a person marks this one.
#
# "Our model has 7 billion parameters, a vocabulary of 128,000 and d_model 4,096. We tied embedding and head: that saves 7 % of the parameters, and so 7 % of the multiplications for each token that it writes." Check both halves of the sentence, with numbers. Three or four sentences.

# %% [markdown] tags=["manual:what_tying_saves", "points:2"]
# The first half is right: a table has 128,000 · 4,096 = 524 million numbers, 7.5 % of 7 billion (7.0 % of the 7.5 billion that it would have untied), and a tied model holds one instead of two (1 point).
#
# The second is wrong. Looking up an id copies one row and multiplies nothing; the head's product with all 524 million numbers is due in both models, once for each written token. So tying saves memory, and no multiplication (1 point).
