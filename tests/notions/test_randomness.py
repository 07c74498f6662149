"""Random words: AES as documented, equal for equal ids and purposes only, and without visible pattern."""

from __future__ import annotations

import math
import string
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from scipy import stats

from bcdp.errors import InputError
from bcdp.randomness import KEY_BYTES, KeyedDraws, RecordWords, check_key, fresh_key

KEY = bytes(range(KEY_BYTES))
OTHER_KEY = bytes(range(100, 100 + KEY_BYTES))
FALSE_ALARM = 1e-9


def columns(key: bytes | None, ids: Any, count: int = 9, purpose: str = "") -> np.ndarray:
    words = RecordWords(key, ids, purpose)
    return np.stack([words.column(position) for position in range(count)], axis=1)


def test_a_word_is_one_lane_of_one_block_of_aes() -> None:
    purpose, number, position = "a plan", -5, 6
    key = HKDF(algorithm=hashes.SHA256(), length=16, salt=None, info=b"bcdp words a plan").derive(KEY)
    block = number.to_bytes(8, "little", signed=True) + bytes(4) + (position // 4).to_bytes(4, "little")
    out = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)
    expected = int.from_bytes(out[4 * (position % 4) :][:4], "little")
    assert int(RecordWords(KEY, [3, number], purpose).column(position)[1]) == expected


@pytest.mark.parametrize("ids", [range(40), [f"person {i % 7}-{i}" for i in range(40)], [b"\0" * i for i in range(40)]])
def test_words_depend_on_key_id_and_purpose_and_on_nothing_else(ids: Any) -> None:
    whole = columns(KEY, ids)
    parts = np.concatenate([columns(KEY, ids[:13]), columns(KEY, ids[13:])])
    order = np.random.default_rng(1).permutation(len(ids))
    np.testing.assert_array_equal(whole, parts)
    np.testing.assert_array_equal(whole[order], columns(KEY, [ids[i] for i in order]))
    for other in (columns(OTHER_KEY, ids), columns(KEY, ids, purpose="another plan"), columns(None, ids)):
        assert not (whole == other).any(axis=0).all()
        assert (whole == other).mean() < 0.01
    assert len(np.unique(whole, axis=0)) == len(ids)


def test_columns_may_be_read_in_any_order_and_of_some_records_only() -> None:
    words, whole = RecordWords(KEY, range(50)), columns(KEY, range(50))
    for position in (8, 0, 5, 1, 8, 2):
        np.testing.assert_array_equal(words.column(position), whole[:, position])
    rows = np.array([40, 3, 3, 17])
    part = words.take(rows)
    assert len(part) == 4
    for position in (7, 2, 0):
        np.testing.assert_array_equal(part.column(position), whole[rows, position])
        np.testing.assert_array_equal(part.take(np.array([2, 1])).column(position), whole[[3, 3], position])
        np.testing.assert_array_equal(words.column(position), whole[:, position])


def test_an_integer_id_is_one_id_in_every_type() -> None:
    expected = columns(KEY, [0, 7, 2**31])
    for kind in (np.int64, np.uint32, np.uint64):
        np.testing.assert_array_equal(expected, columns(KEY, np.array([0, 7, 2**31], dtype=kind)))
    np.testing.assert_array_equal(columns(KEY, [-1, 5]), columns(KEY, np.array([-1, 5], dtype=np.int8)))


WHOLE = [0, 1, -1, 7, -40, 12345 - 2**52, 10**17, 10**18 - 1, 1 - 10**18, 10**18, -(10**18), 2**63 - 1, -(2**63)]


@pytest.mark.parametrize("ids", [np.array(WHOLE), np.array([7, 2**63, 2**64 - 1], dtype=np.uint64)])
def test_a_number_and_its_decimal_text_are_one_id(ids: np.ndarray) -> None:
    """Files hold one number as one or the other; which of them must not decide what is drawn."""
    texts = [str(number) for number in ids.tolist()]
    expected = columns(KEY, ids)
    assert len(np.unique(expected, axis=0)) == len(ids)
    arrow = pa.array(texts)
    pieces = pa.chunked_array([arrow[:1], arrow[1:]])
    for same in (texts, [text.encode() for text in texts], np.array(texts), pa.array(ids), arrow, pieces,
                 arrow.dictionary_encode(), arrow.cast(pa.string_view()), arrow.cast(pa.binary())):  # fmt: skip
        np.testing.assert_array_equal(columns(KEY, same), expected)
    mixed = ["a", *texts, "b"]  # texts of both sorts in one column
    np.testing.assert_array_equal(columns(KEY, mixed)[1:-1], expected)


def test_other_spellings_of_a_number_are_other_ids() -> None:
    spellings = ["7", "007", "07", "+7", " 7", "7 ", "7\n", "7.0", "7e0", "٧", "-7", "--7", "0", "-0", "00", ""]
    assert len(np.unique(columns(KEY, spellings), axis=0)) == len(spellings)


def test_texts_that_end_alike_or_in_zeros_are_different_ids() -> None:
    texts = ["", "a", "a\0", "a\0\0", "aa", "a" * 15, "a" * 16, "a" * 17, "a" * 16 + "\0", "a" * 32, "é", "1"]
    assert len(np.unique(columns(KEY, texts), axis=0)) == len(texts)
    np.testing.assert_array_equal(columns(KEY, ["é"]), columns(KEY, ["é".encode()]))


