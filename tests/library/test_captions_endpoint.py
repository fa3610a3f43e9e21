"""Pauses are found by energy, whatever the loudness and the noise."""

import pytest
import torch

from course_lib.apps.captions.endpoint import Endpoint
from tests.library.small_models import numbers


def speech(seconds, seed=0):
    """Noise that comes and goes four times a second, as syllables do."""
    n = round(seconds * 16000)
    times = torch.arange(n) / 16000
    return numbers(n, seed=seed) * 0.2 * (torch.sin(2 * torch.pi * 4 * times) > -0.5)


def silence(seconds):
    return torch.zeros(round(seconds * 16000))


def endpoint_of(*parts, gain=1.0, noise=0.0, block=8000):
    sound = torch.cat(parts)
    sound = gain * (sound + noise * numbers(len(sound), seed=7))
    endpoint = Endpoint()
    for i in range(0, len(sound), block):
        endpoint.hear(sound[i : i + block])
    return endpoint


@pytest.mark.parametrize("gain", [0.02, 1.0, 5.0])
@pytest.mark.parametrize("noise", [0.0, 0.002, 0.02])
def test_a_pause_is_measured_at_any_loudness_and_in_noise(gain, noise):
    endpoint = endpoint_of(
        silence(1.0), speech(3.1), silence(0.7), gain=gain, noise=noise
    )
    assert endpoint.quiet_seconds == pytest.approx(0.7, abs=0.15)
    assert endpoint.has_sound(1.5, 1.9)
    assert not endpoint.has_sound(0.2, 0.8)


@pytest.mark.parametrize("noise", [0.0, 1e-5, 0.01, 0.3])
def test_silence_and_steady_noise_are_no_speech(noise):
    endpoint = endpoint_of(silence(5.0), noise=noise)
    assert endpoint.quiet_seconds == pytest.approx(5.0, abs=0.1)


def test_a_soft_room_is_a_pause_even_beside_no_sound_at_all():
    """A file may begin with zeros, before the microphone is on."""
    heard = torch.cat((speech(3.1), silence(0.7)))
    room = 0.0015 * numbers(len(heard), seed=7)  # -56 dB: above what is never speech
    endpoint = endpoint_of(silence(1.0), heard + room)
    assert endpoint.quiet_seconds == pytest.approx(0.7, abs=0.15)
    assert endpoint.has_sound(1.5, 1.9)
    assert not endpoint.has_sound(0.0, 0.9)


def test_a_click_ends_no_pause():
    click = silence(0.8)
    click[6000:6300] = 0.9
    assert endpoint_of(speech(2.3), click).quiet_seconds == pytest.approx(0.8, abs=0.15)


def test_a_word_is_the_longest_stretch_of_sound_in_its_span():
    endpoint = endpoint_of(
        silence(0.4), speech(0.1), silence(1.0), speech(0.9), silence(1)
    )
    start, end = endpoint.sound(0.4, 3.0)
    assert start == pytest.approx(1.5, abs=0.1)
    assert end == pytest.approx(2.4, abs=0.15)
    assert endpoint.sound(2.6, 3.2) == (2.6, 3.2)


def test_the_quietest_place_lies_in_the_pause():
    endpoint = endpoint_of(numbers(17600), silence(0.2), numbers(20800, seed=3))
    assert 1.1 < endpoint.quietest(0.9, 1.5) < 1.3


def test_blocks_of_any_size_are_heard_alike():
    parts = silence(0.3), speech(1.3), silence(0.5)
    whole = endpoint_of(*parts, block=100_000)
    pieces = endpoint_of(*parts, block=777)
    assert whole.quiet_seconds == pieces.quiet_seconds
    assert whole.sound(0, 2) == pieces.sound(0, 2)


def test_times_stay_right_and_memory_bounded_after_a_long_time():
    endpoint = endpoint_of(silence(70.3), speech(1.1), silence(0.6))
    assert endpoint.sound(69, 72)[0] == pytest.approx(70.3, abs=0.1)
    assert len(endpoint._levels) == 1500


def test_nothing_heard_is_quiet():
    endpoint = Endpoint()
    assert endpoint.quiet_seconds == 0
    assert not endpoint.has_sound(0, 1)
    assert endpoint.sound(0, 1) == (0, 1)
    assert endpoint.quietest(0, 1) == 0.5
