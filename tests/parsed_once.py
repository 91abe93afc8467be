"""The flags of a command as cyclopts reads them from its signature, read once a process instead of once a test.

Most of what a command line in process takes before it asks anything. The first parse of each command is cyclopts' own;
later ones get copies without words, which is what a signature read again gives.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from cyclopts.argument import ArgumentCollection


def unused(read: ArgumentCollection) -> ArgumentCollection:
    """The same arguments, none given yet."""
    copies = {id(argument): copy.copy(argument) for argument in read}
    for argument in copies.values():
        argument.tokens = []
        argument.children = ArgumentCollection(copies[id(child)] for child in argument.children)
    return ArgumentCollection(copies.values())


@pytest.fixture(scope="session", autouse=True)
def flags_read_once() -> Iterator[None]:
    """Remember the arguments of each command while tests run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ArgumentCollection, "_from_callable", remembering())
        yield


def remembering() -> Callable[..., ArgumentCollection]:
    """What reads the arguments of a command, once by all that they are read with."""
    read, footprint = ArgumentCollection._from_callable, {}

    def remembered(func: Any, *defaults: Any, reserved: Any = None, **options: Any) -> ArgumentCollection:
        if options.get("_resolve_groups") is False:  # asked on the way
            return read(func, *defaults, reserved=reserved, **options)
        request = defaults, tuple(reserved or ()), options
        known = footprint.setdefault(func, [])
        for before, result in known:
            if before == request:
                return unused(result)
        result = read(func, *request[0], reserved=request[1], **options)
        known.append((request, unused(result)))
        return result

    return remembered
