"""What a curve of a picture is: a name, and how its procedure is prepared for one setting.

A procedure turns a batch of records into something that adds up over batches (sums or counts), and the total into an
estimate. Procedures compare by value: curves whose procedures are equal share one simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Setting = TypeVar("Setting", contravariant=True)

BATCH = 20_000  # people simulated at once, which bounds the memory and stays in the processor's cache


class Procedure(Protocol):
    """What people do, and what the server does. Frozen: equal procedures are the same procedure."""

    def __hash__(self) -> int: ...

    def tally(self, records: Array, rng: np.random.Generator) -> Array:
        """What the server keeps of the reports of these people, drawn through the real code; it adds up."""

    def estimate(self, tally: Array, people: int) -> Any:
        """The estimate from everybody's tally."""


@dataclass(frozen=True)
class Method:
    """A mechanism, a factor on its estimate, and the exact expected error of that (None where there is no formula).

    Without a mechanism the error is known and not simulated.
    """

    mechanism: Procedure | None
    predicted: float | None = None
    factor: float = 1.0


@dataclass(frozen=True)
class Curve(Generic[Setting]):
    """A name for the legend, and the method that it stands for in a given setting."""

    name: str
    prepare: Callable[[Setting], Method]


def simulate(
    mechanisms: Sequence[Procedure],
    draw: Callable[[int, np.random.Generator], Array],
    people: int,
    seed: Sequence[int],
) -> dict[Procedure, Any]:
    """The estimates of all mechanisms on the same `people`, whose records `draw(count, rng)` makes.

    Records and each mechanism have random streams of their own, so a mechanism added at the end changes no other.
    """
    distinct = list(dict.fromkeys(mechanisms))
    source, *streams = (np.random.default_rng([*seed, k]) for k in range(len(distinct) + 1))
    tallies: list[Any] = [0.0] * len(distinct)
    for start in range(0, people, BATCH):
        records = draw(min(BATCH, people - start), source)
        for k, mechanism in enumerate(distinct):
            tallies[k] = tallies[k] + mechanism.tally(records, streams[k])
    return {mechanism: mechanism.estimate(tally, people) for mechanism, tally in zip(distinct, tallies, strict=True)}
