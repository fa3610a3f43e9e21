# %% [markdown] tags=["slide"]
# # How does it write?
#
# **You need** lesson 00; softmax and its temperature (lesson 01); padding (lesson 02); the `Decoder` (lesson 08).
#
# **You build** the filters, a `Sampler`, `generate`, `generate_batch` and `beam_search`: all that stands between logits and text.
#
# **You will be able to** *explain* why the likeliest tokens do not make the best text, *compute* which tokens survive a chain of filters, and *debug* a loop that writes in batches.
#
# About 100 minutes.

# %% [markdown] tags=["slide"]
# ## Question
#
# The chat model of lesson 00 writes a haiku, *greedily*: at every step the likeliest token. Watch how it goes on. The last line gives the mean probability of the chosen tokens, 12 by 12. (`inference_mode` is a stricter `no_grad`: nothing is recorded, and its results cannot be used for training.)

# %%
from functools import lru_cache, partial

import torch

from course_lib import generation, pretrained, sampling
from course_lib.softmax import log_softmax, softmax

load_once = lru_cache(pretrained.load)
questions = [
    "Write a haiku about autumn.",
    "Explain why the sky is blue.",
    "Tell me a short story about a lighthouse keeper.",
    "How do I bake bread?",
    "Describe your favourite season.",
    "What is a neural network?",
    "Give me three ideas for a birthday present.",
    "Write a letter to a friend who has moved away.",
]


def load_model():
    """Give the model and its tokenizer; or say how to fetch them, and give None."""
    try:
        return load_once("smollm2")
    except pretrained.AssetError as problem:
        print(problem)


# %% tags=["weights"]
if load_model():
    decoder, tokenizer = load_model()
    prompt = tokenizer.chat(questions[0])
    ids = generation.generate(decoder, prompt, 48, eos_id=tokenizer.eos_id)
    print(tokenizer.decode(ids))
    with torch.inference_mode():
        scored = decoder(torch.tensor([prompt + ids]))[0, len(prompt) - 1 : -1]
    p = softmax(scored).gather(1, torch.tensor(ids)[:, None])  # of each chosen token
    by_12 = [part.mean().item() for part in p.split(12)]
    print("mean probability, by 12:", [round(mean, 1) for mean in by_12])

# %% [markdown]
# Every single step was the model's best guess, and in the loop it grew surer. **Predict:** what went wrong?
#
# - (a) The model's probabilities: it believes in loops.
# - (b) The way of choosing: other choices from the *same* probabilities would not loop.
#
# Step 5 decides it, on eight prompts.

# %% [markdown] tags=["slide"]
# ## Picture
#
# The letter writer of lesson 00 ends a letter. Which word comes next depends only on the last one; every number is a probability. **Predict:** which closing is the likeliest? Multiply along each path. Does a greedy writer, who takes the larger number at each fork, find it?

# %%
from course_lib.figures import new_figure, show_figure

words = ["END", "Yours", "truly", "ever", "With", "love"]
END, YOURS, TRULY, EVER, WITH, LOVE = range(6)
table = torch.zeros(6, 6)  # (last word, next word); END also starts
table[END, YOURS], table[END, WITH] = 0.6, 0.4
table[YOURS, TRULY], table[YOURS, END], table[YOURS, EVER] = 0.4, 0.3, 0.3
table[TRULY, END], table[TRULY, EVER] = 0.6, 0.4
table[WITH, LOVE], table[EVER, END] = 1.0, 1.0
table[LOVE, END], table[LOVE, EVER] = 0.55, 0.45


# %% tags=["slide"]
def draw_tree(axes, last, at, depth, likely):
    """Draw what may follow a word; thick: the greedy path. Give the next free line."""
    best, y = table[last].argmax(), at
    for word in table[last].argsort(descending=True, stable=True).tolist():
        if table[last, word] == 0:
            continue
        thick = likely and word == best
        axes.plot([depth + 0.4, depth + 0.75], [at, y], "k-", lw=3 if thick else 1)
        name = f"{words[word]} {table[last, word]:.2f}"
        axes.text(depth + 0.8, y, name, va="center", weight="bold" if thick else None)
        y = y - 1 if word == END else draw_tree(axes, word, y, depth + 1, thick)
    return y


fig, axes = new_figure(7.5, 3)
axes.text(0.1, 0, "start", va="center")
draw_tree(axes, END, 0, 0, True)
axes.set(xlim=(0, 4.9), ylim=(-5.6, 0.6))
axes.axis("off")
show_figure(
    fig,
    alt=(
        "A tree with six paths. Start to Yours 0.60: then truly 0.40 (END 0.60, or ever "
        "0.40 and END), END 0.30, or ever 0.30 and END. Start to With 0.40: then love "
        "1.00, then END 0.55, or ever 0.45 and END. The greedy path is bold: Yours, "
        "truly, END."
    ),
    caption="Every way to end the letter; in bold, the greedy one.",
)


# %% [markdown]
# Greedy writes *Yours truly*: 0.6 · 0.4 · 0.6 = 0.144. *With love* has 0.4 · 1 · 0.55 = 0.22, the most of all six. Its first word was the less likely one, so greedy never saw it.

# %% [markdown]
# ## Definition
#
# A decoder gives the next token's probabilities, and so a probability to every text: the product along its path (*chain rule*).
#
# $$p(y \mid x) = \prod_{t=1}^{n} p(y_t \mid x, y_{<t}), \qquad \ln p(y \mid x) = \sum_{t=1}^{n} \ln p(y_t \mid x, y_{<t})$$
#
# To write is to choose $y_1$, then $y_2$ given $y_1$, and so on: **autoregressive**. Choose by drawing, from a set $S$ of survivors ($T = 0$: by convention the likeliest only, of equals the lowest id; a repetition penalty, step 3, comes before all this):
#
# $$q_i = \frac{e^{z_i/T}}{\sum_{j \in S} e^{z_j/T}} \ \text{ for } i \in S, \qquad q_i = 0 \ \text{ else}$$
#
# | filter | keeps |
# |---|---|
# | top-k | the $k$ likeliest |
# | top-p | the fewest of the likeliest whose probabilities sum to $p$ *or more* |
# | min-p | those at least $p$ times as likely as the likeliest |
#
# Or search, for the $y$ with the best score:
#
# $$\text{score}(y) = \frac{\ln p(y \mid x)}{n^{\alpha}}$$
#
# | symbol | word | shape |
# |---|---|---|
# | $x$, $y$ | prompt, new tokens (the end token counts) | (position,) |
# | $y_{<t}$ | new tokens before $y_t$ | (position,) |
# | $n$ | number of new tokens | a number |
# | $z$, $q$ | logits; probabilities that are drawn from | (vocab,) |
# | $S$ | the survivors: what the filters leave, one after another, of the probabilities after $T$ | a set |
# | $T$, $\alpha$ | `temperature`, `length_penalty` | a number |
# | $k$, $p$ | the filters' settings; $p(\cdot)$ with brackets is a probability | a number |
#
# Sources: top-k: Fan et al. (2018), [*Hierarchical Neural Story Generation*](https://arxiv.org/abs/1805.04833), section 5.4; top-p: Holtzman et al. (2020), section 3.1; min-p: Nguyen et al. (2024), section 3; beams with a length penalty: Wu et al. (2016), section 7, whose divisor is $((5+n)/6)^\alpha$.

