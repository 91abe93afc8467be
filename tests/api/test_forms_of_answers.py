"""What an answer is in Python: a line, a dictionary, a table, a file, a page; and which errors Python sees."""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from slow_cases import slow_but

import podsim
from podsim import studies
from podsim.cli.command_line import main
from podsim.errors import PodsimError
from podsim.files import inputs
from podsim.model.displayable import LONGEST_LINE, Displayable
from podsim.report import answer_file
from podsim.report.doc import Doc, Heading
from podsim.report.handout import Cover, arrange
from podsim.studies import call_record, documents

ROOT = Path(__file__).parents[2]
ALIKE = {
    "predict": (("bert",), {"pod": 16}, "predict bert --pod 16"),
    "predict_comparator": (("bert",), {"topology": "dgx-a100"}, "predict bert --topology dgx-a100"),
    "plan": (("bert",), {"within": "40m", "machines": "pod16"}, "plan bert --within 40m --machines pod16"),
    "scale": (("bert",), {"pods": "4..16"}, "scale bert --pods 4..16"),
    "compare": (("bert", ["pod4", "pod16"]), {"overlap": True}, "compare bert pod4 pod16 --overlap"),
    "infer": (("bert",), {"pod": 4, "batches": "1..4"}, "infer bert --pod 4 --batches 1..4"),
    "mappings": (("bert",), {"pod": 4}, "workload map bert --pod 4"),
    "explain_measurements": (("bert",), {"pod": 4}, "explain bert --pod 4 --measure"),
    "explain_operators": (("bert",), {"pod": 4}, "explain bert --pod 4 --ops"),
    "goodput": (("bert",), {"pod": 16, "work": "14 d", "runs": 10}, "goodput bert --pod 16 --work 14d --runs 10"),
    "collective": (("all-reduce",), {"bytes": "64 MB", "pod": 16}, "collective all-reduce --bytes '64 MB' --pod 16"),
    "stencil": (("heat-2d",), {"grid": "1000x1000"}, "stencil heat-2d --grid 1000x1000"),
    "sample": (("abc-covid19",), {"pod": 2}, "sample abc-covid19 --pod 2"),
    "explain": (("bert",), {"pod": 4}, "explain bert --pod 4"),
}
"""Calls of verbs that answer, and the same on the command line."""
QUICK = ("collective", "goodput", "mappings", "plan", "predict", "predict_comparator", "sample", "scale", "stencil")
OTHERS = {
    "trace": (("bert",), {"pod": 4}),
    "trace_collective": (("all-reduce",), {"bytes": "1 MB", "pod": 4}),
    "op": (("matmul",), {"m": 64, "k": 64, "n": 64}),
    "plan_mix": ((str(ROOT / "examples/mix.toml"),), {"machines": "pod64"}),
    "ownership_terms": ((), {"years": 5}),
    "list_chips": ((), {}),
    "list_topologies": ((), {}),
    "list_workloads": ((), {}),
    "show_chip": (("gc200",), {}),
    "show_topology": (("pod64",), {}),
    "show_workload": (("bert",), {}),
    "check": ((str(ROOT / "examples/faster-pod.toml"),), {}),
    "config": ((), {}),
}
SLOW = {
    "calibrate": {"write": False},
    "calibrate_noise": {"write": False},
    "calibrate_comparators": {"write": False},
    "calibrate_frameworks": {"write": False},
    "calibrate_compile_times": {"write": False},
    "freeze": {"write": False},
    "validate": {},
    "validate_comparators": {},
    "coverage": {},
    "hold_outs": {},
    "microbenchmarks": {},
    "claims": {},
    "validate_published": {},
}
"""Those that keep the model honest, seconds each."""
ELSEWHERE = {
    "price": "an answer of another verb",
    "gate": "an answer of another verb",
    "diff": "needs saved answers: below",
    "trace_diff": "needs saved traces: tests/cli/test_trace_diff.py",
    "sweep": "writes results beside its file: below",
    "read_scenario": "reads what write_scenario wrote: below",
    "write_scenario": "returns nothing",
    "import_model": "the text of a file, and no answer",
    "calibrate_own": "needs logs: tests/cli/test_own_logs.py",
    "app": "a server, and no answer: tests/app",
}


def ask(verb):
    positional, keywords = (ALIKE[verb][:2]) if verb in ALIKE else OTHERS[verb]
    return getattr(podsim, verb)(*positional, **keywords)


def shows_in_a_line(answer):
    text = repr(answer)
    assert len(text) <= LONGEST_LINE
    assert "\n" not in text
    assert "not shown" not in text
    return text


