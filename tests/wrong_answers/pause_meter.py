"""Wrong answers to PauseMeter."""

import math

import torch

from tests.answers import wrong


def decibels(frame):
    return 10 * torch.log10((frame**2).mean())


@wrong("rest-of-a-chunk-dropped")
class DropsTheRest:
    def __init__(self, threshold_db):
        self.threshold = threshold_db
        self.n = 0

    def hear(self, samples):
        for i in range(0, len(samples) - 319, 320):
            if decibels(samples[i : i + 320]) > self.threshold:
                self.n = 0
            else:
                self.n += 1
        return self.n * 0.02


@wrong("part-of-a-frame-judged")
class StepsThroughTheChunk:
    def __init__(self, threshold_db):
        self.threshold = threshold_db
        self.quiet = 0.0

    def hear(self, samples):
        for i in range(0, len(samples), 320):
            if decibels(samples[i : i + 320]) > self.threshold:
                self.quiet = 0.0
            else:
                self.quiet += 0.02
        return self.quiet


@wrong("part-of-a-frame-judged")
class CountsSamples:
    """Each part of a frame counts with its own length."""

    def __init__(self, threshold_db):
        self.threshold = threshold_db
        self.quiet = 0

    def hear(self, samples):
        for part in samples.split(320):
            if len(part) == 0:
                continue
            loud = decibels(part) > self.threshold
            self.quiet = 0 if loud else self.quiet + len(part)
        return self.quiet / 16000


@wrong("short-chunk-forgotten")
class OverwritesWhatItHeld:
    def __init__(self, threshold_db):
        self.threshold = threshold_db
        self.n, self.rest = 0, None

    def hear(self, samples):
        if len(samples) < 320 and self.rest is None:
            self.rest = samples
            return 0.02 * self.n
        if self.rest is not None:
            samples = torch.cat([self.rest, samples])
        n = len(samples) // 320
        for frame in samples[: 320 * n].reshape(n, 320):
            self.n = 0 if decibels(frame) > self.threshold else self.n + 1
        self.rest = samples[320 * n :] if n else None
        return 0.02 * self.n


@wrong("judged-twice")
class HoldsEverything:
    def __init__(self, threshold_db):
        self.threshold = threshold_db
        self.n = 0
        self.all = torch.zeros(0)

    def hear(self, samples):
        self.all = torch.cat([self.all, samples])
        n = len(self.all) // 320
        for frame in self.all[: n * 320].view(n, 320):
            if decibels(frame) > self.threshold:
                self.n = 0
            else:
                self.n += 1
        return 0.02 * self.n


@wrong("one-frame-a-chunk")
class FallsBehind:
    def __init__(self, threshold_db):
        self.threshold = threshold_db
        self.n = 0
        self.buffer = []

    def hear(self, samples):
        self.buffer.extend(samples.tolist())
        if len(self.buffer) >= 320:
            frame = torch.tensor(self.buffer[:320])
            del self.buffer[:320]
            self.n = 0 if decibels(frame) > self.threshold else self.n + 1
        return 0.02 * self.n


@wrong("new-before-old")
class PutsItBehind:
    def __init__(self, threshold_db):
        self.threshold = threshold_db
        self.n = 0
        self.rest = torch.tensor([])

    def hear(self, samples):
        samples = torch.cat([samples, self.rest])
        frames = list(samples.split(320))
        self.rest = torch.tensor([])
        if frames and len(frames[-1]) < 320:
            self.rest = frames.pop()
        for frame in frames:
            self.n = (
                0 if len(frame) and decibels(frame) > self.threshold else self.n + 1
            )
        return 0.02 * self.n


@wrong("pause-begins-with-the-chunk")
class StartsAnew:
    def __init__(self, threshold_db):
        self.threshold = threshold_db
        self.rest = torch.zeros(0)

    def hear(self, samples):
        samples = torch.cat((self.rest, samples))
        n, quiet = len(samples) // 320, 0
        self.rest = samples[n * 320 :]
        for i in range(n):
            frame = samples[i * 320 : (i + 1) * 320]
            quiet = 0 if decibels(frame) > self.threshold else quiet + 1
        return quiet * 0.02


@wrong("frames-not-seconds")
class ReturnsFrames:
    def __init__(self, threshold_db):
        self.threshold = threshold_db
        self.n, self.rest = 0, torch.zeros(0)

    def hear(self, samples):
        self.rest = torch.cat((self.rest, samples))
        while len(self.rest) >= 320:
            frame, self.rest = self.rest[:320], self.rest[320:]
            self.n = 0 if decibels(frame) > self.threshold else self.n + 1
        return self.n


@wrong("amplitude-for-power", "rest-of-a-chunk-dropped")
class TwoSlips:
    def __init__(self, threshold_db):
        self.threshold = threshold_db
        self.n = 0

    def hear(self, samples):
        for i in range(len(samples) // 320):
            mean = samples[i * 320 : (i + 1) * 320].abs().mean().item()
            level = 10 * math.log10(mean + 1e-12)
            self.n = 0 if level > self.threshold else self.n + 1
        return 0.02 * self.n
