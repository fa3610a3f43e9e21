"""Live captions as a whole: on a scripted recogniser, a tiny model and the real weights."""

from dataclasses import replace
from functools import cache, partial

import pytest
import torch

from course_lib import pretrained
from course_lib.apps.captions import Captions, Hypothesis, Recogniser, Word
from course_lib.apps.captions.alignment import attention_map, starts_of
from course_lib.apps.captions.tiny import tiny_whisper
from course_lib.apps.captions.writing import write
from course_lib.audio import log_mel
from course_lib.data.speech import sentences
from course_lib.generation import generate
from course_lib.pretrained.assets import AssetError
from course_lib.sampling import Sampler
from tests.library.small_models import numbers

RATE = 16000


class Script:
    """A recogniser that knows what is said, and guesses the last word wrong."""

    def __init__(self, words, garble=True, confidence=-0.2):
        self.words, self.garble, self.confidence = words, garble, confidence
        self.windows = []

    def __call__(self, samples, known=(), guess=(), start=0.0):
        end = start + len(samples) / RATE
        self.windows.append((start, end))
        inside = [
            w for w in self.words if w.start >= start - 0.05 and w.start < end - 0.1
        ]
        for one, other in zip(known, inside, strict=False):
            assert one.letters == other.letters, "a committed word was forgotten"
        words = list(inside[len(known) :])
        if words and self.garble and words[-1].end > end - 0.15:
            words[-1] = replace(
                words[-1], text=f"{words[-1].text[:1]}{round(100 * end)}"
            )
        return Hypothesis(tuple(inside[: len(known)]), tuple(words), self.confidence)


def talk(text, start=0.5, each=0.4, pause=1.2):
    """Words with times, a pause behind each sentence, and the noise that they make."""
    words, time = [], start
    for i, word in enumerate(text.split()):
        words.append(Word(word, time, time + each, ids=(i,)))
        time += each + (pause if words[-1].ends_sentence else 0)
    sound = torch.zeros(round((time + 1) * RATE))
    for word in words:
        first, last = round(word.start * RATE), round((word.end - 0.06) * RATE)
        sound[first:last] = 0.1 * numbers(last - first, seed=word.ids[0])
    return words, sound


def texts(words):
    return " ".join(word.text for word in words)


def live(script, **settings):
    return Captions(None, None, recogniser=script, **settings)


def feed(captions, sound, block=8000):
    """Feed all sound; what is committed must never change."""
    new = []
    for i in range(0, len(sound), block):
        before = list(captions.words)
        new += captions.feed(sound[i : i + block])
        assert captions.words[: len(before)] == before
    new += captions.finish()
    assert new == captions.words
    return new


TALK = "Ask not what your country can do. Ask what you can do for it. Then go home."


@pytest.mark.parametrize("block", [401, 8000, 30_000])
@pytest.mark.parametrize("chunk_seconds", [0.25, 0.5, 2.0])
def test_what_is_said_is_shown_once_and_in_order(block, chunk_seconds):
    words, sound = talk(TALK)
    shown = feed(live(Script(words), chunk_seconds=chunk_seconds), sound, block)
    assert texts(shown) == TALK
    for mine, said in zip(shown, words, strict=True):
        assert mine.start == pytest.approx(said.start, abs=0.1)
        assert mine.end == pytest.approx(said.end, abs=0.15)
        assert mine.committed_at >= said.end - 0.15


def test_a_pause_shows_the_pending_words_at_once():
    words, sound = talk(TALK)
    shown = feed(live(Script(words), pause_seconds=0.5), sound)
    for word in shown:
        if word.ends_sentence:
            assert 0.4 < word.committed_at - word.end <= 1.15


def test_without_flush_or_agreement_nothing_is_shown_before_the_end():
    words, sound = talk("Ask not what you", pause=0)
    captions = live(
        Script(words), agreement=99, pause_seconds=None, settled_seconds=None
    )
    assert captions.feed(sound) == []
    assert captions.pending.startswith("Ask not what")
    assert texts(captions.finish()) == "Ask not what you"


