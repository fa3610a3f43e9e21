# %% [markdown] tags=["title"]
# # Translation
#
# Can it translate, and does it know when it cannot? Nine minutes; belongs to [lesson 12](../12_translation.ipynb).

# %%
from course_lib.demos import translation

demo = translation.demo()
demo

# %% [markdown] tags=["notes"]
# ## Speaker's notes
#
# **The one idea**: a translator writes the likeliest pieces; likely is neither true nor right, and a wider search finds likelier, not better.
#
# **Before**: run all cells; press Present; Size 2 ×. The pictures below are the same talk without a kernel. Both translators come with the course. *English to German* knows number names to 999,999 and dates, letter by letter (the field takes 24 letters, the chart shows 20 pieces: ask for numbers such as *seven hundred ten*); on 8,455 names and dates that it never saw it made no error. *Spelling to sounds* learned a pronouncing dictionary.
#
# **Minutes**: 1.5, 1.5, 2, 2, 2.

# %% [markdown] tags=["notes"]
# ### Step 1
#
# - **Show** the source and the empty charts. Move Pieces slowly instead of Reveal, if there is time.
# - **Ask** for the first German letter of forty-two: f, v or z?
# - **Expect** f or v, the letters of forty and *vierzig*. Reveal: z of *zwei*, two-and-forty. Left: how sure it was of each piece; right: the whole text, all pieces multiplied.
# - **Goes wrong**: a number from the audience with a digit, or of a million or more (*42* gives *24. Februar 2444*, 99 % sure). It answers, and wrongly: keep that for step 3.

# %% tags=["still"]
demo.still(0)

# %% [markdown] tags=["notes"]
# ### Step 2
#
# - **Show** the new source, above the chart; nothing is written yet.
# - **Ask** for a vote: refuse, mend, or translate?
# - **Expect** many for “28” or “3 March”. Reveal: *31. Februar 2021*, at 100 %. It learned how words map to words; no calendar.
# - **Goes wrong**: “100 % sure means right”. Type thirty-twelve: *zweiunddreißig*, thirty-two, again at 100 %. The number says how sure of this *text* it is, not whether the source makes sense.

# %% tags=["still"]
demo.still(1)

# %% [markdown] tags=["notes"]
# ### Step 3
#
# - **Show** *zero*, above the chart; nothing is written yet.
# - **Ask** whether it writes *null*, nothing, or something else for zero. (Its two pairs are *zero* and *Zero*, both *null*.)
# - **Expect** *null*. Reveal: *dreiunddreißlf*. It writes German syllables, since writing is all that it can do. The first letter is at 63 %, the whole at 29 %: here the dips warn. In step 2 nothing did.
# - Let them try: *a million* gives *acht*, eight, at 99 %: wrong, and no dip. A dip warns; no dip promises nothing. *hello* gives e and l without an end. *Anna* gives *sechshundert*, six hundred. Letters that it never saw are left out, and the read-out says which.
# - **Goes wrong**: “it has a bug”. The tests are passed without an error; training showed *zero* twice in 154,703 pairs, too seldom to be learned (*hundred* is in 99,371).

# %% tags=["still"]
demo.still(2)

# %% [markdown] tags=["notes"]
# ### Step 4
#
# - **Show** the second translator: R EH D, one code a sound; said aloud, *red*. The bar of EH is the only low one.
# - **Ask** where the other third is.
# - **Expect** “it is a bad model”. Reveal four beams (the four likeliest texts are kept at every step, not one): R IY D, *reed*, has it. Two right answers share the probability, and greedy search shows one of them.
# - **Goes wrong**: someone wants it to choose by meaning. The source is one word; nothing in it says which.

# %% tags=["still"]
demo.still(3)

# %% [markdown] tags=["notes"]
# ### Step 5
#
# - **Show** *gpt* with one beam, which is greedy search: *ghee-pee-tee*, 11 %.
# - **Ask** whether four beams find a likelier text, and whether it will be a better one.
# - **Expect** yes and yes. Reveal: *ghee-tee*, 16 %; the P is gone. Each further piece multiplies by something below 1, so a short text has an advantage. Greedy took T only after P: at the third place T has 30 %, P 60 %.
# - **Goes wrong**: “then beams are useless”. On numbers one beam and four agree nearly always: where the model is right and sure, the search hardly matters. Here the fault is the model's, and no search mends it.

# %% tags=["still"]
demo.still(4)
