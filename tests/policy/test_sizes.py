"""What is too large is refused before it is read to its end: counted in what was read, as clocks differ."""

from __future__ import annotations

import io

import pytest
import yaml

from bcdp import InputError, Policy, make_plan
from bcdp.policy import yaml_text


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many nodes of YAML were read."""
    nodes = [0]
    compose = yaml.BaseLoader.compose_node

    def counting(self: yaml.BaseLoader, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        nodes[0] += 1
        return compose(self, parent, index)

    monkeypatch.setattr(yaml.BaseLoader, "compose_node", counting)
    return nodes


def test_many_categories_are_refused_before_they_are_read(composed: list[int]) -> None:
    values = ", ".join(f"v{number}" for number in range(300_000))
    with pytest.raises(InputError, match=r"got a list of more than 10000 values on line 3; accepted: at most 10000"):
        Policy.load(io.StringIO(f"epsilon: 1\nfeatures:\n  a: {{type: categorical, values: [{values}]}}\n"))
    assert composed[0] < 10_100


def test_many_features_are_refused_before_they_are_read(composed: list[int]) -> None:
    features = "".join(f"  f{number}: {{type: binary}}\n" for number in range(20_000))
    with pytest.raises(InputError, match=r"got more than 10000 features on line 10003; accepted: at most 10000"):
        Policy.load(io.StringIO(f"epsilon: 1\nfeatures:\n{features}"))
    assert composed[0] < 4 * 10_100


def test_many_features_in_python_are_refused_before_anything_is_computed() -> None:
    with pytest.raises(InputError, match="features: got '20000 features'; accepted: at most 10000"):
        Policy(epsilon=1, features={f"f{number}": {"type": "binary"} for number in range(20_000)})
    assert yaml_text.MOST_FEATURES == 10_000


def test_no_target_is_looked_at_once_for_each_feature(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many features take twice as many looks at the targets, not four times."""
    from bcdp.statistics.shared.target import Single

    looks = [0]
    role = Single.role

    class Counted:
        def __get__(self, target: object, owner: type | None = None) -> object:
            looks[0] += 1
            return role

    monkeypatch.setattr(Single, "role", Counted())
    counts = []
    for features in (100, 200):
        looks[0] = 0
        make_plan(Policy(epsilon=1, features={f"f{number}": {"type": "binary"} for number in range(features)}))
        counts.append(looks[0])
    assert counts[1] <= 2.5 * counts[0]