# %% [markdown] tags=["slide"]
# ## Build
#
# ### 1. The loop
#
# A `sampler` takes the last logits (batch, vocab) and each row's ids so far, and gives one id a row; step 3 needs the ids. A model takes tokens (batch, position) and gives logits (batch, position, vocab). For our table the logits are logarithms of the probabilities. There is a row for *every* position; only the **last** row is about the next token.

# %%
def closing(tokens):
    """A model: after each word, the logits are a row of the table."""
    return table.log()[tokens]


def generate(model, prompt_ids, max_new_tokens, sampler=None, eos_id=None):
    """Continue a prompt until the end token or the budget; None: greedily."""
    ids = list(prompt_ids)
    for _ in range(max_new_tokens):
        logits = model(torch.tensor([ids]))[:, -1]  # (1, vocab)
        chosen = logits.argmax(-1) if sampler is None else sampler(logits, [ids])
        ids.append(chosen.item())
        if ids[-1] == eos_id:
            break
    return ids[len(prompt_ids) :]


# %%
greedy = generate(closing, [END], max_new_tokens=7, eos_id=END)
print([words[i] for i in greedy])
for budget in (0, 1):
    print("budget", budget, "gives", generate(closing, [END], budget))


# %% [markdown]
# Each step is fed the prompt *and* all new tokens. With the cache of lesson 10 only the newest token is fed; keys and values of the others are kept. The logits are the same.

# %% [markdown] tags=["slide"]
# ### 2. Draw
#
# Now choose by drawing. (The temperature of lesson 01 is built in; this draw leaves it at 1.) **Predict** from the picture: if every word is drawn by its probability, how often is *Yours ever* the whole closing? (The last line, *chi-square*, sums (seen − expected)² / expected; with six outcomes, right code exceeds 20.5 once in a thousand seeds.)

# %%
def apply_temperature(logits, temperature):
    """Sharpen (below 1) or flatten (above 1); 0 is the limit: one id is left."""
    if temperature == 0:
        best = logits.argmax(-1, keepdim=True)  # of equals the lowest id
        hidden = torch.ones_like(logits, dtype=torch.bool).scatter(-1, best, False)
        return logits.masked_fill(hidden, -torch.inf)
    return logits / temperature


def draw(logits, generator):
    """Draw one id for each row, by its probability: (batch,)."""
    return torch.multinomial(softmax(logits), 1, generator=generator)[:, 0]


# %%
from collections import Counter

generator, counts = torch.Generator().manual_seed(0), Counter()


def by_chance(logits, history):
    return draw(logits, generator)


for _ in range(6000):
    counts[tuple(generate(closing, [END], 7, by_chance, END))] += 1

# %%
distance = 0.0
for ids, count in counts.most_common():
    path = [END, *ids]
    p = table[path[:-1], path[1:]].prod().item()  # chain rule
    distance += (count - 6000 * p) ** 2 / (6000 * p)
    name = " ".join(words[i] for i in ids[:-1])
    print(f"{name:17} {p:.3f}  drawn {count / 6000:.3f}")
print(f"chi-square {distance:.1f}")
assert len(counts) == 6
assert distance < 20.5


# %% [markdown]
# All six, each about as often as the chain rule says.

# %% [markdown] tags=["slide"]
# ### 3. Filters
#
# Thousands of tokens are each very unlikely, and together likely enough to derail a text. Filters hide them: logit $-\infty$, probability 0. Four tokens have 0.64, 0.16, 0.16 and 0.04. **Predict** which survive top-k with $k = 2$, top-p with $p = 0.75$, min-p with $p = 0.24$.

# %%
def top_k(logits, k):
    """Keep the k largest logits; of equals the lowest ids."""
    order = logits.argsort(dim=-1, descending=True, stable=True)
    rank = order.argsort(-1)  # 0 for the largest
    return logits.masked_fill(rank >= k, -torch.inf)


def top_p(logits, p):
    """Keep the fewest likeliest ids whose probabilities sum to p or more."""
    if p == 1:
        return logits.clone()  # rounding must not hide the last ones
    ordered, ids = softmax(logits).sort(dim=-1, descending=True, stable=True)
    mass_before = ordered.double().cumsum(-1) - ordered.double()
    hidden = torch.zeros_like(logits, dtype=torch.bool)
    return logits.masked_fill(hidden.scatter(-1, ids, mass_before >= p), -torch.inf)


def min_p(logits, p):
    """Keep the ids at least p times as likely as the likeliest."""
    probabilities = softmax(logits)
    least = p * probabilities.amax(-1, keepdim=True)
    return logits.masked_fill(probabilities < least, -torch.inf)


# %%
four = torch.tensor([0.64, 0.16, 0.16, 0.04]).log()


def kept(logits):
    """The ids that can still be drawn."""
    return (logits > -torch.inf).nonzero().flatten().tolist()


print("top-k 2     ", kept(top_k(four, 2)))
print("top-p 0.75  ", kept(top_p(four, 0.75)))
print("min-p 0.24  ", kept(min_p(four, 0.24)))

# %% [markdown]
# Top-k: ids 1 and 2 are equal, the lower id stays. Top-p: 0.64 is not enough, 0.64 + 0.16 = 0.80 is; the token that *crosses* $p$ stays. Min-p: the bar is 0.24 · 0.64 = 0.15. (At 0.25, rounding would decide.)
#
# Now the edges. **Predict** each line.

# %%
print("top-k 9     ", kept(top_k(four, 9)))
print("top-p 1     ", kept(top_p(four, 1)))
print("top-p 1e-9  ", kept(top_p(four, 1e-9)))
print("T = 0       ", kept(apply_temperature(four, 0)))
print("T = 0, ties ", kept(apply_temperature(torch.zeros(3), 0)))


