"""Tokens of a language model, and the screen of a run whose length nobody states."""

from dataclasses import replace

from samples_of_results import considered, estimate, prediction

from podsim.report.views import tokens_view, unknown_length_view

ROWS = 64 * 2 * 27  # replicas, micro-batch and accumulation of the sample


def without_length(**change):
    """The sample prediction as a run of no stated length."""
    return replace(prediction(beyond=1.0), length_flags=("--tokens", "--samples"), **change)


def test_a_model_without_tokens_has_no_line_of_them():
    assert [*tokens_view.rate(prediction()), *tokens_view.batch(prediction())] == []


def test_tokens_a_second_of_all_ipus_and_of_each():
    """3,456 rows of 512 tokens in 0.245 s on 512 IPUs."""
    (fact,) = tokens_view.rate(replace(prediction(), row_tokens=512))
    assert (fact.number, fact.unit) == ("7.22", "M tokens/s")
    assert fact.remark == "14,100 per IPU"
    (far,) = tokens_view.rate(replace(prediction(beyond=256.0), row_tokens=512))
    assert far.remark == "14,000 per IPU"


def test_tokens_of_a_weight_update_are_rows_times_tokens():
    (fact,) = tokens_view.batch(replace(prediction(), row_tokens=512))
    assert (fact.number, fact.unit, fact.remark) == ("1.77", "M tokens", f"{ROWS:,} rows × 512 tokens")


def test_throughput_comes_first_where_no_length_is_stated():
    facts = list(unknown_length_view.facts(without_length(), "55.1 per IPU, MFU 11 %"))
    assert [fact.label for fact in facts] == ["Throughput", "Step time"]
    assert facts[0].strong
    assert facts[0].remark.endswith("; 55.1 per IPU, MFU 11 %")
    with_tokens = list(unknown_length_view.facts(without_length(row_tokens=512), ""))
    assert [fact.unit for fact in with_tokens if fact.label == "Token rate"] == ["M tokens/s"]


def test_flags_that_would_give_a_time_are_named():
    assert [note.text for note in unknown_length_view.notes(without_length())] == [
        "run length not specified; add one: --tokens or --samples"
    ]
    assert (
        unknown_length_view.length(without_length()).remark
        == "run length not specified; add one: --tokens or --samples"
    )
    assert list(unknown_length_view.notes(prediction())) == []


def test_mappings_are_compared_by_throughput():
    """A step of 0.245 s at 28,212 samples/s takes 6,911.94 samples of a batch of 6,912."""
    p = without_length(throughput_samples_per_s=estimate(6912 / 0.245, 26000.0, 30000.0))
    rows = [considered(27, 0.0, 0.245, 0.0, 0.188), considered(54, 0.0, 0.49, 0.0, 0.104)]
    table = unknown_length_view.candidate_table(p, rows, 1)
    assert table.rows[0] == ("6,912", "64 × 8", "2", "27", "245", "19 %", "28,200")
    assert table.rows[1][-1] == table.rows[0][-1]
    assert (table.marked, table.columns[4].title) == (1, "Step, ms")
