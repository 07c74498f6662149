"""A collection that is started from the page: its files in a folder, and the collector that runs next to the studio."""

from __future__ import annotations

import os
import re
import secrets
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bcdp.errors import InputError
from bcdp.files import written_whole
from bcdp.plan import Plan, check_menus

_ADDRESS = re.compile(r"^survey page: (http://127\.0\.0\.1:(\d+)/)$", re.MULTILINE)
_SECONDS = 120.0  # of a busy machine
_STOP_SECONDS = 10.0


@dataclass(frozen=True)
class Collection:
    """A collector that runs: where people answer, where the operator looks, and the files."""

    plan: str
    survey: str
    token: str
    people: int
    folder: Path
    process: subprocess.Popen[bytes]

    def to_dict(self) -> dict[str, Any]:
        """What the page shows; the token stands behind the mark of an address that no server is sent."""
        return {
            "plan": self.plan,
            "survey": self.survey,
            "dashboard": f"{self.survey}dashboard#token={self.token}",
            "folder": str(self.folder),
            "command": f"bcdp serve {self.folder}/plan.json --store {self.folder}/reports.db "
            f"--token-file {self.folder}/token --people {self.people}",
        }


class Collections:
    """The collectors that were started here, one for each plan; they end with the studio, and their files stay."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, Collection] = {}

    def start(self, text: str, policy: str, people: int) -> Collection:
        """Writes a plan and its policy into a folder of their own and collects; what runs already goes on."""
        plan = Plan.parse(text)
        plan.verify()
        check_menus(plan)
        running = self._running.get(plan.id)
        if running is None or running.process.poll() is not None:
            running = self._running[plan.id] = _started(plan, policy, people, self._folder)
        return running

    def close(self) -> None:
        """Ends every collector; what people sent is on disk."""
        for running in self._running.values():
            running.process.terminate()
        for running in self._running.values():
            try:
                running.process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                running.process.kill()


def _started(plan: Plan, policy: str, people: int, within: Path) -> Collection:
    folder = within / f"collection-{plan.id[:8]}"
    try:
        folder.mkdir(exist_ok=True)
        with written_whole(folder / "plan.json") as draft:
            plan.save(draft)
        (folder / "policy.yaml").write_text(policy, encoding="utf-8")
        token = _token(folder / "token")
        log = (folder / "log").open("wb")
    except OSError as error:
        raise InputError(f"folder: {folder} cannot be written ({error.strerror}); accepted: another --folder") from None
    command = [sys.executable, "-c", "import sys; from bcdp.cli import main; sys.exit(main())", "serve"]
    options = [str(folder / "plan.json"), "--store", str(folder / "reports.db"), "--port", "0"]
    options += ["--token-file", str(folder / "token"), "--people", str(people)]
    with log:
        process = subprocess.Popen([*command, *options], stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    address = _address(process, folder / "log")
    return Collection(plan.id, address, token, people, folder, process)


def _token(path: Path) -> str:
    """The operator's token, which only this user may read; the one that is there, if the collection goes on."""
    if not path.exists():
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(24))
    return path.read_text("ascii").strip()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """Where the collector serves, when it does."""
    until = time.monotonic() + _SECONDS
    while time.monotonic() < until and process.poll() is None:
        matched = _ADDRESS.search(log.read_text("utf-8", "replace"))
        if matched and _listens(int(matched[2])):
            return matched[1]
        time.sleep(0.05)
    process.terminate()
    raise InputError(f"the collector did not start; {log} says why")


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
