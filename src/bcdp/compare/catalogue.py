"""The experiments by name: what they sweep, how long they run by default, and how their pictures are labelled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bcdp.compare import means, regression
from bcdp.compare.trials import Point, Scenario, run_trials, summarise
from bcdp.errors import refuse

SEED = 2024  # a figure is reproduced by its command alone


@dataclass(frozen=True)
class Experiment:
    """An experiment: its points for a number of people, the defaults, and the axes of its picture."""

    title: str
    scenarios: Callable[[int], Sequence[Scenario]]
    trials: int
    people: int
    x_label: str
    y_labels: dict[str, str] = field(hash=False)
    logarithmic_x: bool = False


_SQUARED_ERROR = dict.fromkeys((means.PROJECTED, means.UNPROJECTED), "squared error of the mean, summed over features")

EXPERIMENTS = {
    "mean": Experiment(
        "Ten features, delta = 0.2 for two, epsilon = 2",
        means.over_correlation,
        1000,
        10_000,
        "q (correlation)",
        _SQUARED_ERROR,
    ),
    "dimension": Experiment(
        "delta = 0.2 for a fifth of the features, epsilon = 2, q = 0.05",
        means.over_dimension,
        200,
        10_000,
        "number of features",
        _SQUARED_ERROR,
        logarithmic_x=True,
    ),
    "fraction": Experiment(
        "Ten features, delta = 0.2 for some, epsilon = 2, q = 0.05",
        means.over_fraction,
        200,
        10_000,
        "share of sensitive features",
        _SQUARED_ERROR,
    ),
    "regression": Experiment(
        "Nine features and a label, delta = 0.2 for two, epsilon = 2, q from 0.10 to 0.27",
        regression.over_people,
        40,
        1_000_000,
        "number of people",
        {
            regression.FROBENIUS: "Frobenius error of the second moments",
            regression.RISK: "excess risk (half the mean squared error)",
        },
        logarithmic_x=True,
    ),
}


def find(name: str) -> Experiment:
    """The experiment of this name.

    >>> find("mean").people
    10000
    """
    if name not in EXPERIMENTS:
        raise refuse("NAME", name, ", ".join(EXPERIMENTS))
    return EXPERIMENTS[name]


def run(
    name: str,
    trials: int | None = None,
    people: int | None = None,
    seed: int = SEED,
    workers: int = 1,
    advance: Callable[[float], None] = lambda share: None,
) -> list[Point]:
    """The results of an experiment, one row for each panel, curve and point; its own defaults where None is given.

    >>> {row.curve for row in run("regression", trials=1, people=100)} >= {"survey", "min-delta LDP"}
    True
    """
    experiment = find(name)
    trials = _whole("trials", experiment.trials if trials is None else trials, 1)
    people = _whole("n", experiment.people if people is None else people, 1)
    seed, workers = _whole("seed", seed, 0), _whole("workers", workers, 1)
    scenarios = experiment.scenarios(people)
    errors = run_trials(scenarios, trials, seed, workers, advance)
    return summarise(name, scenarios, errors)


def _whole(name: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise refuse(name, value, f"a whole number of at least {least}")
    return value
