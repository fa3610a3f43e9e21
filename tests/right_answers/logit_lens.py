"""Right answers to logit_lens."""

import copy

import torch

from tests.answers import right


@right("a loop, and a list of tensors")
def loop(decoder, tokens):
    x = decoder.embedding(tokens, torch.arange(tokens.size(1)))
    out = [decoder.head(decoder.stack.final_norm(x))]
    for block in decoder.stack.blocks:
        x = block(x, causal=True)
        out.append(decoder.head(decoder.stack.final_norm(x)))
    return out


@right("hooks on the blocks while the model runs")
def hooks(decoder, tokens):
    states, handles = [], []
    first = decoder.stack.blocks[0]
    handles.append(
        first.register_forward_pre_hook(lambda _, given: states.append(given[0]))
    )
    for block in decoder.stack.blocks:
        handles.append(
            block.register_forward_hook(lambda _, given, made: states.append(made))
        )
    with torch.no_grad():
        decoder(tokens)
    for handle in handles:
        handle.remove()
    return torch.stack([decoder.head(decoder.stack.final_norm(x)) for x in states])


@right("models that are cut short")
def cut_short(decoder, tokens):
    out = []
    for n in range(len(decoder.stack.blocks) + 1):
        x = decoder.embedding(tokens, torch.arange(tokens.size(1)))
        stack = copy.deepcopy(decoder.stack)
        for block in stack.blocks[:n]:
            x = block(x, causal=True)
        out.append(stack.final_norm(x) @ decoder.head.weight.T)
    return torch.stack(out)


@right("a mask in place of causal=True")
def with_a_mask(decoder, tokens):
    n = tokens.shape[1]
    stream = decoder.embedding(tokens, torch.arange(n))
    allowed = torch.ones(n, n, dtype=torch.bool).tril()
    result = decoder.head(decoder.stack.final_norm(stream))[None]
    for block in decoder.stack.blocks:
        stream = block(stream, allowed=allowed)
        new = decoder.head(decoder.stack.final_norm(stream))[None]
        result = torch.cat([result, new])
    return result
