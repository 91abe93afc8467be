"""podsim: a scaling-law performance simulator and capacity planner for Graphcore IPU systems."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podsim.api import *  # noqa: F403  (what `podsim.api` lists)


def __getattr__(name: str) -> Any:  # noqa: ANN401  (a module attribute may be anything)
    """The verbs of `podsim.api`, loaded when first used; `__all__` is the table of verbs."""
    from podsim.model.verbs import VERBS

    if name == "__all__":
        return ["Scenario", *VERBS]
    if name in VERBS or name == "Scenario":
        from podsim import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The verbs, and what a module has."""
    return sorted({*globals(), *__getattr__("__all__")})
