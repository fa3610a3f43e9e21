# %% [markdown] tags=["slide"]
# # What will you build?
#
# **You need** Python and matrix multiplication. The torch code is there to be run; you need not read it yet.
#
# **You build** nothing yet: you meet the model that you will build, and get its map.
#
# **You will be able to** *explain* what a decoder does at each step of writing, *compute* the shape of what it returns, and *find* the lesson that treats each of its parts.
#
# About 20 minutes. Where it says **Predict**, write your answer down before you run the next cell.

# %% [markdown] tags=["slide"]
# ## Question
#
# You type a question, and an answer appears, piece by piece. Behind it runs one function. It is called once for every piece, and each time it sees all the text so far.
#
# **Predict:** what does this function return?
#
# - (a) the rest of the answer
# - (b) the next piece
# - (c) a score for every piece that it knows
# - (d) a sentence from the texts it was trained on

# %% [markdown] tags=["slide"]
# ## Chat
#
# The model is SmolLM2-135M-Instruct, a small chat model published by Hugging Face. `make lab` has fetched its weights (93 MB: each number was rounded to about 4 bits to make the file small); the first cell loads them. If they are missing, the cells that need them say how to fetch them, and everything else still runs.

# %%
from functools import lru_cache

import torch

from course_lib import pretrained

load_once = lru_cache(pretrained.load)


def load_model():
    """Give the model and its tokenizer; or say how to fetch them, and give None."""
    try:
        return load_once("smollm2")
    except pretrained.AssetError as problem:
        print(problem)


# %% [markdown]
# The function is a **decoder**: text so far in, a score for every piece out. Pieces are called **tokens**, all of them together the **vocabulary**; a **tokenizer** cuts text into them, and the text that we hand over is the **prompt**. `stream` writes the answer token by token, each time the likeliest one. This is called *greedy* writing.

# %%
from course_lib.generation import stream


def chat(question, max_new_tokens=40):
    """Print the model's answer piece by piece, as it is written."""
    decoder, tokenizer = load_model()
    prompt = tokenizer.chat(question)
    ids = stream(decoder, prompt, max_new_tokens, eos_id=tokenizer.eos_id)
    for piece in tokenizer.decode_stream(ids, skip_special=True):
        print(piece, end="", flush=True)
    print()


# %% [markdown]
# **Predict:** will both answers be right?

# %% tags=["weights"]
if load_model():
    chat("Hi! What is the capital of France?")
    chat("How many days are in a week?")

# %% [markdown]
# Fluent, and *approximately* right. Now ask something of your own: change the text in the cell and run it again.

# %% [markdown] tags=["slide"]
# ## Inside
#
# That answer came from `Decoder`, one class of this course's library. You will write every part of it. What makes it *this* model is a handful of sizes and the learned numbers.

# %% tags=["slide"]
from course_lib.decoder import Decoder, DecoderConfig

config = DecoderConfig.smollm2_135m()
for name in ("vocab_size", "d_model", "n_layers", "n_heads", "max_length"):
    print(f"{name:10} {getattr(config, name):7,}")

# %% [markdown]
# The model knows 49,152 pieces of text, called **tokens**. It keeps 576 numbers for each token that it reads, passes them through 30 layers, and reads at most 8,192 tokens. What its 9 heads do, you will see below.
#
# How many learned numbers (**parameters**, or weights) is that? On torch's `meta` device a module has shapes but no numbers, so we can count without using memory.

# %%
with torch.device("meta"):
    blank = Decoder(config)
parameters = sum(p.numel() for p in blank.parameters())
print(f"{parameters:,} parameters")

# %% [markdown]
# And the model that answered is the same class with the same config; its numbers are the published ones, up to that rounding:

# %% tags=["weights"]
if load_model():
    decoder, _ = load_model()
    print(type(decoder) is Decoder, decoder.config == config)

# %% [markdown] tags=["slide"]
# ## Next token
#
# Text is cut into tokens, and each token has a number, its id. `␣` marks a space: it belongs to the word after it.

