"""`podsim chip list` and `podsim chip show`."""

from functools import partial

from cyclopts import App

import podsim
from podsim.cli.answer import give, warn
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.cli.saving import ANY_REPORT, ReportFlags, save
from podsim.files import catalog
from podsim.report.answer_formats import AnswerDocument
from podsim.report.handout import arrange, sentence
from podsim.studies.look_up import chip_report as view
from podsim.studies.look_up import json_keys, listing

app = App(name="chip", help="Chips: tiles, SRAM, exchange, and published figures that disagree.")


@app.command(name="list")
def every(*, output: OutputFlags = ANY_OUTPUT) -> int:
    """List the chips that have a name."""
    output.check()
    chips = podsim.list_chips()
    warn(catalog.unlisted_warnings("chips"), output)
    give(
        output,
        screen=lambda: listing.chips(chips),
        written=AnswerDocument(lambda: json_keys.CHIPS, {"chips": chips}),
        line=lambda: tuple(value.name for value in chips),
    )
    return ExitCode.ANSWERED


@app.command
def show(name: str, /, *, report: ReportFlags = ANY_REPORT, output: OutputFlags = ANY_OUTPUT) -> int:
    """Show what a chip can do, the source of each number, and published figures that disagree.

    Parameters
    ----------
    name
        A name (podsim chip list) or a file.
    """
    output.check()
    report.check()
    document = podsim.show_chip(name)
    warn(document.warnings, output)
    screen = partial(view.document, document.value, document.provenance)
    written, line = AnswerDocument(lambda: json_keys.CHIP, document), view.answer(document.value)
    give(output, screen=lambda: screen(verbose=output.verbose), written=written, line=lambda: line)
    save(report, output, report=lambda: arrange(screen(verbose=True, charts=True), sentence(line)), written=written)
    return ExitCode.ANSWERED
