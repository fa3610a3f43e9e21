"""What goes wrong in copy_mixture: a decoder that may copy from its source."""

import torch

from course_lib.feedback.task import Draw, Probe, Task


def copy_mixture(weights, source, probabilities, copying):
    one_hot = torch.eye(probabilities.shape[-1])[source]  # (batch, key, vocab)
    share = copying[..., None]
    return (1 - share) * probabilities + share * (weights @ one_hot)


task = Task(
    "copy_mixture",
    asks="(batch, query, vocab) probabilities: 1 - copying of the decoder's own, and "
    "copying of the weights, each given to the id at its place of the source.",
    lesson="05_cross_attention",
    reference=copy_mixture,
    read="7. Where a trained decoder looks",
)


@task.inputs
def probes(draw: Draw):
    def some(batch, n_queries, n_keys, vocab, copying=None):
        weights = draw.normal(batch, n_queries, n_keys).softmax(-1)
        source = torch.stack([draw.order(vocab)[:n_keys] for _ in range(batch)])
        own = draw.normal(batch, n_queries, vocab).softmax(-1)
        share = torch.rand(batch, n_queries, generator=draw.generator)
        return [weights, source, own, share if copying is None else share * 0 + copying]

    yield Probe("one query, half copied", *some(1, 1, 3, 5, 0.5))
    yield Probe("only copied", *some(1, 2, 3, 5, 1.0))
    yield Probe("nothing copied", *some(1, 2, 3, 5, 0.0))
    twice = some(1, 2, 4, 5)
    twice[1] = torch.tensor([[3, 1, 3, 0]])
    yield Probe("a word that stands twice", *twice)
    yield Probe("two rows of one query", *some(2, 1, 2, 3))
    yield Probe("two rows", *some(2, 3, 4, 7))
    padded = some(2, 3, 5, 7)
    padded[1][0, 3:] = 0
    padded[0][0, :, 3:] = 0
    padded[0] /= padded[0].sum(-1, keepdim=True)
    yield Probe("a padded source", *padded)
    same_word = some(3, 2, 5, 11)
    same_word[1] = torch.tensor([[4, 4, 4, 4, 4], [6, 2, 6, 2, 6], [0, 10, 0, 0, 10]])
    yield Probe("the same word again and again", *same_word)


@task.property("sums-to-one", "What do the probabilities of one query add up to?")
def sums_to_one(values) -> bool:
    value = values["a word that stands twice"]
    return torch.allclose(value.sum(-1), torch.ones(value.shape[:-1]), atol=1e-4)


def scattered(weights, source, probabilities):
    """Write weights instead of adding them: the last place of a word wins."""
    copied = torch.zeros_like(probabilities)
    for row, ids in enumerate(source.tolist()):
        for key, i in enumerate(ids):
            copied[row, :, i] = weights[row, :, key]
    return copied


@task.mistake(
    "repeated-word-overwritten",
    "A word stands at two places of the source: what becomes of the first weight?",
)
def last_place_wins(weights, source, probabilities, copying):
    copied = scattered(weights, source, probabilities)
    return (1 - copying[..., None]) * probabilities + copying[..., None] * copied


@task.mistake(
    "repeated-word-overwritten",
    "A word stands at two places of the source: does the copy get one weight or both?",
)
def largest_place_wins(weights, source, probabilities, copying):
    one_hot = torch.eye(probabilities.shape[-1])[source]
    copied = (weights[..., None] * one_hot[:, None]).amax(2)
    return (1 - copying[..., None]) * probabilities + copying[..., None] * copied


@task.mistake("shares-swapped", "With copying = 1, what is the result?")
def swapped(weights, source, probabilities, copying):
    return copy_mixture(weights, source, probabilities, 1 - copying)


@task.mistake("own-share-not-reduced", "What do both parts together add up to?")
def added_on_top(weights, source, probabilities, copying):
    copied = copy_mixture(weights, source, probabilities, torch.ones_like(copying))
    return probabilities + copying[..., None] * copied


@task.mistake("copying-ignored", "With copying = 0, what is the result?")
def half_and_half(weights, source, probabilities, copying):
    return copy_mixture(weights, source, probabilities, torch.full_like(copying, 0.5))


@task.mistake("copying-ignored", "With copying = 0, what is the result?")
def only_copies(weights, source, probabilities, copying):
    return copy_mixture(weights, source, probabilities, torch.ones_like(copying))


@task.mistake("source-of-another-row", "Whose source does the second row copy from?")
def first_source_for_all(weights, source, probabilities, copying):
    return copy_mixture(weights, source[:1].expand_as(source), probabilities, copying)


@task.mistake(
    "only-the-largest-weight",
    "Three places have weight. How many of them does your copy use?",
)
def hard_copy(weights, source, probabilities, copying):
    hard = torch.zeros_like(weights).scatter(-1, weights.argmax(-1, keepdim=True), 1.0)
    return copy_mixture(hard, source, probabilities, copying)


@task.mistake(
    "words-counted", "Does a place that is hardly read count like one that is read?"
)
def counts_words(weights, source, probabilities, copying):
    real = (weights > 0).float()
    return copy_mixture(
        real / real.sum(-1, keepdim=True), source, probabilities, copying
    )


@task.mistake(
    "place-taken-for-id",
    "Weight number 2 belongs to a place. Which id stands at that place?",
    "8. Always?",
)
def places_as_ids(weights, source, probabilities, copying):
    places = torch.arange(source.shape[1]).expand_as(source)
    return copy_mixture(weights, places, probabilities, copying)


@task.mistake(
    "softmax-again", "These are probabilities already: what does softmax do to them?"
)
def normalised_again(weights, source, probabilities, copying):
    return copy_mixture(weights, source, probabilities, copying).softmax(-1)


@task.mistake(
    "softmax-again", "The weights sum to 1 already: what does softmax do to them?"
)
def weights_softmaxed(weights, source, probabilities, copying):
    return copy_mixture(weights.softmax(-1), source, probabilities, copying)
