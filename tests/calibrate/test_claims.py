"""Claims held against the model: numbers and tolerances decide, and the catalogue decides what can be asked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import podsim
from podsim.calibration.claims.claim_metrics import EVALUATORS
from podsim.errors import InputError
from podsim.files import catalog, claims_file, find, prices_file
from podsim.model.claims import ClaimAnswer, Metric, Verdict, Worth
from podsim.studies.validate.claims_report import row

TEXT = (find.data_folder("calibration") / "claims.toml").read_text(encoding="utf-8")
CLAIMS = {claim.id: claim for claim in claims_file.claims().value.claims}


def one(folder: Path, id_: str, *changes: tuple[str, str]) -> ClaimAnswer:
    """One shipped claim, with texts of it changed, held against the model."""
    head, *blocks = TEXT.split("[[claim]]\n")
    (block,) = (block for block in blocks if f'"{id_}"' in block)
    for old, new in changes:
        assert old in block
        block = block.replace(old, new)
    path = folder / "claims.toml"
    path.write_text(f"{head}[[claim]]\n{block}", encoding="utf-8")
    (answer,) = podsim.claims(path=path).answers
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
        claims_file.claims(path)
    assert error.value.code == "bad-claims-file"


def test_prices_are_ranges_and_say_when_nobody_published_them() -> None:
    result = prices_file.prices()
    bow, dgx = result.of("bow-pod16"), result.of("dgx-a100-320gb")
    assert bow is not None
    assert dgx is not None
    assert (bow.low_usd, bow.high_usd, bow.is_derived) == (149_000, 149_000, True)
    assert (dgx.low_usd, dgx.high_usd, dgx.is_derived) == (199_000, 199_999, False)
    assert result.of("pod64") is None
    assert {price.source for price in result.prices} <= set(catalog.sources())


def test_a_claim_that_logs_contradict_disagrees_however_near_podsim_is(tmp_path: Path) -> None:
    """5.78 min against 5.879 in the logs: podsim is within the tolerance of both."""
    answer = one(tmp_path, "C25")
    assert answer.verdict is Verdict.DISAGREES
    assert abs(answer.deciding.error or 1) < answer.claim.tolerance
    assert one(tmp_path, "C25", ("claimed = 5.78", "claimed = 5.88")).verdict is Verdict.AGREES


def test_a_normalised_score_is_another_reading_and_no_contradiction(tmp_path: Path) -> None:
    answer = one(tmp_path, "C29")
    assert answer.verdict is Verdict.AGREES
    assert not answer.deciding.conflict
    assert "normalised score" in answer.deciding.remark


def test_what_an_agreement_is_worth(tmp_path: Path) -> None:
    worth = {id_: one(tmp_path, id_).worth for id_ in ("C02", "C05", "C10", "C15", "C16")}
    assert worth == {
        "C02": Worth.CALIBRATED,  # the log is one of those fitted
        "C05": Worth.DEFINITION,  # the sum of the chips' peaks
        "C10": Worth.DEFINITION,  # the price list is read back
        "C15": Worth.INDEPENDENT,
        "C16": Worth.INDEPENDENT,
    }
    unlogged = one(tmp_path, "C02", ('preset = "mlperf-v1.0-closed", ', ""))
    assert unlogged.worth is Worth.INDEPENDENT


def test_a_price_of_a_range_is_its_middle_whatever_is_claimed(tmp_path: Path) -> None:
    """Within a range nothing moves towards the claim."""
    changes = ('machine = "dgx-a100-640gb", claimed = 300000.0', 'machine = "dgx-a100-320gb", claimed = 199900.0')
    high = one(tmp_path, "C10", changes).parts[1]
    low = one(tmp_path, "C10", (changes[0], changes[1].replace("199900", "199100"))).parts[1]
    assert high.podsim == low.podsim == pytest.approx(199_499.5)


def test_a_measured_row_is_the_baseline_and_a_law_scales_it(tmp_path: Path) -> None:
    """69.5 h on 8 chips; on 24 less by what the law of the chip says, and never less than a third."""
    eight, more = (one(tmp_path, id_).deciding for id_ in ("C13", "C14"))
    assert "published-0021: 69.5 h on 8 × a100" in eight.why
    assert eight.podsim is not None
    assert more.podsim is not None
    assert 1 / 3 < more.podsim / eight.podsim < 0.4
    own = one(tmp_path, "C13", ('"published-0021"', '"published-0012"'))
    assert own.verdict is Verdict.CANNOT


def test_a_row_of_other_chips_needs_a_law(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        one(tmp_path, "C14", (', scaled_as = "bert"', ""))
    assert "scaled_as" in str(error.value.context)
    assert "8 chips, not 24" in str(error.value.context)


def test_a_sampler_is_answered_and_the_rate_of_its_baseline_follows(tmp_path: Path) -> None:
    answer = one(tmp_path, "C20")
    assert (answer.verdict, answer.worth) == (Verdict.ANSWERED, None)
    rates = {part.podsim for part in answer.parts}
    assert rates == {podsim.sample("abc-covid19", topology="m2000").samples_per_s}
    assert "neither its type nor its rate is published" in answer.reason


@pytest.mark.slow
def test_claims_are_counted_by_what_they_are_worth() -> None:
    report = podsim.claims()
    assert sum(report.count(verdict) for verdict in Verdict) == 33
    decided = report.count(Verdict.AGREES) + report.count(Verdict.DISAGREES)
    parts = sum(report.count(verdict, worth) for verdict in (Verdict.AGREES, Verdict.DISAGREES) for worth in Worth)
    assert parts == decided > 20


def test_a_number_that_the_source_does_not_print_is_answered_and_counts_as_no_agreement(tmp_path: Path) -> None:
    answer = one(tmp_path, "C33")
    assert (answer.verdict, answer.worth) == (Verdict.ANSWERED, None)
    assert "a chart without numbers" in answer.reason
    assert all(part.podsim and part.error is None for part in answer.parts)
    assert row(answer)[2] == "–"
    block = TEXT.split('"C33"')[1]
    (text,) = (line for line in block.splitlines() if line.startswith("estimated"))
    printed = one(tmp_path, "C33", (f"{text}\n", ""))
    assert (printed.verdict, printed.worth) == (Verdict.AGREES, Worth.INDEPENDENT)


def test_a_wide_tolerance_is_that_of_a_number_which_is_estimated() -> None:
    """No claim agrees since its tolerance was made wide."""
    assert {claim.id for claim in CLAIMS.values() if claim.tolerance > 0.1} == {"C33"}
    assert {claim.id for claim in CLAIMS.values() if claim.estimated} == {"C33"}
