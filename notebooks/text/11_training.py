# %% [markdown] tags=["slide"]
# # What differs between learning and writing?
#
# **You need** lessons 00 to 03; the whole decoder (lesson 08); how it writes (lesson 09).
#
# **You build** `shift_right`, `next_token_loss`, `perplexity` and `train`: what a decoder of random weights needs to learn.
#
# **You will be able to** *compute* the loss of an uneven batch, *explain* why learning is parallel and writing is not, and *debug* a model that copies, never stops, or looks better than it is.
#
# About 110 minutes.

# %% [markdown] tags=["slide"]
# ## Question
#
# A bookkeeper fills pages of twenty lines; each line is an amount, 0 to 9, and then one digit. In the **carried** book it is the last digit of the running total. In the **fresh** book it is the last digit of amount + 3; no line needs the line above. One amount in twenty is smudged and shows as `?`; the digit is still worked out from the true amount.

# %%
import torch

SMUDGE = 10


def pages(n_rows, carried, generator, smudges=0.05):
    """Pages of 20 lines: amount, digit, amount, digit ...: (row, 40)."""
    amounts = torch.randint(0, 10, (n_rows, 20), generator=generator)
    digits = amounts.cumsum(1) if carried else amounts + 3
    hidden = torch.rand(n_rows, 20, generator=generator) < smudges
    amounts = amounts.masked_fill(hidden, SMUDGE)
    return torch.stack([amounts, digits % 10], 2).flatten(1)


books = {"carried": True, "fresh": False}
for name, carried in books.items():
    page = pages(1, carried, torch.Generator().manual_seed(23))[0].tolist()
    lines = [
        f"{'0123456789?'[a]}:{d}" for a, d in zip(page[::2], page[1::2], strict=True)
    ]
    print(f"{name:8}", *lines[:12], "...")

# %% [markdown]
# A small decoder learns each book. Only the digits are to be predicted: targets at the amounts are −100, *does not count*. (`library.train` is what this lesson builds.)

# %%
from course_lib import training as library
from course_lib.decoder import Decoder, DecoderConfig


def bookkeeper(carried, seed):
    """Train a decoder on 350 batches of 16 pages."""
    generator = torch.Generator().manual_seed(seed)
    config = DecoderConfig(11, d_model=64, n_layers=1, n_heads=4, max_length=40)
    model = Decoder(config, generator)

    def batch(step):
        page = pages(16, carried, generator)
        targets = page[:, 1:].clone()
        targets[:, 1::2] = -100
        return page[:, :-1], targets

    library.train(model, batch, 350, learning_rate=0.01, warmup_steps=20)
    return model.eval()


# %% [markdown]
# We grade each on 300 new pages as it was taught: all digits above a line are the true ones.

# %%
def graded(model, page):
    """Which digits are right when all before are true: (row, line)."""
    with torch.no_grad():
        return model(page[:, :-1])[:, ::2].argmax(-1) == page[:, 1::2]


def new_pages(carried, seed, smudges=0.05):
    return pages(300, carried, torch.Generator().manual_seed(1000 + seed), smudges)


# %% tags=["nbval-ignore-output"]
keepers = {name: [bookkeeper(c, s) for s in (0, 1, 2)] for name, c in books.items()}
shares = {}
for name, carried in books.items():
    for seed, model in enumerate(keepers[name]):
        right = graded(model, new_pages(carried, seed)).float().mean().item()
        shares[name, seed] = right
        print(f"{name:8} seed {seed}: {right:.3f}")

# %%
assert all(abs(share - 0.955) < 0.015 for share in shares.values())
print("as expected")


# %% [markdown]
# As good as can be: under a smudge all ten digits are equally likely, and a guess is right one time in ten, so 0.95 + 0.05 · 0.1 = 0.955.
#
# Now each writes alone: the amounts are given, but the digits it reads are its own. **Predict** for both books the share of right digits in line 20.

# %%
def alone(model, page, forced=None):
    """Which digits are right when the model reads its own: (row, line)."""
    own = page.clone()
    for line in range(20):
        place = 2 * line + 1
        with torch.no_grad():
            own[:, place] = model(own[:, :place])[:, -1].argmax(-1)
        if line == forced:  # used in step 3
            own[:, place] = (own[:, place] + 1) % 10
    return own[:, 1::2] == page[:, 1::2]


# %% tags=["nbval-ignore-output"]
last = {}
for name, carried in books.items():
    for seed, model in enumerate(keepers[name]):
        right = alone(model, new_pages(carried, seed)).float().mean(0)
        last[name, seed] = right[-1].item()
        print(f"{name:8} seed {seed}: line 1 {right[0]:.3f}, line 20 {right[-1]:.3f}")

# %%
for seed in (0, 1, 2):
    assert abs(last["fresh", seed] - 0.955) < 0.05
    assert abs(last["carried", seed] - 0.42) < 0.1
print("as expected")

# %% [markdown]
# In the fresh book a smudge costs one digit, in the carried book all that follow. A page has no smudge with probability $0.95^{20} = 0.36$; of the rest a tenth is right by luck: 0.36 + 0.64 · 0.1 = 0.42.
#
# The same weights; learning and writing differ in what is *fed*.

# %% [markdown] tags=["slide"]
# ## Picture
#
# **Predict:** to learn from the word *chef* and its end, how many passes through the decoder are needed? And to write it?

# %%
from course_lib.figures import new_figure, show_figure

letters = ["start", "c", "h", "e", "f", "end"]
fig, axes = new_figure(8.5, 3.2)
axes.set(xlim=(-0.6, 11.4), ylim=(-0.8, 6))
axes.axis("off")
for place in range(5):
    axes.annotate("", (place, 3.6), (place, 2.4), arrowprops={"arrowstyle": "->"})
    axes.text(place, 2, letters[place], ha="center")
    axes.text(place, 3.8, letters[place + 1], ha="center", weight="bold")
    axes.text(6 + place, 4.8 - place, letters[place], ha="center")
    for fed in range(place):
        axes.text(6 + fed, 4.8 - place, letters[fed], ha="center", color="#777777")
    axes.text(6.9 + place, 4.8 - place, "→ " + letters[place + 1], weight="bold")

