# %% [markdown] tags=["slide"]
# # What is the whole model?
#
# **You need** lessons 01 to 07.
#
# **You build** `TokenEmbedding` and `MyDecoder`: embedding, blocks, final norm and head, one class for four families of models. It will hold the weights of SmolLM2 and answer.
#
# **You will be able to** *compute* the number of parameters of a decoder, term by term; *explain* why one table can serve at both ends, and at which size; and *debug* a whole model by counting, silencing and comparing.
#
# About 90 minutes.

# %% [markdown] tags=["slide"]
# ## Question
#
# Before the stack of lesson 07 stands an *embedding*, a table with one row per token: ids become vectors. After it stands a *head*: vectors become scores. Let us put them together in a hurry.
#
# The text is source code of your Python's standard library, cut into words, signs and line starts. The 499 commonest pieces of ten modules get an id, all others share id 0; other modules serve for validation and test. (Skim the set-up.)

# %%
import importlib.util
import math
import re
from collections import Counter
from pathlib import Path

import torch
from torch import nn


def pieces(modules):
    """Words, signs and line starts of modules of the standard library."""
    paths = [importlib.util.find_spec(name).origin for name in modules.split()]
    text = "\n".join(Path(path).read_text(encoding="utf-8") for path in paths)
    return re.findall(r"\w+|[^\w\s]|\n *", text)


# %%
learned_from = pieces(
    "argparse configparser dataclasses difflib heapq "
    "random shutil statistics tempfile textwrap"
)
common = [piece for piece, _ in Counter(learned_from).most_common(499)]
VOCABULARY = ["(other)", *common]
IDS = {piece: i for i, piece in enumerate(VOCABULARY)}


def as_ids(found):
    return torch.tensor([IDS.get(piece, 0) for piece in found])


def rows_of(ids, n_rows, generator):
    """Rows of 32 ids, and the id after each: two (row, 32)."""
    starts = torch.randint(0, len(ids) - 32, (n_rows,), generator=generator)
    cut = ids[starts[:, None] + torch.arange(33)]
    return cut[:, :-1], cut[:, 1:]


# %%
learn = as_ids(learned_from)
held_out = as_ids(pieces("calendar csv")), as_ids(pieces("fractions contextlib"))
validation, test = (rows_of(x, 64, torch.Generator().manual_seed(1)) for x in held_out)
print("rows of", test[0].shape[1], "ids,", len(VOCABULARY), "pieces")

# %% [markdown]
# The head scores a piece by the dot product of the top vector with that piece's row: the embedding's table again, read the other way.

# %%
from course_lib.block import Stack, make_norm
from course_lib.config import DecoderConfig
from course_lib.positions import sinusoids
from course_lib.softmax import cross_entropy

SIZES = dict(vocab_size=500, d_model=32, n_layers=2, n_heads=4, max_length=32)


class Sketch(nn.Module):
    """Embedding, stack, head: put together in a hurry."""

    def __init__(self, config):
        super().__init__()
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.stack = Stack(config)

    def forward(self, tokens):
        x = self.embedding(tokens)
        x = x + sinusoids(tokens.shape[1], x.shape[-1])
        return self.stack(x, causal=True) @ self.embedding.weight.T


# %% [markdown]
# A guesser that gives all 500 pieces the same chance has the loss ln 500 = 6.2. **Predict:** the loss of the fresh model, which has learned nothing: about 6, less, or more? And its favourite next piece?

# %% tags=["nbval-ignore-output"]
tokens, targets = test
fresh_losses, echoes = [], []
for seed in (0, 1, 2):
    torch.manual_seed(seed)
    sketch = Sketch(DecoderConfig(**SIZES))
    with torch.no_grad():
        logits = sketch(tokens)
    fresh_losses.append(cross_entropy(logits, targets).item())
    echoes.append((logits.argmax(-1) == tokens).float().mean().item())
print(f"guesser {math.log(500):.1f}")
print("fresh  ", *(f"{loss:.1f}" for loss in fresh_losses))
print("favourite is the piece just read:", *(f"{share:.0%}" for share in echoes))

# %%
assert min(fresh_losses) > 2 * math.log(500)
assert min(echoes) > 0.3
print("as expected")

# %% [markdown]
# About three times the guesser's loss. It knows nothing and is quite sure: mostly of the piece that it has just read. Why?

# %% [markdown] tags=["slide"]
# ## Picture
#
# The letter writer has one dictionary: at the start an entry is looked up by its number, at the end the entry is sought that fits best what is in mind. Follow the dotted line. **Predict**, before you look closely: which sublayer would have nothing to read without a source?

# %%
from course_lib.figures import new_figure, show_figure

BOXES = {
    "tokens": (0.0, 0.0),
    "embedding": (1.7, 0.0),
    "self-attention": (3.9, -1.0),
    "cross-attention": (3.9, 0.0),
    "feed-forward": (3.9, 1.0),
    "final norm": (6.1, 0.0),
    "head": (7.6, 0.0),
    "logits": (8.9, 0.0),
}
ARROWS = [(0.4, 0, 1.0, 0), (2.3, -0.3, 3.1, -0.9), (4.65, 0.9, 5.5, 0.3)]
ARROWS += [(6.7, 0, 7.25, 0)]
ARROWS += [(7.95, 0, 8.5, 0), (3.9, -0.7, 3.9, -0.3), (3.9, 0.3, 3.9, 0.7)]
WORDS = {
    "block, n_layers times": (3.9, 1.7),
    "tied: one table (vocab, d_model), a row per id": (4.65, 2.4),
    "memory (batch, key, d_model):\nonly with cross_attention": (7.3, -2.1),
    "(batch,\nposition)": (0.0, -0.7),
    "(batch,\nposition,\nd_model)": (1.9, -0.9),
    "(batch,\nposition,\nvocab)": (8.9, -0.9),
}

# %% tags=["slide"]
fig, axes = new_figure(9, 3.6)
for name, place in BOXES.items():
    line = "--" if name.startswith("cross") else "-"
    box = {"boxstyle": "square,pad=0.4", "fc": "white", "ec": "k", "ls": line}
    plain = name in ("tokens", "logits")
    axes.text(*place, name, ha="center", va="center", bbox=None if plain else box)
for words, place in WORDS.items():
    axes.text(*place, words, ha="center", va="center", fontsize=8)
for x, y, to_x, to_y in ARROWS:
    axes.annotate("", (to_x, to_y), (x, y), arrowprops={"arrowstyle": "->"})
look = {"arrowstyle": "->", "linestyle": "--"}
axes.annotate("", (4.7, -0.25), (6.1, -2.0), arrowprops=look)
axes.plot([2.85, 4.95, 4.95, 2.85, 2.85], [-1.5, -1.5, 1.5, 1.5, -1.5], "k", lw=1)
axes.plot([1.7, 1.7, 7.6, 7.6], [0.4, 2.15, 2.15, 0.4], "k:", lw=2)
axes.set(xlim=(-0.6, 9.6), ylim=(-2.5, 2.6))
axes.axis("off")
show_figure(
    fig,
    alt=(
        "From left to right: tokens (batch, position); embedding, which gives (batch, "
        "position, d_model); a frame, block, n_layers times, with self-attention, "
        "cross-attention and feed-forward from bottom to top; final norm; head; logits "
        "(batch, position, vocab). A dotted line joins embedding and head: tied, one "
        "table. Cross-attention is dashed, and a dashed arrow brings it the memory: "
        "only if cross_attention is on."
    ),
    caption="One table at both ends, and one dashed part that a switch adds or removes.",
)

