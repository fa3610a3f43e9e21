"""What goes wrong in MultiHeadAttention."""

from functools import partial
from itertools import permutations

import torch
import torch.nn.functional as F
from torch import nn

from course_lib.attention import MultiHeadAttention, split_heads
from course_lib.feedback.adapters.answers import repeats
from course_lib.feedback.adapters.attention import use_heads
from course_lib.feedback.families import heads, weighing
from course_lib.feedback.families.faults import named
from course_lib.feedback.families.heads import Steps
from course_lib.feedback.families.weighing import by_hand, by_library, triangle
from course_lib.feedback.task import Draw, Probe, Task
from course_lib.masks import causal_mask, combine, padding_mask

task = Task(
    "MultiHeadAttention",
    asks="a module with linear layers to_queries, to_keys, to_values and to_output that "
    "attends in n_heads heads: module(x, memory=None, allowed=None).",
    lesson="03_attention",
    reference=MultiHeadAttention,
    use=use_heads,
    read="6. The module",
)

OUTPUT = "Which layer lets the heads talk to each other?"
SOURCE = "Where in this line does the memory enter?"
ASKS = "Who asks, and who is read?"
OWN = "How many different tables of weights does your module hold?"
OWNED = "How does the module learn that it owns a layer?"
AVERAGED = "Which of your layers makes what the heads average?"
FUTURE = "Is the memory in the future?"
STACKED = "In what order were these rows stacked?"
HEADINGS = {
    "scale-missing": "3. The root",
    "scale-by-d-head": "3. The root",
    "scale-by-d-model": "“Divide by the root of d_model.”",
    "heads-split-by-view": "“`view` cuts the heads.”",
}


LAYERS = ("to_queries", "to_keys", "to_values", "to_output")


def numbers(draw, d_model):
    """Draw the four layers' weights (outputs first) and biases."""
    weights = {f"{name}.weight": draw.normal(d_model, d_model) for name in LAYERS}
    return weights | {f"{name}.bias": draw.normal(d_model) for name in LAYERS}


def ones(d_model):
    """Give four layers that change nothing."""
    weights = {f"{name}.weight": torch.eye(d_model) for name in LAYERS}
    return weights | {f"{name}.bias": torch.zeros(d_model) for name in LAYERS}


@task.inputs
def probes(draw: Draw):
    steps = torch.tensor([[[0.0, 1.0], [2.0, 0.0]]])
    yield Probe("one head, weights of 1, biases of 0", 2, 1, steps, ones(2))
    yield Probe("two heads, weights of 1, biases of 0", 2, 2, steps, ones(2))
    yield Probe(
        "one head of 2, two positions", 2, 1, draw.normal(1, 2, 2), numbers(draw, 2)
    )
    yield Probe("two heads of 1", 2, 2, draw.normal(1, 3, 2), numbers(draw, 2))
    yield Probe("two heads of 3", 6, 2, draw.normal(2, 5, 6), numbers(draw, 6))
    weights, x = numbers(draw, 6), draw.normal(2, 4, 6)
    later = x.clone()
    later[:, 3] = draw.normal(6) + 3
    triangle = {"allowed": causal_mask(4)}
    yield Probe("a triangle of four", 6, 3, x, weights, **triangle)
    yield Probe("the same, another last token", 6, 3, later, weights, **triangle)
    yield Probe("its first row alone", 6, 3, x[:1], weights, **triangle)
    ragged = combine(causal_mask(4), padding_mask([2, 4], 4))
    yield Probe("a batch with padding", 6, 3, x, numbers(draw, 6), allowed=ragged)
    memory, real = draw.normal(2, 5, 4), padding_mask([3, 5], 5)
    yield Probe("a memory", 4, 2, draw.normal(2, 3, 4), numbers(draw, 4), memory)
    padded = (draw.normal(2, 3, 4), numbers(draw, 4), memory, real)
    yield Probe("a memory with padding", 4, 2, *padded)
    loud = 40 + draw.normal(1, 3, 2)
    yield Probe("scores near 1000", 2, 1, loud, ones(2))
    left = {"allowed": combine(causal_mask(3), padding_mask([2], 3, "left"))}
    last = draw.normal(1, 3, 4), numbers(draw, 4)
    yield Probe("a query that may read nothing", 4, 2, *last, **left)


