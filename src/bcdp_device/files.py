"""Files that several programs share: written whole or not at all, one program at a time."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from bcdp_device.errors import InputError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_LOCKED_BYTE = 2**40  # beyond what any of these files holds
WRITABLE = "a file in an existing folder that you may write to"


def lock(file: IO[bytes], wait: bool = True) -> bool:
    """Locks a file for this program until it is closed; without `wait`, returns whether nobody else had it."""
    if fcntl is not None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True
    import msvcrt

    file.seek(_LOCKED_BYTE)  # a locked byte cannot be read or written by others
    while True:
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            if not wait:
                return False
            time.sleep(0.05)
        else:
            return True


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path in the same folder to write to; it replaces the real one when the block ends well, and else is removed.

    A run that is killed leaves its draft behind, which the next run writes over; while a run is alive, a lock keeps
    others from the same draft. A link stays a link. What is no file, such as a device, is written to and stays.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file() and not target.is_dir():
        yield target
        return
    draft = target.with_name(f".{target.name}.draft")
    try:
        with draft.open("ab") as file:
            if not lock(file, wait=False):
                raise InputError(f"{path}: another run is writing it; accepted: a file of its own")
            try:
                os.truncate(draft, 0)
                yield draft
                with draft.open("rb+") as written:
                    os.fsync(written.fileno())
                if fcntl is None:
                    file.close()  # elsewhere an open file cannot be renamed
                draft.replace(target)
                _keep_names(target.parent)
            finally:
                draft.unlink(missing_ok=True)
    except OSError as error:
        if error.errno not in _NO_ROOM and str(error.filename) != str(draft):
            raise
        reason = os.strerror(error.errno or errno.EIO)
        accepted = "a place with enough room" if error.errno in _NO_ROOM else WRITABLE
        raise InputError(f"{path}: cannot be written ({reason}); accepted: {accepted}") from None


def _keep_names(folder: Path) -> None:
    """Waits until the folder's names are on the disk too: a file under its old name would be the old file."""
    if fcntl is None:
        return  # elsewhere folders cannot be opened
    number = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lets one program at a time read a file and write it again: the others wait until the block ends.

    The lock is a file next to it, which stays: the file itself is replaced when it is written, and a lock with it.
    """
    try:
        file = path.with_name(f".{path.name}.lock").open("ab")
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}); accepted: {WRITABLE}") from None
    with file:
        lock(file)
        yield
