# %% [markdown] tags=["slide"]
# # Who may read whom?
#
# **You need** lesson 00; softmax and cross-entropy (lesson 01); and that `backward` gives gradients.
#
# **You build** one function that answers the question for every mask of this course.
#
# **You will be able to** *derive* a mask from positions, *predict* what a wrong one breaks, and *debug* a stack that sees the future or returns NaN.
#
# About 60 minutes.

# %% [markdown] tags=["slide"]
# ## Question
#
# A decoder learns to predict the next token from the ones before. To see whether it does so honestly, we give it something that cannot be predicted: random digits. The **loss** is −ln of the probability that it gives to the right digit, averaged. Whoever guesses among ten digits has −ln 0.1 = 2.303.
#
# We train a small decoder twice, once with its causal mask and once without. Rows have 17 digits: 16 go in, and at each place the next one is to be predicted. (`train` is built in lesson 11; here it is only used: 200 updates on 32 new rows each.)

# %%
import math

import torch
import torch.nn.functional as F

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.training import inputs_and_targets, train


def random_digits(n_rows, seed):
    """Rows of 17 random digits, cut into 16 inputs and 16 targets."""
    generator = torch.Generator().manual_seed(seed)
    return inputs_and_targets(torch.randint(0, 10, (n_rows, 17), generator=generator))


# %%
def loss_at_each_place(causal, seed):
    """Train a small decoder; give its loss at each of 16 places, on new digits."""
    config = DecoderConfig(10, d_model=32, n_layers=2, n_heads=4, causal=causal)
    model = Decoder(config, torch.Generator().manual_seed(seed))
    batches = [random_digits(32, 1000 * seed + step) for step in range(200)]
    train(model, batches, n_steps=200, learning_rate=0.01, warmup_steps=20)
    inputs, targets = random_digits(500, seed=1_000_000)
    with torch.no_grad():
        logits = model.eval()(inputs)
    return F.cross_entropy(logits.mT, targets, reduction="none").mean(0)


# %% [markdown]
# **Predict:** which loss will each of the two reach? The next cell takes 10 to 30 seconds; it trains with three seeds each.

# %% tags=["nbval-ignore-output"]
with_mask = torch.stack([loss_at_each_place(True, seed) for seed in (0, 1, 2)])
without = torch.stack([loss_at_each_place(False, seed) for seed in (0, 1, 2)])
print("with mask   ", [round(loss, 3) for loss in with_mask.mean(1).tolist()])
print("without mask", [round(loss, 3) for loss in without.mean(1).tolist()])
print("without, by place:", [round(loss, 2) for loss in without[0].tolist()])

# %%
assert (with_mask.mean(1) - math.log(10)).abs().max() < 0.05
assert (without.mean(1) - math.log(10) / 16).abs().max() < 0.05
assert without[:, :15].max() < 0.1
assert without[:, 15].min() > 2.0
print("as expected")

# %% [markdown]
# With the mask: about 2.30 for each seed, which is honest guessing. Without it, about 0.15. Nothing predicts random digits, so the model must have *seen* them: the token to be predicted at one place is the input at the next.
#
# The losses by place (of seed 0) say the same. They are nearly 0 at fifteen places and 2.3 at the last, whose answer is not among the inputs. On average, ln 10 / 16 = 0.144.
#
# So a loss that is too good is bad news. When such a model writes, the token that it has learned to copy is not there yet.

# %% [markdown] tags=["slide"]
# ## Picture
#
# A mask is a table with a row for each **query**, the position that reads, and a column for each **key**, a position that may be read. **Predict:** four tokens are written. Which cells of the 4 × 4 table may be read?

# %% tags=["slide"]
from course_lib import masks
from course_lib.figures import draw_mask, show_figure

words = ["She", "sent", "it", "home"]
show_figure(
    draw_mask(masks.causal_mask(4), words, words),
    alt=(
        "A table of 4 queries by 4 keys. Dots, which mean may read, fill the lower left "
        "triangle with the diagonal: She reads itself; sent reads She and itself; it reads "
        "three; home reads all four. The upper right triangle is hatched."
    ),
    caption="The causal mask: a dot means may read, hatching means hidden.",
)

