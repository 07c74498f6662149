"""The rule of a mixing relay: when messages are forwarded, how many at once, and in which order.

At every due time all messages that wait are put into an order drawn from the system's cryptographic source, and cut
into batches of at least the stated number; if there are fewer, all of them wait. A due time is a multiple of the stated
period (UTC), so that it says nothing about when a message came.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from bcdp.errors import refuse

BATCH, BATCH_TYPE = "/v1/batch", "application/octet-stream"  # where the collector takes batches, and as what
MESSAGE_BYTES = 567  # of a sealed report: 39 for key and suite, 512 of padded message, 16 of authentication
MOST_STATED = 100_000
MOST_MESSAGES = 2 * MOST_STATED - 1  # of one batch, see `sizes`: so many have room in the collector's queue
_USUAL = 20_000  # messages: a larger number is cut into several batches of at least so many
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@dataclass(frozen=True)
class Mixing:
    """Batches of at least `least` messages, every so many seconds or (None) only at the end, the time `until`."""

    least: int
    every: int | None
    until: float | None = None
    at_end: Literal["keep", "delete"] = "keep"

    def __post_init__(self) -> None:
        if not 2 <= self.least <= MOST_STATED:
            raise refuse("mix", self.least, f"a whole number from 2 to {MOST_STATED}")
        if self.every is None and self.until is None:
            raise refuse("every", "end", "a period such as 24h, or --until with the time of the end")
        if self.at_end == "delete" and self.until is None:
            raise refuse("at_end", self.at_end, "--until with the time of the end, or keep")

    def due(self, now: float) -> int:
        """The last due time, in seconds since 1970; 0 if messages are due at the end only."""
        return 0 if self.every is None else int(now // self.every * self.every)

    def ended(self, now: float) -> bool:
        """Whether no more messages are taken, and what waits is due."""
        return self.until is not None and now >= self.until


def sizes(waiting: int, least: int) -> list[int]:
    """How many messages each batch has: all that wait, in batches of at least `least`; none if there are fewer.

    >>> sizes(4999, 5000), sizes(12_000, 5000), sizes(50_001, 5000)
    ([], [12000], [25001, 25000])
    """
    if waiting < least:
        return []
    batches = max(1, waiting // max(least, _USUAL))
    return [waiting // batches + (number < waiting % batches) for number in range(batches)]


def shuffled_parts(marks: Sequence[bytes], least: int) -> list[list[bytes]]:
    """The marks in an order that is uniform over all orders, cut into batches."""
    order = list(marks)
    secrets.SystemRandom().shuffle(order)
    rest = iter(order)
    return [[next(rest) for _ in range(size)] for size in sizes(len(order), least)]


def read_period(text: str) -> int | None:
    """The seconds of a period such as 90s, 15m, 24h or 7d; None for `end`.

    >>> read_period("24h"), read_period("end")
    (86400, None)
    """
    if text == "end":
        return None
    match = re.fullmatch(r"([1-9][0-9]{0,5})([smhd])", text)
    if match is None:
        raise refuse("every", text, "a whole number with s, m, h or d, such as 24h, or end")
    return int(match[1]) * _UNITS[match[2]]


def read_time(text: str) -> float:
    """The seconds since 1970 of a time with its zone, such as 2027-03-31T18:00+01:00 or ..Z."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise refuse("until", text, "a time with its zone, such as 2027-03-31T18:00Z")
    return moment.timestamp()