# %% tags=["weights", "slide"]
if load_model():
    decoder, tokenizer = load_model()
    ids = tokenizer.encode("Anna wrote a letter and she sent it")
    print([tokenizer.token(i) for i in ids])
    print(ids)
    with torch.no_grad():
        print(tuple(decoder(torch.tensor([ids])).shape))

# %% [markdown]
# The last line answers the question: **(c)**. The axes are *batch*, *position*, *vocab*. For 1 sentence, after each of its 8 tokens, the decoder gives 49,152 scores, one for every token that could come next. Scores are called **logits**. They become probabilities through softmax (lesson 01).
#
# For writing, only the scores after the last token are needed.

# %%
from course_lib.figures import draw_probabilities, show_figure
from course_lib.softmax import softmax

sentence = "Anna wrote a letter and she sent it"


def likeliest(ids, n_best=1):
    """Give the likeliest next tokens as (id, token, probability), best first."""
    decoder, tokenizer = load_model()
    with torch.no_grad():
        logits = decoder(torch.tensor([ids]))  # (batch, position, vocab)
    probabilities, best = softmax(logits[0, -1]).topk(n_best)
    pairs = zip(best.tolist(), probabilities.tolist(), strict=True)
    return [(i, tokenizer.token(i), p) for i, p in pairs]


# %% [markdown]
# **Predict:** *Anna wrote a letter and she sent it …* Which token comes next, and how sure is the model: 10, 50 or 90 percent?

# %% tags=["weights", "slide"]
if load_model():
    _, tokenizer = load_model()
    best = likeliest(tokenizer.encode(sentence), 5)
    _, words, probabilities = zip(*best, strict=True)
    listed = [f"“{w}” {p:.2f}" for w, p in zip(words, probabilities, strict=True)]
    show_figure(
        draw_probabilities(words, torch.tensor(probabilities), "next token"),
        alt=f"Five bars, the likeliest next tokens: {'; '.join(listed)}.",
        caption=f"After “{sentence}” one token is far likelier than the rest.",
    )

# %% [markdown]
# One favourite, and a long tail that shares the rest. *Choosing* from this distribution is a step of its own (lesson 09); the decoder does not choose.

# %% [markdown] tags=["slide"]
# ## Difficulties
#
# Why is this not easy? Four reasons; each has its lesson.
#
# | difficulty | why | lesson |
# |---|---|---|
# | Order | Reading from a set of vectors does not by itself see which came first; order is put in. | 04 |
# | The square | Each token is compared with every other: twice the text, four times the scores. | 03 |
# | Parts that only work together | Through 30 layers the numbers soon grow too large or too small to learn from; sums and norms must keep them in hand. | 07 |
# | Learning in parallel, writing in series | In training all positions are scored at once. In writing each token must wait for the one before. | 11 |
#
# The square is easily counted. To know what to read, the model scores pairs of tokens, inside (these are not the logits; the half that looks ahead is then hidden, see the map). A *head* is a part that makes one such square; each of the 30 layers has 9 heads. **Predict:** 100 times the text needs how many times the scores?

# %%
heads = config.n_heads * config.n_layers
for n in (8, 80, 800):
    print(f"{n:3} tokens: {n * n:7,} scores, times {heads}: {n * n * heads:11,}")

# %% [markdown]
# Ten thousand times: 640,000 against 64.

# %% [markdown] tags=["slide"]
# ## Map
#
# The same decoder from four sides.
#
# ### The whole stack
#
# Each token's 576 numbers travel along one line through all parts, the **residual stream**. A part reads from it and *adds* its result (⊕); nothing is overwritten. A layer is one *block*; `self_attention` and `feed_forward` are its *sublayers*. The parts:
#
# | part | what it does | lesson |
# |---|---|---|
# | `embedding` | turns an id into a vector | 08 |
# | `self_attention` | lets a token read itself and earlier ones | 02, 03, 04 |
# | `feed_forward` | reworks each token alone | 06 |
# | ⊕ and norms | keep a deep stack trainable | 07 |
# | `head` | turns vectors into scores; no kin of the attention heads | 08 |
#
# **Predict:** which part holds most of the parameters? (The small print in the figure belongs to lessons 04, 06 and 10.)

# %% tags=["slide"]
from course_lib.figures import draw_stack

