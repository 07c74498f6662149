"""The collector: an HTTP service that hands out a plan, stores reports durably and shows the operator its estimates.

What arrives is already private: the service adds durability, counts every report once and keeps hostile requests out.
It stores which ids have answered and, apart from them, how often each answer was given; no address, no time, no cookie.
"""

from bcdp.collector.limits.invitations import make_tickets
from bcdp.collector.settings import Settings
from bcdp.collector.storage.store import Store, StoreError, open_store

__all__ = ["Settings", "Store", "StoreError", "make_tickets", "open_store"]
