# %% [markdown] tags=["slide"]
# # How does the decoder consult the source?
#
# **You need** lessons 01 to 04.
#
# **You build** `CrossAttention`, the sublayer through which a decoder reads another text.
#
# **You will be able to** *explain* where its queries, keys and values come from, *compute* what it costs to project a source again at every step, and *debug* a decoder that does not read its source.
#
# About 60 minutes.

# %% [markdown] tags=["slide"]
# ## Question
#
# English says *twenty-one*, German *ein-und-zwanzig*, one-and-twenty. To write the first piece, a translator needs the last word of the source.
#
# We build the names of 1 to 999 in both languages, the German ones cut into pieces. The last column says from which place of the source each piece comes, counted from 0 (None: no word says it).

# %%
SMALL = (
    "one ein two zwei three drei four vier five fünf six sechs seven sieben eight acht "
    "nine neun ten zehn eleven elf twelve zwölf thirteen dreizehn fourteen vierzehn "
    "fifteen fünfzehn sixteen sechzehn seventeen siebzehn eighteen achtzehn "
    "nineteen neunzehn"
).split()
TENS = (
    "twenty zwanzig thirty dreißig forty vierzig fifty fünfzig sixty sechzig "
    "seventy siebzig eighty achtzig ninety neunzig"
).split()
GERMAN = dict(zip(SMALL[::2] + TENS[::2], SMALL[1::2] + TENS[1::2], strict=True))


# %%
def name_number(n):
    """Name 1 to 999: English words, German pieces, the place of each piece's word."""
    hundreds, rest = divmod(n, 100)
    tens, ones = divmod(rest, 10)
    words, pieces, origin = [], [], []
    if hundreds:
        words = [SMALL[2 * hundreds - 2], "hundred"]
        pieces, origin = [GERMAN[words[0]], "hundert"], [0, 1]
    place = len(words)  # of the next word
    if rest > 20 and ones:
        words += [TENS[2 * tens - 4], SMALL[2 * ones - 2]]
        pieces += [GERMAN[words[-1]], "und", GERMAN[words[-2]]]
        origin += [place + 1, None, place]  # no English word says "und"
    elif rest:
        words += [SMALL[2 * rest - 2] if rest < 20 else TENS[2 * tens - 4]]
        pieces += ["eins" if rest == 1 else GERMAN[words[-1]]]
        origin += [place]
    return words, pieces, origin


# %%
for n in (1, 17, 30, 21, 321):
    words, pieces, origin = name_number(n)
    print(n, " ".join(words), "->", "|".join(pieces), origin)

# %% [markdown]
# Two decoders learn to write these names from the same 600 numbers. One reads the English words through cross-attention; a second network, the **encoder**, has prepared them. The other sees no source. 100 validation numbers are for choosing settings, such as the number of updates; 299 test numbers are kept for the end. (Skim the set-up; its parts are built in lessons 07, 08 and 11.)

# %%
from functools import partial

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

everything = [name_number(n) for n in range(1, 1000)]
WORDS = ["(padding)", *sorted({w for words, _, _ in everything for w in words})]
PIECES = ["END", "START", *sorted({p for _, pieces, _ in everything for p in pieces})]
END, START = 0, 1
shuffled = torch.randperm(999, generator=torch.Generator().manual_seed(5)) + 1
training, validation, test = shuffled.split([600, 100, 299])


# %%
def as_tensors(numbers):
    """Sources (row, key), their lengths (row,), targets (row, position) with END."""
    names = [name_number(int(n)) for n in numbers]
    source = [torch.tensor([WORDS.index(w) for w in words]) for words, _, _ in names]
    pieces = [[*pieces, "END"] for _, pieces, _ in names]
    targets = [torch.tensor([PIECES.index(p) for p in row]) for row in pieces]
    lengths = torch.tensor([len(row) for row in source])
    pad = partial(pad_sequence, batch_first=True)
    return pad(source), lengths, pad(targets, padding_value=-100)


# %%
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.encoder import Encoder, EncoderDecoder

SIZES = {"d_model": 32, "n_heads": 1, "d_ff": 64, "max_length": 8}
SIZES["pre_norm"] = False  # the original's order of norm and sublayer (lesson 07)


def with_source(seed, encoder_layers=1):
    """An encoder, and a decoder of one block that reads the encoder's output."""
    generator = torch.Generator().manual_seed(seed)
    words = DecoderConfig(len(WORDS), n_layers=encoder_layers, **SIZES)
    pieces = DecoderConfig(len(PIECES), n_layers=1, cross_attention=True, **SIZES)
    return EncoderDecoder(Encoder(words, generator), Decoder(pieces, generator))


def without_source(seed):
    """The decoder alone, without the sublayer that would read."""
    config = DecoderConfig(len(PIECES), n_layers=1, **SIZES)
    return Decoder(config, torch.Generator().manual_seed(seed))


# %%
import math

from course_lib.training import perplexity, shift_right, train


def as_batch(model, numbers):
    """What the model is fed, and what it should write."""
    source, lengths, targets = as_tensors(numbers)
    tokens = shift_right(targets, START)  # START, then every piece but the last
    reads = isinstance(model, EncoderDecoder)
    return ((source, tokens, lengths) if reads else (tokens,)), targets


def loss_on(model, numbers):
    """The mean loss per piece, END counted, in nats: the ln of perplexity (lesson 11)."""
    return math.log(perplexity(model, [as_batch(model, numbers)]))


# %%
def fit(model, seed):
    """200 updates on 32 training numbers each; give the model."""
    inputs, targets = as_batch(model, training)
    generator = torch.Generator().manual_seed(seed)

    def draw(step):
        rows = torch.randint(0, len(training), (32,), generator=generator)
        return tuple(tensor[rows] for tensor in inputs), targets[rows]

    train(model, draw, n_steps=200, learning_rate=0.01, warmup_steps=20)
    return model.eval()