# %% [markdown]
# The dashed one. Without memory and cross-attention this is a chat model; with them, a translator.
#
# ## Definition
#
# $$X^0 = s\, E[\text{tokens}] + P \qquad X^l = \text{block}_l(X^{l-1}, M) \qquad \text{logits} = \text{norm}(X^N)\, W^\top$$
#
# | symbol | word | shape |
# |---|---|---|
# | $E$ | the embedding's table, a row per id | (vocab, d_model) |
# | $s$ | `embed_scale`: $\sqrt{d_\text{model}}$, or 1 | a number |
# | $P$ | positions, where they are added (lesson 04), else 0 | (position, d_model) |
# | $X^l$ | the residual stream after $l$ of $N$ blocks | (batch, position, d_model) |
# | $M$ | the memory, where there is cross-attention | (batch, key, d_model) |
# | norm | the final norm; a post-norm stack has none | |
# | $W$ | the head's table; *tied*: $W = E$ | (vocab, d_model) |
# | logits | position $t$'s scores for the token at $t + 1$ | (batch, position, vocab) |
#
# Softmax is not part of the model: it follows in the loss (lesson 01) or in the loop that writes (lesson 09).
#
# Sources: Vaswani et al. (2017), section 3.1 (stack) and 3.4 (tying, and the factor $\sqrt{d_\text{model}}$); final norm: Radford et al. (2019, GPT-2), section 2.3.

# %% [markdown] tags=["slide"]
# ## Build
#
# ### 1. Both ends, by hand
#
# Three ids with the rows (2, 0), (0, 1) and (−1, 1); ids 0 and 2 are read, and there are no blocks. Scores of id 0: 2·2 = 4, 2·0 = 0, 2·(−1) = −2. **Predict** those of id 2.

# %% tags=["slide"]
torch.set_printoptions(precision=3, sci_mode=False)
table = torch.tensor([[2.0, 0.0], [0.0, 1.0], [-1.0, 1.0]])
ids = torch.tensor([0, 2])
one_hot = torch.eye(3)[ids]
print("rows  ", table[ids].tolist(), torch.equal(table[ids], one_hot @ table))
print("scores", (table[ids] @ table.T).tolist())


# %% [markdown]
# Looking up equals a product with a one-hot matrix, without the cost. And here both ids that were read score themselves best: a row's product with itself is its squared length, and no other row is much longer. Blocks must first turn the vector away.
#
# ### 2. One table, two gradients
#
# Tied, the table learns from both uses. We keep them apart for once: the same numbers as two tensors, and the targets 1 and 1. **Predict:** which rows does each use reach?

# %%
def loss_of(lookup, head):
    """The loss of the two ids of step 1, each with target 1."""
    return cross_entropy(lookup[ids] @ head.T, torch.tensor([1, 1]))


apart = [table.clone().requires_grad_() for _ in range(2)]
from_lookup, from_head = torch.autograd.grad(loss_of(*apart), apart)
tied = table.clone().requires_grad_()
(both,) = torch.autograd.grad(loss_of(tied, tied), tied)
print("lookup", from_lookup)
print("head  ", from_head)
print("tied  ", both, torch.allclose(both, from_lookup + from_head))

# %% [markdown]
# The lookup reaches only rows that were read, here 0 and 2; the head reaches every row, at every position. The tied gradient is their sum. So a rare piece's row learns too (Press, Wolf 2017).
#
# ### 3. One table, two sizes
#
# Why was the sketch so sure? Torch draws the rows of `nn.Embedding` with standard deviation $\sigma = 1$. After the final norm the top vector has length $\sqrt{d}$ (here $d$ is d_model), a row has length about $\sigma\sqrt{d}$. If the vector still points along its own row, that score is their product, $\sigma d$; against a strange row it is about $\pm\sigma\sqrt{d}$. **Predict** both for $\sigma = 1$ and $d = 32$.
#
# | job of the table | wants |
# |---|---|
# | scores, at the end | $\sigma\sqrt{d}$ near 1, so $\sigma = d^{-1/2}$ |
# | vectors, at the start | numbers of size 1, not lost beside positions (sinusoids: 0.7) and what sublayers add |
#
# The factor $s = \sqrt{d}$ serves both: rows small, vectors large. Here is the embedding with it, under the library's names. (`embedding_scheme` picks, by the config's `positions`, a scheme of lesson 04 whose `embed` gives the vectors to add, or None; dropout is of lesson 07.)

# %%
import torch.nn.functional as F

from course_lib.positions import embedding_scheme


class TokenEmbedding(nn.Embedding):
    """Look up a row per id, scale it, add the position, drop some in training."""

    def __init__(self, config):
        super().__init__(config.vocab_size, config.d_model)
        self.config, self.positions = config, embedding_scheme(config)

    def forward(self, tokens, positions):
        residual = super().forward(tokens)
        if self.config.embed_scale:
            residual = residual * math.sqrt(self.config.d_model)
        placed = self.positions.embed(positions)
        if placed is not None:
            residual = residual + placed
        return F.dropout(residual, self.config.dropout, self.training)


# %% [markdown] tags=["slide"]
# ### 4. The decoder
#
# `Stack` holds blocks and final norm; `initialise_weights` draws the starting weights from one generator, by rules that the Check looks at.

# %%
from course_lib.initial import initialise_weights
from course_lib.linear import Linear


class MyDecoder(nn.Module):
    def __init__(self, config, generator=None, initialise=True):
        super().__init__()
        with torch.device("meta"):  # shapes first: numbers are drawn, or loaded, once
            self.embedding = TokenEmbedding(config)
            self.stack = Stack(config)
            self.head = Linear(config.d_model, config.vocab_size, bias=False)
        self.to_empty(device=torch.get_default_device())
        if config.tie_weights:
            self.head.weight = self.embedding.weight  # one tensor, two names
        if initialise:
            initialise_weights(self, config, generator)

    def forward(self, tokens, memory=None, memory_allowed=None):
        positions = torch.arange(tokens.shape[1])
        residual = self.embedding(tokens, positions)
        reading = {"memory": memory, "memory_allowed": memory_allowed, "causal": True}
        return self.head(self.stack(residual, positions, **reading))


# %% [markdown]
# Positions are learned unless the config says otherwise. **Predict** the shape for 2 rows of 5 ids, and whether training the head moves the embedding.

# %%
def n_parameters(module):
    """Parameters; a tensor with two names counts once."""
    return sum(p.numel() for p in module.parameters())


small = DecoderConfig(vocab_size=11, d_model=6, n_layers=2, n_heads=3, max_length=7)
model = MyDecoder(small, torch.Generator().manual_seed(0))
tokens = torch.tensor([[1, 2, 3, 5, 7], [2, 3, 5, 7, 1]])
print("shape", tuple(model(tokens).shape))
print("one tensor:", model.head.weight is model.embedding.weight)
print(f"{n_parameters(model):,} parameters")

# %% [markdown]
# Now four starts, on the pieces of the Question; 0.18 is $32^{-1/2}$. Positions and sublayers now start as `initialise_weights` says, so *size 1* need not repeat the sketch's number. **Predict** which fresh loss is nearest to the guesser's 6.2.

# %%
STARTS = {
    "size 1": (1.0, False),
    "size 0.02": (0.02, False),
    "size 0.18": (32**-0.5, False),
    "scaled": (32**-0.5, True),
}


def start(kind, seed, **changes):
    """A fresh model whose table starts in one of four ways."""
    std, scaled = STARTS[kind]
    config = DecoderConfig(**SIZES, embed_scale=scaled, **changes)
    generator = torch.Generator().manual_seed(seed)
    model = MyDecoder(config, generator)
    nn.init.normal_(model.embedding.weight, std=std, generator=generator)
    return model


