"""Whom devices send their reports to instead of the collector, sealed for it: a relay, and the collector's key."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

from bcdp.policy.field_checks import Accepts, Record, Writable

LONGEST_URL = 200
# Over TLS, or on this machine for a trial.
_URL = re.compile(
    r"(https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?|http://(localhost|127\.0\.0\.1))(:[0-9]{1,5})?(/[A-Za-z0-9._~-]*)+"
)
# A key configuration of RFC 9458: the key's number, X25519, the public key, HKDF-SHA256 with AES-128-GCM alone.
_KEY = re.compile("[0-9a-f]{2}0020[0-9a-f]{64}000400010001")


def _url(text: str) -> str:
    if len(text) > LONGEST_URL or not _URL.fullmatch(text):
        raise ValueError
    return text


def _key(text: str) -> str:
    if not _KEY.fullmatch(text):
        raise ValueError
    return text


class Relay(Record):
    """Where sealed reports go, and the key configuration for which devices seal them."""

    url: Annotated[
        Writable,
        AfterValidator(_url),
        Accepts(f"an address of at most {LONGEST_URL} letters with a path, such as https://relay.example.org/"),
    ]
    key: Annotated[Writable, AfterValidator(_key), Accepts("the 82 hexadecimal digits that `bcdp keypair` prints")]

    @property
    def origin(self) -> str:
        """The scheme, host and port, as browsers name it."""
        return "/".join(self.url.split("/")[:3])

    @property
    def host(self) -> str:
        """The host and port, for a person."""
        return self.url.split("/")[2]
