# %% [markdown] tags=["slide"]
# # What keeps a deep stack trainable?
#
# **You need** lessons 01 to 06.
#
# **You build** `layer_norm`, `rms_norm`, `Block` and `Stack`: the sublayers of lessons 03 to 06, put together so that many layers learn.
#
# **You will be able to** *compute* a norm by hand, *explain* what residual and norm each do for a deep stack, and *debug* a block by what it does.
#
# About 75 minutes.

# %% [markdown] tags=["slide"]
# ## Question
#
# A network reads Python code and predicts each next character. It consists of *blocks*: self-attention, then feed-forward, each handing its output to the next. It learns from ten modules of your Python's standard library; three others are for the test. (Skim the set-up.)

# %%
import importlib.util
from pathlib import Path

import torch
from torch import nn


def source(modules):
    """The source code of modules of the standard library, as ids below 128."""
    paths = [importlib.util.find_spec(name).origin for name in modules.split()]
    text = "\n".join(Path(path).read_text(encoding="utf-8") for path in paths)
    return torch.tensor(list(text.encode("ascii", "ignore")))


# %%
learn = source(
    "argparse configparser dataclasses difflib heapq "
    "random shutil statistics tempfile textwrap"
)
held_out = source("calendar csv fractions")


def sample(ids, n_rows, generator):
    """Rows of 32 characters, and the character after each: two (row, 32)."""
    starts = torch.randint(0, len(ids) - 32, (n_rows,), generator=generator)
    pieces = ids[starts[:, None] + torch.arange(33)]
    return pieces[:, :-1], pieces[:, 1:]


# %%
from course_lib.linear import Linear
from course_lib.positions import sinusoids


class Reader(nn.Module):
    """Embed characters, pass the blocks, score the next character."""

    def __init__(self, blocks, final_norm):
        super().__init__()
        self.embedding, self.head = nn.Embedding(128, 32), Linear(32, 128)
        self.blocks, self.final_norm = nn.ModuleList(blocks), final_norm

    def stream(self, tokens):
        x = self.embedding(tokens) + sinusoids(tokens.shape[1], 32)
        for block in self.blocks:
            x = block(x, causal=True)
        return x

    def forward(self, tokens):
        return self.head(self.final_norm(self.stream(tokens)))


# %% [markdown]
# `Bare` uses the sublayers of the library's block and nothing else. (`kinds` will collect its rivals; `config` names sizes and parts.)

# %%
from course_lib import block as library


class Bare(library.Block):
    """Each sublayer replaces what it was given."""

    def forward(self, x, causal):
        x, _ = self.self_attention(x, causal=causal)
        return self.feed_forward(x)


kinds = {"bare": Bare}

# %%
from course_lib.block import make_norm
from course_lib.config import DecoderConfig


def make_reader(kind, n_blocks, seed):
    """A reader whose blocks are all of one kind, with random weights."""
    torch.manual_seed(seed)
    pre_norm = kind == "pre-norm"
    sizes = dict(vocab_size=128, d_model=32, n_heads=4, n_layers=n_blocks)
    parts = dict(positions="none", activation="relu", pre_norm=pre_norm)
    config = DecoderConfig(**sizes, **parts)
    blocks = [kinds[kind](config, layer) for layer in range(n_blocks)]
    return Reader(blocks, make_norm(config) if pre_norm else nn.Identity())


# %%
from course_lib.softmax import cross_entropy

test = sample(held_out, 64, torch.Generator().manual_seed(0))


def fit(kind, n_blocks, seed, n_steps=100, learning_rate=0.003):
    """Train a reader on 8 new rows a step; give it, and its loss on the test rows."""
    reader = make_reader(kind, n_blocks, seed)
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(reader.parameters(), lr=learning_rate)
    for _ in range(n_steps):
        inputs, targets = sample(learn, 8, generator)
        loss = cross_entropy(reader(inputs), targets)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        return reader, cross_entropy(reader(test[0]), test[1]).item()


# %% [markdown]
# For scale: a guesser that reads nothing and only knows how common each character is. **Predict:** two blocks or eight, 100 steps of 8 rows each, three seeds. Which loss is lower, and does it beat the guesser?

# %% tags=["nbval-ignore-output"]
counts = torch.bincount(learn, minlength=128) + 1.0
guess = -(counts / counts.sum()).log()[test[1]].mean().item()
losses = {}
for n_blocks in (2, 8):
    losses["bare", n_blocks] = [fit("bare", n_blocks, seed)[1] for seed in (0, 1, 2)]
    print(f"{n_blocks} blocks", [round(loss, 2) for loss in losses["bare", n_blocks]])
print(f"guesser  {guess:.2f}")

# %%
assert max(losses["bare", 2]) < guess - 0.1
assert all(abs(loss - guess) < 0.1 for loss in losses["bare", 8])
print("as expected")

# %% [markdown]
# Four times the blocks, and worse: each seed ends where the guesser stands, near 3.05. The deep reader behaves as if it did not know what it has just read. Where did the input go?

# %% [markdown] tags=["slide"]
# ## Picture
#
# The letter writer of lesson 00 has a *safety rope*: what was there is never lost (**residual**). And a *ruler*: every line is brought to the same size (**norm**). They go together in two ways. Follow the thick line. **Predict:** in which does the input reach the top unchanged, with something added?

# %%
from course_lib.figures import new_figure, show_figure


def draw_block(axes, x, title, norm_first):
    """Two sublayers beside a stream that rises at x."""

    def box(x, y, words, colour):
        look = {"boxstyle": "square,pad=0.4", "facecolor": colour, "edgecolor": "k"}
        axes.text(x, y, words, ha="center", va="center", bbox=look, zorder=3)

    axes.annotate("", (x, 8.9), (x, -0.4), arrowprops={"arrowstyle": "->", "lw": 3})
    for y, name in ((0, "attention"), (4.2, "feed-forward")):
        axes.plot([x, x + 2, x + 2, x], [y, y, y + 3, y + 3], "k", lw=1)
        box(x + 2, y + 2, name, "white")
        axes.text(x, y + 3, "+", ha="center", va="center", bbox={"fc": "w"}, zorder=3)
        box(*((x + 2, y + 0.9) if norm_first else (x, y + 3.75)), "norm", "#EEEEEE")
    axes.text(x + 1, 9.4, title, ha="center", weight="bold")


