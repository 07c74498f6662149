"""How correlated the features are: for a feature and a set of others, a bound on what the feature's value says of them.

A correlation model answers one question: `q(feature, others)`, an upper bound on the total-variation distance between
the laws of the `others` given two values of `feature`. It is an assumption of whoever plans, so the plan records it.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from bcdp.encoding import codes_of
from bcdp.errors import InputError, refuse
from bcdp.notions import dobrushin
from bcdp.policy import OneQ, Pairs, PairsFile, Policy, Prior, QPerFeature

MOST_PRIOR_ENTRIES = 2**22
MOST_PRIOR_FEATURES = 64


class Correlation(Protocol):
    """A bound for every feature and every set of others; 1 where nothing is known."""

    def q(self, feature: str, others: Collection[str]) -> float:
        """A bound on the distance between the laws of `others` given two values of `feature`; 0 for no others."""

    def restricted(self, questions: Iterable[tuple[str, frozenset[str]]]) -> Correlation:
        """The same bounds for the given questions, as a model that can be written down."""

    def to_dict(self) -> dict[str, Any]:
        """The model in plain JSON."""


@dataclass(frozen=True)
class PerFeature:
    """One bound for each feature, whatever the others; `default` for the features not named."""

    default: float
    named: Mapping[str, float]
    source: str = "assumed"

    def q(self, feature: str, others: Collection[str]) -> float:
        return self.named.get(feature, self.default) if others else 0.0

    def restricted(self, questions: Iterable[tuple[str, frozenset[str]]]) -> Correlation:
        return self

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "per feature", "default": self.default, "named": dict(self.named), "source": self.source}


@dataclass(frozen=True)
class Listed:
    """Bounds for the sets that are listed, 1 for every other set: pairs, or the sets that a plan asks together."""

    bounds: Mapping[tuple[str, frozenset[str]], float]
    source: str

    def q(self, feature: str, others: Collection[str]) -> float:
        return self.bounds.get((feature, frozenset(others)), 1.0) if others else 0.0

    def restricted(self, questions: Iterable[tuple[str, frozenset[str]]]) -> Correlation:
        return Listed(
            {question: self.bounds[question] for question in questions if question in self.bounds}, self.source
        )

    def to_dict(self) -> dict[str, Any]:
        rows = sorted([feature, sorted(others), q] for (feature, others), q in self.bounds.items())
        return {"kind": "listed", "bounds": rows, "source": self.source}


@dataclass(frozen=True)
class Stronger:
    """Another model's bounds times a factor, at most 1: what if the assumption was too optimistic?"""

    model: Correlation
    factor: float

    def q(self, feature: str, others: Collection[str]) -> float:
        return min(1.0, self.factor * self.model.q(feature, others))

    def restricted(self, questions: Iterable[tuple[str, frozenset[str]]]) -> Correlation:
        return Stronger(self.model.restricted(questions), self.factor)

    def to_dict(self) -> dict[str, Any]:
        raise InputError("a stronger correlation is a question about a plan, not the assumption of one")


@dataclass(frozen=True)
class FinitePrior:
    """A known law of binary and categorical features: every bound is exact (docs/theory.md, section 1)."""

    names: tuple[str, ...]
    probabilities: npt.NDArray[np.float64]
    source: str

    def q(self, feature: str, others: Collection[str]) -> float:
        known = frozenset(self.names)
        if feature not in known or not known.issuperset(others):
            return 1.0 if others else 0.0
        axes = tuple(self.names.index(other) for other in others)
        # a distance is a sum of at most as many rounded terms as the prior has entries; keep the bound above it
        return min(1.0, dobrushin(self.probabilities, self.names.index(feature), axes) + 1e-12) if axes else 0.0

    def restricted(self, questions: Iterable[tuple[str, frozenset[str]]]) -> Correlation:
        return Listed({(feature, others): self.q(feature, others) for feature, others in questions}, self.source)

    def to_dict(self) -> dict[str, Any]:
        raise InputError(
            "a prior is written into a plan as the bounds of the sets that the plan asks; call restricted()"
        )


def correlation_from_dict(document: object) -> PerFeature | Listed:
    """A model as a plan holds it, every bound checked."""
    if not isinstance(document, dict) or document.get("kind") not in ("per feature", "listed"):
        raise refuse("correlation", document, "a mapping with kind 'per feature' or 'listed'")
    source = document.get("source")
    if not isinstance(source, str):
        raise refuse("correlation.source", source, "text")
    parts = {"default", "named"} if document["kind"] == "per feature" else {"bounds"}
    if set(document) != {"kind", "source"} | parts:
        raise refuse("correlation", sorted(document), f"the keys kind, source and {' and '.join(sorted(parts))}")
    if document["kind"] == "per feature":
        named = document.get("named")
        if not isinstance(named, dict) or not all(isinstance(name, str) for name in named):
            raise refuse("correlation.named", named, "a mapping of feature names to numbers from 0 to 1")
        default = _bound("correlation.default", document.get("default"))
        return PerFeature(default, {name: _bound(f"correlation.named.{name}", q) for name, q in named.items()}, source)
    rows = document.get("bounds")
    if not isinstance(rows, list) or not all(_is_row(row) for row in rows):
        raise refuse("correlation.bounds", rows, "a list of [feature, [other features], number from 0 to 1]")
    bounds = {(f, frozenset(others)): _bound(f"correlation.bounds.{f}", q) for f, others, q in rows}
    if len(bounds) < len(rows):
        raise refuse("correlation.bounds", rows, "each feature and set of others once")
    return Listed(bounds, source)


def _is_row(row: object) -> bool:
    return (
        isinstance(row, list)
        and len(row) == 3
        and isinstance(row[0], str)
        and isinstance(row[1], list)
        and all(isinstance(other, str) for other in row[1])
    )


def _bound(path: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise refuse(path, value, "a number from 0 to 1")
    return float(value)


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
    raise InputError(
        "correlation.pilot: a pilot sample cannot be used yet; accepted: a number, a mapping of features to numbers, "
        "{pairs: ...} or {prior: file}"
    )


def pairwise(matrix: Mapping[str, Mapping[str, float]], source: str) -> Listed:
    """A model from a matrix `matrix[i][j]`: how far the law of feature j can move with feature i."""
    return Listed({(i, frozenset({j})): q for i, row in matrix.items() for j, q in row.items() if i != j}, source)


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
            name: _bound(f"correlation.pairs.{row[0]}.{name}", _number(cell))
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
