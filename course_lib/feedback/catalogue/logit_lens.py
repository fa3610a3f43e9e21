"""What goes wrong in logit_lens: reading the stream after each block."""

import torch
from torch import nn

from course_lib.config import DecoderConfig
from course_lib.decoder import Decoder
from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def logit_lens(decoder, tokens):
    streams = [embedded(decoder, tokens)]
    for block in decoder.stack.blocks:
        streams.append(block(streams[-1], causal=True))
    return torch.stack([read(decoder, stream) for stream in streams])


def embedded(decoder, tokens):
    """Give the stream before the first block."""
    return decoder.embedding(tokens, torch.arange(tokens.shape[1]))


def read(decoder, stream):
    """Let final norm and head read a state of the stream."""
    return decoder.head(decoder.stack.final_norm(stream))


class SmallDecoder(Decoder):
    """A decoder with every parameter random, and a name that a learner can read."""

    def __repr__(self) -> str:
        c = self.config
        return (
            f"a decoder: vocab {c.vocab_size}, d_model {c.d_model}, {c.n_layers} layers"
        )


def random_decoder(draw: Draw, *sizes: int, **options) -> SmallDecoder:
    """Make a decoder in which every part matters, in evaluation mode."""
    decoder = SmallDecoder(DecoderConfig(*sizes, **options), initialise=False)
    for parameter in decoder.parameters():
        nn.init.normal_(parameter, std=0.5, generator=draw.generator)
    return decoder.eval()


def use_lens(answer, decoder, tokens):
    """Call a lens; read a list of tensors as one."""
    found = written(answer(decoder, tokens))
    return torch.stack(tuple(found)) if isinstance(found, list | tuple) else found


task = Task(
    "logit_lens",
    asks="logits (layer + 1, batch, position, vocab): what final norm and head make of "
    "the stream after 0, 1, ... blocks.",
    lesson="08_decoder",
    reference=logit_lens,
    use=use_lens,
    read="4. The decoder",
)

COUNT = "How many states has the stream, if you count the one before the first block?"
NORM = "Who prepares the stream for the head, and is the stream itself changed by it?"
STREAM = "A block returns the new stream: what goes into the next one?"


@task.inputs
def probes(draw: Draw):
    small = random_decoder(draw, 3, 3, 1, 1, max_length=4)
    yield Probe("one block, one id", small, draw.ints(0, 3, 1, 1))
    small = random_decoder(draw, 3, 4, 2, 2, max_length=4)
    yield Probe("two blocks, two ids", small, draw.ints(0, 3, 1, 2))
    decoder = random_decoder(draw, 5, 4, 3, 2, max_length=7)
    yield Probe("three blocks, four ids", decoder, draw.ints(0, 5, 1, 4))
    yield Probe("two rows", decoder, draw.ints(0, 5, 2, 7))
    decoder = random_decoder(draw, 11, 6, 2, 3, max_length=5, tie_weights=False)
    yield Probe("a head of its own", decoder, draw.ints(0, 11, 2, 3))
    options = dict(positions="sinusoidal", embed_scale=True)
    decoder = random_decoder(draw, 7, 6, 2, 3, **options)
    yield Probe("sinusoids, and a scaled table", decoder, draw.ints(0, 7, 1, 5))
    options = dict(norm="rms", bias=False, gated=True, activation="silu")
    decoder = random_decoder(draw, 7, 6, 4, 3, max_length=9, **options)
    yield Probe("RMSNorm, gated", decoder, draw.ints(0, 7, 3, 5))


@task.property("one-state-more-than-blocks", COUNT)
def one_more(values) -> bool:
    return len(values["one block, one id"]) == 2


@task.property("states-differ", STREAM)
def states_differ(values) -> bool:
    first, second, *_ = values["three blocks, four ids"]
    return not torch.allclose(first, second)


@task.mistake("prenorm-no-final-norm", NORM)
def no_norm(decoder, tokens):
    streams = [embedded(decoder, tokens)]
    for block in decoder.stack.blocks:
        streams.append(block(streams[-1], causal=True))
    return decoder.head(torch.stack(streams))


