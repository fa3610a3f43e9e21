# %% [markdown] tags=["slide"]
# # Why is the next token cheap?
#
# **You need** masks (lesson 02), attention (03), rotary positions (04), cross-attention (05), the decoder (08) and its writing loop (09).
#
# **You build** four caches, each a few lines, and `feed`, which lets a whole decoder write with any of them.
#
# **You will be able to** *predict* the bytes and the time that a cache costs and saves, *prove* that it changes no logit, and *debug* a decoder whose cache is wrong.
#
# About 120 minutes.

# %% [markdown] tags=["slide"]
# ## Question
#
# The loop of lesson 00 feeds the whole text again for each new token. A prompt of 16 tokens is continued by 64. How many positions go through the model? And how many if each goes through it once?

# %% tags=["slide"]
import torch

from course_lib.decoder import Decoder, DecoderConfig

torch.set_grad_enabled(False)  # nobody trains here

again = sum(range(16, 16 + 64))
once = 16 + 63  # the last token is not fed
print(f"{again:,} positions, or {once}: {again / once:.0f} times fewer")

# %% [markdown]
# The library does it both ways, here with random weights, which are as slow as trained ones. **Predict:** is it 38 times as fast? Are the tokens the same? (Three rounds each.)

# %%
# Layers, d_model, heads:
SIZES = {"small": (4, 128, 4), "medium": (6, 384, 6), "large": (8, 768, 12)}


def fresh_model(size):
    """One of three decoders: more layers, wider, more heads."""
    n_layers, d_model, n_heads = SIZES[size]
    config = DecoderConfig(
        256, d_model, n_layers, n_heads, max_length=1100, positions="rotary"
    )
    return Decoder(config, torch.Generator().manual_seed(0)).eval()


# %% tags=["nbval-ignore-output"]
from course_lib.generation import generate
from course_lib.hardware import timer

medium, prompt, gains = fresh_model("medium"), list(range(16)), []
for _ in range(3):
    with timer() as without:
        written = generate(medium, prompt, 64, cache=False)
    with timer() as cached:
        assert generate(medium, prompt, 64, cache=True) == written
    seconds = without.wall_seconds, cached.wall_seconds
    gains.append(seconds[0] / seconds[1])
    print("{:.2f} s and {:.2f} s: {:.1f} times as fast".format(*seconds, gains[-1]))
assert 1.1 < max(gains)

# %% [markdown]
# The same tokens, but far from 38 times as fast; the experiment under Check says why. What is kept, and why may it be?

# %% [markdown] tags=["slide"]
# ## Picture
#
# *I sent it home*: the last word has arrived, in a stack of three layers. **Predict** what must be computed for it, and what read.

# %%
from course_lib.figures import draw_curves, draw_masks, show_figure

labels = ["3", "2", "1"], ["I", "sent", "it", "home"]
everything = torch.ones(3, 4, dtype=torch.bool)
newest = torch.tensor([False, False, False, True]).expand(3, 4)
panels = {
    "computed, no cache": (everything, *labels),
    "computed, cache": (newest, *labels),
    "keys read, cache": (everything, *labels),
}

# %% tags=["slide"]
show_figure(
    draw_masks(panels, query_name="layer", key_name="position"),
    alt=(
        "Three tables of 3 layers by the 4 positions I, sent, it, home; a dot means yes. "
        "Computed without a cache: dots everywhere. Computed with a cache: dots only in "
        "the column of home. Keys read with a cache: dots everywhere."
    ),
    caption="With a cache only the new position is computed; every old key is still read.",
)

# %% [markdown]
# The chef at the pass keeps a notebook of the dishes served. Nothing is cooked twice, but before each new dish the *whole* notebook is read.

# %% [markdown] tags=["slide"]
# ## Definition
#
# At step $t$, each layer and head computes one query, key and value; older keys and values come from the cache:
#
# $$K_t = [K_{t-1};\, k_t], \qquad V_t = [V_{t-1};\, v_t], \qquad o_t = \text{attention}(q_t, K_t, V_t)$$
#
# | symbol | word | shape |
# |---|---|---|
# | $q_t, k_t, v_t$ | query, key, value of the new position | (d_head) |
# | $K_t, V_t$ | the cache: keys and values of positions 0 to $t$ | ($t+1$, d_head) |
# | $[\,;\,]$ | one more row below | |
# | $o_t$ | what the head reads | (d_head) |
# | kv_head | heads that own keys and values; fewer than query heads in step 7 and in the small model below | |
#
# **The invariant:** logits with the cache = logits without it, up to rounding.
#
# Memory: $\text{cache\_bytes} = 2 \cdot \text{layer} \cdot \text{kv\_head} \cdot \text{position} \cdot \text{d\_head} \cdot \text{bytes of a number} \cdot \text{batch}$; the 2 stands for keys and values. The step that sees $T$ positions, itself included:
#
# | | no cache | cache |
# |---|---|---|
# | positions through the matrices, per layer | $T$ | 1 |
# | pairs that may be read, per layer and head | $T(T+1)/2$ | $T$ |
#
# So a cached step is not O(1): its reading grows with $T$. (Without a cache a plain program scores all $T^2$ pairs and hides the rest, lesson 02.)
#
# Source: Shazeer (2019), section 2.4, for the step; section 3 for shared keys and values.

# %% [markdown] tags=["slide"]
# ## Build
#
# ### 1. One step, by hand
#
# One head of width 1. Two tokens are in the cache: keys 0 and 0, values 4 and 8. The third comes with query 1, key ln 2 = 0.693 and value 12. Scores: 0, 0, 0.693; exponentials 1, 1, 2; weights ¼, ¼, ½; output 1 + 2 + 6 = 9. **Predict** what comes out if the new key is appended only *after* reading.

# %% tags=["slide"]
from course_lib.attention import attention

query = torch.tensor([[1.0]])
kept_keys, kept_values = torch.tensor([[0.0], [0.0]]), torch.tensor([[4.0], [8.0]])
keys = torch.cat([kept_keys, torch.tensor([[2.0]]).log()])
values = torch.cat([kept_values, torch.tensor([[12.0]])])
print("append, then read:", round(attention(query, keys, values)[0].item(), 3))
print("read, then append:", attention(query, kept_keys, kept_values)[0].item())


