"""Equations of the model as MathML: what was written is what is shown."""

from __future__ import annotations

import re

import pytest
from file_kinds import ROOT

pytest.importorskip("latex2mathml", reason="podsim[docs] is not installed")
import equations

MODEL = (ROOT / "docs/explanation/model.md").read_text(encoding="utf-8")
FRACTION = r"\frac{\text{bytes}}{\text{bandwidth}}"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("bytes / bandwidth", FRACTION),
        ("2 × (bytes / bandwidth + latency)", rf"2 \times  \left({FRACTION} + \text{{latency}}\right)"),
        ("(a + b) / (c + d)", r"\frac{a + b}{c + d}"),
        (
            "rows / step_s / (peak × IPUs)",
            r"\frac{\text{rows}}{\text{step_s} \times  \left(\text{peak} \times  \text{IPUs}\right)}",
        ),
        ("D = B / (L − E)^(1 / b)", r"D = \frac{B}{{\left(L - E\right)}^{\frac{1}{b}}}"),
        ("gap² × share", r"{\text{gap}}^{2} \times  \text{share}"),
        ("0.8 ms / replicas", r"\frac{0.8\ \text{ms}}{\text{replicas}}"),
        ("max(1, calls)", r"\text{max}\left(1 {,}\ \text{calls}\right)"),
        ("Σ over stages", r"\sum  \text{over stages}"),
    ],
)
def test_a_line_is_read_as_it_is_written(line: str, text: str) -> None:
    assert re.sub(r"\s+", " ", equations.latex(line)) == re.sub(r"\s+", " ", text)


def test_every_equation_of_the_model_is_typeset() -> None:
    page = equations.typeset(MODEL)
    assert page.count('<div class="equation">') == len(equations.BLOCK.findall(MODEL))
    assert page.count("<math") > 200
    assert re.search(r"^    \S", page, re.MULTILINE) is None


def test_every_word_of_an_equation_is_still_there() -> None:
    page = equations.typeset(MODEL)
    for block in equations.BLOCK.findall(MODEL):
        for word in re.findall(r"[a-z_]{4,}", block):
            assert word in page


def test_remarks_stay_words() -> None:
    page = equations.typeset("    cost = price × time        of a step <likewise>\n\nnext\n")
    assert '<span class="remark">of a step &lt;likewise&gt;</span>' in page
