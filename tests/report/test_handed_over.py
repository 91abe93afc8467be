"""What a document to hand over shows: intervals of every chart, figures that agree, nothing to type, few pages."""

import io
import re

import pytest

import podsim
from podsim.report import page, text_document
from podsim.report.doc import Chart, Column, Doc, DocTable, Heading, Note
from podsim.report.handout import MOST_PRINTED, Cover, Handout, arrange, further_rows, printed_rows, with_title
from podsim.studies import notebook

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+|(?<!\w)-v\b")
LONG = DocTable((Column("Row", number=True),), tuple((f"{row:,}",) for row in range(MOST_PRINTED + 8)), marked=35)


def charts_of(handout):
    return [block for section in (*handout.body, *handout.appendix) for block in section if isinstance(block, Chart)]


def test_the_sentence_of_goodput_has_the_interval_of_its_figure():
    report = podsim.goodput("gpt3-175b", pod=512, tokens=20e9, global_batch=1536, runs=50)
    handout = notebook.page(report, None)
    (finish,) = (row for row in handout.figures if row.label == "Time to finish")
    interval = re.match(r"90 %: ([\d.,]+ – [\d.,]+);", finish.remark)[1]
    assert f"(90 %: {interval} {finish.unit})" in handout.answer


def test_other_batches_have_the_intervals_that_they_are_predicted_with():
    answer = podsim.predict("bert", pod=64)
    (chart,) = charts_of(notebook.page(answer, None))
    others, _ = chart.series
    assert len(others.band) == len(others.points) > 2
    other = next(row for row in answer.choice.considered if row.mapping.global_batch == 2064)
    mapping = other.mapping
    alone = podsim.predict(
        "bert", pod=64, global_batch=2064, replicas=mapping.replicas, micro_batch=mapping.micro_batch
    ).time_to_train_s
    assert (other.estimate.low, other.estimate.high) == pytest.approx((alone.low, alone.high), rel=1e-9)


def test_mappings_have_the_intervals_of_predictions():
    answer = podsim.mappings("bert", pod=64, most=3)
    (chart,) = charts_of(notebook.page(answer, None))
    assert all(len(series.band) == len(series.points) for series in chart.series)
    second = answer.advised[1]
    mapping = second.mapping
    alone = podsim.predict(
        "bert",
        pod=64,
        replicas=mapping.replicas,
        micro_batch=mapping.micro_batch,
        accumulation=mapping.accumulation,
        engine="analytic",
    ).throughput_samples_per_s
    ends = second.throughput_low_samples_per_s, second.throughput_high_samples_per_s
    assert ends == pytest.approx((alone.low, alone.high), rel=1e-6)


def test_latencies_have_an_interval_or_a_reason_for_none():
    answer = podsim.infer("resnet50", pod=4, batches="1..8", requests=2_000)
    handout = notebook.page(answer, None)
    (chart,) = charts_of(handout)
    alone, loaded = chart.series
    assert all(low < y < high for (_, y), (low, high) in zip(alone.points, alone.band, strict=True))
    assert not loaded.band
    assert "P99 under load has no band" in page.html(handout, Cover())
    sure = podsim.infer("resnet50", pod=4, batches="1..8", requests=2_000, confidence=0.9)
    (chart,) = charts_of(notebook.page(sure, None))
    assert not any(series.band for series in chart.series)
    assert "which leaves no interval to draw" in page.html(notebook.page(sure, None), Cover())


def test_checkpoint_intervals_have_the_spread_of_histories():
    report = podsim.goodput("gpt3-175b", pod=512, tokens=20e9, global_batch=1536, runs=50)
    (chart,) = charts_of(notebook.page(report, None))
    whole = chart.series[0]
    assert all(low < y < high for (_, y), (low, high) in zip(whole.points, whole.band, strict=True))


@pytest.mark.parametrize(
    "answer",
    [
        lambda: podsim.explain("bert", pod=64),
        lambda: podsim.scale("resnet50", pods="16..128"),
        lambda: podsim.infer("resnet50", pod=4, requests=2_000),
        lambda: podsim.mappings("bert", pod=64, most=3),
        lambda: podsim.goodput("gpt3-175b", pod=512, tokens=20e9, global_batch=1536, runs=50),
    ],
    ids=["explain", "scale", "infer", "map", "goodput"],
)
def test_customers_read_no_flags(answer):
    text = re.sub(
        r"<style.*?</style>|<svg.*?</svg>|<[^>]+>",
        " ",
        page.html(notebook.page(answer(), None), Cover()),
        flags=re.DOTALL,
    )
    assert not FLAG.findall(text)


def test_what_to_type_stays_on_the_screen():
    table = DocTable((Column("What"), Column("Flags", hint=True)), (("more", "--pod 8"),))
    handout = arrange(Doc(((Heading("a"),), (Heading("b"), table, Note("", hint="--pod 4")))), "An answer.")
    assert handout.body == ((Heading("b"), DocTable((Column("What"),), (("more",),))),)


def test_paper_has_the_first_rows_and_says_where_the_others_are(tmp_path):
    assert printed_rows(LONG) == (*range(MOST_PRINTED), 35)
    assert further_rows(LONG) == "7 further rows: in the .html, .csv and .json files of this answer."
    assert not further_rows(DocTable((Column("Row"),), (("1",),)))
    handout = Handout(subject="s", answer="a.", body=(with_title("Rows", LONG),))
    shown = page.html(handout, Cover())
    assert shown.count('class="beyond"') == 7
    assert all(f">{row}</th>" in shown for row in range(MOST_PRINTED + 8))
    docx = pytest.importorskip("docx")
    tables = docx.Document(io.BytesIO(text_document.docx(handout, Cover()))).tables
    assert [len(table.rows) for table in tables] == [1 + MOST_PRINTED + 1]


def test_mappings_print_on_few_pages():
    weasyprint = pytest.importorskip("weasyprint")
    shown = page.html(notebook.page(podsim.mappings("bert", pod=64), None), Cover())
    assert len(weasyprint.HTML(string=shown).render().pages) <= 4
