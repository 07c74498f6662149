"""How many people: the closed forms of Warner's and forced response, and what collections that are drawn show."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from typer.testing import CliRunner

from bcdp import InputError, Plan, Policy, Tally, estimate, make_plan
from bcdp.cli.app import program
from bcdp.estimates.power import Difference, Precision, differences, imagined, precision
from bcdp.exact import TOTAL
from bcdp.mechanisms.survey.design.classic import forced_response, warner
from bcdp.statistics import Single

SHARES = (0.02, 0.2, 0.5, 0.9)


def as_drawn(chance: float) -> float:
    """A chance as a table has it, out of 2^32."""
    return round(chance * TOTAL) / TOTAL


def designs() -> list[tuple[Plan, float, float]]:
    """Plans of the literature, with the chances of "yes" given no and given yes."""
    found = [(warner(p), 1 - as_drawn(p), as_drawn(p)) for p in (0.55, 0.7, 0.75, 0.9)]
    for truth, yes in itertools.product((0.3, 2 / 3, 0.8), (0.05, 1 / 6)):
        found.append((forced_response(truth, yes), as_drawn(yes), as_drawn(truth + yes)))
    return found


@pytest.mark.parametrize(("plan", "no", "yes"), designs())
def test_estimates_and_variances_are_the_closed_forms(plan: Plan, no: float, yes: float) -> None:
    """Of 10,000 answers, any number of them yes: `(share - no) / (yes - no)`, and the variance at any truth."""
    for count in (0, 1, 2_345, 9_999, 10_000):
        tally = Tally(plan).add({"menu": [0, 0], "answer": [0, 1], "count": [10_000 - count, count]})
        assert estimate(tally).means["sensitive"].raw == pytest.approx((count / 10_000 - no) / (yes - no), abs=1e-9)
        decoded = tally.decoder().decode(Single("sensitive"))
        for share in SHARES:
            told = share * yes + (1 - share) * no
            closed = told * (1 - told) / (yes - no) ** 2 / 10_000
            variance = float(decoded.variance(np.array([2 * share - 1]))[0]) / 4
            assert variance == pytest.approx(closed, rel=1e-9)


@pytest.mark.parametrize("share", SHARES)
def test_power_is_the_closed_form(share: float) -> None:
    """Warner's own variance, and that of forced response, for a standard error and for a difference of two groups."""
    for p in (0.6, 0.75, 0.9):
        drawn = as_drawn(p)
        [one] = precision(warner(p), {"sensitive": share})
        warners = share * (1 - share) + drawn * (1 - drawn) / (2 * drawn - 1) ** 2
        assert one.value == pytest.approx(share, abs=1e-9)
        assert one.error == pytest.approx(warners, rel=1e-9)
        assert one.people(0.01) == pytest.approx(warners / 0.01**2, rel=1e-9)
        assert one.se(2_500) == pytest.approx(math.sqrt(warners / 2_500), rel=1e-9)
    other = share + 0.05

    def forced(truth: float, yes: float, of: float) -> float:
        told = truth * of + yes
        return told * (1 - told) / truth**2

    plan = forced_response(2 / 3, 1 / 6)
    yes = as_drawn(1 / 6)
    truth = as_drawn(2 / 3 + 1 / 6) - yes
    [found] = differences(plan, {"sensitive": share}, {"sensitive": other}, share=0.3, level=0.9)
    both = forced(truth, yes, share) / 0.3 + forced(truth, yes, other) / 0.7
    width = norm.ppf(0.95) + norm.ppf(0.85)
    assert found.people(0.85) == pytest.approx(both * width**2 / 0.05**2, rel=1e-8)
    assert found.power(5_000) == pytest.approx(norm.cdf(0.05 / math.sqrt(both / 5_000) - norm.ppf(0.95)), rel=1e-7)
    assert found.power(found.people(0.85)) == pytest.approx(0.85, abs=1e-12)
    assert found.detectable(found.people(0.85), 0.85) == pytest.approx(0.05, rel=1e-6)


