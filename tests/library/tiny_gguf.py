"""Write small GGUF files, and decode their blocks one number at a time."""

import struct

KINDS = {"F32": 0, "F16": 1, "Q4_1": 3, "Q8_0": 8}


def text(value):
    """Return a text as GGUF stores it."""
    return struct.pack("<Q", len(value.encode())) + value.encode()


def value(thing):
    """Return a field's type and value as GGUF stores them."""
    if isinstance(thing, bool):
        return struct.pack("<I?", 7, thing)
    if isinstance(thing, int):
        return struct.pack("<II", 4, thing)
    if isinstance(thing, float):
        return struct.pack("<If", 6, thing)
    if isinstance(thing, str):
        return struct.pack("<I", 8) + text(thing)
    if all(isinstance(item, str) for item in thing):
        return struct.pack("<IIQ", 9, 8, len(thing)) + b"".join(map(text, thing))
    return struct.pack(f"<IIQ{len(thing)}i", 9, 5, len(thing), *thing)


def gguf_bytes(fields, tensors, version=3, alignment=32):
    """Build a file from name -> value and name -> (kind, shape, bytes)."""
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(fields))
    head += b"".join(text(name) + value(thing) for name, thing in fields.items())
    body = b""
    for name, (kind, shape, raw) in tensors.items():
        kind = KINDS.get(kind, kind)
        head += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
        head += struct.pack("<IQ", kind, len(body))
        body += raw + bytes(-len(raw) % alignment)
    return head + bytes(-len(head) % alignment) + body


def float32(number):
    """Round to float32, as every step of the reader does."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


def slow_q4_1(raw):
    """Decode Q4_1 blocks with one Python number at a time."""
    values = []
    for start in range(0, len(raw), 20):
        scale, minimum = struct.unpack_from("<ee", raw, start)
        packed = raw[start + 4 : start + 20]
        nibbles = [byte & 15 for byte in packed] + [byte >> 4 for byte in packed]
        values += [float32(float32(scale * n) + minimum) for n in nibbles]
    return values


def slow_q8_0(raw):
    """Decode Q8_0 blocks with one Python number at a time."""
    values = []
    for start in range(0, len(raw), 34):
        scale, *integers = struct.unpack_from("<e32b", raw, start)
        values += [float32(scale * integer) for integer in integers]
    return values
