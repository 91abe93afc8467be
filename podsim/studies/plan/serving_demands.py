"""Demands on machines that serve, from flags; what contradicts is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack, cast

from podsim.errors import InputError
from podsim.model.arguments import MAX_POWER, P99, RATE, TPOT, TTFT
from podsim.model.wall_clock import ProgramStart
from podsim.planning.ownership import OwnershipKeywords
from podsim.planning.serving_rate import LatencyLimits
from podsim.studies.plan import demands
from podsim.studies.plan.result import Objective
from podsim.studies.plan.serving_result import ServingDemand

if TYPE_CHECKING:
    from collections.abc import Mapping

    from podsim.model.currency import Currency
    from podsim.scenario import Scenario

OF_TRAINING: Final = ("samples", "tokens", "law", "target_loss", "global_batch", "division")
"""Flags of a scenario that speak of a run of training."""
EXAMPLE: Final = "--rate 20k/s --p99 10ms"
TOKENS_EXAMPLE: Final = "--generate 128 --tokens-per-s 2000 --ttft 500ms"
SERVING_OBJECTIVES: Final = (Objective.CAPITAL, Objective.COST, Objective.ENERGY)


class ServingKeywords(TypedDict, total=False):
    """What is demanded of machines that serve, as the flags of the same names."""

    rate: str | float | None
    p99: str | None
    ttft: str | None
    tpot: str | None
    tokens_per_s: float | None
    generate: int | None
    prompt: int | None
    headroom: float | None
    spares: int | None
    variation: float | None


class PlanKeywords(OwnershipKeywords, ServingKeywords, total=False):
    """Prices and terms of owning, and what is demanded of machines that serve."""


class DemandKeywords(TypedDict):
    """What is demanded of machines that train and of those that serve, as flags have it."""

    within: str | None
    budget: str | float | None
    max_power: str | None
    confidence: float | None
    objective: str | None
    currency: Currency
    deadline: str | None
    program: str


def money(flags: PlanKeywords) -> OwnershipKeywords:
    """The flags of prices and terms."""
    own = {name: value for name, value in flags.items() if name in OwnershipKeywords.__annotations__}
    return cast("OwnershipKeywords", own)


def is_serving(flags: Mapping[str, Any]) -> bool:
    """Whether any flag asks for machines that serve."""
    return any(flags.get(name) is not None for name in ServingKeywords.__annotations__)


def demand(scenario: Scenario, flags: ServingKeywords, **common_flags: Unpack[DemandKeywords]) -> ServingDemand:
    """What flags demand; InputError where they are of training, or where one is missing."""
    objective = common_flags["objective"]
    _refuse_training(scenario, common_flags)
    generate = flags.get("generate") or 0
    _refuse_tokens(flags, generate)
    limits = LatencyLimits(
        p99_s=P99.given_si(flags.get("p99")),
        ttft_s=TTFT.given_si(flags.get("ttft")),
        tpot_s=TPOT.given_si(flags.get("tpot")),
    )
    tokens = flags.get("tokens_per_s")
    rate_per_s = _rate(RATE.given_si(flags.get("rate")), tokens, generate)
    if limits.p99_s is None and limits.ttft_s is None:
        raise InputError(
            f"{'--ttft or --p99' if generate else '--p99'} is missing: the latency limit",
            code="missing-argument",
            hint="--p99 10ms" if not generate else "--ttft 500ms, or --p99 5s for all of the answer",
        )
    return ServingDemand(
        rate_per_s=rate_per_s,
        limits=limits,
        tokens_per_s=tokens,
        generate=generate,
        prompt=flags.get("prompt"),
        headroom=flags.get("headroom") or 0.0,
        spares=flags.get("spares") or 0,
        budget_usd=demands.usd(common_flags["budget"], common_flags["currency"]),
        most_power_w=MAX_POWER.given_si(common_flags["max_power"]),
        confidence=demands.sure(common_flags["confidence"]),
        variation=flags.get("variation") or 0.0,
        objective=Objective.CAPITAL if objective is None else Objective(objective),
    )


def _rate(rate_per_s: float | None, tokens_per_s: float | None, generate: int) -> float:
    """Requests a second, stated or by the tokens of each [1/s]."""
    if rate_per_s is not None and tokens_per_s is not None:
        raise InputError(
            "--rate and --tokens-per-s are two rates of the same requests",
            code="conflicting-flags",
            hint="give one of them",
        )
    if rate_per_s is not None:
        return rate_per_s
    if tokens_per_s is None:
        raise InputError(
            "--rate is missing: requests per second",
            code="missing-argument",
            hint=f"{EXAMPLE}" if not generate else TOKENS_EXAMPLE,
        )
    return tokens_per_s / generate


def _refuse_training(scenario: Scenario, common_flags: DemandKeywords) -> None:
    """Raise InputError for flags that speak of training."""
    scenario_flags, objective = scenario.flags(), common_flags["objective"]
    names = ["within"] if common_flags["within"] is not None else []
    names += ["deadline"] if common_flags["deadline"] is not None else []
    names += ["compile"] if common_flags["program"] != ProgramStart.FRESH else []
    names += [name for name in OF_TRAINING if name in scenario_flags]
    if names:
        texts = [f"--{name.replace('_', '-')}" for name in names]
        apply = "applies" if len(texts) == 1 else "apply"
        raise InputError(
            f"{' and '.join(texts)} {apply} to training, not to machines that serve",
            code="conflicting-flags",
            hint=f"leave out {' and '.join(texts)}",
        )
    if objective is not None and Objective(objective) not in SERVING_OBJECTIVES:
        raise InputError(
            f"--objective {objective} applies to training, not to machines that serve",
            code="conflicting-flags",
            hint="--objective " + ", ".join(SERVING_OBJECTIVES),
        )


def _refuse_tokens(flags: ServingKeywords, generate: int) -> None:
    """Raise InputError for what only generated tokens have, where none are generated."""
    if generate:
        return
    names = [name for name in ("ttft", "tpot", "tokens_per_s", "prompt") if flags.get(name) is not None]
    if names:
        raise InputError(
            f"--{names[0].replace('_', '-')} is about tokens that are generated, and their number is not given",
            code="conflicting-flags",
            hint=TOKENS_EXAMPLE if names[0] != "prompt" else "add --generate 128",
        )