def test_no_records_have_no_words() -> None:
    for empty in ([], range(0), np.array([], dtype=np.int64), np.array([], dtype=np.str_)):
        assert columns(KEY, empty).shape == (0, 9)


@pytest.mark.parametrize(
    "ids",
    [[1.0, 2.0], [None, "a"], ["a", None], [1, "a"], ["a", 1], [True, False], [2**70], [2**63, -1], [[1, 2], [3, 4]],
     ["a", b"a"], pa.array([1.0]), pa.array([True])],
)  # fmt: skip
def test_other_ids_are_refused(ids: Any) -> None:
    with pytest.raises(InputError, match=r"ids: .*; accepted: integers or texts"):
        RecordWords(KEY, ids)


@pytest.mark.parametrize("key", [b"", KEY[:-1], KEY + b"x", KEY.decode(), bytearray(KEY), 7])
def test_keys_of_another_size_or_type_are_refused(key: Any) -> None:
    with pytest.raises(InputError, match=r"key: .*; accepted: exactly 32 random bytes"):
        RecordWords(key, [1])


@pytest.mark.parametrize("key", [bytes(32), b"password" * 4, b"correct horse battery staple 123"])
def test_typed_keys_are_refused(key: bytes) -> None:
    with pytest.raises(InputError, match=r"key: .* it is not random"):
        check_key(key)


def test_random_keys_are_accepted() -> None:
    """A random key is refused with a chance below 1e-9: too few different bytes, by their exact law, or all text."""
    law = [Fraction(1)] + [Fraction(0)] * KEY_BYTES
    for _ in range(KEY_BYTES):
        law = [law[seen] * seen / 256 + (law[seen - 1] * (257 - seen) / 256 if seen else 0) for seen in range(len(law))]
    assert sum(law) == 1
    assert sum(law[:20]) + Fraction(len(string.printable), 256) ** KEY_BYTES < 1e-9
    generator = np.random.default_rng(5)
    for key in (generator.bytes(KEY_BYTES) for _ in range(200)):
        assert check_key(key) is key


def test_fresh_keys_differ() -> None:
    assert len(fresh_key()) == KEY_BYTES
    assert fresh_key() != fresh_key()


def smallest_chance(words: np.ndarray) -> float:
    """The smallest p-value, times their number: one-bits and bytes in every column, neighbours agreeing in bits."""
    count = len(words)
    chances = []

    def fair(ones: np.ndarray, tosses: int) -> None:
        excess = np.abs(ones - tosses / 2) / math.sqrt(tosses / 4)
        chances.extend(np.atleast_1d(2 * stats.norm.sf(excess)).ravel())

    bits = (words[:, :, None] >> np.arange(32, dtype=np.uint32)) & 1
    fair(bits.sum(axis=0), count)
    fair((bits[1:] ^ bits[:-1]).sum(axis=0), count - 1)
    fair((bits[:, 1:] ^ bits[:, :-1]).sum(axis=0), count)
    for column in words.T:
        for shift in (0, 8, 16, 24):
            chances.append(stats.chisquare(np.bincount((column >> np.uint32(shift)) & 255, minlength=256)).pvalue)
    return min(chances) * len(chances)


@pytest.mark.parametrize("kind", [int, str])
def test_words_look_random(kind: Callable[[int], Any]) -> None:
    """False alarm 1e-9: the sum over all 690 tests of their p-values' threshold; the key is fixed."""
    assert smallest_chance(columns(KEY, [kind(i) for i in range(1 << 14)], 6)) > FALSE_ALARM


def _without_top_bit(words: np.ndarray) -> np.ndarray:
    return words >> np.uint32(1)


def _one_column_twice(words: np.ndarray) -> np.ndarray:
    return words[:, [0, 1, 2, 2, 4, 5]]


def _sixty_bytes_short(words: np.ndarray) -> np.ndarray:
    return np.where((words & 255) < 60, words | 255, words).astype(np.uint32)


def _counter(words: np.ndarray) -> np.ndarray:
    return (np.arange(words.size, dtype=np.uint64) * 2654435761 % 2**32).astype(np.uint32).reshape(words.shape)


def _each_word_for_two_people(words: np.ndarray) -> np.ndarray:
    return np.repeat(words[: len(words) // 2], 2, axis=0)


@pytest.mark.parametrize(
    "broken", [_without_top_bit, _one_column_twice, _sixty_bytes_short, _counter, _each_word_for_two_people]
)
def test_a_broken_generator_is_caught(broken: Callable[[np.ndarray], np.ndarray]) -> None:
    assert smallest_chance(broken(columns(KEY, range(1 << 14), 6))) < FALSE_ALARM


def test_draws_read_the_words_one_after_the_other() -> None:
    draws, whole = KeyedDraws(RecordWords(KEY, range(5))), columns(KEY, range(5))
    np.testing.assert_array_equal(draws.words(5, 2), whole[:, :2])
    np.testing.assert_array_equal(draws.words(5, 3), whole[:, 2:5])
    with pytest.raises(InputError, match="people: got 4; accepted: the 5 records"):
        draws.words(4, 1)


def test_normals_are_normal_finite_and_not_wider() -> None:
    """False alarm 1e-9 (Kolmogorov-Smirnov, fixed key); 3% wider is caught."""
    normals = KeyedDraws(RecordWords(KEY, range(1 << 16))).normals(1 << 16, 4).ravel()
    assert np.isfinite(normals).all()
    assert stats.kstest(normals, "norm").pvalue > FALSE_ALARM
    assert stats.kstest(normals * 1.03, "norm").pvalue < FALSE_ALARM
