# %% [markdown] tags=["title"]
# # Positions: how order enters
#
# How can attention tell who thanked whom? Nine minutes; belongs to [lesson 04](../04_positions.ipynb).

# %%
from course_lib.demos import positions

demo = positions.demo()
demo

# %% [markdown] tags=["notes"]
# ## Speaker's notes
#
# **The one idea**: attention by itself reads a set. If each position turns its query and key a step further, a score depends on how far before or after the query the key stands, and order can be seen.
#
# **Before**: run all cells; press Present; Size 2 ×. The six pictures below are the same talk without a kernel.
#
# **What is on the screen**: a head of two numbers, so that keys are points in the plane (left, with their positions). The thick orange line is the query, the bars are its scores. Query, key and value of a word are the same two numbers here; there is no mask.
#
# **Minutes**: 1.5, 1, 1.5, 1.5, 2, 1.5.

# %% [markdown] tags=["notes"]
# ### Step 1
#
# - **Show** “thanked”, the orange one, which reads Anna, itself and Ben.
# - **Ask** what changes when Anna and Ben swap places: the scores? The output?
# - **Expect** “both, it is another sentence”. Reveal: the bars change places, the output above them stays (1.52, −0.03).
# - **Goes wrong**: “but the bars did move”. Each moved along with its word. The output is a sum, and a sum has no order.

# %% tags=["still"]
demo.still(0)

# %% [markdown] tags=["notes"]
# ### Step 2
#
# - **Ask** whether six equal words can be told apart.
# - **Expect** “no”, by now. Reveal: one point, six equal bars of 2.83.
# - **Goes wrong**: “the computer knows where they stand in memory”. The formula does not: nothing in it depends on the place.

# %% tags=["still"]
demo.still(1)

# %% [markdown] tags=["notes"]
# ### Step 3
#
# - **Show** with an arm: position 0 points to the right, each further position turns 1 radian, some 57 degrees, counter-clockwise.
# - **Ask** which key will get the best score from the query at 5.
# - **Expect** “the last”, some “the first”. Reveal: equal directions give the largest product, 2.83; one step back it is 2.83 · cos 1 = 1.53.
# - **Goes wrong**: “key 0 scores more than key 1, so far is better?” Five radians are nearly a full turn. A real head has many pairs that turn at different speeds (SmolLM2: 32), and the slow ones tell near from far.

# %% tags=["still"]
demo.still(2)

# %% [markdown] tags=["notes"]
# ### Step 4
#
# - **Ask** what happens to the scores when every point turns on by 40 radians. Let them choose: all change, some change, none.
# - **Expect** “all change”. Reveal: the left picture has turned, the bars have not.
# - **Goes wrong**: nothing. After the reveal pull the slider of the first position back from 40, slowly, so that the wheel turns and the bars stand still.

# %% tags=["still"]
demo.still(3)

# %% [markdown] tags=["notes"]
# ### Step 5
#
# - **Show** the other way: the wave vector of a position, (sin, cos), is added to the word. The six points lie on a circle around (2, 0), the word itself.
# - **Ask** whether the bars will stand still this time.
# - **Expect** a divided room. Reveal: they change. Word times wave is part of each product, and it depends on the place.
# - **Goes wrong**: “so added positions are wrong”. GPT-2 and Whisper add theirs. They work; but beyond the trained length there are places that the model never met.

# %% tags=["still"]
demo.still(4)

# %% [markdown] tags=["notes"]
# ### Step 6
#
# - **Ask** the first question again, now with turned positions.
# - **Expect** “another output”. Reveal: the output changes from (1.57, −0.12) to (0.82, 0.56). Only queries and keys are turned. The values stay, but their weights change: Anna scores 1.36 before the query and 0.17 after it.
# - **Goes wrong**: “a causal decoder needs none of this?” A causal mask gives a hint of order too, in two layers or more (lesson 04, step 7).

# %% tags=["still"]
demo.still(5)
