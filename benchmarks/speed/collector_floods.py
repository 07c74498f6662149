"""How long an honest sender waits while others flood the collector, as a multiple of its wait without them.

    python benchmarks/speed/collector_floods.py [SECONDS]

Everything runs on the loopback interface, with the collector's default limits. Floods come from 20 addresses at 50
connections each; the honest sender has an address of its own and sends 50 single reports a second, in turns of SECONDS
(4) without and with the flood. `ratio` is that of the 99th percentiles of the time to the acknowledgement; the server's
memory is its largest.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import multiprocessing
import os
import random
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.collector_fixtures import HEADERS, Server, serving, small_plan, upload

ADDRESSES, EACH, TURNS = 20, 50, 4
HEAD = b"POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
FLOODS = {
    "pipelined requests": 200 * b"GET /v1/plan HTTP/1.1\r\nhost: x\r\n\r\n",
    "pipelined reports": 200 * (HEAD + b"content-length: 2\r\n\r\n{}"),
    "chunks of one byte": HEAD + b"transfer-encoding: chunked\r\n\r\n" + 20_000 * b"1\r\n \r\n",
    "unfinished bodies": HEAD + b"content-length: 1000000\r\n\r\n" + bytes(900_000),
}


async def _flood(host: str, port: int, data: bytes) -> None:
    async def one(source: str) -> None:
        while True:
            with contextlib.suppress(OSError, asyncio.TimeoutError):
                reader, writer = await asyncio.open_connection(host, port, local_addr=(source, 0))
                with contextlib.closing(writer):
                    writer.write(data)
                    async with asyncio.timeout(random.uniform(2, 8)):
                        while await reader.read(2**16):
                            pass
            await asyncio.sleep(0.01)

    sources = [f"127.0.1.{number + 1}" for number in range(ADDRESSES)] * EACH
    await asyncio.gather(*map(one, sources))


def flood(host: str, port: int, data: bytes) -> None:
    """Sends the data over and over, from all addresses, until ended; the server's share of the machine goes first."""
    os.nice(10)
    asyncio.run(_flood(host, port, data))


@contextlib.contextmanager
def flooded(server: Server, data: bytes) -> Iterator[None]:
    """A server under a flood that has begun a while ago."""
    parts = urlsplit(server.url)
    process = multiprocessing.get_context("spawn").Process(target=flood, args=(parts.hostname, parts.port, data))
    process.start()
    try:
        time.sleep(3)
        yield
    finally:
        process.kill()
        process.join()


def waits(server: Server, plan: object, seconds: float) -> list[float]:
    """How long each report of an honest sender waited, in milliseconds; each is accepted."""
    found: list[float] = []
    line = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60, source_address=("127.0.0.2", 0))
    with contextlib.closing(line):
        ends = time.perf_counter() + seconds
        while time.perf_counter() < ends:
            began = time.perf_counter()
            line.request("POST", "/v1/reports", json.dumps(upload(plan, [(secrets.token_hex(8), 0, 0)])), HEADERS)
            answer = line.getresponse()
            assert json.loads(answer.read()) == {"accepted": 1, "duplicate": 0}, answer.status
            found.append(1e3 * (time.perf_counter() - began))
            time.sleep(max(0.0, began + 0.02 - time.perf_counter()))
    return found


def largest_memory(process: int, ends: threading.Event, most: list[int]) -> None:
    """Leaves in `most` the largest memory of the process, in bytes."""
    while not ends.wait(0.1):
        with contextlib.suppress(OSError):
            pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
            most[0] = max(most[0], pages * os.sysconf("SC_PAGE_SIZE"))


def measure(seconds: float) -> None:
    """Prints the table, line by line as it is measured."""
    print("| flood | reports | 99% ms without | 99% ms | ratio | memory MB |\n| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan, path = small_plan(), folder / "plan.json"
        plan.save(path)
        for number, (kind, data) in enumerate(FLOODS.items()):
            idle, busy, most, ends = [], [], [0], threading.Event()
            with serving(folder, path, str(folder / f"{number}.db")) as server:
                watch = threading.Thread(target=largest_memory, args=(server.process.pid, ends, most))
                watch.start()
                for _ in range(TURNS):
                    idle += waits(server, plan, seconds)
                    with flooded(server, data):
                        busy += waits(server, plan, seconds)
                ends.set()
                watch.join()
            alone, slow = (sorted(times)[int(0.99 * len(times))] for times in (idle, busy))
            cells = [kind, len(busy), f"{alone:.1f}", f"{slow:.1f}", f"{slow / alone:.1f}", f"{most[0] / 1e6:.0f}"]
            print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    measure(float(sys.argv[1]) if len(sys.argv) > 1 else 4.0)
