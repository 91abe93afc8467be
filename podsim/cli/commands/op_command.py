"""`podsim op`: one operator on the tiles of a chip."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import App, Group, Parameter

import podsim
from podsim.cli.answer import give_answer
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags, flag
from podsim.cli.saving import ANY_REPORT, ReportFlags, save_answer

TILES = Group("chip", sort_key=1)
app = App(name="op", help="One operator on the tiles of a chip: its plan, cycles by step, and slower plans.")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ChipFlags:
    """On what it runs."""

    chip: Annotated[str | None, flag("op", "chip", TILES)] = "gc200"
    precision: Annotated[str, flag("op", "precision", TILES, show_default=True)] = "16.16"

    available_memory: Annotated[float, flag("op", "available_memory", TILES, show_default=True)] = 0.6
    fidelity: Annotated[Literal["folded", "full"], flag("op", "fidelity", TILES, show_default=True)] = "folded"

    io_tiles: Annotated[int | None, flag("op", "io_tiles", TILES)] = None
    stream: Annotated[str | None, flag("op", "stream", TILES)] = None

    stream_rate: Annotated[str | None, flag("op", "stream_rate", TILES)] = None
    set: Annotated[tuple[str, ...], flag("op", "changes", TILES)] = ()


ANY_CHIP = ChipFlags()
Count = Annotated[int | None, flag("op", "m")]  # every size has the same range; docstrings say what it is
Direction = Annotated[str | None, Parameter(name="--pass", metavar="forward|backward")]


def _give(
    operator: str,
    chip: ChipFlags,
    page: ReportFlags,
    output: OutputFlags,
    *,
    count_copies: bool | None = None,
    **sizes: int | str | tuple[str, ...] | None,
) -> int:
    """Ask and answer; a size left out has the default that podsim.op gives it."""
    output.check()
    page.check()
    typed_sizes = {name: value for name, value in sizes.items() if value is not None}
    report = podsim.op(
        operator,
        chip=chip.chip or "gc200",
        precision=chip.precision,
        available_memory=chip.available_memory,
        count_copies=count_copies,
        changes=chip.set,
        fidelity=chip.fidelity,
        io_tiles=chip.io_tiles,
        stream=chip.stream,
        stream_rate=chip.stream_rate,
        **typed_sizes,
    )
    give_answer(output, report)
    save_answer(page, output, report, {})
    return ExitCode.ANSWERED


@app.command
def matmul(
    *,
    m: Count = None,
    k: Count = None,
    n: Count = None,
    groups: Count = None,
    chip: ChipFlags = ANY_CHIP,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Plan a matrix product [m, k] x [k, n].

    Parameters
    ----------
    m
        Rows of the first operand.
    k
        Its columns, over which products are summed.
    n
        Columns of the second operand.
    groups
        Independent products of these sizes [default: 1].
    """
    return _give("matmul", chip, report, output, m=m, k=k, n=n, groups=groups)