# %%
for kind in STARTS:
    with torch.no_grad():
        fresh = [start(kind, seed)(test[0]) for seed in (0, 1, 2)]
    losses = [cross_entropy(logits, test[1]).item() for logits in fresh]
    own = [logits.gather(-1, test[0][..., None]).mean().item() for logits in fresh]
    print(f"{kind:9} loss", *(f"{loss:5.1f}" for loss in losses), end="   ")
    print("score of the piece just read", *(f"{score:5.1f}" for score in own))

# %% [markdown]
# We expected 32 for the own score, ±5.7 for strange rows. *Size 1*: near 27, since the blocks have turned the vector a little; that lead is about the loss. *Size 0.02*: about the guesser's loss, but the top vector no longer points along the row just read; what sublayers add has drowned it. *0.18* without the factor still points there a little. *Scaled*: the loss is nearly the guesser's, and the piece is clearly there: its own score, about 5 (that of *size 1* over √32), is still the favourite, but no longer by enough to cost much.
#
# ### 5. One switch
#
# `cross_attention` decides the family. **Predict:** three sublayers instead of two; how many more parameters, for two blocks of d_model 6?

# %%
from dataclasses import replace

switched = MyDecoder(replace(small, cross_attention=True)).eval()
for decoder in (model, switched):
    block = decoder.stack.blocks[0]
    print([name for name, part in block.named_children() if part is not None])
print(
    n_parameters(switched) - n_parameters(model), "=", "2 * (4 * 6 * 6 + 4 * 6 + 2 * 6)"
)

# %% [markdown]
# Four matrices, their biases and a norm, per block. Otherwise the same model? We copy the first one's weights into the second, and let cross-attention write 0.

# %%
missing, unexpected = switched.load_state_dict(model.state_dict(), strict=False)
new = sorted({name.split(".")[3] for name in missing})
print("not in the smaller model:", *new, unexpected)
with torch.no_grad():
    for block in switched.stack.blocks:
        for parameter in block.cross_attention.to_output.parameters():
            parameter.zero_()
memory = torch.randn(2, 3, 6, generator=torch.Generator().manual_seed(1))
print("same logits:", torch.allclose(switched(tokens, memory), model(tokens)))


# %% [markdown]
# So, in a pre-norm stack, decoder-only is encoder-decoder with a silent sublayer left out.
#
# ### 6. Count
#
# With $V$ for vocab, $d$ for d_model, $f$ for d_ff, $k$ for the width of all key heads together (n_kv_heads · d_head; lesson 10), and 0 or 1 for the switches bias $b$, cross-attention $c$, gate $g$:
#
# | term | parameters |
# |---|---|
# | embedding | $V d$ |
# | positions, if learned | max_length · $d$ |
# | an attention | $2 d^2 + 2 d k + b\,(2d + 2k)$ |
# | a feed-forward | $(2 + g)\, d f + b\,((1 + g) f + d)$ |
# | a norm | $d$ for the gain, and $b\,d$ in a LayerNorm |
# | a block | $(1 + c)$ attentions, a feed-forward, $(2 + c)$ norms |
# | final norm, if pre-norm | a norm |
# | head | 0 if tied, else $V d$ |
#
# By hand, for the small model ($V = 11$, $d = 6$, $f = 24$, max_length 7, $b = 1$, two blocks): 66; 42; attention 4·36 + 4·6 = 168; feed-forward 2·144 + 30 = 318; norm 12; block 168 + 318 + 24 = 510; so 66 + 42 + 2·510 + 12 = 1,140.

# %%
def terms(config):
    """The parameters of a decoder, term by term."""
    d, bias, cross = config.d_model, int(config.bias), int(config.cross_attention)
    k = config.n_kv_heads * config.d_head
    n = config.n_layers
    attention = 2 * d * d + 2 * d * k + bias * (2 * d + 2 * k)
    hidden = (1 + config.gated) * config.d_ff
    norm = d * (1 + (bias and config.norm == "layer"))
    return {
        "embedding": config.vocab_size * d,
        "positions": config.max_length * d * (config.positions == "learned"),
        "self-attention": n * attention,
        "cross-attention": n * attention * cross,
        "feed-forward": n * (d * (hidden + config.d_ff) + bias * (hidden + d)),
        "norms": norm * (n * (2 + cross) + config.pre_norm),
        "head": config.vocab_size * d * (not config.tie_weights),
    }


print(terms(small), sum(terms(small).values()))

# %% [markdown] tags=["slide"]
# ### 7. Four families
#
# The library names four configs. Here is what differs:

# %% tags=["slide"]
PRESETS = ("original", "gpt2_small", "smollm2_135m", "whisper_tiny")
configs = {name: getattr(DecoderConfig, name)() for name in PRESETS}
for word in ("positions", "norm", "pre_norm", "activation", "gated", "bias"):
    print(f"{word:16}", *(f"{getattr(c, word)!s:13}" for c in configs.values()))
for word in ("cross_attention", "embed_scale", "n_layers", "d_model", "vocab_size"):
    print(f"{word:16}", *(f"{getattr(c, word)!s:13}" for c in configs.values()))

# %% [markdown]
# **Predict:** which model spends the largest share on its table? The real count is taken from modules on torch's `meta` device, which have shapes but no numbers. `untied`: how much larger the model would be with a second table.

# %%
print(f"{'':16}", *(f"{name:>13}" for name in configs))
counts = {name: terms(config) for name, config in configs.items()}
for term in counts["original"]:
    print(f"{term:16}", *(f"{found[term]:13,}" for found in counts.values()))
for name, config in configs.items():
    with torch.device("meta"):
        assert sum(counts[name].values()) == n_parameters(MyDecoder(config))
totals = [sum(found.values()) for found in counts.values()]
print(f"{'sum, real count':16}", *(f"{total:13,}" for total in totals))
shares = [f["embedding"] / t for f, t in zip(counts.values(), totals, strict=True)]
print(f"{'untied':16}", *(f"{share:>+13.0%}" for share in shares))


# %% [markdown]
# The formula gives the real count in all four (`original` and `whisper_tiny` are decoders without their encoders; OpenAI's Whisper has 3,072 fewer, since its keys have no bias; lesson 14 fetches its weights). Whisper's is two thirds table; in a deep, wide model the table hardly counts, and many large models untie.

# %% [markdown] tags=["slide"]
# ### 8. What does the table's size do to learning?
#
# Four starts, all tied; and the scaled one untied, with 16,000 more parameters (its head starts at Glorot's 0.06). All get the same rows, in 100 updates of 8; the learning rate, 0.003 or 0.01, is chosen on the validation rows, the loss read on the test rows. **Predict** the order. (Thirty trainings: a minute or so.)

# %%
def fit(model, seed, learning_rate, n_steps=100):
    """Train on new rows at each step; give the loss on validation and test rows."""
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(model.parameters(), lr=learning_rate)
    for _ in range(n_steps):
        inputs, targets = rows_of(learn, 8, generator)
        loss = cross_entropy(model(inputs), targets)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        return [cross_entropy(model(x), y).item() for x, y in (validation, test)]


# %%
CASES = {kind: (kind, True) for kind in STARTS} | {"scaled, untied": ("scaled", False)}


def compete(case, seeds):
    """The test losses of one case, at the rate that is best on validation rows."""
    kind, tie = CASES[case]
    by_rate = []
    for rate in (0.003, 0.01):
        runs = [fit(start(kind, s, tie_weights=tie), s, rate) for s in seeds]
        by_rate.append(torch.tensor(runs).T)  # (validation or test, seed)
    return min(by_rate, key=lambda runs: runs[0].mean().item())[1].tolist()