# %% tags=["slide"]
fig, axes = new_figure(7, 4.6)
draw_block(axes, 0, "post-norm", norm_first=False)
draw_block(axes, 5.5, "pre-norm", norm_first=True)
axes.set(xlim=(-1, 9), ylim=(-0.5, 9.9))
axes.axis("off")
show_figure(
    fig,
    alt=(
        "Two blocks side by side, to be read upwards; in each rises a thick line, the "
        "residual stream. A branch leaves it, goes through attention and comes back at "
        "a plus; above, another goes through feed-forward. Post-norm, left: a norm "
        "stands on the thick line after each plus. Pre-norm, right: a norm stands in "
        "each branch, before the sublayer; on the thick line are only two plus signs."
    ),
    caption="Post-norm measures the stream itself, pre-norm what a sublayer reads.",
)


# %% [markdown]
# In pre-norm. There the thick line, the **residual stream**, is only ever added to.

# %% [markdown] tags=["slide"]
# ## Definition
#
# A norm works on each position's vector $x$ alone:
#
# $$\text{layer\_norm}(x) = \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} \odot g + b, \qquad \text{rms\_norm}(x) = \frac{x}{\sqrt{\overline{x^2} + \varepsilon}} \odot g$$
#
# A sublayer $f$ with residual, in the two orders:
#
# $$\text{post-norm:}\quad x \leftarrow \text{norm}(x + f(x)) \qquad\qquad \text{pre-norm:}\quad x \leftarrow x + f(\text{norm}(x))$$
#
# | symbol | word | shape |
# |---|---|---|
# | $x$ | one position's vector; where $f$ takes it, those of all | (d_model); (position, d_model) |
# | $\mu$ | mean of its numbers | a number per position |
# | $\sigma^2$ | variance: the sum of $(x - \mu)^2$, divided by d_model and not d_model − 1 | a number per position |
# | $\overline{x^2}$ | mean of the squares; its root is the RMS, the *root mean square* | a number per position |
# | $\varepsilon$ | `eps`, a small number | a number |
# | $g$, $b$ | `gain`, `bias`, learned; 1 and 0 at the start | (d_model) |
# | $\odot$ | number by number | |
# | $f$ | a sublayer: attention or feed-forward | (position, d_model) to the same |
#
# Mean 0 and variance 1 hold *before* gain and bias.
#
# Sources: Ba et al. (2016), eq. 4; Zhang, Sennrich (2019), eq. 4; both without $\varepsilon$. Post-norm: Vaswani et al. (2017), section 3.1. Pre-norm with a final norm: Radford et al. (2019, GPT-2), section 2.3.

# %% [markdown] tags=["slide"]
# ## Build
#
# ### 1. The ruler, by hand
#
# (1, 3): mean 2, deviations −1 and 1, variance (1 + 1)/2 = 1; so (−1, 1). **Predict** (1, 1, 1, 5): mean 2, deviations −1, −1, −1 and 3, variance 12/4 = 3, root 1.732.

# %% tags=["slide"]
def layer_norm(x, gain, bias, eps=1e-5):
    """Centre each position's vector, scale it to variance 1, apply gain and bias."""
    centred = x - x.mean(-1, keepdim=True)
    variance = centred.square().mean(-1, keepdim=True)
    normed = centred / (variance + eps).sqrt() * gain
    return normed if bias is None else normed + bias


torch.set_printoptions(precision=3, sci_mode=False)
x = torch.tensor([1.0, 1.0, 1.0, 5.0])
ones, zeros = torch.ones(4), torch.zeros(4)
print(layer_norm(torch.tensor([1.0, 3.0]), ones[:2], zeros[:2]))
print(layer_norm(x, ones, zeros))

# %% [markdown]
# Now (10, 10, 10, 50), then (8, 8, 8, 12), then (7, 7, 7, 7). **Predict** each.

# %%
for other in (10 * x, x + 7, torch.full((4,), 7.0)):
    print(layer_norm(other, ones, zeros))


# %% [markdown]
# Size and shift are gone. Four equal numbers would be 0/0; `eps` makes that 0.
#
# ### 2. RMSNorm
#
# Many newer models leave out centring and bias. (1, 7): squares 1 and 49, mean 25, root 5; so (0.2, 1.4). **Predict:** does a shift change it?

# %%
def rms_norm(x, gain, eps=1e-5):
    """Scale each position's vector to root mean square 1, apply the gain."""
    mean_square = x.square().mean(-1, keepdim=True)
    return x / (mean_square + eps).sqrt() * gain


x = torch.tensor([1.0, 7.0])
for other in (x, 10 * x, x + 7):
    print(rms_norm(other, torch.ones(2)))

# %% [markdown]
# A shift does, a size does not.
#
# ### 3. The rope, by hand
#
# Two positions, (1, 0) and (0, 1), and the laziest attention: both get the mean of both. Without and with the rope:

# %%
x = torch.eye(2)
mean = x.mean(0).expand(2, 2)
print("x           ", x.tolist())
print("f(x)        ", mean.tolist())
print("x + f(x)    ", (x + mean).tolist())


# %% [markdown]
# Without it the two positions are the same, for ever. With it they differ by as much as before.
#
# How much of a stream tells its positions apart? Subtract the mean over positions: what is left is each position's own. `own_share` is its part of the sum of squares. For `x`: left are four times ±0.5, squares together 1, of 2. For `x + f(x)`: the same 1, of 2.25 + 0.25 + 0.25 + 2.25 = 5.

# %%
def own_share(x):
    """The part of the squares that positions do not share, 0 to 1."""
    own = x - x.mean(-2, keepdim=True)
    return (own.square().sum() / x.square().sum()).item()


print([round(own_share(stream), 2) for stream in (x, mean, x + mean)])

# %% [markdown]
# The difference is kept; what they have in common grew.
#
# The gradient goes the same way back. If $f$ has slope 0.5, a sublayer multiplies the gradient by 0.5, with rope by 1 + 0.5. **Predict** for 4 sublayers, then 96.

# %%
for n in (4, 96):
    print(f"{n:2} sublayers: {0.5**n:.3g} and {1.5**n:.3g}")

# %% [markdown]
# One vanishes, the other explodes. The rope keeps a way open and lets everything grow; the ruler keeps sizes in hand. That is why they come together.
#
# ### 4. Dropout
#
# In training, each number that a sublayer writes is set to 0 with probability $p$, so that nothing can rely on one number alone. The others are divided by $1 - p$. **Predict:** $p = 0.5$, outputs of 3; which values appear, with what mean?

# %%
import torch.nn.functional as F


def drop(x, p, training):
    """Zero each number with probability p; scale the rest so that the mean stays."""
    if not training:
        return x
    return x * (torch.rand_like(x) >= p) / (1 - p)


