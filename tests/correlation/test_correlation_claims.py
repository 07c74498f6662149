"""Stated correlation against records: lines that `correlate` prints, and numbers that records contradict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.stats import binom

from bcdp import Policy, make_plan
from bcdp.audit import audit_plan, population_from_records
from bcdp.cli.app import main
from bcdp.correlation.contradictions import contradictions
from bcdp.correlation.pilot import estimate_correlation, odds_guide
from bcdp.correlation.stated import holding_numbers, stated_numbers

Columns = dict[str, Any]
BITS = {name: {"type": "binary"} for name in ("hiv", "doctor", "travel")}


def xor(rng: np.random.Generator, people: int) -> Columns:
    """hiv = doctor xor travel with 10% noise: pairs say nothing, together they nearly decide it."""
    doctor, travel = rng.integers(0, 2, (2, people))
    return {"hiv": doctor ^ travel ^ (rng.random(people) < 0.1), "doctor": doctor, "travel": travel}


def random_file(rng: np.random.Generator) -> tuple[dict[str, Any], Columns]:
    """Features, perhaps an open one and a number, and records in which they depend on each other in some way."""
    people = int(rng.choice([300, 2000, 8000]))
    columns = xor(rng, people) if rng.random() < 0.3 else {name: rng.integers(0, 2, people) for name in BITS}
    if rng.random() < 0.5:
        copied = rng.random(people) < rng.random()
        columns["doctor"] = np.where(copied, columns["hiv"], columns["doctor"])
    features: dict[str, Any] = {name: {"type": "binary"} for name in columns}
    if rng.random() < 0.4:
        columns["region"] = rng.choice(["a", "b", "c"], people)
        columns["travel"] = np.where(columns["region"] == "c", columns["hiv"] & columns["travel"], columns["travel"])
        features["region"] = {"type": "categorical", "values": ["a", "b", "c"]}
    if rng.random() < 0.4:
        site = rng.integers(0, 2, people)  # in one of the groups the dependence is turned around
        columns |= {"site": site, "doctor": np.where(site == 1, columns["hiv"] ^ columns["doctor"], columns["doctor"])}
        features["site"] = {"type": "open", "values": [0, 1]}
    if rng.random() < 0.3:
        columns["wage"] = np.clip(rng.normal(40 + 30 * columns["hiv"], 20, people), 0, 100).round(
            int(rng.integers(-1, 2))
        )
        features["wage"] = {"type": "numeric", "bounds": [0, 100], "ranges": [25, 50, 75]}
    features["hiv"]["delta"] = 0.3
    return features, {name: columns[name] for name in features}


def excess(features: dict[str, Any], columns: Columns, correlation: Any) -> float:
    """By how much the audit of a sample exceeds what the plan certifies, in the worst group."""
    plan = make_plan(Policy(epsilon=2, features=features, correlation=correlation))
    groups = [{"site": str(value)} for value in np.unique(columns["site"])] if "site" in features else [None]
    audits = [audit_plan(plan, population_from_records(plan, [pd.DataFrame(columns)], group)) for group in groups]
    return max(level.measured - level.certified for audit in audits for level in audit.delta.values())


def holding(features: dict[str, Any], columns: Columns) -> dict[str, dict[str, float]]:
    policy = Policy(epsilon=2, features=features)
    return holding_numbers(policy, columns, estimate_correlation(policy, columns))


def excesses(files: int, seed: int) -> list[tuple[int, float]]:
    """For random files: how many features have printed numbers, and the excess of an audit over the certificate."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(files):
        features, columns = random_file(rng)
        stated = holding(features, columns)
        found.append((len(stated), excess(features, columns, stated) if stated else 0.0))
    return found


def test_an_audit_of_the_sample_never_exceeds_what_printed_numbers_certify() -> None:
    found = excesses(25, seed=1)
    assert sum(stated > 0 for stated, _ in found) > 10
    assert max(above for _, above in found) <= 1e-8


def test_fitted_odds_would_have_been_exceeded() -> None:
    """The example that makes lines with the odds of a fitted model false: certified .3, measured about 1.2."""
    columns = xor(np.random.default_rng(2), 20_000)
    features = {**BITS, "hiv": {"type": "binary", "delta": 0.3}}
    policy = Policy(epsilon=2, features=features)
    found = estimate_correlation(policy, columns)
    limits = {name: found.q(name, set(features) - {name}) for name in features}
    assert excess(features, columns, stated_numbers(limits, odds_guide(policy, columns))) > 0.5
    assert excess(features, columns, holding(features, columns)) <= 1e-8


