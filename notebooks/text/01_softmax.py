# %% [markdown] tags=["slide"]
# # How do scores become a choice?
#
# **You need** lesson 00; vectors and tables of numbers; and that `backward` gives derivatives.
#
# **You build** `softmax`, its logarithm, the loss that follows from it, and a test of whether a model is as often right as it says.
#
# **You will be able to** *compute* probabilities and a loss by hand, *explain* what a temperature changes and what it cannot, and *debug* a softmax that returns NaN or a loss that will not fall.
#
# About 60 minutes.

# %% [markdown] tags=["slide"]
# ## Question
#
# Three judges stand at the pass and score the chef's dishes: soup, fish and cake. Ada gives 1, 2 and 3. Ben agrees, but adds 100 to everything. Cy agrees, on a scale ten times as wide.
#
# Scores become shares of praise by a rule: raise $e$ to each score, then divide by the sum of that judge's results. **Predict:** who will give the same shares?
#
# - (a) all three
# - (b) Ada and Ben
# - (c) Ada and Cy
# - (d) no two of them

# %% tags=["slide"]
import math

import torch
from torch import nn

torch.set_printoptions(precision=2, sci_mode=False)
judges = torch.tensor([[1.0, 2, 3], [101, 102, 103], [10, 20, 30]])
exponentials = judges.exp()
print(exponentials / exponentials.sum(-1, keepdim=True))

# %% [markdown]
# On paper (b) is right: $e^{101} = e^{100} \cdot e^1$, and the factor $e^{100}$ cancels. The machine has no answer for Ben. And Cy's cake gets 1.00: is he *sure*, or does he only use large numbers?
#
# A decoder is such a judge of every token there is, and meets both troubles.

# %% [markdown] tags=["slide"]
# ## Picture
#
# Leave soup at 1 and fish at 2, as Ada has them, and let the score of the cake grow. **Predict:** where does the curve of the cake cross that of the fish, and how high?

# %% tags=["slide"]
from course_lib.figures import draw_curves, show_figure

cake = torch.arange(-2.0, 7.0)
scores = torch.stack([torch.full((9,), 1.0), torch.full((9,), 2.0), cake])
shares = scores.exp() / scores.exp().sum(0)
curves = dict(zip(["soup", "fish", "cake"], shares, strict=True))
show_figure(
    draw_curves(cake.tolist(), curves, "score of the cake", "share"),
    alt=(
        "Three curves over the score of the cake, from -2 to 6. Its share rises "
        "smoothly from near 0 to near 1. Fish falls from 0.72 and soup from 0.27, "
        "both towards 0; fish stays above soup. Cake and fish cross at a score of 2, "
        "where each has 0.42."
    ),
    caption="The cake overtakes the fish at its score of 2, smoothly: a soft maximum.",
)

# %% [markdown]
# They cross where the scores are equal, at 0.42 each. A hard maximum would jump there from 0 to 1; this one moves smoothly, so a model can learn. Whatever the cake does, fish keeps $e$ = 2.72 times the share of soup.

# %% [markdown] tags=["slide"]
# ## Definition
#
# $$p_i = \text{softmax}(z)_i = \frac{e^{z_i}}{\sum_j e^{z_j}} \qquad\qquad \ln p_i = z_i - m - \ln \sum_j e^{z_j - m}$$
#
# $$\text{loss} = -\frac{1}{N}\sum_{n} \ln p_{n, y_n} \qquad\qquad \text{with a temperature: } \text{softmax}(z / T)$$
#
# | symbol | word | shape |
# |---|---|---|
# | $z$ | scores; a decoder's are called logits | (vocab) |
# | $p$ | weights, or probabilities | (vocab); sums to 1 |
# | $i$, $j$ | ids | |
# | $m$ | the largest of the scores $z$ | a number |
# | $y_n$ | target: the id that was right in row $n$ | a number; all of them (row) |
# | $p_{n,y_n}$ | what row $n$ gave to its target | a number |
# | $N$ | number of rows that count | a number |
# | loss | cross-entropy, in nats | a number |
# | $T$ | temperature, above 0 | a number |
#
# $\ln$ is the logarithm with base $e$; torch writes `log`. $-\ln p$ is the **surprise** at something that had probability $p$: 0 where $p = 1$. Its unit is the *nat*.
#
# Source: Goodfellow, Bengio, Courville (2016), sections 3.13 and 4.1.

# %% [markdown] tags=["slide"]
# ## Build
#
# ### 1. By hand
#
# The scores $0$, $\ln 3$, $\ln 6$ have the exponentials 1, 3 and 6, together 10.

# %% tags=["slide"]
by_hand = torch.tensor([0.0, math.log(3), math.log(6)])
print(by_hand.exp() / by_hand.exp().sum())

