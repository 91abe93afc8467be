"""Claims beside what podsim says, as a document."""

from collections.abc import Callable, Iterator

from podsim.model.claims import ClaimAnswer, ClaimsReport, PartAnswer, Verdict, Worth
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Block, Column, Doc, Heading, Note, Table, Tone

WORDS = {
    Verdict.AGREES: "agrees",
    Verdict.DISAGREES: "disagrees",
    Verdict.ANSWERED: "answered",
    Verdict.CANNOT: "no answer",
}

MOST_NUMBERS = 3  # more of them are shown as a range


def answer(report: ClaimsReport) -> str:
    """The answer in one line: "33 claims: agrees 16, disagrees 8, answered 3, no answer 6"."""
    return f"{len(report.answers)} claims: " + ", ".join(f"{WORDS[one]} {report.count(one)}" for one in Verdict)


def by_worth(report: ClaimsReport) -> str:
    """Agreements of each kind: "independent 2 of 9 agree, calibrated on it 6 of 9, by definition 6 of 6"."""
    counts = []
    for worth in Worth:
        agree, disagree = (report.count(verdict, worth) for verdict in (Verdict.AGREES, Verdict.DISAGREES))
        counts.append(f"{worth} {agree} of {agree + disagree}")
    return "agreement by what it is worth: " + ", ".join(counts)


def document(report: ClaimsReport, *, verbose: bool = False) -> Doc:
    """Every claim with its verdict, why podsim disagrees or cannot say; `verbose` adds why it agrees, and sources."""
    told = [one for one in report.answers if verbose or one.verdict is not Verdict.AGREES or conflicts(one)]
    groups: list[tuple[Block, ...]] = [
        (Heading("published claims beside what podsim says"), table(report)),
        (Heading("why"), *(Note(_why(one, verbose=verbose), one.claim.id) for one in told)) if told else (),
        tuple(_verdict(report, verbose=verbose)),
    ]
    return Doc(tuple(group for group in groups if group))


def table(report: ClaimsReport) -> Table:
    """One row a claim."""
    columns = (
        Column("id"),
        Column("claim", wraps=True),
        Column("claimed", number=True, priority=1),
        Column("podsim", number=True),
        Column("error", number=True, priority=2),
        Column("verdict"),
        Column("agreement is", priority=3),
    )
    return Table(columns, tuple(row(one) for one in report.answers))


def row(one: ClaimAnswer) -> tuple[str, ...]:
    """A claim with its numbers, "/" between several."""

    def of(value: Callable[[PartAnswer], float | None]) -> str:
        found = [value(part) for part in one.parts]
        known = [number for number in found if number is not None]
        if len(known) > MOST_NUMBERS:
            return f"{numbers.significant(min(known), 3)} – {numbers.significant(max(known), 3)}"
        texts = [numbers.UNKNOWN if number is None else numbers.significant(number, 3) for number in found]
        if len(set(texts)) == 1:
            return texts[0]
        return " / ".join(texts)

    claimed = numbers.UNKNOWN if one.claim.estimated else of(lambda part: part.part.claimed)
    said = of(lambda part: part.podsim)
    error = numbers.signed_percent(one.deciding.error)
    unit = f" {one.claim.unit}" if said != numbers.UNKNOWN else ""
    worth = one.worth.value if one.worth else numbers.UNKNOWN
    return one.claim.id, one.claim.claim, claimed, f"{said}{unit}", error, WORDS[one.verdict], worth


def conflicts(one: ClaimAnswer) -> bool:
    """Whether logs contradict the claim, or it quotes a reading of them that needs a word."""
    return any(part.conflict or part.remark for part in one.parts)


def _why(one: ClaimAnswer, *, verbose: bool) -> str:
    more = [f"note: {one.claim.note}"] if verbose and one.claim.note else []
    more += [f"source: {one.claim.source}"] if verbose else []
    return "; ".join([one.reason, *more])


def _verdict(report: ClaimsReport, *, verbose: bool) -> Iterator[Block]:
    more = "" if verbose else " · -v says why it agrees, and who claims it"
    yield Note(by_worth(report))
    yield Note(f"{answer(report)}{more} · {NOT_MLPERF}", "", Tone.QUIET)
