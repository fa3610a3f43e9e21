"""What goes wrong in fitted_state: saved names and wanted names."""

from course_lib.feedback.adapters.answers import written
from course_lib.feedback.task import Draw, Probe, Task

PREFIXES = ("_orig_mod.", "module.")
EMBEDDING, HEAD = "embedding.weight", "head.weight"


def cleaned(name):
    """Take both prefixes off the start, as often as they stand there."""
    while name.startswith(PREFIXES):
        name = name.partition(".")[2]
    return name


def fitted_state(state, wanted):
    return finished({cleaned(name): state[name] for name in state}, wanted)


def finished(found, wanted):
    """Fill in a tied name and compare with what is wanted."""
    found = both_names(found, wanted)
    for name in {*found, *wanted}:
        if name not in found or name not in wanted:
            raise ValueError(f"{name} is missing, or was not wanted")
    return found


def both_names(found, wanted):
    """Let one saved name of a tied table stand for both."""
    if EMBEDDING in wanted and HEAD in wanted:
        if EMBEDDING in found:
            return {HEAD: found[EMBEDDING], **found}
        if HEAD in found:
            return {EMBEDDING: found[HEAD], **found}
    return found


def use_state(answer, state, wanted):
    """Call it; read the dict, or that it refused."""
    try:
        return dict(written(answer(state, wanted)))
    except ValueError:
        return {"refused with a ValueError": True}


task = Task(
    "fitted_state",
    asks="a dict of exactly the wanted names, prefixes taken off, a tied table under both; "
    "else a ValueError.",
    lesson="08_decoder",
    reference=fitted_state,
    use=use_state,
    read="9. The real model",
)

START = "Where does the prefix stand, and what may stand there besides?"
LOST = "What does your function do with a name that nobody finds?"
TIED = "Of a tied table only one name was saved: which tensor belongs to the other?"
TIED_HEADING = "“Tied means: equal numbers.”"


@task.inputs
def probes(draw: Draw):
    gain, bias, table, head = (draw.normal(n) for n in (1, 2, 3, 3))
    wanted = ["final_norm.gain", "final_norm.bias"]
    yield Probe("one prefix", {"_orig_mod.final_norm.gain": gain}, wanted[:1])
    saved = {"module.final_norm.gain": gain, "module.mode": bias}
    yield Probe("the other prefix", saved, ["final_norm.gain", "mode"])
    pair = {"_orig_mod.module.final_norm.gain": gain}
    pair["module._orig_mod.final_norm.bias"] = bias
    yield Probe("both prefixes, in both orders", pair, wanted)
    again = {"module.module.final_norm.gain": gain, "final_norm.bias": bias}
    yield Probe("one twice, one not at all", again, wanted)
    inside = {"_orig_mod.a.module.gain": gain, "module.b._orig_mod.bias": bias}
    yield Probe("a prefix inside", inside, ["a.module.gain", "b._orig_mod.bias"])
    both = [EMBEDDING, "final_norm.gain", HEAD]
    one = {EMBEDDING: table, "final_norm.gain": gain}
    yield Probe("tied, saved as embedding", one, both)
    one = {"module." + HEAD: table, "module.final_norm.gain": gain}
    yield Probe("tied, saved as head", one, both)
    two = {EMBEDDING: table, "final_norm.gain": gain, HEAD: head}
    yield Probe("two tables", two, both)
    one = {EMBEDDING: table, "final_norm.gain": gain}
    yield Probe("a model without a head", one, both[:2])
    one = {HEAD: table, "final_norm.gain": gain}
    yield Probe("the other name alone", one, both[:2])
    yield Probe("one is missing", {"module.final_norm.gain": gain}, wanted)
    more = {"module.final_norm.gain": gain, "module.optimiser": bias}
    yield Probe("one is left over", more, wanted[:1])


@task.property("all-that-is-wanted", LOST)
def all_that_is_wanted(values) -> bool:
    return set(values["both prefixes, in both orders"]) == {
        "final_norm.gain",
        "final_norm.bias",
    }


@task.mistake("silent-when-nothing-fits", LOST)
def as_published(state, wanted):
    return {name: state[name] for name in wanted if name in state}


@task.mistake("silent-when-one-is-missing", LOST)
def missing_is_fine(state, wanted):
    found = both_names({cleaned(name): state[name] for name in state}, wanted)
    if not set(found) <= set(wanted):
        raise ValueError("left over")
    return found


