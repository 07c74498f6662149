"""Makes the npm package bcdp-device from the repository: its own files, and the device's as the collector has them.

    python tools/make_package.py dist

Nothing is compiled, so every file can be compared with the repository; `provenance.json` has their hashes.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "packages" / "bcdp-device"
WEB = ROOT / "src" / "bcdp" / "web"
WORDS = ("en", "de", "fr", "es", "ar")


def contents() -> dict[str, bytes]:
    """Every file of the package by its path."""
    own = {path.name: path.read_bytes() for path in sorted(PACKAGE.iterdir()) if path.name != "example.ts"}
    device = {path.relative_to(WEB).as_posix(): path.read_bytes() for path in sorted((WEB / "device").rglob("*.js"))}
    vendor = {f"vendor/{path.name}": path.read_bytes() for path in sorted((WEB / "vendor").glob("*.js"))}
    words = {f"words/{code}.js": (WEB / "words" / f"{code}.js").read_bytes() for code in WORDS}
    files = {**own, **device, **vendor, **words, "LICENSE": (ROOT / "LICENSE").read_bytes()}
    return {**files, "provenance.json": _provenance(files)}


def _provenance(files: dict[str, bytes]) -> bytes:
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(files.items())}
    document = {"package": "bcdp-device", "commit": git.stdout.strip() or None, "sha256": hashes}
    return (json.dumps(document, indent=1) + "\n").encode()


def make(folder: Path) -> Path:
    """Writes the tarball that `npm install` and `npm publish` take; the same files give the same bytes."""
    version = json.loads((PACKAGE / "package.json").read_text("utf-8"))["version"]
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, content in sorted(contents().items()):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"bcdp-device-{version}.tgz"
    path.write_bytes(gzip.compress(held.getvalue(), 9, mtime=0))
    return path


if __name__ == "__main__":
    print(make(Path(sys.argv[1] if len(sys.argv) > 1 else "dist")))
