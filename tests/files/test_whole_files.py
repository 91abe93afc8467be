"""Rules over a whole file: machines too large, workloads whose tables disagree, points that say a thing twice."""

from dataclasses import replace

import pytest

from podsim.files import catalog, find
from podsim.files.file_rules import PARTS_APART, SAMPLES_APART, points_faults, topology_faults, workload_faults
from podsim.files.load import load
from podsim.model.fabric import Duplex
from podsim.model.operator_list import GivenOperator, GivenUnit
from podsim.model.workload import Kind


def pairs(faults):
    return [(fault.path, fault.message) for fault in faults]


@pytest.fixture(scope="module")
def bert():
    return catalog._workload_file(load(find.folders("workloads")[-1] / "bert.toml", "workload")).value


@pytest.fixture(scope="module")
def point():
    """The first published point of BERT: 867.6 steps of 3,072."""
    return next(point for point in catalog.points() if point.id == "bert/pod16/v1.0-closed")


# --- machines -------------------------------------------------------------------------------------------------------


def test_shipped_machines_have_no_fault(pod16):
    assert pairs(topology_faults(pod16, {})) == []


def test_a_link_that_no_table_has_is_named_where_a_machine_has_other_faults():
    tables = {"link": {"gw-link": {}}, "level": [{"link": "gw-link"}, {"link": "gw-lnk"}, "no table"]}
    ((path, message),) = pairs(topology_faults(None, tables))
    assert path == ("level", 1, "link")
    assert '"gw-link"' in message
    assert pairs(topology_faults(None, {"level": tables["level"]})) == []


def test_a_machine_that_is_too_large_is_not_looked_at_further(pod16):
    large = replace(pod16, chip=replace(pod16.chip, tiles=2**20 + 1), levels=())
    ((path, message),) = pairs(topology_faults(large, {}))
    assert path == ("chip", "tiles")
    assert message.startswith("1,048,577 tiles of a chip; at most 1,048,576")


def test_links_of_a_pod_have_a_rate_each_way(pod16):
    name, link = next(iter(pod16.links.items()))
    half = replace(pod16, links={**pod16.links, name: replace(link, duplex=Duplex.HALF)})
    ((path, message),) = pairs(topology_faults(half, {}))
    assert path == ("link", name, "duplex")
    assert message.startswith("half duplex is for stated fabrics")


def test_what_cannot_be_joined_is_told_at_its_level(pod16):
    first, second = pod16.levels
    wrong = replace(pod16, levels=(first, replace(second, link="nothing")))
    assert [path for path, _ in pairs(topology_faults(wrong, {}))] == [("level", 1)]
    assert not any(message.startswith("level ") for _, message in pairs(topology_faults(wrong, {})))
    without = replace(pod16, levels=(second,))
    assert any(path == ("level",) and "machine" in message for path, message in pairs(topology_faults(without, {})))


# --- workloads ------------------------------------------------------------------------------------------------------


def test_a_configuration_that_is_not_there_is_named_even_where_the_file_has_other_faults():
    tables = {
        "configuration": [{"name": "popart"}],
        "preset": [{"configuration": "popart"}, {"configuration": "popar"}],
    }
    ((path, message),) = pairs(workload_faults(None, tables))
    assert path == ("preset", 1, "configuration")
    assert '"popart"' in message


def test_names_are_there_once(bert):
    assert pairs(workload_faults(bert, {})) == []
    twice = replace(bert, configurations=(*bert.configurations, bert.configurations[0]))
    name = bert.configurations[0].name
    assert (("configuration", len(bert.configurations)), f'"{name}" is there twice') in pairs(
        workload_faults(twice, {})
    )
    first = bert.presets[0]
    again = replace(bert, presets=(*bert.presets, first))
    assert pairs(workload_faults(again, {})) == [
        (("preset", len(bert.presets)), f'"{first.name} on {first.topology}" is there twice')
    ]


def test_a_stage_stands_on_an_ipu_of_its_replica(bert):
    at, configuration = next((at, each) for at, each in enumerate(bert.configurations) if each.layout)
    most = max(stage.ipu for stage in configuration.layout)
    small = replace(configuration, ipus_per_replica=(most,))
    file = replace(bert, configurations=(*bert.configurations[:at], small, *bert.configurations[at + 1 :]))
    faults = pairs(workload_faults(file, {}))
    assert {path[:3] for path, _ in faults} == {("configuration", at, "layout")}
    assert {message for _, message in faults} == {f"{most} of {most} IPUs; the first is 0"}


