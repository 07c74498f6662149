"""What several tests share: plans and priors, kernels, a second opinion on certificates, chosen words, a small disk."""

from __future__ import annotations

import functools
import importlib.util
import itertools
import math
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import block_diag

from bcdp.exact import TOTAL
from bcdp.mechanisms.planning import make_plan
from bcdp.mechanisms.survey.estimation.tally import SurveyTally
from bcdp.notions import dobrushin, levels
from bcdp.plan import Menu, Plan
from bcdp.policy import Policy
from bcdp.randomizers import Dense, Table, Waves, hadamard, response
from bcdp.randomizers.waves import Wave
from bcdp.tally import Tally

Array = npt.NDArray[np.float64]

ROUNDING = 1e-12  # of the enumeration, in doubles
FEATURES: dict[str, Any] = {
    "bit": {"type": "binary"},
    "number": {"type": "numeric", "bounds": [0, 10]},
    "kind": {"type": "categorical", "values": ["a", "b", "c"]},
    "place": {"type": "categorical", "values": list(range(5))},
}
RECORDS = {"bit": [0, 1, 1, 0], "number": [0.0, 10.0, 3.3, 5.0], "kind": ["a", "b", "c", "a"], "place": [0, 4, 2, 1]}


def loaded(path: Path) -> ModuleType:
    """A script as a module."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def random_dense(rng: np.random.Generator, levels: int, symbols: int, budget: float) -> Dense:
    """A table without structure; its level is about twice the budget, and infinite once in a while."""
    ideal = np.exp(budget * rng.uniform(-1, 1, (levels, symbols)))
    if rng.random() < 0.5:  # extreme entries, as optimal tables have
        ideal = np.exp(budget * rng.choice([-1.0, 1.0], (levels, symbols)))
    if rng.random() < 0.02:
        ideal[0, 0] = 0.0
    weights = np.floor(ideal / ideal.sum(axis=1, keepdims=True) * TOTAL).astype(np.int64)
    weights[:, -1] += TOTAL - weights.sum(axis=1)
    return Dense(weights)


def random_table(rng: np.random.Generator, levels: int) -> Table:
    budget = float(rng.exponential(1.0)) + 0.01
    family = rng.integers(4)
    if family == 0:
        return response(levels, budget)
    if family == 1 and levels <= 4:
        return hadamard(levels, budget)
    return random_dense(rng, levels, int(rng.integers(2, 5)), budget / 2)


def random_features(rng: np.random.Generator, names: list[str]) -> dict[str, dict[str, Any]]:
    """Features of random types, each with a delta that asks for nothing."""
    kinds = [str(rng.choice(["binary", "categorical", "numeric"])) for _ in names]
    extra = {"binary": {}, "categorical": {"values": ["a", "b", "c"]}, "numeric": {"bounds": [0, 1]}}
    return {name: {"type": kind, "delta": 20.0, **extra[kind]} for name, kind in zip(names, kinds, strict=True)}


def random_document(rng: np.random.Generator) -> dict[str, Any]:
    """The document of a random survey of 2 to 4 features, nothing claimed and no correlation stated."""
    names = [f"x{i}" for i in range(rng.integers(2, 5))]
    features = random_features(rng, names)
    kinds = {name: feature["type"] for name, feature in features.items()}
    tables: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    menus: list[dict[str, Any]] = []
    for _ in range(rng.integers(1, 4)):
        left, chosen = list(rng.permutation(names)), []
        while left and (not chosen or rng.random() < 0.6):
            group = [str(left.pop()) for _ in range(min(len(left), int(rng.choice([1, 1, 2, 2, 3]))))]
            sizes = {"binary": 2, "categorical": 3, "numeric": int(rng.integers(2, 4))}
            levels = [sizes[kinds[name]] for name in group]
            chosen.append(len(questions))
            questions.append({"features": group, "levels": levels, "table": len(tables)})
            tables.append(random_table(rng, math.prod(levels)).to_dict())
        menus.append({"weight": int(rng.integers(1, 2**30)), "questions": chosen})
    menus[0]["weight"] += TOTAL - sum(menu["weight"] for menu in menus)
    return survey(features, tables, questions, menus)


def with_steps(rng: np.random.Generator, document: dict[str, Any], chance: float = 0.5) -> dict[str, Any]:
    """The document with some numbers of its questions entering by steps, at cuts that are multiples of 1/8."""
    features = document["collection"]["features"]
    for question in document["questions"]:
        chosen = [rng.random() < chance and features[name]["type"] == "numeric" for name in question["features"]]
        if "kind" in question or not any(chosen):
            continue
        question["cuts"] = [
            sorted((rng.choice(np.arange(1, 8), size - 1, replace=False) / 8).tolist()) if stepped else None
            for size, stepped in zip(question["levels"], chosen, strict=True)
        ]
    return document


def random_waves(rng: np.random.Generator, levels: int) -> Waves:
    """One to three waves of any circle, step and width, of unequal weights."""
    found = []
    for _ in range(rng.integers(1, 4)):
        answers = int(rng.integers(2, 2 * levels + 1))
        step, width = (int(part) for part in rng.integers(1, answers, 2))
        low = int(rng.integers(1, TOTAL // (200 * levels)))
        found.append(Wave(answers, step, width, int(low * math.exp(rng.exponential(1.0))), low))
    room = TOTAL / max(sum(wave.words for wave in found), TOTAL)
    return Waves(
        levels, tuple(w._replace(high=max(int(w.high * room), 1), low=max(int(w.low * room), 1)) for w in found)
    )


def with_waves(rng: np.random.Generator, document: dict[str, Any], chance: float = 0.7) -> dict[str, Any]:
    """The document with waves in the place of some of its tables."""
    for question in document["questions"]:
        if rng.random() < chance:
            document["tables"][question["table"]] = random_waves(rng, math.prod(question["levels"])).to_dict()
    return document


def survey(features: Any, tables: Any, questions: Any, menus: Any, q: float = 1.0, epsilon: float = 20.0) -> Any:
    """A survey's document in which every claim is as large as the policy allows."""
    return {
        "bcdp": 1,
        "mechanism": "survey",
        "collection": {"epsilon": epsilon, "features": features},
        "correlation": per_feature(q),
        "tables": tables,
        "questions": questions,
        "menus": menus,
        "channels": [],
        "certificate": {
            "epsilon": epsilon,
            "features": {
                name: {"asked": feature["delta"], "certified": feature["delta"], "c": epsilon}
                for name, feature in features.items()
            },
            "objective": None,
            "optimality_gap": None,
        },
    }