@task.mistake("silent-when-one-is-left-over", LOST)
def left_over_is_fine(state, wanted):
    found = both_names({cleaned(name): state[name] for name in state}, wanted)
    if not set(wanted) <= set(found):
        raise ValueError("missing")
    return {name: found[name] for name in wanted}


@task.mistake("silent-when-one-is-left-over", LOST)
def left_over_is_kept(state, wanted):
    found = both_names({cleaned(name): state[name] for name in state}, wanted)
    if not set(wanted) <= set(found):
        raise ValueError("missing")
    return found


@task.mistake("neither-missing-nor-left-over", LOST)
def only_what_is_there(state, wanted):
    found = both_names({cleaned(name): state[name] for name in state}, wanted)
    return {name: found[name] for name in wanted if name in found}


@task.mistake("neither-missing-nor-left-over", LOST)
def everything_as_it_comes(state, wanted):
    return both_names({cleaned(name): state[name] for name in state}, wanted)


@task.mistake("raises-another-error", "Which kind of error was asked for?")
def key_error(state, wanted):
    try:
        return fitted_state(state, wanted)
    except ValueError as error:
        raise KeyError(*error.args) from None


@task.mistake("raises-another-error", "Which kind of error was asked for?")
def assertion(state, wanted):
    try:
        return fitted_state(state, wanted)
    except ValueError as error:
        raise AssertionError(*error.args) from None


@task.mistake("raises-another-error", "Which kind of error was asked for?")
def looked_up_only(state, wanted):
    found = both_names({cleaned(name): state[name] for name in state}, wanted)
    return {name: found[name] for name in wanted}


@task.mistake("tied-name-not-wanted", "Which of the two names does this model have?")
def one_stands_for_the_other(state, wanted):
    found = both_names({cleaned(name): state[name] for name in state}, wanted)
    for name, other in ((EMBEDDING, HEAD), (HEAD, EMBEDDING)):
        if name in wanted and name not in found and other in found:
            found[name] = found.pop(other)
    return finished(found, wanted)


@task.mistake("prefix-stripped-by-letters", "What does 'module.mode'.lstrip('m') give?")
def letters_stripped(state, wanted):
    first, second = PREFIXES
    found = {n.lstrip(first).lstrip(second): state[n] for n in state}
    return finished(found, wanted)


@task.mistake("prefix-taken-off-inside", START)
def replaced_anywhere(state, wanted):
    found = {
        n.replace("_orig_mod.", "").replace("module.", ""): state[n] for n in state
    }
    return finished(found, wanted)


@task.mistake("one-prefix-only", START)
def each_once(state, wanted):
    found = {
        n.removeprefix("_orig_mod.").removeprefix("module."): state[n] for n in state
    }
    return finished(found, wanted)


@task.mistake("one-prefix-only", START)
def each_once_in_the_other_order(state, wanted):
    found = {
        n.removeprefix("module.").removeprefix("_orig_mod."): state[n] for n in state
    }
    return finished(found, wanted)


@task.mistake("one-prefix-only", START)
def only_one_of_them(state, wanted):
    found = {
        n.partition(".")[2] if n.startswith(PREFIXES) else n: state[n] for n in state
    }
    return finished(found, wanted)


@task.mistake("first-word-taken-off", START)
def first_word(state, wanted):
    return finished({n.split(".", 1)[-1]: state[n] for n in state}, wanted)


@task.mistake("tied-name-missing", TIED, TIED_HEADING)
def no_tying(state, wanted):
    found = {cleaned(name): state[name] for name in state}
    if set(found) != set(wanted):
        raise ValueError("names differ")
    return found


@task.mistake("tied-one-way-only", TIED, TIED_HEADING)
def only_the_head_is_filled_in(state, wanted):
    found = {cleaned(name): state[name] for name in state}
    if HEAD in wanted and HEAD not in found and EMBEDDING in found:
        found[HEAD] = found[EMBEDDING]
    if set(found) != set(wanted):
        raise ValueError("names differ")
    return found


@task.mistake(
    "untied-head-overwritten",
    "Two tables were saved: was this model tied?",
    TIED_HEADING,
)
def always_tied(state, wanted):
    found = fitted_state(state, wanted)
    if HEAD in found:
        found[HEAD] = found[EMBEDDING]
    return found


@task.mistake("tied-name-not-wanted", "Which of the two names does this model have?")
def both_names_always(state, wanted):
    found = {cleaned(name): state[name] for name in state}
    found = both_names(found, [EMBEDDING, HEAD])
    if set(found) != set(wanted):
        raise ValueError("names differ")
    return found
