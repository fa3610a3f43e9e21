"""Tensors as one buffer: what a page or a file can hold."""

from collections.abc import Mapping

from torch import Tensor


def packed(arrays: Mapping[str, Tensor]) -> tuple[list[dict], bytes]:
    """Pack tensors into one little-endian float32 buffer, and say where each lies.

    Args:
        arrays: by name.

    Returns:
        name, shape and offset (in floats) of each; the buffer.

    Source: NumPy reference, data type objects ("<f4" is little-endian float32).
    Lesson: notebooks/00_start.ipynb

    >>> packed({"row": torch.ones(2), "table": torch.zeros(3, 5)})[0][1]
    {'name': 'table', 'shape': [3, 5], 'offset': 2}
    """
    index, parts, offset = [], [], 0
    for name, array in arrays.items():
        index.append({"name": name, "shape": list(array.shape), "offset": offset})
        parts.append(array.float().contiguous().numpy().astype("<f4").tobytes())
        offset += array.numel()
    return index, b"".join(parts)
