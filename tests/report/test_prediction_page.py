"""A prediction as a page has all detail, and a chart where batches make a curve."""

from dataclasses import replace

import pytest
from parts_of_documents import charts, headings
from samples_of_results import choice, considered, given_prediction, mapping, prediction

from podsim.studies.predict import prediction_page as page


def charts_of(result):
    return charts(page.page(result, None).blocks)


def test_batches_of_the_same_replicas_make_a_curve_with_the_answer_marked():
    (chart,) = charts_of(prediction())
    others, own = chart.series
    assert [x for x, _ in others.points] == [14 * 256.0, 54 * 256.0]
    assert own.points == ((27 * 256.0, 148.0 / 60),)
    assert (own.label, own.joined, chart.x.log) == ("Chosen, with its 90 % interval", False, True)
    assert own.names == ("6,912: 2.47 min",)
    assert chart.title == "Time to train vs global batch, min"
    assert others.label == "64 replicas"


def test_the_chosen_batch_shows_the_time_of_the_answer():
    whole = replace(prediction().time_to_train_s, value=150.6, low=120.0, high=180.0)
    others, own = charts_of(replace(prediction(), time_to_train_s=whole))[0].series
    assert own.points[0][1] * 60 == 150.6
    assert own.names == ("6,912: 2.51 min",)
    assert [end * 60 for end in own.band[0]] == [120.0, 180.0]
    before = charts_of(prediction())[0].series[0]
    ratios = [after[1] / first[1] for after, first in zip(others.points, before.points, strict=True)]
    assert ratios == pytest.approx([150.6 / prediction().time_to_train_s.value] * len(ratios))


def test_a_batch_that_was_not_weighed_is_no_point():
    (chart,) = charts_of(replace(prediction(), mapping=mapping(accumulation=20)))
    assert [series.label for series in chart.series] == ["64 replicas"]


def test_two_batches_or_other_replicas_are_no_curve():
    few = replace(choice(), considered=choice().considered[:2])
    assert charts_of(replace(prediction(), choice=few)) == []
    assert charts_of(replace(prediction(), mapping=mapping(replicas=32))) == []
    assert charts_of(given_prediction()) == []
    same = replace(choice(), considered=(considered(27, 148.0, 0.2, 3e6, 0.1),) * 3)
    assert charts_of(replace(prediction(), choice=same)) == []


def test_a_run_of_no_stated_length_has_no_time_to_draw():
    assert charts_of(replace(prediction(), length_flags=("--tokens",))) == []


def test_origins_of_numbers_and_all_detail_are_on_the_page():
    texts = headings(page.page(prediction(), None).blocks)
    assert any("SRAM of each IPU" in text for text in texts)
