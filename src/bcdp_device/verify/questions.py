"""What a plan asks and how answers are randomized: tables, questions and menus, or the channels of a cascade."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Union

from bcdp_device.errors import refuse
from bcdp_device.panels import MOST_WAVES
from bcdp_device.verify.blocks import block_of, combinations
from bcdp_device.verify.collection import Feature
from bcdp_device.verify.geometry import projective_columns, read_projective
from bcdp_device.verify.messages import MOST_MESSAGES
from bcdp_device.verify.values import mapping, names, rising, sequence, whole

TOTAL = 2**32
MOST_CELLS = 2**22  # of a table that is written out, or enumerated cell by cell
MOST_LEVELS = 10_000  # of a response
LARGEST_ORDER = 2**14
MOST_ANSWERS = 2**24  # to all menus together
MOST_BINS = 256  # levels of waves
TABLE_KEYS = {
    "dense": ("weights",),
    "response": ("levels", "keep", "other"),
    "hadamard": ("levels", "order", "keep"),
    "waves": ("levels", "waves"),
    "projective": ("levels", "field", "dimension", "high", "low"),
}
QUESTION_KEYS = ("features", "levels", "table")
PRODUCT_KEYS = (*QUESTION_KEYS, "kind", "categories")
BLOCK_KEYS = (*QUESTION_KEYS, "kind")
CHANGE_KEYS = (*QUESTION_KEYS, "kind", "since")
MOST_STEPS = 256  # of a number that enters by steps

Ratio = Union[Fraction, float]  # a float only where it is infinite
Column = tuple[int, ...]


@dataclass(frozen=True)
class Table:
    """Integer weights: how many of the 2^32 words send an input to a symbol."""

    family: str
    levels: int
    symbols: int
    numbers: Mapping[str, Any]

    def columns(self) -> Iterator[Column]:
        """The weights of every symbol over all levels, in the order of the device's symbols."""
        if self.family == "dense":
            yield from zip(*self.numbers["weights"])
        elif self.family == "response":
            for symbol in range(self.levels):
                yield tuple(self.numbers["keep" if given == symbol else "other"] for given in range(self.levels))
        elif self.family == "waves":
            for answers, step, width, high, low in self.numbers["waves"]:
                for answer in range(answers):
                    likely = [(step * given + answer) % answers < width for given in range(self.levels)]
                    yield tuple(high if inside else low for inside in likely)
            yield (TOTAL - _words(self.numbers["waves"]),) * self.levels
        elif self.family == "projective":
            yield from projective_columns(self.numbers)
        else:
            keep = self.numbers["keep"]
            flip = TOTAL // self.numbers["order"] - keep
            for row in range(self.numbers["order"]):
                for bit in range(2):
                    same = [bin(row & given).count("1") % 2 == bit for given in range(self.levels)]
                    yield tuple(keep if kept else flip for kept in same)

    @property
    def ratio(self) -> Ratio:
        """The largest ratio of two weights of one symbol."""
        if self.family == "dense":
            return max(over(max(column), min(column)) for column in self.columns())
        if self.family == "waves":
            return max(Fraction(high, low) for *_, high, low in self.numbers["waves"])
        if self.family == "projective":  # two points are not on all the same hyperplanes
            return Fraction(self.numbers["high"], self.numbers["low"])
        keep = self.numbers["keep"]
        return Fraction(keep, self.numbers["other"] if self.family == "response" else TOTAL // self.symbols * 2 - keep)


@dataclass(frozen=True)
class Question:
    """Features, the levels that each (or their product) is coded into, and the table that randomizes them."""

    features: tuple[str, ...]
    levels: tuple[int, ...]
    product: bool  # whether all that is asked is one number made of the features
    table: Table
    ratio: Ratio
    cuts: Mapping[str, tuple[float, ...]]  # where the levels of numbers that enter by steps begin, the first apart
    extras: Mapping[str, int]  # how many of the last levels are no answer, or not applicable
    possible: tuple[tuple[int, ...], ...] = ()  # of a block: the levels that can occur together, one row for each input
    blocks: Mapping[str, frozenset[str]] = field(default_factory=dict)  # then, the block that each feature is in
    categories: tuple[int | None, ...] = ()  # of a product: the value of each feature that counts as 1
    since: int | None = None  # of a question about change: the earlier wave, whose value is the first digit

    @property
    def words(self) -> int:
        """How many random words a device reads: of a question about change one for each value that may be had now."""
        return self.levels[1] if self.since else len(self.features) + 1

    def block(self, name: str) -> frozenset[str]:
        """The features that nothing is assumed of, next to one that is asked; itself among them."""
        return self.blocks.get(name, frozenset({name}))

    def outside(self, name: str) -> list[tuple[int, ...]]:
        """At each input of a question about blocks, what is asked outside that of a feature."""
        others = [position for position, other in enumerate(self.features) if other not in self.block(name)]
        return [tuple(digits[position] for position in others) for digits in self.possible]

    def sees(self, rounded: frozenset[str], known: Mapping[str, frozenset[float]]) -> str:
        """How these numbers enter the answer: rounded once to some of 17 levels, multiplied before, or as they are.

        Or in steps that begin at cuts that are known of them.
        """
        marked = [position for position, name in enumerate(self.features) if name in rounded]
        stepped = [position for position in marked if self.features[position] in self.cuts]
        rounded_to = [
            self.levels[0 if self.product else position] - self.extras[self.features[position]]
            for position in marked
            if position not in stepped
        ]
        if any(16 % (levels - 1) for levels in rounded_to):
            return "as they are"
        if stepped:
            names = [self.features[position] for position in stepped]
            return (
                "in steps" if all(known.get(n, frozenset()).issuperset(self.cuts[n]) for n in names) else "as they are"
            )
        return "multiplied" if self.product and len(marked) == len(self.features) else "rounded"


@dataclass(frozen=True)
class Channel:
    """The features that a channel of the cascade covers, and the ratio of its bit."""

    features: tuple[str, ...]
    ratio: Fraction


Menu = tuple[Question, ...]


def read_menus(document: Mapping[str, Any], features: Mapping[str, Feature]) -> list[Menu]:
    """The menus of a survey, each as its questions."""
    if sequence("channels", document["channels"]):
        raise refuse("channels", document["channels"], "no channels in a survey")
    tables = [_table(f"tables.{k}", table) for k, table in enumerate(sequence("tables", document["tables"]))]
    ratios = [table.ratio for table in tables]
    questions = [
        _question(f"questions.{k}", stated, features, tables, ratios)
        for k, stated in enumerate(sequence("questions", document["questions"]))
    ]
    menus, drawn = [], 0
    for k, stated in enumerate(sequence("menus", document["menus"], 1)):
        mapping(f"menus.{k}", stated, ("weight", "questions"), ("wave",))
        drawn += whole(f"menus.{k}.weight", stated["weight"], 1, TOTAL)
        numbers = sequence(f"menus.{k}.questions", stated["questions"], 1)
        menu = tuple(questions[whole(f"menus.{k}.questions", number, 0, len(questions) - 1)] for number in numbers)
        asked = [name for question in menu for name in question.features]
        if len(set(asked)) < len(asked):
            raise refuse(f"menus.{k}", asked, "each feature at most once in a menu")
        menus.append(menu)
    if drawn == len(menus) * TOTAL:  # all are answered, each in a message of its own
        _check_messages(document, menus)
    elif drawn != TOTAL:
        raise refuse("menus", f"weights that sum to {drawn}", f"a sum of 2^32 = {TOTAL}")
    answers = sum(math.prod(question.table.symbols for question in menu) for menu in menus)
    if answers > MOST_ANSWERS:
        raise refuse("menus", f"{answers} possible answers", f"at most {MOST_ANSWERS} in all menus together")
    return menus


def _check_messages(document: Mapping[str, Any], menus: Sequence[Menu]) -> None:
    if len(menus) > 1 and (document["collection"].get("trust") != "relay" or len(menus) > MOST_MESSAGES):
        accepted = f"one message, or up to {MOST_MESSAGES} with trust: relay"
        raise refuse("menus", f"{len(menus)} messages", accepted)
    asked = [name for question in linked(menus) for name in question.features]
    if len(set(asked)) < len(asked):
        raise refuse("menus", asked, "each feature in at most one message")


def sends_all(document: Mapping[str, Any]) -> bool:
    """Whether every menu is a message of its own."""
    return len(document["menus"]) > 1 and all(menu["weight"] == TOTAL for menu in document["menus"])


def linked(menus: Sequence[Menu]) -> Menu:
    """The questions of all menus."""
    return tuple(question for menu in menus for question in menu)


def read_channels(document: Mapping[str, Any], features: Mapping[str, Feature]) -> list[Channel]:
    """The channels of a cascade, each within the one before it."""
    for key in ("tables", "questions", "menus"):
        if sequence(key, document[key]):
            raise refuse(key, document[key], "none in a cascade")
    channels, covered = [], tuple(features)
    for k, stated in enumerate(sequence("channels", document["channels"], 1)):
        mapping(f"channels.{k}", stated, ("features", "keep"))
        keep = whole(f"channels.{k}.keep", stated["keep"], TOTAL // 2 + 1, TOTAL - 1)
        covered = names(f"channels.{k}.features", stated["features"], covered)
        channels.append(Channel(covered, Fraction(keep, TOTAL - keep)))
    return channels


def _question(
    path: str, stated: Any, features: Mapping[str, Feature], tables: Sequence[Table], ratios: Sequence[Ratio]
) -> Question:
    kind = mapping(path, stated).get("kind")
    if kind == "change":
        return _change(path, stated, features, tables, ratios)
    block, product = kind == "block", "kind" in stated and kind != "block"
    mapping(path, stated, BLOCK_KEYS if block else PRODUCT_KEYS if product else QUESTION_KEYS,
            () if product else ("cuts",))  # fmt: skip
    asked = names(f"{path}.features", stated["features"], features)
    levels = tuple(
        whole(f"{path}.levels", size, 2, MOST_CELLS) for size in sequence(f"{path}.levels", stated["levels"])
    )
    if product:
        _check_product(path, stated, [features[name] for name in asked])
    elif len(levels) != len(asked):
        raise refuse(f"{path}.levels", levels, "one number for each feature")
    for name, size in zip(() if product else asked, levels):
        if features[name].values not in (None, size):
            raise refuse(f"{path}.levels", size, f"the {features[name].values} values of {name}")
        if features[name].number and size < 2 + features[name].extras:
            raise refuse(f"{path}.levels", size, "two levels for numbers and one for no answer, at least")
    cuts = _cuts(f"{path}.cuts", stated["cuts"], asked, levels, features) if "cuts" in stated else {}
    possible, blocks = _possible(path, asked, levels, features, block)
    number = whole(f"{path}.table", stated["table"], 0, len(tables) - 1)
    table, inputs = tables[number], len(possible) or math.prod(levels)
    if table.levels != inputs:
        raise refuse(f"{path}.table", f"{table.levels} levels", f"{inputs} levels")
    if len(levels) > 1:
        _check_cells(f"tables.{number}", table.levels, table.symbols)
    extras = {name: features[name].extras for name in asked}
    return Question(
        asked,
        levels,
        product,
        table,
        ratio=ratios[number],
        cuts=cuts,
        extras=extras,
        possible=possible,
        blocks=blocks,
        categories=tuple(stated["categories"]) if product else (),
    )


def _change(
    path: str, stated: Any, features: Mapping[str, Feature], tables: Sequence[Table], ratios: Sequence[Ratio]
) -> Question:
    """The value of one feature in an earlier wave, and its value now."""
    mapping(path, stated, CHANGE_KEYS)
    asked = names(f"{path}.features", stated["features"], features)
    since = whole(f"{path}.since", stated["since"], 1, MOST_WAVES)
    values = None if len(asked) != 1 else features[asked[0]].values
    sizes = sequence(f"{path}.levels", stated["levels"])
    levels = tuple(whole(f"{path}.levels", size, 2, MOST_CELLS) for size in sizes)
    if values is None or levels != (values, values):
        raise refuse(f"{path}.levels", levels, "twice the number of values of one feature that is no number")
    number = whole(f"{path}.table", stated["table"], 0, len(tables) - 1)
    table = tables[number]
    if table.levels != values**2:
        raise refuse(f"{path}.table", f"{table.levels} levels", f"{values**2} levels")
    _check_cells(f"tables.{number}", table.levels, table.symbols)
    return Question(asked, levels, False, table, ratio=ratios[number], cuts={}, extras={asked[0]: 0}, since=since)


def _possible(
    path: str, asked: Sequence[str], levels: Sequence[int], features: Mapping[str, Feature], block: bool
) -> tuple[tuple[tuple[int, ...], ...], dict[str, frozenset[str]]]:
    """What can occur together of blocks and others, and the block of each feature; only kind block may ask of these."""
    conditions = {name: feature.condition for name, feature in features.items() if feature.condition is not None}
    blocks = {name: block_of(name, conditions) for name in asked} if conditions else {n: frozenset({n}) for n in asked}
    linked = any(len(own) > 1 for own in blocks.values())
    listed = len(asked) > 1 and any(features[name].sets for name in asked)
    if not block and linked:
        raise refuse(f"{path}.kind", "none", "block, for features that depend on each other")
    if not block and listed:
        raise refuse(f"{path}.features", asked, "a list to tick alone, or in a question of kind block")
    if not block:
        return (), {}
    if not (linked or listed) or not all(own <= set(asked) for own in blocks.values()):
        raise refuse(
            f"{path}.features", asked, "all features that depend on each other, or a list, perhaps with others"
        )
    return tuple(combinations(path, asked, levels, conditions)), blocks


def _cuts(
    path: str, stated: Any, asked: Sequence[str], levels: Sequence[int], features: Mapping[str, Feature]
) -> dict[str, tuple[float, ...]]:
    cuts_by_name = {}
    if len(sequence(path, stated)) != len(asked):
        raise refuse(path, stated, "null or cuts for each feature")
    for name, size, cuts in zip(asked, levels, stated):
        known = features[name].number
        if cuts is None:
            continue
        if known is None:
            raise refuse(path, cuts, "null for what is no number")
        cuts_by_name[name] = rising(path, cuts, *known.bounds)
        steps = size - features[name].extras
        if len(cuts) != steps - 1 or steps > MOST_STEPS:
            raise refuse(path, cuts, f"one less than steps, which are at most {MOST_STEPS}")
    if not cuts_by_name:
        raise refuse(path, stated, "cuts for at least one number")
    return cuts_by_name


def _check_product(path: str, stated: Any, asked: Sequence[Feature]) -> None:
    if stated["kind"] != "product":
        raise refuse(f"{path}.kind", stated["kind"], "product, or no such key")
    if len(stated["levels"]) != 1 or len(asked) > 2 or (len(asked) == 1 and asked[0].kind != "numeric"):
        raise refuse(path, stated, "one entry of levels, for the product of two features or the square of a number")
    if any(feature.condition is not None or (feature.extras and feature.kind == "numeric") for feature in asked):
        raise refuse(path, stated, "numbers in which no answer is not a value of its own, and no follow-ups")
    categories = sequence(f"{path}.categories", stated["categories"])
    if len(categories) != len(asked):
        raise refuse(f"{path}.categories", categories, "one entry for each feature")
    for feature, category in zip(asked, categories):
        if feature.kind in ("categorical", "ordinal") or feature.extras:
            whole(f"{path}.categories", category, 0, (feature.values or 0) - 1)
        elif category is not None:
            raise refuse(f"{path}.categories", category, "null for what is not categorical")


def _table(path: str, stated: Any) -> Table:
    family = mapping(path, stated).get("family")
    if not isinstance(family, str) or family not in TABLE_KEYS:
        raise refuse(f"{path}.family", family, ", ".join(TABLE_KEYS))
    mapping(path, stated, ("family", *TABLE_KEYS[family]))
    if family == "dense":
        rows = [sequence(f"{path}.weights", row, 1) for row in sequence(f"{path}.weights", stated["weights"], 1)]
        _check_cells(path, len(rows), max(map(len, rows)))
        for row in rows:
            if len(row) != len(rows[0]) or sum(whole(f"{path}.weights", weight, 0, TOTAL) for weight in row) != TOTAL:
                raise refuse(f"{path}.weights", row, f"rows of one length that sum to {TOTAL}")
        return Table(family, len(rows), len(rows[0]), stated)
    if family == "response":
        levels = whole(f"{path}.levels", stated["levels"], 2, MOST_LEVELS)
        other = whole(f"{path}.other", stated["other"], 1, TOTAL)
        if whole(f"{path}.keep", stated["keep"], other, TOTAL) + (levels - 1) * other != TOTAL:
            raise refuse(f"{path}.keep", stated["keep"], f"keep + (levels - 1) other = {TOTAL}")
        return Table(family, levels, levels, stated)
    if family == "waves":
        return _waves(path, stated)
    if family == "projective":
        return Table(family, *read_projective(path, stated), stated)
    levels = whole(f"{path}.levels", stated["levels"], 2, LARGEST_ORDER)
    order = whole(f"{path}.order", stated["order"], levels, LARGEST_ORDER)
    if order & (order - 1):
        raise refuse(f"{path}.order", order, "a power of 2")
    whole(f"{path}.keep", stated["keep"], TOTAL // order // 2, TOTAL // order - 1)
    return Table(family, levels, 2 * order, stated)


def _waves(path: str, stated: Any) -> Table:
    levels = whole(f"{path}.levels", stated["levels"], 2, MOST_BINS)
    waves = sequence(f"{path}.waves", stated["waves"], 1)
    for wave in waves:
        if len(sequence(f"{path}.waves", wave)) != 5:
            raise refuse(f"{path}.waves", wave, "answers, step, width, high and low of each wave")
        answers = whole(f"{path}.waves.answers", wave[0], 2, 2 * levels)
        for name, number in zip(("step", "width"), wave[1:3]):
            whole(f"{path}.waves.{name}", number, 1, answers - 1)
        whole(f"{path}.waves.high", wave[3], whole(f"{path}.waves.low", wave[4], 1, TOTAL), TOTAL)
    if _words(waves) > TOTAL:
        raise refuse(f"{path}.waves", _words(waves), f"at most {TOTAL} words in all")
    symbols = sum(wave[0] for wave in waves) + 1
    _check_cells(path, levels, symbols)
    return Table("waves", levels, symbols, stated)


def _words(waves: Sequence[Any]) -> int:
    """How many of the words belong to a wave; the others give the last symbol, silence."""
    return sum(width * high + (answers - width) * low for answers, _, width, high, low in waves)


def _check_cells(path: str, levels: int, symbols: int) -> None:
    if levels * symbols > MOST_CELLS:
        raise refuse(path, f"{levels} x {symbols} weights", f"at most {MOST_CELLS} weights")


def over(most: int, least: int) -> Ratio:
    """One weight over another of the same symbol."""
    if most == 0:
        return Fraction(1)  # a symbol that is never given tells nothing
    return Fraction(most, least) if least else math.inf
