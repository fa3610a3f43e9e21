# %% [markdown] tags=["slide"]
# # What happens between two readings?
#
# **You need** lessons 00 to 05; of these, most of all attention (lesson 03).
#
# **You build** `FeedForward` and `GatedFeedForward`: the sublayer that holds most of a block's parameters in GPT-2 and SmolLM2.
#
# **You will be able to** *compute* a feed-forward layer and its parameters by hand, *explain* why two linear layers need a bend between them, and *debug* a layer that lost its bend or mixes positions.
#
# About 50 minutes.

# %% [markdown] tags=["slide"]
# ## Question
#
# The card game of lesson 03: four cards, each with a letter and a digit, then a question that asks for the digits of two letters. Two heads got nearly all digits right; one head got about half, since it hands over a single blend. Lesson 03 promised that a non-linear layer after it could untangle the blend. (Skim the cells that set this up.)

# %%
import torch
from torch import nn

from course_lib.attention import MultiHeadAttention
from course_lib.softmax import cross_entropy


def deal(n_rows, generator):
    """Deal four cards and a question: tokens (row, 5), answers (row, 2)."""
    letters = torch.rand(n_rows, 6, generator=generator).argsort(-1)[:, :4]
    digits = torch.randint(0, 10, (n_rows, 4), generator=generator)
    asked = torch.rand(n_rows, 4, generator=generator).argsort(-1)[:, :2]
    first, second = letters.gather(1, asked).T
    question = 60 + 6 * first + second
    tokens = torch.cat([10 * letters + digits, question[:, None]], 1)
    return tokens, digits.gather(1, asked)


# %% [markdown]
# One head reads. Then two linear layers, 32 → 128 → 32, may rework each place, with a `bend` between them, a function of single numbers. Their result is *added* to what was read (the ⊕ of lesson 00).

# %%
class Player(nn.Module):
    """Read with one head, perhaps rework, name two digits."""

    def __init__(self, bend):
        super().__init__()
        self.embedding = nn.Embedding(96, 32)
        self.reading = MultiHeadAttention(d_model=32, n_heads=1)
        self.answer = nn.Linear(32, 20)
        self.rework = None
        if bend is not None:
            self.rework = nn.Sequential(nn.Linear(32, 128), bend, nn.Linear(128, 32))

    def forward(self, tokens):
        x, _ = self.reading(self.embedding(tokens))
        if self.rework is not None:
            x = x + self.rework(x)
        return self.answer(x[:, -1]).view(-1, 2, 10)  # (row, asked, digit)


# %%
def play(bend, seed):
    """Train a player on 400 deals of 64 rows; give its share right on 2,000 others."""
    torch.manual_seed(seed)
    player, generator = Player(bend), torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(player.parameters(), lr=0.005)
    for _ in range(400):
        tokens, answers = deal(64, generator)
        loss = cross_entropy(player(tokens), answers)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    tokens, answers = deal(2000, torch.Generator().manual_seed(1000 + seed))
    with torch.no_grad():
        return (player(tokens).argmax(-1) == answers).float().mean().item()


# %% [markdown]
# Three players: without the two layers; with them, but no bend (`Identity` changes nothing); with them and `ReLU`, which replaces negative numbers by 0. **Predict** each share of right digits. (Nine trainings, some ten seconds.)

# %% tags=["nbval-ignore-output"]
bends = {"no layers": None, "no bend": nn.Identity(), "ReLU": nn.ReLU()}
shares = {}
for name, bend in bends.items():
    shares[name] = [play(bend, seed) for seed in (0, 1, 2)]
    print(f"{name:9}", [round(share, 2) for share in shares[name]])

# %%
assert all(0.45 < share < 0.68 for share in shares["no layers"] + shares["no bend"])
assert all(share > 0.75 for share in shares["ReLU"])
print("as expected")

# %% [markdown]
# The same 8,352 added parameters are worth nothing without the bend, and most of the missing digits with it. The bend itself has no parameters. Why does it matter so much?

# %% [markdown] tags=["slide"]
# ## Picture
#
# Between two readings, the letter writer of lesson 00 reworks each word alone. In numbers: each position's vector is made wide, bent, and made narrow again. The figure has three positions, d_model 2 and d_ff 3; step 1 computes its numbers. **Predict:** which arrows will be missing?

# %%
from course_lib.figures import new_figure, show_figure


def draw_columns(levels):
    """Draw vectors (position, width) by level, bottom first; each column alone."""
    fig, axes = new_figure(7, 3.5)
    for height, (name, vectors) in enumerate(levels.items()):
        axes.text(-1.1, height, name, va="center", ha="right")
        for position, vector in enumerate(vectors.int().tolist()):
            for place, number in enumerate(vector):
                x = 2.2 * position + 0.45 * (place - (len(vector) - 1) / 2)
                box = {"boxstyle": "square,pad=0.3", "fc": "white", "ec": "#0072B2"}
                axes.text(x, height, number, ha="center", va="center", bbox=box)
            if height:
                ends = (2.2 * position, height - 0.22), (2.2 * position, height - 0.78)
                axes.annotate("", *ends, arrowprops={"arrowstyle": "-|>"})
    for position in range(3):
        axes.text(2.2 * position, -0.45, f"position {position}", ha="center", va="top")
    axes.set(xlim=(-3.6, 5.3), ylim=(-0.8, len(levels) - 0.6))
    axes.axis("off")
    return fig