# %% tags=["nbval-ignore-output"]
reached = {case: compete(case, (0, 1, 2)) for case in CASES}
for case, losses in reached.items():
    print(f"{case:15}", *(f"{loss:6.2f}" for loss in losses))

# %%
assert max(reached["scaled"]) < min(reached["size 1"] + reached["size 0.02"]) - 0.1
print("as expected")


# %% [markdown]
# In every seed the scaled start is well ahead of size 1 and of 0.02: one table needs both sizes. Compare the third line: the rows' size alone gives about half of the lead over size 1, and more than half of that over 0.02; the factor gives the rest. That the 16,000 parameters of a second table help is *not shown*: the seeds overlap. Nor that the others never catch up: 100 updates are few, d_model 32 is small. GPT-2 has no factor, but its other weights start small too, and it learned for far longer.
#
# ### 9. The real model
#
# SmolLM2's file (GGUF: tensors by name) holds 272 under names of its own. Besides renaming, one step is due to lesson 04: the file's queries and keys are laid out for rotating neighbours, ours for rotating halves.

# %%
def rename(name, names):
    """Replace each of our words in a parameter's name by theirs, in order."""
    for ours, theirs in names.items():
        name = name.replace(ours, theirs)
    return name


IN_THE_FILE = {
    "embedding": "token_embd",
    "stack.blocks": "blk",
    "stack.final_norm": "output_norm",
    ".gain": ".weight",
    "self_norm": "attn_norm",
    "feed_norm": "ffn_norm",
    "self_attention.to_queries": "attn_q",
    "self_attention.to_keys": "attn_k",
    "self_attention.to_values": "attn_v",
    "self_attention.to_output": "attn_output",
    "feed_forward.to_gate": "ffn_gate",
    "feed_forward.to_hidden": "ffn_up",
    "feed_forward.to_output": "ffn_down",
}

# %%
from course_lib import pretrained
from course_lib.pretrained.gguf import GGUFFile
from course_lib.pretrained.smollm2 import halves_from_pairs


def fill(model, file):
    """Copy every tensor of the file into our model; none may be left over."""
    left_over = set(file.shapes)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            stored = rename(name, IN_THE_FILE)
            tensor = file.tensor(stored)
            if stored.endswith(("attn_q.weight", "attn_k.weight")):
                tensor = halves_from_pairs(tensor, d_head=64)
            assert tensor.shape == parameter.shape, name
            parameter.copy_(tensor)
            left_over.remove(stored)
    assert not left_over
    return model.eval()


# %%
from functools import lru_cache

from course_lib.pretrained.assets import find_asset
from course_lib.pretrained.storage import verified_files

sentence = "Anna wrote a letter and she sent it to her mother."


@lru_cache
def mine():
    """Our class with SmolLM2's weights; or say how to fetch them, and give None."""
    try:
        (path,) = verified_files(find_asset("smollm2"))
    except pretrained.AssetError as problem:
        return print(problem)
    blank = MyDecoder(DecoderConfig.smollm2_135m(), initialise=False)
    return fill(blank, GGUFFile(path))


# %% [markdown]
# **Predict** the loss; a guesser's is ln 49,152 = 10.8. Then it answers, always by the likeliest token.

# %% tags=["weights"]
if mine():
    _, chat_tokenizer = pretrained.load("smollm2")
    letter_ids = torch.tensor([chat_tokenizer.encode(sentence)])
    conversation = chat_tokenizer.chat("Which animal says meow?")
    with torch.no_grad():
        real_logits = mine()(letter_ids)
        print(f"loss {cross_entropy(real_logits[:, :-1], letter_ids[:, 1:]):.2f}")
        for _ in range(13):
            conversation.append(
                mine()(torch.tensor([conversation]))[0, -1].argmax().item()
            )
    print(chat_tokenizer.decode(conversation).split("assistant\n")[-1])

# %% [markdown]
# A cat; and the library's `Decoder` computed none of it (`load` was called for the tokenizer). The stack is lesson 07's, both ends are ours, the numbers are theirs.
#
# ## Check
#
# `MyDecoder` against the library's `Decoder`, in four families at small sizes, all parameters random so that no gain is 1: logits, and the gradient of every parameter.

# %%
from course_lib.decoder import Decoder


def randomise(model, std=0.2):
    """Draw every parameter anew; evaluation mode."""
    generator = torch.Generator().manual_seed(5)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=std, generator=generator)
    return model.eval()


def results(logits, leaves):
    """The logits, and the gradients of one mixture of them."""
    mixture = torch.linspace(-1, 1, logits.numel()).view_as(logits)
    return [logits, *torch.autograd.grad((logits * mixture).sum(), leaves)]


# %%
TINY = dict(vocab_size=53, d_model=42, n_layers=3, n_heads=7, d_ff=66, max_length=16)
generator = torch.Generator().manual_seed(0)
ids = torch.randint(0, 53, (2, 11), generator=generator)
memory = torch.randn(2, 13, 42, generator=generator)
given = {True: (ids, memory), False: (ids,)}  # cross-attention or not
for name in PRESETS:
    for tied in (True, False):
        kv = {"n_kv_heads": 1} if name == "smollm2_135m" else {}
        config = getattr(DecoderConfig, name)(**TINY, **kv, tie_weights=tied)
        ours, theirs = MyDecoder(config), randomise(Decoder(config))
        ours.load_state_dict(theirs.state_dict())
        sides = []
        for model in (ours.eval(), theirs):
            logits = model(*given[config.cross_attention])
            sides.append(results(logits, list(model.parameters())))
        torch.testing.assert_close(*sides)
        assert sum(terms(config).values()) == n_parameters(theirs)
    print("equal to course_lib:", name)

# %% [markdown]
# The presets against the published sizes:

# %%
assert [sum(found.values()) for found in counts.values()][1:3] == [
    124_439_808,  # as published
    134_515_008,
]
fields = ("pre_norm", "embed_scale", "activation", "n_heads", "n_kv_heads")
kinds = [tuple(getattr(c, field) for field in fields) for c in configs.values()]
assert kinds == [
    (False, True, "relu", 8, 8),
    (True, False, "gelu_tanh", 12, 12),
    (True, False, "silu", 9, 3),
    (True, False, "gelu", 6, 6),
]
assert configs["smollm2_135m"].rotary_base == 100_000
print("presets: as published")

# %% [markdown]
# Fresh from one seed, and with dropout: the same numbers. The rule: tables 0.02, or scaled as in step 3; matrices Glorot's, variance 2 / (inputs + outputs), and, where they write to a pre-norm stream, this variance divided by the number of sublayers.

# %%
wide = torch.randn(2, 3, 64, generator=generator)


def rule(model, scaled):
    """Some of a model's tables and matrices, with the standard deviation of the rule."""
    block = model.stack.blocks[0]
    return {
        model.embedding.weight: 64**-0.5 if scaled else 0.02,
        model.embedding.positions.table: 0.02,
        model.head.weight: 64**-0.5 if scaled else 0.02,
        block.self_attention.to_keys.weight: (2 / 128) ** 0.5,
        block.feed_forward.to_output.weight: (2 / 320 / 6) ** 0.5,
    }


# %%
for scaled in (True, False):
    changes = dict(dropout=0.5, embed_scale=scaled, cross_attention=True)
    config = DecoderConfig(500, 64, 2, 4, **changes)
    sides = []
    for kind in (MyDecoder, Decoder):
        fresh = kind(config, torch.Generator().manual_seed(3))
        torch.manual_seed(4)  # for dropout
        sides.append(results(fresh(ids, wide), list(fresh.parameters())))
    torch.testing.assert_close(*sides)
    block = fresh.stack.blocks[0]
    for parameter, std in rule(fresh, scaled).items():
        assert abs(parameter.std() / std - 1) < 0.05
    assert block.feed_forward.to_output.bias.abs().max() == 0
    assert (block.feed_norm.gain == 1).all()
    assert (block.feed_norm.bias == 0).all()
