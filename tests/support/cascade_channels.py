"""The channels of a cascade, right and broken ones, and a limit on sums of their releases."""

import math

import numpy as np

from bcdp.mechanisms.cascade import DuchiL2, Laplace, OneBit
from bcdp.mechanisms.cascade.bits import bit_level, keep_weight

CHANNELS = [DuchiL2(), OneBit(), Laplace()]


def bernstein(people, variance, bound, false_alarm=1e-9):
    """How far a mean of independent numbers may lie from its expectation, except with probability `false_alarm`."""
    log = math.log(2 / false_alarm)
    return bound * log / (3 * people) + math.sqrt((bound * log / (3 * people)) ** 2 + 2 * variance * log / people)


class Doubled(DuchiL2):
    """The paper's constant, twice too large."""

    def release(self, x, keep, draws):
        return 2 * super().release(x, keep, draws)


class Overconfident(DuchiL2):
    """A bit kept as for a budget 10% too high, decoded as for the right one."""

    def release(self, x, keep, draws):
        m, more = x.shape[1], keep_weight(1.1 * bit_level(keep))
        scale = math.sqrt(self.variance(m, keep) / self.variance(m, more))
        return scale * super().release(x, more, draws)


def corner(m):
    """A record with alternating signs, far from 0 in every coordinate."""
    return np.where(np.arange(m) % 2, -1.0, 1.0)
