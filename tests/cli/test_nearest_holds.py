"""What a plan that says no shows as enough is enough, typed as it is shown: exit code 0."""

import re
import shlex
from itertools import pairwise

import pytest

from podsim.cli.command_line import main

QUESTIONS = {
    "p99": ("resnet50 --rate 20k/s --p99 0.1ms --machines bow-pod16", "--p99"),
    "rate": ("resnet50 --rate 900k/s --p99 0.5ms --budget 1M --machines bow-pod16", "--budget --rate"),
    "power": ("resnet50 --rate 20k/s --p99 2ms --max-power 1kW --machines m2000", "--max-power"),
    "headroom": (
        "resnet50 --rate 40k/s --p99 10ms --headroom 100% --budget 60k --machines m2000",
        "--budget --rate --headroom",
    ),
    "spares": ("resnet50 --rate 40k/s --p99 10ms --spares 2 --budget 110k --machines m2000", "--budget --spares"),
    "other money": (
        "resnet50 --rate 20k/s --p99 1ms --budget 40k --currency EUR=0.92 --machines m2000",
        "--budget",
    ),
    "two latencies": ("gpt2-xl --rate 500/s --generate 64 --ttft 5ms --tpot 1ms --machines pod64", "--ttft --tpot"),
    "price and power": (
        "resnet50 --rate 40k/s --p99 10ms --spares 1 --budget 60k --max-power 3kW --machines m2000",
        "--budget --max-power --spares",
    ),
    "deadline": ("resnet50 --within 2min --machines bow-pod256", "--within"),
    "deadline and budget": ("resnet50 --within 10min --budget 100k --machines bow-pod16", "--within --budget"),
    "deadline and power": ("resnet50 --within 10min --max-power 10kW --machines pod64", "--within --max-power"),
    "confidence": ("bert --within 6.7min --confidence 0.99 --machines bow-pod64", "--within"),
    "wall clock": ("bert --within 30min --deadline wall-clock --machines bow-pod64", "--within --compile"),
}
"""A question that no machine meets, and the flags whose values would do."""
QUICK = ("p99", "deadline and budget", "confidence", "wall clock")


def marks(name):
    return () if name in QUICK else pytest.mark.slow


LIMITS = {
    "a P99 limit of": "--p99",
    "a first-token limit of": "--ttft",
    "a limit per token of": "--tpot",
    "a budget of": "--budget",
    "a power limit of": "--max-power",
    "a rate of": "--rate",
    "room to grow of": "--headroom",
    "a time limit of": "--within",
}
"""How a change begins, and the flag that states the number."""


def screen(capsys, words):
    code = main(["plan", *words])
    return code, " ".join(capsys.readouterr().out.split())


def section(text, title):
    """What would have to change for the machine of that title, as one line; what follows is another machine or Next."""
    changes = re.split(r"What would have to change[^A-Z0-9]*", text)[1]
    after = changes.partition(f"{title} ")[2]
    return re.split(r" \d+ × (?:IPU|Bow)| (?:IPU|Bow)[- ]| Next | Caveat | Check | Price ", after)[0]


def flags(change):
    """The words that a change says: a limit as shown, spares by their number, a cached executable by its flag."""
    change = change.removeprefix("one of: ").strip()
    for begin, flag in LIMITS.items():
        if change.startswith(begin):
            value = change.removeprefix(begin).partition(" instead of ")[0].strip()
            value = re.sub(r"[$,]|EUR ", "", value).replace(" requests/s", "/s").replace(" ", "")
            return [flag, value if flag != "--rate" or value.endswith("/s") else f"{value}/s"]
    if spare := re.match(r"(\d+) spare machine", change):
        return ["--spares", spare[1]]
    if cached := re.search(r"\((--compile cached)\)", change):
        return cached[1].split()
    return []  # a faster chip, a release: nothing that a plan is asked by


def given(words, replaced):
    """The words of a question with some of its flags given other values."""
    result = list(words)
    for flag, value in replaced:
        if flag in result:
            result[result.index(flag) + 1] = value
        else:
            result += [flag, value]
    return result


def nearest(text):
    """The machine that a refusal names as the nearest."""
    return re.search(
        r"the nearest (?:candidate )?(?:by [a-z ]+ )?is (?:\d+ × )?([A-Z][A-Za-z0-9]*(?:[- ][A-Z]\w+)?)", text
    )[1]


def enough(words, capsys):
    """Every question that the changes of a refused one make: one change for each demand that is missed."""
    code, text = screen(capsys, words)
    assert code == 1
    parts = [flags_of(part) for part in section(text, nearest(text)).split(", and ")]
    parts = [part for part in parts if part]
    assert parts, text
    first = [part[0] for part in parts]
    for at, part in enumerate(parts):
        for choice in part:
            yield given(words, [*first[:at], choice, *first[at + 1 :]])


def flags_of(part):
    return [tuple(words) for change in part.split("; ") if (words := flags(change))]


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in QUESTIONS])
def test_every_change_shown_for_the_nearest_machine_is_enough(name, capsys):
    question, wanted = QUESTIONS[name]
    words, changed = shlex.split(question), set()
    for other in list(enough(words, capsys)):
        code, text = screen(capsys, other)
        assert code == 0, (shlex.join(other), text[:300])
        given_before = dict(pairwise(words))
        changed |= {
            flag for flag, value in pairwise(other) if flag.startswith("--") and given_before.get(flag) != value
        }
    assert changed == set(wanted.split())
