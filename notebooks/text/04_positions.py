# %% [markdown] tags=["slide"]
# # How does order enter?
#
# **You need** lesson 00; softmax (lesson 01); masks (02); attention (03).
#
# **You build** five ways to tell attention where a token stands, behind one interface.
#
# **You will be able to** *compute* what each of them does to a vector or a score, *predict* what a model does beyond the length it was trained at, and *debug* positions that are mixed up, counted along the wrong axis or started anew.
#
# About 75 minutes.

# %% [markdown] tags=["slide"]
# ## Question
#
# *Anna thanked Ben* and *Ben thanked Anna* hold the same words. Attention reads a set (lesson 03), so who thanked whom?
#
# A small task asks just that. Five different letters arrive, then a question mark. Which letter came *first*?

# %%
import torch
from torch import nn

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.training import train


def arrivals(n_rows, generator):
    """Deal five letters and a question: tokens (row, 6), targets (row, 6)."""
    letters = torch.rand(n_rows, 8, generator=generator).argsort(-1)[:, :5]
    tokens = torch.cat([letters, torch.full((n_rows, 1), 8)], 1)
    targets = torch.full_like(tokens, -100)  # these places do not count
    targets[:, -1] = letters[:, 0]  # after the question: the first letter
    return tokens, targets


for row in arrivals(3, torch.Generator().manual_seed(0))[0].tolist():
    print(" ".join("ABCDEFGH?"[token] for token in row), "->", "ABCDEFGH"[row[0]])


# %% [markdown]
# The library's decoder tries it: 80 updates on 32 rows each (`train` is lesson 11), then 2,000 other rows.

# %%
def share_right(seed, **changes):
    """Train a small decoder; give its share of right answers on new rows."""
    generator = torch.Generator().manual_seed(seed)
    model = Decoder(DecoderConfig(9, d_model=32, n_heads=2, **changes), generator)
    train(model, lambda step: arrivals(32, generator), 80, 0.02, warmup_steps=20)
    tokens, targets = arrivals(2000, torch.Generator().manual_seed(1000 + seed))
    with torch.no_grad():
        right = model(tokens)[:, -1].argmax(-1) == targets[:, -1]
    return right.float().mean().item()


# %% [markdown]
# **Predict** a share for each of four decoders. Guessing among the five letters gives 0.20. (*Learned positions*: each has a vector of its own, added to the token's.)

# %% tags=["nbval-ignore-output"]
players = {
    "learned positions, no mask": {"positions": "learned", "causal": False},
    "no positions, no mask": {"positions": "none", "causal": False},
    "no positions, causal, 1 layer": {"positions": "none", "n_layers": 1},
    "no positions, causal, 2 layers": {"positions": "none"},
}
shares = {}
for name, changes in players.items():
    changes = {"n_layers": 2, **changes}
    shares[name] = [share_right(seed, **changes) for seed in (0, 1, 2)]
    print(f"{name:31}", [round(share, 2) for share in shares[name]])

# %%
learned, blind, one_layer, two_layers = shares.values()
assert all(share > 0.95 for share in learned + two_layers)
assert all(0.10 < share < 0.30 for share in blind + one_layer)
print("as expected")

# %% [markdown]
# With positions: all, or nearly. Without positions and mask: a guess. But the last line found order *without any positions*, from the mask and a second layer. Step 7 says how.

# %% [markdown] tags=["slide"]
# ## Picture
#
# The letter writer can *number the lines*, or *count the steps* back from the pen. Numbers change when a page is put in front; steps do not.
#
# Rotary positions get the second from the first. Each position turns its vector further, here by 1 radian, like the hand of a dial. **Predict:** query and key both move four positions on. What stays?

# %%
import math

from course_lib.figures import new_figure, show_figure


# %%
def draw_hands(pairs):
    """Draw (query, key) positions as two hands on a dial, 1 radian a position."""
    fig, axes = new_figure(6.5, 2.9)
    for middle, (query, key) in zip((0, 3.8), pairs, strict=True):
        for radius, first, last in ((1, 0, 2 * math.pi), (0.35, key, query)):
            arc = torch.linspace(first, last, 60)
            axes.plot(middle + radius * arc.cos(), radius * arc.sin(), "#888888")
        axes.plot((middle + 1, middle + 1.15), (0, 0), "#888888")  # position 0
        turning = {"arrowstyle": "->", "connectionstyle": "arc3,rad=0.15"}
        axes.annotate("", (middle - 0.3, 1.2), (middle + 0.3, 1.2), arrowprops=turning)
        for hand, dashes in ((query, "-"), (key, ":")):
            x, y = [middle, middle + math.cos(hand)], [0, math.sin(hand)]
            axes.plot(x, y, dashes, color="#0072B2", lw=3)
        named = (0, 1.15, "0"), (query, 1.3, f"query {query}"), (key, 1.3, f"key {key}")
        for angle, far, words in (*named, ((query + key) / 2, 0.6, "2 rad")):
            at = middle + far * 1.1 * math.cos(angle), far * math.sin(angle)
            axes.text(*at, words, ha="center", va="center")
    axes.set(aspect="equal", xlim=(-1.9, 5.7), ylim=(-1.5, 1.5))
    axes.axis("off")
    return fig


# %% tags=["slide"]
show_figure(
    draw_hands([(5, 3), (9, 7)]),
    alt=(
        "Two dials, each with a solid hand for the query and a dotted one for the key. "
        "Left: query at 5, key at 3. Right: query at 9, key at 7. All four hands point "
        "elsewhere, but on both dials the angle between query and key is 2 radians. "
        "Position 0 points right; hands turn counter-clockwise."
    ),
    caption="Four positions on, the hands have turned; the angle between has not.",
)

# %% [markdown]
# The angle stays, and a dot product needs only lengths and the angle between.

