"""Running the trials of an experiment on several processors, and what they gave as points of curves."""

from __future__ import annotations

import csv
import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from multiprocessing import resource_tracker
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Protocol

import numpy as np

from bcdp.compare.curves import Array

_TASKS = 40  # for each point, so that the progress moves and the processors finish together


@dataclass(frozen=True)
class Point:
    """One point of one curve in one panel: what the trials gave, and the exact expectation (NaN if not known)."""

    experiment: str
    panel: str
    curve: str
    x: float
    median: float
    q25: float
    q75: float
    mean: float
    predicted: float
    trials: int
    n: int


class Scenario(Protocol):
    """One point of a picture. It is sent to other processes, and a trial depends on nothing but its seed."""

    @property
    def x(self) -> float: ...
    @property
    def people(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def panels(self) -> tuple[str, ...]: ...
    @property
    def curves(self) -> tuple[str, ...]: ...

    def predicted(self) -> Array:
        """The expected error, shape (panels, curves)."""

    def trial(self, seed: Sequence[int]) -> Array:
        """The error in one trial, shape (panels, curves)."""


@dataclass(frozen=True)
class _Task:
    scenario: Scenario
    seed: int
    point: int
    trials: range

    @property
    def cost(self) -> float:
        return float(self.scenario.people * self.scenario.features * len(self.trials))


def _run(task: _Task) -> tuple[_Task, Array]:
    return task, np.array([task.scenario.trial((task.seed, task.point, trial)) for trial in task.trials])


@contextmanager
def _pool(workers: int) -> Iterator[Pool]:
    # Ctrl-C is for the parent alone, which then ends the pool: the workers inherit a mask that blocks it. They are
    # spawned, because forking is unsafe with the threads of a progress bar or of a linear algebra library. Starting
    # the resource tracker resets the mask, so that comes first.
    spawn = multiprocessing.get_context("spawn")
    if sys.platform == "win32":  # which has neither
        with spawn.Pool(workers) as pool:
            yield pool
        return
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        pool = spawn.Pool(workers)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    with pool:
        yield pool


def run_trials(
    scenarios: Sequence[Scenario], trials: int, seed: int, workers: int, advance: Callable[[float], None]
) -> list[Array]:
    """The errors of each scenario, shape (trials, panels, curves); the same for any number of workers.

    `advance` is called with the share of the whole work that has just been done; the shares add up to 1.
    """
    step = -(-trials // _TASKS)
    tasks = [
        _Task(scenario, seed, point, range(first, min(first + step, trials)))
        for point, scenario in enumerate(scenarios)
        for first in range(0, trials, step)
    ]
    tasks.sort(key=lambda task: -task.cost)
    total_cost = sum(task.cost for task in tasks)
    errors = [np.empty((trials, len(point.panels), len(point.curves))) for point in scenarios]

    def keep(done: Iterator[tuple[_Task, Array]]) -> None:
        for task, result in done:
            errors[task.point][task.trials.start : task.trials.stop] = result
            advance(task.cost / total_cost)

    if workers == 1:
        keep(map(_run, tasks))
    else:
        with _pool(workers) as pool:
            keep(pool.imap_unordered(_run, tasks))
    return errors


def summarise(experiment: str, scenarios: Sequence[Scenario], errors: Sequence[Array]) -> list[Point]:
    """One row for each panel, curve and point; none for a curve whose error is neither simulated nor known there."""
    rows = []
    for scenario, trial_errors in zip(scenarios, errors, strict=True):
        quartiles = np.quantile(trial_errors, [0.25, 0.5, 0.75], axis=0)
        means, predicted = trial_errors.mean(axis=0), scenario.predicted()
        for p, panel in enumerate(scenario.panels):
            for c, curve in enumerate(scenario.curves):
                low, middle, high = quartiles[:, p, c].tolist()
                summary = (middle, low, high, float(means[p, c]), float(predicted[p, c]))
                if not np.isnan([middle, predicted[p, c]]).all():
                    rows.append(
                        Point(experiment, panel, curve, float(scenario.x), *summary, len(trial_errors), scenario.people)
                    )
    return sorted(rows, key=lambda row: scenarios[0].panels.index(row.panel))


def write_csv(rows: Sequence[Point], path: Path) -> None:
    """Writes the rows with a header; what is not known is left empty."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Point)])
        for row in rows:
            writer.writerow(["" if value != value else value for value in asdict(row).values()])