def test_a_word_that_ended_a_while_ago_needs_no_second_opinion():
    words, sound = talk("Ask not what you", pause=0)
    captions = live(Script(words), agreement=99, pause_seconds=None)
    shown = captions.feed(sound)
    assert shown
    for word in shown:  # at the first chunk that ends late enough
        assert 0.4 <= word.committed_at - word.end < 0.4 + captions.chunk_seconds + 1e-9


def test_silence_asks_no_model():
    script = Script([Word("you", 0.2, 0.4)])
    captions = live(script)
    assert feed(captions, torch.zeros(20 * RATE)) == []
    assert feed(captions, 1e-4 * numbers(20 * RATE)) == []
    assert script.windows == []


def test_words_without_sound_or_confidence_are_not_believed():
    words, sound = talk("Ask not.")
    ghost = Word("Thanks.", words[-1].end + 0.5, words[-1].end + 0.9, ids=(9,))
    assert texts(feed(live(Script([*words, ghost])), sound)) == "Ask not."
    assert feed(live(Script(words, confidence=-1.5)), sound) == []


def test_a_word_that_drowns_in_noise_stops_nothing():
    words, sound = talk("Ask not what you can do for me. Then go home.", pause=0.3)
    soft = words[3]
    sound[round(soft.start * RATE) : round(soft.end * RATE)] = 0
    sound = sound + 0.02 * numbers(len(sound), seed=99)
    assert texts(feed(live(Script(words)), sound)) == texts(words)


def test_windows_stay_short_and_begin_behind_a_sentence_or_a_pause():
    words, sound = talk(f"{TALK} " * 6, pause=0.3)
    script = Script(words)
    captions = live(script, pause_seconds=None)
    assert texts(feed(captions, sound)) == texts(words)
    assert max(end - start for start, end in script.windows) < 16
    starts = {start for start, _ in script.windows} - {0.0}
    ends = [word.end for word in words if word.ends_sentence]
    for start in starts:
        assert min(abs(start - end - 0.15) for end in ends) < 0.3


def test_speech_without_any_sentence_is_cut_between_words():
    words, sound = talk("one two three four five six seven " * 20, pause=0)
    script = Script(words)
    assert texts(feed(live(script), sound)) == texts(words)
    assert max(end - start for start, end in script.windows) <= 21


def test_a_window_that_nothing_agrees_on_ends_with_the_newest_words():
    calls = []

    def never_the_same(samples, known=(), guess=(), start=0.0):
        calls.append(len(samples) / RATE)
        return Hypothesis((), (Word(f"w{len(calls)}", start, start + 20, (1,)),), -0.1)

    captions = live(never_the_same, pause_seconds=None, settled_seconds=None)
    _, sound = talk("one two three four five six seven " * 40, pause=0)
    captions.feed(sound)
    assert texts(captions.words).startswith("w59 ")  # of 29.5 s, half a second each
    assert max(calls) <= 30


def stopping(script, is_last):
    """The script, but nothing behind the first word of a window that is_last."""

    def deaf(samples, known=(), guess=(), start=0.0):
        whole = script(samples, known, guess, start)
        said = [*whole.known, *whole.words]
        n = next((i for i, word in enumerate(said) if is_last(word)), len(said))
        return replace(whole, words=tuple(said[len(known) : n + 1]))

    return deaf


@pytest.mark.parametrize("stops_after", ["country.", "do."])
def test_a_model_that_ends_behind_a_sentence_is_asked_anew(stops_after):
    """Whisper may do so behind each prefix that ends a sentence, as long as it grows."""
    words, sound = talk("Ask what your country can do. Then go home and rest.", pause=0)
    words = [replace(w, text="country.") if w.text == "country" else w for w in words]
    place = [word.text for word in words].index(stops_after)
    script = Script(words, garble=False)

    shown = feed(live(stopping(script, lambda word: word.text == stops_after)), sound)
    assert texts(shown) == texts(words)
    assert max(word.lag for word in shown) < 4
    assert place > 2