# %% [markdown]
# ## Definition
#
# Position can enter at three places.
#
# **Added to the vectors** that enter the stack. Learned: $p_i$ is row $i$ of a trained table. Sinusoidal:
#
# $$x_i = e_i + p_i \qquad p_{i,2t} = \sin(i\,\omega_t), \quad p_{i,2t+1} = \cos(i\,\omega_t), \qquad \omega_t = 10000^{-2t/d_\text{model}}$$
#
# **Turning queries and keys.** Rotary: $R_i$ turns pair $t$, $(u, v)$, by $\theta = i\,\omega_t$ with $\omega_t = \text{base}^{-2t/d_\text{head}}$:
#
# $$s_{ij} = \frac{(R_i\,q_i) \cdot (R_j\,k_j)}{\sqrt{d_\text{head}}} \qquad (u, v) \mapsto (u\cos\theta - v\sin\theta,\; u\sin\theta + v\cos\theta)$$
#
# **Added to the scores.** Relative: a trained vector $a_r$ for each offset $r = j - i$, cut off at ±`max_distance`. ALiBi: a cost for distance.
#
# $$s_{ij} = \frac{q_i \cdot (k_j + a_{j-i})}{\sqrt{d_\text{head}}} \qquad\qquad s_{ij} = \frac{q_i \cdot k_j}{\sqrt{d_\text{head}}} - m_h\,|i-j|, \quad m_h = 2^{-8h/H}$$
#
# | symbol | word | shape |
# |---|---|---|
# | $i$, $j$ | position of query, key; from 0 | (query), (key) |
# | $e_i$, $p_i$, $x_i$ | vector of the token, of the position; what enters the stack | (position, d_model) |
# | $t$, $\omega_t$ | a pair, from 0: numbers 2t and 2t + 1 of $p_i$, or two of a head (step 4 says which); its radians a position | (pair) |
# | $\theta$, base | angle of a turn; 10,000 unless told | numbers |
# | $q_i$, $k_j$ | query, key of one head | (query, d_head), (key, d_head) |
# | $R_i$ | the turn of position $i$ | (d_head, d_head) |
# | $a_r$ | row `max_distance` + $r$ of `table` | (2 · max_distance + 1, d_head) |
# | $m_h$, $H$ | slope of head $h = 1 \dots H$; number of heads | (head) |
# | $s_{ij}$ | score | (head, query, key) |
#
# Sources: Vaswani et al. (2017), section 3.5; learned: Gehring et al. (2017), section 3.1; Shaw et al. (2018), section 3.2 and equation 4 (we leave out their vectors for values); Su et al. (2021), equation 34; Press et al. (2022), section 3.

# %% [markdown] tags=["slide"]
# ## Build
#
# ### 1. Shuffled in, shuffled out
#
# Five random vectors read each other, without a mask. Then the same five in another order. **Predict** the outputs.

# %% tags=["slide"]
from course_lib.attention import attention

torch.set_printoptions(precision=2, sci_mode=False)
x = torch.randn(5, 6, generator=torch.Generator().manual_seed(0))
order = torch.tensor([3, 0, 4, 1, 2])
outputs, _ = attention(x, x, x)
shuffled, _ = attention(x[order], x[order], x[order])
print("shuffled outputs:", torch.allclose(shuffled, outputs[order], atol=1e-6))

# %% [markdown]
# The same outputs, shuffled alike: unmasked attention is *permutation-equivariant*. Depth does not help: in the Question, the blind decoder's question mark had one vector for all 120 orders of its letters.

# %% [markdown] tags=["slide"]
# ### 2. Number the lines
#
# The number $i$ itself would grow past everything else. Waves stay between −1 and 1, and several frequencies tell positions apart, like the hands of a clock.
#
# For d_model 4 the frequencies are $10000^0 = 1$ and $10000^{-1/2} = 0.01$. Row 1 is sin 1 = 0.84, cos 1 = 0.54, sin 0.01 = 0.01, cos 0.01 = 1.00. **Predict** row 0.

# %% tags=["slide"]
table = torch.empty(3, 4)
for i in range(3):
    for t in range(2):
        angle = i * 10000 ** (-2 * t / 4)
        table[i, 2 * t], table[i, 2 * t + 1] = math.sin(angle), math.cos(angle)
print(table)


# %% tags=["slide"]
def sinusoids(n_positions, d_model):
    """Tabulate the waves: (position, d_model)."""
    frequencies = 10000.0 ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(n_positions)[:, None] * frequencies  # (position, pair)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(-2)


print(torch.allclose(sinusoids(3, 4), table))


# %% [markdown] tags=["slide"]
# ### 3. Count the steps
#
# A query at 5 reads keys at 2, 4, 5 and 6. With `max_distance` 1 the table has three rows: *one back or more*, *here*, *one on or more*. Offset −3 is cut off to −1. The query (1, 2) times the rows (1, 0), (0, 1) and (1, 1) gives 1, 2 and 3. **Predict** the four numbers. (`einsum` sums over the letter that is missing after the arrow.)

# %% tags=["slide"]
def relative_scores(queries, table, query_positions, key_positions):
    """Score queries against the vector of each offset: (batch, head, query, key)."""
    reach = len(table) // 2
    offsets = key_positions[None, :] - query_positions[:, None]
    rows = offsets.clamp(-reach, reach) + reach  # (query, key)
    return torch.einsum("bhqd,qkd->bhqk", queries, table[rows])


three_rows = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
query = torch.tensor([[[[1.0, 2.0]]]])
at = torch.tensor([2, 4, 5, 6])
print(relative_scores(query, three_rows, torch.tensor([5]), at))


# %% [markdown]
# This is added to query times key before the division by $\sqrt{d_\text{head}}$. “The word just before me” is one row of the table, wherever I stand.

# %% [markdown] tags=["slide"]
# ### 4. Turn
#
# One pair, 1 radian a position: (1, 0) at position 1 becomes (cos 1, sin 1) = (0.54, 0.84). Then a score: query (1, 0) at 5, key (1, 0) at 3. **Predict** which angle decides it.

# %% tags=["slide"]
def turned(pair, angle):
    """Turn one pair of numbers."""
    (u, v), cosine, sine = pair, math.cos(angle), math.sin(angle)
    return torch.tensor([u * cosine - v * sine, u * sine + v * cosine])


print(turned((1, 0), 1))
for i, j in ((5, 3), (9, 7), (2, 0)):
    print(f"{i} reads {j}: {turned((1, 0), i) @ turned((1, 0), j):.3f}")
print(f"cos 2:     {math.cos(2):.3f}")


