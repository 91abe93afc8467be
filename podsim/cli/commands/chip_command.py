"""`podsim chip list` and `podsim chip show`."""

from cyclopts import App

import podsim
from podsim.cli.answer import give_answer, warn
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.cli.saving import ANY_REPORT, ReportFlags, save_answer
from podsim.files import catalog

app = App(name="chip", help="Chips: tiles, SRAM, exchange, and published figures that disagree.")


@app.command(name="list")
def every(*, output: OutputFlags = ANY_OUTPUT) -> int:
    """List the chips that have a name."""
    output.check()
    chips = podsim.list_chips()
    warn(catalog.unlisted_warnings("chips"), output)
    give_answer(output, chips)
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
    give_answer(output, document)
    save_answer(report, output, document, {"name": name})
    return ExitCode.ANSWERED
