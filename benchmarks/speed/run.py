"""`make bench`: everything side by side in one run; a table and pictures in bench-output/.

The peers get an environment of their own, with the versions and the further packages that they need to run at all.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import growth
import many_values
import speed

PEERS = ["pure-ldp==1.2.0", "multi-freq-ldpy==0.2.5", "opendp==0.16.0", "diffprivlib==0.6.6"]
NEEDED = ["statsmodels", "xxhash", "numba", "scikit-learn<1.6"]  # what some of them import and do not declare, or pin
HERE = Path(__file__).parent
OURS = {  # rows of the table: where random bits come from, and the rates of client and server
    "bcdp, compiled (`fast`)": ("cryptographic", "privatize", "tally"),
    "bcdp, NumPy": ("cryptographic", "privatize without numba", "tally without numba"),
    "bcdp, compiled, a bit, ten categories and a number": ("cryptographic", "privatize mixed", None),
    "bcdp, NumPy, a bit, ten categories and a number": ("cryptographic", "privatize mixed without numba", None),
    "plain NumPy, the same AES bits": ("cryptographic", "plain NumPy", None),
    "plain NumPy, PCG64, the plan's weights and tables; np.bincount": ("not", "plain NumPy, PCG64", "np.bincount"),
    "plain NumPy, PCG64, in four lines": ("not", "plain NumPy, PCG64, four lines", None),
    "plain NumPy, PCG64, less work: equal menus, one table": ("not", "plain NumPy, PCG64, equal menus", None),
    "np.bincount of cells that are ready-made": ("-", None, "np.bincount of cells"),
}


def peers(folder: Path, records: int) -> dict[str, Any]:
    """The peers' rates, or why there are none."""
    environment = folder / "peers"
    python = environment / "bin" / "python"
    if not (environment / ".complete").exists():
        venv.create(environment, with_pip=True)
        for package in [*NEEDED, *PEERS]:  # one by one, so that one that cannot be installed does not take others along
            done = subprocess.run([python, "-m", "pip", "install", "--quiet", package], check=False)
            if done.returncode:
                print(f"{package} could not be installed", file=sys.stderr)
        (environment / ".complete").touch()
    done = subprocess.run([python, HERE / "peers.py", str(records)], capture_output=True, text=True, check=False)
    return dict(json.loads(done.stdout)) if done.returncode == 0 else {"peers": {"error": done.stderr[-500:]}}


def table(ours: dict[str, float], others: dict[str, Any], curves: dict[str, list[dict[str, float]]]) -> str:
    """All the numbers, as Markdown."""
    lines = [f"# Measured on {platform.machine()}, Python {platform.python_version()}", ""]
    lines += [
        "| one core, ten bits each | random bits | reports/s, client | reports/s, server |",
        "|---|---|---:|---:|",
    ]
    for name, (bits, client, server) in OURS.items():
        cells = [f"{ours[row]:,.0f}" if row else "-" for row in (client, server)]
        lines += [f"| {name} | {bits} | " + " | ".join(cells) + " |"]
    for name, found in others.items():
        cells = [f"{found[side]:,.0f}" if found.get(side) else "-" for side in ("client", "server")]
        bits = "cryptographic" if found.get("cryptographic") else "not"
        lines += [f"| {name} {found.get('version', '')} | {bits} | {' | '.join(cells)} | {found.get('error', '')}"]
    ratios = {
        "privatize / fastest peer's client, in its best form": ours["privatize"] / _fastest(others, "client"),
        "privatize / fastest cryptographic peer": ours["privatize"] / _fastest(others, "client", cryptographic=True),
        "privatize / plain NumPy, PCG64": ours["privatize"] / ours["plain NumPy, PCG64"],
        "privatize / plain NumPy, PCG64, four lines": ours["privatize"] / ours["plain NumPy, PCG64, four lines"],
        "privatize / plain NumPy, PCG64, less work": ours["privatize"] / ours["plain NumPy, PCG64, equal menus"],
        "privatize mixed / peer's kernel, a bit and ten categories": ours["privatize mixed"] / _mixed(others),
        "privatize / plain NumPy, the same AES bits": ours["privatize"] / ours["plain NumPy"],
        "tally / fastest peer's server": ours["tally"] / _fastest(others, "server"),
        "tally / np.bincount of both columns": ours["tally"] / ours["np.bincount"],
        "tally / np.bincount of cells that are ready-made": ours["tally"] / ours["np.bincount of cells"],
    }
    lines += ["", "| ratio | |", "|---|---:|", *(f"| {name} | {value:,.2f} |" for name, value in ratios.items())]
    for curve, points in curves.items():
        names = list(points[0])[1:]
        lines += ["", f"| {curve} | " + " | ".join(_unit(name) for name in names) + " |"]
        lines += ["|---:" * (len(names) + 1) + "|"]
        lines += [f"| {p['size']:,} | " + " | ".join(f"{p[name]:,.3g}" for name in names) + " |" for p in points]
        grown = (f"{growth.exponent(points, name):.2f}" for name in names)
        lines += ["| exponent, last tenfold | " + " | ".join(grown) + " |"]
    return "\n".join(lines) + "\n"


