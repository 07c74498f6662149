"""The paper's mean mechanism: nested channels, each over the features whose budget reaches its level.

A feature takes part in the channels up to its own budget, so the release is c_i-CDP in feature i and (max c)-LDP; the
server weighs the channels by their inverse variance (theory.md, sections 2 and 3).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bcdp.errors import refuse
from bcdp.mechanisms.cascade.bits import keep_weight
from bcdp.mechanisms.cascade.channels import DUCHI, ChannelFamily
from bcdp.mechanisms.cascade.checks import (
    Array,
    Randomness,
    as_draws,
    check_budgets,
    check_number,
    check_people,
    check_records,
    numbers,
)
from bcdp.randomness import Draws


@dataclass(frozen=True, eq=False)
class OpenChannel:
    """One channel of the cascade: the indices of its features, its weight and one coordinate's second moment."""

    features: npt.NDArray[np.intp]
    keep: int  # out of 2^32: what protects, and all that protects
    variance: float


@dataclass(frozen=True, eq=False)
class MeanEstimate:
    """The estimated mean of each feature and its standard error; NaN for a feature that was not released."""

    value: Array
    standard_error: Array


def open_channel(features: npt.NDArray[np.intp], keep: int, channel: ChannelFamily = DUCHI) -> OpenChannel:
    """The channel over some features with a given weight."""
    return OpenChannel(features, keep, channel.variance(features.size, keep))


def open_channels(c: npt.ArrayLike, channel: ChannelFamily = DUCHI) -> list[OpenChannel]:
    """The channels that budgets `c` ask for, smallest level first: one for each distinct positive budget.

    A step too small for the channel's integers opens none and is left to the next level.

    >>> [channel.features.tolist() for channel in open_channels([0.5, 2.0, 0.5])]
    [[0, 1, 2], [1]]
    """
    budgets = check_budgets(c)
    opened, spent = [], 0.0
    for level in np.unique(budgets[budgets > 0]):
        features = np.flatnonzero(budgets >= level)
        budget = math.nextafter(float(level) - spent, 0.0)  # rounded down: the steps never add up to more than c
        step = open_channel(features, keep_weight(budget), channel)
        if math.isfinite(step.variance):
            opened.append(step)
            spent = float(level)
    return opened


def _precision(channels: Sequence[OpenChannel], features: int) -> Array:
    """The summed inverse variances of each feature's channels; 0 for a feature in none."""
    precision = np.zeros(features)
    for opened in channels:
        precision[opened.features] += 1 / opened.variance
    return precision


def average(channels: Sequence[OpenChannel], values: Iterable[Array | float], shape: tuple[int, ...]) -> Array:
    """The average of what the channels say of each feature, the last axis, by precision; NaN where none speaks."""
    total = np.zeros(shape)
    for opened, value in zip(channels, values, strict=True):
        total[..., opened.features] += value / opened.variance
    precision = _precision(channels, shape[-1])
    return total / np.where(precision > 0, precision, np.nan)


def least_variances(channels: Sequence[OpenChannel], features: int) -> Array:
    """The variance of each coordinate's release at -1 and 1, where it is least; NaN where none speaks.

    With the weights s_k of the average it is `sum_k s_k^2 (V_k - 1)` (theory.md, section 3, Proposition 6).
    """
    weighted = average(channels, [(opened.variance - 1) / opened.variance for opened in channels], (features,))
    with np.errstate(divide="ignore"):
        return np.asarray(weighted / _precision(channels, features))


def run_channels(
    records: Array, channels: Sequence[OpenChannel], draws: Draws, channel: ChannelFamily = DUCHI
) -> Array:
    """Unbiased private estimates of records in [-1, 1]^(n x d): each channel runs once, with its own weight."""
    released = (channel.release(records[:, opened.features], opened.keep, draws) for opened in channels)
    return average(channels, released, records.shape)


