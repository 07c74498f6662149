"""Waves of one plan from different people: slopes, changes, all together; and what is refused."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from bcdp import InputError, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.cli.app import main, program
from bcdp.estimates.waves import average, estimate_waves, slope
from bcdp.present.pictures import trend_figure
from bcdp.statistics import Estimate

FEATURES: dict[str, Any] = {
    "smoker": {"type": "binary", "delta": 0.5, "label": "Smokes daily"},
    "age": {"type": "numeric", "bounds": [0, 100]},
    "party": {"type": "categorical", "values": ["left", "right", "other"]},
}
SMOKE = {2021: 0.5, 2022: 0.4, 2025: 0.2}


def plan_with(**more: Any) -> Plan:
    return make_plan(Policy(epsilon=6, features={**FEATURES, **more}))


def records(rng: np.random.Generator, size: int, smoke: float) -> dict[str, Any]:
    party = rng.choice(["left", "right", "other"], size)
    return {"smoker": rng.random(size) < smoke, "age": rng.uniform(20, 20 + 100 * smoke, size), "party": party}


@pytest.fixture(scope="module")
def waves() -> dict[float, Tally]:
    plan, rng = plan_with(), np.random.default_rng(1)
    sizes = dict(zip(SMOKE, (16_000, 8_000, 24_000), strict=True))
    return {year: Tally(plan).add(privatize(plan, records(rng, sizes[year], smoke))) for year, smoke in SMOKE.items()}


def number(value: float, half: float, collection: str) -> Estimate:
    return Estimate(value, half / 2, value - half, value + half, 100, value, collection=collection)


def test_a_slope_is_that_of_least_squares() -> None:
    times, values = [2019.0, 2020.0, 2020.5, 2024.0], [3.0, 5.0, 4.5, 9.0]
    found = slope({time: number(value, 0.4, str(time)) for time, value in zip(times, values, strict=True)})
    assert found.value == pytest.approx(np.polyfit(times, values, 1)[0], rel=1e-12)
    spread = np.square(np.array(times) - np.mean(times)).sum()
    assert found.se == pytest.approx(0.2 / math.sqrt(spread), rel=1e-12)
    assert found.high - found.value == pytest.approx(0.4 / math.sqrt(spread), rel=1e-12)


def test_of_two_waves_it_is_the_difference(waves: dict[float, Tally]) -> None:
    """Over the time between them, lopsided intervals included."""
    one, two = (estimate(waves[year]).means["smoker"] for year in (2021, 2025))
    difference, found = two - one, slope({2021: one, 2025: two})
    for part in ("value", "se", "low", "high", "raw"):
        assert getattr(found, part) == pytest.approx(getattr(difference, part) / 4, rel=1e-12)
    assert found.answers == difference.answers


def test_what_is_not_known_leaves_everything_possible() -> None:
    nothing = Estimate(math.nan, math.inf, 0.0, 1.0, 0, math.nan, collection="nobody")
    found = slope({0: number(0.5, 0.1, "a"), 2: nothing})
    assert math.isnan(found.value)
    assert (found.low, found.high) == (pytest.approx(-0.3), pytest.approx(0.3))
    endless = Estimate(0.5, 0.1, -math.inf, math.inf, 9, 0.5, collection="b")
    middle = slope({0: number(0.4, 0.1, "a"), 1: endless, 2: number(0.6, 0.1, "c")})  # which counts for nothing
    assert math.isfinite(middle.low)
    assert average([endless, number(0.5, 0.1, "a")], (0.0, 1.0)).high == 1.0


def test_waves_tell_trends_changes_and_all_together(waves: dict[float, Tally]) -> None:
    """The means are 6.5 standard errors from the truth once in 10^10; a slope of the other sign is farther."""
    found = estimate_waves(waves)
    assert list(found.waves) == [2021, 2022, 2025]
    trends = {(one.section.subject, one.row.name): one for one in found.trends}
    assert len(trends) == 5
    smoker = trends["Means", "smoker"]
    true = float(np.polyfit(list(SMOKE), list(SMOKE.values()), 1)[0])
    assert abs(smoker.slope.value - true) < 6.5 * smoker.slope.se
    assert abs(smoker.slope.value + true) > 6.5 * smoker.slope.se
    assert abs(smoker.all_waves.value - np.mean(list(SMOKE.values()))) < 6.5 * smoker.all_waves.se
    people = (16_000 * 0.5 + 8_000 * 0.4 + 24_000 * 0.2) / 48_000
    assert abs(smoker.all_people.value - people) < 6.5 * smoker.all_people.se
    total = waves[2021] + waves[2022] + waves[2025]
    assert smoker.all_people == estimate(total).means["smoker"]
    assert list(smoker.changes) == [(2021, 2022), (2022, 2025)]
    told = {year: one.means["smoker"] for year, one in found.waves.items()}
    assert smoker.changes[2021, 2022] == told[2022] - told[2021]


def test_the_order_in_which_waves_are_given_does_not_matter(waves: dict[float, Tally]) -> None:
    assert estimate_waves(waves).to_dict() == estimate_waves(dict(reversed(waves.items()))).to_dict()


def test_waves_are_weighted_to_one_population() -> None:
    """Who answers changes between the waves; what they answer does not, within regions."""
    plan, rng = plan_with(region={"type": "open", "values": ["n", "s"]}), np.random.default_rng(3)
    tallies = {}
    for year, north in ((1, 0.2), (2, 0.8)):
        region = rng.choice(["n", "s"], 20_000, p=[north, 1 - north])
        told = {**records(rng, 20_000, 0.5), "smoker": rng.random(20_000) < np.where(region == "n", 0.8, 0.2)}
        tallies[year] = Tally(plan).add(privatize(plan, {**told, "region": region}))
    population = {"region": ["n", "s"], "people": [1, 1]}
    weighted, raw = (next(iter(estimate_waves(tallies, weights=w).trends)) for w in ([population], []))
    assert abs(weighted.slope.value) < 6.5 * weighted.slope.se
    assert abs(raw.slope.value) > 6.5 * raw.slope.se
    assert abs(weighted.all_people.value - 0.5) < 6.5 * weighted.all_people.se


def test_what_are_no_waves_is_refused(waves: dict[float, Tally]) -> None:
    one, two = waves[2021], waves[2022]
    cases: list[tuple[dict[Any, Any], str]] = [
        ({2021: one}, "at least two times"),
        ({"first": one, "second": two}, "finite numbers, such as years"),
        ({2021: one, math.inf: two}, "finite numbers"),
        ({2021: one, 2022: Tally.from_dict(one.to_dict(), one.plan)}, r"waves\[2022\]: got 'the counts of another"),
        ({2021: one, 2022: Tally(one.plan)}, r"waves\[2022\]: got 'no reports'"),
        ({2021: one, 2022: estimate(two)}, "a Tally"),
    ]
    for given, said in cases:
        with pytest.raises(InputError, match=said):
            estimate_waves(given)
    other = make_plan(Policy(epsilon=1, features=FEATURES))
    rng = np.random.default_rng(5)
    with pytest.raises(InputError, match="a tally of the same plan"):
        estimate_waves({1: one, 2: Tally(other).add(privatize(other, records(rng, 100, 0.5)))})
    mean = estimate(one).means["smoker"]
    for wrong in ([mean, mean], [mean, number(0.5, 0.1, "")]):
        with pytest.raises(InputError, match="different people"):
            average(wrong)
    with pytest.raises(InputError, match="at least one"):
        average([])


def run(*words: object) -> Result:
    given = [str(word) for word in words]
    return CliRunner().invoke(program(given), given, catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(waves: dict[float, Tally], tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("waves")
    next(iter(waves.values())).plan.save(found / "plan.json")
    for year, tally in waves.items():
        tally.save(found / f"{year:g}.json")
    return found


def test_the_command(folder: Path, waves: dict[float, Tally], tmp_path: Path) -> None:
    given = [f"{year}={folder / f'{year}.json'}" for year in SMOKE]
    done = run("trend", folder / "plan.json", *given, "-o", tmp_path / "t.csv", "--plot", tmp_path / "t.png")
    assert done.exit_code == 0, done.output
    assert "assumed: different people, nobody answered in two waves" in done.output
    assert max(map(len, done.output.splitlines())) <= 100
    lines = list(csv.DictReader((tmp_path / "t.csv").read_text("utf-8").splitlines()))
    names = ["2021", "2022", "2025", "2022 less 2021", "2025 less 2022", "slope", "all people alike", "all waves alike"]
    assert [line["wave"] for line in lines if line["name"] == "smoker"] == names
    assert (tmp_path / "t.png").read_bytes()[:4] == b"\x89PNG"
    document = json.loads(run("trend", folder / "plan.json", *given, "--json").output)
    first = next(iter(estimate_waves(waves).trends))
    assert document["trends"][0]["slope"]["value"] == first.slope.value
    assert [wave["at"] for wave in document["waves"]] == [2021, 2022, 2025]
    assert document["together"]["people"] == 48_000


def test_files_of_one_time_are_one_wave(folder: Path) -> None:
    given = [f"0={folder / '2021.json'}", f"1={folder / '2022.json'}", f"1={folder / '2025.json'}"]
    document = json.loads(run("trend", folder / "plan.json", *given, "--json").output)
    assert [wave["people"] for wave in document["waves"]] == [16_000, 32_000]


def test_many_waves_stay_within_the_screen(waves: dict[float, Tally], folder: Path, tmp_path: Path) -> None:
    plan, rng = waves[2021].plan, np.random.default_rng(8)
    given = []
    for year in range(2015, 2023):
        path = tmp_path / f"{year}.json"
        Tally(plan).add(privatize(plan, records(rng, 300, 0.3))).save(path)
        given.append(f"{year}={path}")
    done = run("trend", folder / "plan.json", *given)
    assert "2015" in done.output
    assert "2022" in done.output
    assert "2018" not in done.output


def test_the_times_of_an_open_feature(tmp_path: Path) -> None:
    plan, rng = plan_with(year={"type": "open", "values": [2021, 2022, 2023]}), np.random.default_rng(6)
    plan.save(tmp_path / "plan.json")
    people = {**records(rng, 3_000, 0.5), "year": rng.choice([2021, 2022], 3_000)}
    Tally(plan).add(privatize(plan, people)).save(tmp_path / "tally.json")
    done = run("trend", tmp_path / "plan.json", tmp_path / "tally.json", "--over", "year", "--json")
    assert [wave["at"] for wave in json.loads(done.output)["waves"]] == [2021, 2022]  # nobody in 2023 yet


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{0}", "{1}"], "TIME=FILE, the time a number"),
        (["soon={0}", "2022={1}"], "times that are numbers"),
        (["2021={0}", "2022={0}"], "each file once"),
        (["2021={0}", "2022={2}"], "the counts of another wave again"),
        (["2021={0}"], "at least two times"),
        (["2021={0}", "2022={1}", "--over", "year"], "cannot be read"),
    ],
)
def test_what_the_command_refuses(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.json"
    copy.write_bytes((folder / "2021.json").read_bytes())
    given = [word.format(folder / "2021.json", folder / "2022.json", copy) for word in words]
    assert main(["trend", str(folder / "plan.json"), *given]) == 2
    assert said in capsys.readouterr().err


def test_the_picture_has_a_panel_for_each_number(waves: dict[float, Tally]) -> None:
    figure = trend_figure(estimate_waves(waves))
    assert len(figure.axes) == 5
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["2021", "2022", "2025"]
