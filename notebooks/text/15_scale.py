# %% [markdown] tags=["slide"]
# # What changes on a GPU, and on many?
#
# **You need** the decoder (lesson 08), the cache (lesson 10) and training (lesson 11).
#
# **You build** an account of a model's bytes and seconds, and a training job that runs unchanged on one process or several and survives a kill.
#
# **You will be able to** *compute* whether a model fits and how fast it can write, *explain* which sums stay in 32 bits, and *debug* a job on several processes.
#
# About 90 minutes.

# %% [markdown] tags=["slide"]
# ## Question
#
# Your GPU has 24 GB. A model of 7 billion parameters writes on it: its weights, 2 bytes each, take 14 GB. Now you train it as in lesson 11, with weights of 4 bytes and AdamW, one short sentence at a time.
#
# **Predict** the least GB that this needs: 14, 28, 56 or 112? We count on a small decoder, before and after one update.

# %%
import torch
import torch.nn.functional as F
from torch import nn

from course_lib.decoder import Decoder, DecoderConfig
from course_lib.training import inputs_and_targets, next_token_loss

config = DecoderConfig(vocab_size=11, d_model=14, n_layers=2, n_heads=7, max_length=32)
tokens = torch.arange(24).view(3, 8) % 11
inputs, targets = inputs_and_targets(tokens)


# %%
def ledger(model, optimiser):
    """Bytes of weights, gradients and the optimiser's moments."""
    weights = list(model.parameters())
    gradients = [w.grad for w in weights if w.grad is not None]
    moments = [
        state[name]
        for state in optimiser.state.values()
        for name in ("exp_avg", "exp_avg_sq")
    ]
    return [sum(t.nbytes for t in part) for part in (weights, gradients, moments)]


# %%
model = Decoder(config)
optimiser = torch.optim.AdamW(model.parameters())
print("         weights  gradients  moments")
print("before  {:8,}  {:9,}  {:7,}".format(*ledger(model, optimiser)))
next_token_loss(model(inputs), targets).backward()
optimiser.step()
print("after   {:8,}  {:9,}  {:7,}".format(*ledger(model, optimiser)))

# %% [markdown]
# Four times the weights: the gradient is as large as they are, and AdamW keeps two more numbers a weight, its *moments*: a running mean of the gradient and one of its square. So 7 billion · 4 numbers · 4 bytes = 112 GB. No batch is small enough.

# %% [markdown] tags=["slide"]
# ## Picture
#
# The chef cooks fast, but each sack of flour must be carried up from the cellar. For eight guests: the same walk, eight dishes.
#
# A processor *reads* weights and *multiplies* with them; the slower of the two sets the time. Take one that reads 10 GB and does 200 billion operations, both a second. In float32, one guest needs 2 operations for a weight of 4 bytes, 0.5 a byte; eight guests, 4. **Predict:** how many operations must it do with each byte before reading no longer holds it up?

# %% tags=["slide"]
from course_lib.figures import draw_curves, show_figure

uses = [0.5, 1, 4, 20, 64, 256]  # operations for each byte that is read
roof = [min(200, 10 * n) for n in uses]
fig = draw_curves(
    uses, {"roof": roof}, "operations a byte", "billion operations/s", "xy"
)
axes = fig.axes[0]
axes.set_yticks([5, 10, 40, 200], ["5", "10", "40", "200"])
axes.text(0.6, 4.7, "one guest")
axes.text(4.8, 36, "eight guests")
axes.text(256, 140, "a long prompt", ha="right")
show_figure(
    fig,
    alt=(
        "A line over operations a byte, both axes logarithmic. It rises from 5 at 0.5 "
        "(one guest) over 40 at 4 (eight guests) to 200 billion a second at 20, "
        "and stays there up to 256 (a long prompt)."
    ),
    caption="Bend: 200 / 10 = 20. Left of it reading sets the pace, right of it multiplying.",
)

# %% [markdown] tags=["slide"]
# ## Definition
#
# $$\text{seconds} \ge \max\!\left(\frac{\text{operations}}{\text{rate}},\; \frac{\text{bytes}}{\text{bandwidth}}\right) \qquad \text{intensity} = \frac{\text{operations}}{\text{bytes}}$$
#
# $$\text{bytes to train} = P\,(b_w + b_g + 2\,b_m) + \text{activations} \qquad \text{bytes to write} = P\,b_w + 2\,L\,H_{kv}\,d_\text{head}\,n\,B\,b_w$$
#
# $$\text{gradient} = \frac{\sum_r \sum_{t \in r} \nabla \ell_t}{\sum_r n_r}$$
#
# | symbol | word | unit |
# |---|---|---|
# | rate, bandwidth | operations (multiply, add), bytes read | each a second |
# | $P$ | parameters | number |
# | $b_w, b_g, b_m$ | bytes of a weight, a gradient, a moment | 2 or 4 |
# | $L, H_{kv}, d_\text{head}$ | `n_layers`, `n_kv_heads`, width of a head | numbers |
# | $n, B$ | cached positions, batch | numbers |
# | $\ell_t, n_r$ | loss of token $t$; real tokens of process $r$ | nats; number |
# | $\nabla$ | gradient | |
#
# The bend is at rate / bandwidth. Sources: Williams et al. (2009); Kingma, Ba (2015), algorithm 1 (two moments); Rajbhandari et al. (2020), section 3.1 (bytes to train).

# %% [markdown] tags=["slide"]
# ## Build
#
# ### 1. One idiom for every device
#
# Ask once where to compute, move the model there, make new tensors where an old one is: no line names a device.

# %% tags=["slide"]
from course_lib.hardware import device

on = device()
model = Decoder(config).to(on)  # its parameters and buffers move
logits = model(tokens.to(on))
places = torch.arange(8, device=logits.device)  # a new tensor asks an old one
print("one device:", logits.device == places.device == model.head.weight.device)


