"""Packages of npm that tests use, set up by the tests from a pinned lock: whoever has npm needs to do nothing."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from support.paths import ROOT
from support.system import require

FOLDER = ROOT / "tests" / "npm"


def npm_packages(folder: Path = FOLDER) -> Path:
    """The folder node_modules of a lock, installed if it is not there yet; no script of a package runs."""
    npm = shutil.which("npm")
    require(npm, "npm")
    lock = (folder / "package-lock.json").read_bytes()
    stamp, wanted = folder / "node_modules" / ".stamp", hashlib.sha256(lock).hexdigest()
    with (folder / ".installing").open("w") as installing:
        fcntl.flock(installing, fcntl.LOCK_EX)  # several processes test at once
        if not stamp.exists() or stamp.read_text() != wanted:
            command = [str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, "CI": "1"})
            require(done.returncode == 0, f"registry of npm ({done.stderr[-300:]})")
            stamp.write_text(wanted)
    return folder / "node_modules"
