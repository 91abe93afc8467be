"""An adaptive sweep ends when its axes and its best point are settled, wherever it was interrupted, by its seed."""

import pytest

import podsim
from podsim.model.quantity import Grade
from podsim.model.sweep import Design, SweepAnswer, SweepAxis, SweepFile, SweepOutcome, SweepRefusal, SweepRow
from podsim.studies.sweep import conclusions, design, points, stopping_rule
from podsim.units import split_unit

SWEEP = """
schema = "podsim.sweep/1"
workload = "bert"
design = "adaptive"
points = {points}
seed = {seed}
[fixed]
pod = 16
[[axis]]
name = "chip.clock"
from = "1 GHz"
to = "2 GHz"
[[axis]]
name = "ipu-link.bandwidth"
from = "10 GB/s"
to = "40 GB/s"
"""


def answer(time_s):
    return SweepAnswer(
        topology="pod16",
        chip="gc200",
        ipus=16,
        hosts=1,
        sdk="2.3",
        replicas=4,
        ipus_per_replica=4,
        micro_batch=2,
        accumulation=8,
        global_batch=4096,
        time_to_train_s=time_s,
        time_to_train_low_s=0.9 * time_s,
        time_to_train_high_s=1.1 * time_s,
        time_to_train_grade=Grade.ASSUMED,
        step_s=0.2,
        step_low_s=0.1,
        step_high_s=0.3,
        throughput_samples_per_s=1000.0,
        samples_to_converge=1e6,
        mfu=0.25,
        memory=0.6,
        limited_by="compute",
        breakdown_s={},
    )


@pytest.fixture
def swept(tmp_path, monkeypatch):
    """Sweeps whose points are computed by a formula, refused where the clock is beyond 1.9 GHz."""
    calls = []

    def outcome(question, folder, turn):
        calls.append(question)
        key = points.key(question, points.files_of(turn, folder))
        clock, link = (split_unit(question.flags[name])[0] for name in ("chip.clock", "ipu-link.bandwidth"))
        if clock > 1.9:
            return SweepOutcome(key=key, refusal=SweepRefusal(code="does-not-fit", message="too quick"))
        return SweepOutcome(key=key, answer=answer(600 / clock**2 + 200 / link))

    monkeypatch.setattr(points, "outcome", outcome)

    def sweep(seed=0, most=300, **more):
        file = tmp_path / f"of-{seed}-{most}.toml"
        file.write_text(SWEEP.format(points=most, seed=seed), encoding="utf-8")
        before = len(calls)
        report = podsim.sweep(file, jobs=1, **more)
        return report, len(calls) - before

    return sweep


def test_it_ends_before_all_points_are_computed(swept):
    report, computed = swept()
    assert report.design is Design.ADAPTIVE
    assert report.is_settled
    assert (report.most, len(report.rows)) == (300, computed)
    assert stopping_rule.FIRST + (stopping_rule.LOOKS - 1) * stopping_rule.STEP <= computed < 300
    assert [share.axis for share in report.spread.axes] == ["chip.clock", "ipu-link.bandwidth"]
    assert report.spread.axes[0].first_order > 0.9


def test_an_interrupted_sweep_goes_on_and_ends_alike(swept, tmp_path):
    whole, computed = swept()
    (tmp_path / "of-0-300.results.jsonl").unlink()

    def interrupt(done, total):
        if done == 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        swept(on_progress=interrupt)
    rest, more = swept()
    assert (rest.rows, rest.spread, rest.is_settled) == (whole.rows, whole.spread, whole.is_settled)
    assert (rest.stored, more) == (40, computed - 40)
    again, none = swept()
    assert (again.rows, again.stored, none) == (whole.rows, computed, 0)


def test_points_follow_from_the_seed_and_begin_alike_whatever_their_number(swept):
    (first, _), (other, _), (fewer, _) = swept(seed=1), swept(seed=2), swept(seed=1, most=100)
    assert first.rows[0].values != other.rows[0].values
    assert first.rows[:100] == fewer.rows
    assert not fewer.is_settled


def test_what_is_not_settled_is_computed_to_the_end(swept, monkeypatch):
    monkeypatch.setattr(stopping_rule, "CLOSE", -1.0)
    report, computed = swept(most=150)
    assert (len(report.rows), computed, report.is_settled) == (150, 150, False)


def test_a_grid_of_few_values_needs_no_more_than_all_of_them():
    axes = (SweepAxis(name="a.b", values=("1", "2")), SweepAxis(name="a.c", values=("3", "4")))
    file = SweepFile(workload="bert", design=Design.ADAPTIVE, points=100, axes=axes)
    assert set(design.points(file, 100)) == {("1", "3"), ("1", "4"), ("2", "3"), ("2", "4")}


def rows(times):
    made = [
        (SweepRow(values=values, outcome=SweepOutcome(key="-".join(values), answer=answer(time_s))), answer(time_s))
        for values, time_s in times.items()
    ]
    return sorted(made, key=lambda pair: pair[1].time_to_train_s)


AXES = (
    SweepAxis(name="a.b", first="10 GB/s", last="40 GB/s", count=4),
    SweepAxis(name="a.c", values=("slow", "quick", "none")),
)
FILE = SweepFile(workload="bert", axes=AXES)
TIMES = {
    (f"{speed} GB/s", kind): 100.0 * factor / speed
    for speed in (10, 20, 30, 40)
    for kind, factor in (("slow", 2.0), ("quick", 1.0))
}


def test_regions_and_ties():
    known = conclusions.conclude(FILE, rows(TIMES))
    assert known.exact
    assert [share.axis for share in known.axes] == ["a.b", "a.c"]
    speed, kind = known.axes
    assert speed.first_order + kind.first_order == pytest.approx(1, abs=1e-5)  # a product has logs that add up
    assert (speed.best.values, speed.worst.values) == (("40 GB/s", "40 GB/s"), ("10 GB/s", "10 GB/s"))
    assert speed.best.is_range
    assert (kind.best.values, kind.worst.values, kind.best.is_range) == (("quick",), ("slow",), False)
    assert known.near_ties == 0
    near = conclusions.conclude(FILE, rows({**TIMES, ("30 GB/s", "quick"): 3.0}))
    assert near.near_ties == 1


def test_a_value_that_nothing_answers_is_no_part_of_the_spread():
    gap = {values: time_s for values, time_s in TIMES.items() if values[0] != "20 GB/s"}
    assert conclusions.conclude(FILE, rows(gap)).exact


def test_one_axis_that_varies_and_none():
    single = {values: time_s for values, time_s in TIMES.items() if values[1] == "slow"}
    (share,) = conclusions.conclude(FILE, rows(single)).axes
    assert (share.axis, share.first_order, share.total) == ("a.b", 1.0, 1.0)
    assert conclusions.conclude(FILE, rows({("10 GB/s", "slow"): 1.0})) is None
    assert conclusions.conclude(FILE, []) is None
