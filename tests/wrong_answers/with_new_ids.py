"""Wrong answers to with_new_ids."""

import copy
from dataclasses import replace

import torch
from torch import nn

from course_lib.decoder import Decoder
from tests.answers import wrong


def larger_config(decoder, n_new):
    return replace(decoder.config, vocab_size=decoder.config.vocab_size + n_new)


def with_mean(table, n_new):
    return torch.cat([table, table.mean(0, keepdim=True).expand(n_new, -1)])


@wrong("tie-broken")
def two_parameters(decoder, n_new):
    new = copy.deepcopy(decoder)
    new.config = new.embedding.config = larger_config(decoder, n_new)
    new.embedding.weight = nn.Parameter(with_mean(new.embedding.weight.data, n_new))
    new.head.weight = nn.Parameter(with_mean(new.head.weight.data, n_new))
    return new


@wrong("head-forgotten")
def only_the_embedding(decoder, n_new):
    new = copy.deepcopy(decoder)
    new.config = new.embedding.config = larger_config(decoder, n_new)
    new.embedding.weight = nn.Parameter(with_mean(new.embedding.weight.data, n_new))
    return new


@wrong("new-rows-zero")
def zero_rows(decoder, n_new):
    new = Decoder(larger_config(decoder, n_new))
    state = decoder.state_dict()
    for key in ("embedding.weight", "head.weight"):
        zeros = torch.zeros(n_new, state[key].shape[1])
        state[key] = torch.cat([state[key], zeros], 0)
    new.load_state_dict(state)
    return new


@wrong("new-rows-random")
def as_initialised(decoder, n_new):
    new = Decoder(larger_config(decoder, n_new))
    state = decoder.state_dict()
    v = decoder.config.vocab_size
    for key in ("embedding.weight", "head.weight"):
        state[key] = torch.cat([state[key], new.state_dict()[key][v:]], 0)
    new.load_state_dict(state)
    return new


@wrong("new-rows-random")
def normal_rows(decoder, n_new):
    new = Decoder(larger_config(decoder, n_new), initialise=False)
    state, d = decoder.state_dict(), decoder.config.d_model
    rows = torch.randn(n_new, d) * 0.02
    for key in ("embedding.weight", "head.weight"):
        state[key] = torch.cat([state[key], rows])
    new.load_state_dict(state)
    return new


@wrong("untied-made-tied")
def tied_at_the_end(decoder, n_new):
    config = replace(larger_config(decoder, n_new), tie_weights=True)
    new = Decoder(config, initialise=False)
    state = decoder.state_dict()
    state["embedding.weight"] = with_mean(state["embedding.weight"], n_new)
    state["head.weight"] = state["embedding.weight"]
    new.load_state_dict(state)
    return new


@wrong("old-model-changed")
def in_place(decoder, n_new):
    table = nn.Parameter(with_mean(decoder.embedding.weight.data, n_new))
    head = nn.Parameter(with_mean(decoder.head.weight.data, n_new))
    decoder.config = decoder.embedding.config = larger_config(decoder, n_new)
    decoder.embedding.weight = table
    decoder.head.weight = table if decoder.config.tie_weights else head
    return decoder


@wrong("shared-with-the-old-model")
def same_stack(decoder, n_new):
    new = Decoder(larger_config(decoder, n_new), initialise=False)
    new.stack = decoder.stack
    new.embedding.positions = decoder.embedding.positions
    with torch.no_grad():
        new.embedding.weight.copy_(with_mean(decoder.embedding.weight, n_new))
        new.head.weight.copy_(with_mean(decoder.head.weight, n_new))
    return new


@wrong("config-not-told")
def old_config(decoder, n_new):
    new = copy.deepcopy(decoder)
    table = nn.Parameter(with_mean(new.embedding.weight.data, n_new))
    head = nn.Parameter(with_mean(new.head.weight.data, n_new))
    new.embedding.weight = table
    new.head.weight = table if decoder.config.tie_weights else head
    return new