# %% [markdown]
# **Predict:** which loss per piece will the decoder without a source reach: about 3.5, about 1.3 or about 0? What will it write?

# %%
SEEDS = (0, 1, 2)
print(f"ln {len(PIECES)} = {math.log(len(PIECES)):.2f} for {len(PIECES)} pieces")
for name, numbers in (("all", range(1, 1000)), ("test", test)):
    mean = sum(len(name_number(int(n))[1]) + 1 for n in numbers) / len(numbers)
    spread = math.log(999) / mean
    print(f"{name}: {mean:.2f} pieces a name; ln 999 / {mean:.2f} = {spread:.2f}")

# %% tags=["nbval-ignore-output"]
alone = [fit(without_source(seed), seed) for seed in SEEDS]
models = [fit(with_source(seed), seed) for seed in SEEDS]
for name, fitted in (("without source", alone), ("with source", models)):
    for part, numbers in (("validation", validation), ("test", test)):
        losses = [loss_on(model, numbers) for model in fitted]
        print(f"{name:14} {part:10}", [round(loss, 3) for loss in losses])

# %%
assert all(1.25 < loss_on(model, test) < 1.45 for model in alone)
assert all(loss_on(model, test) < 0.2 for model in models)
print("as expected")

# %% [markdown]
# With the source: nearly 0. Without it: about 1.3 on the test numbers, near the 1.31 above. That is the price of not knowing *which* of 999 names is meant: ln 999 = 6.91 nats, spread over the pieces of a name. This decoder has learned the language, and nothing about the number.
#
# Now both write. The first draws 100 names from its own probabilities (`Sampler`, lesson 09); the second translates the 299 test numbers, taking the likeliest piece each time.

# %%
from course_lib.generation import generate, generate_batch
from course_lib.sampling import Sampler

RIGHT = {n: "".join(name_number(n)[1]) for n in range(1, 1000)}


def joined(ids):
    return "".join(PIECES[i] for i in ids if i != END)


def share_right(texts, numbers):
    right = [t == RIGHT[int(n)] for t, n in zip(texts, numbers, strict=True)]
    return sum(right) / len(right)


# %%
def translations(model, numbers, **change):
    """What the model writes for each number; `change` replaces what it reads."""
    source, lengths, _ = as_tensors(numbers)
    with torch.no_grad():
        memory = model.encoder(source, lengths)
    reading = {"memory": memory, "memory_lengths": lengths, **change}
    starts = [[START]] * len(numbers)
    rows = generate_batch(model, starts, 7, eos_id=END, **reading)
    return [joined(ids) for ids in rows]


# %% tags=["nbval-ignore-output"]
asked = test[:100]
for seed, model in zip(SEEDS, alone, strict=True):
    drawn = [Sampler(seed=1000 * seed + int(n)) for n in asked]
    texts = [joined(generate(model, [START], 7, sampler, END)) for sampler in drawn]
    names = sum(text in RIGHT.values() for text in texts) / len(texts)
    right = share_right(texts, asked)
    print(f"without, seed {seed}: names {names:.2f}, right {right:.2f}", *texts[:2])
    assert names > 0.8
    assert right < 0.05
exact = [share_right(translations(model, test), test) for model in models]
print("with, right:", [round(share, 3) for share in exact])
assert min(exact) > 0.9

# %% [markdown]
# Nearly all that the first one writes are German number names, and almost none is the number asked for: *fluent and unrelated*. Its grammar is sound, so only a look at the source shows the fault.
#
# The second gets nearly all unseen numbers right. So before it wrote *ein* it had read *one*. How?

# %% [markdown] tags=["slide"]
# ## Picture
#
# The letter writer looks up at a card with the key points of the letter being answered. The card is finished before the first word of the answer is written, and every word may consult all of it. Here the card holds four English words, one vector each: the **memory**.

# %%
from course_lib.figures import draw_weights, new_figure, show_figure


def draw_lines(words, pieces, weights):
    """Pieces above, words below; the width of a line is the weight."""
    fig, axes = new_figure(7, 2.6)
    axes.set(xlim=(-2, max(len(words), len(pieces)) - 0.5), ylim=(-0.4, 1.4))
    axes.axis("off")
    axes.text(-2, 1.15, "decoder: asks\n(queries)", va="center")
    axes.text(-2, -0.15, "memory: is read\n(keys, values)", va="center")
    for labels, height in ((words, -0.15), (pieces, 1.15)):
        for place, label in enumerate(labels):
            axes.text(place, height, label, ha="center", va="center", weight="bold")
    for row, column in (weights > 0.05).nonzero().tolist():
        width = 4 * weights[row, column].item()
        axes.plot([row, column], [1, 0], color="#0072B2", lw=width)
    return fig


# %% tags=["slide"]
words, pieces, origin = name_number(321)
says = torch.tensor([[float(place == o) for place in range(4)] for o in origin])
show_figure(
    draw_lines(words, pieces, says),
    alt=(
        "Above, the German pieces drei, hundert, ein, und, zwanzig, which ask "
        "(queries); below, the English words three, hundred, twenty, one, which are "
        "read (keys, values). Lines join drei with three, hundert with hundred, ein "
        "with one and zwanzig with twenty; the last two cross. und has no line."
    ),
    caption="Each piece but one needs one word of the source, and two lines cross.",
)

