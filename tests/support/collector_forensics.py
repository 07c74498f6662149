"""What somebody who takes a store away can find out: in which order ids came, and which answer each of them gave.

The examiner knows every id and how marks are made, and reads what there is to read: raw bytes of all files and logs,
the database's own columns, dumps, and what the write-ahead log tells when it is played back commit by commit.
"""

from __future__ import annotations

import shutil
import sqlite3
import struct
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from scipy.stats import binom

FALSE_ALARM = 1e-9  # over all sources of one examination

Places = Mapping[bytes, float]  # where each mark was found; a smaller place is taken for an earlier one
Links = Mapping[bytes, tuple[int, int]]  # the answer that a mark is taken to have given


def order_told(places: Places, truth: Sequence[bytes]) -> float:
    """The probability that chance alone brings as many marks of the first half before their partners of the second.

    The pairs have no mark in common. If the places have nothing to do with the order in which marks came, each pair
    stands in the right order with probability 1/2, whatever the others do: the number of right ones is binomial.
    """
    half = len(truth) // 2
    pairs = [
        (places[early], places[late])
        for early, late in zip(truth[:half], truth[half:], strict=False)
        if early in places and late in places and places[early] != places[late]
    ]
    right = sum(early < late for early, late in pairs)
    return float(min(1.0, 2 * binom.sf(max(right, len(pairs) - right) - 1, len(pairs), 0.5)))


def links_told(links: Links, truth: Mapping[bytes, tuple[int, int]], answers: int) -> float:
    """The probability that guesses without knowledge are right as often; each answer is as likely as the others."""
    right = sum(truth[mark] == answer for mark, answer in links.items())
    return float(binom.sf(right - 1, len(links), 1 / answers)) if links else 1.0


def raw_places(data: bytes, marks: Sequence[bytes]) -> tuple[Places, Places]:
    """Where each mark stands first, and last, among the bytes."""
    first: dict[bytes, float] = {}
    last: dict[bytes, float] = {}
    known = set(marks)
    begins = np.zeros(2**16, dtype=bool)  # whether a mark begins with these two bytes
    begins[[int.from_bytes(mark[:2], "little") for mark in marks]] = True
    hits: list[int] = []
    for shift in range(min(2, len(data))):
        pairs = np.frombuffer(data, dtype="<u2", offset=shift, count=(len(data) - shift) // 2)
        hits += (2 * np.flatnonzero(begins[pairs]) + shift).tolist()
    for hit in sorted(hits):
        mark = data[hit : hit + 16]
        if mark in known:
            first.setdefault(mark, hit)
            last[mark] = hit
    return first, last


def newest_first(places: Places, page: int) -> Places:
    """The same where pages are filled from their ends, as databases do."""
    return {mark: place // page * page - place % page for mark, place in places.items()}


def played_back(store: Path, folder: Path) -> tuple[Places, Links]:
    """What an SQLite file's write-ahead log tells: the database as it was after each commit, one after the other.

    `folder` is an empty one, for the copies.
    """
    log = Path(f"{store}-wal").read_bytes() if Path(f"{store}-wal").exists() else b""
    if len(log) < 32:
        return {}, {}
    size = 24 + struct.unpack(">I", log[8:12])[0]
    ends = [
        end
        for end in range(32 + size, len(log) + 1, size)
        if log[end - size + 4 : end - size + 8] != bytes(4) and log[end - size + 8 : end - size + 16] == log[16:24]
    ]
    copy = folder / "played.db"
    order: dict[bytes, float] = {}
    links: dict[bytes, tuple[int, int]] = {}
    before: dict[tuple[int, int], int] = {}
    for number, end in enumerate(ends):
        shutil.copyfile(store, copy)
        Path(f"{copy}-shm").unlink(missing_ok=True)
        Path(f"{copy}-wal").write_bytes(log[:end])
        with closing(sqlite3.connect(copy)) as connection:
            if not connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'counts'").fetchone()[0]:
                continue
            marks = {row[0] for row in connection.execute("SELECT mark FROM answered")} - order.keys()
            counts = {(menu, answer): count for menu, answer, count in connection.execute("SELECT * FROM counts")}
        order |= dict.fromkeys(marks, number)
        changed = [answer for answer, count in counts.items() if count != before.get(answer, 0)]
        if len(marks) == len(changed) == 1:
            links[marks.pop()] = changed[0]
        before = counts
    return order, links