# %% [markdown]
# The letter writer of lesson 00: each word may re-read what is already on the paper. The diagonal is allowed. The word at position *t* reads itself, and is used to predict the word at *t* + 1.

# %% [markdown] tags=["slide"]
# ## Definition
#
# Every mask answers one question: **may the query at position $i$ read the key at position $j$?**
#
# $$\text{allowed}_{ij} \;=\; (i \ge 0) \wedge (j \ge 0) \;\wedge\; (j \le i) \;\wedge\; (j > i - w)$$
#
# | symbol | word | shape |
# |---|---|---|
# | $i$ | position of a query, counted from 0; −1 marks padding | (query) |
# | $j$ | position of a key; −1 marks padding | (key) |
# | $w$ | window: how many keys a query reads at most, itself included | a number, or none |
# | allowed | True = may read | (query, key) |
# | $s$, $a$ | score, weight | (query, key) |
# | $k$ | position of a key that query $i$ may read | (key) |
# | $\wedge$ | and | |
#
# The four conditions: the query is real, the key is real, the key is not in the future (**causal**), the key is not too old (**window**). Not every mask has all four.
#
# Attention then takes its softmax over the allowed keys alone. A score $s_{ij}$ says how well query $i$ matches key $j$ (lesson 03 builds it). The weights are
#
# $$a_{ij} = \frac{e^{s_{ij}}}{\sum_{k\ \text{allowed}} e^{s_{ik}}}\ \text{ if allowed}_{ij}, \qquad a_{ij} = 0\ \text{ if not.}$$
#
# If no key is allowed, this is 0/0; we define the weights as 0 then.
#
# Source: the causal mask is in Vaswani et al. (2017), section 3.2.3; the window in Beltagy et al. (2020), section 3.1, where half of it lies on each side. Ours only looks back.

# %% [markdown] tags=["slide"]
# ## Build
#
# ### 1. Hide one key, by hand
#
# Three scores, 0, 1 and 2; the third key is hidden. Over the first two: $e^0 = 1$ and $e^1 = 2.718$, so the weights are 1/3.718 = 0.27 and 2.718/3.718 = 0.73.

# %% tags=["slide"]
scores = torch.tensor([0.0, 1.0, 2.0])
allowed = torch.tensor([True, True, False])

kept = scores[allowed].exp()
print([round(w, 2) for w in (kept / kept.sum()).tolist()])

# %% [markdown]
# Cutting keys out of a tensor is awkward when each query hides different keys. There is a number whose exponential is exactly 0:

# %%
from course_lib.softmax import softmax

hidden = scores.masked_fill(~allowed, -torch.inf)
print(hidden)
print(softmax(hidden).round(decimals=2))

# %% [markdown]
# So *hiding* means: set the score to $-\infty$ **before** the softmax.

# %% [markdown] tags=["slide"]
# ### 2. The causal mask, cell by cell
#
# First as a loop that reads like the rule.

# %% tags=["slide"]
n = 4
table = torch.zeros(n, n, dtype=torch.bool)
for i in range(n):
    for j in range(n):
        table[i, j] = j <= i
print(table.int())

# %% [markdown] tags=["slide"]
# ### 3. The same without a loop
#
# Queries stand in a column, keys in a row; comparing them compares every pair.

# %% tags=["slide"]
positions = torch.arange(4)
queries, keys = positions[:, None], positions[None, :]
print(torch.equal(keys <= queries, table))


# %% [markdown] tags=["slide"]
# ### 4. The one question
#
# Now with all four conditions. This is the function that everything else calls. The example has padding in front and a window of 2, so that each condition acts.

