"""A page is for a customer, who has no command line: only the command it was made with has flags."""

import html
import re

import pytest
from slow_cases import slow_but

from podsim.cli.command_line import main

QUESTIONS = {
    "nothing demanded": "plan resnet50 --machines pod64,bow-pod64",
    "a wall clock beyond the time": "plan resnet50 --within 10min --machines bow-pod64",
    "a wall clock judged": "plan resnet50 --within 10min --deadline wall-clock --machines bow-pod64",
    "no price": "plan resnet50 --within 10min --machines dgx-h100:64",
    "served": "plan resnet50 --rate 20k/s --p99 10ms --machines m2000",
    "served by none": "plan resnet50 --rate 20k/s --p99 0.1ms --machines m2000",
    "served on one machine": "infer resnet50 --pod 16 --batches 1..8 --rate 20k/s",
    "failures": "goodput bert --pod 64 --work 14d",
    "failures of a large machine": "goodput gpt3-175b --pod 4096 --tokens 300e9 --runs 50",
    "a month": "plan --workloads examples/mix.toml --machines bow-pod64",
}


@pytest.mark.parametrize("name", slow_but(["a wall clock judged", "no price", "failures"], QUESTIONS))
def test_a_page_names_no_flag(name, tmp_path, capsys):
    path = tmp_path / "page.html"
    assert main([*QUESTIONS[name].split(), "-q", "-o", str(path)]) in (0, 1)
    text = re.sub(r"(?s)<style.*?</style>|<svg.*?</svg>", "", path.read_text(encoding="utf-8"))
    lines = [html.unescape(line).strip() for line in re.sub(r"<[^>]+>", "\n", text).splitlines()]
    flags = [line for line in lines if re.search(r"(?<![\w-])--?[a-z]", line)]
    assert [line for line in flags if not line.startswith(("podsim plan ", "podsim infer ", "podsim goodput "))] == []


def test_the_screen_still_names_them(capsys):
    main(["plan", "resnet50", "--within", "10min", "--machines", "bow-pod64"])
    text = " ".join(capsys.readouterr().out.split())
    assert "to limit it: --deadline wall-clock" in text
    assert "use --prices FILE for current ones." in text


@pytest.mark.parametrize("more", [(), ("-o", "answer.json"), ("--json",)])
def test_flags_of_a_document_need_a_document(more, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["plan", "bert", "--within", "5min", "--machines", "pod128", "--customer", "Someone", *more]) == 2
    assert "--customer is printed on a document" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
