"""What to do where the answers do not determine the coefficients of a regression: the cheapest remedies, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bcdp.policy import Policy
from bcdp.statistics.regression.design_matrix import Design, without
from bcdp.statistics.regression.least_squares import Centred, determined

Array = npt.NDArray[np.float64]

_FEW_DRAWS = 250  # to look for a remedy


def remedy(policy: Policy, design: Design, moments: Centred, deviations: Centred, people: str | None) -> str:
    """Which values to merge, which features to leave out, or how many people to ask, in one sentence."""
    columns = design[:-1]
    ways = []
    merged = _merging(policy, columns, moments.matrix, deviations.matrix)
    if merged:
        ways.append(f"merge the values of {_listed(merged)} into two")
    left_out = _leaving_out(columns, moments.matrix, deviations.matrix)
    if left_out and not (merged and len(left_out) >= len(merged)):
        ways.append(f"leave out {_listed(left_out)}")
    if people is not None:
        ways.append(f"collect {people}")
    return f"The answers do not determine the coefficients: {' or '.join(ways) or 'regress on fewer features'}."


def people_in_words(enough: int, least: int | None, most: int | None) -> str:
    """How many people are enough, and how uncertain that is.

    >>> people_in_words(380_000, 90_000, None)
    'about 380,000 people (that is uncertain: with a chance of 80% 90,000 people or many more)'
    """
    if least is None:
        return f"about {enough:,} people (that is uncertain: it may be many more)"
    ends = f"{least:,} people or many more" if most is None else f"{least:,} to {most:,} people"
    return f"about {enough:,} people (that is uncertain: with a chance of 80% {ends})"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " and " * (len(names) > 1) + names[-1]


def _leaving_out(columns: Design, matrix: Array, deviations: Array) -> list[str]:
    """Few features whose absence lets the rest be determined: one by one, the one whose absence helps most."""
    names, gone = list(dict.fromkeys(column.term for column in columns)), list[str]()
    deviations = deviations[:_FEW_DRAWS]
    while len(gone) < len(names) // 2:
        options = [name for name in names if name not in gone]
        after = {name: kept for name in options if (kept := without(columns, [*gone, name])).any()}
        least = {name: _lowest(matrix, deviations, kept) for name, kept in after.items()}
        best = max(least, key=lambda name: least[name])
        gone.append(best)
        kept = after[best]
        if determined(matrix[np.ix_(kept, kept)], deviations[:, kept][:, :, kept]):
            return gone
    return []


def _lowest(matrix: Array, deviations: Array, kept: npt.NDArray[np.bool_]) -> float:
    """How far the lowest eigenvalue stands out of its noise, in units of what is kept."""
    part = matrix[np.ix_(kept, kept)]
    values = np.linalg.eigvalsh(part + deviations[:, kept][:, :, kept])[:, 0]
    return float(values.mean() / max(values.std(), 1e-12))


def _merging(policy: Policy, columns: Design, matrix: Array, deviations: Array) -> list[str]:
    """The features whose values have to be merged into two for all to be determined; none if that does not do it."""
    terms = [column.term for column in columns]
    many = [name for name in dict.fromkeys(terms) if terms.count(name) > 1]
    for count in range(1, len(many) + 1):
        for some in (many[:count],) if count > 1 else [[name] for name in many]:
            groups = [column.term if {*column.features} & {*some} else column.name(policy) for column in columns]
            sums = np.array([[float(group == merged) for group in groups] for merged in dict.fromkeys(groups)])
            if determined(sums @ matrix @ sums.T, sums @ deviations @ sums.T):
                return list(some)
    return []
