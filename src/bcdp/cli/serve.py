"""`bcdp serve`, `bcdp tickets`, `bcdp keypair` and `bcdp relay`: the collector, invitations to it, a way to it."""

from __future__ import annotations

import secrets
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from bcdp.cli.options import AsJson, PlanFile, StoreUrl
from bcdp.cli.output import show_json
from bcdp.errors import InputError, refuse

if TYPE_CHECKING:
    from bcdp.collector.storage.store import Database
    from bcdp.plan import Plan


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
    refresh: Annotated[
        int, typer.Option(metavar="K", min=1, help="People more after which the dashboard and metrics show new counts.")
    ] = 100,
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
    batch_at_least: Annotated[
        int | None,
        typer.Option(metavar="N", min=2, max=100_000, help="Accept sealed reports only in batches of N or more."),
    ] = None,
    late_days: Annotated[
        int, typer.Option(metavar="D", min=0, help="Days after the end of a panel's wave in which it stays open.")
    ] = 7,
) -> None:
    """Collect reports over HTTP: hand out the plan, store every report once, show estimates to the operator.

    A report is on disk before it is acknowledged. No address, time or cookie is stored. The survey page is at /, the
    operator's dashboard at /dashboard. Put a proxy with TLS in front of it; docs/guide/deploy.md shows how.

    Examples:

        bcdp serve plan.json
        bcdp serve plan.json --store postgresql://bcdp@db/survey --workers 4
        bcdp serve plan.json --token-file token --proxies 127.0.0.1
    """
    from bcdp.collector import Settings, open_store
    from bcdp.collector.http.cors import Origins
    from bcdp.collector.server import serve as serve_collection
    from bcdp.collector.settings import Quotas
    from bcdp.plan import Plan

    loaded = Plan.load(plan)
    token = _token(token_file)
    key = _read(tickets_key, "--tickets-key") if tickets_key else None
    secret, origins = secrets.token_urlsafe(24) if token is None else token, Origins(allow_origin or ()).allowed
    opening = _read(gateway_key, "--gateway-key") if gateway_key else None
    settings = Settings(
        loaded,
        store,
        secret,
        key,
        Quotas(rate=rate),
        origins=tuple(sorted(origins)),
        planned=people,
        refresh=refresh,
        gateway_key=opening,
        relays=tuple(relays.split(",")) if relays else (),
        batch_at_least=batch_at_least,
        late_days=late_days,
    )
    _check_store(open_store(store, loaded.id), "a store of this plan, or an empty one")
    _warn_of_small_batches(loaded, batch_at_least)
    if token is None:
        print(f"the operator's token, for this run: {settings.token}", file=sys.stderr)
    serve_collection(settings, host, port, workers, proxies, _tell)


def _warn_of_small_batches(plan: Plan, batch_at_least: int | None) -> None:
    """Says that the collector would take batches that are too small for the plan's main promise."""
    from bcdp.plan.messages import messages_each

    if plan.policy.trust == "relay" and plan.policy.batch is not None:
        promised = plan.policy.batch.people * messages_each(plan)
        if (batch_at_least or 0) < promised:
            stated = "is not stated" if batch_at_least is None else f"is {batch_at_least:,}"
            warning = f"the promise is about batches of at least {promised:,} messages, and --batch-at-least {stated}"
            print(f"warning: {warning}: a relay with a smaller --mix would void it", file=sys.stderr)


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
    from bcdp_device.sealing import GatewayKey

    key = GatewayKey.make(file)
    if as_json:
        show_json({"file": str(file), "key": key.configuration})
    else:
        print(f"relay:\n  url: https://relay.example.org/\n  key: {key.configuration}")


def relay(
    to: Annotated[str, typer.Option(metavar="URL", help="The collector's gateway, or with --mix its /v1/batch.")],
    mix: Annotated[
        int | None,
        typer.Option(metavar="N", min=2, max=100_000, help="Forward in shuffled batches of N messages or more."),
    ] = None,
    every: Annotated[
        str, typer.Option(metavar="T", help="When batches are due: every 15m, 24h or 7d (UTC), or at the end.")
    ] = "end",
    until: Annotated[
        str | None, typer.Option(metavar="TIME", help="The end of the collection, such as 2027-03-31T18:00Z.")
    ] = None,
    at_end: Annotated[
        Literal["keep", "delete"], typer.Option(help="What becomes of messages that are too few for a batch.")
    ] = "keep",
    store: Annotated[
        str, typer.Option(metavar="F", help="Where messages wait: an SQLite file, or postgresql://...")
    ] = "relay.db",
    token_file: Annotated[
        Path | None, typer.Option(metavar="F", help="The operator's token, for the metrics of a mixing relay.")
    ] = None,
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
    collector answers and no addresses. Without --mix nothing is kept, and nothing of a message is ever logged.

    With --mix, sealed messages wait until at least N of them are there and due, and leave in random order: the
    collector then sees batches and no single report. Fewer than N are never forwarded; docs/guide/mixing-relay.md.

    Examples:

        bcdp relay --to https://survey.example.org/.well-known/ohttp-gateway
        bcdp relay --to https://survey.example.org/v1/batch --mix 5000 --every 24h
    """
    from bcdp.collector.ohttp.mixing import Mixing, read_period, read_time
    from bcdp.collector.ohttp.mixing_relay import MixingSettings
    from bcdp.collector.ohttp.relay import RELAY_QUOTAS, RelaySettings
    from bcdp.collector.server import serve_relay

    quotas = replace(RELAY_QUOTAS, rate=rate)
    if mix is None:
        if (every, until, at_end, store, token_file) != ("end", None, "keep", "relay.db", None):
            raise refuse("--mix", None, "the smallest number of messages in a batch, with the other options of mixing")
        settings: RelaySettings | MixingSettings = RelaySettings(to, quotas)
    else:
        rule = Mixing(mix, read_period(every), None if until is None else read_time(until), at_end)
        settings = MixingSettings(to, rule, store, _token(token_file), quotas)
        _check_store(settings.open_store(), "a store of this relay, or an empty one")
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
    from bcdp.collector.limits.invitations import make_tickets
    from bcdp.plan import Plan

    written_tickets = make_tickets(_read(key_file, "--key-file"), Plan.load(plan).id, count)
    if as_json:
        show_json({"tickets": written_tickets})
    else:
        print("\n".join(written_tickets))


def _check_store(store: Database, accepted: str) -> None:
    """Refuses a store that cannot be used, before anything is served."""
    from bcdp.collector import StoreError

    try:
        store.check()
    except StoreError as error:
        cause = f" ({' '.join(str(error.__cause__).split())})" if error.__cause__ else ""
        raise InputError(f"--store: {error}{cause}; accepted: {accepted}") from None
    finally:
        store.close()


def _token(path: Path | None) -> str | None:
    return None if path is None else _read(path, "--token-file").decode("ascii", "replace").strip()


def _read(path: Path, option: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{option}: {path} cannot be read ({error.strerror}); accepted: a file") from None