# %% [markdown]
# At $T = 0$ the lowest of equal ids stays, as in `argmax`: top-k 1, a tiny $p$ and $T = 0$ all mean *greedy*.
#
# A **repetition penalty** hides nothing: it weakens each token already seen, those of the prompt included. Logits may be negative, so it divides the positive ones and multiplies the others. ([Keskar et al. 2019](https://arxiv.org/abs/1909.05858), section 4.1, divide all; see Misconceptions.) **Predict** for a penalty of 2, after ids 0 and 1.

# %%
def repetition_penalty(logits, history, penalty):
    """Weaken ids that stand in the row's history, once each."""
    seen = torch.zeros_like(logits, dtype=torch.bool)
    for row, ids in enumerate(history):
        seen[row, torch.as_tensor(ids, dtype=torch.long)] = True
    weaker = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, weaker, logits)


print(repetition_penalty(torch.tensor([[2.0, -2.0, 3.0]]), [[0, 1, 1]], 2.0))

# %% [markdown] tags=["slide"]
# ### 4. In which order?
#
# Temperature 2 takes the root of every probability, up to a common factor: 0.8, 0.4, 0.4, 0.2, together 1.8, so 4/9, 2/9, 2/9, 1/9. **Predict** how many survive when top-p 0.75 comes *after* it. And when top-p comes after top-k 2, which leaves 0.64 and 0.16?

# %% tags=["slide"]
print("top-p, then T = 2  ", kept(apply_temperature(top_p(four, 0.75), 2)))
print("T = 2, then top-p  ", kept(top_p(apply_temperature(four, 2), 0.75)))
print("top-p, then top-k 2", kept(top_k(top_p(four, 0.75), 2)))
print("top-k 2, then top-p", kept(top_p(top_k(four, 2), 0.75)))
print("T and top-k        ", kept(top_k(apply_temperature(four, 2), 2)))


# %% [markdown]
# Top-p measures *shares*, and whatever runs before it changes the shares. After $T = 2$: 4/9 + 2/9 = 0.67 is not enough, so three. After top-k the two are renormalised, 0.8 and 0.2: one is enough. Temperature and top-k commute, since temperature keeps the ranks.
#
# Ours is the order of the library and of transformers: penalty, temperature, top-k, top-p, min-p.

# %%
def in_order(logits, history, temperature, k, p, least, penalty):
    """The penalty, the temperature, then the filters that are not None."""
    if penalty is not None:
        logits = repetition_penalty(logits, history, penalty)
    logits = apply_temperature(logits, temperature)
    for keep, setting in ((top_k, k), (top_p, p), (min_p, least)):
        if setting is not None:
            logits = keep(logits, setting)
    return logits


# %% [markdown]
# The `Sampler` filters and draws. **One generator a row**, with its own seed: what a row draws must not depend on who else is in the batch. Give a list of seeds; one number seeds all rows alike, and equal prompts then get equal texts.

# %%
class Sampler:
    """Filter the logits, then draw one id a row, from the row's own generator."""

    def __init__(
        self, temperature=1.0, top_k=None, top_p=None, min_p=None,
        repetition_penalty=None, seed=None,
    ):  # fmt: skip
        self.settings = temperature, top_k, top_p, min_p, repetition_penalty
        self.seed, self.generators = seed, []

    def __call__(self, logits, history=None):
        filtered = in_order(logits, history, *self.settings)
        if self.settings[0] == 0:
            return filtered.argmax(-1)
        for row in range(len(self.generators), len(logits)):
            self.generators.append(new_generator(self.seed, row))
        pairs = zip(filtered, self.generators, strict=False)
        return torch.cat([draw(row[None], generator) for row, generator in pairs])


def new_generator(seed, row):
    """By chance without a seed; one seed for all rows, or one a row."""
    generator = torch.Generator()
    if seed is None:
        generator.seed()
    else:
        generator.manual_seed(seed if isinstance(seed, int) else seed[row])
    return generator


# %% [markdown]
# Does it matter in a real model? SmolLM2 reads the eight questions; at each token we keep the next ones by top-p 0.9, before or after $T = 0.7$. **Predict:** at how many places in a hundred do the two sets differ?

# %% tags=["weights", "nbval-ignore-output"]
if load_model():
    decoder, tokenizer = load_model()
    tokens = torch.tensor([tokenizer.encode(" ".join(questions))])
    with torch.inference_mode():
        scored = decoder(tokens)[0]  # (position, vocab)
    before = top_p(scored, 0.9) > -torch.inf
    after = top_p(scored / 0.7, 0.9) > -torch.inf
    differ = (before != after).any(-1).float().mean()
    print(f"{len(scored)} places, {100 * differ:.0f} % differ")
    n_kept = [survivors.sum(-1).median().item() for survivors in (before, after)]
    print("tokens kept, median:", *n_kept)
    assert differ > 0.5
    assert before.sum() > 1.5 * after.sum()


# %% [markdown]
# Nearly everywhere: $T = 0.7$ first sharpens, so fewer tokens reach 0.9 (the medians in the second line). “Temperature 0.7, top-p 0.9” says nothing until the order is given.

# %% [markdown] tags=["slide"]
# ### 5. Eight prompts
#
# Back to the haiku. Eight prompts, 64 tokens each: greedy, and three times drawn with $T = 1$ and top-p 0.9. The setting was fixed beforehand, so nothing was tuned on these prompts. All 32 texts are written in one batch (by the library; step 6 builds it).
#
# We count **distinct-n**: different n-grams (runs of n tokens) over all n-grams of a text. One minus distinct-4 is the share of *repeated* 4-grams; above 0.3 we call it a loop.

# %% tags=["slide"]
def distinct(ids, n):
    """The share of different n-grams among all n-grams."""
    runs = [tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)]
    return len(set(runs)) / max(len(runs), 1)


print(distinct([1, 2, 3, 4, 1, 2, 3, 4], 4))


# %%
def write_eight(model, prompts, eos_id, seeds=(0, 1, 2)):
    """Greedy and drawn texts: a list of eight for 'greedy' and for each seed."""
    row_seeds = [100 * seed + row for seed in seeds for row in range(len(prompts))]
    sampler, n = Sampler(top_p=0.9, seed=row_seeds), len(prompts)

    def choose(logits, history):
        return torch.cat([logits[:n].argmax(-1), sampler(logits[n:])])

    copies = prompts * (1 + len(seeds))
    rows = generation.generate_batch(model, copies, 64, choose, eos_id)
    names = ["greedy", *(f"seed {seed}" for seed in seeds)]
    return {name: rows[n * i : n * i + n] for i, name in enumerate(names)}