# %% tags=["slide"]
x = torch.tensor([[0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])  # (position, d_model)
wide = torch.tensor([[-1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, -1.0, 0.0]])
narrow = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
levels = {
    "x: d_model": x,
    "hidden: d_ff": wide,
    "bent: d_ff": wide.relu(),
    "outputs: d_model": narrow,
}
show_figure(
    draw_columns(levels),
    alt=(
        "Three columns, one a position, read from the bottom up; arrows lead upwards "
        "only. Position 0: x is 0 1, hidden -1 1 0, bent 0 1 0, outputs 1 0. Position "
        "1: x is 1 1, hidden 0 0 1, bent the same, outputs 0 1. Position 2: x is 1 0, "
        "hidden 1 -1 0, bent 1 0 0, outputs 1 0."
    ),
    caption="Each position is widened, bent and narrowed alone, by the same weights.",
)

# %% [markdown]
# None leads from column to column. Attention carries things between positions; this layer works on what has arrived.

# %% [markdown] tags=["slide"]
# ## Definition
#
# $$\text{FeedForward}(x) = \varphi(x W_1 + b_1)\, W_2 + b_2$$
#
# $$\text{GatedFeedForward}(x) = \big(\varphi(x W_g) \odot x W_1\big)\, W_2$$
#
# | symbol | word | shape |
# |---|---|---|
# | $x$ | `x`: the vector of one position | (d_model) |
# | $W_1$, $b_1$ | `to_hidden` | (d_model, d_ff), (d_ff) |
# | $\varphi$ | the bend; usual names: non-linearity, *activation* | works on each number alone |
# | $\varphi(x W_1 + b_1)$ | the hidden units, bent | (d_ff) |
# | $W_2$, $b_2$ | `to_output` | (d_ff, d_model), (d_model) |
# | $W_g$ | `to_gate` | (d_model, d_ff) |
# | $\odot$ | times, number by number | |
# | outputs | what is added to the residual stream | (d_model) |
#
# Only the last axis is worked on. A linear layer stores its matrix as (out, in), so $W_1$ is `to_hidden.weight.T`.
#
# Source: Vaswani et al. (2017), equation 2 in section 3.3, with ReLU, $\varphi(z) = \max(0, z)$, and widths 512 → 2048 → 512; four times as wide is still the custom. Gated: Shazeer (2020), equation 6, without biases.

# %% [markdown] tags=["slide"]
# ## Build
#
# ### 1. Add two bits, by hand
#
# In binary, 0 + 1 is 01 and 1 + 1 is 10. From two bits $a$, $b$ we want two: *sum* (1 if exactly one of them is 1) and *carry* (1 if both are). Three hidden units: $a - b$ is positive for “only $a$”, $b - a$ for “only $b$”, $a + b - 1$ for “both”; ReLU drops what is negative. Then sum = first plus second, carry = third ($b_2$ is 0). With a pencil: (1, 1) gives 0, 0, 1, so sum 0 and carry 1.

# %% tags=["slide"]
bits = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
W1 = torch.tensor([[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])  # (d_model, d_ff)
b1 = torch.tensor([0.0, 0.0, -1.0])
W2 = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # (d_ff, d_model)
added = (bits @ W1 + b1).relu() @ W2
print("  a b     sum carry")
for pair, result in zip(bits.int().tolist(), added.int().tolist(), strict=True):
    print(" ", *pair, "     ", *result)
assert torch.equal((x @ W1 + b1).relu() @ W2, narrow)  # the figure's numbers

# %% [markdown] tags=["slide"]
# ### 2. Take the bend away
#
# **Predict:** the same weights without ReLU. What becomes of the sum?

# %% tags=["slide"]
print((bits @ W1 + b1) @ W2)
print(W1 @ W2)

# %% [markdown]
# $a - b$ and $b - a$ cancel: the first column is gone. And no other weights would help, for
#
# $$(x W_1 + b_1) W_2 + b_2 = x\,(W_1 W_2) + (b_1 W_2 + b_2)$$
#
# is *one* linear layer, however wide d_ff was: $W_1 W_2$ is (d_model, d_model). Its rank, the number of independent directions that come through, is at most d_model, and at most d_ff.

# %%
generator = torch.Generator().manual_seed(0)
for d_ff in (3, 20):
    first = torch.randn(7, d_ff, generator=generator)
    second = torch.randn(d_ff, 7, generator=generator)
    vectors = torch.randn(11, 7, generator=generator)
    torch.testing.assert_close((vectors @ first) @ second, vectors @ (first @ second))
    rank = torch.linalg.matrix_rank(first @ second).item()
    print(f"7 → {d_ff:2} → 7: {2 * 7 * d_ff:3} parameters act as 7 · 7, rank {rank}")

# %% [markdown]
# The best that one linear layer can do for the two bits, by least squares (a column of ones serves as its bias):

# %%
with_ones = torch.cat([bits, torch.ones(4, 1)], 1)
best = with_ones @ torch.linalg.lstsq(with_ones, added).solution
print(best.round(decimals=2))
print(f"mean squared error {(best - added).square().mean():.3f}")


# %% [markdown]
# It answers ½ for every sum: mean squared error ¼. Its carry is off by ¼ each time: 1/16. The mean of both, 0.156, is the *floor* of everything linear.
#
# Now by training, 300 steps from random weights. **Predict** each error, and whether training finds the 3 hidden units that suffice. (A unit that is 0 for all four rows is counted as *dead*.)

# %%
def trained_error(layers, seed, rate=0.03):
    """Train on the four rows; give the mean squared error that is left."""
    torch.manual_seed(seed)
    for part in layers.modules():
        if isinstance(part, nn.Linear):
            part.reset_parameters()
    optimiser = torch.optim.Adam(layers.parameters(), lr=rate)
    for _ in range(300):
        error = (layers(bits) - added).square().mean()
        optimiser.zero_grad()
        error.backward()
        optimiser.step()
    return error.item()


# %% tags=["nbval-ignore-output"]
errors = {}
for name, d_ff in (("no bend", 64), ("ReLU", 3), ("ReLU", 64)):
    layers = nn.Sequential(nn.Linear(2, d_ff), bends[name], nn.Linear(d_ff, 2))
    errors[name, d_ff], dead = [], []
    for seed in (0, 1, 2):
        errors[name, d_ff].append(round(trained_error(layers, seed), 3))
        dead.append((layers[:2](bits) == 0).all(0).sum().item())  # 0 for every row
    print(f"{name:7} d_ff {d_ff:2}  errors {errors[name, d_ff]}  dead units {dead}")

# %%
assert all(abs(error - 0.156) < 0.01 for error in errors["no bend", 64])
assert all(error < 0.01 for error in errors["ReLU", 64])
print("as expected")

# %% [markdown]
# Linear: the floor. ReLU with 64 units: 0. With 3 units a solution exists, but these three runs got stuck (other seeds find it): some units are *dead*, negative for all four rows, so they hand on 0 and get a gradient of 0. Of 64 many are dead too, most from the start, and enough are left. Width helps to *find* a solution.
#
# Back to the Question: after the reading came a linear layer, `answer`. Two more in front of it are still one, and so is their sum with what was read: $x + x W_1 W_2 = x\,(I + W_1 W_2)$, biases aside.

# %% [markdown] tags=["slide"]
# ### 3. Four bends
#
# ReLU has a corner at 0. GELU has none: it multiplies $z$ by the share of the standard normal distribution (mean 0, variance 1) that lies below $z$, which libraries compute by the error function, erf. SiLU (or *swish*) multiplies it by the sigmoid $1 / (1 + e^{-z})$.
#
# $$\text{GELU}(z) = z \cdot \tfrac12\big(1 + \operatorname{erf}(z/\sqrt2)\big), \qquad \text{SiLU}(z) = \frac{z}{1 + e^{-z}}$$
#
# The GELU paper also offers a stand-in without erf, with which GPT-2 was trained:
#
# $$z \cdot \tfrac12\Big(1 + \tanh\big(\sqrt{2/\pi}\,(z + 0.044715\, z^3)\big)\Big)$$

# %%
import math


def relu(z):
    return z.clamp(min=0)


def gelu(z):
    return z * (1 + torch.special.erf(z / math.sqrt(2))) / 2


def gelu_tanh(z):
    inner = math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)
    return z * (1 + torch.tanh(inner)) / 2


def silu(z):
    return z / (1 + torch.exp(-z))


BENDS = {"relu": relu, "gelu": gelu, "gelu_tanh": gelu_tanh, "silu": silu}

# %% [markdown]
# **Predict** the values at −1 and at 1. (Of the standard normal distribution 0.841 lies below 1; the sigmoid of 1 is 0.731.)

# %% tags=["slide"]
from course_lib.figures import draw_curves

for name, bend in BENDS.items():
    below, above = bend(torch.tensor([-1.0, 1.0])).tolist()
    print(f"{name:9} {below:6.3f} {above:6.3f}")
z = torch.linspace(-4, 4, 17)
curves = {name: BENDS[name](z) for name in ("relu", "gelu", "silu")}
show_figure(
    draw_curves(z.tolist(), curves, "z", "bent"),
    alt=(
        "Three curves over z from -4 to 4. ReLU is 0 up to z = 0, then z. GELU and "
        "SiLU run below 0 on the left, SiLU deeper and longer, and approach z on the "
        "right."
    ),
    caption="Three bends: all let large numbers pass and hold negative ones back.",
)

# %% [markdown]
# How far apart are the two GELUs? A fine grid tells:

# %%
grid = torch.linspace(-6, 6, 12_001, dtype=torch.float64)
gap = (gelu(grid) - gelu_tanh(grid)).abs()
print(f"largest difference {gap.max():.1e}, at |z| = {grid[gap.argmax()].abs():.1f}")

# %% [markdown]
# Half a thousandth. Does it matter? See Misconceptions.

# %% [markdown] tags=["slide"]
# ### 4. The module
#
# Widen, bend, narrow. (`Linear` is `nn.Linear` with the course's initial weights.) **Predict** its parameters for d_model 5, d_ff 11.

# %%
from course_lib.linear import Linear


class FeedForward(nn.Module):
    """Widen, bend, narrow: each position alone."""

    def __init__(self, d_model, d_ff, activation="relu", bias=True):
        super().__init__()
        self.activation = BENDS[activation]
        self.to_hidden = Linear(d_model, d_ff, bias)
        self.to_output = Linear(d_ff, d_model, bias)

    def forward(self, x):
        return self.to_output(self.activation(self.to_hidden(x)))


# %%
def n_parameters(module):
    return sum(p.numel() for p in module.parameters())


small = FeedForward(5, 11)
print(n_parameters(small), "parameters")
print("shape", tuple(small(torch.zeros(2, 3, 5)).shape))

# %% [markdown]
# 5 · 11 + 11 and 11 · 5 + 5: 126. Roughly $2 \cdot d_\text{model} \cdot d_\text{ff}$.

# %% [markdown] tags=["slide"]
# ### 5. The gate
#
# A second projection decides how much of each hidden unit passes. So a unit *multiplies* two readings of $x$: with $\varphi$ = ReLU, unit 0 below is $\max(0, a) \cdot b$, for bits the carry, without a bias. The others are $\max(0, a - b) \cdot (a - b)$ and its mirror. **Predict** the row (0, 1).

# %% tags=["slide"]
Wg = torch.tensor([[1.0, 1.0, -1.0], [0.0, -1.0, 1.0]])
W1 = torch.tensor([[0.0, 1.0, -1.0], [1.0, -1.0, 1.0]])
hidden = (bits @ Wg).relu() * (bits @ W1)
print(hidden.int())
assert torch.equal(hidden @ W2[[2, 0, 1]], added)  # carry stands first here


# %% [markdown]
# With SiLU as the gate's bend this is called **SwiGLU**. Llama and SmolLM2 have it.

# %%
class GatedFeedForward(nn.Module):
    """Let one projection gate another, then narrow."""

    def __init__(self, d_model, d_ff, activation="silu", bias=False):
        super().__init__()
        self.activation = BENDS[activation]
        self.to_gate = Linear(d_model, d_ff, bias)
        self.to_hidden = Linear(d_model, d_ff, bias)
        self.to_output = Linear(d_ff, d_model, bias)

    def forward(self, x):
        return self.to_output(self.activation(self.to_gate(x)) * self.to_hidden(x))


# %% [markdown]
# Three matrices instead of two. For equal parameters the width shrinks to 2/3: with $d$ for d_model, $3 \cdot d \cdot (\tfrac23 \cdot 4d) = 8d^2 = 2 \cdot d \cdot 4d$. **Predict** d_ff for d_model 576.

# %%
plain = FeedForward(576, 4 * 576, bias=False)
gated = GatedFeedForward(576, 4 * 576 * 2 // 3)
print("d_ff", gated.to_hidden.out_features)
print(f"{n_parameters(plain):,} and {n_parameters(gated):,}")

# %% [markdown]
# 1536: the width of SmolLM2.

# %% [markdown] tags=["slide"]
# ### 6. Which bend?
#
# An experiment: small language models that predict the next character of the source of your own Python. Equal parameters, five seeds, for each seed the same windows in the same order; “no bend”, ReLU and GELU even start from the same weights. 150 updates of 16 windows of 16 characters, one learning rate for all. Six files are kept apart for validation. (`train` is lesson 11, `Decoder` lesson 08.)

# %%
import inspect
from pathlib import Path

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.training import inputs_and_targets, train


def source(names):
    """The characters of library modules as ids below 128, one after another."""
    folder = Path(inspect.__file__).parent
    texts = [(folder / f"{name}.py").read_text("utf-8") for name in names.split()]
    return torch.tensor(list("\n".join(texts).encode("ascii", "replace")))


learned = source(
    "argparse ast calendar cmd configparser csv difflib doctest ftplib inspect locale "
    "mailbox optparse pdb pickle random shutil smtplib socket statistics subprocess "
    "tarfile tempfile textwrap threading traceback turtle typing uuid"
)
unseen = source("bisect fractions heapq imaplib selectors tokenize")


# %%
def windows(text, n_rows, seed):
    """Random windows of 17 characters, cut into 16 inputs and 16 targets."""
    generator = torch.Generator().manual_seed(seed)
    starts = torch.randint(len(text) - 16, (n_rows,), generator=generator)
    return inputs_and_targets(text[starts[:, None] + torch.arange(17)])


CHANGES = {
    "no bend": {},
    "ReLU": {"activation": "relu"},
    "GELU": {"activation": "gelu"},
    "SwiGLU": {"activation": "silu", "gated": True, "d_ff": 128},
}


def small_model(name, seed):
    """Two blocks of width 48, d_ff 192 (gated: 128)."""
    sizes = {"vocab_size": 128, "d_model": 48, "n_layers": 2, "n_heads": 4}
    config = DecoderConfig(**sizes, bias=False, **CHANGES[name])
    model = Decoder(config, torch.Generator().manual_seed(seed))
    if name == "no bend":
        for block in model.stack.blocks:
            block.feed_forward.activation = nn.Identity()
    return model


# %%
def validation_loss(name, seed):
    """Train; give the model and its loss on unseen files, in nats a character."""
    model = small_model(name, seed)
    batches = [windows(learned, 16, 1000 * seed + step) for step in range(150)]
    train(model, batches, n_steps=150, learning_rate=0.01, warmup_steps=15)
    inputs, targets = windows(unseen, 1500, seed=1_000_000)
    with torch.no_grad():
        return model, cross_entropy(model(inputs), targets).item()


print({name: n_parameters(small_model(name, 0)) for name in CHANGES})

# %% [markdown]
# **Predict:** no bend, ReLU, GELU, SwiGLU: who will be best, and is the order certain? Seeds differ, so each seed is compared with *itself*. (Twenty trainings, about half a minute.)

# %% tags=["nbval-ignore-output"]
models, losses = {}, {}
for name in CHANGES:
    runs = [validation_loss(name, seed) for seed in range(5)]
    models[name] = runs[0][0]
    losses[name] = torch.tensor([loss for _, loss in runs])
    print(f"{name:8}", [round(loss, 3) for _, loss in runs])

print("\nminus the loss with ReLU, seed by seed:")
for name in ("no bend", "GELU", "SwiGLU"):
    paired = losses[name] - losses["ReLU"]
    low, high = paired.min().item(), paired.max().item()
    signs = "one sign" if low > 0 or high < 0 else "both signs"
    print(f"{name:8} mean {paired.mean():+.3f}, {low:+.3f} to {high:+.3f}: {signs}")

# %%
assert (losses["no bend"] - losses["ReLU"]).mean() > 0.02
print("as expected")


# %% [markdown]
# Without the bend the model is worse for every seed, though attention and norms still bend. GELU and SwiGLU have differences of both signs here: that they differ from ReLU is *not shown*. (Even without any difference, five equal signs come once in 16 times. Try seeds 10 to 14: “no bend” loses again; the others may change places.)
#
# Shazeer (2020, table 1) had a model of T5's base size and 524,288 steps: ReLU 1.677 nats a token, GELU 1.679, SwiGLU 1.636, and ReGLU, a gate with ReLU, 1.645. There the gate made most of the difference (one run each).

# %% [markdown] tags=["slide"]
# ### 7. Where the parameters sit
#
# Each attention has two matrices of (d_model, d_model), for queries and output, and two of (d_model, `n_kv_heads` · d_head), for keys and values. (In SmolLM2 nine query heads share three key heads: lesson 10.)

# %%
def by_formula(config):
    """Parameters of a block's attention and feed-forward layers, biases included."""
    d, d_kv = config.d_model, config.n_kv_heads * config.d_head
    attention = 2 * d * d + 2 * d * d_kv + config.bias * (2 * d + 2 * d_kv)
    n_wide = 2 if config.gated else 1  # matrices that lead to d_ff
    feed = (n_wide + 1) * d * config.d_ff + config.bias * (n_wide * config.d_ff + d)
    return attention * (2 if config.cross_attention else 1), feed


# %% [markdown]
# **Predict:** which share of a block of GPT-2 small is feed-forward? Of SmolLM2? Of the original, with its cross-attention? On the `meta` device (lesson 00) real blocks are counted without memory.

# %%
from course_lib.block import Block

print("              attention  feed-forward   norms   share")
for preset in ("gpt2_small", "smollm2_135m", "original"):
    config = getattr(DecoderConfig, preset)()
    with torch.device("meta"):
        block = Block(config)
    feed = n_parameters(block.feed_forward)
    attention = n_parameters(block.self_attention)
    if block.cross_attention is not None:
        attention += n_parameters(block.cross_attention)
    assert (attention, feed) == by_formula(config)
    norms = n_parameters(block) - feed - attention
    share = feed / n_parameters(block)
    print(f"{preset:12} {attention:10,} {feed:13,} {norms:7,} {share:7.0%}")

# %% [markdown]
# GPT-2: $8d^2$ against $4d^2$, two thirds. SmolLM2: three quarters, since its keys and values are narrow. The original: as good as equal, since it has two attentions. Where there is one attention, most of a block is feed-forward.

# %% [markdown] tags=["slide"]
# ### 8. One unit of a real model
#
# What do so many units do? Each has a row in $W_2$ (a column of `to_output.weight`): what it adds to the stream when active. Compare that row with every token's embedding, and you see what it *writes*. Of all 30 · 1536 units we took the one that adds most to the score of *to* after *Anna wrote a letter and she sent it*. **Predict:** with this unit silenced, how far does the probability of *to* fall? And with its neighbour silenced?

# %% tags=["weights"]
from course_lib import pretrained
from course_lib.softmax import softmax

try:
    decoder, tokenizer = pretrained.load("smollm2")
except pretrained.AssetError as problem:
    print(problem)
else:
    columns = decoder.stack.blocks[25].feed_forward.to_output.weight  # (d_model, d_ff)
    written = (decoder.embedding.weight @ columns[:, 1449]).topk(5).indices.tolist()
    print("writes", [tokenizer.token(i) for i in written])
    ids = tokenizer.encode("Anna wrote a letter and she sent it")
    with torch.no_grad():
        for silenced in ([], [1448], [1449]):
            kept = columns[:, silenced].clone()
            columns[:, silenced] = 0
            probabilities = softmax(decoder(torch.tensor([ids]))[0, -1])
            columns[:, silenced] = kept
            to = probabilities[tokenizer.encode(" to")[0]]
            print(f"silenced {str(silenced):6} {to:.2f}")

# %% [markdown]
# One unit for *to*, in English and in Chinese (到). Geva et al. (2021) read the whole layer this way, as a memory: $W_1$ recognises, $W_2$ writes. Do not expect every unit to read so easily: this one was the strongest of 46,080, for one sentence.

# %% [markdown]
# ## Check
#
# The bends against PyTorch; then the modules against the library's, with the same parameters.

# %%
from functools import partial

import torch.nn.functional as F

from course_lib import feed_forward as library

torch_bends = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
}
z = torch.linspace(-6, 6, 101, dtype=torch.float64)
for name, bend in BENDS.items():
    torch.testing.assert_close(bend(z), torch_bends[name](z))
    torch.testing.assert_close(bend(z), library.activation(name)(z))
print("equal:", ", ".join(BENDS))


# %%
def results(read, x, parameters):
    """Outputs, and the gradients of one mixture of them for x and the parameters."""
    x = x.clone().requires_grad_()
    outputs = read(x)
    mixture = torch.linspace(-1, 1, outputs.numel()).view_as(outputs)
    inputs = [x, *parameters]
    return outputs, *torch.autograd.grad((outputs * mixture).sum(), inputs)


def randomised(module):
    """The module with random parameters: biases of 0 would hide a lost one."""
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    return module


# %%
x = torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(0))
pairs = {FeedForward: library.FeedForward, GatedFeedForward: library.GatedFeedForward}
for our_class, their_class in pairs.items():
    for name in BENDS:
        for bias in (True, False):
            ours = randomised(our_class(5, 11, name, bias))
            theirs = their_class(5, 11, name, bias)
            theirs.load_state_dict(ours.state_dict())
            torch.testing.assert_close(
                results(ours, x, ours.parameters()),
                results(theirs, x, theirs.parameters()),
            )
