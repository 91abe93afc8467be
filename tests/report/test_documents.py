"""The document as PDF, text and slides: complete, the same bytes, and names in it as text; opened by other tools."""

import importlib.util
import io
import re
import shutil
import subprocess
import zipfile
from itertools import pairwise

import pytest
from test_escape import HOSTILE, acting, everywhere
from test_page import COVER, HANDOUT

import podsim
from podsim.report import answer_file, office_file, page, pdf, slide_charts, slides, text_document
from podsim.report.doc import Bar, Bars, Chart, ChartAxis, DocSeries, ReferenceLine
from podsim.report.handout import Cover, Handout, with_title
from podsim.studies import notebook


def hostile():
    name = HOSTILE + "<style>*{display:none}</style>"
    return Handout(subject=name, answer=name, risks=(name,), body=everywhere(name).groups, appendix=())


def hostile_cover():
    return Cover(title=HOSTILE, customer=HOSTILE, date=HOSTILE, author=HOSTILE, command=HOSTILE)


def office_text(content):
    """The XML of the parts that a reader sees."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = [name for name in archive.namelist() if name.endswith(".xml") and "theme" not in name]
        return "\n".join(archive.read(name).decode() for name in names if "slideLayout" not in name)


@pytest.mark.parametrize("write", [text_document.docx, slides.pptx])
def test_hostile_names_are_text_in_office_files_of_the_same_bytes(write, monkeypatch):
    content = write(hostile(), hostile_cover())
    monkeypatch.setattr("time.time", lambda: 1.9e9)
    text = office_text(content)
    bullet, line = "\uf0b7", "\r\n"  # of the empty files that the packages begin with
    assert acting(text.replace(line, "").replace(bullet, "")) == []
    assert "&lt;script&gt;" in text
    assert "\\u202e" in text
    assert write(hostile(), hostile_cover()) == content


def test_a_text_of_a_stylesheet_is_letters_and_numbers_alone():
    text = page.css_text('"</style>\n}\u202e')
    assert re.fullmatch(r'"(?:[A-Za-z0-9]|\\[0-9a-f]+ )*"', text)
    assert "</style" not in page.html(HANDOUT, COVER).split("</style>")[0]


@pytest.mark.parametrize("suffix", [".pdf", ".docx", ".pptx"])
def test_a_package_that_is_not_installed_is_named_before_anything_runs(suffix, tmp_path, monkeypatch):
    monkeypatch.setattr(answer_file, "find_spec", lambda name: None)
    with pytest.raises(podsim.InputError, match="which is not installed") as no:
        answer_file.check(tmp_path / f"report{suffix}")
    assert no.value.code == "missing-package"
    assert 'pip install "podsim[documents]"' in no.value.hint


def test_columns_are_as_wide_as_their_texts():
    shares = office_file.column_shares([("a", "machine", "remark " * 30)])
    assert sum(shares) == pytest.approx(1)
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] == pytest.approx(office_file.WIDEST / (office_file.WIDEST + 12))
    assert office_file.column_shares([]) == ()


def read_pdf(content, folder):
    """The text of a PDF as another tool reads it."""
    path = folder / "report.pdf"
    path.write_bytes(content)
    command = [shutil.which("pdftotext"), "-layout", path, "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def predicted():
    answer = podsim.predict("bert", pod=16)
    return notebook.page(answer, {"workload": "bert", "topology": "pod16"})


@pytest.mark.slow
def test_a_pdf_is_complete_on_a4_with_its_pages_numbered(predicted, tmp_path):
    cover = Cover(title="BERT on 16 IPUs", customer="Someone AS", date="2026-11-25", author="A. Seller")
    content = pdf.pdf(predicted, cover)
    assert content.startswith(b"%PDF")
    assert pdf.pdf(predicted, cover) == content
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext (Debian's poppler-utils) is not installed")
    text = read_pdf(content, tmp_path)
    pages = text.rstrip("\f").split("\f")
    assert 2 <= len(pages) <= 4
    for number, each in enumerate(pages, 1):
        assert "BERT on 16 IPUs" in each
        assert "Someone AS" in each
        assert f"{number}/{len(pages)}" in each.replace(" ", "")
    for part in ("Training takes", "Where a step goes", "Risks and assumptions", "Appendix", "Documents that these"):
        assert part in text
    assert [row.label for row in predicted.figures if row.label not in pages[0]] == []


@pytest.mark.slow
def test_a_pdf_shows_hostile_names_as_text(tmp_path):
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext (Debian's poppler-utils) is not installed")
    text = read_pdf(pdf.pdf(hostile(), hostile_cover()), tmp_path)
    assert "<script>" in text
    assert "\u202e" not in text


@pytest.mark.slow
def test_a_text_document_is_read_back(predicted):
    docx = pytest.importorskip("docx")
    content = text_document.docx(predicted, Cover(title="BERT on 16 IPUs", customer="Someone AS"))
    document = docx.Document(io.BytesIO(content))
    levels = [
        (int(each.style.name[-1]), each.text) for each in document.paragraphs if each.style.name.startswith("Heading")
    ]
    assert levels[0] == (1, "BERT on 16 IPUs")
    assert all(after - before <= 1 for (before, _), (after, _) in pairwise(levels))
    assert (2, "Where a step goes") in levels
    text = "\n".join(each.text for each in document.paragraphs)
    assert predicted.answer in text
    assert all(risk in text for risk in predicted.risks)
    cells = {cell.text for table in document.tables for row in table.rows for cell in row.cells}
    assert "Global batch" in cells
    assert "Someone AS" in document.sections[0].header.paragraphs[0].text
    descriptions = [shape._inline.docPr.get("descr") for shape in document.inline_shapes]
    assert any("Where a step goes: Compute" in description for description in descriptions)


def slide_chart(block):
    """A drawing as the chart of its slide, read back."""
    pptx = pytest.importorskip("pptx")
    handout = Handout(subject="asked", answer="It takes 3 s.", body=(with_title("Drawn", block),))
    deck = pptx.Presentation(io.BytesIO(slides.pptx(handout, Cover())))
    (shape,) = [shape for shape in deck.slides[1].shapes if shape.has_chart]
    assert not [each for slide in deck.slides for each in slide.shapes if hasattr(each, "image")]
    return shape.chart


def all_of(element, name):
    return element.findall(f".//{{*}}{name}")


def test_a_chart_of_a_slide_can_be_edited_and_has_intervals_names_and_limits():
    best = DocSeries("best", ((64.0, 4.0),), joined=False, band=((3.0, 6.0),), names=("pod64",), marked=True)
    line = DocSeries("all", ((16.0, 9.0), (64.0, 4.0), (256.0, float("nan")), (512.0, 2.0)))
    axes = ChartAxis("IPUs", log=True, ticks=(16, 64, 512)), ChartAxis("min")
    limits = (ReferenceLine(5.0, "deadline"), ReferenceLine(128.0, "budget", vertical=True))
    chart = slide_chart(Chart("times", *axes, (best, line), limits))
    series = {each.name: each for each in chart.plots[0].series}
    assert [*series] == ["all", "best", "deadline", "budget"]
    assert [*series["all"].values] == [9.0, 4.0, 2.0]
    assert [*series["deadline"].values] == [5.0, 5.0]
    (bars,) = all_of(series["best"]._element, "errBars")
    assert [float(each.text) for each in all_of(bars, "v")] == [2.0, 1.0]
    assert series["best"].points[0].data_label.text_frame.text == "pod64"
    assert [each.get("val") for each in all_of(chart.category_axis._element, "logBase")] == ["2"]
    assert (chart.category_axis.minimum_scale, chart.category_axis.maximum_scale) == (16, 1024)
    assert chart.category_axis.axis_title.text_frame.text == "IPUs"
    assert not all_of(chart.value_axis._element, "logBase")


def test_an_axis_over_decades_counts_in_tens():
    chart = slide_chart(Chart("t", ChartAxis("x"), ChartAxis("y", log=True), (DocSeries("", ((1, 0.5), (2, 300))),)))
    assert [each.get("val") for each in all_of(chart.value_axis._element, "logBase")] == ["10"]
    assert (chart.value_axis.minimum_scale, chart.value_axis.maximum_scale) == (0.1, 1000)
    assert not chart.has_legend


def test_bars_of_a_slide_that_fall_have_another_colour():
    chart = slide_chart(Bars((Bar("a", 0.5, "50 %", "1 s"), Bar("b", 0.5, "50 %", "1 s", start=0.5, falls=True))))
    start, share = chart.plots[0].series
    assert [*start.values] == [50.0, 0.0]
    assert [str(part.format.fill.fore_color.rgb) for part in (share, share.points[0])] == [
        colour[1:].upper() for colour in (slide_charts.BAR, slide_charts.FALLS)
    ]


@pytest.mark.slow
def test_there_are_four_slides_to_edit(predicted):
    pptx = pytest.importorskip("pptx")
    deck = pptx.Presentation(io.BytesIO(slides.pptx(predicted, Cover(title="BERT on 16 IPUs"))))
    assert len(deck.slides) == 4
    titles = [slide.shapes.title.text_frame.text for slide in deck.slides]
    assert titles[0] == predicted.answer
    first = "\n".join(shape.text_frame.text for shape in deck.slides[0].shapes if shape.has_text_frame)
    assert all(row.label in first and row.number in first for row in predicted.figures)
    assert any(shape.has_table for shape in deck.slides[2].shapes)
    (chart,) = [shape.chart for shape in deck.slides[3].shapes if shape.has_chart]
    assert [*chart.plots[0].categories][-1].startswith("Compute, ")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["docx", "pptx"])
def test_libreoffice_opens_office_files(predicted, suffix, tmp_path):
    office = shutil.which("soffice") or shutil.which("libreoffice")
    if office is None:
        pytest.skip("LibreOffice (Debian's libreoffice-writer-nogui and libreoffice-impress-nogui) is not installed")
    path = tmp_path / f"report.{suffix}"
    path.write_bytes(answer_file.content(f".{suffix}", lambda: predicted, None, Cover()))
    profile = f"-env:UserInstallation=file://{tmp_path / 'profile'}"
    command = [office, "--headless", profile, "--convert-to", "png", "--outdir", tmp_path, path]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    assert (tmp_path / "report.png").read_bytes().startswith(b"\x89PNG")


def test_the_extra_names_every_package():
    assert all(importlib.util.find_spec(package) for package, _ in answer_file.PACKAGES.values())