# %% tags=["slide"]
axes.text(2, 5.6, "learning: 1 pass, 5 predictions", ha="center")
axes.text(8.5, 5.6, "writing: 5 passes, each 1 prediction", ha="center")
axes.text(2, 1.2, "fed: the truth", ha="center")
axes.text(2, 4.4, "to be predicted", ha="center")
axes.text(8.5, -0.4, "fed: what was just written", ha="center")
show_figure(
    fig,
    alt=(
        "Left, learning: start, c, h, e, f stand side by side; from each an arrow leads "
        "up to the letter that follows it: c, h, e, f, end. Right, writing: five rows. "
        "Row one has start and gives c; row two start, c and gives h; and so on to row "
        "five, start c h e f, which gives end."
    ),
    caption="Learning asks all questions at once, writing one after another.",
)

# %% [markdown]
# The letter writer with a teacher: at each word the writer guesses, then copies the *teacher's* word, whatever the guess was. The mask covers the rest of the letter, so all guesses can be made at once. Alone, the second word waits for the first.

# %% [markdown] tags=["slide"]
# ## Definition
#
# A text has tokens $y_1 \dots y_T$, the last being the end token. The inputs are shifted right: $x_1 = \text{start}$, $x_t = y_{t-1}$. The loss of a batch:
#
# $$L = \frac{1}{N} \sum_{b, t\ \text{real}} -\ln p(y_{bt} \mid x_{b1} \dots x_{bt}), \qquad \text{perplexity} = e^{L}$$
#
# | symbol | word | shape |
# |---|---|---|
# | $x$ | `inputs` | (batch, position) |
# | $y$ | `targets`; −100 at padding | (batch, position) |
# | $p(\cdot \mid x_{b1} \dots x_{bt})$ | softmax of the `logits` at place $t$ | (batch, position, vocab) |
# | $N$ | real targets in the whole batch | a number |
# | $L$ | mean surprise per real token, in nats | a number |
# | $\varepsilon$ | `label_smoothing`, a share of the probability | a number |
# | $V$ | `vocab_size` | a number |
# | $b$, $t$, $T$ | row of the batch, position, the last one | numbers |
# | $p_y$, $p_v$ | probability of the target, of token $v$ | numbers |
#
# The end token is a real target, the start token is not. **Label smoothing** turns the surprise of a target into
#
# $$(1 - \varepsilon)\,(-\ln p_y) + \frac{\varepsilon}{V} \sum_{v} (-\ln p_v).$$
#
# Feeding the truth is **teacher forcing** (Williams, Zipser 1989). Source of the shift: Vaswani et al. (2017), section 3.1; of label smoothing: Szegedy et al. (2016), section 7.

# %% [markdown] tags=["slide"]
# ## Build
#
# ### 1. One place to the right
#
# Letters become ids; *start* is 27, *end* 28. The shorter word of a batch is filled up, here with *end*, as many programs do; lengths tell filling from the real end.

# %%
from course_lib.tokens import CharacterTokenizer

alphabet = "'abcdefghijklmnopqrstuvwxyz"
tokenizer = CharacterTokenizer([alphabet], specials=["bos", "eos"])
START, END = tokenizer.bos_id, tokenizer.eos_id


def spelled(some_words):
    """Words between start and end, filled up with end: (word, position), lengths."""
    rows = [[START, *tokenizer.encode(word), END] for word in some_words]
    longest = max(len(row) for row in rows)
    filled = [row + [END] * (longest - len(row)) for row in rows]
    return torch.tensor(filled), [len(row) for row in rows]


tokens, lengths = spelled(["chef", "at"])
print(tokens, lengths)


# %% [markdown]
# Cut twice: all but the last place is fed, all but the first is to be predicted. **Predict** the two rows of `targets`.

# %%
def inputs_and_targets(tokens, lengths=None):
    """Cut rows into what is fed and what is to be predicted, one place apart."""
    targets = tokens[:, 1:].clone()
    if lengths is not None:
        place = torch.arange(1, tokens.shape[1])
        targets[place >= torch.tensor(lengths)[:, None]] = -100
    return tokens[:, :-1], targets


inputs, targets = inputs_and_targets(tokens, lengths)
print("inputs ", inputs.tolist())
print("targets", targets.tolist())


# %% [markdown]
# 27 (start) is to give 3 (c), 3 gives 8 (h), ... and f gives 28 (end). In the second row only the first 28 counts.
#
# A translator's inputs are made from its targets. −100 is a mark, not an id: it must not be fed.

# %%
def shift_right(targets, bos_id):
    """Put a start token in front and leave the last target out."""
    start = torch.full_like(targets[:, :1], bos_id)
    inputs = torch.cat([start, targets[:, :-1]], 1)
    return inputs.masked_fill(inputs == -100, bos_id)


print(shift_right(targets, START).tolist())


# %% [markdown] tags=["slide"]
# ### 2. One pass answers every place
#
# A fresh decoder reads *chef* once, and then as a writer would: start; start, c; and so on. **Predict** how far apart the logits are.

# %% tags=["slide"]
def fresh(seed, d_model=32, n_layers=1, **changes):
    """A decoder of letters with random weights."""
    config = DecoderConfig(29, d_model, n_layers, n_heads=4, max_length=40, **changes)
    return Decoder(config, torch.Generator().manual_seed(seed))


model = fresh(0, n_layers=2).eval()
with torch.no_grad():
    at_once = model(inputs[:1])
    steps = [model(inputs[:1, : t + 1])[:, -1] for t in range(5)]
one_by_one = torch.stack(steps, 1)
print(tuple(at_once.shape), "in 1 pass,", tuple(one_by_one.shape), "in", len(steps))
print(f"largest difference below 1e-5: {(at_once - one_by_one).abs().max() < 1e-5}")

# %% [markdown]
# Equal up to rounding. Two things make one pass enough: all inputs are *known*, being the targets of the place before; and the mask hides what comes after. Neither memory nor the number of parameters is the reason, and no cache is needed.
#
# In writing, a cache makes steps cheap (lesson 10); they still wait for each other.

# %% [markdown] tags=["slide"]
# ### 3. One wrong digit
#
# Back to the books, without smudges. We force one wrong digit into line 4. **Predict** the share of right digits in lines 5 to 20.

# %% tags=["nbval-ignore-output", "slide"]
after = {}
for name, carried in books.items():
    for seed, model in enumerate(keepers[name]):
        page = new_pages(carried, seed, smudges=0)[:100]
        untouched = alone(model, page).float().mean()
        right = alone(model, page, forced=3)[:, 4:].float().mean(0)
        after[name, seed] = right
        print(f"{name:8} seed {seed}: untouched {untouched:.3f}", end=", ")
        print(f"after the wrong digit {right.mean():.3f}")

# %% tags=["slide"]
for seed in (0, 1, 2):
    assert after["carried", seed].max() < 0.05
    assert after["fresh", seed].min() > 0.95
