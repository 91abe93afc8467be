from dataclasses import replace

import pytest

import podsim
from podsim.errors import InputError
from podsim.files import catalog, changes
from podsim.model.calibration import FittedParameter, ParameterSet
from podsim.model.fabric import Shape
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.quantity import SourceKind


def refused(function, *arguments):
    with pytest.raises(InputError) as caught:
        function(*arguments)
    assert caught.value.code == "bad-change"
    return caught.value


@pytest.mark.parametrize(
    ("change", "read", "value"),
    [
        ("gw-link.bandwidth=400 Gbit/s", lambda t: t.links["gw-link"].bandwidth_bytes_per_s, 50e9),
        ("gw-link.bandwidth='400 Gbit/s'", lambda t: t.links["gw-link"].bandwidth_bytes_per_s, 50e9),
        (" ipu-link.efficiency = 0.5 ", lambda t: t.links["ipu-link"].efficiency, 0.5),
        ("ipu-link.hop=0 s", lambda t: t.links["ipu-link"].hop_s, 0.0),
        ("chip.clock=1.5 GHz", lambda t: t.chip.clock_hz, 1.5e9),
        ("chip.tiles=1_000", lambda t: t.chip.tiles, 1000),
        ("chip.exchange.bandwidth=47.5 TB/s", lambda t: t.chip.exchange_bytes_per_s, 47.5e12),
        ("chip.amp.flop_per_cycle.16.16=64", lambda t: t.chip.amp.flop_per_cycle["16.16"], 64.0),
        ("gateway.streaming_bandwidth_per_ipu=20 GB/s", lambda t: t.gateway.streaming_bytes_per_s_per_ipu, 20e9),
        ("hosts.servers=4", lambda t: t.hosts.servers, 4),
        ("level.pod.holds=4", lambda t: t.ipus, 256),
        ("level.pod.shape=switch", lambda t: t.level("pod").shape, Shape.SWITCH),
        ("level.rack.closed=false", lambda t: t.level("rack").closed, False),
        ("economics.machine_price=1 USD", lambda t: t.economics.machine_usd, 1.0),
    ],
)
def test_a_number_of_a_machine_can_be_set(change, read, value):
    document = catalog.topology("pod128", [change])
    assert read(document.value) == value
    path = change.partition("=")[0].strip()
    assert document.provenance[path].kind is SourceKind.GIVEN
    assert document.provenance[path].note.startswith("given with --set")


def test_nothing_else_changes():
    plain, changed = catalog.topology("pod128"), catalog.topology("pod128", {"chip.clock": "1.5 GHz"})
    assert changed.value.links == plain.value.links
    assert changed.value.chip.amp == plain.value.chip.amp
    assert catalog.topology("pod128").value == plain.value
    assert {path for path, provenance in changed.provenance.items() if plain.provenance[path] != provenance} == {
        "chip.clock"
    }


def test_a_mapping_says_the_same_as_texts():
    texts = ["gw-link.bandwidth=400 Gbit/s", "chip.tiles=1000"]
    mapping = {"gw-link.bandwidth": "400 Gbit/s", "chip.tiles": "1000"}
    assert catalog.topology("pod128", texts).value == catalog.topology("pod128", mapping).value


def test_one_text_is_one_change():
    assert changes.parse("chip.clock=1 GHz") == (changes.Change("chip.clock", "1 GHz"),)


@pytest.mark.parametrize(
    ("texts", "context"),
    [
        (
            ["gw-link.bandwidth=100 Gbps"],
            ('gw-link.bandwidth=100 Gbps  "Gbps" may mean Gbit/s or GB/s; write the one meant',),
        ),
        (
            ["gw-link.bandwidth=12"],
            ('gw-link.bandwidth=12  "12" needs a unit; write for example "16 GB/s" or "100 Gbit/s"',),
        ),
        (["chip.clock=0 GHz"], ('chip.clock=0 GHz  must be above 0, not "0 GHz"',)),
        (["chip.clock=-1 GHz"], ('chip.clock=-1 GHz  must be above 0, not "-1 GHz"',)),
        (["chip.clock=inf GHz"], ('chip.clock=inf GHz  "inf GHz" is not a finite number',)),
        (["chip.tiles=1e3"], ("chip.tiles=1e3  must be a whole number, not 1000.0",)),
        (["chip.tiles=many"], ('chip.tiles=many  must be a whole number, not "many"',)),
        (["chip.tiles=true"], ("chip.tiles=true  must be a whole number, not true",)),
        (
            ["chip.tiles=1\nhosts = 2"],
            ('chip.tiles=1 hosts = 2  must be a whole number, not "1 hosts = 2"',),
        ),
        (["gw-link.efficiency=nan"], ("gw-link.efficiency=nan  must be a finite number, not nan",)),
        (["gw-link.efficiency=1.5"], ("gw-link.efficiency=1.5  must be above 0 and at most 1",)),
        (["level.pod.shape=rng"], ('level.pod.shape=rng  "rng" is not known; did you mean "ring"?',)),
        (["level.pod.holds=3"], ("level.pod.holds=3  must be a power of two, at least 1",)),
        (
            ["chip.clock=1 s", "hosts.servers=0"],
            (
                'chip.clock=1 s   "1 s" is a time (s), and must be a frequency (Hz)',
                "hosts.servers=0  must be at least 1, not 0",
            ),
        ),
    ],
)
def test_values_are_checked_as_those_of_files_are(texts, context):
    error = refused(catalog.topology, "pod128", texts)
    assert error.context == context
    assert error.message == f"--set has {'1 error' if len(context) == 1 else f'{len(context)} errors'}"


