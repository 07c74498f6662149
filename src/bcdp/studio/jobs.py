"""Jobs in processes of their own: the page stays quick while they run, and one that nobody waits for is ended."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from bcdp.errors import InputError
from bcdp.studio.problems import problems_in

_PRELOADED = [
    "bcdp.studio.job_bodies",
    "scipy.optimize",
    "scipy.special",
    "highspy",
]  # what is not installed is left out


class Jobs:
    """Runs at most one job of each kind: a newer one ends the one before it, which nobody waits for any more."""

    def __init__(self) -> None:
        ways = multiprocessing.get_all_start_methods()
        self.context: Any = multiprocessing.get_context("forkserver" if "forkserver" in ways else "spawn")
        if "forkserver" in ways:
            self.context.set_forkserver_preload(_PRELOADED)  # a new process is then ready at once
        self._running: dict[str, BaseProcess] = {}

    def warm(self) -> None:
        """Makes ready what every job needs, before the first is asked for."""
        process = self.context.Process(target=os.getpid, daemon=True)
        process.start()
        process.join()

    async def run(self, kind: str, given: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The parts that a job sends; what cannot be used is a last part `{"problems": ..}`."""
        self._end(kind)
        receiver, sender = self.context.Pipe(duplex=False)
        process = self.context.Process(target=_work, args=(kind, dict(given), sender), daemon=True)
        process.start()
        sender.close()
        self._running[kind] = process
        try:
            with suppress(EOFError, OSError):  # it has ended, or was ended
                while True:
                    yield await asyncio.to_thread(receiver.recv)
        finally:
            process.terminate()
            if self._running.get(kind) is process:
                del self._running[kind]

    def _end(self, kind: str) -> None:
        if kind in self._running:
            self._running.pop(kind).terminate()

    def close(self) -> None:
        """Ends whatever runs."""
        for kind in list(self._running):
            self._end(kind)


def _work(kind: str, given: Mapping[str, Any], sender: Connection) -> None:
    from bcdp.studio.job_bodies import JOBS, plain

    def send(part: dict[str, Any]) -> None:
        sender.send(plain(part))

    try:
        JOBS[kind](given, send)
        send({"done": True})
    except InputError as error:
        send({"problems": problems_in(str(error))})
    except BrokenPipeError:
        pass  # nobody waits for it
