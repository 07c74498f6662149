"""Weights of people by their open values: design weights, post-stratification, raking to known margins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse

Array = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]

_ROUNDS = 1000
_CLOSE = 1e-12


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the population: how many people, or which share, each cell of a margin has.

    `cell` has for each group of open values the cell that it belongs to.
    """

    name: str
    cell: Places
    people: Array
    cells: tuple[str, ...]  # in words

    def missed(self, held: Array) -> Array:
        """By which factor each cell has too few people, if the groups have so many; 1 for cells without any."""
        weighted = np.bincount(self.cell, held, len(self.people))
        return np.divide(self.people, weighted, out=np.ones_like(weighted), where=weighted > 0)


@dataclass(frozen=True, eq=False)
class Weighting:
    """The weights of groups of people: those of the design, made to fit every margin that is known.

    `strata` has for each group the stratum that it belongs to: how many people each stratum has was fixed beforehand.
    """

    design: Array
    strata: Places
    margins: Sequence[Known] = ()

    def weights(self, sizes: Array) -> Array:
        """The weight of a person of each group, if the groups have so many people; on average 1.

        Margins are met one after the other until none moves any more (iterative proportional fitting).
        """
        weights = self.design.copy()
        for margin in self.margins:
            empty = (margin.people > 0) & ~np.isin(np.arange(len(margin.people)), margin.cell[sizes > 0])
            if empty.any():
                problem = f"nobody with {margin.cells[int(empty.argmax())]}"
                raise refuse(f"weights by {margin.name}", problem, "margins whose values all occur, or put together")
        for _ in range(_ROUNDS):
            if all(abs(margin.missed(weights * sizes) - 1).max() <= _CLOSE for margin in self.margins):
                return np.asarray(weights * sizes.sum() / (weights @ sizes))
            for margin in self.margins:
                weights = weights * margin.missed(weights * sizes)[margin.cell]
        raise refuse("weights", "margins that no weights meet together", "margins of one population")

    @property
    def cells(self) -> Places:
        """Of each group the cell of the margin, where there is one."""
        return self.margins[0].cell if len(self.margins) == 1 else np.zeros(len(self.design), dtype=np.int64)

    def raised(self, sizes: Array, fewer: int) -> Array | None:
        """By which factor a person of each group counts more at most if so many people fewer are counted.

        Of one margin, a cell's people share its total by the weights of the design. Of several the factor is not known.
        Infinite where a cell could have nobody left.
        """
        if not self.margins:
            return np.ones_like(self.design)
        if len(self.margins) > 1:
            return None
        held = np.bincount(self.cells, sizes * self.design)
        most = np.zeros_like(held)
        np.maximum.at(most, self.cells, self.design)
        left = held - fewer * most
        factor = np.divide(held, left, out=np.full_like(held, np.inf), where=left > 0)
        return np.asarray(factor[self.cells])

    def fitted(self, sizes: Array, means: Array) -> Array:
        """Of what a person of each group adds on average, the part that the margins fix: it varies no more.

        One margin: the average over each of its cells, by the weights of the design. Several: the projection on all of
        them, each group counted by its people.
        """
        if not self.margins:
            return np.zeros_like(means)
        columns = [margin.cell[:, None] == np.arange(len(margin.people)) for margin in self.margins]
        root = np.sqrt(sizes if len(self.margins) > 1 else sizes * self.design)[:, None]
        design = np.concatenate(columns, axis=1) * root
        part = np.linalg.lstsq(design, np.nan_to_num(means) * root, rcond=None)[0]
        return np.asarray(np.concatenate(columns, axis=1) @ part)
