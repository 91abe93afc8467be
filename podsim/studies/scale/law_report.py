"""Scaling laws fitted to the throughput of machines, as part of the document of `podsim scale -v`."""

from collections.abc import Iterator

from podsim.report import numbers
from podsim.report.doc import Block, Fact, Facts, Note, Tone
from podsim.studies.scale.result import ScaleReport, Scaling, ScalingCurve


def laws(report: ScaleReport) -> Iterator[Block]:
    """What Amdahl's law and the universal scaling law say of throughput, and where a doubling no longer pays."""
    universal, amdahl = report.universal, report.amdahl
    facts = []
    if amdahl:
        facts.append(
            Fact("Amdahl", _small(amdahl.contention), "serial", "of the work on the smallest machine", _error(amdahl))
        )
    if universal:
        facts.append(
            Fact(
                "Universal",
                _small(universal.contention),
                "contention",
                f"and {_small(universal.coherency)} coherency per pair of parts the size of the smallest machine",
                _error(universal),
            )
        )
    if facts:
        yield Facts(tuple(facts))
    yield from _knees(report)
    if not universal:
        yield Note(
            "The universal scaling law has three parameters: it needs four machines of different sizes.", "", Tone.QUIET
        )
    if facts and report.scaling is Scaling.BEST:
        yield Note(
            "Batch and mapping differ between machines: the laws describe the best run on each.",
            "",
            Tone.QUIET,
            hint="--scaling strong keeps one batch, --scaling weak grows it with the machine",
        )


def _small(fraction: float) -> str:
    return f"{numbers.short(100 * fraction)} %"


def _error(law: ScalingCurve) -> str:
    return f"{numbers.percent(law.error, 1)} fit error (rms)"


def _knees(report: ScaleReport) -> Iterator[Note]:
    largest, gain = report.predictions[-1].ipus, numbers.percent(report.knee_gain)
    if report.universal:
        if report.knee_ipus is None:
            text = f"none: every doubling gains at least {gain} in throughput"
        else:
            beyond = ", beyond the machines compared" if report.knee_ipus > largest else ""
            beyond = ", below the machines compared" if report.knee_ipus < report.predictions[0].ipus else beyond
            text = f"beyond {_ipus(report.knee_ipus)} a doubling gains less than {gain} in throughput, by the "
            text += f"universal law{beyond}"
        if report.peak_ipus is not None:
            rises = report.peak_ipus < largest and report.doublings[-1].throughput > 0
            text += f"; throughput peaks at {_ipus(report.peak_ipus)}"
            text += ", though the predictions themselves still rise" if rises else ""
        yield Note(text, "Throughput knee", Tone.STRONG)
    short = next((doubling for doubling in report.doublings if doubling.throughput < report.knee_gain), None)
    if short:
        time = f", and a run is {1 + short.time:.2f} times as fast" if report.has_length else ""
        yield Note(
            f"from {short.from_ipus:,} to {short.to_ipus:,} IPUs throughput grows by "
            f"{numbers.percent(short.throughput)}, the first doubling that gains less than {gain}{time}",
            "Predicted",
            Tone.PLAIN,
        )


def _ipus(size: float) -> str:
    return f"{numbers.significant(size, 2)} IPUs"
