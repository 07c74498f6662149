"""The files that browsers load: the survey page, the dashboard and what they need, prepared once at the start."""

from __future__ import annotations

import base64
import gzip
import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from bcdp.collector.bundle import bundled, stripped

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
# What stands in other scripts.
_PARTS = ("device/", "survey/", "vendor/", "words/en.js", "words/choose.js", "page.js", "downloads.js",
          "history.js", "dashboard/")  # fmt: skip
_LIBRARY = "bcdp.js"  # for pages of others: one file, but for dates
_DATES = ("device/reading/dates.js", "survey/dates.js")
# What few surveys need, and those load with the plan.
_ON_DEMAND = (*_DATES, "device/reading/blocks.js", "device/reading/listed.js", "device/reading/panel.js",
              "device/counts.js")  # fmt: skip
_STUDIO = "studio"  # what begins so belongs to the studio alone
_STUDIO_SCRIPTS = ("studio.js", "studio/checker.js")
_CLASSIC = "start.js"  # is no module
_LINKED = re.compile(r'(<(?:script|link)[^>]* (?:src|href)=")([^"]+\.(?:js|css))(")')
HASHES = "hashes.json"


@dataclass(frozen=True)
class Page:
    """A file as it is served."""

    content: bytes
    media_type: str
    etag: str
    headers: Mapping[str, str] = field(default_factory=dict)
    packed: bytes | None = None  # the content, compressed, if that is smaller

    @classmethod
    def made(cls, content: bytes, suffix: str) -> Page:
        """A file with this ending of its name; what identifies its version is computed from the content."""
        return cls(content, _TYPES[suffix], f'"{hashlib.sha256(content).hexdigest()[:32]}"', packed=_packed(content))

    @classmethod
    def plan(cls, text: str, name: str, headers: Mapping[str, str]) -> Page:
        """The text of a plan, which its id identifies."""
        content = text.encode()
        return cls(content, _TYPES[".json"], f'"{name}"', headers, _packed(content))

    @property
    def integrity(self) -> str:
        """The hash by which a browser recognises the file (Subresource Integrity)."""
        return f"sha384-{base64.b64encode(hashlib.sha384(self.content).digest()).decode()}"

    async def answer(self, request: Request) -> Response:
        """The file, or that it is still the one the browser has."""
        headers = {"etag": self.etag, "cache-control": "no-cache", **self.headers}
        if request.headers.get("if-none-match", "").removeprefix("W/") == self.etag:  # weak where it was compressed
            return Response(status_code=304, headers=headers)
        if self.packed is not None:
            headers["vary"] = "accept-encoding"
            if "gzip" in request.headers.get("accept-encoding", ""):
                headers |= {"content-encoding": "gzip", "etag": f"W/{self.etag}"}
                return Response(self.packed, headers=headers, media_type=self.media_type)
        return Response(self.content, headers=headers, media_type=self.media_type)


@cache
def load_pages() -> dict[str, Page]:
    """Every page by its path without the leading slash: files by their names, the survey also at the root."""
    sources = {name: content for name, content in _sources().items() if not name.startswith(_STUDIO)}
    pages = _made(
        sources, [*(name for name in sources if name.endswith(".js") and not name.startswith(_PARTS)), *_ON_DEMAND]
    )
    return pages | {alias: pages[name] for alias, name in _ALIASES.items()}


@cache
def studio_pages() -> dict[str, Page]:
    """The pages of the studio, likewise; its own is at the root."""
    pages = _made(_sources(), _STUDIO_SCRIPTS)
    shown = {name: page for name, page in pages.items() if name.startswith((_STUDIO, "page.css", "icon"))}
    return shown | {"": pages["studio.html"]}


def _sources() -> dict[str, bytes]:
    return dict(_read(files("bcdp").joinpath("web"), ""))


def _made(sources: Mapping[str, bytes], scripts: Iterable[str]) -> dict[str, Page]:
    """The files as they are served: scripts in few requests, pages with the hashes of what they load."""
    texts = {name: sources[name].decode() for name in sources if name.endswith(".js")}
    scripts = tuple(scripts)

    def file(name: str) -> str:
        if name == _CLASSIC:
            return stripped(texts[name])
        separate = _DATES if name == _LIBRARY else _ON_DEMAND
        return bundled(name, texts.__getitem__, _PARTS, tuple(each for each in separate if each in scripts))

    files = {name: file(name) for name in scripts}
    pages = {name: Page.made(text.encode(), ".js") for name, text in files.items()}
    pages |= {
        name: Page.made(content, _suffix(name))
        for name, content in sources.items()
        if _suffix(name) not in (".js", ".html")
    }
    for name in [name for name in sources if name.endswith(".html") and _all_there(sources[name].decode(), pages)]:
        pages[name] = Page.made(_with_hashes(sources[name].decode(), pages).encode(), ".html")
    pages[HASHES] = Page.made(
        msgspec.json.encode({name: page.integrity for name, page in sorted(pages.items())}), ".json"
    )
    return pages


def _all_there(page: str, pages: Mapping[str, Page]) -> bool:
    return all(match[2] in pages for match in _LINKED.finditer(page))


def _with_hashes(page: str, pages: Mapping[str, Page]) -> str:
    """A page whose scripts and styles name the hashes of their files: one hash then covers all of it."""
    return _LINKED.sub(lambda match: f'{match[0]} integrity="{pages[match[2]].integrity}"', page)


def _packed(content: bytes) -> bytes | None:
    packed = gzip.compress(content, 9, mtime=0)
    return packed if len(packed) < len(content) else None


def _suffix(name: str) -> str:
    return "." + name.rpartition(".")[2]


def _read(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    files: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            files += _read(entry, f"{prefix}{entry.name}/")
        elif _suffix(entry.name) in _TYPES and entry.name != "package.json":
            files.append((prefix + entry.name, entry.read_bytes()))
    return files
