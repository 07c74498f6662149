"""The hashes of all that a collector of this version serves to browsers, signed by whoever publishes it, and checked.

    python tools/hashes.py sign key.pem > signed.json   # an Ed25519 key, in PEM
    python tools/hashes.py check public.pem signed.json served.json   # served.json: what /hashes.json gave

Whoever trusts the publisher's key then knows that a page is the published one, wherever it is served.
"""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

import bcdp


def listed() -> dict[str, Any]:
    """The version, and the hash of each file by its path."""
    from bcdp.collector.pages import HASHES, load_pages

    return {"bcdp": bcdp.__version__, "files": json.loads(load_pages()[HASHES].content)}


def _text(document: dict[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def signed(document: dict[str, Any], key: bytes) -> dict[str, Any]:
    """The document with its signature; the key is an Ed25519 key in PEM."""
    private = load_pem_private_key(key, None)
    if not isinstance(private, Ed25519PrivateKey):
        raise SystemExit("key: accepted: an Ed25519 key, in PEM")
    return {**document, "signature": base64.b64encode(private.sign(_text(document))).decode()}


def differences(document: dict[str, Any], public: bytes, served: dict[str, str]) -> list[str]:
    """What is wrong with served files, one sentence each; nothing if all are the published ones."""
    stated = {key: value for key, value in document.items() if key != "signature"}
    known = load_pem_public_key(public)
    if not isinstance(known, Ed25519PublicKey):
        raise SystemExit("key: accepted: an Ed25519 key, in PEM")
    try:
        known.verify(base64.b64decode(document["signature"]), _text(stated))
    except InvalidSignature:
        return ["the list was not signed with this key"]
    names = sorted(stated["files"].keys() | served.keys())
    return [f"{name} is not the published one" for name in names if stated["files"].get(name) != served.get(name)]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["sign", key]:
            print(json.dumps(signed(listed(), Path(key).read_bytes()), indent=1))
        case ["check", key, published, served]:
            lists = [json.loads(Path(path).read_text("utf-8")) for path in (published, served)]
            wrong = differences(lists[0], Path(key).read_bytes(), lists[1])
            print("\n".join(wrong) or "every file is the published one")
            sys.exit(bool(wrong))
        case _:
            sys.exit(__doc__)
