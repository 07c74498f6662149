"""How far a share of fake reports shifts the estimate of each feature at most, before anybody is asked."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bcdp.compare.baselines import is_mean
from bcdp.errors import refuse
from bcdp.plan import Plan
from bcdp.plan.mechanism import mechanism_of
from bcdp.present.words import number
from bcdp.statistics import LARGEST_SHARE_OF_FAKES, LISTED, headline


def fake_shifts(plan: Plan, liars: float) -> dict[str, float]:
    """Of each feature that is asked, in own units; of frequencies, the one that moves most.

    >>> from bcdp import Policy, make_plan
    >>> plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    >>> round(fake_shifts(plan, 0.01)["smoker"], 4)  # 1 / tanh(1/2) + 1, a hundredth of it, half of the scale
    0.0158
    """
    if not 0 <= liars < LARGEST_SHARE_OF_FAKES:
        raise refuse("--liars", liars, f"a number of at least 0 and below {LARGEST_SHARE_OF_FAKES}")
    mechanism, policy = mechanism_of(plan), plan.policy
    shifts = {}
    for name, feature in policy.features.items():
        target = headline(policy, name)
        single = is_mean(policy, name) and target.size(policy) == 1
        scale, span = ((feature.span[1] - feature.span[0]) / 2, (-1.0, 1.0)) if single else (1.0, (0.0, 1.0))
        size = target.size(policy)
        rows = np.eye(size) if size <= LISTED else np.eye(1, size)  # a geometry treats all its points alike
        moved = [mechanism.largest_shift(plan, target, row, liars, span) for row in rows]
        known = [shift for shift in moved if shift is not None]
        if known:
            shifts[name] = min(max(known) * scale, scale * (span[1] - span[0]))
    return shifts


def fake_lines(shifts: Mapping[str, float], liars: float) -> list[str]:
    """The shifts in sentences, the condition first."""
    if not shifts:
        return []
    listed = ", ".join(f"{name} by up to {number(shift)}" for name, shift in shifts.items())
    return [f"If {100 * liars:g}% of the reports are fake, they can shift {listed} (any population, many people).", ""]
