"""What draws itself in a notebook."""

from collections.abc import Callable
from typing import ClassVar


class Shown:
    """An answer; `podsim.api` says how one is drawn, so that no floor below knows how answers look."""

    __slots__ = ()

    page: ClassVar[Callable[[object], str] | None] = None

    def _repr_html_(self) -> str | None:
        """HTML for a notebook; None lets it fall back to text."""
        draw = Shown.page
        return draw(self) if draw else None
