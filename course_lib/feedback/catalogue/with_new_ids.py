"""What goes wrong in with_new_ids: a larger vocabulary."""

import copy
from dataclasses import replace

import torch
from torch import nn

from course_lib.decoder import Decoder
from course_lib.feedback.adapters.answers import written
from course_lib.feedback.catalogue.logit_lens import random_decoder
from course_lib.feedback.task import Draw, Probe, Task


def with_new_ids(decoder, n_new):
    return grown(decoder, lambda table: table.mean(0).repeat(n_new, 1))


def grown(decoder, new_rows, tie=None):
    """Build a larger decoder; new_rows makes rows from a table."""
    tied = decoder.config.tie_weights if tie is None else tie
    added = new_rows(decoder.embedding.weight.detach())
    size = decoder.config.vocab_size + len(added)
    config = replace(decoder.config, vocab_size=size, tie_weights=tied)
    larger = Decoder(config, initialise=False)
    old = dict(decoder.named_parameters())
    with torch.no_grad():
        for name, parameter in larger.named_parameters():
            source = old.get(name, decoder.head.weight)
            if name in ("embedding.weight", "head.weight"):
                source = torch.cat([source, new_rows(source)])
            parameter.copy_(source)
    return larger.eval()


@torch.no_grad()
def use_larger(answer, decoder, n_new, tokens):
    """Enlarge; read what the larger model says, holds and shares."""
    before = decoder(tokens.clamp(max=decoder.config.vocab_size - 1))
    size = decoder.config.vocab_size
    torch.manual_seed(0)  # so that chance, which has no place here, can be recognised
    larger = written(answer(decoder, n_new)).eval()
    held = {p.data_ptr() for p in decoder.parameters()}
    after = decoder(tokens.clamp(max=size - 1))
    return {
        "vocab_size": larger.config.vocab_size,
        "parameters": sum(p.numel() for p in larger.parameters()),
        "shared with the old model": any(
            p.data_ptr() in held for p in larger.parameters()
        ),
        "the old model is as it was": after.shape == before.shape
        and bool((after == before).all()),
        "logits": larger(tokens),
    }


task = Task(
    "with_new_ids",
    asks="a Decoder with n_new more ids, whose rows are the mean of the old rows; all "
    "else as in the old one, nothing shared with it.",
    lesson="08_decoder",
    reference=with_new_ids,
    use=use_larger,
    read="3. One table, two sizes",
)

TIED = "Is it one tensor under two names, as before, or two?"
TIED_HEADING = "“Tied means: equal numbers.”"
COUNT, COPIED, REFUSED = "6. Count", "5. One switch", "Check"
ROW = "Over what is the mean taken, and which rows get it?"
OLD = "Whose numbers did you write into, and who else reads them?"


@task.inputs
def probes(draw: Draw):
    def ids(decoder, n_new, *shape):
        tokens = draw.ints(0, decoder.config.vocab_size, *shape)
        tokens[0, -1] = decoder.config.vocab_size + n_new - 1
        return tokens

    small = random_decoder(draw, 3, 3, 1, 1, max_length=4)
    yield Probe("3 ids and a new one", small, 1, tokens=draw.ints(0, 3, 1, 2))
    yield Probe("the new one is read", small, 1, tokens=ids(small, 1, 1, 3))
    decoder = random_decoder(draw, 7, 6, 2, 3, max_length=5)
    yield Probe("two new ids", decoder, 2, tokens=ids(decoder, 2, 2, 5))
    decoder = random_decoder(draw, 5, 6, 2, 3, max_length=7, tie_weights=False)
    yield Probe("a head of its own", decoder, 3, tokens=ids(decoder, 3, 1, 2))
    options = dict(positions="rotary", norm="rms", bias=False, n_kv_heads=1)
    decoder = random_decoder(draw, 11, 12, 2, 3, gated=True, **options)
    yield Probe("rotary, RMSNorm, gated", decoder, 5, tokens=ids(decoder, 5, 1, 6))
    options = dict(positions="sinusoidal", embed_scale=True, pre_norm=False)
    decoder = random_decoder(draw, 9, 6, 2, 2, **options)
    yield Probe(
        "post-norm, scaled, sinusoids", decoder, 4, tokens=ids(decoder, 4, 2, 3)
    )


@task.property("new-logit-is-the-mean", ROW)
def new_logit_is_the_mean(values) -> bool:
    logits = values["3 ids and a new one"]["logits"]
    return torch.allclose(logits[..., 3], logits[..., :3].mean(-1), atol=1e-4)


@task.property("the-old-model-stays", OLD)
def the_old_model_stays(values) -> bool:
    return all(value["the old model is as it was"] for value in values.values())


@task.mistake("tie-broken", TIED, TIED_HEADING)
def two_equal_tables(decoder, n_new):
    larger = with_new_ids(decoder, n_new)
    larger.head.weight = nn.Parameter(larger.head.weight.detach().clone())
    return larger


@task.mistake("untied-made-tied", TIED, TIED_HEADING)
def always_tied(decoder, n_new):
    return grown(decoder, lambda table: table.mean(0).repeat(n_new, 1), tie=True)