torch.manual_seed(0)
threes = torch.full((100_000,), 3.0)
for function in (drop, F.dropout):
    for training in (True, False):
        dropped = function(threes, 0.5, training)
        print(dropped[:5].tolist(), "mean", round(dropped.mean().item(), 1))

# %% [markdown]
# 0 or 6, on average 3: evaluation, which drops nothing, meets the sizes of training. `F.dropout` does this. (Vaswani et al., section 5.4.)
#
# ### 5. The block
#
# What a block owns, under the library's names. With cross-attention (lesson 05) it has three sublayers, else two; each has its own norm. (`make_norm` gives the library's norms: our functions as modules that own `gain` and `bias`. `attention_scheme` is of lesson 04, `n_kv_heads` of lesson 10.)

# %%
from course_lib.attention import MultiHeadAttention
from course_lib.feed_forward import FeedForward, GatedFeedForward
from course_lib.positions import attention_scheme


class Sublayers(nn.Module):
    def __init__(self, config, layer=0):
        super().__init__()
        c, self.pre_norm, self.dropout = config, config.pre_norm, config.dropout
        sizes = c.d_model, c.n_heads, c.n_kv_heads, c.bias
        self.self_norm = make_norm(c)
        self.self_attention = MultiHeadAttention(*sizes, attention_scheme(c), layer)
        self.cross = c.cross_attention
        if self.cross:
            self.cross_norm = make_norm(c)
            self.cross_attention = MultiHeadAttention(*sizes, None, layer, cross=True)
        kind = GatedFeedForward if c.gated else FeedForward
        self.feed_norm = make_norm(c)
        self.feed_forward = kind(c.d_model, c.d_ff, c.activation, c.bias)


# %% [markdown]
# And what it does. `add` is the formula. (`allowed` masks self-attention, `memory_allowed` the memory; `reading` hands on `causal` and `positions`.)

# %%
class Block(Sublayers):
    def forward(
        self, residual, memory=None, allowed=None, memory_allowed=None, **reading
    ):
        def read_self(x):
            return self.self_attention(x, allowed=allowed, **reading)[0]

        def read_memory(x):
            return self.cross_attention(x, memory, memory_allowed)[0]

        residual = self.add(residual, self.self_norm, read_self)
        if self.cross:
            residual = self.add(residual, self.cross_norm, read_memory)
        return self.add(residual, self.feed_norm, self.feed_forward)

    def add(self, residual, norm, sublayer):
        outputs = sublayer(norm(residual) if self.pre_norm else residual)
        residual = residual + F.dropout(outputs, self.dropout, self.training)
        return residual if self.pre_norm else norm(residual)


# %% [markdown]
# **Predict:** we change position 2 of five. Which positions move, through a norm, through feed-forward, and through a block with its causal mask?

# %%
from functools import partial


def moved(function, x):
    """Which positions of function(x) move when position 2 of x is changed."""
    changed = x.clone()
    changed[:, 2] += torch.linspace(-1, 2, x.shape[-1])
    difference = (function(changed) - function(x)).abs().amax((0, -1))
    return (difference > 1e-6).nonzero().flatten().tolist()


config = DecoderConfig(2, d_model=12, n_layers=1, n_heads=3, positions="none")
torch.manual_seed(0)
block, x = Block(config), torch.randn(1, 5, 12)
print("norm        ", moved(block.self_norm, x))
print("feed-forward", moved(block.feed_forward, x))
print("block       ", moved(partial(block, causal=True), x))


# %% [markdown] tags=["slide"]
# ### 6. Five stacks before the first step
#
# Does it take the rope, the ruler or both, and does the order matter? We look at fresh readers, without training, up to 48 blocks. **Predict:** what goes wrong with the rope only, and with the ruler only?

# %%
class RopeOnly(Block):
    def add(self, residual, norm, sublayer):
        return residual + sublayer(residual)


class RulerOnly(Block):
    def add(self, residual, norm, sublayer):
        return norm(sublayer(residual))


kinds |= {"rope only": RopeOnly, "ruler only": RulerOnly}
kinds |= {"post-norm": Block, "pre-norm": Block}


# %% [markdown]
# We measure the size (RMS) and the own share of the stream at the top, and for each block the length of its parameters' gradient. All see the same four rows.

# %%
def at_start(kind, n_blocks, seed):
    """Of a fresh reader: size and own share at the top, gradient norm of each block."""
    reader = make_reader(kind, n_blocks, seed)
    inputs, targets = sample(learn, 4, torch.Generator().manual_seed(0))
    stream = reader.stream(inputs)
    scores = reader.head(reader.final_norm(stream))
    cross_entropy(scores, targets).backward()
    found = [stream.square().mean().sqrt().item(), own_share(stream)]
    for block in reader.blocks:
        slopes = [p.grad.flatten() for p in block.parameters() if p.grad is not None]
        found.append(torch.cat(slopes).norm().item())
    return found


# %% tags=["nbval-ignore-output"]
depths = [2, 4, 8, 16, 32, 48]
found = {}  # by kind and depth: (seed, measure)
for kind in kinds:
    for n in depths:
        found[kind, n] = torch.tensor([at_start(kind, n, seed) for seed in (0, 1, 2)])

measures = {"size": 0, "own share": 1, "first gradient": 2, "last gradient": -1}
for measure, column in measures.items():
    print(f"{measure}, 48 blocks, three seeds")
    for kind in kinds:
        numbers = found[kind, 48][:, column].tolist()
        print(f"    {kind:10}", *(f"{number:9.2g}" for number in numbers))

# %%
assert found["bare", 48][:, 2].max() < 1e-8
assert found["rope only", 48][:, 0].min() > 1e6
assert not found["rope only", 48][:, 2].isfinite().any()
assert found["ruler only", 48][:, 1].max() < 1e-9
for kind in ("post-norm", "pre-norm"):
    assert 0.001 < found[kind, 48][:, 2:].min() < found[kind, 48][:, 2:].max() < 100
print("as expected")

# %% [markdown]
# *Bare*: with these starting weights (Glorot's) everything dies, the first block's gradient too. *Rope only*: sizes multiply, until the gradient no longer fits into float32 (inf, then nan); what positions share outgrows what they do not. *Ruler only*: size 1, and gradients that arrive; but all positions have become one (what is left is rounding). The ruler cures the sizes, not the merging.
#
# With both, no gradient vanishes or explodes. Whether the positions stay apart depends on where the ruler lies:

# %%
from course_lib.figures import draw_curves


