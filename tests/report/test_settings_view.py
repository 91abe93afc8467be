"""Which flags are set and where, on the screen and as JSON."""

from parts_of_documents import notes, tables

from podsim.report.answer_formats import AnswerDocument
from podsim.studies.look_up import json_keys
from podsim.studies.look_up.settings_report import Row, document, line

SET = Row("predict", "--pod", ("64",), "podsim.toml:2", "")
OTHER = Row("compare", "--set", ("a=1", "b=2"), "PODSIM_SET", "PODSIM_COMPARE_SET")


def test_a_flag_in_a_line():
    assert line(SET) == "predict --pod 64  podsim.toml:2"
    assert line(OTHER) == "compare --set a=1 b=2  PODSIM_SET"


def test_a_flag_that_does_not_hold_says_what_stands_before_it():
    (table,) = tables(document([SET, OTHER], ["podsim.toml"]))
    assert table.rows == (
        ("predict", "--pod", "64", "podsim.toml:2"),
        ("compare", "--set", "a=1, b=2", "PODSIM_SET, displaced by PODSIM_COMPARE_SET"),
    )
    assert notes(document([SET], ["a.toml", "b.toml"]), "files read") == ["a.toml, b.toml"]


def test_no_flag_and_no_file_are_called_none():
    assert tables(document([], [])) == []
    assert notes(document([], []))[0] == "none: no variable and no podsim.toml sets any"
    assert notes(document([], []), "files read") == ["none"]


def test_every_key_is_in_json():
    body = AnswerDocument(lambda: json_keys.SETTINGS, {"files": ["a.toml"], "settings": [OTHER]}).tree()
    assert (body["schema"], body["files"]) == ("podsim.settings-report/1", ["a.toml"])
    assert body["settings"] == [
        {
            "command": "compare",
            "flag": "--set",
            "values": ["a=1", "b=2"],
            "origin": "PODSIM_SET",
            "displaced_by": "PODSIM_COMPARE_SET",
        }
    ]