# %% tags=["slide"]
def may_read(query_positions, key_positions, causal=True, window=None):
    """Say which query may read which key: (query, key) bool."""
    queries, keys = query_positions[..., :, None], key_positions[..., None, :]
    allowed = (queries >= 0) & (keys >= 0)
    if causal:
        allowed = allowed & (keys <= queries)
    if window is not None:
        allowed = allowed & (keys > queries - window)
    return allowed


padded = torch.tensor([-1, 0, 1, 2])
print(may_read(padded, padded, window=2).int())

# %% [markdown] tags=["slide"]
# ### 5. New queries, old keys
#
# While a decoder writes, the keys of earlier tokens are kept in a cache (lesson 10), and only the newest tokens are queries. Say three keys are kept and two tokens arrive. **Predict** the 2 × 5 table.

# %% tags=["slide"]
print(may_read(torch.tensor([3, 4]), torch.arange(5)).int())


# %% [markdown]
# Nothing new was needed. The positions say where a query stands, so the table need not be square. A mask that is made from row and column *numbers* instead would be wrong here.

# %% [markdown] tags=["slide"]
# ### 6. Padding
#
# The texts of a batch have different lengths, so short ones are filled up with padding tokens that mean nothing. Padding gets position −1: no query reads it, and it reads nothing.

# %% tags=["slide"]
def token_positions(n_positions, lengths):
    """Number the real tokens of each text from 0; padding on the right gets -1."""
    place = torch.arange(n_positions)
    return torch.where(place < torch.tensor(lengths)[:, None], place, -1)


on_the_right = token_positions(4, [2, 4])
print(on_the_right)

# %% tags=["slide"]
allowed = may_read(on_the_right, on_the_right)
print(tuple(allowed.shape))
print(allowed[0].int())

# %% [markdown]
# There is one table for each text now: (batch, query, key). The first text has two real tokens; its table is a triangle of two. The empty rows belong to padded queries. The loss leaves them out (lesson 11), but they must not become NaN: see Misconceptions.
#
# With padding on the *right*, causality already hides it from every real query. With padding on the *left*, which some programs prefer for writing, it does not. **Predict** the table of the short text.

# %%
on_the_left = torch.tensor([[-1, -1, 0, 1], [0, 1, 2, 3]])
print(may_read(on_the_left, on_the_left)[0].int())

# %% [markdown]
# Same rule, other places: positions count real tokens, not places.

# %% [markdown] tags=["slide"]
# ### 7. A window
#
# Long texts are cheaper when a query reads only the last $w$ keys. **Predict** the row of position 4 for $w = 2$.

# %% tags=["slide"]
print(may_read(torch.arange(5), torch.arange(5), window=2).int())

# %% [markdown] tags=["slide"]
# ### 8. Another text
#
# A translator's decoder also reads the *source* sentence (lesson 05). A source is finished before the first word is written, so nothing in it is in the future: the causal condition is left out, and only padding is hidden.

# %% tags=["slide"]
source = token_positions(5, [3])[0]
of_source = may_read(torch.arange(2), source, causal=False)
print(of_source.int())

# %% [markdown]
# Five masks, one question. The labels are positions. `causal_mask(2, 5)` puts its last query at the last key, so three keys came before.

# %% tags=["slide"]
from course_lib.figures import draw_masks

four, padded = ["0", "1", "2", "3"], ["-1", "-1", "0", "1"]
left = may_read(on_the_left, on_the_left)[0]
five = {
    "causal": (masks.causal_mask(4), four, four),
    "padding on the left": (left, padded, padded),
    "window of 2": (masks.window_mask(4, window=2), four, four),
    "3 old keys": (masks.causal_mask(2, 5), ["3", "4"], [*four, "4"]),
    "a source": (of_source, four[:2], ["0", "1", "2", "-1", "-1"]),
}
show_figure(
    draw_masks(five),
    alt=(
        "Five small tables with positions as labels; a dot means may read, hatching hidden. "
        "Causal: lower left triangle. Padding on the left: a triangle of two in the lower "
        "right corner. Window of 2: the diagonal and the cell left of it. Three old keys: "
        "queries 3 and 4 read four and five keys. A source: both queries read its three "
        "real keys."
    ),
    caption="Five masks come from one question; a dot means may read, hatching hidden.",
)