def by_depth(kind, measure):
    """One measure of one kind: (seed, depth)."""
    column = measures[measure]
    return torch.stack([found[kind, n][:, column] for n in depths], 1)


# %% tags=["nbval-ignore-output", "slide"]
compared = ["bare", "ruler only", "post-norm", "pre-norm"]
show_figure(
    draw_curves(
        depths,
        {kind: by_depth(kind, "own share") for kind in compared},
        "blocks in the stack",
        "own share at the top",
        log="xy",
    ),
    alt=(
        "Four curves over 2 to 48 blocks, both axes logarithmic. Pre-norm falls "
        "slowly, from 0.6 to 0.09. Post-norm falls far lower: 0.4 at 2 blocks, 0.06 "
        "at 8, 3e-8 at 48. Bare and ruler only fall fastest; from 32 blocks on they "
        "lie below 1e-13, which is rounding."
    ),
    caption="At 48 blocks only pre-norm keeps positions apart (bars: least to greatest seed).",
)
assert found["post-norm", 48][:, 1].max() < 1e-4
assert found["pre-norm", 48][:, 1].min() > 0.02

# %% [markdown]
# In post-norm the rope passes under the ruler again and again. Each norm scales down all that came before, so what a position brought along shrinks by a factor each time. In pre-norm nothing scales it down; the common part adds up beside it.
#
# Now the gradients of the two, at the lowest and the topmost block:

# %% tags=["nbval-ignore-output", "slide"]
curves = {
    f"{kind}, {end}": by_depth(kind, f"{end} gradient")
    for kind in ("post-norm", "pre-norm")
    for end in ("first", "last")
}
show_figure(
    draw_curves(depths, curves, "blocks in the stack", "gradient norm", log="xy"),
    alt=(
        "Four curves over 2 to 48 blocks, both axes logarithmic. Last block: post-norm "
        "stays between 1.4 and 2.1, pre-norm falls from 0.9 to 0.23. First block: both "
        "stay near 1; at 48 blocks post-norm's bar reaches from 0.06 to 2."
    ),
    caption="The last block's gradient shrinks with depth in pre-norm only.",
)
post, pre = (by_depth(kind, "last gradient") for kind in ("post-norm", "pre-norm"))
assert post[:, -1].min() > 2.5 * pre[:, -1].max()
assert (pre[:, 0] > 1.5 * pre[:, -1]).all()
assert post.min() > 0.5

# %% tags=["nbval-ignore-output", "slide"]
places = [0, 8, 16, 24, 32, 40, 47]
columns = [2 + place for place in places]
by_place = {kind: found[kind, 48][:, columns] for kind in compared}
show_figure(
    draw_curves(places, by_place, "block, 0 is the lowest", "gradient norm", log="y"),
    alt=(
        "Four curves over the place in a stack of 48 blocks, vertical axis "
        "logarithmic. Bare climbs evenly from 6e-12 at block 0 to 0.3 at block 47. The "
        "other three lie between 0.01 and 10; towards the top pre-norm declines gently."
    ),
    caption="Of these four stacks of 48 blocks, only the bare one's gradients vanish.",
)
assert by_place["bare"][:, 0].max() < 1e-8 < 0.001 < by_place["post-norm"].min()

# %% [markdown]
# Shown: near the output of a deep stack, post-norm's gradients are several times pre-norm's, which shrink with depth (Xiong et al. 2020 derive both). At the first block the seeds overlap: no difference shown. “Post-norm's gradients vanish” is *not* what we see.
#
# ### 7. Does it train?
#
# The question again: two blocks or eight, same data and steps, Adam with learning rate 0.003 from the first step on. **Predict** for each order.

# %% tags=["nbval-ignore-output"]
for kind in ("post-norm", "pre-norm"):
    for n_blocks in (2, 8):
        runs = [fit(kind, n_blocks, seed) for seed in (0, 1, 2)]
        losses[kind, n_blocks] = [loss for _, loss in runs]
        with torch.no_grad():
            fresh = [make_reader(kind, n_blocks, seed) for seed in (0, 1, 2)]
            fresh = [own_share(reader.stream(test[0])) for reader in fresh]
            shares = [own_share(reader.stream(test[0])) for reader, _ in runs]
        print(f"{kind}, {n_blocks} blocks")
        print("    loss     ", *(f"{loss:8.2f}" for _, loss in runs))
        print("    own share", *(f"{share:8.2g}" for share in shares))
        print("    when new ", *(f"{share:8.2g}" for share in fresh))
print(f"guesser {guess:.2f}")

# %%
shallow = losses["post-norm", 2] + losses["pre-norm", 2]
assert max(shallow + losses["pre-norm", 8]) < guess - 0.2
assert all(abs(loss - guess) < 0.1 for loss in losses["post-norm", 8])
print("as expected")

# %% [markdown]
# With two blocks both learn. With eight, pre-norm learns; post-norm stays with the guesser, its own share practically 0. When new it was a few hundredths: training merged the positions, not depth alone. (Try `own_share` on a bare reader after `fit`.) Which is cause and which effect is not separated here, and one learning rate served both orders, tuned for neither. Nor is it shown that post-norm *cannot* learn: the original has six blocks and raises its learning rate slowly (warm-up; Vaswani et al., section 5.3; lesson 11). Try `fit("post-norm", 8, seed, n_steps=200, learning_rate=0.001)`: with twice the steps and a third of the learning rate, the seeds we tried get away.
#
# That eight blocks beat two is not shown either; 100 steps are a short run.
#
# ### 8. The end of the rope
#
# A pre-norm stream is a sum. **Predict:** twice the sublayers, how many times the size? (Last column: whether the root of their number fits.)

# %% tags=["nbval-ignore-output"]
print("sublayers   size: three seeds   root/size")
for n in depths:
    sizes, root = found["pre-norm", n][:, 0], (2 * n) ** 0.5
    print(f"{2 * n:9}  ", *(f"{s:5.1f}" for s in sizes), f"{root / sizes.mean():10.2f}")
    assert 0.9 < root / sizes.mean() < 1.8


# %% [markdown]
# About 1.4 times, the root of two: vectors that know nothing of each other add like the sides of a right angle. So that the scores do not grow with depth, a pre-norm stack ends with one more norm. (It divides the gradients, too: hence the small ones near the output.)