def _fastest(others: dict[str, Any], side: str, cryptographic: bool = False) -> float:
    able = (found for found in others.values() if found.get("cryptographic") or not cryptographic)
    return max((found.get(side) or 0.0 for found in able), default=0.0) or float("nan")


def _mixed(others: dict[str, Any]) -> float:
    return float(others.get("the same, a bit and ten categories", {}).get("client", float("nan")))


def _unit(name: str) -> str:
    return "memory, MB" if name == "memory" else f"{name}, s"


def draw(curves: dict[str, list[dict[str, float]]], folder: Path) -> None:
    """One picture for each curve: seconds of the processor on the left, memory on the right."""
    import matplotlib.pyplot as plt

    for curve, points in curves.items():
        figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
        sizes = [point["size"] for point in points]
        for name, look in zip(list(points[0])[1:-1], ("o-", "s--", "^:"), strict=False):
            left.loglog(sizes, [point[name] for point in points], look, color="black", markersize=5, label=name)
        right.semilogx(sizes, [point["memory"] for point in points], marker="o", color="black")
        left.set(xlabel=curve, ylabel="seconds of the processor")
        left.legend()
        right.set(xlabel=curve, ylabel="peak memory, MB")
        right.set_ylim(bottom=0)
        figure.savefig(folder / f"growth-{curve}.png", dpi=120)
        plt.close(figure)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--largest", type=float, default=1e7, help="people in the largest file, 1e4 to 1e8 and beyond")
    options.add_argument("--people", type=float, default=1e7, help="records in memory")
    options.add_argument("--peer-records", type=int, default=50_000)
    options.add_argument("-o", "--output", type=Path, default=Path("bench-output"))
    chosen = options.parse_args()
    chosen.output.mkdir(exist_ok=True)
    sizes = {
        "people": [10**k for k in range(4, 12) if 10**k <= chosen.largest],
        "reports": [10**k for k in range(6, 13) if 10**k <= 10 * chosen.largest],
        "features": [2, 5, 10, 20, 50, 100, 200, 500, 1000],
        "categories": [2, 10, 100, 1000, 10_000],
    }
    others = peers(chosen.output, chosen.peer_records)
    ours = speed.compare(int(chosen.people))
    many = many_values.ratios(int(chosen.people) // 10)
    curves = {curve: [growth.measured(curve, size) for size in of] for curve, of in sizes.items()}
    text = table(ours, others, curves) + many_values.table(many)
    (chosen.output / "table.md").write_text(text)
    (chosen.output / "results.json").write_text(
        json.dumps({"bcdp": ours, "many values": many, "peers": others, "growth": curves}, indent=1)
    )
    draw(curves, chosen.output)
    print(text)


if __name__ == "__main__":
    main()
