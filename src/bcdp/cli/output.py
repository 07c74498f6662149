"""What commands print: results on stdout, as tables for people or one JSON document; progress on stderr."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bcdp.errors import refuse
from bcdp.present.words import finer_guesses, number, odds, posterior_at_most

if TYPE_CHECKING:  # rich takes longer to import than all else that `bcdp --help` needs
    from rich.console import Console
    from rich.table import Table

    from bcdp.plan import Plan
    from bcdp.present.promise import Promise

PIPED_WIDTH = 100
PROMISE_WORDS = [
    "odds, 50% becomes: on its condition, one report multiplies the odds of a guess about the feature by at most",
    "this (rounded up), and a guess that was right with probability 50% becomes right with at most that.",
    "at twice, at worst: by at most this if the numbers of its condition are twice as large; with nothing assumed.",
]
_SECOND_WORDS = (
    "if wrong, at worst: by at most this at so many times q and odds - 1 of its condition, as the policy demands; with "
    "nothing assumed."
)


def _console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    console = Console(stderr=stderr, highlight=False)
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    return console


def show(*parts: str | Table) -> None:
    """Prints lines and tables on stdout: coloured on a terminal, plain text of at most 100 columns into a pipe."""
    console = _console()
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, str), markup=False)


def remark(*sentences: str) -> None:
    """Prints sentences on stderr that a person should know of, whatever goes to stdout."""
    console = _console(stderr=True)
    for sentence in sentences:
        console.print(f"note: {sentence}", soft_wrap=True, markup=False)


def show_json(document: Mapping[str, Any]) -> None:
    """Prints the document on stdout as strict JSON: numbers that are not finite become null."""
    print(json.dumps(_finite(document), indent=2, allow_nan=False))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> Table:
    """A table to `show`: text in the first column, numbers in the others, with four significant digits."""
    from rich.table import Table

    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for position, column in enumerate(columns):
        drawn.add_column(column, justify="left" if position == 0 else "right", overflow="fold")
    for row in rows:
        drawn.add_row(*(_cell(value) for value in row))
    return drawn


def promise_columns(promised: Mapping[str, Promise]) -> list[str]:
    """The columns of `promise_cells`: how far odds move, and how far if the condition is wrong."""
    wrong = "at twice" if _no_second(promised) else "if wrong"
    return ["odds", "50% becomes", wrong, "at worst"]


def promise_words(promised: Mapping[str, Promise]) -> list[str]:
    """What these columns mean."""
    return PROMISE_WORDS if _no_second(promised) else [*PROMISE_WORDS[:-1], _SECOND_WORDS]


def _no_second(promised: Mapping[str, Promise]) -> bool:
    return all(promise.if_wrong is None for promise in promised.values())


def promise_cells(promise: Promise) -> list[str]:
    """The cells of `promise_columns`."""
    twice = "-" if promise.twice is None else f"x{odds(promise.twice)}"
    if promise.if_wrong is not None:
        times, level = promise.if_wrong
        twice = f"x{odds(level)} at {times:g}x"
    return [f"x{odds(promise.level)}", posterior_at_most(promise.level), twice, f"x{odds(promise.nothing)}"]


def check_output(option: str, path: Path | None, *inputs: Path | None, ending: str | tuple[str, ...] = "") -> None:
    """Refuses, before any work, to write over an input, into no folder, or under a name that says something else."""
    if path is None:
        return
    if any(given is not None and same_file(path, given) for given in inputs):
        raise refuse(option, str(path), "another file than those that are read")
    if path.exists() and not path.is_file() and not path.is_dir():
        return  # a device or a pipe, which has no ending
    if not path.name.lower().endswith(ending):
        named = ending if isinstance(ending, str) else " or ".join(ending)
        raise refuse(option, str(path), f"a name that ends in {named}")
    if path.is_dir() or not os.access(path.parent, os.W_OK):
        raise refuse(option, str(path), "a file in an existing folder that you may write to")


def make_folder(option: str, path: Path) -> None:
    """The folder for several files, created if it does not exist."""
    if path.exists() and not path.is_dir():
        raise refuse(option, str(path), "a folder")
    path.mkdir(parents=True, exist_ok=True)
    if not os.access(path, os.W_OK):
        raise refuse(option, str(path), "a folder that you may write to")


def same_file(first: Path, second: Path) -> bool:
    """Whether two names, links among them, stand for one file."""
    return first.exists() and second.exists() and first.samefile(second)


def _cell(value: object) -> str:
    return number(value) if isinstance(value, float) else str(value)


def finer_lines(plan: Plan, finer: Mapping[str, Mapping[int, float]], where: str) -> list[str]:
    """What finer guesses about numbers tell than those that their promises cover."""
    lines = []
    for name, levels in finer.items():
        loud = max(levels.values()) > plan.certificate.features[name].certified
        heading = "WARNING: finer guesses, which its promise does not cover, tell more" if loud else "finer guesses"
        lines.append(f"{name}: {heading}; {where} {finer_guesses(levels)} (some of it by chance)")
    return lines


@contextmanager
def progress(description: str, total: float | None) -> Iterator[Callable[[float], None]]:
    """A bar on stderr while the block runs, if a person watches; the block calls what it gets with each step's size."""
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        Task,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """How many steps are done in a second."""

        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "")

    console = _console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), Rate(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(description, total=total)
        yield lambda step: bar.advance(task, step)


@contextmanager
def working(description: str) -> Iterator[Callable[[str], None]]:
    """A line on stderr while the block runs, if a person watches; the block says through it what it is doing."""
    console = _console(stderr=True)
    if not console.is_terminal:
        yield lambda line: None
        return
    with console.status(description) as status:
        yield lambda line: status.update(f"{description}: {line}")
