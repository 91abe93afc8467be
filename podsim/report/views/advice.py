"""Ranked mappings as a document: which fit, what each gives, what to set on the real machine."""

from collections.abc import Iterator

from podsim.model.advice import Advised, Mappings, Rank
from podsim.model.mapping import Mapping
from podsim.model.training import Schedule
from podsim.report import numbers
from podsim.report.doc import (
    NOT_MLPERF,
    Axis,
    Block,
    Chart,
    Column,
    Doc,
    Heading,
    Note,
    Series,
    Table,
    Tone,
)
from podsim.report.views import caveats

WORDS = {Rank.TIME: "soonest trained", Rank.THROUGHPUT: "most samples a second"}


def answer(found: Mappings) -> str:
    """The answer in one line: "8 × 8 IPUs, micro-batch 3 × accumulation 96: 8.52 min, 5.67 ksamples/s"."""
    best = found.advised[0]
    time = "" if best.time_to_train_s is None else f"{numbers.time(best.time_to_train_s)}, "
    return f"{split(best.mapping)}: {time}{numbers.rate(best.throughput_samples_per_s, 'samples/s')}"


def split(mapping: Mapping) -> str:
    """A mapping in words."""
    inner = f"micro-batch {mapping.micro_batch:,} × accumulation {mapping.accumulation:,}"
    return f"{mapping.replicas:,} × {mapping.ipus_per_replica} IPUs, {inner}"


def document(found: Mappings, *, verbose: bool = False, charts: bool = False) -> Doc:
    """The ranked mappings and the settings of the first; `verbose` has those of all, and what was assumed."""
    told = found.advised if verbose else found.advised[:1]
    groups: list[tuple[Block, ...]] = [
        (
            Heading(f"{found.workload_title} on {found.topology_title} ({found.ipus:,} × {found.chip}): "
                    f"mappings that fit, {WORDS[found.by]} first"),
            table(found),
        ),
        tuple(_charts(found)) if charts else (),
        *(
            (Heading(f"what to set for {rank}: {split(one.mapping)}"), settings(one))
            for rank, one in enumerate(told, 1)
        ),
        (*_rejected(found), *caveats.notes(found.assumptions, verbose=verbose)),
        (Heading("assumed"), *(Note(line, "·") for line in found.assumptions)) if verbose else (),
        tuple(_last(found, verbose=verbose)),
    ]  # fmt: skip
    return Doc(tuple(group for group in groups if group))


def table(found: Mappings) -> Table:
    """One row a mapping, best first."""
    rows, phased = found.advised, [in_phases(row) for row in found.advised]
    time = numbers.scale([row.time_to_train_s for row in rows if row.time_to_train_s is not None], numbers.TIME)
    rate = numbers.rates([row.throughput_samples_per_s for row in rows], "samples/s")
    columns = (
        Column("", number=True),
        Column("replicas × IPUs", number=True),
        Column("micro-batch", number=True, priority=3),
        Column("accumulation", number=True, priority=4),
        Column("global batch", number=True, priority=1),
        *((Column("shards", number=True), Column("sharded over", priority=1), Column("DDR", number=True, priority=5))
          if any(phased) else
          (Column("recompute", priority=5), Column("state", priority=6))),
        Column("memory", number=True),
        *(() if any(phased) else (Column("bubble", number=True, priority=2),)),
        Column(rate.unit, number=True),
        *((Column(f"train {time.unit}", number=True),) if found.timed else ()),
        Column("published as", priority=7),
    )  # fmt: skip
    return Table(columns, tuple(
        (f"{rank}", f"{row.mapping.replicas:,} × {row.mapping.ipus_per_replica}", f"{row.mapping.micro_batch:,}",
         f"{row.mapping.accumulation:,}", f"{row.mapping.global_batch:,}", *(_streamed(row) if any(phased) else
         (str(row.mapping.recompute), str(row.mapping.state))), numbers.percent(row.memory),
         *(() if any(phased) else (numbers.percent(row.bubble, 1),)), rate.number(row.throughput_samples_per_s),
         *((time.number(row.time_to_train_s),) if found.timed else ()), row.preset)
        for rank, row in enumerate(rows, 1)
    ), marked=0)  # fmt: skip


