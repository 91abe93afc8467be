"""Quantities as people type them: accepted where their meaning is one, else refused with a spelling that works."""

from __future__ import annotations

import json

import pytest

from podsim import studies
from podsim.cli.command_line import main
from podsim.files.spelling import canonical


@pytest.mark.parametrize(
    ("verb", "name", "text", "strict"),
    [
        ("plan", "within", "5m", "300 s"),
        ("plan", "within", "5 minutes", "300 s"),
        ("plan", "within", "1h30m", "5400 s"),
        ("plan", "max_power", "100kw", "100 kW"),
        ("goodput", "work", "14 days", "14 d"),
    ],
)
def test_a_quantity_is_what_its_strict_spelling_is(verb: str, name: str, text: str, strict: str) -> None:
    argument = studies.arguments(verb)[name]
    assert argument.si(text) == argument.si(strict)
    assert canonical({name: text}) == canonical({name: strict})


@pytest.mark.parametrize(
    ("verb", "name", "text", "number"),
    [
        ("predict", "tokens", "300B", 300e9),
        ("predict", "tokens", "300bn", 300e9),
        ("predict", "samples", "3M", 3e6),
        ("infer", "requests", "20k", 20_000),
        ("plan", "confidence", "90%", 0.9),
        ("predict", "interval", "80 %", 0.8),
        ("scale", "knee", "50%", 0.5),
    ],
)
def test_a_number_is_what_its_strict_spelling_is(verb: str, name: str, text: str, number: float) -> None:
    assert studies.arguments(verb)[name].parse(text) == number


@pytest.mark.parametrize(
    ("verb", "name", "text", "suggestion"),
    [
        ("predict", "global_batch", "64k", "64,000 or 65,536"),
        ("predict", "samples", "3m", 'write "3M"'),
        ("infer", "wait", "2m", '"2 min" or "2 ms"'),
        ("plan", "max_power", "100 mw", "MW or mW"),
        ("op", "stream_rate", "20 Gb/s", "Gbit/s or GB/s"),
    ],
)
def test_two_meanings_are_refused_with_both_of_them(verb: str, name: str, text: str, suggestion: str) -> None:
    with pytest.raises(ValueError, match=suggestion):
        studies.arguments(verb)[name].parse(text)


def test_the_answer_is_that_of_the_strict_spelling(capsys: pytest.CaptureFixture[str]) -> None:
    answers = []
    for samples, interval in (("3M", "80%"), ("3e6", "0.8")):
        assert main(["predict", "bert", "--pod", "16", "--samples", samples, "--interval", interval, "--json"]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]
