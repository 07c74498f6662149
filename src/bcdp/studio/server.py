"""The studio's process: on loopback only, without a log of requests."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import uvicorn

from bcdp.studio.app import create_app

LOOPBACK = "127.0.0.1"
_STOP_SECONDS = 5


def serve_studio(
    policy: Mapping[str, Any] | None, folder: Path, port: int, tell: Callable[[str], None] = lambda address: None
) -> None:
    """Serves the page until told to stop; `tell` is called with its address, which holds a new secret each time."""
    token = secrets.token_urlsafe(24)
    config = uvicorn.Config(
        create_app(token, policy, folder),
        host=LOOPBACK,
        port=port,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # it would reveal the token
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_STOP_SECONDS,
    )
    listening = config.bind_socket()
    listening.listen()  # who opens the page at once waits a moment
    tell(f"http://{LOOPBACK}:{listening.getsockname()[1]}/{token}/")
    uvicorn.Server(config).run([listening])
