"""privatize and tally in memory on one core, compiled and not, beside plain NumPy with the same bits and with PCG64."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from bcdp import Plan, Policy, Tally, make_plan, privatize
from bcdp.mechanisms.survey.answering import batches as bulk
from bcdp.randomizers import Response

KEY = bytes(range(32))
BLOCK = 2**17  # the ceiling too is given parts that fit in the processor's cache


def best_of(works: dict[str, Callable[[], object]], rounds: int = 9) -> dict[str, float]:
    """Seconds of one core in the quickest run of each, all of them in turn, whatever else the machine does."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            begun = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - begun)
    return best


def bits_plan(features: int = 10) -> Plan:
    return make_plan(Policy(epsilon=1, features={f"x{i}": {"type": "binary"} for i in range(features)}))


def plain_numpy(plan: Plan, bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same menus and answers as `privatize`, by a script that knows this one plan and checks nothing."""
    questions = [plan.questions[menu.questions[0]] for menu in plan.menus]
    tables = [plan.tables[question.table] for question in questions]
    keep = np.array([table.keep for table in tables if isinstance(table, Response)], dtype=np.uint32)
    feature = np.array([int(question.features[0][1:]) for question in questions])
    ends = np.cumsum([menu.weight for menu in plan.menus])
    info = f"bcdp words {plan.id}".encode()
    key = HKDF(algorithm=hashes.SHA256(), length=16, salt=None, info=info).derive(KEY)
    menus, answers = (np.empty(len(bits), dtype=np.uint32) for _ in range(2))
    for start in range(0, len(bits), BLOCK):
        part = slice(start, min(start + BLOCK, len(bits)))
        blocks = np.zeros((part.stop - start, 2), dtype=np.uint64)
        blocks[:, 0] = np.arange(start, part.stop)
        encrypted = Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(blocks.view(np.uint8).data)
        words = np.frombuffer(encrypted, dtype=np.uint32).reshape(-1, 4)
        menu = np.searchsorted(ends, words[:, 0], side="right")
        truth = bits[np.arange(start, part.stop), feature[menu]]
        menus[part], answers[part] = menu, truth ^ (words[:, 2] >= keep[menu])
    return menus, answers


def plain_pcg64(plan: Plan, bits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The plan's menus and answers with NumPy's own generator, which protects nobody; any weights, any tables.

    As quick as we could write it: in parts that fit in the cache, menus found by a table of a word's first bits.
    """
    questions = [plan.questions[menu.questions[0]] for menu in plan.menus]
    tables = [plan.tables[question.table] for question in questions]
    keep = np.array([table.keep for table in tables if isinstance(table, Response)], dtype=np.uint32)
    feature = np.array([int(question.features[0][1:]) for question in questions])
    ends = np.cumsum([menu.weight for menu in plan.menus])
    last = (ends - 1).astype(np.uint32)
    guide = np.searchsorted(ends, np.arange(2**12) << 20, side="right").astype(np.uint8)  # menus are wider than a step
    rng, (people, features) = np.random.default_rng(1), bits.shape
    menus, answers = (np.empty(people, dtype=np.uint32) for _ in range(2))
    flat, rows = bits.ravel(), np.arange(BLOCK) * features
    for start in range(0, people, BLOCK):
        size = min(BLOCK, people - start)
        words = rng.integers(0, 2**32, (2, size), dtype=np.uint32)
        menu = guide.take(words[0] >> 20)
        menu += words[0] > last.take(menu)
        truth = flat[start * features : (start + size) * features].take(rows[:size] + feature.take(menu))
        menus[start : start + size], answers[start : start + size] = menu, truth ^ (words[1] >= keep.take(menu))
    return menus, answers


def plain_equal(bits: np.ndarray, keep: int) -> tuple[np.ndarray, np.ndarray]:
    """Less work: all features are asked equally often and share one table, so that no weights are looked up."""
    rng, (people, features) = np.random.default_rng(1), bits.shape
    menus, answers = (np.empty(people, dtype=np.uint32) for _ in range(2))
    flat, rows = bits.ravel(), np.arange(BLOCK) * features
    for start in range(0, people, BLOCK):
        size = min(BLOCK, people - start)
        menu = rng.integers(0, features, size, dtype=np.uint8)
        truth = flat[start * features : (start + size) * features].take(rows[:size] + menu)
        lie = rng.integers(0, 2**32, size, dtype=np.uint32) >= np.uint32(keep)
        menus[start : start + size], answers[start : start + size] = menu, truth ^ lie
    return menus, answers


def plain_script(bits: np.ndarray, keep: float) -> tuple[np.ndarray, np.ndarray]:
    """The same as one writes it first, in four lines."""
    rng, people = np.random.default_rng(1), len(bits)
    menus = rng.integers(0, bits.shape[1], people, dtype=np.uint32)
    truth = bits[np.arange(people), menus]
    return menus, truth ^ (rng.random(people) >= keep)


def plain_counts(menus: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """The reports of each cell, by `np.bincount` of parts that fit in the cache: of all at once it takes longer."""
    parts = (slice(start, start + BLOCK) for start in range(0, len(menus), BLOCK))
    counts = (np.bincount(menus[part] * np.uint32(2) + answers[part], minlength=20) for part in parts)
    return np.asarray(sum(counts, np.zeros(20, dtype=np.int64)))


def mixed(people: int) -> tuple[Plan, pa.Table]:
    """Records of a bit, ten categories and a number."""
    rng = np.random.default_rng(1)
    features = {
        "bit": {"type": "binary"},
        "kind": {"type": "categorical", "values": [f"k{number}" for number in range(10)]},
        "number": {"type": "numeric", "bounds": [0, 100]},
    }
    words = pa.array([f"k{number}" for number in range(10)])
    kinds = pa.DictionaryArray.from_arrays(pa.array(rng.integers(0, 10, people, dtype=np.int32)), words)
    columns = {"bit": rng.integers(0, 2, people).astype(bool), "kind": kinds, "number": rng.uniform(0, 100, people)}
    return make_plan(Policy(epsilon=1, features=features)), pa.table({"id": np.arange(people), **columns})


def uncompiled(work: Callable[[], object]) -> object:
    """The work as it is done without numba."""
    kernel = bulk.kernel
    bulk.kernel = lambda: None
    try:
        return work()
    finally:
        bulk.kernel = kernel


def compare(people: int) -> dict[str, float]:
    """Reports a second of privatize, of tally, and of plain NumPy."""
    bulk.kernel_once_worth(1)  # so that compiled code is used from now on
    plan = bits_plan()
    bits = np.random.default_rng(1).integers(0, 2, (people, 10), dtype=np.uint8)
    table = pa.table({"id": np.arange(people), **{f"x{i}": bits[:, i].astype(bool) for i in range(10)}})
    reports = privatize(plan, table, KEY, "id")
    menus, answers = plain_numpy(plan, bits)
    if not (np.array_equal(menus, reports["menu"]) and np.array_equal(answers, reports["answer"])):
        raise AssertionError("the ceiling computes something else")
    cells = menus.astype(np.int64) * 2 + answers
    other_plan, others = mixed(people)
    privatize(other_plan, others, KEY, "id")  # compiled at its first call
    works: dict[str, Callable[[], object]] = {
        "privatize": lambda: privatize(plan, table, KEY, "id"),
        "privatize without numba": lambda: uncompiled(lambda: privatize(plan, table, KEY, "id")),
        "privatize mixed": lambda: privatize(other_plan, others, KEY, "id"),
        "privatize mixed without numba": lambda: uncompiled(lambda: privatize(other_plan, others, KEY, "id")),
        "plain NumPy": lambda: plain_numpy(plan, bits),
        "plain NumPy, PCG64": lambda: plain_pcg64(plan, bits),
        "plain NumPy, PCG64, equal menus": lambda: plain_equal(bits, 3 * 2**30),
        "plain NumPy, PCG64, four lines": lambda: plain_script(bits, 0.75),
        "tally": lambda: Tally(plan).add(reports),
        "tally without numba": lambda: uncompiled(lambda: Tally(plan).add(reports)),
        "np.bincount": lambda: plain_counts(menus, answers),
        "np.bincount of cells": lambda: np.bincount(cells),
    }
    return {name: people / taken for name, taken in best_of(works).items()}