@pytest.mark.parametrize("chunk_seconds", [0.5, 2.0, 5.0])
def test_what_the_model_missed_at_the_very_end_is_heard_again(chunk_seconds):
    words, sound = talk("Ask what you can do. Then go home and rest.", pause=0)
    script = Script(words, garble=False)

    deaf = stopping(script, lambda word: word.ends_sentence)
    shown = feed(live(deaf, chunk_seconds=chunk_seconds), sound)
    assert texts(shown) == texts(words)


def test_words_that_take_no_time_are_a_loop_and_not_believed():
    words, sound = talk("Ask what you can do now.")
    *spoken, now = words
    at = now.start
    echo = [Word(word, at, at, ids=(9,)) for word in "and what you".split()]

    def looping(samples, known=(), guess=(), start=0.0):
        heard = len(samples) / RATE + start > now.end
        said = [*spoken, *echo, now] if heard else spoken[:1]
        return Hypothesis(tuple(said[: len(known)]), tuple(said[len(known) :]), -0.2)

    assert texts(feed(live(looping), sound)) == texts(spoken)


def test_a_last_word_that_alignment_stretches_hides_no_speech():
    """What follows is believed to belong to it, so only its first end is to be trusted."""
    words, sound = talk("Ask what you can do. Then go home and rest.", pause=0.3)
    script = Script(words, garble=False)

    def stretching(samples, known=(), guess=(), start=0.0):
        whole = script(samples, known, guess, start)
        said = [*whole.known, *whole.words]
        n = next((i for i, w in enumerate(said) if w.ends_sentence), len(said))
        said = [
            *said[:n],
            *(replace(w, end=script.windows[-1][1]) for w in said[n:][:1]),
        ]
        return replace(
            whole, known=tuple(said[: len(known)]), words=tuple(said[len(known) :])
        )

    shown = feed(live(stretching, pause_seconds=None), sound)
    assert texts(shown) == texts(words)
    assert max(word.committed_at - word.start for word in shown) < 2.5


def test_behind_a_long_sentence_and_a_pause_the_window_begins_anew():
    words, sound = talk("Then go. " + "and on " * 8 + "home. Then sit down.")
    script = Script(words)
    shown = feed(live(script), sound)
    assert texts(shown) == texts(words)
    first, again = sorted({start for start, _ in script.windows})
    ends = [word.end for word in words if word.ends_sentence]
    assert first == 0  # a stop behind two words may be a mere pause
    assert 0 < again - ends[1] < 0.7


def test_a_constant_under_the_speech_changes_nothing():
    words, sound = talk(TALK)
    assert texts(feed(live(Script(words)), sound * 0.5 + 0.4)) == texts(words)


@pytest.mark.parametrize("pause_seconds", [0, 0.1, -1, float("nan")])
def test_a_pause_that_is_none_is_refused(pause_seconds):
    with pytest.raises(ValueError, match="pass 0.2 or more, or None"):
        live(Script([]), pause_seconds=pause_seconds)


def test_memory_is_bounded():
    words, sound = talk(f"{TALK} " * 20)
    captions = live(Script(words))
    for i in range(0, len(sound), 8000):
        captions.feed(sound[i : i + 8000])
        assert len(captions.window.sound) <= 30 * RATE
        assert len(captions._arrived) < 8000


def test_the_lag_counts_computing_and_waiting():
    words, sound = talk("Ask not what you can do for me", pause=0)
    ticks = iter(range(10_000))
    captions = live(Script(words), clock=lambda: 0.7 * next(ticks))
    feed(captions, sound)
    # Each chunk takes 0.7 s and comes every 0.5 s: the fifth is 5 * 0.2 + 0.5 s late.
    fifth = [word for word in captions.words if word.committed_at == 2.5]
    assert fifth
    assert fifth[0].compute_seconds == pytest.approx(5 * 0.2 + 0.5)
    assert captions.lags[0] == pytest.approx(
        captions.words[0].committed_at
        + captions.words[0].compute_seconds
        - captions.words[0].end
    )


@pytest.mark.parametrize(
    "samples",
    [
        torch.zeros(2, 3),
        torch.zeros(7, dtype=torch.int16),
        torch.tensor([float("nan")]),
    ],
)
def test_what_is_no_sound_is_refused(samples):
    with pytest.raises(ValueError, match="samples h"):
        live(Script([])).feed(samples)