print("as expected")

# %% [markdown]
# One error derails the carried book for good; in the fresh book it heals at once. All amounts are on the page, so the total could be repaired; but in training the digit above was *always* true, and nothing taught the model to doubt it.
#
# Learning shows only true beginnings, writing its own. This gap is **exposure bias** (Ranzato et al. 2016). Its cost depends on the task: let the model write.

# %% [markdown] tags=["slide"]
# ### 4. Loss per real token
#
# Two sentences, and the probabilities that a model gave to their tokens: 1/2 and 1/8 in the first; 1/2, six times, in the second. In bits ($-\log_2 p$): 1 and 3; six times 1. **Predict** the mean per sentence and the mean per token.
#
# `surprise` works in nats: bits times ln 2. (Its last argument waits for step 6.)

# %%
import math

from course_lib.softmax import log_softmax


def surprise(logits, targets, label_smoothing=0.0):
    """Nats of surprise at each place, 0 where nothing counts: (batch, position)."""
    log_p = log_softmax(logits)  # (batch, position, vocab)
    known = targets.clamp(min=0)  # −100 is no id; its place is zeroed below
    chosen = log_p.gather(-1, known[..., None])[..., 0]
    mixed = (1 - label_smoothing) * chosen + label_smoothing * log_p.mean(-1)
    return torch.where(targets == -100, 0.0, -mixed)


p = torch.tensor([[1 / 2, 1 / 8, 0.9, 0.9, 0.9, 0.9], [1 / 2] * 6])
two_logits = torch.stack([p, 1 - p], -1).log()  # a vocabulary of two tokens
two_targets = torch.zeros(2, 6, dtype=torch.long)
two_targets[0, 2:] = -100
bits = surprise(two_logits, two_targets) / math.log(2)
print(bits)

# %%
real = (two_targets != -100).sum(1)
print("sum              ", bits.sum().item())
print("mean per sentence", (bits.sum(1) / real).mean().item())
print("mean per token   ", (bits.sum() / real.sum()).item())
print("mean of 12 places", round(bits.mean().item(), 3))

# %% [markdown]
# The sum grows with the batch. The mean per sentence, (2 + 1) / 2, gives a token of a short sentence more weight. The mean per real token, 10 / 8, weighs tokens alike; perplexity is made of it: $2^{1.25} = 2.38$. The last line divides by padding as well, and means nothing.

# %%
IGNORED = -100


def next_token_loss(logits, targets, ignore_index=IGNORED, label_smoothing=0.0):
    """Mean surprise of the real targets, in nats. It never shifts."""
    targets = targets.masked_fill(targets == ignore_index, IGNORED)
    total = surprise(logits, targets, label_smoothing).sum()
    return total / (targets != -100).sum().clamp(min=1)


print(next_token_loss(two_logits, two_targets) / math.log(2))


# %% [markdown] tags=["slide"]
# ### 5. A batch in pieces
#
# A batch too large for memory is cut into *micro-batches*: `backward` adds up their gradients, then one update follows (**gradient accumulation**). To equal the whole, each sum is divided by the real tokens of the *whole* batch. Below, three words and five; we also try the mean of the two means.

# %% [markdown]
# By means, each sum is divided by its own count and by the number of pieces; by tokens, by all counts together.

# %%
def gradient(model, micro_batches, weigh="tokens"):
    """All gradients, after accumulation over micro-batches: (parameter,)."""
    counts = [int((targets != -100).sum()) for _, targets in micro_batches]
    model.zero_grad()
    for (inputs, targets), count in zip(micro_batches, counts, strict=True):
        total = surprise(model(inputs), targets).sum()
        share = sum(counts) if weigh == "tokens" else len(counts) * count
        (total / share).backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()])


# %%
eight = "a be at chef letter pepper writing cooking".split()
whole = [inputs_and_targets(*spelled(eight))]
cut = [inputs_and_targets(*spelled(eight[:3])), inputs_and_targets(*spelled(eight[3:]))]
model = fresh(0)
expected = gradient(model, whole)
for weigh in ("tokens", "means"):
    found = gradient(model, cut, weigh)
    distance = (found - expected).norm() / expected.norm()
    print(f"{weigh:6}: off by {distance:.3f} of the gradient's length")
    assert (distance < 1e-5) == (weigh == "tokens")

# %% [markdown]
# By tokens: the same gradient. By means, tokens of the short words count more.
#
# So too for **perplexity**: add up surprise and tokens over all batches, divide, then take the exponential.

# %%
from course_lib.modes import mode


@torch.no_grad()
def perplexity(model, batches):
    """exp of the mean surprise per real token, in evaluation mode."""
    total, count = 0.0, 0
    with mode(model, training=False):
        for inputs, targets in batches:
            total += surprise(model(inputs), targets).sum().item()
            count += int((targets != -100).sum())
    return math.exp(total / count)


each = [perplexity(model, [batch]) for batch in cut]
print(f"whole {perplexity(model, whole):.3f}, cut {perplexity(model, cut):.3f}")
print(f"mean of the two perplexities {sum(each) / 2:.3f}")

# %% [markdown] tags=["slide"]
# ### 6. Label smoothing
#
# With $\varepsilon = 0.1$ and $V = 5$, the target asks for 0.9 + 0.1 / 5 = 0.92 on the right token and 0.02 on each other. **Predict** where the probability ends when we minimise the loss over five free logits, with and without smoothing.

# %% tags=["slide"]
target = torch.tensor([[3]])
for smoothing in (0.0, 0.1):
    free = torch.zeros(1, 1, 5, requires_grad=True)
    for _ in range(2000):
        loss = next_token_loss(free, target, label_smoothing=smoothing)
        (slope,) = torch.autograd.grad(loss, free)
        free = (free - slope).detach().requires_grad_()
    sure = free.softmax(-1)[0, 0, 3]
    print(f"smoothing {smoothing}: probability {sure:.4f}, loss {loss:.3f}")

# %% [markdown]
# Without it, the logits would grow for ever. With it, they stop at 0.92, and the least loss is not 0. So perplexity is measured *without* it. The original Transformer used 0.1: worse perplexity, better translations (Vaswani et al. 2017, section 5.4).

# %% [markdown] tags=["slide"]
# ### 7. The loop
#
# From a parameter's gradient $g$, AdamW keeps two running means: $m$ of $g$, and $s$ of $g^2$; it moves the parameter by the learning rate times $-m / \sqrt{s}$. At the first step these are $g$ and $g^2$ (corrected for the short history). **Predict** how far two parameters move at rate 0.1, if their gradients are 0.003 and −50.

