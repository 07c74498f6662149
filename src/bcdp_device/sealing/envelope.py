"""Sealing and opening (RFC 9458, section 4): one suite, X25519 with HKDF-SHA256 and AES-128-GCM.

A device seals a message for a key configuration, which its plan states, and can open the answer to it; only the holder
of the key can open the message and seal the answer.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import struct
from collections.abc import Callable
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from pyhpke import AEADId, CipherSuite, KDFId, KEMId, KEMKey, PyHPKEError

from bcdp_device.errors import InputError, refuse

KEYS_TYPE, REQUEST_TYPE, RESPONSE_TYPE = "application/ohttp-keys", "message/ohttp-req", "message/ohttp-res"
_SUITE = CipherSuite.new(KEMId.DHKEM_X25519_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.AES128_GCM)
_KEM, _KDF, _AEAD = 0x0020, 0x0001, 0x0001  # the numbers of these
_HEADER = struct.Struct(">BHHH")  # the key's number and the suite
_ENCAPSULATED, _KEY, _NONCE = 32, 16, 12  # bytes
_RESPONSE_NONCE = max(_KEY, _NONCE)

Answering = Callable[[bytes], bytes]  # seals the answer to a message, or opens it


class SealError(ValueError):
    """A sealed message that cannot be opened: it was changed, or is none."""


class UnknownKeyError(SealError):
    """A message that was sealed for another key or with another suite."""


class GatewayKey:
    """The key that opens what devices seal; `identifier` is the number by which messages name it."""

    def __init__(self, private: X25519PrivateKey, identifier: int) -> None:
        self._private = KEMKey.from_pyca_cryptography_key(private)
        self._public = private.public_key().public_bytes_raw()
        self._header = _HEADER.pack(identifier, _KEM, _KDF, _AEAD)

    @classmethod
    def from_pem(cls, text: bytes) -> GatewayKey:
        """The key in a PEM text; its number is the first byte of its public part's SHA-256."""
        try:
            private = load_pem_private_key(text, None)
        except (TypeError, ValueError):  # encrypted, or none
            private = None
        if not isinstance(private, X25519PrivateKey):
            raise InputError("key: accepted: a private key written by `bcdp keypair` (X25519, PEM)")
        return cls(private, hashlib.sha256(private.public_key().public_bytes_raw()).digest()[0])

    @classmethod
    def make(cls, path: Path) -> GatewayKey:
        """A new key in a new file that only its owner may read."""
        private = X25519PrivateKey.generate()
        text = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise refuse("key", str(path), "a file that does not exist yet: a key is not written over") from None
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        return cls.from_pem(text)

    @property
    def configuration(self) -> str:
        """What a plan states of the key, in hexadecimal: its number, its public part and the suite."""
        identifier, *suite = _HEADER.unpack(self._header)
        return (struct.pack(">BH", identifier, suite[0]) + self._public + struct.pack(">HHH", 4, *suite[1:])).hex()

    @property
    def published(self) -> bytes:
        """The configuration as `application/ohttp-keys`."""
        configuration = bytes.fromhex(self.configuration)
        return struct.pack(">H", len(configuration)) + configuration

    def open(self, sealed: bytes) -> tuple[bytes, Answering]:
        """The message, and what seals the answer to it."""
        header, enc, content = _cut(sealed, _HEADER.size, _ENCAPSULATED)
        if header != self._header:
            raise UnknownKeyError("sealed for another key")
        try:
            context = _SUITE.create_recipient_context(enc, self._private, _info(header))
            message = context.open(content)
        except (PyHPKEError, ValueError):
            raise SealError("it cannot be opened") from None
        secret = context.export(b"message/bhttp response", _RESPONSE_NONCE)

        def seal_answer(answer: bytes) -> bytes:
            nonce = secrets.token_bytes(_RESPONSE_NONCE)
            cipher, iv = _answer_key(secret, enc + nonce)
            return nonce + cipher.encrypt(iv, answer, None)

        return message, seal_answer


def seal(configuration: str, message: bytes) -> tuple[bytes, Answering]:
    """The message sealed for a key configuration in hexadecimal, and what opens the answer to it."""
    known = bytes.fromhex(configuration)
    header = known[:3] + known[-4:]
    public = _SUITE.kem.deserialize_public_key(known[3 : 3 + _ENCAPSULATED])
    try:
        enc, context = _SUITE.create_sender_context(public, _info(header))
    except (PyHPKEError, ValueError):
        raise refuse("relay.key", configuration, "a key that messages can be sealed for") from None
    sealed = context.seal(message)
    secret = context.export(b"message/bhttp response", _RESPONSE_NONCE)

    def open_answer(answer: bytes) -> bytes:
        nonce, content = _cut(answer, _RESPONSE_NONCE)
        cipher, iv = _answer_key(secret, enc + nonce)
        try:
            return cipher.decrypt(iv, content, None)
        except InvalidTag:
            raise SealError("the answer cannot be opened") from None

    return header + enc + sealed, open_answer


def _info(header: bytes) -> bytes:
    return b"message/bhttp request\0" + header


def _answer_key(secret: bytes, salt: bytes) -> tuple[AESGCM, bytes]:
    """The cipher and the nonce of an answer."""
    key, nonce = (
        HKDF(SHA256(), length, salt, label).derive(secret) for length, label in ((_KEY, b"key"), (_NONCE, b"nonce"))
    )
    return AESGCM(key), nonce


def _cut(data: bytes, *lengths: int) -> list[bytes]:
    """Parts of these lengths, and the rest."""
    if len(data) < sum(lengths):
        raise SealError("it ends early")
    parts = []
    for length in lengths:
        parts.append(data[:length])
        data = data[length:]
    return [*parts, data]