# %%
class Stack(nn.Module):
    """The blocks in order and, in a pre-norm stack, the final norm."""

    def __init__(self, config):
        super().__init__()
        layers = range(config.n_layers)
        self.blocks = nn.ModuleList(Block(config, layer) for layer in layers)
        self.final_norm = make_norm(config) if config.pre_norm else nn.Identity()

    def forward(self, residual, positions=None, **reading):
        scheme = self.blocks[0].self_attention.scheme  # for example rotary
        if scheme is not None and positions is not None:
            positions = scheme.prepare(positions)
        for block in self.blocks:
            residual = block(residual, positions=positions, **reading)
        return self.final_norm(residual)


# %% [markdown]
# A `ModuleList`, so that torch finds the blocks' parameters, and a new `Block` for each layer; `[Block(config)] * 3` is one block three times:

# %%
config = DecoderConfig(2, d_model=12, n_layers=3, n_heads=3)
for blocks in (Stack(config).blocks, nn.ModuleList([Block(config)] * 3)):
    print(len(blocks), "blocks,", sum(p.numel() for p in blocks.parameters()))

# %% [markdown]
# GPT-2 (section 2.3) and the library's `Decoder`, if pre-norm, divide the weights that write to the stream, at the start, by the root of the number of sublayers. And after training? SmolLM2, sizes after 1, 10, 20 and 30 blocks and after the final norm:

# %% tags=["weights"]
from course_lib import pretrained

try:
    decoder, tokenizer = pretrained.load("smollm2")
except pretrained.AssetError as problem:
    print(problem)
else:
    seen = []
    looked_at = [decoder.stack.blocks[i] for i in (0, 9, 19, 29)]
    for part in (*looked_at, decoder.stack.final_norm):
        part.register_forward_hook(lambda part, given, stream: seen.append(stream))
    prompt = tokenizer.encode("Anna wrote a letter and she sent it to her mother.")
    with torch.no_grad():
        decoder(torch.tensor([prompt]))
    lengths = torch.stack([stream[0].square().mean(-1).sqrt() for stream in seen])
    print("first token      ", *(f"{size:7.0f}" for size in lengths[:, 0]))
    others = lengths[:, 1:].median(1).values
    print("others, in median", *(f"{size:7.0f}" for size in others))


# %% [markdown]
# It grows faster than the root of the depth, most of all at the first token, the resting place of lesson 00, where it shrinks again before the top. The final norm brings all to one size.

# %% [markdown]
# ## Check
#
# The norms, against the library and PyTorch, also with tiny inputs, where `eps` counts. `results` gives outputs and gradients.

# %%
def results(function, inputs, parameters=()):
    """What function gives, and the gradients of one mixture of it."""
    inputs = [x.clone().requires_grad_() for x in inputs]
    outputs = function(*inputs)
    mixture = torch.linspace(-1, 1, outputs.numel()).view_as(outputs)
    leaves = [*inputs, *parameters]
    slopes = torch.autograd.grad((outputs * mixture).sum(), leaves, allow_unused=True)
    return [outputs, *(torch.zeros(()) if s is None else s for s in slopes)]


# %%
from course_lib import norms

torch.manual_seed(1)
gain, bias = torch.randn(2, 7)
for size in (1, 0.001):
    x = size * torch.randn(2, 5, 7)
    ours = results(layer_norm, (x, gain, bias))
    for theirs in (norms.layer_norm, lambda x, g, b: F.layer_norm(x, (7,), g, b)):
        torch.testing.assert_close(ours, results(theirs, (x, gain, bias)))
    ours = results(rms_norm, (x, gain))
    for theirs in (norms.rms_norm, lambda x, g: F.rms_norm(x, (7,), g, 1e-5)):
        torch.testing.assert_close(ours, results(theirs, (x, gain)))
print("norms: equal to course_lib and torch")

# %%
sizes = dict(vocab_size=2, d_model=24, n_layers=3, n_heads=6, d_ff=11)
for eps in (1e-5, 0.5):
    for bias in (True, False):
        config = DecoderConfig(**sizes, eps=eps, bias=bias)
        theirs, reference = make_norm(config), nn.LayerNorm(24, eps, bias=bias)
        assert len(list(theirs.parameters())) == 1 + bias
        x = torch.randn(2, 5, 24) / 100
        torch.testing.assert_close(results(theirs, [x]), results(reference, [x]))
    theirs = make_norm(DecoderConfig(**sizes, norm="rms", eps=eps))
    reference = nn.RMSNorm(24, eps)
    torch.testing.assert_close(results(theirs, [x]), results(reference, [x]))
print("norm modules: equal to torch")


# %% [markdown]
# The block, against the library's with the same random parameters, in five families. With dropout both draw the same numbers.

# %%
def randomise(module):
    """Draw every parameter, so that no gain is 1 and no bias 0."""
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.3)
    return module


def both_of(make_ours, make_theirs, **changes):
    """Our module and the library's of one config, with the same random parameters."""
    config = DecoderConfig(**{**sizes, "positions": "none", **changes})
    theirs, ours = randomise(make_theirs(config)), make_ours(config)
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


# %%
from course_lib.masks import causal_mask, padding_mask

families = {
    "original": dict(pre_norm=False, activation="relu", cross_attention=True),
    "gpt-2": dict(activation="gelu_tanh"),
    "rotary, gated, rms": dict(
        positions="rotary", norm="rms", gated=True, bias=False, n_kv_heads=2,
        activation="silu", cross_attention=True,
    ),
    "dropout": dict(dropout=0.5),
    "post-norm, dropout": dict(dropout=0.5, pre_norm=False),
}  # fmt: skip
x, memory = torch.randn(2, 5, 24), torch.randn(2, 7, 24)
hidden = padding_mask([7, 4], 7)

# %%
for name, changes in families.items():
    pair = both_of(Block, library.Block, **changes)
    crossing = changes.get("cross_attention", False)
    inputs = (x, memory) if crossing else (x,)
    options = {"memory_allowed": hidden} if crossing else {}
    scheme = pair[1].self_attention.scheme
    options["positions"] = scheme and scheme.prepare(torch.arange(5))
    for masked in ({"allowed": causal_mask(5)}, {"causal": True}, {}):
        sides = []
        for block in pair:
            torch.manual_seed(2)  # for dropout
            read = partial(block, **options, **masked)
            sides.append(results(read, inputs, block.parameters()))
        torch.testing.assert_close(*sides)
    print("equal:", name)


# %% [markdown]
# Against PyTorch's decoder layer, in both orders. There True means *hide*.

# %%
def copy_attention(ours, theirs):
    """Copy the parameters of our attention into an nn.MultiheadAttention."""
    three = (ours.to_queries, ours.to_keys, ours.to_values)
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([part.weight for part in three]))
        theirs.in_proj_bias.copy_(torch.cat([part.bias for part in three]))
    theirs.out_proj.load_state_dict(ours.to_output.state_dict())


