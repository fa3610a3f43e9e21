# %% [markdown]
# # Exercises 13: can it serve a conversation?
#
# **You need:** lesson 13, [chat](../../notebooks/13_chat.ipynb). About 60 minutes, 14 points.
#
# Fill in the functions; run the cell below each to check it. A check says which inputs it tried, shows the smallest that fails, and asks you a question. It can see mistakes only on its own inputs, so "visible checks passed" is not a proof.
#
# You may use torch and all of the library.

# %%
import torch

from course_lib.feedback import check

# %% [markdown]
# ## 1. Predict: how many can talk at once?
#
# Difficulty 2 of 5, 2 points, 8 minutes.
#
# A server's pool holds `n_blocks` blocks of `block_size` tokens. Every conversation begins with the same `n_shared` tokens and adds `n_own` of its own. As in step 8, *whole* blocks of the common beginning are held once for all; what stands in no whole block is held for each conversation, and its own tokens go on in the same block. **Predict:** blocks of 16, 500 common tokens. Does a beginning of 12 tokens more cost each conversation anything?
#
# Write `most_conversations(n_blocks, block_size, n_shared, n_own)`: how many conversations fit into the pool at the same time, a whole number. `n_blocks`, `block_size` and `n_own` are at least 1, `n_shared` may be 0, and the pool may be too small for even one. A formula: no loop.
#
# By hand: a pool of 20 blocks of 4, 10 common tokens and 5 own ones. A conversation has 15 tokens, so 4 blocks, of which 2 are shared: 18 blocks are left for 2 each, and 9 conversations fit. Without sharing, 5.


