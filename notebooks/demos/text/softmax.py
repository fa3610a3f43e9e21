# %% [markdown] tags=["title"]
# # Softmax and temperature
#
# How do scores become a choice? Seven minutes; belongs to [lesson 01](../01_softmax.ipynb).

# %% tags=["weights"]
from course_lib.demos import softmax

demo = softmax.demo()
demo

# %% [markdown] tags=["notes"]
# ## Speaker's notes
#
# **The one idea**: softmax looks at differences of scores, and temperature stretches or shrinks them.
#
# **Before**: run all cells (the first one names the command if the weights are missing); press Present; Size 2 ×. The five pictures below are the same talk without a kernel.
#
# **Minutes**: 1, 1, 1.5, 1.5, 2.

# %% [markdown] tags=["notes"]
# ### Step 1
#
# - **Show** the scores 2, 1, 0 and the three probabilities.
# - **Ask** how many times as likely A is as B. Let them write a number down.
# - **Expect** “2 times” (2 is twice 1). Divide the two bars: 0.665 / 0.245 = 2.71; without rounding it is e = 2.718.
# - **Goes wrong**: someone divides A by C and gets 7.4; that is e², two points apart. Use it.

# %% tags=["still", "weights"]
demo.still(0)

# %% [markdown] tags=["notes"]
# ### Step 2
#
# - **Ask** what 102, 101, 100 give. Hands up for “sharper”, “flatter”, “the same”.
# - **Expect** many for “sharper”. Reveal: nothing moves.
# - **Goes wrong**: “but exp(102) overflows in float32”. It does; the library subtracts the row's maximum first.

# %% tags=["still", "weights"]
demo.still(1)

# %% [markdown] tags=["notes"]
# ### Step 3
#
# - **Ask** who gains when all scores double.
# - **Expect** “nobody, the proportions are the same”. Reveal: A goes from 66.5 % to 86.7 %.
# - **Goes wrong**: shift and scale are mixed up. Shift: nothing. Scale: the shares, never the order. (The blue bars show the scores before the temperature.)

# %% tags=["still", "weights"]
demo.still(2)

# %% [markdown] tags=["notes"]
# ### Step 4
#
# - **Ask** for the limit of a very high temperature, and whether C can ever overtake B.
# - **Expect** “all equal” from most, and doubt about the order. Move the slider slowly to 0.1 afterwards: one bar takes all.
# - **Goes wrong**: “T = 0 divides by zero”. The slider stops at 0.1; the library treats 0 as argmax.

# %% tags=["still", "weights"]
demo.still(3)

# %% [markdown] tags=["notes"]
# ### Step 5
#
# - **Show** a real model's scores; the eight bars are its likeliest next tokens.
# - **Ask** how much is left for the other 49,144 tokens at temperature 3.
# - **Expect** “a few percent”. Reveal: nearly everything. That tail is why lesson 09 cuts it off with top-p. Put the slider to 1 afterwards: the others have 47 % there already.
# - **Goes wrong**: “then a high temperature is simply bad”. It makes all tokens alike, and there are many bad ones. What helps is to cut the tail first.

# %% tags=["still", "weights"]
demo.still(4)