# %% [markdown]
# **Predict** the mean share of repeated 4-grams, greedy and drawn. (The longest cell of this lesson: half a minute.)

# %% tags=["weights", "nbval-ignore-output"]
if load_model():
    decoder, tokenizer = load_model()
    asked = [tokenizer.chat(question) for question in questions]
    repeats = {}
    print("         repeated 4-grams  distinct-2  loops  ended")
    for name, answers in write_eight(decoder, asked, tokenizer.eos_id).items():
        each = [1 - distinct(ids, 4) for ids in answers]
        repeats[name] = sum(each) / 8
        pairs = sum(distinct(ids, 2) for ids in answers) / 8
        loops = sum(share > 0.3 for share in each)
        ended = sum(ids[-1] == tokenizer.eos_id for ids in answers)
        print(f"{name:8} {repeats[name]:16.2f} {pairs:11.2f} {loops:6} {ended:6}")
        if name == "greedy":
            print("  prompt by prompt:", [round(share, 2) for share in each])
    greedy = repeats.pop("greedy")
    assert greedy > 0.1
    assert max(repeats.values()) < greedy / 3


# %% [markdown]
# Mostly (b): the same model, other choices, and with each seed less than a third of the repeats. The line *prompt by prompt* shows that a few loop and others hardly repeat. With 64 tokens few texts end by themselves.
#
# But (a) has its share. You saw it in the haiku: each copy of a phrase makes the next one more probable (Holtzman et al. 2020 measured the same on larger models). The likeliest token then *is* the copy; a draw leaves the rut now and then. (We counted repetition, not truth.)

# %% [markdown] tags=["slide"]
# ### 6. Rows of a batch
#
# Prompts differ in length, and rows end at different steps. Two rules: **pad on the left**, so that the last column is every row's newest token, and let positions count real tokens only (`lengths` and `side` do that); **remember who has finished**.

# %%
def pad_left(rows):
    """One tensor, padded in front: tokens (batch, position), lengths."""
    width = max(len(row) for row in rows)
    tokens = [[0] * (width - len(row)) + row for row in rows]
    return torch.tensor(tokens), [len(row) for row in rows]


@torch.inference_mode()
def generate_batch(model, prompts, max_new_tokens, sampler=None, eos_id=None):
    """Continue several prompts at once; each row gets what it would get alone."""
    sampler = Sampler(temperature=0) if sampler is None else sampler
    rows, writing = [list(prompt) for prompt in prompts], set(range(len(prompts)))
    for _ in range(max_new_tokens):
        tokens, lengths = pad_left(rows)
        logits = model(tokens, lengths=lengths, side="left")[:, -1]
        chosen = sampler(logits, rows).tolist()
        for row in list(writing):
            rows[row].append(chosen[row])
            if chosen[row] == eos_id:
                writing.discard(row)
        if not writing:
            break
    return [row[len(prompt) :] for row, prompt in zip(rows, prompts, strict=True)]


# %% [markdown]
# A small decoder with random weights; three prompts of 2, 5 and 3 tokens. **Predict:** does the second row draw the same ids alone and in the batch?

# %%
from course_lib.decoder import Decoder, DecoderConfig

generator = torch.Generator().manual_seed(1)
tiny = Decoder(DecoderConfig(7, d_model=12, n_layers=2, n_heads=3), generator).eval()
prompts = [[1, 2], [3, 4, 5, 6, 1], [2, 2, 6]]
together = generate_batch(tiny, prompts, 11, Sampler(seed=[10, 11, 12]), eos_id=0)
for row, ids in enumerate(together):
    alone = generate(tiny, prompts[row], 11, Sampler(seed=10 + row), eos_id=0)
    print(ids, "the same alone:", ids == alone)
    assert ids == alone


# %% [markdown]
# Yes, row by row, and each stopped at its own end token 0.

# %% [markdown] tags=["slide"]
# ### 7. Beams
#
# Greedy missed *With love*. **Beam search** keeps the `n_beams` best beginnings instead of one, extends each by every token, and keeps the best again. A finished beam is not extended; it stays in the list with its score as long as that is among the best. The search may stop when all kept beams are finished.
#
# **Predict** with a pencil, two beams, $\alpha = 0$: which two beginnings are kept after one step, after two, after three?

# %%
def rank(beam, length_penalty):
    """The score: the sum of log-probabilities over a power of the own length."""
    ids, total = beam
    return total / len(ids) ** length_penalty


@torch.inference_mode()
def extend(model, prompt_ids, beams, eos_id):
    """All continuations by one token; finished beams as they are."""
    longer = []
    for ids, total in beams:
        if ids and ids[-1] == eos_id:
            longer.append((ids, total))
            continue
        logits = model(torch.tensor([list(prompt_ids) + ids]))[0, -1]
        for new_id, gain in enumerate(log_softmax(logits.double()).tolist()):
            if gain > -torch.inf:
                longer.append((ids + [new_id], total + gain))
    return longer


# %%
def beam_search(model, prompt_ids, n_beams, max_new_tokens, eos_id, length_penalty=1.0):
    """The n_beams best continuations and their scores, best first."""
    beams = [([], 0.0)]  # (new ids, sum of log-probabilities): one, not n_beams
    for _ in range(max_new_tokens):
        beams = extend(model, prompt_ids, beams, eos_id)
        beams.sort(key=lambda beam: rank(beam, length_penalty), reverse=True)
        beams = beams[:n_beams]
        if all(ids[-1] == eos_id for ids, _ in beams):
            break
    return [(beam[0], rank(beam, length_penalty)) for beam in beams]


# %%
def show(beams):
    for ids, score in beams:
        print(f"  {' '.join(words[i] for i in ids):22} {score:6.3f}")


for budget in (1, 2, 3, 4):
    print("after step", budget)
    show(beam_search(closing, [END], 2, budget, END, length_penalty=0.0))

# %% [markdown]
# *With* was second after one step, and was kept: that is all a beam does. ln 0.22 = −1.514 wins.
#
# Log-probabilities are at most 0, so no further token raises the sum (*love* after *With*, with probability 1, leaves it at −0.916): sums favour short texts. With $\alpha = 1$ the score is the mean per token. Dividing a negative number brings it nearer to 0: the length “penalty” *relieves* long texts. **Predict** the winner between *With love* (ln 0.22 over 3) and *With love ever* (ln 0.18 over 4).

