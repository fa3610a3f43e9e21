# %% [markdown] tags=["title"]
# # A chat is one text
#
# Who answers, when you chat with a model? Nine minutes; belongs to [lesson 13](../13_chat.ipynb).

# %% tags=["weights"]
from course_lib.demos import chat

demo = chat.demo()
demo

# %% [markdown] tags=["notes"]
# ## Speaker's notes
#
# **The one idea**: the model continues a text. Marks in the text make it a chat; the program around the model keeps the text and stops the writing.
#
# **Before**: run all cells; press Present; Size 2 ×. The texts of the steps are written while the cell runs. Another one takes some seconds, since the model reads and writes it then: wait for the read-out. The pictures below are the same talk without a kernel.
#
# **Minutes**: 2, 1.5, 2, 1.5, 2.
#
# On the left the one text. Boxes are special tokens, each a single id; ⏎ is a line break, ␣ a space; the system's words are cut short. Bold blue is what the model wrote, always the likeliest token; the bars are its newest eight tokens.

# %% [markdown] tags=["notes"]
# ### Step 1
#
# - **Show** the text on the left. You typed one word; 32 tokens go in. Read it aloud from the top: system, user, assistant, and then nothing.
# - **Ask** what comes after the last line. Let them say the *last* token, too.
# - **Expect** a greeting. Hardly anybody names `<|im_end|>`. Reveal: it is the tenth token, with 0.83.
# - **Goes wrong**: “so it understood me”. It was trained on many texts of this form, and they go on like this. Move the slider back to 0 and forward again: one token at a time.

# %% tags=["still", "weights"]
demo.still(0)

# %% [markdown] tags=["notes"]
# ### Step 2
#
# - **Show** *Sent as: bare text*: the same two tokens, no boxes.
# - **Ask** what the same weights write after “Hi!” alone.
# - **Expect** “Hello!”. Reveal: *I'm thrilled to share my latest project with the community.* It goes on as the one who said Hi.
# - **Goes wrong**: “without the format it is broken”. No: a greeting in a text is mostly followed by more of the same writer. Choose the capital of France: as bare text its likeliest next token is `<|im_end|>` with 0.67; whoever wrote that has finished. Choose *France, then Italy*: it answers *Rome*, as question, answer, question is a pattern; and then it asks the next question, too.

# %% tags=["still", "weights"]
demo.still(1)

# %% [markdown] tags=["notes"]
# ### Step 3
#
# - **Show** the answer to *And of Italy?* alone, without the first question: *I'm sorry for any misglamour …* The first token had only 0.07 (Tokens written 8 shows it).
# - **Ask** where the first question would have to be so that the model knows it.
# - **Expect** “in its memory”. Reveal: in the text. Now it says *Rome*, and 59 tokens go in.
# - **Goes wrong**: “then a long chat gets slower and slower”. The text is read again only where no cache keeps its keys and values (lesson 10); with one, 15 tokens are new.

# %% tags=["still", "weights"]
demo.still(2)

# %% [markdown] tags=["notes"]
# ### Step 4
#
# - **Ask** what the model would write after its own end mark.
# - **Expect** “nothing, it is over”. Reveal: `<|im_start|>user`, and *And of the United States?* It plays you, and well.
# - **Goes wrong**: “the model stops by itself”. It only gives the end mark a high probability. The program compares each id with it, and stops. Forget this, and users read questions they never asked. (*Hi!* goes on in the same way. After *Paris.* it writes another end mark and an empty system turn.)

# %% tags=["still", "weights"]
demo.still(3)

# %% [markdown] tags=["notes"]
# ### Step 5
#
# - **Show** the question. Einstein died in 1955, before anybody walked on the Moon: no year is right.
# - **Ask** for a guess: far below 0.70, or near it? (0.70 is the answer about Paris. Mean: the geometric mean over the tokens, the end mark included.)
# - **Expect** “far below; it must be unsure”. Reveal: 0.65. The least sure place is *in*, 0.18: whether a year comes at all. Its digits have 0.60, 1.00, 0.76, 0.41. (If someone says “Rome had 0.94, so it does tell”: choose *Capital of France?*; Paris is as true and has 0.70.)
# - **Goes wrong**: “a larger model does not do this”. Larger ones know more; the number still measures how usual the words are. What is false must be checked elsewhere.

# %% tags=["still", "weights"]
demo.still(4)
