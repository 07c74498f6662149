"""Sampling, decoding and documents of the table families, by enumeration."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest

from bcdp.errors import InputError
from bcdp.exact import TOTAL
from bcdp.randomizers import (
    Dense,
    Hadamard,
    Projective,
    Response,
    Table,
    Waves,
    binary,
    hadamard,
    joint,
    numeric,
    numeric_values,
    projective,
    response,
    subset,
    table_from_dict,
    waves,
)

SKEWED = Dense([[1, 0, TOTAL - 2, 1], [TOTAL - 3, 1, 1, 1], [0, 5, 5, TOTAL - 10]])
TABLES: list[Table] = [
    binary(1.0),
    response(3, 0.4),
    response(10, 2.0),
    Response(levels=5, keep=TOTAL - 4, other=1),
    hadamard(2, 1.0),
    hadamard(5, 0.7),
    hadamard(8, 2.0),
    subset(6, 2, 1.1),
    numeric(2.0),
    waves(16, 0.8),
    waves(5, 3.0),
    Waves(levels=3, waves=([6, 1, 2, 9, 1], [3, 2, 1, 700, 700], [2, 1, 1, TOTAL - 2130, 7])),
    Projective(levels=7, field=2, dimension=3, high=2**30, low=2**28),
    Projective(levels=9, field=3, dimension=3, high=700_000_000, low=100_000_000),
    Projective(levels=5, field=5, dimension=2, high=2**31, low=3),
    Projective(levels=11, field=2, dimension=4, high=200_000_000, low=199_000_000),
    projective(30, 0.3),
    projective(21, 3.0),
    SKEWED,
]
DECODABLE = [table for table in TABLES if table.symbols >= table.levels]


def intervals(table: Table, level: int) -> list[tuple[int, int, int]]:
    """The documented order of sampling as (symbol, first word, last word) in plain integers, from the start."""
    match table:
        case Response(levels=levels, keep=keep, other=other):
            others = [symbol for symbol in range(levels) if symbol != level]
            starts = [keep + index * other for index in range(levels)]
            lies = zip(others, starts[:-1], starts[1:], strict=True)
            return [(level, 0, keep - 1), *((symbol, start, end - 1) for symbol, start, end in lies)]
        case Hadamard(order=order, keep=keep):
            cell, result = 2**32 // order, []
            for row in range(order):
                bit = (row & level).bit_count() % 2
                result.append((2 * row + bit, row * cell, row * cell + keep - 1))
                result.append((2 * row + 1 - bit, row * cell + keep, row * cell + cell - 1))
            return result
        case Waves(waves=every):
            pieces, start, first = [], 0, 0
            for answers, step, width, high, low in every:
                for place in range(answers):
                    weight = high if place < width else low
                    pieces.append((first + (place - step * level) % answers, start, start + weight - 1))
                    start += weight
                first += answers
            return [*pieces, (first, start, TOTAL - 1)] if start < TOTAL else pieces
        case Projective():
            return [*hyperplanes_in_order(table, level), (table.symbols - 1, TOTAL - table.silence, TOTAL - 1)][
                : table.symbols - (table.silence == 0)
            ]
        case _:
            result, start = [], 0
            for symbol, weight in enumerate(table.row(level).tolist()):
                if weight:
                    result.append((symbol, start, start + weight - 1))
                start += weight
            return result


def hyperplanes_in_order(table: Projective, level: int) -> list[tuple[int, int, int]]:
    """First the hyperplanes through the point, by number; then the others, by what they have before its last 1.

    That is 0 at first; then come the directions in order, for each the values of the product with the point.
    """
    field, size = table.field, table.dimension
    planes = [v for v in itertools.product(range(field), repeat=size) if any(v) and next(filter(None, v)) == 1]
    point = planes[level][::-1]
    pivot = max(place for place in range(size) if point[place])
    product = {v: sum(map(math.prod, zip(point, v, strict=True))) % field for v in planes}
    order = sorted(planes, key=lambda v: (product[v] > 0, v[:pivot] if product[v] else (), product[v], v))
    pieces, start = [], 0
    for plane in order:
        weight = table.low if product[plane] else table.high
        pieces.append((planes.index(plane), start, start + weight - 1))
        start += weight
    return pieces


def sampled(table: Table, level: int, words: list[int]) -> list[int]:
    symbols = table.sample(np.full(len(words), level), np.array(words, dtype=np.uint32))
    assert symbols.dtype == np.uint32
    return symbols.tolist()


def name(table: Table) -> str:
    return f"{type(table).__name__}-{table.levels}x{table.symbols}"


@pytest.mark.parametrize("table", TABLES, ids=name)
def test_each_symbol_is_given_by_exactly_its_weight_of_words(table: Table) -> None:
    for level in range(table.levels):
        pieces = intervals(table, level)
        weights = np.zeros(table.symbols, dtype=np.int64)
        for symbol, first, last in pieces:
            weights[symbol] += last - first + 1
        assert np.array_equal(weights, table.row(level))
        assert weights.sum() == TOTAL
        assert sampled(table, level, [first for _, first, _ in pieces]) == [symbol for symbol, _, _ in pieces]
        assert sampled(table, level, [last for _, _, last in pieces]) == [symbol for symbol, _, _ in pieces]
        middles = [(first + last) // 2 for _, first, last in pieces]
        assert sampled(table, level, middles) == [symbol for symbol, _, _ in pieces]


@pytest.mark.parametrize("table", TABLES, ids=name)
def test_no_weight_is_above_the_largest(table: Table) -> None:
    weights = np.array([table.row(level) for level in range(table.levels)])
    largest = weights.max(axis=0)
    assert (largest <= table.largest_weights).all()
    if not isinstance(table, Projective):
        assert np.array_equal(largest, table.largest_weights)


@pytest.mark.parametrize("table", TABLES, ids=name)
def test_a_batch_is_its_records_one_by_one(table: Table) -> None:
    generator = np.random.default_rng(3)
    levels = generator.integers(0, table.levels, 500)
    words = generator.integers(0, TOTAL, 500, dtype=np.uint32)
    together = table.sample(levels, words)
    for level, word, symbol in zip(levels.tolist(), words.tolist(), together.tolist(), strict=True):
        found = [piece for piece, first, last in intervals(table, level) if first <= word <= last]
        assert found == [symbol]
    assert table.sample(levels[:0], words[:0]).shape == (0,)
    assert np.array_equal(table.sample(levels.astype(np.uint8), words), together)


def test_large_families_sample_in_closed_form() -> None:
    large: list[Table] = [response(10_000, 6.0), hadamard(10_000, 1.0)]
    for table in large:
        for level in (0, 1, 4095, 9999):
            pieces = intervals(table, level)
            for end in (1, 2):
                words = [piece[end] for piece in pieces]
                assert sampled(table, level, words) == [symbol for symbol, _, _ in pieces]
        with pytest.raises(InputError, match="weights"):
            table.dense()


@pytest.mark.parametrize("bad", [[-1, 0], [0, 2], [0.0, 1.0], [True, False]])
def test_inputs_outside_the_table_never_reach_it(bad) -> None:
    for table in (binary(1.0), binary(1.0).dense(), hadamard(2, 1.0)):
        with pytest.raises(InputError, match="inputs"):
            table.sample(np.array(bad), np.zeros(2, dtype=np.uint32))


def test_words_must_be_one_32_bit_word_each() -> None:
    for words in (np.zeros(2, dtype=np.int64), np.zeros(3, dtype=np.uint32)):
        with pytest.raises(InputError, match="words"):
            binary(1.0).sample(np.zeros(2, dtype=np.int64), words)


@pytest.mark.parametrize("table", DECODABLE, ids=name)
def test_decoding_is_unbiased_at_every_level(table: Table) -> None:
    targets = np.random.default_rng(4).normal(size=(table.levels, 3))
    targets[:, 2] = 1.0
    decoded = table.decode(targets)
    assert decoded.shape == (table.symbols, 3)
    assert np.allclose(decoded[:, 0], table.decode(targets[:, 0]))
    for level in range(table.levels):
        weights = table.row(level)
        for column in range(3):
            mean = math.fsum(weights / TOTAL * decoded[:, column])
            assert mean == pytest.approx(targets[level, column], abs=1e-8)


@pytest.mark.parametrize("table", [subset(6, 2, 1.1), hadamard(8, 2.0), numeric(5.0), waves(8, 1.0), SKEWED], ids=name)
def test_no_other_unbiased_decoding_has_a_smaller_second_moment(table: Table) -> None:
    """The best decoding is orthogonal, under the average output law, to whatever could be added without bias."""
    probabilities = table.dense().weights / TOTAL
    target = numeric_values(table.levels)
    decoded = table.decode(target)
    _, singular, right = np.linalg.svd(probabilities)
    free = right[(singular > 1e-12).sum() :]
    assert np.abs(free @ (probabilities.mean(axis=0) * decoded)).max(initial=0) < 1e-9


@pytest.mark.parametrize("table", DECODABLE, ids=name)
def test_second_moments_are_those_of_the_decoded_values(table: Table) -> None:
    target = np.random.default_rng(5).normal(size=table.levels)
    decoded = table.decode(target)
    expected = [math.fsum(table.row(level) / TOTAL * decoded**2) for level in range(table.levels)]
    assert np.allclose(table.second_moments(target), expected)
    squares = (table.decode(np.eye(table.levels)) ** 2).sum(axis=1)
    average = np.mean([table.row(level) @ squares / TOTAL for level in range(table.levels)])
    assert table.second_moment == pytest.approx(average)


@pytest.mark.parametrize("table", [response(7, 1.0), hadamard(8, 1.0), hadamard(4, 0.2)], ids=name)
def test_closed_forms_agree_with_the_written_out_table(table: Table) -> None:
    generator = np.random.default_rng(6)
    counts = generator.integers(0, 1000, table.symbols)
    dense = table.dense()
    assert np.allclose(table.frequencies(counts), dense.frequencies(counts))
    for ours, theirs in zip(table.indicator_moments(), dense.indicator_moments(), strict=True):
        assert np.allclose(ours, theirs)
    targets = generator.normal(size=(table.levels, 2))
    assert np.allclose(table.decode(targets), dense.decode(targets))
    assert table.second_moment == pytest.approx(dense.second_moment)
    assert np.allclose(table.second_moments(targets[:, 0]), dense.second_moments(targets[:, 0]))


@pytest.mark.parametrize("table", [response(3, 0.8), hadamard(3, 0.8), hadamard(4, 1.5), subset(4, 2, 1.0)], ids=name)
def test_frequencies_are_unbiased_and_their_variances_known(table: Table) -> None:
    """Exact, over all pairs of answers of two people at random levels: both expectations are finite sums."""
    truth = np.arange(1.0, table.levels + 1)
    truth /= truth.sum()
    law = truth @ (table.dense().weights / TOTAL)
    value, square = np.zeros(table.levels), np.zeros(table.levels)
    for one in range(table.symbols):
        for two in range(table.symbols):
            counts = np.bincount([one, two], minlength=table.symbols)
            estimate = table.frequencies(counts)
            value += law[one] * law[two] * estimate
            square += law[one] * law[two] * estimate**2
    assert np.allclose(value, truth)
    true, other = table.indicator_moments()
    assert np.allclose((other + (true - other) * truth - truth**2) / 2, square - truth**2)


def test_frequencies_of_very_many_levels() -> None:
    """At the expected counts of a known law the estimate is that law."""
    truth = np.zeros(10_000)
    truth[[3, 77, 9_999]] = 0.5, 0.25, 0.25
    table = hadamard(10_000, 2.0)
    counts = (table.row(3) * 2 + table.row(77) + table.row(9_999)) * 4
    assert np.allclose(table.frequencies(counts), truth, atol=1e-12)
    true, other = table.indicator_moments()
    some = [0, 3, 9_999]
    indicators = np.zeros((10_000, 3))
    indicators[some, range(3)] = 1.0
    squares = (counts / counts.sum()) @ table.decode(indicators) ** 2
    assert np.allclose((other + (true - other) * truth)[some], squares, rtol=1e-9)


def test_a_target_that_the_answers_do_not_determine_is_refused() -> None:
    two_symbols = Dense([[3 * 2**30, 2**30], [2**31, 2**31], [2**30, 3 * 2**30]])
    assert np.allclose(two_symbols.decode([-1, 0, 1]), [-2, 2])
    for target in ([1, 0, 1], np.eye(3)):
        with pytest.raises(InputError, match="unbiased"):
            two_symbols.decode(target)
    assert two_symbols.second_moment == math.inf
    with pytest.raises(InputError, match="unbiased"):
        two_symbols.frequencies([5, 5])


@pytest.mark.parametrize("target", [[1.0], [1.0, math.nan], [[1.0, 2.0]], [math.inf, 0.0], 3.0])
def test_targets_of_the_wrong_shape_or_not_finite_are_refused(target) -> None:
    for table in (binary(1.0), binary(1.0).dense(), hadamard(2, 1.0)):
        with pytest.raises(InputError, match="target"):
            table.decode(target)
        with pytest.raises(InputError, match="target"):
            table.second_moments(np.eye(2))


@pytest.mark.parametrize("counts", [[1, 2, 3], [-1, 5], [0.5, 1.5], [1, 0], [0, 0]])
def test_counts_that_are_none_are_refused(counts) -> None:
    for table in (binary(1.0), binary(1.0).dense()):
        with pytest.raises(InputError, match="counts"):
            table.frequencies(counts)


@pytest.mark.parametrize("table", [*TABLES, joint((2, 3), 1.0)], ids=name)
def test_tables_survive_json(table: Table) -> None:
    again = table_from_dict(json.loads(json.dumps(table.to_dict())))
    assert again == table
    assert hash(again) == hash(table)


HALF = 2**31


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (None, "table"),
        ([], "table"),
        ({}, "family"),
        ({"family": "laplace"}, "family"),
        ({"family": ["dense"]}, "family"),
        ({"family": "response", "levels": 2, "keep": HALF}, "exactly"),
        ({"family": "response", "levels": 2, "keep": HALF, "other": HALF, "seed": 1}, "exactly"),
        ({"family": "response", "levels": 2, "keep": HALF + 1, "other": HALF}, "sum"),
        ({"family": "response", "levels": 2, "keep": HALF - 1, "other": HALF + 1}, "other"),
        ({"family": "response", "levels": 2, "keep": TOTAL, "other": 0}, "other"),
        ({"family": "response", "levels": 2, "keep": float(HALF), "other": HALF}, "keep"),
        ({"family": "response", "levels": 2.0, "keep": HALF, "other": HALF}, "levels"),
        ({"family": "response", "levels": True, "keep": TOTAL, "other": 1}, "levels"),
        ({"family": "response", "levels": 1, "keep": TOTAL, "other": 1}, "levels"),
        ({"family": "hadamard", "levels": 3, "order": 3, "keep": HALF}, "order"),
        ({"family": "hadamard", "levels": 3, "order": 2, "keep": HALF}, "order"),
        ({"family": "hadamard", "levels": 3, "order": 2**15, "keep": 2**16}, "order"),
        ({"family": "hadamard", "levels": 3, "order": 4, "keep": 2**30}, "keep"),
        ({"family": "hadamard", "levels": 3, "order": 4, "keep": 2**29 - 1}, "keep"),
        ({"family": "hadamard", "levels": 3, "order": 4, "keep": True}, "keep"),
        *(({"family": "waves", "levels": 4, "waves": wrong}, "waves") for wrong in ([], {}, [[8, 1, 3, 9]], [8], None)),
        ({"family": "waves", "levels": 1, "waves": [[2, 1, 1, 9, 9]]}, "levels"),
        ({"family": "waves", "levels": 257, "waves": [[2, 1, 1, 9, 9]]}, "levels"),
        ({"family": "waves", "levels": 4, "waves": [[9, 1, 3, 9, 1]]}, "answers"),
        ({"family": "waves", "levels": 4, "waves": [[8, 0, 3, 9, 1]]}, "step"),
        ({"family": "waves", "levels": 4, "waves": [[8, 8, 3, 9, 1]]}, "step"),
        ({"family": "waves", "levels": 4, "waves": [[8, 1, 8, 9, 1]]}, "width"),
        ({"family": "waves", "levels": 4, "waves": [[8, 1, 3, 9, 10]]}, "high"),
        ({"family": "waves", "levels": 4, "waves": [[8, 1, 3, 9, 0]]}, "low"),
        ({"family": "waves", "levels": 4, "waves": [[8, 1, 3, 9, True]]}, "low"),
        ({"family": "waves", "levels": 4, "waves": [[8, 1, 1, TOTAL, 1]]}, "words"),
        ({"family": "waves", "levels": 256, "waves": [[512, 1, 3, 9, 1]] * 32}, "weights"),
        ({"family": "dense", "weights": []}, "weights"),
        ({"family": "dense", "weights": [[]]}, "weights"),
        ({"family": "dense", "weights": [HALF, HALF]}, "weights"),
        ({"family": "dense", "weights": [[TOTAL], [HALF, HALF]]}, "length"),
        ({"family": "dense", "weights": [[HALF, HALF - 1]]}, "row 0 sums"),
        ({"family": "dense", "weights": [[HALF, HALF], [TOTAL + 1, -1]]}, "weights"),
        ({"family": "dense", "weights": [[TOTAL - 1, True]]}, "weights"),
        ({"family": "dense", "weights": [[float(HALF), float(HALF)]]}, "weights"),
        ({"family": "dense", "weights": [[2**64, HALF]]}, "weights"),
        ({"family": "dense", "weights": [["1", HALF]]}, "weights"),
    ],
)
def test_documents_that_are_no_table_are_refused(document, message: str) -> None:
    with pytest.raises(InputError, match=message):
        table_from_dict(document)


def test_weights_cannot_be_changed() -> None:
    rows = np.array([[HALF, HALF], [HALF, HALF]])
    table = Dense(rows)
    rows[0, 0] = 0
    assert table.weights[0, 0] == HALF
    with pytest.raises(ValueError, match="read-only"):
        table.weights[0, 0] = 0


def test_rows_outside_the_table_are_refused() -> None:
    for table in (binary(1.0), binary(1.0).dense(), hadamard(2, 1.0)):
        for level in (-1, 2):
            with pytest.raises(InputError, match="input"):
                table.row(level)