# %% [markdown]
# The shares are positive, sum to 1 and keep the order, since $e^z$ grows with $z$. And a *difference* of scores is a *ratio* of shares: the last two differ by $\ln 2$, so one share is twice the other.

# %% [markdown] tags=["slide"]
# ### 2. Shift
#
# Why did Ben fail? A float32 (32 bits) ends near 3.4 · 10³⁸, a float16 (16 bits) at 65,504. **Predict** which are finite: $e^{11}$ and $e^{12}$ in 16 bits, $e^{88}$ and $e^{89}$ in 32. (The logarithms of the two limits are 11.09 and 88.7.)

# %% tags=["slide"]
for kind, pair in ((torch.float16, [11, 12]), (torch.float32, [88, 89])):
    print(kind, *[f"e^{z} = {torch.tensor(z, dtype=kind).exp():.3g}" for z in pair])
print("inf / inf =", torch.tensor(math.inf) / math.inf)


# %% [markdown]
# What does not fit becomes `inf`, and `inf / inf` is NaN, not a number. The cure: subtract from a row its largest score. The shares stay, the largest exponential is $e^0 = 1$, nothing overflows, and no sum is 0.

# %%
def softmax(scores, dim=-1):
    """Turn scores into positive weights that sum to 1 along one axis."""
    exponentials = (scores - scores.amax(dim, keepdim=True)).exp()
    return exponentials / exponentials.sum(dim, keepdim=True)


print(softmax(judges))
print(softmax(torch.tensor([-1000.0, 0])))

# %% [markdown]
# Ben agrees with Ada. `amax(dim, keepdim=True)` gives one maximum *a row*, in shape (3, 1).
#
# At the other end, $e^{-1000}$ is too small to write and becomes 0. For a share this *underflow* is harmless; no float32 is nearer.

# %% [markdown] tags=["slide"]
# ### 3. Temperature
#
# Ben's shift changed nothing. Cy's *scale* did: his differences are ten times Ada's, so his ratios are $e^{10}$ and not $e$. Divided by 10 they are Ada's. Such a divisor is called **temperature**.
#
# **Predict** Ada's shares when $T$ goes to 0, and when it grows without end.

# %% tags=["slide"]
temperatures = [0.1, 0.3, 1, 3, 10, 30]
shares = torch.stack([softmax(judges[0] / t) for t in temperatures])
curves = dict(zip(["soup", "fish", "cake"], shares.T, strict=True))
show_figure(
    draw_curves(temperatures, curves, "temperature", "share", log="x"),
    alt=(
        "Three curves over temperatures from 0.1 to 30. At 0.1 the cake has all and "
        "the others nothing. At 1 the shares are 0.09, 0.24 and 0.67. At 30 all three "
        "are close to a third. The curves never cross."
    ),
    caption="Cold gives all to the best, hot gives the same to each; the order stays.",
)

# %% [markdown]
# $T \to 0$: everything to the largest score. $T \to \infty$: the same to each. In between, no temperature changes *which* token is the likeliest. **Predict** what the rule makes of $T = 0$ itself.

# %%
print("T = 0        ", softmax(judges[0] / 0))
print("T = 1e-8     ", softmax(judges[0] / 1e-8))
print("a tie, 1e-8  ", softmax(torch.tensor([1.0, 3, 3]) / 1e-8))
print("index of best", judges[0].argmax().item())


# %% [markdown]
# All three scores become `inf`, and `inf - inf` is NaN. Programs that write text take $T = 0$ to mean the limit, and choose the largest score with `argmax`; in a tie, one of them (lesson 09: the lower id).

# %% [markdown] tags=["slide"]
# ### 4. Logarithm
#
# A text's probability is a product of thousands of factors; its logarithm is a sum. So we mostly need $\ln p$. The logarithm of a quotient is a difference, and after the shift the logarithm of the numerator $e^{z_i - m}$ is $z_i - m$: the second formula above. By hand $\ln 0.1$, $\ln 0.3$ and $\ln 0.6$. **Predict** the last two lines, for the scores 0 and −1000.

# %% tags=["slide"]
def log_softmax(scores, dim=-1):
    """Return the logarithm of softmax, without forming a probability of 0."""
    shifted = scores - scores.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


print("by hand", log_softmax(by_hand), by_hand.new_tensor([0.1, 0.3, 0.6]).log())
far = torch.tensor([0.0, -1000])
print("softmax, then log", softmax(far).log())
print("log_softmax      ", log_softmax(far))


# %% [markdown]
# The detour over probabilities forgets how unlikely the second was: $\ln 0 = -\infty$. `log_softmax` never forms the numerator, so −1000 survives.

