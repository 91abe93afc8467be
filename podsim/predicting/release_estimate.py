"""What a release of the software without logs is taken for (Eq. 56)."""

import math
from dataclasses import replace
from statistics import fmean, stdev

from podsim.errors import InputError, MissingParameter
from podsim.model.calibration import ParameterSet
from podsim.model.maturity import Maturity, Releases, SpeedUp
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.parameters import SOFTWARE
from podsim.model.quantity import Grade


def version(name: str) -> tuple[int, ...]:
    """A release as numbers, to be compared."""
    return tuple(int(part) for part in name.split("."))


def newest(parameters: ParameterSet) -> str:
    """The newest release with published runs in the fit."""
    return max(parameters.sdks, key=version)


def maturity(sdk: str, workload: str, parameters: ParameterSet, releases: Releases) -> Maturity | None:
    """What `sdk` is taken for; None where it is calibrated.

    Raises InputError: no such release. MissingParameter: nothing ties it to a calibrated one.
    """
    if sdk in parameters.sdks:
        return None
    if sdk not in {release.name for release in releases.releases}:
        raise _unknown_release(sdk, parameters, releases)
    last = newest(parameters)
    if last in {release.name for release in releases.releases} and releases.years_between(last, sdk) > 0:
        return _later(sdk, parameters, releases)
    return _earlier(sdk, workload, parameters, releases)


def apply_maturity(parameters: ParameterSet, maturity: Maturity | None) -> ParameterSet:
    """The parameters, in SI units, with the costs of software as a release without published runs has them (Eq. 56).

    Parameters: `parameters`, as fitted; `maturity`, with the factor on costs of software, None for a calibrated
    release. Result: the parameters with program.stretch, rack.step and the cost of sharded state times the factor.

    Equation: cost × factor. Validity: one factor for all that is software's alone; links, configurations and the
    relative errors of parameters stay those of the nearest release with runs; new schedules or collectives of a release
    are left out. Source: calibration/sdk.toml.
    """
    if maturity is None:
        return parameters
    fitted_parameters = {
        name: replace(item, value=item.value * maturity.factor) if name in SOFTWARE else item
        for name, item in parameters.fitted.items()
    }
    return replace(parameters, fitted=fitted_parameters)


def _unknown_release(sdk: str, parameters: ParameterSet, releases: Releases) -> InputError:
    others = [release.name for release in releases.releases if release.name not in parameters.sdks]
    context = [f"calibrated: {', '.join(sorted(parameters.sdks, key=version))}"]
    if others:
        context.append(f"by claims or extrapolation: {', '.join(sorted(others, key=version))}")
    return InputError(
        f"SDK {sdk} is not known",
        code="unknown-sdk",
        context=context,
        hint="to add a release, give its month as a [[release]] in calibration/sdk.toml",
    )


def _earlier(sdk: str, workload: str, parameters: ParameterSet, releases: Releases) -> Maturity:
    """An older release by published factors: that of the workload, else the geometric mean over workloads."""
    claims = [claim for claim in releases.speedups if claim.since == sdk and claim.until in parameters.sdks]
    if not claims:
        raise MissingParameter(f"no speed-up of SDK {sdk} is known", hint="add a [[speedup]] to calibration/sdk.toml")
    like = claims[0].until
    own = [claim for claim in claims if claim.workload == workload and claim.until == like]
    ups = own or [claim for claim in claims if claim.until == like]
    factor, spread = _together(ups)
    error = math.hypot(releases.claim_error, spread)
    return Maturity(
        like=like,
        factor=factor,
        error=error,
        grade=Grade.EXTRAPOLATED if own else Grade.ASSUMED,
        basis=AnswerNote.of(
            NoteCode.SDK_CLAIMED if own else NoteCode.SDK_CLAIMED_FOR_OTHERS,
            sdk=sdk,
            like=like,
            factor=factor,
            error=error,
            workloads=(workload,) if own else tuple(claim.workload for claim in ups),
        ),
    )


def _later(sdk: str, parameters: ParameterSet, releases: Releases) -> Maturity:
    """A newer release: gains go on, each year by less, at the decay seen so far; the doubt is the last gain going on.

    One standard error is the distance to a law without decay (Eq. 56).
    """
    like = newest(parameters)
    gain, gain_without_decay = later_gain(releases.years_between(like, sdk), parameters, releases)
    factor, error = math.exp(-gain), abs(gain_without_decay - gain)
    return Maturity(
        like=like,
        factor=factor,
        error=error,
        grade=Grade.EXTRAPOLATED,
        basis=AnswerNote.of(NoteCode.SDK_EXTRAPOLATED, sdk=sdk, like=like, factor=factor, error=error),
    )


def later_gain(years: float, parameters: ParameterSet, releases: Releases) -> tuple[float, float]:
    """Log gain of a later release, and that of the last pace without decay [1] (Eq. 56).

    Parameters: `years`, from the newest calibrated release on; `parameters`, fitted, with factors of releases;
    `releases`, their months and the vendor's factors. Result: two logs of time, positive where the later release is
    quicker. Errors: `MissingParameter` where no two gains before it show a pace and its decay.

    Equation: gain = now / decay × (1 − exp(−decay × years)); without decay pace × years. The last pace is that since
    the last release that the fit tells apart from the newest. Validity: gains that shrink exponentially, by two of
    them, so that nothing tests the law; 0 where the last pace is none; all claims up to that release are since one
    release. Source: calibration/sdk.toml.
    """
    sdks = [sdk for sdk in parameters.sdks if sdk in {release.name for release in releases.releases}]
    ascending_sdks = sorted(sdks, key=version)
    slower = [sdk for sdk in ascending_sdks[:-1] if parameters.program(sdk) != parameters.program(ascending_sdks[-1])]
    claims = [claim for claim in releases.speedups if slower and claim.until == slower[-1]]
    if not claims:
        raise MissingParameter(
            "releases later than the newest calibrated need two earlier gains to go by",
            hint="calibrate with points of two releases",
        )
    before, last = slower[-1], ascending_sdks[-1]
    span, earlier_span = releases.years_between(before, last), releases.years_between(claims[0].since, before)
    pace = math.log(parameters.program(before) / parameters.program(last)) / span
    earlier = math.log(_together(claims)[0]) / earlier_span
    if pace <= 0:
        return 0.0, pace * years
    decay = max(0.0, math.log(max(earlier, pace) / pace) / ((span + earlier_span) / 2))
    now = pace * math.exp(-decay * span / 2)
    return (now / decay * -math.expm1(-decay * years) if decay else now * years), pace * years


def _together(claims: list[SpeedUp]) -> tuple[float, float]:
    """Geometric mean of published factors, and the spread of their logs."""
    logs = [math.log(claim.factor) for claim in claims]
    return math.exp(fmean(logs)), stdev(logs) if len(logs) > 1 else 0.0
