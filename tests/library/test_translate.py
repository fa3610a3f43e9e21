"""The translator: batches of pairs, translating, training with validation."""

from dataclasses import replace

import pytest
import torch

from course_lib.apps.translate.batches import PairBatches
from course_lib.apps.translate.fit import Recipe, fit_translator
from course_lib.apps.translate.translator import Translator
from course_lib.data.number_names import number_names
from course_lib.generation import pad_rows
from course_lib.tokens import CharacterTokenizer, WordTokenizer

SOURCE = CharacterTokenizer("abcde")
TARGET = CharacterTokenizer("abcde", specials=["bos", "eos"])
RECIPE = Recipe(
    d_model=32,
    n_layers=1,
    n_heads=2,
    max_length=12,
    n_steps=400,
    batch_size=16,
    learning_rate=5e-3,
    check_every=25,
    patience=20,
)


def reversals(n, seed=0):
    """Words of 1 to 5 letters and themselves backwards."""
    generator = torch.Generator().manual_seed(seed)
    pairs = []
    for _ in range(n):
        length = int(torch.randint(1, 6, (), generator=generator))
        letters = torch.randint(0, 5, (length,), generator=generator).tolist()
        word = "".join("abcde"[i] for i in letters)
        pairs.append((word, word[::-1]))
    return pairs


def new_translator(recipe=RECIPE):
    return Translator(recipe.model(SOURCE, TARGET), SOURCE, TARGET)


@pytest.fixture(scope="module")
def numbers():
    """Number names up to 999, German in parts, in a random order."""
    pairs = number_names(range(1000))
    order = torch.randperm(1000, generator=torch.Generator().manual_seed(0))
    return [pairs[i] for i in order.tolist()]


@pytest.fixture(scope="module")
def trained(numbers):
    english = WordTokenizer([source for source, _ in numbers])
    german = WordTokenizer([t for _, t in numbers], "|", specials=["bos", "eos"])
    recipe = replace(RECIPE, d_model=48, batch_size=64, n_steps=350)
    translator = Translator(recipe.model(english, german), english, german)
    fit_translator(translator, numbers[:800], numbers[800:850], recipe)
    return translator


def rows_of(batch):
    """The pairs of a batch, read back from its ids."""
    (sources, tokens, source_lengths, lengths), targets = batch
    rows = []
    for row, (n_source, n) in enumerate(zip(source_lengths, lengths, strict=True)):
        assert tokens[row, 0] == TARGET.bos_id
        assert targets[row, n - 1] == TARGET.eos_id
        assert (targets[row, n:] == -100).all()
        assert torch.equal(tokens[row, 1:n], targets[row, : n - 1])
        written = TARGET.decode(targets[row, : n - 1])
        rows.append((SOURCE.decode(sources[row, :n_source]), written))
    return rows


def test_one_pass_holds_every_pair_once_and_each_batch_is_whole():
    pairs = list(enumerate_words())
    batches = PairBatches(pairs, SOURCE, TARGET, batch_size=7)
    seen = [row for i in range(len(batches)) for row in rows_of(batches(i))]
    assert sorted(seen) == sorted(pairs)
    assert len(batches) == -(-len(pairs) // 7)


def enumerate_words():
    return [(a + b, b + a) for a in "abcde" for b in "abcde"]


def test_a_micro_batch_does_not_depend_on_which_were_asked_before():
    pairs = reversals(50)
    batches = PairBatches(pairs, SOURCE, TARGET, batch_size=8, seed=3)
    in_order = [rows_of(batches(i)) for i in range(20)]
    again = PairBatches(pairs, SOURCE, TARGET, batch_size=8, seed=3)
    assert rows_of(again(17)) == in_order[17]
    assert rows_of(again(2)) == in_order[2]


def test_each_pass_and_each_seed_has_an_order_of_its_own():
    pairs = list(enumerate_words())

    def order(seed, number):
        batches = PairBatches(pairs, SOURCE, TARGET, batch_size=5, seed=seed)
        first = number * len(batches)
        return [rows_of(batches(first + i)) for i in range(len(batches))]

    assert order(0, 0) != order(0, 1)
    assert order(0, 0) != order(1, 0)


def test_like_lengths_share_a_batch():
    pairs = [("a" * n, "a" * n) for n in (1, 2, 3, 4, 5) for _ in range(8)]
    batches = PairBatches(pairs, SOURCE, TARGET, batch_size=8)
    for i in range(len(batches)):
        assert len({len(source) for source, _ in rows_of(batches(i))}) == 1


def test_no_pairs_and_a_tokenizer_without_ends_are_refused():
    with pytest.raises(ValueError, match="no pairs"):
        PairBatches([], SOURCE, TARGET, 8)
    with pytest.raises(ValueError, match="lacks bos or eos"):
        PairBatches([("a", "b")], SOURCE, SOURCE, 8)


def test_an_empty_row_has_length_0_and_takes_a_place():
    tokens, lengths = pad_rows([[], [5, 7]])
    assert tokens.shape == (2, 2)
    assert lengths == [0, 2]
    assert pad_rows([[]])[0].shape == (1, 1)


def test_a_trained_translator_names_numbers_it_has_not_seen(trained, numbers):
    """Checked against num2words; units and tens change places on the way."""
    written = trained([source for source, _ in numbers[850:]])
    right = [w == t for w, (_, t) in zip(written, numbers[850:], strict=True)]
    assert sum(right) / len(right) > 0.9


def test_a_text_in_a_batch_is_translated_as_it_is_alone(trained, numbers):
    texts = [source for source, _ in numbers[850:862]]
    assert trained(texts) == [trained([text])[0] for text in texts]


def test_texts_beyond_one_batch_keep_their_order(trained, numbers, monkeypatch):
    texts = [source for source, _ in numbers[850:859]]
    whole = trained(texts)
    monkeypatch.setattr("course_lib.apps.translate.translator.BATCH", 2)
    assert trained(texts) == whole


def test_beams_are_right_where_greedy_is(trained, numbers):
    some = [pair for pair in numbers[850:870] if trained([pair[0]]) == [pair[1]]][:5]
    assert trained([s for s, _ in some], n_beams=3) == [t for _, t in some]


def test_nothing_to_translate_gives_nothing(trained):
    assert trained([]) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has 0 tokens"),
        ("one " * 13, "has 13 tokens; this translator reads texts of 1 to 12"),
        ("one none", "'none' is not in the vocabulary"),
    ],
)
def test_what_cannot_be_translated_is_named(trained, text, message):
    with pytest.raises(ValueError, match=message):
        trained([text])


