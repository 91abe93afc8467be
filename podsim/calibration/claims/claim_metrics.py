"""What podsim says of one number of a claim, by the metric of the claim."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from podsim.errors import MissingParameter
from podsim.model.chip import Precision
from podsim.model.claims import Metric, Worth
from podsim.model.run_cost import per_dollar
from podsim.units import FIXED_UNITS, parse

if TYPE_CHECKING:
    from collections.abc import Callable

    from podsim.calibration.claims.environment import Environment
    from podsim.model.claims import Claim, ClaimPart

ROUNDING: Final = 0.005
"""How far a claim may be from the log it quotes: half a unit of the third digit, at most."""
REQUESTS_TOGETHER: Final = 8
"""Requests answered together where a claim does not say: the batch of `podsim infer` in the README."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimValue:
    """What podsim says in the unit of the claim, its evidence, and what an agreement would be worth.

    `conflict` is what published results say against the claim, `remark` which of a log's readings the claim quotes.
    `compared` is what errors are of: for a reduction, what is left; None where nothing published can be compared.
    """

    value: float
    worth: Worth = Worth.INDEPENDENT
    basis: str = ""
    conflict: str = ""
    remark: str = ""
    compared: Callable[[float], float] | None = float


def time_to_train(claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """Predicted time, or the published one where the machine is another chip."""
    unit_s = FIXED_UNITS[claim.unit][0]
    if not part.machine:
        time_s, basis = environment.baseline_s(part)
        return ClaimValue(value=time_s / unit_s, worth=Worth.DEFINITION, basis=basis)
    value = environment.time_s(part) / unit_s
    point = environment.log_of(part, part.preset)
    if point is None or part.claimed is None:
        return ClaimValue(value=value)
    clock, score = 60 * point.minutes / unit_s, 60 * point.score_minutes / unit_s
    conflict, remark = _against_log(part.claimed, point.id, clock, score)
    return ClaimValue(
        value=value,
        worth=Worth.CALIBRATED,
        basis=f"the log of {point.id} says {clock:.3f}",
        conflict=conflict,
        remark=remark,
    )


def _against_log(claimed_time: float, point: str, clock: float, score: float) -> tuple[str, str]:
    """How a claimed time stands against the log: a contradiction, or that it is the normalised score."""
    if abs(claimed_time / clock - 1) <= ROUNDING:
        return "", ""
    if abs(claimed_time / score - 1) <= ROUNDING:
        return "", f"the claim is the normalised score of {point}: the clock's {clock:.3f} × {score / clock:.3f}"
    off = f"{100 * (claimed_time / clock - 1):+.1f}".replace("-", "−")
    return f"the claim conflicts with the log of {point}, which says {clock:.3f} ({off} %)", ""


def time_reduction(_claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """Share of the time that one published mapping saves over an earlier one [%]; errors are of the time left."""
    after, before = (
        environment.ask(part, preset=name).time_to_train_s.value for name in (part.preset, part.preset_before)
    )
    value = 100 * (1 - after / before)
    now, then = (environment.log_of(part, name) for name in (part.preset, part.preset_before))
    claim_value = ClaimValue(value=value, compared=lambda percent: 1 - percent / 100)
    if not now or not then or part.claimed is None:
        return claim_value
    clock, score = 100 * (1 - now.minutes / then.minutes), 100 * (1 - now.score_minutes / then.score_minutes)
    basis = f"by the clock of the logs {clock:.1f} %: {then.minutes:.2f} to {now.minutes:.2f} min, "
    basis += f"podsim {before / 60:.2f} to {after / 60:.2f}"
    conflict = remark = ""
    if abs(clock - part.claimed) > 1:
        remark = f"the claim counts normalised scores of {now.id}; by the clock it is {clock:.1f} %"
        if abs(score - part.claimed) > 1:
            conflict = f"the claim conflicts with the logs: {clock:.1f} % by the clock, {score:.1f} % by the scores"
            remark = ""
    return replace(claim_value, worth=Worth.CALIBRATED, basis=basis, conflict=conflict, remark=remark)


def speedup(_claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """Time of the baseline, as published, over the predicted one."""
    time_s, (baseline_s, basis) = environment.time_s(part), environment.baseline_s(part)
    return ClaimValue(value=baseline_s / time_s, basis=f"podsim {time_s / 3600:.3g} h; {basis}")


def sampling(_claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """Predicted samples a second of a sampler on a machine: of the baselines of these claims nothing is published."""
    report = environment.sample(part.workload, topology=part.machine)
    rate = report.samples_per_s
    basis = f"{rate:,.3g} samples/s on {part.machine}"
    if part.claimed is not None:
        basis += (
            f": the {part.baseline} of the claim would do {rate / part.claimed:,.3g}, "
            "and neither its type nor its rate is published"
        )
    return ClaimValue(value=rate, basis=basis, compared=None)


def throughput_ratio(_claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """Predicted samples per second over those of so many of the baseline's chips."""
    rate = environment.rate(part)
    row = environment.rival(part)
    if row.samples_per_s is None:
        raise MissingParameter(f"{row.id} does not say its throughput")
    other = row.samples_per_s / row.chips * part.baseline_chips
    return ClaimValue(value=rate / other, basis=f"podsim {rate:,.0f} samples/s; {row.id} has {other:,.0f} a chip")


def scaling(_claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """Predicted samples per second over those of a smaller machine."""
    large, small = (environment.rate(part, machine=name) for name in (part.machine, part.machine_before))
    return ClaimValue(value=large / small, basis=f"podsim {small:,.0f} and {large:,.0f} samples/s")


def software_speedup(_claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """Predicted samples per second under one SDK over those under an earlier one."""
    after, before = (environment.rate(part, sdk=name) for name in (part.sdk, part.sdk_before))
    logged_sdks = {point.sdk for point in environment.points}
    silent = [name for name in (part.sdk_before, part.sdk) if name not in logged_sdks]
    if silent:
        raise MissingParameter(
            f"SDK {silent[0]} has no published run: podsim takes it from vendors' claims, and its "
            f"{after / before:.2f} × repeats them"
        )
    return ClaimValue(value=after / before)


def performance_per_dollar(_claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """(1 / minutes) / price over the same of the baseline; where a price is a range, its middle."""
    minutes = environment.ask(part).time_to_train_s.value / 60
    row = environment.rival(part)
    mine, theirs = environment.price(part.machine), environment.price(part.baseline_price)
    usd, base_usd = mine.middle_usd, theirs.middle_usd
    value = per_dollar(minutes, usd, row.measured_minutes, base_usd)
    basis = f"{minutes:.1f} min at {usd:,.0f} USD; {row.id} {row.measured_minutes:.1f} min at {base_usd:,.0f} USD"
    point = environment.log_of(part, part.preset)
    log_remark = (
        f"; with the log's {point.minutes:.1f} min it would be {value * minutes / point.minutes:.2f}" if point else ""
    )
    return ClaimValue(value=value, worth=Worth.CALIBRATED if point else Worth.INDEPENDENT, basis=basis + log_remark)


def price(_claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """What the price list has; of a range, its middle."""
    price = environment.price(part.machine)
    sources = ", ".join(dict.fromkeys(f"{item.source}, {item.date}" for item in price.quoted))
    return ClaimValue(value=price.middle_usd, worth=Worth.DEFINITION, basis=f"price list: {sources}")


def peak(claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """Peak of all chips of a machine."""
    machine = environment.topology_of(part.machine)
    rate = machine.chip.peak_flop_per_s(part.precision or Precision.FP16_16)
    return ClaimValue(
        value=machine.ipus * rate / parse(f"1 {claim.unit}", "FLOP/s"),
        worth=Worth.DEFINITION,
        basis=f"{machine.ipus} × {rate / 1e12:.1f} TFLOP/s",
    )


def bandwidth(claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """What tiles of a chip exchange together, with any other rate of the chip that the claim fits."""
    chip = environment.chip_of(part.machine)
    unit = parse(f"1 {claim.unit}", "B/s")
    value, sram = chip.exchange_bytes_per_s / unit, chip.sram_bytes_per_s / unit
    close = part.claimed is not None and abs(sram / part.claimed - 1) <= claim.tolerance
    conflict = f"the figure is that of SRAM, {sram:.1f} {claim.unit}, not of the exchange" if close else ""
    return ClaimValue(value=value, basis=f"exchange of {chip.name}: {value:.1f} {claim.unit}", conflict=conflict)


def host_servers(_claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """Servers of the published mapping, or of the plan where none is named."""
    answer = environment.ask(part)
    worth = Worth.DEFINITION if part.preset else Worth.INDEPENDENT
    return ClaimValue(value=float(answer.hosts), worth=worth, basis=f"{answer.ipus // answer.hosts} IPUs per server")


def ipus(_claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """IPUs of a machine on which a workload is planned and predicted."""
    answer = environment.ask(part)
    return ClaimValue(
        value=float(answer.ipus),
        worth=Worth.DEFINITION,
        basis=f"{part.workload} is predicted on {answer.ipus:,} IPUs, "
        f"×{answer.time_to_train_s.beyond:,.0f} beyond calibration",
    )


def portability(_claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """IPUs that the plan of one workload file takes on a machine."""
    answer = environment.ask(part)
    return ClaimValue(
        value=float(answer.mapping.ipus),
        worth=Worth.DEFINITION,
        basis=f"{answer.mapping.replicas} × {answer.mapping.ipus_per_replica} IPUs, "
        f"{answer.throughput_samples_per_s.value:,.0f} samples/s",
    )


def inference(_claim: Claim, part: ClaimPart, environment: Environment) -> ClaimValue:
    """Requests a second that a machine answers; MissingParameter beside another chip: no such result is carried."""
    answer = environment.infer(part.workload, topology=part.machine, batch=REQUESTS_TOGETHER)
    if part.baseline:
        raise MissingParameter(f"no inference result of a {part.baseline} that is not named further is carried")
    alone_ms = 1e3 * answer.service.latency_s
    return ClaimValue(
        value=answer.capacity_per_s.value, basis=f"at batch {REQUESTS_TOGETHER}, which is answered in {alone_ms:.2f} ms"
    )


EVALUATORS: Final[dict[Metric, Callable[[Claim, ClaimPart, Environment], ClaimValue]]] = {
    Metric.TIME_TO_TRAIN: time_to_train,
    Metric.TIME_REDUCTION: time_reduction,
    Metric.SPEEDUP: speedup,
    Metric.THROUGHPUT_RATIO: throughput_ratio,
    Metric.SCALING: scaling,
    Metric.SOFTWARE_SPEEDUP: software_speedup,
    Metric.PERFORMANCE_PER_DOLLAR: performance_per_dollar,
    Metric.PRICE: price,
    Metric.PEAK: peak,
    Metric.BANDWIDTH: bandwidth,
    Metric.HOST_SERVERS: host_servers,
    Metric.IPUS: ipus,
    Metric.PORTABILITY: portability,
    Metric.INFERENCE: inference,
    Metric.SAMPLING: sampling,
}