# %% [markdown] tags=["slide"]
# ## Definition
#
# $$\text{head}_h = \text{attention}(X W^Q_h,\; M W^K_h,\; M W^V_h), \qquad \text{outputs} = [\text{head}_1 \dots \text{head}_H]\, W^O$$
#
# $$\text{allowed}_{ij} = (j \ge 0)$$
#
# | symbol | word | shape |
# |---|---|---|
# | $X$ | `x`: the decoder's vectors, one a target position | (query, d_model) |
# | $M$ | `memory`: the encoder's output, one vector a source position | (key, d_model) |
# | $W^Q_h, W^K_h, W^V_h$ | head $h$'s part of `to_queries`, `to_keys`, `to_values` | (d_model, d_head) |
# | $W^O$ | `to_output` | (d_model, d_model) |
# | outputs | what the sublayer returns | (query, d_model) |
# | $i$, $j$ | target position of a query, source position of a key; $j = -1$ marks padding | (query), (key) |
# | allowed | True = may read | (query, key) |
#
# attention, $H$ and the brackets are those of lesson 03; each projection adds a bias. Two things differ. Keys and values come from $M$: the table of weights is a rectangle, target by source. And the rule of lesson 02 loses its causal part, since $i$ and $j$ count in different texts and the source is complete.
#
# The four matrices are this sublayer's own, learned, in every layer; self-attention has four others.
#
# Source: Vaswani et al. (2017), section 3.2.3, first point; its place in the block, after self-attention, in figure 1.

# %% [markdown] tags=["slide"]
# ## Build
#
# ### 1. One glance at the card, by hand
#
# The card says *Friday*, *dinner*, *salad*; their keys are (1, 0, 0, 0), (0, 1, 0, 0) and (0, 0, 1, 0). A day is needed next: the query is (6, 0, 0, 0). Scores, divided by the root of 4: 6/2 = 3, 0, 0. Exponentials: 20.09, 1, 1, together 22.09. Weights: 0.91, 0.05, 0.05.

# %% tags=["slide"]
from course_lib.attention import attention, merge_heads, split_heads
from course_lib.linear import Linear
from course_lib.softmax import softmax

torch.set_printoptions(precision=2, sci_mode=False)
keys = torch.eye(3, 4)  # Friday, dinner, salad
values = 10 * torch.eye(3, 4)
query = torch.tensor([6.0, 0, 0, 0])
weights = softmax(keys @ query / math.sqrt(4))
print("weights", weights)
print("output ", weights @ values)

# %% [markdown] tags=["slide"]
# ### 2. A rectangle
#
# A second word of the answer, *Dear*, needs nothing from the card: its query is 0. **Predict** the shape of the weights, and the second row.

# %% tags=["slide"]
queries = torch.stack([query, torch.zeros(4)])
weights = softmax(queries @ keys.T / math.sqrt(4))
print(tuple(weights.shape))
print(weights)


# %% [markdown]
# (query, key) = (2, 3). The writer looks up at *every* word, needed or not: *Dear* gets a third of each.

# %% [markdown] tags=["slide"]
# ### 3. The module
#
# Lesson 03's, with one cut: `keep` projects the memory, `forward` the decoder's vectors. Step 6 shows what the cut is good for.

# %%
class CrossAttention(nn.Module):
    """Queries from the decoder; keys and values from a memory, projected apart."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.to_queries = Linear(d_model, d_model)
        self.to_keys = Linear(d_model, d_model)
        self.to_values = Linear(d_model, d_model)
        self.to_output = Linear(d_model, d_model)

    def keep(self, memory):
        both = self.to_keys(memory), self.to_values(memory)
        return [split_heads(projected, self.n_heads) for projected in both]

    def forward(self, x, kept, allowed=None):
        queries = split_heads(self.to_queries(x), self.n_heads)
        outputs, weights = attention(queries, *kept, allowed, need_weights=True)
        return self.to_output(merge_heads(outputs)), weights


# %% [markdown]
# Two targets of 5 positions, two sources of 7, width 6, three heads. **Predict** both shapes.

# %%
torch.manual_seed(0)
cross = CrossAttention(6, 3)
for part in cross.children():
    nn.init.normal_(part.bias)
x, memory = torch.randn(2, 5, 6), torch.randn(2, 7, 6)
with torch.no_grad():
    outputs, weights = cross(x, cross.keep(memory))
print(tuple(outputs.shape), tuple(weights.shape))

# %% [markdown]
# As many outputs as queries: target and source need not agree on a length.

# %% [markdown] tags=["slide"]
# ### 4. Sources of different length
#
# Say the first source has 4 real words and 3 of padding. `padding_mask` (lesson 02) hides keys; its two 1s stand for heads and queries. **Predict** the columns of 0.

# %% tags=["slide"]
from course_lib.masks import causal_mask, padding_mask

allowed = padding_mask([4, 7], 7)  # (batch, 1, 1, key)
with torch.no_grad():
    _, weights = cross(x, cross.keep(memory), allowed)
print(tuple(allowed.shape))
print(weights[0, 0])  # (query, key): the short source, head 0


# %% [markdown] tags=["slide"]
# ### 5. Nothing in the source is in the future
#
# Which output depends on which source place? We change one place at a time and see which outputs move. **Predict** the table of the short source: 5 queries, 7 keys.

# %% tags=["slide"]
def moved_by(read, memory):
    """Which output moves when a place of the memory changes: (batch, query, key)."""
    columns = []
    with torch.no_grad():
        before = read(memory)
        for place in range(memory.shape[1]):
            changed = memory.clone()
            changed[:, place] += 1
            columns.append(((read(changed) - before).abs() > 1e-6).any(-1))
    return torch.stack(columns, -1)


print(moved_by(lambda m: cross(x, cross.keep(m), allowed)[0], memory)[0].int())

# %% [markdown]
# No triangle. The first output depends on the last real word, as *ein* must depend on *one*; no output depends on padding.

# %% [markdown] tags=["slide"]
# ### 6. Project the source once
#
# An answer is written step by step, one new query each. The source does not change, so neither do its keys and values. **Predict:** for 5 words, how often does each projection run if we keep them, and if we do not?

# %%
from collections import Counter


def count_calls(module, calls):
    """Count, in calls, how often each part of the module runs; give the hooks."""

    def tally(name, *_):
        calls[name] += 1

    parts = module.named_children()
    return [part.register_forward_hook(partial(tally, name)) for name, part in parts]


# %%
def answer(keep_once):
    """Write 5 words one by one; give the outputs and the calls of each projection."""
    calls, outputs = Counter(), []
    hooks = count_calls(cross, calls)
    for step in range(5):
        if step == 0 or not keep_once:
            kept = cross.keep(memory)
        outputs.append(cross(x[:, step : step + 1], kept, allowed)[0])
    for hook in hooks:
        hook.remove()
    return torch.cat(outputs, 1), dict(calls)


once, calls = answer(keep_once=True)
again, more_calls = answer(keep_once=False)
print("kept ", calls)
print("again", more_calls)
print("same outputs:", torch.equal(once, again))

# %% [markdown]
# The outputs are the same, so no test of results finds this fault; a count does. What does it cost? For $S$ source places and width $d$, a step has two projections of one vector (`to_queries`, `to_output`), $2 d^2$ multiplications, and reads with $2 S d$. Projecting again adds $2 S d^2$. By hand for $S = 10$, $d = 4$: 32 + 80 = 112, and 320 more, 3.9 times in all. **Predict** the factor for Whisper tiny (lesson 14), $S = 1500$ and $d = 384$:

# %%
S, d = 1500, 384
reading, projecting = 2 * d**2 + 2 * S * d, 2 * S * d**2
print(f"{reading:,} and {projecting:,} more: {1 + projecting / reading:.0f} times")


# %% [markdown]
# So the cache of an encoder-decoder holds two things: keys and values of what was written, which grow, and those of the source, which do not (lesson 10). The chef opens the flavour handbook once and leaves it open.

# %% [markdown] tags=["slide"]
# ### 7. Where a trained decoder looks
#
# First with a memory that is easy to read: no encoder, only a vector for each word plus one for its place.

# %%
class WordsAlone(nn.Module):
    """A memory without an encoder: the vector of each word plus that of its place."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(len(WORDS), 32), nn.Embedding(4, 32)

    def forward(self, source, lengths=None):
        return self.words(source) + self.places(torch.arange(source.shape[1]))


