# %% [markdown] tags=["title"]
# # Learning and writing
#
# Same weights, one pass or many: what differs? Eight minutes; belongs to [lesson 11](../11_training.ipynb).

# %% tags=["weights"]
from course_lib.demos import training

demo = training.demo()
demo

# %% [markdown] tags=["notes"]
# ## Speaker's notes
#
# **The one idea**: learning feeds the truth, so all places are asked at once; writing feeds itself, one place after another, errors included.
#
# **Before**: run all cells; press Present; Size 2 ×. The pictures below are the same talk without a kernel. The decoder is SmolLM2; after “The alphabet: a b c d e f” it is to say ten letters. It is not trained here: we look at the one pass that a training step begins with. A letter is a token.
#
# **Minutes**: 1.5, 1.5, 1.5, 1.5, 2.

# %% [markdown] tags=["notes"]
# ### Step 1
#
# - **Show** the places, 1 to 10, and two rows, from below: what is fed, and what each place should say, one letter further. That is the shift.
# - **Ask** for the number of passes. Let them write it down.
# - **Expect** “ten, since it predicts the next token”. Reveal: one. Everything that is fed is known in advance, so no place waits for another. Ten losses; their mean, 0.10 nats, is what training makes smaller.
# - **Goes wrong**: “one pass because the GPU has room”. No: because the inputs are known, and the mask hides the rest.

# %% tags=["still", "weights"]
demo.still(0)

# %% [markdown] tags=["notes"]
# ### Step 2
#
# - **Show** place 3: fed h, should say i. In the row of what is fed, i stands right beside it.
# - **Ask** whether place 3 may look there. What would its loss be if it could?
# - **Expect** “it could cheat”. Right: the loss would go to 0 and it would learn to copy. Reveal: the hatched places are hidden from place 3. Move Place from 1 to 10: the hatching draws back like a staircase.
# - **Goes wrong**: “0.33 of what?” Nats. The probability of i was 0.72; a place that is sure (n) pays nearly nothing.

# %% tags=["still", "weights"]
demo.still(1)

# %% [markdown] tags=["notes"]
# ### Step 3
#
# - **Show** the Mode, *writing*. Only f is fed. The rows *should say* and ✓ are for us: the model sees neither.
# - **Ask** how many passes the same ten letters take when it writes alone. Move Place slowly instead of Reveal, if there is time: what it says at one place is fed at the next.
# - **Expect** “ten” from most. Ask why not one: the input of place 2 does not exist yet.
# - **Goes wrong**: “the cache makes it one pass”. A cache makes each of the ten cheaper (lesson 10); they still wait for each other.

# %% tags=["still", "weights"]
demo.still(2)

# %% [markdown] tags=["notes"]
# ### Step 4
#
# - **Show** learning again, all ten right.
# - **Ask** which places change if place 2 says j, not h.
# - **Expect** “everything after it”. Reveal: only its own mark. Place 3 is fed h, the truth, not what place 2 said: teacher forcing. The losses stay as well: a loss looks at the probability of h, not at what was said.
# - **Goes wrong**: “then errors do not matter in learning”. Each costs at its own place; it just never becomes an input.

# %% tags=["still", "weights"]
demo.still(3)

# %% [markdown] tags=["notes"]
# ### Step 5
#
# - **Show** two letters written, the second one wrong; its own j is already fed to place 3.
# - **Ask** how many of places 3 to 10 will be wrong.
# - **Expect** “one or two, then it finds back”. Reveal: k to r, all eight. Given j, k is a good answer: nothing marks the j as wrong.
# - Let them choose a small letter (a digit is two tokens, and shows as ␣): m goes on with n and then skips o; a begins anew; z breaks off and begins a sentence.
# - **Goes wrong**: “so every error ruins a text”. It depends on the task: where a place does not hang on the one before, it heals (the fresh book of lesson 11).

# %% tags=["still", "weights"]
demo.still(4)
