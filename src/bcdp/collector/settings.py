"""What a worker needs to know; plain data, because every worker is a process of its own."""

from __future__ import annotations

from dataclasses import dataclass, field

from bcdp.collector.counters import Counters
from bcdp.errors import refuse
from bcdp.plan import Plan


@dataclass(frozen=True)
class Limits:
    """How much one request and one address may ask for; a rate of 0 means no limit."""

    body_bytes: int = 2**20
    body_seconds: float = 10.0
    reports: int = 10_000  # in one request
    waiting: int = 200_000  # reports that wait for the store; beyond, devices are told to come back
    rate: float = 100.0  # reports a second from one address, with ten seconds' worth at once
    results_seconds: float = 1.0  # how long estimates are shown before they are computed again


@dataclass(frozen=True)
class Settings:
    """A collection to serve: the plan, where its reports are kept, and who may see the estimates."""

    plan: Plan
    store: str
    token: str
    tickets_key: bytes | None = None
    limits: Limits = Limits()
    counters: Counters = field(default_factory=Counters)

    def __post_init__(self) -> None:
        if self.plan.mechanism != "survey":
            raise refuse("plan.mechanism", self.plan.mechanism, "survey; a cascade's reports are collected as files")
        if len(self.token) < 16 or not self.token.isascii() or not self.token.isprintable() or " " in self.token:
            raise refuse(
                "token", f"{len(self.token)} characters", "at least 16 printable ASCII characters without spaces"
            )
        if self.tickets_key is not None and len(self.tickets_key) < 32:
            raise refuse("tickets_key", f"{len(self.tickets_key)} bytes", "at least 32 secret random bytes")
