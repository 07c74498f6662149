"""What an adversary's best test can do: the exact trade-off between its two error rates (theory.md, section 1).

For two events about a feature, `H0: x_i in S` and `H1: x_i in S'`, a mechanism is `delta_i`-BCDP exactly when every
test has `exp(delta_i) * alpha + beta >= 1` and `alpha + exp(delta_i) * beta >= 1`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.notions.levels import conditional_kernel

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TradeOff:
    """The corners of the best tests' curve: false alarms `alpha` rise from 0 to 1, missed detections `beta` fall."""

    alpha: Array
    beta: Array
    level: float  # the smallest delta that allows the curve, from the outputs' own likelihood ratios


def allowed(delta: float, alpha: npt.ArrayLike) -> Array:
    """The least missed-detection rate that `delta` allows at false-alarm rate `alpha`.

    >>> allowed(0.0, [0.25, 1.0]).tolist()
    [0.75, 0.0]
    """
    alarm = np.asarray(alpha, dtype=np.float64)
    return np.maximum(np.maximum(1 - math.exp(delta) * alarm, math.exp(-delta) * (1 - alarm)), 0.0)


def trade_off(
    prior: npt.ArrayLike, kernel: npt.ArrayLike, feature: int, event: Sequence[int], against: Sequence[int]
) -> TradeOff:
    """The exact curve of the best tests of `x_i in event` against `x_i in against`, both sets of values.

    >>> curve = trade_off([0.5, 0.5], [[0.75, 0.25], [0.25, 0.75]], feature=0, event=[0], against=[1])
    >>> curve.alpha.tolist(), curve.beta.tolist(), round(math.exp(curve.level), 9)
    ([0.0, 0.25, 1.0], [1.0, 0.25, 0.0], 3.0)
    """
    given = conditional_kernel(prior, kernel, feature)
    axes = tuple(axis for axis in range(np.ndim(prior)) if axis != feature)
    mass = np.asarray(prior, dtype=np.float64).sum(axis=axes)
    laws = [_mixture(name, values, mass, given) for name, values in (("event", event), ("against", against))]
    seen = laws[0] + laws[1] > 0
    null, alternative = laws[0][seen], laws[1][seen]
    with np.errstate(divide="ignore"):
        evidence = np.log(alternative) - np.log(null)
    order = np.argsort(-evidence, kind="stable")
    alpha = np.concatenate([[0.0], np.cumsum(null[order])])
    missed = np.concatenate([np.cumsum(alternative[order][::-1])[::-1], [0.0]])
    return TradeOff(np.minimum(alpha, 1.0), np.minimum(missed, 1.0), float(np.abs(evidence).max()))


def _mixture(name: str, values: Sequence[int], mass: Array, given: Array) -> Array:
    chosen = np.unique(np.asarray(values, dtype=np.int64))
    if len(chosen) == 0 or chosen[0] < 0 or chosen[-1] >= len(mass) or mass[chosen].sum() == 0:
        raise refuse(name, list(values), f"values from 0 to {len(mass) - 1} with positive probability together")
    chosen = chosen[mass[chosen] > 0]
    return np.asarray(mass[chosen] @ given[chosen] / mass[chosen].sum())
