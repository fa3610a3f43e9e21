# %% [markdown] tags=["title"]
# # Choosing the next token
#
# The model gives probabilities: how does one choose? Nine minutes; belongs to [lesson 09](../09_sampling.ipynb).

# %% tags=["weights"]
from course_lib.demos import sampling

demo = sampling.demo()
demo

# %% [markdown] tags=["notes"]
# ## Speaker's notes
#
# **The one idea**: the model only gives probabilities; the way of choosing decides what is written, and the likeliest token is not always the best choice.
#
# **Before**: run all cells; press Present; Size 2 ×. Those who do not know temperature see the demo on softmax first. The pictures below are the same talk without a kernel.
#
# **Minutes**: 1.5, 1.5, 2, 2, 2.

# %% [markdown] tags=["notes"]
# ### Step 1
#
# - **Show** left, what SmolLM2 thinks comes after “In the morning I”; middle, with what probability each token is drawn; right, how much of the probability the filters keep. Mind the axes: a full left one is 0.1, a full middle one 1. Above stands the order: temperature, top-k, top-p.
# - **Ask** what is left to be drawn if one always takes the longest bar.
# - **Expect** “was”, easily. Then ask how sure the model was: 8 %. Reveal: drawn with 1.00.
# - **Goes wrong**: “temperature 0 divides by 0”. By convention it means: the largest logit; of several equal ones, that with the lowest id.

# %% tags=["still", "weights"]
demo.still(0)

# %% [markdown] tags=["notes"]
# ### Step 2
#
# - **Show** all bars again, each a few percent.
# - **Ask** how much of the probability lies outside of the five likeliest tokens. Let them add the bars: 0.08 + 0.07 + 0.05 + 0.03 + 0.03.
# - **Expect** 26 % inside, and some who answer with that number. Reveal: 74 % cut off. The five left are scaled up to 1, and their ratios stay.
# - **Goes wrong**: somebody wants removed logits set to 0. 0 is a logit like any other, so a removed token could still be drawn. It has to be −∞.

# %% tags=["still", "weights"]
demo.still(1)

# %% [markdown] tags=["notes"]
# ### Step 3
#
# - **Show** top-p 0.5: the fewest likeliest tokens that hold half of the probability, the one that crosses the half included. Here 17.
# - **Ask** whether a temperature of 0.5 leaves more or fewer of them.
# - **Expect** a split vote. Reveal: fewer, 2. Temperature comes first, makes the likely likelier, and then two are enough for half.
# - **Goes wrong**: “top-p 0.9 and T 0.7” as if it said all. It says something only with the order: here penalty, temperature, top-k, top-p, min-p, as in transformers. (Min-p, not shown: keep what is at least p times as likely as the likeliest.)

# %% tags=["still", "weights"]
demo.still(2)

# %% [markdown] tags=["notes"]
# ### Step 4
#
# - **Show** the tree under temperature 0: the thick line is greedy's way. Grey has chance 0. The probabilities of the first tokens were on the screen in step 1: 8, 7, 5 and 3 %.
# - **Ask** whether another pair could have a larger product than “was in”. Point at “woke”: what would you write after it?
# - **Expect** “woke up”, at once. Reveal the probabilities: 0.066 · 0.77 against 0.084 · 0.06. Greedy never sees it, for it commits itself one token too early. Two beams keep the two likeliest texts at every step, here “was” and “woke”, so they find it.
# - **Goes wrong**: “so beams always write better”. They look at more, not at all: their second text is “was in”, 0.005, though “walked into” has 0.014, for “walked” was third and was dropped. And likelier is often shorter and duller. Lesson 09 measures it. The marks say what two beams keep by the model's own probabilities, before any filter.

# %% tags=["still", "weights"]
demo.still(3)

# %% [markdown] tags=["notes"]
# ### Step 5
#
# - **Show** the question above the bars, and what greedy decoding wrote, in lines. At temperature 0 each line has chance 1.
# - **Ask** how likely each line would be if the tokens were drawn by the model's own probabilities. First line 5, the first copy of line 4; then the later ones.
# - **Expect** “all small”, and “it gets bored”. Reveal: 1 %, 25, 43, 62, 75 %. Each copy is evidence for the next one. A draw hardly ever writes this line the first time; greedy always does.
# - **Goes wrong**: “the model is broken, then”. Both have a share: the model believes in loops, greedy walks into them. When one draws, every token is another chance to leave. If somebody asks for top-p: set it to 0.90. Line 8 goes to 94 %, as the way out was in the tail that is cut off; but a draw seldom gets that far. At temperature 2 every line has 0.00: it no longer writes this text at all.

# %% tags=["still", "weights"]
demo.still(4)
