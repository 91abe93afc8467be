"""What draws itself in a notebook."""

from functools import singledispatch


@singledispatch
def page(answer: object) -> str | None:  # noqa: ARG001  (a view that is registered looks at it)
    """An answer as HTML: `podsim.api.drawing` registers how, so that no floor below knows how answers look."""
    return None


class Displayable:
    """An answer that a notebook shows as a page."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """HTML for a notebook; None lets it fall back to text."""
        return page(self)
