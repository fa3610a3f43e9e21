"""What goes wrong in needed_gap: how far ahead the best logit must be."""

import math

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task


def needed_gap(share, vocab, temperature=1.0):
    odds = math.log(share) - math.log1p(-share)
    return (odds + math.log(vocab - 1)) * temperature


def use(answer, share, vocab, **temperature) -> float:
    """Call it and read a number; a tensor of one number is one, too."""
    return float(written(answer(share, vocab, *temperature.values())))


task = Task(
    "needed_gap",
    asks="the gap above vocab - 1 equal logits with which one id gets exactly that "
    "share at that temperature, as a number.",
    lesson="01_softmax",
    reference=needed_gap,
    use=use,
    read="3. Temperature",
)


@task.inputs
def probes(draw: Draw):
    share = 0.55 + 0.05 * draw.size(0, 8)  # 0.55 to 0.9
    vocab = draw.size(5, 12)
    yield Probe("two ids", share=share, vocab=2)
    yield Probe("three ids", share=share, vocab=3)
    yield Probe("the share of an even guess", share=0.25, vocab=4)
    yield Probe("less than an even guess", share=0.1, vocab=vocab)
    yield Probe("two ids, temperature 2", share=share, vocab=2, temperature=2.0)
    yield Probe("a cold choice", share=share, vocab=vocab, temperature=0.3)
    yield Probe("a large vocabulary", share=0.9, vocab=49_152)
    yield Probe("large and hot", share=1 - share, vocab=50_257, temperature=3.0)


@task.property("even-guess", "How far ahead is an id that has the even share?")
def even_guess(values) -> bool:
    return abs(values["the share of an even guess"]) < 1e-4


@task.mistake(
    "rest-has-one-id", "How many ids share what the best one leaves?", "Build"
)
def as_if_there_were_two(share, vocab, temperature=1.0):
    return temperature * math.log(share / (1 - share))


@task.mistake("best-counted-with-the-rest", "How many ids are *not* the best one?")
def all_ids_share_the_rest(share, vocab, temperature=1.0):
    return temperature * math.log(share * vocab / (1 - share))


@task.mistake(
    "compared-with-an-even-guess",
    "When the best has this share, how much is left for each of the others?",
)
def against_one_part_of_all(share, vocab, temperature=1.0):
    return temperature * math.log(share * vocab)


@task.mistake(
    "compared-with-an-even-guess",
    "When the best has this share, how much is left for each of the others?",
)
def against_one_part_of_the_others(share, vocab, temperature=1.0):
    return temperature * math.log(share * (vocab - 1))


@task.mistake(
    "rest-multiplied",
    "Is the share of *one* other id larger or smaller than that of all of them?",
)
def divides_by_the_number(share, vocab, temperature=1.0):
    return temperature * math.log(share / ((1 - share) * (vocab - 1)))


@task.mistake("temperature-forgotten", "What does a hot softmax do to a gap?")
def without_temperature(share, vocab, temperature=1.0):
    return needed_gap(share, vocab)


@task.mistake(
    "temperature-inverted",
    "The logits are divided by T: does a gap of 1 look larger or smaller when T is 2?",
)
def divides_by_temperature(share, vocab, temperature=1.0):
    return needed_gap(share, vocab) / temperature


@task.mistake("ratio-not-logarithm", "Is a ratio of shares a difference of scores?")
def only_the_ratio(share, vocab, temperature=1.0):
    return temperature * share * (vocab - 1) / (1 - share)


@task.mistake("wrong-base", "The logarithm of which base undoes e to the score?")
def logarithm_of_base_two(share, vocab, temperature=1.0):
    return needed_gap(share, vocab, temperature) / math.log(2)


@task.mistake("wrong-base", "The logarithm of which base undoes e to the score?")
def logarithm_of_base_ten(share, vocab, temperature=1.0):
    return needed_gap(share, vocab, temperature) / math.log(10)


@task.mistake("gap-sign", "Should the best one's logit lie above or below?")
def the_other_way(share, vocab, temperature=1.0):
    return -needed_gap(share, vocab, temperature)
