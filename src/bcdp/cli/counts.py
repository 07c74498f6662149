"""What published counts reveal, on the terminal and as JSON; and the note of what was published."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from bcdp.cli.output import PIPED_WIDTH, same_file, table
from bcdp.errors import refuse
from bcdp.present.words import one_in, rounded_up, small_odds, together

if TYPE_CHECKING:
    from rich.table import Table

    from bcdp.plan import Plan
    from bcdp.present.batch_promise import BatchPromise
    from bcdp.present.published_counts import CountsPromise
    from bcdp.present.trust_choices import TrustChoice
    from bcdp.tally import Tally

NOTE = "published.json"

Counts = list[list[int]]  # rows of menu, answer, with open features their group, and count


def counts_summary(plan: Plan, promised: Sequence[CountsPromise]) -> list[str]:
    """What the column of a plan's table is about that shows what counts reveal, and whom to trust for which promise."""
    from bcdp.present.published_counts import trusted, void

    if not promised:
        return []
    held = f"counts: what the published ones {_of(plan, promised)} reveal, except with {one_in(promised[-1].chance)}."
    whom = "; ".join(f"{promise}: {who}" for promise, who in trusted(plan))
    sentences = (f"{held} {void(plan)}", f"Whom one has to trust for what is promised about {whom}.")
    return [line for sentence in sentences for line in wrap(sentence, PIPED_WIDTH)]


def _of(plan: Plan, promised: Sequence[CountsPromise]) -> str:
    of = f"of {promised[-1].people:,} people"
    if plan.policy.open:
        of = f"by groups of open values, of at least {promised[-1].people:,} people each,"
    return of


def counts_lines(plan: Plan, promised: Sequence[CountsPromise]) -> list[str | Table]:
    """What counts reveal, for a person to read, and whom to trust for which promise."""
    from bcdp.present.published_counts import trusted, void

    if not promised:
        return []
    record = promised[-1]
    rows = [
        [promise.name or promise.label, rounded_up(promise.epsilon), f"x{small_odds(promise.level)}"]
        for promise in promised
    ]
    return [
        f"What the published counts {_of(plan, promised)} reveal, except with {one_in(record.chance)}",
        table(["feature", "epsilon", "odds"], rows),
        *together((promise.name or promise.label, promise.condition) for promise in promised),
        *wrap(void(plan), PIPED_WIDTH),
        "",
        "Whom one has to trust for what is promised about",
        *(f"{promise + ':':<31}{who}" for promise, who in trusted(plan)),
        "",
    ]


def batch_lines(promise: BatchPromise | None) -> list[str | Table]:
    """The main promise about a batch, its conditions, and what is left without; nothing where there is none."""
    if promise is None:
        return []
    rows = [
        [counted.name or counted.label, rounded_up(counted.epsilon), f"x{small_odds(counted.level)}"]
        for counted in promise.counted
    ]
    return [
        f"Main promise: what a person's answers reveal to {promise.against}",
        table(["feature", "epsilon", "odds"], rows),
        *together((counted.name or counted.label, counted.condition) for counted in promise.counted),
        promise.holds,
        *(f"- {condition}" for condition in promise.conditions),
        *wrap(promise.without, PIPED_WIDTH),
        *(wrap(promise.sent, PIPED_WIDTH) if promise.trust == "relay" else []),
        "",
    ]


def trust_lines(choices: Sequence[TrustChoice], people: int) -> list[str | Table]:
    """Whom to trust, as a choice: at the same level, what answers are worth."""
    from bcdp.present.trust_choices import MOST_COLUMNS, choice_cells

    if not choices:
        return []
    features = list(choices[0].open_people)
    names = features if len(features) <= MOST_COLUMNS else []
    heads = ["whom to trust", "hidden among", "level", "one report", *(names or ["worth"])]
    few = len(choices) == 1
    return [
        f"Whom to trust: the same level against three observers, and what answers of {people:,} people are worth",
        table(heads, [choice_cells(choice, names) for choice in choices]),
        "level: epsilon of what the observer sees: one report, a batch, published counts. one report: the fallback.",
        "the numbers of each feature: how many openly asked people would have the same standard error.",
        *(["batches and tallies of fewer than 1,000 people, or of open groups without counts, promise nothing."] * few),
        "",
    ]