# %% [markdown]
# The `meta` device (shapes without numbers, lesson 08) shows what breaks it, even without a GPU. (A *buffer* is a tensor that a module registers and does not train.) **Predict** which of two modules works there.

# %%
class Scaled(nn.Module):
    def __init__(self, as_buffer):
        super().__init__()
        if as_buffer:
            self.register_buffer("scales", torch.linspace(0, 1, 5))
        else:
            self.scales = torch.linspace(0, 1, 5)

    def forward(self, x):
        return x * self.scales


# %%
for as_buffer in (False, True):
    module = Scaled(as_buffer).to("meta")
    try:
        print("works:", module(torch.ones(3, 5, device="meta")).shape)
    except RuntimeError as error:
        print("fails:", error)


# %% [markdown]
# `.to` moves parameters and buffers; a plain attribute stays behind. So do `torch.zeros(n)` in `forward` and layers in a Python list (use `nn.ModuleList`); `.cuda()` in a model and a checkpoint read without `map_location` fail where there is no GPU.

# %% [markdown] tags=["slide"]
# ### 2. Numbers in 16 bits
#
# A float is a sign, an exponent (its range) and a fraction (its precision). With $F$ bits of fraction, numbers from $2^k$ to $2^{k+1}$ stand $2^{k-F}$ apart.
#
# | format | exponent bits | $F$ | step above 1 |
# |---|---|---|---|
# | float32 | 8 | 23 | 1/8,388,608 |
# | TF32 | 8 | 10 | 1/1,024 |
# | float16 | 5 | 10 | 1/1,024 |
# | bfloat16 | 8 | 7 | 1/128 |
#
# By hand, bfloat16 from 4 to 8: steps of 4/128 = 1/32. 5.03 is 160.96 steps, so it becomes 161/32 = 5.03125. **Predict** 257, 2,049 and 70,000 in each format.

# %%
def round_to(x, fraction_bits):
    """Round to the nearest number with so many bits of fraction; a tie goes to even."""
    exponent = torch.frexp(x).exponent - 1  # x = m · 2**exponent, m from 1 to 2
    step = torch.ldexp(torch.ones_like(x), exponent - fraction_bits)
    return (x / step).round() * step


numbers = torch.tensor([5.03, 257.0, 2049.0, 70000.0])
for name, bits in {"float32": 23, "TF32": 10, "bfloat16": 7}.items():
    print(f"{name:9}", *(f"{n:12.7g}" for n in round_to(numbers, bits).tolist()))
print("float16  ", *(f"{n:12.7g}" for n in numbers.half().tolist()))

# %% [markdown]
# 257 is a tie between 256 and 258 in bfloat16. float16 is finer but ends at 65,504; bfloat16 is coarse and has float32's range.
#
# TF32 is no dtype. It is what a GPU's matrix unit may do with float32: round both factors to 10 bits, multiply, *add in float32*. A CPU can play it. **Predict:** how many times as large is bfloat16's error?

# %%
left, right = torch.randn(2, 128, 128, generator=torch.Generator().manual_seed(0))
exact = left.double() @ right.double()
errors = {}
for name, bits in {"float32": 23, "TF32": 10, "bfloat16": 7}.items():
    product = round_to(left, bits) @ round_to(right, bits)
    errors[name] = ((product - exact).norm() / exact.norm()).item()
    print(f"{name:9} relative error {errors[name]:.0e}")
print(f"ratio {errors['bfloat16'] / errors['TF32']:.0f}")


# %% [markdown]
# Three bits, a factor of 8. Factors may be short; *sums* may not: 256 + 1 is 256 in bfloat16 (lesson 07). Float32 stays for the sums inside products, softmax, norms and loss, and for weights, to which updates are added. `torch.autocast`, by `train(dtype=torch.bfloat16)`, converts for the products and leaves the weights alone.

# %% [markdown] tags=["slide"]
# ### 3. Weights, gradients, moments
#
# Bytes a parameter, measured, and the sum for 7 billion. **Predict** the row of autocast.

# %%
def after_one_update(kind, autocast):
    """The ledger of a decoder in this dtype, with or without autocast."""
    model = Decoder(config).to(kind)
    optimiser = torch.optim.AdamW(model.parameters())
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        logits = model(inputs)
    next_token_loss(logits, targets).backward()
    optimiser.step()
    return ledger(model, optimiser)


# %%
count = sum(p.numel() for p in Decoder(config).parameters())
short, wide = torch.bfloat16, torch.float32
ways = {
    "write, bfloat16": [2 * count, 0, 0],
    "train, float32": after_one_update(wide, False),
    "train, autocast": after_one_update(wide, True),
    "train, bfloat16": after_one_update(short, False),
}
for name, parts in ways.items():
    each = [part / count for part in parts]
    print(f"{name:16}", each, f" {7 * sum(each):3.0f} GB")
assert ways["train, float32"] == [4 * count, 4 * count, 8 * count]


# %% [markdown]
# Autocast saves nothing here: 16 bytes a parameter, as float32. The last row saves half, at a price (Misconceptions). AdamW's step counters, 4 bytes a tensor, are left out.

# %% [markdown] tags=["slide"]
# ### 4. Activations and cache
#
# For the gradient, torch keeps what each operation will need (lesson 03). In a pre-norm block, per position, in numbers: input and output of two norms (4 d_model), their means and deviations (4); queries, keys, values and what attention gives (4 d_model, and for each head one number, the log of its softmax's denominator); the hidden layer before and after its activation (2 d_ff = 8 d_model). Together 16 d_model + n_heads + 4.

# %%
def kept_bytes(model, run):
    """Bytes that torch keeps for the gradient of run(), the weights not counted."""
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept = {}

    def keep(tensor):
        memory = tensor.untyped_storage()
        kept[memory.data_ptr()] = memory.nbytes(), tensor  # held, so no address twice
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        run()
    return sum(n for key, (n, _) in kept.items() if key not in weights)


# %%
import math
from functools import partial