@pytest.mark.parametrize("chunk_seconds", [0, 0.05, 5.1])
def test_a_chunk_that_leaves_no_room_is_refused(chunk_seconds):
    with pytest.raises(ValueError, match="chunk_seconds was"):
        live(Script([]), chunk_seconds=chunk_seconds)


# The model's part, with random weights --------------------------------------------


MODEL, TOKENIZER = tiny_whisper()
SOUND = 0.1 * numbers(24_000)
MEMORY = MODEL.encoder(log_mel(SOUND, 3.0)).detach()


@torch.inference_mode()
def test_writing_equals_the_library_s_generation():
    before = TOKENIZER.encode(" ask")
    never = Sampler(0, suppress=TOKENIZER.suppressed)
    prompt = [*TOKENIZER.prompt, *before]
    expected = generate(
        MODEL.decoder, prompt, 5, never, TOKENIZER.eos_id, memory=MEMORY
    )
    said = write(MODEL, TOKENIZER, MEMORY, before, limit=5)
    assert said.ids == expected[: len(said.ids)]
    assert len(said.ids) >= 1


@torch.inference_mode()
@pytest.mark.parametrize("n_right", [0, 1, 3, 7])
def test_a_guess_changes_nothing_but_the_time(n_right):
    plain = write(MODEL, TOKENIZER, MEMORY, limit=9)
    guess = [*plain.ids[:n_right], 11, 12]
    guessed = write(MODEL, TOKENIZER, MEMORY, guess=guess, limit=9)
    assert guessed.ids[: len(plain.ids)] == plain.ids[: len(guessed.ids)]
    n = min(guessed.weights.shape[1], plain.weights.shape[1])
    torch.testing.assert_close(guessed.weights[:, :n], plain.weights[:, :n])


@torch.inference_mode()
def test_the_weights_are_those_of_one_pass_over_everything():
    before = TOKENIZER.encode(" ask")
    said = write(MODEL, TOKENIZER, MEMORY, before, limit=6)
    record = {}
    fed = [*TOKENIZER.prompt, *before, *said.ids]
    MODEL.decoder(torch.tensor([fed]), MEMORY, record=record)
    for row, (layer, head) in zip(said.weights, MODEL.alignment_heads, strict=True):
        whole = record["cross", layer][0, head, len(TOKENIZER.prompt) - 1 :]
        torch.testing.assert_close(row, whole[: len(row)])
    assert said.weights.shape[1] in (len(before) + len(said.ids), len(fed) - 1)


def test_a_loop_is_cut_and_the_phrase_stays_once():
    from course_lib.apps.captions.writing import _before_loop

    assert _before_loop([], [1, 2, 3, 1, 2, 3, 1, 2, 3]) == 3
    assert _before_loop([], [4, 4, 4]) == 1
    assert _before_loop([], [4, 5, 4, 5]) is None
    assert _before_loop([], [4, 5, 4, 5, 4]) is None


def test_a_long_phrase_is_a_loop_the_second_time_and_a_known_one_counts():
    from course_lib.apps.captions.writing import _before_loop

    phrase = list(range(8))
    assert _before_loop([9], phrase * 2) == 8
    assert _before_loop([9, *phrase], phrase) == 0
    assert _before_loop([9, *phrase[:5]], [*phrase[5:], *phrase]) == 3
    assert _before_loop([9, *phrase[:7]], phrase[:7]) is None  # not long: thrice
    assert _before_loop([9, *phrase[:7], *phrase[:7]], phrase[:7]) == 0


def test_a_window_is_heard_and_words_stay_inside_it():
    recognise = Recogniser(MODEL, TOKENIZER)
    found = recognise(SOUND, start=7.0)
    words = [*found.known, *found.words]
    for word in words:
        assert 7.0 <= word.start <= word.end <= 8.5
    known = [Word("ask", 0, 0, tuple(TOKENIZER.encode(" ask")))]
    again = recognise(SOUND, known, start=7.0)
    assert texts(again.known) == "ask"
    assert all(7.0 <= word.start <= word.end <= 8.5 for word in again.known)


