"""Writes src/bcdp/web/vendor/hpke.js: of @hpke/core what sealing needs, in one file, with its licence.

    python tools/vendor_hpke.py NODE_MODULES   # of tests/npm/package-lock.json

The same packages give the same bytes, so that anybody can compare the file with what npm has; a test does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "src" / "bcdp" / "web" / "vendor" / "hpke.js"
NAMES = "Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256"
OPTIONS = ["--bundle", "--minify", "--format=iife", "--global-name=hpke", "--target=es2022", "--legal-comments=none"]


def vendored(modules: Path) -> str:
    """The file's text, from a folder node_modules."""
    made = subprocess.run(
        [modules / ".bin" / "esbuild", *OPTIONS, "--log-level=error"],
        input=f'export {{ {NAMES} }} from "@hpke/core";',
        cwd=modules.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    parts = [json.loads((modules / "@hpke" / name / "package.json").read_text("utf-8")) for name in ("core", "common")]
    told = " and ".join(f"{part['name']} {part['version']}" for part in parts)
    licence = (modules / "@hpke" / "core" / "LICENSE").read_text("utf-8").strip()
    lines = [f"{told}, put together by tools/vendor_hpke.py.", "", *licence.splitlines()]
    head = "\n".join(f" * {line}".rstrip() for line in lines)
    begin, code = made.stdout.split("=", 1)
    assert begin == "var hpke"
    return f"/*!\n{head}\n */\n// @ts-nocheck\nexport const hpke={code}"


if __name__ == "__main__":
    FILE.write_text(vendored(Path(sys.argv[1]).resolve()), encoding="utf-8")