print("equal to course_lib: outputs and gradients")

# %% [markdown]
# An independent reference: the paper also calls the layer “two convolutions with kernel size 1”. A convolution slides along the positions; with kernel size 1 it sees one at a time. PyTorch has it, with features before positions:

# %%
ours = randomised(library.FeedForward(5, 11))
sliding = nn.Sequential(nn.Conv1d(5, 11, 1), nn.ReLU(), nn.Conv1d(11, 5, 1))
with torch.no_grad():
    for there, here in zip(sliding.parameters(), ours.parameters(), strict=True):
        there.copy_(here.view(there.shape))
found = results(lambda x: sliding(x.mT).mT, x, sliding.parameters())
for there, here in zip(found, results(ours, x, ours.parameters()), strict=True):
    torch.testing.assert_close(there.view(here.shape), here)
print("equal to two convolutions of size 1: outputs and gradients")

# %% [markdown]
# The defaults, and the gate: only the gate is bent, and SwiGLU has no biases.

# %%
torch.manual_seed(0)  # now and then a position closes every ReLU: not from here
ours, gated = library.FeedForward(5, 11), library.GatedFeedForward(5, 11)
assert (n_parameters(ours), n_parameters(gated)) == (126, 165)
gate, hidden = gated.to_gate(x), gated.to_hidden(x)
torch.testing.assert_close(gated(x), gated.to_output(F.silu(gate) * hidden))
torch.testing.assert_close(ours(x), ours.to_output(F.relu(ours.to_hidden(x))))
print("defaults: ReLU with biases; SwiGLU without")

