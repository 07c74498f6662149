"""The studio's service: every number is that of the commands, and nothing that is entered is kept or leaves."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from bcdp import Plan, Policy, make_plan
from bcdp.cli import main
from bcdp.present.plan_summary import of_little_use, own_errors
from bcdp.records.policy_draft import policy_skeleton
from bcdp.studio import load_templates
from bcdp.studio.job_bodies import coarse_first, curve_of, ways_of
from bcdp.studio.policy_edits import AXES, leaving_out, with_delta
from support.local_http import local
from support.studio_server import Studio, as_csv, records

pytestmark = pytest.mark.slow

SMALL: dict[str, Any] = {
    "epsilon": 1,
    "features": {"smoker": {"type": "binary", "delta": 0.2}, "age": {"type": "numeric", "bounds": [0, 100]}},
    "correlation": {"odds": 2},
}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    running = Studio(tmp_path_factory.mktemp("studio"))
    yield running
    if running.process.poll() is None:
        running.end()


# ------------------------------------------------------------------------------------------------------------- numbers


@pytest.mark.parametrize("template", load_templates(), ids=lambda template: template.name)
def test_every_number_is_that_of_the_command(
    template: Any, studio: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = studio.parts("plan", policy=template.policy, people=template.people)
    assert found[-1] == {"done": True}
    (made,), (numbers,) = ([part[key] for part in found if key in part] for key in ("plan", "numbers"))
    exported = studio.ask("policy.yaml", policy=template.policy, people=template.people).json()
    (tmp_path / "policy.yaml").write_text(exported["text"])
    arguments = exported["commands"][0].replace("policy.yaml", str(tmp_path / "policy.yaml"))
    arguments = arguments.replace("plan.json", str(tmp_path / "plan.json")).split()[1:]
    assert main([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {key: numbers[key] for key in told.keys() - {"proved_limit", "numerical_limit"}} == {
        key: value for key, value in told.items() if key not in ("proved_limit", "numerical_limit")
    }
    assert (tmp_path / "plan.json").read_text() == made
    assert next(part["errors"] for part in found if "errors" in part) == {
        name: feature["standard_error"] for name, feature in told["features"].items()
    }
    fewer = studio.parts("numbers", plan=made, people=5_000)[0]["numbers"]
    for name, feature in fewer["features"].items():  # what the page does at once, when people are moved
        scaled = numbers["features"][name]["standard_error"] * (template.people / 5_000) ** 0.5
        assert feature["standard_error"] == pytest.approx(scaled, rel=1e-12)


def test_tables_groups_and_distributions_are_told_as_by_the_command(
    studio: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    region = {"type": "categorical", "values": ["north", "south"]}
    tasks = [{"table": ["smoker", "region"]}, {"mean": ["age"], "by": "region"}, {"distribution": ["age"], "bins": 16}]
    policy = {**SMALL, "features": {**SMALL["features"], "region": region}, "tasks": tasks}
    found = studio.parts("plan", policy=policy, people=5_000)
    (numbers,) = (part["numbers"] for part in found if "numbers" in part)
    (tmp_path / "policy.yaml").write_text(json.dumps(policy))
    assert main(["plan", str(tmp_path / "policy.yaml"), "--users", "5000"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert len(numbers["tasks"]) == 3
    for task in numbers["tasks"]:
        assert task["lines"]
        assert f"What to expect: {task['subject']}: {'; '.join(task['lines'])}" in told


def test_a_prior_that_is_dropped_gives_its_exact_numbers(studio: Studio) -> None:
    policy = {**SMALL, "features": {name: {"type": "binary"} for name in ("smoker", "old")}}
    text = b"smoker,old,probability\n0,0,0.4\n0,1,0.1\n1,0,0.1\n1,1,0.4\n"
    found = studio.give("correlate", "table.csv", text, policy=policy).json()
    assert found["people"] is None
    assert found["q"] == pytest.approx({"smoker": 0.6, "old": 0.6})
    # the laws of the other are (0.8, 0.2) and (0.2, 0.8): odds of 4, and both are stated rounded up
    assert all(0.6 <= both["q"] <= 0.61 and 4 <= both["odds"] <= 4.1 for both in found["stated"].values())
    assert Policy(**{**policy, "correlation": found["stated"]})
    lacking = studio.give("correlate", "table.csv", b"smoker,probability\n0,0.5\n1,0.5\n", policy=policy).json()
    assert lacking["stated"] == {}  # it does not say how the other goes with it
    refused = studio.give("correlate", "table.csv", text.replace(b"0.4", b"0.5"), policy=policy)
    assert refused.status_code == 422
    assert "a sum of 1" in refused.text


def test_templates_say_for_whom_they_are_and_state_odds() -> None:
    for template in load_templates():
        policy = Policy(**template.policy)
        assert template.people >= 1_000
        assert "odds" in template.policy["correlation"]
        assert all(feature.label != name for name, feature in policy.features.items())


def test_curves_are_made_of_the_plans_of_changed_policies() -> None:
    for axis, feature in (("delta", "smoker"), ("odds", None), ("q", None)):
        found: list[dict[str, Any]] = []
        curve_of({"policy": SMALL, "people": 1000, "axis": axis, "feature": feature}, found.append)
        assert len({point["at"] for point in found}) == len(found) == 9
        for point in found[:3]:
            changed = AXES[axis].changed(SMALL, feature, point["at"])
            plan = make_plan(Policy(**changed))
            assert point["errors"] == own_errors(plan, 1000)
            assert point["useless"] == list(of_little_use(plan, own_errors(plan, 1000), 1000))
    assert list(coarse_first(9)) == [0, 8, 4, 2, 6, 1, 3, 5, 7]


def test_what_would_make_a_feature_useful_does_and_less_does_not() -> None:
    found: list[dict[str, Any]] = []
    ways_of({"policy": SMALL, "people": 6000, "feature": "smoker"}, found.append)
    people = next(way["people"] for way in found if "people" in way)
    delta = next(way["delta"] for way in found if "delta" in way)

    def half(document: dict[str, Any], people: int) -> float:
        return 2 * own_errors(make_plan(Policy(**document)), people)["smoker"]

    assert half(SMALL, people) <= 0.05 < half(SMALL, int(0.95 * people))
    assert half(with_delta(SMALL, "smoker", delta), 6000) <= 0.05 < half(with_delta(SMALL, "smoker", 0.9 * delta), 6000)
    done: list[dict[str, Any]] = []
    ways_of({"policy": SMALL, "people": 10**7, "feature": "smoker"}, done.append)
    assert done == [{"way": "useful already"}]


def test_leaving_out_a_feature_leaves_out_what_needs_it() -> None:
    tasks = [{"mean": ["smoker", "age"]}, {"mean": ["age"], "by": "smoker"}, {"table": ["smoker", "age"]},
             {"distribution": ["age"], "quantiles": [0.5]},
             {"regression": {"target": "age", "features": ["smoker"]}}]  # fmt: skip
    stated = {**SMALL, "tasks": tasks, "correlation": {"smoker": 0.1, "default": 0.2}}
    left = leaving_out(stated, "smoker")
    assert left["tasks"] == [{"mean": ["age"]}, {"distribution": ["age"], "quantiles": [0.5]}]
    assert left["correlation"] == {"default": 0.2}
    assert list(Policy(**left).features) == ["age"]


# --------------------------------------------------------------------------------------------------------------- policy


def test_problems_are_told_at_their_fields(studio: Studio) -> None:
    features = {"age": {"type": "numeric", "bounds": [5, 1]}, "a.b": {"type": "categorical", "values": ["FILL"]}}
    document = {"epsilon": -1, "features": features, "tasks": [{"mean": ["nobody"]}]}
    found = {tuple(one["path"]): one["sentence"] for one in studio.ask("problems", policy=document).json()["problems"]}
    assert found.keys() >= {("epsilon",), ("features", "age", "bounds"), ("features", "a.b", "values")}
    assert found["features", "age", "bounds"] == "got [5, 1]; accepted: two finite numbers, low < high"
    assert studio.parts("plan", policy=document)[-1]["problems"]
    assert studio.ask("problems", policy=SMALL).json() == {"problems": []}
    assert studio.ask("problems", policy=[1]).json()["problems"]


def test_a_newer_plan_ends_the_older_one(studio: Studio) -> None:
    slow = {**SMALL, "features": {f"f{n}": {"type": "categorical", "values": list("abcdefgh")} for n in range(14)}}
    url = f"{studio.address}api/plan"
    with local.stream("POST", url, json={"policy": slow}, timeout=60) as older:
        lines = older.iter_lines()
        newer = studio.parts("plan", policy=SMALL)
        assert newer[-1] == {"done": True}
        assert not any("done" in json.loads(line) for line in lines)


def test_a_policy_is_given_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(yaml.dump(SMALL))
    running = Studio(tmp_path, "policy.yaml")
    assert running.ask("start").json()["policy"] == SMALL
    assert running.end() == ""


# ---------------------------------------------------------------------------------------------------------------- files


def test_dropped_files_tell_what_the_commands_tell(
    studio: Studio, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = as_csv(records())
    (tmp_path / "people.csv").write_bytes(content)
    (tmp_path / "policy.yaml").write_text(yaml.dump(SMALL))
    drafted = studio.give("columns", "people.csv", content).json()
    assert drafted["policy"] == yaml.safe_load(policy_skeleton(tmp_path / "people.csv"))
    assert drafted["people"] == 200
    arguments = [str(tmp_path / "policy.yaml"), str(tmp_path / "people.csv"), "--json"]
    assert main(["correlate", *arguments]) == 0
    told = json.loads(capsys.readouterr().out)
    found = studio.give("correlate", "people.csv", content, policy=SMALL).json()
    assert found["q"] == told["q"]
    assert found["odds_guide"] == told["odds_guide"]
    Policy(**{**SMALL, "correlation": found["stated"] or 1})
    wrong = content.replace(b"44", b'"4,400"')
    (tmp_path / "people.csv").write_bytes(wrong)
    assert main(["check", *arguments]) == 1
    told = json.loads(capsys.readouterr().out)
    found = studio.give("check", "people.csv", wrong, policy=SMALL).json()
    assert found["lines"] == told["lines"]
    assert [one["sentence"] for one in found["problems"]] == [
        f"{one['column']}: {one['found']}; {one['settled']}" for one in told["problems"]
    ]


def test_a_policy_file_is_taken_as_it_is(studio: Studio) -> None:
    text = yaml.dump(SMALL).encode()
    assert studio.give("policy", "policy.yaml", text).json() == {"policy": SMALL}
    for wrong in (b"a: [", b"\xff", b"- 1"):
        assert studio.give("policy", "policy.yaml", wrong).status_code == 422


def test_what_is_dropped_is_in_no_file_and_in_no_log(tmp_path: Path) -> None:
    """Also where it cannot be read, or the service fails over it."""
    folder = tmp_path / "here"
    folder.mkdir()
    running = Studio(folder)
    secret = b"Zanzibar77"
    for name in (
        "people.csv",
        "people.parquet",
        "people.arrow",
        "people.sav",
        "people.dta",
        "people.xyz",
        "policy.yaml",
    ):
        for path in ("columns", "check", "correlate", "policy"):
            for content in (b"smoker,age\n" + secret + b",3\n", secret, b"smoker,age\n" + secret):
                answer = running.give(path, name, content, policy=SMALL)
                assert answer.status_code in (200, 422), answer.text
                assert path == "policy" or secret.decode() not in answer.text
    assert list(folder.iterdir()) == []
    assert secret.decode() not in running.end()


# ------------------------------------------------------------------------------------------------------------- the door


def test_only_this_machine_and_who_knows_the_address_is_served(studio: Studio) -> None:
    root = f"http://127.0.0.1:{studio.port}/"
    assert local.get(studio.address).status_code == 200
    for path in ("", "api/start", f"{studio.token[:-1]}/", f"{'x' * len(studio.token)}/", "studio.js"):
        assert local.get(root + path).status_code == 404, path
    assert local.post(f"{root}api/start", json={}).status_code == 404
    for host in ("evil.example", "127.0.0.1.evil.example", f"evil.example:{studio.port}"):
        assert local.get(studio.address, headers={"host": host}).status_code == 403
    headers = {"content-type": "text/plain"}
    assert local.post(f"{studio.address}api/start", content=b"{}", headers=headers).status_code == 415
    assert local.get(f"{studio.address}api/start").status_code == 405
    with socket.socket() as elsewhere, pytest.raises(ConnectionRefusedError):  # another address of this machine
        elsewhere.connect(("127.0.0.2", studio.port))


def test_pages_load_nothing_from_elsewhere(studio: Studio) -> None:
    page = local.get(studio.address)
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert page.headers["referrer-policy"] == "no-referrer"  # the address holds the secret
    for name in ("studio.js", "studio/checker.js", "studio.css", "page.css"):
        answer = local.get(studio.address + name)
        assert answer.status_code == 200
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", answer.text), name


def test_the_collector_does_not_serve_the_studio() -> None:
    from bcdp.collector.pages import load_pages, studio_pages

    assert not [name for name in load_pages() if "studio" in name]
    assert {"", "studio.js", "studio/checker.js"} <= studio_pages().keys()


# ----------------------------------------------------------------------------------------------------------- and beyond


def test_a_preview_shows_the_plan_and_collects_nothing(studio: Studio) -> None:
    plan = make_plan(Policy(**SMALL))
    address = studio.address + studio.ask("preview", plan=plan.text).json()["address"]
    assert Plan.parse(local.get(f"{address}v1/plan").text).id == plan.id
    assert "survey" in local.get(address).text
    refused = local.post(f"{address}v1/reports", json={})
    assert refused.status_code == 403
    assert "preview" in refused.json()["detail"]
    assert local.get(f"{studio.address}preview/{'0' * 64}/").status_code == 404
    assert studio.ask("preview", plan="{}").status_code == 422


def test_the_report_is_that_of_the_command(studio: Studio, tmp_path: Path) -> None:
    plan = make_plan(Policy(**SMALL))
    plan.save(tmp_path / "plan.json")
    assert main(["report", str(tmp_path / "plan.json"), "--users", "5000", "-o", str(tmp_path / "r.html")]) == 0
    assert studio.ask("report", plan=plan.text, people=5000).text == (tmp_path / "r.html").read_text()


def test_a_collection_runs_until_the_studio_ends(tmp_path: Path) -> None:
    running = Studio(tmp_path)
    plan = make_plan(Policy(**SMALL))
    started = running.ask("collect", plan=plan.text, policy=SMALL).json()
    assert running.ask("collect", plan=plan.text, policy=SMALL).json() == started
    assert Plan.parse(local.get(f"{started['survey']}v1/plan").text).id == plan.id
    folder = Path(started["folder"])
    assert Plan.load(folder / "plan.json").id == plan.id
    assert Policy.load(folder / "policy.yaml") == Policy(**SMALL)
    assert (folder / "token").stat().st_mode & 0o077 == 0
    token = started["dashboard"].partition("#token=")[2]
    found = local.get(f"{started['survey']}v1/estimates", headers={"authorization": f"Bearer {token}"})
    assert found.json()["people"] == 0
    assert running.end() == ""
    with pytest.raises(httpx.TransportError):
        local.get(started["survey"])