show_figure(
    draw_stack(blank),
    alt=(
        "A block diagram, from bottom to top: tokens; the embedding, 28.3 million "
        "parameters; 30 blocks of one design, in each of which self-attention "
        "(885 thousand) and feed-forward (2.65 million) each read the residual stream "
        "through a norm and add their result to it; the final norm; the head, which "
        "uses the embedding's parameters; logits for 49152 tokens."
    ),
    caption="SmolLM2 is 30 blocks of one design, each with its own parameters.",
)

# %% tags=["slide"]
feed_forward = [block.feed_forward for block in blank.stack.blocks]
share = sum(p.numel() for part in feed_forward for p in part.parameters()) / parameters
print(f"feed-forward: {share:.0%} of all parameters")

# %% [markdown]
# The feed-forward parts: 30 times 2.65 million. The embedding is large, but there is only one. A translator has a third sublayer between these two, cross-attention, which reads the source sentence, prepared by a second network, the **encoder** (lesson 05).

# %% [markdown] tags=["slide"]
# ### One sublayer
#
# In attention, each token (a **query**) spreads one unit of weight over the tokens that it may read (the **keys**). We look at one of the 270 heads, head 8 of layer 13 (both counted from 0), chosen because its pattern is easy to read. The weights come out of an ordinary pass: `record` collects them.
#
# **Predict:** the row *it* will put most of its weight on which token?

# %% tags=["weights", "slide"]
from course_lib.figures import draw_weights
from course_lib.masks import causal_mask

if load_model():
    decoder, tokenizer = load_model()
    ids, record = tokenizer.encode(sentence), {}
    with torch.no_grad():
        decoder(torch.tensor([ids]), record=record)
    tokens = [tokenizer.token(i) for i in ids]
    weights = record["self", 13][0, 8]  # (query, key)
    show_figure(
        draw_weights(weights, tokens, tokens, causal_mask(len(ids))),
        alt=(
            f"A square of weights. Row it reads letter with {weights[7, 3]:.2f}; row "
            f"sent reads she with {weights[6, 5]:.2f}. The other rows read mostly Anna, "
            "the first token. Above the diagonal all is hatched: the future."
        ),
        caption="In this head “it” reads “letter”, and most rows rest on the first token.",
    )

# %% [markdown]
# *it* reads *letter*; *sent* reads *she*. Nobody programmed that. The hatched half is the **causal mask**: no token reads what comes later. Most other rows rest on the first token; models often park weight there when a head finds nothing to fetch (Xiao et al., below).
#
# Weights show *what* is read, not *why*; and one readable head is no explanation of a model.

# %% [markdown] tags=["slide"]
# ### Step by step
#
# Writing is a loop: score, choose, append, again. Each line below is one call of the decoder: the text so far, then its three likeliest tokens. **Predict:** will the model be equally sure at every step?

# %% tags=["weights", "slide"]
if load_model():
    _, tokenizer = load_model()
    ids = tokenizer.encode("We count: one, two, three,")
    for _ in range(5):
        best = likeliest(ids, 3)
        choices = [f"{token:7}{p:.2f}" for _, token, p in best]
        print(f"{tokenizer.decode(ids):43}", "   ".join(choices))
        ids.append(best[0][0])

# %% [markdown]
# No: it hesitated once, between *five* and *six*. Each choice becomes part of the input and cannot be taken back. Note what this loop wastes: every call computes the whole text so far anew. Lesson 10 ends that with a cache.

# %% [markdown] tags=["slide"]
# ### One step, annotated
#
# The same step once more, as one picture from bottom to top. **Predict:** at which station does the model's work end and the loop's begin?

# %% tags=["weights", "slide"]
from course_lib.figures import draw_step

if load_model():
    decoder, tokenizer = load_model()
    ids = tokenizer.encode(sentence)
    _, words, probabilities = zip(*likeliest(ids, 4), strict=True)
    tokens = [tokenizer.token(i) for i in ids]
    show_figure(
        draw_step(tokens, words, torch.tensor(probabilities), config.n_layers),
        alt=(
            "From bottom to top, with lesson numbers: 1 tokens; 2 vectors (08); "
            "3 thirty blocks, in which each token reads itself and its left (02 to 04) "
            "and is reworked alone (06, 07), drawn for the last token; 4 the head "
            "gives scores, of which writing uses the last (08); 5 probabilities (01); "
            "6 the choice, ␣to (09); 7 it is appended, and the loop starts again (09)."
        ),
        caption="One step of writing passes seven stations; the lesson is in brackets.",
    )

