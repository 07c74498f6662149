"""What the documents tell operators to do: files that nobody else may read, a unit with few rights, time to stop."""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bcdp.collector import open_store
from support.documents import ROOT, blocks
from support.system import require

pytestmark = pytest.mark.slow

PAGES = [ROOT / "docs" / "guide" / name for name in ("deploy.md", "drill.md", "mixing-relay.md")]
UNIT = next(block.text for block in blocks(PAGES[0].read_text("utf-8")) if block.language == "ini")


def test_documented_backups_are_their_owners_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("reports.db", "drill.db", "relay.db"):
        open_store(name, "plan").check()
    lines = [line for page in PAGES for line in page.read_text("utf-8").splitlines() if "VACUUM INTO" in line]
    assert len(lines) >= 3
    before, existing = os.umask(0o022), set(tmp_path.iterdir())
    try:
        for line in lines:
            subprocess.run(["bash", "-ec", line], check=True)
    finally:
        os.umask(before)
    written = set(tmp_path.iterdir()) - existing
    assert written
    assert {path.stat().st_mode & 0o077 for path in written} == {0}


def test_every_secret_is_written_for_its_owner_alone() -> None:
    """Dumps, tokens and keys that a page writes by redirection."""
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    secrets = [line for line in text.splitlines() if re.search(r"(urandom|pg_dump).*>", line)]
    assert len(secrets) >= 4
    unprotected = [line for line in secrets if "umask 077" not in line and "chmod 600" not in line]
    assert [line for line in unprotected if not text.partition(line)[2].startswith("\nchmod 600")] == []


def test_the_unit_has_few_rights_and_time_to_settle(tmp_path: Path) -> None:
    require(shutil.which("systemd-analyze"), "systemd")
    unit = tmp_path / "bcdp.service"
    unit.write_text(UNIT)
    command = ["systemd-analyze", "security", "--offline=yes", "--threshold=29", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rated = re.search(r"exposure level for bcdp.service: (\d+\.\d)", done.stdout)
    assert rated
    assert float(rated[1]) < 3
    stated = configparser.ConfigParser(interpolation=None, strict=False)
    stated.read_string(UNIT)
    assert stated["Service"]["TimeoutStopSec"] == "15min"