# %%
def copy_block(ours, theirs):
    """Copy the parameters of our block into an nn.TransformerDecoderLayer."""
    copy_attention(ours.self_attention, theirs.self_attn)
    copy_attention(ours.cross_attention, theirs.multihead_attn)
    theirs.linear1.load_state_dict(ours.feed_forward.to_hidden.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.to_output.state_dict())
    for norm, their_norm in (
        (ours.self_norm, theirs.norm1),
        (ours.cross_norm, theirs.norm2),
        (ours.feed_norm, theirs.norm3),
    ):
        their_norm.load_state_dict({"weight": norm.gain, "bias": norm.bias})


# %%
hide = {"tgt_mask": ~causal_mask(5), "memory_key_padding_mask": ~hidden[:, 0, 0]}
allow = {"allowed": causal_mask(5), "memory_allowed": hidden}
for pre_norm in (False, True):
    torch_options = dict(dropout=0.0, batch_first=True, norm_first=pre_norm)
    theirs = nn.TransformerDecoderLayer(24, 6, 11, **torch_options)
    changes = dict(pre_norm=pre_norm, activation="relu", cross_attention=True)
    ours, _ = both_of(Block, library.Block, **changes)
    copy_block(ours, theirs)
    kept = [(norm.gain, norm.bias) for norm in (ours.self_norm, ours.feed_norm)]
    mine = [ours.feed_forward.to_hidden.weight, *kept[0], *kept[1]]
    yours = [theirs.linear1.weight, *theirs.norm1.parameters()]
    yours += theirs.norm3.parameters()
    torch.testing.assert_close(
        results(partial(ours, **allow), (x, memory), mine),
        results(partial(theirs, **hide), (x, memory), yours),
    )
    print("equal to torch: norm_first", pre_norm)

# %% [markdown]
# The stack; and that evaluation drops nothing.

# %%
for pre_norm in (True, False):
    changes = dict(positions="rotary", pre_norm=pre_norm, dropout=0.5)
    sides = []
    for stack in both_of(Stack, library.Stack, **changes):
        read = partial(stack.eval(), positions=torch.arange(5), causal=True)
        sides.append(results(read, [x], stack.parameters()))
        assert torch.equal(read(x), read(x))
    torch.testing.assert_close(*sides)
    print("stack: equal, pre_norm", pre_norm)


# %% [markdown]
# The properties, asked of the library's block. **With silent sublayers a pre-norm block is the identity:** only sublayers write to the stream. **The future cannot change the past.**

# %%
def silence(module):
    """Let every sublayer write 0."""
    for name, parameter in module.named_parameters():
        if "to_output" in name:
            nn.init.zeros_(parameter)
    return module


for pre_norm in (True, False):
    changes = dict(pre_norm=pre_norm, cross_attention=True)
    _, theirs = both_of(Block, library.Block, **changes)
    read = partial(theirs, memory=memory)
    assert moved(partial(read, causal=True), x) == [2, 3, 4]
    silent = torch.equal(partial(silence(theirs), memory=memory)(x), x)
    print("pre_norm", pre_norm, "- silent block is the identity:", silent)
    assert silent == pre_norm

# %% [markdown]
# Last, what the library's block hands on for later lessons, a cache (10; skip this cell until then) and a record of the weights: they change no result.

# %%
from course_lib.decoder import Decoder

changes = dict(sizes, vocab_size=11, cross_attention=True, positions="rotary")
model = Decoder(DecoderConfig(**changes), torch.Generator().manual_seed(0))
tokens, record, calls = torch.tensor([[1, 2, 3, 5, 7]]), {}, []
whole = model(tokens, memory[:1], record=record)
torch.testing.assert_close(model(tokens, memory[:1]), whole)
places = [(kind, layer) for layer in range(3) for kind in ("self", "cross")]
assert [name for name in record if len(name) == 2] == places

for block in model.stack.blocks:
    block.cross_attention.to_keys.register_forward_hook(lambda *_: calls.append(1))
cache = model.new_cache()
pieces = [model(tokens[:, :2], memory[:1], cache=cache)]
pieces += [model(tokens[:, [i]], cache=cache) for i in (2, 3, 4)]
torch.testing.assert_close(torch.cat(pieces, 1), whole)
assert len(calls) == 3  # the source's keys: once a layer, not once a step
print("with a record, with a cache: the same")

# %% [markdown]
# The library's `add`. This block stands 30 times in SmolLM2; lesson 08 puts embedding and head around the stack.

# %%
import inspect

print(inspect.getsource(library.Block._add))


# %% [markdown] tags=["slide"]
# ## Misconceptions
#
# ### “The standard deviation is `x.std()`.”
#
# Torch's `std` divides by $n - 1$, and `eps` is often added outside the root. The vector is (100, 0, …, 0). At width 4, mean 25: right is 75 over the root of 1,875, which is 1.732. **Predict** the other.

# %% tags=["slide"]
def with_std(x, eps=1e-5):
    return (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps)


for width in (4, 64, 768):
    x = 100 * torch.eye(width)[0]
    right = layer_norm(x, torch.ones(width), None)
    print(f"width {width:3}: {with_std(x)[0]:6.3f}, right {right[0]:6.3f}")
small = torch.tensor([0.001, -0.001])
print("small:", with_std(small), "right:", layer_norm(small, torch.ones(2), None))


# %% [markdown]
# Plain at width 4, hidden in the fourth digit at 768; and small numbers come out more than twice as large as they should. Test at width 4, and with numbers smaller than the root of `eps`.
#
# ### “A norm takes the mean over the sequence.”
#
# Batch normalisation, known from images, takes each feature's mean over examples; here that would be over positions, axis −2. Or over all numbers of a text. **Predict** what moves when position 2 changes.

# %%
def over(*dims):
    """A norm whose mean and variance run over these axes."""

    def norm(x):
        centred = x - x.mean(dims, keepdim=True)
        return centred / (centred.square().mean(dims, keepdim=True) + 1e-5).sqrt()

    return norm


x = torch.randn(1, 5, 12, generator=torch.Generator().manual_seed(0))
for dims in ((-1,), (-2,), (-2, -1)):
    print(f"{str(dims):9}", moved(over(*dims), x))


# %% [markdown]
# Positions 0 and 1 move: the future leaks, in spite of every mask. The test of lesson 02 notices it.
#
# ### “First the norm, then all the rest.”
#
# `x = norm(x); x = x + f(x)` looks like pre-norm. **Predict:** is it the identity where the sublayers are silent? Is its own share at 48 blocks nearer to pre-norm's or to post-norm's?