# %% [markdown]
# After station 4: the decoder gives scores. Turning them into a choice and feeding it back is the loop's part.

# %% [markdown] tags=["slide"]
# ### All four in your hands
#
# The *explorer* holds these views of one run: choose a view, a layer, a head; click a cell; step on; take the mask away, and the model runs anew without it. (Where no kernel runs, you see a still.) **Predict:** below, what each of the eight tokens holds likeliest next. What changes for those that may suddenly see what follows?

# %% tags=["weights", "slide"]
from IPython.display import display

from course_lib.explorer import explore

if load_model():
    decoder, tokenizer = load_model()
    seen = {"mode": "local", "layer": 13, "head": 8, "cell": (7, 3)}
    ids = tokenizer.encode(sentence)
    explorer = explore(decoder, ids, max_new_tokens=4, text=tokenizer.token, **seen)
    display(explorer)
    for name in ("main", "unmasked"):
        rows = explorer.traces[name].steps[0]["predicted"]
        print(f"{name:9}", *(row["string"] for row in rows[:8]))

# %% [markdown]
# Masked, *a* guesses *story*. Unmasked it says *letter*, and *letter* and *and* name what follows, too: they can see it. So a training without the mask would teach to copy (lesson 02).

# %% [markdown] tags=["slide"]
# ## Pictures to keep
#
# Two pictures will come back, because they help memory. A **letter writer** answers a letter; a **chef** stands at the pass, where dishes leave the kitchen.
#
# | part | letter writer | chef | lesson |
# |---|---|---|---|
# | causal mask | may re-read only what is written | a one-way mirror: sees dishes sent, not dishes to come | 02 |
# | cross-attention | looks up at a card with the key points of the letter being answered | opens a flavour handbook | 05 |
# | feed-forward | reworks each word alone | | 06 |
# | residual | a safety rope: what was there is never lost | | 07 |
# | norm | a ruler: every line to the same size | | 07 |
# | KV cache | | a notebook of the dishes served | 10 |
#
# They mislead at one point: a person plans the whole letter. This decoder only ever scores the next token.

# %% [markdown] tags=["slide"]
# ## Today
#
# Decoders run **chat** and **code completion** (lesson 13), **translation** (12) and **live captions** (14). One class covers them; only the config differs:

# %% tags=["slide"]
from course_lib.figures import count

for preset in ("original", "gpt2_small", "smollm2_135m", "whisper_tiny"):
    with torch.device("meta"):
        size = count(Decoder(getattr(DecoderConfig, preset)()))
    print(f"{preset:13} {size:>7} parameters")

# %% [markdown]
# `original` is the decoder of the first Transformer (2017), for translation; `whisper_tiny` belongs to a speech recogniser. The chat models in daily use are far larger, and most are built from the same parts.

# %% [markdown]
# ## Check
#
# First your machine. A missing GPU is fine: the course is made for a laptop.

# %% tags=["nbval-ignore-output"]
import sys

from course_lib import hardware

print("python ", sys.version.split()[0])
print("torch  ", torch.__version__)
print("device ", hardware.device())
print("weights", "ready" if load_model() else "missing, see above")
assert sys.version_info >= (3, 11), "install Python 3.11 or newer"

# %% [markdown]
# Now the library, on a decoder small enough to read. Only the last token differs between `tokens` and `changed`. **Predict:** at how many of the 5 positions do the scores differ?

# %%
small = Decoder(DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3)).eval()
tokens = torch.tensor([[1, 2, 3, 5, 7]])
changed = torch.tensor([[1, 2, 3, 5, 8]])
with torch.no_grad():
    before, after = small(tokens), small(changed)
differs = (before - after).abs().amax(-1)[0] > 1e-6
print(tuple(before.shape), differs.tolist())