@pytest.mark.parametrize(
    ("texts", "context"),
    [
        (["chip.clock"], ('chip.clock  there is no "=" in it',)),
        (["=3"], ("=3  the path is empty",)),
        (["chip.clock="], ("chip.clock=  the value is empty",)),
        (["chip.clock=''"], ("chip.clock=  the value is empty",)),
        (["chip.clock=1 GHz", " chip.clock=2 GHz"], ("chip.clock=2 GHz  set before, to 1 GHz",)),
        (["x", "=1"], ('x   there is no "=" in it', "=1  the path is empty")),
    ],
)
def test_what_is_no_change_is_said_so(texts, context):
    assert sorted(refused(changes.parse, texts).context) == sorted(context)


def test_a_value_may_hold_an_equals_sign():
    assert changes.parse(["a.b=c=d"]) == (changes.Change("a.b", "c=d"),)


def test_an_unknown_path_says_what_was_meant_and_what_there_is():
    error = refused(catalog.topology, "pod128", ["gw-lnk.bandwidth=1 GB/s"])
    assert error.context[0] == 'gw-lnk.bandwidth  unknown path; did you mean "gw-link.bandwidth"?'
    head, _, rest = error.context[1].partition(": ")
    assert head == "what can be set"
    listed = rest.split()
    assert {"chip.clock", "chip.exchange.bandwidth", "gw-link.latency", "level.pod.holds", "workload.…"} <= set(listed)


@pytest.mark.parametrize(
    "path", ["chip", "chip.name", "title", "level.pods.holds", "schema", "chip.clock.hz", ".", "workloads.x"]
)
def test_what_is_no_number_or_choice_cannot_be_set(path):
    assert refused(catalog.topology, "pod128", [f"{path}=1"]).context[0].startswith(f"{path}  unknown path")


def test_a_machine_without_a_pod_level_has_no_such_path():
    refused(catalog.topology, "pod64", ["level.pod.holds=2"])


def test_changes_of_a_workload_are_its_own():
    workload = catalog.workload("bert", ["workload.transformer.layers=12", "chip.clock=1 GHz"]).value
    assert workload.parameters < catalog.workload("bert").value.parameters
    assert catalog.topology("pod16", ["workload.transformer.layers=12"]).value == catalog.topology("pod16").value


def test_an_unknown_path_of_a_workload_lists_its_neighbours():
    error = refused(catalog.workload, "bert", ["workload.transformer.layer=12"])
    assert error.context[0] == 'workload.transformer.layer  unknown path; did you mean "workload.transformer.layers"?'
    listed = error.context[1].partition(": ")[2].split()
    assert len(listed) > 3
    assert all(path.startswith("workload.transformer.") for path in listed)


def test_too_many_neighbours_are_listed_by_their_beginnings():
    error = refused(catalog.workload, "bert", ["workload.zzz=12"])
    listed = error.context[1].partition(": ")[2].split()
    assert {"workload.packing", "workload.transformer.…", "workload.configuration.…"} <= set(listed)
    assert len(listed) < 20


def test_a_check_across_fields_names_the_one_at_fault():
    error = refused(catalog.workload, "bert", ["workload.transformer.heads=7"])
    assert error.context == ("workload.transformer.heads=7  7 heads do not divide hidden = 1024",)


def _parameters():
    parameter = FittedParameter(
        value=0.4, error=0.01, prior=0.5, prior_error=0.3, pull=-0.2, meaning="share of the peak"
    )
    return ParameterSet(
        fitted={"compute.efficiency": parameter, "gw-link.efficiency": parameter},
        correlation={},
        samples={},
        step_error=0.05,
        largest={},
        smallest={},
        chips=(),
        sdks=(),
        points=16,
    )


def test_a_fitted_parameter_can_be_set_and_keeps_its_relative_error():
    changed = changes.apply_to_parameters(_parameters(), ["compute.efficiency=0.5", "chip.clock=1 GHz"])
    assert (changed.value("compute.efficiency"), changed.fitted["compute.efficiency"].error) == (0.5, 0.01)
    assert changed.fitted["gw-link.efficiency"] == _parameters().fitted["gw-link.efficiency"]


@pytest.mark.parametrize("value", ["0", "-1", "inf", "nan", "x", "+50 MHz"])
def test_a_fitted_parameter_is_a_finite_number_above_nought(value):
    error = refused(changes.apply_to_parameters, _parameters(), [f"compute.efficiency={value}"])
    assert error.context == (f"compute.efficiency={value}  this parameter must be a finite number above 0",)


