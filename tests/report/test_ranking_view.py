"""What the screen says of operators by time."""

from dataclasses import replace

from parts_of_documents import bars, headings, notes, tables, titles

from podsim.studies.explain import ranking_report as view
from podsim.studies.explain.ranking_result import Bound, OperatorRanking, OperatorShare

LONGEST = OperatorShare(
    name="ffn.up",
    run="forward",
    method="AMP",
    times=1024,
    total_s=0.02,
    share=0.4,
    compute_s=0.015,
    exchange_s=0.004,
    sync_s=0.001,
    bound=Bound.COMPUTE,
)
RANKING = OperatorRanking(
    workload="bert",
    topology="pod16",
    chip="gc200",
    micro_batch=2,
    stretch=1.1,
    total_s=0.05,
    operators=(LONGEST, replace(LONGEST, name="softmax", total_s=0.01, share=0.2, bound=Bound.EXCHANGE)),
    evidence=("nobody measured softmax",),
)
MANY = replace(RANKING, operators=tuple(replace(LONGEST, name=f"o{at}", share=0.03125) for at in range(30)))


def test_the_sum_in_a_line():
    assert view.answer(RANKING) == "50.0 ms, longest operator ffn.up"


def test_an_operator_by_what_it_spends_its_own_time_on():
    (table,) = tables(view.document(RANKING))
    assert titles(table)[3] == "Time, ms"
    assert table.rows[0] == ("ffn.up", "forward", "1,024", "20.0", "40.0 %", "75 %", "20 %", "5 %", "compute")
    assert table.rows[1][-1] == "exchange"
    assert headings(view.document(RANKING)) == ["Operators of bert on pod16 (gc200) by time"]


def test_what_no_measurement_supports_and_what_was_added_up_are_told():
    micro, evidence = notes(view.document(RANKING))
    assert micro.startswith("one micro-batch of 2 through all stages")
    assert micro.endswith(view.answer(RANKING))
    assert evidence == "nobody measured softmax"


def test_the_rest_of_a_long_list_is_one_line():
    doc = view.document(MANY)
    assert len(tables(doc)[0].rows) == view.MOST_ROWS
    assert notes(doc)[0] == "5 more, 15.6 % of the time: --verbose lists them"
    verbose = view.document(MANY, verbose=True)
    assert len(tables(verbose)[0].rows) == 30
    assert not any("more," in text for text in notes(verbose))


def test_charts_draw_the_longest_by_their_share():
    assert bars(view.document(RANKING)) == []
    first, second = bars(view.document(RANKING, charts=True))
    assert (first.label, first.share, first.share_text, first.text) == ("ffn.up, forward", 0.4, "40.0 %", "20.0 ms")
    assert second.remark == "exchange"
    assert len(bars(view.document(MANY, charts=True))) == view.MOST_BARS