# %%
sums = softmax(before).sum(-1)
checks = {
    "every position scores every token": before.shape == (1, 5, 11),
    "probabilities sum to 1": torch.allclose(sums, torch.ones(1, 5)),
    "the past does not see the future": not differs[:4].any(),
    "a token changes its own scores": bool(differs[4]),
}
for promise, kept in checks.items():
    print("ok" if kept else "BROKEN", promise)
assert all(checks.values()), "something is broken: run `make test`"

# %% [markdown]
# One position differs, the last: the others cannot see it.

# %% [markdown] tags=["slide"]
# ## Misconceptions
#
# ### “It hears a question and answers it.”
#
# It continues text. **Predict** the likeliest next token after the bare question, and after the same question in the chat format.

# %% tags=["weights", "slide"]
if load_model():
    _, tokenizer = load_model()
    question = "Hi! What is the capital of France?"
    for ids in (tokenizer.encode(question), tokenizer.chat(question)):
        _, token, probability = likeliest(ids)[0]
        print(f"{token:10} {probability:.2f}")

# %% [markdown]
# After the bare question the likeliest token is `<|im_end|>`, the end: whoever wrote this has finished. The chat format turns the question into a script in which it is the assistant's turn to speak:

# %% tags=["weights"]
if load_model():
    _, tokenizer = load_model()
    print(tokenizer.decode(tokenizer.chat("Hi!")))

# %% [markdown] tags=["slide"]
# ### “A sure answer is a true answer.”
#
# **Predict:** of which of these four capitals is the model least sure? (The capital of Turkey is Ankara; Europe has none.)

# %% tags=["weights", "slide"]
if load_model():
    _, tokenizer = load_model()
    for place in ("France", "Egypt", "Turkey", "Europe"):
        prompt = tokenizer.chat(f"Hi! What is the capital of {place}?")
        ids = prompt + tokenizer.encode(f"The capital of {place} is")
        _, token, probability = likeliest(ids)[0]
        print(f"{place:7} {token:10} {probability:.2f}")

# %% [markdown]
# It is surer of a capital that does not exist than of Cairo. We wrote the first words of each answer for it, so that it could not decline; left alone it names a capital of Europe all the same (try it with `chat`). The number says how well a token fits the text so far, nothing more. Ask it about a word of this course:

# %% tags=["weights", "nbval-ignore-output"]
from course_lib.generation import generate

if load_model():
    decoder, tokenizer = load_model()
    ids = generate(decoder, tokenizer.chat("What is a causal mask?"), 16)
    answer = tokenizer.decode(ids)
    print(answer, "…")
    assert answer.startswith("A causal mask is")
    assert "future" not in answer

# %% [markdown]
# A causal mask is the hatched half of the square above. The model has the tone of an encyclopedia and no means to look anything up. Whatever you build on a decoder, check what it says against something else.

