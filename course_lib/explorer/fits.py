"""What fits a trace that is looked at: other traces of the same run, and first settings."""

from course_lib.trace import Trace


def check_fits(name: str, one: Trace, main: Trace) -> None:
    """Refuse a trace that cannot be of the same model and tokens as the main one."""
    if not one.steps:
        raise ValueError(
            f"the {name} trace is empty: record it with Trace.record(model, tokens)"
        )
    for setting, value in main.config.items():
        if (found := one.config.get(setting)) != value:
            raise ValueError(
                f"the {name} trace is of another model: its {setting} is {found!r}, that "
                f"of the main trace {value!r}; record both from the same model"
            )
    if one.n_memory != main.n_memory:
        raise ValueError(
            f"the {name} trace read a memory of {one.n_memory} places, the main trace one "
            f"of {main.n_memory}; record both with the same memory"
        )
    # a training row may go on with other tokens than the model wrote
    n_same = main.steps[0]["n_positions"] if name == "training" else len(main.tokens)
    shorter = min(n_same, len(one.tokens))
    if one.tokens[:shorter] != main.tokens[:shorter]:
        raise ValueError(
            f"the {name} trace is of other tokens: it begins with "
            f"{one.tokens[:shorter]}, the main trace with {main.tokens[:shorter]}; "
            "record both from the same tokens"
        )


def settings_of(trace: Trace) -> dict:
    """Give the settings of the run's sampler as traits; none of a greedy run."""
    if not trace.sampler.get("temperature"):
        return {}
    names = ("temperature", "top_k", "top_p", "min_p")
    found = {name: trace.sampler.get(name) for name in names}
    return {name: value for name, value in found.items() if value is not None}