def words_alone(seed):
    """The translator, its encoder replaced by the words alone."""
    model = with_source(seed)
    torch.manual_seed(seed)
    model.encoder = WordsAlone()
    return model


# %% [markdown]
# `record` collects the weights of an ordinary pass. Mind the labels: the query at position $t$ was fed piece $t - 1$ and *writes* piece $t$. **Predict** the row that writes *und*.

# %%
def cross_weights(model, numbers):
    """The weights of its one head, (row, query, key), while the right name is fed."""
    source, lengths, targets = as_tensors(numbers)
    tokens, record = shift_right(targets, START), {}
    with torch.no_grad():
        memory = model.encoder(source, lengths)
        model.decoder(tokens, memory, memory_lengths=lengths, record=record)
    return record["cross", 0][:, 0]


# %% tags=["nbval-ignore-output", "slide"]
by_layers = {0: [fit(words_alone(seed), seed) for seed in SEEDS]}
unseen = next(int(n) for n in test if n > 200 and n % 100 > 20 and n % 10)
words, pieces, origin = name_number(unseen)
weights = cross_weights(by_layers[0][0], [unseen])[0]
rest = " and ".join(
    f"{piece} reads {words[row.argmax()]} ({row.max():.2f})"
    for piece, row in zip([*pieces, "END"], weights, strict=True)
    if piece in ("hundert", "und", "END")
)
show_figure(
    draw_weights(weights, [*pieces, "END"], words, None, "writes", "source: is read"),
    alt=(
        "A table of weights for two hundred ninety nine, a number not trained on. "
        "zwei reads two, neun reads nine, neunzig reads ninety, each with nearly all "
        f"its weight; {rest}."
    ),
    caption="The large weights cross where the two languages cross.",
)
assert weights.argmax(-1)[[0, 2, 4]].tolist() == [0, 3, 2]


# %% [markdown]
# Nobody told it which word belongs to which piece: such a table is an *alignment*. And *und* and END, which have no word, still put most of their weight on one: a row sums to 1, needed or not.

# %% [markdown] tags=["slide"]
# ### 8. Always?
#
# One picture proves little. In what share of all test pieces that say *which* number (all but *und*, *hundert* and END) does the largest weight stand on the right word, `origin`?
#
# And an encoder *mixes*: it is self-attention without a causal mask. The same translator with none, one and two encoder layers, 3 seeds. **Predict:** where is the share largest? Which translates best?

# %%
def share_on_word(model, numbers):
    """Of all pieces that say which number: the share that reads its word most."""
    looked, hits = cross_weights(model, numbers).argmax(-1).tolist(), []
    for row, n in zip(looked, numbers, strict=True):
        _, pieces, origin = name_number(int(n))
        for place, piece, right in zip(row, pieces, origin, strict=False):  # padded
            if piece not in ("und", "hundert"):
                hits.append(place == right)
    return sum(hits) / len(hits)


