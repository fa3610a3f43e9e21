"""What exercises ask for: a module for each function, with its inputs and mistakes."""

import difflib
import importlib
import pkgutil
import re

from course_lib.feedback.task import Task


def find_task(name: str) -> Task:
    """Return the task of that name.

    Args:
        name: the name of a function or class, such as "causal_mask".

    Raises:
        ValueError: there is none; the message names the nearest.

    >>> find_task("causal_mask").lesson
    '02_masks'
    """
    module = module_of(str(name))
    if module in _modules():
        task = importlib.import_module(f"{__name__}.{module}").task
        if task.name == name:
            return task
    names = task_names()
    near = difflib.get_close_matches(str(name), names, n=3) or names
    raise ValueError(f"no exercise is called {name!r}; there is {', '.join(near)}")


def module_of(name: str) -> str:
    """Turn the name of a function or class into the name of its module.

    >>> module_of("MultiHeadAttention")
    'multi_head_attention'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def task_names() -> list[str]:
    """List all names that `check` takes, in alphabetical order."""
    return [importlib.import_module(f"{__name__}.{m}").task.name for m in _modules()]


def _modules() -> list[str]:
    return [module.name for module in pkgutil.iter_modules(__path__)]
