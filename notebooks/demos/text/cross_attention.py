# %% [markdown] tags=["title"]
# # Cross-attention
#
# How does a decoder consult the source? Seven minutes; belongs to [lesson 05](../05_cross_attention.ipynb).

# %%
from course_lib.demos import cross_attention

demo = cross_attention.demo()
demo

# %% [markdown] tags=["notes"]
# ## Speaker's notes
#
# **The one idea**: what the decoder knows of the source it reads from the memory; the words reach it no other way.
#
# **Before**: run all cells; press Present; Size 2 ×. The pictures below are the same talk without a kernel. The translator comes with the course: it reads and writes single letters. The memory is what its encoder made of the source, one vector a place. A line is a weight of its last layer, mean over four heads; the bars add up the letters of a word.
#
# **Minutes**: 2, 1.5, 2, 1.5.

# %% [markdown] tags=["notes"]
# ### Step 1
#
# - **Show** the source below, finished before the first letter is written; nothing stands above. Say aloud: *ein-und-zwanzig*, one-and-twenty.
# - **Ask** which English word is read most for the letter e of *ein*.
# - **Expect** “twenty, it comes first”, and “is one not in the future?”. Reveal: the thickest line goes to the last letter of *one*, the end of the source. The source is complete, so there is no causal mask here; the mask hides only what is still to be written.
# - **Goes wrong**: “0.18 on the hyphen?” The encoder has mixed its places, so a place holds more than its letter. Weights are a clue; step 3 is the proof.

# %% tags=["still"]
demo.still(0)

# %% [markdown] tags=["notes"]
# ### Step 2
#
# - **Show** the thick line of e once more, to the last letter of *one*.
# - **Ask** which word is read most for z of *zwanzig*, six letters later.
# - **Expect** “twenty”. Reveal, and point at the thickest line, to the w of *twenty*.
# - **Then** set the slider to 1 and move it on. Blue leads from i on, though i and n belong to *ein*: after e these letters follow from those already written, and with the memory of fifty-seven they come just the same. What is read there matters little, and the row sums to 1 all the same. Where the source decides, at e and at z, look at the thickest line. If there is time, forty-two: z reads *two*, v reads *forty*.
# - **Goes wrong**: “n of *ein* reads twenty: is that an error?” A weight says where a letter looks, not what it needs. Or someone takes the memory for the English letters. It is one vector a place, made by the encoder.

# %% tags=["still"]
demo.still(1)

# %% [markdown] tags=["notes"]
# ### Step 3
#
# - **Show** above *einund*, which is kept; below the new memory, of *fifty-seven*, which has not been read yet. Say aloud: *sieben-und-fünfzig*.
# - **Ask** how the word ends. Let them write the whole word down.
# - **Expect** *einundzwanzig* (“it has read it already”) and *siebenundfünfzig*. Reveal: *einundfünfzig*, fifty-one. Its own letters it reads by self-attention, the source by cross-attention: two inputs, two ways in. (The bars are those of END; letter 7 shows f, fifty 0.85.)
# - **Goes wrong**: “so it confused the two numbers”. It did what it always does; we exchanged the memory while it was writing. “But *einund* has read the old memory”: for each new letter we run the whole text again, with the new memory only; only the letters themselves stay. Or: “keys and values come from the decoder”. Then this exchange would do nothing. Choose Memory *of fifty-seven* and move the letters to their end: from the first one it writes *siebenundfünfzig*, whatever the source.

# %% tags=["still"]
demo.still(2)

# %% [markdown] tags=["notes"]
# ### Step 4
#
# - **Show** the zeros: ten places, all alike.
# - **Ask** for a vote: noise, silence, or German?
# - **Expect** “noise”. Reveal: *dreitausend*, three thousand. Every place gets 0.10, all ten together the 1.00 of the bar: equal keys, equal weights. Go to letter 1: it takes d with 0.66 only; from then on it knows how German goes.
# - **Goes wrong**: “so it works without a source”. It writes, it does not translate. Grammar is no test; a look at the source is.

# %% tags=["still"]
demo.still(3)
