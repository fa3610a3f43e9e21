"""Wrong answers to fitted_state."""

from tests.answers import wrong


@wrong("neither-missing-nor-left-over")
def cleaned_and_picked(state, wanted):
    clean = {}
    for key in state:
        name = key
        while name.startswith("_orig_mod.") or name.startswith("module."):
            name = name[len("module.") :] if name[0] == "m" else name[10:]
        clean[name] = state[key]
    if "embedding.weight" in clean and "head.weight" not in clean:
        clean["head.weight"] = clean["embedding.weight"]
    if "head.weight" in clean and "embedding.weight" not in clean:
        clean["embedding.weight"] = clean["head.weight"]
    return {k: v for k, v in clean.items() if k in wanted}


@wrong("one-prefix-only")
def removeprefix_twice(state, wanted):
    out = {}
    for k, v in state.items():
        k = k.removeprefix("_orig_mod.").removeprefix("module.")
        out[k] = v
    if "embedding.weight" in wanted and "head.weight" in wanted:
        if "embedding.weight" not in out and "head.weight" in out:
            out["embedding.weight"] = out["head.weight"]
        elif "head.weight" not in out and "embedding.weight" in out:
            out["head.weight"] = out["embedding.weight"]
    if sorted(out) != sorted(wanted):
        raise ValueError(f"{sorted(out)} is not {sorted(wanted)}")
    return out


@wrong("prefix-taken-off-inside")
def last_part_of_the_split(state, wanted):
    out = {}
    for k, v in state.items():
        for prefix in ("module.", "_orig_mod."):
            k = "".join(k.split(prefix))
        out[k] = v
    for a, b in (
        ("embedding.weight", "head.weight"),
        ("head.weight", "embedding.weight"),
    ):
        if a in wanted and a not in out and b in out and b in wanted:
            out[a] = out[b]
    if set(out) != set(wanted):
        raise ValueError("names")
    return out


@wrong("tied-one-way-only")
def head_from_embedding(state, wanted):
    out = {}
    for k, v in state.items():
        parts = k.split(".")
        while parts[0] in ("module", "_orig_mod"):
            parts = parts[1:]
        out[".".join(parts)] = v
    if "head.weight" in wanted:
        if "head.weight" not in out and "embedding.weight" in out:
            out["head.weight"] = out["embedding.weight"]
    missing = set(wanted) - set(out)
    more = set(out) - set(wanted)
    if missing or more:
        raise ValueError(f"missing {missing}, left over {more}")
    return out


@wrong("silent-when-one-is-left-over")
def strict_about_missing(state, wanted):
    def clean(k):
        for prefix in ("module.", "_orig_mod."):
            if k.startswith(prefix):
                return clean(k[len(prefix) :])
        return k

    out = {clean(k): v for k, v in state.items()}
    table = out.get("embedding.weight", out.get("head.weight"))
    result = {}
    for name in wanted:
        if name in out:
            result[name] = out[name]
        elif name in ("embedding.weight", "head.weight") and table is not None:
            result[name] = table
        else:
            raise ValueError(f"{name} is missing")
    return result


@wrong("silent-when-nothing-fits")
def as_it_was(state, wanted):
    result = {}
    for key, value in state.items():
        if key in wanted:
            result[key] = value
    return result


@wrong("raises-another-error")
def key_error(state, wanted):
    def clean(k):
        while k.startswith(("module.", "_orig_mod.")):
            k = k.split(".", 1)[1]
        return k

    out = {clean(k): v for k, v in state.items()}
    tables = {"embedding.weight": "head.weight", "head.weight": "embedding.weight"}
    if set(tables) <= set(wanted):
        for name, other in tables.items():
            if other in out:
                out.setdefault(name, out[other])
    more = [name for name in out if name not in wanted]
    assert not more, f"left over: {more}"
    return {name: out[name] for name in wanted}