@app.command
def conv(
    *,
    batch: Count = None,
    size: Count = None,
    in_channels: Count = None,
    out_channels: Count = None,
    kernel: Count = None,
    stride: Count = None,
    channel_groups: Count = None,
    run: Annotated[str | None, Parameter(name="--pass", metavar="forward|backward|weight-gradient")] = None,
    count_copies: Annotated[bool | None, Parameter(negative="--no-count-copies")] = None,
    chip: ChipFlags = ANY_CHIP,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Plan a 2-D convolution of square images, same padding.

    Parameters
    ----------
    batch
        Images [default: 1].
    size
        Pixels of an edge.
    in_channels
        Channels in, of all groups.
    out_channels
        Channels out, of all groups.
    kernel
        Pixels of an edge of the kernel.
    stride
        Pixels between outputs [default: 1].
    channel_groups
        Groups of channels that do not mix [default: 1].
    run
        Which of the three convolutions of training [default: forward].
    count_copies
        Compare plans with the cycles of copies or before them [default: as the library of the chip].
    """
    sizes = {"batch": batch, "size": size, "in_channels": in_channels, "out_channels": out_channels, "kernel": kernel}
    more = {"stride": stride, "channel_groups": channel_groups}
    return _give("conv", chip, report, output, count_copies=count_copies, pass_=run, **sizes, **more)


@app.command
def softmax(
    *,
    rows: Count = None,
    columns: Count = None,
    run: Direction = None,
    chip: ChipFlags = ANY_CHIP,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Plan a softmax over each row.

    Parameters
    ----------
    rows
        Independent rows.
    columns
        Elements of one.
    run
        Direction [default: forward].
    """
    return _give("softmax", chip, report, output, rows=rows, columns=columns, pass_=run)


@app.command
def norm(
    *,
    kind: Annotated[str | None, Parameter(metavar="layer|batch|group")] = None,
    rows: Count = None,
    columns: Count = None,
    groups: Count = None,
    images: Count = None,
    run: Direction = None,
    chip: ChipFlags = ANY_CHIP,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Plan a layer, batch or group norm with its scale and offset.

    Parameters
    ----------
    kind
        Over a row (layer), over a column (batch), over a group of columns of a row (group) [default: layer].
    rows
        Rows: tokens, or pixels of all images.
    columns
        Columns: the hidden size, or channels.
    groups
        Groups of columns, with --kind group [default: 1].
    images
        Images that the rows are pixels of, with --kind group [default: 1].
    run
        Direction [default: forward].
    """
    return _give(
        "norm", chip, report, output, kind=kind, rows=rows, columns=columns, groups=groups, images=images, pass_=run
    )


@app.command
def gather(
    *,
    table: Count = None,
    width: Count = None,
    lookups: Count = None,
    run: Direction = None,
    chip: ChipFlags = ANY_CHIP,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Plan look-ups of rows in a table, as an embedding has them.

    Parameters
    ----------
    table
        Rows of the table.
    width
        Elements of a row.
    lookups
        Rows looked up.
    run
        Look rows up, or add rows into the table (backward) [default: forward].
    """
    return _give("gather", chip, report, output, table=table, width=width, lookups=lookups, pass_=run)


@app.command
def elementwise(
    *,
    elements: Count = None,
    operation: Annotated[tuple[str, ...], Parameter(metavar="NAME")] = (),
    chip: ChipFlags = ANY_CHIP,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Plan elementwise operations one after the other.

    Parameters
    ----------
    elements
        Elements of the result.
    operation
        What is done to each, repeatable: --operation add --operation gelu [default: add]. Among them are cast, dropout
        and random numbers (uniform, normal, bernoulli); an unknown name lists all.
    """
    return _give("elementwise", chip, report, output, elements=elements, operation=operation)


@app.command
def reduce(
    *,
    elements: Count = None,
    outputs: Count = None,
    chip: ChipFlags = ANY_CHIP,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Plan a sum of elements into fewer.

    Parameters
    ----------
    elements
        Elements summed.
    outputs
        Sums that are left [default: 1].
    """
    return _give("reduce", chip, report, output, elements=elements, outputs=outputs)


@app.command
def copy(
    *,
    elements: Count = None,
    chip: ChipFlags = ANY_CHIP,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Plan a copy of elements on the tile that holds them.

    Parameters
    ----------
    elements
        Elements copied.
    """
    return _give("copy", chip, report, output, elements=elements)


@app.command
def attention(
    *,
    groups: Count = None,
    queries: Count = None,
    keys: Count = None,
    width: Count = None,
    method: Annotated[str | None, Parameter(metavar="separate|fused")] = None,
    chip: ChipFlags = ANY_CHIP,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Plan attention: queries times keys, softmax, times values.

    Parameters
    ----------
    groups
        Heads of all sequences.
    queries
        Rows of queries of a head.
    keys
        Keys and values of a head.
    width
        Elements of a query, key or value.
    method
        As separate operators with the changes of layout between them, or fused on the tiles [default: separate].
    """
    return _give(
        "attention", chip, report, output, groups=groups, queries=queries, keys=keys, width=width, method=method
    )


@app.command
def loss(
    *,
    rows: Count = None,
    columns: Count = None,
    run: Direction = None,
    chip: ChipFlags = ANY_CHIP,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Plan softmax and cross-entropy of each row with its label.

    Parameters
    ----------
    rows
        Independent rows.
    columns
        Classes: elements of a row.
    run
        Direction [default: forward].
    """
    return _give("loss", chip, report, output, rows=rows, columns=columns, pass_=run)


@app.command
def pool(
    *,
    outputs: Count = None,
    window: Count = None,
    run: Direction = None,
    chip: ChipFlags = ANY_CHIP,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Plan a maximum or mean over windows.

    Parameters
    ----------
    outputs
        Elements of the result.
    window
        Elements that each of them is made of.
    run
        Direction [default: forward].
    """
    return _give("pool", chip, report, output, outputs=outputs, window=window, pass_=run)


@app.command
def update(
    *,
    parameters: Count = None,
    tensors: Count = None,
    optimizer: Annotated[str | None, Parameter(metavar="adam|lamb|lars|momentum")] = None,
    chip: ChipFlags = ANY_CHIP,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Plan a weight update.

    Parameters
    ----------
    parameters
        Weights updated.
    tensors
        Equal tensors that they lie in [default: 1].
    optimizer
        Which one [default: adam].
    """
    return _give("update", chip, report, output, parameters=parameters, tensors=tensors, optimizer=optimizer)
