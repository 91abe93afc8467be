"""How many fields an ONNX file has, counted as it lies: two bytes can be a message that takes a hundred in memory."""

from typing import Any, Final

MOST_FIELDS: Final = 2_000_000
"""A hundred for each node of the largest graph that is read."""
_VARINT, _LENGTH = 0, 2
_FIXED_SIZES: Final = {1: 8, 5: 4}  # bytes of a field by its wire type


def too_many(raw: bytes, kind: Any) -> bool:
    """Whether a message of a kind, a protobuf descriptor, has more fields than are read; stops where it is broken."""
    at, ends, kinds, count = 0, [len(raw)], [kind], 0
    try:
        while count <= MOST_FIELDS:
            while at >= ends[-1]:
                ends.pop()
                kinds.pop()
                if not ends:
                    return False
            tag, at = _number(raw, at)
            wire, count = tag & 7, count + 1
            if tag < 8:  # no field has the number 0
                return False
            if wire == _VARINT:
                _, at = _number(raw, at)
            elif wire == _LENGTH:
                size, at = _number(raw, at)
                field = kinds[-1].fields_by_number.get(tag >> 3)
                if field is not None and field.message_type is not None:
                    ends.append(min(at + size, ends[-1]))
                    kinds.append(field.message_type)
                else:
                    at += size
            else:
                at += _FIXED_SIZES.get(wire, 0)
    except IndexError:
        return False
    return True


def _number(raw: bytes, at: int) -> tuple[int, int]:
    if raw[at] < 128:
        return raw[at], at + 1
    value, shift = raw[at] & 127, 7
    while raw[at] & 128:
        at += 1
        value |= (raw[at] & 127) << shift
        shift += 7
    return value, at + 1
