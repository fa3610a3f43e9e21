"""What goes wrong in PauseMeter: frames that begin in one chunk and end in another."""

import torch
import torch.nn.functional as F

from course_lib.feedback.task import Draw, Probe, Task

FRAME = 320


class PauseMeter:
    def __init__(self, threshold_db):
        self.least_power, self.n_quiet = 10 ** (threshold_db / 10), 0
        self.held = []

    def hear(self, samples):
        self.held += samples.tolist()
        while len(self.held) >= FRAME:
            frame, self.held = self.held[:FRAME], self.held[FRAME:]
            power = sum(sample * sample for sample in frame) / FRAME
            self.n_quiet = 0 if power > self.least_power else self.n_quiet + 1
        return self.n_quiet / 50


def use_meter(answer, threshold_db, *chunks, another_hears=None) -> list[float]:
    """Feed the chunks, and to another meter between them what is given for it."""
    meter, other = answer(threshold_db), answer(threshold_db)
    told = []
    for chunk in chunks:
        if another_hears is not None:
            other.hear(another_hears.clone())
        told.append(meter.hear(chunk))
    if any(seconds is None for seconds in told):
        raise TypeError("hear gave None; is there a `return`?")
    return [float(seconds) for seconds in told]


task = Task(
    "PauseMeter",
    asks="seconds of quiet behind the last loud frame of 320 samples, told after each "
    "chunk, however the sound is cut.",
    lesson="14_captions",
    reference=PauseMeter,
    use=use_meter,
    read="6. A pause",
)

CUT = "Cut elsewhere, the same sound has another pause: which samples share a frame?"
REST = "A chunk of 500 samples holds one frame of 320: where are the other 180?"
WHOLE = "Does a frame end where a chunk ends?"
ORDER = "What came first: the samples that you kept, or the new ones?"
SHORT = "Two chunks in a row are shorter than a frame: what is kept after the second?"
AGAIN = "How often is each sample judged?"
ALL = "How many whole frames can one chunk bring?"
OTHERS = "Whose samples does a second meter find when it is made?"
NONE_LEFT = "Nothing is left over: how many samples does the slice [-0:] hold?"
BEFORE = "The pause began in an earlier chunk: who remembers?"


@task.inputs
def probes(draw: Draw):
    def loud(n):
        return (20 + 5 * draw.normal(n)).round() / 100

    def quiet(n):
        return (3 * draw.normal(n)).round() / 1000

    def wave(size, n):
        return size * torch.tensor([1.0, -1.0]).repeat(n)[:n]

    speech = torch.cat((loud(960), quiet(2240)))
    yield Probe("two quiet frames, then half a loud one", -30, quiet(640), loud(160))
    yield Probe("a quiet frame in two chunks", -30, loud(320), quiet(200), quiet(120))
    yield Probe("the last sample of a frame", -30, quiet(319), quiet(1), quiet(320))
    yield Probe("one chunk", -30, speech)
    yield Probe("chunks of 500", -30, *speech.split(500))
    yield Probe("chunks of 300", -30, *speech.split(300))
    yield Probe("chunks of 80", -30, *speech[640:1440].split(80))
    yield Probe("many frames in a chunk", -30, *speech.split([700, 2500]))
    yield Probe("loud at the end of a chunk", -30, quiet(500), loud(300), quiet(900))
    yield Probe(
        "loud again", -25, quiet(333), loud(777), quiet(1111), loud(555), quiet(99)
    )
    yield Probe("near the threshold", -30, wave(0.034, 321), wave(0.029, 640))
    yield Probe("nothing came", -30, quiet(400), torch.zeros(0), quiet(300))
    yield Probe("no sound at all", -30, torch.zeros(350), torch.zeros(350), loud(350))
    pause = quiet(1500).split(500)
    yield Probe("one meter", -30, *pause)
    yield Probe("two meters", -30, *pause, another_hears=loud(130))


@task.property("meters-share-nothing", OTHERS)
def hears_what_it_is_given(values) -> bool:
    return values["two meters"] == values["one meter"]


@task.property("the-cut-does-not-matter", CUT)
def cut_does_not_matter(values) -> bool:
    last = {values[f"chunks of {n}"][-1] for n in (500, 300)}
    return len({round(seconds, 3) for seconds in (*last, values["one chunk"][-1])}) == 1


class Meter:
    """Counts; what is a frame, and what is kept, is said by those below."""

    def __init__(self, threshold_db):
        self.threshold_db, self.n_quiet = threshold_db, 0
        self.held = torch.zeros(0)

    def judge(self, frames):
        for frame in frames:
            level = 10 * frame.square().mean().log10()
            self.n_quiet = 0 if level > self.threshold_db else self.n_quiet + 1
        return 0.02 * self.n_quiet

    def whole(self, sound):
        """Whole frames, and what is left."""
        n = len(sound) // FRAME * FRAME
        return sound[:n].reshape(-1, FRAME), sound[n:]


@task.mistake("rest-of-a-chunk-dropped", REST)
class AsPublished(Meter):
    def hear(self, samples):
        return self.judge(self.whole(samples)[0])


@task.mistake("part-of-a-frame-judged", WHOLE)
class ShorterFrames(Meter):
    def hear(self, samples):
        return self.judge(samples.split(FRAME) if len(samples) else [])


