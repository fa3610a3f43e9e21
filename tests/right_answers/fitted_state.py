"""Right answers to fitted_state."""

from tests.answers import right

TABLES = ["embedding.weight", "head.weight"]


@right("parts of the name, and sets")
def by_parts(state, wanted):
    out = {}
    for key, value in state.items():
        parts = key.split(".")
        while parts[0] in ("module", "_orig_mod"):
            parts.pop(0)
        out[".".join(parts)] = value
    if all(t in wanted for t in TABLES):
        for a, b in (TABLES, TABLES[::-1]):
            if a not in out and b in out:
                out[a] = out[b]
    missing, more = set(wanted) - set(out), set(out) - set(wanted)
    if missing or more:
        raise ValueError(f"missing: {missing}; left over: {more}")
    return out


@right("recursion, and names one by one")
def recursive(state, wanted):
    def clean(k):
        for prefix in ("module.", "_orig_mod."):
            if k.startswith(prefix):
                return clean(k[len(prefix) :])
        return k

    out = {clean(k): v for k, v in state.items()}
    for name in out:
        if name not in wanted:
            raise ValueError(f"{name} is left over")
    result = {}
    for name in wanted:
        other = TABLES[1 - TABLES.index(name)] if name in TABLES else name
        if name in out:
            result[name] = out[name]
        elif other in out:
            result[name] = out[other]
        else:
            raise ValueError(f"{name} is missing")
    return result


@right("removeprefix until nothing changes")
def until_stable(state, wanted):
    pairs = []
    for name, tensor in state.items():
        before = None
        while before != name:
            before, name = name, name.removeprefix("module.").removeprefix("_orig_mod.")
        pairs.append((name, tensor))
    out = dict(pairs)
    have = [t for t in TABLES if t in out]
    if len(have) == 1 and set(TABLES) <= set(wanted):
        out[TABLES[0]] = out[TABLES[1]] = out[have[0]]
    if sorted(out) != sorted(wanted):
        raise ValueError(f"names differ: {sorted(set(out) ^ set(wanted))}")
    return {name: out[name] for name in wanted}
