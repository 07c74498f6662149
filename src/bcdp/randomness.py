"""Random words from AES under a key: one block per record and position, vectorised over records.

`word(record, position) = AES_key(record id, position // 4)[position % 4]`, 32 bits each. The same key and the same id
give the same words, so a retried job repeats its answers instead of releasing new ones. The id 7 and the text "7" are
one id, because files differ in how they hold numbers; "007" is another. Without a key a fresh one is taken from the
operating system and forgotten. Nothing here takes a seed.
"""

from __future__ import annotations

import os
import string
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from bcdp.errors import InputError, refuse
from bcdp.exact import Words

KEY_BYTES = 32
# 32 random bytes show fewer different values with probability 1.5e-10, and are all text with probability 9e-14
_DISTINCT_BYTES = 20
_TEXT = frozenset(string.printable.encode())
_LANES = 4  # an AES block holds four 32-bit words
_NUMBER_END = 10**18  # ids from here on, and from its negative down, count as texts: 64 bits hold all numbers between
_NUMBER_TEXT = r"\A(0|-?[1-9][0-9]{0,17})\z"
_TEXT_TYPES = (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view())
_ACCEPTED_IDS = "integers or texts of one kind, integers of at most 64 bits, one for each record, none missing"


def fresh_key() -> bytes:
    """32 bytes from the operating system's generator."""
    return os.urandom(KEY_BYTES)


def check_key(key: bytes) -> bytes:
    """The key itself, if it can be trusted to be random: 32 bytes that do not look typed."""
    if not isinstance(key, bytes) or len(key) != KEY_BYTES:
        size = f"{len(key)} bytes" if isinstance(key, bytes) else type(key).__name__
        raise refuse("key", size, f"exactly {KEY_BYTES} random bytes, for example from `head -c 32 /dev/urandom`")
    return check_random("key", key)


def check_random(name: str, key: bytes) -> bytes:
    """The key itself, if its 32 or more bytes do not look typed, counted or repeated."""
    if len(key) < KEY_BYTES:
        raise refuse(name, f"{len(key)} bytes", f"at least {KEY_BYTES} random bytes, from `head -c 32 /dev/urandom`")
    typed = _TEXT.issuperset(key)
    if typed or len(set(key)) < _DISTINCT_BYTES:
        problem = "are all text" if typed else f"hold only {len(set(key))} different values"
        raise InputError(
            f"{name}: its {len(key)} bytes {problem}, so it is not random; "
            "accepted: bytes from a random generator, for example `head -c 32 /dev/urandom`"
        )
    return key


def _subkey(key: bytes, purpose: bytes) -> bytes:
    return HKDF(algorithm=hashes.SHA256(), length=16, salt=None, info=b"bcdp " + purpose).derive(key)


def _aes(key: bytes) -> CipherContext:
    # ECB over distinct blocks is AES as a pseudorandom function, which is what is wanted here; nothing is hidden by it.
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor()


def _encrypt(
    aes: CipherContext, blocks: npt.NDArray[np.uint8], into: npt.NDArray[np.uint8] | None = None
) -> npt.NDArray[np.uint8]:
    encrypted = room_for(len(blocks)) if into is None else into
    aes.update_into(blocks.data, encrypted.data)
    return encrypted[: len(blocks)]


def room_for(records: int) -> npt.NDArray[np.uint8]:
    """Place for a block of 16 bytes for each record, and for one more, as the cipher wants it.

    From Arrow, which keeps what is given back; the system would clear it each time.
    """
    return np.frombuffer(pa.allocate_buffer(16 * (records + 1)), dtype=np.uint8).reshape(-1, 16)


def as_ids(ids: Any) -> npt.NDArray[Any] | pa.Array:
    """Ids in one of two forms: an array of NumPy's integers, or of Arrow's large binary, which also holds texts."""
    if isinstance(ids, range):
        return np.arange(ids.start, ids.stop, ids.step)
    if isinstance(ids, pa.Array | pa.ChunkedArray):
        return _arrow_ids(ids)
    if getattr(getattr(ids, "dtype", None), "kind", "O") not in "iu":
        for kind, arrow in ((str, pa.large_string()), (bytes, pa.large_binary())):
            if all(isinstance(value, kind) for value in ids):
                return pa.array(list(ids), arrow).cast(pa.large_binary())
    array = np.asarray(ids)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise refuse("ids", " and ".join(sorted({type(value).__name__ for value in ids})), _ACCEPTED_IDS)
    return array


def _arrow_ids(ids: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any] | pa.Array:
    if ids.null_count:
        raise refuse("ids", f"{ids.null_count} missing values", "an id for every record")
    array = ids
    if isinstance(ids, pa.ChunkedArray):  # one piece is not copied
        array = ids.chunk(0) if ids.num_chunks == 1 else ids.combine_chunks()
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_integer(array.type):
        return np.asarray(array)
    if array.type not in _TEXT_TYPES:
        # the type of a record would name its keys
        raise refuse("ids", "lists or records" if pa.types.is_nested(array.type) else str(array.type), _ACCEPTED_IDS)
    return array.cast(pa.large_binary())