# %% [markdown] tags=["slide"]
# ### 5. Loss
#
# When the right answer is known, the model pays its surprise. Three rows, each with the scores by hand. In the first, id 2 was right: $-\ln 0.6 = 0.51$. In the second, id 0: $-\ln 0.1 = 2.30$. The third has target −100, which means *does not count* (lesson 11). **Predict** the loss.

# %% tags=["slide"]
def cross_entropy(logits, targets, ignore_index=-100):
    """Average the surprise, in nats, of the targets that count."""
    counts = targets != ignore_index
    log_probabilities = log_softmax(logits[counts])  # (row, vocab)
    return -log_probabilities.gather(-1, targets[counts][:, None]).mean()


rows = by_hand.repeat(3, 1)  # (row, vocab)
print(cross_entropy(rows, torch.tensor([2, 0, -100])))

# %% [markdown]
# (0.51 + 2.30) / 2 = 1.41. `gather` picks from each row the entry of its target. Whoever guesses evenly among $V$ ids pays $\ln V$: for SmolLM2's 49,152 tokens, 10.8.
#
# Now the gradient, the slope of the loss in each logit. **Predict:** id 1 was right; which logits should rise, and which fall?

# %%
logits = by_hand.clone().requires_grad_()
cross_entropy(logits[None], torch.tensor([1])).backward()
print("probabilities", softmax(by_hand))
print("gradient     ", logits.grad)
print(f"guessing among 49,152: {math.log(49_152):.1f} nats")

# %% [markdown]
# Since $-\ln p_y = \ln \sum_j e^{z_j} - z_y$, each logit $i$ has the slope $p_i$ from the first part, and the target −1 from the second: 0.3 − 1 = −0.7. Training goes against it: the right logit rises, the others fall, each in proportion to what it had claimed.

# %% [markdown] tags=["slide"]
# ### 6. Calibration
#
# Do these numbers *mean* anything? The largest is the model's **confidence** in its prediction. If of all predictions made with 0.95 a share of 0.95 is right, and so for every number, the model is **calibrated**.
#
# So sort many predictions into bins $B_k$ by confidence, and compare in each bin the mean confidence with the *accuracy*, the share that was right. The **expected calibration error** is the mean gap:
#
# $$\text{ECE} = \sum_k \frac{|B_k|}{N}\,\bigl|\,\text{accuracy}(B_k) - \text{confidence}(B_k)\,\bigr|$$
#
# $|B_k|$ counts the predictions in bin $k$, $N$ all of them (Guo et al. 2017, section 2, equation 3). By hand: two predictions with 0.55, one of them right: gap 0.05. Three with 0.95, two right: gap 0.95 − 0.667 = 0.283. ECE = (2 · 0.05 + 3 · 0.283) / 5 = 0.19.

# %%
from course_lib.softmax import Calibration  # four results, with names


def calibration(logits, targets, n_bins=15):
    """Compare how sure predictions are with how often they are right."""
    confidences, predictions = softmax(logits).max(-1)
    right = (predictions == targets).to(logits.dtype)
    bins = (confidences * n_bins).ceil().long() - 1  # (0, 1/n], (1/n, 2/n], ...
    counts = torch.bincount(bins, minlength=n_bins)
    sure = torch.bincount(bins, confidences, n_bins) / counts
    accuracies = torch.bincount(bins, right, n_bins) / counts
    gaps = (accuracies - sure).abs().nan_to_num()  # an empty bin is 0 / 0
    return Calibration(sure, accuracies, counts, (gaps * counts).sum() / counts.sum())


# %%
confidences = torch.tensor([0.55, 0.55, 0.95, 0.95, 0.95])
logits = torch.stack([confidences, 1 - confidences], -1).log()
targets = torch.tensor([0, 1, 0, 0, 1])  # id 0 is predicted each time
for name, numbers in calibration(logits, targets, n_bins=5)._asdict().items():
    print(f"{name:11}", numbers)

# %% [markdown] tags=["slide"]
# ### 7. A model that is sure
#
# Real data: the source of Python's own library, which you have. From eight characters a small network predicts the ninth. It learns from *one* module, `argparse`, and is asked about others: six for validation, six for the test. Indentation is stripped: too easy.

# %%
import sysconfig
from pathlib import Path


def windows(names, step=1):
    """Nine characters in a row, each step on: the first eight, and the ninth."""
    rows = []
    for name in names.split():
        path = Path(sysconfig.get_path("stdlib"), f"{name}.py")
        lines = path.read_text(encoding="utf-8").splitlines()
        text = "\n".join(line.strip() for line in lines if line.strip())
        ids = torch.tensor([min(ord(character), 127) for character in text])
        rows.append(ids.unfold(0, 9, step))
    rows = torch.cat(rows)
    return rows[:, :8], rows[:, 8]


