"""How each kind of file becomes what it says; the types of a kind are loaded with the first file of it."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from podsim.files import fabrics, free
from podsim.files.families import FamilyFile
from podsim.files.free import form_faults
from podsim.files.load import Loaded
from podsim.files.read import Document, document
from podsim.model.calibration import ParameterSet
from podsim.model.chip import Chip
from podsim.model.free import FreeParameters
from podsim.model.prices import PriceList
from podsim.model.training import Convergence

if TYPE_CHECKING:
    from podsim.model.claims import ClaimsFile
    from podsim.model.fabric import GenericFabric
    from podsim.model.framework_costs import FrameworkCosts
    from podsim.model.goodput import Failures
    from podsim.model.maturity import Releases
    from podsim.model.noise import Noise
    from podsim.model.readings import ReadingsFile
    from podsim.model.sweep import SweepFile
    from podsim.model.validation import FrozenFile


def frozen(loaded: Loaded) -> "Document[FrozenFile]":
    """The predictions that are meant to stay."""
    from podsim.model.validation import FrozenFile

    return document(loaded, FrozenFile)


def _fabric(loaded: Loaded) -> "Document[GenericFabric]":
    return fabrics.of_file(loaded)


def _noise(loaded: Loaded) -> "Document[Noise]":
    from podsim.files import noise
    from podsim.model.noise import Noise

    return document(loaded, Noise, noise.faults)


def _failures(loaded: Loaded) -> "Document[Failures]":
    from podsim.files import failures
    from podsim.model.goodput import Failures

    return document(loaded, Failures, failures.faults)


def _comparator(loaded: Loaded) -> Document[Any]:
    from podsim.model.comparator import ComparatorChip

    return document(loaded, ComparatorChip)


def _laws(loaded: Loaded) -> Document[Any]:
    from podsim.model.comparator import Laws

    return document(loaded, Laws)


def _claims(loaded: Loaded) -> "Document[ClaimsFile]":
    from podsim.files import claims
    from podsim.model.claims import ClaimsFile

    return document(loaded, ClaimsFile, claims.faults)


def _readings(loaded: Loaded) -> "Document[ReadingsFile]":
    from podsim.files import readings
    from podsim.model.readings import ReadingsFile

    return document(loaded, ReadingsFile, readings.faults)


def _prices(loaded: Loaded) -> "Document[PriceList]":
    from podsim.files import prices

    return document(loaded, PriceList, prices.faults, alone=False)


def _mix(loaded: Loaded) -> Document[Any]:
    from podsim.files import mixes

    return mixes.of_loaded(loaded)


def _phases(loaded: Loaded) -> Document[Any]:
    from podsim.files import run_phases

    return run_phases.of_loaded(loaded)


def _loss_laws(loaded: Loaded) -> Document[Any]:
    from podsim.files import loss_laws
    from podsim.model.loss_laws import LossLaws

    return document(loaded, LossLaws, loss_laws.faults)


def _free(loaded: Loaded) -> "Document[FreeParameters]":
    return document(loaded, FreeParameters, free.faults)


def _frameworks(loaded: Loaded) -> "Document[FrameworkCosts]":
    from podsim.files import frameworks
    from podsim.model.framework_costs import FrameworkCosts

    return document(loaded, FrameworkCosts, frameworks.faults)


def _releases(loaded: Loaded) -> "Document[Releases]":
    from podsim.files import releases
    from podsim.model.maturity import Releases

    return document(loaded, Releases, releases.faults)


def _configurations(loaded: Loaded) -> Document[Any]:
    from podsim.files import configurations

    return configurations.of_loaded(loaded)


def _tensor_parallel(loaded: Loaded) -> Document[Any]:
    from podsim.files import tensor_parallel

    return tensor_parallel.of_loaded(loaded)


def _sampler(loaded: Loaded) -> Document[Any]:
    from podsim.files import samplers

    return samplers.of_loaded(loaded)


def _sweep(loaded: Loaded) -> "Document[SweepFile]":
    from podsim.files import sweeps

    return sweeps.of_file(loaded)


def _scenario(loaded: Loaded) -> Document[Any]:
    from podsim.files import scenarios

    return scenarios.of_loaded(loaded)


READERS: Final[Mapping[str, Callable[[Loaded], Document[Any]]]] = {
    "chip": lambda loaded: document(loaded, Chip),
    "fabric": _fabric,
    "family": lambda loaded: document(loaded, FamilyFile),
    "convergence": lambda loaded: document(loaded, Convergence),
    "parameters": lambda loaded: document(loaded, ParameterSet, form_faults),
    "free": _free,
    "frameworks": _frameworks,
    "sdk": _releases,
    "frozen": frozen,
    "noise": _noise,
    "failures": _failures,
    "comparator": _comparator,
    "laws": _laws,
    "claims": _claims,
    "readings": _readings,
    "prices": _prices,
    "mix": _mix,
    "scenario": _scenario,
    "phases": _phases,
    "losses": _loss_laws,
    "sweep": _sweep,
    "configurations": _configurations,
    "tensor-parallel": _tensor_parallel,
    "sampler": _sampler,
}
