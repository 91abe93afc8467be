"""Predict, calibrate and validate answer with the same bytes, whichever came before in the process."""

import pytest

import podsim
from podsim.caches.tables import TABLES
from podsim.calibration import fit, fit_data, holdout
from podsim.files import catalog
from podsim.model.parameters import FREE
from podsim.studies.documents import answer_document


def predicted():
    prediction = podsim.predict("bert", pod=16, micro_batch=2, replicas=4, ipus_per_replica=4)
    return answer_document(prediction).json().encode()


@pytest.fixture(scope="module")
def verbs():
    """The three verbs over some results of a rack: each takes a moment."""
    cases = [case for case in fit_data.cases() if case.point.topology == "pod16"][:4]
    form = FREE.forms[0]

    def calibrated():
        return repr(fit.fit(cases, form)).encode()

    def validated():
        parameters = catalog.parameters()
        return repr([holdout._points(case, parameters, parameters) for case in cases]).encode()

    return predicted, calibrated, validated


@pytest.mark.parametrize(
    "folder",
    [pytest.param("kept", id="with a cache folder"), pytest.param("", id="without one", marks=pytest.mark.slow)],
)
def test_any_order_gives_the_same_bytes(verbs, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("PODSIM_CACHE", str(tmp_path / folder) if folder else "")
    alone = {}
    for verb in verbs:
        TABLES.clear()
        alone[verb] = verb()
    for order in (verbs, verbs[::-1]):  # each verb before and after each other
        TABLES.clear()
        assert {verb: verb() for verb in order} == alone


def test_a_full_table_forgets_what_it_has_kept_longest_and_no_answer_changes(monkeypatch):
    """All tables so small that every result pushes one out."""
    whole = predicted()
    for table in TABLES.all():
        monkeypatch.setattr(table, "most", 1)
    TABLES.clear()
    assert predicted() == whole
    assert all(len(table) <= 1 for table in TABLES.all())
