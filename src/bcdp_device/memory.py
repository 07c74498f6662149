"""What a device has answered, by plan id: kept in a mapping, or in a file that several programs may share."""

from __future__ import annotations

import json
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Union

from bcdp_device.errors import InputError, refuse
from bcdp_device.files import locked, written_whole

Report = dict[str, int]
Kept = Union[Report, list[Report]]  # one report, or those of a plan that sends several messages
Reports = MutableMapping[str, Kept]
_KEYS = {"menu", "answer", "group"}
_END = 2**32  # of menus and answers
_PART = " panel"


class Memory:
    """The reports of one person; a second answer to a plan would tell more, so that none is ever overwritten."""

    def __init__(self, kept: Reports | str | Path) -> None:
        self.path = Path(kept).resolve() if isinstance(kept, (str, Path)) else None
        self._kept: Reports = {} if isinstance(kept, (str, Path)) else kept
        if self.path is not None:
            _read(self.path)  # what is broken is better reported now than when there is something to answer

    @contextmanager
    def reports(self) -> Iterator[Reports]:
        """What is remembered, nobody else's to read or change before a new answer is safely kept.

        What was entered is kept even if an error follows: a wave that was drawn must not be drawn again.
        """
        if self.path is None:
            yield self._kept
            return
        with locked(self.path):
            known = _read(self.path)
            before = json.dumps(known)
            try:
                yield known
            finally:
                if json.dumps(known) != before:
                    with written_whole(self.path) as draft:
                        draft.write_text(json.dumps(known), encoding="utf-8")


def _read(path: Path) -> dict[str, Kept]:
    if not path.exists():
        return {}
    try:
        kept = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"memory: {path} cannot be read ({error}); accepted: a file written by a device") from None
    entries = [None] if not isinstance(kept, dict) else [kept[key] for key in kept if not _is_part(key, kept[key])]
    reports = [report for entry in entries for report in (entry if isinstance(entry, list) else [entry])]
    if not all(map(_is_report, reports)):
        raise refuse("memory", str(path), "a file written by a device")
    return dict(kept)


def part_key(plan_id: str) -> str:
    """Where a device keeps its part in a panel: the `word` that draws its menu, and the symbol for each later value."""
    return f"{plan_id}{_PART}"


def _is_part(key: str, kept: object) -> bool:
    if not key.endswith(_PART) or not isinstance(kept, dict) or "word" not in kept:
        return False
    later = {str(value) for value in range(len(kept) - 1)}
    return kept.keys() == {"word", *later} and all(type(n) is int and 0 <= n < _END for n in kept.values())


def _is_report(report: object) -> bool:
    return (
        isinstance(report, dict)
        and {"menu", "answer"} <= report.keys() <= _KEYS
        and all(type(number) is int and 0 <= number < _END for number in report.values())
    )
