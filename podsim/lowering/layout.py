"""Which units of a model each pipeline stage holds."""

from podsim.errors import InputError
from podsim.model.mapping import Stage
from podsim.model.sums import sum_in_order
from podsim.model.training import Schedule, SoftwareConfiguration
from podsim.model.workload import Kind, LayerUnit, Pass, Workload
from podsim.workloads import shards


def stages(workload: Workload, configuration: SoftwareConfiguration, ipus: int) -> tuple[Stage, ...]:
    """The configuration's own split where it states one, else an even one; InputError where there are too few units.

    In phases a stage is what runs at once on all IPUs of the replica, each with its shard.
    """
    if configuration.schedule is Schedule.PHASED:
        return _phases(workload, configuration, ipus)
    if configuration.layout:
        return _stages_of_file(workload, configuration)
    if ipus == 1:
        return (Stage(index=0, ipu=0, units=workload.units),)
    if ipus > most_ipus(workload):
        raise too_many_ipus(workload, ipus)
    return _even_folded(workload, ipus) if _has_tied_ends(workload) else _even(workload, ipus)


def too_many_ipus(workload: Workload, ipus: int) -> InputError:
    """The error of a replica with more IPUs than the model has parts to place."""
    most = 2 ** (most_ipus(workload).bit_length() - 1)
    return InputError(
        f"{workload.title} has too few parts for {ipus:,} IPUs per replica",
        code="mapping-does-not-divide",
        context=[
            f"it has {len(workload.units):,} parts to place, each on one IPU; IPUs per replica are a power of two"
        ],
        hint=f"--ipus-per-replica {most} or fewer",
    )


def most_ipus(workload: Workload) -> int:
    """IPUs a replica may have: one for each unit, and where the heads go back to the first IPU one less."""
    return max(1, len(workload.units) - _has_tied_ends(workload))


def _phases(workload: Workload, configuration: SoftwareConfiguration, ipus: int) -> tuple[Stage, ...]:
    """Units up to each that is kept where the rest is recomputed: a layer or half of it, the embedding, the heads."""
    if ipus % (least := configuration.tensor_shards):
        raise InputError(
            f"a replica takes a multiple of {least} IPUs, since its operators are split over {least}",
            code="mapping-does-not-divide",
            hint=f"--ipus-per-replica {least} or more, on --pod {least} or more",
        )
    cut = shards.ShardGrid(configuration.tensor_shards, ipus // configuration.tensor_shards)
    if cut.shards > 1:
        shards.check(workload.units, cut)
    parts: list[list[LayerUnit]] = [[]]
    for unit in workload.units:
        parts[-1].append(shards.in_parts(shards.shard(unit, cut), configuration.attention_parts))
        if unit.checkpoint or configuration.half_layers:
            parts.append([])
    return tuple(Stage(index=at, ipu=0, units=tuple(part)) for at, part in enumerate(part for part in parts if part))


def _stages_of_file(workload: Workload, configuration: SoftwareConfiguration) -> tuple[Stage, ...]:
    result, remaining_units = [], list(workload.units)
    for index, layout in enumerate(configuration.layout):
        count = sum(layout.units.values())
        stage_units, remaining_units = tuple(remaining_units[:count]), remaining_units[count:]
        groups = {group: sum(unit.group == group for unit in stage_units) for group in layout.units}
        if groups != dict(layout.units):
            raise InputError(
                f"configuration {configuration.name}: stage {index} has {dict(layout.units)}, "
                f"but the next units are {groups}",
                code="bad-layout",
            )
        result.append(Stage(index=index, ipu=layout.ipu, units=stage_units))
    if remaining_units:
        raise InputError(
            f"configuration {configuration.name}: the layout leaves out {remaining_units[0].name} and after",
            code="bad-layout",
        )
    return tuple(result)


def _has_tied_ends(workload: Workload) -> bool:
    """Whether the last unit shares weights with the first, so that one IPU must hold both."""
    tied_parameters = {operator.shape.parameters for operator in workload.units[-1].operators if operator.tied}
    tables = (
        at
        for at, unit in enumerate(workload.units)
        for operator in unit.operators
        if operator.kind is Kind.GATHER and operator.shape.parameters in tied_parameters
    )
    return bool(tied_parameters) and next(tables, 0) == 0


def _even_folded(workload: Workload, ipus: int) -> tuple[Stage, ...]:
    """N + 1 stages on n IPUs: the embedding alone first, the heads with the last layers back on its IPU."""
    middle, heads = workload.units[1:-1], workload.units[-1]
    parts = _contiguous(middle, ipus, last_extra=_weight(heads))
    units_by_stage = [*parts[:-1], (*parts[-1], heads)]
    first = Stage(index=0, ipu=0, units=workload.units[:1])
    rest = (Stage(index=i + 1, ipu=(i + 1) % ipus, units=tuple(part)) for i, part in enumerate(units_by_stage))
    return (first, *rest)


def _even(workload: Workload, ipus: int) -> tuple[Stage, ...]:
    parts = _contiguous(workload.units, ipus, last_extra=0.0)
    return tuple(Stage(index=i, ipu=i, units=tuple(part)) for i, part in enumerate(parts))


def _weight(unit: LayerUnit) -> float:
    return unit.flop(Pass.FORWARD)


def _contiguous(units: tuple[LayerUnit, ...], parts: int, *, last_extra: float) -> list[tuple[LayerUnit, ...]]:
    """Contiguous parts with the least largest FLOP; the last one has `last_extra` to carry already."""
    weights = [_weight(unit) for unit in units]
    low, high = max(weights), sum_in_order(weights) + last_extra
    for _ in range(60):
        limit = (low + high) / 2
        low, high = (low, limit) if _fill(weights, parts, limit, last_extra) else (limit, high)
    cuts = _fill(weights, parts, high, last_extra)
    assert cuts is not None, "the whole in one part is within the limit"
    return [units[begin:end] for begin, end in cuts]


def _fill(weights: list[float], parts: int, limit: float, last_extra: float) -> list[tuple[int, int]] | None:
    """Fill part after part up to the limit, leaving one unit for each part to come; None where it does not work."""
    cuts, begin = [], 0
    for part in range(parts):
        remaining = parts - part - 1
        end, part_weight = begin, last_extra if remaining == 0 else 0.0
        while end < len(weights) - remaining and (part_weight + weights[end] <= limit * (1 + 1e-12) or end == begin):
            part_weight += weights[end]
            end += 1
        if part_weight > limit * (1 + 1e-9) and remaining == 0:
            return None
        cuts.append((begin, end))
        begin = end
    return cuts if begin == len(weights) else None