# %%
for n_beams in (1, 2, 6):
    print(n_beams, "beams, mean per token")
    show(beam_search(closing, [END], n_beams, 7, END)[:2])

# %% [markdown]
# Three ways to choose, three closings: greedy *Yours truly*, the largest sum *With love*, the largest mean *With love ever*.

# %% [markdown] tags=["slide"]
# ### 8. A larger beam, a better text?
#
# A small decoder learns to spell words: the lower-case words of 3 to 12 letters in the top-level files of your Python's standard library, some 9,000, of which 500 are kept apart. Then it gets the first two letters of 30 held-out words and completes them, with 1 to 64 beams. Three trainings.

# %%
import os
import re
from pathlib import Path

from course_lib.training import inputs_and_targets, train

paths = sorted(Path(os.__file__).parent.glob("*.py"))
source = " ".join(path.read_text(encoding="utf-8", errors="ignore") for path in paths)
known = sorted(set(re.findall(r"\b[a-z]{3,12}\b", source)))
order = torch.randperm(len(known), generator=torch.Generator().manual_seed(0)).tolist()
held_out, learn = [[known[i] for i in part] for part in (order[:500], order[500:])]


def spell(word):
    """Letters as ids 1 to 26, after the start; 0 starts and ends."""
    return [0, *(ord(letter) - 96 for letter in word)]


# %%
rows = [torch.tensor([*spell(word), 0]) for word in learn]
row_lengths = torch.tensor([len(row) for row in rows])
rows = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)


def fit_speller(seed):
    """Train a small decoder on 400 batches of 64 words."""
    generator = torch.Generator().manual_seed(seed)
    model = Decoder(DecoderConfig(27, d_model=32, n_layers=2, n_heads=4), generator)

    def batch(step):
        picked = torch.Generator().manual_seed(100_000 * seed + step)
        picked = torch.randint(len(rows), (64,), generator=picked)
        return inputs_and_targets(rows[picked], row_lengths[picked])  # no loss on pads

    train(model, batch, n_steps=400, learning_rate=0.005, warmup_steps=20)
    return model.eval()


# %%
begun = [word for word in held_out if len(word) > 3][:30]
rest = sum(len(word) - 2 for word in begun) / len(begun)


def complete_all(model, n_beams, length_penalty):
    """Mean log-probability, mean letters added, how many added none."""
    totals, letters = [], []
    for word in begun:
        prompt = spell(word[:2])
        ids, score = generation.beam_search(
            model, prompt, n_beams, 12, 0, length_penalty
        )[0]
        totals.append(score * len(ids) ** length_penalty)
        letters.append(len([i for i in ids if i != 0]))
    return sum(totals) / len(begun), sum(letters) / len(begun), letters.count(0)


print(len(known), "words; begun:", [word[:2] for word in begun[:5]])

# %% [markdown]
# **Predict**, for sums ($\alpha = 0$) and more beams: does the log-probability of what is found rise? Does the length come nearer to that of the real words?

# %% tags=["nbval-ignore-output"]
spellers = [fit_speller(seed) for seed in (0, 1, 2)]
assert not any(speller.training for speller in spellers)

# %% tags=["nbval-ignore-output"]
sizes = [1, 4, 16, 64]
found = {}  # by length penalty: (seed, size, number)
for penalty, name in ((0.0, "sum "), (1.0, "mean")):
    numbers = [[complete_all(model, n, penalty) for n in sizes] for model in spellers]
    found[penalty] = torch.tensor(numbers)
    for seed in range(3):
        for n, (total, letters, empty) in zip(sizes, numbers[seed], strict=True):
            line = f"ln p {total:5.1f}  letters {letters:.1f}  none added {empty:2}"
            print(f"{name} seed {seed}, {n:2} beams: {line}")
print(f"letters in the real words' rest: {rest:.1f}")

# %%
by_sum, by_mean = found[0.0], found[1.0]
assert (by_sum[:, 1:, 0] > by_sum[:, :-1, 0]).all()
assert (by_sum[:, -1, 1] < by_sum[:, 0, 1] - 1.5).all()
assert (by_sum[:, 0, 2] == 0).all()
assert (by_sum[:, -1, 2] >= 1).all()
print("as expected")

# %% tags=["nbval-ignore-output", "slide"]
from course_lib.figures import draw_curves

assert (by_mean[:, -1, 1] > by_sum[:, -1, 1] + 2).all()
show_figure(
    draw_curves(
        sizes,
        {"sum": by_sum[:, :, 1], "mean per token": by_mean[:, :, 1]},
        "beams",
        "letters added",
        log="x",
    ),
    alt=(
        "Two curves over 1, 4, 16 and 64 beams. By the sum, the letters added fall from "
        "about four to less than one. By the mean per token they rise from about four to "
        "about five and a half; the three seeds lie between just under five and six."
    ),
    caption=(
        "More beams: by the sum, shorter and shorter completions. Bars go from the least "
        f"to the greatest of three trainings; real words have {rest:.1f} letters more."
    ),
)

# %% [markdown]
# The search got better at every step, and the text worse: the **beam-search curse**. The 64 beams find that adding *nothing* is sometimes the likeliest continuation, although no training word has two letters. A long text shares its probability with many variants; the empty one has none. Exact search shows the same in trained translators (Stahlberg, Byrne 2019). The mean per token brings the length back, to the real words' or a little above; it does not mend the model. (Small spellers, briefly trained; better ones were not measured.)

# %% [markdown]
# ## Check
#
# The filters, against the library and plain Python. Rounded logits, so that many are equal; forward, and the gradient of a mixture of the survivors.

# %%
import math
from itertools import product


def by_hand(name, logits, setting):
    """The ids that a filter keeps, from a sorted list."""
    exponentials = [math.exp(logit) for logit in logits]
    shares = [e / sum(exponentials) for e in exponentials]
    ordered = sorted(range(len(shares)), key=lambda i: (-logits[i], i))
    if name == "top_k":
        return sorted(ordered[:setting])
    if name == "min_p":
        return [i for i in range(len(shares)) if shares[i] >= setting * max(shares)]
    chosen = []
    for i in ordered:
        if sum(shares[j] for j in chosen) < setting:
            chosen.append(i)
    return sorted(chosen)


def slopes(keep, logits, setting):
    """The gradient of a mixture of what is kept."""
    logits = logits.clone().requires_grad_()
    filtered = keep(logits, setting)
    mixture = torch.linspace(-1, 1, filtered.numel()).view_as(filtered)
    torch.where(filtered > -torch.inf, filtered * mixture, 0.0).sum().backward()
    return logits.grad


