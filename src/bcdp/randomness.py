"""Random words from AES under a key: one block per record and position, vectorised over records.

`word(record, position) = AES_key(record id, position // 4)[position % 4]`, 32 bits each. The same key and the same id
give the same words, so a retried job repeats its answers instead of releasing new ones. Without a key a fresh one is
taken from the operating system and forgotten. Nothing here takes a seed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from scipy.special import ndtri

from bcdp.errors import InputError, refuse

KEY_BYTES = 32
_DISTINCT_BYTES = (
    16  # 32 random bytes show fewer distinct values with probability below 1e-15; typed passwords often do
)
_LANES = 4  # an AES block holds four 32-bit words

Words = npt.NDArray[np.uint32]


def fresh_key() -> bytes:
    """32 bytes from the operating system's generator."""
    return os.urandom(KEY_BYTES)


def check_key(key: bytes) -> bytes:
    """The key itself, if it can be trusted to be random: 32 bytes that do not look typed."""
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        size = f"{len(key)} bytes" if isinstance(key, bytes) else type(key).__name__
        raise refuse("key", size, f"exactly {KEY_BYTES} random bytes, for example from `head -c 32 /dev/urandom`")
    if len(set(key)) < _DISTINCT_BYTES:
        raise InputError(
            f"key: its {KEY_BYTES} bytes hold only {len(set(key))} different values, so it is not random; "
            "accepted: bytes from a random generator, for example `head -c 32 /dev/urandom`"
        )
    return key


def _subkey(key: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=16, salt=None, info=b"bcdp " + purpose).derive(key)


def _encrypt(key: bytes, blocks: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    # ECB over distinct blocks is AES as a pseudorandom function, which is what is wanted here; nothing is hidden by it.
    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    out = encryptor.update(np.ascontiguousarray(blocks).data)
    return np.frombuffer(out, dtype=np.uint8).reshape(blocks.shape)


def _digest_texts(key: bytes, texts: Iterable[str | bytes]) -> npt.NDArray[np.uint8]:
    """CBC-MAC with the length in the first block (so no text is the start of another), all texts at once."""
    raw = [text.encode() if isinstance(text, str) else bytes(text) for text in texts]
    lengths = np.array([len(text) for text in raw], dtype=np.uint64)
    state = np.zeros((len(raw), 16), dtype=np.uint8)
    state[:, :8] = lengths.astype("<u8").view(np.uint8).reshape(-1, 8)
    state = _encrypt(key, state).copy()
    for start in range(0, int(lengths.max(initial=0)), 16):
        live = np.flatnonzero(lengths > start)
        chunk = b"".join(raw[i][start : start + 16].ljust(16, b"\0") for i in live)
        state[live] = _encrypt(key, state[live] ^ np.frombuffer(chunk, dtype=np.uint8).reshape(-1, 16))
    return state


class RecordWords:
    """The random words of a batch of records: `words.column(position)` is one 32-bit word for each record."""

    def __init__(self, key: bytes | None, ids: npt.NDArray[Any] | Sequence[Any], purpose: str = "") -> None:
        """`ids` are integers of up to 64 bits or texts, one per record; equal ids get equal words, for one purpose.

        Releases that share their words are not independent and tell more than their sum, so every plan is a purpose.
        """
        secret = fresh_key() if key is None else check_key(key)
        self._key = _subkey(secret, f"words {purpose}".encode())
        self._blocks = np.zeros((len(ids), 16), dtype=np.uint8)
        if all(isinstance(value, str | bytes) for value in ids):
            self._blocks[:, :12] = _digest_texts(_subkey(secret, b"ids"), ids)[:, :12]
        else:
            array = np.asarray(ids)
            if array.dtype.kind not in "iu" or array.ndim != 1:
                raise refuse("ids", array.dtype.name, "integers or texts, one for each record, none missing")
            self._blocks[:, :8] = array.astype("<u8").view(np.uint8).reshape(-1, 8)
        self._cached: tuple[int, Words] = (-1, np.empty((0, _LANES), dtype=np.uint32))

    def __len__(self) -> int:
        return len(self._blocks)

    def take(self, rows: npt.NDArray[np.intp]) -> RecordWords:
        """The words of some of the records."""
        part = object.__new__(RecordWords)
        part._key, part._blocks = self._key, self._blocks[rows]
        part._cached = (self._cached[0], self._cached[1][rows]) if self._cached[0] >= 0 else self._cached
        return part

    def _block(self, number: int) -> Words:
        if self._cached[0] != number:
            self._blocks[:, 12:] = np.frombuffer(np.uint32(number).astype("<u4").tobytes(), dtype=np.uint8)
            self._cached = (
                number,
                _encrypt(self._key, self._blocks).view("<u4").astype(np.uint32, copy=False),
            )
        return self._cached[1]

    def column(self, position: int) -> Words:
        """Word number `position` of every record."""
        return self._block(position // _LANES)[:, position % _LANES]


class Draws(Protocol):
    """A source of random numbers that a channel reads from its start, one row per person."""

    def words(self, people: int, count: int) -> Words:
        """`count` uniform 32-bit words for each person."""

    def normals(self, people: int, count: int) -> npt.NDArray[np.float64]:
        """`count` standard normal numbers for each person."""


class KeyedDraws:
    """What devices use: the words of each record from AES, read one after the other."""

    def __init__(self, words: RecordWords) -> None:
        self._words, self._position = words, 0

    def words(self, people: int, count: int) -> Words:
        if people != len(self._words):
            raise refuse("people", people, f"the {len(self._words)} records that these words belong to")
        first, self._position = self._position, self._position + count
        return np.stack([self._words.column(first + j) for j in range(count)], axis=1)

    def normals(self, people: int, count: int) -> npt.NDArray[np.float64]:
        return np.asarray(ndtri((self.words(people, count) + 0.5) * 2.0**-32), dtype=np.float64)


class SimulatedDraws:
    """What experiments use: fast numbers from NumPy, repeatable by a seed, protecting nobody."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def words(self, people: int, count: int) -> Words:
        return self._generator.integers(0, 2**32, size=(people, count), dtype=np.uint32)

    def normals(self, people: int, count: int) -> npt.NDArray[np.float64]:
        return self._generator.standard_normal((people, count))