def mean_mechanism(x: npt.ArrayLike, c: npt.ArrayLike, rng: Randomness = None, channel: ChannelFamily = DUCHI) -> Array:
    """Unbiased private estimates of the records `x` in [-1, 1]^(n x d), shape (n, d): c-CDP and (max c)-LDP.

    A feature whose budget is 0 is not released: its estimates are NaN.

    >>> reports = mean_mechanism([[0.5, -1.0, 1.0]] * 4, c=[0.2, 2.0, 2.0])
    >>> reports.shape
    (4, 3)
    """
    records = check_records(x)
    people, features = records.shape
    channels = open_channels(check_budgets(c, features), channel)
    return run_channels(records, channels, as_draws(rng, people), channel)


def estimate_mean(reports: npt.ArrayLike, project: bool = False) -> MeanEstimate:
    """The mean over people of reports of shape (n, d), with standard errors; `project` clips the mean to [-1, 1].

    One report says nothing of its own spread: its standard error is NaN.

    >>> estimate_mean([[3.0], [-1.0]]).value, estimate_mean([[3.0], [-1.0]]).standard_error
    (array([1.]), array([2.]))
    """
    accepted = "an array of shape (people, features), neither 0"
    array = numbers("reports", reports, accepted)
    if array.ndim != 2 or array.size == 0:
        raise refuse("reports", f"shape {array.shape}", accepted)
    people, features = array.shape
    value = array.mean(axis=0)
    error = array.std(axis=0, ddof=1) / math.sqrt(people) if people > 1 else np.full(features, np.nan)
    return MeanEstimate(np.clip(value, -1, 1) if project else value, error)


def predicted_error(c: npt.ArrayLike, n: int, channel: ChannelFamily = DUCHI) -> Array:
    """The expected squared error of each feature's mean over `n` people, unprojected; infinite if not released.

    Exact at records with value 0; elsewhere an upper bound, because the squared value is not subtracted. It includes
    the sampling error of a population with mean 0 and values -1 and 1.

    >>> float(predicted_error([0.2] * 10, n=10_000).sum().round(3))
    1.504
    """
    budgets = check_budgets(c)
    precision = _precision(open_channels(budgets, channel), budgets.size) * check_people(n)
    with np.errstate(divide="ignore"):
        return np.asarray(1 / precision)


def paper_bound(c: npt.ArrayLike, n: int) -> float:
    """The paper's bound on the total squared error, without its constant: `(1/n) sum_i 1 / sum_{k<=i} w_k`, at most d.

    It fails for large budgets, where it tends to 0 and the error does not (theory.md, section 3, erratum 6).

    >>> paper_bound([1.0, 1.0], n=100)
    0.04
    """
    budgets = np.sort(check_budgets(c))
    weights = np.diff(budgets, prepend=0.0) ** 2 / np.arange(budgets.size, 0, -1)
    with np.errstate(divide="ignore"):
        return float(min((1 / np.cumsum(weights)).sum() / check_people(n), budgets.size))


def corollary_bound(delta: float, epsilon: float, k: int, d: int, q: float, n: int) -> float:
    """The paper's bound (no constant, at most d) for `k` of `d` features with demand `delta`, the others `epsilon`.

    >>> corollary_bound(1.0, 4.0, k=1, d=2, q=0, n=16)  # (2 / 1 + 1 / 16) / 16
    0.12890625
    """
    check_number("delta", delta, 0, open_low=True)
    check_number("epsilon", epsilon, 2 * delta, open_low=True)
    check_number("q", q, 0, 1)
    check_number("d", d, 2)
    check_number("k", k, 1, d - 1)
    threshold = math.expm1(delta / 2) / math.expm1(epsilon)
    if q <= threshold:
        rest = epsilon**2
    else:
        largest = math.log1p(math.expm1(delta / 2) / q)
        rest = (d - k) / d * delta**2 + (largest - delta / 2) ** 2
    return min((d * k / delta**2 + (d - k) ** 2 / rest) / check_people(n), float(d))