# %%
generator = torch.Generator().manual_seed(0)
logits = (2 * torch.randn(50, 11, generator=generator)).round(decimals=0)
cases = {
    "top_k": (top_k, [1, 2, 5, 11, 16]),
    "top_p": (top_p, [1e-9, 0.33, 0.71, 0.97, 1.0]),
    "min_p": (min_p, [0.003, 0.09, 0.4, 1.0]),
    "apply_temperature": (apply_temperature, [0, 0.3, 1.0, 7.0]),
}
for name, (ours, settings) in cases.items():
    theirs = getattr(sampling, name)
    for setting in settings:
        before = logits.clone()
        torch.testing.assert_close(ours(logits, setting), theirs(logits, setting))
        torch.testing.assert_close(
            slopes(ours, logits, setting), slopes(theirs, logits, setting)
        )
        assert torch.equal(before, logits), "the input was changed"
        if name != "apply_temperature":
            for row in (theirs(logits, setting), ours(logits, setting)):
                reference = [by_hand(name, r, setting) for r in logits.tolist()]
                assert [kept(r) for r in row] == reference
    print(name, "equal to course_lib and to plain Python")
wide = 3 * torch.randn(49_152, generator=generator)
assert all(len(kept(f(wide, 1))) == 49_152 for f in (top_p, sampling.top_p))

# %% [markdown]
# Then the penalty, the sampler's order and draws, and transformers' filters (without ties: its top-k keeps *all* that equal the k-th, and so may keep more than k).

# %%
history = [[i % 11, 3, 3] for i in range(50)]
penalised = sampling.repetition_penalty(logits, history, 1.7)
torch.testing.assert_close(penalised, repetition_penalty(logits, history, 1.7))
for i, row in enumerate(logits.tolist()):
    for j, z in enumerate(row):
        expected = z if j not in history[i] else z / 1.7 if z > 0 else z * 1.7
        assert abs(penalised[i, j].item() - expected) < 1e-5

settings = dict(temperature=1.6, top_k=6, top_p=0.8, min_p=0.2, repetition_penalty=1.7)
ours, theirs = (kind(**settings, seed=4) for kind in (Sampler, sampling.Sampler))
torch.testing.assert_close(
    in_order(logits, history, *ours.settings), theirs.filtered(logits, history)
)
for _ in range(20):
    assert torch.equal(ours(logits, history), theirs(logits, history))
print("the same survivors, the same 1,000 draws")

# %% tags=["compare"]
from transformers.generation import logits_process as warpers

plain = torch.randn(7, 50, generator=generator)
pairs = [
    (top_k(plain, 5), warpers.TopKLogitsWarper(5)),
    (top_p(plain, 0.8), warpers.TopPLogitsWarper(0.8)),
    (min_p(plain, 0.1), warpers.MinPLogitsWarper(0.1)),
    (plain / 0.7, warpers.TemperatureLogitsWarper(0.7)),
]
for ours, theirs in pairs:
    torch.testing.assert_close(ours, theirs(None, plain))
seen = torch.tensor([[i, 3, 3] for i in range(7)])
theirs = warpers.RepetitionPenaltyLogitsProcessor(1.7)(seen, plain.clone())
torch.testing.assert_close(repetition_penalty(plain, seen, 1.7), theirs)
tied = torch.tensor([[3.0, 2.0, 2.0, 1.0]])
print("top-k 2 of a tie:", kept(top_k(tied, 2)[0]), "and transformers", end=" ")
print(kept(warpers.TopKLogitsWarper(2)(None, tied)[0]))


# %% [markdown]
# The loops: ours compute everything anew, the library's keep a cache. Greedy and drawn; alone, in a ragged batch; with and without an end.

# %%
def drawn(kind, seed, row=0):
    """A sampler whose first seed is that of a row in the batch; None: greedy."""
    settings = dict(temperature=0.05, top_p=0.9, repetition_penalty=2.0)
    return seed and kind(**settings, seed=[seed + row, seed + 1, seed + 2])


for eos_id, seed, budget in product((None, 0, 4), (None, 5, 6), (0, 1, 11)):
    rest_of = dict(max_new_tokens=budget, eos_id=eos_id)
    ours = generate_batch(tiny, prompts, sampler=drawn(Sampler, seed), **rest_of)
    sampler = drawn(sampling.Sampler, seed)
    theirs = generation.generate_batch(tiny, prompts, sampler=sampler, **rest_of)
    assert ours == theirs
    for row, prompt in enumerate(prompts):
        sampler = drawn(sampling.Sampler, seed, row)
        alone = generation.generate(tiny, prompt, sampler=sampler, **rest_of)
        assert alone == ours[row]
        sampler = drawn(Sampler, seed, row)
        assert generate(tiny, prompt, sampler=sampler, **rest_of) == ours[row]
print("each row is what it is alone, ours and course_lib's")

# %% [markdown]
# Beam search with enough beams must find what a list of *all* texts holds. A vocabulary of 4, at most 4 tokens; each text is scored by one pass over all of it.

# %%
import torch.nn.functional as F

config = DecoderConfig(4, d_model=12, n_layers=2, n_heads=3)
speaker = Decoder(config, torch.Generator().manual_seed(3)).eval()


@torch.inference_mode()
def ln_p(ids, prompt):
    """The log-probability of a whole text, in one pass."""
    logits = speaker(torch.tensor([prompt + ids[:-1]]))[0, len(prompt) - 1 :]
    loss = F.cross_entropy(logits.double(), torch.tensor(ids), reduction="sum")
    return -loss.item()


texts = []
for length in (1, 2, 3, 4):
    for ids in product(range(4), repeat=length):
        ends = ids[-1] == 0
        if 0 not in ids[:-1] and (ends or length == 4):
            texts.append(list(ids))
print(len(texts), "texts")

# %%
for alpha in (0.0, 0.7, 1.0, 2.0):
    expected = {tuple(ids): ln_p(ids, [2, 1]) / len(ids) ** alpha for ids in texts}
    best = sorted(expected, key=expected.get, reverse=True)
    for search in (beam_search, generation.beam_search):
        found_all = search(speaker, [2, 1], 300, 4, 0, alpha)
        assert [tuple(ids) for ids, _ in found_all] == best
        assert all(abs(s - expected[tuple(ids)]) < 1e-5 for ids, s in found_all)
    for n_beams in (1, 2, 3, 5):
        ours = beam_search(speaker, [2, 1], n_beams, 6, 0, alpha)
        theirs = generation.beam_search(speaker, [2, 1], n_beams, 6, 0, alpha)
        assert [ids for ids, _ in ours] == [ids for ids, _ in theirs]
        scores = [torch.tensor([s for _, s in beams]) for beams in (ours, theirs)]
        torch.testing.assert_close(*scores)
