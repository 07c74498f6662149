"""A studio that runs, and files for it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
from pyarrow import csv

from support.local_http import local


class Studio:
    """A studio in a process of its own."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        bcdp = str(Path(sys.executable).with_name("bcdp"))
        command = [bcdp, "studio", "--no-browser", "--folder", str(folder), *arguments]
        self._log = (folder.parent / f"{folder.name}.log").open("w+")
        self.process = subprocess.Popen(command, cwd=folder, stdout=self._log, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        told = re.search(r"studio: (http://127\.0\.0\.1:(\d+)/([\w-]+)/)", self.process.stderr.readline())
        assert told is not None
        self.address, self.port, self.token = told[1], int(told[2]), told[3]

    def ask(self, path: str, **given: Any) -> httpx.Response:
        return local.post(f"{self.address}api/{path}", json=given, timeout=120)

    def parts(self, kind: str, **given: Any) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.ask(kind, **given).text.splitlines()]

    def give(self, path: str, name: str, content: bytes, **given: Any) -> httpx.Response:
        body = json.dumps({**given, "name": name}).encode() + b"\n" + content
        headers = {"content-type": "application/octet-stream"}
        return local.post(f"{self.address}api/{path}", content=body, headers=headers, timeout=60)

    def end(self) -> str:
        """Ends it; gives all that it ever said."""
        self.process.terminate()
        _, said = self.process.communicate(timeout=60)
        self._log.seek(0)
        with self._log:
            return said + self._log.read()


def records() -> pa.Table:
    return pa.table({"smoker": [0, 1, 1, 0] * 50, "age": [31.0, 44.0, 52.0, 27.0] * 50})


def as_csv(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    csv.write_csv(table, sink)
    return bytes(sink.getvalue())
