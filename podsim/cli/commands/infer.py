"""`podsim infer`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from podsim import api
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_MACHINE,
    ANY_MODEL,
    ANY_OUTPUT,
    ANY_RELEASE,
    ANY_REPLICA,
    MachineFlags,
    ModelFlags,
    OutputFlags,
    ReleaseFlags,
    ReplicaFlags,
    flag,
    keywords,
)
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save
from podsim.report import json_inference
from podsim.report.views import inference as view

SERVING = Group("serving", sort_key=3)
LOAD = Group("load (left out: 80 % of what the replicas can do)", sort_key=4)
TOKENS = Group("tokens, for a workload that generates them", sort_key=5)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ServingFlags:
    """What a replica answers at once, and where it keeps the model."""

    batch: Annotated[int, flag("infer", "batch", SERVING, show_default=True)] = 1
    batches: Annotated[str | None, flag("infer", "batches", SERVING)] = None

    framework: Annotated[
        Literal["popart", "tensorflow1", "tensorflow2", "poptorch", "popxl", "poprt"] | None,
        flag("infer", "framework", SERVING),
    ] = None
    weights: Annotated[Literal["resident", "streamed"], flag("infer", "weights", SERVING, show_default=True)] = (
        "resident"
    )
    precision: Annotated[str | None, flag("infer", "precision", SERVING)] = None

    engine: Annotated[Literal["des", "analytic"], flag("infer", "engine", SERVING, show_default=True)] = "des"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class LoadFlags:
    """Who asks."""

    rate: Annotated[str | None, flag("infer", "rate", LOAD)] = None
    clients: Annotated[int | None, flag("infer", "clients", LOAD)] = None

    wait: Annotated[str, flag("infer", "wait", LOAD, show_default=True)] = "0 s"
    requests: Annotated[int, flag("infer", "requests", LOAD, show_default=True)] = 20_000

    seed: Annotated[int, flag("infer", "seed", LOAD, show_default=True)] = 0


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class TokenFlags:
    """What a decoder generates."""

    generate: Annotated[int, flag("infer", "generate", TOKENS, show_default=True)] = 0
    prompt: Annotated[int | None, flag("infer", "prompt", TOKENS)] = None

    cache: Annotated[Literal["resident", "streamed"] | None, flag("infer", "cache", TOKENS)] = None


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
    table = keywords(model.added(machine), replica, serving, load, tokens, release)
    with progress("serving batches", output) as on_progress:
        answer = api.infer(workload, on_progress=on_progress, **table)
    give(
        output,
        screen=lambda: view.document(answer, verbose=output.verbose),
        json_text=lambda: json_inference.inference(answer),
        line=lambda: view.answer(answer),
    )
    save(
        report,
        output,
        report=lambda: view.document(answer, verbose=True),
        json_text=lambda: json_inference.inference(answer),
        rows="batches" if answer.swept else "",
    )
    return ExitCode.ANSWERED