def published(tally: Tally, output: Path, only_added: bool = False) -> list[CountsPromise]:
    """Writes counts to publish, after a note of them in its folder; returns what they reveal.

    Two tallies of nearly the same people reveal the answers of the few who are in one of them. So counts are of at
    least 1,000 people. Where counts of this plan were published before, they are the same, or contain them cell by
    cell and at least 1,000 people more: then each person is counted once, in the first tally or in a difference of
    two, provided that nobody was deleted, corrected or moved to another group in between (`only_added`). Counts do
    not show whether somebody was, so the publisher has to say that nobody was (theory.md, 4.8). With open features
    that is so of every group of their values, unless nobody came to it.
    """
    from bcdp.files import locked, written_whole
    from bcdp.plan import check_menus
    from bcdp.plan.published_counts import LEAST_PEOPLE
    from bcdp.present.promise import promises
    from bcdp.present.published_counts import counts_promises

    check_menus(tally.plan)
    note = output.with_name(NOTE)
    if output.name == NOTE or same_file(output, note):
        raise refuse("--output", str(output), f"another name than {NOTE}, which notes what was published")
    counts = tally.rows()
    with locked(note):
        noted = _noted(note)
        before = noted.get(tally.plan.id, [])
        series = before if counts in before[-1:] else [*before, counts]
        if len(series) > max(len(before), 1) and not only_added:
            raise refuse(
                "--publish",
                "other counts than were published before",
                "the same counts; or --only-added, if nobody counted before was deleted, corrected or moved since",
            )
        least = min(people for older, newer in pairwise([[], *series]) for people in _further(older, newer))
        if least < LEAST_PEOPLE:
            each = " in every group of open values" if tally.plan.policy.open else ""
            further = f", all {_people(before[-1]):,} published before among them and so many more" if before else ""
            raise refuse(
                "--publish",
                f"counts of {tally.people:,} people",
                f"counts of at least {LEAST_PEOPLE:,} people{each}{further}; "
                f"for other people, another folder with its own {NOTE}",
            )
        with written_whole(note) as draft:
            draft.write_text(json.dumps({**noted, tally.plan.id: series}), encoding="utf-8")
        with written_whole(output) as draft:
            tally.save(draft)
    return counts_promises(tally.plan, promises(tally.plan), least)


def _further(older: Counts, newer: Counts) -> list[int]:
    """How many people newer counts have beyond the older ones, in each group of open values to which somebody came.

    It is 0 if they do not contain the older ones in every cell.
    """
    before, after = ({tuple(cell): count for *cell, count in counts} for counts in (older, newer))
    if any(after.get(cell, 0) < count for cell, count in before.items()):
        return [0]
    came = Counter[tuple[int, ...]]()
    for (_, _, *group), count in after.items():
        came[tuple(group)] += count
    for (_, _, *group), count in before.items():
        came[tuple(group)] -= count
    return [people for people in came.values() if people] or [0]


def _people(counts: Counts) -> int:
    return sum(count for *_, count in counts)


def _noted(note: Path) -> dict[str, list[Counts]]:
    """For each plan the counts that were published, the earliest first."""
    if not note.exists():
        return {}
    try:
        published: dict[str, list[Counts]] = json.loads(note.read_text("utf-8"))
        for series in published.values():
            for counts in series:
                _further([], counts)
    except (OSError, ValueError, TypeError, AttributeError):
        raise refuse("--publish", str(note), "a note written by `bcdp tally --publish`") from None
    return published