print("all of them, in order; few beams: ours equal course_lib's")

# %% [markdown]
# Lesson 10 makes the steps cheap, lesson 12 translates with beams, lesson 13 chats with a `Sampler`.
#
# The library's loop. Look at the end: without a cache the whole `history` is fed, with one only the id just chosen, and nothing for a row that has finished. (`memory` is for lesson 12.)

# %%
import inspect

from course_lib.generation import writing

print(inspect.getsource(writing._write))

# %% [markdown] tags=["slide"]
# ## Misconceptions
#
# ### “Small means weak: hide with 0, punish by dividing.”
#
# Three negative logits; a real vocabulary has many, and at some places they are the majority. We “hide” the last with 0, and “punish” the first by dividing it by 2. **Predict** what becomes of their probabilities.

# %% tags=["slide"]
negative = torch.tensor([-1.0, -2.0, -3.0])
print("as they are     ", softmax(negative))
print("last set to 0   ", softmax(torch.tensor([-1.0, -2.0, 0.0])))
print("first divided   ", softmax(torch.tensor([-0.5, -2.0, -3.0])))


# %% [markdown]
# Both became likelier. A logit is a height on a scale without a floor: 0 is no bottom, and half of −1 is higher. Test with all logits negative.

# %% [markdown] tags=["slide"]
# ### “Top-p keeps what fits into $p$.”
#
# Then the token that crosses $p$ is dropped. Three tokens with 0.5, 0.41 and 0.09. **Predict** what is kept at $p = 0.9$, and at $p = 0.4$.

# %% tags=["slide"]
def fits_into(logits, p):
    ordered, ids = softmax(logits).sort(dim=-1, descending=True, stable=True)
    too_many = torch.zeros_like(logits, dtype=torch.bool)
    too_many = too_many.scatter(-1, ids, ordered.cumsum(-1) > p)
    return logits.masked_fill(too_many, -torch.inf)


three = torch.tensor([0.5, 0.41, 0.09]).log()
for p in (0.9, 0.4):
    print(f"p {p}: fits", kept(fits_into(three, p)), "crosses", kept(top_p(three, p)))
print(softmax(fits_into(three, 0.4)))

# %% [markdown]
# At 0.9 only half the mass is left, at 0.4 nothing: NaN. What holds *at least* $p$ is never empty. Test between the boundaries, and with a tiny $p$.

# %% [markdown] tags=["slide"]
# ### “Padding is harmless, if attention hides it.”
#
# The short prompt `[1, 2]` beside one of five tokens, four ways; the number is how far its next logits are from those it has alone. In the third way attention hides the padding, but *positions* count it. Twice: with sinusoidal positions, and with rotary ones. **Predict** which numbers are 0.

# %%
from course_lib.masks import causal_mask


def four_ways(model):
    """How far the next logits of a padded row are from those of the row alone."""
    right = torch.tensor([[1, 2, 0, 0, 0]])
    left, places = torch.tensor([[0, 0, 0, 1, 2]]), torch.arange(5)
    hidden = causal_mask(5) & (places > 2)  # no key that is padding
    residual = model.stack(model.embedding(left, places), places, allowed=hidden)
    return {
        "right, last column": model(right),
        "left, pads read": model(left),
        "left, pads counted": model.head(residual),
        "left, lengths": model(left, lengths=[2], side="left"),
    }


# %%
for kind in ("sinusoidal", "rotary"):
    config = DecoderConfig(7, d_model=12, n_layers=2, n_heads=3, positions=kind)
    model = Decoder(config, torch.Generator().manual_seed(1)).eval()
    with torch.no_grad():
        alone = model(torch.tensor([[1, 2]]))[0, -1]
        for way, logits in four_ways(model).items():
            away = (logits[0, -1] - alone).abs().max()
            print(f"{kind:10} {way:18} {away:.3f}")

# %% [markdown]
# In the first, the row continues its *padding*; in the second, it reads padding as text. Rotary scores depend on differences of positions only (lesson 04), so there the third fault cannot be seen: test it with absolute positions. What you would notice: a short row may write other things in a batch than alone.

# %% [markdown] tags=["slide"]
# ### “The first finished beam has won.”
#
# Six beams, mean per token. **Predict** which closing each way returns. The first way stops as soon as the best beam is finished. The second divides all beams by the *same* length, the current step's.

# %% tags=["slide"]
beams = [([], 0.0)]
while beams[0][0][-1:] != [END]:
    beams = extend(closing, [END], beams, END)
    beams.sort(key=partial(rank, length_penalty=1.0), reverse=True)
    beams = beams[:6]
print("first finished:", [words[i] for i in beams[0][0]])

beams = [([], 0.0)]
for _ in range(4):
    beams = extend(closing, [END], beams, END)
best, _ = max(beams, key=lambda beam: beam[1] / 4)
print("one length:    ", [words[i] for i in best])

# %% [markdown]
# Both miss *With love ever*. With the mean, an unfinished beam can still overtake. And one divisor for all changes no order, so the penalty does nothing: each beam is divided by its *own* length. (A sum never rises: there it is safe.)

# %% [markdown]
# ## On a GPU
#
# A step reads every weight from memory, for one row as for sixteen. With one row the multipliers mostly wait. **Predict:** sixteen rows instead of one; how many times as many tokens a second?

# %% tags=["gpu"]
from course_lib.hardware import device, dtype, fastest_seconds

on = device()
d_model, n_layers = (1024, 12) if on.type == "cuda" else (512, 4)
config = DecoderConfig(8000, d_model=d_model, n_layers=n_layers, n_heads=8)
model = Decoder(config, torch.Generator().manual_seed(0)).to(on, dtype(on)).eval()


def write_rows_of(n_rows):
    return generation.generate_batch(model, [[1, 2, 3]] * n_rows, 16)


rows_written = write_rows_of(16)
print(len(rows_written), "rows of", len(rows_written[0]), "tokens")

# %% tags=["gpu", "nbval-ignore-output"]
speed = {}
for n_rows in (1, 4, 16):
    seconds = fastest_seconds(partial(write_rows_of, n_rows), on=on)
    speed[n_rows] = 16 * n_rows / seconds
    print(f"{n_rows:2} rows: {speed[n_rows]:6.0f} tokens a second, on {on.type}")
