"""The verbs about operators, one alone or those of a step by their time: wiring only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from podsim.errors import InputError
from podsim.files import chips
from podsim.model.chip_timeline import IoTiles
from podsim.studies.argument_check import check_arguments
from podsim.studies.op import one_operator as operators
from podsim.units import parse

if TYPE_CHECKING:
    from podsim.studies.op.result import OperatorReport


@check_arguments
def op(
    operator: str,
    *,
    chip: str = "gc200",
    precision: str = "16.16",
    available_memory: float = 0.6,
    count_copies: bool | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    fidelity: Literal["folded", "full"] = "folded",
    io_tiles: int | None = None,
    stream: str | None = None,
    stream_rate: str | None = None,
    **sizes: int | str | Sequence[str],
) -> OperatorReport:
    """Plan one operator on the tiles of a chip and simulate it; `sizes` are its dimensions, such as m, n and k.

    `count_copies` overrides whether the chip's library compares convolutions with the cycles of their copies. With
    `io_tiles`, that many tiles take a `stream` ("1 MB") at `stream_rate` ("20 GB/s") while the others compute.

    Raises InputError where a size, the precision or the memory is not possible, Infeasible where no split over the
    tiles fits.
    """
    if {"pass", "pass_"} <= set(sizes):
        raise InputError("pass and pass_ say the same", code="conflicting-flags", hint='pass_="backward"')
    request = operators.operator_instance(operator, sizes)
    target = operators.counting(request, chips.chip_with(chip, changes).value, count_copies)
    return operators.report(
        request,
        target,
        precision,
        available_memory,
        unfolded=fidelity == "full",
        io=_io(io_tiles, stream, stream_rate),
    )


def _io(tiles: int | None, stream: str | None, rate: str | None) -> IoTiles | None:
    """Tiles set aside for a stream; InputError where one of the three is missing."""
    if tiles is None and stream is None and rate is None:
        return None
    if tiles is None or stream is None or rate is None:
        raise InputError(
            "IO tiles take --io-tiles, --stream and --stream-rate together",
            code="conflicting-flags",
            hint='--io-tiles 32 --stream "1 MB" --stream-rate "20 GB/s"',
        )
    return IoTiles(tiles=tiles, volume_bytes=parse(stream, "B"), bytes_per_s=parse(rate, "B/s"))
