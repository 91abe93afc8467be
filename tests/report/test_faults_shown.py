"""Traces and goodput of a machine with faults say so, in JSON and on the screen."""

import json

import pytest

from podsim import api
from podsim.report import chrome_trace, json_goodput, json_text, terminal
from podsim.report.digits import rounded
from podsim.report.views import goodput, trace

FAULTS = ["ipu:2=0.5", "link:ipu4-ipu6=0.5"]
FLAGS = {"pod": 16, "preset": "mlperf-v1.1-closed"}


def screen(doc):
    return terminal.render(doc, terminal.Look(width=100))


def test_a_trace_lists_its_faults():
    found = api.trace("bert", faults=FAULTS, **FLAGS)
    assert json.loads(json_text.trace(found))["faults"] == FAULTS
    assert json.loads(chrome_trace.text(found))["otherData"]["faults"] == FAULTS
    assert "faults: ipu:2=0.5, link:ipu4-ipu6=0.5" in screen(trace.document(found))
    whole = api.trace("bert", **FLAGS)
    assert "faults" not in json.loads(json_text.trace(whole))
    assert "faults" not in screen(trace.document(whole))


@pytest.mark.parametrize(
    ("faults", "shown"),
    [
        ([], "one of 4 equal replicas"),
        (["ipu:2=0.5"], "2 of 4 replicas, all kinds among them"),
        (["ipu:2=0.5", "ipu:6=0.6", "ipu:10=0.7"], "all 4 replicas"),
    ],
)
def test_a_trace_counts_the_kinds_of_replicas_it_shows(faults, shown):
    assert api.trace("bert", faults=faults, **FLAGS).shown == shown


def test_goodput_says_what_faults_cost():
    found = api.goodput("bert", runs=5, faults=FAULTS, **FLAGS)
    told = json.loads(json_goodput.goodput(found))["faults"]
    assert told["texts"] == FAULTS
    assert told["step_s"] == rounded(found.step_s) > told["healthy_step_s"]
    assert "faults: ipu:2=0.5" in screen(goodput.document(found))
    assert "faults" not in json.loads(json_goodput.goodput(api.goodput("bert", runs=5, **FLAGS)))


def test_noise_that_is_in_the_fit_adds_nothing():
    found = api.predict("bert", steps=1000, engine="analytic", **FLAGS)
    assert abs(found.noise.added_s) == 0 or abs(found.noise.added_s) > 1e-9 * found.run.training_s