untied = Decoder(replace(config, tie_weights=False))
assert abs(untied.head.weight.std() / (2 / 564) ** 0.5 - 1) < 0.05
print("fresh: the same numbers, of the sizes that the rule says")


# %% [markdown]
# Against PyTorch's `nn.TransformerDecoder`, in both orders of norm. `translated` renames, and joins what the other keeps in one tensor (queries, keys, values).

# %%
def translated(tensors, names, turned=False):
    """Tensors under the other's names; `turned`: its matrices are (in, out)."""
    found = {}
    for name, tensor in tensors.items():
        turn = turned and tensor.ndim == 2 and "blocks" in name
        found.setdefault(rename(name, names), []).append(tensor.T if turn else tensor)
    joined = -1 if turned else 0
    return {name: torch.cat(parts, joined) for name, parts in found.items()}


# %%
IN_TORCH = {
    "stack.blocks": "layers",
    "stack.final_norm": "norm",
    ".gain": ".weight",
    "self_norm": "norm1",
    "cross_norm": "norm2",
    "feed_norm": "norm3",
    "cross_attention": "multihead_attn",
    "self_attention": "self_attn",
    "to_queries.": "in_proj_",
    "to_keys.": "in_proj_",
    "to_values.": "in_proj_",
    "feed_forward.to_hidden": "linear1",
    "feed_forward.to_output": "linear2",
    "to_output": "out_proj",
}

# %%
memory.requires_grad_()
for pre_norm in (True, False):
    config = DecoderConfig(**TINY, cross_attention=True, pre_norm=pre_norm)
    ours = randomise(Decoder(config))
    options = dict(dropout=0.0, activation="gelu", batch_first=True)
    layer = nn.TransformerDecoderLayer(42, 7, 66, norm_first=pre_norm, **options)
    theirs = nn.TransformerDecoder(layer, 3, nn.LayerNorm(42) if pre_norm else None)
    theirs.load_state_dict(translated(ours.stack.state_dict(prefix="stack."), IN_TORCH))
    residual = ours.embedding(ids, torch.arange(11))
    hide = torch.ones(11, 11).triu(1).bool()  # in torch True hides
    logits = ours.head(theirs(residual, memory, tgt_mask=hide))
    leaves = [ours.embedding.weight, memory]
    torch.testing.assert_close(
        results(ours(ids, memory), leaves), results(logits, leaves)
    )
    print("equal to torch: norm_first", pre_norm)
memory = memory.detach()

# %% [markdown]
# Against the package transformers, at random weights: Llama; Whisper, whose keys have no bias (ours adds the same number to all scores of a query, so softmax does not see it); and GPT-2, whose matrices lie the other way round. (The next four cells only rename; skim them, and read what is printed.)

# %%
LIKE_LLAMA = {
    "embedding": "model.embed_tokens",
    "stack.blocks": "model.layers",
    "stack.final_norm": "model.norm",
    "head": "lm_head",
    ".gain": ".weight",
    "self_norm": "input_layernorm",
    "feed_norm": "post_attention_layernorm",
    "feed_forward.to_gate": "mlp.gate_proj",
    "feed_forward.to_hidden": "mlp.up_proj",
    "feed_forward.to_output": "mlp.down_proj",
    "self_attention": "self_attn",
    "to_queries": "q_proj",
    "to_keys": "k_proj",
    "to_values": "v_proj",
    "to_output": "o_proj",
}

# %%
LIKE_WHISPER = {
    "embedding.positions.table": "model.decoder.embed_positions.weight",
    "embedding": "model.decoder.embed_tokens",
    "stack.blocks": "model.decoder.layers",
    "stack.final_norm": "model.decoder.layer_norm",
    ".gain": ".weight",
    "self_norm": "self_attn_layer_norm",
    "cross_norm": "encoder_attn_layer_norm",
    "feed_norm": "final_layer_norm",
    "cross_attention": "encoder_attn",
    "feed_forward.to_hidden": "fc1",
    "feed_forward.to_output": "fc2",
    "to_output": "out_proj",
    "head": "proj_out",
    **{word: LIKE_LLAMA[word] for word in ("self_attention", "to_queries")},
    **{word: LIKE_LLAMA[word] for word in ("to_keys", "to_values")},
}

# %%
LIKE_GPT2 = {
    "embedding.positions.table": "transformer.wpe.weight",
    "embedding": "transformer.wte",
    "feed_forward.to_hidden": "mlp.c_fc",
    "feed_forward.to_output": "mlp.c_proj",
    "self_attention.to_output": "attn.c_proj",
    "self_attention.to_queries": "attn.c_attn",
    "self_attention.to_keys": "attn.c_attn",
    "self_attention.to_values": "attn.c_attn",
    "stack.blocks": "transformer.h",
    "stack.final_norm": "transformer.ln_f",
    "self_norm": "ln_1",
    "feed_norm": "ln_2",
    ".gain": ".weight",
    "head": "lm_head",
}


# %%
def same_as(theirs, ours, their_logits, our_logits, names, turned=False):
    """Compare logits and the gradients of all parameters."""
    pairs = dict(ours.named_parameters())
    logits, *slopes = results(our_logits(), list(pairs.values()))
    slopes = translated(dict(zip(pairs, slopes, strict=True)), names, turned)
    parameters = dict(theirs.named_parameters())
    shared = [name for name in slopes if name in parameters]
    expected = results(their_logits(), [parameters[name] for name in shared])
    found = [logits, *(slopes[name] for name in shared)]
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    return len(shared)


def handed_over(ours, theirs, names, turned=False):
    """Load our parameters into their model; give what did not fit."""
    state = translated(dict(ours.named_parameters()), names, turned)
    missing, unexpected = theirs.load_state_dict(state, strict=False)
    return theirs.eval(), set(missing) | set(unexpected)


# %% tags=["compare"]
from transformers import LlamaConfig, LlamaForCausalLM

preset = DecoderConfig.smollm2_135m(**TINY, n_kv_heads=1)
course_model = randomise(Decoder(preset))
their_rotation = {"rope_type": "default", "rope_theta": preset.rotary_base}
their_sizes = dict(num_hidden_layers=3, num_attention_heads=7, num_key_value_heads=1)
their_sizes |= dict(vocab_size=53, hidden_size=42, intermediate_size=66)
their_config = LlamaConfig(
    **their_sizes,
    rope_parameters=their_rotation,
    rms_norm_eps=1e-5,
    tie_word_embeddings=True,
)
reference, unmatched = handed_over(
    course_model, LlamaForCausalLM(their_config), LIKE_LLAMA
)
assert unmatched == {"lm_head.weight"}  # tied: loaded with the embedding
n_shared = same_as(
    reference,
    course_model,
    lambda: reference(ids).logits,
    lambda: course_model(ids),
    LIKE_LLAMA,
)
print("equal to Llama:", n_shared, "parameters")

# %% tags=["compare"]
from transformers import GPT2Config, GPT2LMHeadModel

course_model = randomise(Decoder(DecoderConfig.gpt2_small(**TINY)))
their_sizes = dict(vocab_size=53, n_embd=42, n_layer=3, n_head=7)
their_config = GPT2Config(
    **their_sizes, n_inner=66, n_positions=16, bos_token_id=1, eos_token_id=2
)
reference, unmatched = handed_over(
    course_model, GPT2LMHeadModel(their_config), LIKE_GPT2, turned=True
)
assert unmatched == {"lm_head.weight"}
both_ways = (lambda: reference(ids).logits), (lambda: course_model(ids))
print(
    "equal to GPT-2:",
    same_as(reference, course_model, *both_ways, LIKE_GPT2, True),
    "parameters",
)

