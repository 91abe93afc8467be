"""How far the sides of a comparison stand from measurements, and what else tells them apart."""

from __future__ import annotations

import pytest

import podsim
from podsim.studies.compare import evidence_report


@pytest.fixture(scope="module")
def changed():
    return podsim.compare("bert", pod=64, changes=["chip.clock=2x"])


def test_sides_of_other_evidence_are_told_apart(changed):
    text = evidence_report.evidence(changed, timed=True).remark
    assert text.startswith("IPU-POD64: within calibration; chip.clock=2x: ")
    assert text.endswith("of the time to train assumed")


def test_sides_alike_are_told_once():
    alike = podsim.compare("bert", ["pod64", "pod128"])
    assert evidence_report.evidence(alike, timed=True).remark == "within calibration"


def test_faults_are_modelled():
    hurt = podsim.compare("bert", ["pod16", "pod64"], faults=["ipu:3=0.5"])
    assert evidence_report.evidence(hurt, timed=True).remark.endswith("faults modelled, not measured")


def test_other_global_batches_are_a_cause_and_have_a_flag(changed):
    batches = podsim.compare("resnet50", pod=64, changes=["chip.clock=2x"])
    (fact,) = evidence_report.also_different(batches)
    first, second = (side.answer.mapping.global_batch for side in batches.sides)
    assert fact.remark == f"causes part of the changes: {first:,} and {second:,}"
    assert fact.hint == f"--global-batch {second} sets both"
    assert not [*evidence_report.also_different(changed)]


def test_common_random_numbers_are_worth_a_line(changed):
    assert "by common random numbers" in evidence_report.uncertainty(changed)


def test_energies_at_one_basis_need_no_line(changed):
    assert evidence_report.of_energy(changed) == ""
    other = podsim.compare("bert", ["pod64", "dgx-a100:64"])
    assert "peak power (no other published)" in evidence_report.of_energy(other)
