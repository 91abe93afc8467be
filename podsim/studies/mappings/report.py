"""Ranked mappings as a document: which fit, what each gives, what to set on the real machine."""

from collections.abc import Iterator

from podsim.model.mapping import Mapping
from podsim.model.training import Schedule
from podsim.report import numbers
from podsim.report.doc import (
    NOT_MLPERF,
    Block,
    Chart,
    ChartAxis,
    Column,
    Doc,
    DocSeries,
    DocTable,
    Heading,
    Note,
    Tone,
)
from podsim.report.views import caveats_view
from podsim.studies.mappings.result import AdvisedMapping, Mappings, Rank

WORDS = {Rank.TIME: "fastest time to train", Rank.THROUGHPUT: "highest throughput"}


def answer(mappings: Mappings) -> str:
    """The answer in one line: "8 × 8 IPUs, micro-batch 3 × accumulation 96: 8.52 min, 5,670 samples/s"."""
    best = mappings.advised[0]
    time = "" if best.time_to_train_s is None else f"{numbers.time(best.time_to_train_s)}, "
    return f"{split(best.mapping)}: {time}{numbers.significant(best.throughput_samples_per_s)} samples/s"


def split(mapping: Mapping) -> str:
    """A mapping in words."""
    inner = f"micro-batch {mapping.micro_batch:,} × accumulation {mapping.accumulation:,}"
    return f"{mapping.replicas:,} × {mapping.ipus_per_replica} IPUs, {inner}"


def document(mappings: Mappings, *, verbose: bool = False, charts: bool = False) -> Doc:
    """The ranked mappings and the settings of the first; `verbose` has those of all, and what was assumed."""
    advices = mappings.advised if verbose else mappings.advised[:1]
    groups: list[tuple[Block, ...]] = [
        (
            Heading(
                f"{mappings.workload_title} on {mappings.topology_title} ({mappings.ipus:,} × {mappings.chip}): "
                f"mappings that fit, {WORDS[mappings.by]} first"
            ),
            table(mappings),
        ),
        tuple(_charts(mappings)) if charts else (),
        *(
            (Heading(f"Settings for mapping {rank}: {split(advice.mapping)}"), settings(advice))
            for rank, advice in enumerate(advices, 1)
        ),
        (*_idle(mappings), *_rejection_blocks(mappings), *caveats_view.notes(mappings.assumptions, verbose=verbose)),
        (Heading("Assumptions"), *(Note(str(note), "·") for note in mappings.assumptions)) if verbose else (),
        tuple(_last(mappings, verbose=verbose)),
    ]
    return Doc(tuple(group for group in groups if group))


def table(mappings: Mappings) -> DocTable:
    """One row a mapping, best first; what tells rows apart stays at every width, and what they are ranked by."""
    rows, streaming_flags = mappings.advised, [in_phases(row) for row in mappings.advised]
    time = numbers.scale([row.time_to_train_s for row in rows if row.time_to_train_s is not None], numbers.TIME)
    has_presets = any(row.preset for row in rows)
    columns = (
        Column("", number=True),
        Column("Replicas × IPUs", number=True),
        Column("Micro-batch", number=True),
        Column("Accumulation", number=True, priority=5),
        Column("Global batch", number=True, priority=4),
        *(
            (Column("Shards", number=True), Column("Sharded over"), Column("DDR", number=True, priority=3))
            if any(streaming_flags)
            else (Column("Recompute"), Column("State"))
        ),
        Column("SRAM", number=True, priority=1),
        *(() if any(streaming_flags) else (Column("Bubble", number=True, priority=7),)),
        Column("Samples/s", number=True, priority=6 if mappings.timed and mappings.by is Rank.TIME else 0),
        *((Column(f"Time, {time.unit}", number=True),) if mappings.timed else ()),
        *((Column("Published as", priority=2),) if has_presets else ()),
    )
    return DocTable(
        columns,
        tuple(
            (
                f"{rank}",
                f"{row.mapping.replicas:,} × {row.mapping.ipus_per_replica}",
                f"{row.mapping.micro_batch:,}",
                f"{row.mapping.accumulation:,}",
                f"{row.mapping.global_batch:,}",
                *(
                    _streaming_cells(row)
                    if any(streaming_flags)
                    else (str(row.mapping.recompute), str(row.mapping.state))
                ),
                numbers.percent(row.memory),
                *(() if any(streaming_flags) else (numbers.percent(row.bubble, 1),)),
                numbers.significant(row.throughput_samples_per_s),
                *((time.number(row.time_to_train_s),) if mappings.timed else ()),
                *((row.preset,) if has_presets else ()),
            )
            for rank, row in enumerate(rows, 1)
        ),
        marked=0,
        stacks=True,
    )


def in_phases(advice: AdvisedMapping) -> bool:
    """Whether its weights are streamed, a layer at a time."""
    return advice.mapping.schedule is Schedule.PHASED


def _streaming_cells(advice: AdvisedMapping) -> tuple[str, str, str]:
    """What differs among mappings whose weights are streamed."""
    is_sharded = advice.mapping.configuration.state_sharded and advice.mapping.replicas > 1
    over = f"{advice.mapping.replicas:,} replicas" if is_sharded else "–"
    return f"{advice.mapping.configuration.tensor_shards}", over, numbers.percent(advice.streaming)


