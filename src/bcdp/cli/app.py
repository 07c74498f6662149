"""The `bcdp` program: its commands, and what a person sees when something goes wrong.

A new command is a function with a docstring in a module of its own and one line under `COMMANDS` here. It reads its
options with the types of `bcdp.cli.options`, speaks through `bcdp.cli.output`, raises `InputError` for bad input and
imports what is heavy inside its body, so that `bcdp --help` stays quick.
"""

from __future__ import annotations

import importlib.metadata
import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from bcdp.cli.audit import audit
from bcdp.cli.collect import estimate, privatize, tally
from bcdp.cli.correlate import correlate
from bcdp.cli.experiment import experiment
from bcdp.cli.export import export
from bcdp.cli.ledger import ledger
from bcdp.cli.plan import plan, policy
from bcdp.cli.report import demo, report
from bcdp.cli.serve import serve, tickets
from bcdp.cli.simulate import simulate
from bcdp.cli.verify import verify
from bcdp.errors import InputError

NO_READER, BAD_INPUT, INTERRUPTED = 1, 2, 130

COMMANDS: dict[str, Callable[..., None]] = {
    "policy": policy,
    "correlate": correlate,
    "plan": plan,
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

app = typer.Typer(
    name="bcdp",
    add_completion=False,
    pretty_exceptions_enable=False,  # a traceback with local variables could show people's records
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for name, command in COMMANDS.items():
    app.command(name)(command)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"bcdp {importlib.metadata.version('bcdp')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
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
    try:
        code = app(arguments, prog_name="bcdp", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader left, as `head` does; the last flush of the interpreter must not complain about it either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NO_READER
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except InputError as error:
        return _fail(str(error))
    except typer.TyperException as error:
        return _fail(error.format_message() + _given(error))
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    return code if isinstance(code, int) else 0


def _given(error: typer.TyperException) -> str:
    """The value that was refused, which the library's own messages leave out."""
    from pydantic import ValidationError

    cause = error.__cause__
    return f"; got {cause.errors()[0]['input']!r}" if isinstance(cause, ValidationError) else ""


def _fail(message: str) -> int:
    for mistake in message.splitlines():  # a document may hold several, each told in a line of its own
        print("bcdp:", " ".join(mistake.split()), file=sys.stderr)
    return BAD_INPUT
