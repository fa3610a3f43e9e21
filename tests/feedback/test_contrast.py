"""What is shown of two values: that in which they differ, whatever their length."""

import re

import pytest
import torch

from course_lib.feedback import check
from course_lib.feedback.contrast import MOST, contrast

LONG = torch.arange(120.0).view(4, 5, 6)


def test_what_is_short_is_shown_whole():
    given = {"loss": 1.0, "gradient": torch.zeros(2)}
    place, yours, right = contrast(given, {"loss": 2.0, "gradient": torch.zeros(2)})
    assert place == ""
    assert yours == "loss: 1\ngradient: [0, 0]  shape (2,), float32"
    assert right == "loss: 2\ngradient: [0, 0]  shape (2,), float32"


def test_of_a_long_value_only_the_part_that_differs_is_shown():
    wanted = [{"keys": LONG, "values": LONG}] * 3
    given = [wanted[0], {"keys": LONG, "values": LONG.clone()}, wanted[2]]
    given[1]["values"][2, 3, 4] += 0.5
    place, yours, right = contrast(given, wanted)
    assert place == "part 2 of 3, values, [2]"
    assert (yours.count("82.5"), right.count("82.5")) == (1, 0)
    assert max(len(yours), len(right)) <= MOST


@pytest.mark.parametrize(
    ("given", "wanted", "shown"),
    [
        (torch.zeros(9), torch.eye(9)[8], ("[8]", "0", "1")),
        (torch.zeros(2, 9), torch.eye(9)[[8, 8]], ("[0], [8]", "0", "1")),
        (LONG, LONG[:, :4], ("shape", "[4, 5, 6]", "[4, 4, 6]")),
        ([LONG] * 2, [LONG] * 3, ("number of parts", "2", "3")),
        ({"a": LONG}, {"b": LONG}, ("names", "['a']", "['b']")),
        (1000.125, 1000.375, ("", "1000.125", "1000.375")),
        (
            torch.tensor(1000.125),
            torch.tensor(1000.375),
            ("its number", "1000.125", "1000.375"),
        ),
    ],
)
def test_what_would_look_alike_is_told_apart(given, wanted, shown):
    assert contrast(given, wanted, tolerance=1e-6) == shown


@pytest.mark.parametrize("value", [LONG, [LONG, "words"], object(), 3.0])
def test_equal_values_are_shown_as_they_are(value):
    place, yours, right = contrast(value, value)
    assert (place, yours) == ("", right)


def yours_and_right(message):
    """Cut a message into the place of the difference, and the two values."""
    pattern = r"    first difference in  (.+)\n    yours  (.+)\n    right  (.+)\n\w"
    return re.search(pattern, message, re.DOTALL).groups()


class LeavesValues:
    """A cache that moves keys along with the beams, and forgets the values."""

    def __init__(self, batch, n_layers, n_kv_heads, d_head, max_length):
        empty = torch.zeros(batch, n_kv_heads, 0, d_head)
        self.keys, self.values = [empty] * n_layers, [empty] * n_layers

    def extend(self, layer, keys, values):
        self.keys[layer] = torch.cat([self.keys[layer], keys], 2)
        self.values[layer] = torch.cat([self.values[layer], values], 2)
        return self.keys[layer], self.values[layer]

    def reorder(self, rows):
        self.keys = [keys[rows] for keys in self.keys]
        self.values = [values[: len(rows)] for values in self.values]

    def crop(self, length):
        self.keys = [keys[:, :, :length] for keys in self.keys]
        self.values = [values[:, :, :length] for values in self.values]

    @property
    def lengths(self):
        return torch.full((len(self.keys[0]),), self.keys[0].shape[2])


def test_a_cache_that_forgets_the_values_is_shown_values():
    place, yours, right = yours_and_right(check("AppendCache", LeavesValues).message)
    assert place.startswith("part 3 of 4, values")
    assert yours != right
    assert "..." not in yours + right


def test_old_gradients_are_shown_though_much_stands_before_them():
    def keeps_old(model, micro_batches):
        total = torch.zeros(())
        real = sum(int((targets != -100).sum()) for _, targets in micro_batches)
        for inputs, targets in micro_batches:
            loss = torch.nn.functional.cross_entropy(
                model(inputs).flatten(0, 1), targets.flatten(), reduction="sum"
            )
            (loss / real).backward()
            total += loss.detach() / real
        return float(total)

    message = check("accumulate_gradients", keeps_old).message
    place, yours, right = yours_and_right(message)
    assert place.startswith("gradients")
    assert yours != right
