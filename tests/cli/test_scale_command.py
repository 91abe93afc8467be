"""`podsim scale`: JSON has the attributes, every suffix is written, widths and quiet hold."""

import json
from dataclasses import replace

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.report.digits import round_floats
from podsim.studies.scale import machines as planning

QUESTION = ["scale", "resnet50", "--pods", "16..128", "--engine", "analytic"]
STARTS = {".html": b"<!doctype", ".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF", ".csv": b"topology,"}


@pytest.fixture(scope="module")
def found():
    return podsim.scale("resnet50", pods="16..128", engine="analytic")


def test_json_has_the_attributes(found, capsys):
    assert main([*QUESTION, "--json"]) == 0
    details = json.loads(capsys.readouterr().out)
    assert details["schema"] == "podsim.scale/1"
    for row, machine in zip(found.rows, details["machines"], strict=True):
        assert (machine["topology"], machine["efficiency"]) == (row.topology, round_floats(row.efficiency))
        assert machine["time_to_train_s"]["low"] == round_floats(row.prediction.time_to_train_s.low)
        assert len(machine["published"]) == len(row.published)
    assert details["laws"]["universal"]["coherency"] == round_floats(found.universal.coherency)
    assert details["knee_ipus"] == round_floats(found.knee_ipus)
    assert sum(details["grown"].values()) == pytest.approx(1 / found.rows[-1].efficiency - 1)


@pytest.fixture
def known(found, monkeypatch):
    """The answer without asking again."""
    monkeypatch.setattr(podsim, "scale", lambda *_, **__: found)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("suffix", STARTS)
def test_each_suffix(suffix, tmp_path, capsys):
    path = tmp_path / f"scale{suffix}"
    assert main([*QUESTION, "-q", "-o", str(path)]) == 0
    assert path.read_bytes().startswith(STARTS[suffix])
    assert capsys.readouterr().out.count("\n") == 1


@pytest.mark.usefixtures("known")
def test_a_csv_line_for_each_machine(tmp_path):
    path = tmp_path / "scale.csv"
    main([*QUESTION, "-q", "-o", str(path)])
    assert len(path.read_text(encoding="utf-8").splitlines()) == 1 + 4


def test_a_notebook_draws_it(found):
    assert "Time to train" in found._repr_html_()


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("width", ["60", "100", "160"])
def test_no_line_is_wider_than_the_screen(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", width)
    assert main([*QUESTION, "-v"]) == 0
    assert max(len(line) for line in capsys.readouterr().out.splitlines()) <= int(width)


@pytest.mark.parametrize(("ipus", "words"), [(1.7, "below"), (64.0, ""), (3000.0, "beyond")])
def test_a_knee_that_no_machine_asked_for_is_near_says_so(ipus, words, found, monkeypatch, capsys):
    monkeypatch.setattr(podsim, "scale", lambda *_, **__: replace(found, knee_ipus=ipus))
    assert main([*QUESTION, "-v"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert ("the machines compared" in text, words in text) == (bool(words), True)


def test_exit_1_where_nothing_fits(capsys):
    assert main(["scale", "bert", "--pods", "4,8", "--ipus-per-replica", "1"]) == 1
    assert "fits none" in capsys.readouterr().err


def test_a_run_costs_what_predict_says():
    report = podsim.scale("bert", pods="16", engine="analytic", kwh_price=0.5)
    alone = podsim.predict("bert", pod=16, engine="analytic")
    money = podsim.price(alone, kwh_price=0.5).money
    assert report.rows[0].prediction.money == money


def test_terms_move_the_cost_of_a_run_on_the_screen(capsys):
    shown = []
    for price in ("0.1", "1"):
        assert main(["scale", "bert", "--pods", "16", "--engine", "analytic", "--kwh-price", price]) == 0
        shown.append(capsys.readouterr().out)
    assert "Cost/run" in shown[0]
    assert shown[0].splitlines()[4] != shown[1].splitlines()[4]


def test_one_rent_is_not_that_of_machines_of_many_sizes(capsys):
    assert main([*QUESTION, "--rent-per-hour", "120"]) == 2
    assert "conflicting-flags" in capsys.readouterr().err


def test_a_range_says_where_it_stops(capsys):
    assert main(["scale", "resnet50", "--pods", "16..100", "--engine", "analytic"]) == 0
    assert "16..100 ends at 64: pod sizes are powers of two" in capsys.readouterr().out
    assert planning.stops("16..64, 4..8,12") == ()


def test_a_preset_is_asked_of_the_machines_that_have_it():
    report = podsim.scale("bert", pods="16,32", preset="mlperf-v1.1-closed", engine="analytic")
    alone = podsim.predict("bert", pod=16, preset="mlperf-v1.1-closed", engine="analytic")
    assert report.rows[0].prediction.time_to_train_s == alone.time_to_train_s
    assert "not for pod32" in report.rows[1].refused
    with pytest.raises(InputError, match="batch of each machine"):
        podsim.scale("bert", pods="16,32", preset="mlperf-v1.1-closed", scaling="weak")


def test_hosts_are_those_of_each_machine():
    report = podsim.scale("resnet50", pods="16,64", hosts=2, engine="analytic")
    assert "at most 1 host, not 2" in report.rows[0].refused
    assert report.rows[1].prediction.hosts == 2