def test_designs_that_protect_nobody_or_tell_nothing_are_refused() -> None:
    for truth in (0.5, 1.0, 0.3):
        with pytest.raises(InputError, match="a chance above 1/2 and below 1"):
            warner(truth)
    for truth, yes in ((0.8, 0.2), (0.5, 0.0), (0.0, 0.5)):
        with pytest.raises(InputError, match="else an answer tells all"):
            forced_response(truth, yes)
    assert warner(0.75).certificate.epsilon == pytest.approx(math.log(3), abs=1e-9)
    assert forced_response(2 / 3, 1 / 6, "smoked", ["no", "yes"]).policy.features["smoked"].values == ("no", "yes")


FEATURES: dict[str, Any] = {
    "ill": {"type": "binary", "delta": 0.8},
    "age": {"type": "numeric", "bounds": [0, 100]},
    "kind": {"type": "categorical", "values": ["a", "b", "c"]},
    "arm": {"type": "open", "values": ["old", "new"]},
}
TASKS: list[Any] = [{"mean": ["ill", "age"]}, {"table": ["ill", "kind"]}]
GUESS: dict[str, Any] = {"ill": 0.3, "kind": {"a": 0.5, "b": 0.3, "c": 0.2}, "age": 40}


def test_every_number_is_as_precise_as_it_was_said_to_be() -> None:
    """300 collections: each spread is within 30% of what was predicted.

    A sample variance of 300 has a relative standard error of 8.2%; 30% below or 70% above is a false alarm in 10^9 for
    each of 8 numbers. A prediction for a third of the people fails.
    """
    plan = make_plan(Policy(epsilon=3, correlation=0.3, features=FEATURES, tasks=TASKS))
    predicted = precision(plan, GUESS)
    rng, people = np.random.default_rng(8), 40_000
    ideal: Any = imagined(plan, GUESS).whole
    laws = [ideal.counts(number).astype(np.float64) for number in range(len(plan.menus))]
    law = np.concatenate([part.ravel() for part in laws])
    menu = np.concatenate([np.full(part.size, number) for number, part in enumerate(laws)])
    answer = np.concatenate([np.arange(part.size) for part in laws])
    drawn = []
    for counts in rng.multinomial(people, law / law.sum(), size=300):
        group = np.zeros(len(counts), dtype=int)
        found = estimate(Tally(plan).add({"menu": menu, "answer": answer, "group": group, "count": counts}))
        rows = [row for section in found.sections() for row in section.rows]
        drawn.append([row.number.value if row.raw is None else row.raw for row in rows])
    spread = np.var(np.array(drawn), axis=0, ddof=1)
    kept = [(one, float(own)) for one, own in zip(predicted, spread, strict=True) if math.isfinite(one.error)]
    assert len(kept) >= 8
    for one, own in kept[:8]:
        assert 0.7 < own / one.se(people) ** 2 < 1.7, one
        assert not 0.7 < own / one.se(people / 3) ** 2 < 1.7


def test_without_a_guess_shares_and_means_have_their_largest_variance() -> None:
    plan = make_plan(Policy(epsilon=2, correlation=0.1, features=FEATURES, tasks=[{"mean": ["ill", "age"]}]))
    blind = {one.name: one.error for one in precision(plan)}
    for guess in ({"ill": 0.1, "age": 20}, {"ill": 0.7, "age": 80}):
        for one in precision(plan, guess):
            assert one.error <= blind[one.name] * (1 + 1e-9)


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ({"ill": 1.2}, "shares from 0 to 1"),
        ({"age": 101}, "within the bounds"),
        ({"kind": 0.5}, "a share for each value"),
        ({"kind": {"a": 0.5}}, "sum to 1"),
        ({"kind": {"z": 1}}, "its values"),
        ({"else": 1}, "features: ill, age, kind"),
        ({"ill": "often"}, "a number"),
    ],
)
def test_guesses_that_are_refused(guess: dict[str, Any], said: str) -> None:
    plan = make_plan(Policy(epsilon=1, features=FEATURES))
    with pytest.raises(InputError, match=said):
        precision(plan, guess)


