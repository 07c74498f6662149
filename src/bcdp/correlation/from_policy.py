"""The correlation that a policy states: numbers, or the files to take them from."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bcdp.correlation.documents import bound, odds_bound
from bcdp.correlation.estimated import check_measurable
from bcdp.correlation.grouped import GroupedPrior, within_groups
from bcdp.correlation.models import Correlation, Listed, PerFeature, Ranges, pairwise
from bcdp.correlation.pilot import estimate_correlation, read_pilot
from bcdp.correlation.prior import FinitePrior
from bcdp.errors import InputError, refuse
from bcdp.policy import NumericFeature, OneOfBoth, OneQ, Pairs, PairsFile, Policy, Prior, QPerFeature
from bcdp.records.encoding import codes_of, encode
from bcdp.records.open_groups import value_number

MEASURED = "measured"  # with a digest: the first cell of a table of pairs that was not written by hand
NOTHING = "nothing assumed (q = 1)"
MOST_PRIOR_ENTRIES = 2**22
MOST_PRIOR_FEATURES = 64


def correlation_of(policy: Policy) -> Correlation:
    """The model that a policy's `correlation` describes; files are read here.

    >>> policy = Policy(epsilon=1, features={"a": {"type": "binary"}, "b": {"type": "binary"}}, correlation=0.1)
    >>> correlation_of(policy).q("a", {"b"})
    0.1
    """
    stated = policy.correlation
    if isinstance(stated, OneQ | OneOfBoth | QPerFeature):
        return _per_feature(stated, policy)
    if isinstance(stated, Pairs):
        return _pairwise({i: {j: (both.distance, both.factor) for j, both in row.items()}
                          for i, row in stated.pairs.items()}, about=within_groups(policy))  # fmt: skip
    if isinstance(stated, PairsFile):
        return _read_pairs(stated.pairs, policy)
    if isinstance(stated, Prior):
        return _prior_of(stated.prior, policy, _read_rows(stated.prior, "prior"))
    table = read_pilot(stated.pilot, policy)
    return estimate_correlation(policy, table, stated.confidence, stated.model, stated.pilot.name)


def _per_feature(stated: OneQ | OneOfBoth | QPerFeature, policy: Policy) -> PerFeature:
    names = [name for name in stated.root if name != "default"] if isinstance(stated, QPerFeature) else []
    named, default = {name: stated.of(name) for name in names}, stated.of("default")
    odds, default_odds = {name: stated.odds_of(name) for name in names}, stated.odds_of("default")
    rest = f"every{' other' * bool(named)} feature"
    others = len(named) < len(policy.features)
    source = _assumed(named | ({rest: default} if others else {}), odds | ({rest: default_odds} if others else {}))
    source += within_groups(policy) * (source != NOTHING)
    if math.inf in odds.values():  # such a feature has no limit, whatever the default: the others are named
        odds, default_odds = {name: stated.odds_of(name) for name in policy.features}, math.inf
    return PerFeature(default, named, source, default_odds, _finite(odds))


def as_stated(model: Correlation, names: Collection[str]) -> dict[str, Any] | None:
    """What a policy with these features states for a model, nothing if it assumes nothing; None if no policy can.

    >>> as_stated(PerFeature(0.1, {"smoker": 0.3}, named_odds={"smoker": 2.0}), ["smoker", "age"])
    {'smoker': {'q': 0.3, 'odds': 2.0}, 'default': {'q': 0.1}}
    """
    if not isinstance(model, PerFeature) or "default" in names:
        return None

    def both(q: float, odds: float) -> dict[str, float]:
        return {"q": q} | ({"odds": odds} if odds < math.inf else {})

    # where a named feature has no limit on its odds, a plan lists those of all others: they are the default's
    unnamed = [name for name in names if name not in model.named]
    rest = model.odds(unnamed[0], {""}) if unnamed else model.default_odds
    different = [name for name in unnamed if model.odds(name, {""}) != rest]
    # plans keep the order of names in the words about them alone, those of q last
    position = {name: f"{model.source},".rfind(f" for {name},") for name in model.named if name in names}
    ordered = [*sorted(position, key=lambda name: position[name]), *different]
    stated = {name: both(model.q(name, {""}), model.odds(name, {""})) for name in ordered}
    return {**stated, "default": both(model.default, rest)} if stated or rest < math.inf or model.default < 1 else {}


def _assumed(q: Mapping[str, float], odds: Mapping[str, float]) -> str:
    """The numbers in words; where all q are 1, or no odds have a limit, nothing is said of them."""
    parts = [
        f"{word} = " + ", ".join(f"{repr(bound).removesuffix('.0')} for {whose}" for whose, bound in stated.items())
        for word, stated in (("odds", _finite(odds)), ("q", q))
        if any(bound != 1 or word == "odds" for bound in stated.values())
    ]
    return f"assumed: {'; '.join(parts)}" if parts else NOTHING


def _finite(stated: Mapping[str, float]) -> dict[str, float]:
    return {whose: bound for whose, bound in stated.items() if bound < math.inf}


def _pairwise(
    stated: Mapping[str, Mapping[str, tuple[float, float]]],
    where: str = "",
    ranges: Ranges | None = None,
    about: str = "",
) -> Listed:
    """The model of q and odds of pairs; `where` says what else is to be known of them."""
    q, odds = ({i: {j: both[k] for j, both in row.items()} for i, row in stated.items()} for k in (0, 1))
    some = any(most < math.inf for row in odds.values() for most in row.values())
    each = "q and odds for each pair" if some else "a q for each pair"
    source = f"assumed: {where or each}; {'nothing' if some else '1'} for larger sets{about}"
    return pairwise(q, source, ranges, odds)


def write_pairs(path: Path, policy: Policy, model: Correlation) -> None:
    """Writes the CSV that a policy accepts as `{pairs: file}`: how far each column's distribution moves with each row.

    A cell is `0.1`, or `0.1 odds 2` where knowing the column's feature moves the odds of a guess about the row's by a
    limited factor. The first cell of all says what was measured: features as they are defined here, and numbers by
    their range or rounded.
    """

    def cell(i: str, j: str) -> str:
        q, most = float(model.q(i, {j})), float(model.odds(i, {j}))
        return "0.0" if i == j else f"{q!r} odds {most!r}" if most < math.inf else repr(q)

    names = list(policy.features)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([_measured(policy, names), *names])
        for i in names:
            writer.writerow([i, *(cell(i, j) for j in names)])


def _measured(policy: Policy, names: Sequence[str]) -> str:
    """The first cell of a table that was measured on these features."""
    stated: dict[str, object] = {name: policy.features[name].definition for name in names}
    if policy.open:  # then it was measured within their groups
        stated[""] = {name: list(feature.values) for name, feature in policy.open.items()}
    definitions = json.dumps(stated, sort_keys=True)
    return f"{MEASURED} {hashlib.sha256(definitions.encode()).hexdigest()[:16]}"


def _read_rows(path: Path, name: str) -> list[list[str]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            return [row for row in csv.reader(file) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no CSV in UTF-8"
        raise InputError(f"correlation.{name}: {path} cannot be read ({reason}); accepted: a CSV file") from None


def _read_pairs(path: Path, policy: Policy) -> Listed:
    """A CSV: the header names the features, each row starts with a feature's name.

    The first cell is empty, or says on which features the table was measured; numbers then count as rounded once
    where they are asked, and as their range where they are given.
    """
    rows = _read_rows(path, "pairs")
    corner, *header = rows[0] if rows else [""]
    first = [row[0] for row in rows[1:]]
    unknown = [name for name in [*header, *first] if name not in policy.features]
    repeated = len(set(header)) < len(header) or len(set(first)) < len(first)
    if not first or unknown or repeated or any(len(row) != len(header) + 1 for row in rows[1:]):
        summary = f"{len(rows)} rows, {len(unknown)} names of no feature"  # if records, they are not quoted
        raise refuse(f"correlation.pairs ({path.name})", summary,
                     "a table whose header and first column name features of the policy, each once")  # fmt: skip
    if corner not in ("", _measured(policy, header)):
        raise refuse(f"correlation.pairs ({path.name}), first cell", "another text",
                     "nothing, or what `bcdp correlate` writes for features defined as in this policy")  # fmt: skip
    matrix = {
        row[0]: {
            name: _cell(f"correlation.pairs.{row[0]}.{name}", cell) for name, cell in zip(header, row[1:], strict=True)
        }
        for row in rows[1:]
    }
    if not corner:
        return _pairwise(matrix, f"pairs from {path.name}", about=within_groups(policy))
    ranges = {name: feature.cuts for name, feature in policy.features.items() if feature.is_number}
    about = ", of rounded numbers, for guesses of their range" * bool(ranges)
    return _pairwise(matrix, f"pairs from {path.name}{about}", ranges, within_groups(policy))


def _cell(path: str, text: str) -> tuple[float, float]:
    """The q and the odds that a cell states, `0.1`, `odds 2` or `0.1 odds 2`; 1 and infinite if they are left out."""
    q, word, odds = text.partition("odds")
    return (
        1.0 if word and not q.strip() else bound(path, _number(q)),
        odds_bound(f"{path}, odds", _number(odds)) if word else math.inf,
    )


def _number(cell: str) -> float | str:
    try:
        return float(cell)
    except ValueError:
        return "no number"


def prior_in(text: str, name: str, policy: Policy) -> FinitePrior | GroupedPrior:
    """The prior that the text of a CSV file states.

    >>> policy = Policy(epsilon=1, features={"a": {"type": "binary"}, "b": {"type": "binary"}})
    >>> prior_in("a,b,probability\\n0,0,0.4\\n0,1,0.1\\n1,0,0.1\\n1,1,0.4\\n", "table.csv", policy).q("a", {"b"}) < 0.61
    True
    """
    return _prior_of(Path(name), policy, [row for row in csv.reader(io.StringIO(text, newline="")) if row])


def _prior_of(path: Path, policy: Policy, rows: list[list[str]]) -> FinitePrior | GroupedPrior:
    """A CSV with one column per feature and a last column `probability`; value combinations not listed have 0.

    An empty cell means missing, where the policy has a rule for that. Open features have columns too, all of them, and
    the prior is that of each of their groups.
    """
    check_measurable(policy, "a prior")
    if not policy.open:
        return _one_prior(path, policy, rows)
    header, opened = rows[0] if rows else [], list(policy.open)
    if any(header.count(name) != 1 for name in opened):
        accepted = f"a column for each open feature too: {', '.join(opened)}; q is to hold in each of their groups"
        raise refuse(f"correlation.prior ({path.name})", "no column of an open feature", accepted)
    open_columns = [header.index(name) for name in opened]
    rest = [column for column in range(len(header)) if column not in open_columns]
    groups: dict[tuple[int, ...], list[tuple[list[str], float]]] = {}
    for line, row in enumerate(rows[1:], start=2):
        probability = _number(row[-1]) if len(row) == len(header) else math.nan
        if not isinstance(probability, float) or not 0 <= probability <= 1:
            accepted = "a value for each feature, then a probability"
            raise refuse(f"correlation.prior ({path.name}, line {line})", "something else", accepted)
        values = tuple(
            value_number(policy, name, row[column]) for name, column in zip(opened, open_columns, strict=True)
        )
        groups.setdefault(values, []).append(([row[column] for column in rest[:-1]], probability))
    masses = {values: math.fsum(mass for _, mass in listed) for values, listed in groups.items()}
    if abs(sum(masses.values()) - 1) > 1e-6:
        raise refuse(f"correlation.prior ({path.name})", f"a sum of {sum(masses.values()):.6g}", "a sum of 1")
    head = [header[column] for column in rest]
    parts = {
        values: _one_prior(path, policy, [head, *([*cells, repr(mass / masses[values])] for cells, mass in listed)])
        for values, listed in groups.items()
        if masses[values] > 0
    }
    return GroupedPrior(parts, f"known prior from {path.name}{within_groups(policy)}")


def _one_prior(path: Path, policy: Policy, rows: list[list[str]]) -> FinitePrior:
    """The prior of one group, or of all people where nothing is open."""
    header = rows[0] if rows else []
    names = tuple(header[:-1])
    known = len(set(names)) == len(names) and set(names) <= set(policy.features)
    if len(header) < 2 or header[-1] != "probability" or not known:
        raise refuse(f"correlation.prior ({path.name})", f"{len(header)} other columns",
                     "a header of feature names, each once, and last 'probability'")  # fmt: skip
    codes = [_codes(policy, name) for name in names]
    sizes = [max(code.values()) + 1 for code in codes]
    ruled = {name: policy.features[name] for name in names if policy.features[name].missing is not None}
    imputed = encode(policy.model_copy(update={"features": ruled}), pa.table({name: pa.nulls(1) for name in ruled}))
    missing = {name: int(codes[0]) for name, codes in imputed.items() if not ruled[name].own}
    if len(names) > MOST_PRIOR_FEATURES or math.prod(sizes) > MOST_PRIOR_ENTRIES:
        raise refuse(f"correlation.prior ({path.name})", f"{len(names)} features of {math.prod(sizes)} combinations",
                     f"at most {MOST_PRIOR_FEATURES} features and {MOST_PRIOR_ENTRIES} combinations")  # fmt: skip
    prior, seen = np.zeros(sizes), set[str]()
    for line, row in enumerate(rows[1:], start=2):
        probability = _number(row[-1]) if len(row) == len(header) else math.nan
        cells = [code.get(cell, code.get(cell.lower())) for code, cell in zip(codes, row, strict=False)]
        if not isinstance(probability, float) or not 0 <= probability <= 1 or None in cells:
            raise refuse(
                f"correlation.prior ({path.name}, line {line})",
                "something else",
                "a value for each feature (empty for a missing one, if there is a rule for that), then its probability",
            )
        prior[tuple(cells)] += probability
        seen.update(name for name, cell in zip(names, row, strict=False) if not cell)
    if abs(prior.sum() - 1) > 1e-6:
        raise refuse(f"correlation.prior ({path.name})", f"probabilities that sum to {prior.sum():.6g}", "a sum of 1")
    unknown = frozenset(ruled) - seen
    return FinitePrior(names, prior / prior.sum(), f"known prior from {path.name}", missing, unknown)


def _codes(policy: Policy, name: str) -> Mapping[str, int]:
    """The number of each value as the file writes it; an empty cell is one more where there is a `missing` rule."""
    feature = policy.features[name]
    if isinstance(feature, NumericFeature):
        raise refuse(f"correlation.prior: feature '{name}'", "numeric", "binary or categorical features")
    codes = codes_of(feature.values)
    if feature.missing is None:
        return codes
    if "" in codes:
        raise refuse(f"correlation.prior: feature '{name}'", "the value ''", "other values, where '' means missing")
    return {**codes, "": max(codes.values()) + 1}