# %% tags=["nbval-ignore-output"]
train = windows("argparse")
validation = windows("calendar csv getopt pprint gettext glob", step=8)
test = windows("textwrap shlex fnmatch fractions tokenize bisect", step=8)
for part in (train, validation, test):
    print(f"{len(part[1]):6,} windows")
    assert len(part[1]) > 5000

# %% [markdown]
# The network is for later lessons; it makes 128 logits, one a character, and learns by our loss: each *update*, a step against the gradient, takes 128 random windows. We keep its logits after 125, 500 and 2,000 updates.

# %%
updates = [125, 500, 2000]


def learn(seed):
    """Train; give (validation logits, test logits) after each number of updates."""
    torch.manual_seed(seed)
    layers = [nn.Linear(80, 96), nn.ReLU(), nn.Linear(96, 128)]
    model = nn.Sequential(nn.Embedding(128, 10), nn.Flatten(), *layers)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.01)
    found = []
    for update in range(1, updates[-1] + 1):
        rows = torch.randint(len(train[1]), (128,))
        loss = cross_entropy(model(train[0][rows]), train[1][rows])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if update in updates:
            with torch.no_grad():
                found.append((model(validation[0]), model(test[0])))
    return found


# %% [markdown]
# Collect the test predictions that it made with more than 0.9; their mean confidence is about 0.95. **Predict:** what share of them is right? (15 to 40 seconds.)

# %% tags=["nbval-ignore-output"]
seeds = (0, 1, 2)
runs = {seed: learn(seed) for seed in seeds}
share_right = []
for seed in seeds:
    logits = runs[seed][-1][1]
    confidences, predictions = softmax(logits).max(-1)
    sure, right = confidences > 0.9, predictions == test[1]
    share_right.append(right[sure].float().mean().item())
    mean = confidences[sure].mean()
    print(f"seed {seed}: {sure.sum()} predictions, mean {mean:.2f}", end=", ")
    print(f"right {share_right[-1]:.2f}; of all {right.float().mean():.2f}")

# %%
assert all(0.55 < share < 0.85 for share in share_right)
print("as expected")

# %% [markdown]
# It says 0.95 and is right about seven times in ten. Confidence pushes the *training* loss down, and nothing on the way asks about other modules.
#
# When did it begin? **Predict** for the test modules, from 125 to 2,000 updates: does each of accuracy, loss and ECE rise or fall?

# %% tags=["nbval-ignore-output"]
print("         accuracy  loss   ECE    (each the mean of three seeds)")
history = {}
for place, update in enumerate(updates):
    tests = [runs[seed][place][1] for seed in seeds]
    accuracies = [(z.argmax(-1) == test[1]).float().mean() for z in tests]
    losses = [cross_entropy(z, test[1]) for z in tests]
    errors = [calibration(z, test[1]).error for z in tests]
    history[update] = torch.tensor([accuracies, losses, errors])  # (number, seed)
    print("{:5}    {:.3f}   {:6.2f}  {:.3f}".format(update, *history[update].mean(1)))

# %%
first, last = history[125], history[2000]
assert (last > first).all(), "for each seed, all three numbers rise"
assert (last[2] > 1.5 * first[2]).all()
print("as expected")

# %% [markdown]
# From 125 to 2,000 updates all three rise, for each seed. The network is right more often and yet pays more, because it makes its mistakes with more confidence.

# %% [markdown] tags=["slide"]
# ### 8. A temperature that mends it
#
# A network that is too sure has logits too far apart, like Cy. So divide all of them by one $T$: the one with the lowest loss *on the validation modules*. The test modules have no say in it.

# %%
grid = [1 + 0.05 * step for step in range(41)]


def best_temperature(logits, targets):
    """Of the temperatures in the grid, the one with the lowest loss."""
    losses = [cross_entropy(logits / t, targets).item() for t in grid]
    return grid[losses.index(min(losses))]


# %% [markdown]
# **Predict**, for the test modules: what does the temperature do to ECE, to the loss, to the accuracy?

# %% tags=["nbval-ignore-output"]
print("seed    T    ECE            loss           accuracy")
mended = {}
for seed in seeds:
    for_validation, logits = runs[seed][-1]
    t = best_temperature(for_validation, validation[1])
    before, after = calibration(logits, test[1]), calibration(logits / t, test[1])
    losses = [cross_entropy(z, test[1]) for z in (logits, logits / t)]
    right = [(z.argmax(-1) == test[1]).float().mean() for z in (logits, logits / t)]
    mended[seed] = (before, after, t, losses, right)
    print(f"{seed:4} {t:5.2f}   {before.error:.3f} → {after.error:.3f}", end="  ")
    print("{:.2f} → {:.2f}   {:.3f} → {:.3f}".format(*losses, *right))