def test_other_vocabularies_are_refused():
    model = RECIPE.model(SOURCE, TARGET)
    with pytest.raises(ValueError, match="source tokenizer has 7 ids .* model 5"):
        Translator(model, TARGET, TARGET)
    with pytest.raises(ValueError, match="target tokenizer has 5 ids .* model 7"):
        Translator(model, SOURCE, SOURCE)


def test_the_weights_of_the_best_look_are_kept():
    """Trained on nonsense, the validation loss soon rises; the best look is not last."""
    recipe = replace(RECIPE, patience=100, n_steps=200, learning_rate=2e-2)
    translator = new_translator(recipe)
    nonsense = [(s, t[::-1] if i % 2 else t) for i, (s, t) in enumerate(reversals(30))]
    validation = reversals(40, seed=1)
    found = fit_translator(translator, nonsense, validation, recipe)
    assert found.best[0] < 200
    again = fit_translator(
        translator,
        nonsense,
        validation,
        replace(recipe, n_steps=1, seed=9, learning_rate=0.0),
    )
    assert again.checks[0][1] == pytest.approx(found.best[1], rel=1e-5)


def test_training_stops_when_patience_runs_out():
    recipe = replace(RECIPE, patience=2, n_steps=1000, check_every=10)
    found = fit_translator(
        new_translator(), reversals(8), reversals(40, seed=1), recipe
    )
    assert found.stopped_early
    steps = [step for step, _ in found.checks]
    assert steps[-1] == found.best[0] + 2 * 10 < 1000
    assert len(found.losses_nats) == steps[-1]


class Cut(Exception):
    """The power goes off."""


@pytest.mark.parametrize("at", [12, 25, 26, 60])
def test_a_run_that_was_cut_off_goes_on_as_if_it_had_not_been(tmp_path, at):
    recipe = replace(RECIPE, n_steps=75, dropout=0.1)
    pairs = reversals(60), reversals(20, seed=1)
    whole = new_translator(recipe)
    expected = fit_translator(whole, *pairs, recipe)

    def cut(step, loss, found):
        if step + 1 == at:
            raise Cut

    path = tmp_path / "run.pt"
    with pytest.raises(Cut):
        fit_translator(new_translator(recipe), *pairs, recipe, path, on_step=cut)
    resumed = new_translator(recipe)
    found = fit_translator(resumed, *pairs, recipe, path)
    assert found.losses_nats == expected.losses_nats
    assert found.checks == expected.checks
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(resumed.model.state_dict()[name], tensor), name


def test_a_finished_run_is_not_trained_again(tmp_path):
    recipe = replace(RECIPE, n_steps=50, patience=1, check_every=10)
    pairs = reversals(8), reversals(20, seed=1)
    first = fit_translator(new_translator(), *pairs, recipe, tmp_path / "run.pt")
    calls = []
    translator = new_translator()
    again = fit_translator(
        translator,
        *pairs,
        recipe,
        tmp_path / "run.pt",
        lambda *step: calls.append(step),
    )
    assert again.checks == first.checks
    assert again.stopped_early == first.stopped_early
    assert calls == []


def test_a_look_is_told_when_it_is_taken():
    recipe = replace(RECIPE, n_steps=7, check_every=3)
    steps = []
    fit_translator(
        new_translator(),
        reversals(8),
        reversals(4),
        recipe,
        None,
        lambda step, loss, found: steps.append((step, found is not None)),
    )
    assert steps == [
        (0, False),
        (1, False),
        (2, True),
        (3, False),
        (4, False),
        (5, True),
        (6, True),
    ]
