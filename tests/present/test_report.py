"""The page of a collection: everything a person asks is on it, nothing is fetched, and it fits a telephone."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from playwright.sync_api import Browser, Page

from bcdp import Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.audit import audit_plan, population_of
from bcdp.cli.app import main
from bcdp.cli.collect import estimate_tables
from bcdp.cli.output import show
from bcdp.cli.plan import _gap
from bcdp.compare.baselines import compare, uniform_plans
from bcdp.compare.fertility import POLICY, fertility, truth
from bcdp.correlation import PerFeature
from bcdp.plan import certify_menu
from bcdp.policy import read_yaml
from bcdp.present.pictures.leakage import leakage_figure
from bcdp.present.plan_summary import planned
from bcdp.present.report import write_report
from support.helpers import paper_plan
from support.npm_packages import npm_packages
from support.paths import ROOT

pytestmark = pytest.mark.slow

FEATURES: dict[str, Any] = {
    "smoker": {"type": "binary", "values": ["no", "yes"], "delta": 0.3, "label": "smokes <tobacco>"},
    "income": {"type": "numeric", "bounds": [0, 200_000], "delta": 0.5},
    "region": {"type": "categorical", "values": ["north", "south", "east"]},
}
PEOPLE = {  # of whom no feature tells anything about another
    "smoker": ["no", "yes"] * 1000,
    "income": np.repeat(np.linspace(0, 200_000, 250), 8),
    "region": ["north", "north", "south", "south", "east", "east", "east", "east"] * 250,
}


def policy(**changes: Any) -> Policy:
    return Policy(**{"epsilon": 2, "features": FEATURES, "correlation": 0.1, **changes})


def written(plan: Plan, folder: Path, *arguments: Any, **further: Any) -> str:
    write_report(folder / "report.html", plan, *arguments, **further)
    return (folder / "report.html").read_text("utf-8")


def collected(plan: Plan) -> Any:
    return estimate(Tally(plan).add(privatize(plan, PEOPLE, key=bytes(range(32)), ids=range(2000))))


def heads(text: str) -> list[str]:
    return [unescape(head) for head in re.findall(r"<h3>(.*?)</h3>", text)]


def test_a_plan_alone_has_a_page(tmp_path: Path) -> None:
    text = written(make_plan(policy()), tmp_path, 5000)
    assert heads(text) == [
        "How much accuracy was gained", "In short", "What is promised", "What the published numbers tell",
        "What must be true for it", "What an adversary cannot do", "What an adversary can do",
        "What one device's answers tell", "The policy",
    ]  # fmt: skip
    assert "5,000 people are expected to answer" in text
    assert "smokes &lt;tobacco&gt;" in text
    assert "<tobacco>" not in text
    assert "what one promises about a feature grows by the ε of all others" in text
    assert "× 1.35" in text  # exp(0.3) = 1.3499


def test_a_collection_shows_estimates_truth_and_audit(tmp_path: Path) -> None:
    plan = make_plan(policy(tasks=[{"mean": ["smoker", "income"]}, {"frequency": ["region"]},
                                   {"regression": {"target": "income", "features": ["smoker"]}}]))  # fmt: skip
    known = {"smoker": 0.5, "income": 100_000.0, "region": {"north": 0.25, "south": 0.25, "east": 0.5}}
    prior = np.full((2, 2, 3), 1 / 12)
    audited = audit_plan(plan, population_of(list(FEATURES), prior))
    text = written(plan, tmp_path, 2000, collected(plan), truth=known, audited=audited)
    for words in ("2,000 people answered", "What was learned", "truth", "100,000", "income by least squares",
                  "What an audit found", "Every claim holds for this population"):  # fmt: skip
        assert words in text


def fits_one_screen(text: str) -> None:
    lines = text.splitlines()
    assert len(lines) <= 51
    assert max(map(len, lines)) <= 100


def test_the_plan_of_the_demonstration_fits_one_screen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "policy.yaml").write_text(POLICY)
    assert main(["plan", str(tmp_path / "policy.yaml"), "--users", "254654"]) == 0
    text = capsys.readouterr().out
    fits_one_screen(text)
    assert text.count("q = 20 percentage points") == 1  # stated once, and named by its letter
    assert re.search(r"^more_kids .* x1\.35 +a ", text, re.MULTILINE)
    assert re.search(r"^a  more_kids: if the other answers move", text, re.MULTILINE)


def test_the_demonstration_knows_the_truth_of_every_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    women = fertility()
    known, weeks = truth(women), women["weeks_worked"].to_numpy()
    plan = make_plan(Policy.parse(read_yaml(POLICY, [])))
    found = estimate(Tally(plan).add(privatize(plan, women.slice(0, 20_000))))
    rows = [row for section in found.sections() for row in section.rows]
    assert all(row.possible[0] <= (row.truth(known) or 0.0) <= row.possible[1] for row in rows)
    assert not [row.label for row in rows if row.truth(known) is None]
    for share, quantile in known["weeks_worked",]["quantiles"].items():
        assert np.mean(weeks < quantile) <= share <= np.mean(weeks <= quantile)
    assert len(known["weeks_worked",]["below"]) == 51
    assert all(share == np.mean(weeks < edge) for edge, share in known["weeks_worked",]["below"].items())
    show(*estimate_tables(found))
    fits_one_screen(capsys.readouterr().out)
    text = written(plan, tmp_path, 20_000, found, truth=known)
    assert text.count(">truth<") == 2 + 4  # of means and shares; pairs, groups, quantiles, shares below
    assert "about 5 of 100 such intervals miss the truth" in text


def test_an_audit_that_fails_says_so(tmp_path: Path) -> None:
    plan = make_plan(policy())
    prior = np.zeros((2, 2, 3))
    prior[0, 0, 0] = prior[1, 1, 1] = 0.5  # every feature tells the others: q is 1, not 0.1
    audited = audit_plan(plan, population_of(list(FEATURES), prior))
    text = written(plan, tmp_path, 2000, audited=audited)
    assert text.index("does not hold for the population of the audit") < text.index("Whoever sees a report")
    assert "<b>NO</b>" in text


def test_the_paper_s_mechanism_has_a_page_too(tmp_path: Path) -> None:
    plan = make_plan(policy(mechanism="cascade"))
    text = written(plan, tmp_path, 2000, collected(plan))
    assert "sends its record with noise" in text
    assert "What one device's answers tell" not in text


def test_nothing_on_the_page_comes_from_elsewhere(tmp_path: Path) -> None:
    text = written(make_plan(policy()), tmp_path, 2000)
    assert not re.search(r"https?://|<script|<link|@import|url\(", text)


def test_the_map_of_answers_shows_the_certificate() -> None:
    """The largest level of each feature over the menus is what the plan certifies."""
    plan = make_plan(policy())
    levels = [certify_menu(plan, menu, plan.correlation_model).delta for menu in plan.menus]
    for name, claim in plan.certificate.features.items():
        assert max(level[name] for level in levels) == claim.certified
    assert leakage_figure(plan) is not None
    assert leakage_figure(make_plan(policy(mechanism="cascade"))) is None


def test_uniform_ldp_asks_one_feature_at_random() -> None:
    """Ten bits at 0.2: a tenth of the people answer each, through a table whose squared contrast is tanh(0.1)^2."""
    features = {f"x{i}": {"type": "binary", "delta": 0.2 if i < 2 else 2.0} for i in range(10)}
    wanted = Policy(epsilon=2, features=features, correlation=0.05)
    plan = make_plan(wanted)
    errors = compare(plan, PerFeature(0.05, {}))
    expected = 10 / math.tanh(0.1) ** 2
    assert all(error.uniform == pytest.approx(expected, rel=1e-3) for error in errors.values())
    assert [alike.certificate.epsilon <= 0.2 for alike in uniform_plans(wanted)] == [True, True]


def test_uniform_ldp_starves_no_feature() -> None:
    """A bit beside a town that counts most: the survey of least error hardly asks the bit, one that asks both does."""
    features = {
        "smoker": {"type": "binary", "delta": 0.2},
        "town": {"type": "categorical", "values": [f"town {i}" for i in range(20)]},
    }
    tasks = [{"mean": ["smoker"]}, {"frequency": ["town"], "weight": 20}]
    plan = make_plan(Policy(epsilon=2, features=features, correlation=0.05, tasks=tasks))
    errors = compare(plan, plan.correlation_model)
    designed, even = (
        {name: error.plan for name, error in compare(alike, PerFeature(1.0, {})).items()}
        for alike in uniform_plans(plan.policy)
    )
    assert errors["smoker"].uniform == pytest.approx(2 / math.tanh(0.1) ** 2, rel=1e-3)
    assert designed["smoker"] > 2 * even["smoker"]  # what was told before
    assert designed["town"] < even["town"]
    assert errors["town"].uniform == designed["town"]


def test_what_the_paper_cannot_do_is_a_dash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wanted = {"epsilon": 2, "features": FEATURES, "correlation": 0.1}
    tasks = [{"mean": ["smoker"]}, {"regression": {"target": "income", "features": ["smoker"]}}]
    reason = "no means next to a regression"
    for stated, unable in ((wanted, False), ({**wanted, "tasks": tasks}, True)):
        file = tmp_path / "policy.yaml"
        file.write_text(yaml.safe_dump(stated))
        assert main(["plan", str(file), "--json"]) == 0
        told = json.loads(capsys.readouterr().out)["features"]["smoker"]
        assert (told["standard_error_paper"] is None) == unable
        assert told["standard_error_uniform_ldp"] > told["standard_error"]
        assert main(["plan", str(file)]) == 0
        assert (reason in capsys.readouterr().out) == unable
        text = written(make_plan(Policy(**stated)), tmp_path, 2000)
        assert (reason in text) == unable
        assert "nan" not in re.sub(r"base64,[^\"]*", "", text)


@pytest.mark.parametrize(
    ("gap", "told"),
    [
        (1.00031, "it needs at most 1.0004 times the people of the best plan without jointly shaped tables"),
        (0.84496, "no plan without jointly shaped tables is as good: the best needs 1.1834 times the people"),
        (0.999999, "it needs at most 1.0000 times the people"),
    ],
)
def test_how_far_from_the_best_is_told_in_people(gap: float, told: str) -> None:
    assert re.search(told, _gap(gap))


def test_the_gains_that_the_guide_states() -> None:
    """Its table for the paper's experiment: each number is the ratio of expected errors, in two digits."""
    text = (ROOT / "docs" / "guide" / "choosing.md").read_text("utf-8")
    text = text[text.index("| odds, down") :]
    rows = [
        line.strip("| ").split("|") for line in text.splitlines() if line.startswith(("| odds, down", "| no", "| 2 "))
    ]
    correlations, twice, without = ([float(cell) for cell in cells[1:]] for cells in rows)
    for q, stated in zip(correlations, without, strict=True):
        errors = list(compare(paper_plan(q), PerFeature(q, {})).values())
        assert stated == pytest.approx(sum(e.uniform for e in errors) / sum(e.plan for e in errors), rel=0.04)
    nothing, assumed = paper_plan(1.0), PerFeature(1.0, {}, default_odds=2.0)
    errors = list(compare(make_plan(nothing.policy, assumed), assumed).values())
    assert twice[-1] == pytest.approx(sum(e.uniform for e in errors) / sum(e.plan for e in errors), rel=0.04)


