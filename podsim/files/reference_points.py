"""Reference convergence points of every MLPerf round from `calibration/convergence/reference-points.csv`."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Final

from podsim.errors import InputError, MissingParameter
from podsim.files import find, inputs
from podsim.files.contents import is_there, text_of
from podsim.files.file_faults import Fault, error_of, unknown_choice, value_text
from podsim.files.locate import Path as Place
from podsim.model.quantity import Provenance, SourceKind
from podsim.model.training import Convergence, ReferencePoint, ReferenceRound, RoundPoint
from podsim.units import decimal, whole

HEADER: Final = tuple(field.name for field in fields(RoundPoint))


def published_points() -> tuple[RoundPoint, ...]:
    """Every point of every round, in the order of the file; MissingParameter where there is no such file."""
    path = find.data_folder("calibration") / "convergence" / "reference-points.csv"
    if not is_there(path):
        raise MissingParameter(f"there are no reference points: no {path.name}", hint="calibration/README.md")
    return read(path)


def read(path: Path) -> tuple[RoundPoint, ...]:
    """The points of one file; InputError with every fault of it."""
    text = text_of(path, "bad-reference-points-file")
    try:
        rows = list(csv.reader(text.splitlines(), strict=True))
    except csv.Error as error:
        raise InputError(f"{path.name} cannot be read: {error}", code="bad-reference-points-file") from None
    if not rows or tuple(rows[0]) != HEADER:
        raise InputError(
            f"{path.name} begins with other columns",
            code="bad-reference-points-file",
            context=[f"wanted: {', '.join(HEADER)}"],
        )
    inputs.read("reference-points", path.name, text)
    points, faults = [], []
    places: dict[Place, int] = {}
    keys: set[tuple[str, str, int]] = set()
    for line, cells in enumerate(rows[1:], start=2):
        places[f"line {line}",] = line
        try:
            point = _point(cells)
        except ValueError as error:
            faults.append(Fault((f"line {line}",), str(error)))
            continue
        if (key := (point.round, point.benchmark, point.batch)) in keys:
            again = f"{point.benchmark} of round {point.round} has a batch of {point.batch} already"
            faults.append(Fault((f"line {line}",), again))
        keys.add(key)
        points.append(point)
    if faults:
        raise error_of("reference-points", path.name, faults, places)
    return tuple(points)


def _point(cells: list[str]) -> RoundPoint:
    if len(cells) != len(HEADER):
        raise ValueError(f"has {len(cells)} cells, not {len(HEADER)}")
    row = dict(zip(HEADER, cells, strict=True))
    if row["in_fit"] not in ("yes", "no"):
        raise ValueError(f"in_fit is {value_text(row['in_fit'])}, not yes or no")
    return RoundPoint(
        round=row["round"],
        benchmark=row["benchmark"],
        name=row["name"],
        batch=_whole(row, "batch"),
        unit=row["unit"],
        mean=_number(row, "mean", 0, above=True),
        std=_number(row, "std", 0),
        runs=_whole(row, "runs"),
        in_fit=row["in_fit"] == "yes",
        source=row["source"],
        locator=row["locator"],
    )


def _whole(row: Mapping[str, str], key: str) -> int:
    count = whole(row[key])
    if not count:
        raise ValueError(f"{key} is {value_text(row[key])}, not a whole number above 0")
    return count


def _number(row: Mapping[str, str], key: str, least: float, *, above: bool = False) -> float:
    value = decimal(row[key])
    if value is None or not (value > least if above else value >= least):
        raise ValueError(
            f"{key} is {value_text(row[key])}, not a number {'above' if above else 'of at least'} {least:g}"
        )
    return value


def curves(points: tuple[RoundPoint, ...]) -> dict[tuple[str, str], Convergence]:
    """Points of each benchmark and round as a curve in the unit of its log, where there are two or more."""
    result: dict[tuple[str, str], list[RoundPoint]] = {}
    for point in points:
        result.setdefault((point.benchmark, point.round), []).append(point)
    return {
        key: Convergence(
            points=tuple(
                ReferencePoint(batch=p.batch, samples=p.mean, std=p.std, runs=p.runs)
                for p in sorted(of_round, key=lambda p: p.batch)
            ),
            optimizer="",
            source=of_round[0].source,
        )
        for key, of_round in result.items()
        if len(of_round) > 1
    }


def reference_faults(reference: ReferenceRound) -> Iterator[Fault]:
    """What the shipped table does not have of a benchmark and round that a workload names."""
    published_curves = curves(published_points())
    rounds = [of for benchmark, of in published_curves if benchmark == reference.benchmark]
    if not rounds:
        benchmarks = [*dict.fromkeys(benchmark for benchmark, _ in published_curves)]
        yield Fault(("reference", "benchmark"), unknown_choice(reference.benchmark, benchmarks))
    elif reference.round not in rounds:
        yield Fault(("reference", "round"), unknown_choice(reference.round, rounds))


def of_round(reference: ReferenceRound) -> tuple[Convergence, dict[str, Provenance]]:
    """The points of the benchmark and round named, in samples of the workload, and where each is from."""
    curve = curves(published_points())[reference.benchmark, reference.round]
    each = reference.units_per_sample
    points = tuple(replace(p, samples=p.samples / each, std=p.std / each) for p in curve.points)
    rows = {p.batch: p for p in published_points() if (p.benchmark, p.round) == (reference.benchmark, reference.round)}
    provenances = {f"convergence.point.{at}.samples": _from(rows[p.batch], each) for at, p in enumerate(points)}
    return replace(curve, points=points, optimizer=reference.optimizer), provenances


def _from(row: RoundPoint, each: float) -> Provenance:
    path, text = f"{row.benchmark} {row.round}, batch {row.batch}", f"{row.mean:,.0f} {row.unit}"
    if each == 1:
        return Provenance(path=path, text=text, kind=SourceKind.MEASURED, source=row.source, locator=row.locator)
    note = f"{text}, {each:g} of them a sample"
    return Provenance(path=path, text=text, kind=SourceKind.DERIVED, source=row.source, locator=row.locator, note=note)
