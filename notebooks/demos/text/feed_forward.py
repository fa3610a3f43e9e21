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
# **The one idea**: between two readings each position's vector is measured, widened, bent and narrowed, alone; take out the bend or the norm and it no longer works.
#
# **Before**: run all cells; press Present; Size 2 ×. A pencil for everybody. The pictures below are the same talk without a kernel.
#
# **Minutes**: 1.5, 1.5, 1.5, 1.5, 1.5, 1.5.

# %% [markdown] tags=["notes"]
# ### Step 1
#
# - **Show** the four columns, from the bottom up. Bits are −1 (no) and +1 (yes). The layer adds two bits: sum is 1 if exactly one is yes, carry if both are. Take position 1 through by hand: a − b = −2, b − a = 2, a + b − 1 = −1.
# - **Ask** why sum is 0 in every column. Give them half a minute with the pencil.
# - **Expect** “the weights are wrong”. They are the right ones. The first two hidden units are always opposite, ½ of one plus ½ of the other is 0. Three hidden units instead of two did not help: one matrix after another is one matrix.
# - **Goes wrong**: “then more hidden units”. However many: the product of two matrices is again one matrix from 2 numbers to 2, and no straight line can tell “exactly one” from “both or none”.

# %% tags=["still", "weights"]
demo.still(0)

# %% [markdown] tags=["notes"]
# ### Step 2
#
# - **Show** the row “not bent”.
# - **Ask** what becomes of each column if negative numbers are replaced by 0 there. Let them write down four sums.
# - **Expect** right answers from most. Reveal: four ticks. The bend has no weights at all.
# - **Goes wrong**: “so ReLU it must be”. Any bend that is not a straight line; SmolLM2 has SiLU, which is nearly ReLU with a round corner.

# %% tags=["still", "weights"]
demo.still(1)

# %% [markdown] tags=["notes"]
# ### Step 3
#
# - **Show** four ticks, and the slider “Last position ×”.
# - **Ask** which columns change when position 3 holds (10, 10) instead of (1, 1), and what its carry becomes.
# - **Expect** some say “all of them”, thinking of attention. Reveal: only the last column, carry 19 = 10 + 10 − 1. This layer never mixes positions; that is attention's work.
# - **Goes wrong**: “(10, 10) never happens”. It does: each layer adds to the stream, so it grows; step 6 shows how much.

# %% tags=["still", "weights"]
demo.still(2)

# %% [markdown] tags=["notes"]
# ### Step 4
#
# - **Show** the carry 19, and the row “read, no norm”.
# - **Ask** how large (10, 10) is: the root of the mean of the squares, √((100 + 100) / 2). What is read after dividing by it?
# - **Expect** “10, so (1, 1)”. Reveal: a tick again, at every place of the slider. A norm makes a layer blind to size; direction is left.
# - **Goes wrong**: “mean 0, variance 1?” That is LayerNorm, which also subtracts the mean, and it holds before the learned gain and bias. Here and in SmolLM2 it is RMSNorm, which only divides. Each position is measured alone, never over the text.

# %% tags=["still", "weights"]
demo.still(3)

# %% [markdown] tags=["notes"]
# ### Step 5
#
# - **Show** a real model, 30 such layers. Left: the size of the vector at “is”, after each layer, on a logarithmic axis. Right: what comes next.
# - **Ask** what the model says when the bend is taken out of every layer.
# - **Expect** “Paris, 30 layers are enough”. Reveal: “your”, 25 %. The stream goes to 104 instead of 26.
# - **Goes wrong**: claiming too much. These weights were learned with the bend, so anything taken out hurts; what a model could learn without one is the experiment of lesson 06. And SmolLM2's layer is gated: without SiLU a product of two readings is left, so it is not quite linear.

# %% tags=["still", "weights"]
demo.still(4)

# %% [markdown] tags=["notes"]
# ### Step 6
#
# - **Show** the trained curve again: from 0.1 to 26, though every norm first brings the vector to size 1 (dotted line), then applies its gain.
# - **Ask** what happens to the curve when nobody measures: up, down, or no change?
# - **Expect** “it grows a bit faster”. Reveal: through the roof within six layers, no number at all from the ninth. The gain is still there; only the division is gone.
# - **Goes wrong**: “then put the norm on the stream itself”. That is post-norm, the original order; lesson 07 compares the two. Here the norm stands before each sublayer, and the stream is only added to.

# %% tags=["still", "weights"]
demo.still(5)