def test_nothing_to_see_takes_everybody() -> None:
    same = Precision("Means", "ill", 0.2, 4.0)
    assert Difference(same, same).people(0.8) == math.inf
    with pytest.raises(InputError, match="share"):
        differences(warner(0.75), {}, share=1.0)


def test_the_command_tells_people_and_their_inverse(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    warner(0.75, "ill").save(path)

    def run(*words: str) -> Any:
        given = ["power", str(path), *words]
        return CliRunner().invoke(program(given), given, catch_exceptions=False)

    [row] = json.loads(run("--se", "0.01", "--guess", "ill=0.2", "--json").stdout)["numbers"]
    assert row["people_for_se"] == math.ceil((0.16 + 0.1875 / 0.25) / 1e-4) == 9_100
    [row] = json.loads(run("--people", "9100", "--guess", "ill=0.2", "--json").stdout)["numbers"]
    assert row["se"] == pytest.approx(0.01, rel=1e-6)
    [row] = json.loads(run("--guess", "ill=0.2", "--against", "ill=0.3", "--people", "5000", "--json").stdout)[
        "numbers"
    ]
    width = norm.ppf(0.975) + norm.ppf(0.8)
    assert row["people_for_difference"] == math.ceil(2 * (0.91 + 0.96) * width**2 / 0.01)
    assert row["power"] == pytest.approx(norm.cdf(0.1 / math.sqrt(2 * 1.87 / 5000) - norm.ppf(0.975)), rel=1e-6)
    assert "every number of Means: 9,100 people" in run("--se", "0.01", "--guess", "ill=0.2").stdout
    with pytest.raises(InputError, match="at least one: what the people are for"):
        run()
    with pytest.raises(InputError, match="NAME one of ill"):
        run("--se", "1", "--guess", "else=0.2")


def test_a_number_with_a_stated_mean_is_not_at_its_bounds() -> None:
    """Half way it is uniform, which varies a third as much as everybody at a bound; its mean is as stated."""
    plan = make_plan(Policy(epsilon=3, features={"age": FEATURES["age"]}, tasks=[{"distribution": ["age"]}]))
    [mean] = [one for one in precision(plan, {"age": 50}) if one.name == "mean"]
    [blind] = [one for one in precision(plan) if one.name == "mean"]
    assert mean.value == pytest.approx(50, abs=1.6)  # to half a bin
    assert blind.error - mean.error > 0.9 * 50**2 * (1 - 1 / 3)  # the randomizer's part is smaller as well
    [low] = [one for one in precision(plan, {"age": 10}) if one.name == "mean"]
    assert low.value == pytest.approx(10, abs=1.6)


def test_combined_estimates_are_predicted() -> None:
    """A mean next to a distribution: 150 collections of 3,000 vary as predicted for them, and not as very many do.

    A sample variance of 150 has a relative standard error of 11.5%: a ratio beyond .45 or 2.1 has a chance below 1e-9.
    """
    features = {"age": FEATURES["age"]}
    plan = make_plan(Policy(epsilon=2, features=features, tasks=[{"mean": ["age"]}, {"distribution": ["age"]}]))
    predicted = precision(plan, {"age": 30})[0]
    assert predicted.se(3_000) < 0.9 * math.sqrt(predicted.error / 3_000)
    assert predicted.se(predicted.people(0.5)) == pytest.approx(0.5, rel=1e-3)
    ideal: Any = imagined(plan, {"age": 30}).whole
    laws = [ideal.counts(number).astype(np.float64) for number in range(len(plan.menus))]
    law = np.concatenate([part.ravel() for part in laws])
    menu = np.concatenate([np.full(part.size, number) for number, part in enumerate(laws)])
    answer = np.concatenate([np.arange(part.size) for part in laws])
    values = [
        estimate(Tally(plan).add({"menu": menu, "answer": answer, "count": counts})).means["age"].value
        for counts in np.random.default_rng(9).multinomial(3_000, law / law.sum(), size=150)
    ]
    assert 0.45 < float(np.var(values, ddof=1)) / predicted.se(3_000) ** 2 < 2.1