# %% [markdown]
# ## Check
#
# Ours against the library: causal and window masks of many sizes, padding on both sides, then masks that are joined.

# %%
for n_queries in range(1, 6):
    for n_keys in range(n_queries, 8):
        here = torch.arange(n_keys - n_queries, n_keys)
        ours = may_read(here, torch.arange(n_keys))
        assert torch.equal(ours, masks.causal_mask(n_queries, n_keys))
        ours = may_read(here, torch.arange(n_keys), window=3)
        assert torch.equal(ours, masks.window_mask(n_queries, 3, n_keys))
print("causal and window: equal, 25 sizes")

# %%
right = token_positions(5, [0, 2, 5])
left = masks.token_positions(5, [0, 2, 5], side="left")
assert torch.equal(right, masks.token_positions(5, [0, 2, 5]))
assert left.tolist() == [[-1] * 5, [-1, -1, -1, 0, 1], [0, 1, 2, 3, 4]]
for texts in (right, left):
    for causal in (True, False):
        ours = may_read(texts, texts, causal, window=2)[:, None]  # room for heads
        assert torch.equal(ours, masks.may_read(texts, texts, causal, window=2))
print("padding on both sides: equal")

# %% [markdown]
# `padding_mask(lengths, n_keys)` asks only whether the key is real: (batch, 1, 1, key), where the two 1s stand for heads and queries. In spite of its name it is True at real tokens: True = may read, always. `combine` joins masks: a key must be allowed by all of them.

# %%
padding = masks.padding_mask([0, 2, 5], n_keys=5)
assert torch.equal(padding[:, 0, 0], right >= 0)
ours = may_read(torch.arange(5), right)[:, None]
assert torch.equal(ours, masks.combine(masks.causal_mask(5), padding))
print("joined: equal")

# %% [markdown]
# Against PyTorch. Its helper returns numbers to *add* to the scores, 0 for "may read" and $-\infty$ for "hidden":

# %%
from torch.nn import Transformer

added = Transformer.generate_square_subsequent_mask(5)
assert torch.equal(added == 0, may_read(torch.arange(5), torch.arange(5)))
print(added[:2])

# %% [markdown]
# And our way of hiding against PyTorch's own attention, result and gradient. Its scores are products of queries and keys, its result mixes values by weight; lesson 03 derives these lines, here only the mask is on trial. Here every query reads something; what happens otherwise comes under Misconceptions.

# %%
padding = masks.padding_mask([2, 4], n_keys=4)[:, 0]
both = masks.combine(masks.causal_mask(4), padding)
torch.manual_seed(0)
q, k, v = torch.randn(3, 2, 4, 8, requires_grad=True).unbind(0)

scores = q @ k.transpose(-2, -1) / math.sqrt(8)
weights = softmax(scores.masked_fill(~both, -torch.inf))
ours = weights @ v
theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=both)
torch.testing.assert_close(ours, theirs)
print("equal to torch: results")

# %%
mixture = torch.randn_like(ours)
our_gradients = torch.autograd.grad((ours * mixture).sum(), (q, k, v))
their_gradients = torch.autograd.grad((theirs * mixture).sum(), (q, k, v))
torch.testing.assert_close(our_gradients, their_gradients)
print("equal to torch: gradients")

# %% [markdown]
# The property that matters: **change a later token, and nothing before it moves.** First with tokens, on a whole decoder:

# %%
config = DecoderConfig(10, d_model=12, n_layers=2, n_heads=3)
model = Decoder(config, torch.Generator().manual_seed(1)).eval()
with torch.no_grad():
    change = model(torch.tensor([[1, 2, 3, 4]])) - model(torch.tensor([[1, 2, 3, 9]]))
print([round(size, 3) for size in change[0].norm(dim=-1).tolist()])
assert change[0, :3].abs().max() == 0 < change[0, 3].abs().max()