def test_more_layers_than_any_model_and_wider_ones_are_refused_at_their_size(bert):
    deep = replace(bert, transformer=replace(bert.transformer, layers=5000))
    ((path, message),) = pairs(workload_faults(deep, {}))
    assert (path, message.split(";")[0]) == (("transformer", "layers"), "5,000 layers in all")
    wide = replace(bert, transformer=replace(bert.transformer, vocabulary=2**22 + 1))
    assert [path for path, _ in pairs(workload_faults(wide, {}))] == [("transformer", "vocabulary")]


def units(bert, *given):
    return replace(bert, transformer=None, unit=given, configurations=(), presets=(), large_pods=())


def add(*operations, name="a"):
    return GivenOperator(name=name, kind=Kind.ELEMENTWISE, elements=4, operations=operations)


def test_an_operation_that_no_tile_knows_is_told_with_the_nearest(bert):
    unit = GivenUnit(name="u", operators=(add("add", name="b"), add("add", "multipl")))
    ((path, message),) = pairs(workload_faults(units(bert, unit), {}))
    assert path == ("unit", 0, "operator", 1, "operations")
    assert message == 'no operation "multipl"; did you mean "multiply"?'


def test_units_of_one_block_repeat_alike(bert):
    one, two = (GivenUnit(name=name, operators=(add("add"),), block="b", repeat=3) for name in "uv")
    assert pairs(workload_faults(units(bert, one, two), {})) == []
    ((path, message),) = pairs(workload_faults(units(bert, one, replace(two, repeat=2)), {}))
    assert path == ("unit", 1, "repeat")
    assert message == 'units of block "b" that repeat together repeat alike'


def test_every_repeat_of_an_operator_counts(bert):
    unit = GivenUnit(name="u", operators=(add("add"), add("add", name="b")), block="b", repeat=12_500)
    other = replace(unit, name="v")
    assert pairs(workload_faults(units(bert, unit, other), {})) == []
    more = [replace(each, repeat=12_501) for each in (unit, other)]
    ((path, message),) = pairs(workload_faults(units(bert, *more), {}))
    assert (path, message.split(";")[0]) == (("unit",), "50,004 operators in all")


# --- points ---------------------------------------------------------------------------------------------------------


def at_keys(point, **change):
    return [path[2:] for path, _ in pairs(points_faults([replace(point, **change)]))]


def test_published_points_contradict_themselves_nowhere():
    assert pairs(points_faults(catalog.points())) == []


def test_a_point_is_there_once_and_takes_time(point):
    assert pairs(points_faults([point, point])) == [(("point", 1), f'"{point.id}" is there twice')]
    assert ("step",) in at_keys(point, step_s=0.0)


def test_samples_are_steps_times_the_batch_up_to_what_rows_pack(point):
    trained = point.steps * point.global_batch
    near, far = (trained * (1 + share * SAMPLES_APART) for share in (0.99, 1.01))
    assert at_keys(point, samples_to_converge=near) == []
    assert at_keys(point, samples_to_converge=far) == [("samples_to_converge",)]


def test_steps_are_no_longer_than_training(point):
    longest = point.train_s / point.steps
    assert at_keys(point, step_s=longest * (1 + 0.99 * PARTS_APART)) == []
    assert at_keys(point, step_s=longest * (1 + 1.01 * PARTS_APART)) == [("train",)]


def test_minutes_are_the_sum_of_their_parts(point):
    assert at_keys(point, minutes=point.minutes * 1.03) == [("minutes",), ("score_minutes",)]
    assert at_keys(point, startup_s=point.startup_s + 0.03 * 60 * point.minutes) == [("minutes",)]
    assert at_keys(point, graph_switch_s=0.03 * 60 * point.minutes) == [("minutes",)]


def test_the_first_evaluation_counts_apart_from_the_later_ones(point):
    """16.5 evaluations: one first, 15.5 others, together a twentieth of the run."""
    longer = replace(point, evaluations=point.evaluations + 10)
    assert pairs(points_faults([longer])) != []
    without = replace(point, evaluations=0.0, each_evaluation_s=9e9, train_s=point.train_s + 14.5 * 8.811)
    assert ("minutes",) not in [path[2:] for path, _ in pairs(points_faults([without]))]


def test_the_official_score_is_the_clock_times_the_normalisation(point):
    assert at_keys(point, normalisation=1.0005) == []
    assert at_keys(point, normalisation=1.01) == [("score_minutes",)]


def test_a_mapping_is_stated_whole_or_not(point):
    whole = {"replicas": 4, "ipus_per_replica": 4, "micro_batch": 2, "accumulation": 8}
    assert at_keys(point, **whole) == []
    ((path, message),) = pairs(points_faults([replace(point, **{**whole, "accumulation": None})]))
    assert path == ("point", 0)
    assert message.startswith("states part of a mapping")
