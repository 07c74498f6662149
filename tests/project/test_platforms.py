"""What exists on Linux only has a fallback: the absence of each is simulated, with Windows' own lock in its place."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from bcdp import InputError
from bcdp.engines.local import cores
from bcdp_device import files


class Windows(ModuleType):
    """The part of Windows' `msvcrt` that is used: locks of single bytes, which belong to an open file."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.held: dict[int, int] = {}  # file by inode

    def locking(self, number: int, mode: int, length: int) -> None:
        assert (mode, length) == (self.LK_NBLCK, 1)
        assert os.lseek(number, 0, os.SEEK_CUR) > 2**39, "a byte that is read or written must not be locked"
        inode = os.fstat(number).st_ino
        owner = self.held.get(inode)
        if owner is not None and owner != number and self._open(owner, inode):
            raise OSError(errno.EACCES, "Permission denied")
        self.held[inode] = number

    @staticmethod
    def _open(number: int, inode: int) -> bool:
        try:
            return os.fstat(number).st_ino == inode
        except OSError:
            return False


@pytest.fixture
def without_fcntl(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", Windows())


@pytest.mark.usefixtures("without_fcntl")
def test_a_file_is_written_whole_and_by_one_run_at_a_time(tmp_path: Path) -> None:
    place = tmp_path / "out.csv"
    with files.written_whole(place) as draft:
        draft.write_text("a\n1\n")
        with pytest.raises(InputError, match="another run is writing it"), files.written_whole(place):
            pass
    assert place.read_text() == "a\n1\n"
    with files.written_whole(place) as draft:  # the lock went with the run
        draft.write_text("a\n2\n")
    assert place.read_text() == "a\n2\n"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.usefixtures("without_fcntl")
def test_a_lock_waits_for_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "memory"
    first = path.with_name(".memory.lock").open("ab")
    assert files.lock(first)
    waited = []

    def end_of_the_other(seconds: float) -> None:
        waited.append(seconds)
        first.close()

    monkeypatch.setattr("bcdp_device.files.time.sleep", end_of_the_other)
    with files.locked(path):
        assert len(waited) == 1


def test_cores_are_counted_without_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    assert cores() == os.cpu_count()


def test_everything_is_imported_without_what_only_linux_has() -> None:
    """Whoever plans, answers, counts and estimates needs neither fcntl nor resource nor the affinity of processes."""
    program = """
import os, sys
for name in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[name] = None
for name in ("sched_getaffinity", "fork", "geteuid"):
    if hasattr(os, name):
        delattr(os, name)
import bcdp
from bcdp.cli import main
for name in bcdp.__all__:
    getattr(bcdp, name)
import bcdp.engines.local, bcdp.audit, bcdp.compare
plan = bcdp.make_plan(bcdp.Policy(epsilon=1, features={"a": {"type": "binary"}}))
assert bcdp.estimate(bcdp.Tally(plan).add(bcdp.privatize(plan, {"a": [0, 1]}))).people == 2
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
