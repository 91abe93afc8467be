"""Logs written of runs with known figures are read back to those figures, and the fit to the parameters behind them."""

import json
from dataclasses import replace

import log_writer
import pytest

from podsim.calibration import own_groups
from podsim.calibration.fit import blank, fit, free_parameters
from podsim.calibration.fit_cases import steps_s
from podsim.calibration.fit_data import cases as _cases
from podsim.calibration.fit_data import known_files as _catalog
from podsim.calibration.fit_data import ready as _ready
from podsim.calibration.own_mapping import LogOptions
from podsim.files.mllog import tree
from podsim.model.parameters import FREE

CASES = _cases()
PUBLISHED = {case.point.id: case.point for case in CASES}
LOGGED = log_writer.published()
TIMES = {"startup": 14.0, "evaluation": 3.0, "switch": 6.0, "checkpoint": 2.4}
TRUE = {
    "program.stretch": 1.2,
    "sdk-2.1.program": 1.1,
    "collective.efficiency": 0.42,
    "rack.step": 350e-6,
    "sharding.weight": 2.5e-3,
}


def read(folder, *presets, topology=None):
    """The one point of a folder, and what was said on the way."""
    result = tree.read(folder)
    grouped = own_groups.group(result, LogOptions(presets=presets, topology=topology), _catalog())
    (made,) = grouped.points
    return made, [remark.text for remark in (*result.remarks, *grouped.remarks)]


@pytest.mark.parametrize("id_", PUBLISHED)
def test_the_log_of_a_published_run_gives_its_figures(tmp_path, id_):
    """ResNet-50: the published step is from the log's own throughput, ours from block times, up to 1.6 % apart.

    A run that missed its target has a step all the same, which the published mean leaves out.
    """
    log_writer.write(tmp_path, LOGGED[id_])
    bow = PUBLISHED[id_].topology if "bow" in id_ else None  # which no line of these logs says
    made, _ = read(tmp_path, PUBLISHED[id_].preset, topology=bow)
    own, published = made.point, PUBLISHED[id_]
    assert (own.workload, own.topology, own.preset) == (published.workload, published.topology, published.preset)
    assert (own.global_batch, own.runs, own.optimizer) == (published.global_batch, published.runs, published.optimizer)
    assert own.division == published.division
    tight = (
        "samples_to_converge",
        "evaluations",
        "startup_s",
        "train_s",
        "first_evaluation_s",
        "each_evaluation_s",
        "graph_switch_s",
        "samples_spread",
        "normalisation",
        "minutes",
        "score_minutes",
    )
    for name in tight:
        assert getattr(own, name) == pytest.approx(getattr(published, name), rel=2e-3, abs=1e-3), name
    missed = 2e-4 if any(not spec.reached for spec in LOGGED[id_]) else 1e-5
    near = missed if published.workload == "bert" else 0.017
    assert own.step_s == pytest.approx(published.step_s, rel=near)
    assert own.steps == pytest.approx(published.steps, rel=near)


@pytest.mark.parametrize("lost", [1, 5, -1])
@pytest.mark.parametrize("end", ["block_start", "block_stop"])
def test_a_run_that_lacks_a_block_is_left_out(tmp_path, lost, end):
    """Its training would be too short for its samples, and its step as much too quick."""
    good, bad = (log_writer.log(spec) for spec in LOGGED["bert/pod64/v1.1-closed"][:2])
    ends = [at for at, line in enumerate(bad) if f'"{end}"' in line]
    bad[ends[lost]] = bad[ends[lost]].replace('"time_ms": ', '"time_ms": "?", "was": ')
    (tmp_path / "good").write_text("\n".join(good), encoding="utf-8")
    alone, _ = read(tmp_path, "mlperf-v1.1-closed")
    (tmp_path / "bad").write_text("\n".join(bad), encoding="utf-8")
    made, text = read(tmp_path, "mlperf-v1.1-closed")
    assert (made.point.runs, made.point.step_s) == (1, alone.point.step_s)
    assert any("lacks a block of training" in text for text in text)


