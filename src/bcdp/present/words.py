"""Numbers and promises in words, the same wherever a person reads them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Protocol

_NAMED = 4  # features that a sentence about many names
_ITSELF = re.compile(r"\bits?\b")


class Interval(Protocol):
    """An estimate of any kind."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def se(self) -> float: ...


def number(value: float, digits: int = 4) -> str:
    """A number to read: so many significant digits, at least all of a whole number, a dash where there is none.

    >>> number(0.123456), number(41712.3), number(float("nan")), number(0.123456, 2), number(123.4, 2)
    ('0.1235', '41,712', '-', '0.12', '123')
    """
    if not math.isfinite(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 10 ** min(digits, 4) - 0.5 else f"{value:.{digits}g}"


def odds(level: float) -> str:
    """The factor by which a level lets the odds of a guess move, rounded up to two decimals (`bcdp.exact.odds_up`).

    >>> odds(0.2), odds(0.0), odds(20.0)
    ('1.23', '1.00', '485,165,195.41')
    """
    from bcdp.exact import odds_up  # commands start without numpy

    factor = odds_up(level)
    return f"{factor:,.2f}" if factor < math.inf else "any"


def rounded_up(level: float) -> str:
    """A small level to read: two digits, never below it.

    >>> rounded_up(0.001509), rounded_up(0.42), rounded_up(0.0)
    ('0.0016', '0.42', '0')
    """
    if level == 0:
        return "0"
    unit = 10 ** (1 - math.floor(math.log10(level)))
    return (
        f"{math.ceil(level * unit * (1 - 1e-14)) / unit:.{max(0, len(str(unit)) - 1)}f}"
        if level < 1
        else f"{level:.3f}"
    )


def small_odds(level: float) -> str:
    """The same factor with as many decimals as one close to 1 needs.

    >>> small_odds(0.2), small_odds(0.0167), small_odds(0.00034)
    ('1.23', '1.017', '1.00035')
    """
    from bcdp.exact import small_odds_up

    factor, decimals = small_odds_up(level)
    return f"{factor:,.{decimals}f}" if factor < math.inf else "any"


def one_in(chance: float) -> str:
    """A chance in words, never stated smaller than it is.

    >>> one_in(1e-6), one_in(1e-5), one_in(0.3)
    ('one chance in a million', 'one chance in 100,000', 'one chance in 3')
    """
    times = math.floor(1 / chance * (1 + 1e-12))
    return f"one chance in {'a million' if times == 10**6 else f'{times:,}'}"


def posterior_at_most(level: float, before: Fraction = Fraction(1, 2)) -> str:
    """How probable a guess of some probability can become under a level, rounded up to a tenth of a percent.

    >>> posterior_at_most(0.2), posterior_at_most(0.2, before=Fraction(1, 100))
    ('55.0%', '1.3%')
    """
    from bcdp.exact import chance_up

    return f"{chance_up(level, before):.1f}%"


def measured(value: float, error: float) -> str:
    """A number to read with its standard error: as many decimals as show two digits of the error.

    >>> measured(30.46123, 0.0869), measured(0.3772, 0.011), measured(41712.3, 234.0)
    ('30.461', '0.377', '41,712')
    """
    if not (math.isfinite(value) and math.isfinite(error)) or error <= 0:
        return number(value)
    return f"{value:,.{max(0, 1 - math.floor(math.log10(error)))}f}"


def interval(estimate: Interval) -> str:
    """An interval to read, as precise as its standard error."""
    return f"{measured(estimate.low, estimate.se)} to {measured(estimate.high, estimate.se)}"


def strip(estimate: Interval, possible: tuple[float, float], width: int = 30) -> str:
    """An estimate as a picture of one line: its interval as dashes, its value as an o, between what is possible.

    >>> from bcdp.estimates import Estimate
    >>> strip(Estimate(0.5, 0.1, 0.3, 0.7, 9, 0.5), (0.0, 1.0), width=11)
    '|   --o--   |'
    """
    low, high = possible

    def place(value: float) -> int:
        return round((min(max(value, low), high) - low) / (high - low) * (width - 1))

    drawn = [" "] * width
    if math.isfinite(estimate.value):
        start, end = place(estimate.low), place(estimate.high)
        drawn[start : end + 1] = "-" * (end + 1 - start)
        drawn[place(estimate.value)] = "o"
    return f"|{''.join(drawn)}|"


def finer_guesses(levels: Mapping[int, float]) -> str:
    """By how much finer guesses than those that are covered move their odds, where that was computed.

    >>> finer_guesses({16: 0.2, 64: 0.5})
    'x1.23 between 16 equal parts, x1.65 between 64'
    """
    (first, level), *more = levels.items()
    return ", ".join(
        [f"x{odds(level)} between {first} equal parts", *(f"x{odds(other)} between {parts}" for parts, other in more)]
    )


def together(sentences: Iterable[tuple[str, str]]) -> list[str]:
    """What is said of each feature, once for all of which the same is said; of each, if it speaks of "it".

    >>> together([("smoker", "not asked"), ("age", "of little use"), ("region", "not asked")])
    ['smoker, region: not asked', 'age: of little use']
    >>> together([("smoker", "limited by its own delta"), ("region", "limited by its own delta")])
    ['smoker, region: each limited by its own delta']
    """
    groups: dict[str, list[str]] = {}
    for name, sentence in sentences:
        groups.setdefault(sentence, []).append(name)
    return [
        f"{some(names)}: {'each ' * (len(names) > 1 and bool(_ITSELF.search(sentence)))}{sentence}"
        for sentence, names in groups.items()
    ]


def some(names: list[str]) -> str:
    """The first four names, and how many more there are.

    >>> some(list("abcdef"))
    'a, b, c, d and 2 more'
    """
    return ", ".join(names[:_NAMED]) + f" and {len(names) - _NAMED} more" * (len(names) > _NAMED)


def listed(parts: Sequence[str]) -> str:
    """Parts in a row, the last after "and".

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def missing_note(rules: Mapping[str, str | None]) -> str | None:
    """A sentence on how missing values were counted, from each feature's title and `rule`; None if none has a rule.

    >>> missing_note({"income": "missing counted as 0", "age": None})
    'income: missing counted as 0. Devices apply this before they answer: answers do not tell how many were missing.'
    """
    sentences = "; ".join(f"{title}: {rule}" for title, rule in rules.items() if rule is not None)
    known = "Devices apply this before they answer: answers do not tell how many were missing."
    return f"{sentences}. {known}" if sentences else None


def most_frequent_line(name: str, people: int | None, top: int, chance: float, known: bool) -> str:
    """How many people find the most frequent values of a feature, in one sentence.

    >>> most_frequent_line("code", 12345, 20, 0.9, known=False)
    'code: 12,400 people find the 20 most frequent values in 90% of collections, if shares fall as one over the rank'
    """
    assumed = "as frequent as stated" if known else "if shares fall as one over the rank"
    if people is None:
        return f"{name}: no number of people finds the {top} most frequent values, {assumed}"
    unit = 10 ** max(0, len(str(people)) - 3)
    stated = f"{math.ceil(people / unit) * unit:,} people find the {top} most frequent values"
    return f"{name}: {stated} in {100 * chance:g}% of collections, {assumed}"


def in_unit(value: float, error: float, percent: bool) -> str:
    """A number of a row as pages show it: shares in percent, others in units of their own, as precise as the error.

    >>> in_unit(0.3872, 0.0125, True), in_unit(30.347, 0.0942, False), in_unit(float("nan"), 0.1, True)
    ('38.7%', '30.347', '-')
    """
    if not (percent and math.isfinite(value)):
        return measured(value, error)
    return f"{measured(100 * value, 100 * error)}%"


def interval_in_unit(estimate: Interval, percent: bool) -> str:
    """An interval as pages show it.

    >>> from bcdp.statistics import Estimate
    >>> interval_in_unit(Estimate(0.387, 0.0125, 0.363, 0.412, 20, 0.387), True)
    '36.3% to 41.2%'
    """
    return f"{in_unit(estimate.low, estimate.se, percent)} to {in_unit(estimate.high, estimate.se, percent)}"
