"""Random words from AES under a key: one block per record and position, vectorised over records.

`word(record, position) = AES_key(record id, position // 4)[position % 4]`, 32 bits each. The same key and the same id
give the same words, so a retried job repeats its answers instead of releasing new ones. Without a key a fresh one is
taken from the operating system and forgotten. Nothing here takes a seed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
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


def _aes(key: bytes) -> CipherContext:
    # ECB over distinct blocks is AES as a pseudorandom function, which is what is wanted here; nothing is hidden by it.
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor()


def _encrypt(aes: CipherContext, blocks: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    return np.frombuffer(aes.update(blocks.data), dtype=np.uint8).reshape(blocks.shape)


def _text_bytes(texts: Any) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """All texts one after the other as bytes, and where each begins, with the end of the last."""
    if isinstance(texts, pa.Array):
        whole = texts.cast(pa.large_binary())
        _, offsets, data = whole.buffers()
        starts = np.frombuffer(offsets, dtype=np.int64)[whole.offset : whole.offset + len(whole) + 1]
        return np.frombuffer(data or b"", dtype=np.uint8), starts
    raw = [text.encode() if isinstance(text, str) else bytes(text) for text in texts]
    starts = np.concatenate([[0], np.cumsum([len(text) for text in raw], dtype=np.int64)])
    return np.frombuffer(b"".join(raw), dtype=np.uint8), starts


def _digest_texts(key: bytes, texts: Any) -> npt.NDArray[np.uint8]:
    """CBC-MAC with the length in the first block (so no text is the start of another), all texts at once."""
    data, starts = _text_bytes(texts)
    aes = _aes(key)
    lengths = np.diff(starts)
    state = np.zeros((len(lengths), 16), dtype=np.uint8)
    state[:, :8] = lengths.astype("<u8").view(np.uint8).reshape(-1, 8)
    state = _encrypt(aes, state).copy()
    padded = np.concatenate([data, np.zeros(16, dtype=np.uint8)])
    windows = np.ndarray(len(data) + 1, dtype="V16", buffer=padded, strides=(1,))  # 16 bytes from every place on
    kept = np.where(np.arange(16) < np.arange(17)[:, None], 255, 0).astype(np.uint8)
    for done in range(0, int(lengths.max(initial=0)), 16):
        live = np.flatnonzero(lengths > done)
        chunk = windows.take(starts[live] + done).view(np.uint8).reshape(-1, 16)
        chunk &= _rows(kept, np.minimum(lengths[live] - done, 16))
        state[live] = _encrypt(aes, _rows(state, live) ^ chunk)
    return state


def _is_text(ids: Any) -> bool:
    if isinstance(ids, pa.Array):
        return any(test(ids.type) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary))
    if isinstance(ids, range) or (isinstance(ids, np.ndarray) and ids.dtype.kind in "iu"):
        return False
    return all(isinstance(value, str | bytes) for value in ids)


class RecordWords:
    """The random words of a batch of records: `words.column(position)` is one 32-bit word for each record."""

    def __init__(self, key: bytes | None, ids: npt.NDArray[Any] | Sequence[Any], purpose: str = "") -> None:
        """`ids` are integers of up to 64 bits or texts, one per record; equal ids get equal words, for one purpose.

        Releases that share their words are not independent and tell more than their sum, so every plan is a purpose.
        """
        secret = fresh_key() if key is None else check_key(key)
        self._aes = _aes(_subkey(secret, f"words {purpose}".encode()))
        self._blocks = np.zeros((len(ids), 16), dtype=np.uint8)
        if _is_text(ids):
            self._blocks[:, :12] = _digest_texts(_subkey(secret, b"ids"), ids)[:, :12]
        else:
            array = np.arange(ids.start, ids.stop, ids.step) if isinstance(ids, range) else np.asarray(ids)
            if array.dtype.kind not in "iu" or array.ndim != 1:
                raise refuse("ids", array.dtype.name, "integers or texts, one for each record, none missing")
            self._blocks.view("<u8")[:, 0] = array.astype("<u8")
        self._cached: tuple[int, Words] = (-1, np.empty((0, _LANES), dtype=np.uint32))
        self._origin: tuple[RecordWords, npt.NDArray[np.intp]] | None = None

    def __len__(self) -> int:
        return len(self._blocks) if self._origin is None else len(self._origin[1])

    def take(self, rows: npt.NDArray[np.intp]) -> RecordWords:
        """The words of some of the records; nothing is encrypted twice for them, and nothing that is never read."""
        part = object.__new__(RecordWords)
        part._aes, part._blocks = self._aes, self._blocks
        part._origin = (self, rows) if self._origin is None else (self._origin[0], self._origin[1][rows])
        part._cached = (-1, np.empty((0, _LANES), dtype=np.uint32))
        return part

    def _block(self, number: int) -> Words:
        if self._cached[0] != number:
            self._cached = (number, self._made(number))
        return self._cached[1]

    def _made(self, number: int) -> Words:
        if self._origin is None:
            blocks = self._blocks
        else:
            whole, rows = self._origin
            if whole._cached[0] == number:
                return _rows(whole._cached[1], rows)
            blocks = _rows(self._blocks, rows)
        blocks.view("<u4")[:, 3] = number
        return _encrypt(self._aes, blocks).view("<u4").astype(np.uint32, copy=False)

    def column(self, position: int) -> Words:
        """Word number `position` of every record."""
        return self._block(position // _LANES)[:, position % _LANES]


def _rows(array: npt.NDArray[Any], rows: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    """Some rows of an array whose rows are 16 bytes; as one number each they are moved at once."""
    return array.view(np.complex128)[:, 0].take(rows).view(array.dtype).reshape(len(rows), -1)


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