# %% [markdown]
# The difference, 5 − 3 = 2: cos 5 cos 3 + sin 5 sin 3 = cos(5 − 3). Turning two pairs alike changes no product, so both may be turned back by $i$: $(R_i q) \cdot (R_j k) = q \cdot (R_{j-i}\,k)$. A head is many such dials, each at its own speed.
#
# Which numbers form a pair? Two conventions: neighbours (0, 1), (2, 3), … as in the paper; or number $t$ with number $t + d_\text{head}/2$.

# %%
def rotate(x, positions, base=10000.0, pairing="interleaved"):
    """Turn the pairs of each head by position: the shape of x."""
    d_head = x.shape[-1]
    frequencies = base ** (-torch.arange(0, d_head, 2) / d_head)
    angles = positions[:, None] * frequencies  # (position, pair)
    cosines, sines = angles.cos(), angles.sin()
    first, second = x.chunk(2, -1) if pairing == "half" else (x[..., ::2], x[..., 1::2])
    pair = first * cosines - second * sines, first * sines + second * cosines
    if pairing == "half":
        return torch.cat(pair, -1)
    return torch.stack(pair, -1).flatten(-2)


fours = torch.tensor([[[[1.0, 0.0, 0.0, 0.0]]]])
for pairing in ("interleaved", "half"):
    print(rotate(fours, torch.tensor([1]), pairing=pairing)[0, 0], pairing)

# %% [markdown]
# The partner of number 0 differs. Either is right, if queries and keys use the same.
#
# SmolLM2 reads up to 8,192 tokens with heads of 64, so 32 pairs. **Predict:** how many turn less than once over that length, for base 10,000 and for its own?

# %%
config = DecoderConfig.smollm2_135m()
for base in (10_000, config.rotary_base):
    frequencies = base ** (-torch.arange(0, config.d_head, 2) / config.d_head)
    turns = config.max_length * frequencies / (2 * math.pi)
    print(f"base {base:7,.0f}: {(turns < 1).sum()} of 32 pairs turn less than once")


# %% [markdown]
# A pair that turns more than once shows several distances as one angle; a slow pair tells near from far. A larger base slows all but the first pair: so models for longer texts often take larger bases.

# %% [markdown] tags=["slide"]
# ### 5. Charge for distance
#
# Eight ALiBi heads have the slopes 1/2, 1/4, … 1/256: head 1 takes 0.5 from a score for each step from query to key. **Predict** its row for a query at 3 and keys 0 to 3.

# %% tags=["slide"]
def alibi_bias(n_heads, query_positions, key_positions):
    """Make far keys cost more: (head, query, key)."""
    slopes = 2.0 ** (-8 * torch.arange(1, n_heads + 1) / n_heads)
    distance = (query_positions[:, None] - key_positions[None, :]).abs()
    return slopes[:, None, None] * -distance


bias = alibi_bias(8, torch.tensor([3]), torch.arange(4))
print("slopes 1 /", [round(-1 / slope) for slope in bias[:, 0, 2].tolist()])
print("head 1 ", bias[0, 0])

# %% tags=["slide"]
from course_lib.figures import draw_weights
from course_lib.softmax import softmax

weights = softmax(alibi_bias(8, torch.tensor([7]), torch.arange(8))[[0, 2, 4, 7], 0])
keys = [str(j) for j in range(8)]
show_figure(
    draw_weights(weights, ["1", "3", "5", "8"], keys, query_name="head"),
    alt=(
        "Four rows of weights over keys 0 to 7, for a query at 7 and equal scores. "
        "Head 1 falls from 0.40 at key 7 to 0.01 at key 0; head 3 from 0.19 to 0.08; "
        "head 5 from 0.14 to 0.11; head 8 has 0.13 or 0.12 everywhere."
    ),
    caption="With equal scores, head 1 reads near and head 8 reads everything.",
)


# %% [markdown] tags=["slide"]
# ### 6. One interface
#
# Three places, three methods; `prepare` is for work done once for all layers (in the library, rotary's angles; ours passes positions on).

# %%
class Positions(nn.Module):
    """By itself the scheme "none"."""

    def embed(self, positions):
        return None  # or (position, d_model), added to the token vectors

    def prepare(self, positions):
        return positions

    def turn(self, x, prepared):
        return x  # queries or keys

    def bias(self, queries, query_positions, key_positions):
        return None  # or ([batch,] head, query, key), added to the scores


# %%
class SinusoidalPositions(Positions):
    def __init__(self, d_model):
        super().__init__()
        self.d_model = d_model

    def embed(self, positions):
        return sinusoids(int(positions.max()) + 1, self.d_model)[positions]


class LearnedPositions(Positions):
    def __init__(self, max_length, d_model):
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(max_length, d_model))

    def embed(self, positions):
        return self.table[positions]


# %%
class RotaryPositions(Positions):
    def __init__(self, d_head, base=10000.0, pairing="half"):
        super().__init__()
        self.base, self.pairing = base, pairing

    def turn(self, x, prepared):
        return rotate(x, prepared, self.base, self.pairing)


class AlibiPositions(Positions):
    def __init__(self, n_heads):
        super().__init__()
        self.n_heads = n_heads

    def bias(self, queries, query_positions, key_positions):
        return alibi_bias(self.n_heads, query_positions, key_positions)


# %%
class RelativePositions(Positions):
    def __init__(self, d_head, max_distance=16):
        super().__init__()
        self.table = nn.Parameter(0.02 * torch.randn(2 * max_distance + 1, d_head))

    def bias(self, queries, query_positions, key_positions):
        scores = relative_scores(queries, self.table, query_positions, key_positions)
        return scores / math.sqrt(queries.shape[-1])


# %% [markdown]
# One word stands at each of 11 positions, so scores can differ by position only. **Predict:** for which schemes do they depend on $i - j$ alone?

# %%
from course_lib.attention import attention_scores, split_heads


