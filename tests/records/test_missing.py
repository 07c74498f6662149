"""A feature without a `missing` rule is complete: whoever reads records refuses those that lack it, and says how many.

With a rule, every result names the rule by which missing values were counted.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from bcdp import InputError, Plan, Policy, SurveyRegressor, Tally, estimate, make_plan, privatize
from bcdp.audit.population import population_from_records
from bcdp.cli import main
from bcdp.collector.dashboard import operator_document
from bcdp.compare.simulation import simulate
from bcdp.correlation import estimate_correlation
from bcdp.present.report.results import learned
from bcdp.records.encoding import as_arrow, encode, incomplete, lacking

FEATURES: dict[str, Any] = {
    "number": {"type": "numeric", "bounds": [0, 10]},
    "bit": {"type": "binary"},
    "word": {"type": "binary", "values": ["no", "yes"]},
    "kind": {"type": "categorical", "values": ["a", "b", "c"]},
}
RULES = {"number": 2, "bit": 1, "word": "yes", "kind": "c"}
COLUMNS: dict[str, list[Any]] = {
    "number": [0.0, 10.0, 4.0, 12.5] * 25,
    "bit": [0, 1, 1, 0] * 25,
    "word": ["no", "yes", "no", "no"] * 25,
    "kind": ["a", "b", "c", "a"] * 25,
}
TARGET = {"regression": {"target": "number", "features": ["bit", "word", "kind"]}}


def policy(ruled: str | None = None, **changes: Any) -> Policy:
    features = {name: {**f, "missing": RULES[name]} if name == ruled else f for name, f in FEATURES.items()}
    return Policy(**{"epsilon": 2, "features": features, "correlation": 0.1, **changes})


def lacking_values(name: str) -> dict[str, list[Any]]:
    """The records, of which the first seven have no value of a feature."""
    return {**COLUMNS, name: [None] * 7 + COLUMNS[name][7:]}


READERS: dict[str, Callable[[Policy, dict[str, Any]], object]] = {
    "privatize": lambda policy, table: privatize(make_plan(policy), table),
    "cascade": lambda policy, table: privatize(make_plan(policy.model_copy(update={"mechanism": "cascade"})), table),
    "pilot": estimate_correlation,
    "simulate": lambda policy, table: simulate(policy, table, users=10, trials=1),
    "audit": lambda policy, table: population_from_records(make_plan(policy), [table]),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", FEATURES)
def test_records_without_a_value_are_refused_unless_there_is_a_rule(name: str, reader: str) -> None:
    read = READERS[reader]
    sentence = (
        f"column '{name}': 7 of 100 records have no value; "
        "accepted: complete records, or `missing: VALUE` in the policy's feature, to count them as VALUE, "
        "or `missing: own`, to make no answer a value of its own"
    )
    with pytest.raises(InputError) as caught:
        read(policy(), lacking_values(name))
    assert str(caught.value) == sentence
    read(policy(name), lacking_values(name))
    read(policy(), COLUMNS)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("number", np.array([1.0, np.nan])),
        ("number", pa.array([1, None])),
        ("number", pa.array([None, None])),
        ("bit", pa.array([True, None])),
        ("bit", pa.array([1.0, float("nan")])),
        ("bit", pa.array([1, None], pa.int8())),
        ("word", ["yes", ""]),
        ("kind", pa.array(["a", None]).dictionary_encode()),
        ("kind", pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", ""]))),
        ("kind", pa.array([b"a", b""])),
        ("kind", pa.chunked_array([["a"], [None]])),
    ],
)
def test_whatever_way_a_value_is_missing_it_is_refused_and_counted(name: str, values: Any) -> None:
    one = Policy(epsilon=1, features={name: FEATURES[name]})
    table = as_arrow({name: values})
    with pytest.raises(InputError) as caught:
        encode(one, table)
    assert str(caught.value) == str(incomplete(*lacking(one, [table])))
    assert f"column '{name}': " in str(caught.value)
    assert caught.value.row is None


def test_what_is_out_of_range_is_still_clipped() -> None:
    one = Policy(epsilon=1, features={"number": FEATURES["number"]})
    assert encode(one, as_arrow({"number": [np.inf, -np.inf, 1e300, -1.0]}))["number"].tolist() == [1, -1, 1, -1]


def test_a_value_that_is_not_known_is_told_by_its_row_also_beside_missing_ones() -> None:
    with pytest.raises(
        InputError, match=r"not listed; accepted: 'a', 'b', 'c' \(capitals and spaces count\)$"
    ) as caught:
        encode(policy(), as_arrow({**COLUMNS, "kind": [None] * 50 + ["z"] * 50}))
    assert caught.value.row == 51


def test_records_are_counted_over_the_whole_table() -> None:
    """Devices work in blocks: 131,072 records are one, and the gaps stand in the second."""
    bits = np.zeros(200_000)
    bits[150_000:150_009] = np.nan
    plan = make_plan(Policy(epsilon=1, features={"bit": FEATURES["bit"]}))
    with pytest.raises(InputError, match="column 'bit': 9 of 200,000 records have no value"):
        privatize(plan, {"bit": bits})
    bits[150_000:] = 7
    with pytest.raises(InputError) as caught:
        privatize(plan, {"bit": bits})
    assert caught.value.row == 150_001


def test_a_share_of_one_in_eighty_does_not_become_one_in_five() -> None:
    """41,495 records of which 8,221 have no value: counted as the first value they would raise .012 to .208."""
    people, unrecorded, ill = 41_495, 8_221, 412
    values: list[str | None] = ["yes"] * ill + ["no"] * (people - unrecorded - ill) + [None] * unrecorded
    feature = {"type": "categorical", "values": ["yes", "no"]}
    with pytest.raises(InputError, match="column 'ill': 8,221 of 41,495 records have no value"):
        privatize(make_plan(Policy(epsilon=4, features={"ill": feature})), {"ill": values})
    shares = {}
    for missing in ("yes", "no"):
        plan = make_plan(Policy(epsilon=4, features={"ill": {**feature, "missing": missing}}))
        codes = encode(plan.policy, as_arrow({"ill": values}))["ill"]
        shares[missing] = round(float(np.mean(codes == 0)), 3)
        found = estimate(Tally(plan).add(privatize(plan, {"ill": values}))).frequencies["ill"]["yes"]
        assert found.rule == f"missing counted as '{missing}'"
    assert round(ill / (people - unrecorded), 3) == 0.012
    assert shares == {"yes": 0.208, "no": 0.01}


def test_a_regression_on_columns_that_are_not_there_needs_a_rule() -> None:
    without = {name: values for name, values in COLUMNS.items() if name in ("bit", "word")}
    tasks = [{"regression": {"target": "number", "features": ["bit", "word"]}}]
    with pytest.raises(InputError, match="column 'kind': 100 of 100 records have no value"):
        SurveyRegressor(policy(tasks=tasks)).fit(without, COLUMNS["number"])
    model = SurveyRegressor(policy("kind", tasks=tasks)).fit(without, COLUMNS["number"])
    with pytest.raises(InputError, match="column 'bit': 1 of 2 records have no value"):
        model.predict({"bit": [1, None], "word": ["no", "no"]})


# --- from the command line ---


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path, ruled in (("plan.json", None), ("ruled.json", "kind")):
        make_plan(policy(ruled)).save(path)
    Path("policy.yaml").write_text(policy().to_yaml(), encoding="utf-8")
    pa.parquet.write_table(pa.table(lacking_values("kind")), "people.parquet")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        ["privatize", "plan.json", "people.parquet", "-o", "reports.parquet"],
        ["simulate", "policy.yaml", "people.parquet", "-o", "simulation"],
        ["correlate", "policy.yaml", "people.parquet"],
        ["audit", "plan.json", "--data", "people.parquet"],
    ],
    ids=lambda command: str(command[0]),
)
def test_every_command_that_reads_records_refuses_them(
    folder: Path, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    assert main(command) == 2
    assert "people.parquet: column 'kind': 7 of 100 records have no value; accepted: " in capsys.readouterr().err
    assert not Path("reports.parquet").exists()


def test_the_draft_of_a_policy_says_how_many_are_missing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policy", "people.parquet", "-o", "draft.yaml"]) == 0
    told = "note: kind: 7 of 100 have no value; fill in `missing`, or leave these records out\n"
    assert capsys.readouterr().err == told
    assert Path("draft.yaml").read_text().count("missing: FILL") == 1


# --- results name the rule ---


NOTE = "Devices apply this before they answer: answers do not tell how many were missing."


def surveyed(ruled: str | None) -> tuple[Plan, Tally]:
    plan = make_plan(policy(ruled, tasks=[{"mean": ["number", "bit"]}, {"frequency": ["word", "kind"]}, TARGET]))
    return plan, Tally(plan).add(privatize(plan, COLUMNS))


@pytest.mark.parametrize("ruled", [None, *FEATURES])
def test_every_estimate_carries_the_rule_of_its_feature(ruled: str | None) -> None:
    _, tally = surveyed(ruled)
    found = estimate(tally).to_dict()
    said = {} if ruled is None else {ruled: f"missing counted as {RULES[ruled]!r}"}
    assert {name: mean.get("rule") for name, mean in found["means"].items()} == {
        name: said.get(name) for name in ("number", "bit")
    }
    for name, shares in found["frequencies"].items():
        assert [share.get("rule") for share in shares.values()] == [said.get(name)] * len(shares)
    assert found["regression"].get("rule") == (None if ruled is None else f"{ruled}: {said[ruled]}")
    assert (json.dumps(found).count("rule") > 0) == (ruled is not None)


def test_a_cascade_carries_it_too() -> None:
    plan = make_plan(policy("number", mechanism="cascade"))
    found = estimate(Tally(plan).add(privatize(plan, COLUMNS)))
    assert {name: mean.rule for name, mean in found.means.items() if mean.rule} == {"number": "missing counted as 2"}


def test_report_and_dashboard_say_it_once_below_the_numbers() -> None:
    plan, tally = surveyed("kind")
    page = learned(plan, estimate(tally), None).body
    assert page.count("kind: missing counted as &#x27;c&#x27;") == 1
    assert page.index("missing counted as") > page.index("</table>")
    assert operator_document(tally)["note"] == f"kind: missing counted as 'c'. {NOTE}"
    plan, tally = surveyed(None)
    assert "missing" not in learned(plan, estimate(tally), None).body
    assert operator_document(tally)["note"] is None


def test_the_terminal_says_it_once_below_the_tables(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["privatize", "ruled.json", "people.parquet", "-o", "reports.parquet"]) == 0
    assert capsys.readouterr().err.endswith("note: kind: 7 of 100 missing counted as 'c', as the policy says\n")
    assert main(["estimate", "ruled.json", "reports.parquet"]) == 0
    assert capsys.readouterr().out.endswith(f"\nkind: missing counted as 'c'. {NOTE}\n")