@task.property("repeatable", "Does the same input give the same output twice?")
def no_chance(values) -> bool:
    return repeats(values)


@task.property("causality", "May an earlier query read the last token?")
def early_outputs_stay(values) -> bool:
    before, after = (
        values[label]["outputs"][:, :3]
        for label in ("a triangle of four", "the same, another last token")
    )
    return torch.allclose(before, after, atol=1e-4)


@task.property(
    "batch-independence", "Does a row read from the other rows of its batch?"
)
def a_row_alone_is_the_same(values) -> bool:
    batch, alone = (
        values[label]["outputs"][:1]
        for label in ("a triangle of four", "its first row alone")
    )
    return torch.allclose(batch, alone, atol=1e-4)


class Heads(nn.Module):
    """The right module, but for the steps that a mistake exchanges."""

    steps, bias = Steps(), True

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.to_queries = nn.Linear(d_model, d_model, self.bias)
        self.to_keys = nn.Linear(d_model, d_model, self.bias)
        self.to_values = nn.Linear(d_model, d_model, self.bias)
        self.to_output = nn.Linear(d_model, d_model, self.bias)

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        layers = self.layers()
        return self.to_output(self.steps.read(x, source, layers, self.n_heads, allowed))

    def layers(self):
        return self.to_queries, self.to_keys, self.to_values


def known(id, hint, **steps):
    """Enter the right module with other steps."""
    module = type("Other", (Heads,), {"steps": Steps(**steps)})
    task.mistake(id, hint, HEADINGS.get(id))(named(module, id))


for fault in weighing.FAULTS:
    known(fault.id, fault.hint, attend=fault.step)
for fault in heads.CUTS:
    known(fault.id, fault.hint, split=fault.step.split, merge=fault.step.merge)


def without_a_mask_of_its_own(allowed, queries, keys):
    """Draw a triangle where the caller gives no mask."""
    return triangle(queries, keys) if allowed is None else allowed


