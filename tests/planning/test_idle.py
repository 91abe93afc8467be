"""The search may leave IPUs idle: a larger machine never trains later, and the answer says what is idle and why."""

from functools import cache
from itertools import pairwise

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.model.training import Schedule
from podsim.planning import idle_ipus
from podsim.planning.mapping_search import Search
from podsim.predicting import steady_state, training_case

PODS = [2**power for power in range(4, 17)]
ROUNDING = 1 + 1e-12


def ask(workload, pod, **flags):
    return podsim.predict(workload, pod=pod, engine="analytic", **flags)


answer = cache(ask)  # predictions are frozen, and several tests look at the same ones


def times_s(workload, **flags):
    """Time to train on every pod from 16 to 65,536 IPUs [s]."""
    return [answer(workload, pod, **flags).time_to_train_s.value for pod in PODS]


@pytest.mark.parametrize(
    ("workload", "flags"),
    [
        pytest.param("bert", {}, marks=pytest.mark.slow),
        pytest.param("resnet50", {}, marks=pytest.mark.slow),
        pytest.param("bert", {"chip": "bow"}, marks=pytest.mark.slow),
        pytest.param("resnet50", {"chip": "bow"}, marks=pytest.mark.slow),
        pytest.param("vit-base", {}, marks=pytest.mark.slow),
        pytest.param("bert-large-128", {}, marks=pytest.mark.slow),
        pytest.param("bert", {"global_batch": 1024}, marks=pytest.mark.slow),
        ("bert", {"ipus_per_replica": 8, "micro_batch": 1}),
    ],
)
def test_time_to_train_never_rises_with_the_size_of_the_machine(workload, flags):
    for (small, before_s), (large, after_s) in pairwise(zip(PODS, times_s(workload, **flags), strict=True)):
        assert after_s <= before_s * ROUNDING, f"{large:,} IPUs against {small:,}"