# %% tags=["slide"]
pair = torch.nn.Parameter(torch.tensor([2.0, 2.0]))
pair.grad = torch.tensor([0.003, -50.0])
torch.optim.AdamW([pair], lr=0.1, weight_decay=0.0).step()
print([round(value, 4) for value in pair.tolist()])


# %% [markdown]
# Both by 0.1: the size of $g$ does not matter, only its sign, which a single batch knows badly. So the rate begins small (**warm-up**), and at the end falls, so that the weights settle.

# %%
def learning_rate_at(step, n_steps, peak, warmup_steps=0, floor=0.1):
    """Rise in a line to the peak, then fall along half a cosine to floor * peak."""
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    done = (step - warmup_steps) / max(n_steps - warmup_steps - 1, 1)
    return peak * (floor + (1 - floor) * (1 + math.cos(math.pi * done)) / 2)


print([round(learning_rate_at(step, 8, 1.0, 3), 2) for step in range(8)])


# %% [markdown]
# Now the loop: clear old gradients, add up those of the micro-batches, cap their length at 1 (*clipping*: one odd batch must not throw the model off), update. `betas` are the shares of the old $m$ and $s$ that are kept. `batches(i)` gives micro-batch i.

# %%
def train(model, batches, n_steps, learning_rate=1e-3, warmup_steps=0, accumulate=1):
    """Update the parameters n_steps times; return the loss of each step."""
    adam = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.95), weight_decay=0.0)
    losses = []
    model.train()
    for step in range(n_steps):
        (group,) = adam.param_groups
        group["lr"] = learning_rate_at(step, n_steps, learning_rate, warmup_steps)
        pieces = [batches(step * accumulate + i) for i in range(accumulate)]
        real = sum(int((targets != -100).sum()) for _, targets in pieces)
        adam.zero_grad()
        total = 0.0
        for inputs, targets in pieces:
            loss = surprise(model(inputs), targets).sum() / real
            loss.backward()
            total += loss.item()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        losses.append(total)
    return losses


# %% [markdown]
# The first trial of any loop: can it learn **one batch** by heart? The least loss is not 0: after *start*, nothing says which of the eight words this is. `choices` counts what is left.

# %%
def choices(words_of_batch):
    """Nats per token that are left when the words are known by heart."""
    total = 0.0
    for word in words_of_batch:
        for end in range(len(word) + 1):
            like = [w + "." for w in words_of_batch if w.startswith(word[:end])]
            same = [w for w in like if w[end] == (word + ".")[end]]
            total -= math.log(len(same) / len(like))
    return total / sum(len(word) + 1 for word in words_of_batch)


model = fresh(0)
losses = train(model, lambda i: whole[0], 150, learning_rate=0.01, warmup_steps=10)
print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, least possible {choices(eight):.3f}")
assert abs(losses[-1] - choices(eight)) < 0.02

# %% [markdown]
# What does warm-up buy? Two peaks, with and without it, three seeds each: 100 updates on English words, loss on every sixth held-out word. A hash of each word deals it to training, validation or test.

# %%
from course_lib.data import split, words

learn, validation, test = split(words())
print(f"{len(learn):,} to learn from, {len(validation):,} and {len(test):,} held out")


def draw(n_words, generator):
    """Random words to learn from: tokens and lengths."""
    picks = torch.randint(len(learn), (n_words,), generator=generator)
    return spelled([learn[pick] for pick in picks.tolist()])


held_out = [inputs_and_targets(*spelled(validation[::6]))]


# %%
def small_run(seed, cut=inputs_and_targets, peak=0.01, warmup_steps=10):
    """A small decoder after 100 updates on 32 words each, and its last losses."""
    generator, model = torch.Generator().manual_seed(seed), fresh(seed)
    losses = train(model, lambda i: cut(*draw(32, generator)), 100, peak, warmup_steps)
    return model, sum(losses[-20:]) / 20


# %% tags=["nbval-ignore-output"]
left = {}
for peak in (0.01, 0.06):
    for warmup_steps in (0, 20):
        runs = [small_run(s, peak=peak, warmup_steps=warmup_steps)[0] for s in range(3)]
        left[peak, warmup_steps] = [math.log(perplexity(m, held_out)) for m in runs]
        shown = [f"{loss:.3f}" for loss in left[peak, warmup_steps]]
        print(f"peak {peak}, warm-up {warmup_steps:2}:", *shown)

# %%
assert min(left[0.06, 0]) > max(left[0.06, 20])
print("at the high peak, every run with warm-up beats every run without")

# %% [markdown]
# At the high peak warm-up helps with every seed. At 0.01 the ranges overlap: *not shown*.

# %% [markdown] tags=["slide"]
# ### 8. A model of English words
#
# The real run: your loop and a decoder of two layers, 86,000 parameters. Its rivals are **n-grams**: they count which letter followed the $n - 1$ before it, mixed with shorter contexts where that one was rare (Witten, Bell 1991). The measure is **bits per character** on held-out words; the end counts as a character.

# %% tags=["slide"]
from course_lib.data import NGram

characters = sum(len(word) + 1 for word in validation)
n_grams, rival = {}, NGram(6, learn)
for order in (2, 3, 4, 5, 6):
    rival.order = order  # a longer table holds the shorter ones
    n_grams[order] = sum(rival.bits(word) for word in validation) / characters
    print(f"{order}-gram: {n_grams[order]:.3f} bits per character")


# %% [markdown]
# **Predict:** the model looks back over the whole word, the 4-gram over three letters. Who wins after 450 updates?

# %%
def batches_of(some_words, size=500):
    """Held-out words in batches, long ones with long ones."""
    ordered = sorted(some_words, key=len)
    parts = [ordered[i : i + size] for i in range(0, len(ordered), size)]
    return [inputs_and_targets(*spelled(part)) for part in parts]


def bits_per_character(model, some_words):
    return math.log2(perplexity(model, batches_of(some_words)))


# %%
SIZES = dict(d_model=64, n_layers=2, d_ff=128, positions="rotary", norm="rms")
SIZES |= dict(gated=True, activation="silu", bias=False, tie_weights=False)