from course_lib.block import Stack

rows, length, width, heads = 3, 13, 14, 7
x = torch.randn(rows, length, width, requires_grad=True)
for n_layers in (1, 2, 5):
    stack = Stack(DecoderConfig(11, width, n_layers, heads))
    final_norm = width + 2  # its input; a mean and a deviation
    numbers = n_layers * (16 * width + heads + 4) + final_norm  # for a position
    formula = 4 * rows * length * numbers
    measured = kept_bytes(stack, partial(stack, x, causal=True))
    print(f"{n_layers} layers: formula {formula:7,}, measured {measured:7,} bytes")
    assert measured == formula

# %% [markdown]
# To the byte. Unlike weights, activations grow with batch and length. The blocks of GPT-2 small (12 layers and heads, width 768), 8 rows of 1,024; the loss keeps a table over 50,257 tokens besides:

# %%
positions = 8 * 1024
blocks = 4 * positions * 12 * (16 * 768 + 12 + 4)
print(f"blocks {blocks / 1e9:.1f} GB, loss {4 * positions * 50_257 / 1e9:.1f} GB")
print(f"the 124 million weights, 4 times over: {4 * 4 * 0.124:.1f} GB")

# %% [markdown]
# Smaller micro-batches, accumulated (lesson 11), shrink them. So does *activation checkpointing*: keep a block's input alone, and run the block again in the backward pass. A model that writes keeps a cache instead:

# %%
from course_lib.kv_cache import PreallocatedCache

sizes = dict(batch=2, n_layers=3, n_kv_heads=5, d_head=7, max_length=11)
cache, formula = PreallocatedCache(**sizes), 2 * 4 * math.prod(sizes.values())
print("formula", formula, "bytes, measured", cache.bytes)
assert cache.bytes == formula
seven = 2 * 32 * 32 * 128 * 4096 * 2  # Llama 2 7B: 32 layers, 32 key heads of 128
print(f"7 billion parameters, 4,096 positions, 2 bytes: {seven / 1e9:.2f} GB a request")

# %% [markdown] tags=["slide"]
# ### 5. Your own roof
#
# A matrix of $m$ numbers of $b_w$ bytes meets $B$ rows: $2mB$ operations, $m b_w$ bytes read, so intensity $2B/b_w$, whatever the matrix. In decoding, $B$ is the batch: 0.5 for one row in float32. A prompt of 512 tokens, all known, is 512 rows.
#
# **Predict:** how many times as long does one matrix take for 8 rows as for 1? And for 512?

# %% tags=["gpu", "nbval-ignore-output", "slide"]
from course_lib.hardware import dtype, fastest_seconds, read_bandwidth

kind = dtype(on)
width = 8192  # 256 MiB in float32, more than most caches hold
matrix = torch.randn(width, width, device=on, dtype=kind)
side = width if on.type == "cuda" else 1024
square = matrix[:side, :side].contiguous()
bandwidth = read_bandwidth()
rate = 2 * side**3 / fastest_seconds(partial(torch.mm, square, square), 5, on)
bend = rate / bandwidth  # operations a byte
print(f"reads {bandwidth / 1e9:.0f} GB/s, multiplies {rate / 1e9:.0f} billion/s")
print(f"bend at {bend:.1f} operations a byte: {bend * kind.itemsize / 2:.0f} rows")

# %% tags=["gpu", "nbval-ignore-output"]
batches = [1, 2, 4, 8, 32, 128, 512]
seconds = []
for batch in batches:
    rows = torch.randn(batch, width, device=on, dtype=kind)
    repeats = 1 if batch > 32 else 5  # short ones are disturbed more easily
    seconds.append(fastest_seconds(partial(torch.mm, rows, matrix), repeats, on))
    print(f"{batch:3} rows take {seconds[-1] / seconds[0]:5.1f} times as long as 1")
assert seconds[-1] < 300 * seconds[0]

# %% tags=["gpu", "nbval-ignore-output", "slide"]
intensities = [2 * batch / kind.itemsize for batch in batches]
curves = {
    "roof": [min(rate, n * bandwidth) / 1e9 for n in intensities],
    "measured": [
        2 * width**2 * batch / time / 1e9
        for batch, time in zip(batches, seconds, strict=True)
    ],
}
fig = draw_curves(batches, curves, "rows (batch)", "billion operations/s", "xy")
seen = sorted(sum(curves.values(), []))
ticks = [seen[0], (seen[0] * seen[-1]) ** 0.5, seen[-1]]
fig.axes[0].set_yticks(
    ticks, [f"{tick:.0f}" if tick >= 10 else f"{tick:.1f}" for tick in ticks]
)
show_figure(
    fig,
    alt=(
        "Two curves over 1 to 512 rows, both axes logarithmic. The roof rises in "
        "proportion to the rows and then stays level; the measured rate is higher for "
        "many rows than for one."
    ),
    caption="One matrix on this machine: cheap rows first, then rows at full price.",
)
assert curves["measured"][-1] > curves["measured"][0]

# %% [markdown]
# Expect 8 rows to cost less than 8 times one, 512 far less than 512 times. While the measured curve climbs, rows are cheap; where it is level, each costs its full price. Hence batched serving (lesson 13), and prefill's low price a token (lesson 10). (One row may have a kernel of its own, so the second can cost extra. A point above the roof: that kernel, or a cache, beat the plain reading that we timed.)
#
# Attention over the cache is different: every row reads *its own* keys and values. Each number serves one multiplication and addition for each of the $g$ query heads that share it: intensity $2g/b_w$, whatever the batch.
#
# Now 7 billion parameters of 2 bytes, on paper, with round numbers near an A100's: 80 GB, 2,000 GB/s, 300,000 billion operations a second.

