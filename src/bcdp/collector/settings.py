"""What a worker needs to know; plain data, because every worker is a process of its own."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field

from bcdp.collector.metrics import Counters
from bcdp.errors import refuse
from bcdp.plan import Plan, check_menus
from bcdp.plan.messages import sends_all
from bcdp.randomness import check_random


@dataclass(frozen=True)
class Quotas:
    """How much one request and one address may ask for; a rate of 0 means that an address has no quota."""

    body_bytes: int = 2**20
    body_seconds: float = 10.0
    reports: int = 10_000  # in one request
    bodies_bytes: int = 2**26  # of all unfinished bodies together, in each worker
    waiting: int = 200_000  # reports that wait for the store; beyond, devices are asked to come back
    rate: float = 100.0  # reports a second from one address, with ten seconds' worth at once
    requests_per_report: int = 5  # other requests, such as pages, that an address may make for each report
    connections: int = 50  # of one address at once, in each worker
    shown_seconds: float = 1.0  # how long estimates are shown before they are computed again


@dataclass(frozen=True)
class Settings:
    """A collection to serve: the plan, where its reports are kept, and who may see the estimates."""

    plan: Plan
    store: str
    token: str
    tickets_key: bytes | None = None
    quotas: Quotas = Quotas()
    counters: Counters = field(default_factory=Counters)
    origins: tuple[str, ...] = ()  # of pages elsewhere that may read the plan and send reports
    planned: int | None = None  # people who are to answer, for the dashboard
    refresh: int = 100  # people more after which the operator is shown new counts
    gateway_key: bytes | None = None  # opens sealed reports, if the plan names a relay
    relays: tuple[str, ...] = ()  # addresses that alone may hand on sealed reports, any number; none: anybody
    batch_at_least: int | None = None  # sealed reports come in batches of at least so many, and in no other way
    late_days: int = 7  # after the end of a panel's wave in which its reports are still accepted

    def __post_init__(self) -> None:
        check_menus(self.plan, "; a cascade's reports are collected as files")
        check_token(self.token)
        if self.tickets_key is not None:
            check_random("tickets_key", self.tickets_key)
            if sends_all(self.plan):
                accepted = (
                    "none: a ticket would link the messages of one person; `messages: one` in a policy plans for one"
                )
                raise refuse("tickets_key", f"a key, and {len(self.plan.menus)} messages", accepted)
        elif self.plan.policy.menu_from == "ticket":
            raise refuse("tickets_key", None, "the key of the tickets, because the plan assigns menus by ticket")
        self._check_gateway()

    def _check_gateway(self) -> None:
        relay = self.plan.policy.relay
        if relay is None:
            if self.gateway_key is not None or self.relays or self.batch_at_least is not None:
                raise refuse("plan", "no relay", "a plan that names a relay, or no gateway's key, relays and batches")
            return
        if self.gateway_key is None:
            raise refuse("gateway_key", None, "the private key of the plan's relay.key, made by `bcdp keypair`")
        from bcdp_device.sealing import GatewayKey

        stated = GatewayKey.from_pem(self.gateway_key).configuration
        if stated != relay.key:
            raise refuse("gateway_key", stated, f"the key that the plan states, {relay.key}")
        for address in self.relays:
            try:
                ipaddress.ip_address(address)
            except ValueError:
                raise refuse("relays", address, "addresses such as 203.0.113.7") from None
        if self.batch_at_least is not None and not self.relays:  # large bodies are not read from everybody
            raise refuse("relays", None, "the addresses of the relay that sends batches")


def check_token(token: str) -> None:
    """Refuses an operator's token that could be guessed, or not be sent in a header."""
    if len(token) < 16 or not token.isascii() or not token.isprintable() or " " in token:
        raise refuse("token", f"{len(token)} characters", "at least 16 printable ASCII characters without spaces")