# %% tags=["nbval-ignore-output"]
two_layers = [fit(with_source(seed, encoder_layers=2), seed) for seed in SEEDS]
by_layers |= {1: models, 2: two_layers}
right, on_word = {}, {}
for layers, fitted in by_layers.items():
    right[layers] = [share_right(translations(model, test), test) for model in fitted]
    on_word[layers] = [share_on_word(model, test) for model in fitted]
    shares = [round(share, 2) for share in right[layers]]
    print(f"{layers} layers: right {shares}", end="")
    print("  on the word", [round(share, 2) for share in on_word[layers]])

# %%
assert min(right[0]) > 0.8
assert min(right[1] + right[2]) > 0.9
assert min(on_word[0]) > 0.9
assert min(on_word[1] + on_word[2]) < 0.9
print("as expected")

# %% [markdown]
# (600 training and 299 test numbers, 200 updates, seeds 0, 1, 2.) Words alone: nearly always on the right word, in these three seeds (another may get stuck: try 4). One encoder layer: always in these three seeds; others differ. Two: it depends on the seed. Yet the encoders translate at least as well. Do they not need the right word?
#
# Weights name *places*. What lies there? We change one word of the source, and give the decoder the old memory with *one place* taken from the new one. If the piece changes, the word was read from that place. We try two places: the one read most, then the word's own. 50 test numbers; two models: words alone, and the one with the smallest share.

# %%
kinds = SMALL[:18:2], SMALL[18::2], TENS[::2]  # one to nine, ten to nineteen, tens
NEXT = {a: b for kind in kinds for a, b in zip(kind, kind[1:] + kind[:1], strict=True)}


def exchange(model, source, place, word_place):
    """The memory, but one place comes from a source with another word at word_place."""
    other = source.clone()
    other[0, word_place] = WORDS.index(NEXT[WORDS[source[0, word_place]]])
    memory = model.encoder(source)
    memory[0, place] = model.encoder(other)[0, place]
    return memory


# %%
@torch.no_grad()
def share_changed(model, numbers):
    """The share of pieces that change: by the place read most, by the word's own."""
    changed = []
    for n in numbers:
        source, _, targets = as_tensors([n])
        tokens, looked = shift_right(targets, START), cross_weights(model, [n])[0]
        _, pieces, origin = name_number(int(n))
        for row, own in enumerate(origin):
            if pieces[row] not in ("und", "hundert"):
                for place in (looked[row].argmax().item(), own):
                    memory = exchange(model, source, place, own)
                    written = model.decoder(tokens, memory)[0, row].argmax()
                    changed.append(float(written != targets[0, row]))
    return torch.tensor(changed).view(-1, 2).mean(0).tolist()


# %% tags=["nbval-ignore-output"]
pairs = zip(models + two_layers, on_word[1] + on_word[2], strict=True)
worst, share = min(pairs, key=lambda pair: pair[1])
for name, model in (("words alone", by_layers[0][0]), (f"share {share:.2f}", worst)):
    read_most, own = share_changed(model, test[:50])
    print(f"{name:11}: place read most {read_most:.2f}, own place {own:.2f}")
assert read_most > 0.8
assert read_most > own + 0.05

# %% [markdown]
# Without an encoder the two are one place. With it, exchanging the place that is read most changes nearly all pieces, exchanging the word's own fewer: the encoder has carried words elsewhere, and there the decoder reads them. The weight named the right place; we were wrong about what lies there. So again (lesson 03): weights are a clue, a change of the input is the proof.
#
# Such a proof for the translators of the question: each row gets the memory of another number.

# %% tags=["nbval-ignore-output"]
source, lengths, _ = as_tensors(test)
for seed, model in zip(SEEDS, models, strict=True):
    with torch.no_grad():
        others = model.encoder(source, lengths).flip(0)
    reading = {"memory": others, "memory_lengths": lengths.flip(0)}
    texts = translations(model, test, **reading)
    follows, own = share_right(texts, test.flip(0)), share_right(texts, test)
    print(f"seed {seed}: the other's name {follows:.2f}, its own {own:.2f}")
    assert follows > 0.9
    assert own < 0.05

# %% [markdown]
# The output follows the memory.

# %% [markdown]
# ## Check
#
# Against the library, with the same parameters: outputs, and gradients for both texts. Its module keeps nothing unless a cache asks it to.

# %%
from course_lib.attention import MultiHeadAttention


def results(read, *inputs):
    """What read gives, and the gradients of one mixture of it for every input."""
    inputs = [tensor.clone().requires_grad_() for tensor in inputs]
    outputs = read(*inputs)
    mixture = torch.linspace(-1, 1, outputs.numel()).view_as(outputs)
    return outputs, *torch.autograd.grad((outputs * mixture).sum(), inputs)


theirs = MultiHeadAttention(6, 3, cross=True)
theirs.load_state_dict(cross.state_dict())
ours = results(lambda x, m: cross(x, cross.keep(m), allowed)[0], x, memory)
for need_weights in (False, True):
    read = partial(theirs, allowed=allowed, need_weights=need_weights)
    found = results(lambda x, m, read=read: read(x, m)[0], x, memory)
    torch.testing.assert_close(ours, found)
print("equal to course_lib: fused and formula")

# %% [markdown]
# Against torch, where the padding mask is True for *hide*:

# %%
reference = nn.MultiheadAttention(6, 3, batch_first=True)
with torch.no_grad():
    three = (cross.to_queries, cross.to_keys, cross.to_values)
    reference.in_proj_weight.copy_(torch.cat([part.weight for part in three]))
    reference.in_proj_bias.copy_(torch.cat([part.bias for part in three]))
reference.out_proj.load_state_dict(cross.to_output.state_dict())

hide = ~allowed[:, 0, 0]  # (batch, key)
read = partial(reference, key_padding_mask=hide)
torch.testing.assert_close(ours, results(lambda x, m: read(x, m, m)[0], x, memory))
print("equal to torch: outputs and gradients")