# %%
for before, after, t, losses, right in mended.values():
    assert after.error < 0.6 * before.error
    assert losses[1] < losses[0] - 0.3
    assert abs(right[1] - right[0]) < 0.001
    assert 1.5 < t < 3
print("as expected")

# %% tags=["nbval-ignore-output", "slide"]
from course_lib.figures import draw_reliability

before, after, t, _, _ = mended[0]
show_figure(
    draw_reliability({"as trained": before, f"temperature {t:.2f}": after}),
    alt=(
        "Two panels: share that was right against confidence, in 15 bins; below "
        "each, how many predictions a bin holds. As trained, "
        "most bars end far below the diagonal, with a hatched gap above; error "
        f"{before.error:.3f}. With the temperature they end nearer to it, mostly above, "
        f"and few predictions are surer than 0.5; error {after.error:.3f}."
    ),
    caption="A top below the diagonal means too sure; one number brings most tops nearer.",
)
assert after.counts[8:].sum() < before.counts[8:].sum() / 3

# %% [markdown]
# One number takes away more than half of the error, and about a fifth of the loss. The accuracy stays, since no order has changed. Most of the sure predictions are gone.
#
# Yet it is now too modest. Could another temperature do better? **Predict:** if we choose it by ECE and not by loss, still on the validation modules, is it higher or lower?

# %% tags=["nbval-ignore-output"]
print("seed    T    ECE     loss")
for seed in seeds:
    for_validation, logits = runs[seed][-1]
    errors = [calibration(for_validation / t, validation[1]).error for t in grid]
    t = grid[errors.index(min(errors))]
    error, loss = (
        calibration(logits / t, test[1]).error,
        cross_entropy(logits / t, test[1]),
    )
    print(f"{seed:4} {t:5.2f}   {error:.3f}   {loss:.2f}")
    assert t < mended[seed][2]
    assert error < mended[seed][1].error

# %% [markdown]
# Lower: a smaller error, and a slightly higher loss. The two ask different things. ECE looks at the top choice only; the loss charges for each target, also for those that the network ranked low, and these ask for more heat.
#
# One kind of network, one module. How much comes from learning `argparse` by heart, and how much from other modules being different, is *not shown*.
#
# Is a real model like that? We ask the chat model of lesson 00 for 256 next tokens of a module's text; so few make one bin only.

# %% tags=["weights", "nbval-ignore-output"]
from course_lib import pretrained
from course_lib.softmax import fit_temperature

try:
    decoder, tokenizer = pretrained.load("smollm2")
except pretrained.AssetError as problem:
    print(problem)
else:
    text = Path(sysconfig.get_path("stdlib"), "shlex.py").read_text(encoding="utf-8")
    ids = torch.tensor(tokenizer.encode(text)[:257])
    with torch.no_grad():
        logits = decoder(ids[None, :-1])[0]  # (position, vocab)
    one = calibration(logits, ids[1:], n_bins=1)
    print(f"confidence {one.confidences[0]:.2f}, accuracy {one.accuracies[0]:.2f}")
    best = fit_temperature(logits, ids[1:])
    print(f"best temperature {best:.2f}")
    assert 0.8 < best < 1.25

# %% [markdown]
# It is about as often right as it says (chance moves such a share by about 0.03), and the best temperature for these tokens is near 1. It learned from far more text than it could learn by heart; but probably from this file too, so this is no test on new text. Training on people's preferences can spoil this (Kadavath et al. 2022, below): measure the model that you use.

# %% [markdown]
# ## Check
#
# Ours against the library and against PyTorch, along every axis: values and gradients.

# %%
from functools import partial

import torch.nn.functional as F

from course_lib import softmax as library


def results(function, x):
    """What function(x) gives, and the gradient of one mixture of it."""
    x = x.clone().requires_grad_()
    outputs = function(x)
    mixture = torch.linspace(-1, 2, outputs.numel()).view_as(outputs)
    return outputs, torch.autograd.grad((outputs * mixture).sum(), x)[0]


x = 5 * torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0))

# %%
far_apart = torch.stack([judges[0], judges[0] + 1000, judges[0] - 1000])
for name, ours in (("softmax", softmax), ("log_softmax", log_softmax)):
    others = getattr(library, name), getattr(torch, name)
    for dim in (0, 1, 2, -1):
        found = results(partial(ours, dim=dim), x)
        for other in others:
            torch.testing.assert_close(found, results(partial(other, dim=dim), x))
    torch.testing.assert_close(results(others[0], x), found)  # dim = -1 if not said
    three_adas = ours(judges[:1]).expand(3, 3)
    for function in (ours, others[0]):
        torch.testing.assert_close(function(far_apart), three_adas)
    print(name, "equal to course_lib and to torch; each row has its own shift")