def score_table(scheme, n=11):
    """Scores of one word with itself at n positions, 4 heads: (head, query, key)."""
    generator = torch.Generator().manual_seed(0)
    word = torch.randn(24, generator=generator)
    to_queries, to_keys = torch.randn(2, 24, 24, generator=generator) / 24**0.5
    positions, x = torch.arange(n), word.expand(1, n, 24)
    placed = scheme.embed(positions)
    x = x if placed is None else x + placed
    queries, keys = (split_heads(x @ matrix, 4) for matrix in (to_queries, to_keys))
    queries, keys = (scheme.turn(y, scheme.prepare(positions)) for y in (queries, keys))
    bias = scheme.bias(queries, positions, positions)
    return attention_scores(queries, keys, bias)[0]


# %%
def spread_at_distance(scores):
    """The largest difference between two scores of the same distance i - j."""
    n = scores.shape[-1]
    lines = [scores.diagonal(d, dim1=-2, dim2=-1) for d in range(1 - n, n)]
    return max((line.amax(-1) - line.amin(-1)).max().item() for line in lines)


# %%
def all_schemes(seed):
    """Our six schemes, for d_model 24 and 4 heads."""
    torch.manual_seed(seed)
    return {
        "none": Positions(),
        "sinusoidal": SinusoidalPositions(24),
        "learned": LearnedPositions(50, 24),
        "relative": RelativePositions(6, max_distance=5),
        "rotary": RotaryPositions(6),
        "alibi": AlibiPositions(4),
    }


schemes = all_schemes(seed=0)
print("scores differ:  at one distance   in the whole table")
for name, scheme in schemes.items():
    scores = score_table(scheme).detach()
    whole = (scores.amax((-2, -1)) - scores.amin((-2, -1))).max()
    print(f"{name:12}    {spread_at_distance(scores):15.3f}   {whole:18.3f}")

# %% [markdown]
# Relative, rotary and ALiBi: 0 at one distance, and the table is not flat. Sinusoidal and learned: not 0.
#
# Yet sinusoids times sinusoids give pure distance (below), for the reason of step 4. It is lost as queries and keys come from $e + p$ by two matrices. Rotary turns *after* the matrices.

# %%
waves = sinusoids(11, 24)
print(f"sinusoids with themselves: {spread_at_distance(waves @ waves.T):.3f}")

# %% [markdown] tags=["slide"]
# ### 7. No positions, and yet order
#
# The riddle of the Question. Let all scores be equal: each query takes the mean of what it may read. The first token has the value 1, all others 0. **Predict** the outputs, causal and without a mask.

# %% tags=["slide"]
nothing = torch.zeros(4, 1)  # queries and keys: all scores 0
values = torch.tensor([[1.0], [0.0], [0.0], [0.0]])
print("causal ", attention(nothing, nothing, values, causal=True)[0][:, 0])
print("no mask", attention(nothing, nothing, values)[0][:, 0])

# %% [markdown]
# 1, 1/2, 1/3, 1/4: the more there is to read, the thinner the first token's share. No mark is needed: each token's own share of its mean is 1, 1/2, 1/3, 1/4 as well. After this layer a position carries a hint of what lies before it; in the *next* the question mark can look for the letter with nothing before. In one layer it cannot: its keys come from bare letters.

# %% [markdown] tags=["slide"]
# ### 8. Longer than trained
#
# A model is trained on pieces of 32 characters. Does it work at 64, at 128?
#
# **Data:** the source of Python's standard library: 22 modules to train on, 6 others to test on. (Your Python version decides text and numbers.)

# %%
import sysconfig
from pathlib import Path


def source_of(names):
    """Join modules of the standard library: ids below 128, one a character."""
    folder = Path(sysconfig.get_path("stdlib"))
    texts = [(folder / f"{name}.py").read_text("utf-8") for name in names.split()]
    return torch.tensor(list("".join(texts).encode("ascii", "replace")))


training_text = source_of(
    "argparse ast configparser difflib doctest ftplib functools inspect ipaddress "
    "mailbox optparse pickle platform shutil smtplib statistics subprocess tarfile "
    "threading traceback typing uuid"
)
test_text = source_of("calendar cmd netrc poplib queue selectors")
print(bytes(test_text[:30].tolist()).decode())

# %% [markdown]
# **Model:** one layer, d_model 32, 4 heads, `d_ff` 64 (lesson 06); 250 updates on 16 pieces; three seeds for each of six schemes (relative with `max_distance` 16). So that tokens and positions start at about one size, `embed_scale` multiplies token vectors by $\sqrt{d_\text{model}}$, and the learned table, of 128 rows, is drawn with standard deviation 1.

# %%
from course_lib.training import inputs_and_targets


def pieces(text, n_rows, n_tokens, generator):
    """Cut pieces at random places: (row, token)."""
    starts = torch.randint(len(text) - n_tokens, (n_rows, 1), generator=generator)
    return text[starts + torch.arange(n_tokens)]


# %%
def trained(scheme, seed):
    """Train a small model of characters on pieces of 32."""
    generator = torch.Generator().manual_seed(seed)
    sizes = {"d_model": 32, "n_layers": 1, "n_heads": 4, "d_ff": 64, "max_length": 128}
    config = DecoderConfig(128, positions=scheme, embed_scale=True, **sizes)
    model = Decoder(config, generator)
    if scheme == "learned":
        nn.init.normal_(model.embedding.positions.table, generator=generator)
    train(
        model,
        lambda step: inputs_and_targets(pieces(training_text, 16, 33, generator)),
        n_steps=250,
        learning_rate=0.02,
        warmup_steps=20,
    )
    return model.eval()


# %% [markdown]
# **Measure:** the same 16 characters at the end of 128 test pieces are predicted each time; only the text in front grows. The loss is the mean of −ln p a character, in *nats*.

# %%
import torch.nn.functional as F

test_pieces = pieces(test_text, 128, 129, torch.Generator().manual_seed(99))
lengths = (32, 64, 128)


@torch.no_grad()
def losses(model):
    """The loss on the same 16 characters of each piece, for each length."""
    found = []
    for n in lengths:
        inputs, targets = inputs_and_targets(test_pieces[:, -n - 1 :])
        logits = model(inputs)[:, -16:]
        found.append(F.cross_entropy(logits.mT, targets[:, -16:]).item())
    return found


# %% [markdown]
# **Predict:** which of the six get worse with more text? (18 trainings, about a minute.)

