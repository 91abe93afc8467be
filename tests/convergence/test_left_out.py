"""Reference points left out of their curve: what the others say of them, and the doubt that follows."""

import math

import pytest

from podsim.convergence.curve import LAW_ERROR, above, below, errors, interior
from podsim.convergence.samples import reference
from podsim.files import catalog, reference_points
from podsim.model.training import Convergence, ReferencePoint

ROUND = "2.0.0"  # the round that predictions use, as calibration/convergence says
BENCHMARK = {"bert": "bert", "resnet50": "resnet"}
IMAGES = 1_281_167  # an epoch of ResNet-50
CURVES = {name: catalog.convergence(name).value for name in BENCHMARK}


def curve(samples_of, batches, std=0.0):
    """Points on a function of the batch."""
    points = tuple(ReferencePoint(batch=b, samples=samples_of(b), std=std, runs=4) for b in batches)
    return Convergence(points=points, optimizer="lamb", source="test")


LOG_LINE = curve(lambda b: 1e6 * math.log2(b), (256, 512, 2048, 4096, 32768))
LAW = curve(lambda b: 2e6 * (1 + b / 8000), (512, 1024, 4096, 8192, 32768))


def test_points_on_a_line_in_log_batch_are_found_by_their_neighbours():
    assert [miss.batch for miss in interior(LOG_LINE)] == [512, 2048, 4096]
    assert all(abs(miss.error) < 1e-12 for miss in interior(LOG_LINE))
    assert errors(LOG_LINE).between == pytest.approx(0, abs=1e-12)


def test_points_on_the_law_are_found_by_it():
    assert all(abs(miss.error) < 1e-9 for miss in above(LAW))
    assert errors(LAW).above == pytest.approx(0, abs=1e-9)


def test_one_point_off_the_line_by_hand():
    """256, 1,024, 4,096 at 1, 1.2 and 1 M: missed by 1 / 1.2, 4 doublings with half of them on each side."""
    result = curve(lambda b: 1.2e6 if b == 1024 else 1e6, (256, 1024, 4096, 16384))
    first = next(interior(result))
    assert first.error == pytest.approx(math.log(1 / 1.2))
    assert first.doublings == pytest.approx(4 * 0.25)
    second = math.log(1.1)  # 4,096 between 1.2 and 1 M
    expected = math.sqrt((first.error**2 + second**2) / 2)
    assert errors(result).between == pytest.approx(expected)
    assert reference(result, 2048).doubt == pytest.approx(expected * math.sqrt(2 * 0.25))


def test_what_seeds_explain_is_no_error_of_the_curve():
    noisy = curve(lambda b: 1e6 * (1.01 if b == 1024 else 1), (256, 1024, 4096, 16384), std=1e5)
    assert errors(noisy).between == 0
    assert reference(noisy, 2048).doubt > 0


def test_below_the_first_point_samples_are_held():
    """Held at 9 M instead of 8 M, a doubling below; and at 11 M instead of 8 and 9 M, 3 and 2 doublings below."""
    values = [miss.error for miss in below(LOG_LINE)]
    assert values == pytest.approx([math.log(9 / 8), math.log(11 / 8), math.log(11 / 9)])
    assert [miss.doublings for miss in below(LOG_LINE)] == pytest.approx([1, 3, 2])


def test_three_points_are_too_few_to_tell():
    assert errors(curve(float, (256, 512, 1024))) == errors(curve(float, (100, 200)))
    assert errors(curve(float, (256, 512, 1024))).between == LAW_ERROR


@pytest.mark.parametrize("name", CURVES)
def test_left_out_points_lie_where_the_doubt_says(name):
    """Standardised by the doubt that the curve gives itself, errors between points have a root mean square of one."""
    between = errors(CURVES[name]).between
    scaled = [
        miss.error / math.hypot(between * math.sqrt(miss.doublings), miss.noise) for miss in interior(CURVES[name])
    ]
    assert 0.6 < math.sqrt(sum(x * x for x in scaled) / len(scaled)) < 1.5


@pytest.mark.parametrize("name", CURVES)
def test_the_curve_in_use_is_that_of_its_round(name):
    """calibration/convergence/NAME.toml repeats rows of reference-points.csv, as whole samples."""
    rows = reference_points.curves(reference_points.published_points())[BENCHMARK[name], ROUND]
    each = IMAGES if name == "resnet50" else 1
    for used, row in zip(CURVES[name].points, rows.points, strict=True):
        assert (used.batch, used.runs) == (row.batch, row.runs)
        assert used.samples == pytest.approx(row.samples * each, abs=1)
        assert used.std == pytest.approx(row.std * each, abs=1)
