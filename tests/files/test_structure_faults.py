"""Faults of a structuring error stand under the keys of the file."""

from dataclasses import dataclass

from podsim.files.file_faults import Fault
from podsim.files.structure import structure
from podsim.files.structure_faults import from_error


@dataclass(frozen=True, slots=True)
class Part:
    """A table in an array."""

    length: int


@dataclass(frozen=True, slots=True)
class Whole:
    """A file."""

    name: str
    parts: tuple[Part, ...]


def test_a_fault_has_the_path_of_its_value():
    value, faults = structure({"name": "a", "parts": [{"length": 1}, {"length": "2"}]}, Whole)
    assert value is None
    assert [fault.path for fault in faults] == [("parts", 1, "length")]


def test_an_unknown_key_near_a_missing_one_is_one_fault():
    _, faults = structure({"nam": "a", "parts": []}, Whole)
    assert faults == [Fault(("nam",), 'unknown key; did you mean "name"?')]


def test_a_plain_error_points_at_the_key_that_it_names():
    assert from_error(ValueError("level.hops: too many"), ("a",)) == [Fault(("a", "level", "hops"), "too many")]
    assert from_error(ValueError("too many"), ("a",)) == [Fault(("a",), "too many")]
