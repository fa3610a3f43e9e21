"""Right answers to PauseMeter."""

from collections import deque

import numpy as np
import torch

from tests.answers import right


@right("a list that samples are taken from")
class FromAList:
    def __init__(self, threshold_db):
        self.threshold_db = threshold_db
        self.waiting = []
        self.quiet_frames = 0

    def hear(self, samples):
        self.waiting.extend(float(s) for s in samples)
        while len(self.waiting) >= 320:
            frame = torch.tensor(self.waiting[:320])
            self.waiting = self.waiting[320:]
            if 10 * torch.log10((frame**2).mean()) > self.threshold_db:
                self.quiet_frames = 0
            else:
                self.quiet_frames += 1
        return self.quiet_frames * 320 / 16000


@right("everything is held and judged anew")
class FromTheBeginning:
    def __init__(self, threshold_db):
        self.limit = 10 ** (threshold_db / 10)
        self.chunks = []

    def hear(self, samples):
        self.chunks.append(samples)
        sound = torch.cat(self.chunks)
        n = len(sound) // 320
        loud = sound[: 320 * n].reshape(n, 320).square().mean(1) > self.limit
        places = loud.nonzero().flatten().tolist()
        return 0.02 * (n - 1 - (places[-1] if places else -1))


@right("running sums, no frame is held")
class RunningSums:
    def __init__(self, threshold_db):
        self.limit, self.quiet = 10 ** (threshold_db / 10), 0.0
        self.total, self.n = 0.0, 0

    def hear(self, samples):
        while len(samples):
            part, samples = samples[: 320 - self.n], samples[320 - self.n :]
            self.total += part.double().square().sum().item()
            self.n += len(part)
            if self.n == 320:
                loud = self.total / 320 > self.limit
                self.quiet = 0.0 if loud else self.quiet + 0.02
                self.total, self.n = 0.0, 0
        return torch.tensor(self.quiet)


@right("numpy, and a deque of chunks")
class InNumpy:
    def __init__(self, threshold_db):
        self.threshold_db, self.quiet = threshold_db, 0
        self.parts = deque()

    def hear(self, samples):
        self.parts.append(samples.numpy())
        sound = np.concatenate(self.parts)
        self.parts.clear()
        cut = len(sound) - len(sound) % 320
        self.parts.append(sound[cut:])
        with np.errstate(divide="ignore"):
            levels = 10 * np.log10((sound[:cut].reshape(-1, 320) ** 2).mean(axis=1))
        for level in levels:
            self.quiet = 0 if level > self.threshold_db else self.quiet + 1
        return round(self.quiet * 0.02, 2)
