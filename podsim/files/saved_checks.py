"""What an answer saved with `--json` must hold: the kind and range of each key, and values inside their intervals."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from podsim.files.file_faults import Fault, value_text

UNITS: Final = ("_s", "_bytes", "_usd", "_w", "_j", "_per_s", "_samples", "_flop")
"""How keys of numbers end; such a key holds a number, nothing, or a table or array of them."""
INPUTS: Final[Mapping[str, type]] = {"hash": str, "verb": str, "flags": dict, "files": dict, "parameters": dict}
MAPPING: Final = ("replicas", "ipus_per_replica", "micro_batch", "accumulation")
ESTIMATES: Final = ("time_to_train_s", "throughput_samples_per_s", "samples_to_converge")
NAMES: Final[Mapping[type, str]] = {str: "a text", dict: "a table", list: "an array"}


def faults(body: Mapping[str, Any], what: str) -> Iterator[Fault]:
    """Everything wrong with the keys of an answer of this version; `what` is the word of its schema."""
    yield from _values(body, ())
    if "podsim" in body and not isinstance(body["podsim"], str):
        yield _wrong(("podsim",), "a text", body["podsim"])
    if "inputs" in body:
        yield from _inputs(body["inputs"])
    if what == "prediction":
        yield from _prediction(body)


def _values(value: object, path: tuple[str | int, ...]) -> Iterator[Fault]:
    """Keys of numbers that hold something else, and intervals without their value, at any depth."""
    if isinstance(value, dict):
        yield from _interval(value, path)
        for key, item in value.items():
            if path[:1] != ("inputs",) and key.endswith(UNITS) and isinstance(item, str | bool):
                yield _wrong((*path, key), "a number", item)
            yield from _values(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _values(item, (*path, at))


def _interval(table: Mapping[str, Any], path: tuple[str | int, ...]) -> Iterator[Fault]:
    ends = [table.get(key) for key in ("low", "value", "high") if key in table]
    if not {"low", "high"} <= table.keys():
        return
    for key in ("low", "value", "high"):
        if key in table and not (table[key] is None or _is_number(table[key])):
            yield _wrong((*path, key), "a number", table[key])
    numbers: list[Any] = [end for end in ends if _is_number(end)]
    if len(numbers) == len(ends) and numbers != sorted(numbers):
        yield Fault(
            path,
            f"the interval {value_text(table['low'])} to {value_text(table['high'])} does not contain its value"
            if "value" in table
            else "the interval ends before it begins",
        )


def _inputs(value: object) -> Iterator[Fault]:
    if not isinstance(value, dict):
        yield _wrong(("inputs",), "a table", value)
        return
    for key, kind in INPUTS.items():
        if key in value and not isinstance(value[key], kind):
            yield _wrong(("inputs", key), NAMES[kind], value[key])
        elif key not in value:
            yield Fault(("inputs", key), "is missing")
    for key, noun, right in (
        ("files", "a text", lambda item: isinstance(item, str)),
        ("parameters", "a number", _is_number),
    ):
        table = value.get(key)
        for name, item in table.items() if isinstance(table, dict) else ():
            if not right(item):
                yield _wrong(("inputs", key, name), noun, item)


def _prediction(body: Mapping[str, Any]) -> Iterator[Fault]:
    """Keys that every prediction has, above zero where a time or a count is."""
    for name in ESTIMATES:
        result = body.get(name)
        if not isinstance(result, dict):
            yield _wrong((name,), "a table", result) if name in body else Fault((name,), "is missing")
            continue
        for key in ("value", "low", "high"):
            yield from _above_zero(result, (name, key))
    yield from _above_zero(body, ("step_s",))
    step, ends = body.get("step_s"), body.get("step_interval_s")
    if isinstance(ends, dict) and _is_number(step):
        yield from _interval({**ends, "value": step}, ("step_s",))
    mapping = body.get("mapping")
    if not isinstance(mapping, dict):
        yield _wrong(("mapping",), "a table", mapping) if "mapping" in body else Fault(("mapping",), "is missing")
    elif body.get("engine") != "law":  # of other chips no more is known than the batch
        for key in MAPPING:
            yield from _above_zero(mapping, ("mapping", key), whole=True)


def _above_zero(table: Mapping[str, Any], path: tuple[str, ...], *, whole: bool = False) -> Iterator[Fault]:
    """What is wrong with the number under the last key of a path."""
    key = path[-1]
    if key not in table:
        yield Fault(path, "is missing")
    elif not _is_number(table[key]) or (whole and not isinstance(table[key], int)):
        yield _wrong(path, "a whole number" if whole else "a number", table[key])
    elif not table[key] > 0:
        yield Fault(path, f"must be above 0, not {value_text(table[key])}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _wrong(path: tuple[str | int, ...], noun: str, value: object) -> Fault:
    return Fault(path, f"must be {noun}, not {'null' if value is None else value_text(value)}")