# %% [markdown]
# ## Words
#
# Key terms in English and Chinese, with the lesson that defines each.
#
# | English | 中文 | | English | 中文 | |
# |---|---|---|---|---|---|
# | token, tokenizer | 词元，分词器 | 00 | dropout | 丢弃法（暂退法） | 07 |
# | vocabulary | 词表 | 00 | embedding | 嵌入 | 08 |
# | decoder, encoder | 解码器，编码器 | 00 | weight tying | 权重绑定（权重共享） | 08 |
# | parameter | 参数 | 00 | autoregressive | 自回归 | 09 |
# | prompt | 提示词 | 00 | greedy decoding | 贪心解码 | 09 |
# | logits | logits（未归一化的分数） | 01 | sampling | 采样 | 09 |
# | softmax | softmax 函数 | 01 | top-k, top-p (nucleus) | top-k 采样，核采样 | 09 |
# | temperature | 温度 | 01 | repetition penalty | 重复惩罚 | 09 |
# | cross-entropy | 交叉熵 | 01 | beam search | 束搜索 | 09 |
# | calibration | 校准 | 01 | end token (EOS) | 结束符 | 09 |
# | causal mask | 因果掩码 | 02 | KV cache | 键值缓存（KV 缓存） | 10 |
# | padding mask | 填充掩码 | 02 | prefill, decode | 预填充，解码 | 10 |
# | sliding window | 滑动窗口 | 02 | grouped-query attention | 分组查询注意力 | 10 |
# | query, key, value | 查询，键，值 | 03 | paged cache | 分页缓存 | 10 |
# | self-attention | 自注意力 | 03 | training, inference | 训练，推理 | 11 |
# | multi-head attention | 多头注意力 | 03 | teacher forcing | 教师强制（强制教学） | 11 |
# | attention weights | 注意力权重 | 03 | exposure bias | 暴露偏差（曝光偏差） | 11 |
# | positional encoding | 位置编码 | 04 | label smoothing | 标签平滑 | 11 |
# | rotary embedding | 旋转位置编码 | 04 | perplexity | 困惑度 | 11 |
# | extrapolation | 外推 | 04 | gradient accumulation | 梯度累积 | 11 |
# | cross-attention | 交叉注意力 | 05 | learning-rate warm-up | 学习率预热 | 11 |
# | alignment | 对齐 | 05 | word error rate | 词错误率 | 12 |
# | feed-forward network | 前馈网络 | 06 | chat template | 对话模板 | 13 |
# | activation function | 激活函数 | 06 | log-mel spectrogram | 对数梅尔频谱 | 14 |
# | residual connection | 残差连接 | 07 | real-time factor | 实时率 | 14 |
# | layer normalization | 层归一化 | 07 | data parallelism | 数据并行 | 15 |
# | pre-norm, post-norm | 前置归一化，后置归一化 | 07 | arithmetic intensity | 算术强度 | 06 |

# %% [markdown] tags=["slide"]
# ## Course map
#
# The full path takes about 21 hours of lessons, and exercises besides.
#
# | | lesson | question | minutes |
# |---|---|---|---|
# | 00 | [start](00_start.ipynb) | What will you build? | 20 |
# | 01 | [softmax](01_softmax.ipynb) | How do scores become a choice? | 60 |
# | 02 | [masks](02_masks.ipynb) | Who may read whom? | 60 |
# | 03 | [attention](03_attention.ipynb) | How does a position read from the others? | 90 |
# | 04 | [positions](04_positions.ipynb) | How does order enter? | 75 |
# | 05 | [cross_attention](05_cross_attention.ipynb) | How does the decoder consult the source? | 60 |
# | 06 | [feed_forward](06_feed_forward.ipynb) | What happens between two readings? | 50 |
# | 07 | [block](07_block.ipynb) | What keeps a deep stack trainable? | 75 |
# | 08 | [decoder](08_decoder.ipynb) | What is the whole model? | 90 |
# | 09 | [sampling](09_sampling.ipynb) | How does it write? | 100 |
# | 10 | [kv_cache](10_kv_cache.ipynb) | Why is the next token cheap? | 120 |
# | 11 | [training](11_training.ipynb) | What differs between learning and writing? | 110 |
# | 12 | [translation](12_translation.ipynb) | Can it translate? | 90 |
# | 13 | [chat](13_chat.ipynb) | Can it serve a conversation? | 90 |
# | 14 | [captions](14_captions.ipynb) | Can it caption live speech? | 90 |
# | 15 | [scale](15_scale.ipynb) | What changes on a GPU, and on many? | 90 |

# %% [markdown]
# ## Quiz
#
# Choose, then read the reason. Where no kernel runs, the reasons are folded below each question.

# %%
from course_lib.quiz import show_quiz

show_quiz("start")

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. (2017), *Attention Is All You Need*, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762). Where the decoder comes from; section 3 is the map of lessons 03 to 08.
# - Ben Allal et al. (2025), *SmolLM2: When Smol Goes Big*, [arXiv:2502.02737](https://arxiv.org/abs/2502.02737). How the family of the model you talked to was trained.
# - Xiao et al. (2023), *Efficient Streaming Language Models with Attention Sinks*, [arXiv:2309.17453](https://arxiv.org/abs/2309.17453). Why weight gathers on the first token.
# - Radford et al. (2022), *Robust Speech Recognition via Large-Scale Weak Supervision*, [arXiv:2212.04356](https://arxiv.org/abs/2212.04356). Whisper, the speech model of lesson 14.
