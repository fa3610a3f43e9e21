# %% [markdown] tags=["title"]
# # Feed-forward and norm
#
# What happens to a position between two readings? Nine minutes; belongs to [lesson 06](../06_feed_forward.ipynb) and [lesson 07](../07_block.ipynb).

# %% tags=["weights"]
from course_lib.demos import feed_forward

demo = feed_forward.demo()
demo

# %% [markdown] tags=["notes"]
# ## Speaker's notes
#
# **The one idea**: between two readings each position's vector is worked on alone, by a norm and two matrices with a bend between; leave one of these out and the work is lost. (Lesson 07 has the norm: without it, stop after step 4.)
#
# **Before**: run all cells; press Present; Size 2 ×. A pencil for everybody. The pictures below are the same talk without a kernel.
#
# **Minutes**: 2, 1.5, 1.5, 1, 1.5, 1.5.

# %% [markdown] tags=["notes"]
# ### Step 1
#
# - **Show** the four columns, from the bottom up. The layer adds two bits: sum is 1 if exactly one is yes, carry is 1 if both are. Take position 1 through by hand: a − b = −2, b − a = 2, a + b − 1 = −1.
# - **Show**, too, that the lesson wrote no as 0; here it is −1, so that each input has the size 1 and the norm of step 5 leaves it as it is. The differences are twice as large, hence the ½. Column 0 has the right sum; its ✗ is for the carry −3. Look at the first number only.
# - **Ask** why sum is 0 in every column. Give them half a minute with the pencil.
# - **Expect** “the weights are wrong”. They are the right ones. The first two hidden numbers are always opposite, and ½ of one plus ½ of the other is 0. Three hidden numbers instead of two did not help: one matrix after another is one matrix.
# - **Goes wrong**: “then more hidden numbers”. However many: two matrices (and their biases) after one another are again one from 2 numbers to 2, and no straight line parts “exactly one” from “both or none”.

# %% tags=["still", "weights"]
demo.still(0)

# %% [markdown] tags=["notes"]
# ### Step 2
#
# - **Show** the row “no bend”.
# - **Ask** what becomes of each column if negative numbers are replaced by 0 there. Let them write down four sums.
# - **Expect** right answers from most. Reveal: four ticks. The carries −3 and −1 are mended, too.
# - **Goes wrong**: “so ReLU it must be”. Any bend that is not a straight line; SmolLM2 has SiLU, which is nearly ReLU with a round corner.

# %% tags=["still", "weights"]
demo.still(1)

# %% [markdown] tags=["notes"]
# ### Step 3
#
# - **Show** a real model with 30 such layers: “Paris”, 77 %.
# - **Ask** whether Paris still comes first when the bend is taken out of every layer. Hands up.
# - **Expect** “yes, 30 layers are enough”. Reveal: “your”, 25 %.
# - **Goes wrong**: claiming too much. These weights were learned with the bend, so anything taken out hurts; what a model could learn without one is the experiment of lesson 06. And SmolLM2's layer is gated: without SiLU a product of two readings is left, so it is not quite linear.

# %% tags=["still", "weights"]
demo.still(2)

# %% [markdown] tags=["notes"]
# ### Step 4
#
# - **Show** the two bits again, four ticks, and the slider “Last position ×”.
# - **Ask** which columns change when position 3 holds (10, 10) instead of (1, 1), and what its carry becomes.
# - **Expect** some say “all of them”, thinking of attention. Reveal: only the last column, carry 10 + 10 − 1 = 19. This layer never mixes positions; that is attention's work.
# - **Goes wrong**: “(10, 10) never happens”. It does: each layer adds to the vectors, and in SmolLM2 they grow from about 0.1 to 26 (root mean square, at the last position of the text about Paris).

# %% tags=["still", "weights"]
demo.still(3)

# %% [markdown] tags=["notes"]
# ### Step 5
#
# - **Show** the carry 19.
# - **Ask** how large (10, 10) is: the root of the mean of the squares, √((100 + 100) / 2) = 10. What is left after dividing by it?
# - **Expect** “(1, 1)”. Reveal: a tick again, at every place of the slider. A norm makes a layer blind to size; direction is left.
# - **Goes wrong**: “mean 0, variance 1?” That is LayerNorm, which also subtracts the mean, and it holds before the learned gain and bias. Here and in SmolLM2 it is RMSNorm, which only divides. Each position is measured alone, never over the text.

# %% tags=["still", "weights"]
demo.still(4)

# %% [markdown] tags=["notes"]
# ### Step 6
#
# - **Show** “Paris” once more: bends and norms are in.
# - **Ask** what comes first when nobody divides any more, in all 30 layers. The learned gains stay.
# - **Expect** “something odd, as without the bend”. Reveal: nothing at all. A layer that reads a ten times larger vector adds about a hundred times as much, for its output is a product of two readings; the root mean squares after layers 4 to 8 are 1.5, 326, 4 · 10⁷, 10¹⁷ and 10³⁶, and float32 ends at 3 · 10³⁸.
# - **Goes wrong**: somebody moves the slider: at 10 Paris gets 88 %, not 77 %. Each norm is blind to size, but it measures a sum: the embedding now weighs ten times as much beside what the layers add, so every later layer reads something else. (Larger is not better: at 2 it is 74 %.) Or “then norm what the layers add to, and it stays small”. That is post-norm, the original order; lesson 07 compares the two. Here the norm stands before each sublayer, and what it adds to is never divided.

# %% tags=["still", "weights"]
demo.still(5)
