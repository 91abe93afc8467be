"""`podsim validate`."""

from functools import partial

import podsim
from podsim.cli.answer import give_answer
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, answer_then_raise, save_answer
from podsim.errors import InputError
from podsim.model.published_bars import any_missed


def validate(
    *,
    microbenchmarks: bool = False,
    comparators: bool = False,
    claims: bool = False,
    published: bool = False,
    coverage: bool = False,
    hold_outs: bool = False,
    freeze: bool = False,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Compare predictions with published results, in sample and with machine sizes, rounds, workloads held out.

    The exit code is 1 where an error is outside its tolerance.

    Parameters
    ----------
    microbenchmarks
        Published measurements of single operators, exchange and links instead; -v lists every row.
    comparators
        Published results of other chips against their scaling laws, with one chip count held out instead.
    claims
        Published claims of vendors and press compared with predictions, with a verdict on each; -v gives every reason.
    published
        Published results of complete programs, those in a fit marked, frameworks held out; -v says what is assumed.
    coverage
        Coverage of 50, 80 and 90 % intervals on results of machine sizes held out; -v lists all.
    hold_outs
        Errors with machine sizes, rounds, workloads, large machines and other chips left out of every fit.
    freeze
        Predict again what calibration/frozen.toml holds, write it, and say what moved.
    """
    output.check()
    report.check()
    mode_flags = (microbenchmarks, comparators, claims, published, coverage, hold_outs, freeze)
    names = [name for name, flag in zip(MODES, mode_flags, strict=True) if flag]
    if len(names) > 1:
        flags = " and ".join(f"--{name}" for name in names)
        raise InputError(f"give one of {flags}", code="conflicting-flags")
    return MODES[names[0]](output, report) if names else _results(output, report)


def _results(output: OutputFlags, page: ReportFlags) -> int:
    with progress("holding out", output, lines=True) as on_progress:
        result = podsim.validate(on_progress=on_progress)
    _give(result, output, page)
    return ExitCode.NO if result.misses else ExitCode.ANSWERED


def _microbenchmarks(output: OutputFlags, page: ReportFlags) -> int:
    with progress("predicting", output) as on_progress:
        report = podsim.microbenchmarks(on_progress=on_progress)
    _give(report, output, page)
    return ExitCode.NO if report.misses else ExitCode.ANSWERED


def _comparators(output: OutputFlags, page: ReportFlags) -> int:
    with progress("holding out", output, lines=True) as on_progress:
        report = podsim.validate_comparators(on_progress=on_progress)
    _give(report, output, page)
    return ExitCode.NO if report.misses else ExitCode.ANSWERED


def _claims(output: OutputFlags, page: ReportFlags) -> int:
    with progress("asking", output) as on_progress:
        report = podsim.claims(on_progress=on_progress)
    _give(report, output, page)
    return ExitCode.ANSWERED


def _validate_published(output: OutputFlags, page: ReportFlags) -> int:
    with progress("predicting", output) as on_progress:
        report = podsim.validate_published(on_progress=on_progress)
    _give(report, output, page)
    return ExitCode.NO if any_missed(report) else ExitCode.ANSWERED


def _coverage(output: OutputFlags, page: ReportFlags) -> int:
    with progress("holding out", output, lines=True) as on_progress:
        report = podsim.coverage(on_progress=on_progress)
    _give(report, output, page)
    return ExitCode.NO if report.misses else ExitCode.ANSWERED


def _hold_outs(output: OutputFlags, page: ReportFlags) -> int:
    with progress("holding out", output, lines=True) as on_progress:
        report = podsim.hold_outs(on_progress=on_progress)
    _give(report, output, page)
    return ExitCode.ANSWERED


def _freeze(output: OutputFlags, page: ReportFlags) -> int:
    with progress("predicting again", output) as on_progress:
        report = answer_then_raise(partial(podsim.freeze, on_progress=on_progress))
    _give(report, output, page)
    return ExitCode.ANSWERED


def _give(answer: object, output: OutputFlags, page: ReportFlags) -> None:
    give_answer(output, answer)
    save_answer(page, output, answer, {})


MODES = {
    "microbenchmarks": _microbenchmarks,
    "comparators": _comparators,
    "claims": _claims,
    "published": _validate_published,
    "coverage": _coverage,
    "hold-outs": _hold_outs,
    "freeze": _freeze,
}
"""What each flag of `validate` asks instead, in the order of the flags."""