# %% tags=["compare"]
from transformers import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaMLP

config = LlamaConfig(
    hidden_size=5, intermediate_size=11, num_attention_heads=1, head_dim=2
)
llama = LlamaMLP(config)
swiglu = library.GatedFeedForward(5, 11)
names = {"to_gate": "gate_proj", "to_hidden": "up_proj", "to_output": "down_proj"}
with torch.no_grad():
    for name, other in names.items():
        getattr(swiglu, name).weight.copy_(getattr(llama, other).weight)
torch.testing.assert_close(swiglu(x), llama(x))
print("equal to transformers' Llama")


# %% [markdown]
# The property: **each position alone.** Shuffle positions, and the outputs are shuffled alike. Sharper, as in lesson 03: which output depends on which input? `jacobian` gives the slope of every output number for every input number.

# %%
def reach(layer, x):
    """Which output position depends on which input position: (output, input) bool."""
    slopes = torch.autograd.functional.jacobian(layer, x)  # twice (position, d_model)
    return slopes.abs().sum((1, 3)) > 0


vectors = torch.randn(7, 5, generator=torch.Generator().manual_seed(1))
order = torch.tensor([3, 0, 6, 2, 5, 1, 4])
for layer in (ours, gated):
    torch.testing.assert_close(layer(vectors[order]), layer(vectors)[order])
    assert torch.equal(reach(layer, vectors), torch.eye(7, dtype=torch.bool))
