"""Ways to multiply a convolution: transforms into a product the tiles can run, with the vertices that fit (Eq. 36)."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from podsim.model.chip import Chip, Precision
from podsim.model.workload import Conv
from podsim.tiles import amp
from podsim.tiles.amp import AmpVertex
from podsim.tiles.problem import Copy, Problem, run_of
from podsim.tiles.product_search import Way
from podsim.tiles.vertices import Dot, NByOne, OneByOne, Outer, Slic, Vmac

SLIC_STRIDES = (1, 2)


@dataclass(frozen=True, slots=True)
class Layer:
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
    def positions(self) -> int:
        """Positions of the kernel."""
        return math.prod(self.shape.kernel_edges)

    @property
    def group(self) -> int:
        """Input channels of a full block."""
        return amp.input_group(self.precision)

    @property
    def run_in(self) -> int:
        """Input channels of a group copied together."""
        return run_of(self.inputs, amp.ELEMENT_BYTES[self.precision], self.chip.library.run_bytes)

    @property
    def run_out(self) -> int:
        """Output channels of a group copied together."""
        return run_of(self.outputs, amp.ELEMENT_BYTES[self.precision], self.chip.library.run_bytes)

    @property
    def pixels(self) -> int:
        """Outputs of one channel over all images."""
        return self.shape.batch * math.prod(self.shape.out_edges)


def forward(layer: Layer) -> Iterator[Way]:
    """Every transform with the vertices that run it."""
    if layer.positions == 1:
        yield from _pointwise(layer)
    else:
        yield from _spatial(layer)
    yield from _group_ways(layer)
    yield from _narrow(layer)


def _image(layer: Layer, transform: str, *, combined_groups: int = 1, copies: tuple[Copy, ...] = ()) -> Problem:
    """The convolution as it stands, `combined_groups` of its groups taken as one."""
    shape = layer.shape
    (height, width), (kernel_height, kernel_width) = shape.out_edges, shape.kernel_edges
    return Problem(
        transform=transform,
        groups=-(-shape.channel_groups // combined_groups),
        batch=shape.batch,
        height=height,
        width=width,
        kernel_height=kernel_height,
        kernel_width=kernel_width,
        inputs=layer.inputs * combined_groups,
        outputs=layer.outputs * combined_groups,
        stride=shape.strides,
        copied=copies,
    )


def _flat(layer: Layer, transform: str, inputs: int, copies: tuple[Copy, ...], *, combined_groups: int = 1) -> Problem:
    """All pixels of all images as one row, kernel positions among the input channels."""
    return Problem(
        transform=transform,
        groups=-(-layer.shape.channel_groups // combined_groups),
        width=layer.pixels,
        inputs=inputs * combined_groups,
        outputs=layer.outputs * combined_groups,
        copied=copies,
    )


def pad_channels(layer: Layer, group: int) -> tuple[Copy, ...]:
    """Operands copied where channels do not fill groups of a block: the input; the output of each of several groups."""
    shape = layer.shape
    copies = []
    if layer.inputs % group:
        pixels = shape.batch * math.prod(shape.edges)
        padded_elements = pixels * shape.channel_groups * -(-layer.inputs // group) * group
        copies.append(Copy("input", float(padded_elements), layer.run_in))
    if shape.channel_groups > 1 and layer.outputs % min(8, group):
        copies.append(Copy("output", float(shape.outputs), layer.run_out))
    return tuple(copies)


def _pointwise(layer: Layer) -> Iterator[Way]:
    """A kernel of one position: a product over all pixels, of which a stride leaves some out."""
    copies = pad_channels(layer, layer.group)
    is_strided = max(layer.shape.strides) > 1
    if is_strided:
        used_elements = float(layer.pixels * layer.shape.in_channels)
        copies = (Copy("input", used_elements, layer.run_in),)
    for shape in amp.shapes(layer.chip, layer.precision, layer.outputs):
        yield _flat(layer, "pixels in one row", layer.inputs, copies), OneByOne(shape)
        if is_strided:
            yield _image(layer, "as it stands", copies=pad_channels(layer, layer.group)), NByOne(shape)


def _spatial(layer: Layer) -> Iterator[Way]:
    """Kernel positions one after the other, its columns among the channels, or all of it among the channels."""
    for shape in amp.shapes(layer.chip, layer.precision, layer.outputs):
        for group in _groups(layer):
            vertex = AmpVertex(layer.precision, shape.units, group, shape.out_group)
            yield _image(layer, "as it stands", copies=pad_channels(layer, group)), NByOne(vertex)
        yield _columns(layer), NByOne(shape)
        copies = _expand(layer, layer.pixels, layer.inputs * layer.positions)
        yield _flat(layer, "kernel in channels", layer.inputs * layer.positions, copies), OneByOne(shape)


def _groups(layer: Layer) -> tuple[int, ...]:
    """Input groups of the n x 1 vertex: a full block, or a part of one with kernel rows packed beside each other."""
    quarter = layer.shape.channel_groups == 1 or layer.chip.library.quarter_blocks
    sizes = (layer.group // 4, layer.group // 2) if quarter else (layer.group // 2,)
    parts = tuple(size for size in sizes if layer.inputs <= size)
    return (*parts[:1], layer.group)


def _expand(layer: Layer, pixels: int, channels: int) -> tuple[Copy, ...]:
    """The input with kernel positions moved into its channels, padded to whole blocks; the weights likewise."""
    groups = layer.shape.channel_groups
    padded_elements = pixels * groups * -(-channels // layer.group) * layer.group
    return (
        Copy("input", float(padded_elements), layer.run_in),
        Copy("weights", float(layer.shape.parameters), layer.run_in),
    )


def _columns(layer: Layer) -> Problem:
    """Kernel columns moved into the channels; images and columns then follow each other in one long row."""
    shape = layer.shape
    (height, width), (kernel_height, kernel_width) = shape.out_edges, shape.kernel_edges
    return Problem(
        transform="kernel columns in channels",
        groups=shape.channel_groups,
        height=height,
        width=shape.batch * width,
        kernel_height=kernel_height,
        inputs=layer.inputs * kernel_width,
        outputs=layer.outputs,
        stride=(shape.strides[0], 1),
        copied=_expand(layer, shape.batch * shape.size * width, layer.inputs * kernel_width),
    )


# --- groups and narrow channels --------------------------------------------------------------------------------------


def _group_ways(layer: Layer) -> Iterator[Way]:
    """Several groups taken as one to fill a block, zeros elsewhere."""
    shape = layer.shape
    combined_groups = 2
    while shape.channel_groups > 1 and combined_groups <= min(shape.channel_groups, layer.group // layer.inputs):
        copies = (
            Copy("input", float(shape.inputs), layer.run_in),
            Copy("weights", float(shape.parameters * combined_groups), layer.run_in),
            Copy("output", float(shape.outputs), layer.run_out),
        )
        for vertex in amp.shapes(layer.chip, layer.precision, layer.outputs * combined_groups):
            if layer.positions == 1 and shape.strides == (1, 1):
                problem = _flat(
                    layer, f"{combined_groups} groups as one", layer.inputs, copies, combined_groups=combined_groups
                )
                yield problem, OneByOne(vertex)
            else:
                yield (
                    _image(layer, f"{combined_groups} groups as one", combined_groups=combined_groups, copies=copies),
                    NByOne(vertex),
                )
        combined_groups *= 2


def _narrow(layer: Layer) -> Iterator[Way]:
    """Vertices for few channels a group."""
    if not amp.float_operands(layer.precision):
        yield from _half_narrow(layer)
    if layer.inputs < layer.group:
        vector = amp.LOAD_ELEMENTS[layer.precision]
        yield _image(layer, "as it stands", copies=pad_channels(layer, vector)), Dot(layer.precision, vector)


def _half_narrow(layer: Layer) -> Iterator[Way]:
    """Vertices for few channels a group that take no operands of 4 B."""
    if layer.shape.channel_groups > 1 and layer.shape.strides[1] in SLIC_STRIDES:
        wide = amp.units(layer.chip, layer.precision) >= 16
        for groups, channels in ((1, 4), (2, 2), (4, 1), *(((8, 1), (16, 1)) if wide else ())):
            if channels == 4 or max(layer.inputs, layer.outputs) <= channels:
                problem = _image(layer, "as it stands", copies=pad_channels(layer, channels))
                yield problem, Slic(layer.precision, channels, groups, chains=4 if wide else 2)
    if layer.inputs == layer.outputs == 1:
        yield _image(layer, "as it stands"), Vmac(layer.precision)
    if layer.inputs == 1 and layer.positions == 1:
        yield _image(layer, "as it stands"), Outer(layer.precision)