# %% tags=["compare"]
from transformers import WhisperConfig, WhisperForConditionalGeneration

course_model = randomise(Decoder(DecoderConfig.whisper_tiny(**TINY)))
their_sizes = dict(decoder_layers=3, decoder_attention_heads=7, decoder_ffn_dim=66)
their_sizes |= dict(encoder_layers=1, encoder_attention_heads=7, encoder_ffn_dim=66)
special_ids = dict.fromkeys(("pad_token_id", "bos_token_id", "eos_token_id"), 0)
special_ids["decoder_start_token_id"] = 0
their_config = WhisperConfig(
    vocab_size=53, d_model=42, max_target_positions=16, **their_sizes, **special_ids
)
reference = WhisperForConditionalGeneration(their_config)
reference, unmatched = handed_over(course_model, reference, LIKE_WHISPER)
key_biases = {name for name in unmatched if name.endswith("k_proj.bias")}
assert len(key_biases) == 6
heard = {"decoder_input_ids": ids, "encoder_outputs": (memory,)}
both_ways = (lambda: reference(**heard).logits), (lambda: course_model(ids, memory))
print(
    "equal to Whisper:",
    same_as(reference, course_model, *both_ways, LIKE_WHISPER),
    "parameters",
)

# %% [markdown]
# The real weights, in our class, the library's and transformers' Llama.

# %% tags=["weights"]
if mine():
    reference, chat_tokenizer = pretrained.load("smollm2")
    sentence_ids = torch.tensor([chat_tokenizer.encode(sentence)])
    with torch.no_grad():
        torch.testing.assert_close(mine()(sentence_ids), reference(sentence_ids))
    print("SmolLM2: equal to course_lib")

# %% tags=["weights", "compare"]
from transformers import LlamaConfig, LlamaForCausalLM

if mine():
    _, chat_tokenizer = pretrained.load("smollm2")
    sentence_ids = torch.tensor([chat_tokenizer.encode(sentence)])
    their_rotation = {"rope_type": "default", "rope_theta": 100_000.0}
    their_sizes = dict(
        num_hidden_layers=30, num_attention_heads=9, num_key_value_heads=3
    )
    their_sizes |= dict(vocab_size=49152, hidden_size=576, intermediate_size=1536)
    their_sizes |= dict(
        rms_norm_eps=1e-5, rope_parameters=their_rotation, tie_word_embeddings=True
    )
    with torch.device("meta"):
        reference = LlamaForCausalLM(LlamaConfig(**their_sizes))
    renamed = translated(dict(mine().named_parameters()), LIKE_LLAMA)
    renamed["lm_head.weight"] = renamed["model.embed_tokens.weight"]
    reference = reference.to_empty(device="cpu")
    reference.load_state_dict(renamed)
    reference.model.rotary_emb = type(reference.model.rotary_emb)(reference.config)
    with torch.no_grad():
        farthest = (mine()(sentence_ids) - reference(sentence_ids).logits).abs().max()
    print("SmolLM2: equal to transformers:", bool(farthest < 0.001))

# %% [markdown]
# Two properties, asked of the library. **A later token moves no earlier logits; rows know nothing of each other**, also with padding on either side (`lengths` counts real tokens, `only_last` scores the last).

# %%
model = randomise(
    Decoder(DecoderConfig(**TINY, n_kv_heads=1, cross_attention=True, window=4))
)
changed = ids.clone()
changed[0, 8] = (changed[0, 8] + 1) % 53
with torch.no_grad():
    moved = ((model(changed, memory) - model(ids, memory)).abs() > 1e-6).any(-1)
print("moved:", moved.nonzero().tolist())
assert moved.nonzero().tolist() == [[0, 8], [0, 9], [0, 10]]


# %%
@torch.no_grad()
def alone_and_together(model, side):
    """Compare a row of 6 beside one of 11 with the same row alone."""
    at = slice(6) if side == "right" else slice(5, 11)
    padded = torch.zeros_like(ids)
    padded[0], padded[1, at] = ids[0], ids[1, :6]
    given = dict(lengths=[11, 6], memory_lengths=[13, 9], side=side)
    whole, alone = model(ids, memory), model(ids[1:, :6], memory[1:, :9])
    together = model(padded, memory, **given)
    torch.testing.assert_close(together[0], whole[0])
    torch.testing.assert_close(together[1, at], alone[0])
    last = model(padded, memory, **given, only_last=True)
    torch.testing.assert_close(last[1, 0], alone[0, -1])


for window in (4, None):
    model.config = replace(model.config, window=window)
    for side in ("right", "left"):
        alone_and_together(model, side)
model.config = replace(model.config, window=4)
print("a row in a batch is the row alone: left, right, only_last")

# %% [markdown]
# Last: a cache (lesson 10; skip the next cell until then) changes nothing.

# %%
with torch.no_grad():
    expected = model(ids, memory, memory_lengths=[13, 9])
    for kind in ("append", "preallocated", "sliding_window", "paged"):
        cache = model.new_cache(2, kind)
        steps = [model(ids[:, :5], memory, memory_lengths=[13, 9], cache=cache)]
        steps += [model(ids[:, [i]], cache=cache) for i in range(5, 11)]
        torch.testing.assert_close(torch.cat(steps, 1), expected)
print("cached: the same")

# %% [markdown]
# Wrong input gets a sentence, not a silent result.

# %%
lonely = Decoder(DecoderConfig(**TINY))
refused = {
    "ids outside the vocabulary": lambda: lonely(torch.tensor([[53]])),
    "a row longer than max_length": lambda: lonely(ids.repeat(1, 2)),
    "a memory that nobody reads": lambda: lonely(ids, memory),
    "no memory to read": lambda: model(ids),
    "a memory of another width": lambda: model(ids, memory[..., :5]),
    "ids that are no integers": lambda: lonely(ids.float()),
}
for fault, call in refused.items():
    try:
        call()
    except ValueError:
        continue
    raise AssertionError(f"accepted: {fault}")
print(len(refused), "faults refused")

# %% [markdown]
# Lesson 09 calls this class once per written token. The library's `forward`; what speaks of `cache`, `Step` and `_reading` is lesson 10's, the rest is `MyDecoder`:

# %%
import inspect

print(inspect.getsource(Decoder.forward).split('"""')[2])

# %% [markdown] tags=["slide"]
# ## Misconceptions
#
# ### “The model should return probabilities.”
#
# So a softmax goes to its end, and `cross_entropy` applies its own. **Predict** the lowest loss possible for 11 ids: the best scores are then one 1 and ten 0s.

# %% tags=["slide"]
perfect = torch.zeros(11)
perfect[3] = 100.0  # sure of id 3, and right
target = torch.tensor([3])
for name, scores in (("logits", perfect), ("probabilities", perfect.softmax(0))):
    print(f"{name:14} loss {cross_entropy(scores[None], target):.3f}")
print(f"floor: ln(e + 10) - 1 = {math.log(math.e + 10) - 1:.3f}")


# %%
def with_softmax(model, tokens):
    return model(tokens).softmax(-1)


for name, read in (("logits", MyDecoder.__call__), ("probabilities", with_softmax)):
    model = MyDecoder(small, torch.Generator().manual_seed(0))
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(151):
        loss = cross_entropy(read(model, tokens[:, :-1]), tokens[:, 1:])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 50 == 0:
            print(f"{name:14} step {step:3} loss {loss:.3f}")

