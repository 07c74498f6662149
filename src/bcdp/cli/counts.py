"""What published counts tell, on the terminal and as JSON; and the note of what was published."""

from __future__ import annotations

import json
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
    from bcdp.present.counts import CountsPromise
    from bcdp.tally import Tally

NOTE = "published.json"

Counts = list[list[int]]  # rows of menu, answer and count


def counts_lines(plan: Plan, promised: Sequence[CountsPromise]) -> list[str | Table]:
    """What counts tell, for a person to read, and whom to trust for which promise."""
    from bcdp.present.counts import VOID, trusted

    if not promised:
        return []
    whole = promised[-1]
    rows = [
        [promise.name or promise.label, rounded_up(promise.epsilon), f"x{small_odds(promise.level)}"]
        for promise in promised
    ]
    return [
        f"What the published counts of {whole.people:,} people tell, except with {one_in(whole.chance)}",
        table(["feature", "epsilon", "odds"], rows),
        *together((promise.name or promise.label, promise.condition) for promise in promised),
        *wrap(VOID, PIPED_WIDTH),
        "",
        "Whom one has to trust for what is promised about",
        *(f"{promise + ':':<31}{who}" for promise, who in trusted(plan)),
        "",
    ]


def published(tally: Tally, output: Path) -> list[CountsPromise]:
    """Writes counts to publish, after a note of them in its folder; gives what they tell.

    Two tallies of nearly the same people tell what the few answered that they differ in. So the counts are of at least
    1,000 people, and where counts of this plan were published before, they are the same, or contain them cell by cell
    and at least 1,000 people more: then each person is counted once, in the first tally or in a difference of two.
    """
    from bcdp.files import locked, written_whole
    from bcdp.plan import check_menus
    from bcdp.plan.counts import LEAST_PEOPLE
    from bcdp.present.counts import counts_promises
    from bcdp.present.promise import promises

    check_menus(tally.plan)
    if tally.plan.policy.open:
        raise refuse("--publish", "counts by open features", "a plan without them: counts of groups tell more")
    note = output.with_name(NOTE)
    if output.name == NOTE or same_file(output, note):
        raise refuse("--output", str(output), f"another name than {NOTE}, which notes what was published")
    counts: Counts = tally.to_dict()["counts"]
    with locked(note):
        noted = _noted(note)
        before = noted.get(tally.plan.id, [])
        series = before if counts in before[-1:] else [*before, counts]
        groups = [_further(older, newer) for older, newer in pairwise([[], *series])]
        if min(groups) < LEAST_PEOPLE:
            further = f", all {_people(before[-1]):,} published before among them and so many more" if before else ""
            raise refuse(
                "--publish",
                f"counts of {tally.people:,} people",
                f"counts of at least {LEAST_PEOPLE:,} people{further}; "
                f"for other people, another folder with its own {NOTE}",
            )
        with written_whole(note) as draft:
            draft.write_text(json.dumps({**noted, tally.plan.id: series}), encoding="utf-8")
        with written_whole(output) as draft:
            tally.save(draft)
    return counts_promises(tally.plan, promises(tally.plan), min(groups))


def _further(older: Counts, newer: Counts) -> int:
    """How many people newer counts have beyond the older ones; 0 if they do not contain them in every cell."""
    cells = {(menu, answer): count for menu, answer, count in newer}
    contained = all(cells.get((menu, answer), 0) >= count for menu, answer, count in older)
    return _people(newer) - _people(older) if contained else 0


def _people(counts: Counts) -> int:
    return sum(count for *_, count in counts)


def _noted(note: Path) -> dict[str, list[Counts]]:
    """For each plan the counts that were published, the earliest first."""
    if not note.exists():
        return {}
    try:
        found: dict[str, list[Counts]] = json.loads(note.read_text("utf-8"))
        for series in found.values():
            for counts in series:
                _people(counts)
    except (OSError, ValueError, TypeError, AttributeError):
        raise refuse("--publish", str(note), "a note written by `bcdp tally --publish`") from None
    return found