def test_the_command_recommends_files_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = xor(np.random.default_rng(3), 5_000)
    site = np.arange(5_000) % 2
    columns |= {"hiv": np.where(site == 1, columns["hiv"], np.arange(5_000) // 2 % 2), "site": site}
    features = {**BITS, "hiv": {"type": "binary", "delta": 0.3}, "site": {"type": "open", "values": [0, 1]}}
    pd.DataFrame(columns).astype(int).to_csv(tmp_path / "sample.csv", index=False)
    (tmp_path / "policy.yaml").write_text(yaml.safe_dump({"epsilon": 2.0, "features": features}))
    command = [
        "correlate",
        *map(str, (tmp_path / "policy.yaml", tmp_path / "sample.csv", "-o", tmp_path / "pairs.csv")),
    ]
    assert main(command) == 0
    told = capsys.readouterr().out
    assert told.index("{pilot: ") < told.index("{pairs: ") < told.index("Or in numbers")
    lines = told.split("Or in numbers")[1].partition("\n")[2]
    assert "# odds that a model fits, a guide and no limit: doctor 1." in lines
    stated = yaml.safe_load(lines)["correlation"]
    assert excess(features, columns, stated) <= 1e-8
    for kind in ("pilot", "pairs"):
        line = next(line for line in told.splitlines() if line.startswith(f"correlation: {{{kind}:"))
        assert excess(features, columns, yaml.safe_load(line)["correlation"]) <= 1e-8


def follow_up(people: int) -> tuple[dict[str, Any], Columns]:
    rng = np.random.default_rng(4)
    ever = rng.integers(0, 2, people)
    often = np.where(ever == 0, "not applicable", rng.choice(["monthly", "weekly"], people))
    features = {
        "ever": {"type": "binary", "delta": 0.3},
        "often": {"type": "categorical", "values": ["not applicable", "monthly", "weekly"]},
    }
    return features, {"ever": ever, "often": often}


def test_a_follow_up_contradicts_what_is_stated() -> None:
    features, columns = follow_up(2_000)
    policy = Policy(epsilon=2, features=features, correlation={"q": 0.2, "odds": 3})
    assert excess(features, columns, {"q": 0.2, "odds": 3}) > 0.5
    found = {(one.feature, one.number): one for one in contradictions(policy, columns)}
    assert set(found) == {(name, number) for name in features for number in ("q", "odds")}
    assert found["ever", "q"].least > 0.9
    assert found["ever", "odds"].least > 30
    assert "ever: q with often is at least 0.9" in found["ever", "q"].sentence
    assert "often always decides it" in found["ever", "q"].sentence
    assert contradictions(policy.model_copy(update={"correlation": Policy(epsilon=1, features=features).correlation}),
                          columns) == []  # fmt: skip


def test_copies_and_what_only_all_others_show_are_reported() -> None:
    rng = np.random.default_rng(6)
    columns = xor(rng, 4_000)
    found = contradictions(Policy(epsilon=1, features=BITS, correlation=0.3), columns)
    assert [(one.feature, one.others) for one in found] == [
        ("hiv", ("doctor", "travel")), ("doctor", ("hiv", "travel")), ("travel", ("hiv", "doctor")),
    ]  # fmt: skip
    copied = {**columns, "travel": columns["doctor"], "hiv": rng.integers(0, 2, 4_000)}
    found = contradictions(Policy(epsilon=1, features=BITS, correlation=0.3), copied)
    assert [(one.feature, one.others, one.decided) for one in found] == [
        ("doctor", ("travel",), True), ("travel", ("doctor",), True),
    ]  # fmt: skip
    site = np.arange(4_000) % 2  # and what only one group of open values shows
    grouped = {**columns, "hiv": np.where(site == 1, columns["doctor"], 1 - columns["doctor"]), "site": site}
    features = {**BITS, "site": {"type": "open", "values": [0, 1]}}
    found = contradictions(Policy(epsilon=1, features=features, correlation=0.3), grouped)
    assert {one.feature for one in found} == {"hiv", "doctor"}


def test_true_statements_are_contradicted_no_more_often_than_confidence_allows() -> None:
    """At exactly the stated q and odds; the false-alarm rate of the test is 1e-9."""
    rng, wrong, runs = np.random.default_rng(7), 0, 300
    features = {"a": {"type": "binary"}, "b": {"type": "categorical", "values": ["x", "y", "z"]}}
    policy = Policy(epsilon=1, features=features, correlation={"a": {"q": 0.2, "odds": 2}})
    for _ in range(runs):
        a = rng.integers(0, 2, 400)
        b = np.where(rng.random(400) < np.where(a == 1, 0.4, 0.2), "x", rng.choice(["y", "z"], 400))
        wrong += bool(contradictions(policy, {"a": a, "b": b}, confidence=0.7))
    assert wrong <= binom.isf(1e-9, runs, 0.3)
    assert len(contradictions(policy, {"a": a, "b": np.where(a == 1, "x", "y")})) == 2


def test_commands_and_the_studio_report_contradictions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from bcdp.studio.uploads import checked

    features, columns = follow_up(2_000)
    stated = {"epsilon": 2.0, "features": features, "correlation": {"q": 0.2, "odds": 3}}
    file, policy = tmp_path / "people.csv", tmp_path / "policy.yaml"
    pd.DataFrame(columns).to_csv(file, index=False)
    policy.write_text(yaml.safe_dump(stated))
    assert main(["check", str(policy), str(file)]) == 1
    told = " ".join(capsys.readouterr().out.split())
    assert "Every record can be read. The records contradict what the policy states about correlation: ever:" in told
    assert "can be used as it is" not in told
    assert "{pilot: FILE}" in told
    assert main(["plan", str(policy), "--data", str(file), "--json"]) == 0
    printed = capsys.readouterr()
    assert len(json.loads(printed.out)["contradictions"]) == 4
    assert "ever: q with often is at least" in " ".join(printed.err.split())
    assert (
        main(
            [
                "simulate",
                str(policy),
                str(file),
                "-o",
                str(tmp_path / "out"),
                "--users",
                "1000",
                "--trials",
                "1",
                "--json",
            ]
        )
        == 0
    )
    assert len(json.loads(capsys.readouterr().out)["contradictions"]) == 4
    problems = checked({"name": "people.csv", "policy": stated}, file.read_bytes())["problems"]
    assert sum("contradict" in problem["sentence"] for problem in problems) == 4
    policy.write_text(yaml.safe_dump({**stated, "correlation": {"pilot": "people.csv"}}))
    assert main(["check", str(policy), str(file)]) == 0
    assert "can be used as it is" in capsys.readouterr().out
