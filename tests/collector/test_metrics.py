"""Metrics: exact over processes, by Prometheus' conventions, and enough for the documented alerts and dashboard."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from bcdp import Plan
from bcdp.collector.metrics import ACCEPTED, Counters
from bcdp.exact import TOTAL
from support.collector_fixtures import TOKEN, serving, upload
from support.documents import ROOT, blocks
from support.local_http import local
from support.system import require

pytestmark = pytest.mark.slow

Collection = tuple[Plan, Path]
PAGE = (ROOT / "docs" / "guide" / "monitor.md").read_text("utf-8")
NAME = re.compile(r"\bbcdp_[a-z_]+")
OPERATOR = {"authorization": f"Bearer {TOKEN}"}


def shown(url: str) -> tuple[dict[str, float], dict[str, str]]:
    """The samples and the type of each metric, read by the grammar of the text format."""
    samples, types = {}, {}
    for line in local.get(f"{url}/metrics", headers=OPERATOR, timeout=30).text.splitlines():
        if match := re.fullmatch(r"# (HELP|TYPE) (bcdp_[a-z_]+) (.+)", line):
            if match[1] == "TYPE":
                assert match[2] not in types
                types[match[2]] = match[3]
        else:
            match = re.fullmatch(r"(bcdp_[a-z_]+(?:\{[a-z]+=\"[^\"]*\"(?:,[a-z]+=\"[^\"]*\")*\})?) (\S+)", line)
            assert match, line
            assert match[1] not in samples
            samples[match[1]] = float(match[2])
    return samples, types


def drawn(plan: Plan, people: int, seed: int) -> list[tuple[str, int, int]]:
    weights = np.array([menu.weight for menu in plan.menus]) / TOTAL
    menus = np.random.default_rng(seed).choice(len(weights), people, p=weights)
    return [(f"{seed}-{number}", int(menu), 0) for number, menu in enumerate(menus)]


def test_metrics_by_the_conventions(collection: Collection, tmp_path: Path) -> None:
    """What the documents list is what there is; 2,000 devices that follow the plan, then some that do not."""
    plan, path = collection
    with serving(tmp_path, path, str(tmp_path / "reports.db"), "--rate", "0") as server:
        assert local.post(f"{server.url}/v1/reports", json=upload(plan, drawn(plan, 2000, 1)), timeout=30).is_success
        samples, types = shown(server.url)
        assert samples["bcdp_people"] == samples["bcdp_reports_accepted_total"] == 2000
        assert samples["bcdp_menus_p_value"] > 1e-9  # the false-alarm rate
        assert samples["bcdp_report_duration_seconds_count"] == 1
        assert samples['bcdp_report_duration_seconds_bucket{le="+Inf"}'] == 1
        assert samples["bcdp_report_duration_seconds_sum"] > 0
        assert samples["bcdp_reports_waiting"] == 0
        assert any(name.startswith('bcdp_build_info{version="') for name in samples)
        buckets = [value for name, value in samples.items() if "_bucket" in name]
        assert buckets == sorted(buckets)
        menus = [samples[f'bcdp_menu_people_expected{{menu="{number}"}}'] for number in range(len(plan.menus))]
        assert sum(menus) == pytest.approx(2000, rel=1e-4)
        assert {name for name, kind in types.items() if kind == "counter"} == {
            name for name in types if name.endswith("_total")
        }
        documented = set(re.findall(r"`(bcdp_[a-z_]+)`", PAGE.partition("## Alerts")[0]))
        assert documented == set(types)
        odd = [(f"odd-{number}", 0, 0) for number in range(1000)]
        assert local.post(f"{server.url}/v1/reports", json=upload(plan, odd), timeout=30).is_success
        for _ in range(1000):
            if shown(server.url)[0]["bcdp_people"] == 3000:
                break
            time.sleep(0.1)  # the same is shown for ten times as long as it took to compute
        assert shown(server.url)[0]["bcdp_menus_p_value"] < 1e-6


def test_alerts_and_dashboard_use_metrics_that_exist(collection: Collection, tmp_path: Path) -> None:
    with serving(tmp_path, collection[1], str(tmp_path / "reports.db")) as server:
        samples, types = shown(server.url)
    known = {re.sub(r"\{.*", "", name) for name in samples} | set(types)
    (rules,) = [block.text for block in blocks(PAGE) if block.text.startswith("# alerts.yaml")]
    alerts = [rule["expr"] for group in yaml.safe_load(rules)["groups"] for rule in group["rules"]]
    panels: list[Any] = json.loads((ROOT / "docs" / "guide" / "grafana.json").read_text("utf-8"))["panels"]
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    assert len(alerts) >= 8
    assert len(queries) >= 8
    assert {name for text in alerts + queries for name in NAME.findall(text)} <= known


def test_the_rules_with_promtool(tmp_path: Path) -> None:
    promtool = shutil.which("promtool")
    require(promtool, "prometheus")
    assert promtool is not None
    for block in blocks(PAGE):
        if name := re.match(r"# (\w+\.yaml)\n", block.text):
            (tmp_path / name[1]).write_text(block.text)
    for command in (["check", "rules", "alerts.yaml"], ["check", "config", "--syntax-only", "prometheus.yaml"]):
        done = subprocess.run([promtool, *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def _count(counters: Counters, amount: int) -> None:
    counters.claim()
    for _ in range(amount):
        counters.add(ACCEPTED)


def test_processes_that_count_at_once_lose_nothing() -> None:
    """Each in a row of its own: in a common one two of them would write over each other's counts."""
    counters, context = Counters(), get_context("spawn")
    processes = [context.Process(target=_count, args=(counters, 300_000)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert counters._totals()[ACCEPTED] == 600_000
    assert np.count_nonzero(counters._rows()[:, ACCEPTED]) == 2


def test_what_waits_is_shown_in_steps() -> None:
    counters = Counters()
    counters.claim()
    for waiting, seen in ((0, 0), (99, 0), (100, 100), (250, 200), (3, 0)):
        counters.wait(waiting)
        assert f"bcdp_reports_waiting {seen}\n" in counters.text(100, [])
    counters.wait(1000)
    counters.claim()  # a worker that starts where one has died
    assert "bcdp_reports_waiting 0\n" in counters.text(100, [])