# %% tags=["solution:most_conversations"]
def most_conversations(n_blocks, block_size, n_shared, n_own):
    """-> int, the conversations that fit into the pool."""
    ### BEGIN SOLUTION
    once = n_shared // block_size
    each = -(-(n_shared + n_own) // block_size) - once
    # A pool that does not even hold what is shared would give a negative number.
    return max(0, (n_blocks - once) // each)
    ### END SOLUTION


# %% tags=["check:most_conversations", "points:2"]
check("most_conversations", most_conversations, points=2)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Draw the 15 tokens of the example as a row of blocks. Where does the beginning end? In which blocks may another conversation have other tokens?
# </details>
# <details><summary>A stronger hint</summary>
#
# Three numbers: the blocks that are held once (rounded down), those of a whole conversation (rounded up; the lesson's `n_blocks` does it), and their difference, which each conversation needs. Do not round the own tokens by themselves: they begin inside a block.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/13_chat](../../solutions/13_chat/chat.ipynb), exercise 1. (500 tokens are 31 whole blocks and 4 tokens more, which each conversation holds for itself; 512 are 32 whole blocks, held once. So it costs a conversation nothing, and may even save it a block.)
# </details>

# %% [markdown]
# ## 2. Repair: whose words were learned?
#
# Difficulty 3 of 5, 3 points, 12 minutes.
#
# How did the model come to answer, and not to ask? It was trained on whole conversations, but only what the *assistant* says counted in the loss. A trainer made the targets like this:
#
# ```python
# def answer_targets(tokens, start_id, end_id, assistant_id):
#     targets = tokens[1:].clone()
#     first_answer = tokens.tolist().index(assistant_id)
#     targets[:first_answer] = -100
#     return targets
# ```
#
# With one question and one answer it did no harm. But a published one like it trained models to ask as well, from the second question on (Blaizzy/mlx-vlm pull request 970).
#
# Repair it. `tokens`, (position,) int, is a conversation of at least one turn. A turn is `start_id`, the id of its role, any number of content ids, `end_id`; behind it a line break may stand, which belongs to no turn. Every turn is closed. The two marks stand nowhere else (step 1 of the lesson saw to that), but the word *assistant* is an ordinary one: a user may write it, too.
#
# Return targets, (position − 1,): place $t$ holds `tokens[t + 1]` if that is content of a turn whose role is `assistant_id`, or the `end_id` that closes such a turn; everywhere else −100. (The role is not to be learned: the template gives it.) `tokens` stays as it is.


# %% tags=["solution:answer_targets"]
def answer_targets(tokens, start_id, end_id, assistant_id):
    """(position,) -> (position - 1,): what the assistant says, and -100."""
    ### BEGIN SOLUTION
    counts = torch.zeros_like(tokens, dtype=torch.bool)
    starts, ends = ((tokens == mark).nonzero()[:, 0] for mark in (start_id, end_id))
    for start, end in zip(starts, ends, strict=True):
        # Only behind a start mark is the word a role. The end mark counts, or the
        # model would never learn to stop.
        counts[start + 2 : end + 1] = tokens[start + 1] == assistant_id
    return tokens.where(counts, -100)[1:]
    ### END SOLUTION


# %% tags=["check:answer_targets", "points:3"]
check("answer_targets", answer_targets, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Write down a conversation of four short turns, one id below the other, and mark the ids that the assistant chooses itself. Is its end mark one of them? How do you know whose turn it is?
# </details>
# <details><summary>A stronger hint</summary>
#
# The starts and ends of all turns are where `tokens == start_id` and `tokens == end_id`; the first start belongs to the first end. In each turn look at the id behind the start mark. Make a table of bools for the *tokens* first, and shift by one place at the very end.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/13_chat](../../solutions/13_chat/chat.ipynb), exercise 2.
# </details>

# %% [markdown]
# ## 3. Write: forget more, less often
#
# Difficulty 3 of 5, 3 points, 13 minutes.
#
# In step 5 a full conversation forgets its oldest turns, and all that is left is fed again. If it forgets just enough, it is full again at once: then *every* turn is fed that way. Let it forget more at a time: down to `keep` tokens, not just to its `limit`.
#
# Write `fed_per_turn(turns, n_system, limit, keep)`, the tokens that are fed before each answer, a list of whole numbers. `turns` is a list of pairs: the tokens of a question and those of its answer, marks included, at least one pair. The rules:
#
# - The first turn feeds the system's `n_system` tokens and the question; a later one only its question. (Answers are in the cache when they are written; leave out that the last id never is.)
# - Before a turn the room is counted: the system's tokens, all turns that were not forgotten, the new question and *its answer*. If that is more than `limit`, the oldest turns are forgotten, one by one, until it is at most `keep`, or none is left. Then the turns that were not forgotten are fed again, with the question. The system's keys and values stay.
# - `keep` is at most `limit`. A question with its answer fits beside the system's tokens within `limit`, though perhaps not within `keep`.
#
# By hand: 10 tokens of the system, every turn (5, 10), a limit of 60. With `keep` 60 the turns feed 15, 5, 5, 35, 35, 35, ...; with `keep` 40 they feed 15, 5, 5, 20, 5, 20, ...


# %% tags=["solution:fed_per_turn"]
def fed_per_turn(turns, n_system, limit, keep):
    """-> list of ints, the tokens fed before each answer."""
    ### BEGIN SOLUTION
    kept, fed = [], []
    for question, answer in turns:
        room = n_system + sum(kept) + question + answer
        again = 0
        if room > limit:
            while kept and room > keep:
                room -= kept.pop(0)
            again = sum(kept)  # their keys and values were made of what is forgotten
        fed.append(again + question)
        kept.append(question + answer)
    fed[0] += n_system
    return fed
    ### END SOLUTION


# %% tags=["check:fed_per_turn", "points:3"]
check("fed_per_turn", fed_per_turn, points=3)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Do the example by hand for `keep` 40, with a list of the turns that are still there. What is in the cache after the third answer, and what would be in it after the fourth?
# </details>
# <details><summary>A stronger hint</summary>
#
# Keep a list with question plus answer of each turn that is not forgotten. Two limits have two tasks: `limit` decides *whether* to forget (an `if`), `keep` how much (a `while` inside it). Only in that `if` is the rest fed again.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/13_chat](../../solutions/13_chat/chat.ipynb), exercise 3. (The price: the model forgets more of what was said.)
# </details>

# %% [markdown]
# ## 4. Write: several tokens a pass
#
# Difficulty 4 of 5, 4 points, 20 minutes.
#
# Below the knee ("On a GPU") a pass that feeds five tokens takes hardly longer than one that feeds one. For a single user: somebody *guesses* the next ids, cheaply, for instance by looking up what followed the last word earlier in the conversation. The model reads all guesses in one pass, and its logits tell what it would have written itself after each. As long as a guess is what it would have written, it is accepted. The text is the same as without guesses; only the passes are fewer (Stern et al., 2018, arXiv:1811.03115; for sampling, Leviathan et al., 2023, arXiv:2211.17192).
#
# Write `write_with_guesses(model, prompt_ids, guess, max_new_tokens, eos_id=None)`, which returns the list of new ids that *greedy* search writes: at most `max_new_tokens`, and nothing behind the first new `eos_id`, which is included.
#
# - `model` takes ids (batch, position) and gives logits (batch, position, vocab); no two largest are equal. Feed the whole text in each pass: no cache. (With one, the rejected guesses would be cropped.)
# - `guess` takes the list of all ids so far, prompt and new ones, and returns a list of guesses for the ids after them. It may be empty, longer than what is needed, and wrong.
# - Ask for guesses before each pass. Each pass writes the guesses up to the first wrong one, and *one id more*, the model's own choice after them. So even a pass without a right guess writes one id. The check counts passes.
# - With a budget of 0 there is no pass. `prompt_ids` stays as it is.
#
# By hand: the model would write 5, 6, 7, 8, ... The guesses are 5, 6, 9. The pass writes 5, 6 and 7: two that were guessed right, and what the model says in place of the 9.


# %% tags=["solution:write_with_guesses"]
def write_with_guesses(model, prompt_ids, guess, max_new_tokens, eos_id=None):
    """-> list of new ids, as greedy search writes them."""
    ### BEGIN SOLUTION
    new = []
    while len(new) < max_new_tokens and eos_id not in new:
        ids = [*prompt_ids, *new]
        guesses = guess(ids)
        logits = model(torch.tensor([[*ids, *guesses]]))[0, len(ids) - 1 :]
        own = logits.argmax(-1).tolist()  # after the last id, and after each guess
        wrong = (i for i, token in enumerate(guesses) if token != own[i])
        # Accepted guesses equal the model's own choices, so these are all there is to
        # write: one for each of them, and one that stands in place of the wrong guess.
        new += own[: next(wrong, len(guesses)) + 1]
        if eos_id in new:
            new = new[: new.index(eos_id) + 1]
    return new[:max_new_tokens]
    ### END SOLUTION


# %% tags=["check:write_with_guesses", "points:4"]
check("write_with_guesses", write_with_guesses, points=4)

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Feed three ids and the guesses $a$, $b$. Logits of which place say whether $a$ is right? And if both are right, which logits have not been used yet?
# </details>
# <details><summary>A stronger hint</summary>
#
# From place `len(ids) - 1` on, `argmax` gives the model's own choices: one more than there are guesses. Compare guess $i$ with choice $i$; let $n$ be the number of equal ones before the first that differs. The pass writes the first $n + 1$ *choices*. Cut behind the end token and at the budget afterwards.
# </details>
# <details><summary>The worked solution</summary>
#
# It is in [solutions/13_chat](../../solutions/13_chat/chat.ipynb), exercise 4. (A server with a full batch gains nothing: its passes are at the knee already, and wrong guesses take the place of other people's tokens.)
# </details>

# %% [markdown]
# ## 5. In words
#
# Difficulty 3 of 5, 2 points, 7 minutes; a person marks this one.
#
# A server shares blocks between the conversations of *all* its customers (step 8). The lesson's check proves that no row's scores depend on another row. "So nobody can learn anything about another customer's texts", says a colleague. A curious customer has a clock, may send what prompts he likes, and pays by the token. What can he find out, and how? What would you change, and what does the change cost? Four or five sentences.

# %% [markdown] tags=["manual:shared_blocks_and_a_clock", "points:2"]
# Scores tell nothing, but the waiting time does. If a prompt's first blocks are in the pool already, they need not be fed, and the first token comes sooner. So he sends a guess of another's prompt, such as a form letter with one name filled in, and watches how soon the answer begins: a fast one says that somebody has sent that beginning lately. Block by block he can so find out how it goes on, one block of guesses at a time. Each guess costs him its tokens, so a name out of a list is within reach, and free text is not (1 point).
#
# Share only among the conversations of one customer, and what is public anyway, such as the server's own instruction. The price is memory and first-token time for what several customers do have in common, for example a document that they all ask about. To wait a while before fast answers would hide it as well, but gives away the gain in time (1 point).
