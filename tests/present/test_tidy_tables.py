"""Estimates as files: CSV, Parquet, and a table that word processors open."""

from __future__ import annotations

import html.parser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from bcdp import InputError, Policy, Tally, estimate, estimate_by, make_plan, privatize
from bcdp.cli.app import program
from bcdp.present.tidy_tables import tidy

FEATURES: dict[str, Any] = {
    "smoker": {"type": "binary", "label": "Smokes <daily>"},
    "kind": {"type": "categorical", "values": ["a", "b"]},
    "region": {"type": "open", "values": ["north", "south"]},
}


class Rows(html.parser.HTMLParser):
    """The cells of the rows of a page's table."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Tally]:
    folder = tmp_path_factory.mktemp("tidy")
    plan = make_plan(Policy(epsilon=3, features=FEATURES))
    rng = np.random.default_rng(1)
    people = {"smoker": rng.random(4_000) < 0.3, "kind": rng.choice(["a", "b"], 4_000)}
    tally = Tally(plan).add(privatize(plan, {**people, "region": rng.choice(["north", "south"], 4_000)}))
    plan.save(folder / "plan.json")
    tally.save(folder / "tally.json")
    return folder, tally


def run(folder: Path, *words: str) -> None:
    given = ["estimate", str(folder / "plan.json"), str(folder / "tally.json"), *words]
    assert CliRunner().invoke(program(given), given, catch_exceptions=False).exit_code == 0


def test_csv_and_parquet_hold_the_lines_of_the_estimates(collected: tuple[Path, Tally]) -> None:
    folder, tally = collected
    expected = estimate(tally).to_arrow()
    run(folder, "-o", str(folder / "all.parquet"))
    assert pq.read_table(folder / "all.parquet").to_pylist() == expected.to_pylist()
    run(folder, "-o", str(folder / "all.csv"))
    assert pyarrow.csv.read_csv(folder / "all.csv").to_pylist() == expected.to_pylist()


def test_groups_stand_in_the_first_column(collected: tuple[Path, Tally]) -> None:
    folder, tally = collected
    run(folder, "--by", "region", "-o", str(folder / "by.csv"))
    found = pyarrow.csv.read_csv(folder / "by.csv")
    assert found.column_names[0] == "region"
    assert found.to_pylist() == tidy(estimate_by(tally, "region"), "region").to_pylist()
    assert found["region"].to_pylist() == ["north"] * 3 + ["south"] * 3


def test_the_page_is_one_plain_table(collected: tuple[Path, Tally]) -> None:
    folder, tally = collected
    run(folder, "-o", str(folder / "all.html"))
    text = (folder / "all.html").read_text()
    head, *rows = Rows(text).rows
    assert head == ["About", "", "Estimate", "Standard error", "From", "To", "Answers"]
    assert [row[1] for row in rows] == ["Smokes <daily> = 1", "kind = a", "kind = b"]
    mean = estimate(tally).means["smoker"]
    assert float(rows[0][2]) == pytest.approx(mean.value, abs=mean.se / 10)
    assert rows[0][-1] == f"{mean.answers:,}"
    assert "<script" not in text
    assert "style" not in text


def test_another_ending_is_refused(collected: tuple[Path, Tally]) -> None:
    with pytest.raises(InputError, match=r"ends in .csv or .parquet or .html"):
        run(collected[0], "-o", str(collected[0] / "all.xlsx"))
