"""How many mappings a plan timed and how, why a machine has idle IPUs, and which size was not tried."""

import re
from collections.abc import Iterator

from podsim.model.note_code import NoteCode
from podsim.model.prediction import AGREE
from podsim.report import numbers
from podsim.report.doc import Block, Note
from podsim.studies.plan.result import SLOWER, Candidate, Objective, Plan

HOST_INPUT = "host input"
POD = re.compile(r"((?:bow-)?pod)\d+", re.ASCII)


def search_blocks(plan: Plan) -> Iterator[Block]:
    """How many mappings were timed, and how."""
    counts = "; ".join(f"{count:,} {why}" for why, count in plan.counts.items() if count and why != SLOWER)
    slower = plan.counts.get(SLOWER, 0)
    if plan.legal:
        search_text = f"{plan.legal:,} legal mappings timed{', the quickest of each machine kept' if slower else ''}"
        yield Note(f"{search_text}; not timed: {counts or 'none'}", "Search")
    number, most = plan.settled
    if number:
        change = "by less than 0.1 %" if most < 0.001 else f"by at most {numbers.percent(most, 1)}"
        text = "formula and event simulation agree" if most <= AGREE else f"their steps differ {change}"
        best = "the best" if number == 1 else f"the best {number:,}"
        yield Note(f"{best} also timed by event simulation: {text}", "Check")


def idle_advice(plan: Plan, chosen_candidate: Candidate) -> str:
    """That a smaller pod may do in place of a machine that leaves IPUs idle; "" where none does, or it was tried."""
    used_ipus, idle = chosen_candidate.ipus_used, idle_text(chosen_candidate)
    there = any(other.chips == used_ipus and other.chip == chosen_candidate.chip for other in plan.candidates)
    if not idle or used_ipus is None or used_ipus & (used_ipus - 1) or there or chosen_candidate.reuse is not None:
        return ""
    return f"{idle}; a pod of {used_ipus:,} IPUs may do for less: name it with --machines"


def size_between(plan: Plan) -> Iterator[Note]:
    """That a pod of half the IPUs, between two candidates, may be cheaper to buy and was not tried."""
    chosen_candidate = plan.chosen
    if chosen_candidate is None or plan.demand.objective is not Objective.CAPITAL or chosen_candidate.reuse is not None:
        return
    pod, half = POD.fullmatch(chosen_candidate.topology), chosen_candidate.chips // 2
    sizes = {other.chips for other in plan.candidates if other.chip == chosen_candidate.chip}
    if pod and half not in sizes and any(size < half for size in sizes):
        name = f"{pod[1]}{half}"
        hint = f"--machines {name},{chosen_candidate.topology} compares it."
        yield Note(f"{name}, which costs less, was not tried", "Sizes", hint=hint)


def idle_text(candidate: Candidate) -> str:
    """Why some IPUs of a machine idle, for a cell of a table; "" where none does."""
    if candidate.mapping is None or candidate.mapping.ipus >= candidate.chips:
        return ""
    text = f"uses {candidate.mapping.ipus:,} of {candidate.chips:,} IPUs"
    if candidate.all_ipus is None:
        return text
    part = dict(candidate.all_ipus.values).get("part")
    hosts = numbers.count_of(candidate.hosts, "host")
    longer = f"{hosts} cannot feed all" if part == HOST_INPUT else f"with all, {part} takes longer"
    why = {
        NoteCode.ALL_TOO_MANY: "its batch is too small for all",
        NoteCode.ALL_DO_NOT_DIVIDE: "its batch does not divide over all",
        NoteCode.ALL_NEED_SAMPLES: "more samples with all",
        NoteCode.ALL_SPEND_MORE: longer,
        NoteCode.ALL_GAIN_LITTLE: "no faster with all",
    }
    return f"{text}: {why[candidate.all_ipus.code]}"
