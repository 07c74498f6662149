"""The files that browsers load: the survey page, the dashboard and what they need, read once at the start."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.requests import Request
from starlette.responses import Response

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
}
_ALIASES = {"": "survey.html", "dashboard": "dashboard.html"}


@dataclass(frozen=True)
class Page:
    """A file as it is served."""

    content: bytes
    media_type: str
    etag: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def made(cls, content: bytes, suffix: str) -> Page:
        """A file with this ending of its name; what identifies its version is computed from the content."""
        return cls(content, _TYPES[suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"')

    async def answer(self, request: Request) -> Response:
        """The file, or that it is still the one the browser has."""
        headers = {"etag": self.etag, "cache-control": "no-cache", **self.headers}
        if request.headers.get("if-none-match") == self.etag:
            return Response(status_code=304, headers=headers)
        return Response(self.content, headers=headers, media_type=self.media_type)


def load_pages() -> dict[str, Page]:
    """Every page by its path without the leading slash: files by their names, the survey also at the root."""
    folder = files("bcdp").joinpath("web")
    pages = dict(_read(folder, "")) if folder.is_dir() else {}
    return pages | {alias: pages[name] for alias, name in _ALIASES.items() if name in pages}


def _read(folder: Traversable, prefix: str) -> list[tuple[str, Page]]:
    found: list[tuple[str, Page]] = []
    for entry in folder.iterdir():
        suffix = "." + entry.name.rpartition(".")[2]
        if entry.is_dir():
            found += _read(entry, f"{prefix}{entry.name}/")
        elif suffix in _TYPES:
            found.append((prefix + entry.name, Page.made(entry.read_bytes(), suffix)))
    return found
