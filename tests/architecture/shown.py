"""What podsim prints or computes, as pages show it between `<!-- name -->` and `<!-- /name -->`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from formats import kinds
from source import ROOT

import podsim
from podsim.calibration.microbenchmarks.bench import from_cycles
from podsim.errors import Infeasible
from podsim.files import catalog
from podsim.model.error_summary import ErrorSummary
from podsim.model.microbenchmark import MicrobenchmarkReport
from podsim.model.prediction import Prediction
from podsim.model.program import PART_NAMES, Part
from podsim.model.published import PublishedReport
from podsim.model.validation import STEP, TIME, TIME_PREDICTED_SAMPLES, Validation, ValidationPoint
from podsim.physics.exchange import all_to_all_cycles
from podsim.report.numbers import with_micro
from podsim.report.views.validation_view import three
from podsim.studies.validate.hold_outs_report import LEFT_OUT

NO_SOFTWARE = "rack.step=1e-9"
EXCHANGE, SRAM = 'chip.exchange.bandwidth="47.5 TB/s"', 'chip.sram.bandwidth="47.5 TB/s"'


@dataclass(frozen=True)
class Asked:
    """What pages may ask for that takes long."""

    validation: Callable[[], Validation]
    measured: Callable[[], MicrobenchmarkReport]
    published: Callable[[], PublishedReport]

    def __call__(self) -> Validation:
        """What `podsim validate` says."""
        return self.validation()


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; columns after the first are right aligned."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percent(error: float) -> str:
    """A signed error with one decimal."""
    return f"{100 * error:+.1f} %".replace("-", "−")


def predicted(request: Asked) -> str:
    """The command of the first paragraph and its answer at width 100."""
    arguments = ["predict", "bert", "--pod", "512"]
    command = [sys.executable, "-m", "podsim", *arguments]
    settings = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    run = subprocess.run(command, env=settings, capture_output=True, encoding="utf-8", check=True)
    return f"```console\n$ podsim {' '.join(arguments)}\n{run.stdout.rstrip()}\n```"


def _of(quantity: str, request: Asked) -> dict[str, ValidationPoint]:
    return {point.id: point for point in request().points if point.quantity == quantity}


def accuracy(request: Asked) -> str:
    """Held-out errors first, then in sample; a row a result below."""
    names = {
        STEP: "step time",
        TIME: "time to train, with the runs' own samples",
        TIME_PREDICTED_SAMPLES: "time to train, with predicted samples",
    }
    head = (
        "28 IPU results",
        "mean absolute, held out",
        "worst, held out",
        "mean absolute, in sample",
        "worst, in sample",
    )
    rows = [(text, *_errors(request().summary[name])) for name, text in names.items()]
    return f"{_extrapolated(request)}\n\n{table(head, rows)}\n\n{_results(request)}"


def _extrapolated(request: Asked) -> str:
    """Errors of step time by what nothing was learned of, the form chosen again each time."""
    head = ("step time, results left out of the fit", "results", "mean absolute", "mean signed", "worst")
    rows = [(LEFT_OUT[by], f"{out.overall.count}", *three(out.overall)) for by, out in request().held_out.items()]
    return table(head, sorted(rows, key=lambda row: row[0] not in (LEFT_OUT["larger"], LEFT_OUT["chip"])))


def _errors(summary: ErrorSummary) -> tuple[str, ...]:
    assert summary.held_out is not None
    both = (summary.held_out, summary)
    return tuple(text for summary in both for text in (f"{100 * summary.mean_abs:.1f} %", percent(summary.worst)))


def _results(request: Asked) -> str:
    steps, own, full = (_of(quantity, request) for quantity in (STEP, TIME, TIME_PREDICTED_SAMPLES))
    head = ("result, held-out errors", "measured, min", "step time", "time, own samples", "time, predicted samples")
    rows = [
        (
            name,
            f"{own[name].published / 60:.2f}",
            *(percent(of[name].held_out_error or 0.0) for of in (steps, own, full)),
        )
        for name in steps
    ]
    return table(head, rows)


def parameters(request: Asked) -> str:
    """Fitted values beside their priors."""
    head = ("parameter", "value", "error", "prior", "pull", "meaning")
    rows = [
        (
            f"`{name}`",
            f"{parameter.value:.3g} {parameter.unit}".rstrip(),
            f"{100 * parameter.error:.0f} %",
            f"{parameter.prior:.3g}",
            f"{parameter.pull:+.1f} σ",
            parameter.meaning,
        )
        for name, parameter in catalog.parameters().fitted.items()
    ]
    return table(head, rows)


def correlations(request: Asked) -> str:
    """Every pair of parameters, the strongest first."""
    correlation = catalog.parameters().correlation
    names = sorted(correlation)
    pairs = [(abs(correlation[a][b]), a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    rows = [(f"`{a}`, `{b}`", f"{correlation[a][b]:+.2f}") for _, a, b in sorted(pairs, reverse=True)]
    return table(("pair", "correlation"), rows)


def _preset(workload: str, topology: str, name: str, *changes: str) -> Prediction:
    return podsim.predict(workload, topology=topology, preset=name, changes=changes)


def rack(request: Asked) -> str:
    """What leaving a rack costs a step: published, predicted, and of that without software cost."""
    closed, open_ = "mlperf-v1.1-closed", "mlperf-v1.1-open"
    pairs = [("bert", "pod64", "pod128", closed), ("bert", "pod64", "pod128", open_)]
    pairs.append(("resnet50", "pod128", "pod256", closed))
    rows = []
    for workload, small, large, name in pairs:
        ids = [f"{workload}/{topology}/{name.removeprefix('mlperf-')}" for topology in (small, large)]
        before, after = (_of(STEP, request)[id_].published for id_ in ids)
        grown = [
            1e3
            * (
                _preset(workload, large, name, *change).step_s.value
                - _preset(workload, small, name, *change).step_s.value
            )
            for change in ((), (NO_SOFTWARE,))
        ]
        cells = (f"{1e3 * (after - before):.1f} ms", f"{grown[0]:.1f} ms", f"{grown[1]:.1f} ms")
        rows.append((f"{workload} {small} → {large}, {name}", *cells))
    return table(("from, to", "published", "predicted", "of it on the links"), rows)


def rack_parts(request: Asked) -> str:
    """What of a step grows and shrinks on the way to more racks, part by part."""
    name = "mlperf-v1.1-closed"
    ways = [("bert", "pod64", "pod128"), ("resnet50", "pod64", "pod256"), ("resnet50", "pod128", "pod256")]
    columns = []
    for workload, small, large in ways:
        before, after = _preset(workload, small, name), _preset(workload, large, name)
        ids = [f"{workload}/{topology}/{name.removeprefix('mlperf-')}" for topology in (small, large)]
        published = [_of(STEP, request)[id_].published for id_ in ids]
        grown = {part: after.breakdown_s[part] - before.breakdown_s[part] for part in after.breakdown_s}
        columns.append([*grown.values(), after.step_s.value - before.step_s.value, published[1] - published[0]])
    names = [*(PART_NAMES[part] for part in grown), "**predicted**", "**published**"]
    rows = [(text, *cells) for text, *cells in zip(names, *columns, strict=True)]
    shown = [(text, *(_grown(seconds) for seconds in cells)) for text, *cells in rows if any(map(_grown, cells))]
    return table(("part of a step", *(f"{workload} {small} → {large}" for workload, small, large in ways)), shown)


def _grown(seconds: float) -> str:
    """A signed time, nothing where it shows as none."""
    return f"{1e3 * seconds:+.1f} ms".replace("-", "−") if abs(seconds) >= 5e-5 else ""


def miss(request: Asked) -> str:
    """The two results of ResNet-50 in v1.0 and their neighbours of v1.1."""
    rows = []
    for id_, point in _of(STEP, request).items():
        if id_.startswith(("resnet50/pod16", "resnet50/pod64")):
            cells = f"{1e3 * point.published:.1f} ms", f"{1e3 * point.predicted:.1f} ms"
            rows.append((id_, *cells, percent(point.error), percent(point.held_out_error or 0.0)))
    return table(("result", "published step", "predicted", "in sample", "held out"), rows)


def readings(request: Asked) -> str:
    """Step times and the share of exchange under three readings of one figure."""
    preset = "mlperf-v1.1-closed"
    questions: dict[str, Callable[..., Prediction]] = {
        f"bert, POD64, {preset}": lambda *changes: _preset("bert", "pod64", preset, *changes),
        f"resnet50, POD64, {preset}": lambda *changes: _preset("resnet50", "pod64", preset, *changes),
        "bert, POD512, 64 × 8, micro-batch 2, accumulation 48": lambda *changes: podsim.predict(
            "bert", pod=512, replicas=64, ipus_per_replica=8, micro_batch=2, accumulation=48, changes=changes
        ),
    }
    head = ("step time (share of exchange)", "as shipped", f"`--set {EXCHANGE}`", f"`--set {SRAM}`")
    rows = [(name, *(_step(ask, *change) for change in ((), (EXCHANGE,), (SRAM,)))) for name, ask in questions.items()]
    return table(head, rows)


def _step(ask: Callable[..., Prediction], *changes: str) -> str:
    """Step and share of exchange; plans that exchange more may hold more than there is."""
    try:
        prediction = ask(*changes)
    except Infeasible:
        return "does not fit"
    return (
        f"{1e3 * prediction.step_s.value:.1f} ms "
        f"({100 * prediction.breakdown_s[Part.EXCHANGE] / prediction.step_s.value:.0f} %)"
    )


def microbenchmarks(request: Asked) -> str:
    """Errors of every family of published microbenchmarks."""
    head = ("family", "rows", "fitted", "median", "90 % within", "mean signed", "bar", "")
    rows = [
        (
            summary.family.title,
            f"{summary.count:,}",
            f"{summary.fitted:,}",
            f"{100 * summary.median_abs:.1f} %",
            f"{100 * summary.nine_in_ten_abs:.1f} %",
            percent(summary.mean_signed),
            ", ".join(f"{bar.statistic} ≤ {100 * bar.limit:.0f} %" for bar in summary.family.bars),
            summary.verdict,
        )
        for summary in request.measured().summaries
    ]
    return table(head, rows)


def parts(request: Asked) -> str:
    """Measurements that only one reading of 47.5 TB/s leaves standing."""
    measured = [item for item in request.measured().compared if item.family in ("stream", "all-to-all")]
    gc200 = catalog.chip("gc200").value
    each = 47.5e12 / (gc200.tiles * gc200.clock_hz)
    rows = []
    for comparison in measured:
        text = "the same"
        if comparison.family == "all-to-all":
            chip = catalog.chip(comparison.row.chip).value
            tiles, volume = comparison.row.whole("tiles"), comparison.row.whole("bytes")
            saved = (tiles - 1) * volume * (1 / chip.exchange.receive_bytes_per_cycle - 1 / each)
            cycles = all_to_all_cycles(tiles, chip, volume) - saved
            text = percent(from_cycles(comparison.row, cycles, chip) / comparison.row.value - 1)
        rstrip = f"{comparison.row.what}, {comparison.row.shape_text}".rstrip(", ")
        rows.append(
            (
                rstrip,
                comparison.row.chip,
                with_micro(f"{comparison.row.value:g} {comparison.row.unit}"),
                percent(comparison.error),
                text,
            )
        )
    head = ("measured, error of the prediction", "chip", "measured", "exchange 7.8 TB/s", "exchange 47.5 TB/s")
    return table(head, rows)


BLOCKS: dict[tuple[str, str], Callable[[Asked], str]] = {
    ("README.md", "predict"): predicted,
    ("README.md", "accuracy"): accuracy,
    ("docs/reference/formats.md", "kinds"): lambda _: kinds(),
    ("docs/explanation/model.md", "parameters"): parameters,
    ("docs/explanation/model.md", "correlations"): correlations,
    ("docs/explanation/model.md", "rack"): rack,
    ("docs/explanation/model.md", "rack-parts"): rack_parts,
    ("docs/explanation/model.md", "miss"): miss,
    ("docs/explanation/model.md", "microbenchmarks"): microbenchmarks,
    ("docs/explanation/model.md", "parts"): parts,
    ("docs/explanation/model.md", "readings"): readings,
}


def block(name: str) -> re.Pattern[str]:
    """What stands between the markers of a block, and the markers."""
    return re.compile(rf"(<!-- {name} -->\n)(.*?)(<!-- /{name} -->)", re.DOTALL)


def page(name: str) -> Path:
    """A page by its place in the repository."""
    return ROOT / name