@pytest.mark.parametrize("samples", [0, -7, "many"])
def test_samples_that_cannot_be_are_not_used(tmp_path, samples):
    (tmp_path / "log").write_text(
        "\n".join(
            line.replace('"value": ', f'"value": {json.dumps(samples)}, "was": ') if '"train_samples"' in line else line
            for line in log_writer.log(LOGGED["bert/pod64/v1.1-closed"][0])
        ),
        encoding="utf-8",
    )
    made, text = read(tmp_path, "mlperf-v1.1-closed")
    assert made.point.samples_to_converge == pytest.approx(LOGGED["bert/pod64/v1.1-closed"][0].samples, rel=1e-3)
    assert "train_samples is no number that can be, ignored" in text


def test_a_normalised_log_is_found_and_undone(tmp_path):
    runs = LOGGED["bert/pod64/v1.1-closed"]
    log_writer.write(tmp_path, runs)
    made, text = read(tmp_path, "mlperf-v1.1-closed")
    assert made.point.normalisation == 1.118
    assert made.point.minutes * 1.118 == pytest.approx(made.point.score_minutes, rel=1e-4)
    assert any("normalised log: run_stop is 1.118 ×" in text for text in text)


@pytest.mark.parametrize(
    ("runs", "words"), [(1, "one run cannot tell"), (3, "runs of one length cannot tell"), (4, "a slow end")]
)
def test_a_tail_that_may_be_a_slow_end_is_kept_and_said(tmp_path, runs, words):
    """The same share after runs of one length, and the same seconds after runs of several."""
    published = LOGGED["bert/pod64/v1.1-closed"]
    if runs == 4:
        specs = [replace(spec, normalisation=1 + 40 / (600 + 20 * spec.number)) for spec in published[:4]]
    else:
        specs = [replace(published[0], number=number) for number in range(runs)]
    log_writer.write(tmp_path, specs)
    made, text = read(tmp_path, "mlperf-v1.1-closed")
    assert made.point.normalisation == 1
    assert made.point.minutes == made.point.score_minutes
    assert any(words in text for text in text)


@pytest.mark.slow
def test_parameters_are_recovered_from_synthetic_logs(tmp_path):
    assert TRUE.keys() == set(FREE.names)
    known = blank(free_parameters(FREE, [TRUE[name] for name in FREE.names]))
    points, closed = [], [case for case in CASES if case.point.division == "closed"]
    for number, (case, step_s) in enumerate(zip(closed, steps_s(closed, known), strict=True)):
        folder = tmp_path / str(number)
        log_writer.write(folder, log_writer.predicted(case, step_s, TIMES))
        made, _ = read(folder, case.point.preset)
        assert made.point.step_s == pytest.approx(step_s, rel=2e-4)  # logs are to the millisecond
        points.append(replace(made.point, id=f"{case.point.id} again"))
    vague = replace(FREE, parameters=tuple(replace(parameter, prior_error=1e3) for parameter in FREE.parameters))
    assert fit(_ready(points), vague).values == pytest.approx(TRUE, rel=0.01)


@pytest.mark.parametrize("id_", ["bert/pod16/v1.1-closed", "resnet50/pod64/v1.1-closed"])
def test_overheads_are_recovered_from_synthetic_logs(tmp_path, id_):
    case = next(case for case in CASES if case.point.id == id_)
    log_writer.write(tmp_path, log_writer.predicted(case, case.point.step_s, TIMES, runs=5))
    point = read(tmp_path, case.point.preset)[0].point
    inside = case.workload.name == "bert"
    assert point.startup_s == pytest.approx(14.0)
    assert point.first_evaluation_s == pytest.approx(3.0)
    assert point.each_evaluation_s == pytest.approx(1.5)
    assert point.graph_switch_s == pytest.approx(0.0 if inside else 6.0)
    checkpoint_s = (point.train_s - point.steps * point.step_s) / point.evaluations
    assert checkpoint_s == pytest.approx(0.0 if inside else 2.4, rel=0.1, abs=1e-3)
