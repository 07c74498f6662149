"""Correlation as a policy states it: numbers, pairs, files; and the files that are refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bcdp.correlation import FinitePrior, Listed, PerFeature, Stronger, correlation_from_dict, correlation_of
from bcdp.correlation.from_policy import write_pairs
from bcdp.errors import InputError
from bcdp.notions import dobrushin
from bcdp.policy import Policy
from support.helpers import random_prior

FEATURES = {
    "sick": {"type": "binary"},
    "town": {"type": "categorical", "values": ["A", "a", "7"]},
    "age": {"type": "numeric", "bounds": [0, 100]},
}
OTHERS = frozenset({"town", "age"})


def model(correlation: object, features: Any = FEATURES) -> Any:
    return correlation_of(Policy(epsilon=1, features=features, correlation=correlation))


def written(folder: Path, text: str) -> Path:
    path = folder / "file.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_one_number_and_one_per_feature() -> None:
    assert model(0.25).q("sick", OTHERS) == 0.25
    assert model({"sick": 0.1, "default": 0.3}).q("sick", OTHERS) == 0.1
    assert model({"sick": 0.1, "default": 0.3}).q("age", {"sick"}) == 0.3
    assert model({"sick": 0.1}).q("age", {"sick"}) == 1.0  # nothing is assumed of what is not named
    assert model(0.25).q("sick", frozenset()) == 0.0


@pytest.mark.parametrize(
    ("stated", "source"),
    [
        (1, "nothing assumed (q = 1)"),
        (0.05, "assumed: q = 0.05 for every feature"),
        ({"sick": 0.1, "default": 0.3}, "assumed: q = 0.1 for sick, 0.3 for every other feature"),
        ({"sick": 0.1}, "assumed: q = 0.1 for sick, 1 for every other feature"),
        ({"sick": 0.1, "town": 0, "age": 0.2}, "assumed: q = 0.1 for sick, 0 for town, 0.2 for age"),
        ({"default": 0.2}, "assumed: q = 0.2 for every feature"),
        ({"sick": 1}, "nothing assumed (q = 1)"),
    ],
)
def test_what_is_assumed_is_said_in_numbers(stated: object, source: str) -> None:
    assert model(stated).source == source


def test_a_feature_called_default_is_not_all_the_others() -> None:
    features = {**FEATURES, "default": {"type": "binary"}}
    with pytest.raises(InputError, match=r"correlation\.default: .*accepted: another name for the feature 'default'"):
        model({"default": 0.02}, features)
    assert model({"sick": 0.02}, features).q("default", {"sick"}) == 1.0


def test_pairs_say_nothing_about_larger_sets(tmp_path: Path) -> None:
    """Inline and as a file: the same model; a pair left out, and every set of two or more, counts as 1."""
    inline = model({"pairs": {"sick": {"town": 0.1, "age": 0.0}, "age": {"sick": 0.2, "town": 1}}})
    path = written(tmp_path, "\ufeff,sick,town,age\nsick,0,0.1,0\nage,0.2,1,0\n")
    for pairs in (inline, model({"pairs": path})):
        assert pairs.q("sick", {"town"}) == 0.1
        assert pairs.q("sick", {"age"}) == 0.0
        assert pairs.q("age", {"sick"}) == 0.2
        assert pairs.q("town", {"sick"}) == pairs.q("sick", OTHERS) == 1.0


def test_pairs_state_odds_beside_q_or_alone(tmp_path: Path) -> None:
    """Inline and as a file: the same model; what is not stated has no limit, and plans without odds have none."""
    stated = {"sick": {"town": {"q": 0.1, "odds": 2}, "age": {"odds": 1.5}}, "age": {"sick": 0.2}}
    path = written(tmp_path, ",sick,town,age\nsick,0,0.1 odds 2,odds 1.5\nage,0.2,1,0\n")
    for pairs in (model({"pairs": stated}), model({"pairs": path})):
        assert pairs.q("sick", {"town"}) == 0.1
        assert pairs.odds("sick", {"town"}) == 2.0
        assert pairs.q("sick", {"age"}) == 1.0
        assert pairs.odds("sick", {"age"}) == 1.5
        assert pairs.q("age", {"sick"}) == 0.2
        assert pairs.odds("age", {"sick"}) == pairs.odds("sick", OTHERS) == math.inf
        assert pairs.source.endswith("; nothing for larger sets")
    without = model({"pairs": {"sick": {"town": 0.1}}})
    assert "odds" not in without.to_dict()
    assert without.source == "assumed: a q for each pair; 1 for larger sets"


def test_a_file_of_pairs_holds_every_limit_of_a_model(tmp_path: Path) -> None:
    prior = FinitePrior(("sick", "town"), random_prior(np.random.default_rng(1), (2, 3)) + 0.01, "test")
    features = {name: FEATURES[name] for name in ("sick", "town")}
    policy = Policy(epsilon=1, features=features)
    path = tmp_path / "pairs.csv"
    write_pairs(path, policy, prior)
    read = correlation_of(Policy(epsilon=1, features=features, correlation={"pairs": str(path)}))
    for name, other in (("sick", "town"), ("town", "sick")):
        assert 1 < prior.odds(name, {other}) < math.inf
        assert (read.q(name, {other}), read.odds(name, {other})) == (prior.q(name, {other}), prior.odds(name, {other}))


def test_a_prior_file_is_the_prior(tmp_path: Path) -> None:
    """Values are told apart as records are (A is not a), and every bound is the definition's."""
    prior = random_prior(np.random.default_rng(0), (2, 3))
    rows = [
        f"{s},{t},{float(prior[i, j])!r}" for i, s in enumerate(["0", "True"]) for j, t in enumerate(["A", "a", "7"])
    ]
    read = model({"prior": written(tmp_path, "sick,town,probability\n" + "\n".join(rows) + "\n")})
    assert isinstance(read, FinitePrior)
    assert read.probabilities == pytest.approx(prior, abs=1e-12)
    assert read.q("town", {"sick"}) == pytest.approx(dobrushin(prior, 1), abs=1e-9)
    assert read.q("sick", {"age"}) == 1.0  # a feature that the prior does not know
    with pytest.raises(InputError, match="restricted"):
        read.to_dict()


