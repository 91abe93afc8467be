"""A run taken apart: sums, closed forms, and what-ifs against predictions of their own."""

import dataclasses

import pytest

import podsim
from podsim.model.explanation import Mechanism
from podsim.model.program import Part
from podsim.model.quantity import Grade

PRESET = {"pod": 64, "preset": "mlperf-v1.1-closed"}


@pytest.fixture(scope="module")
def found():
    return podsim.explain("bert", **PRESET)


def test_the_waterfall_ends_at_the_answer_and_begins_with_peak_arithmetic(found):
    p, first, last = found.prediction, found.waterfall[0], found.waterfall[-1]
    assert last.until_s == pytest.approx(p.time_to_train_s.value, rel=1e-9)
    assert sum(rise.added_s for rise in found.waterfall) == pytest.approx(p.time_to_train_s.value, rel=1e-9)
    assert first.mechanism is Mechanism.IDEAL
    assert first.added_s == pytest.approx(p.mfu * p.run.training_s)
    of_step = sum(rise.added_s for rise in found.waterfall if rise.mechanism in tuple(Part)) + sum(
        rise.added_s for rise in found.waterfall[:5]
    )
    assert of_step == pytest.approx(p.run.training_s, rel=1e-9)


@pytest.mark.parametrize("path", ["chip.clock", "program.stretch", "ipu-link.bandwidth", "collective.start"])
def test_an_elasticity_is_what_a_prediction_with_set_says(path, found):
    item = next(one for one in found.influences if one.path == path)
    number, _, unit = item.value.partition(" ")
    fitted = path in ("program.stretch", "collective.start")
    value = 1.01 * (podsim_parameter(path) if fitted else float(number))
    # exactly the samples of the answer, so that an interval that a certain number narrows does not enter
    samples = 2.5e6
    base = podsim.predict("bert", samples=samples, **PRESET)
    more = podsim.predict("bert", samples=samples, changes=[f"{path}={value!r} {unit if not fitted else ''}"], **PRESET)
    told = podsim.explain("bert", samples=samples, **PRESET) if path == "chip.clock" else None
    change = more.time_to_train_s.value / base.time_to_train_s.value - 1
    if told:
        own = next(one for one in told.influences if one.path == path)
        assert own.change == pytest.approx(change, rel=1e-3)
    assert item.change == pytest.approx(change, rel=0.05)


def podsim_parameter(name):
    from podsim.files import catalog

    return catalog.parameters().value(name)


def test_every_path_printed_is_one_that_set_takes(found):
    from podsim.files import catalog, changes
    from podsim.model.fabric import Topology

    known = {*changes.settable(catalog.topology("pod64").tables, Topology), *catalog.parameters().fitted}
    paths = [item.path for item in found.influences if item.path]
    assert len(paths) > 20
    assert set(paths) <= known
    assert all(item.source for item in found.influences)


def test_what_is_assumed_is_graded_so(found):
    kinds = {item.path: item for item in found.influences}
    assert kinds["gw-link.latency"].grade is Grade.ASSUMED
    assert kinds["chip.clock"].grade is Grade.INTERPOLATED
    changed = podsim.explain("bert", changes=["chip.clock=1.4 GHz"], engine="analytic", **PRESET)
    assert next(item for item in changed.influences if item.path == "chip.clock").grade is Grade.ASSUMED


def test_without_a_mechanism_no_run_is_longer_and_compute_alone_is_its_closed_form(found):
    rows = {row.name: row for row in found.without}
    assert all(row.change <= 1e-9 for row in rows.values())
    p = found.prediction
    samples = podsim.explain("bert", samples=2.5e6, **PRESET)
    alone = next(row for row in samples.without if row.name == "compute only")
    steps = samples.prediction.run.training_s / samples.prediction.timeline.step_s
    outside = samples.prediction.run.startup_s
    evaluations = samples.prediction.run.evaluations
    compute = samples.prediction.breakdown_s[Part.COMPUTE]
    each = podsim_evaluation_steps(samples.prediction)
    # an evaluation of this practice is a whole number of training steps (Eq. 27)
    assert alone.time_to_train_s == pytest.approx(outside + (steps + evaluations * each) * compute, rel=1e-6)
    assert rows["free all-reduce"].time_to_train_s < p.time_to_train_s.value


def podsim_evaluation_steps(p):
    return round(p.run.evaluation_s / p.run.evaluations / p.timeline.step_s)


def test_alternatives_say_what_a_prediction_says(found):
    by_name = {item.name: item for item in found.alternatives}
    words = by_name["twice the batch"].flags.split()
    flags = {
        name.removeprefix("--").replace("-", "_"): int(value)
        for name, value in zip(words[::2], words[1::2], strict=True)
    }
    other = podsim.predict("bert", pod=64, sdk="2.1", **flags)
    same = found.prediction.sdk == other.sdk
    assert by_name["twice the batch"].time_to_train_s == pytest.approx(
        other.time_to_train_s.value, rel=0.01 if same else 0.2
    )
    full = by_name["twice the micro-batch"]
    assert full.time_to_train_s is None
    assert not full.helps
    assert "SRAM" in full.why
    assert [item.change for item in found.alternatives if item.change is not None] == sorted(
        item.change for item in found.alternatives if item.change is not None
    )


def test_a_notebook_draws_it(found):
    assert "how the time to train adds up" in found._repr_html_()
    assert dataclasses.is_dataclass(found)
