"""What one person has spent over several releases: `c` and `epsilon` add up, also adaptively; `delta` does not.

The conversion to `delta` is applied once, to the sums (docs/theory.md, section 2, composition).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from bcdp.errors import refuse
from bcdp.notions import bcdp_from


@dataclass(frozen=True)
class Release:
    """One thing that left the device: its LDP level and, per feature that it touched, its CDP level."""

    name: str
    epsilon: float
    c: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for where, level in (
            ("epsilon", self.epsilon),
            *((f"c.{feature}", level) for feature, level in self.c.items()),
        ):
            if not level >= 0:
                raise refuse(f"release '{self.name}', {where}", level, "a number of at least 0")


@dataclass(frozen=True)
class Ledger:
    """The releases of one person so far; adding one gives a new ledger.

    >>> spent = Ledger().add(Release("spring", 1.0, {"smoker": 0.1})).add(Release("autumn", 1.0, {"income": 0.3}))
    >>> spent.epsilon, spent.c("smoker"), round(spent.delta("smoker", q=0.05), 3)
    (2.0, 0.1, 0.349)
    """

    releases: tuple[Release, ...] = ()

    def add(self, release: Release) -> Ledger:
        """The ledger with one more release, whatever that release depended on before it."""
        return Ledger((*self.releases, release))

    @property
    def epsilon(self) -> float:
        """The LDP level of everything together."""
        return math.fsum(release.epsilon for release in self.releases)

    def c(self, feature: str) -> float:
        """The CDP level of everything together for one feature: never above `epsilon`."""
        return math.fsum(min(release.c.get(feature, 0.0), release.epsilon) for release in self.releases)

    def delta(self, feature: str, q: float) -> float:
        """The BCDP level of everything together, `q` bounding how the other features asked depend on this one."""
        return float(bcdp_from(self.c(feature), self.epsilon, q))
