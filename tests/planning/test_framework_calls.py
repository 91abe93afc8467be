"""What to set on the real machine: numbers of the split, layers of each IPU, and words of each library."""

from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, model, pod, unit, world

from podsim.model.training import Recompute, Schedule, StatePlace
from podsim.studies.mappings.framework_settings import settings

MODEL = model(*(unit(f"layer{at}.{half}") for at in range(3) for half in ("attention", "ffn")))


def calls_of(**changes):
    split = {"replicas": 4, "ipus_per_replica": 2, "micro_batch": 3, "accumulation": 8}
    configuration = replace(CONFIGURATION, **changes)
    mapping = world(MODEL, pod(), **split, configuration=configuration).mapping
    return {setting.what: setting for setting in settings(MODEL, mapping)}


def test_the_split_in_words_of_both_libraries():
    calls = calls_of()
    assert calls["replicas"].poptorch == "replicationFactor(4)"
    assert calls["replicas"].popart == "enableReplicatedGraphs, replicatedGraphCount = 4"
    assert calls["micro-batch"].poptorch == "DataLoader(opts, data, batch_size=3)"
    assert calls["gradient accumulation"].poptorch == "Training.gradientAccumulation(8)"
    assert calls["gradient accumulation"].popart.endswith("accumulationFactor = 8")
    assert not any(setting.popxl for setting in calls.values())


def test_layers_of_an_ipu_are_counted_in_halves():
    """Three layers of two halves over two IPUs."""
    calls = calls_of()
    assert calls["layers per IPU"].value == "1.5, 1.5"
    assert calls["pipeline splits"].value == "layer1.ffn"
    assert calls["IPUs of the stages"].value == "0, 1"


def test_stages_in_turn_are_sharded_and_others_pipelined():
    assert calls_of()["schedule"].poptorch == "setExecutionStrategy(PipelinedExecution())"
    assert calls_of()["schedule"].popart == "virtualGraphMode = Manual, enablePipelining"
    in_turn = calls_of(schedule=Schedule.SEQUENTIAL)["schedule"]
    assert (in_turn.value, in_turn.poptorch) == ("sequential", "setExecutionStrategy(ShardedExecution())")
    assert in_turn.popart == "virtualGraphMode = Manual"


def test_one_stage_has_no_pipeline_to_set():
    alone = model(unit("a0"))
    mapping = world(alone, pod()).mapping
    calls = {setting.what: setting for setting in settings(alone, mapping)}
    assert not {"schedule", "pipeline splits", "IPUs of the stages"} & set(calls)
    recomputing = replace(mapping, configuration=replace(CONFIGURATION, recompute=Recompute.CHECKPOINTS))
    again = {setting.what: setting for setting in settings(alone, recomputing)}
    assert again["recomputation"].popart == "autoRecomputation = RecomputeAll"


def test_where_activations_and_state_are_kept():
    calls = calls_of()
    assert calls["recomputation"].popart == "autoRecomputation = NoRecompute"
    assert calls["recomputation"].poptorch == ""
    assert calls["optimizer state"].poptorch == "state.useOnChipStorage(True)"
    away = calls_of(recompute=Recompute.CHECKPOINTS, state=StatePlace.STREAMING, state_sharded=True)
    assert away["recomputation"].popart == "autoRecomputation = Pipeline"
    assert away["recomputation"].poptorch == "recomputationCheckpoint(x) after 6 units"
    assert (away["optimizer state"].value, away["optimizer state"].poptorch) == (
        "off chip",
        "state.useOnChipStorage(False)",
    )
    assert away["replicated tensor sharding"].poptorch == "state.useReplicatedTensorSharding(True)"
    assert away["replicated tensor sharding"].popart.endswith("= On")
    assert calls["replicated tensor sharding"].value == "off"


def test_tiles_and_memory_of_products():
    calls = calls_of(available_memory=0.25, io_tiles=32)
    assert calls["available-memory proportion"].poptorch == 'setAvailableMemoryProportion({"IPU0": 0.25})'
    assert calls["IO tiles"].poptorch == "TensorLocations.numIOTiles(32)"
    assert "IO tiles" not in calls_of()


@pytest.mark.parametrize(("replicas", "sharded"), [(4, True), (1, False)])
def test_in_phases_only_popxl_has_words(replicas, sharded):
    """Replicas of 4 IPUs, which cut outputs in two and inputs in two; state is shared by several replicas alone."""
    mapping = world(MODEL, pod(), replicas=replicas, ipus_per_replica=4, micro_batch=2, accumulation=5).mapping
    phased = replace(
        CONFIGURATION,
        ipus_per_replica=(4,),
        schedule=Schedule.PHASED,
        recompute=Recompute.CHECKPOINTS,
        state=StatePlace.STREAMING,
        state_sharded=True,
        tensor_shards=2,
        io_tiles=64,
    )
    calls = {setting.what: setting for setting in settings(MODEL, replace(mapping, configuration=phased))}
    assert not any(setting.poptorch or setting.popart for setting in calls.values())
    assert calls["replicas"].value == f"{replicas} × 4 IPUs"
    assert calls["replicas"].popxl == f"ir.replication_factor = {4 * replicas}"
    assert calls["tensor shards"].value == "2 × 2"
    assert calls["tensor shards"].popxl == "ir.replica_grouping(stride=1, group_size=4)"
    assert calls["gradient accumulation"].popxl == "popxl.ops.repeat(…, 5) of each phase"
    assert calls["schedule"].value == f"{len(mapping.stages)} phases, forward and back"
    assert calls["IO tiles"].popxl == "numIOTiles = 64"
    sharding = calls["replicated tensor sharding"]
    assert ("sharded" in calls["weights and state"].popxl) is sharded
    assert sharding.value == ("over 4 replicas" if sharded else "off")
    assert sharding.popxl.endswith("replica_grouping(stride=4, group_size=4)") is sharded
