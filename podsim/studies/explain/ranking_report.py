"""The operator ranking of `podsim explain --ops` as a document."""

from podsim.report import numbers
from podsim.report.doc import Bar, Bars, Block, Column, Doc, DocTable, Heading, Note, Tone
from podsim.studies.explain.ranking_result import OperatorRanking

MOST_ROWS = 25
MOST_BARS = 15


def document(ranking: OperatorRanking, *, verbose: bool = False, charts: bool = False) -> Doc:
    """The ranking as a table; `verbose` lists every operator, `charts` draws the longest."""
    operators = ranking.operators if verbose else ranking.operators[:MOST_ROWS]
    unit = numbers.scale([row.total_s for row in operators], numbers.STEP_TIME)
    columns = (
        Column("Operator"),
        Column("Pass", priority=2),
        Column("Count", number=True, priority=5),
        Column(f"Time, {unit.unit}", number=True),
        Column("Share", number=True, priority=1),
        Column("Compute", number=True, priority=3),
        Column("Exchange", number=True, priority=3),
        Column("Sync", number=True, priority=4),
        Column("Bound"),
    )
    rows = tuple(
        (
            row.name,
            row.run,
            f"{row.times:,}",
            unit.number(row.total_s),
            numbers.percent(row.share, 1),
            *(numbers.percent(part / row.total_s) for part in (row.compute_s, row.exchange_s, row.sync_s)),
            row.bound.value,
        )
        for row in operators
    )
    blocks: list[Block] = [
        Heading(f"Operators of {ranking.workload} on {ranking.topology} ({ranking.chip}) by time"),
        DocTable(columns, rows),
    ]
    if len(operators) < len(ranking.operators):
        rest = sum(row.share for row in ranking.operators[len(operators) :])
        more = len(ranking.operators) - len(operators)
        blocks.append(
            Note(f"{more:,} more, {numbers.percent(rest, 1)} of the time: --verbose lists them", "", Tone.QUIET)
        )
    blocks.append(
        Note(
            f"one micro-batch of {ranking.micro_batch} through all stages of a replica, same operators of all layers "
            f"added: {answer(ranking)}",
            "",
            Tone.QUIET,
        )
    )
    blocks += [Note(str(note), "·", Tone.QUIET) for note in ranking.evidence]
    chart_blocks = (Heading("Longest operators, share of the time"), _bars(ranking)) if charts else ()
    return Doc(tuple(group for group in (chart_blocks, tuple(blocks)) if group))


def _bars(ranking: OperatorRanking) -> Bars:
    longest = ranking.operators[:MOST_BARS]
    unit = numbers.scale([row.total_s for row in longest], numbers.STEP_TIME)
    return Bars(
        tuple(
            Bar(
                f"{row.name}, {row.run}",
                row.share,
                numbers.percent(row.share, 1),
                unit.text(row.total_s),
                row.bound.value,
            )
            for row in longest
        )
    )


def answer(ranking: OperatorRanking) -> str:
    """The sum in a line."""
    return f"{ranking.total_s * 1e3:.1f} ms, longest operator {ranking.operators[0].name}"
