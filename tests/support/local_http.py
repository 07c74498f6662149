"""Requests to servers on this machine, over HTTP: making a client that can do TLS takes 16 ms, for its certificates."""

from __future__ import annotations

from typing import Any

import httpx


def http_client(address: str | None = None, **options: Any) -> httpx.Client:
    """A client that sends from this address."""
    return httpx.Client(transport=httpx.HTTPTransport(verify=False, local_address=address), **options)


_alone = httpx.Limits(max_keepalive_connections=0)  # each request has a connection of its own
local = httpx.Client(transport=httpx.HTTPTransport(verify=False, limits=_alone))