# %% [markdown]
# Four properties, asked of the library's module. Padding moves nothing; every real place moves every output, the first too; the order of the source does not matter, if its mask goes along; the gradient reaches the real places of the memory.

# %%
table = moved_by(lambda m: theirs(x, m, allowed)[0], memory)
assert table.equal((~hide)[:, None].expand(2, 5, 7))

order = torch.tensor([3, 0, 6, 2, 5, 1, 4])
in_disorder, _ = theirs(x, memory[:, order], allowed[..., order])
torch.testing.assert_close(in_disorder, theirs(x, memory, allowed)[0])

to_memory = ours[2].norm(dim=-1)  # (batch, key)
assert (to_memory > 0).equal(~hide)
print("padding, no triangle, order, gradient: as they should be")

# %% [markdown]
# Now a whole decoder of three layers writes 5 tokens. **Predict:** how often does it consult the source, and how often project it?

# %%
config = DecoderConfig(11, 6, n_layers=3, n_heads=3, cross_attention=True)
decoder = Decoder(config, torch.Generator().manual_seed(0))
source = {"memory": 3 * memory[:1], "memory_lengths": [4]}
calls = Counter()
for block in decoder.stack.blocks:
    count_calls(block.cross_attention, calls)
cache = decoder.new_cache(1)
written = generate(decoder, [1], 5, cache=cache, **source)
print(dict(calls))
print("kept: own tokens", cache.lengths.tolist(), "source", cache.cross(0)[0].shape[2])
assert calls["to_queries"] == 15
assert calls["to_keys"] == calls["to_values"] == 3

# %% [markdown]
# For every token in every layer: 15 readings. Once a layer: 3 projections. (5 own tokens: the start token was fed, the fifth that was written not yet.) Kept or not, the scores are the same:

# %%
tokens = torch.tensor([[1, *written]])
cache = decoder.new_cache(1)
with torch.no_grad():
    at_once = decoder(tokens, **source)
    first = decoder(tokens[:, :2], cache=cache, **source)
    steps = [first, *[decoder(tokens[:, [t]], cache=cache) for t in range(2, 6)]]
torch.testing.assert_close(torch.cat(steps, 1), at_once)
print("kept and projected again: equal")

# %% [markdown]
# With encoder and decoder together, a source has to give the same alone and beside a longer one. Its order counts now: the encoder adds positions (lesson 04).

# %%
words = DecoderConfig(13, 6, n_layers=2, n_heads=3)
model = EncoderDecoder(Encoder(words, torch.Generator().manual_seed(1)), decoder)
source, tokens = torch.tensor([[2, 3, 5, 0, 0], [7, 2, 11, 3, 5]]), tokens.expand(2, -1)
with torch.no_grad():
    together = model(source, tokens, source_lengths=[3, 5])
    by_itself = model(source[:1, :3], tokens[:1])
    other_end = model(torch.tensor([[2, 3, 12]]), tokens[:1])
    turned = model(source[:1, [2, 1, 0]], tokens[:1])
torch.testing.assert_close(together[:1], by_itself)
for other in (other_end, turned):
    assert ((other - by_itself).abs() > 1e-6).any(-1).all()
print("alone and in a batch: equal; the last word and the order move every position")

# %% [markdown]
# The encoder, too, reads its whole source, and the decoder's loss reaches all its matrices.

# %%
short = torch.tensor([[2, 3, 5]])
before = model.encoder(short)
for place in range(3):
    other = short.clone()
    other[0, place] = 7
    assert ((model.encoder(other) - before).abs() > 1e-6).any(-1).all()
model(short, tokens[:1]).square().sum().backward()
matrices = [p for p in model.encoder.parameters() if p.ndim == 2]
assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in matrices)
print(f"each of {len(matrices)} matrices of the encoder has a gradient")

# %% [markdown]
# Padding is never read while writing, even where it holds NaN: each row is as if alone.

# %%
spoiled = model.encoder(source, [3, 5]).detach()
spoiled[0, 3:] = torch.nan  # whoever reads this padding is lost
starts = [[1], [1]]
both = generate_batch(model, starts, 7, memory=spoiled, memory_lengths=[3, 5])
assert both[0] == generate(model, [1], 7, memory=spoiled[:1, :3])
print("written alone and in a batch: equal")

# %% [markdown]
# And a decoder without cross-attention is refused:

# %%
try:
    EncoderDecoder(model.encoder, without_source(0))
    raise AssertionError("a decoder that cannot read was accepted")
except ValueError as problem:
    print(problem)

# %% [markdown]
# The library's `keep`; `cache.cross` recalls what the cache of lesson 10 holds, and `n_kv_heads` is here the number of heads:

# %%
import inspect

print(inspect.getsource(MultiHeadAttention._read_memory))

# %% [markdown]
# And real models? Counted on the meta device, which has shapes and no numbers:

# %%
with torch.device("meta"):
    whisper = Decoder(DecoderConfig.whisper_tiny())
    smollm2 = Decoder(DecoderConfig.smollm2_135m())
block = whisper.stack.blocks[0]
sizes = [sum(p.numel() for p in m.parameters()) for m in (block.cross_attention, block)]
print(f"Whisper tiny: {sizes[0] / sizes[1]:.0%} of a block's parameters")
print(f"kept for {S:,} places: {4 * 2 * S * d:,} numbers in 4 layers")
print("SmolLM2:", smollm2.stack.blocks[0].cross_attention)


# %% [markdown]
# Whisper's decoder consults 1,500 places of sound in every layer, for every token (lesson 14). The original translator and T5 are built the same way. GPT and SmolLM2 have no second text: what they answer stands in their own row, and self-attention reads it. In this course, cross-attention takes its place in the block in lesson 07, and translates in lesson 12.