assert speed[16] > 1.5 * speed[1]

# %% [markdown]
# Several times as many: the rows share the trip of the weights. Expect a larger gain on a GPU (not measured for this page; lesson 15 computes it).
#
# There logits often have 16 bits. **Predict:** of 200 rows of random logits, in how many do the best two become *equal* in bfloat16?

# %% tags=["gpu"]
logits = 3 * torch.randn(200, 49_152, generator=torch.Generator().manual_seed(0))
for kind in (torch.float32, torch.bfloat16):
    best = logits.to(on, kind).topk(2).values
    print(kind, (best[:, 0] == best[:, 1]).sum().item(), "ties")


# %% [markdown]
# Near 12, neighbouring bfloat16 numbers are 0.0625 apart. So equals are common, and every filter needs a rule for them; and greedy text may differ between precisions, and between batch sizes, whose kernels may add in another order.

# %% [markdown]
# ## Exercise
#
# **A. Write** (20 minutes). A harder cure for loops: `no_repeats(logits, history, n)` hides every id that would complete a run of `n` ids which the row's history already holds. `logits` is (batch, vocab), `history` a list of ids for each row; hidden means $-\infty$. With `n=1` every id seen is hidden; a history shorter than `n` hides nothing. The input stays as it is.

# %%
def no_repeats(logits, history, n):
    """Your code."""


# %%
def try_no_repeats(answer):
    """Compare which ids are hidden with a list of runs."""
    history = [[1, 2, 3, 1, 2], [4, 4, 4], [5], [0, 1, 0, 2, 0]]
    logits = torch.linspace(-1, 1, 28).view(4, 7)
    for n in (3, 2, 1, 6):
        given = logits.clone()
        found = answer(given, history, n)
        if found is None:
            return "not written yet"
        if not torch.equal(given, logits):
            return "the input was changed: clone it first"
        for row, ids in enumerate(history):
            runs = {tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)}
            stay = [i for i in range(7) if tuple((ids + [i])[-n:]) not in runs]
            if kept(found[row]) != stay:
                return f"n={n}, history {ids}: {kept(found[row])} stay, not {stay}"
            if not torch.equal(found[row, stay], logits[row, stay]):
                return f"n={n}, history {ids}: a logit that stays was changed"
    return "right"


print(try_no_repeats(no_repeats))


# %% [markdown]
# <details><summary>A nudge</summary>
#
# The last `n - 1` ids are the beginning of the next run. Where else does this beginning stand?
# </details>
#
# <details><summary>A stronger hint</summary>
#
# For each `start`, compare `ids[start : start + n - 1]` with the last `n - 1` ids; if equal, hide `ids[start + n - 1]`. Careful: for `n=1`, `ids[-0:]` is the whole list.
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def no_repeats(logits, history, n):
#     logits = logits.clone()
#     for row, ids in enumerate(history):
#         beginning = ids[len(ids) - n + 1 :]
#         for start in range(len(ids) - n + 1):
#             if ids[start : start + n - 1] == beginning:
#                 logits[row, ids[start + n - 1]] = -torch.inf
#     return logits
# ```
#
# `len(ids) - n + 1` works for `n=1` too, where `-(n - 1)` does not.
# </details>
#
# **B. Debug** (20 minutes). This greedy loop should give what `generate_batch` gives. It has four faults; each shows only on some inputs. Mend it until the check says “right”.

# %%
def write_rows(model, prompts, max_new_tokens, eos_id):
    rows, n_new = [list(prompt) for prompt in prompts], 0
    while True:
        width = max(len(row) for row in rows)
        tokens = torch.tensor([row + [0] * (width - len(row)) for row in rows])
        with torch.no_grad():
            chosen = model(tokens)[:, -1].argmax(-1).tolist()
        for row, new_id in zip(rows, chosen, strict=True):
            row.append(new_id)
        n_new += 1
        if n_new > max_new_tokens or all(new_id == eos_id for new_id in chosen):
            return [row[len(p) :] for row, p in zip(rows, prompts, strict=True)]


# %%
def try_rows(write):
    """Compare with generate_batch, situation by situation."""
    same_length, ragged = [[1, 2], [3, 4], [6, 5]], [[1, 2], [3, 4, 5, 6, 1], [2]]
    situations = {
        "a budget of 4, no end": (same_length, 4, None),
        "a budget of 0": (same_length, 0, None),
        "prompts of different lengths": (ragged, 4, None),
        "rows that end at different steps": (same_length, 11, 3),
    }
    for name, (prompts, budget, eos_id) in situations.items():
        steps = []

        def model(tokens, steps=steps, **lengths):
            steps.append(1)
            return tiny(tokens, **lengths)

        found = write(model, prompts, budget, eos_id)
        expected = generate_batch(tiny, prompts, budget, None, eos_id)
        if found != expected:
            return f"{name}: {found}, not {expected}"
        if len(steps) > max(len(row) for row in expected):
            return f"{name}: {len(steps)} steps, though the last row ended earlier"
    return "right"


print(try_rows(write_rows))

# %% [markdown]
# <details><summary>Solution</summary>
#
# (1) The limit is checked after appending, and with `>`: one too many, never none. Use `for _ in range(max_new_tokens)`. (2) The last column is padding in short rows: use `pad_left`. (3) A finished row goes on receiving tokens. (4) It stops only if all rows end at the *same* step. Both need the set `writing` of step 6.
# </details>

# %% [markdown]
# ## Quiz
#
# Choose, then read the reason. Where no kernel runs, the reasons are folded below each question.

# %%
from course_lib.quiz import show_quiz

show_quiz("sampling")

# %% [markdown]
# ## Further reading
#
# - Holtzman et al. (2020), *The Curious Case of Neural Text Degeneration*, [arXiv:1904.09751](https://arxiv.org/abs/1904.09751). Loops under greedy and beam search, measured on large models; top-p.
# - Stahlberg, Byrne (2019), *On NMT Search Errors and Model Errors: Cat Got Your Tongue?*, [arXiv:1908.10090](https://arxiv.org/abs/1908.10090). Exact search: for many sentences the likeliest translation is empty.
# - Wu et al. (2016), *Google's Neural Machine Translation System*, [arXiv:1609.08144](https://arxiv.org/abs/1609.08144). Section 7: beams and length normalisation in a real system.
# - Nguyen et al. (2024), *Turning Up the Heat: Min-p Sampling*, [arXiv:2407.01082](https://arxiv.org/abs/2407.01082). A bar that moves with the model's confidence.
