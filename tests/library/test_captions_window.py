"""One window of sound: what the model is given to hear, and where it may say nothing."""

import pytest
import torch

from course_lib.apps.captions import Recogniser
from course_lib.apps.captions.tiny import tiny_whisper
from course_lib.apps.captions.writing import write
from course_lib.audio import SAMPLE_RATE, log_mel
from tests.library.small_models import numbers

MODEL, TOKENIZER = tiny_whisper()


@pytest.mark.parametrize(
    ("seconds", "shortest", "window"),
    [
        (1.3, 10, 10),
        (7.9, 10, 10),
        (6.4, 8, 8),
        (9.1, 10, 10.6),
        (15, 8, 16.5),
        (28.7, 10, 30),
    ],
)
def test_a_model_hears_silence_behind_what_was_said(seconds, shortest, window):
    """As much as is asked, thirty seconds at most; without it Whisper repeats itself."""
    sound = 0.1 * numbers(round(seconds * SAMPLE_RATE))
    heard = []
    listening = MODEL.encoder.register_forward_pre_hook(
        lambda encoder, given: heard.extend(given)
    )
    try:
        Recogniser(MODEL, TOKENIZER, shortest)(sound)
    finally:
        listening.remove()
    (spectrogram,) = heard
    assert spectrogram.shape[-1] == round(100 * window)
    silence = torch.zeros(round(window * SAMPLE_RATE) - len(sound))
    torch.testing.assert_close(spectrogram, log_mel(torch.cat((sound, silence))))


@torch.inference_mode()
def test_a_window_begins_with_a_word_but_behind_known_words_nothing_may_follow():
    """Of a model that would rather end, at each place."""

    def would_rather_end(decoder, given, logits):
        ending = torch.zeros_like(logits)
        ending[..., TOKENIZER.eos_id] = 1000
        return logits + ending

    memory = MODEL.encoder(log_mel(0.1 * numbers(24_000), 3.0))
    ending = MODEL.decoder.register_forward_hook(would_rather_end)
    try:
        first = write(MODEL, TOKENIZER, memory, limit=5)
        behind = write(MODEL, TOKENIZER, memory, TOKENIZER.encode(" ask"), limit=5)
    finally:
        ending.remove()
    assert (len(first.ids), behind.ids) == (1, [])
