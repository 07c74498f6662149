"""The functions of `scipy.special` that are used here, imported when the first is called.

Importing them takes longer than all that reading a plan needs, and most who read one need none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["betaincinv", "chdtrc", "expit", "logit", "ndtr", "ndtri", "rel_entr", "stdtrit"]

if TYPE_CHECKING:
    from scipy.special import betaincinv, chdtrc, expit, logit, ndtr, ndtri, rel_entr, stdtrit
else:

    def _when_called(name):
        def call(*arguments):
            import scipy.special

            return getattr(scipy.special, name)(*arguments)

        return call

    betaincinv, chdtrc, expit, logit, ndtr, ndtri, rel_entr, stdtrit = map(_when_called, __all__)
