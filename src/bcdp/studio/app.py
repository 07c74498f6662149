"""The studio's HTTP service, for one person at this machine: everything stands behind a secret in the address."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Router
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bcdp.collector.http.errors import RefusalError, answer_refusal
from bcdp.collector.http.middleware import NOT_KEPT, SAFE_HEADERS
from bcdp.collector.pages import Page, load_pages, studio_pages
from bcdp.errors import InputError
from bcdp.plan import Plan
from bcdp.studio import exports
from bcdp.studio import uploads as dropped
from bcdp.studio.collection import Collections
from bcdp.studio.job_bodies import people_of
from bcdp.studio.jobs import Jobs
from bcdp.studio.problems import problems_in, problems_of
from bcdp.studio.templates import load_templates

HOSTS = re.compile(r"(127\.0\.0\.1|localhost)(:\d+)?", re.ASCII)  # another name may be made to point here
_MOST_JSON = 2**24
_MOST_PREVIEWS = 8
_JSON = "application/json"
log = logging.getLogger("bcdp.studio")

Handler = Callable[[Request], Awaitable[Response]]


class Studio:
    """What the page asks for; each method answers one kind of request from what it brings."""

    def __init__(self, policy: Mapping[str, Any] | None, folder: Path) -> None:
        self._policy = policy
        self._jobs, self._collections = Jobs(), Collections(folder)
        self._previews: dict[str, str] = {}
        self.routes: dict[str, Handler] = {
            "api/start": self.start,
            "api/problems": self.problems,
            **{f"api/{kind}": self._job(kind) for kind in ("plan", "numbers", "curve", "ways", "trust")},
            "api/policy": self._file(dropped.policy_of),
            "api/columns": self._file(dropped.draft_of),
            "api/check": self._file(dropped.checked),
            "api/correlate": self._file(dropped.correlated),
            "api/policy.yaml": self.policy_file,
            "api/report": self.report,
            "api/preview": self.preview,
            "api/collect": self.collect,
        }

    @asynccontextmanager
    async def running(self, app: Router) -> AsyncIterator[None]:
        """While the studio runs; at the end so do its jobs and its collectors."""
        warming = asyncio.create_task(asyncio.to_thread(self._jobs.warm))
        try:
            yield
        finally:
            await warming
            self._jobs.close()
            await asyncio.to_thread(self._collections.close)

    async def start(self, request: Request) -> Response:
        """What there is to start from."""
        templates = [
            {"name": template.name, "title": template.title, "people": template.people, "policy": template.policy}
            for template in load_templates()
        ]
        return _answer({"templates": templates, "policy": self._policy})

    async def problems(self, request: Request) -> Response:
        """What is wrong with a policy, each at its field."""
        given = await _given(request)
        return _answer({"problems": problems_of(given.get("policy"))})

    def _job(self, kind: str) -> Handler:
        async def run(request: Request) -> Response:
            given = await _given(request)
            if await request.is_disconnected():  # a newer one may run already
                raise ClientDisconnect

            async def lines() -> AsyncIterator[bytes]:
                async for part in self._jobs.run(kind, given):
                    yield json.dumps(part, allow_nan=False).encode() + b"\n"

            return StreamingResponse(lines(), media_type="application/x-ndjson")

        return run

    def _file(self, look: Callable[[dict[str, Any], bytes], dict[str, Any]]) -> Handler:
        async def run(request: Request) -> Response:
            given, content = dropped.unpacked(await _body(request, dropped.MOST_BYTES))
            return _answer(await asyncio.to_thread(look, given, content))

        return run

    async def policy_file(self, request: Request) -> Response:
        """The policy as YAML, and the commands that do what the page does."""
        given = await _given(request)
        text = exports.policy_text(given.get("policy", {}))
        return _answer({"text": text, "commands": exports.commands(people_of(given))})

    async def report(self, request: Request) -> Response:
        """The report page of a plan."""
        given = await _given(request)
        page = await asyncio.to_thread(exports.report_text, _plan_text(given), people_of(given))
        return Response(page, media_type="text/html; charset=utf-8")

    async def preview(self, request: Request) -> Response:
        """Keeps a plan for a look at the page that people will see; nothing can be sent there."""
        text = _plan_text(await _given(request))
        plan = await asyncio.to_thread(Plan.parse, text)
        self._previews.pop(plan.id, None)
        self._previews[plan.id] = text
        while len(self._previews) > _MOST_PREVIEWS:
            del self._previews[next(iter(self._previews))]
        return _answer({"address": f"preview/{plan.id}/"})

    async def collect(self, request: Request) -> Response:
        """Starts the collector of a plan."""
        given = await _given(request)
        text, policy = _plan_text(given), exports.policy_text(given.get("policy", {}))
        return _answer((await asyncio.to_thread(self._collections.start, text, policy, people_of(given))).to_dict())

    async def page(self, path: str, request: Request) -> Response:
        """A page of the studio, or of a preview."""
        if path.startswith("preview/"):
            _, identity, inner = [*path.split("/", 2), ""][:3]
            if identity not in self._previews:
                raise RefusalError(404, "Not Found")
            if inner == "v1/reports":
                raise RefusalError(403, "this is a preview: nothing is collected")
            if inner == "v1/plan":
                return Response(self._previews[identity], media_type=_JSON)
            return await _page(load_pages(), inner, request)
        return await _page(studio_pages(), path, request)


async def _page(pages: Mapping[str, Page], name: str, request: Request) -> Response:
    if name not in pages:
        raise RefusalError(404, "Not Found")
    return await pages[name].answer(request)


class StudioService:
    """The studio behind its token: loopback hosts only, safe headers, and a log without anything that was entered."""

    def __init__(self, studio: Studio, token: str) -> None:
        self._studio, self._token = studio, token
        self._lifespan = Router(lifespan=studio.running)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._lifespan(scope, receive, send)
            return

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                cached = any(name == b"cache-control" for name, _ in message["headers"])
                message["headers"] = [*message["headers"], *SAFE_HEADERS, *([] if cached else [NOT_KEPT])]
            await send(message)

        try:
            response = await self._answer(Request(scope, receive))
        except RefusalError as refusal:
            response = answer_refusal(refusal)
        except InputError as error:
            response = _answer({"problems": problems_in(str(error))}, 422)
        except ClientDisconnect:
            return
        except Exception as error:  # its words may quote what was entered
            log.error("failed: %s", type(error).__name__)
            response = answer_refusal(RefusalError(500, "the studio failed"))
        await response(scope, receive, send_safely)

    async def _answer(self, request: Request) -> Response:
        if not HOSTS.fullmatch(request.headers.get("host", "")):
            raise RefusalError(403, "accepted: requests from this machine")
        token, _, path = request.scope["path"].removeprefix("/").partition("/")
        if not hmac.compare_digest(token.encode(), self._token.encode()):
            raise RefusalError(404, "Not Found")
        handler = self._studio.routes.get(path)
        if handler is None:
            if request.method not in ("GET", "HEAD") and not path.endswith("v1/reports"):
                raise RefusalError(405, "Method Not Allowed")
            return await self._studio.page(path, request)
        if request.method != "POST":
            raise RefusalError(405, "Method Not Allowed", {"allow": "POST"})
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in (
            _JSON,
            "application/octet-stream",
        ):  # others may be sent by any site without asking
            raise RefusalError(415, f"accepted: a body of type {_JSON}")
        return await handler(request)


async def _body(request: Request, most: int) -> bytes:
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise RefusalError(413, f"accepted: at most {most // 2**20} MB")
        parts.append(part)
    return b"".join(parts)


async def _given(request: Request) -> dict[str, Any]:
    try:
        given = json.loads(await _body(request, _MOST_JSON))
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise RefusalError(422, "accepted: a JSON object")
    return given


def _plan_text(given: Mapping[str, Any]) -> str:
    text = given.get("plan")
    if not isinstance(text, str):
        raise RefusalError(422, "accepted: {plan: the text of a plan}")
    return text


def _answer(document: Mapping[str, Any], status: int = 200) -> Response:
    return Response(json.dumps(document, allow_nan=False), status, media_type=_JSON)


def create_app(token: str, policy: Mapping[str, Any] | None, folder: Path) -> ASGIApp:
    """The ASGI application of one studio; it answers under `/TOKEN/` and nowhere else."""
    return StudioService(Studio(policy, folder), token)