# %% [markdown] tags=["slide"]
# ## Misconceptions
#
# ### “Keys and values come from the decoder's own stream.”
#
# We train the translator of the question with this fault. (`cache=False`: each step anew, since the fault would confuse a cache.) **Predict** its loss: about 1.3, as without a source, or something else?

# %%
def spoil(model, wrong):
    """Put wrong(sound, x, memory, allowed) in the place of the cross-attention."""
    heads = model.decoder.stack.blocks[0].cross_attention
    heads.forward = partial(wrong, heads.forward)
    return model


def reads_itself(sound, x, memory=None, allowed=None, **rest):
    return sound(x, memory=x)


# %% tags=["nbval-ignore-output"]
for seed in SEEDS:
    model = fit(spoil(with_source(seed), reads_itself), seed)
    loss, texts = loss_on(model, test), translations(model, asked, cache=False)
    print(f"seed {seed}: loss {loss:.3f}, right {share_right(texts, asked):.2f}")
    assert loss < 1.2
    assert share_right(texts, asked) < 0.05


# %% [markdown]
# The loss is *better* than an honest decoder without a source can have, and nothing is right. This sublayer has no causal mask: with the decoder's own stream as memory, every position sees the pieces still to be written (lesson 02). How to notice: change the memory, and nothing moves.

# %% [markdown] tags=["slide"]
# ### “A decoder is causal, so the mask belongs here too.”
#
# Query $i$ would read keys 0 to $i$ (`offset=0`); the first piece, the first word alone. We train with it, on the words alone and behind an encoder layer. **Predict** the share of right names, twice.

# %%
def under_a_triangle(sound, x, memory=None, allowed=None, **rest):
    triangle = causal_mask(x.shape[1], memory.shape[1], offset=0)
    return sound(x, memory=memory, allowed=allowed & triangle)


# %% tags=["nbval-ignore-output"]
shares = {}
for make in (words_alone, with_source):
    fitted = [fit(spoil(make(seed), under_a_triangle), seed) for seed in SEEDS]
    written = [translations(model, asked, cache=False) for model in fitted]
    shares[make.__name__] = [share_right(texts, asked) for texts in written]
    print(make.__name__, [round(share, 2) for share in shares[make.__name__]])

# %%
assert max(shares["words_alone"]) < 0.5
assert min(shares["with_source"]) > 0.85
print("as expected")

# %% [markdown]
# On the words alone most names fail: *ein* needs a word that is hidden. Behind an encoder we see no harm: it has carried the last word to the first place. So the names do not show the fault; the first row of `moved_by` does. And a square mask does not even fit:

# %%
try:
    cross(x, cross.keep(memory), causal_mask(5))
except ValueError as problem:
    print(problem)

# %% [markdown] tags=["slide"]
# ### “The padding mask was for training.”
#
# The sound translators, writing without `memory_lengths`. **Predict:** which sources suffer?

# %% tags=["nbval-ignore-output", "slide"]
full = torch.tensor([len(name_number(int(n))[0]) == 4 for n in test])
for seed, model in zip(SEEDS, models, strict=True):
    sound = translations(model, test)
    careless = translations(model, test, memory_lengths=None)
    other = torch.tensor([a != b for a, b in zip(sound, careless, strict=True)])
    share, one = other[~full].float().mean(), other.nonzero()[-1].item()
    print(f"seed {seed}: {share:.2f} of those padded:", sound[one], "->", careless[one])
    assert share > 0
    assert not other[full].any()


# %% [markdown]
# Only padded ones, few or many of them, depending on the seed. Full-length sources stay right, so one blames the model. How to notice: write a short source alone and beside a long one; the tokens must be equal.

# %% [markdown] tags=["slide"]
# ### “It is the same attention again, so it can share the matrices.”
#
# The formula is the same. We train a translator whose cross-attention owns no matrices, then load the sound model's weights into it. **Predict:** does it learn? Does torch complain?

# %%
def tied(seed):
    """A translator whose cross-attention uses the matrices of its self-attention."""
    model = with_source(seed)
    block = model.decoder.stack.blocks[0]
    for name in ("to_queries", "to_keys", "to_values", "to_output"):
        setattr(block.cross_attention, name, getattr(block.self_attention, name))
    return model


# %% tags=["nbval-ignore-output"]
for seed, sound in zip(SEEDS, models, strict=True):
    model = fit(tied(seed), seed)
    counts = [sum(p.numel() for p in m.parameters()) for m in (model, sound)]
    learned = share_right(translations(model, test), test)
    print(f"seed {seed}: {counts[0]:,} parameters, not {counts[1]:,}", end="; ")
    model.load_state_dict(sound.state_dict())
    loaded = share_right(translations(model, test), test)
    print(f"right {learned:.2f}; with the sound weights {loaded:.2f}")
    assert learned > 0.8
    assert loaded < learned

# %% [markdown]
# On this small task it learns as well, with fewer parameters. But it is another model than the one in the papers. Weights of a model with two sets load *without complaint*: one set overwrites the other, and names go wrong, here from a quarter to nine in ten. How to notice: count the parameters, each once.

# %% [markdown]
# ## On a GPU
#
# Step 6 counted 307 times the multiplications for projecting again. **Predict:** how many times the time, for one query?

# %% tags=["gpu"]
from course_lib.hardware import device, dtype, fastest_seconds

on = device()
n_keys = 1500 if on.type == "cuda" else 300
large = CrossAttention(384, 6).to(on, dtype(on)).requires_grad_(False)
token = torch.randn(1, 1, 384, device=on, dtype=dtype(on))
sound = torch.randn(1, n_keys, 384, device=on, dtype=dtype(on))
kept = large.keep(sound)
torch.testing.assert_close(large(token, kept), large(token, large.keep(sound)))
print("kept or projected again: the same")