# %%
weights_gb, gb_per_second, cache_gb = 14, 2000, seven / 1e9
print(f"one row: {weights_gb / gb_per_second * 1000:.0f} ms a token at best")
print(f"bend: {300e12 / 2e12:.0f} operations a byte, so {300e12 / 2e12:.0f} rows")
room = int((80 - weights_gb) / cache_gb)
print(f"room for {room} requests of 4,096 positions")
step = (weights_gb + room * cache_gb) / gb_per_second
print(f"a step for {room}: {step * 1000:.0f} ms, {room / step:.0f} tokens a second")

# %% [markdown]
# Memory is full long before the bend, and by then the caches take more reading than the weights. Hence grouped heads and windows (lesson 10).

# %% [markdown] tags=["slide"]
# ### 6. Kernels
#
# A better kernel does the same with less traffic. PyTorch's attention has several back ends; `sdpa_kernel` asks for one. Which can run depends on device, dtype and mask. **Predict** for 8 heads and 1,024 positions: MATH writes the tables of scores to memory, FLASH does not. About how many MiB more does MATH keep?

# %%
import os
import warnings

from torch.nn.attention import SDPBackend, sdpa_kernel


def read_by(kernel, *inputs):
    """Causal attention by one kernel, or None where it cannot run."""
    with sdpa_kernel(kernel), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on a GPU, torch warns why it refuses
        try:
            return F.scaled_dot_product_attention(*inputs, is_causal=True)
        except RuntimeError:
            return None


# %% tags=["gpu", "nbval-ignore-output"]
triple = torch.randn(3, 1, 8, 1024, 64, device=on, dtype=kind, requires_grad=True)
found = {}
for name in ("MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION"):
    run = partial(read_by, getattr(SDPBackend, name), *triple)
    if (outputs := run()) is None:
        print(f"{name:20} not here")
        continue
    found[name] = outputs, kept_bytes(nn.Module(), run) / 2**20
    time = fastest_seconds(run, 3, on) * 1000
    print(f"{name:20} keeps {found[name][1]:5.1f} MiB, {time:6.1f} ms")
for outputs, mib in found.values():
    torch.testing.assert_close(outputs, found["MATH"][0], atol=0.02, rtol=0.02)
    assert mib <= found["MATH"][1]


# %% [markdown]
# The same outputs. A table of scores or weights has 8 · 1,024² numbers, 32 MiB in float32, and MATH keeps the weights (and scaled copies of queries and keys, where FLASH keeps its outputs).
#
# `torch.compile` records a function's operations, joins neighbours into one pass and compiles that. **Predict:** four operations on 8 MB, each through memory. How many times as fast is one pass? (Compiling takes up to half a minute and a C++ compiler.)

# %% tags=["nbval-ignore-output"]
def bent(x):
    return (2 * x + 1).relu().sum(-1)


table = torch.randn(2000, 1000)
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")  # no helper processes
joined = torch.compile(bent)
try:
    outputs = joined(table)
except Exception as error:  # no compiler, or one that torch cannot use
    print(f"not compiled here ({type(error).__name__}): is there a C++ compiler?")
else:
    assert torch.allclose(outputs, bent(table), atol=1e-3, rtol=1e-4)
    one, four = (fastest_seconds(partial(f, table)) for f in (joined, bent))
    print(f"{four * 1000:.2f} ms, compiled {one * 1000:.2f} ms: {four / one:.1f} times")

# %% [markdown]
# One by one 56 MB are moved: three operations read 8 and write 8, the sum reads 8. Joined, 8 MB: 7 times, if memory alone sets the pace; caches and fresh memory shift that. Large products are good kernels already.

# %% [markdown] tags=["slide"]
# ### 7. Two processes, one gradient
#
# *Data parallel*: every process holds the whole model and a part of the batch. Gradients are added up over processes (an *all-reduce*); each makes the same update.
#
# By hand: process 0 has three real tokens with gradients 1, 1, 1, process 1 one token with gradient 5. The mean over tokens is 8/4 = 2; the mean of the two means would be (1 + 5)/2 = 3. So `train` sums token counts over all processes, divides losses by the total, and *sums* gradients.
#
# The job is two files in a temporary folder. Its task: count modulo 11, rows of unequal length. Micro-batch $i$ comes from seed $i$.

# %%
import tempfile
from pathlib import Path

temporary = tempfile.TemporaryDirectory()
folder = Path(temporary.name)
_ = (folder / "task.py").write_text("""
import torch
from course_lib.decoder import Decoder, DecoderConfig
from course_lib.training import inputs_and_targets

def batch_at(i):
    generator = torch.Generator().manual_seed(i)
    starts = torch.randint(0, 11, (3, 1), generator=generator)
    lengths = torch.randint(2, 8, (3,), generator=generator)
    return inputs_and_targets((starts + torch.arange(7)) % 11, lengths)

def decoder(seed):
    config = DecoderConfig(vocab_size=11, d_model=14, n_layers=2, n_heads=7)
    return Decoder(config, torch.Generator().manual_seed(seed))
""")

# %% [markdown]
# `rank` is the process's number, `world` how many there are. Each starts from *other* weights: process 0's must reach the rest. After step `fatal` the last process kills itself (part 8).

# %%
_ = (folder / "job.py").write_text("""
import os, signal, sys
import torch
from course_lib.hardware import device, distributed
from course_lib.training import train
from task import batch_at, decoder

name, fatal, steps = sys.argv[1], int(sys.argv[2]), []
def on_step(step, loss):
    steps.append(step)
    if (rank, step) == (world - 1, fatal):  # Windows has no SIGKILL; there this kills
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

with distributed() as (rank, world):  # sends by nccl on GPUs, by gloo on CPUs
    model = decoder(seed=rank).to(device())
    losses = train(model, batch_at, 12, learning_rate=0.01, on_step=on_step,
                   checkpoint=f"{name}.pt", checkpoint_every=3)
    if rank == 0:
        weights = [p.detach().cpu() for p in model.parameters()]
        gradients = [p.grad.cpu() for p in model.parameters() if p.grad is not None]
        torch.save((world, steps, losses, weights, gradients), f"{name}.result")
""")