# %% tags=["nbval-ignore-output"]
models = {name: [trained(name, seed) for seed in (0, 1, 2)] for name in schemes}
found = {name: torch.tensor([losses(m) for m in models[name]]) for name in schemes}
for name, table in found.items():
    print(f"{name:11}   32     64    128")
    for seed, row in enumerate(table.tolist()):
        print(f"     seed {seed}  ", "  ".join(f"{loss:.2f}" for loss in row))

# %%
rise = {name: table[:, 1:] - table[:, :1] for name, table in found.items()}
at_32 = {name: table[:, 0].mean().item() for name, table in found.items()}
broken = ("sinusoidal", "learned", "rotary")
assert set(sorted(at_32, key=at_32.get)[:2]) == {"relative", "rotary"}
assert all(rise[name].abs().max() < 0.1 for name in ("relative", "alibi"))
assert all(rise[name].min() > 0.05 for name in broken)
assert all(rise[name].mean() > 0.1 for name in broken)
assert rise["rotary"].mean() > max(rise[name].mean() for name in broken[:2])
assert at_32["rotary"] < at_32["alibi"]
assert 0 < rise["none"].mean() < 0.2
print("as expected")

# %% tags=["nbval-ignore-output", "slide"]
from course_lib.figures import draw_curves

means = {name: table.mean(0).tolist() for name, table in found.items()}
told = ["{} {:.2f}, {:.2f} and {:.2f}".format(name, *means[name]) for name in means]
show_figure(
    draw_curves(lengths, found, "characters read", "loss, nats a character", log="x"),
    alt=(
        "Six curves of the loss over 32, 64 and 128 characters read, means of three "
        f"seeds with bars from least to greatest: {'; '.join(told)}."
    ),
    caption="Relative and ALiBi go on as before; three schemes break beyond 32.",
)
assert len(found) == 6

# %% [markdown]
# At 32, relative and rotary lead: for them “the character before” is one thing to learn, not 31. That “learned” beats “none” is not shown.
#
# Beyond, relative and ALiBi stay within 0.1 nats for each seed; nor do they gain from more text. Relative: offsets beyond 16 share a row that was trained. ALiBi: 32 steps cost its four heads 8, 2, 0.5 and 0.125: two read little beyond, two do without harm. “none” loses a little. Sinusoidal, learned and rotary lose more than 0.1 on average; rotary falls deepest.
#
# Do far keys harm, or high positions? The *trained* models now read the last 32 keys only (a window, lesson 02). **Predict** who recovers.

# %% tags=["nbval-ignore-output"]
from dataclasses import replace


def windowed(model):
    """The same weights; each query reads 32 keys at most."""
    narrow = Decoder(replace(model.config, window=32))
    narrow.load_state_dict(model.state_dict())
    return narrow.eval()


print("loss minus that at 32:         64     128")
for name in ("sinusoidal", "learned", "rotary"):
    table = torch.tensor([losses(windowed(model)) for model in models[name]])
    more = table[:, 1:] - table[:, :1]
    print("{:11} mean of 3 seeds   {:.2f}    {:.2f}".format(name, *more.mean(0)))
    assert more.max() < 0.05 if name == "rotary" else more.min() > 0.05

# %% [markdown]
# Rotary is well again: no *distance* is new to it, and high positions do no harm here. Sinusoidal and learned stay broken: they meet *positions* that training never showed.
#
# One task, one small size. In large models of Press et al. sinusoidal and rotary failed too.
#
# In real models: sinusoidal in the original Transformer and, all sines before all cosines, in Whisper's encoder; learned in GPT-2 and Whisper's decoder; rotary with halves in SmolLM2 and in `transformers`' Llama; relative in T5, but one number for a range of distances; ALiBi in BLOOM.

# %% [markdown]
# ## Check
#
# Ours against the library and plain references: loops, and for rotary complex numbers, where to turn is to *multiply* by $\cos\theta + \sqrt{-1}\sin\theta$.

# %%
from functools import partial

from course_lib import positions as library


def results(compute, *inputs):
    """What compute gives, and the gradients of one mixture of it for every input."""
    inputs = [x.clone().requires_grad_() for x in inputs]
    outputs = compute(*inputs)
    mixture = torch.linspace(-1, 1, outputs.numel()).view_as(outputs)
    return outputs, *torch.autograd.grad((outputs * mixture).sum(), inputs)


# %%
def by_loop(n_positions, d_model, exponents):
    """Sine and cosine of every pair: (position, pair, 2)."""
    turns = [[i / 10000**e for e in exponents] for i in range(n_positions)]
    return torch.tensor([[(math.sin(a), math.cos(a)) for a in row] for row in turns])


loop = by_loop(11, 6, [0, 2 / 6, 4 / 6])
torch.testing.assert_close(sinusoids(11, 6), loop.flatten(1))
torch.testing.assert_close(library.sinusoids(11, 6), loop.flatten(1))
halves = by_loop(11, 6, [0, 1 / 2, 1]).transpose(1, 2).flatten(1)  # Whisper's
torch.testing.assert_close(library.sinusoids(11, 6, "halves"), halves)
print("sinusoids: equal")


# %%
def by_complex_numbers(x, positions, base):
    """Turn neighbours as complex numbers."""
    d_head = x.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, d_head, 2) / d_head)
    turns = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * turns).flatten(-2)


x = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(0))
at = torch.tensor([0, 1, 5, 6, 301])
shuffle = torch.tensor([0, 4, 1, 5, 2, 6, 3, 7])  # halves become neighbours
for base in (10000.0, 500.0):
    complex_turn = partial(by_complex_numbers, positions=at, base=base)
    for turn in (rotate, library.rotate):
        neighbours = partial(turn, positions=at, base=base)
        torch.testing.assert_close(results(neighbours, x), results(complex_turn, x))
        half = neighbours(x, pairing="half")[..., shuffle]
        torch.testing.assert_close(half, complex_turn(x[..., shuffle]))
print("rotate: equal, both pairings")

# %%
table = torch.randn(7, 8, generator=torch.Generator().manual_seed(1))
keys_at = torch.tensor([0, 2, 5, 9])
ours = results(lambda q, table: relative_scores(q, table, at, keys_at), x, table)
theirs = results(lambda q, t: library.relative_scores(q, t, at, keys_at), x, table)
torch.testing.assert_close(theirs, ours)
for query, i in enumerate(at.tolist()):
    for key, j in enumerate(keys_at.tolist()):
        row = table[3 + max(-3, min(3, j - i))]
        torch.testing.assert_close(ours[0][..., query, key], x[..., query, :] @ row)