known("always-causal", weighing.FIRST, attend=by_library(without_a_mask_of_its_own))
known(
    "one-head-only",
    "How many heads do you really have?",
    split=lambda x, n_heads: split_heads(x, 2),
)
known(
    "heads-count-for-width",
    "Is n_heads the number of heads, or the width of one?",
    split=lambda x, n_heads: split_heads(x, x.shape[-1] // n_heads),
)
known(
    "heads-summed",
    "How many numbers had a position before it was cut?",
    merge=lambda x: x.mean(1).repeat(1, 1, x.shape[1]),
)
known(
    "heads-not-transposed",
    "Between which two axes is the product of scores?",
    split=lambda x, n_heads: x.unflatten(-1, (n_heads, -1)),
    merge=lambda x: x.flatten(-2),
    attend=lambda q, k, v, allowed: by_hand(q, k, v),
)
known("cross-attn-ignores-memory", SOURCE, source=lambda x, memory: (x, x))
known("cross-attn-values-from-x", SOURCE, source=lambda x, memory: (memory, x))
known("queries-from-memory", ASKS, asks=lambda x, memory: memory)
known(
    "queries-from-memory",
    ASKS,
    asks=lambda x, memory: memory,
    source=lambda x, memory: (x, x),
)
known(
    "layers-swapped",
    AVERAGED,
    attend=lambda q, k, v, allowed: by_hand(q, v, k, allowed),
)
known(
    "sdpa-dropout-at-eval",
    "A function has no eval mode: who tells it training is over?",
    attend=partial(F.scaled_dot_product_attention, dropout_p=0.1),
)


@task.mistake("cross-attn-ignores-memory", SOURCE)
class IgnoresMemoryAndItsMask(Heads):
    def forward(self, x, memory=None, allowed=None):
        return super().forward(x, None, allowed if memory is None else None)


@task.mistake("causal-mask-in-cross-attn", FUTURE)
class TriangleOverMemory(Heads):
    unless_masked = False

    def forward(self, x, memory=None, allowed=None):
        if memory is not None and (allowed is None or not self.unless_masked):
            allowed = combine(allowed, causal_mask(x.shape[1], memory.shape[1], 0))
        return super().forward(x, memory, allowed)


@task.mistake("causal-mask-in-cross-attn", FUTURE)
class TriangleOverMemoryUnlessMasked(TriangleOverMemory):
    unless_masked = True


@task.mistake("layers-swapped", AVERAGED)
class QueriesAndKeysSwapped(Heads):
    def layers(self):
        return self.to_keys, self.to_queries, self.to_values


class UsesOneTwice(Heads):
    """A layer does another one's work, too; that one is there and idle."""

    idle, used = "", ""

    def layers(self):
        return [getattr(self, name) for name in self.at_work()[:3]]

    def at_work(self):
        return [self.used if name == self.idle else name for name in LAYERS]

    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        read = self.steps.read(x, source, self.layers(), self.n_heads, allowed)
        return getattr(self, self.at_work()[3])(read)


for idle, used in permutations(LAYERS, 2):
    task.mistake(
        "projection-used-twice", f"Change {idle}.weight: does your output move?"
    )(type(f"{idle}_by_{used}", (UsesOneTwice,), {"idle": idle, "used": used}))


@task.mistake("values-not-projected", "Which layer makes the values?")
class ValuesAreTheSource(Heads):
    def layers(self):
        return self.to_queries, self.to_keys, nn.Identity()


@task.mistake("no-output-projection", OUTPUT)
class NoOutput(Heads):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        self.to_output = nn.Identity()


@task.mistake("no-output-projection", OUTPUT)
class UnusedOutput(Heads):
    def forward(self, x, memory=None, allowed=None):
        output, self.to_output = self.to_output, nn.Identity()
        found = super().forward(x, memory, allowed)
        self.to_output = output
        return found


@task.mistake("layers-without-bias", "What does a linear layer add after the product?")
class NoBias(Heads):
    bias = False


@task.mistake("one-layer-repeated", OWN)
class OneLayer(Heads):
    alike = LAYERS

    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        for name in self.alike:
            setattr(self, name, getattr(self, self.alike[-1]))


@task.mistake("one-layer-repeated", OWN)
class OneLayerForThree(OneLayer):
    alike = LAYERS[:3]


@task.mistake("one-layer-repeated", OWN)
class QueriesAreKeys(OneLayer):
    alike = LAYERS[:2]


@task.mistake("layers-in-python-list", OWNED)
class KeptInAList(Heads):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        hidden = {name: getattr(self, name) for name in list(self._modules)}
        self._modules.clear()
        self.__dict__.update(hidden)


@task.mistake("layers-in-python-list", OWNED)
class KeptInADict(Heads):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        self.__dict__["hidden"] = dict(self._modules)
        self._modules.clear()

    def forward(self, x, memory=None, allowed=None):
        self.__dict__.update(self.hidden)
        return super().forward(x, memory, allowed)


@task.mistake("fused-qkv-layout", STACKED)
class ThreeForEachHead(Heads):
    def forward(self, x, memory=None, allowed=None):
        queries, keys, values = self.cut(x)
        if memory is not None:
            _, keys, values = self.cut(memory)
        read = by_hand(queries, keys, values, allowed)
        return self.to_output(self.steps.merge(read))

    def cut(self, x):
        stacked = torch.cat([layer(x) for layer in self.layers()], -1)
        return split_heads(stacked, self.n_heads).chunk(3, -1)


@task.mistake("fused-qkv-layout", STACKED)
class TwoForEachHead(Heads):
    def forward(self, x, memory=None, allowed=None):
        source = x if memory is None else memory
        stacked = torch.cat([self.to_keys(source), self.to_values(source)], -1)
        keys, values = split_heads(stacked, self.n_heads).chunk(2, -1)
        queries = split_heads(self.to_queries(x), self.n_heads)
        read = by_hand(queries, keys, values, allowed)
        return self.to_output(self.steps.merge(read))


@task.mistake("batch-first-mixup", "Which of your axes does this layer treat as time?")
class TimeFirst(Heads):
    def forward(self, x, memory=None, allowed=None):
        x = x.transpose(0, 1)
        memory = None if memory is None else memory.transpose(0, 1)
        return super().forward(x, memory).transpose(0, 1)


@task.mistake("residual-inside", "Who adds the residual: this module, or the block?")
class AddsItsInput(Heads):
    def forward(self, x, memory=None, allowed=None):
        return x + super().forward(x, memory, allowed)


@task.mistake("input-returned", "Which of your layers does x go through?")
class ReturnsItsInput(Heads):
    def forward(self, x, memory=None, allowed=None):
        return x.clone()
