"""Ranked mappings: the numbers are those of `predict`, each split and storage is there once, what to set fits them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

import podsim
from podsim.errors import Infeasible, InputError
from podsim.model.training import Recompute, StatePlace
from podsim.report.terminal import Look, render
from podsim.studies.mappings import report as view
from podsim.studies.mappings.result import AdvisedMapping, Mappings


@cache
def found(by: str = "time") -> Mappings:
    return podsim.mappings("bert", pod=16, by=by, most=1000)


def storage(advice: AdvisedMapping) -> tuple[int, int, int, Recompute, StatePlace]:
    mapping = advice.mapping
    return mapping.replicas, mapping.ipus_per_replica, mapping.micro_batch, mapping.recompute, mapping.state


@pytest.mark.parametrize("by", ["time", "throughput"])
def test_each_split_and_storage_is_there_once_best_first(by: str) -> None:
    answer = found(by)
    keys = [storage(advice) for advice in answer.advised]
    assert len(keys) == len(set(keys)) == answer.distinct
    values = [advice.time_to_train_s if by == "time" else -advice.throughput_samples_per_s for advice in answer.advised]
    assert values == sorted(values)
    assert answer.legal >= answer.distinct > 3


def test_both_rankings_hold_the_same_splits_and_each_is_best_by_its_own() -> None:
    by_time, by_rate = ({storage(item): item for item in found(by).advised} for by in ("time", "throughput"))
    assert set(by_time) == set(by_rate)
    for key, advice in by_time.items():
        assert advice.time_to_train_s <= by_rate[key].time_to_train_s * (1 + 1e-9)
        assert advice.throughput_samples_per_s <= by_rate[key].throughput_samples_per_s * (1 + 1e-9)


def test_all_fit_and_the_nearest_does_not() -> None:
    answer = found()
    assert all(0 < advice.memory <= 1 for advice in answer.advised)
    assert answer.nearest is not None
    assert 1 < answer.nearest.memory < 1.5
    for memory, text in ((1.04, "needs 104 % of the SRAM"), (1.00007, "needs just over 100 % of the SRAM")):
        nearly = replace(answer, nearest=replace(answer.nearest, memory=memory))
        assert text in " ".join(render(view.document(nearly), Look(100)).split())
    assert answer.rejected["do not fit in SRAM"] > 0


def test_recomputation_and_streaming_hold_less_and_take_longer() -> None:
    rows = {
        storage(advice): advice
        for advice in podsim.mappings("resnet50", pod=16, micro_batch=8, ipus_per_replica=1).advised
    }
    (split,) = {key[:3] for key in rows}
    kept, again = (
        rows[*split, Recompute.NONE, StatePlace.ON_CHIP],
        rows[*split, Recompute.CHECKPOINTS, StatePlace.ON_CHIP],
    )
    away = rows[*split, Recompute.NONE, StatePlace.STREAMING]
    assert kept.memory > again.memory
    assert kept.step_s < again.step_s
    assert kept.memory > away.memory
    assert away.streaming_bytes_per_ipu > kept.streaming_bytes_per_ipu


def test_a_published_mapping_is_named_and_takes_what_predict_says() -> None:
    advice = next(item for item in found().advised if item.preset == "mlperf-v1.1-closed")
    mapping = advice.mapping
    answer = podsim.predict(
        "bert",
        pod=16,
        engine="analytic",
        replicas=mapping.replicas,
        ipus_per_replica=mapping.ipus_per_replica,
        micro_batch=mapping.micro_batch,
        accumulation=mapping.accumulation,
    )
    assert (mapping.replicas, mapping.ipus_per_replica, mapping.micro_batch) == (4, 4, 2)
    assert advice.step_s == pytest.approx(answer.step_s.value, rel=1e-9)
    assert advice.throughput_samples_per_s == pytest.approx(answer.throughput_samples_per_s.value, rel=1e-9)
    assert advice.memory == pytest.approx(answer.memory.fraction, rel=1e-9)


def test_the_best_is_no_later_than_what_predict_chooses() -> None:
    chosen = podsim.predict("bert", pod=16, engine="analytic")
    considered = min(candidate.time_to_train_s for candidate in chosen.choice.considered)
    assert found().advised[0].time_to_train_s <= considered * (1 + 1e-9)


@pytest.mark.parametrize(
    ("name", "pod"), [("bert-large-512", 64), pytest.param("llama31-8b", 256, marks=pytest.mark.slow)]
)
def test_no_storage_that_predict_chooses_from_is_left_out(name: str, pod: int) -> None:
    """BERT-Large has a published program in phases beside its pipelines; Llama is cut further than the usual phases."""
    chosen = podsim.predict(name, pod=pod, engine="analytic").throughput_samples_per_s.value
    ranked = podsim.mappings(name, pod=pod, by="throughput", most=1000).advised
    assert ranked[0].throughput_samples_per_s >= chosen * (1 - 1e-9)


def test_settings_say_the_mapping() -> None:
    for advice in found().advised:
        settings = {setting.what: setting for setting in advice.settings}
        mapping = advice.mapping
        assert settings["replicas"].poptorch == f"replicationFactor({mapping.replicas})"
        assert settings["gradient accumulation"].poptorch == f"Training.gradientAccumulation({mapping.accumulation})"
        assert settings["micro-batch"].value == f"{mapping.micro_batch}"
        assert settings["optimizer state"].value == ("on chip" if mapping.state is StatePlace.ON_CHIP else "off chip")
        assert ("recomputationCheckpoint" in settings["recomputation"].poptorch) == (
            mapping.recompute != Recompute.NONE
        )
        splits = settings["pipeline splits"].value.split(", ")
        assert splits == [stage.units[0].name for stage in mapping.stages[1:]]
        assert settings["IPUs of the stages"].value == ", ".join(str(stage.ipu) for stage in mapping.stages)


def test_a_replica_of_one_ipu_has_no_pipeline_to_set() -> None:
    (advice,) = podsim.mappings("resnet50", pod=16, micro_batch=8, ipus_per_replica=1, most=1).advised
    table = {setting.what: setting.value for setting in advice.settings}
    assert "pipeline splits" not in table
    assert table["replicated tensor sharding"] == "off"
    assert table["available-memory proportion"] == "0.6"


def test_most_cuts_the_list_and_the_answer_names_the_first() -> None:
    few = podsim.mappings("bert", pod=16, most=2)
    assert [storage(advice) for advice in few.advised] == [storage(advice) for advice in found().advised[:2]]
    assert view.answer(few).startswith(view.split(few.advised[0].mapping))


def test_what_fits_nowhere_is_answered_no() -> None:
    with pytest.raises(Infeasible) as no:
        podsim.mappings("bert", pod=1)
    assert "--pod" in no.value.hint or "IPUs" in no.value.hint


@pytest.mark.parametrize(
    ("flags", "word"), [({"most": 0}, "most"), ({"by": "hope"}, "hope"), ({"replicas": 3}, "power")]
)
def test_malformed_questions_are_refused(flags: dict[str, object], word: str) -> None:
    with pytest.raises(InputError) as refused:
        podsim.mappings("bert", pod=16, **flags)  # type: ignore[arg-type]
    assert word in " ".join((refused.value.message, *refused.value.context))


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_width_leaves_out_what_tells_rows_apart(width: int) -> None:
    lines = render(view.document(found()), Look(width)).splitlines()
    rows = [line.split("▸")[-1].split() for line in lines[4 : 4 + len(found().advised)]]
    told = [(*row[1:5], *(cell for cell in row if cell.replace("-", "").isalpha())) for row in rows]
    assert len(told) > 3
    assert len({*told}) == len(told)
