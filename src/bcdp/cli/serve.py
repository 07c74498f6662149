"""`bcdp serve`, `bcdp tickets`, `bcdp keypair` and `bcdp relay`: the collector, invitations to it, a way to it."""

from __future__ import annotations

import secrets
import sys
from pathlib import Path
from typing import Annotated

import typer

from bcdp.cli.options import AsJson, PlanFile, StoreUrl
from bcdp.cli.output import show_json
from bcdp.errors import InputError


def serve(
    plan: PlanFile,
    store: StoreUrl = "reports.db",
    host: Annotated[str, typer.Option(metavar="H", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="P", min=0, max=65535, help="The port; 0 takes a free one.")] = 8000,
    workers: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="Processes that answer.")] = 1,
    token_file: Annotated[
        Path | None, typer.Option(metavar="F", help="The operator's token; else a new one is shown at the start.")
    ] = None,
    tickets_key: Annotated[
        Path | None, typer.Option(metavar="F", help="Accept only tickets issued with this key, each once.")
    ] = None,
    rate: Annotated[
        float, typer.Option(metavar="R", min=0, help="Reports a second from one address; 0: no limit.")
    ] = 100.0,
    people: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many are to answer: the dashboard shows how far it is.")
    ] = None,
    proxies: Annotated[
        str | None, typer.Option(metavar="A,B", help="Proxies whose X-Forwarded-For is believed.")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(metavar="O", help="A page elsewhere that may send reports; may be repeated.")
    ] = None,
    gateway_key: Annotated[
        Path | None, typer.Option(metavar="F", help="The key of `bcdp keypair`, if the plan names a relay.")
    ] = None,
    relays: Annotated[
        str | None, typer.Option(metavar="A,B", help="Addresses that alone may hand on sealed reports, any number.")
    ] = None,
) -> None:
    """Collect reports over HTTP: hand out the plan, store every report once, show estimates to the operator.

    A report is on disk before it is acknowledged. No address, time or cookie is stored. The survey page is at /, the
    operator's dashboard at /dashboard. Put a proxy with TLS in front of it; docs/deploy.md shows how.

    Examples:

        bcdp serve plan.json
        bcdp serve plan.json --store postgresql://bcdp@db/survey --workers 4
        bcdp serve plan.json --token-file token --proxies 127.0.0.1
    """
    from bcdp.collector import Settings, StoreError, open_store
    from bcdp.collector.origins import Origins
    from bcdp.collector.server import serve as serve_collection
    from bcdp.collector.settings import Quotas
    from bcdp.plan import Plan

    made = Plan.load(plan)
    token = _read(token_file, "--token-file").decode("ascii", "replace").strip() if token_file else None
    key = _read(tickets_key, "--tickets-key") if tickets_key else None
    secret, origins = secrets.token_urlsafe(24) if token is None else token, Origins(allow_origin or ()).allowed
    opening = _read(gateway_key, "--gateway-key") if gateway_key else None
    settings = Settings(
        made,
        store,
        secret,
        key,
        Quotas(rate=rate),
        origins=tuple(sorted(origins)),
        planned=people,
        gateway_key=opening,
        relays=tuple(relays.split(",")) if relays else (),
    )
    opened = open_store(store, made.id)
    try:
        opened.check()
    except StoreError as error:
        cause = f" ({' '.join(str(error.__cause__).split())})" if error.__cause__ else ""
        raise InputError(f"--store: {error}{cause}; accepted: a store of this plan, or an empty one") from None
    finally:
        opened.close()
    if token is None:
        print(f"the operator's token, for this run: {settings.token}", file=sys.stderr)
    serve_collection(settings, host, port, workers, proxies, _tell)


def keypair(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The private key to write; only you may read it.")],
    as_json: AsJson = False,
) -> None:
    """Make the key for which devices seal their reports, and print its public part for the policy.

    With it under relay in a policy, devices send sealed reports to the relay instead of the collector, which opens
    them with the private key: bcdp serve plan.json --gateway-key FILE.

    Example:

        bcdp keypair gateway.key
    """
    from bcdp.sealing import GatewayKey

    made = GatewayKey.make(file)
    if as_json:
        show_json({"file": str(file), "key": made.configuration})
    else:
        print(f"relay:\n  url: https://relay.example.org/\n  key: {made.configuration}")


def relay(
    to: Annotated[str, typer.Option(metavar="URL", help="The collector's gateway.")],
    host: Annotated[str, typer.Option(metavar="H", help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="P", min=0, max=65535, help="0 takes a free one.")] = 8001,
    rate: Annotated[
        float, typer.Option(metavar="R", min=0, help="Messages a second from one address; 0: no limit.")
    ] = 100.0,
    proxies: Annotated[
        str | None, typer.Option(metavar="A,B", help="Proxies whose X-Forwarded-For is believed.")
    ] = None,
) -> None:
    """Hand sealed reports on to a collector, so that it does not see who sends them.

    For somebody whom people trust not to work together with the collector: a relay sees addresses and no answers, the
    collector answers and no addresses. Nothing is kept and nothing of a message is logged.

    Example:

        bcdp relay --to https://survey.example.org/.well-known/ohttp-gateway
    """
    from bcdp.collector.relay import RelaySettings
    from bcdp.collector.server import serve_relay
    from bcdp.collector.settings import Quotas

    settings = RelaySettings(to, Quotas(body_bytes=2**16, rate=rate))
    serve_relay(settings, host, port, proxies, lambda at, taken: print(f"relay: http://{at}:{taken}/", file=sys.stderr))


def _tell(host: str, port: int) -> None:
    """Says where the pages are, for a person at this machine."""
    from bcdp.collector.pages import load_pages

    known = {"0.0.0.0": "localhost", "::": "localhost"}.get(host, f"[{host}]" if ":" in host else host)
    print(f"survey page: http://{known}:{port}/", file=sys.stderr)
    print(f"dashboard:   http://{known}:{port}/dashboard", file=sys.stderr)
    print(f"the device for pages of your own: /bcdp.js, integrity {load_pages()['bcdp.js'].integrity}", file=sys.stderr)


def tickets(
    plan: PlanFile,
    count: Annotated[int, typer.Argument(metavar="N", min=1, help="How many to issue.")],
    key_file: Annotated[Path, typer.Option(metavar="F", help="32 or more secret random bytes.")],
    as_json: AsJson = False,
) -> None:
    """Make invitations, each good for one report to this plan; one in a line.

    A device sends its ticket as the report's id. Serve the plan with the same key: bcdp serve --tickets-key F.

    Example:

        head -c 32 /dev/urandom > key
        bcdp tickets plan.json 100 --key-file key > tickets.txt
    """
    from bcdp.collector.tickets import make_tickets
    from bcdp.plan import Plan

    made = make_tickets(_read(key_file, "--key-file"), Plan.load(plan).id, count)
    if as_json:
        show_json({"tickets": made})
    else:
        print("\n".join(made))


def _read(path: Path, option: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{option}: {path} cannot be read ({error.strerror}); accepted: a file") from None