print(reach(gated, vectors).int())

# %% [markdown]
# Only the diagonal. So positions may be computed in any order, at once or one by one, and a cache (lesson 10) needs to keep nothing of this layer.
#
# The library's forward is ours, with the shapes stated:

# %%
print(inspect.getsource(library.GatedFeedForward.forward))

# %% [markdown] tags=["slide"]
# ## Misconceptions
#
# ### “More layers make it stronger, bend or not.”
#
# Eight linear layers, 64 wide, on the two bits, in steps of 0.003 (of 0.03, so deep a stack may fly off). **Predict** the error.

# %% tags=["nbval-ignore-output", "slide"]
between = [nn.Linear(64, 64) for _ in range(6)]
deep = nn.Sequential(nn.Linear(2, 64), *between, nn.Linear(64, 2))
error = trained_error(deep, seed=0, rate=0.003)
print(f"{n_parameters(deep):,} parameters, error {error:.3f}")
assert 0.15 < error < 0.17

# %% [markdown]
# The floor of step 2: the product of eight matrices is a matrix. How one notices: without a bend, $f(x) + f(-x) = 2 f(0)$ for every $x$ (though some bends, without biases, pass this too).

# %% [markdown] tags=["slide"]
# ### “It sees the neighbours.”
#
# Two real faults: positions and features flattened into one vector; the wrong axis, which nothing refuses with as many positions as features. **Predict** the tables of dependence.