def build(
    features: dict[str, Any],
    asked: list[tuple[tuple[str, ...], tuple[int, ...], Table]],
    menus: list[tuple[int, list[int]]],
    q: float = 0.1,
    **collection: Any,
) -> Plan:
    """A verified plan with the given questions and menus, which promises exactly what its tables keep."""
    tables = list(dict.fromkeys(table for _, _, table in asked))
    questions = [{"features": names, "levels": sizes, "table": tables.index(table)} for names, sizes, table in asked]
    return Plan.certified(
        {
            "mechanism": "survey",
            "collection": {"epsilon": 20.0, "features": features, **collection},
            "correlation": per_feature(q),
            "tables": [table.to_dict() for table in tables],
            "questions": questions,
            "menus": [{"weight": weight, "questions": numbers} for weight, numbers in menus],
        }
    )


def per_feature(q: float) -> dict[str, Any]:
    """One q for every feature, as a plan states it."""
    return {"kind": "per feature", "default": q, "named": {}, "source": "test"}


def with_q(plan: Plan, q: float) -> Plan:
    """The same plan under one q for whatever is asked together."""
    return Plan.build({**plan.model_dump(mode="json", by_alias=True), "correlation": per_feature(q)})


def paper_policy(q: float, features: int = 10, sensitive: int = 2) -> Policy:
    """The paper's setting: two sensitive features of ten, epsilon 2."""
    deltas = [0.2] * sensitive + [2.0] * (features - sensitive)
    return Policy(
        epsilon=2.0, features={f"x{i}": {"type": "binary", "delta": d} for i, d in enumerate(deltas)}, correlation=q
    )