@task.mistake("part-of-a-frame-judged", WHOLE)
class FilledWithSilence(Meter):
    def hear(self, samples):
        filled = F.pad(samples, (0, -len(samples) % FRAME))
        return self.judge(filled.reshape(-1, FRAME))


@task.mistake("part-of-a-frame-judged", WHOLE)
class ChunkAsAFrame(Meter):
    def hear(self, samples):
        return self.judge([samples] if len(samples) else [])


@task.mistake("part-of-a-frame-judged", WHOLE)
class PartsByTheirLength(Meter):
    def hear(self, samples):
        for part in samples.split(FRAME) if len(samples) else []:
            quiet = self.n_quiet
            self.judge([part])
            self.n_quiet = quiet + len(part) / FRAME if self.n_quiet else 0
        return 0.02 * self.n_quiet


@task.mistake("new-before-old", ORDER)
class NewFirst(Meter):
    def hear(self, samples):
        frames, self.held = self.whole(torch.cat((samples, self.held)))
        return self.judge(frames)


@task.mistake("short-chunk-forgotten", SHORT)
class KeepsTheNewestRest(Meter):
    def hear(self, samples):
        sound = torch.cat((self.held, samples))
        n = len(sound) // FRAME * FRAME
        self.held = sound[n:] if n else samples
        return self.judge(sound[:n].reshape(-1, FRAME))


@task.mistake("short-chunk-forgotten", SHORT)
class RestOfTheChunkAlone(Meter):
    def hear(self, samples):
        frames, _ = self.whole(torch.cat((self.held, samples)))
        self.held = self.whole(samples)[1]
        return self.judge(frames)


@task.mistake("short-chunk-forgotten", SHORT)
class StillTooShort(Meter):
    def hear(self, samples):
        sound = torch.cat((self.held, samples))
        frames, rest = self.whole(sound)
        self.held = rest if len(frames) or len(self.held) == 0 else torch.zeros(0)
        return self.judge(frames)


@task.mistake("short-chunk-forgotten", SHORT)
class LetGoWithoutAFrame(Meter):
    waits = False  # something is held, be it nothing

    def hear(self, samples):
        frames, rest = self.whole(torch.cat((self.held, samples)))
        self.waits = len(frames) > 0 or not self.waits
        self.held = rest if self.waits else torch.zeros(0)
        return self.judge(frames)


@task.mistake("judged-twice", AGAIN)
class NeverLetsGo(Meter):
    def hear(self, samples):
        self.held = torch.cat((self.held, samples))
        return self.judge(self.whole(self.held)[0])


@task.mistake("judged-twice", AGAIN)
class KeepsTheWholeChunk(Meter):
    def hear(self, samples):
        frames, _ = self.whole(torch.cat((self.held, samples)))
        self.held = samples.clone()
        return self.judge(frames)


@task.mistake("slice-of-none-is-all", NONE_LEFT)
class SliceOfNoneIsAll(Meter):
    def hear(self, samples):
        sound = torch.cat((self.held, samples))
        frames, _ = self.whole(sound)
        self.held = sound[-(len(sound) % FRAME) :]
        return self.judge(frames)


@task.mistake("one-frame-a-chunk", ALL)
class OneFrame(Meter):
    def hear(self, samples):
        self.held = torch.cat((self.held, samples))
        if len(self.held) < FRAME:
            return 0.02 * self.n_quiet
        frame, self.held = self.held[:FRAME], self.held[FRAME:]
        return self.judge([frame])


@task.mistake("one-frame-a-chunk", ALL)
class NewestFrame(Meter):
    def hear(self, samples):
        frames, self.held = self.whole(torch.cat((self.held, samples)))
        return self.judge(frames[-1:])


@task.mistake("shared-by-all-meters", OTHERS)
class Shared(Meter):
    rest = []

    def __init__(self, threshold_db):
        super().__init__(threshold_db)
        self.rest.clear()

    def hear(self, samples):
        sound = torch.tensor([*self.rest, *samples.tolist()])
        frames, held = self.whole(sound)
        self.rest[:] = held.tolist()
        return self.judge(frames)


@task.mistake("pause-begins-with-the-chunk", BEFORE)
class CountsWithinAChunk(Meter):
    def hear(self, samples):
        self.n_quiet = 0
        frames, self.held = self.whole(torch.cat((self.held, samples)))
        return self.judge(frames)


@task.mistake(
    "any-loud-frame-ends-it", "Is the loud frame before the pause or behind it?"
)
class NoPauseInALoudChunk(Meter):
    def hear(self, samples):
        frames, self.held = self.whole(torch.cat((self.held, samples)))
        levels = 10 * frames.square().mean(1).log10()
        if (levels > self.threshold_db).any():
            self.n_quiet = 0
        else:
            self.n_quiet += len(frames)
        return 0.02 * self.n_quiet


@task.mistake(
    "quiet-before-speech-left-out", "Nothing was loud yet: which frames count?"
)
class NeedsALoudFrame(Meter):
    loud = False

    def hear(self, samples):
        frames, self.held = self.whole(torch.cat((self.held, samples)))
        for frame in frames:
            quiet = self.judge([frame])
            self.loud = self.loud or not quiet
        return 0.02 * self.n_quiet if self.loud else 0.0


@task.mistake("frames-not-seconds", "How long does a frame of 320 samples last?")
class CountsFrames(Meter):
    def hear(self, samples):
        frames, self.held = self.whole(torch.cat((self.held, samples)))
        self.judge(frames)
        return self.n_quiet