@pytest.mark.slow
def test_scale_reads_the_same_mapping():
    report = podsim.scale("bert", pods="16384..65536", engine="analytic")
    for prediction in report.predictions:
        assert prediction.mapping == answer("bert", prediction.ipus).mapping
    for small, large in pairwise(report.predictions):
        assert large.time_to_train_s.value <= small.time_to_train_s.value * ROUNDING
    small, large = report.predictions[0], report.predictions[-1]
    assert large.throughput_samples_per_s.value == pytest.approx(small.throughput_samples_per_s.value)
    assert report.rows[-1].efficiency == pytest.approx(small.ipus / large.ipus)


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["bert", "resnet50"])
def test_the_answer_says_how_many_ipus_are_idle_and_why(workload):
    result = answer(workload, 65536)
    used, reason = result.mapping.ipus, str(result.choice.reason)
    assert used < 65536
    assert reason.startswith(
        f"{used:,} of 65,536 IPUs are used, {65536 - used:,} are idle: a run on all of them would take "
    )
    assert ", since " in reason
    longer = float(reason.split("would take ")[1].split(" %", maxsplit=1)[0]) / 100
    all_of_them = answer(workload, 65536, replicas=65536 // result.mapping.ipus_per_replica)
    assert all_of_them.time_to_train_s.value / result.time_to_train_s.value - 1 == pytest.approx(longer, abs=0.005)


def test_replicas_that_are_given_are_kept():
    result = answer("bert", 65536, replicas=4096, ipus_per_replica=16)
    assert result.mapping.ipus == 65536
    assert "idle" not in str(result.choice.reason)


@pytest.mark.parametrize("pod", [16, 64, 128, 256, 512])
@pytest.mark.parametrize("workload", ["bert", "resnet50"])
def test_published_sizes_use_every_ipu(workload, pod):
    result = answer(workload, pod)
    assert result.mapping.ipus == pod
    assert "idle" not in str(result.choice.reason)


def test_throughput_and_use_are_those_of_the_ipus_that_train():
    result, alone = answer("bert", 65536), answer("bert", 16384)
    assert result.mapping == alone.mapping
    assert result.mfu == pytest.approx(alone.mfu)
    assert result.throughput_samples_per_s.value == pytest.approx(alone.throughput_samples_per_s.value)
    assert result.time_to_train_s.beyond == alone.time_to_train_s.beyond
    assert result.time_to_train_s.high == pytest.approx(alone.time_to_train_s.high)


@pytest.mark.slow
def test_the_whole_machine_is_paid_for():
    large, small = (answer("bert", pod) for pod in (65536, 16384))
    assert large.mapping.ipus == small.mapping.ipus
    plans = [podsim.plan("bert", machines=f"pod{pod}").candidates[0] for pod in (65536, 16384)]
    assert plans[0].capital_usd == pytest.approx(4 * plans[1].capital_usd, rel=1e-3)
    many, few = (plan.owned.draw.loads for plan in plans)
    of_all = {"idle draw of all IPUs", "machines besides IPUs", "servers"}
    assert {name: many[name] / few[name] for name in many} == pytest.approx(
        {name: 4.0 if name in of_all else 1.0 for name in few}
    )
    pue = podsim.ownership_terms().terms.pue
    for plan in plans:
        seconds = plan.time_to_train_s.value
        assert plan.energy_j == pytest.approx(sum(plan.owned.draw.loads.values()) * seconds * pue)


def test_a_batch_too_small_for_the_machine_leaves_ipus_idle():
    """A thousand sequences cannot be spread over 8,192 replicas; half as many IPUs as there are rows can hold them."""
    result = answer("bert", 65536, global_batch=1024)
    assert result.mapping.global_batch == 1024
    assert "the batch is too small for replicas on all IPUs" in str(result.choice.reason)


def test_a_batch_that_does_not_divide_over_all_replicas_leaves_ipus_idle():
    """Three rows: two replicas of 32 IPUs do not share them, one of 32 takes them in turn."""
    result = answer("bert", 64, global_batch=6)
    assert (result.mapping.global_batch, result.mapping.replicas) == (6, 1)
    assert "the batch does not divide over replicas on all IPUs" in str(result.choice.reason)


def test_a_batch_that_fills_no_pipeline_is_searched_far_from_published_mappings():
    """Of mappings near published ones a batch of 8 takes 16 hours on POD64; larger replicas have to halve that."""
    result = answer("bert", 64, global_batch=8)
    assert (result.mapping.ipus_per_replica, result.mapping.micro_batch, result.mapping.accumulation) == (32, 1, 4)
    near = answer("bert", 64, global_batch=8, ipus_per_replica=16)
    assert result.time_to_train_s.value < 0.5 * near.time_to_train_s.value
    assert "replicas of at most 16" not in str(result.choice.reason)
    filled = answer("bert", 64, global_batch=256)
    assert filled.mapping.ipus_per_replica <= 16


def test_a_batch_for_parts_of_a_machine_alone_has_their_mappings_ranked(capsys):
    """`workload map` refused a batch that `predict` runs on half of the IPUs."""
    found = podsim.predict("bert", pod=64, global_batch=6, engine="analytic")
    ranked = podsim.mappings("bert", pod=64, global_batch=6)
    (same,) = (row for row in ranked.advised if row.mapping == found.mapping)
    assert same.time_to_train_s == pytest.approx(found.time_to_train_s.value, rel=0.08)
    assert {row.mapping.global_batch for row in ranked.advised} == {6}
    assert max(row.mapping.ipus for row in ranked.advised) == 32 == found.mapping.ipus
    assert ranked.to_dict()["idle"] == "the batch does not divide over replicas on all IPUs"
    assert main(["workload", "map", "bert", "--pod", "64", "--global-batch", "6"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "Idle IPUs the batch does not divide over replicas on all IPUs: mappings on a half" in shown
    assert "mappings that fit on all IPUs" not in shown
    whole = podsim.mappings("bert", pod=64, global_batch=8)
    assert {row.mapping.ipus for row in whole.advised} == {64}
    assert "idle" not in whole.to_dict()
    with pytest.raises(InputError, match="no mapping searched gives a global batch of 7") as no:
        podsim.mappings("bert", pod=64, global_batch=7)
    assert no.value.hint == "global_batch=6 or global_batch=8"


@pytest.mark.slow
def test_a_batch_that_no_part_divides_is_refused_by_the_map_as_by_predict():
    """On a small part nothing fits in memory, which is no reason for a smaller machine."""
    texts = []
    for ask in (podsim.mappings, podsim.predict):
        with pytest.raises(InputError) as no:
            ask("gpt3-175b", pod=512, global_batch=3)
        texts.append((no.value.code, no.value.message, no.value.hint))
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("workload", "pod", "batch"), [("gpt2-large", 256, 1), ("gpt2-medium", 64, 3)])
def test_parts_that_stream_their_weights_are_no_rows_beside_those_that_hold_them(workload, pod, batch):
    ranked = podsim.mappings(workload, pod=pod, global_batch=batch)
    assert ranked.idle is not None
    assert len({row.mapping.ipus for row in ranked.advised}) > 1
    assert {row.mapping.schedule for row in ranked.advised} == {Schedule.GROUPED}


def test_a_batch_that_no_part_of_the_machine_divides_is_refused_with_those_that_one_does():
    """A row of BERT is two samples: no odd batch is whole rows."""
    with pytest.raises(InputError) as caught:
        answer("bert", 64, global_batch=1023)
    assert caught.value.code == "mapping-does-not-divide"
    assert caught.value.context[-1] == "nearest global batches that a mapping gives: 1,022 and 1,024"
    assert [answer("bert", 64, global_batch=batch).mapping.global_batch for batch in (1022, 1024)] == [1022, 1024]


@pytest.mark.parametrize(
    ("workload", "pod"),
    [
        ("bert", 512),
        pytest.param("resnet50", 4096, marks=pytest.mark.slow),
        pytest.param("vit-base", 65536, marks=pytest.mark.slow),
    ],
)
def test_parts_that_are_not_searched_would_not_have_been_chosen(workload, pod, monkeypatch):
    """The bounds by which a part is left out are bounds."""
    result = ask(workload, pod)
    searched = []

    def run(self):
        searched.append(self.ipus)
        return original(self)

    original = Search.run
    monkeypatch.setattr(Search, "run", run)
    ask(workload, pod)
    with_bound = len(searched)
    monkeypatch.setattr(idle_ipus, "_least_s", lambda *_: 0.0)
    monkeypatch.setattr(idle_ipus, "_may_train_sooner", lambda *_: True)
    everywhere = ask(workload, pod)
    assert everywhere.mapping == result.mapping
    assert len(searched) - with_bound > with_bound


@pytest.mark.parametrize(("workload", "pod"), [("bert", 64), ("resnet50", 16), ("gpt2-small", 16), ("llama", 64)])
def test_no_mapping_trains_sooner_than_its_busiest_ipu_computes(workload, pod, monkeypatch):
    """The bound by which a split is not timed is met by every accumulation of every split that fits."""
    tried = []

    def run(self):
        for line in self.lines():
            least_s = self.least_s(line)
            times = self.times(line, training_case.step(self.quick, steady_state.full(self.quick, line.mapping)))
            tried.extend((least_s, time_s, mapping.schedule) for time_s, mapping, _ in times)
        return original(self)

    original = Search.run
    monkeypatch.setattr(Search, "run", run)
    ask(workload, pod)
    assert all(least_s < time_s for least_s, time_s, _ in tried)
    shares = [least_s / time_s for least_s, time_s, how in tried if how is not Schedule.PHASED]
    assert max(shares, default=1.0) > 0.25, "a bound so low leaves nothing out"
    assert all((least_s > 0) == (how is not Schedule.PHASED) for least_s, _, how in tried)


@pytest.mark.parametrize(
    "command", ["predict", *(pytest.param(c, marks=pytest.mark.slow) for c in ("explain", "compare"))]
)
def test_screens_say_how_many_ipus_are_used(command, capsys):
    names = ["bert", "pod64", "pod65536"] if command == "compare" else ["bert", "--pod", "65536"]
    assert main([command, *names, "--engine", "analytic"] if command == "predict" else [command, *names]) == 0
    assert "65,536 × gc200, 16,384 used" in " ".join(capsys.readouterr().out.split())