@functools.cache
def paper_plan(q: float) -> Plan:
    """The plan of the paper's setting, made once for all tests of a process."""
    return make_plan(paper_policy(q))


def sizes_of(plan: Plan) -> tuple[int, ...]:
    """How many values each feature has in enumerations."""
    grid = max(3, *(size for question in plan.questions for size in question.levels))  # of numbers: -1, .., 0, .., 1
    return tuple(
        grid + feature.own if feature.type == "numeric" else len(feature.categories)
        for feature in plan.policy.features.values()
    )


def rounding(values: int, levels: int) -> Array:
    """The probability of each level for each of a feature's values, which lie equally spaced over the same range."""
    place = np.linspace(0, levels - 1, values)
    return np.maximum(0.0, 1 - np.abs(place[:, None] - np.arange(levels)))


def question_kernel(plan: Plan, number: int) -> Array:
    """The probability of each symbol of a question for every record: one axis per feature, then the symbols."""
    question = plan.questions[number]
    if question.kind == "product":
        return product_kernel(plan, number)
    kernel = plan.tables[question.table].dense().weights.reshape(*question.levels, -1) / TOTAL
    names, sizes = list(plan.policy.features), sizes_of(plan)
    order = np.argsort([names.index(name) for name in question.features])
    for axis, (name, size) in enumerate(zip(question.features, question.levels, strict=True)):
        cuts, low, high = question.cuts_of(name), *plan.policy.features[name].span
        own = plan.policy.features[name].own and plan.policy.features[name].is_number
        grid = np.linspace(low, high, sizes[names.index(name)] - own)
        matrix = rounding(len(grid), size - own) if cuts is None else np.eye(size)[(grid[:, None] >= cuts).sum(1)]
        matrix = block_diag(matrix, np.ones((1, 1))) if own else matrix  # after the numbers, no answer
        kernel = np.moveaxis(np.tensordot(matrix, kernel, axes=(1, axis)), 0, axis)
    kernel = kernel.transpose(*order, len(order))
    shape = [size if name in question.features else 1 for name, size in zip(names, sizes, strict=True)]
    return np.asarray(kernel.reshape(*shape, -1))


def product_kernel(plan: Plan, number: int) -> Array:
    """The same for a product: each record's number, rounded at random, through the table."""
    question, features = plan.questions[number], plan.policy.features
    names, sizes = list(features), sizes_of(plan)
    shape = [size if name in question.features else 1 for name, size in zip(names, sizes, strict=True)]
    value = np.ones(shape)
    for name, category in zip(question.features, question.categories, strict=True):
        place = names.index(name)
        worth = np.linspace(-1, 1, sizes[place])
        if category is not None:
            worth = np.where(np.arange(sizes[place]) == category, 1.0, -1.0)
        worth = worth.reshape([-1 if axis == place else 1 for axis in range(len(names))])
        value = value * worth if len(question.features) == 2 else 2 * worth**2 - 1
    (levels,) = question.levels
    near = np.maximum(0.0, 1 - np.abs((value[..., None] + 1) / 2 * (levels - 1) - np.arange(levels)))
    return np.asarray(near @ (plan.tables[question.table].dense().weights / TOTAL))


def random_product_document(rng: np.random.Generator) -> dict[str, Any]:
    """The document of a random survey of 3 features whose menus ask a product, half of them with other questions.

    Of some features with values, no answer is a value of its own.
    """
    names = ["x0", "x1", "x2"]
    features = random_features(rng, names)
    kinds = {name: feature["type"] for name, feature in features.items()}
    for name, kind in kinds.items():
        if kind != "numeric" and rng.random() < 0.3:
            kinds[name] = "categorical"  # with three inputs
            features[name] |= {"missing": "own"} | ({"values": ["v0", "v1"]} if kind == "categorical" else {})
    tables: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    menus: list[dict[str, Any]] = []
    for _ in range(rng.integers(1, 4)):
        left = [str(name) for name in rng.permutation(names)]
        squares = [name for name in left if kinds[name] == "numeric"]
        asked = squares[:1] if squares and rng.random() < 0.3 else left[:2]
        levels = int(rng.integers(2, 5))
        categories = [int(rng.integers(3)) if kinds[name] == "categorical" else None for name in asked]
        chosen = [len(questions)]
        questions.append(
            {"features": asked, "levels": [levels], "table": len(tables), "kind": "product", "categories": categories}
        )
        tables.append(random_table(rng, levels).to_dict())
        others = [name for name in left if name not in asked]
        if rng.random() < 0.5:
            size = {"binary": 2, "categorical": 3, "numeric": 2}[kinds[others[0]]]
            chosen.append(len(questions))
            questions.append({"features": [others[0]], "levels": [size], "table": len(tables)})
            tables.append(random_table(rng, size).to_dict())
        menus.append({"weight": int(rng.integers(1, 2**30)), "questions": chosen})
    menus[0]["weight"] += TOTAL - sum(menu["weight"] for menu in menus)
    return survey(features, tables, questions, menus)


