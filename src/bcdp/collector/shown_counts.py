"""Which counts the operator sees: those of the last document, until enough people more have answered.

Anybody who compares two documents learns what the people answered who came between them. So any two that differ are at
least `refresh` reports apart: over time, over workers and machines that share a store, and over restarts. The counts
last shown are kept in the store, sealed with the operator's token: the store alone reveals nothing of them.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from bcdp.collector.storage.store import Store
from bcdp.plan import GROUP, Plan
from bcdp.plan.messages import sends_all
from bcdp.tally import Tally

_NONCE_BYTES = 12
_COLUMNS = ("menu", "answer", "count")

Counts = dict[str, npt.NDArray[np.int64]]


class ShownCounts:
    """The counts that may be shown, taken again only when at least `refresh` people more are in the store."""

    def __init__(self, plan: Plan, store: Store, token: str, refresh: int) -> None:
        self._plan, self._store, self._refresh = plan, store, refresh
        info = f"bcdp shown counts {plan.id}".encode()
        self._cipher = AESGCM(HKDF(SHA256(), 32, None, info).derive(token.encode()))

    def tally(self) -> Tally | None:
        """The counts to show; None if too few people have answered, first or since another token saw the last ones."""
        while True:
            before, sealed = self._store.shown()
            counts = self._store.counts()
            people = self._people(counts)
            known = self._opened(sealed)
            if people - before < self._refresh and (known is not None or people != before):
                return None if known is None else tally_of(self._plan, known)
            if self._store.show(before, people, self._sealed(counts)):
                return tally_of(self._plan, counts)
            # another worker has shown others since, which are read now

    def _people(self, counts: Counts) -> int:
        """How many people are counted; of several messages each, as many as the menu with fewest of them has."""
        if not sends_all(self._plan):
            return int(counts["count"].sum())
        menus = counts["menu"] % len(self._plan.menus)
        return int(np.bincount(menus, counts["count"], len(self._plan.menus)).min())

    def _sealed(self, counts: Counts) -> bytes:
        nonce = os.urandom(_NONCE_BYTES)
        content = np.stack([counts[name] for name in _COLUMNS]).astype("<i8").tobytes()
        return nonce + self._cipher.encrypt(nonce, content, None)

    def _opened(self, sealed: bytes) -> Counts | None:
        try:
            content = self._cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], None)
        except (InvalidTag, ValueError):  # nothing yet, or sealed with another token
            return None
        return dict(zip(_COLUMNS, np.frombuffer(content, "<i8").reshape(len(_COLUMNS), -1), strict=True))


def tally_of(plan: Plan, counts: dict[str, Any]) -> Tally:
    """The tally of what a store counts; with open features it holds the menus of each group one after the other."""
    if plan.policy.open:
        group, menu = np.divmod(counts["menu"], len(plan.menus))
        counts = {**counts, GROUP: group, "menu": menu}
    return Tally(plan).add(counts)