def test_tasks_stand_beside_uniform_ldp_too() -> None:
    tasks = [{"mean": ["smoker", "income"]}, {"table": ["smoker", "region"]}, {"mean": ["income"], "by": "region"},
             {"distribution": ["income"], "bins": 16},
             {"regression": {"target": "income", "features": ["smoker"]}}]  # fmt: skip
    own = policy(tasks=tasks)
    told = planned(make_plan(own), PerFeature(0.1, {}), 50_000).expected
    alike = {name: {**feature, "delta": 0.3} for name, feature in FEATURES.items()}
    strict = make_plan(policy(epsilon=0.3, features=alike, correlation=1, tasks=tasks))
    among = planned(strict, PerFeature(1.0, {}), 50_000).expected
    for one, other in zip(told[:3], among[:3], strict=True):
        ours, uniform = (one.document[key] for key in ("standard_error", "standard_error_uniform_ldp"))
        assert 1.2 * ours < uniform <= 1.0001 * other.document["standard_error"]
        assert f"{(uniform / ours) ** 2:.2g} times the people" in one.lines[0]
        assert other.document["standard_error_uniform_ldp"] <= 1.0001 * other.document["standard_error"]
    ours, uniform = (told[3].document[key] for key in ("to_show", "to_show_uniform_ldp"))
    assert 1.2 * ours < uniform <= 1.1 * among[3].document["to_show"]
    assert told[3].lines[-1] == f"uniform LDP: a chance of 90% takes about {uniform:,} people"


