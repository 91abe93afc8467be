"""Frozen predictions, and which of them moved, as a document."""

from podsim.model.validation import FreezeReport, FrozenPrediction
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Note, Tone


def answer(report: FreezeReport) -> str:
    """The answer in one line: "3 of 44 frozen predictions moved"."""
    return f"{len(report.changes) or 'none'} of {len(report.after)} frozen predictions moved"


def document(report: FreezeReport) -> Doc:
    """What moved, and where the predictions were written."""
    change_blocks: tuple[Block, ...] = (_change_table(report),) if report.changes else ()
    more = "; say which and why in CHANGELOG.md, under Predictions" if report.changes else ""
    if report.changes:
        change_blocks = (
            *change_blocks,
            Note("a mapping is replicas × IPUs per replica × micro-batch × accumulation", "", Tone.QUIET),
        )
    wrote = Note(f"wrote {report.path}" if report.path else "nothing was written", "", Tone.QUIET)
    return Doc(((Note(f"{answer(report)}{more}"),), *((change_blocks,) if change_blocks else ()), (wrote,)))


def _change_table(report: FreezeReport) -> DocTable:
    columns = (
        Column("Workload"),
        Column("Topology"),
        Column("Mapping", priority=1, wraps=True),
        Column("Step was", number=True, priority=3),
        Column("Step is", number=True, priority=2),
        Column("Train was", number=True),
        Column("Train is", number=True),
        Column("Change", number=True),
    )
    rows = tuple(
        (
            now.workload,
            now.topology,
            _mapping(was, now),
            _time(was.step_s),
            _time(now.step_s),
            _time(was.time_to_train_s),
            _time(now.time_to_train_s),
            _change(was, now),
        )
        for was, now in report.changes
    )
    return DocTable(columns, rows)


def _mapping(was: FrozenPrediction, now: FrozenPrediction) -> str:
    before, after = _split(was), _split(now)
    preset = now.preset or "searched"
    return f"{preset}: {after}" if before == after or was.replicas is None else f"{preset}: {before} → {after}"


def _split(row: FrozenPrediction) -> str:
    return f"{row.replicas} × {row.ipus_per_replica} × {row.micro_batch} × {row.accumulation:,}"


def _time(seconds: float | None) -> str:
    return numbers.NO_VALUE if seconds is None else numbers.time(seconds, 4)


def _change(was: FrozenPrediction, now: FrozenPrediction) -> str:
    if not was.time_to_train_s or now.time_to_train_s is None:
        return numbers.NO_VALUE
    return numbers.signed_percent(now.time_to_train_s / was.time_to_train_s - 1, 2)