def _id_blocks(
    key: bytes, ids: npt.NDArray[Any] | pa.Array, into: npt.NDArray[np.uint8] | None = None
) -> npt.NDArray[np.uint8]:
    """Twelve bytes distinguish ids: a whole number of up to 18 digits itself, the digest of any other id's text."""
    if isinstance(ids, np.ndarray):
        numbers, others = ids, None
        if len(ids) and not -_NUMBER_END < ids.min() <= ids.max() < _NUMBER_END:
            others = (ids <= -_NUMBER_END) | (ids >= _NUMBER_END)
            texts = pa.array(ids[others]).cast(pa.large_string()).cast(pa.large_binary())
    else:
        is_number = pc.match_substring_regex(ids, _NUMBER_TEXT)
        others = ~np.asarray(is_number)
        digits = pc.if_else(is_number, ids, pa.scalar(b"0", pa.large_binary()))
        numbers, texts = np.asarray(digits.cast(pa.large_string()).cast(pa.int64())), ids.filter(pa.array(others))
    blocks = (room_for(len(ids)) if into is None else into)[: len(ids)]
    # a number of 64 bits and a zero behind it, in one pass: as the real and the imaginary part
    blocks.view(np.complex128)[:, 0] = numbers.astype("<i8", copy=False).view(np.float64)
    if others is not None and len(texts):
        blocks[others, :12] = _digest_texts(_subkey(key, b"ids"), texts)[:, :12]
    return blocks


def _digest_texts(key: bytes, texts: pa.Array) -> npt.NDArray[np.uint8]:
    """CBC-MAC with the length in the first block (so no text is the start of another), all texts at once."""
    _, offsets, buffer = texts.buffers()
    data = np.frombuffer(buffer or b"", dtype=np.uint8)
    starts = np.frombuffer(offsets, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
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


class KeyedWords:
    """The words of a key for one purpose, for batches of records one after the other."""

    def __init__(self, key: bytes | None, purpose: str = "") -> None:
        self._secret = fresh_key() if key is None else check_key(key)
        self._aes = _aes(_subkey(self._secret, f"words {purpose}".encode()))

    def of(self, ids: npt.NDArray[Any] | Sequence[Any]) -> RecordWords:
        """The words of the records with these ids."""
        words = object.__new__(RecordWords)
        words._start(self._secret, self._aes, as_ids(ids))
        return words


class RecordWords:
    """The random words of a batch of records: `words.column(position)` is one 32-bit word for each record."""

    def __init__(self, key: bytes | None, ids: npt.NDArray[Any] | Sequence[Any], purpose: str = "") -> None:
        """`ids` are integers of up to 64 bits or texts, one per record; equal ids get equal words, for one purpose.

        An integer equals its decimal text. Releases that share their words are not independent and reveal more than
        their sum, so every plan is a purpose.
        """
        keyed = KeyedWords(key, purpose)
        self._start(keyed._secret, keyed._aes, as_ids(ids))

    def _start(self, secret: bytes, aes: CipherContext, ids: npt.NDArray[Any] | pa.Array) -> None:
        self._secret, self._aes, self._ids = secret, aes, ids
        self._cached: tuple[int, Words] = (-1, np.empty((0, _LANES), dtype=np.uint32))
        self._origin: tuple[RecordWords, npt.NDArray[np.intp]] | None = None

    def __len__(self) -> int:
        return len(self._ids) if self._origin is None else len(self._origin[1])

    @cached_property
    def _blocks(self) -> npt.NDArray[np.uint8]:
        return _id_blocks(self._secret, self._ids)

    def take(self, rows: npt.NDArray[np.intp]) -> RecordWords:
        """The words of some of the records; nothing is encrypted twice for them, and nothing that is never read."""
        part = object.__new__(RecordWords)
        part._start(self._secret, self._aes, self._ids)
        part._origin = (self, rows) if self._origin is None else (self._origin[0], self._origin[1][rows])
        return part

    def _block(self, number: int) -> Words:
        if self._cached[0] != number:
            self._cached = (number, self._made(number))
        return self._cached[1]

    def _made(self, number: int) -> Words:
        if self._origin is None:
            blocks = self._blocks
        else:
            block, rows = self._origin
            if block._cached[0] == number:
                return _rows(block._cached[1], rows)
            blocks = _rows(block._blocks, rows)
        blocks.view("<u4")[:, 3] = number
        return _as_words(_encrypt(self._aes, blocks))

    def column(self, position: int) -> Words:
        """Word number `position` of every record."""
        return self._block(position // _LANES)[:, position % _LANES]

    def first(self, into: npt.NDArray[np.uint8]) -> Words:
        """The first four words of every record, one row each, in a place made by `room_for` that is used again."""
        blocks = _id_blocks(self._secret, self._ids, into)
        return _as_words(_encrypt(self._aes, blocks, into))

    def following(self, fours: npt.NDArray[np.uint8]) -> Words:
        """The words after the first four: as many fours as a record needs, one row each, record after record."""
        needed = np.flatnonzero(fours)
        often = fours[needed].astype(np.intp)
        blocks = _rows(self._blocks, needed.repeat(often))
        blocks.view("<u4")[:, 3] = np.arange(len(blocks)) - (often.cumsum() - often).repeat(often) + 1
        return _as_words(_encrypt(self._aes, blocks))


def _as_words(encrypted: npt.NDArray[np.uint8]) -> Words:
    return encrypted.view("<u4").astype(np.uint32, copy=False)


def _rows(array: npt.NDArray[Any], rows: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    """Some rows of an array whose rows are 16 bytes; as one number each they are moved at once."""
    return array.view(np.complex128)[:, 0].take(rows).view(array.dtype).reshape(len(rows), array.shape[1])


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
        from scipy.special import ndtri  # slow to import, and needed here only

        return np.asarray(ndtri((self.words(people, count) + 0.5) * 2.0**-32), dtype=np.float64)


class SimulatedDraws:
    """What experiments use: fast numbers from NumPy, repeatable by a seed, protecting nobody."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def words(self, people: int, count: int) -> Words:
        return self._generator.integers(0, 2**32, size=(people, count), dtype=np.uint32)

    def normals(self, people: int, count: int) -> npt.NDArray[np.float64]:
        return self._generator.standard_normal((people, count))
