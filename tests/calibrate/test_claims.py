"""Claims held against the model: numbers and tolerances decide, and the catalogue decides what can be asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from podsim import api
from podsim.calibrate.claims.evaluate import EVALUATORS
from podsim.errors import InputError
from podsim.files import catalog, claims, find, prices
from podsim.model.claims import ClaimAnswer, Metric, Verdict

TEXT = (find.shipped("calibration") / "claims.toml").read_text(encoding="utf-8")
CLAIMS = {claim.id: claim for claim in claims.claims().value.claims}


def one(folder: Path, id_: str, *changes: tuple[str, str]) -> ClaimAnswer:
    """One shipped claim, with texts of it changed, held against the model."""
    head, *blocks = TEXT.split("[[claim]]\n")
    (block,) = (block for block in blocks if f'"{id_}"' in block)
    for old, new in changes:
        assert old in block
        block = block.replace(old, new)
    path = folder / "claims.toml"
    path.write_text(f"{head}[[claim]]\n{block}", encoding="utf-8")
    (answer,) = api.claims(path=path).answers
    return answer


def test_all_33_claims_are_carried_with_a_known_source() -> None:
    assert [*CLAIMS] == [f"C{number:02}" for number in range(1, 34)]
    assert {claim.source for claim in CLAIMS.values()} <= set(catalog.sources())


def test_every_metric_has_an_evaluator() -> None:
    assert set(EVALUATORS) == set(Metric)


@pytest.mark.parametrize(
    ("id_", "claimed", "other"),
    [
        ("C02", "claimed = 14.48", "claimed = 24.48"),
        ("C04", "claimed = 1.3", "claimed = 1.6"),
        ("C05", "claimed = 4.0", "claimed = 5.0"),
        ("C06", "claimed = 4.0", "claimed = 3.0"),
        ("C10", "claimed = 300000.0", "claimed = 400000.0"),
        ("C23", "claimed = 29.1", "claimed = 39.1"),
    ],
)
def test_another_value_turns_the_verdict(tmp_path: Path, id_: str, claimed: str, other: str) -> None:
    assert one(tmp_path, id_).verdict is Verdict.AGREES
    changed = one(tmp_path, id_, (claimed, other))
    assert changed.verdict is Verdict.DISAGREES
    assert "beyond" in changed.reason or "−" in changed.reason or "+" in changed.reason


def test_a_claim_that_disagrees_agrees_with_the_value_of_the_model(tmp_path: Path) -> None:
    answer = one(tmp_path, "C15")
    assert answer.verdict is Verdict.DISAGREES
    assert "SRAM" in answer.reason
    meant = one(tmp_path, "C15", ("claimed = 47.5", "claimed = 7.8"))
    assert (meant.verdict, meant.reason.count("SRAM")) == (Verdict.AGREES, 0)


def test_the_tolerance_of_the_file_decides(tmp_path: Path) -> None:
    assert one(tmp_path, "C02", ("tolerance = 0.1", "tolerance = 0.01")).verdict is Verdict.DISAGREES


def test_a_workload_that_exists_turns_no_into_an_answer(tmp_path: Path) -> None:
    answer = one(tmp_path, "C28", ("efficientnet-b4-g16", "wobble"))
    assert answer.verdict is Verdict.CANNOT
    assert answer.reason == 'no workload "wobble"'
    known = one(tmp_path, "C28")
    assert known.verdict is Verdict.DISAGREES  # EfficientNet-B4 by 11 %
    assert known.deciding.podsim


def test_a_release_that_is_known_from_claims_alone_is_not_held_against_them(tmp_path: Path) -> None:
    answer = one(tmp_path, "C07")
    assert answer.verdict is Verdict.CANNOT
    assert answer.reason.startswith("SDK 1.4 has no published run: podsim takes it from vendors' claims")
    other = one(tmp_path, "C07", ('"1.4"', '"2.1"'), ('sdk = "2.1"', 'sdk = "2.3"'))
    assert other.verdict is Verdict.DISAGREES
    assert other.deciding.podsim is not None
    assert 1 < other.deciding.podsim < 1.2


def test_logs_that_speak_against_a_claim_are_told(tmp_path: Path) -> None:
    assert "conflicts with the log of bert/pod128/v1.1-open, which says 5.879" in one(tmp_path, "C25").reason
    assert "normalised score of bert/pod64/v1.1-closed: the clock's 9.449 × 1.118" in one(tmp_path, "C29").reason
    assert "conflicts" not in one(tmp_path, "C25", ("claimed = 5.78", "claimed = 5.88")).reason


def test_a_baseline_nobody_published_is_no_answer(tmp_path: Path) -> None:
    answer = one(tmp_path, "C23", ("baseline_chips = 8", "baseline_chips = 7"))
    assert answer.verdict is Verdict.CANNOT
    assert "no published result of resnet50 on 7 × a100 in v1.1" in answer.reason


def test_an_id_that_stands_twice_is_a_fault(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(re.sub('"C02"', '"C01"', TEXT), encoding="utf-8")
    with pytest.raises(InputError) as error:
        claims.claims(path)
    assert error.value.code == "bad-claims-file"


def test_prices_are_ranges_and_say_when_nobody_published_them() -> None:
    found = prices.prices()
    bow, dgx = found.of("bow-pod16"), found.of("dgx-a100-320gb")
    assert bow is not None
    assert dgx is not None
    assert (bow.low_usd, bow.high_usd, bow.derived) == (149_000, 149_000, True)
    assert (dgx.low_usd, dgx.high_usd, dgx.derived) == (199_000, 199_999, False)
    assert found.of("pod64") is None
    assert {price.source for price in found.prices} <= set(catalog.sources())