def test_every_verb_is_looked_at():
    assert {*ALIKE, *OTHERS, *SLOW, *ELSEWHERE} == set(studies.verbs())


@pytest.fixture(scope="module", params=slow_but(QUICK, sorted(ALIKE)))
def both(request):
    return request.param, ask(request.param)


def test_an_answer_is_the_document_of_the_command_line(both, capsys):
    import shlex

    verb, answer = both
    assert shows_in_a_line(answer).startswith(f"{type(answer).__name__}(")
    main([*shlex.split(ALIKE[verb][2]), "--json"])
    document = json.loads(capsys.readouterr().out)
    own = answer.to_dict()
    for record in (document, own):
        if verb == "goodput":  # one typed 14d, the other "14 d": the same question
            record["inputs"]["flags"].pop("work")
    assert own == document


def test_a_table_is_that_of_the_csv_file(both, tmp_path, monkeypatch):
    _, answer = both

    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
    rows = answer.to_frame()
    answer.save(tmp_path / "table.csv")
    header, *lines = (tmp_path / "table.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == len(rows) > 0
    assert list(dict.fromkeys(key for row in rows for key in row)) == header.split(",")


@pytest.mark.parametrize("verb", slow_but(sorted({*OTHERS} - {"plan_mix", "list_workloads"}), sorted(OTHERS)))
def test_other_answers_show_in_a_line(verb):
    shows_in_a_line(ask(verb))


@pytest.mark.slow
@pytest.mark.parametrize("verb", sorted(SLOW))
def test_answers_about_the_model_show_in_a_line(verb):
    answer = getattr(podsim, verb)(**SLOW[verb])
    shows_in_a_line(answer)
    assert answer.to_dict()["schema"].startswith("podsim.")


def test_scenarios_sweeps_and_differences_show_in_a_line(tmp_path):
    scenario = podsim.Scenario.of("bert", pod=4, seed=3)
    assert shows_in_a_line(scenario) == "Scenario.of('bert', pod=4, seed=3)"
    podsim.write_scenario(scenario, tmp_path / "s.toml")
    assert repr(podsim.read_scenario(tmp_path / "s.toml")) == repr(scenario)
    (tmp_path / "sweep.toml").write_text(
        'schema = "podsim.sweep/1"\nworkload = "bert"\ndesign = "grid"\n[fixed]\nengine = "analytic"\n'
        '[[axis]]\nname = "pod"\nvalues = ["4", "16"]\n'
    )
    shows_in_a_line(podsim.sweep(tmp_path / "sweep.toml", jobs=1))
    for pod in (4, 16):
        podsim.predict("bert", pod=pod).save(tmp_path / f"{pod}.json")
    difference = podsim.diff(tmp_path / "4.json", tmp_path / "16.json")
    assert [cause.what for cause in difference.causes][:1] == ["--pod"]
    shows_in_a_line(difference)


def test_a_saved_answer_is_what_the_command_line_writes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer = podsim.scale("bert", pods="4..16")
    assert main(["scale", "bert", "--pods", "4..16", "--quiet", "-o", "own.json"]) == 0
    assert main(["scale", "bert", "--pods", "4..16", "--quiet", "-o", "own.csv"]) == 0
    assert main(["scale", "bert", "--pods", "4..16", "--quiet", "-o", "own.svg"]) == 0
    for suffix in ("json", "csv", "svg"):
        answer.save(f"other.{suffix}")
        assert Path(f"other.{suffix}").read_bytes() == Path(f"own.{suffix}").read_bytes()
    answer.save("page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "podsim scale bert --pods 4..16" in page
    assert len(answer._repr_html_()) < len(page)


def test_a_question_is_kept_once_by_whoever_is_furthest_out():
    with inputs.recording() as outer:
        with call_record.asking("predict", {"workload": "bert"}) as inner:
            assert inner is None
        assert "inputs" in podsim.predict("bert", pod=4).to_dict()
    assert outer.files
    with call_record.asking("predict", {"workload": "./a/own.toml", "changes": {"a": "1"}, "overlap": False}) as record:
        assert record.flags == {"set": ["a=1"], "workload": "own.toml"}


def test_a_page_has_the_first_heading_as_its_title():
    handout = arrange(Doc(((Heading("what was asked"),),)), "Nothing.")
    written = documents.answer_document(podsim.predict("bert", pod=4))
    page = answer_file.content(".html", lambda: handout, written, Cover())
    assert "<title>what was asked" in page
    with pytest.raises(podsim.InputError, match="no chart"):
        answer_file.content(".png", lambda: handout, written, Cover())


def test_a_file_without_a_known_suffix_is_refused(tmp_path):
    with pytest.raises(podsim.InputError, match="does not say what to write") as no:
        podsim.predict("bert", pod=4).save(tmp_path / "answer.odt")
    assert no.value.hint == "save as answer.html"


def test_without_pandas_a_frame_says_how_to_have_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(podsim.InputError) as no:
        podsim.predict("bert", pod=4).to_frame()
    assert (no.value.code, no.value.hint) == ("missing-package", "pip install pandas")


def test_what_was_asked_stays_with_a_price_and_is_no_part_of_equality():
    answer = podsim.predict("bert", pod=4)
    assert podsim.price(answer).to_dict()["inputs"]["flags"] == {"pod": 4, "workload": "bert"}
    again = pickle.loads(pickle.dumps(answer))  # noqa: S301  (made here)
    assert again == answer
    assert "inputs" not in again.to_dict()


def test_an_answer_without_a_view_shows_its_fields_and_has_no_file():
    class Plain(Displayable):
        pass

    assert repr(Plain()) == "Plain()"
    with pytest.raises(podsim.InputError, match="has no form"):
        Plain().to_dict()


def test_verbs_types_and_errors_are_listed_and_importable():
    listed = dir(podsim)
    assert {"predict", "plan", "Scenario", "Prediction", "Plan", "InputError", "Infeasible", "PodsimError"} <= set(
        listed
    )
    assert not {"Any", "TYPE_CHECKING", "Final", "import_module"} & set(listed)
    for name in listed:
        assert getattr(podsim, name) is not None
    assert isinstance(podsim.predict("bert", pod=4), podsim.Prediction)
    assert issubclass(podsim.Infeasible, podsim.PodsimError)


def test_an_error_says_what_it_is_about_and_what_to_do():
    with pytest.raises(podsim.InputError) as no:
        podsim.predict("bert", pod=4, changes=["chip.clok=1 GHz"])
    lines = str(no.value).splitlines()
    assert lines[0] == no.value.message
    assert lines[1].strip() == no.value.context[0]
    error = PodsimError("it failed", context=["here"], hint="do that")
    assert str(error) == "it failed\n  here\n  hint: do that"


@pytest.mark.parametrize(
    ("verb", "keywords"),
    [
        ("predict", {"pod": "64"}),
        ("predict", {"pod": 64.5}),
        ("predict", {"pod": [64]}),
        ("predict", {"pod": 64, "samples": "3M"}),
        ("predict", {"pod": 64, "changes": {"chip.clock": 2}}),
        ("plan", {"within": 300}),
        ("plan", {"within": ["5 min"]}),
        ("plan", {"machines": 64}),
        ("scale", {"pods": 64}),
        ("compare", {"machines": "pod64"}),
        ("infer", {"pod": 4, "rate": object()}),
    ],
)
def test_wrong_types_are_refused_in_the_words_of_podsim(verb, keywords):
    with pytest.raises(podsim.InputError) as no:
        getattr(podsim, verb)("bert", **keywords)
    assert no.value.code == "bad-value"


@pytest.mark.parametrize("path", [5, None, ["a.html"]])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(podsim.InputError, match="takes a path"):
        podsim.predict("bert", pod=4).save(path)


def test_the_line_has_the_grade_as_the_screen_has_it():
    answer = podsim.predict("bert", pod=64, engine="analytic")
    assert repr(answer).endswith("within calibration)")
    assert answer.to_dict()["time_to_train_s"]["grade"] == "interpolated"


@pytest.mark.parametrize(
    "ask", [lambda: podsim.goodput("bert", pod=64, runs=100), podsim.list_topologies], ids=["goodput", "list"]
)
def test_a_notebook_shows_a_large_answer_in_short(ask):
    answer = ask()
    html = getattr(answer, "_repr_html_", lambda: "")()
    assert len(html or "") < 20_000
    assert html is None or "<svg" not in html


def test_a_notebook_shows_the_first_rows_of_a_long_table():
    from podsim.report.doc import Column, DocTable
    from podsim.studies.notebook import MOST_ROWS, _first_rows

    rows = tuple((str(at),) for at in range(40))
    table, note = _first_rows(DocTable((Column("n"),), rows, marked=20))
    assert len(table.rows) == MOST_ROWS
    assert table.rows[table.marked] == ("20",)
    assert note.text.startswith("28 more rows: to_frame()")
    assert list(_first_rows(DocTable((Column("n"),), rows[:3]))) == [DocTable((Column("n"),), rows[:3])]