# %%
class NormThenFork(Block):
    def add(self, residual, norm, sublayer):
        residual = norm(residual)
        return residual + sublayer(residual)


kinds["norm, then fork"] = NormThenFork
config = DecoderConfig(2, d_model=12, n_layers=1, n_heads=3, positions="none")
for kind in (Block, NormThenFork):
    print(f"{kind.__name__:12}", "identity:", torch.equal(silence(kind(config))(x), x))

# %% tags=["nbval-ignore-output"]
shares = [at_start("norm, then fork", 48, seed)[1] for seed in (0, 1, 2)]
print("own share, 48 blocks:", *(f"{share:.1g}" for share in shares))
assert max(shares) < 0.001

# %% [markdown]
# The rope starts above the ruler: this is post-norm, shifted by half a step. The test with silent sublayers finds it.
#
# ### “`no_grad` switches dropout off.”
#
# We evaluate a block with dropout twice.

# %%
from course_lib.modes import mode

torch.manual_seed(0)
block = Block(DecoderConfig(2, d_model=12, n_layers=1, n_heads=3, dropout=0.5))
with torch.no_grad():
    print("no_grad:", torch.equal(block(x), block(x)))
    with mode(block, training=False):
        print("eval:   ", torch.equal(block(x), block(x)))
print("training again:", block.training)

# %% [markdown]
# `no_grad` says that no gradient will be asked for, nothing else. Dropout asks for the mode: `eval()`, or the library's `mode`, which also switches back. Evaluate twice; the numbers must agree.

# %% [markdown]
# ## On a GPU
#
# A norm does a handful of operations on each number, a residual sum one. The multipliers wait for memory: what counts is how often all numbers travel. Our `layer_norm` takes seven steps over all of them, seven reads and five writes; the fused `F.layer_norm` can do with one of each. **Predict:** how many times as fast is it here?

# %% tags=["gpu"]
from course_lib.hardware import device, dtype, timer

on = device()
n = 16384 if on.type == "cuda" else 2048
x = torch.randn(n, 1024, device=on, dtype=dtype(on))
gain, bias = torch.ones(2, 1024, device=on, dtype=dtype(on))
kernels = {"ours": layer_norm, "fused": norms.layer_norm}
both = [norm(x, gain, bias) for norm in kernels.values()]
torch.testing.assert_close(*both, atol=0.05, rtol=0.05)
print("the same, in seven steps and in one")

# %% tags=["gpu", "nbval-ignore-output"]
seconds = {name: [] for name in kernels}
for _ in range(5):
    for name, norm in kernels.items():
        with timer(on) as took:
            norm(x, gain, bias)
        seconds[name].append(took.wall_seconds)
best = {name: min(times) for name, times in seconds.items()}
for name, time in best.items():
    print(f"{name:5} {time * 1000:8.3f} ms")
print(f"the fused kernel is {best['ours'] / best['fused']:.1f} times as fast")
assert best["fused"] < best["ours"]

# %% [markdown]
# If only traffic counted, it would be 12/2 = 6. Yours may be higher (each step also wants memory for its result) or lower (caches, arithmetic). (Not measured on a GPU for this page.) So compilers join residual sum, norm and activation into one pass (lesson 15).
#
# And precision: bfloat16 keeps 8 significant bits. Between 256 and 512 its numbers lie 2 apart. **Predict:** a stream stands at 256, and a hundred sublayers each add 0.5.

# %% tags=["gpu"]
for kind in (torch.float32, torch.bfloat16):
    stream = torch.tensor(256.0, dtype=kind, device=on)
    for _ in range(100):
        stream = stream + 0.5
    print(f"{str(kind):14} {stream.item()}")

numbers = torch.linspace(1, 512, 1001, device=on).bfloat16()
for part in (600, 512, 400, 300, 250):
    lost = (numbers + numbers / part == numbers).float().mean()
    print(f"adding 1/{part} of a number: lost in {lost:.0%} of cases")


# %% [markdown]
# Each update is rounded away. Up to 1/512 of the number that it is added to, an update is always lost in bfloat16; above 1/256 it never is; between, it depends. A stream grows with depth, the updates need not: so weights may be bfloat16 while the stream, or at least the sums inside a norm, stay in float32.

# %% [markdown]
# ## Exercise
#
# **A. Compute** (15 minutes). A pre-norm's gain and bias can move into the linear layer that reads it. Write `fold(norm, linear)`: return `weight` and `bias`, so that `F.linear(plain(x), weight, bias)` equals `linear(norm(x))`. `norm` is a `LayerNorm` or an `RMSNorm` (which has no `bias`), `plain` the same with gain 1 and bias 0. `weight` has the shape (d_out, d_in) of `linear.weight`; `linear.bias` may be None. Change neither module.

# %%
def fold(norm, linear):
    """Your code."""


# %%
import copy


def folded_wrong(fold, kind, biased):
    """What differs for one kind of norm, with or without bias in the linear layer."""
    case = f"{kind.__name__}, linear layer {'with' if biased else 'without'} bias: "
    x, linear, plain = torch.randn(3, 5), randomise(Linear(5, 7, biased)), kind(5)
    norm = randomise(copy.deepcopy(plain))
    expected = linear(norm(x))
    try:
        answer = fold(norm, linear)
        if answer is None:
            return "not written yet"
        if answer[0].shape != linear.weight.shape:
            return f"{case}weight is {tuple(answer[0].shape)}, not (d_out, d_in)"
        found = F.linear(plain(x), *answer)
    except (AttributeError, RuntimeError, TypeError) as problem:
        return f"{case}{type(problem).__name__}, {problem}"
    if not torch.equal(linear(norm(x)), expected):
        return case + "a module was changed"
    if not torch.allclose(found, expected, atol=1e-5):
        return case + f"off by up to {(found - expected).abs().max():.2f}"


# %%
def try_fold(fold):
    """Say whether fold keeps what linear(norm(x)) gives, and where it does not."""
    torch.manual_seed(0)
    for biased in (True, False):
        if wrong := folded_wrong(fold, norms.RMSNorm, biased):
            return wrong
    for biased in (True, False):
        if wrong := folded_wrong(fold, norms.LayerNorm, biased):
            return wrong + " (the gain alone was right: look at the norm's bias)"
    return "right"


print(try_fold(fold))