# %%
targets = torch.tensor([[1, 6, -100], [0, -100, 3]])
ours = results(partial(cross_entropy, targets=targets), x)
theirs = results(partial(library.cross_entropy, targets=targets), x)
torch.testing.assert_close(ours, theirs)
for e in (0.0, 0.1):  # label smoothing, an option of the library: lesson 11
    torch.testing.assert_close(
        results(lambda x, e=e: library.cross_entropy(x, targets, label_smoothing=e), x),
        results(lambda x, e=e: F.cross_entropy(x.mT, targets, label_smoothing=e), x),
    )
print("the loss and its gradient too")

# %% [markdown]
# Three more promises of the library. Scores of 16 bits are computed in 32 (by `widened`, below), since a sum can overflow too:

# %%
many = torch.zeros(70_000, dtype=torch.float16)
print("70,000 equal scores:", softmax(many)[0].item(), library.softmax(many)[0].item())
assert library.softmax(many).dtype == library.log_softmax(many).dtype == torch.float16
assert abs(library.softmax(many)[0] * 70_000 - 1) < 0.01
assert abs(library.log_softmax(many)[0] + math.log(70_000)) < 0.01
assert library.log_softmax(far).tolist() == [0, -1000]

# %% [markdown]
# A loss over no target is 0, and an impossible target is refused with a sentence:

# %%
print("no target:", library.cross_entropy(x, torch.full((2, 3), -100)).item())
assert library.cross_entropy(x, torch.full((2, 3), -100)) == 0
try:
    library.cross_entropy(x, torch.full((2, 3), 7))
except ValueError as problem:
    print(problem)
else:
    raise AssertionError("id 7 of 7 was accepted")

# %% [markdown]
# Calibration, against the library and against a plain loop. Targets of −100 do not count; a confidence on the edge of two bins belongs to the lower.

# %%
generator = torch.Generator().manual_seed(1)
world = 2 * torch.randn(20_000, 11, generator=generator)
drawn = softmax(world).multinomial(1, generator=generator)[:, 0]


def error_by_loop(logits, targets, n_bins):
    """The expected calibration error, one prediction after the other."""
    gaps = [0.0] * n_bins
    for row, target in zip(softmax(logits).tolist(), targets.tolist(), strict=True):
        place = math.ceil(max(row) * n_bins) - 1
        gaps[place] += (row.index(max(row)) == target) - max(row)
    return sum(abs(gap) for gap in gaps) / len(targets)


# %%
for size in (1 / 3, 1, 3):
    logits = size * world
    ours, theirs = calibration(logits, drawn), library.calibration(logits, drawn)
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-3, equal_nan=True)
    assert abs(theirs.error - error_by_loop(logits, drawn, 15)) < 1e-4
    marked = drawn.where(torch.arange(20_000) < 15_000, -100)
    part = calibration(logits[:15_000], drawn[:15_000], 7).error
    assert abs(library.calibration(logits, marked, 7).error - part) < 1e-4
    print(f"logits times {size:.2f}: error {theirs.error:.3f}")
on_the_edge = library.calibration(torch.zeros(1, 2), torch.tensor([0]), n_bins=2)
assert on_the_edge.counts.tolist() == [1, 0]

# %% [markdown]
# The property that matters. In this made-up world the targets were *drawn* from softmax(`world`), so at size 1 the logits are calibrated, and chance leaves only a little error. **Logits $c$ times as large need the temperature $c$.** The library's `fit_temperature` finds it without a grid, leaves out targets of −100, and ends where the slope of the loss is 0:

# %%
for size in (1 / 3, 1, 3):
    t = library.fit_temperature(size * world, drawn)
    print(f"logits times {size:.2f}: best temperature {t:.2f}")
    assert 0.97 * size < t < 1.03 * size
    t_marked = library.fit_temperature(size * world, marked)
    t_part = library.fit_temperature(size * world[:15_000], drawn[:15_000])
    assert abs(t_marked - t_part) < 1e-6, "what is marked does not count"
    z = (size * world / t).requires_grad_()
    slope = (torch.autograd.grad(F.cross_entropy(z, drawn), z)[0] * z).sum()
    assert abs(slope) < 1e-4, "at the best temperature the loss is flat"
assert abs(best_temperature(3 * world, drawn) - 3) < 0.06

# %% [markdown]
# So of all shares that a model could claim, the true ones cost least on average. But training asks only about what is *trained on*.
#
# In a decoder, softmax stands in two places: over the vocabulary, and in every attention head over the positions that it reads (lesson 03). Cross-entropy trains the decoder (lesson 11), temperature is set when it writes (lesson 09). The library's version:

# %%
import inspect

print(inspect.getsource(library.softmax).split('"""')[2])