@task.mistake("prenorm-no-final-norm", NORM)
def norm_at_the_end_only(decoder, tokens):
    streams = [embedded(decoder, tokens)]
    for block in decoder.stack.blocks:
        streams.append(block(streams[-1], causal=True))
    streams[-1] = decoder.stack.final_norm(streams[-1])
    return decoder.head(torch.stack(streams))


@task.mistake("norm-goes-on-in-the-stream", NORM)
def stream_normalised(decoder, tokens):
    residual = decoder.stack.final_norm(embedded(decoder, tokens))
    logits = [decoder.head(residual)]
    for block in decoder.stack.blocks:
        residual = decoder.stack.final_norm(block(residual, causal=True))
        logits.append(decoder.head(residual))
    return torch.stack(logits)


@task.mistake("embedding-left-out", COUNT)
def after_the_blocks(decoder, tokens):
    return logit_lens(decoder, tokens)[1:]


@task.mistake("last-state-left-out", COUNT)
def before_the_blocks(decoder, tokens):
    return logit_lens(decoder, tokens)[:-1]


@task.mistake("only-the-end", COUNT)
def only_the_end(decoder, tokens):
    return decoder(tokens)


@task.mistake("no-causal-mask", "What did a block's call in the statement say?")
def sees_the_future(decoder, tokens):
    streams = [embedded(decoder, tokens)]
    for block in decoder.stack.blocks:
        streams.append(block(streams[-1]))
    return read(decoder, torch.stack(streams))


@task.mistake(
    "positions-missing", "Would your model notice if the tokens changed places?"
)
def table_only(decoder, tokens):
    streams = [decoder.embedding.weight[tokens]]
    for block in decoder.stack.blocks:
        streams.append(block(streams[-1], causal=True))
    return read(decoder, torch.stack(streams))


@task.mistake("head-is-another-table", "Is the head always the embedding's table?")
def always_tied(decoder, tokens):
    streams = [embedded(decoder, tokens)]
    for block in decoder.stack.blocks:
        streams.append(block(streams[-1], causal=True))
    normed = decoder.stack.final_norm(torch.stack(streams))
    return normed @ decoder.embedding.weight.T


@task.mistake("blocks-side-by-side", STREAM)
def each_reads_the_embedding(decoder, tokens):
    start = embedded(decoder, tokens)
    after = [block(start, causal=True) for block in decoder.stack.blocks]
    return read(decoder, torch.stack([start, *after]))


@task.mistake("residual-added-twice", STREAM)
def residual_added_again(decoder, tokens):
    streams = [embedded(decoder, tokens)]
    for block in decoder.stack.blocks:
        streams.append(streams[-1] + block(streams[-1], causal=True))
    return read(decoder, torch.stack(streams))


@task.mistake("what-a-block-added", "Is it the stream that is read, or a difference?")
def differences(decoder, tokens):
    streams = [embedded(decoder, tokens)]
    for block in decoder.stack.blocks:
        streams.append(block(streams[-1], causal=True))
    stream = torch.stack(streams)
    return read(decoder, torch.cat([stream[:1], stream.diff(dim=0)]))


@task.mistake(
    "double-softmax-in-loss",
    "Were probabilities asked for?",
    "“The model should return probabilities.”",
)
def probabilities(decoder, tokens):
    return logit_lens(decoder, tokens).softmax(-1)


@task.mistake("axes-exchanged", "Which axis comes first in the result?")
def layer_after_batch(decoder, tokens):
    return logit_lens(decoder, tokens).transpose(0, 1)


@task.mistake("norm-goes-on-in-the-stream", NORM)
def normalised_after_each_block(decoder, tokens):
    residual = embedded(decoder, tokens)
    logits = [read(decoder, residual)]
    for block in decoder.stack.blocks:
        residual = decoder.stack.final_norm(block(residual, causal=True))
        logits.append(decoder.head(residual))
    return torch.stack(logits)