# %% [markdown]
# No error, and the loss falls: to a floor. Overfit one batch; the loss must come near 0. And logits are not confined to 0 … 1.
#
# ### “Tied means: equal numbers.”
#
# The head is made from a *copy* of the table. **Predict:** the number of parameters, and what one update does.

# %%
copied = MyDecoder(small, torch.Generator().manual_seed(0))
copied.head.weight = nn.Parameter(copied.embedding.weight.detach().clone())
print("equal:", torch.equal(copied.head.weight, copied.embedding.weight), end=", ")
print(n_parameters(copied), "parameters, the formula says", sum(terms(small).values()))
optimiser = torch.optim.Adam(copied.parameters(), lr=0.01)
cross_entropy(copied(tokens[:, :-1]), tokens[:, 1:]).backward()
optimiser.step()
print("after one update:", torch.equal(copied.head.weight, copied.embedding.weight))

# %% [markdown]
# Tying is about being *one tensor*. The count shows it (66 too many), or `is`. A `state_dict` does not: it lists a tied table under both names.
#
# ### “It trains, so all of it trains.”
#
# The blocks stand in a plain Python list instead of a `ModuleList`. **Predict:** does the loss fall?

# %%
broken = MyDecoder(small, torch.Generator().manual_seed(0))
blocks = list(broken.stack.blocks)
del broken.stack.blocks
broken.stack.blocks = blocks
print(n_parameters(broken), "parameters, the formula says", sum(terms(small).values()))
optimiser = torch.optim.Adam(broken.parameters(), lr=0.01)
for step in range(101):
    loss = cross_entropy(broken(tokens[:, :-1]), tokens[:, 1:])
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    if step % 100 == 0:
        print(f"step {step:3} loss {loss:.3f}")

# %% [markdown]
# It falls: table and final norm learn, around blocks that stay random. Torch did not find 1,020 parameters, nor would it save them. Count before you train; `[block] * N` (lesson 07) is found the same way.
#
# ### “The last logits are those of the last token.”
#
# A row of 2 real tokens is padded to 5; we ask for the next token. **Predict:** is `logits[:, -1]` what the row alone would get?

# %%
model = randomise(Decoder(small))
padded = torch.tensor([[1, 2, 0, 0, 0]])
with torch.no_grad():
    right = model(torch.tensor([[1, 2]]))[:, -1]
    whole = model(padded, lengths=[2])
    for place in (-1, 2, 1):
        print(
            f"logits[:, {place:2}]", torch.allclose(whole[:, place], right, atol=1e-6)
        )
    last = model(padded, lengths=[2], only_last=True)
    print("only_last    ", torch.allclose(last[:, 0], right, atol=1e-6))

# %% [markdown]
# After $n$ real tokens, the scores of the next one stand at index $n - 1$: not at $n$, and not at the end of the padding. Test: a row alone and in a batch must continue alike.
#
# ## On a GPU
#
# The head is a large matrix. To score one position, each number is fetched from memory for one multiplication; for 256 positions, it is fetched once and used 256 times. **Predict:** how many times longer do 256 take?

# %% tags=["gpu"]
from course_lib.hardware import device, dtype, fastest_seconds

on = device()
d_model = 2048 if on.type == "cuda" else 256
head = Linear(d_model, 16384, bias=False).to(on, dtype(on))
vectors = torch.randn(256, d_model, device=on, dtype=dtype(on))
with torch.no_grad():
    one, many = head(vectors[:1]), head(vectors)
torch.testing.assert_close(one, many[:1], atol=0.05, rtol=0.05)
print("one row alone, or one of 256: the same scores")

# %% tags=["gpu", "nbval-ignore-output"]
seconds = {}
with torch.no_grad():
    for n in (1, 16, 256):
        some = vectors[:n].clone()
        seconds[n] = fastest_seconds(lambda some=some: head(some), 5, on)
        per_row = 1e6 * seconds[n] / n
        print(f"{n:3} positions {1000 * seconds[n]:8.3f} ms, {per_row:8.1f} µs each")
print(f"256 positions took {seconds[256] / seconds[1]:.0f} times as long as one")
assert seconds[256] < 200 * seconds[1]

# %% [markdown]
# Fewer than 256 times: a position gets cheaper until the multipliers are always busy. A GPU has far more of them for each byte that it fetches, so there the first rows should be almost free (not measured for this page; lesson 15 computes where that ends).
#
# And memory. Writing needs the scores of one position only. **Predict:** all logits of a full SmolLM2 prompt, beside its weights.

# %%
config, n = configs["smollm2_135m"], 8192
weight_bytes = 4 * sum(terms(config).values())
logit_bytes = 4 * n * config.vocab_size
per_token = sum(terms(config).values()) - terms(config)["norms"]
print(f"weights {weight_bytes / 1e9:.2f} GB, logits {logit_bytes / 1e9:.2f} GB")
print(f"stream of one layer {4 * n * config.d_model / 1e6:.0f} MB")
print(
    f"head: {terms(config)['embedding'] / per_token:.0%} of the products with weights"
)


# %% [markdown]
# Three times the weights, and writing uses one row in 8,192. (Attention's own products, lesson 03, come on top.) Hence `only_last`. Training needs all rows; where attention keeps no table of weights (a fused kernel), or rows are short, the logits are often its largest tensor.
#
# ## Exercise
#
# **A. Build** (20 minutes). Make a trained pre-norm decoder deeper without changing what it says. Write `deepen(decoder, n_layers)`: return a `Decoder` with `n_layers` blocks, the old ones first, whose logits equal the old model's. The new blocks must be able to learn; nothing is shared with the old model, which stays as it is. `n_layers` exceeds the old number; all is in evaluation mode.

# %%
def deepen(decoder, n_layers):
    """Your code."""


# %% [markdown]
# The check: skim it, its messages will tell what to mend.

# %%
def deepened_wrong(old, deeper, kept):
    """What is wrong with the deeper model, if anything."""
    expected = sum(terms(replace(old.config, n_layers=5)).values())
    if (n := n_parameters(deeper)) != expected:
        return f"{n} parameters, the formula says {expected}"
    now, parts = dict(old.named_parameters()), dict(deeper.named_parameters())
    if now.keys() != kept.keys() or not all(torch.equal(now[k], kept[k]) for k in kept):
        return "the old model was changed"
    theirs = {p.data_ptr() for p in old.parameters()}
    if theirs & {p.data_ptr() for p in deeper.parameters()}:
        return "it shares parameters with the old model"
    if not all(torch.equal(parts[name], kept[name]) for name in kept):
        return "the old blocks do not come first, or their numbers were changed"
    with torch.no_grad():
        gap = (deeper.eval()(ids) - old(ids)).abs().max()
        if gap > 1e-4:
            return f"logits differ by up to {gap:.2f}: do the new blocks write 0?"
        try:
            cached = deeper(ids, cache=deeper.new_cache(2))
        except (IndexError, ValueError):
            return "it fails with a cache: does each block, and the config, know its place?"
    if not torch.allclose(cached, old(ids), atol=1e-4):
        return "with a cache it answers differently: does each block know its place?"


# %%
def new_blocks_learn(deeper):
    """Whether every new block's output projections get a gradient."""
    deeper(ids).square().sum().backward()
    writers = [
        parameter
        for block in deeper.stack.blocks[3:]
        for name, parameter in block.named_parameters()
        if name.endswith("to_output.weight")
    ]
    return all(p.grad is not None and p.grad.abs().max() > 0 for p in writers)


