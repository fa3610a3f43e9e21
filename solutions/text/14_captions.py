# %% [markdown]
# # Exercises 14: can it caption live speech?
#
# **You need:** lesson 14, [captions](../../notebooks/14_captions.ipynb). About 70 minutes, 14 points. No weights are needed.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.
#
# You may use torch and all of the library.

# %%
import math

import torch

from course_lib.feedback import check

# %% [markdown]
# ## 1. Predict: how late must a word be?
#
# Difficulty 2 of 5, 2 points, 10 minutes.
#
# A captioner gets a chunk of sound at `chunk_seconds`, at twice that, three times that, and so on. For *each* it computes a hypothesis, which takes `computing` seconds, one after the other: a chunk that comes while another is being computed has to wait. A word ends at `end` seconds; somebody speaks on, so nothing is flushed, and nothing is cut. Say that every hypothesis that heard the word to its end has it right, and that none before has it. It is shown as soon as `agreement` hypotheses in a row have it, and the last of them is computed.
#
# Write `word_lag(end, chunk_seconds, agreement, computing)`: the seconds from the end of the word to its being shown. A formula: no loop. All numbers are above 0; a word that ends exactly with a chunk was heard to its end by that chunk. (Rounding decides for none of the inputs that are tried.)
#
# By hand, for chunks of 0.5 s, agreement 2, and a word that ends at 1.2 s: with 0.1 s of computing the chunk that comes at 1.5 s has it, the one at 2.0 s agrees, and at 2.1 s it is shown: 0.9 s late. With 0.7 s of computing the four hypotheses are done at 1.2, 1.9, 2.6 and 3.3 s: 2.1 s late.
#
# **Predict** first: what does an agreement of 3 add? And how late are words after ten minutes, if computing takes 0.6 s?


# %% tags=["solution:word_lag"]
def word_lag(end, chunk_seconds, agreement, computing):
    """-> float: seconds from the end of a word to its being shown."""
    ### BEGIN SOLUTION
    n = math.ceil(end / chunk_seconds) + agreement - 1  # the chunk that shows it
    # Sound is the slower one, or computing: then the first chunk is waited for, and all
    # n of them are computed without a break.
    return max(n * chunk_seconds + computing, chunk_seconds + n * computing) - end
    ### END SOLUTION