# %% tags=["gpu", "nbval-ignore-output"]
fast = fastest_seconds(lambda: large(token, kept), 20, on)
slow = fastest_seconds(lambda: large(token, large.keep(sound)), 20, on)
counted = 1 + n_keys * d / (d + n_keys)  # the ratio of step 6
print(f"{n_keys} places, {on.type}: {counted:.0f} times the multiplications,")
print(f"{slow / fast:.1f} times the time")
assert slow > fast


# %% [markdown]
# Expect clearly fewer times than counted. A product of large matrices keeps the multipliers busy; a step with one query mostly waits, for numbers from memory and for each small call to start: Python's on a CPU, a kernel's on a GPU (not measured for this page). A count predicts the time only where multiplying is what takes it (lesson 15).

# %% [markdown]
# ## Exercise
#
# **A. Compute** (15 minutes). First on paper: $S = 20$, $d = 8$. How many multiplications is a step with the source kept, and how many times that if it is projected again? (448, and 6.7 times.) Then in code: five rows of targets share three sources. `kept` is what `keep` gave for the sources: keys and values, each (source, head, key, d_head). `lengths` (source,) counts their real places, at least 1. `owner` (row,) says which source each row reads. Write `read_kept(cross, x, kept, lengths, owner)` for `x` (row, query, d_model): the outputs alone, (row, query, d_model), each row as if alone with its source, cut to its length.

# %%
def read_kept(cross, x, kept, lengths, owner):
    """Your code."""


# %%
def try_read_kept(read):
    """Say whether every row gets what it would get alone."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(5, 2, 6, generator=generator)
    sources = torch.randn(3, 7, 6, generator=generator)
    lengths, owner = torch.tensor([7, 2, 4]), torch.tensor([1, 0, 2, 1, 1])
    if (found := read(cross, x, cross.keep(sources), lengths, owner)) is None:
        return "not written yet"
    if not isinstance(found, torch.Tensor) or found.shape != x.shape:
        return "give the outputs alone, one tensor of the shape of x"
    for row, place in enumerate(owner.tolist()):
        memory = sources[[place], : lengths[place]]
        expected = cross(x[[row]], cross.keep(memory))[0][0]
        if not torch.allclose(found[row], expected, atol=1e-5):
            real = f"source {place}, which has {lengths[place]} real places of 7"
            return f"row {row} is not what it gets alone from {real}"
    return "right"


print(try_read_kept(read_kept))


# %% [markdown]
# <details><summary>A nudge</summary>
#
# A tensor of ids can be an index: `keys[owner]` has one entry a row. What else belongs to a source?
# </details>
#
# <details><summary>A stronger hint</summary>
#
# Keys, values and a mask belong to a source. Make `padding_mask(lengths, n_keys)` for the three sources, then index all three with `owner`.
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def read_kept(cross, x, kept, lengths, owner):
#     keys, values = kept
#     allowed = padding_mask(lengths, keys.shape[2])
#     return cross(x, (keys[owner], values[owner]), allowed[owner])[0]
# ```
#
# What belongs together is indexed together. Beam search reorders a cache like this (lesson 09).
# </details>
#
# **B. Debug** (5 minutes). A three-sided coin chose the fault of `mystery(x, memory, lengths)`: it reads its own stream, it has a triangle, or it forgot the padding. Name it with `moved_by`.

# %%
def has_triangle(x, memory, lengths):
    both = padding_mask(lengths, memory.shape[1]) & causal_mask(5, 7, offset=0)
    return cross(x, cross.keep(memory), both)[0]


def forgets_padding(x, memory, lengths):
    return cross(x, cross.keep(memory))[0]


def own_stream(x, memory, lengths):
    return cross(x, cross.keep(x))[0]


coin = torch.randint(3, (1,), generator=torch.Generator().manual_seed(1)).item()
mystery = [own_stream, has_triangle, forgets_padding][coin]
fault = None  # "stream", "triangle" or "padding"

# %%
replies = {None: "not answered yet", ["stream", "triangle", "padding"][coin]: "right"}
print(replies.get(fault, "no: print the table for sources of 4 and 7 real places"))

# %% [markdown]
# <details><summary>Solution</summary>
#
# `moved_by(lambda m: mystery(x, m, [4, 7]), memory)[0].int()` is a triangle in its first four columns: the first output moves with the first word alone.
# </details>

# %% [markdown]
# ## Quiz
#
# Choose, then read the reason. Where no kernel runs, the reasons are folded below each question.

# %%
from course_lib.quiz import show_quiz

show_quiz("cross_attention")

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. (2017), *Attention Is All You Need*, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762). Section 3.2.3: the three uses of attention, this one first.
# - Bahdanau, Cho, Bengio (2014), *Neural Machine Translation by Jointly Learning to Align and Translate*, [arXiv:1409.0473](https://arxiv.org/abs/1409.0473). A decoder that consults its source, before Transformers; with alignment tables as pictures.
# - Koehn, Knowles (2017), *Six Challenges for Neural Machine Translation*, [arXiv:1706.03872](https://arxiv.org/abs/1706.03872). Section 3.5: attention is not always the alignment; in one translator it stands a word beside.
# - Raffel et al. (2020), *Exploring the Limits of Transfer Learning*, [arXiv:1910.10683](https://arxiv.org/abs/1910.10683). T5; section 3.2 compares decoders with and without a second text to read.
# - Radford et al. (2022), *Robust Speech Recognition via Large-Scale Weak Supervision*, [arXiv:2212.04356](https://arxiv.org/abs/2212.04356). Whisper, whose source is sound.
