"""Exact privacy levels of a finite prior and a finite mechanism (theory.md, section 1).

A prior is an array of shape `k_1 x .. x k_d`, a kernel has one more axis: the output. Every level is a maximum over
single values and single outputs, so each is a few array reductions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse

Array = npt.NDArray[np.float64]

_SUM_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Levels:
    """The four levels, in nats: `ldp` and `bdp` for the whole record, `cdp` and `bcdp` one number per feature."""

    ldp: float
    bdp: float
    cdp: Array
    bcdp: Array


def _check_prior(prior: npt.ArrayLike) -> Array:
    array = np.asarray(prior, dtype=np.float64)
    if array.ndim == 0 or array.size == 0:
        raise refuse("prior", np.shape(prior), "an array with one axis per feature")
    if not np.all(np.isfinite(array)) or np.any(array < 0) or abs(array.sum() - 1) > _SUM_TOLERANCE:
        raise refuse("prior", f"entries summing to {array.sum():.6g}", "probabilities: at least 0, summing to 1")
    return array


def _check_kernel(kernel: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    array = np.asarray(kernel, dtype=np.float64)
    if array.ndim != len(shape) + 1 or array.shape[:-1] != shape or array.shape[-1] == 0:
        raise refuse("kernel", f"shape {array.shape}", f"the prior's shape {shape} and one last axis for the outputs")
    if not np.all(np.isfinite(array)) or np.any(array < 0) or np.any(abs(array.sum(-1) - 1) > _SUM_TOLERANCE):
        raise refuse("kernel", "rows that are no probabilities", "for each record, outputs at least 0, summing to 1")
    return array


def _log_ratio(high: Array, low: Array) -> Array:
    """`log(high / low)` where `high >= low >= 0`: infinite against 0, and 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        excess = (high - low) / low
    return np.log1p(np.where(high == low, 0.0, excess))


def conditional_kernel(prior: npt.ArrayLike, kernel: npt.ArrayLike, feature: int) -> Array:
    """The distribution of the output given each value of one feature: `k_i x outputs`, NaN for values of probability 0.

    >>> copies_the_second = [[[1, 0], [0, 1]], [[1, 0], [0, 1]]]
    >>> conditional_kernel([[0.5, 0], [0.25, 0.25]], copies_the_second, feature=0).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    prior = _check_prior(prior)
    kernel = _check_kernel(kernel, prior.shape)
    if not 0 <= feature < prior.ndim:
        raise refuse("feature", feature, f"a number from 0 to {prior.ndim - 1}")
    return _given_values(prior, kernel, feature)


def _given_values(prior: Array, kernel: Array, feature: int) -> Array:
    others = tuple(axis for axis in range(prior.ndim) if axis != feature)
    mass = prior.sum(axis=others)
    joint = np.einsum("ab,abc->ac", _feature_first(prior, feature), _feature_first(kernel, feature, outputs=1))
    given: Array = joint / np.where(mass > 0, mass, np.nan)[:, None]
    return given


def _feature_first(array: Array, feature: int, outputs: int = 0) -> Array:
    """`k_i x (everything else flattened)`, with a last axis of outputs where there is one."""
    moved = np.moveaxis(array, feature, 0)
    return moved.reshape(moved.shape[0], -1, *moved.shape[array.ndim - outputs :])


def levels(prior: npt.ArrayLike, kernel: npt.ArrayLike) -> Levels:
    """The exact LDP, BDP, CDP and BCDP levels; infinite where the truth is.

    >>> levels([[0.25, 0.25], [0.25, 0.25]], [[[0.5, 0.5], [1, 0]], [[0.5, 0.5], [0.5, 0.5]]]).ldp
    inf
    """
    prior = _check_prior(prior)
    kernel = _check_kernel(kernel, prior.shape)
    outputs = kernel.shape[-1]
    records = kernel.reshape(-1, outputs)
    possible = records[prior.reshape(-1) > 0]
    cdp, bcdp = np.empty(prior.ndim), np.empty(prior.ndim)
    for feature in range(prior.ndim):
        cdp[feature] = _log_ratio(kernel.max(axis=feature), kernel.min(axis=feature)).max()
        given = _given_values(prior, kernel, feature)
        bcdp[feature] = _log_ratio(np.nanmax(given, axis=0), np.nanmin(given, axis=0)).max()
    return Levels(
        ldp=float(_log_ratio(records.max(axis=0), records.min(axis=0)).max()),
        bdp=float(_log_ratio(possible.max(axis=0), possible.min(axis=0)).max()),
        cdp=cdp,
        bcdp=bcdp,
    )


def total_variation(laws: npt.ArrayLike) -> Array:
    """The total-variation distance between every two rows of `laws` (NaN rows are at distance 0).

    >>> total_variation([[0.5, 0.5], [1, 0]]).tolist()
    [[0.0, 0.5], [0.5, 0.0]]
    """
    array = np.asarray(laws, dtype=np.float64)
    distance: Array = np.array([np.abs(array - row).sum(axis=1) / 2 for row in array])
    return np.minimum(np.nan_to_num(distance), 1.0)


def largest_ratio(laws: npt.ArrayLike) -> float:
    """The largest ratio of one row of `laws` to another at one place; infinite against 0, and 0/0 counts as 1.

    >>> largest_ratio([[0.5, 0.5, 0], [0.25, 0.75, 0]]), largest_ratio([[0.5, 0.5], [1, 0]])
    (2.0, inf)
    """
    array = np.asarray(laws, dtype=np.float64)
    high, low = array.max(axis=0), array.min(axis=0)
    possible = high > 0
    with np.errstate(divide="ignore"):
        return float((high[possible] / low[possible]).max())


def dobrushin(prior: npt.ArrayLike, feature: int, others: tuple[int, ...] | None = None) -> float:
    """`q_i`: the largest total-variation distance of the `others` (all, by default) given two values of `feature`.

    >>> dobrushin([[0.5, 0.0], [0.0, 0.5]], 0)  # two copies of one value
    1.0
    """
    return float(total_variation(_laws_of_others(prior, feature, others)).max())


def odds(prior: npt.ArrayLike, feature: int, others: tuple[int, ...] | None = None) -> float:
    """How many times knowing the `others` (all, by default) could move the odds of a guess about `feature`.

    >>> odds([[0.4, 0.1], [0.1, 0.4]], 0), odds([[0.5, 0.0], [0.0, 0.5]], 0)
    (4.0, inf)
    """
    return largest_ratio(_laws_of_others(prior, feature, others))


def _laws_of_others(prior: npt.ArrayLike, feature: int, others: tuple[int, ...] | None) -> Array:
    """The distribution of the others for each value of the feature that can occur."""
    prior = _check_prior(prior)
    if not 0 <= feature < prior.ndim:
        raise refuse("feature", feature, f"a number from 0 to {prior.ndim - 1}")
    kept = set(range(prior.ndim) if others is None else others) | {feature}
    if not kept <= set(range(prior.ndim)):
        raise refuse("others", others, f"numbers from 0 to {prior.ndim - 1}")
    marginal = prior.sum(axis=tuple(axis for axis in range(prior.ndim) if axis not in kept))
    table = _feature_first(marginal, sorted(kept).index(feature))
    mass = table.sum(axis=1, keepdims=True)
    return np.asarray(table[mass[:, 0] > 0] / mass[mass[:, 0] > 0])