# %% [markdown] tags=["slide"]
# ## Misconceptions
#
# ### “Subtract the largest score of the table.”
#
# One number for all rows. We give it Ada, and a judge who adds 1,000. **Predict** Ada's shares.

# %% tags=["slide"]
loud = torch.stack([judges[0], judges[0] + 1000])
exponentials = (loud - loud.max()).exp()
print(exponentials / exponentials.sum(-1, keepdim=True))

# %% [markdown]
# Ada's exponentials all underflow to 0, and 0/0 is NaN. How one notices: try a row alone and in company.
#
# ### “`softmax(x).log()` is `log_softmax(x)`.”
#
# On paper it is. **Predict** the gradients when the target has a score of −200.

# %%
for name in ("softmax, then log", "log_softmax"):
    z = torch.tensor([0.0, -200.0], requires_grad=True)
    loss = -(softmax(z).log() if name != "log_softmax" else log_softmax(z))[1]
    loss.backward()
    print(f"{name:18} loss {loss.item():5}, gradient", z.grad)

# %% [markdown]
# An infinite loss, and a NaN that the next update writes into the parameters. How one notices: feed the scores 0 and −200.
#
# ### “`cross_entropy` wants probabilities.”
#
# It takes softmax itself; whoever did so before takes it twice, without an error. Five rows of free logits over 7 ids learn to name five targets. **Predict:** both losses start at $\ln 7$ = 1.95; where does each end?

# %%
answers = torch.tensor([3, 0, 6, 1, 3])
for name, wrap in (("logits", torch.clone), ("probabilities", softmax)):
    free = torch.zeros(5, 7, requires_grad=True)
    for _ in range(1000):
        loss = cross_entropy(wrap(free), answers)
        (slope,) = torch.autograd.grad(loss, free)
        free = (free - slope).detach().requires_grad_()
    print(f"{name:14} {loss.item():.3f}")
for vocab in (7, 49_152):
    print(f"floor for {vocab:6,} {math.log(math.e + vocab - 1) - 1:.3f}")

# %% [markdown]
# The second is stuck. At best the target has probability 1 and the others 0. The second softmax makes $e / (e + 6)$ of that, and the loss cannot go below $\ln(e + 6) - 1$ = 1.165. For 49,152 tokens the floor is 9.8, one nat below guessing. How one notices: perfect logits must cost nothing.
#
# ### “A calibrated model is a good model.”
#
# This one never looks at the text: it says how often each character stands in `argparse`, always. **Predict** its calibration error on the test modules.

# %% tags=["nbval-ignore-output"]
frequencies = torch.bincount(train[1], minlength=128)
blind = frequencies.log().expand(len(test[1]), -1)
found = calibration(blind, test[1])
accuracy = (blind.argmax(-1) == test[1]).float().mean()
print(f"error {found.error:.3f}, accuracy {accuracy:.3f}")
assert found.error < min(after.error for _, after, *_ in mended.values())
assert accuracy < 0.2

# %% [markdown]
# A smaller error than the networks had, before or after the temperature of the loss, and of no use. Report it beside accuracy or loss, never alone.

# %% [markdown]
# ## On a GPU
#
# Count how often a table travels between memory and processor. Our function reads it for the maximum; reads and writes for the difference, for the exponentials and for the quotient; reads for the sum: eight trips. PyTorch's *fused* softmax does all in one go, with about one reading and one writing. **Predict:** how much faster is it? And against a mere *copy*, which computes nothing?

# %% tags=["gpu"]
from course_lib.hardware import device, fastest_seconds

on = device()
shape = (8192, 16384) if on.type == "cuda" else (512, 4096)
table = torch.randn(shape, device=on)
torch.testing.assert_close(softmax(table), torch.softmax(table, -1))
twelve = torch.full((2,), 12.0, dtype=torch.float16, device=on)
print("float16: exp", twelve.exp().tolist(), "softmax", softmax(twelve).tolist())

# %% tags=["gpu", "nbval-ignore-output"]
contenders = {
    "copy": torch.clone,
    "fused": partial(torch.softmax, dim=-1),
    "ours": softmax,
}
milliseconds = {}
for name, function in contenders.items():
    milliseconds[name] = 1000 * fastest_seconds(partial(function, table), 5, on)
    print(f"{name:6} {milliseconds[name]:8.2f} ms on the {on.type}")
ratio = milliseconds["ours"] / milliseconds["fused"]
print(f"the fused softmax is {ratio:.1f} times as fast as ours")
assert ratio > 1


# %% [markdown]
# Eight trips against two would make a ratio of four, if only traffic counted. Where it is smaller, and the fused softmax slower than the copy (which makes the same two trips), the exponentials cost time too, and both versions pay for them. On a GPU, where arithmetic is cheapest, expect the traffic to decide (not measured for this page). So such steps are fused, and scores travel in 16 bits though sums are made in 32.