# %% [markdown]
# `torchrun` starts the processes. The settings keep this page on the CPU. (Up to half a minute a run.)

# %%
import subprocess
import sys


def launch(name, fatal=-1):
    """Run the job in two processes; say whether it ended well."""
    torchrun = "-m torch.distributed.run --standalone --nproc-per-node=2".split()
    command = [sys.executable, *torchrun, "job.py", name, str(fatal)]
    settings = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "REQUIRE_CUDA": ""}
    with (folder / f"{name}.log").open("w") as log:
        job = subprocess.Popen(
            command, cwd=folder, env=os.environ | settings, stdout=log, stderr=log
        )
        try:
            return job.wait(timeout=150) == 0
        finally:
            if job.poll() is None:  # it hung, or you interrupted
                job.terminate()  # torchrun ends its processes
                job.wait(timeout=60)


# %%
def result(name, fatal=-1):
    """Run the job and read what process 0 wrote, or stop and show what it said."""
    if not launch(name, fatal):
        said = (folder / f"{name}.log").read_text()[-1500:]
        raise RuntimeError(f"the job {name} failed; its last words:\n{said}")
    return torch.load(folder / f"{name}.result")


world, steps, losses, weights, gradients = result("whole")
print("processes", world, " updates", len(steps), " first loss", round(losses[0], 3))
assert world == 2

# %% [markdown]
# **Predict:** one process with *gradient accumulation* takes micro-batches 0 and 1 one after the other, then updates. How different are its losses, weights and gradients after 12 updates?

# %%
import runpy

from course_lib.hardware import threads
from course_lib.training import train

task = runpy.run_path(str(folder / "task.py"))
batch_at, decoder = task["batch_at"], task["decoder"]


def furthest(ones, others):
    """The largest difference between two lists of tensors."""
    pairs = zip(ones, others, strict=True)
    return max((one - other).abs().max().item() for one, other in pairs)


alone = decoder(seed=0)
with threads(1):  # as each process has, so that sums run in the same order
    losses_alone = train(alone, batch_at, 12, learning_rate=0.01, accumulate=2)
differences = {
    "losses": max(abs(a - b) for a, b in zip(losses, losses_alone, strict=True)),
    "weights": furthest(weights, alone.parameters()),
    "gradients": furthest(gradients, [p.grad for p in alone.parameters()]),
}
for name, difference in differences.items():
    print(f"{name:9} differ by less than 1e-5: {difference < 1e-5}")
assert max(differences.values()) < 1e-5

# %% [markdown]
# The same up to rounding. Accumulation takes time; two processes take memory, and send. In a *ring*, where each passes parts to its neighbour, each of $R$ processes sends $2(R-1)/R$ times the gradient's bytes (exercise A). For 7 billion parameters:

# %%
for n_processes in (2, 8, 64):
    sent = 2 * (n_processes - 1) / n_processes * 7e9 * 4  # bytes a step and process
    print(f"{n_processes:2} processes: {sent / 1e9:4.0f} GB a step")

# %% [markdown]
# Data parallel sends the same whatever the batch. A model too large for one device must be cut itself. *Tensor parallel*: each device has some heads and hidden features of every layer; partial outputs are all-reduced twice forward and twice backward a layer (Shoeybi et al. 2019). *Pipeline parallel*: each device has some layers and hands the residual stream on. Little is sent, but with $S$ stages and $M$ micro-batches each idles $(S-1)/(M+S-1)$ of the time (Huang et al. 2019). *Sharding* stays data parallel and spreads the 16 bytes over the processes (Rajbhandari et al. 2020). For 7 billion parameters and rows of 4,096, compare the bytes of the two cuts:

# %%
n_layers, length, width = 32, 4096, 4096  # 2 bytes a number
stream = length * width * 2
print(f"tensor parallel: {n_layers * 4 * stream / 1e9:.1f} GB all-reduced a row")
print(f"pipeline: {2 * stream / 1e9:.2f} GB a row and cut, there and back")
print(f"idle with 4 stages and 16 micro-batches: {3 / (16 + 3):.0%}")

# %% [markdown] tags=["slide"]
# ### 8. A killed process
#
# After step 7 of 0 to 11 the second process is killed, with no chance to clean up. `train` writes a checkpoint every 3 updates. **Predict:** does the first process go on? From which step does the same command start again?

# %% tags=["slide"]
print("ended well:", launch("killed", fatal=7))
checkpoint = torch.load(folder / "killed.pt", weights_only=True)
n_kept = len(checkpoint["losses"])
print("updates in the checkpoint:", n_kept)

_, resumed_steps, *resumed = result("killed")
print("the second start ran steps", resumed_steps[0], "to", resumed_steps[-1])
assert (n_kept, resumed_steps[0], resumed_steps[-1]) == (6, 6, 11)

# %% [markdown]
# The first process waits for a sum that cannot be completed; torchrun ends the job. Two updates were lost. The second start found the checkpoint.

# %% tags=["slide"]
lost = [float("nan")] * 6
curves = {
    "not interrupted": losses,
    "in the checkpoint": checkpoint["losses"] + lost,
    "resumed": lost + resumed[0][6:],
}
show_figure(
    draw_curves(range(12), curves, "step", "loss (nats)"),
    alt=(
        "Loss over steps 0 to 11, falling from 2.4 to 2.1. The checkpoint's losses "
        "lie on the uninterrupted curve up to step 5, the resumed run's from 6 on."
    ),
    caption="After the kill, the run goes on along the same curve.",
)
off = max(abs(a - b) for a, b in zip(losses, resumed[0], strict=True))
print("losses within 1e-5: ", off < 1e-5)
print("weights within 1e-5:", furthest(weights, resumed[1]) < 1e-5)
assert off < 1e-5
assert furthest(weights, resumed[1]) < 1e-5
temporary.cleanup()


