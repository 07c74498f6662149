"""`bcdp serve` as its operator sees it start."""

import re
from pathlib import Path

from bcdp import Policy, make_plan
from bcdp.cli.serve import _tell
from support.collector_fixtures import serving
from support.local_http import local


def test_the_addresses_of_the_pages_are_told_and_answer(tmp_path: Path) -> None:
    make_plan(Policy(epsilon=1, features={"a": {"type": "binary"}})).save(tmp_path / "plan.json")
    with serving(tmp_path, tmp_path / "plan.json", str(tmp_path / "reports.db")) as server:
        told = dict(re.findall(r"^(survey page|dashboard): +(http://\S+)$", server.log.read_text(), re.MULTILINE))
        assert told == {"survey page": f"{server.url}/", "dashboard": f"{server.url}/dashboard"}
        assert all(local.get(address).status_code == 200 for address in told.values())


def test_an_address_that_means_all_is_told_as_one_to_open(capsys) -> None:
    for host, shown in (("0.0.0.0", "localhost"), ("::", "localhost"), ("::1", "[::1]"), ("10.0.0.7", "10.0.0.7")):
        _tell(host, 8000)
        assert f"dashboard:   http://{shown}:8000/dashboard\n" in capsys.readouterr().err
