"""Cycles are left alone while something is computed that has none, and looked for again afterwards."""

import gc

import pytest

from podsim.caches.garbage import without_collection


def test_cycles_are_looked_for_again_afterwards():
    assert gc.isenabled()
    with without_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_they_are_looked_for_after_an_error_too():
    with pytest.raises(ValueError, match="no"), without_collection():
        raise ValueError("no")
    assert gc.isenabled()


def test_a_program_that_looks_for_none_is_left_as_it_is():
    gc.disable()
    try:
        with without_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