def settings(advice: AdvisedMapping) -> DocTable:
    """What a user sets on the real machine."""
    what = (Column("Setting", wraps=True), Column("Value", wraps=True))
    if in_phases(advice):
        return DocTable(
            (*what, Column("popxl", wraps=True, priority=1)),
            tuple((row.what, row.value, row.popxl) for row in advice.settings),
        )
    return DocTable(
        (*what, Column("PopTorch", priority=1), Column("PopART", wraps=True, priority=2)),
        tuple((row.what, row.value, row.poptorch, row.popart) for row in advice.settings),
    )


def _charts(mappings: Mappings) -> Iterator[Block]:
    rate = numbers.rates([row.throughput_samples_per_s for row in mappings.advised], "samples/s")
    kinds = dict.fromkeys(map(_kind, mappings.advised))
    title = f"Throughput against peak SRAM, {rate.unit}"
    yield Heading(title)
    yield Chart(
        title,
        ChartAxis("Peak SRAM, %"),
        ChartAxis(rate.unit),
        tuple(
            DocSeries(
                kind,
                tuple(
                    (100 * row.memory, row.throughput_samples_per_s / rate.factor)
                    for row in mappings.advised
                    if _kind(row) == kind
                ),
                joined=False,
                band=tuple(
                    (row.throughput_low_samples_per_s / rate.factor, row.throughput_high_samples_per_s / rate.factor)
                    for row in mappings.advised
                    if _kind(row) == kind
                ),
                names=tuple(f"{rank}" for rank, row in enumerate(mappings.advised, 1) if _kind(row) == kind),
            )
            for kind in kinds
        ),
    )
    yield Note("Numbers are ranks in the table; bars are intervals of the throughput.", "", Tone.QUIET)


def _kind(advice: AdvisedMapping) -> str:
    """How it is stored, in words."""
    if not in_phases(advice):
        return f"recompute {advice.mapping.recompute}, state {advice.mapping.state}"
    configuration = advice.mapping.configuration
    sharding = "sharded" if configuration.state_sharded else "not sharded"
    return f"{configuration.tensor_shards} tensor shards, {sharding} over replicas"


def _idle(mappings: Mappings) -> Iterator[Block]:
    """Why mappings leave IPUs idle."""
    if mappings.idle is not None:
        yield Note(f"{mappings.idle}: mappings on a half of them, a quarter and so on are ranked.", "Idle IPUs")


def _rejection_blocks(mappings: Mappings) -> Iterator[Block]:
    if not mappings.rejected:
        return
    ranked_rejections = sorted(mappings.rejected.items(), key=lambda item: -item[1])
    counts = "; ".join(f"{count:,} {why}" for why, count in ranked_rejections)
    yield Note(f"{counts}; larger micro-batches of a split that does not fit are not counted", "Rejected")
    if mappings.nearest:
        near = mappings.nearest
        short = (
            f"{_too_much(near.memory)} of the SRAM, most of it {near.largest}"
            if near.memory > 1
            else f"{_too_much(near.streaming)} of the streaming memory"
        )
        yield Note(
            f"{split(near.mapping)}, recompute {near.mapping.recompute}, state {near.mapping.state}, needs {short}",
            "Nearest",
        )


def _too_much(share: float) -> str:
    """A share above one as percent, told apart from one: "104 %", "just over 100 %"."""
    text = numbers.percent(share)
    return f"just over {text}" if text == numbers.percent(1) else text


def _on_all(mappings: Mappings) -> str:
    """That no IPU is left idle, where none is."""
    return " on all IPUs" if all(row.mapping.ipus == mappings.ipus for row in mappings.advised) else ""


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _last(mappings: Mappings, *, verbose: bool) -> Iterator[Block]:
    yield Note(
        f"{mappings.legal:,} legal mapping{_s(mappings.legal)} that fit{_on_all(mappings)}, {mappings.distinct:,} "
        f"split{_s(mappings.distinct)} and "
        f"storage{_s(mappings.distinct)}, each at its best batch; "
        f"{len(mappings.advised):,} shown. Mappings that no run has used fit by the memory model only.",
        "",
        Tone.QUIET,
    )
    if in_phases(mappings.advised[0]):
        yield Note(
            "weights, gradients and state stream from DDR, a layer at a time (phased execution, popxl); shards: IPUs "
            "that share the outputs of a product, the rest of a replica shares its inputs; sharded over: replicated "
            "tensor sharding",
            "",
            Tone.QUIET,
        )
    else:
        yield _words()
    length_note = "" if mappings.timed else " · no time to train: run length not specified"
    more = "" if verbose else "-v has the settings of every row"
    yield Note(f"SDK {mappings.sdk} · {mappings.calibration}{length_note} · {NOT_MLPERF}", "", Tone.QUIET, hint=more)


def _words() -> Note:
    return Note(
        "PopTorch: methods of Options; state is a TensorLocationSettings for setOptimizerLocation; the "
        "available-memory proportion is the same on every IPU",
        "",
        Tone.QUIET,
        hint="podsim workload show -v lists the layers",
    )
