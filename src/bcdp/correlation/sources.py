"""The correlation that a policy states: numbers, or the files to take them from."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bcdp.correlation.documents import bound
from bcdp.correlation.models import Correlation, FinitePrior, PerFeature, pairwise
from bcdp.correlation.pilot import estimate_correlation, read_pilot
from bcdp.encoding import codes_of
from bcdp.errors import InputError, refuse
from bcdp.policy import OneQ, Pairs, PairsFile, Policy, Prior, QPerFeature

MOST_PRIOR_ENTRIES = 2**22
MOST_PRIOR_FEATURES = 64


def correlation_of(policy: Policy) -> Correlation:
    """The model that a policy's `correlation` describes; files are read here."""
    stated = policy.correlation
    if isinstance(stated, OneQ):
        return PerFeature(stated.root, {}, "assumed: one q for all features")
    if isinstance(stated, QPerFeature):
        named = {name: stated.of(name) for name in policy.features}
        return PerFeature(1.0, named, "assumed: one q for each feature")
    if isinstance(stated, Pairs):
        return pairwise(stated.pairs, "assumed: a q for each pair; 1 for larger sets")
    if isinstance(stated, PairsFile):
        return pairwise(
            _read_pairs(stated.pairs, policy), f"assumed: pairs from {stated.pairs.name}; 1 for larger sets"
        )
    if isinstance(stated, Prior):
        return _read_prior(stated.prior, policy)
    table = read_pilot(stated.pilot, policy)
    return estimate_correlation(policy, table, stated.confidence, stated.model, stated.pilot.name)


def write_pairs(path: Path, names: Sequence[str], model: Correlation) -> None:
    """Writes the CSV that a policy accepts as `{pairs: file}`: how far each column's law moves with each row."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["", *names])
        for i in names:
            writer.writerow([i, *(repr(model.q(i, {j}) if i != j else 0.0) for j in names)])


def _read_rows(path: Path, name: str) -> list[list[str]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"correlation.{name}: {path} cannot be read ({error}); accepted: a CSV file") from None


def _read_pairs(path: Path, policy: Policy) -> dict[str, dict[str, float]]:
    """A CSV: the header names the features (first cell empty), each row starts with a feature's name."""
    rows = _read_rows(path, "pairs")
    header, first = rows[0][1:] if rows else [], [row[0] for row in rows[1:]]
    unknown = [name for name in [*header, *first] if name not in policy.features]
    repeated = len(set(header)) < len(header) or len(set(first)) < len(first)
    if not first or unknown or repeated or any(len(row) != len(header) + 1 for row in rows[1:]):
        raise refuse(f"correlation.pairs ({path.name})", unknown or f"{len(rows)} rows",
                     "a table whose header and first column name features of the policy, each once")  # fmt: skip
    return {
        row[0]: {
            name: bound(f"correlation.pairs.{row[0]}.{name}", _number(cell))
            for name, cell in zip(header, row[1:], strict=True)
        }
        for row in rows[1:]
    }


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return cell


def _read_prior(path: Path, policy: Policy) -> FinitePrior:
    """A CSV with one column per feature and a last column `probability`; value combinations not listed have 0."""
    rows = _read_rows(path, "prior")
    header = rows[0] if rows else []
    names = tuple(header[:-1])
    known = len(set(names)) == len(names) and set(names) <= set(policy.features)
    if len(header) < 2 or header[-1] != "probability" or not known:
        raise refuse(f"correlation.prior ({path.name})", header,
                     "a header of feature names, each once, and last 'probability'")  # fmt: skip
    codes = [_codes(policy, name) for name in names]
    sizes = [max(code.values()) + 1 for code in codes]
    if len(names) > MOST_PRIOR_FEATURES or math.prod(sizes) > MOST_PRIOR_ENTRIES:
        raise refuse(f"correlation.prior ({path.name})", f"{len(names)} features of {math.prod(sizes)} combinations",
                     f"at most {MOST_PRIOR_FEATURES} features and {MOST_PRIOR_ENTRIES} combinations")  # fmt: skip
    prior = np.zeros(sizes)
    for line, row in enumerate(rows[1:], start=2):
        probability = _number(row[-1]) if len(row) == len(header) else math.nan
        cells = [code.get(cell, code.get(cell.lower())) for code, cell in zip(codes, row, strict=False)]
        if not isinstance(probability, float) or not 0 <= probability <= 1 or None in cells:
            raise refuse(
                f"correlation.prior ({path.name}, line {line})", row, "a value for each feature, then its probability"
            )
        prior[tuple(cells)] += probability
    if abs(prior.sum() - 1) > 1e-6:
        raise refuse(f"correlation.prior ({path.name})", f"probabilities that sum to {prior.sum():.6g}", "a sum of 1")
    return FinitePrior(names, prior / prior.sum(), f"known prior from {path.name}")


def _codes(policy: Policy, name: str) -> dict[str, int]:
    feature = policy.features[name]
    if feature.type == "numeric":
        raise refuse(f"correlation.prior: feature '{name}'", "numeric", "binary or categorical features")
    return codes_of(feature.values)
