# %% [markdown] tags=["title"]
# # Masks: who may read whom
#
# What does a mask hide, and what goes wrong without it? Eight minutes; belongs to [lesson 02](../02_masks.ipynb).

# %%
from course_lib.demos import masks

demo = masks.demo()
demo

# %% [markdown] tags=["notes"]
# ## Speaker's notes
#
# **The one idea**: a mask answers one question for each cell, may this row read that column, and what is hidden cannot change what the row gives out.
#
# **Before**: run all cells (small decoders are trained, a few seconds); press Present; Size 2 ×. The five pictures below are the same talk without a kernel.
#
# **What is on the screen**: six places, a to f, each with a digit. A row is a query, which reads; a column is a key, which is read. The orange frame is the place that we change, and the bars say how far the output of each row moves by that. They come from one attention head with random weights.
#
# **Minutes**: 1.5, 1.5, 1.5, 1.5, 2.

# %% [markdown] tags=["notes"]
# ### Step 1
#
# - **Show** a row of dots: “row c reads a, b, c, d, e and f”. Leave the orange frame and the bars for step 2.
# - **Ask** which cells a decoder must not use, since it writes from left to right. Let somebody draw the border in the air.
# - **Expect** “everything right of the diagonal”. Some will hide the diagonal too: then row a reads nothing at all. A place reads itself; what it predicts is the *next* digit.
# - **Goes wrong**: rows and columns are mixed up. Read row a aloud after the reveal: “a reads a, and nothing else”. Or: “why do the bars grow?” Who reads fewer places gives each of them more weight.

# %% tags=["still"]
demo.still(0)

# %% [markdown] tags=["notes"]
# ### Step 2
#
# - **Show** the frame around column a, and six bars.
# - **Ask** which letters will still have a bar when d is changed instead. Wait for a list, not for a number.
# - **Expect** “d to f”, sometimes only “d”. Reveal: column d has dots in rows d, e and f. The zeros are exact.
# - **Goes wrong**: somebody reads the *row* of d (a, b, c, d). The row says what d reads; the column says who reads d.

# %% tags=["still"]
demo.still(1)

# %% [markdown] tags=["notes"]
# ### Step 3
#
# - **Ask** the same for a window of 2, with b changed: itself and the one before.
# - **Expect** “b and c”. Reveal, and count the dots of a row: never more than two.
# - **Goes wrong**: “then the model forgets everything older”. In one layer, yes; each further layer reaches one place further back.

# %% tags=["still"]
demo.still(2)

# %% [markdown] tags=["notes"]
# ### Step 4
#
# - **Show** the brackets: a and b hold padding, because a longer text stands in the same batch.
# - **Ask** who moves when the padding at a changes. The causal mask alone would say: everybody.
# - **Expect** “none, column a is hatched” from those who have followed, “all, they come later” from the others. Let the first explain it. Reveal: none.
# - **Goes wrong**: “so the rows a and b are what matters”. An empty row protects nobody: it is the empty *column* that does.

# %% tags=["still"]
demo.still(3)

# %% [markdown] tags=["notes"]
# ### Step 5
#
# - **Show** the new bars: two small decoders were trained on random digits, one with the causal mask, one without. Each bar is the chance that is given to the true next digit. With the mask: about 0.10, an honest guess.
# - **Ask** what the decoder without a mask reaches. Remind them that nobody can predict random digits.
# - **Expect** “also 0.10”. Reveal: 1.00 at five places, and a guess at f, whose answer is not in the row.
# - **Goes wrong**: somebody turns “Changed place”: in this look nothing is changed. Or: “then leave the mask out, it is better”. When it writes, the digit that it copies does not exist yet. A loss that is too good is a leak.

# %% tags=["still"]
demo.still(4)
