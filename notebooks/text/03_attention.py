# %% [markdown] tags=["slide"]
# # How does a position read from the others?
#
# **You need** lesson 00; softmax (lesson 01); masks (lesson 02).
#
# **You build** `attention`, and `MultiHeadAttention` around it: the only part of a decoder where positions exchange anything.
#
# **You will be able to** *compute* an attention by hand, *explain* why scores are divided by the root of the head's width, and *debug* heads cut or joined in the wrong order.
#
# About 90 minutes.

# %% [markdown] tags=["slide"]
# ## Question
#
# Four cards lie in a row, each with a letter and a digit; all letters differ. The fifth place asks for two letters. Their digits are the answer. (Skim the cells that set this up.)

# %%
import torch
from torch import nn


def deal(n_rows, generator):
    """Deal four cards and a question: tokens (row, 5), answers (row, 2)."""
    letters = torch.rand(n_rows, 6, generator=generator).argsort(-1)[:, :4]
    digits = torch.randint(0, 10, (n_rows, 4), generator=generator)
    asked = torch.rand(n_rows, 4, generator=generator).argsort(-1)[:, :2]
    first, second = letters.gather(1, asked).T
    question = 60 + 6 * first + second
    tokens = torch.cat([10 * letters + digits, question[:, None]], 1)
    return tokens, digits.gather(1, asked)


