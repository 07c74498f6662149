"""Results have types: an editor completes them, a type checker knows them, and nothing frozen is changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from mypy import api

from bcdp import Estimates, Policy, Tally, estimate, make_plan, privatize
from bcdp.policy.tasks import statistics
from bcdp.statistics import Estimate
from bcdp.statistics.mean import Mean
from support.documents import blocks
from support.paths import ROOT

SHARED = "bcdp.statistics.shared"
ANSWERED, ASKED = f"{SHARED}.nonresponse.Answered", f"{SHARED}.follow_ups.Asked"
ESTIMATE = "bcdp.statistics.shared.interval.Estimate"
TYPES = {
    "estimates": "bcdp.estimates.results.Estimates",
    "estimates.means['a']": f"{ESTIMATE} | {ANSWERED}Mean | {ASKED}Mean",
    "estimates.means['a'].low": "float",
    "estimates.frequencies['a']['b']": f"{ESTIMATE} | {ANSWERED}Share | {ASKED}Share",
    "estimates.tables['a', 'b']": "bcdp.statistics.tables.lines.TableEstimate",
    "estimates.groups['a', 'b']": "bcdp.statistics.group_means.GroupEstimate",
    "estimates.distributions['a']": "bcdp.statistics.distribution.DistributionEstimate",
    "estimates.regressions[0]": "bcdp.statistics.regression.model.RegressionEstimate",
}
WRONG = ["estimates.meens", "estimates.means['a'].valve", "estimates.tables['a'].cells", "bcdp.estimates_of"]
FEATURES: dict[str, Any] = {
    "bit": {"type": "binary"},
    "kind": {"type": "categorical", "values": ["a", "b", "c"], "missing": "own"},
    "number": {"type": "numeric", "bounds": [0, 10]},
}
TASKS: list[dict[str, Any]] = [
    {"mean": ["bit"]},
    {"mean": ["number"], "by": "bit"},
    {"frequency": ["kind"]},
    {"table": ["bit", "number"]},
    {"distribution": ["number"], "bins": 16},
]


@pytest.mark.slow
def test_the_readme_passes_a_strict_type_checker(tmp_path: Path) -> None:
    """Its blocks, what they make has the types stated above, and each wrong line is an error."""
    examples = [block.text for block in blocks((ROOT / "README.md").read_text("utf-8")) if block.language == "python"]
    assert len(examples) >= 2
    shown = [f"reveal_type({term})" for term in TYPES]
    program = tmp_path / "readme.py"
    program.write_text("\n".join([*examples, *shown, *WRONG]), "utf-8")
    options = ["--strict", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir", str(tmp_path / "cache")]
    said, problems, _ = api.run([*options, "--no-pretty", str(program)])
    assert problems == ""
    assert re.findall(r'Revealed type is "(.+)"', said) == list(TYPES.values())
    lines = {int(number) for number in re.findall(r"readme\.py:(\d+): error", said)}
    last = len(program.read_text("utf-8").splitlines())
    assert lines == set(range(last - len(WRONG) + 1, last + 1)), said


def collected() -> Estimates:
    plan = make_plan(Policy(epsilon=4, features=FEATURES, tasks=TASKS))
    people = {"bit": [0, 1, 1] * 400, "kind": ["a", "b", None] * 400, "number": [1.0, 5.0, 9.0] * 400}
    return estimate(Tally(plan).add(privatize(plan, people)))


def test_every_statistic_of_the_package_is_an_attribute() -> None:
    found = collected()
    for statistic in statistics().values():
        assert isinstance(getattr(Estimates, statistic.key), property), statistic.key
    assert [len(part) for part in (found.means, found.groups, found.frequencies)] == [1, 1, 1]
    assert [len(part) for part in (found.tables, found.distributions, found.regressions)] == [1, 1, 0]
    with pytest.raises(AttributeError):
        found.percentages  # type: ignore[attr-defined]  # noqa: B018


def estimates_in(part: Any) -> Iterator[Estimate]:
    if isinstance(part, Mapping):
        part = tuple(part.values())
    if isinstance(part, Estimate):
        yield part
    if is_dataclass(part):
        part = tuple(getattr(part, each.name) for each in fields(part))
    if isinstance(part, tuple):
        for inner in part:
            yield from estimates_in(inner)


def test_estimates_name_their_collection_and_none_is_changed_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Mapping[str, Estimate]] = []
    computed = Mean.estimate

    def kept(*arguments: Any) -> Mapping[str, Estimate]:
        given.append(computed(*arguments))
        return given[-1]

    monkeypatch.setattr(Mean, "estimate", kept)
    found = collected()
    each = list(estimates_in(found.results))
    mean, groups, shares, cells, distribution = 1, 2 + 1, 2 + 2 * 2 + 1, 2 * 2, 15 + 16 + 1
    assert len(each) >= mean + groups + shares + cells + distribution
    assert len({one.collection for one in each}) == 1
    assert each[0].collection != ""
    assert [mean.collection for means in given for mean in means.values()] == [""]
    assert list(given[0].values()) == list(found.means.values())
