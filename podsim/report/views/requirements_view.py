"""Requirements as lines, PASS or FAIL."""

from collections.abc import Iterator, Sequence

from podsim.model.checks import verdict
from podsim.model.requirement import RequirementCheck
from podsim.report import numbers
from podsim.report.doc import Block, Fact, Facts

MOST_CERTAIN = 0.99
"""A chance above which no more is claimed."""


def blocks(checks: Sequence[RequirementCheck]) -> Iterator[Block]:
    """A row for each requirement; nothing without any."""
    if checks:
        yield Facts(tuple(Fact(_verdict(check), "", remark=_remark(check)) for check in checks))


def _verdict(check: RequirementCheck) -> str:
    return verdict(passed=check.is_met)


def line(check: RequirementCheck) -> str:
    """A requirement in a line: "FAIL time_to_train<3min@0.9: chance 8 %; time_to_train<3.91min@0.9 would pass"."""
    return f"{_verdict(check)} {_remark(check)}"


def _remark(check: RequirementCheck) -> str:
    parts = [f"chance {_chance(check.chance)}"] if check.chance is not None else []
    if check.nearest and check.nearest != check.requirement:
        parts.append(f"{check.nearest} would pass{' too' if check.is_met else ''}")
    if check.reason:
        parts.append(check.reason)
    return f"{check.requirement}: {'; '.join(parts)}"


def _chance(chance: float) -> str:
    if chance > MOST_CERTAIN:
        return f"> {numbers.percent(MOST_CERTAIN)}"
    return numbers.percent(chance)