@pytest.mark.parametrize(
    "text",
    [
        "",
        ",sick,town\n",
        ",sick,zip\nsick,0,0\nzip,0,0\n",
        ",sick,town\nsick,0,0.1\nsick,0,0.2\n",
        ",sick,sick\nsick,0,0.1\n",
        ",sick,town\nsick,0\n",
        ",sick,town\nsick,0,1.5\n",
        ",sick,town\nsick,0,nan\n",
        ",sick,town\nsick,0,\n",
        ",sick,town\nsick,0,-0.1\n",
        ",sick,town\nsick,0,much\n",
        ",sick,town\nsick,0,0.1 odds\n",
        ",sick,town\nsick,0,0.1 odds 0.5\n",
        ",sick,town\nsick,0,0.1 odds inf\n",
        ",sick,town\nsick,0,0.1 odds nan\n",
        ",sick,town\nsick,0,1.1 odds 2\n",
        ",sick,town\nsick,0,0.1 2\n",
        ",sick,town\nsick,0,odds 2 odds 3\n",
        "given,sick,town\nsick,0,0.1\n",
        'sick,"' + "x" * 200_000 + '"\n',
    ],
)
def test_bad_pairs_files_give_one_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"correlation\.pairs.*accepted") as error:
        model({"pairs": written(tmp_path, text)})
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sick,town\n0,A\n",
        "probability\n1\n",
        "sick,zip,probability\n0,A,1\n",
        "sick,sick,probability\n0,0,0.5\n1,1,0.5\n",
        "sick,age,probability\n0,4,1\n",
        "sick,town,probability\n0,A,0.5\n",
        "sick,town,probability\n0,A,1.5\n0,a,-0.5\n",
        "sick,town,probability\n0,A,nan\n",
        "sick,town,probability\n0,B,1\n",
        "sick,town,probability\n2,A,1\n",
        "sick,town,probability\n0,A\n",
        "sick,town,probability\n0,A,1,1\n",
        "sick,town,probability\n",
    ],
)
def test_bad_prior_files_give_one_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"correlation\.prior.*accepted") as error:
        model({"prior": written(tmp_path, text)})
    assert "\n" not in str(error.value)


def test_a_prior_too_large_for_memory_is_refused(tmp_path: Path) -> None:
    many = {f"x{i}": {"type": "binary"} for i in range(65)}
    text = ",".join([*many, "probability"]) + "\n"
    with pytest.raises(InputError, match="combinations'; accepted: at most"):
        model({"prior": written(tmp_path, text)}, many)