# %% [markdown]
# Then, sharper, with gradients: does the output at position $i$ depend on the input at $j$ at all? A random mixture of the output's numbers stands for all of them.

# %%
def reach(layers):
    """Which output position depends on which input position: (6, 6) bool."""
    torch.manual_seed(0)
    inputs, mixture = torch.randn(1, 6, 12, requires_grad=True), torch.randn(12)
    outputs = layers(inputs, positions=torch.arange(6), causal=True)
    rows = []
    for i in range(6):
        (slope,) = torch.autograd.grad(
            outputs[0, i] @ mixture, inputs, retain_graph=True
        )
        rows.append(slope[0].abs().sum(-1) > 0)
    return torch.stack(rows)


print(reach(model.stack).int())
assert torch.equal(reach(model.stack), masks.causal_mask(6))

# %% [markdown]
# Two blocks deep, and still the triangle: exactly 0 above the diagonal. **Predict:** what if one of the two blocks forgets its mask? (`leaking` makes such a stack; how it does so is not needed here.)

# %%
import copy


def leaking(stack, which):
    """A copy of the stack, in which one block ignores the causal mask."""
    broken = copy.deepcopy(stack)
    block = broken.blocks[which]
    sound = block.forward
    block.forward = lambda x, **reading: sound(x, **{**reading, "causal": False})
    return broken


print(reach(leaking(model.stack, which=1)).int())
assert reach(leaking(model.stack, which=1)).all()

# %% [markdown]
# One leaking block fills the table.
#
# Last, two promises of the library's `attention`. It returns its result and the weights. With `need_weights=True` it computes the formula step by step, otherwise it calls PyTorch's fused kernel; both must keep them. A query that may read nothing gets 0, with gradient 0:

# %%
from course_lib.attention import attention

nothing = torch.tensor([[False, False, False]])
for need_weights in (False, True):
    x = torch.ones(3, 1, requires_grad=True)
    empty, _ = attention(x[:1], x, x, nothing, need_weights=need_weights)
    empty.sum().backward()
    print(empty.item(), x.grad.abs().sum().item())
    assert empty.item() == 0 == x.grad.abs().sum()

# %% [markdown]
# And NaN behind a mask stays there. The first two values, 1 and 2, are read with equal weights:

# %%
with_nan = torch.tensor([[1.0], [2.0], [torch.nan]])
first_two, ones = torch.tensor([[True, True, False]]), torch.ones(3, 1)
for need_weights in (False, True):
    mean, _ = attention(ones[:1], ones, with_nan, first_two, need_weights=need_weights)
    print(mean.item())
    assert mean.item() == 1.5

# %% [markdown]
# The library's version of our function adds the axis for heads, a docstring that states what goes in and out, and a check of its input:

# %%
import inspect

print(inspect.getsource(masks.may_read))

# %% [markdown] tags=["slide"]
# ## Misconceptions
#
# ### "Set hidden scores to 0."
#
# A score of 0 is a score like any other: $e^0 = 1$. **Predict** the weight of the hidden third key when the true scores are −5.

# %% tags=["slide"]
low, may = torch.tensor([-5.0, -5.0, -5.0]), torch.tensor([True, True, False])
print("times the mask", softmax(low * may).round(decimals=3))
for fill in (0.0, -1.0, 1.0, -torch.inf):
    weights = softmax(low.masked_fill(~may, fill))
    print(f"filled with {fill:4}", weights.round(decimals=3))

# %% [markdown]
# The hidden key gets nearly everything: 0, −1 and 1 are all better than −5. Only a score *far* below all others will do, and only −∞ is always far enough. How one notices: a test with very negative scores.
#
# ### "Zero the weights after the softmax."
#
# Then hidden keys have already taken part in the division. We raise the *hidden* score and watch the first weight:

# %%
for hidden_score in (0.0, 5.0):
    weights = softmax(torch.tensor([0.0, 1.0, hidden_score])) * may
    print(hidden_score, weights.round(decimals=3), f"sum {weights.sum():.3f}")