def in_phases(one: Advised) -> bool:
    """Whether its weights are streamed, a layer at a time."""
    return one.mapping.schedule is Schedule.PHASED


def _streamed(one: Advised) -> tuple[str, str, str]:
    """What differs among mappings whose weights are streamed."""
    shared = one.mapping.practice.state_sharded and one.mapping.replicas > 1
    over = f"{one.mapping.replicas:,} replicas" if shared else "–"
    return f"{one.mapping.practice.tensor_shards}", over, numbers.percent(one.streaming)


def settings(one: Advised) -> Table:
    """What a user sets on the real machine."""
    what = (Column("what", wraps=True), Column("value", wraps=True))
    if in_phases(one):
        return Table((*what, Column("popxl", wraps=True, priority=1)),
                     tuple((row.what, row.value, row.popxl) for row in one.settings))  # fmt: skip
    return Table((*what, Column("PopTorch", priority=1), Column("PopART", wraps=True, priority=2)),
                 tuple((row.what, row.value, row.poptorch, row.popart) for row in one.settings))  # fmt: skip


def _charts(found: Mappings) -> Iterator[Block]:
    rate = numbers.rates([row.throughput_samples_per_s for row in found.advised], "samples/s")
    kinds = dict.fromkeys(map(_kind, found.advised))
    yield Chart(
        f"throughput against memory, {rate.unit}", Axis("SRAM of the fullest IPU, %"), Axis(rate.unit),
        tuple(
            Series(
                kind,
                tuple((100 * row.memory, row.throughput_samples_per_s / rate.factor) for row in found.advised
                      if _kind(row) == kind),
                joined=False,
            )
            for kind in kinds
        ),
    )  # fmt: skip


def _kind(one: Advised) -> str:
    """How it is stored, in words."""
    if not in_phases(one):
        return f"recompute {one.mapping.recompute}, state {one.mapping.state}"
    practice = one.mapping.practice
    return f"{practice.tensor_shards} tensor shards, {'' if practice.state_sharded else 'not '}sharded over replicas"


def _rejected(found: Mappings) -> Iterator[Block]:
    if not found.rejected:
        return
    counts = ", ".join(f"{count:,} {why}" for why, count in found.rejected.items())
    yield Note(f"{counts}; larger micro-batches of a split that does not fit are not counted", "rejected")
    if found.nearest:
        near = found.nearest
        short = (
            f"{numbers.percent(near.memory)} of the SRAM, most of it {near.largest}" if near.memory > 1
            else f"{numbers.percent(near.streaming)} of the streaming memory"
        )  # fmt: skip
        yield Note(
            f"{split(near.mapping)}, recompute {near.mapping.recompute}, state {near.mapping.state}, needs {short}",
            "nearest",
        )  # fmt: skip


def _s(count: int) -> str:
    return "" if count == 1 else "s"


def _last(found: Mappings, *, verbose: bool) -> Iterator[Block]:
    yield Note(
        f"{found.legal:,} legal mapping{_s(found.legal)} that fit, {found.distinct:,} split{_s(found.distinct)} and "
        f"storage{_s(found.distinct)}, each at its best batch; "
        f"{len(found.advised):,} shown. What nobody published rests on the memory model alone.", "", Tone.QUIET,
    )  # fmt: skip
    if in_phases(found.advised[0]):
        yield Note(
            "weights, gradients and state stream from DDR, a layer at a time (phased execution, popxl); shards: IPUs "
            "that share the outputs of a product, the rest of a replica shares its inputs; sharded over: replicated "
            "tensor sharding", "", Tone.QUIET,
        )  # fmt: skip
    else:
        yield _words()
    untimed = "" if found.timed else " · no time to train: nobody says how long a run is"
    more = "" if verbose else " · -v has the settings of every row"
    yield Note(f"SDK {found.sdk} · {found.calibration}{untimed}{more} · {NOT_MLPERF}", "", Tone.QUIET)


def _words() -> Note:
    return Note(
        "PopTorch: methods of Options; state is a TensorLocationSettings for setOptimizerLocation; layers are those of "
        "podsim workload show -v, of every IPU the same proportion", "", Tone.QUIET,
    )  # fmt: skip