print("relative_scores: equal")

# %%
for n_heads in (1, 4, 8):
    ours = alibi_bias(n_heads, at, keys_at)
    torch.testing.assert_close(library.alibi_bias(n_heads, at, keys_at), ours)
    for h, i, j in ((0, 2, 1), (n_heads - 1, 1, 3)):
        expected = -(2 ** (-8 * (h + 1) / n_heads)) * abs(at[i] - keys_at[j])
        torch.testing.assert_close(ours[h, i, j], expected)
six = library.alibi_bias(6, torch.tensor([1]), torch.tensor([0]))
print("6 heads, slopes 1 /", [round(-1 / slope) for slope in six.flatten().tolist()])
assert six.flatten().tolist() == [-1 / 4, -1 / 16, -1 / 64, -1 / 256, -1 / 2, -1 / 8]

# %% [markdown]
# (For 6 heads the library does as ALiBi's authors do in their code.) It also takes positions by row, (batch, position). Each row must come out as alone:

# %%
rows = torch.stack([at, at.flip(0) + 7])
turned_rows = library.rotate(x, rows)
of_rows = library.relative_scores(x, table, rows, rows)
bias_rows = library.alibi_bias(4, rows, rows)
for b in (0, 1):
    alone = x[b : b + 1]
    torch.testing.assert_close(turned_rows[b], rotate(alone, rows[b])[0])
    expected = relative_scores(alone, table, rows[b], rows[b])[0]
    torch.testing.assert_close(of_rows[b], expected)
    torch.testing.assert_close(bias_rows[b], alibi_bias(4, rows[b], rows[b]))
print("rows of a batch: equal")

# %% [markdown]
# The schemes that a config chooses, in the library's attention and embedding, against ours:

# %%
from course_lib.attention import MultiHeadAttention, merge_heads


def by_hand(module, scheme, x):
    """Read with one of our schemes and torch's kernel, by the module's matrices."""
    parts = (module.to_queries, module.to_keys, module.to_values)
    queries, keys, values = (split_heads(part(x), 4) for part in parts)
    queries, keys = scheme.turn(queries, at), scheme.turn(keys, at)
    bias = scheme.bias(queries, at, at)
    outputs = F.scaled_dot_product_attention(queries, keys, values, attn_mask=bias)
    return module.to_output(merge_heads(outputs))


# %%
sizes = {"d_model": 24, "n_layers": 1, "n_heads": 4, "max_length": 400}
sizes |= {"max_distance": 5, "rotary_base": 700.0}
x = torch.randn(2, 5, 24, generator=torch.Generator().manual_seed(2))
cases = [(name, "half") for name in ("none", "relative", "alibi", "rotary")]
for name, pairing in [*cases, ("rotary", "interleaved")]:
    config = DecoderConfig(9, positions=name, rotary_pairing=pairing, **sizes)
    theirs = library.attention_scheme(config)
    ours = RotaryPositions(6, 700.0, pairing) if name == "rotary" else schemes[name]
    if name == "relative":
        ours.load_state_dict(theirs.state_dict())
    module = MultiHeadAttention(24, 4, scheme=theirs)
    prepared = at if theirs is None else theirs.prepare(at)
    for weights in (False, True):  # the fused path, then the formula
        read = partial(module, positions=prepared, need_weights=weights)
        found_now = results(lambda x, read=read: read(x)[0], x)
        expected = results(partial(by_hand, module, ours), x)
        torch.testing.assert_close(found_now, expected, atol=1e-5, rtol=1e-4)
print("in attention: equal")

# %%
tokens = torch.tensor([[3, 1, 4, 1, 5]])
for name in ("sinusoidal", "learned"):
    embedding = Decoder(DecoderConfig(9, positions=name, **sizes)).embedding
    added = embedding(tokens, at) - nn.functional.embedding(tokens, embedding.weight)
    scheme = LearnedPositions(400, 24) if name == "learned" else SinusoidalPositions(24)
    scheme.load_state_dict(embedding.positions.state_dict())
    torch.testing.assert_close(added[0], scheme.embed(at), atol=1e-4, rtol=0)
print("in the embedding: equal")

# %% [markdown]
# `transformers`: Llama pairs halves. BLOOM adds slope times *key position*; for keys that a causal query may read, that differs from ours by a constant in each row, so the weights are equal.

# %% tags=["compare"]
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

heads = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(3))
angles = (at[:, None] * 10000.0 ** (-torch.arange(0, 8, 2) / 8)).repeat(1, 2)[None]
theirs, _ = apply_rotary_pos_emb(heads, heads, angles.cos(), angles.sin())
torch.testing.assert_close(rotate(heads, at, pairing="half"), theirs)

bloom = build_alibi_tensor(torch.ones(1, 7), 8, torch.float32)  # (head, 1, key)
ours = alibi_bias(8, torch.tensor([6]), torch.arange(7))
torch.testing.assert_close(softmax(ours), softmax(bloom))
print("equal to Llama's rotation and to BLOOM's weights")

# %% [markdown]
# The property that matters, asked of whole decoders: **move everything 300 positions on.** What counts steps must not notice.

# %%
tokens = torch.tensor([[3, 1, 4, 1, 5, 8, 2]])
for name in library.SCHEMES:
    model = Decoder(
        DecoderConfig(9, positions=name, **sizes), torch.Generator().manual_seed(0)
    )
    outputs = []
    for start in (0, 300):
        places = torch.arange(start, start + 7)
        x = model.embedding(tokens, places)
        outputs.append(model.stack(x, positions=places, causal=True))
    moved = not torch.allclose(*outputs, atol=1e-4)
    print(f"{name:10}", "moved" if moved else "the same")
    assert moved == (name in ("sinusoidal", "learned"))

# %% [markdown]
# The library's `rotate`: a pair times the cosine, plus its quarter turn times the sine.

# %%
import inspect