# %% [markdown]
# That takes more than weights: the moments, the step (for the learning rate and the next micro-batch), and the random generator's state, which counts once there is dropout (none here). Only process 0 writes (several writers would mix their halves), beside the old file, then renames: a kill while writing leaves the old one whole.
#
# On 8 GPUs, the same two files (copy them from part 7): `torchrun --standalone --nproc-per-node=8 job.py whole -1`. `distributed` chooses nccl and gives each process its GPU. (Not run on several GPUs for this page, nor on Windows, where torch may need `USE_LIBUV=0`.)

# %% [markdown]
# ## Check
#
# The reference is plain torch: *one* batch of six rows a step, and no line of the library's loop. Its losses, weights and last gradients, against those of two processes.

# %%
def joint(step):
    """Micro-batches 2 step and 2 step + 1 as one batch."""
    pairs = zip(batch_at(2 * step), batch_at(2 * step + 1), strict=True)
    return [torch.cat(pair) for pair in pairs]


def mean_loss(model, inputs, targets):
    """The mean over real tokens, by torch."""
    return F.cross_entropy(model(inputs).flatten(0, 1), targets.flatten())


# %%
plain, plain_losses = decoder(seed=0), []
matrices = [p for p in plain.parameters() if p.ndim > 1]
vectors = [p for p in plain.parameters() if p.ndim < 2]
groups = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
optimiser = torch.optim.AdamW(groups, weight_decay=0.1, betas=(0.9, 0.95))
falling = 0.01 * (0.1 + 0.45 * (1 + torch.cos(torch.pi * torch.arange(12) / 11)))
for step, learning_rate in enumerate(falling.tolist()):
    for group in optimiser.param_groups:
        group["lr"] = learning_rate
    loss = mean_loss(plain, *joint(step))
    optimiser.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
    optimiser.step()
    plain_losses.append(loss.item())

# %%
names = [name for name, _ in plain.named_parameters()]
torch.testing.assert_close(losses, plain_losses, atol=1e-4, rtol=1e-4)
last_gradients = [p.grad for p in plain.parameters()]
for ones, others in ((weights, plain.parameters()), (gradients, last_gradients)):
    for name, one, other in zip(names, ones, others, strict=True):
        if not name.endswith("to_keys.bias"):  # its gradient is 0 but for rounding
            torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-3)
print("losses, weights and gradients equal")

# %% [markdown]
# Our rounding against torch's. Then the property that all this rests on: however a batch is cut, the gradient is the same.

# %%
many = torch.randn(10000, generator=torch.Generator().manual_seed(1)) * 100
assert torch.equal(round_to(many, 7), many.bfloat16().float())
assert torch.equal(round_to(many, 10), many.half().float())
assert torch.equal(round_to(many, 23), many)

for n_parts in (1, 2, 4):
    model = decoder(seed=5)
    train(model, batch_at, 1, accumulate=n_parts, clip_norm=None)
    batch = [
        torch.cat(parts) for parts in zip(*map(batch_at, range(n_parts)), strict=True)
    ]
    twin = decoder(seed=5)
    mean_loss(twin, *batch).backward()
    assert (
        furthest(
            [p.grad for p in model.parameters()], [p.grad for p in twin.parameters()]
        )
        < 1e-6
    )
print("cut in 1, 2 and 4: the gradient of the whole")

# %% [markdown]
# The library's form. What does `distributed` do without torchrun?

# %%
import inspect

from course_lib import hardware

assert hardware.dtype(torch.device("cpu")) == torch.float32
block = torch.ones(50_000_000)  # 200 MB, written
peak = hardware.peak_memory_bytes(torch.device("cpu"))  # 0 on Windows: not known
assert peak == 0 or block.nbytes < peak < 1e12
del block
print(inspect.getsource(hardware.distributed).split('"""')[-1])


# %% [markdown] tags=["slide"]
# ## Misconceptions
#
# ### “Each process takes its own mean, then the gradients are averaged.”
#
# Torch's `DistributedDataParallel` averages, so this is what one gets if each process calls `backward` on its own mean. Three pairs of micro-batches, against the gradient of the whole:

# %%
def gradient(*batches):
    """The gradient of the mean over all real tokens of these batches, as one vector."""
    model = decoder(seed=5)
    batch = [torch.cat(parts) for parts in zip(*batches, strict=True)]
    mean_loss(model, *batch).backward()
    return torch.cat([p.grad.flatten() for p in model.parameters()])


for i in (0, 10, 18):
    one, other = batch_at(i), batch_at(i + 1)
    whole = gradient(one, other)
    error = ((gradient(one) + gradient(other)) / 2 - whole).norm() / whole.norm()
    counts = [int((targets >= 0).sum()) for _, targets in (one, other)]
    print("real tokens", counts, f" off by {error:.0%}")

# %% [markdown]
# No error is raised, yet a token of a short micro-batch counts more. Notice it as here, at unequal counts.

# %% [markdown] tags=["slide"]
# ### “The same seed everywhere makes a job reproducible.”
#
# Two processes draw their batches from seed 3. **Predict** their gradient, against that of one.

# %% tags=["slide"]
one, other = batch_at(3), batch_at(3)
print("equal:", torch.allclose(gradient(one, other), gradient(one), atol=1e-6))

# %% [markdown]
# Twice the work, one gradient. Weights must start alike, *data* must differ: here the micro-batch's number is the seed, and process $r$ of $R$ takes numbers $r, r+R, r+2R \dots$ Notice it: print each rank's first ids.

# %% [markdown] tags=["slide"]
# ### “Half the bits, half the memory.”
#
# The ledger says 16 bytes a parameter with and without autocast. And activations? **Predict** the share that is left.

# %% tags=["slide"]
stack = Stack(DecoderConfig(11, 56, 3, n_heads=7))
x = torch.randn(19, 23, 56, requires_grad=True)
full = kept_bytes(stack, partial(stack, x, causal=True))
with torch.autocast("cpu", torch.bfloat16):
    half = kept_bytes(stack, partial(stack, x, causal=True))