def menu_kernel(plan: Plan, menu: Menu) -> Array:
    """The probability of every answer for every record, once this menu is drawn."""
    answer: Array = np.ones((*sizes_of(plan), 1))
    for number in menu.questions:
        symbols = question_kernel(plan, number)
        answer = (answer[..., :, None] * symbols[..., None, :]).reshape(*sizes_of(plan), -1)
    return answer


def full_kernel(plan: Plan) -> Array:
    """The probability of every report (menu, answer) for every record."""
    return np.concatenate([menu_kernel(plan, menu) * (menu.weight / TOTAL) for menu in plan.menus], axis=-1)


def exceeded(claims: Any, prior: Array, kernel: Array) -> list[str]:
    """The claims that are not true of a mechanism under a prior, whose axes are the features as claimed."""
    true = levels(prior, kernel)
    pairs = {"epsilon": (true.ldp, claims.epsilon)}
    for i, name in enumerate(claims.delta):
        pairs |= {f"c {name}": (true.cdp[i], claims.c[name]), f"delta {name}": (true.bcdp[i], claims.delta[name])}
    return [what for what, (level, claimed) in pairs.items() if level > claimed + ROUNDING]


def tally_of(plan: Plan, counts: npt.ArrayLike) -> SurveyTally:
    """The tally of so many people for each menu and answer, in the order of `full_kernel`."""
    cells = [(menu, answer) for menu, digits in enumerate(plan.symbols) for answer in range(math.prod(digits))]
    menus, answers = np.array(cells).T
    tally = Tally(plan).add({"menu": menus, "answer": answers, "count": np.asarray(counts)})
    assert isinstance(tally, SurveyTally)
    return tally


