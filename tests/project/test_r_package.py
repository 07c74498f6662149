"""The package for R: its own tests, and its numbers, which are Python's to the last digit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bcdp import Plan, Tally, estimate
from support.documents import blocks
from support.paths import ROOT
from support.system import require

pytestmark = pytest.mark.slow

PACKAGE = ROOT / "packages" / "r"
LIBRARIES = Path("/usr/lib/R/site-library")
NEEDED = ("jsonlite", "testthat", "haven", "survey")

EXAMPLES: dict[str, tuple[str, str]] = {
    "a scale, a list to tick and a follow-up": (
        """people <- data.frame(happy = factor(sample(c("bad", "fair", "good"), 3000, TRUE), ordered = TRUE),
                               drugs = sample(c("no", "yes"), 3000, TRUE))
           people$often <- ifelse(people$drugs == "yes", sample(c("monthly", "weekly"), 3000, TRUE), NA)
           people$media <- lapply(seq_len(3000), function(i) sample(c("tv", "web", "print"), i %% 3))
           policy <- bcdp_policy(list(happy = list(type = "ordinal", values = c("bad", "fair", "good")),
             drugs = list(type = "binary", values = c("no", "yes"), delta = 2),
             often = list(type = "categorical", values = c("monthly", "weekly"), asked_if = list(drugs = "yes")),
             media = list(type = "multiple", values = c("tv", "web", "print"), at_most = 2)), 4)""",
        "tally",
    ),
    "weights": (
        """people <- data.frame(ill = runif(3000) < 0.3, region = sample(c("n", "s"), 3000, TRUE))
           policy <- bcdp_policy(list(ill = list(type = "binary"),
             region = list(type = "open", values = c("n", "s"))), 3)""",
        'postStratify(tally, ~region, data.frame(region = c("n", "s"), Freq = c(7, 3)))',
    ),
}

COLLECT = """
suppressMessages(library(survey)); library(bcdp); set.seed(5)
{people}
plan <- bcdp_plan(policy, file = "plan.json")
tally <- bcdp_tally(plan, suppressMessages(bcdp_privatize(plan, people)), "tally.json")
estimates <- bcdp_estimate(plan, {weighted})
"""
PRINT = """
rows <- as.data.frame(estimates)
for (column in c("estimate", "std.error", "conf.low", "conf.high")) rows[[column]] <- sprintf("%.17g", rows[[column]])
cat("\nrows:", jsonlite::toJSON(rows))
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library of R with nothing but this package."""
    present = shutil.which("R") and all((LIBRARIES / name).exists() for name in NEEDED)
    require(present, ", ".join(f"r-cran-{name}" for name in NEEDED))
    folder = tmp_path_factory.mktemp("library")
    installed = subprocess.run(["R", "CMD", "INSTALL", f"--library={folder}", PACKAGE], capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    return folder


def run_r(library: Path, script: str, folder: Path) -> str:
    """What a script prints; `bcdp` is the one of this environment."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "R_LIBS": str(library), "PATH": path}
    done = subprocess.run(["Rscript", "-e", script], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_its_own_tests_pass(library: Path, tmp_path: Path) -> None:
    """Those of R's testthat, on the installed package."""
    tests = json.dumps(str(PACKAGE / "tests" / "testthat"))
    script = f'testthat::test_dir({tests}, package = "bcdp", load_package = "installed", reporter = "check")'
    assert "FAIL 0 | WARN 0 | SKIP 0" in run_r(library, script, tmp_path)


@pytest.mark.parametrize("example", EXAMPLES)
def test_numbers_are_those_of_python(library: Path, tmp_path: Path, example: str) -> None:
    """Every estimate, standard error and end of an interval, as 17 digits."""
    people, weighted = EXAMPLES[example]
    weights: list[Any] = [{"region": ["n", "s"], "people": [7, 3]}] if example == "weights" else []
    compare(library, tmp_path, COLLECT.format(people=people, weighted=weighted), weights)


def test_the_guide_runs(library: Path, tmp_path: Path) -> None:
    """Its blocks, one after the other; its numbers are Python's too."""
    text = (ROOT / "docs" / "guide" / "r.md").read_text("utf-8")
    compare(library, tmp_path, "pdf(NULL)\n" + "".join(block.text for block in blocks(text) if block.language == "r"))


def compare(library: Path, folder: Path, script: str, weights: list[Any] | None = None) -> None:
    """A script's `estimates` are what Python computes from the files it leaves."""
    rows = json.loads(run_r(library, script + PRINT, folder).rpartition("rows:")[2])
    tally = Tally.load(folder / "tally.json", Plan.load(folder / "plan.json"))
    expected = estimate(tally, weights=weights or []).to_arrow().to_pylist()
    assert len(rows) == len(expected) > 0
    for row, own in zip(rows, expected, strict=True):
        numbers = [float(row[column]) for column in ("estimate", "std.error", "conf.low", "conf.high")]
        assert numbers == [own[column] for column in ("value", "se", "low", "high")], row["name"]