def word_model(seed, n_steps):
    """Learn from 64 words a step; give the model and validation bits on the way."""
    generator, seen = torch.Generator().manual_seed(seed), []
    model = fresh(seed, **SIZES)

    def batch(step):
        if n_steps < 500 and step in (100, 200):
            seen.append(bits_per_character(model, validation))
        return inputs_and_targets(*draw(64, generator))

    train(model, batch, n_steps, learning_rate=0.008, warmup_steps=n_steps // 10)
    seen.append(bits_per_character(model, validation))
    return model, seen


# %% tags=["nbval-ignore-output", "timeout-600"]
runs = [word_model(seed, 450) for seed in (0, 1, 2)]
for seed, (_, seen) in enumerate(runs):
    print(f"seed {seed}, 450 updates: {seen[-1]:.3f} bits per character")
short = [seen[-1] for _, seen in runs]
assert n_grams[4] < min(short)
assert max(short) < n_grams[3]

# %% [markdown]
# Better than the 3-gram, worse than the 4-gram, with every seed. And with 900 updates (one seed)?

# %% tags=["nbval-ignore-output", "timeout-600"]
long_model, long_seen = word_model(0, 900)
print(f"seed 0, 900 updates: {long_seen[-1]:.3f} bits per character")
assert n_grams[4] < long_seen[-1] < min(short) - 0.04

# %% tags=["nbval-ignore-output", "slide"]
from course_lib.figures import draw_curves

assert all(seen[0] > seen[1] > seen[2] for _, seen in runs)
at = [100, 200, 450]
curves = {"model, 3 seeds": torch.tensor([seen for _, seen in runs])}
curves |= {f"{order}-gram": [bits] * 3 for order, bits in n_grams.items()}
show_figure(
    draw_curves(at, curves, "updates of 64 words", "bits per character"),
    alt=(
        "Bits per character over 100, 200 and 450 updates; five level lines are the "
        "n-grams. The model, a mean of three seeds, starts between 2-gram and 3-gram, falls "
        "below the 3-gram and ends well above the 4-gram. The 5- and 6-gram lie lowest, "
        "close together."
    ),
    caption=(
        "Held-out bits per character while the model learns; lower is better. "
        "Bars: least to greatest seed."
    ),
)

# %% [markdown]
# Twice the updates help; the 4-gram, counted in seconds, still wins. The table stores every run of letters it met; the model has 86,000 numbers.
#
# One word through this model: in training all places at once, each with its loss; take away *Training pass*, and the same model writes, one letter a pass. **Predict:** which two letters of *question* surprise it least?

# %% tags=["nbval-ignore-output", "slide"]
from IPython.display import display

from course_lib.explorer import Explorer
from course_lib.trace import Trace

inputs, targets = inputs_and_targets(*spelled(["question"]))
seen = {"text": lambda i: {START: "start", END: "end"}.get(i) or tokenizer.decode([i])}
written = Trace.record(long_model, inputs[0, :4], None, 9, eos_id=END, **seen)
taught = Trace.record(long_model, inputs[0], targets=targets[0], **seen)
display(Explorer(written, training=taught, mode="dynamic", training_shown=True))
losses = taught.arrays["losses", 0]
assert losses[[1, 7]].max() < 0.5 * losses.mean()  # u behind q, n behind io

# %% [markdown]
# *u* behind *q*, and *n* behind *io*: what the letters before leave no choice.
#
# What does it write, and how much of that is new? And last, once only: the test words.

# %%
from course_lib.generation import generate_batch
from course_lib.sampling import Sampler


def write_words(model, n_words, seed=0):
    """Let the model write words, each up to 30 letters; its ids, end included."""
    sampler = Sampler(seed=[1000 * seed + row for row in range(n_words)])
    return generate_batch(model.eval(), [[START]] * n_words, 30, sampler, eos_id=END)


# %% tags=["nbval-ignore-output"]
rows = write_words(long_model, 300)
written = [tokenizer.decode(row, skip_special=True) for row in rows]
known = set(learn) | set(validation) | set(test)
new = [word for word in written if word not in known]
print("in the dictionary:", *[word for word in written if word in known][:10])
print("new:              ", *new[:10])
unseen = set(written) & (set(validation) | set(test))
print(f"{len(new) / 300:.0%} are new; {len(unseen)} are held-out words")
tested = bits_per_character(long_model, test)
print(f"test, once, at the very end: {tested:.3f} bits per character")

# %%
assert 0.5 < len(new) / 300 < 0.98
assert abs(tested - long_seen[-1]) < 0.05
print("as expected")

# %% [markdown]
# Most words are new, and can be pronounced. The test part gave one number.

# %% [markdown]
# ## Check
#
# Ours against the library and torch. First the cuts, with rows of 0 to 7 real tokens; −100 must not reach the inputs.

# %%
generator = torch.Generator().manual_seed(0)
some = torch.randint(0, 11, (5, 7), generator=generator)
ragged = [0, 1, 2, 5, 7]
for rows_lengths in (None, ragged):
    ours = inputs_and_targets(some, rows_lengths)
    torch.testing.assert_close(ours, library.inputs_and_targets(some, rows_lengths))
    shifted = shift_right(ours[1], bos_id=3)
    assert torch.equal(shifted, library.shift_right(ours[1], bos_id=3))
    assert shifted.min() >= 0
print("cuts: equal to course_lib")

# %% [markdown]
# The loss, value and gradient, with two codes for *does not count*; then a batch that holds nothing real.

# %%
import torch.nn.functional as F

targets = inputs_and_targets(some, ragged)[1]
logits = torch.randn(5, 6, 11, generator=generator, requires_grad=True)
for smoothing in (0.0, 0.1, 1.0):
    for code in (-100, 2):
        marked = targets.masked_fill(targets == -100, code)
        setting = {"ignore_index": code, "label_smoothing": smoothing}
        losses = [
            next_token_loss(logits, marked, **setting),
            library.next_token_loss(logits, marked, **setting),
            F.cross_entropy(logits.flatten(0, 1), marked.flatten(), **setting),
        ]
        slopes = [torch.autograd.grad(loss, logits)[0] for loss in losses]
        for loss, slope in zip(losses[1:], slopes[1:], strict=True):
            torch.testing.assert_close((losses[0], slopes[0]), (loss, slope))
for loss in (next_token_loss, library.next_token_loss):
    assert loss(logits, torch.full_like(targets, -100)) == 0
print("loss and gradient: equal to course_lib and torch")

# %% [markdown]
# Properties: logits that predict the next token have loss 0, logits that copy do not; longer padding changes nothing, nor does a cut into batches or a forgotten `eval`.

# %%
inputs, targets = inputs_and_targets(some[4:])
perfect, copying = (50 * F.one_hot(ids, 11).float() for ids in (targets, inputs))
assert library.next_token_loss(perfect, targets) < 1e-6
assert library.next_token_loss(copying, targets) > 10

longer = F.pad(spelled(eight)[0], (0, 4), value=END), spelled(eight)[1]
noisy = fresh(0, dropout=0.5).train()
expected = library.perplexity(noisy, whole)
for batches in (cut, [library.inputs_and_targets(*longer)]):
    assert abs(library.perplexity(noisy, batches) - expected) < 1e-4
    assert abs(perplexity(noisy, batches) - expected) < 1e-4
assert noisy.training
print("properties hold")


# %% [markdown]
# Six updates of two micro-batches, with dropout, ours and the library's. Then the first update by hand: $g / |g|$ times the rate, 0.01 · 1/2 in the warm-up. The library adds **weight decay**: each update first shrinks every matrix by rate times `weight_decay`.

# %%
def trained(train, **setting):
    """Losses, and the logits of the trained model for our eight words."""
    model = fresh(0, dropout=0.1).eval()
    torch.manual_seed(0)  # for dropout
    losses = train(model, **{"learning_rate": 0.01, "warmup_steps": 2} | setting)
    return torch.tensor(losses), model.eval()(whole[0][0]).detach()


setting = {"n_steps": 6, "accumulate": 2}
ours = trained(train, batches=lambda i: cut[i % 2], **setting)
theirs = trained(library.train, batches=cut, weight_decay=0.0, **setting)
torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
for step in range(9):
    case = (step, 9, 0.3, 4)
    assert learning_rate_at(*case) == library.learning_rate_at(*case)
print("six updates: equal to course_lib")

# %%
model = fresh(0)
before = [p.detach().clone() for p in model.parameters()]
loss = F.cross_entropy(model(whole[0][0]).mT, whole[0][1])
slopes = torch.autograd.grad(loss, list(model.parameters()))
library.train(model, whole, 1, learning_rate=0.01, warmup_steps=2, weight_decay=0.5)
for p, old, slope in zip(model.parameters(), before, slopes, strict=True):
    kept = old * (1 - 0.005 * 0.5) if p.ndim == 2 else old
    big = slope.abs() > 1e-4  # AdamW's epsilon matters below
    torch.testing.assert_close(p[big], (kept - 0.005 * slope.sign())[big])
print("first update: equal to the one by hand")

# %% [markdown]
# It can also go on after an interruption, exactly:

# %%
import tempfile
from pathlib import Path


def stop(step, loss):
    if step == 3:
        raise KeyboardInterrupt


with tempfile.TemporaryDirectory() as folder:
    setting = {"batches": cut, "n_steps": 6, "checkpoint_every": 2}
    setting["checkpoint"] = Path(folder) / "run"
    try:
        trained(library.train, on_step=stop, **setting)
    except KeyboardInterrupt:
        resumed = trained(library.train, **setting)
torch.testing.assert_close(resumed, trained(library.train, batches=cut, n_steps=6))
print("interrupted after 4 of 6 updates, then resumed: no difference")

# %% [markdown]
# Lesson 12 trains a translator with this loop, lesson 15 runs it on several processes. Large models use the same loss and loop; they pack documents end to end, so that little is padding, and count a batch in tokens, often millions. The library's loss takes sum and count apart, so that batches can be added up:

# %%
import inspect

print(inspect.getsource(library.next_token_loss).split('"""')[2])

# %% [markdown] tags=["slide"]
# ## Misconceptions
#
# ### “Training goes token by token, like writing.”
#
# Eight words in a loop over beginnings, one pass a place, against one pass. **Predict** how many times as long the loop takes (the longest word has 7 letters).

# %% tags=["nbval-ignore-output"]
from course_lib.hardware import fastest_seconds

model, (inputs, targets) = fresh(0, n_layers=2), whole[0]


def at_once():
    return next_token_loss(model(inputs), targets)


def in_a_loop():
    places = range(inputs.shape[1])
    logits = [model(inputs[:, : t + 1])[:, -1] for t in places]
    return next_token_loss(torch.stack(logits, 1), targets)


both = (at_once, in_a_loop)
slopes = [torch.autograd.grad(f(), [*model.parameters()]) for f in both]
torch.testing.assert_close(*slopes)
once, loop = (fastest_seconds(lambda f=f: f().backward()) for f in both)
print(f"{inputs.shape[1]} passes instead of 1: {loop / once:.1f} times as long")
assert loop > 2 * once


# %% [markdown]
# The same gradient, for a pass per place: 8 here, 2,048 for a text of 2,048 tokens.

# %% [markdown] tags=["slide"]
# ### “The loss is near 0, so it has learned.”
#
# Three wrong cuts beside ours: nobody shifts; loader and loss both shift; padding counts. **Predict** for each: is its loss lower or higher than with the right cut, and what does the model write? (100 updates, three seeds; `true`: held-out words, cut right.)

# %%
def no_shift(tokens, lengths):
    inputs, targets = inputs_and_targets(tokens, lengths)
    return inputs, inputs.masked_fill(targets == -100, -100)


def two_shifts(tokens, lengths):
    inputs, targets = inputs_and_targets(tokens, lengths)
    return inputs[:, :-1], targets[:, 1:]


def pads_counted(tokens, lengths):
    return inputs_and_targets(tokens)


# %% tags=["nbval-ignore-output"]
found, right_cut = {}, []
for make_batch in (inputs_and_targets, no_shift, two_shifts, pads_counted):
    name = make_batch.__name__
    for seed in (0, 1, 2):
        model, loss = small_run(seed, make_batch)
        found[name, seed] = loss, math.log(perplexity(model, held_out))
        right_cut += [model] if make_batch is inputs_and_targets else []
        word = tokenizer.decode(write_words(model, 1, seed)[0])[:24]
        print("{:18} {:.3f}, true {:6.3f}".format(name, *found[name, seed]), word)

# %%
for seed in (0, 1, 2):
    own, true = found["inputs_and_targets", seed]
    assert found["no_shift", seed][0] < 0.2 < 5 < found["no_shift", seed][1]
    assert found["pads_counted", seed][0] < own - 0.5
    assert found["pads_counted", seed][1] > true
    assert own < found["two_shifts", seed][0]
    assert found["two_shifts", seed][1] > true + 0.15
print("as expected")


# %% [markdown]
# Without a shift the model copies its input: loss 0 at once, and it writes *start* for ever. With two shifts the loss looks plausible, but each letter named is the one after the next. With padding counted the loss is lower, the model slightly worse: *end* after *end* is no achievement.
#
# How to notice: logits sure of the next token, as in Check, must give loss 0: that finds both wrong shifts. Longer padding must not change the loss: that finds the third.

# %% [markdown] tags=["slide"]
# ### “Padding is what has the padding id.”
#
# Our padding is the end token. Now every target that *is* an end token is ignored. **Predict** how many of 100 words end within 30 letters.

# %%
def by_id(tokens, lengths):
    inputs, targets = inputs_and_targets(tokens)
    return inputs, targets.masked_fill(targets == END, -100)


# %% tags=["nbval-ignore-output"]
ended = {}
never_taught = [small_run(seed, by_id)[0] for seed in (0, 1, 2)]
for name, models in (("by length", right_cut), ("by id", never_taught)):
    for seed, model in enumerate(models):
        rows = write_words(model, 100, seed)
        ended[name, seed] = sum(row[-1] == END for row in rows)
        word = tokenizer.decode(rows[0])
        print(f"{name:9} seed {seed}: {ended[name, seed]:3} end; {word}")

# %%
assert all(ended["by length", seed] > 95 for seed in (0, 1, 2))
assert all(ended["by id", seed] < 15 for seed in (0, 1, 2))
print("as expected")

# %% [markdown]
# The end must be learned. Here it was never the right answer, so its probability was only pushed down. Its own loss cannot show it, since the ends are left out of it; reading what the model writes does. Ignore by *length*.

# %% [markdown] tags=["slide"]
# ### “Softmax first, then cross-entropy.”
#
# `F.cross_entropy` takes logits. **Predict** its value when it gets perfect *probabilities*: 1 on the target, 0 on the other 28.

# %% tags=["slide"]
perfect = F.one_hot(torch.tensor([3]), 29).float()
print(f"perfect probabilities: {F.cross_entropy(perfect, torch.tensor([3])):.3f}")
print(f"perfect logits:        {F.cross_entropy(100 * perfect, torch.tensor([3])):.3f}")

# %% [markdown]
# They are squeezed a second time: $-\ln \frac{e}{e + 28} = 2.425$, and no training gets below. How to notice: one batch cannot be learned by heart.

# %% [markdown] tags=["slide"]
# ### “`no_grad` is evaluation.” “Gradients start anew by themselves.”
#
# A model with dropout is measured twice under `no_grad`, then twice after `eval()`. Then `backward` runs twice, without `zero_grad` between.

# %% tags=["slide"]
model = fresh(0, dropout=0.5).train()
with torch.no_grad():
    print("no_grad:", *[f"{next_token_loss(model(inputs), targets):.3f}" for _ in "12"])
    model.eval()
    print("eval:   ", *[f"{next_token_loss(model(inputs), targets):.3f}" for _ in "12"])
for _ in range(2):
    next_token_loss(model(inputs), targets).backward()
    print(f"length of the gradient {model.head.weight.grad.norm():.3f}")


# %% [markdown]
# `no_grad` saves memory, `eval` changes what is computed. And gradients add up until they are cleared. How to notice: two evaluations differ; the gradient grows at each step.

# %% [markdown] tags=["slide"]
# ### “The lower perplexity is the better model.”
#
# Two 2-grams of the same words. One has letters as tokens; the other *pairs* of letters, as a tokenizer with larger pieces would.

# %% tags=["slide"]
def pairs(word):
    return [word[i : i + 2] for i in range(0, len(word), 2)]


every_pair = [a + b for a in alphabet for b in ["", *alphabet]]
one, other = NGram(2, learn), NGram(2, [pairs(w) for w in learn], every_pair)
for name, rival, cut_up in (("letters", one, list), ("pairs", other, pairs)):
    bits = sum(rival.bits(cut_up(word)) for word in validation)
    n_tokens = sum(len(cut_up(word)) + 1 for word in validation)
    print(f"{name:8} perplexity {2 ** (bits / n_tokens):5.1f} per token", end=", ")
    print(f"{bits / characters:.3f} bits per character")

# %% [markdown]
# The pairs have the higher perplexity and are the better model: a token that says more is harder to guess. Across tokenizers compare bits per character, or per byte.

# %% [markdown]
# ## On a GPU
#
# A pass over a batch uses each weight, and each start of an operation, for many positions; a step of writing, for one. In a small model the starts cost most; in a large one, fetching the weights. The text is Python's standard library, in bytes.

# %% tags=["gpu"]
from course_lib.data import python_files
from course_lib.hardware import device

on = device()
width, n_rows, n_steps = (384, 64, 1000) if on.type == "cuda" else (64, 8, 150)
source = "\n".join(text for _, text in python_files("train")).encode()
source = torch.frombuffer(bytearray(source), dtype=torch.uint8).long()
coder = DecoderConfig(256, width, n_layers=3, n_heads=4, max_length=256)
coder = Decoder(coder, torch.Generator().manual_seed(0)).to(on)


def passages(step):
    """Rows of 128 bytes from random places, and the byte after each."""
    generator = torch.Generator().manual_seed(step)
    starts = torch.randint(len(source) - 128, (n_rows, 1), generator=generator)
    return library.inputs_and_targets(source[starts + torch.arange(129)])


# %% tags=["gpu", "nbval-ignore-output"]
losses = library.train(coder, passages, n_steps, 0.003, warmup_steps=n_steps // 10)
bits = sum(losses[-20:]) / 20 / math.log(2)
print(f"{n_steps} updates on {n_rows} rows: {bits:.2f} bits per byte of training text")
assert 1 < bits < 5

# %% [markdown]
# **Predict:** how many tokens does it learn from, backward pass included, in the time that it takes to write one?

# %% tags=["gpu", "nbval-ignore-output"]
from course_lib.generation import generate


def learn_once():
    inputs, targets = (x.to(on) for x in passages(0))
    library.next_token_loss(coder(inputs), targets).backward()


learning = n_rows * 128 / fastest_seconds(learn_once)
writing = 100 / fastest_seconds(lambda: generate(coder, [10], 100))
print(f"{on.type}: learns from {learning:,.0f} tokens a second, writes {writing:,.0f}")
print(f"learning is {learning / writing:.0f} times as fast")
assert learning > 2 * writing

# %% [markdown]
# On a CPU expect some tens (a GPU was not measured for this page). Writing gains by many conversations at once (lesson 13): then each start and each fetched weight again serves many tokens.

# %% [markdown]
# Is it any good? The course brings a model trained for minutes, on pieces of several bytes. Its card sets it beside `gzip` and `xz`, two compressors, and two rivals that have read the training files, all 9 MB (of Python 3.11.7):

# %%
from importlib.resources import files

folder = files("course_lib.pretrained") / "trained" / "python-source"
lines = (folder / "card.md").read_text(encoding="utf-8").splitlines()
start = next(i for i, line in enumerate(lines) if line.startswith("| bits per byte"))
print(*lines[start : start + 7], sep="\n")

# %% [markdown]
# Now some held-out files, on your machine:

# %% tags=["gpu", "nbval-ignore-output"]
from course_lib import pretrained
from course_lib.apps.python_source import bits_per_byte
from course_lib.data import compressed_bits

held = [file for file in python_files("test") if 2000 < len(file[1]) < 12000]
unseen = "".join(text for _, text in held).encode()
windows = torch.tensor(list(unseen)[: len(unseen) // 129 * 129]).view(-1, 129)
windows = [library.inputs_and_targets(part) for part in windows.split(32)]
python, pieces = pretrained.load("python-source")
found = {"xz": compressed_bits(unseen) / len(unseen)}
found["trained just now"] = math.log2(library.perplexity(coder, windows))
found["trained longer"] = bits_per_byte(python, pieces, held)
for name, value in found.items():
    print(f"{name:16} {value:.2f} bits per byte")
assert found["trained longer"] < min(found["trained just now"], found["xz"])

# %% [markdown]
# On a CPU, a few seconds of training lose to everything here. The longer run beats `xz` and the 5-gram. An `xz` that has read the training files beats it, plainly.
#
# It completes a beginning, in the shape of Python rather than its sense:

# %% tags=["nbval-ignore-output"]
prompt = "def mean(values):\n"
ids = generate(python, pieces.encode(prompt), 40, Sampler(top_p=0.9, seed=0))
assert len(ids) == 40
print(prompt + pieces.decode(ids))


# %% [markdown]
# ## Exercise
#
# **A. Write** (25 minutes). A chat model reads prompt and answer in one row, but should learn to write only the *answer*. Write `answer_targets(tokens, prompt_lengths, lengths)`: `targets` (batch, position − 1) for the inputs `tokens[:, :-1]`. Tokens of the prompt and padding become −100; the answer counts, from its first to its last token. Padding may have any id. `tokens` stays unchanged; lengths are lists.

# %%
def answer_targets(tokens, prompt_lengths, lengths):
    """Your code."""


# %%
def try_answers(answer):
    """Say whether the targets are those of the answers alone."""
    tokens = torch.tensor([[1, 5, 6, 7, 2, 2, 2], [1, 5, 2, 8, 9, 4, 2]])
    given, expected = tokens.clone(), [[7, 2], [2, 8, 9, 4, 2]]
    found = answer(given, [3, 2], [5, 7])
    if found is None:
        return "not written yet"
    found = torch.as_tensor(found)
    if not torch.equal(given, tokens):
        return "tokens were changed: work on a copy"
    if tuple(found.shape) != (2, 6):
        return f"shape {tuple(found.shape)}: the inputs have 6 places"
    places = [[2, 3], [1, 2, 3, 4, 5]]
    for row in (0, 1):
        counts = (found[row] != -100).nonzero()[:, 0].tolist()
        if counts != places[row]:
            return f"row {row}: places {counts} count, expected {places[row]}; t is token t + 1"
        if found[row][counts].tolist() != expected[row]:
            return f"row {row}: {found[row][counts].tolist()}, not {expected[row]}"
    return "right"


# %%
print(try_answers(answer_targets))

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Ask of each target where its *token* stands: prompt, answer or padding?
# </details>
#
# <details><summary>A stronger hint</summary>
#
# `place = torch.arange(1, tokens.shape[1])` holds that place for each target. A target counts if `place` is at least the prompt's length and below the row's.
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def answer_targets(tokens, prompt_lengths, lengths):
#     place = torch.arange(1, tokens.shape[1])
#     starts, ends = torch.tensor([prompt_lengths, lengths])[:, :, None]
#     counts = (place >= starts) & (place < ends)
#     return tokens[:, 1:].masked_fill(~counts, -100)
# ```
#
# The input at the prompt's last place has the answer's first token as target: it counts. Places, not ids, are compared; so the end token of row 0 stays, and the 2 inside row 1's answer.
# </details>
#
# **B. Debug** (10 minutes). Somebody's loss takes `logits`, uncut `tokens` and `lengths`. A coin chose its fault: no shift (`"none"`), two (`"two"`), or padding counts (`"pads"`). Find it with logits whose loss you know: `F.one_hot(ids, 11)` times 50 is sure of `ids`.

# %%
coin = torch.randint(3, (1,), generator=torch.Generator().manual_seed(4)).item()


def mystery_loss(logits, tokens, lengths):
    make = [no_shift, two_shifts, pads_counted][coin]
    _, targets = make(tokens, lengths)
    return next_token_loss(logits[:, : targets.shape[1]], targets)


fault = None  # "none", "two" or "pads"

# %%
replies = {None: "not answered yet", ["none", "two", "pads"][coin]: "right"}
print(replies.get(fault, "no: predict each token, or copy it, and look at the loss"))

# %% [markdown]
# <details><summary>Solution</summary>
#
# ```python
# ids, lengths = torch.tensor([[1, 5, 6, 7, 2, 2, 2]]), [5]
# for ahead in (0, 1, 2):
#     sure = 50 * F.one_hot(ids.roll(-ahead, 1), 11).float()
#     print(ahead, mystery_loss(sure, ids, lengths).item())
# ```
#
# Sure of the same token, or of the next: 50. Sure of the token after the next: 0. It shifts twice.
# </details>

# %% [markdown]
# ## Quiz
#
# Choose, then read the reason. Where no kernel runs, the reasons are folded below each question.

# %%
from course_lib.quiz import show_quiz

show_quiz("training")

# %% [markdown]
# ## Further reading
#
# - Bengio et al. (2015), *Scheduled Sampling*, [arXiv:1506.03099](https://arxiv.org/abs/1506.03099). Feeding a model its own choices while it learns.
# - Ranzato et al. (2016), *Sequence Level Training with Recurrent Neural Networks*, [arXiv:1511.06732](https://arxiv.org/abs/1511.06732). Named exposure bias.
# - Müller, Kornblith, Hinton (2019), *When Does Label Smoothing Help?*, [arXiv:1906.02629](https://arxiv.org/abs/1906.02629). What it does to confidence, and inside the model.
# - Loshchilov, Hutter (2019), *Decoupled Weight Decay Regularization*, [arXiv:1711.05101](https://arxiv.org/abs/1711.05101). AdamW.