# %%
from course_lib.figures import draw_masks

square = torch.randn(5, 5, generator=torch.Generator().manual_seed(2))
alone, flat = library.FeedForward(5, 11, "gelu"), library.FeedForward(25, 40, "gelu")
tables = {
    "right": reach(alone, square),
    "flattened": reach(lambda x: flat(x.flatten()).view(5, 5), square),
    "wrong axis": reach(lambda x: alone(x.mT).mT, square),
}
places = [str(i) for i in range(5)]

# %% tags=["slide"]
show_figure(
    draw_masks(
        {name: (table, places, places) for name, table in tables.items()},
        query_name="output",
        key_name="input: is depended on",
    ),
    alt=(
        "Three tables of 5 outputs by 5 inputs; a dot means depends on. Right: the "
        "diagonal only. Flattened, and wrong axis: all cells."
    ),
    caption="A dot: the output depends on the input; two wrong layers mix all positions.",
)
assert tables["flattened"].all()
assert tables["wrong axis"].all()


# %% [markdown]
# Later positions leak into earlier ones, past every causal mask, and the layer fits one length only. How one notices: run a longer text. (What a position knows of its neighbours, attention put there before.)

# %% [markdown] tags=["slide"]
# ### “GELU is GELU: either form will do for GPT-2's weights.”
#
# Twelve layers of GPT-2's design at a quarter of its width, fresh weights. We exchange the form and watch the stream; then the loss of step 6's GELU model, and last rounding alone. **Predict:** does the difference grow from layer to layer, or fade?

# %%
def stream_with(model, name, tokens):
    """The residual stream after each block, then the logits, under a given bend."""
    found, hooks = [], []

    def keep(block, inputs, outputs):
        found.append(outputs)

    for block in model.stack.blocks:
        block.feed_forward.activation = library.activation(name)
        hooks.append(block.register_forward_hook(keep))
    with torch.no_grad():
        logits = model(tokens)
    for hook in hooks:
        hook.remove()
    return [*found, logits]