def worst_prior(plan: Plan, name: str) -> Array:
    """The prior of theory.md, section 4: common mass at its worst point, the rest at the extremes.

    Given two values of the feature, the others are at most as far apart as the plan says for the menu that leaks most.
    """
    sizes, feature = sizes_of(plan), list(plan.policy.features).index(name)
    worst, prior = 0.0, np.zeros((sizes[feature], math.prod(sizes) // sizes[feature]))
    for menu, asked in zip(plan.menus, asked_sets(plan), strict=True):
        q = stated_q(plan.correlation, name, asked - {name})
        f = np.moveaxis(menu_kernel(plan, menu), feature, 0)
        f = f.reshape(f.shape[0], -1, f.shape[-1])
        most = (1 - q) * f + q * f.max(axis=1, keepdims=True)
        least = (1 - q) * f + q * f.min(axis=1, keepdims=True)
        for a, other in itertools.permutations(range(len(f)), 2):
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.nan_to_num(most[a] / least[other], posinf=np.inf)
            if ratio.max() > worst:
                worst = float(ratio.max())
                z, output = np.unravel_index(ratio.argmax(), ratio.shape)
                prior[:] = 0.0
                prior[[a, other], z] += (1 - q) / 2
                prior[a, f[a, :, output].argmax()] += q / 2
                prior[other, f[other, :, output].argmin()] += q / 2
    rest = [size for axis, size in enumerate(sizes) if axis != feature]
    return np.moveaxis(prior.reshape(sizes[feature], *rest), 0, feature)


def asked_sets(plan: Plan) -> list[frozenset[str]]:
    """The features that each menu asks together."""
    return [frozenset(f for number in menu.questions for f in plan.questions[number].features) for menu in plan.menus]


def random_prior(rng: np.random.Generator, sizes: tuple[int, ...]) -> Array:
    """A prior anywhere between independence and determination; some values may be impossible."""
    independent = np.ones(())
    for size in sizes:
        independent = np.multiply.outer(independent, rng.dirichlet(np.full(size, rng.choice([0.3, 3.0]))))
    tied = rng.dirichlet(np.full(math.prod(sizes), rng.choice([0.02, 0.3, 3.0]))).reshape(sizes)
    if rng.random() < 0.3:  # every feature a function of the first
        tied = np.zeros(sizes)
        for value in range(sizes[0]):
            tied[(value, *(int(rng.integers(size)) for size in sizes[1:]))] += 1 / sizes[0]
    share = rng.choice([0.0, 0.01, 0.1, 0.5, 1.0])
    prior = (1 - share) * independent + share * tied
    return np.asarray(prior / prior.sum())


def brute_distance(prior: Array, feature: int, others: tuple[int, ...]) -> float:
    """How far the law of some features moves with the value of another: the definition, record by record."""
    laws: dict[int, dict[tuple[int, ...], list[float]]] = {}
    for record, p in np.ndenumerate(prior):
        cell = laws.setdefault(record[feature], {}).setdefault(tuple(record[j] for j in others), [])
        cell.append(float(p))
    mass = {a: math.fsum(p for cell in law.values() for p in cell) for a, law in laws.items()}
    given = {a: {z: math.fsum(cell) / mass[a] for z, cell in law.items()} for a, law in laws.items() if mass[a] > 0}
    return max(
        (math.fsum(abs(given[a][z] - given[b][z]) for z in given[a]) / 2 for a, b in itertools.combinations(given, 2)),
        default=0.0,
    )


def exact_q(plan: Plan, prior: Array) -> dict[tuple[str, frozenset[str]], float]:
    """For every feature and set asked with it, the distance between the set's laws, up to rounding error."""
    names = list(plan.policy.features)
    pairs = {(name, asked - {name}) for asked in asked_sets(plan) for name in names if asked - {name}}
    return {
        (name, others): min(1.0, dobrushin(prior, names.index(name), tuple(map(names.index, others))) + 1e-13)
        for name, others in pairs
    }


def listed(bounds: dict[tuple[str, frozenset[str]], float]) -> dict[str, Any]:
    """The bounds as a plan states them."""
    rows = [[name, sorted(others), q] for (name, others), q in bounds.items()]
    return {"kind": "listed", "bounds": rows, "source": "test"}


def brute_ratios(plan: Plan) -> tuple[Fraction | float, dict[str, Fraction | float], dict[str, Fraction | float]]:
    """`exp` of epsilon, c and delta, by the formula of theory.md, section 4, over every z, a, a' and output.

    Written from the theory alone, in fractions, without any of the package's certificate or correlation code.
    """
    names = list(plan.policy.features)
    epsilon: Fraction | float = Fraction(1)
    c: dict[str, Fraction | float] = dict.fromkeys(names, Fraction(1))
    delta: dict[str, Fraction | float] = dict.fromkeys(names, Fraction(1))
    for menu in plan.menus:
        questions = [plan.questions[number] for number in menu.questions]
        asked = [name for question in questions for name in question.features]
        levels = [size for question in questions for size in question.levels]
        weights = [plan.tables[question.table].dense().weights.tolist() for question in questions]
        records = list(itertools.product(*map(range, levels)))
        for output in itertools.product(*(range(len(rows[0])) for rows in weights)):
            f = {}
            for record in records:
                position, chance = 0, Fraction(1)
                for question, rows, symbol in zip(questions, weights, output, strict=True):
                    level = 0
                    for size in question.levels:
                        level, position = level * size + record[position], position + 1
                    chance *= Fraction(rows[level][symbol], TOTAL)
                f[record] = chance
            epsilon = max(epsilon, _over(max(f.values()), min(f.values())))
            for name in names:
                q = Fraction(stated_q(plan.correlation, name, frozenset(asked) - {name}))
                place = asked.index(name) if name in asked else None
                by_value: dict[int, dict[tuple[int, ...], Fraction]] = {}
                for record, chance in f.items():
                    own = 0 if place is None else record[place]
                    rest = record if place is None else record[:place] + record[place + 1 :]
                    by_value.setdefault(own, {})[rest] = chance
                high = {a: max(column.values()) for a, column in by_value.items()}
                low = {a: min(column.values()) for a, column in by_value.items()}
                # numbers, and missing values, may be coded as one level; nothing is coded if nothing is asked
                stated = plan.collection["features"][name]
                shared = place is None or stated["type"] == "numeric" or stated.get("missing") is not None
                for a, other in itertools.product(by_value, repeat=2):
                    if a == other and not shared:
                        continue
                    for z in by_value[a]:
                        c[name] = max(c[name], _over(by_value[a][z], by_value[other][z]))
                        most = (1 - q) * by_value[a][z] + q * high[a]
                        least = (1 - q) * by_value[other][z] + q * low[other]
                        delta[name] = max(delta[name], _over(most, least))
    return epsilon, c, delta


def stated_q(correlation: dict[str, Any], name: str, others: frozenset[str]) -> float:
    """What a plan's correlation says about a feature and a set of others; nothing known means 1."""
    if not others:
        return 0.0
    if correlation["kind"] == "per feature":
        return float(correlation["named"].get(name, correlation["default"]))
    rows = [q for feature, stated, q in correlation["bounds"] if feature == name and frozenset(stated) == others]
    return float(rows[0]) if rows else 1.0


def _over(most: Fraction, least: Fraction) -> Fraction | float:
    if most == 0:
        return Fraction(1)
    return most / least if least else math.inf


def log(ratio: Fraction | float) -> Decimal:
    """The logarithm of a ratio, to 28 digits."""
    if ratio == math.inf:
        return Decimal("inf")
    exact = Fraction(ratio)
    return (Decimal(exact.numerator) / Decimal(exact.denominator)).ln()


class GivenWords:
    """Words that a test chooses: one array for each position, 0 where none is given."""

    def __init__(self, size: int, columns: Mapping[int, np.ndarray]) -> None:
        self.size, self.columns = size, columns

    def __len__(self) -> int:
        return self.size

    def take(self, rows: np.ndarray) -> GivenWords:
        return GivenWords(len(rows), {position: column[rows] for position, column in self.columns.items()})

    def column(self, position: int) -> np.ndarray:
        return self.columns.get(position, np.zeros(self.size, dtype=np.uint32))


def word_counts(result: Callable[[np.ndarray], np.ndarray], probes: Any = ()) -> dict[int, int]:
    """How many of the 2^32 words give each result: exact, if every run of equal results holds a probe or a grid word.

    Between two probes with different results the boundary is found by bisection, again and again until neighbouring
    words stand on both sides of each boundary.
    """
    near = np.asarray(list(probes), dtype=np.int64)
    points = np.unique(np.concatenate([np.linspace(0, TOTAL - 1, 4097).astype(np.int64), near - 1, near, near + 1]))
    points = points[(points >= 0) & (points < TOTAL)]
    values = result(points.astype(np.uint32)).astype(np.int64)
    while len(gaps := np.flatnonzero((values[1:] != values[:-1]) & (np.diff(points) > 1))):
        middle = (points[gaps] + points[gaps + 1]) // 2
        points = np.insert(points, gaps + 1, middle)
        values = np.insert(values, gaps + 1, result(middle.astype(np.uint32)))
    ends = np.append(np.flatnonzero(values[1:] != values[:-1]), len(points) - 1)
    counts: dict[int, int] = {}
    start = 0
    for end in ends:
        stop = int(points[end]) + 1
        counts[int(values[end])] = counts.get(int(values[end]), 0) + stop - start
        start = stop
    return counts


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A new folder that holds so much and no more; only root can mount it."""
    from support.system import require

    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    require(subprocess.run(command, capture_output=True, check=False).returncode == 0, "root, to mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
