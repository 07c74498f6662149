"""`bcdp studio`: plan a collection on a page, and see what a promise costs before anybody is asked."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from bcdp.errors import InputError, refuse


def studio(
    policy: Annotated[Path | None, typer.Argument(metavar="POLICY", help="A policy to start from.")] = None,
    port: Annotated[int, typer.Option(metavar="P", min=0, max=65535, help="0 takes a free one.")] = 0,
    folder: Annotated[
        Path, typer.Option(metavar="DIR", help="Where a collection that is started there keeps its files.")
    ] = Path(),
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page, or only print its address.")
    ] = True,
) -> None:
    """Plan a collection on a page: what is asked, how it is protected, and what that costs.

    The page is for this machine alone: it is served on loopback, under an address with a secret in it, and nothing
    that is entered or dropped there leaves the machine or is written down. From there the policy, the plan and the
    report are saved, the page that people will see is looked at, and the collection is started.

    Examples:

        bcdp studio
        bcdp studio policy.yaml --folder surveys
    """
    from bcdp.policy.document import read_document
    from bcdp.studio.server import serve_studio

    if not folder.is_dir():
        raise refuse("--folder", str(folder), "an existing folder")
    mistakes: list[str] = []
    document = None if policy is None else read_document(policy, mistakes)
    if mistakes or not (policy is None or isinstance(document, dict)):
        raise InputError("\n".join(mistakes) or f"policy: got {str(policy)!r}; accepted: a policy, a YAML file")

    def tell(address: str) -> None:
        print(f"studio: {address}", file=sys.stderr, flush=True)
        if browser:
            webbrowser.open(address)

    serve_studio(cast("dict[str, Any] | None", document), folder.resolve(), port, tell)