weights = softmax(torch.tensor([0.0, 1.0, 200.0])) * may
print("divided again, hidden score 200:", weights / weights.sum())

# %% [markdown]
# The sum is below 1, and a change in the future moves the past. The information leaks through the denominator. Dividing again by the sum mends it, until a hidden score is so large that all allowed weights underflow to 0: then it is 0/0. Hide before.
#
# ### "True means the same everywhere."
#
# In `scaled_dot_product_attention` True means *may read*, as in this course. In `nn.MultiheadAttention` True means *hide*. We allow key 0 alone; the values are 0, 1, 2, so the right answer is 0.

# %%
query, key = torch.zeros(1, 1, 1), torch.zeros(1, 3, 1)
values = torch.arange(3.0).view(1, 3, 1)
only_first = torch.tensor([[True, False, False]])
sdpa = F.scaled_dot_product_attention
print("sdpa          ", sdpa(query, key, values, only_first).item())

# %%
mha = torch.nn.MultiheadAttention(1, 1, bias=False, batch_first=True)
for parameter in mha.parameters():
    torch.nn.init.ones_(parameter)  # every projection is the identity
print("mha, same mask", mha(query, key, values, attn_mask=only_first)[0].item())
print("mha, inverted ", mha(query, key, values, attn_mask=~only_first)[0].item())

# %% [markdown]
# 1.5 is the mean of the two values that should have been hidden. No error is raised. Test a mask with one allowed key: the answer must be that key's value.
#
# ### "`is_causal=True` is the causal mask."
#
# Only for as many queries as keys. With one new query and three keys, PyTorch anchors the triangle at the *top left*:

# %%
print("is_causal", sdpa(query, key, values, is_causal=True).item())
print("our mask ", sdpa(query, key, values, masks.causal_mask(1, 3)).item())

# %% [markdown]
# The newest token should read all three (their mean is 1) and reads only the first. Ours is anchored at the *bottom right*: the last query stands at the last key. With the other anchor, each token that a decoder writes reads only the very first one, whatever was written between.
#
# ### "Padding hides rows."
#
# The padding mask belongs on the *keys*. Put on the queries, it runs without a word when there are as many of both. We change what lies at a padded place, and watch the real tokens of a text with padding on the left.

# %%
real = torch.tensor([False, False, True, True])
x = torch.randn(4, 8, generator=torch.Generator().manual_seed(0))
garbage = torch.cat([x[:2] + 100, x[2:]])
for name, readable in (("keys   ", real[None, :]), ("queries", real[:, None])):
    allowed = readable & masks.causal_mask(4)
    before, after = (attention(x, t, t, allowed)[0] for t in (x, garbage))
    moved = (after - before)[real].abs().max().item()
    print(name, "real tokens moved by", round(moved, 3))

# %% [markdown]
# Masked by query, the real tokens read the padding. How one notices: a text alone and in a batch gives different results. Our rule hides both; it is the condition on the key, $j \ge 0$, that protects the real tokens.
#
# ### "A query that may read nothing does no harm."
#
# It happens: padding on the left, an empty source. Four habits give three answers; all values are 1, so a 0 can only come from reading nothing. **Predict** the first.

# %%
scores, none = torch.zeros(3), torch.zeros(3, dtype=torch.bool)
print("-inf      ", softmax(scores.masked_fill(~none, -torch.inf)))
print("-1e9      ", softmax(scores.masked_fill(~none, -1e9)).round(decimals=2))
print("torch     ", sdpa(query, key, key + 1, none.view(1, 3)).item())
print("course_lib", attention(query, key, key + 1, none.view(1, 3))[0].item())


# %% [markdown]
# A large finite number pretends that all hidden keys are equally good. PyTorch's kernel (since 2.5; earlier it gave NaN) and this course give 0: reading nothing adds nothing. And $-\infty$ gives NaN, which travels. Two layers of plain attention with step 6's mask, and a loss on real tokens alone:

# %%
def naive(x, weight):
    scores = (x @ x.mT).masked_fill(~may_read(on_the_right, on_the_right), -torch.inf)
    return softmax(scores) @ (x @ weight)


weight = torch.eye(8, requires_grad=True)
x = torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(0))
one = naive(x, weight)
two = naive(one, weight)
one[on_the_right >= 0].sum().backward()
print("NaN after one layer ", one.isnan().any(-1).int().tolist())
print("NaN after two layers", two.isnan().any(-1).int().tolist())
print("NaN in the gradient after one:", weight.grad.isnan().any().item())

# %% [markdown]
# After one layer only padding is NaN, but already the gradient of a weight that all texts share is: the padded queries are not in the loss, but their gradient is 0 times NaN, which is NaN. After two layers the real tokens of the short text are lost: their weight on padding is 0, and 0 times NaN is NaN.
#
# ### "-1e9 is minus infinity, nearly."
#
# In float32 and bfloat16 it works, while a query reads something. Float16 ends at −65,504:

# %%
try:
    scores.half().masked_fill(~none, -1e9)
except RuntimeError as problem:
    print(str(problem).splitlines()[0])
for kind in (torch.float16, torch.bfloat16, torch.float32):
    least = torch.tensor(torch.finfo(kind).min, dtype=kind)
    print(kind, torch.tensor(-1e9).to(kind).item(), (least + least).item())

# %% [markdown]
# There it is refused, or turns into $-\infty$ on its own. And two "smallest numbers" that are added, one for causality and one for padding, overflow in every precision: NaN again for a query that reads nothing. Combine masks as booleans, and fill once.
#
# ### "What is hidden cannot hurt."
#
# Again the values 1, 2 and NaN, of which the third is hidden. A hidden key has weight 0. **Predict:** 0 times NaN?

# %%
weights = softmax(torch.zeros(3).masked_fill(~may, -torch.inf))
print("weights   ", weights)
print("by hand   ", weights @ with_nan)
query, keys = torch.zeros(1, 1), torch.zeros(3, 1)
print("course_lib", attention(query, keys, with_nan, may[None])[0])

# %% [markdown]
# Memory that was set aside and not yet written can hold NaN. Fill it with zeros, or do as `attention` does: it replaces hidden NaN, and gives NaN only to a query that really reads it.

# %% [markdown]
# ## On a GPU
#
# A mask is a table of queries times keys, one byte a cell. **Predict:** how large is the causal mask for 32,768 tokens?

# %%
for n in (1024, 8192, 32768):
    print(f"{n:6,} tokens: {n * n / 2**20:7,.0f} MiB")

# %% [markdown]
# That is 16 times the keys and values of one layer with eight heads of 64 (8 · 64 · 32,768 · 2 numbers of 2 bytes: 64 MiB). A fused kernel that is *told* "causal" needs no table and can skip the hidden half of the work. The next cell takes the larger size on a GPU and the smaller one on a CPU; the results must agree on both.

# %% tags=["gpu"]
from functools import partial

from course_lib.hardware import device, dtype, fastest_seconds

on = device()
n = 8192 if on.type == "cuda" else 2048
x = torch.randn(1, 8, n, 64, device=on, dtype=dtype(on))
table = masks.causal_mask(n, device=on)
with_table, _ = attention(x, x, x, allowed=table)
told, _ = attention(x, x, x, causal=True)
torch.testing.assert_close(with_table, told, atol=2e-2, rtol=2e-2)
print("a table and the word 'causal' give the same result")

# %% tags=["gpu", "nbval-ignore-output"]
readings = {"no mask": {}, "table": {"allowed": table}, "told causal": {"causal": True}}
for name, reading in readings.items():
    took = fastest_seconds(partial(attention, x, x, x, **reading), 5, on)
    print(f"{name:12} {1000 * took:7.1f} ms, {n} tokens, {on.type}")
    assert took > 0