# %% [markdown]
# <details><summary>A nudge</summary>
#
# Write out one output of `linear(norm(x))` as a sum over inputs. Where does the gain of input $i$ stand, and which part does not depend on $x$?
# </details>
#
# <details><summary>A stronger hint</summary>
#
# $W(g \odot n + b) + c = (W \text{ with column } i \text{ times } g_i)\, n + (W b + c)$, with the *old* $W$ in $W b$.
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def fold(norm, linear):
#     weight = linear.weight * norm.gain  # row of gains: one for each column
#     bias, shift = linear.bias, getattr(norm, "bias", None)
#     if shift is not None:
#         shift = linear.weight @ shift
#         bias = shift if bias is None else bias + shift
#     return weight, bias
# ```
#
# It works because mean 0 and variance 1 come before gain and bias, and what follows is linear. In a post-norm block it would not: there the norm's output also goes on along the rope.
# </details>
#
# **B. Debug** (15 minutes). A published decoder layer, rebuilt, with *three* faults (positions are left out on purpose). It runs and returns the right shape. Find them by behaviour: are two layers with one seed the same? Do the ids survive silent sublayers? Has each sublayer weights of its own? Then write `Repaired`, with the same arguments.

# %%
class Suspect(nn.Module):
    """An embedding and one decoder layer for 11 ids, d_model 6 and 3 heads."""

    def __init__(self, seed):
        super().__init__()
        self.embedding = nn.Embedding(11, 6)
        torch.manual_seed(seed)
        self.attention = MultiHeadAttention(6, 3)
        self.feed_forward = FeedForward(6, 14)
        self.norms = nn.ModuleList(norms.LayerNorm(6) for _ in range(3))

    def forward(self, ids, memory):
        one, two, three = self.norms
        x = self.embedding(ids)
        x = one(self.attention(x, causal=True)[0])
        x = two(x + self.attention(x, memory)[0])
        return three(x + self.feed_forward(x))


# %%
suspect = Suspect(seed=1)
print(tuple(suspect(torch.tensor([[1, 2, 3]]), torch.ones(1, 4, 6)).shape))

Repaired = None  # your tests, then your class

# %%
ids, memory = torch.tensor([[1, 2, 3, 5, 7]]), torch.linspace(-1, 1, 24).view(1, 4, 6)


def serves_twice(layer, linears):
    """Whether one linear layer is called twice in a pass."""
    calls = []
    hooks = [x.register_forward_hook(lambda x, *_: calls.append(x)) for x in linears]
    layer(ids, memory)
    for hook in hooks:
        hook.remove()
    return len(calls) > len(set(calls))


# %%
def reads(layer, place):
    """Whether the first position's output depends on one place of the memory."""
    changed = memory.clone()
    changed[:, place] += 1
    return not torch.allclose(layer(ids, changed)[:, 0], layer(ids, memory)[:, 0])


# %%
def faults(layer, twin):
    """What a layer, and its twin with the same seed, do wrong."""
    linears = [part for part in layer.modules() if isinstance(part, nn.Linear)]
    before, other_end = layer(ids, memory), torch.tensor([[1, 2, 3, 5, 9]])
    if not torch.equal(before, twin(ids, memory)):
        yield "two layers with the same seed answer differently"
    if serves_twice(layer, linears):
        yield "a linear layer serves twice in one pass"
    if not torch.allclose(layer(other_end, memory)[:, :4], before[:, :4], atol=1e-6):
        yield "a later id moves earlier positions"
    if not (reads(layer, 0) and reads(layer, -1)):
        yield "the first position does not read all of the memory"
    for parameter in (p for part in linears for p in part.parameters()):
        nn.init.zeros_(parameter)
    silent = layer(ids, memory)
    if torch.allclose(silent[0, 0], silent[0, 1]):
        yield "with silent sublayers, different ids give the same output"


# %%
def examine(make_layer):
    """Say what is still wrong with a layer."""
    if make_layer is None:
        return "not written yet"
    layers = []
    for state in (5, 6):  # only the seed may decide, not what was drawn before
        torch.manual_seed(state)
        layers.append(make_layer(seed=1))
    return "; ".join(faults(*layers)) or "right"


print(examine(Repaired))

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Build `Suspect(seed=1)` several times. Zero all `nn.Linear` of one and feed it different ids. List its `named_parameters`.
# </details>
#
# <details><summary>A stronger hint</summary>
#
# Read the order of lines in `__init__`; the first line with a norm; which attention reads the memory.
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# class Repaired(nn.Module):
#     def __init__(self, seed):
#         super().__init__()
#         torch.manual_seed(seed)
#         self.embedding = nn.Embedding(11, 6)
#         self.attention = MultiHeadAttention(6, 3)
#         self.cross_attention = MultiHeadAttention(6, 3)
#         self.feed_forward = FeedForward(6, 14)
#         self.norms = nn.ModuleList(norms.LayerNorm(6) for _ in range(3))
#
#     def forward(self, ids, memory):
#         one, two, three = self.norms
#         x = self.embedding(ids)
#         x = one(x + self.attention(x, causal=True)[0])
#         x = two(x + self.cross_attention(x, memory)[0])
#         return three(x + self.feed_forward(x))
# ```
#
# One set of matrices would look for the same thing in the text and in the source. Without the rope, what stood at a position before its first reading is gone. And what nobody can draw again, nobody can compare.
# </details>

# %% [markdown]
# ## Quiz
#
# Choose, then read the reason. Where no kernel runs, the reasons are folded below each question.

# %%
from course_lib.quiz import show_quiz

show_quiz("block")

# %% [markdown]
# ## Further reading
#
# - Xiong et al. (2020), *On Layer Normalization in the Transformer Architecture*, [arXiv:2002.04745](https://arxiv.org/abs/2002.04745). The gradients of step 6 derived, and warm-up explained by them.
# - Dong, Cordonnier, Loukas (2021), *Attention is Not All You Need: Pure Attention Loses Rank Doubly Exponentially with Depth*, [arXiv:2103.03404](https://arxiv.org/abs/2103.03404). Why positions become alike, and what residuals do about it.
# - He et al. (2016), *Identity Mappings in Deep Residual Networks*, [arXiv:1603.05027](https://arxiv.org/abs/1603.05027). The clean rope, found in image networks first.
# - Ba, Kiros, Hinton (2016), *Layer Normalization*, [arXiv:1607.06450](https://arxiv.org/abs/1607.06450). The ruler, and why not over the batch.
# - Zhang, Sennrich (2019), *Root Mean Square Layer Normalization*, [arXiv:1910.07467](https://arxiv.org/abs/1910.07467). The ruler without centring, with timings.