# %% [markdown]
# ## Exercise
#
# **A. Compute** (10 minutes). Two models vote. Write `vote(logits, others, share)`; both logits are (..., vocab), and 0 < `share` < 1. With probability `share` the next token is drawn from the first model, else from the second. Return the log-probability of each token, (..., vocab), right also where the probability is too small to write.

# %%
def try_vote(answer):
    """Say whether the vote is right: by hand, in a table, and where it is tiny."""
    other = torch.tensor([0.5, 0.25, 0.25]).log() + 7
    right = torch.tensor([0.34, 0.27, 0.39]).log()  # 0.4 · 0.1 + 0.6 · 0.5, ...
    one, two = torch.tensor([[0.0, -2000, -1000], [-2000, 0, -1000]])
    tiny = torch.tensor([-math.log(2), -math.log(2), -1000])
    cases = {
        "0.4 (0.1, 0.3, 0.6) + 0.6 (0.5, 0.25, 0.25)": (by_hand, other, 0.4, right),
        "two rows": (rows[:2], other.expand(2, 3), 0.4, right.expand(2, 3)),
        "one is too small to write": (one, two, 0.5, tiny),
    }
    for name, (*inputs, expected) in cases.items():
        found = answer(*inputs)
        if found is None:
            return "not written yet"
        if found.shape != expected.shape or not torch.allclose(
            found.float(), expected, 1e-4
        ):
            return f"{name}: {found}, not {expected}"
    return "right"


# %%
def vote(logits, others, share):
    """Your code."""


print(try_vote(vote))


# %% [markdown]
# <details><summary>A nudge</summary>
#
# Mix probabilities, not logits. What is the logarithm of $s \cdot p + (1 - s) \cdot q$ when you have $\ln p$ and $\ln q$? A factor becomes a summand.
# </details>
#
# <details><summary>A stronger hint</summary>
#
# You need $\ln(e^a + e^b)$ with $a = \ln s + \ln p$ and $b = \ln(1 - s) + \ln q$. Both may be near −1000. Take the larger out, as in `log_softmax`.
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def vote(logits, others, share):
#     first = log_softmax(logits) + math.log(share)
#     second = log_softmax(others) + math.log(1 - share)
#     return torch.logaddexp(first, second)
# ```
#
# `logaddexp` is $m + \ln(e^{a-m} + e^{b-m})$ with $m$ the larger of the two. Adding logits would *multiply* the models: what one excludes, both then exclude.
# </details>
#
# **B. Debug** (5 minutes). A draw chose one of three broken functions. Find out which, by giving `mystery` tables of your own.

# %%
def unshifted(scores):
    return scores.exp() / scores.exp().sum(-1, keepdim=True)


def one_shift(scores):
    return unshifted(scores - scores.max())


def over_rows(scores):
    return softmax(scores, dim=0)


drawn_fault = torch.randint(3, (1,), generator=torch.Generator().manual_seed(4)).item()
mystery = (unshifted, one_shift, over_rows)[drawn_fault]
fault = None  # "unshifted", "one_shift" or "over_rows"

# %%
if fault is None:
    print("not answered yet")
else:
    print("right" if fault == mystery.__name__ else "no: give it scores of 1000 and 0")

# %% [markdown]
# <details><summary>Solution</summary>
#
# Try `mystery(torch.tensor([[1000.0, 1000], [0, 0]]))`, a loud row and a quiet one. Right would be a half everywhere. `over_rows` gives 1 above and 0 below; `unshifted` gives NaN in the loud row, `one_shift` in the quiet one.
# </details>

# %% [markdown]
# ## Quiz
#
# Choose, then read the reason. Where no kernel runs, the reasons are folded below each question.

# %%
from course_lib.quiz import show_quiz

show_quiz("softmax")

# %% [markdown]
# ## Further reading
#
# - Goodfellow, Bengio, Courville (2016), [*Deep Learning*](https://www.deeplearningbook.org). Section 6.2.2.3: why softmax and the logarithm belong together.
# - Guo et al. (2017), *On Calibration of Modern Neural Networks*, [arXiv:1706.04599](https://arxiv.org/abs/1706.04599). Section 4.2 is our step 8, on large networks.
# - Kadavath et al. (2022), *Language Models (Mostly) Know What They Know*, [arXiv:2207.05221](https://arxiv.org/abs/2207.05221). Calibration of large language models, and what training on preferences does to it.
# - Milakov, Gimelshein (2018), *Online normalizer calculation for softmax*, [arXiv:1805.02867](https://arxiv.org/abs/1805.02867). Passes over memory, counted and saved.
