"""Why the neighbours of a recommended machine are not the answer, as a table."""

from collections.abc import Iterator
from typing import Final

from podsim.model.run_cost import J_PER_KWH
from podsim.report import numbers
from podsim.report.doc import Block, Column, DocTable, Heading
from podsim.studies.plan import inventory_report
from podsim.studies.plan.choice_order import running, worth
from podsim.studies.plan.misses_report import misses_text
from podsim.studies.plan.neighbours import CHEAPEST
from podsim.studies.plan.result import Candidate, Neighbour, Objective, Plan

SAME: Final = 5e-4  # share of an objective below which two machines are shown as alike
OF: Final = {
    Objective.CAPITAL: "price",
    Objective.TIME: "time",
    Objective.COST: "training cost",
    Objective.ENERGY: "training energy",
    Objective.PRICE_PERFORMANCE: "price × time",
}


def table(plan: Plan, best: Candidate) -> Iterator[Block]:
    """Each neighbour with the reason why it was not recommended."""
    rows = [item.candidate for item in plan.neighbours]
    unit = numbers.scale([min(row.time_to_train_s.value for row in (best, *rows))], numbers.TIME)
    yield Heading("Why not the neighbours" if rows else "No other candidate")
    if not rows:
        return
    yield DocTable(
        (
            Column("Machine"),
            Column("Neighbour", priority=1),
            Column(f"Time, {unit.unit}", number=True, priority=2),
            Column(plan.demand.quantile, number=True),
            Column("Price", number=True),
            Column("Why not", wraps=True),
        ),
        tuple(
            (
                item.candidate.topology,
                ", ".join(_role(role, item.candidate) for role in item.roles),
                unit.number(item.candidate.time_to_train_s.value),
                unit.number(item.candidate.sure_s),
                numbers.money(item.candidate.capital_usd, plan.currency),
                reason(plan, item, best),
            )
            for item in plan.neighbours
        ),
    )


def _role(role: str, candidate: Candidate) -> str:
    """A role in words: the cheapest of the others that meet every demand is the next cheapest."""
    return "next cheapest" if role == CHEAPEST and not candidate.misses else role


def reason(plan: Plan, neighbour: Neighbour, best: Candidate) -> str:
    """Demands that are missed, by how much the objective is worse, which candidate is better in all."""
    candidate = neighbour.candidate
    short, difference = misses_text(candidate.misses, plan.demand), _difference(plan, neighbour, best)
    better = short and neighbour.more is not None and neighbour.more < 0
    texts = [f"{short}, though {difference}" if better and difference else "; ".join(filter(None, (short, difference)))]
    if neighbour.dominated_by:
        texts.append(f"dominated by {neighbour.dominated_by}")
    return "; ".join(filter(None, (*texts, inventory_report.remark(candidate.reuse))))


def _difference(plan: Plan, neighbour: Neighbour, best: Candidate) -> str:
    """The objective against that of the recommended machine: "price $1.08M higher (+100 %)"."""
    objective, more = plan.demand.objective, neighbour.more
    name = OF[objective]
    if more is None:
        return f"{name} not known"
    present = worth(best, objective)
    if abs(more) <= SAME * present:
        return "" if neighbour.candidate.misses else _alike(plan, neighbour.candidate, best)
    share = f" ({'+' if more > 0 else '−'}{numbers.percent(abs(more) / present)})" if present else ""
    amount = _amount(plan, abs(more))
    if more < 0 and objective is Objective.CAPITAL:
        return f"{amount} cheaper{share}"
    return f"{name}{f' {amount}' if amount else ''} {'higher' if more > 0 else 'lower'}{share}"


def _alike(plan: Plan, candidate: Candidate, best: Candidate) -> str:
    """Why one of two machines with the same value of the objective was taken."""
    objective = plan.demand.objective
    name, dearer = OF[objective], running(candidate, objective) - running(best, objective)
    if candidate.reuse and candidate.reuse.extended and not (best.reuse and best.reuse.extended):
        return f"same {name}, but racks have to be joined"
    if dearer > 0:
        return f"same {name}, training cost {numbers.money(dearer, plan.currency)} higher"
    slower = candidate.time_to_train_s.value - best.time_to_train_s.value
    return f"same {name}, {numbers.time(slower)} slower" if slower > 0 else f"same {name}"


def _amount(plan: Plan, more: float) -> str:
    """A difference in the unit of the objective; "" for price × time, which has none that is read aloud."""
    objective = plan.demand.objective
    if objective is Objective.TIME:
        return numbers.time(more)
    if objective is Objective.ENERGY:
        return f"{numbers.significant(more / J_PER_KWH)} kWh"
    return "" if objective is Objective.PRICE_PERFORMANCE else numbers.money(more, plan.currency)
