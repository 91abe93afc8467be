"""When Python collects unreachable objects."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Switch the cycle collector off while many objects are made that are kept and form no cycles.

    Each collection would visit every object made so far. Objects are still freed with their last reference.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
