"""A bound as a file: what it claims and what proves that, as decimal texts and whole numbers."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StrictInt, StringConstraints, ValidationError

from bcdp.compare.bound.check import Problem, ProductRow, Proof, Sensitive, proved
from bcdp.compare.bound.problem import MOST_OTHERS, MOST_SENSITIVE
from bcdp.errors import InputError, accepted, refuse
from bcdp.files import read_text
from bcdp.policy.counts import LARGEST_EPSILON
from bcdp.policy.field_checks import Record

UNIT = 10**6  # multipliers are whole numbers over this
_DIGITS = 20  # of a claim, after the point: so many that hardly a change of any number leaves it as it is
_WRITTEN = "a file written by `bcdp bound`"

Text = Annotated[str, StringConstraints(strict=True, pattern=r"^(0|[1-9][0-9]{0,11})(\.[0-9]{0,19}[1-9])?$")]


class _Sensitive(Record):
    delta: Text
    q: Text
    weight: Text


class _Others(Record):
    count: Annotated[StrictInt, Field(ge=1, le=MOST_OTHERS)]
    weight: Text


class _Document(Record):
    bcdp: Literal["bound 1"]
    epsilon: Text
    sensitive: Annotated[tuple[_Sensitive, ...], Field(min_length=1, max_length=MOST_SENSITIVE)]
    others: _Others
    bound: Text
    errors: tuple[Text, ...]
    rows: tuple[tuple[StrictInt, StrictInt, StrictInt | None, StrictInt], ...]


@dataclass(frozen=True)
class Bound:
    """A lower bound on n times the error of any mechanism, with its proof; from a proof that was checked."""

    proof: Proof
    claim: Fraction

    @classmethod
    def of(cls, proof: Proof) -> Bound:
        """The bound that a proof proves, rounded down; refused if it proves none."""
        bound = proved(proof)
        if bound is None:
            raise InputError("bound: its multipliers prove nothing; accepted: a proof that the exact check confirms")
        return cls(proof, Fraction(int(bound * 10**_DIGITS), 10**_DIGITS))

    @property
    def problem(self) -> Problem:
        return self.proof.problem

    @property
    def least(self) -> float:
        """The claim as a double, not above it."""
        nearest = float(self.claim)
        return nearest if Fraction(nearest) <= self.claim else math.nextafter(nearest, 0.0)

    @property
    def stated(self) -> dict[str, Any]:
        """The problem in plain JSON."""
        problem = self.problem
        return {
            "epsilon": _text(problem.epsilon),
            "sensitive": [
                dict(zip(Sensitive._fields, map(_text, feature), strict=True)) for feature in problem.sensitive
            ],
            "others": {"count": problem.others, "weight": _text(problem.weight)},
        }

    @property
    def text(self) -> str:
        """The file: one line for each product."""
        head = {
            "bcdp": "bound 1",
            **self.stated,
            "bound": _text(self.claim),
            "errors": [_text(error) for error in self.proof.errors],
        }
        rows = [[first, second, distance, int(times * UNIT)] for first, second, distance, times in self.proof.rows]
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
        return f'{json.dumps(head)[:-1]}, "rows": [\n{lines}\n]}}\n'

    @classmethod
    def load(cls, path: Path) -> Bound:
        """The bound in a file, checked exactly."""
        return cls.parse(read_text(path, _WRITTEN))

    @classmethod
    def parse(cls, text: str) -> Bound:
        """The bound in a text; refused unless it is exactly what its multipliers prove."""
        document = _read(text)
        sensitive = tuple(Sensitive(Fraction(f.delta), Fraction(f.q), Fraction(f.weight)) for f in document.sensitive)
        others = document.others
        problem = Problem(Fraction(document.epsilon), sensitive, others.count, Fraction(others.weight))
        _check_numbers(problem)
        rows = tuple(ProductRow(*row[:3], Fraction(row[3], UNIT)) for row in document.rows)
        keys = [(row.first, row.second, row.distance or 0) for row in rows]
        if any(previous >= following for previous, following in pairwise(keys)):
            raise InputError("bound: rows are not in order; accepted: each product once, by rising numbers")
        if len(document.errors) != len(problem.targets):
            raise refuse("errors", f"{len(document.errors)} numbers", f"{len(problem.targets)}: one for each target")
        bound = cls.of(Proof(problem, tuple(map(Fraction, document.errors)), rows))
        if bound.claim != Fraction(document.bound):
            raise refuse("bound", document.bound, f"what its multipliers prove, {_text(bound.claim)}")
        return bound


def _read(text: str) -> _Document:
    try:
        return _Document.model_validate_json(text)
    except ValidationError as error:
        mistake = error.errors(include_url=False)[0]
        path = ".".join(map(str, mistake["loc"])) or "bound"
        raise InputError(f"{path}: got what is no part of a bound; accepted: {accepted(mistake)}") from None


def _check_numbers(problem: Problem) -> None:
    """Refuses numbers that no policy could have, so that no formula is applied to them."""
    numbers = [("epsilon", problem.epsilon, Fraction(LARGEST_EPSILON)), ("weight", problem.weight, None)]
    for feature in problem.sensitive:
        numbers += [("delta", feature.delta, problem.epsilon), ("weight", feature.weight, None)]
        if feature.q > 1:
            raise refuse("q", _text(feature.q), "a number between 0 and 1")
    for name, number, most in numbers:
        if number == 0 or (most is not None and number > most):
            raise refuse(name, _text(number), f"a number above 0{f' and at most {_text(most)}' if most else ''}")


def _text(number: Fraction) -> str:
    """A fraction of ten as a decimal, without zeros at its end.

    >>> _text(Fraction(1, 8)), _text(Fraction(20))
    ('0.125', '20')
    """
    digits = next(digit for digit in range(100) if 10**digit % number.denominator == 0)
    integer, rest = divmod(int(number * 10**digits), 10**digits)
    return f"{integer}.{rest:0{digits}d}" if digits else str(integer)
