"""Wrong answers to logit_lens."""

import torch

from tests.answers import wrong


@wrong("prenorm-no-final-norm")
def straight_to_the_head(decoder, tokens):
    x = decoder.embedding(tokens, torch.arange(tokens.size(1)))
    out = [decoder.head(x)]
    for block in decoder.stack.blocks:
        x = block(x, causal=True)
        out.append(decoder.head(x))
    return torch.stack(out)


@wrong("norm-goes-on-in-the-stream")
def norm_kept(decoder, tokens):
    x = decoder.embedding(tokens, torch.arange(tokens.size(1)))
    x = decoder.stack.final_norm(x)
    out = [decoder.head(x)]
    for i in range(len(decoder.stack.blocks)):
        x = decoder.stack.blocks[i](x, causal=True)
        x = decoder.stack.final_norm(x)
        out.append(decoder.head(x))
    return out


@wrong("embedding-left-out")
def one_a_block(decoder, tokens):
    x = decoder.embedding(tokens, torch.arange(tokens.size(1)))
    out = []
    for block in decoder.stack.blocks:
        x = block(x, causal=True)
        out.append(decoder.head(decoder.stack.final_norm(x)))
    return torch.stack(out)


@wrong("no-causal-mask")
def causal_forgotten(decoder, tokens):
    x = decoder.embedding(tokens, torch.arange(tokens.size(1)))
    out = [decoder.head(decoder.stack.final_norm(x))]
    for block in decoder.stack.blocks:
        x = block(x)
        out.append(decoder.head(decoder.stack.final_norm(x)))
    return torch.stack(out)


@wrong("blocks-side-by-side")
def always_from_x(decoder, tokens):
    x = decoder.embedding(tokens, torch.arange(tokens.size(1)))
    states = [x] + [block(x, causal=True) for block in decoder.stack.blocks]
    return [decoder.head(decoder.stack.final_norm(s)) for s in states]


@wrong("positions-missing")
def looked_up(decoder, tokens):
    x = torch.nn.functional.embedding(tokens, decoder.embedding.weight)
    out = [decoder.head(decoder.stack.final_norm(x))]
    for block in decoder.stack.blocks:
        x = block(x, causal=True)
        out.append(decoder.head(decoder.stack.final_norm(x)))
    return torch.stack(out)


@wrong("only-the-end")
def the_model_itself(decoder, tokens):
    x = decoder.embedding(tokens, torch.arange(tokens.size(1)))
    return decoder.head(decoder.stack(x, causal=True))


@wrong("residual-added-twice")
def plus_x(decoder, tokens):
    x = decoder.embedding(tokens, torch.arange(tokens.size(1)))
    out = [decoder.head(decoder.stack.final_norm(x))]
    for block in decoder.stack.blocks:
        x = x + block(x, causal=True)
        out.append(decoder.head(decoder.stack.final_norm(x)))
    return torch.stack(out)


@wrong("one-state-many-times")
def list_of_the_same(decoder, tokens):
    x = decoder.embedding(tokens, torch.arange(tokens.size(1)))
    states = [x]
    for block in decoder.stack.blocks:
        x = block(x, causal=True)
        states.append(x)
    return torch.stack([decoder.head(decoder.stack.final_norm(x)) for _ in states])