turn_by_pairing = inspect.getsource(library.rotate).split("    if pairing")[-1]
print("    if pairing" + turn_by_pairing)


# %% [markdown] tags=["slide"]
# ## Misconceptions
#
# ### “Neighbours or halves: a detail of layout.”
#
# Each alone is right. Here the *angles* are laid out for neighbours and the *turn* pairs halves. **Predict:** what breaks, lengths or distances?

# %%
def rotate_mixed(x, positions):
    frequencies = 10000.0 ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1])
    angles = (positions[:, None] * frequencies).repeat_interleave(2, -1)
    first, second = x.chunk(2, -1)
    return x * angles.cos() + torch.cat([-second, first], -1) * angles.sin()


class Mixed(Positions):
    def turn(self, x, prepared):
        return rotate_mixed(x, prepared)


x = torch.ones(1, 1, 3, 8)
print("lengths right", rotate(x, torch.arange(3)).norm(dim=-1)[0, 0])
print("lengths mixed", rotate_mixed(x, torch.arange(3)).norm(dim=-1)[0, 0])
spread = spread_at_distance(score_table(Mixed()))
print(f"scores at one distance differ by {spread:.2f}")

# %% [markdown]
# Both: the two numbers of a pair got different angles; that is no rotation. No error is raised. Test lengths, and one distance at several positions.
#
# And a sound rotation, but not the one that the weights learned with? SmolLM2, told to pair neighbours:

# %% tags=["weights"]
from course_lib import pretrained
from course_lib.generation import generate

try:
    decoder, tokenizer = pretrained.load("smollm2")
except pretrained.AssetError as problem:
    print(problem)
else:
    prompt = tokenizer.encode("We count: one, two, three,")
    for pairing in ("half", "interleaved"):
        for block in decoder.stack.blocks:
            block.self_attention.scheme.pairing = pairing
        print(f"{pairing:11}", repr(tokenizer.decode(generate(decoder, prompt, 16))))

# %% [markdown]
# It counts on for a while, then derails. Such a fault passes for a weak model. When weights are converted, compare logits with the original's.

# %% [markdown] tags=["slide"]
# ### “The second-last axis holds the positions.”
#
# Not before `transpose`: there it is the head. Five positions hold the same vector:

# %% tags=["slide"]
same = torch.ones(1, 5, 3, 8)  # (batch, position, head, d_head)
wrong = rotate(same, torch.arange(same.shape[-2]))
right = rotate(same.transpose(1, 2), torch.arange(5)).transpose(1, 2)
for name, x in (("wrong", wrong), ("right", right)):
    print(name, "positions 0 and 4 alike:", torch.allclose(x[:, 0], x[:, 4]))
    print(name, "heads 0 and 2 alike:    ", torch.allclose(x[:, :, 0], x[:, :, 2]))

# %% [markdown]
# The heads were numbered. Query and key of a head turn alike, so the turn cancels: scores know no order, as in step 1; only a causal mask still gives a hint (step 7). The loss still falls, since words alone predict a good deal. Test: equal vectors turn differently by position, alike in every head.

# %% [markdown] tags=["slide"]
# ### “One new token: its position is 0.”
#
# While writing, a cache keeps the turned keys, and one query comes at a time (lesson 10). Ten keys stand at 0 to 9; the query belongs at 10. All vectors are equal, so scores show distance alone. (The fastest pair is set to zero: its waves would hide the trend.) Printed: keys 0, 1, 8, 9. **Predict** which key the restarted query likes best.

# %% tags=["slide"]
slow = torch.tensor([0.0, 0, 1, 1, 1, 1, 1, 1]).expand(1, 1, 1, 8)
ten = rotate(slow.expand(1, 1, 10, 8), torch.arange(10))
for name, place in (("right", 10), ("restarted", 0)):
    query = rotate(slow, torch.tensor([place]))
    scores = attention_scores(query, ten)[0, 0, 0]
    print(f"{name:9} favourite: key {scores.argmax()}", scores[[0, 1, 8, 9]])

# %% [markdown]
# The oldest instead of the newest. The first token after the prompt is still right: the prompt was numbered in one piece. Compare three steps with a cache and without.

# %% [markdown] tags=["slide"]
# ### “A longer table is a longer model.”
#
# Our learned models have 128 rows. **Predict** the gradient of row 40 in training on 32 characters. Then we fill rows 32 to 127 with zeros, or with the first 32 again.

# %% tags=["nbval-ignore-output", "slide"]
model = models["learned"][0]
table = model.embedding.positions.table
model(test_pieces[:, :32]).square().mean().backward()
used = (table.grad.abs().sum(-1) > 0).nonzero().flatten()
print(f"rows with a gradient: {used.min()} to {used.max()}")
fills = {"zeros": torch.zeros(96, 32), "repeated": table[:32].detach().repeat(3, 1)}
for name, rows in fills.items():
    table.data[32:] = rows
    refilled = losses(model)
    print(f"{name:8}", [round(loss, 2) for loss in refilled])
    assert min(refilled[1:]) > refilled[0] + 0.05

# %% [markdown]
# No gradient reaches the rows beyond the trained length: they stay random (weight decay, lesson 11, only shrinks them), and neither filling mends it. Row 31 says nothing of row 32.

# %% [markdown]
# ## On a GPU
#
# GPUs are much faster with 16-bit numbers than with 32-bit ones. bfloat16 keeps 8 binary digits, so beyond 256 not every whole number exists. **Predict** what 257 becomes, and the score of two tokens at distance 2, which should be cos 2 = −0.416.

# %% tags=["gpu"]
from course_lib.hardware import device, dtype, fastest_seconds

on = device()
print("256 to 260:", torch.arange(256, 261, device=on).bfloat16().int().tolist())
for kind in (torch.float32, torch.bfloat16):
    row = []
    for j in (0, 257, 1001, 8001):
        places = torch.tensor([j + 2, j], device=on).to(kind)  # 1 radian a position
        query, key = torch.polar(torch.ones(2, device=on), places.float())
        # Query times conjugate key: its real part is the cosine of the difference.
        row.append(round((query * key.conj()).real.item(), 3))
    print(f"{str(kind):14} at 0, 257, 1001, 8001:", row)