# %%
def spell(token):
    """Name a token: 60 cards, then 36 questions."""
    if token < 60:
        return "ABCDEF"[token // 10] + str(token % 10)
    return "ABCDEF"[token // 6 - 10] + "ABCDEF"[token % 6] + "?"


tokens, answers = deal(3, torch.Generator().manual_seed(0))
for row in range(3):
    print(*[spell(t) for t in tokens[row].tolist()], "->", *answers[row].tolist())

# %% [markdown]
# A player turns each token into a vector (its *embedding*) and answers from the vector at the fifth place. In between stands a network, `reading`: one that works on each place alone, or the library's attention, which you will write.

# %%
from functools import partial

from course_lib import attention as library


class Alone(nn.Module):
    """Two layers that rework the vector of each place; nothing passes between places."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x):
        return self.layers(x), None


# %%
class Player(nn.Module):
    """Look at the row, name two digits."""

    def __init__(self, reading):
        super().__init__()
        self.embedding, self.reading = nn.Embedding(96, 32), reading
        self.answer = nn.Linear(32, 20)

    def forward(self, tokens):
        x, _ = self.reading(self.embedding(tokens))
        return self.answer(x[:, -1]).view(-1, 2, 10)  # (row, asked, digit)


# %% [markdown]
# Training (lesson 11) here means: 300 times, deal 64 rows and adjust the parameters so that the loss falls. Then we count right digits on 2,000 other rows.

# %%
from course_lib.softmax import cross_entropy


def fit(make_reading, seed):
    """Train a player; give it, and its share of right digits on 2,000 other rows."""
    torch.manual_seed(seed)
    player, generator = Player(make_reading()), torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(player.parameters(), lr=0.01)
    for _ in range(300):
        tokens, answers = deal(64, generator)
        loss = cross_entropy(player(tokens), answers)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    tokens, answers = deal(2000, torch.Generator().manual_seed(1000 + seed))
    with torch.no_grad():
        right = player(tokens).argmax(-1) == answers
    return player, right.float().mean().item()


# %% [markdown]
# **Predict:** what share of digits will each network get right: 0.10, 0.25, 0.55 or 1.00? (Six trainings, some seconds in all.)

# %% tags=["nbval-ignore-output"]
attention_layer = partial(library.MultiHeadAttention, d_model=32, n_heads=2)
networks = {"alone": Alone, "reading": attention_layer}
shares = {}
for name, network in networks.items():
    shares[name] = [fit(network, seed)[1] for seed in (0, 1, 2)]
    print(f"{name:8}", [round(share, 3) for share in shares[name]])

# %%
assert all(abs(share - 0.10) < 0.04 for share in shares["alone"])
assert all(share > 0.85 for share in shares["reading"])
print("as expected")

# %% [markdown]
# Alone: one in ten, and more training would not help. The fifth place holds only two letters, and the digits were dealt independently of them: no function of that vector beats guessing.
#
# With one layer of attention: all digits, or nearly all. Two digits came to the fifth place, from other cards in each row. How?

# %% [markdown] tags=["slide"]
# ## Picture
#
# A position that reads has a vector that says what it looks for, its **query**. A position that can be read has two: one says what is there, its **key**; one is handed over, its **value**. Reading is three steps: *compare* the query with each key, turn the scores into weights by *softmax*, *mix* the values by these weights.
#
# The letter writer of lesson 00 has just written *it* and asks the page: which *thing* was this about? The two numbers of a key mean (person, thing). **Predict:** whose value will the output resemble most?

# %% tags=["slide"]
from course_lib.figures import draw_reading, show_figure

words = ["Anna", "letter", "it"]
query = torch.tensor([0.0, 2.0])
keys = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.5]])
values = torch.tensor([[10.0, 0.0], [0.0, 10.0], [0.0, 0.0]])
show_figure(
    draw_reading(query, keys, values, words),
    alt=(
        "A table with a row for each key. The query is (0, 2). Anna: key (1, 0), score 0, "
        "weight 0.09, value (10, 0). letter: key (0, 1), score 2, weight 0.67, value "
        "(0, 10). it: key (0, 0.5), score 1, weight 0.24, value (0, 0). Below, the output, "
        "the sum of weight times value: (0.90, 6.65)."
    ),
    caption="The word “it” reads: it compares, takes the softmax and mixes.",
)

# %% [markdown]
# A Python dictionary is hard: `d[query]` needs an *equal* key and gives its value alone. Attention is a soft dictionary: every key fits more or less, every value comes along by its share.

# %% [markdown]
# ## Definition
#
# $$\text{attention}(Q, K, V) = \text{softmax}\!\left(\frac{Q K^{\top}}{\sqrt{d_\text{head}}}\right) V$$
#
# | symbol | word | shape |
# |---|---|---|
# | $Q$ | queries | (query, d_head) |
# | $K$ | keys | (key, d_head) |
# | $V$ | values | (key, d_head) |
# | $Q K^{\top} / \sqrt{d_\text{head}}$ | scores | (query, key) |
# | softmax of the scores, along the last axis | weights | (query, key); each row sums to 1 |
# | attention(Q, K, V) | the mixed values | (query, d_head) |
# | $d_\text{head}$ | width of a query, a key, a value | a number; $d_k$ in the paper |
#
# A score that must not count is set to $-\infty$ before the softmax (lesson 02).
#
# Queries, keys and values are made from the positions' vectors $X$ by learned matrices, several times over; each time is a **head**:
#
# $$\text{head}_h = \text{attention}(X W^Q_h,\; X W^K_h,\; X W^V_h), \qquad \text{outputs} = [\text{head}_1 \dots \text{head}_H]\, W^O$$
#
# | symbol | word | shape |
# |---|---|---|
# | $X$ | `x`: one vector a position | (position, d_model) |
# | $W^Q_h, W^K_h, W^V_h$ | head $h$'s part of `to_queries`, `to_keys`, `to_values` | (d_model, d_head) |
# | $\text{head}_h$ | what one head reads | (position, d_head) |
# | $[\dots]$ | the heads of a position side by side | (position, d_model) |
# | $W^O$ | `to_output` | (d_model, d_model) |
# | outputs | what the module returns | (position, d_model) |
# | $H$ | `n_heads`; $d_\text{head} = d_\text{model} / H$ | a number |
#
# Where all three come from the same $X$, this is **self-attention**. Each of the four projections also adds a learned bias, as `nn.Linear` does; the formula of the paper has none.
#
# Source: Vaswani et al. (2017), equation 1 in section 3.2.1, and section 3.2.2.

# %% [markdown] tags=["slide"]
# ## Build
#
# ### 1. One query, by hand
#
# The numbers of the picture; the root waits until step 3. Scores: 0·1 + 2·0 = 0, then 0·0 + 2·1 = 2, then 0·0 + 2·0.5 = 1. Exponentials: 1, 7.389, 2.718, together 11.107. Weights: 0.09, 0.67, 0.24. Output: 0.090 · 10 = 0.90 and 0.665 · 10 = 6.65.

# %% tags=["slide"]
from course_lib.softmax import softmax

torch.set_printoptions(precision=2)
scores = keys @ query
weights = softmax(scores)
print("scores ", scores)
print("weights", weights)
print("output ", weights @ values)

# %% [markdown] tags=["slide"]
# ### 2. Every query at once
#
# The other words read as well. *Anna* looks for a person: (2, 0). *letter* looks for nothing: (0, 0). One matrix product compares every query with every key; row $i$ belongs to query $i$. **Predict** the weights of *letter*.

# %% tags=["slide"]
queries = torch.tensor([[2.0, 0.0], [0.0, 0.0], [0.0, 2.0]])
scores = queries @ keys.T  # (query, key)
weights = softmax(scores)
print(weights)
print(weights @ values)

# %% [markdown]
# Who asks for nothing gets the mean of everything. Reading cannot be declined: every row hands out a weight of 1.

# %% [markdown] tags=["slide"]
# ### 3. The root
#
# A score sums d_head products. If all entries are independent with mean 0 and variance 1, each product has variance 1 (its mean is 0, and the mean of $q^2 k^2$ is 1 · 1), and the sum has variance d_head. A typical score then has the size $\sqrt{d_\text{head}}$.
#
# **Predict:** a fresh head of width 256 looks at 16 random keys. Without the root, how much weight does the best one get?
#
# The columns: standard deviation of the scores; largest of 16 weights; `gradient`, the length of that weight's gradient (median query): how much it moves when the scores move.

# %%
import math


def fresh_head(d_head, seed, with_root):
    """1,000 random queries, 16 random keys each: scores, largest weights, gradients."""
    generator = torch.Generator().manual_seed(seed)
    queries = torch.randn(1000, 1, d_head, generator=generator)
    keys = torch.randn(1000, 16, d_head, generator=generator)
    scores = (queries * keys).sum(-1)
    if with_root:
        scores = scores / math.sqrt(d_head)
    scores.requires_grad_()
    largest = softmax(scores).amax(-1)
    (gradient,) = torch.autograd.grad(largest.sum(), scores)
    size = gradient.norm(dim=-1).median()
    return scores.std().item(), largest.mean().item(), size.item()


# %%
widths = [4, 16, 64, 256]
found = {}  # (seed, width, number)
for name in ("without root", "with root"):
    rows = [[fresh_head(d, s, name == "with root") for d in widths] for s in range(5)]
    found[name] = torch.tensor(rows)
    print(f"{name:12}    std   largest   gradient")
    for place, width in enumerate(widths):
        std, largest, gradient = found[name].mean(0)[place].tolist()
        print(f"  d_head {width:3}  {std:5.2f}   {largest:7.2f}   {gradient:8.2f}")

# %% tags=["slide"]
from course_lib.figures import draw_curves

show_figure(
    draw_curves(
        widths,
        {name: numbers[:, :, 1] for name, numbers in found.items()},
        "d_head",
        "largest of 16 weights",
        log="x",
    ),
    alt=(
        "Two curves over d_head 4, 16, 64 and 256. Without the root the largest weight "
        "climbs: 0.43, 0.69, 0.85, 0.92. With the root it stays near 0.24. The bars from "
        "the least to the greatest of five seeds are hardly longer than the markers."
    ),
    caption="Without the root, a wide head has made up its mind before it learned anything.",
)


# %% [markdown]
# The standard deviations are near 2, 4, 8 and 16, the root of d_head. After the division they are 1.
#
# The gradient: at small widths sharper scores even help; the trouble comes with width. At 256 without the root it is near 0: softmax is *saturated*, and the head hardly learns to look elsewhere. (The paper's reason, section 3.2.1.) The root makes a fair start; training may then raise the scores.

# %% [markdown] tags=["slide"]
# ### 4. The function
#
# Everything so far, with the mask of lesson 02. Axes in front, such as batch and head, come along.

# %%
def attention(queries, keys, values, allowed=None):
    """Average the values, weighted by how well each query matches each key."""
    scores = queries @ keys.transpose(-2, -1) / math.sqrt(queries.shape[-1])
    if allowed is not None:
        scores = scores.masked_fill(~allowed, -torch.inf)
    weights = softmax(scores)
    return weights @ values, weights


# %% [markdown]
# **Predict** with a pencil, under the causal mask. Row *it* now has the root: its scores are 0, 2/√2 = 1.414 and 0.707; their exponentials 1, 4.113 and 2.028, together 7.141. Then rows *Anna* and *letter*.

# %%
from course_lib.masks import causal_mask

_, weights = attention(queries, keys, values, causal_mask(3))
print(weights)

# %% [markdown]
# *it*: 1, 4.113 and 2.028, each over 7.141, are 0.14, 0.58 and 0.28; without the root 0.09, 0.67 and 0.24. *Anna* may read only itself: 1. *letter* has two equal scores left: a half each.

# %% [markdown] tags=["slide"]
# ### 5. Cut into heads
#
# One query hands out one unit of weight, so one head gives one blend. Two heads give two blends, side by side, that need not be untangled. So the width is cut into slices, one a head, and each head reads for itself.
#
# Below, tens name the position and ones the feature. **Predict** what the second of two heads holds.

# %%
tens = torch.tensor([[[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]])


def split_heads(x, n_heads):
    """Cut the width into heads: (batch, head, position, d_head)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(-3, -2)


print(split_heads(tens, 2)[0])

# %% [markdown]
# Each head holds *all* positions and its half of the features. `unflatten` cut the last axis, to (batch, position, head, d_head). `transpose` swapped position and head, so that attention runs over the positions of one head.
#
# And in memory? A *stride* says how many numbers further on the next entry of an axis lies.

# %%
heads = split_heads(tens, 2)
print("strides before", tens.stride(), "and after", heads.stride())
print("same memory   ", heads.data_ptr() == tens.data_ptr())


# %% [markdown]
# No number moved. The next head lies 2 numbers on, the next position 4: the old memory, read in another order. The way back: swap first, then join.

# %%
def merge_heads(x):
    """Put the heads of a position side by side again."""
    return x.transpose(-3, -2).flatten(-2)


print(torch.equal(merge_heads(heads), tens))

# %% [markdown] tags=["slide"]
# ### 6. The module
#
# Why project? **Predict:** if queries and keys were both `x` itself, what would be special about the table of scores? (`Linear` is `nn.Linear` with the course's initial weights.)

# %% tags=["slide"]
from course_lib.linear import Linear

vectors = torch.randn(5, 8, generator=torch.Generator().manual_seed(1))
scores = vectors @ vectors.T
print("x with x:   symmetric", torch.allclose(scores, scores.T))

scores = Linear(8, 8)(vectors) @ Linear(8, 8)(vectors).T
print("projected:  symmetric", torch.allclose(scores, scores.T))


# %% [markdown]
# Without matrices, *it* would match *letter* exactly as well as *letter* matches *it*. A matrix for each role makes looking for a thing different from being one, and from what is handed over.
#
# The last projection, `to_output`, mixes the heads: before it, each feature comes from one head alone.

# %%
class MultiHeadAttention(nn.Module):
    """Project, read in several heads at once, join, project back."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.to_queries = Linear(d_model, d_model)
        self.to_keys = Linear(d_model, d_model)
        self.to_values = Linear(d_model, d_model)
        self.to_output = Linear(d_model, d_model)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory  # another text to read: lesson 05
        queries = split_heads(self.to_queries(x), self.n_heads)
        keys = split_heads(self.to_keys(source), self.n_heads)
        values = split_heads(self.to_values(source), self.n_heads)
        outputs, weights = attention(queries, keys, values, allowed)
        return self.to_output(merge_heads(outputs)), weights


# %% [markdown]
# **Predict:** eight heads instead of one, at the same d_model. How many times the parameters?

# %%
for n_heads in (1, 2, 8, 32):
    module = MultiHeadAttention(32, n_heads)
    outputs, weights = module(torch.zeros(1, 5, 32))
    count = sum(p.numel() for p in module.parameters())
    print(f"{n_heads:2} heads: {count:,} parameters, weights {tuple(weights.shape)}")

# %% [markdown]
# The same, 4 · 32 · 32 weights and 4 · 32 biases: heads *share* the width. What grows is the number of tables, one a head.

# %% [markdown] tags=["slide"]
# ### 7. One head, or several?
#
# Back to the cards, with your module: the same width, parameters and training. **Predict** the share of right digits for 1, 2, 8 and 32 heads. (Twelve trainings: up to half a minute.)

# %% tags=["nbval-ignore-output", "slide"]
by_heads = {}
for n_heads in (1, 2, 8, 32):
    reading = partial(MultiHeadAttention, 32, n_heads)
    by_heads[n_heads] = [fit(reading, seed) for seed in (0, 1, 2)]
    print(f"{n_heads:2} heads", [round(share, 2) for _, share in by_heads[n_heads]])

# %% tags=["slide"]
shares = {n: [share for _, share in found] for n, found in by_heads.items()}
assert all(0.45 < share < 0.75 for share in shares[1])
assert all(share > 0.85 for share in shares[2] + shares[8])
assert max(shares[32]) < min(shares[8])
print("as expected")


# %% [markdown]
# One head gets about half. **Predict:** half of the first digits and half of the second, or most of one? `by_asked` counts the two apart, and says how much of the head's weight lies on the card that each letter asks for.

# %%
def by_asked(player):
    """For the first and the second letter asked: share right, weight on its card."""
    tokens, answers = deal(2000, torch.Generator().manual_seed(2000))
    with torch.no_grad():
        right = player(tokens).argmax(-1) == answers
        _, weights = player.reading(player.embedding(tokens))
    question = tokens[:, 4] - 60
    asked = torch.stack([question // 6, question % 6], 1)
    is_asked = tokens[:, None, :4] // 10 == asked[:, :, None]  # (row, asked, card)
    on_card = (weights[:, 0, -1:, :4] * is_asked).sum(-1)  # of head 0
    return right.float().mean(0).tolist(), on_card.mean(0).tolist()


# %% tags=["nbval-ignore-output"]
print("asked     first  second   weight: first  second")
for seed, (player, _) in enumerate(by_heads[1]):
    right, on_card = by_asked(player)
    print(
        "seed {}     {:.2f}    {:.2f}            {:.2f}    {:.2f}".format(
            seed, *right, *on_card
        )
    )
    assert max(right) > 0.7
    assert min(right) < 0.45
    assert (right[0] > right[1]) == (on_card[0] > on_card[1])

# %% [markdown]
# One head: about 0.56. It blends the two cards, with more weight on one; the linear layer after it recovers that digit mostly and the other seldom. Two heads keep the digits apart; so do eight. It is not impossible with one: a non-linear layer after the reading could untangle the blend (lesson 06).
#
# 32 heads of width 1 reach about 0.84 in the same 300 steps: one number is little to tell six letters apart. That they could not do it with more steps is not shown.
#
# One task, one width, three seeds. Real models mostly take 64 or 128 numbers a head; SmolLM2 takes 576 / 9 = 64.
#
# What do two heads read in row one, `C4 D3 E6 A9 EA?`

# %% tags=["slide"]
from course_lib.figures import draw_weights

player, _ = fit(partial(MultiHeadAttention, 32, 2), seed=0)
with torch.no_grad():
    _, weights = player.reading(player.embedding(tokens[:1]))
last = weights[0, :, -1]  # (head, key): what the fifth place reads
names = [spell(token) for token in tokens[0].tolist()]
show_figure(
    draw_weights(last, ["0", "1"], names, query_name="head"),
    alt=(
        "Two rows of weights, one a head, over C4, D3, E6, A9 and the question EA. One head puts "
        "nearly all its weight on E6, the other on A9; the rest gets almost nothing."
    ),
    caption="The query is the fifth place, which asks for E and A: each head fetches one.",
)

# %% [markdown] tags=["slide"]
# ### 8. The price
#
# Each query meets each key: $n^2$ scores a head for $n$ positions. **Predict:** twice the length takes how many times the memory? And the time?
#
# In training, torch keeps what the gradient will need. `kept_bytes` counts it, for our function and for PyTorch's *fused kernel*, one compiled routine that does all steps without writing the tables to memory.

# %%
import torch.nn.functional as F


def kept_bytes(read, *inputs):
    """The bytes of all tensors that torch keeps for the gradient of read(*inputs)."""
    kept = {}

    def keep(tensor):
        memory = tensor.untyped_storage()
        kept[memory.data_ptr()] = memory.nbytes()
        return tensor

    inputs = [x.clone().requires_grad_() for x in inputs]
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        read(*inputs)
    return sum(kept.values())


# %%
lengths = [128, 256, 512, 1024, 2048]
kernels = {"ours": attention, "fused": F.scaled_dot_product_attention}
kept = {"ours": [], "fused": []}  # MiB
print("MiB, 8 heads of 64     scores   kept: ours   fused")
for n in lengths:
    inputs = torch.randn(3, 1, 8, n, 64)  # queries, keys, values
    for name, read in kernels.items():
        kept[name].append(kept_bytes(read, *inputs) / 2**20)
    ours, fused = kept["ours"][-1], kept["fused"][-1]
    scores = 8 * n * n * 4 / 2**20
    print(f"{n:8} positions     {scores:7.1f}   {ours:10.1f}   {fused:5.1f}")

# %% tags=["slide"]
show_figure(
    draw_curves(lengths, kept, "positions", "MiB kept", log="xy"),
    alt=(
        "Two rising curves over 128 to 2,048 positions, both axes logarithmic. Ours "
        "climbs from 2.3 to 396 MiB, at the end fourfold for each doubling; the fused "
        "kernel from 1 to 16 MiB, twofold for each doubling."
    ),
    caption="The tables of scores grow with the square of the length; the rest does not.",
)

# %% [markdown]
# Ours keeps three tables the size of the scores: twice the length, four times the memory. The fused kernel keeps queries, keys, values and outputs, which grow like $n$. It works in blocks: some scores are made, used and forgotten, and made again for the gradient. (Without gradients, each table still exists for a moment.)
#
# Now time:

# %%
from course_lib.hardware import fastest_seconds


def milliseconds(read, *inputs):
    """The fastest of three runs, after one to warm up."""
    return 1000 * fastest_seconds(partial(read, *inputs), 3, inputs[0].device)


# %% tags=["nbval-ignore-output", "slide"]
times = {
    name: [milliseconds(read, *torch.randn(3, 1, 8, n, 64)) for n in lengths]
    for name, read in kernels.items()
}
show_figure(
    draw_curves(lengths, times, "positions", "milliseconds", log="xy"),
    alt=(
        "Two rising curves, both axes logarithmic: ours and the fused kernel. At the "
        "greatest length the fused kernel lies below."
    ),
    caption="Time to read, by length, on this machine.",
)
assert times["fused"][-1] < times["ours"][-1]
assert times["ours"][-1] > 4 * times["ours"][-3]


# %% [markdown]
# Expect roughly four times for each doubling at the long end (perhaps one larger step, where the tables stop fitting into the processor's cache), and the fused kernel below: it multiplies as much, but carries no tables to memory and back. Less memory, no fewer comparisons: the square of lesson 00 stays.

# %% [markdown]
# ## Check
#
# Ours against PyTorch and against the library, which runs the formula where weights are asked for, else the fused kernel. 5 queries, 11 keys, some hidden; `results` gives outputs and gradients. Since it wants a function of the inputs alone, a `lambda` fixes the mask and takes the outputs without the weights.

# %%
def results(read, *inputs):
    """What read gives, and the gradients of one mixture of it for every input."""
    inputs = [x.clone().requires_grad_() for x in inputs]
    outputs = read(*inputs)
    mixture = torch.linspace(-1, 1, outputs.numel()).view_as(outputs)
    return outputs, *torch.autograd.grad((outputs * mixture).sum(), inputs)


generator = torch.Generator().manual_seed(0)
q = torch.randn(2, 3, 5, 7, generator=generator)
k, v = torch.randn(2, 2, 3, 11, 7, generator=generator)
allowed = torch.rand(5, 11, generator=generator) < 0.7
assert allowed.any(-1).all()

# %%
masked = partial(library.attention, allowed=allowed)
others = {
    "course_lib, formula": lambda *qkv: masked(*qkv, need_weights=True)[0],
    "course_lib, fused": lambda *qkv: masked(*qkv)[0],
    "torch": lambda *qkv: F.scaled_dot_product_attention(*qkv, attn_mask=allowed),
}
ours = results(lambda *qkv: attention(*qkv, allowed)[0], q, k, v)
for name, read in others.items():
    torch.testing.assert_close(ours, results(read, q, k, v))
    print("equal to", name)

# %% [markdown]
# With as many queries as keys, PyTorch's `is_causal` makes its own mask:

# %%
square = q, k[:, :, :5], v[:, :, :5]
ours, weights = attention(*square, causal_mask(5))
theirs = F.scaled_dot_product_attention(*square, is_causal=True)
torch.testing.assert_close(ours, theirs)
_, theirs = library.attention(*square, causal_mask(5), need_weights=True)
torch.testing.assert_close(weights, theirs)
print("outputs equal to torch's, weights to course_lib's")

# %% [markdown]
# The module, against the library's with the same parameters; then against `nn.MultiheadAttention`, which stacks three projections in one matrix, and where True means *hide*.

# %%
ours = MultiHeadAttention(6, 3)
for part in ours.children():
    nn.init.normal_(part.bias)  # zeros, as at the start, would hide a lost bias
theirs = library.MultiHeadAttention(6, 3)
theirs.load_state_dict(ours.state_dict())
x, memory = torch.randn(2, 5, 6), torch.randn(2, 7, 6)
for read in (theirs, partial(theirs, need_weights=True)):
    torch.testing.assert_close(
        results(lambda *both: ours(*both)[0], x, memory),
        results(lambda *both, read=read: read(*both)[0], x, memory),
    )
print("equal to course_lib: fused and formula")

# %%
reference = nn.MultiheadAttention(6, 3, batch_first=True)
with torch.no_grad():
    three = (ours.to_queries, ours.to_keys, ours.to_values)
    reference.in_proj_weight.copy_(torch.cat([part.weight for part in three]))
    reference.in_proj_bias.copy_(torch.cat([part.bias for part in three]))
reference.out_proj.load_state_dict(ours.to_output.state_dict())

hide = ~causal_mask(5)
torch.testing.assert_close(
    results(lambda x: ours(x, allowed=~hide)[0], x),
    results(lambda x: reference(x, x, x, attn_mask=hide)[0], x),
)
print("equal to torch: outputs and gradients")

# %% [markdown]
# Two properties, asked of the library's module. **Under a causal mask, the future cannot change the past. Without a mask, the order of what is read does not matter:** shuffle the memory, and nothing moves.

# %%
causal = partial(theirs, allowed=causal_mask(5))
changed = x.clone()
changed[:, 3] += 1
difference = causal(changed)[0] - causal(x)[0]
moved = (difference.abs() > 1e-6).any(-1)[0].tolist()
print("position 3 changed; moved:", moved)
assert moved == [False, False, False, True, True]

shuffled = memory[:, torch.tensor([3, 0, 6, 2, 5, 1, 4])]
torch.testing.assert_close(theirs(x, memory)[0], theirs(x, shuffled)[0])
print("memory shuffled; nothing moved")

# %% [markdown]
# So attention reads a *set*; how order enters is lesson 04.
#
# This module stands in every block of a decoder (lesson 07): the 270 heads of lesson 00 are 30 times 9. Lesson 05 gives it a memory to read; lesson 10 keeps its keys and values.
#
# The formula as the library has it; `attention_scores` is our first line. Added: a row that may read nothing gives 0; query heads may share a key head (lesson 10); `bias` is added to the scores (lesson 04). Only the fused path uses `causal`.

# %%
import inspect

from course_lib.attention import formula

print(inspect.getsource(formula._explicit))

# %% [markdown] tags=["slide"]
# ## Misconceptions
#
# ### “Divide by the root of d_model.”
#
# A score sums d_head products, not d_model. With 8 heads of 64, d_model is 512. **Predict** the standard deviation.

# %% tags=["slide"]
queries, keys = torch.randn(2, 8, 200, 64, generator=torch.Generator().manual_seed(0))
products = queries @ keys.transpose(-2, -1)
for name, width in (("d_head ", 64), ("d_model", 512)):
    scores = products / math.sqrt(width)
    largest = softmax(scores).amax(-1).mean()
    print(f"root of {name}: std {scores.std():.2f}, largest of 200: {largest:.3f}")

# %% [markdown]
# No error, only flatter weights. With one head the two roots are equal and a test sees nothing. Test with several; in a fresh module, with inputs of variance 1, the standard deviation of the scores should be near 1.

# %% [markdown] tags=["slide"]
# ### “`view` cuts the heads.”
#
# The shape (batch, head, position, d_head) is asked for directly. **Predict** which positions head 0 now holds.

# %% tags=["slide"]
wrong = tens.view(1, 2, 3, 2)
print(wrong[0])
print("and back:", torch.equal(wrong.view(1, 3, 4), tens))

# %% [markdown]
# The right shape, the wrong contents. `view` deals numbers out in memory order: head 0 got all of position 0 and half of position 1. The way back undoes it, so a round trip proves nothing.
#
# So we ask which output depends on which input, under a causal mask: one right way, three wrong.

# %%
from course_lib.figures import draw_masks

vectors = torch.randn(1, 5, 6, generator=torch.Generator().manual_seed(0))


def reach(split, merge):
    """Which output depends on which input: (output, input) bool."""

    def read(x):
        heads = split(x)
        return merge(attention(heads, heads, heads, causal_mask(5))[0])

    slopes = torch.autograd.functional.jacobian(read, vectors)
    return slopes.abs().sum((0, 2, 3, 5)) > 1e-6  # was (1, 5, 6, 1, 5, 6)


# %%
cut, join = partial(split_heads, n_heads=3), merge_heads
cut_by_view = partial(torch.reshape, shape=(1, 3, 5, 2))  # here the same as view
join_by_view = partial(torch.reshape, shape=(1, 5, 6))
four = {
    "both right": reach(cut, join),
    "cut by view": reach(cut_by_view, join),
    "joined by view": reach(cut, join_by_view),
    "both by view": reach(cut_by_view, join_by_view),
}
print(four["both right"].int())

# %% tags=["slide"]
places = [str(i) for i in range(5)]
show_figure(
    draw_masks(
        {name: (table, places, places) for name, table in four.items()},
        query_name="output",
        key_name="input: is depended on",
    ),
    alt=(
        "Four tables of 5 outputs by 5 inputs; a dot means depends on. Both right: the "
        "lower left triangle. Cut by view, or joined by view: dots above the diagonal "
        "too. Both by view: no dots above the diagonal, but many missing below; output "
        "4 depends on inputs 3 and 4 only."
    ),
    caption="A dot means depends on: one fault leaks the future, two lose the past.",
)


# %% [markdown]
# One fault lets later positions into earlier outputs; the loss then looks too good (lesson 02). Both together pass the round trip *and* the test for leaks. Only the missing dots below the diagonal give them away.

# %% [markdown] tags=["slide"]
# ### “Softmax over either axis: the table is square.”
#
# We take it over the queries, and change the last position.

# %% tags=["slide"]
def read_over_queries(x):
    scores = (x @ x.transpose(-2, -1)).masked_fill(~causal_mask(5), -torch.inf)
    weights = softmax(scores, dim=-2)
    return weights @ x, weights


changed = vectors.clone()
changed[:, -1] += 1
before, weights = read_over_queries(vectors)
after, _ = read_over_queries(changed)
print("row sums", weights.sum(-1))
print("moved   ", ((after - before).abs() > 1e-6).any(-1))

# %% [markdown]
# Columns sum to 1, rows do not. Each denominator holds scores of later queries: the future leaks, in spite of the mask. Print the row sums.

# %% [markdown] tags=["slide"]
# ### “The weights explain the output.”
#
# Two readings, with weights (0.8, 0.1, 0.1) and (0.1, 0.8, 0.1), of the values (10, 10, 0) and of the values (10, 90, 0). **Predict** the four outputs.

# %% tags=["slide"]
one, other = torch.tensor([0.8, 0.1, 0.1]), torch.tensor([0.1, 0.8, 0.1])
alike = torch.tensor([10.0, 10.0, 0.0])
unlike = torch.tensor([10.0, 90.0, 0.0])
print(f"values alike:  {one @ alike:4.1f} and {other @ alike:4.1f}")
print(f"values unlike: {one @ unlike:4.1f} and {other @ unlike:4.1f}")

# %% [markdown]
# Alike values: the same output. Unlike: the first reading takes 0.8 of value 0, and still gets more from value 1, 9 against 8. A weight is a *share*; it does not say of how much.
#
# So too in the real model. In lesson 00 much weight lay on the first token, *Anna*. What if we count weight times length of the value, over all heads of that layer? **Predict:** more or less than the weight? (As Kobayashi et al. 2020, but theirs takes the length after the output projection.)

# %% tags=["weights"]
from course_lib import pretrained

try:
    decoder, tokenizer = pretrained.load("smollm2")
except pretrained.AssetError as problem:
    print(problem)
else:
    ids, record = tokenizer.encode("Anna wrote a letter and she sent it"), {}
    with torch.no_grad():
        decoder(torch.tensor([ids]), record=record)
    weights = record["self", 13][0, :, -1]  # (head, key): what the last token reads
    values = record["self", 13, "inputs"]["values"][0]  # 3 heads, each for 3 of the 9
    amounts = weights * values.norm(dim=-1).repeat_interleave(3, 0)
    print(f"weight on Anna {weights[:, 0].mean():.2f}")
    print(f"weight × length {amounts[:, 0].sum() / amounts.sum():.2f}")

# %% [markdown]
# A large share of a short vector: the weight is parked there, as lesson 00 said. And after the mix come `to_output` and all later layers. Weights are a clue; to learn what matters, change the input and see.

# %% [markdown]
# ## On a GPU
#
# A GPU multiplies far faster than it carries numbers to and from memory. Our function sends each table through memory several times while the multipliers wait; a fused kernel keeps a block of scores beside them (Dao et al. 2022). **Predict:** how many times as fast is it here?

# %% tags=["gpu"]
from course_lib.hardware import device, dtype

on = device()
n = 4096 if on.type == "cuda" else 512
inputs = torch.randn(3, 1, 8, n, 64, device=on, dtype=dtype(on))
ours = attention(*inputs)[0]
torch.testing.assert_close(ours, kernels["fused"](*inputs), atol=0.02, rtol=0.02)
print("the same outputs, with and without tables of scores")

# %% tags=["gpu", "nbval-ignore-output"]
operations = 2 * 2 * 8 * n * n * 64  # multiply and add, for scores and for outputs
took = {name: milliseconds(read, *inputs) for name, read in kernels.items()}
for name, time in took.items():
    print(f"{name:5} {time:7.2f} ms, {operations / time / 1e6:7.1f} billion a second")
print(f"{n} positions, {inputs.dtype}, {on.type}")
print(f"the fused kernel is {took['ours'] / took['fused']:.1f} times as fast")
assert took["fused"] < took["ours"]


# %% [markdown]
# Both lines count the same operations; the traffic differs. Expect the gap to be widest on a GPU with 16-bit numbers, where multiplying is cheapest (not measured for this page). Lesson 15 computes such speeds in advance.

# %% [markdown]
# ## Exercise
#
# **A. Compute** (20 minutes). Be the fused kernel. Write `read_in_blocks(query, keys, values, block)`: one query (d_head,), keys and values (key, d_head), output (d_head,). Look at `block` keys at a time (the last may be shorter), at each key once, and never hold all scores. The result is that of `attention`, also for scores in the thousands. No mask. (The check cannot see whether you held all scores.)

# %%
def read_in_blocks(query, keys, values, block):
    """Your code."""


# %%
def try_blocks(read):
    """Say whether read agrees with attention, for several blocks and sizes of scores."""
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(4, generator=generator)
    keys, values = torch.randn(2, 7, 4, generator=generator)
    if read(query, keys, values, 3) is None:
        return "not written yet"
    for size in (1, 1000):
        expected = attention(size * query[None], keys, values)[0][0]
        for block in (7, 1, 3):
            found = read(size * query, keys, values, block)
            if not torch.allclose(found, expected, atol=1e-5):
                return f"block {block}, query times {size}: {found}, not {expected}"
    return "right"


print(try_blocks(read_in_blocks))

# %% [markdown]
# <details><summary>A nudge</summary>
#
# The output is one sum divided by another. Both grow from block to block and contain a factor $e^{-\text{largest}}$: what must happen to them when a larger score turns up?
# </details>
#
# <details><summary>A stronger hint</summary>
#
# Keep three things: the largest score so far, the sum of exponentials, and the sum of exponentials times values. When the largest grows from $m$ to $m'$, multiply both sums by $e^{m-m'}$. Start with $m = -\infty$.
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def read_in_blocks(query, keys, values, block):
#     largest, total, mixed = torch.tensor(-torch.inf), 0.0, torch.zeros_like(values[0])
#     for start in range(0, len(keys), block):
#         scores = keys[start : start + block] @ query / math.sqrt(len(query))
#         highest = torch.maximum(largest, scores.max())
#         shrink = (largest - highest).exp()  # 0 at the first block
#         exponentials = (scores - highest).exp()
#         total = total * shrink + exponentials.sum()
#         mixed = mixed * shrink + exponentials @ values[start : start + block]
#         largest = highest
#     return mixed / total
# ```
#
# Subtracting a constant changes no softmax (lesson 01); one factor moves the old sums to the new maximum. The mean of the blocks' own outputs would be wrong: each was divided by its own sum.
# </details>
#
# **B. Debug** (5 minutes). A three-sided coin chose the fault: the cut, the join or both. Name it, with `reach` and the right parts `cut` and `join`.

# %%
coin = torch.randint(3, (1,), generator=torch.Generator().manual_seed(3)).item()
mystery_cut = [cut_by_view, cut, cut_by_view][coin]
mystery_join = [join, join_by_view, join_by_view][coin]
fault = None  # "cut", "join" or "both"

# %%
replies = {None: "not answered yet", ["cut", "join", "both"][coin]: "right"}
print(replies.get(fault, "no: try each mystery part with the right other one"))

# %% [markdown]
# <details><summary>Solution</summary>
#
# `reach(mystery_cut, join)` is the triangle, so the cut is right. `reach(cut, mystery_join)` has dots above the diagonal: the join is wrong. One right part at a time names the fault.
# </details>

# %% [markdown]
# ## Quiz
#
# Choose, then read the reason. Where no kernel runs, the reasons are folded below each question.

# %%
from course_lib.quiz import show_quiz

show_quiz("attention")

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. (2017), *Attention Is All You Need*, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762). Section 3.2 is this lesson; footnote 4 argues for the root.
# - Bhojanapalli et al. (2020), *Low-Rank Bottleneck in Multi-head Attention Models*, [arXiv:2002.07028](https://arxiv.org/abs/2002.07028). What heads lose when they are too narrow.
# - Jain, Wallace (2019), *Attention is not Explanation*, [arXiv:1902.10186](https://arxiv.org/abs/1902.10186). Other weights, the same prediction, measured on real tasks.
# - Kobayashi et al. (2020), *Attention is Not Only a Weight*, [arXiv:2004.10102](https://arxiv.org/abs/2004.10102). Weight times length, in BERT and in a translator.
# - Dao et al. (2022), *FlashAttention*, [arXiv:2205.14135](https://arxiv.org/abs/2205.14135). The fused kernel, and why memory traffic decides.