# %% [markdown]
# Compare the three. Hiding half the pairs with a table saves nothing, and the table itself must be read; a kernel that knows the rule can save up to half. On a GPU (not measured for this page), PyTorch's flash kernel for 16-bit numbers takes no table at all, so a slower one runs in its place.

# %% [markdown]
# ## Exercise
#
# **A. Derive** (10 minutes). Some models read a **prefix** in both directions, as an encoder does, and write causally after it (Raffel et al. 2020, section 3.2.1). Write `prefix_mask(n_positions, n_prefix)`: (query, key) bool. Every query reads the whole prefix; beyond it, each reads itself and what came before. `n_prefix` may be 0 or all.

# %%
def prefix_mask(n_positions, n_prefix):
    """Your code."""


# %%
def check_prefix_mask(answer):
    right = {
        (4, 2): ["1100", "1100", "1110", "1111"],
        (4, 0): ["1000", "1100", "1110", "1111"],
        (3, 3): ["111", "111", "111"],
    }
    for (n, p), rows in right.items():
        table = answer(n, p)
        if table is None:
            return "not written yet"
        expected = [[int(cell) for cell in row] for row in rows]
        if getattr(table, "dtype", None) != torch.bool:
            return "return a bool tensor"
        if table.int().tolist() != expected:
            return f"for ({n}, {p}) expected {expected}, got {table.int().tolist()}"
    return "right"


print(check_prefix_mask(prefix_mask))

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Which cells does the causal mask forbid that the prefix mask allows? Say it as one more condition on $j$.
# </details>
#
# <details><summary>A stronger hint</summary>
#
# The condition on $j$ is the same for every query: one row of `n_positions` truths. Join it to the causal table with `|`.
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def prefix_mask(n_positions, n_prefix):
#     positions = torch.arange(n_positions)
#     return may_read(positions, positions) | (positions < n_prefix)
# ```
#
# `positions < n_prefix` has one entry a key; *or* joins it to the row of every query. With `n_prefix=0` the causal mask is left.
# </details>
#
# **B. Debug** (5 minutes). One of the two blocks of `mystery` leaks. Find out which: `reach` takes any layers, a single block too. Print the two tables first; a guess teaches nothing.

# %%
coin = torch.randint(2, (1,), generator=torch.Generator().manual_seed(2)).item()
mystery = leaking(model.stack, which=coin)
culprit = None  # 0 or 1

# %%
if culprit is None:
    print("not answered yet")
else:
    print("right" if culprit == coin else "no: look at each block's triangle")

# %% [markdown]
# <details><summary>Solution</summary>
#
# `reach(mystery.blocks[0])` is full, `reach(mystery.blocks[1])` is the triangle. So block 0 leaks; block 1 only passes on what has leaked.
# </details>

# %% [markdown]
# ## Quiz
#
# Choose, then read the reason. Where no kernel runs, the reasons are folded below each question.

# %%
from course_lib.quiz import show_quiz

show_quiz("masks")

# %% [markdown]
# ## Further reading
#
# Lesson 03 uses the mask in attention, lesson 05 for a source, lesson 10 with a cache. Chat models combine masks: Gemma 2 has a window in every second layer (below).
#
# - Vaswani et al. (2017), *Attention Is All You Need*, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762). Section 3.2.3: three uses of attention, and which of them is masked.
# - Beltagy, Peters, Cohan (2020), *Longformer*, [arXiv:2004.05150](https://arxiv.org/abs/2004.05150). Windows that make long texts affordable.
# - Raffel et al. (2020), *Exploring the Limits of Transfer Learning*, [arXiv:1910.10683](https://arxiv.org/abs/1910.10683). Section 3.2.1 compares causal, full and prefix masks.
# - Gemma Team (2024), *Gemma 2*, [arXiv:2408.00118](https://arxiv.org/abs/2408.00118). Section 2: layers with and without a window, in turn.
# - PyTorch, [scaled_dot_product_attention](https://docs.pytorch.org/docs/stable/generated/torch.nn.functional.scaled_dot_product_attention.html). Its mask conventions, and a warning about the other one.