# %% [markdown]
# Positions collide. So `course_lib` computes angles in float32, also for a 16-bit model.
#
# And traffic: rotary works on 2 · head · position · d_head numbers; a bias is a table of head · query · key, which the kernel must fetch. **Predict** both in MiB, 4 bytes a number, for 8 heads of 64 and 1,024 positions (a GPU takes 4,096, 2 bytes). Then the times:

# %%
def read_with_rotary(x, prepared):
    queries, keys = library.rotate(x, prepared), library.rotate(x, prepared)
    return attention(queries, keys, x, causal=True)


# %% tags=["gpu", "nbval-ignore-output"]
n = 4096 if on.type == "cuda" else 1024
x = torch.randn(1, 8, n, 64, device=on, dtype=dtype(on))
places = torch.arange(n, device=on)
bias = library.alibi_bias(8, places, places).to(x.dtype)
reads = {
    "none": partial(attention, x, x, x, causal=True),
    "rotary": partial(read_with_rotary, x, library.angles(places, 64)),
    "alibi": partial(attention, x, x, x, bias=bias, causal=True),
}
times = {name: 1000 * fastest_seconds(read, 3, on) for name, read in reads.items()}
for name, time in times.items():
    print(f"{name:7} {time:7.2f} ms, {n} positions, {on.type}")
print(f"turned: {2 * x.nbytes / 2**20:.0f} MiB, bias: {bias.nbytes / 2**20:.0f} MiB")
assert times["alibi"] > times["rotary"]


# %% [markdown]
# Expect rotary near none, the bias well above: its table grows with the square, is joined with the causal mask first, and torch's kernel then does not skip the hidden half (lesson 02). (Not measured on a GPU for this page.)

# %% [markdown]
# ## Exercise
#
# **A. Move** (10 minutes). A full cache drops its oldest keys; the rest, already turned, must move to lower positions. Write `move(keys, steps)`: `keys` (batch, head, position, d_head) as `rotate` gave them (base 10,000, neighbours), at positions that you are *not* told. Return them as if each had stood `steps` positions further on; `steps` is a whole number, negative to move back.

# %%
def move(keys, steps):
    """Your code."""


# %%
def check_move(answer):
    """Say whether move agrees with turning the original keys at their new positions."""
    keys = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(0))
    old = torch.tensor([7, 8, 9, 20, 21])
    hint = "the keys are turned already: which turn is still missing, "
    for steps in (-7, 0, 3):
        try:
            found = answer(rotate(keys, old), steps)
        except (IndexError, TypeError) as problem:
            return f"{problem} (`rotate` takes a tensor of positions, one for each key)"
        if found is None:
            return "not written yet"
        if found.shape != keys.shape:
            return f"the shape is {tuple(found.shape)}, not {tuple(keys.shape)}"
        if steps and torch.allclose(found, rotate(keys, old - steps), atol=1e-4):
            return f"steps {steps}: they moved, but the other way"
        if not torch.allclose(found, rotate(keys, old + steps), atol=1e-4):
            return f"steps {steps}: {hint}and is it the same for all?"
    return "right"


# %%
print(check_move(move))

# %% [markdown]
# <details><summary>A nudge</summary>
#
# To put the hand of a dial 2 radians further, must you know where it stands?
# </details>
#
# <details><summary>A stronger hint</summary>
#
# Turns add up: $R_s R_j = R_{j+s}$. All keys get the same turn. Which positions do you hand to `rotate`?
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def move(keys, steps):
#     return rotate(keys, torch.full((keys.shape[-2],), steps))
# ```
#
# Programs that chat beyond their cache do this instead of computing keys anew. With sinusoidal or learned positions no such turn exists: the position went through the matrices, and on into every layer.
# </details>
#
# **B. Debug** (10 minutes). A three-sided coin chose the fault of `mystery`, which should turn queries and keys: "mixed" pairing, wrong "axis", or "keys" alone turned. Which probes tell the three apart? Write them down first.

# %%
coin = torch.randint(3, (1,), generator=torch.Generator().manual_seed(5)).item()


def mystery(queries, keys):
    """Queries and keys (batch, head, position, d_head), turned with a fault."""
    n = torch.arange(queries.shape[-2])
    heads = torch.arange(queries.shape[-3])
    if coin == 0:
        return rotate_mixed(queries, n), rotate_mixed(keys, n)
    if coin == 1:
        flipped = (x.transpose(1, 2) for x in (queries, keys))
        return tuple(rotate(x, heads).transpose(1, 2) for x in flipped)
    return queries, rotate(keys, n)


fault = None  # "mixed", "axis" or "keys"

# %%
replies = {None: "not answered yet", ["mixed", "axis", "keys"][coin]: "right"}
print(replies.get(fault, "no: probe queries and keys apart, on equal vectors"))

# %% [markdown]
# <details><summary>Solution</summary>
#
# On `torch.ones(1, 3, 5, 8)`, "mixed" changes lengths; "axis" leaves positions alike and heads different; "keys" leaves the queries as they were. Here: "keys".
# </details>

# %% [markdown]
# ## Quiz
#
# Choose, then read the reason. Where no kernel runs, the reasons are folded below each question.

# %%
from course_lib.quiz import show_quiz

show_quiz("positions")

# %% [markdown]
# ## Further reading
#
# - Shaw et al. (2018), *Self-Attention with Relative Position Representations*, [arXiv:1803.02155](https://arxiv.org/abs/1803.02155). With the part for values.
# - Su et al. (2021), *RoFormer*, [arXiv:2104.09864](https://arxiv.org/abs/2104.09864). Rotary, derived from the wish for distance.
# - Press et al. (2022), *Train Short, Test Long*, [arXiv:2108.12409](https://arxiv.org/abs/2108.12409). ALiBi, and our step 8 at full size.
# - Haviv et al. (2022), *Transformer Language Models without Positional Encodings Still Learn Positional Information*, [arXiv:2203.16634](https://arxiv.org/abs/2203.16634). Step 7, in large models.
# - Kazemnejad et al. (2023), *The Impact of Positional Encoding on Length Generalization in Transformers*, [arXiv:2305.19466](https://arxiv.org/abs/2305.19466). Step 8 on tasks of reasoning, with another winner: no positions.
