# %% [markdown] tags=["title"]
# # The KV cache
#
# Why is the next token cheap, and what does it still cost? Nine minutes; belongs to [lesson 10](../10_kv_cache.ipynb).

# %% tags=["weights"]
from course_lib.demos import kv_cache

demo = kv_cache.demo()
demo

# %% [markdown] tags=["notes"]
# ## Speaker's notes
#
# **The one idea**: with a cache only the newest position is computed, but it still reads every older key; the logits stay the same.
#
# **Before**: run all cells; press Present; Size 2 ×. SmolLM2 wrote the six tokens both ways while the first cell ran; what the table shows was counted in the model. The pictures below are the same talk without a kernel.
#
# **Minutes**: 1, 1, 1.5, 2, 1.5, 1.5.

# %% [markdown] tags=["notes"]
# ### Step 1
#
# - **Show** the table: a row a step, a column a position. A dot means that this position goes through the matrices in this step. Step 1 reads the prompt and gives “window”.
# - **Ask** how many positions go through the model in step 2. Let them count on their fingers: the text is now one token longer.
# - **Expect** “one, the new one”: they have heard of caches. Here nothing was kept. Reveal: 6. The old five are computed a second time, and come out the same, since they cannot see the sixth.
# - **Goes wrong**: “only attention is repeated”. Everything is, in all 30 layers: projections, scores, feed-forward.

# %% tags=["still", "weights"]
demo.still(0)

# %% [markdown] tags=["notes"]
# ### Step 2
#
# - **Show** the two rows, 5 and 6. Leave the slider where it is.
# - **Ask** for the sum over six steps before the last row appears. A pencil helps: 5 + 6 + 7 + 8 + 9 + 10.
# - **Expect** “60” from those who take 6 · 10, “10” from those who count columns. Reveal, or move the slider Step by hand, one row at a time: 45 for a text of 10 positions. For 1,000 tokens it would be about half a million.
# - **Goes wrong**: somebody counts what step 6 writes as well (“world”; the Count *next token's logits* shows it): it is not fed any more. Six tokens written, five of them fed.

# %% tags=["still", "weights"]
demo.still(1)

# %% [markdown] tags=["notes"]
# ### Step 3
#
# - **Show** the full triangle, and point at one column: the same position, computed in every step.
# - **Ask** what we would have to keep so that a column needs one dot only. Then: how many dots in all?
# - **Expect** “the words” or “the scores”. The newest query needs the keys and values of the past, nothing else; old queries and old weights are not read again. Reveal: 10 dots; the cells without a dot are kept and read.
# - **Goes wrong**: “the prompt, too, goes in one at a time”. It goes in at once: step 1 has five dots. That is prefill; what follows is decode.

# %% tags=["still", "weights"]
demo.still(2)

# %% [markdown] tags=["notes"]
# ### Step 4
#
# - **Show** the row of ones, and ask them to look at the cells without a dot.
# - **Ask** whether a step now costs the same at every length. Hands up for yes.
# - **Expect** most hands: the bars are all 1 from step 2 on. Reveal counts keys that are compared with a query: 6, 7, 8, 9, 10. A cached step grows with the text; it is not O(1). Without a cache it grows with the square: 15 to 55.
# - **Goes wrong**: “55 at both?” The caption's sum with a cache, 15 + 6 + … + 10, is 55, as is the last bar without one. It is no accident: every pair is compared once, so the sum is what the last step does alone. (A plain program even scores all T² pairs and hides the rest.)

# %% tags=["still", "weights"]
demo.still(3)

# %% [markdown] tags=["notes"]
# ### Step 5
#
# - **Show** the bar of step 1: 225 KiB for 5 positions.
# - **Ask** how much it is for 10, and whether the bars grow evenly or faster and faster. Those who like formulas: 2 · 30 layers · 3 key heads · 64 numbers · 4 bytes a position.
# - **Expect** “it doubles”. Reveal: 450, a straight line, 45 KiB a position. At SmolLM2's 8,192 positions that is 360 MiB for one conversation.
# - **Goes wrong**: “so the cache saves memory”. It saves work and costs memory, which stays between the steps. Switch KV cache off: 0 KiB, but look at the triangle.

# %% tags=["still", "weights"]
demo.still(4)

# %% [markdown] tags=["notes"]
# ### Step 6
#
# - **Show** the five largest logits of step 6, computed without a cache.
# - **Ask** for a bet: are the logits with a cache the same, nearly the same, or a bit worse?
# - **Expect** “a bit worse, it is an approximation”. Reveal: pairs of equal bars; the largest difference among all 49,152 is in the caption, around a ten-thousandth. Only the order of additions differs.
# - **Goes wrong**: a difference in the first decimals would be a bug: a key stored late, turned twice or left over from another text. Lesson 10 has them all. What does change results: a window that forgets, or a cache in 8 bits.

# %% tags=["still", "weights"]
demo.still(5)
