# %% [markdown] tags=["title"]
# # Live captions: what may be shown
#
# Which words may a viewer see while somebody still speaks? Eight minutes; belongs to [lesson 14](../14_captions.ipynb).

# %% tags=["weights"]
from course_lib.demos import captions

demo = captions.demo()
demo

# %% [markdown] tags=["notes"]
# ## Speaker's notes
#
# **The one idea**: the model writes a new draft every half second and may change any word; a caption cannot be unread. So a rule decides what is shown: what two drafts in a row agree on.
#
# **Before**: run all cells (some seconds: the model hears both sentences, half a second at a time); press Present; Size 2 ×. The pictures below are the same talk without a kernel.
#
# **Minutes**: 1.5, 1.5, 2, 1.5, 1.5.
#
# The top row is the sound: bright is loud, low tones below. The words above it stand where they really begin; the synthesiser that spoke them says so. The model does not know them. *Late*, in the read-out: how long ago the last shown word ended. Light blue is the quiet after the sentence. (The library's `Captions` also shows a word without a second draft, once it ended 0.4 s ago; here the rule stands alone.)

# %% [markdown] tags=["notes"]
# ### Step 1
#
# - **Show** half a second of sound, in which *What do* was said and *you* begins; and a draft of six words.
# - **Ask** how many of the six will be in the next draft.
# - **Expect** three, those that have begun. Reveal: four; *to do?* is taken back, though it will be said: a newer draft is not always the better one, and a viewer cannot unread a word.
# - **Goes wrong**: “but a causal decoder takes nothing back”. It does not: the *encoder* reads all sound in both directions, so each new half second changes everything that the decoder reads, and it starts anew.

# %% tags=["still", "weights"]
demo.still(0)

# %% [markdown] tags=["notes"]
# ### Step 2
#
# - **Show** the two drafts. Only *What do you* is shown. Marks and capitals are not compared, so *want* and *want?* agree, too, but the last word of the *newest* draft waits if it has a full stop or a question mark.
# - **Ask** what is shown after the next draft. They have both texts: let them apply the rule.
# - **Expect** “What do you” from those who let *want?* wait again: it is no longer the last word of the newest draft. Or “What do you want to do”. The draft *before* is *What do you want?*: with that the new one shares four words.
# - **Goes wrong**: someone compares with the draft before last. Two in a *row*.

# %% tags=["still", "weights"]
demo.still(1)

# %% [markdown] tags=["notes"]
# ### Step 3
#
# - **Show** the finished caption with two drafts: 13 words, none wrong.
# - **Ask** whether the finished caption is right, too, if each draft is shown at once and nothing may be taken back (Drafts that agree: 1).
# - **Expect** “the same, only earlier”. Reveal: *to do? to me? want to see you. move.* Wrong words are counted place by place: 4 of 13.
# - **Goes wrong**: “then let words be replaced on the screen”. Some systems do; then the text flickers, and who reads it aloud or records it has the wrong word. For “earlier”, move Seconds heard to 0.5. Afterwards set 3 drafts, and move the seconds: nothing gets better here, and at 1.0, 2.0, 3.5 and 4.0 s fewer words are shown (at 3.5 s 7, not 11).

# %% tags=["still", "weights"]
demo.still(2)

# %% [markdown] tags=["notes"]
# ### Step 4
#
# - **Show** another sentence; *dog* has just begun, and the draft makes *daughter* of it.
# - **Ask** for a show of hands: will a viewer ever read *daughter*?
# - **Expect** about half and half. Reveal: the next draft says *dog*, so the two do not agree, and *daughter* was never shown.
# - **Goes wrong**: “so the rule finds all errors”. Not if both drafts make the same one. Set 1 draft to see what the rule kept away: *and his daughter*, for ever.

# %% tags=["still", "weights"]
demo.still(3)

# %% [markdown] tags=["notes"]
# ### Step 5
#
# - **Show** 4.0 s: the drafts say *move.* and *movie.*; the sound has ended, the light blue quiet has lasted 0.4 s, and the last word waits.
# - **Ask** what must happen so that the viewer gets *movie.*
# - **Expect** “a third draft”. It would agree, but a last word with a full stop still waits. Reveal: a pause of half a second, and all that waits is shown.
# - **Goes wrong**: “but the third draft comes at 4.5 s, too”. It does. Set Seconds heard to 2.5: both drafts end in *tomorrow?*, and it waits all the same. Or “a shorter pause, then”. Between *tomorrow?* and *I* there is a third of a second of quiet in the middle: a rule of 0.3 s would end there. Being late is the price of not being wrong; lesson 14 measures both.

# %% tags=["still", "weights"]
demo.still(4)
