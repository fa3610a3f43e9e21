# %% [markdown] tags=["title"]
# # Attention: compare, share out, mix
#
# How does one word read from the others? Nine minutes; belongs to [lesson 03](../03_attention.ipynb).

# %% tags=["weights"]
from course_lib.demos import attention

demo = attention.demo()
demo

# %% [markdown] tags=["notes"]
# ## Speaker's notes
#
# **The one idea**: a query is compared with every key, softmax makes weights of the scores, and the output is the mean of the values by these weights.
#
# **Before**: run all cells; press Present; Size 2 ×. The six pictures below are the same talk without a kernel.
#
# **What is on the screen**: three words, each with a key of two numbers, (person, thing). Left the scores, in the middle the weights, on the right the values as three points; the green diamond is the output. Steps 1 to 4 have no mask: each word reads all three, also later ones. (Under the causal mask of lesson 03 Anna would read only itself.) SmolLM2, in steps 5 and 6, has the mask.
#
# **Minutes**: 2, 1, 1.5, 1.5, 1.5, 1.5.

# %% [markdown] tags=["notes"]
# ### Step 1
#
# - **Show** one score by hand: query (0, 2) times key (0, 1) is 0·0 + 2·1 = 2, and 2 / √2 = 1.41. Then the weight, then the diamond near “letter”.
# - **Ask** which key the query (2, 0) will match, and where the diamond will go.
# - **Expect** “Anna, and all of it”. Reveal: 0.67. A score of 0 is not a weight of 0, since e⁰ = 1.
# - **Goes wrong**: query and key are taken for the same thing. “Anna” looks *for* a person and *is* one; “it” looks for a thing and is only half one.

# %% tags=["still", "weights"]
demo.still(0)

# %% [markdown] tags=["notes"]
# ### Step 2
#
# - **Ask** what a word reads that asks for nothing.
# - **Expect** “nothing” or “itself”. Reveal: a third of each, the middle of the triangle.
# - **Goes wrong**: “why can it not read nothing?” Each row of weights sums to 1. Many real heads park their weight on the first token instead.

# %% tags=["still", "weights"]
demo.still(1)

# %% [markdown] tags=["notes"]
# ### Step 3
#
# - **Ask** where the diamond goes when the query is four times as long; the direction stays.
# - **Expect** “four times as far”. It cannot leave the triangle: the output is a mean. Reveal: it runs into the corner.
# - **Goes wrong**: nothing much. Move the slider down to 0 afterwards: the picture of step 2 comes back.

# %% tags=["still", "weights"]
demo.still(2)

# %% [markdown] tags=["notes"]
# ### Step 4
#
# - **Ask** for hands: do the blue bars change? The orange ones?
# - **Expect** some for both. Reveal: neither. Only the corner moves, and the diamond with it.
# - **Goes wrong**: “so the weights say what matters”. They say how large a share; the value says of what. Set the value to 0: a weight of 0.58 that brings nothing.

# %% tags=["still", "weights"]
demo.still(3)

# %% [markdown] tags=["notes"]
# ### Step 5
#
# - **Show** the sentence from top to bottom: “One day Anna wrote a letter and she sent it”. Here “it” reads, and most of its weight is on “letter”.
# - **Ask** whom “she” reads in the same head. Note that “she” cannot read “sent it”: that comes later.
# - **Expect** “Anna”, and the question whether this was programmed. Reveal: 0.52. It was learned; we looked through the heads for one that shows it (layer 16, head 5, counted from 0), and most heads show nothing so plain. The slider Value belongs to steps 1 to 4.
# - **Goes wrong**: “so the model understands pronouns”. A weight is a clue. What matters is found by changing the input (lesson 03, Misconceptions).

# %% tags=["still", "weights"]
demo.still(4)

# %% [markdown] tags=["notes"]
# ### Step 6
#
# - **Show** the left axis: it ends at 60 in this step and in step 5, so that the longer scores of the reveal fit.
# - **Ask** what happens if a score is not divided by √64 = 8.
# - **Expect** “the bars grow”, and for the weights “nothing, it is only a scale”. Softmax is not blind to scale (lesson 01). Reveal: Anna takes 0.9998, drawn as 1.00.
# - **Goes wrong**: “sharper is better”. A fresh head would have made up its mind at random, and a saturated softmax passes next to no gradient.

# %% tags=["still", "weights"]
demo.still(5)
