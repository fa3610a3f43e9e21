"""Small models to write with, and the loops that write."""

from types import SimpleNamespace

import torch
from torch import Tensor, nn

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw
from course_lib.kv_cache import AppendCache
from course_lib.masks import token_positions


class Scorer(nn.Module):
    """What the library's loops ask of a decoder, in a few numbers and fast.

    Args:
        scores: (vocab, vocab), what each id adds to the scores of those that follow.
        places: (place, vocab), added at each place; None: nothing.
        fade: what is left of an id's scores with each further id; 0: a last id alone
            decides.
    """

    def __init__(self, scores: Tensor, places: Tensor | None = None, fade: float = 0.0):
        super().__init__()
        vocab = len(scores)
        self.embedding = nn.Embedding.from_pretrained(scores, freeze=False)
        self.places = torch.zeros(64, vocab) if places is None else places
        self.fade = fade
        self.config = SimpleNamespace(
            vocab_size=vocab, max_length=len(self.places), positions="learned"
        )

    def forward(
        self,
        tokens: Tensor,
        memory=None,
        lengths=None,
        memory_lengths=None,
        cache=None,
        side: str = "right",
        only_last: bool = False,
    ) -> Tensor:
        """Score the id after each token, as Decoder.forward does."""
        positions = torch.arange(tokens.shape[1])
        if lengths is not None:
            positions = token_positions(tokens.shape[1], lengths, side=side)
        history, places = tokens, positions
        if cache is not None:
            step = cache.step(tokens.shape[1], lengths, side)
            ids = tokens[:, None, :, None].float()
            history, _, places = step.extend(0, ids, ids)
            history, positions = history[:, 0, :, 0].long(), step.positions
        apart = positions[..., :, None] - places[..., None, :]
        real = (apart >= 0) & (places >= 0)[..., None, :]
        weights = torch.where(real, self.fade ** apart.clamp(min=0), 0.0)
        logits = weights @ self.embedding(history) + self.places[positions.clamp(min=0)]
        at_padding = (positions < 0)[..., None]
        logits = torch.where(at_padding, self.embedding(tokens), logits)
        if only_last:
            last = positions.argmax(-1).expand(len(tokens))
            logits = logits[torch.arange(len(tokens)), last][:, None]
        return logits

    def check(self, *args, **kwargs) -> tuple[None, None]:
        """Accept everything: no memory is read."""
        return None, None

    def new_cache(self, batch: int = 1, max_length: int = 64) -> AppendCache:
        """Make a cache that keeps the ids themselves."""
        return AppendCache(batch, 1, 1, 1, max_length)


class Writer(nn.Module):
    """A small model to write with: tokens (batch, position) in, logits out.

    Args:
        decoder: the Scorer that does the work.
        name: how a learner sees it.
        watched: whether its use is asked about.
    """

    def __init__(self, decoder: Scorer, name: str, watched: bool = False):
        super().__init__()
        self.decoder, self.name = decoder, name
        self.watched, self.kept_graph = watched, False

    def forward(self, tokens: Tensor, lengths=None, side: str = "right") -> Tensor:
        """Score the id after each token; lengths tell real tokens from padding."""
        self.kept_graph = self.kept_graph or torch.is_grad_enabled()
        return self.decoder(tokens, lengths=lengths, side=side)

    def __repr__(self) -> str:
        return self.name


def random_writer(draw: Draw, vocab: int, watched: bool = False) -> Writer:
    """Make a model whose next id depends on all before it and on their places."""
    scores, places = 2 * draw.normal(vocab, vocab), 2 * draw.normal(64, vocab)
    return Writer(Scorer(scores, places, 0.7), f"a model of {vocab} ids", watched)


def pair_writer(scores: Tensor) -> Writer:
    """Make a model in which the next id depends on the last: scores (last, next)."""
    chances = [[round(float(p), 2) for p in row] for row in scores.softmax(-1)]
    return Writer(Scorer(scores), f"a model with P(next | last) = {chances}")


def use_generate(answer, model: Writer, *args, **kwargs):
    """Let an answer write; read the ids, and if it is asked that it kept graphs."""
    torch.manual_seed(0)  # so that chance, which has no place here, can be recognised
    ids = [int(i) for i in written(answer(model, *args, **kwargs))]
    kept = model.watched and model.kept_graph
    return {"ids": ids, "keeps graphs": True} if kept else ids


def use_generate_batch(answer, *args, **kwargs) -> list[list[int]]:
    """Let an answer write several rows; read the ids of each."""
    return [[int(i) for i in row] for row in written(answer(*args, **kwargs))]


def use_beam_search(answer, *args, **kwargs) -> list:
    """Let an answer search; read ids and score of each continuation."""
    found = [
        {"ids": [int(i) for i in ids], "score": float(score)}
        for ids, score in written(answer(*args, **kwargs))
    ]
    for _ in found:  # of equal scores either may come first
        for i in range(len(found) - 1):
            one, other = found[i], found[i + 1]
            equal = abs(one["score"] - other["score"]) < 1e-5
            if equal and one["ids"] > other["ids"]:
                found[i], found[i + 1] = other, one
    return found
