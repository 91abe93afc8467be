"""The mapping podsim chooses: legal, the best it weighed, and shown with what it was weighed against."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from slow_cases import slow_but

import podsim
from podsim.errors import Infeasible, InputError
from podsim.files import catalog
from podsim.model.quantity import Grade
from podsim.planning import batches, choose
from podsim.planning.mapping_search import UNPROVEN, WORTH_LEAVING
from podsim.planning.search_choice import LEAST_NAMED

MACHINES = ["pod4", "pod16", "pod64", "pod128", "pod256", "pod512", "pod1024", "bow-pod64"]
ASKED = [
    *[("bert", name) for name in MACHINES],
    *[
        pytest.param("resnet50", name, marks=[pytest.mark.slow] if name in ("pod512", "pod1024") else [])
        for name in MACHINES
    ],
]
FOUND = {}


def predicted(workload, name):
    """Each question once."""
    if (workload, name) not in FOUND:
        FOUND[workload, name] = podsim.predict(workload, topology=name, engine="analytic")
    return FOUND[workload, name]


def published_sizes(workload):
    return {
        size
        for configuration in catalog.workload(workload).value.configurations
        for size in configuration.ipus_per_replica
    }


@pytest.mark.parametrize(("workload", "name"), ASKED)
def test_the_chosen_mapping_is_legal(workload, name):
    result = predicted(workload, name)
    mapping = result.mapping
    assert mapping.ipus <= result.ipus
    assert result.memory.fits
    placed = [unit.name for stage in mapping.stages for unit in stage.units]
    assert placed == [unit.name for unit in catalog.workload(workload).value.units]
    assert {stage.ipu for stage in mapping.stages} == set(range(mapping.ipus_per_replica))


@pytest.mark.parametrize(
    ("counts", "at", "between"),
    [
        ([1, 2, 4, 8], 4, [3, 5, 6, 7]),
        ([1, 2], 1, []),
        ([50, 100, 200], 100, [*range(55, 100, 5), *range(105, 200, 5)]),
        ([100, 200], 200, list(range(110, 200, 10))),
    ],
)
def test_accumulations_between_those_weighed_are_a_twentieth_apart(counts, at, between):
    assert batches.between(counts, at) == between


def test_a_batch_between_those_of_reference_points_is_found_where_it_is_quicker():
    """An accumulation of 4 with micro-batches of 22 comes near no batch of a reference point."""
    searched = podsim.predict("resnet50", pod=32, engine="analytic")
    by_hand = podsim.predict("resnet50", pod=32, global_batch=2816, engine="analytic")
    at_a_point = podsim.predict("resnet50", pod=32, global_batch=3200, engine="analytic")
    assert searched.time_to_train_s.value <= by_hand.time_to_train_s.value
    assert searched.time_to_train_s.value < (1 - WORTH_LEAVING) * at_a_point.time_to_train_s.value


def test_ranked_mappings_have_the_batches_that_the_search_takes():
    searched = podsim.predict("resnet50", pod=32, micro_batch=22, engine="analytic")
    ranked = podsim.mappings("resnet50", pod=32, micro_batch=22)
    assert searched.mapping.global_batch == 2816
    assert ranked.advised[0].mapping.global_batch == 2816


def test_batches_between_leave_other_splits_in_the_table():
    answer = podsim.predict("gpt2-small", pod=64, law="kaplan", engine="analytic")
    splits = {(each.mapping.replicas, each.mapping.ipus_per_replica) for each in answer.choice.considered}
    assert len(splits) > 1


def test_a_machine_that_a_hint_proposes_holds_the_model():
    """Llama 7B exceeds both memories of 8 IPUs at its batch, and was said to need 64; smaller batches fit."""
    with pytest.raises(InputError) as few:
        podsim.predict("llama", pod=4, engine="analytic")
    assert few.value.hint == "pod=8 holds it"
    assert podsim.predict("llama", pod=8, engine="analytic").memory.fits


def test_a_replica_of_more_ipus_than_layers_says_so():
    with pytest.raises(InputError) as many:
        podsim.predict("bert", pod=64, ipus_per_replica=64, engine="analytic")
    assert many.value.message == "BERT-Large, MLPerf has too few parts for 64 IPUs per replica"
    assert podsim.predict("bert", pod=64, ipus_per_replica=32, engine="analytic").mapping.replicas == 2


@pytest.mark.parametrize(("workload", "name"), ASKED)
def test_no_mapping_that_was_weighed_beats_the_chosen_one(workload, name):
    """Where a replica size was never published it has to be 5 % better, and the reason names it."""
    result = predicted(workload, name)
    chosen = next(c for c in result.choice.considered if c.mapping == result.mapping)
    proven = published_sizes(workload)
    in_reach = [other for other in result.choice.considered if not other.larger_than_searched]
    for other in in_reach:
        handicap = 1.0 if other.mapping.ipus_per_replica in proven else 1 + UNPROVEN
        mine = 1.0 if result.mapping.ipus_per_replica in proven else 1 + UNPROVEN
        assert chosen.time_to_train_s * mine <= other.time_to_train_s * handicap * (1 + 1e-12)
    least = (1 - LEAST_NAMED) * chosen.time_to_train_s
    quicker = any(c.time_to_train_s <= least for c in in_reach)
    assert quicker == ("% faster, within model error, but no published run uses" in str(result.choice.reason))


def test_a_quicker_size_that_no_run_has_published_is_named_wherever_it_ranks():
    """BERT on POD1024: 64 × 16 is 2 % quicker than 128 × 8, and seven mappings of 8 IPUs per replica come between."""
    result = podsim.predict("bert", pod=1024, engine="analytic")
    assert "64 × 16 is 2 % faster, within model error" in str(result.choice.reason)
    larger = podsim.predict("bert", pod=1024, ipus_per_replica=16, engine="analytic")
    assert 0.97 < larger.time_to_train_s.value / result.time_to_train_s.value < 0.99


def test_replicas_larger_than_the_search_takes_are_named_with_their_time_where_they_are_quicker():
    """BERT on POD1024: 32 × 32 is what the flag gives, a tenth quicker, and 16 IPUs are twice the largest published."""
    result = podsim.predict("bert", pod=1024, engine="analytic")
    given = podsim.predict("bert", pod=1024, ipus_per_replica=32, engine="analytic")
    mapping, share = result.with_larger_replicas
    assert mapping == given.mapping
    assert share == pytest.approx(given.time_to_train_s.value / result.time_to_train_s.value, rel=2e-3)
    assert share < 1 - UNPROVEN
    assert mapping.ipus_per_replica == 4 * max(published_sizes("bert"))
    assert [row["larger_than_searched"] for row in result.to_dict()["choice"]["considered"]].count(True) == 1


@pytest.mark.parametrize("flags", [{"pod": 512, "global_batch": 4096}, {"pod": 128, "global_batch": 512}])
def test_larger_replicas_are_those_of_the_size_given_also_where_ipus_are_idle(flags):
    result = podsim.predict("bert", **flags, engine="analytic")
    mapping, share = result.with_larger_replicas
    given = podsim.predict("bert", **flags, ipus_per_replica=mapping.ipus_per_replica, engine="analytic")
    assert mapping == given.mapping
    assert share == pytest.approx(given.time_to_train_s.value / result.time_to_train_s.value, rel=5e-3)


@pytest.mark.parametrize(
    ("workload", "flags", "why"),
    [
        ("bert", {"pod": 512}, "the largest replicas that the search takes are not the quickest"),
        ("bert", {"pod": 1024, "ipus_per_replica": 8}, "the size is given"),
        ("bert", {"pod": 1024, "replicas": 16}, "larger ones would have more IPUs"),
        ("bert", {"pod": 16}, "there are no larger ones"),
        ("bert-base", {"pod": 1024, "samples": 1e9}, "larger ones are slower"),
        ("bert-large-full", {"pod": 1024}, "each phase has a mapping of its own"),
    ],
)
def test_no_larger_replicas_are_named_where(workload, flags, why):
    result = podsim.predict(workload, **flags, engine="analytic")
    assert result.with_larger_replicas is None, why


def test_replicas_of_the_next_size_are_slower_where_none_are_named():
    """BERT-Base on POD1024 takes replicas of 8 IPUs, the largest searched: 16 are timed and not named."""
    result = podsim.predict("bert-base", pod=1024, samples=1e9, engine="analytic")
    assert result.mapping.ipus_per_replica == 8
    larger = podsim.predict("bert-base", pod=1024, samples=1e9, ipus_per_replica=16, engine="analytic")
    assert larger.time_to_train_s.value > result.time_to_train_s.value


@pytest.mark.parametrize(("least", "named"), [(0.06, True), (0.08, False)])
def test_larger_replicas_that_gain_less_than_the_error_of_the_model_are_not_named(least, named, monkeypatch):
    """BERT at 2,048 samples on POD256 is 7 % quicker with 32 IPUs per replica."""
    monkeypatch.setattr(choose, "UNPROVEN", least)
    result = podsim.predict("bert", pod=256, global_batch=2048, engine="analytic")
    assert (result.with_larger_replicas is not None) == named


@pytest.mark.parametrize(("factor", "named"), [(1.0, True), (1.2, False), (math.nan, False)])
def test_larger_replicas_are_of_the_run_that_is_answered(factor, named):
    """A run of another length or without one, or on a machine with faults, has its own times."""
    result = podsim.predict("bert", pod=1024, engine="analytic")
    rows = tuple(
        replace(row, time_to_train_s=row.time_to_train_s * factor) if row.larger_than_searched else row
        for row in result.choice.considered
    )
    other = replace(result, choice=replace(result.choice, considered=rows))
    assert (other.with_larger_replicas is not None) == named


@pytest.mark.parametrize(("workload", "name"), ASKED)
def test_what_is_shown_was_timed_and_not_estimated(workload, name):
    """The first row is the chosen mapping with the very step time of the answer."""
    result = predicted(workload, name)
    first = result.choice.considered[0]
    assert first.mapping == result.mapping
    assert first.step_s == pytest.approx(result.step_s.value, rel=1e-12)
    assert first.samples == pytest.approx(result.samples_to_converge.value, rel=1e-12)
    assert first.memory == pytest.approx(result.memory.fraction)


@pytest.mark.parametrize(
    "flags",
    [
        {"replicas": 8, "ipus_per_replica": 8, "micro_batch": 2, "accumulation": 96},
        {"replicas": 8, "ipus_per_replica": 8, "micro_batch": 3, "accumulation": 64},
        {"replicas": 16, "ipus_per_replica": 4, "micro_batch": 2, "accumulation": 48},
        {"replicas": 8, "ipus_per_replica": 8, "micro_batch": 1, "accumulation": 256},
        {"replicas": 8, "ipus_per_replica": 8, "micro_batch": 2, "accumulation": 144},
    ],
)
def test_no_mapping_given_by_hand_beats_the_search(flags):
    by_hand = podsim.predict("bert", pod=64, **flags, engine="analytic")
    assert predicted("bert", "pod64").time_to_train_s.value <= by_hand.time_to_train_s.value * 1.01


def test_at_pod512_convergence_limits_the_batch_and_the_choice_shows_it():
    """The same split at a smaller batch needs fewer samples and at a larger one a thinner all-reduce: both lose."""
    result = predicted("bert", "pod512")
    chosen, mapping = result.choice.considered[0], result.mapping
    same = [c for c in result.choice.considered if c.mapping.replicas == mapping.replicas]
    smaller = [c for c in same if c.mapping.global_batch <= mapping.global_batch / 2]
    larger = [c for c in same if c.mapping.global_batch >= mapping.global_batch * 2]
    assert smaller
    assert larger
    for other in smaller:
        assert other.samples < chosen.samples
        assert other.mapping.global_batch / other.step_s < mapping.global_batch / chosen.step_s
    for other in larger:
        assert other.samples > chosen.samples
        assert other.mapping.global_batch / other.step_s > mapping.global_batch / chosen.step_s
    assert f"of the batches tried, those above {mapping.global_batch:,} take longer" in str(result.choice.reason)
    assert max(c.memory for c in larger) <= 1


def test_with_the_samples_given_the_batch_is_that_of_the_published_run():
    """By samples alone the largest batch would be the best, whatever the network needs to converge with it."""
    free, usual = podsim.predict("bert", pod=64, samples=3e6, engine="analytic"), predicted("bert", "pod64")
    assert free.mapping.global_batch == usual.mapping.global_batch
    assert str(free.choice.reason).startswith("batch and mapping as for a run to 0.72 masked-LM accuracy, ")
    assert "take longer: step overheads" in str(usual.choice.reason)
    assert "take longer: step overheads" not in str(free.choice.reason), "larger batches may be faster at this length"


@pytest.mark.parametrize(
    ("workload", "name", "beyond"),
    [
        ("bert", "pod512", 2),
        ("bert", "pod1024", 4),
        pytest.param("resnet50", "pod1024", 4, marks=pytest.mark.slow),
        ("bert", "pod4", 4),
    ],
)
def test_beyond_the_machines_calibrated_the_answer_says_by_how_much(workload, name, beyond):
    result = predicted(workload, name)
    assert (result.time_to_train_s.grade, result.time_to_train_s.beyond) == (Grade.EXTRAPOLATED, beyond)
    assert (result.step_s.grade, result.step_s.beyond) == (Grade.EXTRAPOLATED, beyond)


@pytest.mark.parametrize("workload", slow_but(["bert"], ["bert", "resnet50"]))
def test_a_larger_pod_is_quicker_and_less_sure(workload):
    sizes = [predicted(workload, f"pod{ipus}") for ipus in (4, 16, 64, 128, 256, 512, 1024)]
    times = [size.time_to_train_s for size in sizes]
    assert all(more.value < less.value for less, more in pairwise(times))
    widths = [size.step_s.high / size.step_s.low for size in sizes[-3:]]
    assert widths == sorted(set(widths))


def test_at_one_global_batch_more_ipus_are_each_less_busy():
    result = [podsim.predict("bert", pod=ipus, global_batch=12288, engine="analytic").mfu for ipus in (64, 256, 1024)]
    assert result == sorted(result, reverse=True)


@pytest.mark.parametrize(
    ("flags", "holds"),
    [
        ({"replicas": 4}, lambda m: m.replicas == 4),
        ({"ipus_per_replica": 16}, lambda m: m.ipus_per_replica == 16),
        ({"micro_batch": 1}, lambda m: m.micro_batch == 1),
        ({"accumulation": 50}, lambda m: m.accumulation == 50),
        ({"global_batch": 4608}, lambda m: m.global_batch == 4608),
        ({"replicas": 8, "global_batch": 4608}, lambda m: (m.replicas, m.global_batch) == (8, 4608)),
        ({"micro_batch": 2, "accumulation": 10}, lambda m: (m.micro_batch, m.accumulation) == (2, 10)),
    ],
)
def test_what_is_fixed_stays_and_the_rest_is_searched(flags, holds):
    prediction = podsim.predict("bert", pod=64, **flags, engine="analytic")
    assert holds(prediction.mapping)
    assert prediction.choice.given == "search"
    assert all(holds(c.mapping) for c in prediction.choice.considered)


@pytest.mark.parametrize(("batch", "hint"), [(1001, "1000 or global_batch=1002"), (2, "16")])
def test_a_global_batch_that_no_split_divides_names_the_nearest_that_does(batch, hint):
    replicas = {"replicas": 8} if batch == 2 else {}
    with pytest.raises(InputError) as caught:
        podsim.predict("bert", pod=64, global_batch=batch, engine="analytic", **replicas)
    assert caught.value.code == "mapping-does-not-divide"
    assert f"global_batch={hint}" in caught.value.hint
    counts, nearest = caught.value.context
    assert nearest.endswith({1001: "gives: 1,000 and 1,002", 2: "with 8 replicas: 16"}[batch])
    assert "1 that has more IPUs per replica than the model has parts" in counts, "64 IPUs divide the machine"


def test_more_ipus_a_replica_than_there_are_blocks_do_not_divide():
    with pytest.raises(InputError) as caught:
        podsim.predict("resnet50", pod=64, ipus_per_replica=64, engine="analytic")
    assert caught.value.code == "mapping-does-not-divide"
    assert "ipus_per_replica" in caught.value.hint


def test_a_model_that_no_split_holds_is_answered_no():
    with pytest.raises(Infeasible) as caught:
        podsim.predict("bert", pod=16, changes={"workload.transformer.layers": "400"}, engine="analytic")
    assert caught.value.code == "does-not-fit"


@pytest.mark.parametrize("flags", [{"accumulation": 2 * 10**9}, {"global_batch": 2 * 10**9}])
def test_a_step_of_very_many_micro_batches_is_answered_too(flags):
    """Equal cycles fold: thousands of millions of micro-batches take no longer to predict than a hundred."""
    split = {"replicas": 8, "ipus_per_replica": 8, "micro_batch": 2}
    prediction, small = (
        podsim.predict("bert", pod=64, **split, **request) for request in (flags, {"accumulation": 1000})
    )
    cycles = flags.get("accumulation", 2 * 10**9 / 32)
    assert prediction.step_s.value == pytest.approx(small.timeline.period_s * cycles, rel=1e-5)


def test_rejected_mappings_are_counted_by_reason():
    result = predicted("bert", "pod64")
    assert result.choice.rejected["do not fit in SRAM"] > 0
    assert result.choice.legal > len(result.choice.considered)


def test_progress_ends_when_all_sizes_are_done():
    seen = []
    podsim.predict("bert", pod=64, engine="analytic", on_progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, len(seen)) for done in range(1, len(seen) + 1)]
