"""Laws of other chips: what is left out, what a fit recovers, and how well it predicts sizes it has not seen."""

import math
from dataclasses import replace

import numpy as np
import pytest

import podsim
from podsim.calibration import comparator_arrays, comparator_fit
from podsim.calibration.comparator_arrays import OVERHEADS, Arrays, Priors
from podsim.calibration.comparator_larger import FEW, per_doubling
from podsim.files import catalog, comparator_machines
from podsim.files import comparator_results as results
from podsim.model.comparator import MOST_HELD_OUT
from podsim.predicting.comparator_law import evaluation_s, step_s

CHIPS = {chip.value.name: chip.value for chip in comparator_machines.chips()}
MACHINES = {name: min(machine.multiple for machine in chip.machines) for name, chip in CHIPS.items()}


def priors(workload):
    """What a fit of this workload is told."""
    return Priors(weights=catalog.workload(workload).value.parameters, machines=MACHINES)


@pytest.fixture(scope="module")
def kept():
    """Results that laws are fitted to."""
    return comparator_fit.sort_out(results.published_results(), CHIPS)[0]


@pytest.fixture(scope="module")
def report():
    """The whole validation, which takes some seconds."""
    return podsim.validate_comparators()


def test_the_a100_is_predicted_at_sizes_not_seen(report):
    assert report.judged.count == 36
    assert report.judged.mean_abs <= MOST_HELD_OUT
    assert not report.misses
    for summary in report.summaries:
        assert summary.in_sample.mean_abs <= 0.065, f"{summary.chip} {summary.workload}"


def test_every_result_is_used_or_left_out_with_a_reason(report):
    assert len(report.points) + len(report.left_out) == len(results.published_results()) == 123
    reasons = {item.id: item.reason for item in report.left_out}
    assert "another model" in reasons["bert/tpu-v4-2048-JAX/v1.1-open"]
    assert "another model" in reasons["bert/tpu-v4-4096-TF/v1.1-open"]
    assert "v2.0" in reasons["resnet50/dgxa100_ngc22.04_mxnet/v2.1-closed"]
    assert all(reasons.values())


def test_what_is_left_out_hangs_on_the_numbers():
    rows = results.published_results()
    other = next(
        row for row in rows if row.samples_to_converge and row.samples_to_converge > 1e8 and row.workload == "bert"
    )
    usual = replace(other, samples_to_converge=3e6)
    kept, _ = comparator_fit.sort_out([usual if row is other else row for row in rows], CHIPS)
    assert usual in kept


def test_shipped_laws_are_those_of_the_fit(kept):
    rows = [row for row in kept if row.workload == "rnnt"]
    law = comparator_fit.fit(rows, priors("rnnt")).law("h100", [row for row in rows if row.chip == "h100"])
    shipped = comparator_machines.laws().workload["rnnt"].chip["h100"]
    for name in ("samples_per_s", "fixed_s", "network_s", "doubling_s", "evaluation_s", "evaluation_samples"):
        assert getattr(law, name) == pytest.approx(getattr(shipped, name), rel=1e-4)


def test_the_fit_recovers_a_law(kept):
    """Times made by a law, with weak priors: its numbers come back."""
    template = next(row for row in kept if row.workload == "bert" and row.chip == "h100")
    law = replace(
        comparator_machines.laws().workload["bert"].chip["h100"],
        samples_per_s=900.0,
        fixed_s=0.004,
        network_s=0.01,
        doubling_s=0.0015,
        startup_s=0.0,
        evaluation_samples=0.0,
        evaluation_s=comparator_arrays.PRIOR_EVALUATION_S,
    )
    rows = []
    for chips, batch in ((8, 512), (8, 4096), (64, 512), (64, 4096), (512, 4096), (512, 1024), (1024, 8192)):
        time_s = 16 * evaluation_s(law, chips) + 3e6 / batch * step_s(law, chips, batch)
        rows.append(
            replace(
                template,
                chips=chips,
                global_batch=batch,
                samples_to_converge=3e6,
                evaluations=16.0,
                evaluation_s=None,
                startup_s=0.0,
                measured_minutes=time_s / 60,
                round="v3.0",
            )
        )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparator_arrays, "NOISE", 1e-4)
        result = comparator_fit.fit(rows, priors("rnnt")).law("h100", rows)
    for name in ("samples_per_s", "fixed_s", "doubling_s"):
        assert getattr(result, name) == pytest.approx(getattr(law, name), rel=0.01)