@pytest.mark.parametrize("name", ["pairs", "prior"])
def test_files_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "latin").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "missing.csv", tmp_path, tmp_path / "latin"):
        with pytest.raises(InputError, match=rf"correlation\.{name}: .* cannot be read .*accepted: a CSV file"):
            model({name: path})


def test_models_survive_the_plan() -> None:
    for stated in (
        PerFeature(0.5, {"a": 0.1}, "x"),
        Listed({("a", frozenset("bc")): 0.25, ("b", frozenset("a")): 0.0}, "y"),
        Listed({("a", frozenset("b")): 0.4}, "z", {("a", "b"): ((0.9, 0.1), (0.5, 0.5))}),
        Listed({("a", frozenset("b")): 0.4}, "r", {}, frozenset("bc"), {("a", frozenset("bc")): 0.1}),
    ):
        assert correlation_from_dict(stated.to_dict()) == stated


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"kind": "prior", "source": ""},
        {"kind": ["listed"], "source": ""},
        {"kind": "per feature", "default": 0.5, "named": {}},
        {"kind": "per feature", "default": True, "named": {}, "source": ""},
        {"kind": "per feature", "default": 1.1, "named": {}, "source": ""},
        {"kind": "per feature", "default": "0", "named": {}, "source": ""},
        {"kind": "per feature", "default": 0, "named": [], "source": ""},
        {"kind": "per feature", "default": 0, "named": {"a": float("nan")}, "source": ""},
        {"kind": "per feature", "default": 0, "named": {}, "source": "", "bounds": []},
        {"kind": "listed", "source": ""},
        {"kind": "listed", "bounds": [["a", "b", 0.1]], "source": ""},
        {"kind": "listed", "bounds": [["a", ["b"], 2]], "source": ""},
        {"kind": "listed", "bounds": [["a", ["b"], 0.1], ["a", ["b"], 0.9]], "source": ""},
        {"kind": "listed", "bounds": [["a", ["b"]]], "source": ""},
        {"kind": "per feature", "default": 0, "named": {}, "source": "", "laws": []},
        {"kind": "per feature", "default": 0, "named": {}, "source": "", "rounded": ["a"]},
        {"kind": "listed", "bounds": [], "source": "", "rounded": []},
        {"kind": "listed", "bounds": [], "source": "", "rounded": "a"},
        {"kind": "listed", "bounds": [], "source": "", "rounded": ["a", 1]},
        {"kind": "listed", "bounds": [], "source": "", "rounded": ["a", "a"]},
        {"kind": "listed", "bounds": [], "source": "", "products": [["a", ["b"], 1.5]]},
        {"kind": "listed", "bounds": [], "source": "", "products": [["a", ["b", "c"], 0], ["a", ["c", "b"], 0]]},
        {"kind": "listed", "bounds": [], "source": "", "laws": {}},
        {"kind": "listed", "bounds": [], "source": "", "laws": [["a", "b"]]},
        {"kind": "listed", "bounds": [], "source": "", "laws": [["a", "b", []]]},
        {"kind": "listed", "bounds": [], "source": "", "laws": [["a", "a", [[0.5, 0.5]]]]},
        {"kind": "listed", "bounds": [], "source": "", "laws": [["a", "b", [[0.5, 0.5], [1.0]]]]},
        {"kind": "listed", "bounds": [], "source": "", "laws": [["a", "b", [[0.5, 0.6]]]]},
        {"kind": "listed", "bounds": [], "source": "", "laws": [["a", "b", [[1.5, -0.5]]]]},
        {"kind": "listed", "bounds": [], "source": "", "laws": [["a", "b", [[float("nan"), 0.5]]]]},
        {"kind": "listed", "bounds": [], "source": "", "laws": [["a", "b", [[1, 0]]], ["a", "b", [[0, 1]]]]},
    ],
)
def test_bad_models_in_a_plan_are_refused(document: object) -> None:
    with pytest.raises(InputError, match=r"correlation.*accepted"):
        correlation_from_dict(document)


def test_assuming_nothing_is_a_bound_of_one() -> None:
    """Also where the model says 0, and 0 only where there is nothing else to depend on."""
    model = PerFeature(0.0, {"a": 0.3})
    assert [Stronger(model, math.inf).q(name, ["c"]) for name in ("a", "b")] == [1.0, 1.0]
    assert [Stronger(model, 2.0).q(name, ["c"]) for name in ("a", "b")] == [0.6, 0.0]
    assert Stronger(model, math.inf).q("a", []) == Stronger(model, 2.0).q("a", []) == 0.0
