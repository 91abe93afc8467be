"""Plan a convolution on the tiles of a chip: forward, gradient of the input, gradient of the weights."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from podsim.errors import InputError
from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import TilePlan
from podsim.model.workload import Conv, Pass
from podsim.tiles import amp
from podsim.tiles.amp import Amp
from podsim.tiles.problem import Copy, Problem, run_of
from podsim.tiles.product import AVAILABLE_MEMORY, OVERHEAD_CYCLES, check_memory
from podsim.tiles.search import Request, Way, search
from podsim.tiles.vertices import Dot, NByOne, OneByOne, Outer, Slic, Vmac
from podsim.tiles.writing import plan as write

SLIC_STRIDES = (1, 2)


@dataclass(frozen=True, slots=True)
class _Ask:
    """A convolution of one group with its sizes, for one precision of a chip."""

    shape: Conv
    precision: Precision
    chip: Chip

    @property
    def inputs(self) -> int:
        """Input channels of a group."""
        return self.shape.in_channels // self.shape.channel_groups

    @property
    def outputs(self) -> int:
        """Output channels of a group."""
        return self.shape.out_channels // self.shape.channel_groups

    @property
    def kernel(self) -> int:
        """Edge of the kernel."""
        return self.shape.kernel

    @property
    def positions(self) -> int:
        """Positions of the kernel."""
        return self.shape.kernel**2

    @property
    def group(self) -> int:
        """Input channels of a full block."""
        return amp.input_group(self.precision)

    @property
    def run_in(self) -> int:
        """Input channels of a group next to each other."""
        return run_of(self.inputs, amp.ELEMENT_BYTES[self.precision])

    @property
    def run_out(self) -> int:
        """Output channels of a group next to each other."""
        return run_of(self.outputs, amp.ELEMENT_BYTES[self.precision])

    @property
    def pixels(self) -> int:
        """Outputs of one channel over all images."""
        return self.shape.batch * self.shape.out_size**2


def plan(
    shape: Conv,
    run: Pass,
    precision: Precision,
    chip: Chip,
    *,
    available_memory: float = AVAILABLE_MEMORY,
    overhead_cycles: float = OVERHEAD_CYCLES,
    relax: bool = False,
    price_copies: bool = True,
    name: str = "",
) -> TilePlan:
    """How one pass of a convolution runs: the cheapest of the transforms, vertices and splits that fit.

    With `price_copies` false the choice takes no account of the cycles of copies, which the plan then still pays: so
    chose the library of SDK 1.0, by the cost of first convolutions on GC2 (jia-2019 table 5.5). `relax` doubles the
    bound on temporary bytes up to twice the SRAM, then drops it, as poplibs does.

    Raises
    ------
    InputError
        An available memory outside (0, 1], or channels that the groups do not divide.
    MissingParameter
        The chip states no rate for the precision.
    Infeasible
        No split fits the bytes a tile may use.

    """
    check_memory(available_memory)
    _check_groups(shape)
    request = Request(chip, available_memory, overhead_cycles, relax, price_copies)
    evaluated, limit = search(tuple(_ways(_Ask(shape, precision, chip), run)), request)
    return write(evaluated, limit, request, name=name, flop=shape.flop)


def _check_groups(shape: Conv) -> None:
    """Refuse groups that do not divide the channels."""
    if shape.in_channels % shape.channel_groups or shape.out_channels % shape.channel_groups:
        raise InputError(
            f"{shape.channel_groups} groups do not divide {shape.in_channels} input and {shape.out_channels} output "
            "channels",
            code="channels-do-not-divide",
        )


def _ways(ask: _Ask, run: Pass) -> Iterator[Way]:
    """Every transform of a pass with the vertices that run it."""
    if run is Pass.WEIGHT_GRADIENT:
        return _weight_gradient(ask)
    if run is Pass.BACKWARD:
        return _input_gradient(ask)
    return _forward(ask)


# --- forward ---------------------------------------------------------------------------------------------------------


def _forward(ask: _Ask) -> Iterator[Way]:
    """Every transform with the vertices that run it."""
    if ask.kernel == 1:
        yield from _pointwise(ask)
    else:
        yield from _spatial(ask)
    yield from _grouped(ask)
    yield from _narrow(ask)


def _image(ask: _Ask, transform: str, *, combined: int = 1, copied: tuple[Copy, ...] = ()) -> Problem:
    """The convolution as it stands, `combined` groups taken as one."""
    shape = ask.shape
    return Problem(
        transform=transform,
        groups=-(-shape.channel_groups // combined),
        batch=shape.batch,
        height=shape.out_size,
        width=shape.out_size,
        kernel_height=ask.kernel,
        kernel_width=ask.kernel,
        inputs=ask.inputs * combined,
        outputs=ask.outputs * combined,
        stride=(shape.stride, shape.stride),
        copied=copied,
    )


def _flat(ask: _Ask, transform: str, inputs: int, copied: tuple[Copy, ...], *, combined: int = 1) -> Problem:
    """All pixels of all images as one row, kernel positions among the input channels."""
    return Problem(
        transform=transform,
        groups=-(-ask.shape.channel_groups // combined),
        width=ask.pixels,
        inputs=inputs * combined,
        outputs=ask.outputs * combined,
        copied=copied,
    )


def _padded(ask: _Ask, group: int) -> tuple[Copy, ...]:
    """Operands copied where channels do not fill groups of a block: the input; the output of each of several groups."""
    shape = ask.shape
    found = []
    if ask.inputs % group:
        pixels = shape.batch * shape.size**2
        padded = pixels * shape.channel_groups * -(-ask.inputs // group) * group
        found.append(Copy("input", float(padded), ask.run_in))
    if shape.channel_groups > 1 and ask.outputs % min(8, group):
        found.append(Copy("output", float(shape.outputs), ask.run_out))
    return tuple(found)


def _pointwise(ask: _Ask) -> Iterator[Way]:
    """A kernel of one position: a product over all pixels, of which a stride leaves some out."""
    copied = _padded(ask, ask.group)
    if ask.shape.stride > 1:
        left = float(ask.pixels * ask.shape.in_channels)
        copied = (Copy("input", left, ask.run_in),)
    for one in amp.shapes(ask.chip, ask.precision, ask.outputs):
        yield _flat(ask, "pixels in one row", ask.inputs, copied), OneByOne(one)
        if ask.shape.stride > 1:
            yield _image(ask, "as it stands", copied=_padded(ask, ask.group)), NByOne(one)


def _spatial(ask: _Ask) -> Iterator[Way]:
    """Kernel positions one after the other, its columns among the channels, or all of it among the channels."""
    for one in amp.shapes(ask.chip, ask.precision, ask.outputs):
        for group in _groups(ask):
            packed = Amp(ask.precision, one.units, group, one.out_group)
            yield _image(ask, "as it stands", copied=_padded(ask, group)), NByOne(packed)
        yield _columns(ask), NByOne(one)
        expanded = _expanded(ask, ask.pixels, ask.inputs * ask.positions)
        yield _flat(ask, "kernel in channels", ask.inputs * ask.positions, expanded), OneByOne(one)


def _groups(ask: _Ask) -> tuple[int, ...]:
    """Input groups of the n x 1 vertex: a full block, or a part of one with kernel rows packed beside each other."""
    parts = tuple(size for size in (4, 8) if ask.inputs <= size < ask.group) if ask.group == 16 else ()
    return (*parts[:1], ask.group)


def _expanded(ask: _Ask, pixels: int, channels: int) -> tuple[Copy, ...]:
    """The input with kernel positions moved into its channels, padded to whole blocks; the weights likewise."""
    groups = ask.shape.channel_groups
    padded = pixels * groups * -(-channels // ask.group) * ask.group
    return (
        Copy("input", float(padded), ask.run_in),
        Copy("weights", float(ask.shape.parameters), ask.run_in),
    )


def _columns(ask: _Ask) -> Problem:
    """Kernel columns moved into the channels; images and columns then follow each other in one long row."""
    shape = ask.shape
    return Problem(
        transform="kernel columns in channels",
        groups=shape.channel_groups,
        height=shape.out_size,
        width=shape.batch * shape.out_size,
        kernel_height=ask.kernel,
        inputs=ask.inputs * ask.kernel,
        outputs=ask.outputs,
        stride=(shape.stride, 1),
        copied=_expanded(ask, shape.batch * shape.size * shape.out_size, ask.inputs * ask.kernel),
    )


# --- groups and narrow channels --------------------------------------------------------------------------------------


def _grouped(ask: _Ask) -> Iterator[Way]:
    """Several groups taken as one to fill a block, zeros elsewhere."""
    shape = ask.shape
    combined = 2
    while shape.channel_groups > 1 and combined <= min(shape.channel_groups, ask.group // ask.inputs):
        copied = (
            Copy("input", float(shape.inputs), ask.run_in),
            Copy("weights", float(shape.parameters * combined), ask.run_in),
            Copy("output", float(shape.outputs), ask.run_out),
        )
        for one in amp.shapes(ask.chip, ask.precision, ask.outputs * combined):
            if ask.kernel == 1 and shape.stride == 1:
                problem = _flat(ask, f"{combined} groups as one", ask.inputs, copied, combined=combined)
                yield problem, OneByOne(one)
            else:
                yield _image(ask, f"{combined} groups as one", combined=combined, copied=copied), NByOne(one)
        combined *= 2


def _narrow(ask: _Ask) -> Iterator[Way]:
    """Vertices for few channels a group."""
    if not amp.float_operands(ask.precision):
        yield from _half_narrow(ask)
    if ask.inputs < ask.group:
        vector = amp.LOAD_ELEMENTS[ask.precision]
        yield _image(ask, "as it stands", copied=_padded(ask, vector)), Dot(ask.precision, vector)


def _half_narrow(ask: _Ask) -> Iterator[Way]:
    """Vertices for few channels a group that take no operands of 4 B."""
    if ask.shape.channel_groups > 1 and ask.shape.stride in SLIC_STRIDES:
        wide = amp.units(ask.chip, ask.precision) >= 16
        for groups, channels in ((1, 4), (2, 2), (4, 1), *(((8, 1), (16, 1)) if wide else ())):
            if channels == 4 or max(ask.inputs, ask.outputs) <= channels:
                problem = _image(ask, "as it stands", copied=_padded(ask, channels))
                yield problem, Slic(ask.precision, channels, groups, chains=4 if wide else 2)
    if ask.inputs == ask.outputs == 1:
        yield _image(ask, "as it stands"), Vmac(ask.precision)
    if ask.inputs == 1 and ask.kernel == 1:
        yield _image(ask, "as it stands"), Outer(ask.precision)


# --- gradients -------------------------------------------------------------------------------------------------------


def _input_gradient(ask: _Ask) -> Iterator[Way]:
    """The gradient of the output convolved with the kernels turned round, input and output channels exchanged.

    The turned kernels are a copy of the weights. A stride spreads the gradient: a kernel position then meets one
    output in stride squared.
    """
    shape = ask.shape
    turned = Copy("weights", float(shape.parameters), min(ask.run_in, ask.run_out))
    stride_one = Conv(
        batch=shape.batch,
        size=shape.size,
        in_channels=shape.out_channels,
        out_channels=shape.in_channels,
        kernel=shape.kernel,
        channel_groups=shape.channel_groups,
    )
    back = _Ask(stride_one, ask.precision, ask.chip)
    if shape.stride == 1:
        for problem, vertex in _forward(back):
            yield _with(problem, turned), vertex
        return
    for one in amp.shapes(ask.chip, ask.precision, back.outputs):
        if ask.kernel == 1:
            spread = Copy("output", float(shape.inputs), ask.run_in)
            yield _strided_product(ask, (turned, spread)), OneByOne(one)
        yield _spread(back, shape.stride, (turned, *_padded(back, ask.group))), NByOne(one)
    if back.inputs < ask.group:
        narrow = _spread(back, shape.stride, (turned,))
        yield narrow, Dot(ask.precision, amp.LOAD_ELEMENTS[ask.precision])
        if back.inputs == back.outputs == 1 and not amp.float_operands(ask.precision):
            yield narrow, Vmac(ask.precision)


def _with(problem: Problem, copy: Copy) -> Problem:
    others = tuple(one for one in problem.copied if one.operand != copy.operand)
    return replace(problem, copied=(*others, copy))


def _strided_product(ask: _Ask, copied: tuple[Copy, ...]) -> Problem:
    """A kernel of one position: a product over the pixels of the gradient, then spread over the image."""
    return Problem(
        transform="pixels in one row",
        groups=ask.shape.channel_groups,
        width=ask.pixels,
        inputs=ask.outputs,
        outputs=ask.inputs,
        copied=copied,
    )


def _spread(back: _Ask, stride: int, copied: tuple[Copy, ...]) -> Problem:
    shape = back.shape
    return Problem(
        transform="as it stands",
        groups=shape.channel_groups,
        batch=shape.batch,
        height=shape.size,
        width=shape.size,
        kernel_height=back.kernel,
        kernel_width=back.kernel,
        inputs=back.inputs,
        outputs=back.outputs,
        spread=stride,
        copied=copied,
    )


def _weight_gradient(ask: _Ask) -> Iterator[Way]:
    """Input channels by kernel positions are the field, the pixels of all images what is summed over.

    Pixels become channels whole ("pixels in channels"), by rows, or not at all: then the images are the channels and
    the field of the output is a kernel.
    """
    shape = ask.shape
    gradient = Copy("weights", float(ask.pixels * shape.out_channels), ask.run_out)
    whole = (_moved(ask, ask.pixels * ask.positions), gradient)
    kernels = ask.inputs * ask.positions
    for width, outputs in ((kernels, ask.outputs), (ask.outputs, kernels)):
        problem = Problem(
            transform="pixels in channels" if width == kernels else "pixels in channels, operands swapped",
            groups=shape.channel_groups,
            width=width,
            inputs=ask.pixels,
            outputs=outputs,
            copied=whole,
        )
        for one in amp.shapes(ask.chip, ask.precision, outputs):
            yield problem, OneByOne(one)
    for one in amp.shapes(ask.chip, ask.precision, ask.outputs):
        if ask.kernel > 1:
            rows = shape.batch * shape.size * shape.out_size * ask.kernel
            yield _field_as_kernel(ask, (_moved(ask, rows), gradient), by_rows=True), NByOne(one)
            yield (
                _field_as_kernel(ask, (_moved(ask, shape.batch * shape.size**2), gradient), by_rows=False),
                NByOne(one),
            )


def _moved(ask: _Ask, positions: int) -> Copy:
    """The input with the dimension summed over made its channels."""
    return Copy("input", float(positions * ask.shape.in_channels), ask.run_in)


def _field_as_kernel(ask: _Ask, copied: tuple[Copy, ...], *, by_rows: bool) -> Problem:
    """The weight gradient with the output field as a kernel, dilated by the stride; its rows may be channels."""
    shape = ask.shape
    return Problem(
        transform="pixel rows in channels" if by_rows else "images in channels",
        groups=shape.channel_groups,
        batch=1 if by_rows else ask.inputs,
        height=ask.kernel,
        width=ask.inputs * ask.kernel if by_rows else ask.kernel,
        kernel_height=shape.out_size,
        kernel_width=1 if by_rows else shape.out_size,
        inputs=shape.batch * shape.out_size if by_rows else shape.batch,
        outputs=ask.outputs,
        dilation=shape.stride,
        copied=copied,
    )