def test_a_window_longer_than_the_model_hears_is_refused():
    with pytest.raises(ValueError, match=r"30\.1 s was given"):
        Recogniser(MODEL, TOKENIZER)(torch.zeros(round(30.1 * RATE)))


def test_a_model_without_alignment_heads_is_refused():
    with pytest.raises(ValueError, match="no alignment_heads"):
        Recogniser(torch.nn.Linear(2, 3), TOKENIZER)


def test_a_live_tiny_model_keeps_its_word():
    _, sound = talk(TALK, pause=0.4)
    captions = Captions(MODEL, TOKENIZER)
    feed(captions, sound)
    assert captions.seconds == pytest.approx(len(sound) / RATE)


# The path -------------------------------------------------------------------------


@cache
def best_gain(gains, token=None, position=None):
    """The largest gain of a path to a place, by trying all."""
    token = len(gains) - 1 if token is None else token
    position = len(gains[0]) - 1 if position is None else position
    before = [
        (token - a, position - b)
        for a, b in ((1, 1), (1, 0), (0, 1))
        if token >= a and position >= b
    ]
    here = gains[token][position]
    return here + max([best_gain(gains, *place) for place in before], default=0.0)


def gain_of(gains, starts):
    """The gain of the best path on which every token begins where it is said."""
    total = 0.0
    for token, start in enumerate(starts):
        last = token + 1 == len(starts)
        end = len(gains[0]) if last else starts[token + 1]
        stretch = list(gains[token][start:end])
        if not last and (not stretch or gains[token][end] > 0):
            stretch.append(gains[token][end])  # straight up from this place
        total += sum(stretch)
    return total


@pytest.mark.parametrize("seed", range(20))
def test_the_path_has_the_largest_gain_of_all(seed):
    n_tokens, n_positions = 1 + seed % 5, 2 + seed % 7
    gains = numbers(n_tokens, n_positions, seed=seed, dtype=torch.float64)
    starts = starts_of(gains)
    assert starts == sorted(starts)
    assert starts[0] == 0
    table = tuple(map(tuple, gains.tolist()))
    assert gain_of(table, starts) == pytest.approx(best_gain(table))


def test_what_every_token_reads_says_nothing():
    weights = torch.full((3, 30), 0.01)
    for token in range(3):
        weights[token, 10 * token : 10 * token + 10] += 0.2
    weights[:, 15] = 5.0  # all read it, most of all
    assert starts_of(attention_map([weights, weights])) == [0, 10, 20]


# With the real weights ------------------------------------------------------------


@pytest.fixture(scope="module")
def whisper():
    try:
        return pretrained.load("whisper-tiny.en")
    except AssetError as error:
        pytest.skip(str(error))


@pytest.mark.weights
@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(sentences())))
def test_a_sentence_of_ours_is_heard_word_for_word_and_in_time(whisper, place):
    sentence = sentences()[place]
    found = Recogniser(*whisper)(sentence.samples())
    assert texts(found.words) == sentence.text
    late = [
        abs(word.start - start)
        for word, start in zip(found.words, sentence.starts, strict=True)
    ]
    assert sorted(late)[len(late) // 2] < 0.1
    assert max(late) < 0.4


@pytest.mark.weights
@pytest.mark.slow
def test_sentences_in_a_row_are_shown_live(whisper):
    spoken = sentences()[:3]
    parts = [part for s in spoken for part in (s.samples(), torch.zeros(RATE // 2))]
    captions = Captions(*whisper)
    shown = feed(captions, torch.cat(parts))
    letters = partial(map, lambda text: Word(text, 0, 0).letters)
    said = list(letters(word for s in spoken for word in s.words))
    heard = list(letters(word.text for word in shown))
    same = set(said) & set(heard)
    assert len(same) >= 0.75 * len(set(said))
    assert abs(len(heard) - len(said)) <= 0.25 * len(said)
    assert sorted(word.start for word in shown) == [word.start for word in shown]
