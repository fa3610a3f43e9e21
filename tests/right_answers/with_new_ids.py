"""Right answers to with_new_ids."""

import copy
from dataclasses import replace

import torch
from torch import nn

from course_lib.decoder import Decoder
from tests.answers import right


@right("a deep copy whose tables are replaced")
def deep_copy(decoder, n_new):
    new = copy.deepcopy(decoder)
    config = replace(decoder.config, vocab_size=decoder.config.vocab_size + n_new)
    new.config = new.embedding.config = config

    def longer(table):
        return nn.Parameter(
            torch.cat([table.data, table.data.mean(0).repeat(n_new, 1)])
        )

    new.embedding.weight = longer(decoder.embedding.weight)
    tied = decoder.config.tie_weights
    new.head.weight = new.embedding.weight if tied else longer(decoder.head.weight)
    return new


@right("parameter by parameter, each row filled in")
def by_parameter(decoder, n_new):
    v = decoder.config.vocab_size
    new = Decoder(replace(decoder.config, vocab_size=v + n_new))
    old = dict(decoder.named_parameters())
    with torch.no_grad():
        for name, parameter in new.named_parameters():
            if name in ("embedding.weight", "head.weight"):
                parameter[:v] = old[name]
                parameter[v:] = old[name].sum(0) / v
            else:
                parameter.copy_(old[name])
    return new


@right("rows appended one at a time, strict=False for the rest")
def row_by_row(decoder, n_new):
    v = decoder.config.vocab_size
    new = Decoder(replace(decoder.config, vocab_size=v + n_new), initialise=False)
    state = {k: t.clone() for k, t in decoder.state_dict().items()}
    for name in ("embedding.weight", "head.weight"):
        for _ in range(n_new):
            state[name] = torch.vstack([state[name], state[name].mean(0)])
    new.load_state_dict(state, strict=False)
    return new.eval()