# %%
config = DecoderConfig.gpt2_small(vocab_size=1000, d_model=192, n_heads=3, dropout=0.0)
gpt2 = Decoder(config, torch.Generator().manual_seed(0))
tokens = torch.randint(1000, (3, 32), generator=torch.Generator().manual_seed(1))
right = stream_with(gpt2, "gelu_tanh", tokens)
wrong = stream_with(gpt2, "gelu", tokens)
gaps = [(a - b).abs().max().item() for a, b in zip(right, wrong, strict=True)]
for place in (0, 5, 11):
    size = right[place].std()
    print(f"after layer {place + 1:2}: {gaps[place]:.0e}, of a deviation of {size:.2f}")
print(f"logits: {gaps[12]:.0e}, of a standard deviation of {right[12].std():.2f}")

# %%
assert gaps[0] < gaps[5] < gaps[11]
assert 1e-5 < gaps[12] < 0.01
inputs, targets = windows(unseen, 1500, seed=1_000_000)
one, other = (
    cross_entropy(stream_with(models["GELU"], name, inputs)[-1], targets)
    for name in ("gelu", "gelu_tanh")
)
assert abs(one - other) < 0.002
print("the trained GELU model of step 6: the same loss, within 0.002 nats")

# %%
in_float64 = stream_with(gpt2.double(), "gelu_tanh", tokens)
assert (in_float64[12] - right[12]).abs().max() < gaps[12] / 50
print("rounding moves these logits by less than a fiftieth of the gap")

# %% [markdown]
# It grows as the stream itself does, since each layer adds its share to both, and stays small. (Trained weights may show another size.) So the loss does not give the mistake away. A comparison of logits with the reference does, since rounding is far smaller. Do not widen the tolerance; find the cause.

# %% [markdown] tags=["slide"]
# ### “SwiGLU is better: we swapped it in at 4 · d_model.”
#
# **Predict** how many more parameters the new layer has.

# %% tags=["slide"]
relu_size = n_parameters(library.FeedForward(576, 2304, bias=False))
for d_ff in (2304, 1536):
    size = n_parameters(library.GatedFeedForward(576, d_ff))
    print(f"d_ff {d_ff}: {size / relu_size:.2f} times the parameters")

# %% [markdown]
# Half as many again, and half as much work again: two changes at once, so the result speaks for neither. How one notices: print the parameters beside every comparison.

# %% [markdown]
# ## On a GPU
#
# Both matrices must come from memory, for one position as for 512. The **arithmetic intensity** counts operations for each byte carried; a product and its addition are two. **Predict:** 512 positions are 512 times the work. How many times the time?

# %% tags=["gpu"]
from course_lib.hardware import device, dtype, fastest_seconds

on = device()
kind = dtype(on)
d = 4096 if on.type == "cuda" else 1024
network = library.FeedForward(d, 4 * d, bias=False).to(on, kind)


def work(n):
    """Operations of the layer for n positions, and bytes carried at least."""
    operations = 2 * n * (2 * d * 4 * d)
    numbers = 2 * d * 4 * d + n * (d + 4 * d + 4 * d + d)  # weights; in and out, twice
    return operations, numbers * kind.itemsize


def seconds(module, *inputs, **settings):
    """The fastest of five runs, after one to warm up; no gradients are prepared."""
    with torch.no_grad():
        return fastest_seconds(partial(module, *inputs, **settings), 5, on)


# %% tags=["gpu", "nbval-ignore-output"]
times, speeds = {}, {}
for n in (1, 512):
    operations, n_bytes = work(n)
    times[n] = seconds(network, torch.randn(n, d, device=on, dtype=kind))
    speeds[n] = operations / times[n]
    print(f"{n:3} positions: {operations / n_bytes:5.1f} operations a byte,", end=" ")
    print(f"{1000 * times[n]:.2f} ms, {speeds[n] / 1e9:,.0f} billion a second")
print(f"512 positions took {times[512] / times[1]:.0f} times as long")
assert speeds[512] > 3 * speeds[1]

# %% [markdown]
# Far less than 512 times. At one position every weight is carried for two operations, and the multipliers wait. So it is when a decoder writes (lesson 10), and why one lets it write many texts at once (lesson 13).
#
# Second: which sublayer takes the time? For $n$ positions of width $d$, feed-forward needs $16 n d^2$ operations, attention $8 n d^2$ for projections and $4 n^2 d$ for scores and mix (half of that where the kernel skips the hidden half). **Predict:** at which $n$ do scores and mix, not halved, cost as much as feed-forward?