# %% tags=["check:word_lag", "points:2"]
check("word_lag", word_lag, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Draw a line of time for the example: when does each chunk come, when does computing it begin, and when is it done? Which chunk is the one that shows the word?
# </details>
# <details><summary>A stronger hint</summary>
#
# The word is heard by chunk number $\lceil$ end / chunk $\rceil$, and shown by the one `agreement - 1` later, number $n$. If computing is faster than sound, that one begins as soon as it has come. If it is slower, the computer never rests from the first chunk on: when is the $n$-th of them done? The later of the two counts.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/14_captions](../../solutions/14_captions/captions.ipynb), exercise 1. (An agreement of 3 adds a chunk, 0.5 s. With 0.6 s of computing each chunk adds 0.1 s to the queue: after ten minutes, 1200 chunks, words are two minutes late.)
# </details>

# %% [markdown]
# ## 2. Repair: a pause that depends on the microphone
#
# Difficulty 2 of 5, 3 points, 12 minutes.
#
# Step 6 of the lesson measured the pause behind a whole recording. Live, sound comes in chunks of whatever length the microphone gives:
#
# ```python
# class PauseMeter:
#     def __init__(self, threshold_db):
#         self.threshold_db, self.n_quiet = threshold_db, 0
#
#     def hear(self, samples):
#         n = len(samples) // 320
#         for frame in samples[: n * 320].reshape(n, 320):
#             level = 10 * frame.square().mean().log10()
#             self.n_quiet = 0 if level > self.threshold_db else self.n_quiet + 1
#         return 0.02 * self.n_quiet
# ```
#
# With chunks of 8000 samples all is well. With chunks of 500, pauses are longer than it says, and with chunks of 300 there is never a pause. (A published captioner had this fault: yuanwil1y/sage, issue 4.)
#
# Repair it: what it says must not depend on how the sound is cut. Frames of 320 samples follow one another from the first sample of the stream on, and each is judged as soon as its last sample is there. `hear` takes (sample,) float of any length, also none, leaves it as it is, and returns the seconds of quiet frames behind the last loud one; as long as nothing was loud, all frames count. A program may have several meters. What has been judged need not be kept.


# %% tags=["solution:PauseMeter"]
class PauseMeter:
    """How long the pause at the end has lasted, however the sound is cut."""

    def __init__(self, threshold_db):
        """threshold_db: a frame whose level is above it is loud."""
        ### BEGIN SOLUTION
        self.loud_power = 10 ** (threshold_db / 10)
        self.quiet_frames = 0
        self.held = torch.zeros(0)  # the beginning of a frame whose end is to come
        ### END SOLUTION

    def hear(self, samples):
        """(sample,) -> float: seconds of quiet at the end."""
        ### BEGIN SOLUTION
        sound = torch.cat((self.held, samples))
        n_frames = len(sound) // 320
        used, self.held = sound.tensor_split([320 * n_frames])
        for power in used.reshape(n_frames, 320).square().mean(1):
            self.quiet_frames = 0 if power > self.loud_power else self.quiet_frames + 1
        return 0.02 * self.quiet_frames
        ### END SOLUTION


# %% tags=["check:PauseMeter", "points:3"]
check("PauseMeter", PauseMeter, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Take chunks of 500 samples and write down which samples are judged in the first three calls. Where are the others?
# </details>
# <details><summary>A stronger hint</summary>
#
# A frame may begin in one chunk and end in another; with chunks of 300 every frame does. What is left of a chunk has to stand in front of the next one, so the meter must keep it: in `self`, from `__init__` on. How many samples is that at most?
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/14_captions](../../solutions/14_captions/captions.ipynb), exercise 2.
# </details>

# %% [markdown]
# ## 3. Write: a policy that asks once
#
# Difficulty 3 of 5, 3 points, 12 minutes.
#
# Local agreement waits for a second hypothesis. *AlignAtt* (Papi, Turchi, Negri, 2023, arXiv:2305.11408) looks at what the tokens of *one* read: a token that reads the newest sound may be half heard.
#
# Write `n_safe(weights, begins, n_newest)`: how many tokens of a hypothesis may be shown. `weights` is (token, position), how much of the sound each token reads, for sound that has arrived. `begins` is (token,) bool: whether a token begins a word; the first one does.
#
# - A token is *unsafe* if the position that it reads most is one of the last `n_newest`. (No token reads two positions most.)
# - The first unsafe token and all behind it are held back, even if some of those are safe.
# - A word is shown as a whole or not at all: if the first unsafe token continues a word, that word's beginning is held back, too.
# - `n_newest` may be 0; it may be larger than the number of positions; there may be no tokens.
#
# By hand: five tokens read positions 3, 9, 12, 20 and 17 most, of 24, and the newest 5 are 19 to 23. The fourth is unsafe. If it begins a word, 3 tokens are shown; if it continues the word that the third begins, 2.


# %% tags=["solution:n_safe"]
def n_safe(weights, begins, n_newest):
    """(token, position), (token,) bool, int -> int."""
    ### BEGIN SOLUTION
    safe = weights.argmax(1) < weights.shape[1] - n_newest
    n = int(safe.cumprod(0).sum())  # up to the first that is not
    # What is shown ends where a word begins, or behind everything.
    ends = [*begins.nonzero().flatten().tolist(), len(weights)]
    return max(end for end in ends if end <= n)
    ### END SOLUTION


# %% tags=["check:n_safe", "points:3"]
check("n_safe", n_safe, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Three questions, one after the other: which position does each token read most, which token is the first unsafe one, and where does the word it stands in begin?
# </details>
# <details><summary>A stronger hint</summary>
#
# `weights.argmax(1)` gives a position for each token; compare it with the first of the newest. `cumprod` of ones and zeros is 1 up to the first 0. If that token does not begin a word, go back until one does. Then try `n_newest = 0`: does a slice such as `[-n_newest:]` hold nothing there?
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/14_captions](../../solutions/14_captions/captions.ipynb), exercise 3.
# </details>

# %% [markdown]
# ## 4. Write: a path that may rest
#
# Difficulty 5 of 5, 4 points, 30 minutes.
#
# On the lesson's path every position belongs to a token, so a pause goes to one beside it: the question mark filled the pause before *I*. Here positions may rest.
#
# Write `spans_of(gains)`: for each token the stretch of positions in which it is spoken. `gains` is (token, position), with one token or more, and with no fewer positions than tokens.
#
# - A stretch holds one position or more. Stretches follow one another in the order of the tokens and share no position.
# - Before, between and behind them any number of positions may rest, also none.
# - Of all choices, that one is wanted whose gains inside the stretches have the largest sum. (No other choice has the same sum.)
#
# Return a list with a pair (first, end) for each token: its first position, and the position *behind* its last.
#
# By hand: tokens with gains 3, 1, −2, −1, −1 and −2, −1, −1, 4, 2 have the stretches (0, 2) and (3, 5), of sum 10; position 2 rests. The largest input has 9 tokens and 60 positions, too many to try all choices. Loops are fine, and no gradient is needed.


# %% tags=["solution:spans_of"]
def spans_of(gains):
    """(token, position) -> a list of (first, end), one for each token."""
    ### BEGIN SOLUTION
    # One state for each token, with a rest before each and behind the last: rest,
    # token 0, rest, token 1, ..., rest. So odd states are tokens.
    rows = gains.tolist()
    n_states = 2 * len(rows) + 1
    totals = [0.0] + [-math.inf] * (n_states - 1)  # before anything, all rest
    came_from = []
    for t in range(gains.shape[1]):
        origins = []
        for state in range(n_states):
            # A state goes on, or follows the one before; a token may skip the rest.
            earliest = max(0, state - 1 - state % 2)
            origins.append(max(range(earliest, state + 1), key=totals.__getitem__))
        totals = [
            totals[origin] + (rows[state // 2][t] if state % 2 else 0.0)
            for state, origin in enumerate(origins)
        ]
        came_from.append(origins)
    state = max((n_states - 2, n_states - 1), key=totals.__getitem__)
    path = []
    for origins in reversed(came_from):
        path.insert(0, state)
        state = origins[state]
    firsts = [path.index(state) for state in range(1, n_states, 2)]
    return [(first, first + path.count(path[first])) for first in firsts]
    ### END SOLUTION


# %% tags=["check:spans_of", "points:4"]
check("spans_of", spans_of, points=4)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# The lesson's table has a row for each token. Which rows do you need besides, if at some positions nobody speaks? What is the gain there?
# </details>
# <details><summary>A stronger hint</summary>
#
# Rows: rest, token 0, rest, token 1, ..., rest; a rest gains 0. From one position to the next a row may go on, or the next row begins; and from a token one may go straight to the next token, past the rest between. No step stays at the same position, unlike in the lesson. Keep for each cell where its largest sum came from, and walk back from the better of the last two rows.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/14_captions](../../solutions/14_captions/captions.ipynb), exercise 4. Another way: for each token and each place where its stretch may end, the best place to begin, with running sums of the gains; then token by token.
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 6 minutes; a person marks this one.
#
# Each chunk costs the whole window again, says step 3, and a colleague wants to save that: with each chunk the window only grows at its end. From the chunk before she keeps (a) the log-mel frames and what the stem made of them, and computes both for new sound only; or (b) the encoder's keys and values of old positions too, as a decoder does, so that only new positions have to be computed. What is right and what goes wrong with (a), and what with (b)? Two sentences each.

# %% [markdown] tags=["manual:what_may_be_kept", "points:2"]
# (a) is nearly right: a frame reads 25 ms and the two convolutions two frames on either side, so new sound reaches no position but those next to it. The last old position was computed with silence (or a mirror image) behind it and has to be computed again; and the scale of the log-mel, cut 8 below the loudest value of the window, may move all frames when something louder comes (1 point).
#
# (b) is wrong: this encoder is not causal, in each layer old positions read new ones, so their states, keys and values change with every chunk. What was kept belongs to a model in which the old cannot hear the new; it was not trained so, and as with the causal mask of the first misconception its words are others, or none (1 point).