print(f"activations kept: {full:,} bytes; under autocast {half / full:.0%}")

# %% [markdown]
# The inputs of norms stay in float32; what queries, keys and values read is converted, and kept, once for each; converted copies of the weights are kept as well. Notice it: count bytes, as here.

# %% [markdown] tags=["slide"]
# ### “Then store the weights in bfloat16.”
#
# That halved the ledger. But in bfloat16 `x + y == x` holds for sure up to $|y| = |x|/512$, never above $|x|/256$ (lesson 07). A norm's gains start at 1; AdamW's updates are about as large as the learning rate, 0.001. **Predict:** where are the gains after 120 updates?
#
# What does it cost? Data: the source of Python's `argparse` by characters (Pythons differ a little), nine tenths to train, the rest to validate. One block of width 32, 120 updates of 12 rows of 32, three seeds.

# %%
import argparse
import math

from course_lib.training import perplexity

text = inspect.getsource(argparse)
characters = sorted(set(text))
ids = torch.tensor([characters.index(c) for c in text])
cut = len(ids) * 9 // 10
held_out = ids[cut:][: (len(ids) - cut) // 33 * 33].view(-1, 33)


def excerpts(seed):
    """Micro-batches of 12 rows, drawn anew for each number."""

    def excerpt_at(i):
        generator = torch.Generator().manual_seed(1000 * seed + i)
        starts = torch.randint(cut - 33, (12, 1), generator=generator)
        return inputs_and_targets(ids[starts + torch.arange(33)])

    return excerpt_at


# %%
def trained(way, seed):
    """Train in one way; validation loss (in float32), and whether a gain ever moved."""
    shape = DecoderConfig(len(characters), 32, 1, n_heads=4, max_length=32)
    model = Decoder(shape, torch.Generator().manual_seed(seed))
    if way == "bfloat16 weights":
        model = model.bfloat16()
    kind = torch.bfloat16 if way == "autocast" else torch.float32
    train(model, excerpts(seed), 120, 0.001, warmup_steps=12, dtype=kind)
    moved = any(
        (p != 1).any() for name, p in model.named_parameters() if "gain" in name
    )
    loss = math.log(perplexity(model.float(), [inputs_and_targets(held_out)]))
    return loss, bool(moved)


# %% tags=["nbval-ignore-output"]
ways = ["float32", "autocast", "bfloat16 weights"]
table = {way: [trained(way, seed) for seed in (0, 1, 2)] for way in ways}
for way, runs in table.items():
    print(
        f"{way:17}", *(f"{loss:.4f}" for loss, _ in runs), [moved for _, moved in runs]
    )
full = torch.tensor([loss for loss, _ in table["float32"]])
for way in ways[1:]:
    gap = torch.tensor([loss for loss, _ in table[way]]) - full
    print(f"{way:17} minus float32: {gap.min():+.4f} to {gap.max():+.4f}")

# %%
for way in ways:
    assert all(moved == (way != "bfloat16 weights") for _, moved in table[way])
for full, auto, short in zip(*table.values(), strict=True):
    assert abs(auto[0] - full[0]) < 0.01 < short[0] - full[0]
print("as expected")

# %% [markdown]
# The gains never left 1: each update was below 1/512 and was rounded away. Every seed lost; autocast, which adds to float32 weights, stayed within 0.01. Notice it: count the weights that an update changed. (One small model, one learning rate; gradients, moments and the whole forward pass were bfloat16 too, and what each costs is not shown.)

# %% [markdown] tags=["slide"]
# ### “My timer says the GPU takes no time.”
#
# A GPU works through a queue; a call returns once its work is *queued*. We play it with a thread that works for 0.2 seconds. **Predict** both times.

# %% tags=["nbval-ignore-output", "slide"]
import time
from concurrent.futures import ThreadPoolExecutor

with ThreadPoolExecutor(1) as queue:
    start = time.perf_counter()
    work = queue.submit(time.sleep, 0.2)  # as a kernel is launched
    launched = time.perf_counter() - start
    work.result()  # as synchronize waits
    done = time.perf_counter() - start
print(f"not waited: {launched * 1000:.1f} ms; waited: {done * 1000:.1f} ms")
assert launched < 0.15 < done

# %% [markdown]
# The first number is the time to ask. Notice it: give twice the work; the first number stays. `timer` waits on both sides. `.item()` and `print` wait too: printing every loss holds the queue up.

# %% [markdown]
# ## On a GPU
#
# Parts 5 and 6 measured your GPU if you have one. Now training, with 16 bits where they are native. **Predict** the dtype of the weights afterwards.

# %% tags=["gpu"]
width = 1024 if on.type == "cuda" else 32
shape = DecoderConfig(len(characters), width, 2, n_heads=4, max_length=32)
model = Decoder(shape, torch.Generator().manual_seed(0)).to(on)
found = train(model, excerpts(0), 20, 0.001, warmup_steps=5, dtype=dtype(on))
print("the loss fell:", found[-1] < found[0])
print("weights:", next(model.parameters()).dtype)

# %% [markdown]
# Only on a GPU (not measured for this page): the queue, TF32's switch, the device's count of memory. Expect asking to take far less time than doing, and "high" to be faster where there are TF32 units.

# %% tags=["cuda"]
big = torch.randn(8192, 8192, device="cuda")
for precision in ("highest", "high"):  # "high" allows TF32
    torch.set_float32_matmul_precision(precision)
    torch.mm(big, big)  # the first call warms up
    hardware.synchronize(big.device)
    start = time.perf_counter()
    torch.mm(big, big)
    launched = time.perf_counter() - start
    hardware.synchronize(big.device)
    done = time.perf_counter() - start
    print(f"{precision:8} asked {launched * 1e3:.2f} ms, done {done * 1e3:.2f} ms")
torch.set_float32_matmul_precision("highest")
print(f"peak {hardware.peak_memory_bytes() / 2**20:.0f} MiB")
assert launched < done


# %% [markdown]
# ## Exercise
#
# **A. Build** (25 minutes). The ring. `parts[r][c]` is chunk `c` (a tensor) of process `r`'s gradient; $R$ processes, $R$ chunks each. `pass_on(chunks)` sends one chunk from every process to its right neighbour: it takes a list of $R$ tensors; entry `r` of the list that it gives came from process `r - 1` (entry 0: from the last). Write `ring_sum(parts, pass_on)`: return `held`, where `held[r][c]` is the sum of chunk `c` over all processes. A process computes only with its own parts and what it received (the check cannot see that). Call `pass_on` $2(R-1)$ times; leave `parts` unchanged.

# %%
def ring_sum(parts, pass_on):
    """Your code."""


# %%
def try_ring(answer):
    """Say whether the answer sums, and how much each process sent."""
    for n in (2, 3, 5):
        generator = torch.Generator().manual_seed(n)
        parts = [list(row) for row in torch.randn(n, n, 4, generator=generator)]
        before, sent = [[c.clone() for c in row] for row in parts], []

        def pass_on(chunks, n=n, sent=sent):
            if len(chunks) != n:
                raise ValueError(f"pass_on got {len(chunks)} chunks for {n} processes")
            sent.append(max(c.numel() for c in chunks))
            return [chunks[r - 1].clone() for r in range(n)]

        try:
            held = answer(parts, pass_on)
            if held is None:
                return "not written yet"
            message = judge(n, before, parts, held, sent)
        except ValueError as problem:
            return str(problem)
        except (AttributeError, IndexError, RuntimeError, TypeError) as problem:
            return f"it stopped ({problem}); held and chunks are lists of tensors"
        if message:
            return message
    return "right"


# %%
def judge(n, before, parts, held, sent):
    """Name the first thing that is wrong."""
    if any(
        not torch.equal(a, b)
        for x, y in zip(before, parts, strict=True)
        for a, b in zip(x, y, strict=True)
    ):
        return "parts has changed: copy the lists, and add into new tensors"
    for r in range(n):
        for c in range(n):
            total = sum(row[c] for row in before)
            if not torch.allclose(held[r][c], total, atol=1e-5):
                return f"{n} processes: process {r} does not hold the sum of chunk {c}; who has it?"
    needed = 2 * (n - 1) * 4
    if sum(sent) != needed:
        return f"{n} processes: sums right, but sent {sum(sent)} numbers, not {needed}"
    return ""


print(try_ring(ring_sum))

# %% [markdown]
# <details><summary>A nudge</summary>
#
# Two rounds: first sums travel and grow, until each process holds *one* finished chunk; then finished chunks travel.
# </details>
#
# <details><summary>A stronger hint</summary>
#
# First round, pass $s$ = 0 … R − 2: process $r$ sends chunk $(r - s) \bmod R$ and adds what it receives to its chunk $(r - 1 - s) \bmod R$. Which chunk is finished at process $r$ then? Start the second round with it.
# </details>
#
# <details><summary>Solution</summary>
#
# ```python
# def ring_sum(parts, pass_on):
#     n, held = len(parts), [list(row) for row in parts]
#     for s in range(n - 1):
#         got = pass_on([held[r][(r - s) % n] for r in range(n)])
#         for r in range(n):
#             c = (r - 1 - s) % n
#             held[r][c] = held[r][c] + got[r]
#     for s in range(n - 1):
#         got = pass_on([held[r][(r + 1 - s) % n] for r in range(n)])
#         for r in range(n):
#             held[r][(r - s) % n] = got[r]
#     return held
# ```
#
# (`n` is R.) Each process sends 1/R of the gradient, 2(R − 1) times.
# </details>
#
# **B. Debug** (5 minutes). `mystery` combines the gradients of two processes in one of three ways: "tokens" (the mean over all tokens), "means" (the mean of the processes' means) or "alike" (both processes take the first one's batch). Find out; each process has a list of token gradients.

# %%
coin = torch.randint(3, (1,), generator=torch.Generator().manual_seed(4)).item()


def mystery(first, second):
    """Combine two lists of token gradients."""
    both = [first, first if coin == 2 else second]
    if coin == 1:
        return sum(sum(part) / len(part) for part in both) / 2
    return sum(map(sum, both)) / sum(map(len, both))


way = None  # "tokens", "means" or "alike"

# %%
replies = {None: "not answered yet", ["tokens", "means", "alike"][coin]: "right"}
print(replies.get(way, "no: choose lists of unequal length and unequal mean"))

# %% [markdown]
# <details><summary>Solution</summary>
#
# `mystery([1, 1, 1], [5])` is 2 for tokens, 3 for means, 1 for alike; here, means.
# </details>

# %% [markdown]
# ## Quiz
#
# Choose, then read the reason. Where no kernel runs, the reasons are folded below each question.

# %%
from course_lib.quiz import show_quiz

show_quiz("scale")

# %% [markdown]
# ## Further reading
#
# - Williams, Waterman, Patterson (2009), *Roofline*, Communications of the ACM 52(4). The bend.
# - Micikevicius et al. (2018), *Mixed Precision Training*, [arXiv:1710.03740](https://arxiv.org/abs/1710.03740). Section 3: weights kept in float32, and scaled losses for float16.
# - Rajbhandari et al. (2020), *ZeRO*, [arXiv:1910.02054](https://arxiv.org/abs/1910.02054). The 16 bytes (there 2 + 2 + 12, in 16-bit training), and how to share them out.
# - Shoeybi et al. (2019), *Megatron-LM*, [arXiv:1909.08053](https://arxiv.org/abs/1909.08053). Section 3: how a layer is cut over devices.
# - Huang et al. (2019), *GPipe*, [arXiv:1811.06965](https://arxiv.org/abs/1811.06965). Layers on several devices, and the idle time.