# %% tags=["gpu", "nbval-ignore-output"]
width = 2048 if on.type == "cuda" else 256
feed = library.FeedForward(width, 4 * width).to(on, kind)
heads = MultiHeadAttention(width, n_heads=width // 64).to(on, kind)
measured = []
for n in (width // 2, 4 * width, 16 * width):
    text = torch.randn(1, n, width, device=on, dtype=kind)
    both = seconds(feed, text), seconds(heads, text, causal=True)
    measured.append(both[0] / sum(both))
    counted = 16 * width / (16 * width + 8 * width + 2 * n)
    print(f"{n:5} positions: feed-forward {measured[-1]:.0%} of the time,", end=" ")
    print(f"{counted:.0%} of the operations")
assert measured[-1] < measured[0]


# %% [markdown]
# $16 n d^2 = 4 n^2 d$ gives $n = 4d$, or $8d$ with half skipped. Far below, a block's work is feed-forward and projections; far above, the square of lesson 03. The time may shift sooner than the count, for the count leaves out the softmax. (Only a CPU was measured for this page.)

# %% [markdown]
# ## Exercise
#
# **A. Compute** (15 minutes). Hidden units do not know of each other, so several machines can each keep some of them (lesson 15). Write `by_slices(x, network, width)`: x (..., d_model), `network` a `FeedForward`, perhaps without biases. Compute at most `width` hidden units at a time (the last slice may be smaller). The result is that of `network(x)`.

# %%
def by_slices(x, network, width):
    """Your code."""


# %%
def counted_bend(widths, z):
    """The bend, which notes how many units it was given."""
    widths.append(z.shape[-1])
    return library.activation("gelu")(z)


def differs(found, right):
    """Say how two results differ, or nothing."""
    if found.shape != right.shape:
        return f"shape {tuple(found.shape)}, not {tuple(right.shape)}"
    if not torch.allclose(found, right, atol=1e-4):
        extra = (found - right).flatten(0, -2).std(0).max()
        return "off by the same vector everywhere" if extra < 1e-4 else "differs"


# %%
def try_slices(answer):
    """Say whether answer agrees with the whole layer, for several sizes."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(2, 3, 5, generator=generator)
    for bias in (True, False):
        network = library.FeedForward(5, 11, "gelu", bias)
        for parameter in network.parameters():
            nn.init.normal_(parameter, generator=generator)
        for width in (11, 1, 4):
            widths, right = [], network(x)
            network.activation = partial(counted_bend, widths)
            found = answer(x, network, width)
            network.activation = library.activation("gelu")
            if found is None:
                return "not written yet"
            if not widths:
                return "which bend? it is network.activation"
            if max(widths) > width:
                return f"{max(widths)} hidden units at once, not {width}"
            if sum(widths) != 11:
                return f"width {width}: {sum(widths)} of 11 hidden units were used"
            if fault := differs(found, right):
                return f"width {width} of 11 units, biases {bias}: {fault}"
    return "right"


print(try_slices(by_slices))


# %% [markdown]
# <details><summary>A nudge</summary>
#
# Which rows of `to_hidden.weight`, (d_ff, d_model), make hidden units 4 to 7? Which columns of `to_output.weight`, (d_model, d_ff), do they meet?
# </details>
#
# <details><summary>A stronger hint</summary>
#
# Bend each slice, take it through its part of `to_output`, and add up the parts. `to_hidden.bias` is cut like the units. `to_output.bias` belongs to no unit: how often should it be added? Without biases, `.bias` is `None`.
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def by_slices(x, network, width):
#     up, down = network.to_hidden, network.to_output
#     outputs = torch.zeros_like(x) if down.bias is None else down.bias
#     for start in range(0, up.out_features, width):
#         units = slice(start, start + width)
#         bias = None if up.bias is None else up.bias[units]
#         hidden = network.activation(F.linear(x, up.weight[units], bias))
#         outputs = outputs + F.linear(hidden, down.weight[:, units])
#     return outputs
# ```
#
# The sum starts from the output bias, so it counts once. The bend works on single numbers and may be applied slice by slice; a softmax could not.
# </details>
#
# **B. Debug** (10 minutes). A three-sided coin chose the fault. Name it from what the layer *does*, with a test for each suspect.

# %%
class Mystery(FeedForward):
    """A layer with one of three faults."""

    def __init__(self, coin):
        super().__init__(5, 11)
        self.coin = coin

    def forward(self, x):
        hidden = self.to_hidden(x)
        if self.coin == 0:  # "leaks": centred along the wrong axis
            hidden = hidden - hidden.mean(-2, keepdim=True)
        if self.coin == 1:  # "no bend"
            return self.to_output(hidden)
        outputs = self.to_output(hidden.relu())
        return outputs.relu() if self.coin == 2 else outputs  # "bent twice"


coin = torch.randint(3, (1,), generator=torch.Generator().manual_seed(5)).item()
torch.manual_seed(0)
mystery = randomised(Mystery(coin))
fault = None  # "leaks", "no bend" or "bent twice"

# %%
replies = {None: "not answered yet", ["leaks", "no bend", "bent twice"][coin]: "right"}
print(replies.get(fault, "no: each test clears or convicts one suspect; do all three"))

# %% [markdown]
# <details><summary>A hint</summary>
#
# `vectors` is at hand. A leak shows in `reach(mystery, vectors)`. Without a bend, `mystery(vectors) + mystery(-vectors)` equals `2 * mystery(0 * vectors)`. What can no output be after a ReLU?
# </details>
#
# <details><summary>Solution</summary>
#
# `reach` shows nothing off the diagonal: no leak. $f(x) + f(-x)$ is not $2 f(0)$: there is a bend. No output is negative: it was bent twice. Such a layer could only ever add to the residual stream, never take away.
# </details>

# %% [markdown]
# ## Quiz
#
# Choose, then read the reason. Where no kernel runs, the reasons are folded below each question.

# %%
from course_lib.quiz import show_quiz

show_quiz("feed_forward")

# %% [markdown]
# ## Further reading
#
# Lesson 07 puts this layer and attention on one residual stream. Many of the largest models keep several such layers side by side and let each token choose a few: a *mixture of experts*.
#
# - Vaswani et al. (2017), *Attention Is All You Need*, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762). Section 3.3 is half a page: equation 2, the widths, and the two convolutions.
# - Hendrycks, Gimpel (2016), *Gaussian Error Linear Units*, [arXiv:1606.08415](https://arxiv.org/abs/1606.08415). Section 2: GELU, its tanh form, and SiLU.
# - Shazeer (2020), *GLU Variants Improve Transformer*, [arXiv:2002.05202](https://arxiv.org/abs/2002.05202). Gates at equal parameters; the conclusion is honest about why they help.
# - Geva et al. (2021), *Transformer Feed-Forward Layers Are Key-Value Memories*, [arXiv:2012.14913](https://arxiv.org/abs/2012.14913). What makes single units fire, and what they write.
