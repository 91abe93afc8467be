"""Ranked mappings as a document: which fit, what each gives, what to set on the real machine."""

from collections.abc import Iterator

from podsim.model.advice import Advised, Mappings, Rank
from podsim.model.mapping import Mapping
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

WORDS = {Rank.TIME: "soonest trained", Rank.THROUGHPUT: "most samples a second"}


def answer(found: Mappings) -> str:
    """The answer in one line: "8 × 8 IPUs, micro-batch 3 × accumulation 96: 8.52 min, 5.67 ksamples/s"."""
    best = found.advised[0]
    rate = numbers.rate(best.throughput_samples_per_s, "samples/s")
    return f"{split(best.mapping)}: {numbers.time(best.time_to_train_s)}, {rate}"


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
        tuple(_rejected(found)),
        (Heading("assumed"), *(Note(line, "·") for line in found.assumptions)) if verbose else (),
        tuple(_last(found, verbose=verbose)),
    ]  # fmt: skip
    return Doc(tuple(group for group in groups if group))


def table(found: Mappings) -> Table:
    """One row a mapping, best first."""
    rows = found.advised
    time = numbers.scale([row.time_to_train_s for row in rows], numbers.TIME)
    rate = numbers.rates([row.throughput_samples_per_s for row in rows], "samples/s")
    columns = (
        Column("", number=True),
        Column("replicas × IPUs", number=True),
        Column("micro-batch", number=True, priority=3),
        Column("accumulation", number=True, priority=4),
        Column("global batch", number=True, priority=1),
        Column("recompute", priority=5),
        Column("state", priority=6),
        Column("memory", number=True),
        Column("bubble", number=True, priority=2),
        Column(rate.unit, number=True),
        Column(f"train {time.unit}", number=True),
        Column("published as", priority=7),
    )
    return Table(columns, tuple(
        (f"{rank}", f"{row.mapping.replicas:,} × {row.mapping.ipus_per_replica}", f"{row.mapping.micro_batch:,}",
         f"{row.mapping.accumulation:,}", f"{row.mapping.global_batch:,}", str(row.mapping.recompute),
         str(row.mapping.state), numbers.percent(row.memory), numbers.percent(row.bubble, 1),
         rate.number(row.throughput_samples_per_s), time.number(row.time_to_train_s), row.preset)
        for rank, row in enumerate(rows, 1)
    ), marked=0)  # fmt: skip


def settings(one: Advised) -> Table:
    """What a user sets on the real machine."""
    columns = (
        Column("what", wraps=True),
        Column("value", wraps=True),
        Column("PopTorch", priority=1),
        Column("PopART", wraps=True, priority=2),
    )
    return Table(columns, tuple((row.what, row.value, row.poptorch, row.popart) for row in one.settings))


def _charts(found: Mappings) -> Iterator[Block]:
    rate = numbers.rates([row.throughput_samples_per_s for row in found.advised], "samples/s")
    kinds = dict.fromkeys((str(row.mapping.recompute), str(row.mapping.state)) for row in found.advised)
    yield Chart(
        f"throughput against memory, {rate.unit}", Axis("SRAM of the fullest IPU, %"), Axis(rate.unit),
        tuple(
            Series(
                f"recompute {recompute}, state {state}",
                tuple((100 * row.memory, row.throughput_samples_per_s / rate.factor) for row in found.advised
                      if (str(row.mapping.recompute), str(row.mapping.state)) == (recompute, state)),
                joined=False,
            )
            for recompute, state in kinds
        ),
    )  # fmt: skip


def _rejected(found: Mappings) -> Iterator[Block]:
    if not found.rejected:
        return
    counts = ", ".join(f"{count:,} {why}" for why, count in found.rejected.items())
    yield Note(f"{counts}; larger micro-batches of a split that does not fit are not counted", "rejected")
    if found.nearest:
        near = found.nearest
        yield Note(
            f"{split(near.mapping)}, recompute {near.mapping.recompute}, state {near.mapping.state}, needs "
            f"{numbers.percent(near.memory)} of the SRAM, most of it {near.largest}", "nearest",
        )  # fmt: skip


def _last(found: Mappings, *, verbose: bool) -> Iterator[Block]:
    yield Note(
        f"{found.legal:,} legal mappings that fit, {found.distinct:,} splits and storages, each at its best batch; "
        f"{len(found.advised):,} shown. What nobody published rests on the memory model alone.", "", Tone.QUIET,
    )  # fmt: skip
    yield Note(
        "PopTorch: methods of Options; state is a TensorLocationSettings for setOptimizerLocation; layers are those of "
        "podsim workload show -v, of every IPU the same proportion", "", Tone.QUIET,
    )  # fmt: skip
    more = "" if verbose else " · -v has the settings of every row"
    yield Note(f"SDK {found.sdk} · {found.calibration}{more} · {NOT_MLPERF}", "", Tone.QUIET)