def test_no_uniform_ldp_where_a_feature_may_not_be_told_at_all() -> None:
    features = {"secret": {"type": "binary", "delta": 0.0}, "open": {"type": "binary"}}
    plan = make_plan(Policy(epsilon=1, features=features, correlation=0))
    assert compare(plan, PerFeature(0.0, {}))["open"].uniform == math.inf


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 390, "height": 800})
    yield context.new_page()
    context.close()


def test_the_page_fits_a_telephone_and_fetches_nothing(page: Page, tmp_path: Path) -> None:
    features = {**FEATURES, "x" * 60: {"type": "categorical", "values": [f"a long word {i}" for i in range(30)]}}
    plan = make_plan(policy(features=features))
    people = {**PEOPLE, "x" * 60: ["a long word 3"] * 2000}
    found = estimate(Tally(plan).add(privatize(plan, people)))
    written(plan, tmp_path, 2000, found)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    pictures = page.locator("section > img").evaluate_all("nodes => nodes.map((node) => node.width)")
    assert len(pictures) == page.locator("img").count() == 2  # in nothing that scrolls
    assert 340 <= min(pictures) <= max(pictures) <= 358
    first = page.locator(".drawn tbody tr").first  # a result, whole, on the first screen
    place = first.bounding_box()
    assert place
    assert place["y"] + place["height"] <= 800
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    assert [url for url in asked if not url.startswith("data:")] == [(tmp_path / "report.html").as_uri()]


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_hinders_anybody(browser: Browser, tmp_path: Path, width: int, scheme: Any) -> None:
    """No violation of axe on a phone and on a desk, by day and by night."""
    plan = make_plan(policy(survey={"title": "Us", "purpose": "To see.", "organiser": "All", "contact": "a@b.org"}))
    written(plan, tmp_path, 2000, collected(plan))
    axe = (npm_packages() / "axe-core" / "axe.min.js").read_text("utf-8")
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    check = f"async () => {{ {axe}; return (await axe.run()).violations.map((v) => [v.id, v.nodes[0].html]); }}"
    assert page.evaluate(check) == []
    assert page.locator("main > p").first.inner_text().startswith("All. 2,000 people answered. Made on 20")
    night = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert night == ("rgb(26, 35, 44)" if scheme == "dark" else "rgb(255, 255, 255)")
    context.close()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    plan = make_plan(policy())
    plan.save(tmp_path / "plan.json")
    parquet.write_table(pa.table(PEOPLE), tmp_path / "people.parquet")
    parquet.write_table(privatize(plan, PEOPLE), tmp_path / "reports.parquet")
    names = [str(tmp_path / name) for name in ("plan.json", "reports.parquet", "people.parquet", "report.html")]
    assert main(["report", names[0], names[1], "--audit", names[2], "-o", names[3], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["people"] == 2000
    alike = {"smoker": ["no", "yes"], "income": [0.0, 200_000.0], "region": ["north", "south"]}  # q is 1, not 0.1
    parquet.write_table(pa.table(alike), tmp_path / "alike.parquet")
    beside = ["-o", str(tmp_path / "alike.html"), "--json"]
    assert main(["report", names[0], "--audit", str(tmp_path / "alike.parquet"), *beside]) == 1
    text = html.unescape(Path(names[3]).read_text("utf-8"))
    assert "What an audit found" in text
    assert "2,000 people answered" in text