@task.mistake("head-forgotten", "Which tensors have a row for each id?", COUNT)
def head_keeps_its_size(decoder, n_new):
    larger = with_new_ids(decoder, n_new)
    larger.head.weight = nn.Parameter(decoder.head.weight.detach().clone())
    return larger


@task.mistake("head-forgotten", "Which tensors have a row for each id?", COUNT)
def head_drawn_anew(decoder, n_new):
    larger = with_new_ids(decoder, n_new)
    if not decoder.config.tie_weights:
        larger.head.weight = Decoder(larger.config).head.weight
    return larger


@task.mistake("head-from-embedding", "Whose mean does a new row of the head get?")
def head_gets_the_embeddings_mean(decoder, n_new):
    mean = decoder.embedding.weight.detach().mean(0).repeat(n_new, 1)
    return grown(decoder, lambda table: mean)


@task.mistake("new-rows-zero", ROW)
def zeros(decoder, n_new):
    return grown(decoder, lambda table: table.new_zeros(n_new, table.shape[1]))


@task.mistake("new-rows-random", ROW)
def large_random_rows(decoder, n_new):
    rows = torch.randn(n_new, decoder.config.d_model)
    return grown(decoder, lambda table: rows)


@task.mistake("new-rows-random", ROW)
def small_random_rows(decoder, n_new):
    rows = 0.02 * torch.randn(n_new, decoder.config.d_model)
    return grown(decoder, lambda table: rows)


@task.mistake("new-rows-random", ROW)
def rows_of_a_fresh_model(decoder, n_new):
    larger = with_new_ids(decoder, n_new)
    fresh = Decoder(larger.config)
    with torch.no_grad():
        larger.embedding.weight[-n_new:] = fresh.embedding.weight[-n_new:]
        larger.head.weight[-n_new:] = fresh.head.weight[-n_new:]
    return larger


@task.mistake("one-old-row-repeated", ROW)
def last_row(decoder, n_new):
    return grown(decoder, lambda table: table[-1:].repeat(n_new, 1))


@task.mistake("one-old-row-repeated", ROW)
def first_row(decoder, n_new):
    return grown(decoder, lambda table: table[:1].repeat(n_new, 1))


@task.mistake("mean-of-everything", ROW)
def one_number(decoder, n_new):
    return grown(decoder, lambda table: table.mean().expand(n_new, table.shape[1]))


@task.mistake("new-rows-first", "Which id does the first row of the table belong to?")
def new_rows_first(decoder, n_new):
    larger = with_new_ids(decoder, n_new)
    with torch.no_grad():
        for table in {larger.embedding.weight, larger.head.weight}:
            table.copy_(table.roll(n_new, 0))
    return larger


@task.mistake("old-model-changed", OLD, TIED_HEADING)
def changed_in_place(decoder, n_new):
    larger = with_new_ids(decoder, n_new)
    decoder.config = decoder.embedding.config = larger.config
    decoder.embedding.weight = larger.embedding.weight
    decoder.head.weight = larger.head.weight
    return decoder


@task.mistake("shared-with-the-old-model", OLD, TIED_HEADING)
def stack_taken_over(decoder, n_new):
    larger = with_new_ids(decoder, n_new)
    larger.stack = decoder.stack
    return larger


@task.mistake(
    "other-weights-fresh", "Does the larger model know what the old one did?", COPIED
)
def only_the_tables(decoder, n_new):
    larger, good = Decoder(replace(decoder.config)), with_new_ids(decoder, n_new)
    larger.config = larger.embedding.config = good.config
    larger.embedding.weight, larger.head.weight = (
        good.embedding.weight,
        good.head.weight,
    )
    return larger


@task.mistake(
    "other-weights-fresh", "Does the larger model know what the old one did?", COPIED
)
def drawn_again(decoder, n_new):
    good = with_new_ids(decoder, n_new)
    larger = Decoder(good.config)
    larger.embedding.weight, larger.head.weight = (
        good.embedding.weight,
        good.head.weight,
    )
    return larger


@task.mistake(
    "config-not-told", "Who checks whether an id is in the vocabulary?", REFUSED
)
def config_not_told(decoder, n_new):
    larger, good = copy.deepcopy(decoder), with_new_ids(decoder, n_new)
    larger.embedding.weight, larger.head.weight = (
        good.embedding.weight,
        good.head.weight,
    )
    return larger


@task.mistake(
    "config-not-told", "Who checks whether an id is in the vocabulary?", REFUSED
)
def embedding_not_told(decoder, n_new):
    larger, good = copy.deepcopy(decoder), with_new_ids(decoder, n_new)
    larger.config = good.config
    larger.embedding.weight, larger.head.weight = (
        good.embedding.weight,
        good.head.weight,
    )
    return larger


@task.mistake("head-from-embedding", "Whose mean does a new row of the head get?")
def head_is_the_embeddings_table(decoder, n_new):
    larger = with_new_ids(decoder, n_new)
    with torch.no_grad():
        larger.head.weight.copy_(larger.embedding.weight)
    return larger
