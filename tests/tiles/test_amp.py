"""Cycles of the AMP vertices: counts worked out by hand from poplibs, and cycle counters of a Bow IPU."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import MissingParameter
from podsim.files import catalog
from podsim.model.chip import Precision
from podsim.tiles import amp
from podsim.tiles.amp import AmpVertex

HALF = AmpVertex(Precision.FP16_16, 16, 16, 16)
FP8 = AmpVertex(Precision.FP8_16, 16, 32, 16)


def _one(value):
    return np.array([float(value)])


def _cycles(shape, field, inputs, outputs):
    return float(amp.one_by_one(shape, _one(field), _one(inputs), _one(outputs), _one(1))[0])


# Per tile: rows, input channels, output channels of plans worked out with the counts of
# poplibs lib/poplin/PerformanceEstimation.hpp (commit 7eac0f26).
@pytest.mark.parametrize(
    ("shape", "field", "inputs", "outputs", "cycles"),
    [
        (HALF, 293, 320, 128, 221_335),  # one of four parts of 4096 x 4096 x 4096
        (HALF, 179, 256, 64, 59_659),  # BERT-Large's first feed-forward product
        (HALF, 365, 80, 16, 8_577),  # attention scores of SigLIP; 8,488 measured on C600
        (HALF, 192, 288, 48, 53_849),  # six threads with equal shares wait for the supervisor; 52,187 measured
        (FP8, 365, 72, 16, 5_177),  # the scores in FP8; 5,502 measured
    ],
)
def test_one_by_one_counts_of_poplibs(shape, field, inputs, outputs, cycles):
    assert _cycles(shape, field, inputs, outputs) == cycles


# [rows, 16] x [16, 16] on every tile of a Bow, cycles counted: graphcore-research/tessellate-ipu, "IPU Peak Flops".
@pytest.mark.parametrize(
    ("rows", "measured"),
    [(16, 402), (32, 461), (64, 584), (128, 845), (256, 1352), (512, 2381), (1024, 4424), (2048, 8525)],
)
def test_one_by_one_against_cycle_counter(rows, measured):
    assert _cycles(HALF, rows, 16, 16) == pytest.approx(measured, rel=0.02)


@given(st.sampled_from(list(Precision)), st.integers(1, 4000), st.integers(1, 2000), st.integers(1, 2000))
def test_no_vertex_beats_the_rate_of_the_amp(precision, field, inputs, outputs):
    chip = catalog.chip("c600").value
    for shape in amp.shapes(chip, precision, outputs):
        least = 2.0 * field * inputs * outputs / chip.amp.flop_per_cycle[precision]
        assert _cycles(shape, field, inputs, outputs) >= least


@given(st.integers(6, 4000), st.integers(1, 20), st.integers(1, 20))
def test_a_row_takes_four_cycles_a_block(field, blocks_in, blocks_out):
    inputs, outputs = 16 * blocks_in, 16 * blocks_out
    many = 6 * (field // 6 + 3)
    more = _cycles(HALF, many + 6, inputs, outputs) - _cycles(HALF, many, inputs, outputs)
    assert more == 4 * 6 * blocks_in * blocks_out


def test_units_follow_from_the_rates_of_the_chip():
    known = {
        ("gc200", Precision.FP16_16): 16,
        ("gc200", Precision.FP16_32): 8,
        ("gc200", Precision.FP32): 16,
        ("gc2", Precision.FP16_16): 8,
        ("gc2", Precision.FP32): 8,
        ("c600", Precision.FP8_16): 16,
    }
    assert {key: amp.units(catalog.chip(key[0]).value, key[1]) for key in known} == known


def test_a_rate_the_chip_does_not_state_is_missed():
    with pytest.raises(MissingParameter, match=r"gc200 has no AMP rate for precision 8\.16"):
        amp.units(catalog.chip("gc200").value, Precision.FP8_16)


def _spatial(shape, rows, columns, kernel, *, channels=(16, 16), spread=(1, 1)):
    sizes = (_one(rows), _one(columns)), (_one(kernel), _one(kernel)), (_one(channels[0]), _one(channels[1]))
    return float(amp.n_by_one(shape, *sizes, _one(1), spread)[0])


def test_long_rows_stream_at_four_cycles_an_output_and_kernel_position():
    shorter, longer = _spatial(HALF, 6, 1000, 3), _spatial(HALF, 6, 2000, 3)
    cleared = 6000 * 16 / 2
    assert longer - shorter - cleared == pytest.approx(4 * 6000 * 9, rel=1e-3)


def test_packed_kernel_rows_load_a_block_for_four_of_them():
    packed = AmpVertex(Precision.FP16_16, 16, 4, 16)
    assert amp.kernel_rows(packed) == 4
    cleared = 12 * 112 * 16 / 2
    four, item = (_spatial(shape, 12, 112, 4, channels=(4, 16)) - cleared for shape in (packed, HALF))
    assert four == pytest.approx(item / 4, rel=0.05)


def test_the_gradient_of_a_stride_meets_a_quarter_of_the_outputs():
    cleared = 120 * 120 * 16 / 2
    whole, spread = (_spatial(HALF, 120, 120, 3, spread=spread) - cleared for spread in ((1, 1), (2, 2)))
    assert spread == pytest.approx(whole / 4, rel=0.1)