# %%
def try_deepen(deepen):
    """Say whether deepen keeps the logits, and what is missing."""
    for bias in (True, False):
        decoder = randomise(Decoder(DecoderConfig(**TINY, bias=bias)))
        kept = {name: p.clone() for name, p in decoder.named_parameters()}
        deeper = deepen(decoder, 5)
        if deeper is None:
            return "not written yet"
        wrong = deepened_wrong(decoder, deeper, kept)
        if wrong is None and not new_blocks_learn(deeper):
            wrong = (
                "a new block gets no gradient: what does its output projection read?"
            )
        if wrong:
            return f"bias={bias}: {wrong}"
    return "right"


print(try_deepen(deepen))

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Step 5 made a sublayer disappear without taking it out.
# </details>
#
# <details><summary>A stronger hint</summary>
#
# `replace(decoder.config, n_layers=...)`, a fresh `Decoder`, `load_state_dict(..., strict=False)`. Then only what writes to the stream, `to_output`, must be 0 in the new blocks; what it reads must not.
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def deepen(decoder, n_layers):
#     deeper = Decoder(replace(decoder.config, n_layers=n_layers))
#     deeper.load_state_dict(decoder.state_dict(), strict=False)
#     for block in deeper.stack.blocks[decoder.config.n_layers :]:
#         for name, parameter in block.named_parameters():
#             if "to_output" in name:
#                 nn.init.zeros_(parameter)
#     return deeper.eval()
# ```
#
# A silent pre-norm block is the identity. With *all* of it 0 it would stay silent: the gradient of `to_output.weight` is a product with what it reads.
# </details>
#
# **B. Debug** (20 minutes). The published layer of lesson 07 comes back inside a whole model, with *four* faults, and a total that is exactly the formula's. Count term by term, build it twice, silence it; then write `Repaired`, with the same arguments and names of parts.

# %%
from course_lib.block import Block


class PublishedLayer(Block):
    """One layer: reads the target, reads the source, reworks."""

    def __init__(self, config, layer):
        super().__init__(config, layer)
        for part in ("to_queries", "to_keys", "to_values"):
            setattr(self.cross_attention, part, getattr(self.self_attention, part))

    def forward(self, residual, memory):
        residual, _ = self.self_attention(self.self_norm(residual), causal=True)
        read, _ = self.cross_attention(self.cross_norm(residual), memory)
        residual = residual + read
        return residual + self.feed_forward(self.feed_norm(residual))


# %%
class Published(nn.Module):
    """A decoder for 78 ids: embedding, two layers, norm, tied head."""

    def __init__(self, config, generator):
        super().__init__()
        self.embedding = TokenEmbedding(config)
        self.layers = nn.ModuleList(PublishedLayer(config, i) for i in range(2))
        self.final_norm = make_norm(config)
        self.head = Linear(config.d_model, config.vocab_size, bias=False)
        for parameter in self.layers.parameters():
            if parameter.ndim == 2:
                nn.init.xavier_normal_(parameter, generator=generator)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.head.weight.data = self.embedding.weight.data.clone()

    def forward(self, tokens, memory):
        residual = self.embedding(tokens, torch.arange(tokens.shape[1]))
        for layer in self.layers:
            residual = layer(residual, memory)
        return self.head(self.final_norm(residual))


# %%
sizes = dict(vocab_size=78, d_model=12, n_layers=2, n_heads=3, max_length=8)
debugged = DecoderConfig(**sizes, positions="sinusoidal", cross_attention=True)
published = Published(debugged, torch.Generator().manual_seed(1))
print(
    n_parameters(published), "parameters; the formula:", sum(terms(debugged).values())
)

Repaired = None  # your tests, then your class


# %%
def by_term(model):
    """Count a model's parameters by the words in their names."""
    found = dict.fromkeys(terms(debugged), 0)
    for name, parameter in model.named_parameters():
        in_name = name.replace("_", "-").replace("norm", "norms")
        term = next(word for word in reversed(found) if word in in_name)
        found[term] += parameter.numel()
    return found


def silent_echo(model, tokens, memory):
    """With sublayers that write 0: do different ids still get different logits?"""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "to_output" in name:
                parameter.zero_()
        logits = model(tokens, memory)[0]
    return not torch.allclose(logits[0], logits[1], atol=1e-4)


# %%
def faults(make_model):
    """Name what is still wrong."""
    models = []
    for state in (5, 6):  # only the generator may decide, not what was drawn before
        torch.manual_seed(state)
        models.append(make_model(debugged, torch.Generator().manual_seed(1)))
    tokens, source = torch.tensor([[1, 2, 3, 5, 7]]), torch.ones(1, 3, 12)
    source[0, 1] = torch.linspace(-1, 1, 12)
    first, second = (model.eval()(tokens, source) for model in models)
    if not torch.equal(first, second):
        yield "two models from equal generators answer differently"
    for term, found in by_term(models[0]).items():
        if found != (expected := terms(debugged)[term]):
            yield f"{term}: {found} parameters, the formula says {expected}"
    later = models[0](torch.tensor([[1, 2, 3, 5, 9]]), source)
    if not torch.allclose(later[:, :4], first[:, :4], atol=1e-6):
        yield "a later id moves earlier logits"
    if torch.allclose(models[0](tokens, source.flip(-1)), first, atol=1e-6):
        yield "the source is not read"
    if not silent_echo(models[1], tokens, source):
        yield "with silent sublayers, different ids get the same logits"


# %%
def examine(make_model):
    """Say what is left to mend."""
    if make_model is None:
        return "not written yet"
    if make_model in (Decoder, MyDecoder):
        return "that one was never broken: mend Published"
    return "; ".join(faults(make_model)) or "right"


print(examine(Repaired))

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Print `by_term(published)` beside `terms(debugged)`: one term is too large, one too small, by the same number.
# </details>
#
# <details><summary>A stronger hint</summary>
#
# 936 = 78 · 12 = 2 · 3 · (12 · 12 + 12). In the layer, look at what the first line does with `residual`; in the model, at which line does not know the generator.
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# class RepairedLayer(Block):
#     def forward(self, residual, memory):
#         return super().forward(residual, memory, causal=True)
#
#
# class Repaired(Published):
#     def __init__(self, config, generator):
#         super().__init__(config, generator)
#         self.layers = nn.ModuleList(RepairedLayer(config, i) for i in range(2))
#         self.head.weight = self.embedding.weight
#         initialise_weights(self, config, generator)
# ```
#
# `Block` has a cross-attention of its own and every residual; assigning the tensor ties; one generator draws all. Two errors of one size hid in the total: compare term by term.
# </details>

# %% [markdown]
# ## Quiz
#
# Choose, then read the reason. Where no kernel runs, the reasons are folded below each question.

# %%
from course_lib.quiz import show_quiz

show_quiz("decoder")

# %% [markdown]
# ## Further reading
#
# - Vaswani et al. (2017), *Attention Is All You Need*, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762). Section 3 is this class; 3.4 ties three tables, and scales the two that look up.
# - Press, Wolf (2017), *Using the Output Embedding to Improve Language Models*, [arXiv:1608.05859](https://arxiv.org/abs/1608.05859). Why the head's table is a good embedding, and the gradients of both uses.
# - Radford et al. (2019), [*Language Models are Unsupervised Multitask Learners*](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf). GPT-2: section 2.3 lists what it changed; table 2 its sizes.
# - Chen, Goodfellow, Shlens (2015), *Net2Net*, [arXiv:1511.05641](https://arxiv.org/abs/1511.05641). Larger networks that start with the smaller one's function.
# - Ben Allal et al. (2025), *SmolLM2: When Smol Goes Big*, [arXiv:2502.02737](https://arxiv.org/abs/2502.02737). Where the weights of step 9 come from.
