"""Published claims compared with predictions, as a document."""

from collections.abc import Callable, Iterator

from podsim.model.claims import ClaimAnswer, ClaimsReport, PartAnswer, Verdict, Worth
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Block, Column, Doc, DocTable, Heading, Note, Tone

WORDS = {
    Verdict.AGREES: "agrees",
    Verdict.DISAGREES: "disagrees",
    Verdict.ANSWERED: "answered",
    Verdict.CANNOT: "no answer",
}

MOST_NUMBERS = 3  # more of them are shown as a range


def answer(report: ClaimsReport) -> str:
    """The answer in one line: "33 claims: agrees 16, disagrees 8, answered 3, no answer 6"."""
    return f"{len(report.answers)} claims: " + ", ".join(
        f"{WORDS[verdict]} {report.count(verdict)}" for verdict in Verdict
    )


def by_worth(report: ClaimsReport) -> str:
    """Agreements of each kind: "independent 2 of 9 agree, calibrated on it 6 of 9, by definition 6 of 6"."""
    counts = []
    for worth in Worth:
        agree, disagree = (report.count(verdict, worth) for verdict in (Verdict.AGREES, Verdict.DISAGREES))
        counts.append(f"{worth} {agree} of {agree + disagree}")
    return "agreement by what it is worth: " + ", ".join(counts)


def document(report: ClaimsReport, *, verbose: bool = False) -> Doc:
    """Every claim with its verdict, why podsim disagrees or cannot say; `verbose` adds why it agrees, and sources."""
    answers = [
        answer for answer in report.answers if verbose or answer.verdict is not Verdict.AGREES or conflicts(answer)
    ]
    groups: list[tuple[Block, ...]] = [
        (Heading("Published claims compared with predictions"), table(report)),
        (Heading("Why"), *(Note(_why(answer, verbose=verbose), answer.claim.id) for answer in answers))
        if answers
        else (),
        tuple(_verdict(report, verbose=verbose)),
    ]
    return Doc(tuple(group for group in groups if group))


def table(report: ClaimsReport) -> DocTable:
    """One row a claim."""
    columns = (
        Column("Id"),
        Column("Claim", wraps=True),
        Column("Claimed", number=True, priority=1),
        Column("podsim", number=True),
        Column("Error", number=True, priority=2),
        Column("Verdict"),
        Column("Agreement is", priority=3),
    )
    return DocTable(columns, tuple(row(answer) for answer in report.answers))


def row(answer: ClaimAnswer) -> tuple[str, ...]:
    """A claim with its numbers, "/" between several."""

    def of(value: Callable[[PartAnswer], float | None]) -> str:
        values = [value(part) for part in answer.parts]
        present_values = [number for number in values if number is not None]
        if len(present_values) > MOST_NUMBERS:
            return f"{numbers.significant(min(present_values), 3)} – {numbers.significant(max(present_values), 3)}"
        texts = [numbers.NO_VALUE if number is None else numbers.significant(number, 3) for number in values]
        if len(set(texts)) == 1:
            return texts[0]
        return " / ".join(texts)

    claimed_value = numbers.NO_VALUE if answer.claim.estimated else of(lambda part: part.part.claimed)
    text = of(lambda part: part.podsim)
    error = numbers.signed_percent(answer.deciding.error)
    unit = f" {answer.claim.unit}" if text != numbers.NO_VALUE else ""
    worth = answer.worth.value if answer.worth else numbers.NO_VALUE
    return answer.claim.id, answer.claim.claim, claimed_value, f"{text}{unit}", error, WORDS[answer.verdict], worth


def conflicts(answer: ClaimAnswer) -> bool:
    """Whether logs contradict the claim, or it quotes a reading of them that needs a word."""
    return any(part.conflict or part.remark for part in answer.parts)


def _why(answer: ClaimAnswer, *, verbose: bool) -> str:
    more = [f"note: {answer.claim.note}"] if verbose and answer.claim.note else []
    more += [f"source: {answer.claim.source}"] if verbose else []
    return "; ".join([answer.reason, *more])


def _verdict(report: ClaimsReport, *, verbose: bool) -> Iterator[Block]:
    more = "" if verbose else " · -v says why it agrees, and who claims it"
    yield Note(by_worth(report))
    yield Note(f"{answer(report)}{more} · {NOT_MLPERF}", "", Tone.QUIET)
