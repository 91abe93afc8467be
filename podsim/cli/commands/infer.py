"""`podsim infer`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_MACHINE,
    ANY_MODEL,
    ANY_OUTPUT,
    ANY_RELEASE,
    ANY_REPLICA,
    Count,
    MachineFlags,
    ModelFlags,
    OutputFlags,
    ReleaseFlags,
    ReplicaFlags,
    keywords,
    whole,
    whole_or_zero,
)
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save

SERVING = Group("serving", sort_key=3)
LOAD = Group("load (left out: 80 % of what the replicas can do)", sort_key=4)
TOKENS = Group("tokens, for a workload that generates them", sort_key=5)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ServingFlags:
    """What a replica answers at once, and where it keeps the model."""

    batch: Annotated[int, Parameter(group=SERVING, converter=whole, metavar="N", show_default=True)] = 1
    "Rows that a replica answers together."

    batches: Annotated[str | None, Parameter(group=SERVING, metavar="SIZES")] = None
    "Compare batches too: 1..64 doubles, 1,8,32 lists."

    weights: Annotated[Literal["resident", "streamed"], Parameter(group=SERVING, show_default=True)] = "resident"
    "Where weights are: in SRAM, or in the DDR of the machine, read for every batch."

    precision: Annotated[str | None, Parameter(group=SERVING, metavar="NAME")] = None
    "Operands and partial sums, such as 16.16 or 8.16 [default: as trained]."

    engine: Annotated[Literal["des", "analytic"], Parameter(group=SERVING, show_default=True)] = "des"
    "Event by event, or by formula; requests are always events."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class LoadFlags:
    """Who asks."""

    rate: Annotated[str | None, Parameter(group=LOAD, metavar="RATE", allow_leading_hyphen=True)] = None
    "Requests that come at random, such as 500/s."

    clients: Annotated[Count, Parameter(group=LOAD)] = None
    "Clients that each ask again as soon as they are answered, instead of --rate."

    wait: Annotated[str, Parameter(group=LOAD, metavar="TIME", show_default=True, allow_leading_hyphen=True)] = "0 s"
    "How long a request waits at most for others to fill its batch."

    requests: Annotated[int, Parameter(group=LOAD, converter=whole, metavar="N", show_default=True)] = 20_000
    "Requests that are simulated."

    seed: Annotated[int, Parameter(group=LOAD, converter=whole_or_zero, metavar="N", show_default=True)] = 0
    "Seed of the arrivals."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class TokenFlags:
    """What a decoder generates."""

    generate: Annotated[int, Parameter(group=TOKENS, converter=whole_or_zero, metavar="N", show_default=True)] = 0
    "Tokens generated after the prompt."

    prompt: Annotated[Count, Parameter(group=TOKENS)] = None
    "Tokens of a prompt [default: those of a row, as far as positions were learned]."

    cache: Annotated[Literal["resident", "streamed"] | None, Parameter(group=TOKENS)] = None
    "Where keys and values are: SRAM or DDR [default: SRAM where they fit]."


ANY_SERVING, ANY_LOAD, ANY_TOKENS = ServingFlags(), LoadFlags(), TokenFlags()


def infer(
    workload: str,
    /,
    *,
    model: ModelFlags = ANY_MODEL,
    machine: MachineFlags = ANY_MACHINE,
    replica: ReplicaFlags = ANY_REPLICA,
    serving: ServingFlags = ANY_SERVING,
    load: LoadFlags = ANY_LOAD,
    tokens: TokenFlags = ANY_TOKENS,
    release: ReleaseFlags = ANY_RELEASE,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Serve requests with a trained workload: how many a second, and how soon each is answered.

    Parameters
    ----------
    workload
        A name (podsim workload list) or a file.
    """
    output.check()
    report.check()
    from podsim import api
    from podsim.report import json_inference
    from podsim.report.views import inference as view

    asked = keywords(model.added(machine), replica, serving, load, tokens, release)
    with progress("serving batches", output) as on_progress:
        answer = api.infer(workload, on_progress=on_progress, **asked)
    give(
        output, screen=lambda: view.document(answer, verbose=output.verbose),
        json_text=lambda: json_inference.inference(answer), line=lambda: view.answer(answer),
    )  # fmt: skip
    save(
        report, output, report=lambda: view.document(answer, verbose=True),
        json_text=lambda: json_inference.inference(answer), rows="batches" if answer.swept else "",
    )  # fmt: skip
    return ExitCode.ANSWERED