# %% [markdown]
# 6: a token that is blind to itself.
#
# ### 2. What is worth keeping?
#
# A small model for all that follows: 2 layers, 6 query heads on 3 key heads (step 7). Its parameters are drawn large, so that no fault hides behind small numbers. It reads 4 tokens, then the same and a fifth. **Predict** which old entries change: queries, keys, values, weights?

# %%
def small_model(dtype=torch.float64, **changes):
    """A decoder of 2 layers in which every part matters."""
    sizes = {"d_model": 48, "n_layers": 2, "n_heads": 6, "n_kv_heads": 3}
    sizes |= {"max_length": 40, "positions": "rotary", "tie_weights": False}
    model = Decoder(DecoderConfig(29, **sizes | changes)).eval()
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        parameter.normal_(std=0.4, generator=generator)
    return model.to(dtype)


def some_tokens(batch, n, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(29, (batch, n), generator=generator)


# %%
model, tokens = small_model(), some_tokens(1, 5)
four, five = {}, {}
model(tokens[:, :4], record=four)
model(tokens, record=five)
for layer in (0, 1):
    before, after = four["self", layer, "inputs"], five["self", layer, "inputs"]
    for name in ("queries", "keys", "values"):
        old = after[name][:, :, :4]
        print(layer, f"{name:8} unchanged:", torch.allclose(before[name], old))
    old = five["self", layer][:, :, :4, :4]
    print(layer, "weights  unchanged:", torch.allclose(four["self", layer], old))

# %% [markdown]
# None: nothing before the fifth token can see it (lesson 02). All of it *could* be kept. What does the fifth position read? A gradient tells what its output depends on:

# %%
names = ("queries", "keys", "values")  # of the last layer
inputs = {name: after[name].clone().requires_grad_() for name in names}
with torch.enable_grad():
    outputs, _ = attention(**inputs, causal=True)
    slopes = torch.autograd.grad(outputs[:, :, -1].sum(), list(inputs.values()))
for name, slope in zip(inputs, slopes, strict=True):
    print(f"old {name:8} read:", bool(slope[:, :, :4].abs().sum() > 0))


# %% [markdown]
# An old query and its weights have done their work: they made the old positions' outputs, hence keys and values of the *next* layer, which are kept there. So the cache spares the past all its work in every layer: projections, scores, feed-forward. Scores and weights are not kept: nobody reads them again.

# %% [markdown] tags=["slide"]
# ### 3. Append
#
# `places` says where new tokens stand, and which keys will be read. Each layer's attention calls `extend`, which takes the new keys and values and gives all. (Only ALiBi and relative positions need the third result, the keys' positions.)

# %%
class Appended:
    """One tensor a layer, (2, batch, kv_head, key, d_head), longer at each call."""

    def __init__(self, model, batch):
        config, self.length = model.config, 0
        empty = torch.zeros(2, batch, config.n_kv_heads, 0, config.d_head)
        self.kept = [empty.to(model.head.weight.dtype)] * config.n_layers

    def places(self, n):
        end = self.length + n
        return torch.arange(self.length, end), torch.arange(end)

    def extend(self, layer, keys, values):
        new = torch.stack([keys, values])
        self.kept[layer] = torch.cat([self.kept[layer], new], dim=-2)
        return *self.kept[layer], None


# %% [markdown]
# And the decoder of lesson 08, fed only what is new. The mask is lesson 02's one question about positions. Keys are turned (lesson 04) once, at *their* positions, before they are kept.

# %%
from course_lib.masks import causal_mask, may_read


def feed(model, tokens, cache, rule=may_read):
    """Logits at new tokens (batch, position); the cache has the older ones."""
    queries, keys = cache.places(tokens.shape[1])
    allowed = rule(queries, keys, window=model.config.window)
    x = model.embedding(tokens, queries)
    x = model.stack(x, queries, cache=cache, allowed=allowed)
    cache.length += tokens.shape[1]
    return model.head(x)


# %% [markdown]
# Now the invariant, on logits, which show what equal tokens may hide. Five rows of 11 tokens go in whole, one by one, or as a prompt and single tokens.

# %%
def gaps(model, tokens, cache, pieces, rule=may_read):
    """Largest difference to the uncached logits at each position."""
    cut = tokens.split(pieces, dim=1)
    logits = torch.cat([feed(model, piece, cache, rule) for piece in cut], dim=1)
    return (logits - model(tokens)).abs().amax((0, 2))


tokens = some_tokens(5, 11)
splits = {"whole": [11], "one by one": [1] * 11, "prompt first": [5] + [1] * 6}
for dtype, tolerance in ((torch.float32, 1e-4), (torch.float64, 1e-12)):
    model = small_model(dtype)
    for name, pieces in splits.items():
        gap = gaps(model, tokens, Appended(model, 5), pieces).max()
        print(f"{dtype}, {name:12} equal:", bool(gap < tolerance))

# %% [markdown]
# In float64 they agree to 12 decimals: only rounding differs.
#
# ### 4. A chunk at a time
#
# Long prompts are fed in chunks, so that score tables stay small. **Predict** the mask of 2 new tokens after 3.

# %%
cache = Appended(model, 5)
print(may_read(*cache.places(3)).int(), "\n")
feed(model, tokens[:, :3], cache)
print(may_read(*cache.places(2)).int())
gap = gaps(model, tokens, Appended(model, 5), [3, 2, 6]).max()
print("chunks of 3, 2 and 6 equal:", bool(gap < 1e-12))


# %% [markdown]
# The last query stands at the last key: bottom right.
#
# ### 5. Preallocate
#
# `cat` writes a longer tensor each time. **Predict** how many old rows that copies over 1,000 single tokens. Instead: set room aside once, write in place.

# %%
class Preallocated(Appended):
    """Room for max_length tokens; a step writes its own places and reads up to them."""

    def __init__(self, model, batch, max_length):
        super().__init__(model, batch)
        room = (*self.kept[0].shape[:3], max_length, model.config.d_head)
        self.kept = [old.new_zeros(room) for old in self.kept]

    def extend(self, layer, keys, values):
        end = self.length + keys.shape[-2]
        self.kept[layer][..., self.length : end, :] = torch.stack([keys, values])
        return *self.kept[layer][..., :end, :], None


gap = gaps(model, tokens, Preallocated(model, 5, 11), [3, 2, 6]).max()
print(f"appending copies {sum(range(1000)):,} rows, writing in place 0")
print("up to the last slot equal:", bool(gap < 1e-12))


# %% [markdown]
# The price: the room is taken even if the text stays short.
#
# ### 6. A ring for a window
#
# A model with `window=5` reads at most five keys (lesson 02), so five slots do: position $p$ goes to slot $p$ mod 5, over the one that nobody may read any more. The order of slots does not matter: attention reads a set. **Predict** with a pencil which positions lie in 3 slots, up to position 5.

# %%
class Ring(Preallocated):
    """The last tokens only; the newest overwrites the oldest. One at a time."""

    def places(self, n):
        newest, size = torch.tensor([self.length]), self.kept[0].shape[-2]
        slots = torch.arange(min(self.length + 1, size))
        return newest, newest - (newest - slots) % size

    def extend(self, layer, keys, values):
        size = self.kept[layer].shape[-2]
        self.kept[layer][..., [self.length % size], :] = torch.stack([keys, values])
        return *self.kept[layer][..., : self.length + 1, :], None


# %%
ring = Ring(model, 5, max_length=3)
for position in range(6):
    ring.length = position
    print("position", position, "slots hold", ring.places(1)[1].tolist())

windowed = small_model(window=5)
gap = gaps(windowed, tokens, Ring(windowed, 5, max_length=5), [1] * 11).max()
print("equal to the uncached model with a window:", bool(gap < 1e-12))

# %% [markdown]
# Equal to the model *with that window*, not to one that reads everything (Misconceptions). Chunks need more care: their first queries still read what their last tokens overwrite.
#
# ### 7. Fewer heads of keys and values
#
# Query heads can share key heads: **grouped-query attention** (GQA); with a single one, **multi-query** (MQA). Of 6 query heads on 3, head $h$ reads key head $h$ // 2. No key is copied; queries are grouped.

# %%
import math

from course_lib.softmax import softmax


def read_grouped(queries, keys, values):
    """Attention in which consecutive query heads share a key head."""
    groups = queries.unflatten(1, (keys.shape[1], -1))  # (batch, kv_head, member, ...)
    scores = groups @ keys[:, :, None].mT / math.sqrt(queries.shape[-1])
    return (softmax(scores) @ values[:, :, None]).flatten(1, 2)


queries, (keys, values) = torch.randn(2, 6, 5, 7), torch.randn(2, 2, 3, 11, 7)
copied = [x.repeat_interleave(2, dim=1) for x in (keys, values)]
torch.testing.assert_close(
    read_grouped(queries, keys, values), attention(queries, *copied)[0]
)
print("equal to keys and values that are copied")

# %% [markdown]
# The cache holds key heads, so it shrinks with them. **Predict** the bytes for 6, 3 and 1 (5 rows, 11 positions, 2 layers, d_head 8, float64).

# %%
for n_kv_heads in (6, 3, 1):
    grouped = small_model(n_kv_heads=n_kv_heads)
    cache = Appended(grouped, 5)
    gap = gaps(grouped, tokens, cache, [3, 2, 6]).max()
    held = sum(kept.nbytes for kept in cache.kept)
    print(f"{n_kv_heads} key heads: {held:,} bytes, equal:", bool(gap < 1e-12))


# %% [markdown]
# By the formula, 2 · 2 · 6 · 11 · 8 · 8 · 5 = 84,480. These are three models: the number of key heads is part of the model, not of the cache.
#
# ### 8. Pages
#
# Many conversations of unknown lengths: room for the longest wastes memory. Instead all share a pool of small blocks, and each has a **table** of those it owns. Position $p$ lies in block table[$p$ // size], slot $p$ mod size.

# %%
class Pool:
    """Blocks of keys and values for all conversations: (layer, 2, block, slot, ...)."""

    def __init__(self, model, n_blocks, block_size):
        c, self.block_size = model.config, block_size
        shape = (c.n_layers, 2, n_blocks, block_size, c.n_kv_heads, c.d_head)
        self.blocks = torch.zeros(shape, dtype=model.head.weight.dtype)
        self.free = list(range(n_blocks))


# %%
class Paged(Appended):
    """One conversation: its length and the blocks that it took from a pool."""

    def __init__(self, pool):
        self.pool, self.table, self.length = pool, [], 0

    def extend(self, layer, keys, values):
        blocks, size = self.pool.blocks[layer], self.pool.block_size
        end = self.length + keys.shape[-2]
        while len(self.table) * size < end:
            self.table.append(self.pool.free.pop())
        here, table = torch.arange(self.length, end), torch.tensor(self.table)
        new = torch.cat([keys, values])  # (2, kv_head, position, d_head)
        blocks[:, table[here // size], here % size] = new.transpose(1, 2)
        found = blocks[:, table].flatten(1, 2)[:, :end]
        return *found.transpose(1, 2)[:, None], None  # a batch of one


# %% [markdown]
# Three conversations of 3, 7 and 11 tokens, blocks of 4, fed in turns. **Predict** how many blocks each owns at the end.

# %%
pool = Pool(model, n_blocks=7, block_size=4)
talks = [Paged(pool) for _ in range(3)]
logits = [[], [], []]
for place in range(11):
    for row, end in enumerate((3, 7, 11)):
        if place < end:
            one = tokens[[row], place : place + 1]
            logits[row].append(feed(model, one, talks[row]))
for row, end in enumerate((3, 7, 11)):
    gap = (torch.cat(logits[row], 1) - model(tokens[[row], :end])).abs().max()
    print(f"{end:2} tokens, blocks {talks[row].table}, equal:", bool(gap < 1e-12))
print("still free:", pool.free)

# %% [markdown]
# 1, 2 and 3 blocks, in no order: only the table knows which. 24 slots for 21 tokens; three rows with room for 11 take 33.
#
# ### 9. Beams and a source
#
# Beam search (lesson 09) drops rows and doubles others; caches must follow. Row 2 is doubled, row 3 dropped, the others change places:

# %%
for follow in (True, False):
    cache, rows = Appended(model, 5), [2, 2, 4, 0, 1]
    feed(model, tokens[:, :10], cache)
    if follow:
        cache.kept = [kept[:, rows] for kept in cache.kept]
    logits = feed(model, tokens[:, 10:], cache)
    beams = torch.cat([tokens[rows, :10], tokens[:, 10:]], 1)
    gap = (logits - model(beams)[:, 10:]).abs().amax((1, 2))
    print("cache reordered:" if follow else "cache as it was:", (gap < 1e-12).tolist())

# %% [markdown]
# Without the reorder beams go on with other beams' pasts, and nothing crashes.
#
# From here on also the library's caches: `model.new_cache` makes one; `lengths` and `bytes` say what it holds. An encoder-decoder keeps a second pair a layer: keys and values of the *source* (lesson 05). **Predict** both parts after 3 and after 8 tokens, with a source of 7.

# %%
reader = small_model(cross_attention=True)
memory = torch.randn(1, 7, 48, generator=torch.Generator().manual_seed(2)).double()
cache = reader.new_cache(kind="append")
one_token = 2 * 2 * 3 * 8 * 8  # keys and values, layers, key heads, d_head, bytes
for n, source in ((3, memory), (5, None)):
    reader(some_tokens(1, n), source, cache=cache)  # the source only once
    n_fed = int(cache.lengths)
    own = n_fed * one_token
    print(f"{n_fed} tokens: own {own:,} bytes, source {cache.bytes - own:,}")
    assert cache.bytes - own == 7 * one_token

# %% [markdown]
# One grows, the other stays: 7 · 768 = 5,376 bytes.
#
# ## Check
#
# Ours against the library's caches, on logits.

# %%
ours = {
    "append": (model, Appended(model, 5), 5, [3, 2, 6]),
    "preallocated": (model, Preallocated(model, 5, 11), 5, [3, 2, 6]),
    "sliding_window": (windowed, Ring(windowed, 5, 5), 5, [1] * 11),
    "paged": (model, Paged(Pool(model, 5, 4)), 1, [3, 2, 6]),
}
for kind, (decoder, cache, n_rows, pieces) in ours.items():
    theirs = decoder.new_cache(n_rows, kind)
    for piece in tokens[:n_rows].split(pieces, dim=1):
        logits = feed(decoder, piece, cache)
        torch.testing.assert_close(logits, decoder(piece, cache=theirs))
    print(f"{kind:14} equal; lengths", theirs.lengths.tolist())

# %% [markdown]
# Against PyTorch: steps with our cache, and `nn.MultiheadAttention` on all positions at once; outputs and gradients.

# %%
from torch import nn

from course_lib.attention import MultiHeadAttention

ours, reference = (
    MultiHeadAttention(6, 3),
    nn.MultiheadAttention(6, 3, batch_first=True),
)
parts = (ours.to_queries, ours.to_keys, ours.to_values)
reference.in_proj_weight.copy_(torch.cat([part.weight for part in parts]))
reference.out_proj.load_state_dict(ours.to_output.state_dict())
x = torch.randn(2, 5, 6, requires_grad=True)
cache = Appended(small_model(torch.float32, d_model=6, n_heads=3), 2)
with torch.enable_grad():
    steps = torch.cat([ours(place, cache=cache)[0] for place in x.split(1, 1)], 1)
    whole, _ = reference(x, x, x, attn_mask=~causal_mask(5))
    torch.testing.assert_close(steps, whole)
    slopes = [torch.autograd.grad(y.square().sum(), x)[0] for y in (steps, whole)]
torch.testing.assert_close(*slopes)
print("equal to torch: outputs and gradients")


# %% [markdown]
# The library's caches through a whole life: chunks, rows of different lengths (some get nothing), a reorder, the end cut off. After each call, each row's logits are compared with its whole text alone, without a cache.

# %%
def compare_rows(decoder, texts, new, lengths, logits, side):
    """Each row's new logits against its whole text alone; the number of positions."""
    for row, n in enumerate(lengths):
        if n > 0:
            places = slice(0, n) if side == "right" else slice(-n, None)
            texts[row] += new[row, places].tolist()
            alone = decoder(torch.tensor([texts[row]]))[0, -n:]
            near = 1e-4 if logits.dtype == torch.float32 else 1e-9
            torch.testing.assert_close(logits[row, places], alone, atol=near, rtol=near)
    return sum(lengths)


calls = (
    [[3, 3, 3], [2, 2, 2], [2, 0, 7]],
    [[1, 1, 1], [0, 4, 1]],
    [[4, 2, 3], [1, 1, 1]],
)


# %%
def follow(decoder, cache, side):
    """Take a cache through calls, a reorder, more calls, a crop and more calls."""
    texts, compared = [[], [], []], 0
    for part, lengths_of_part in enumerate(calls):
        for lengths in lengths_of_part:
            new = some_tokens(3, max(lengths), seed=compared)
            logits = decoder(new, lengths=lengths, cache=cache, side=side)
            compared += compare_rows(decoder, texts, new, lengths, logits, side)
        if part == 0:
            cache.reorder([0, 1, 0])  # the longest goes
            texts = [list(texts[row]) for row in (0, 1, 0)]
        if part == 1:
            cache.crop(9)
            texts = [text[:9] for text in texts]
    return compared


# %%
for kind in ("append", "preallocated", "paged", "sliding_window"):
    decoder = windowed if kind == "sliding_window" else model
    options = {"block_size": 4} if kind == "paged" else {}
    for dtype in (torch.float32, torch.float64):
        for side in ("right", "left"):
            cache = decoder.to(dtype).new_cache(3, kind, **options)
            n_compared = follow(decoder, cache, side)
    print(f"{kind:14} {n_compared} positions equal, in float32 and float64")

# %% [markdown]
# A source moves with its row; and at the limit nothing is computed, nothing lost.

# %%
memory = torch.randn(2, 7, 48, generator=torch.Generator().manual_seed(3)).double()
cache, rows = reader.new_cache(2), [1, 1, 0]
reader(tokens[:2, :5], memory, memory_lengths=[7, 3], cache=cache)
cache.reorder(rows)
logits = reader(tokens[2:, 5:6], cache=cache)
beams = torch.cat([tokens[rows, :5], tokens[2:, 5:6]], 1)
alone = reader(beams, memory[rows], memory_lengths=[3, 3, 7])
torch.testing.assert_close(logits, alone[:, 5:])
print("equal, with the source of its own row")

# %%
for kind in ("append", "preallocated", "paged"):
    cache = model.new_cache(5, kind, max_length=11)
    logits = [model(piece, cache=cache) for piece in tokens.split([10, 1], dim=1)]
    torch.testing.assert_close(torch.cat(logits, 1), model(tokens))
    try:
        model(tokens[:, :1], cache=cache)
    except ValueError as problem:
        print(f"{kind:12} {problem}".split(" and ")[0])
    assert cache.lengths.tolist() == [11] * 5
    cache.crop(10)
    torch.testing.assert_close(model(tokens[:, 10:], cache=cache), logits[1])

# %% [markdown]
# A window passes the limit (here 6), but cannot go back to what it forgot:

# %%
cache = windowed.new_cache(5, "sliding_window", max_length=6)
windowed(tokens, lengths=[11, 3, 2, 7, 5], cache=cache)
cache.reorder([1, 0, 2, 3, 4])
try:
    cache.crop(6)
    raise AssertionError("a forgotten key was wanted")
except ValueError as problem:
    print(str(problem).split("; ")[1])

# %% [markdown]
# ### Bytes: predicted and measured
#
# Five rows of 3, 1, 7, 2 and 5 tokens (room for 40; window 5; blocks of 4). `memory_behind` finds the storage of every tensor that a cache holds. **Predict** which kind needs least.

# %%
from functools import partial


def cache_bytes(config, n_slots, number_bytes):
    """The formula; n_slots counts positions over all rows of the batch."""
    per_layer = 2 * config.n_kv_heads * config.d_head * number_bytes
    return config.n_layers * per_layer * n_slots


def memory_behind(thing):
    """The memory behind all tensors that a thing holds: bytes by address."""
    if isinstance(thing, torch.Tensor):
        storage = thing.untyped_storage()
        return {storage.data_ptr(): storage.nbytes()}
    thing = vars(thing) if hasattr(thing, "__dict__") else thing
    if not isinstance(thing, dict | list | tuple):
        return {}
    parts = thing.values() if isinstance(thing, dict) else thing
    return {k: v for part in parts for k, v in memory_behind(part).items()}


# %%
lengths = [3, 1, 7, 2, 5]
slots = {"append": 5 * 7, "preallocated": 5 * 40, "sliding_window": 5 * 5, "paged": 28}
print("                 formula   .bytes   memory")
for kind, n_slots in slots.items():
    decoder = windowed if kind == "sliding_window" else model
    options = {"block_size": 4} if kind == "paged" else {}
    cache = decoder.new_cache(5, kind, **options)
    decoder(tokens[:, :7], lengths=lengths, cache=cache)
    formula = cache_bytes(decoder.config, n_slots, number_bytes=8)
    held = sum(memory_behind(cache).values())
    print(f"{kind:14} {formula:9,}{cache.bytes:9,}{held:9,}")
    assert formula == cache.bytes <= held
    cache.reorder([1] * 5)  # then empty it and fill it again: no memory may leak
    cache.crop(0)
    decoder(tokens[:, :7], lengths=lengths, cache=cache)
    assert sum(memory_behind(cache).values()) == held

# %% [markdown]
# The formula is exact if *position* counts slots. Pages: 4 + 4 + 8 + 4 + 8 = 28 slots for 18 tokens; their pool has 32, since it grows ahead of need. The window needs least, but forgets.
#
# ### Time: predicted and measured
#
# Two numbers of your machine: the bytes that it reads a second, $B$, and the operations that it does a second in a large matrix product, $R$.

# %% tags=["nbval-ignore-output"]
from course_lib.hardware import fastest_seconds, read_bandwidth

square = torch.randn(1024, 1024)
seconds = fastest_seconds(partial(torch.mm, square, square), repeats=5)
read_rate, multiply_rate = read_bandwidth(), 2 * 1024**3 / seconds
print(f"B = {read_rate / 1e9:.1f} billion bytes a second")
print(f"R = {multiply_rate / 1e9:.0f} billion operations a second")
print(torch.get_num_threads(), "threads")
assert multiply_rate > 0 < read_rate


# %% [markdown]
# Each of $N$ parameters multiplies and adds once a position:
#
# - **prefill**, $T$ positions at once, takes at least $2NT/R$: multiplying is the limit. (And never less than reading the weights, $4N/B$.) A step *without* a cache is this.
# - **decode**, one position with the cache, takes at least $(4N + \text{cache\_bytes})/B$: all weights (4 bytes each), keys and values are read for one position. Reading is the limit.
#
# While the cache is small beside the weights, the quotient is about $T \cdot B / 2R$, but not below 1: it grows with the context, and $N$ cancels. **Predict** where on your machine it lies between 5 and 10. Three sizes, four contexts, three rounds. (A minute or two.)

# %%
def step_seconds(model, n):
    """Seconds to feed n tokens at once, and to feed one more with the cache."""
    tokens, cache = torch.arange(n)[None] % 256, model.new_cache()
    prefill = fastest_seconds(partial(model, tokens, only_last=True), repeats=1)
    model(tokens, cache=cache)

    def write():
        for _ in range(4):
            model(tokens[:, :1], cache=cache)
            cache.crop(n)

    return prefill, fastest_seconds(write, repeats=2) / 4


def floor_seconds(model, n):
    """What the two rates predict for the same, at best."""
    n_parameters = sum(p.numel() for p in model.parameters())
    weights, kept = 4 * n_parameters, cache_bytes(model.config, n, number_bytes=4)
    prefill = max(2 * n_parameters * n / multiply_rate, weights / read_rate)
    return prefill, (weights + kept) / read_rate


# %% tags=["nbval-ignore-output"]
contexts, factors, floors = [16, 64, 256, 1024], {}, {}
print("ms: measured (predicted)   prefill             decode         factor, 3 rounds")
for size in SIZES:
    model_here = fresh_model(size)
    rounds = [[step_seconds(model_here, n) for n in contexts] for _ in range(3)]
    rounds = 1000 * torch.tensor(rounds)  # (round, context, prefill or decode)
    factors[size] = rounds[..., 0] / rounds[..., 1]
    floors[size] = [floor_seconds(model_here, n) for n in contexts]
    for place, (n, floor) in enumerate(zip(contexts, floors[size], strict=True)):
        prefill, decode = rounds.amin(0)[place]
        print(
            f"{size:6} {n:5}   {prefill:8.1f} ({1000 * floor[0]:6.1f})   "
            f"{decode:8.2f} ({1000 * floor[1]:6.2f})  ",
            *[f"{factor:5.1f}" for factor in factors[size][:, place]],
        )
    best = rounds.amin(0)
    assert best[3, 0] / best[0, 0] > 3 * best[3, 1] / best[0, 1]

# %% tags=["nbval-ignore-output"]
slope = read_rate / 2 / multiply_rate
predicted = [prefill / decode for prefill, decode in floors["large"]]
curves = factors | {"large, predicted": predicted}
fig = draw_curves(contexts, curves, "context (positions)", "no cache / cache", log="xy")
fig.axes[0].set_yticks([1, 5, 10, 50], ["1", "5", "10", "50"])
show_figure(
    fig,
    alt=(
        "Three curves over contexts 16 to 1,024, both axes logarithmic: small, "
        "medium and large model. Each starts low and climbs past 10; a fourth is the "
        "prediction for the large one. Bars show the spread of three rounds."
    ),
    caption="Time of one step without a cache, divided by its time with one, on this machine.",
)
print(f"by B/2R: a factor of 5 to 10 at contexts {5 / slope:.0f} to {10 / slope:.0f}")
assert slope > 0

# %% [markdown]
# Expect the large model nearest to its predictions, and the small one far above in decode: Python and dozens of tiny operations cost more than the reading. The factor starts low and, once multiplying outweighs the fixed cost of a call, grows with the context. Where is it 5 to 10? (Measured below predicted? Then the machine was busier when $B$ and $R$ were taken: run both cells again.)
#
# This answers the first question. One position alone pays for reading all weights; many at once share it. So 38 times fewer positions are not 38 times less time.
#
# ### “5 to 10 times faster”
#
# You will read this, often with figures like these: 7 billion parameters, 80 ms a token without a cache, 12 ms with one: 6.7 times. With 2 bytes a weight, 12 ms imply a read rate. And 80 ms? That depends on $R$ and $T$:

# %%
n_parameters = 7e9
print(f"B = {2 * n_parameters / 0.012 / 1e12:.2f} trillion bytes a second")
for rate in (100e12, 175e12, 312e12):
    context = 0.080 * rate / (2 * n_parameters)
    print(f"R = {rate / 1e12:.0f} trillion: 80 ms at context {context:,.0f}")
for context in (10, 100, 1000, 10000):
    uncached = max(0.012, 2 * n_parameters * context / 175e12)
    print(f"context {context:6,}, R = 175 trillion: factor {uncached / 0.012:.1f}")


# %% [markdown]
# An A100 GPU does 312 trillion operations a second in 16 bits at its peak (NVIDIA's data sheet), in real programs less. If it does 175, the claim is true *at a context of 1,000*. At 100 the factor is 1, since an uncached step reads the weights too; at 10,000 it is 67, before one counts pairs scored and cache read. No constant is right: state model, context, batch and machine.
#
# ### When it does not pay
#
# **A short text.** At context 16 it pays little: see the table.
#
# **One token.** A classifier that answers with one word has no second step: the factor is 1. Training knows all tokens in advance and keeps no cache (lesson 11).
#
# ### What a large batch costs
#
# Against no cache a batch gains even more: without one, every row's positions are multiplied again. But rows share the weights, not the cache. **Predict**, for the medium model at context 1,024, how much longer a step takes for 16 rows than for 1; and which part of what is read is cache.

# %%
def filled_cache(model, batch, n):
    """A cache that holds n random positions in each row."""
    cache, config = model.new_cache(batch), model.config
    past = torch.randn(batch, config.n_kv_heads, n, config.d_head)
    for layer in range(config.n_layers):
        cache.extend(layer, past, past)
    return cache


# %% tags=["nbval-ignore-output"]
weight_bytes, steps = sum(p.nbytes for p in medium.parameters()), {}
for batch in (1, 4, 16):
    cache, one = filled_cache(medium, batch, 1024), torch.zeros(batch, 1, dtype=int)
    step = partial(medium, one, cache=cache)  # six calls: 1,024 to 1,030 positions
    steps[batch] = fastest_seconds(step, repeats=5)
    kept = cache_bytes(medium.config, batch * 1024, number_bytes=4)
    share, floor = kept / (kept + weight_bytes), (kept + weight_bytes) / read_rate
    took, each = 1000 * steps[batch], batch / steps[batch]
    print(f"batch {batch:2}: {took:6.1f} ms ({1000 * floor:5.1f}),", end=" ")
    print(f"cache {share:.0%} of the reading, {each:5.0f} tokens a second")
assert steps[16] > 1.5 * steps[1]


# %% [markdown]
# 16 rows do not give 16 times the tokens a second: most of the reading is now cache. Caches fill the memory, too: hence windows, grouped heads and pages.
#
# ### Find the bug
#
# A minimal decoder that was published, rebuilt in our words. It has no output projection, residual, norm or positions; its text says GELU, its code ReLU; one query matrix serves self- *and* cross-attention. `parallel` is a proper causal pass.

# %%
class Published(nn.Module):
    """One layer, as found: self-attention, cross-attention, two linears."""

    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        for name in ("to_queries", "to_keys", "to_values", "from_keys", "from_values"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))
        self.hidden, self.narrow = nn.Linear(d_model, 40), nn.Linear(40, d_model)
        self.head = nn.Linear(d_model, vocab_size)

    def finish(self, x, keys, values, memory, allowed=None):
        x, _ = attention(self.to_queries(x), keys, values, allowed)
        keys, values = self.from_keys(memory), self.from_values(memory)
        x, _ = attention(self.to_queries(x), keys, values)
        return self.head(self.narrow(torch.relu(self.hidden(x))))

    def parallel(self, tokens, memory):
        x, allowed = self.embedding(tokens), causal_mask(tokens.shape[1])
        return self.finish(x, self.to_keys(x), self.to_values(x), memory, allowed)


# %% [markdown]
# Its loop makes the cache with the start token's key and value in it, feeds the start token again, and reads before it appends. **Predict** where its logits differ from its own parallel pass.

# %%
def write_published(model, tokens, memory):
    """Its loop: logits at each fed token (batch, position, vocab)."""
    start = model.embedding(tokens[:, :1])
    keys, values = model.to_keys(start), model.to_values(start)
    logits = []
    for token in tokens.split(1, dim=1):  # the start token again
        x = model.embedding(token)
        logits.append(model.finish(x, keys, values, memory))
        keys = torch.cat([keys, model.to_keys(x)], dim=1)
        values = torch.cat([values, model.to_values(x)], dim=1)
    return torch.cat(logits, dim=1)


# %%
def make_published(seed):
    """The decoder, six tokens for two rows (the first is the start), a memory of 7."""
    torch.manual_seed(seed)
    published = Published(29, 12).double()
    for parameter in published.parameters():
        parameter.normal_(std=0.5)
    start, others = torch.zeros(2, 1, dtype=torch.long), some_tokens(2, 5) % 28 + 1
    return published, torch.cat([start, others], 1), torch.randn(2, 7, 12).double()


published, row, source = make_published(seed=0)
gap = write_published(published, row, source) - published.parallel(row, source)
largest = gap.abs().amax((0, 2)).tolist()
print("difference at each position:", [round(g, 1) for g in largest])

# %% [markdown]
# The first is right by luck: the start token, fed again, meets its own copy. From then on each token meets the start twice and itself not at all. Exercise A repairs it.
#
# Equal logits prove the *cache*, not the model: faults of both paths stay unseen. Here two earlier tokens are swapped:

# %%
swapped = row[:, [0, 2, 1, 3, 4, 5]]
before, after = (published.parallel(x, source)[:, -1] for x in (row, swapped))
print("order matters:", not torch.allclose(before, after, atol=1e-5))


# %% [markdown] tags=["slide"]
# ## Misconceptions
#
# ### “The cache changes what the model says.”
#
# Up to rounding it does not. Two ways to save memory do: keys and values in 8 bits, and dropping old ones from a model that reads everything. Printed: the largest change of a logit.

# %%
class EightBits(Appended):
    """Each number of a key or value rounded to one of 255 values; kept as before."""

    def extend(self, layer, keys, values):
        rounded = []
        for x in (keys, values):
            step = x.abs().amax(-1, keepdim=True) / 127
            rounded.append((x / step).round() * step)
        return super().extend(layer, *rounded)


savings = {
    "none": Appended(model, 5),
    "8 bits": EightBits(model, 5),
    "only 5 newest": Ring(model, 5, max_length=5),
}
for name, cache in savings.items():
    gap = gaps(model, tokens, cache, [1] * 11).max()
    print(f"{name:14} {gap:.3f}")
print(f"standard deviation of the logits {model(tokens).std():.1f}")

# %% [markdown]
# Either may be a good bargain; measure what it does to the answers.
#
# The explorer shows each step of one run: the columns that the cache gains, the work with it and without. **Predict:** how do the two counts grow?

# %% tags=["nbval-ignore-output", "slide"]
from IPython.display import display

from course_lib.explorer import explore

explorer = explore(model, tokens[0, :4], max_new_tokens=5, mode="dynamic", step=3)
display(explorer)
steps = explorer.traces["main"].steps
for how in ("cached", "uncached"):
    print(f"{how:9}", [step["multiply_adds"][how] for step in steps])
assert max(step["difference"] for step in steps) < 1e-12


# %% [markdown]
# With the cache each new token costs about the same; without it, each step costs one position more than the step before.
#
# ### “It runs, and the text is fluent.”
#
# Three faults of real programs: a mask anchored top left; a step that reads its whole room, empty slots too (they score 0, not $-\infty$); a cache left over from another prompt. **Predict** at which position each shows first.

# %%
def top_left(queries, keys, window):
    return causal_mask(len(queries), len(keys), offset=0)


class WholeRoom(Preallocated):
    """Reads every slot, written or not."""

    def places(self, n):
        queries, _ = super().places(n)
        return queries, torch.arange(self.kept[0].shape[-2]).clamp(max=self.length)

    def extend(self, layer, keys, values):
        super().extend(layer, keys, values)
        return *self.kept[layer], None


# %%
stale = Appended(model, 5)
feed(model, some_tokens(5, 3, seed=9), stale)
faulty = {
    "top left": gaps(model, tokens, Appended(model, 5), [3, 2, 6], top_left),
    "room for 12": gaps(model, tokens, WholeRoom(model, 5, 12), [1] * 11),
    "room for 40": gaps(model, tokens, WholeRoom(model, 5, 40), [1] * 11),
    "left over": gaps(model, tokens, stale, [3, 2, 6]),
}
for name, gap in faulty.items():
    print(f"{name:12}", *[f"{size:4.1f}" for size in gap])

# %% [markdown]
# Top left: right through the first piece, wrong right after. Empty slots: more room, more harm; if `max_length` changes an answer, look there. Left over: wrong at once; ask the same prompt twice with another between. So compare *logits*, in several pieces.
#
# ### “The cache saves memory.”
#
# It saves work and costs memory, which stays between the steps. SmolLM2 at its full 8,192 positions, in float32:

# %%
from course_lib.kv_cache import PreallocatedCache

with torch.device("meta"):
    smollm2 = Decoder(DecoderConfig.smollm2_135m(), initialise=False)
weight_bytes = sum(p.nbytes for p in smollm2.parameters())
for name, n_kv_heads in (("3 key heads", 3), ("9, one a query head", 9)):
    cache = PreallocatedCache(1, 30, n_kv_heads, 64, 8192, device="meta")
    share = cache.bytes / weight_bytes
    print(f"{name:20} {cache.bytes / 2**20:5.0f} MiB a row, {share:.0%} of the weights")

# %% [markdown]
# ## On a GPU
#
# In decode a GPU's multipliers wait for memory, or, in a small model, for Python to start the next operation. More rows use the time. **Predict:** how many times as many tokens a second with 64 rows?

# %% tags=["gpu"]
from course_lib.hardware import device, dtype

on = device()
decoder = fresh_model("large" if on.type == "cuda" else "small").to(on, dtype(on))
text = torch.arange(70, device=on)[None].expand(64, -1)
cache = decoder.new_cache(64)
logits = [decoder(piece, cache=cache) for piece in text.split([67, 2, 1], dim=1)]
torch.testing.assert_close(torch.cat(logits, 1), decoder(text), atol=0.05, rtol=0.05)
print("equal logits, with and without the cache")

# %% tags=["gpu", "nbval-ignore-output"]
rates = {}
for batch in (1, 8, 64):
    cache = decoder.new_cache(batch)
    decoder(text[:batch], cache=cache)

    def step(cache=cache, batch=batch):
        decoder(text[:batch, :1], cache=cache)
        cache.crop(70)

    rates[batch] = batch / fastest_seconds(step, repeats=5, on=on)
    print(f"batch {batch:2}: {rates[batch]:8.0f} tokens a second on {on.type}")
assert rates[64] > rates[1]


# %% [markdown]
# Expect a greater gain on a GPU: a CPU's multipliers are sooner busy. For a small model at short contexts a GPU may gain nothing from a cache: as many operations must be started. (Not measured on a GPU for this page.)

# %% [markdown]
# ## Exercise
#
# **A. Debug and write** (25 minutes). Write `repair(model, tokens, memory)`: the loop of `write_published`, repaired. One token at a time; each token's key and value are computed once; logits (batch, position, vocab) equal to `model.parallel`. The first token is the start token. Leave the layer as it is.

# %%
def repair(model, tokens, memory):
    """Your code."""


# %%
def known_faults(model, tokens, memory):
    """Logits of the three ways to be half right."""
    x, n = model.embedding(tokens), tokens.shape[1]
    past = causal_mask(n) & ~torch.eye(n, dtype=torch.bool)
    late = model.finish(x, model.to_keys(x), model.to_values(x), memory, past)
    twice = model.parallel(torch.cat([tokens[:, :1], tokens], 1), memory)[:, 1:]
    return {
        "both faults are left": write_published(model, tokens, memory),
        "one fault is left: a token still cannot read itself": late,
        "one fault is left: the start token is counted twice": twice,
    }


# %%
def watched(answer, model, tokens, memory):
    """What the answer gives; the positions of each call of to_keys and to_values."""
    sizes, hooks = {"keys": [], "values": []}, []
    for name, calls in sizes.items():
        note = partial(lambda calls, _, given, made: calls.append(made.shape[1]), calls)
        hooks.append(getattr(model, f"to_{name}").register_forward_hook(note))
    found = answer(model, tokens, memory)
    for hook in hooks:
        hook.remove()
    return found, sizes


# %%
def try_repair(answer):
    """Compare with the parallel pass, and name the fault that is left."""
    model, tokens, memory = make_published(seed=5)
    found, sizes = watched(answer, model, tokens, memory)
    if found is None:
        return "not written yet"
    expected = model.parallel(tokens, memory)
    if getattr(found, "shape", None) != expected.shape:
        return f"return logits of shape {tuple(expected.shape)}"
    found = found.to(expected.dtype)
    for name, logits in known_faults(model, tokens, memory).items():
        if torch.allclose(found[:, 1:], logits[:, 1:], atol=1e-6):
            return name
    wrong = ~((found - expected).abs().amax((0, 2)) <= 1e-6)  # NaN is wrong, too
    if wrong.any():
        return f"positions {wrong.nonzero().flatten().tolist()} differ"
    for name, calls in sizes.items():
        if [n for n in calls if n] != [1] * 6:
            return f"to_{name} got {calls} tokens, not one in each of 6 calls"
    return "right"


# %%
print(try_repair(repair))

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Write down, for the first two steps, which tokens are in the cache at the moment of reading. Which should be?
# </details>
#
# <details><summary>A stronger hint</summary>
#
# Begin with an empty cache; each fed token, the start token too, goes in just before its query reads. What stands before the loop changes, and the order inside it.
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def repair(model, tokens, memory):
#     keys = values = model.embedding(tokens[:, :0])  # (batch, 0, d_model)
#     logits = []
#     for token in tokens.split(1, dim=1):
#         x = model.embedding(token)
#         keys = torch.cat([keys, model.to_keys(x)], dim=1)
#         values = torch.cat([values, model.to_values(x)], dim=1)
#         logits.append(model.finish(x, keys, values, memory))
#     return torch.cat(logits, dim=1)
# ```
#
# Only what is fed enters, so nothing is counted twice; and it is in before it reads. Not repaired: the source's keys and values are computed anew at each step, and the layer lacks what its text promises.
# </details>
#
# **B. Compute** (10 minutes). A server has 16 GiB left for caches in float16 (2 bytes). Its model: 32 layers, 32 query heads of 128, 8 key heads; every conversation gets room for 4,096 positions. How many fit? And how many with one key head for each query head?

# %%
grouped_rows = None  # a whole number
ungrouped_rows = None

# %%
if grouped_rows is None or ungrouped_rows is None:
    print("not answered yet")
else:
    row_bytes = 2 * 32 * 8 * 4096 * 128 * 2
    for name, given, right in (
        ("grouped_rows", grouped_rows, 2**34 // row_bytes),
        ("ungrouped_rows", ungrouped_rows, 2**34 // (4 * row_bytes)),
    ):
        hint = (
            "keys *and* values" if given == 2 * right else "see the formula of memory"
        )
        print(name, "is right" if given == right else f"is not {given}: {hint}")

# %% [markdown]
# <details><summary>Solution</summary>
#
# A row takes 2 · 32 · 8 · 4,096 · 128 · 2 bytes = 512 MiB; 32 fit. With 32 key heads a row takes 2 GiB; 8 fit.
# </details>

# %% [markdown]
# ## Quiz
#
# Choose, then read the reason. Where no kernel runs, the reasons are folded below each question.

# %%
from course_lib.quiz import show_quiz

show_quiz("kv_cache")

# %% [markdown]
# ## Further reading
#
# Lesson 13 keeps one cache over the turns of a chat; lesson 15 puts it on a GPU.
#
# - Shazeer (2019), *Fast Transformer Decoding: One Write-Head is All You Need*, [arXiv:1911.02150](https://arxiv.org/abs/1911.02150). Counts the operations and memory of a step, and shares one key head.
# - Ainslie et al. (2023), *GQA*, [arXiv:2305.13245](https://arxiv.org/abs/2305.13245). Between one key head and all; how to convert a trained model.
# - Kwon et al. (2023), *Efficient Memory Management for Large Language Model Serving with PagedAttention*, [arXiv:2309.06180](https://arxiv.org/abs/2309.06180). How caches waste memory; the block table.
# - Pope et al. (2022), *Efficiently Scaling Transformer Inference*, [arXiv:2211.05102](https://arxiv.org/abs/2211.05102). Prefill and decode of very large models.
# - Xiao et al. (2023), *Efficient Streaming Language Models with Attention Sinks*, [arXiv:2309.17453](https://arxiv.org/abs/2309.17453). What breaks when the oldest keys are dropped, and what mends it.