def test_a_fitted_parameter_with_a_unit_is_set_as_explain_writes_it():
    """`podsim explain` prints "0.000539 s" and says that --set takes its names."""
    fitted = replace(_parameters().fitted["compute.efficiency"], unit="s")
    parameters = replace(_parameters(), fitted={"rack.step": fitted})
    for text in ("0.0006", "0.0006 s", "600 us"):
        changed = changes.apply_to_parameters(parameters, [f"rack.step={text}"])
        assert changed.value("rack.step") == pytest.approx(6e-4, rel=1e-12)
    for text in ("600 W", "-600 us", "x"):
        error = refused(changes.apply_to_parameters, parameters, [f"rack.step={text}"])
        assert "or with its unit" in error.context[0]


def test_servers_that_a_what_if_sets_feed_the_machine_in_place_of_the_published_number():
    """Published runs of ResNet-50 on 256 IPUs have 16 hosts; the file of the machine says 4."""
    published = podsim.predict("resnet50", pod=256, engine="analytic")
    fewer = podsim.predict("resnet50", pod=256, changes=["hosts.servers=4"], engine="analytic")
    by_flag = podsim.predict("resnet50", pod=256, hosts=4, engine="analytic")
    assert (published.hosts, fewer.hosts) == (16, 4)
    assert fewer.time_to_train_s.value == pytest.approx(by_flag.time_to_train_s.value)


@pytest.mark.parametrize("text", ["2x", "+0%"])
def test_a_change_relative_to_servers_that_do_not_feed_the_run_is_refused(text):
    """The file of POD64 says 1, and published runs of ResNet-50 have 4: twice of which would not be said."""
    error = refused(lambda: podsim.predict("resnet50", pod=64, changes=[f"hosts.servers={text}"]))
    assert error.hint.startswith("hosts=")
    with pytest.raises(InputError) as both:
        podsim.predict("resnet50", pod=64, hosts=4, changes=["hosts.servers=2"])
    assert both.value.code == "conflicting-flags"


def test_an_unknown_host_link_is_not_taken_for_the_link_between_racks():
    with pytest.raises(InputError) as caught:
        podsim.predict("bert", pod=64, changes=["host-link.bandwidth=0.5x"])
    text = str(caught.value)
    assert "gateway.host_bandwidth and hosts.server_bandwidth" in text
    assert "did you mean" not in text


def test_a_row_of_another_length_is_named_by_it_and_its_packing_is_a_caveat():
    change = "workload.transformer.sequence=128"
    report = podsim.infer("bert", pod=4, changes=[change], requests=100, engine="analytic")
    assert report.row == "packed row of 128 tokens"
    note = AnswerNote.of(NoteCode.PACKING_KEPT, caveat=True, tokens=128, samples=2 * 1.0184, packing=1.0184)
    assert note in report.assumptions
    repacked = podsim.infer("bert", pod=4, changes=[change, "workload.packing=1"], requests=100, engine="analytic")
    assert not [item for item in repacked.assumptions if item.code is NoteCode.PACKING_KEPT]


@pytest.mark.parametrize(
    ("pod", "change", "told"),
    [(64, "gw-link.bandwidth=2x", True), (128, "gw-link.bandwidth=2x", False), (64, "ipu-link.bandwidth=2x", False)],
)
def test_a_change_of_gw_links_says_that_one_rack_has_none(pod, change, told):
    result = podsim.predict("bert", pod=pod, changes=[change], engine="analytic")
    before = podsim.predict("bert", pod=pod, engine="analytic")
    note = AnswerNote.of(NoteCode.GW_LINKS_UNUSED, caveat=True, paths="gw-link.bandwidth")
    assert (note in result.assumptions) == told
    assert (result.time_to_train_s.value == before.time_to_train_s.value) == told


def test_advice_of_a_workload_file_that_a_what_if_follows_is_not_repeated():
    """A note of yolov4-p5 proposes another size of image, and stood there with that size."""
    assert "--set workload.yolo.image=896" in " ".join(map(str, served("yolov4-p5").assumptions))
    larger = served("yolov4-p5", "workload.yolo.image=896")
    assert larger.row == "image of 896 x 896"
    assert "416" not in " ".join(map(str, larger.assumptions))


def served(workload, *changes):
    return podsim.infer(workload, pod=16, changes=list(changes), requests=100, engine="analytic")


def test_a_part_of_a_machine_is_priced_as_the_whole():
    answer = podsim.predict("resnet50", pod=1, engine="analytic")
    (caveat,) = (note for note in answer.assumptions if note.code is NoteCode.PART_OF_MACHINE)
    assert caveat.caveat
    assert str(caveat) == "1 of the 4 IPUs of one IPU-M2000; price and power are of the whole IPU-M2000"
    assert answer.topology_title == "1 IPU of IPU-M2000"
    assert podsim.predict("resnet50", pod=4, engine="analytic").topology_title == "IPU-M2000"
