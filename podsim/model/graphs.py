"""Sizes of models of graphs and of tables as workload files state them: SchNet, and recommenders like DLRM."""

from dataclasses import dataclass, fields

from podsim.model.quantity import Count, Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class SchNet:
    """Message passing over the nearest neighbours of atoms; a row is a pack of graphs, padded to so many nodes."""

    nodes: Count
    graphs: Count
    neighbours: Count
    features: Count
    interactions: Count
    gaussians: Count
    atoms: Count
    cutoff: Positive

    def __post_init__(self) -> None:
        for field in fields(self):
            if not getattr(self, field.name) > 0:
                raise ValueError(f"{field.name}: must be above 0")
        if self.neighbours >= self.nodes:
            raise ValueError(f"neighbours: {self.neighbours} of {self.nodes} nodes, itself among them")
        if self.features < 2:
            raise ValueError("features: must be at least 2, the readout has half as many")

    @property
    def edges(self) -> int:
        """Of a row: as many as neighbours for every node, beyond the cutoff with a weight of 0."""
        return self.nodes * self.neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Dlrm:
    """Tables of categories and layers over numbers; all vectors meet in pairs, and layers over what that gives.

    A category's vector is `pieces` rows of its table next to each other, each `table_width` wide. One table serves
    all `categories` where `tables` has one entry.
    """

    numbers: Count
    categories: Count
    tables: tuple[Count, ...]
    table_width: Count
    pieces: Count = 1
    bottom: tuple[Count, ...]
    top: tuple[Count, ...]

    def __post_init__(self) -> None:
        sizes = (self.numbers, self.categories, self.table_width, self.pieces, *self.tables, *self.bottom, *self.top)
        if min(sizes) < 1 or not (self.tables and self.bottom and self.top):
            raise ValueError("tables: tables, bottom and top need an entry, and every size must be at least 1")
        if len(self.tables) not in (1, self.categories):
            raise ValueError(f"tables: one for all {self.categories} categories or one for each")
        if self.bottom[-1] != self.width:
            raise ValueError(f"bottom: must end with {self.width}, the width of a category's vector")

    @property
    def width(self) -> int:
        """Of a category's vector."""
        return self.pieces * self.table_width

    @property
    def vectors(self) -> int:
        """Of categories, and that of the numbers."""
        return self.categories + 1
