"""`podsim topology list` and `podsim topology show`."""

import shlex
from dataclasses import replace
from functools import partial

from cyclopts import App

import podsim
from podsim.cli.answer import give, give_answer, warn
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.cli.saving import ANY_REPORT, ReportFlags, save
from podsim.errors import InputError
from podsim.files import catalog
from podsim.files.read import Document
from podsim.model.fabric import GenericFabric
from podsim.report.answer_formats import AnswerDocument
from podsim.report.handout import arrange, sentence
from podsim.studies.look_up import fabric_report, sheets
from podsim.topology.build import network
from podsim.topology.edges import links as every_link

app = App(name="topology", help="Machines and generic fabrics: levels, links, bandwidths and where numbers come from.")


@app.command(name="list")
def every(*, output: OutputFlags = ANY_OUTPUT) -> int:
    """List the machines and generic fabrics that have a name."""
    output.check()
    topologies = podsim.list_topologies()
    warn((*catalog.unlisted_warnings("topologies"), *catalog.unlisted_warnings("fabrics")), output)
    give_answer(output, topologies)
    return ExitCode.ANSWERED


@app.command
def show(
    name: str,
    /,
    *,
    links: bool = False,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Show the levels, links and bandwidths of a machine or a generic fabric.

    Parameters
    ----------
    name
        A name (podsim topology list) or a file.
    links
        List the links by the names that --fault takes.
    """
    output.check()
    report.check()
    result = podsim.show_topology(name)
    sheet = sheets.sheet(result)
    line, content, answer = sheet.line, sheet.content, sheet.line
    screen = partial(sheet.screen, verbose=output.verbose, charts=False)
    whole = partial(sheet.screen, verbose=True, charts=True)
    if isinstance(result, Document):
        warn(result.warnings, output)
    if links:
        if not isinstance(result, Document):
            hint = f"podsim topology show {shlex.quote(name)}"
            raise InputError(f"no links of {name} are known", code="conflicting-flags", hint=hint)
        value = result.value
        link_rows = every_link(network(value))
        content = replace(content, links=link_rows)
        racks = 1 if isinstance(value, GenericFabric) else value.racks
        screen = whole = partial(fabric_report.links, name, link_rows, racks=racks)
        answer = tuple(row.name for row in link_rows)
    document = AnswerDocument(lambda: sheet.keys, content)
    give(output, screen=screen, document=document, line=lambda: answer)
    save(report, output, report=lambda: arrange(whole(), sentence(str(line))), document=document)
    return ExitCode.ANSWERED