def test_slopes_are_those_of_the_residuals(kept):
    rows = [row for row in kept if row.workload == "resnet50"]
    names = comparator_fit._names(rows)
    arrays = Arrays.of(rows, names, {row.chip: 0.1 for row in rows}, priors("resnet50"))
    x = arrays.first() + 0.1
    moved = [(arrays.residuals(x + 1e-6 * e) - arrays.residuals(x - 1e-6 * e)) / 2e-6 for e in np.eye(len(x))]
    assert np.allclose(arrays.slopes(x), np.array(moved).T, atol=1e-6)


def test_usual_batches_grow_with_the_chips(kept):
    for law in (law for laws in comparator_machines.laws().workload.values() for law in laws.chip.values()):
        batches = list(law.sizes.values())
        assert batches == sorted(batches)
        assert math.isclose(law.rounds[law.newest], 1.0)


def test_larger_machines_are_predicted_by_laws_of_small_ones(report):
    """Fitted to at most 300 chips; batch and samples are podsim's own."""
    larger = report.larger
    assert larger.fitted == FEW == 300
    assert larger.errors.count == 17
    assert all(point.chips > FEW for point in larger.points)
    assert larger.errors.mean_abs <= 0.40
    assert larger.inside >= 0.8 * larger.errors.count
    assert larger.inside == sum(point.low_s <= point.measured_s <= point.high_s for point in larger.points)


def test_laws_of_small_machines_do_not_see_large_ones(report):
    """The judged answers are those of a fit to the small results alone."""
    small = [row for row in comparator_fit.sort_out(results.published_results(), CHIPS)[0] if row.chips <= FEW]
    rows = [row for row in small if row.workload == "bert"]
    law = comparator_fit.fit(rows, priors("bert")).law("h100", [row for row in rows if row.chip == "h100"])
    assert law.largest == 64
    point = next(
        point for point in report.larger.points if (point.chip, point.workload, point.chips) == ("h100", "bert", 768)
    )
    assert point.beyond == pytest.approx(768 / 64)


def test_the_error_of_a_doubling_is_that_of_machines_left_out(kept):
    """Times that leave the law by half a doubling beyond 16 chips show it; of a law they show little."""
    rows = [row for row in kept if (row.workload, row.chip) == ("bert", "gaudi") and row.round != "v1.0"]
    law = comparator_machines.laws().workload["bert"].chip["gaudi"]

    def with_times(off):
        return [
            replace(
                row,
                measured_minutes=off(row.chips)
                * (
                    (row.evaluations or 0) * law.evaluation_s
                    + row.samples_to_converge / row.global_batch * step_s(law, row.chips, row.global_batch)
                )
                / 60,
                round="v2.0",
                startup_s=0.0,
            )
            for row in rows
        ]

    of_a_law = per_doubling(with_times(lambda chips: 1.0), priors("bert"))
    rising = per_doubling(with_times(lambda chips: 1.5 ** max(0.0, math.log2(chips / 16))), priors("bert"))
    assert of_a_law < 0.08
    assert rising > 2 * of_a_law


def test_what_software_gained_beside_work_is_told_apart(kept):
    """The A100's first round paid more beside its work than a later one, by more than its work took longer."""
    rows = [row for row in kept if row.workload == "bert"]
    fit = comparator_fit.fit(rows, priors("bert"))
    assert fit.maturity("a100", "v0.7", OVERHEADS) > fit.maturity("a100", "v0.7")
