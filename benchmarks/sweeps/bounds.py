"""`make nightly`: how far plans are from what is proved to be impossible; every proof is found and checked anew.

`--proofs` also writes the proofs of the picture's settings, which the package brings along.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from pathlib import Path

from bcdp.compare.bound import Bound, problem_of
from bcdp.compare.bound.solve import find_proof
from bcdp.compare.means import PAPER_Q, demands
from bcdp.compare.survey import means_plan, proof_name, survey_of

HEADER = [
    "| features | demands | epsilon | q | plan | proved bound | ratio | seconds |",
    "|---:|---|---:|" + "---:|" * 5,
]
PAIRS = ((0.1, 0.5), (0.5, 0.5), (0.05, 1.0))
SOME_Q = (0.05, 0.12, 0.45)


def settings() -> Iterator[tuple[int, tuple[float, ...], float]]:
    """Features, demands below epsilon = 2, and q: the paper's, other sizes, other demands, one and three demands."""
    yield from ((10, (0.2, 0.2), q) for q in (0.01, 0.05, *PAPER_Q[1:]))
    yield from ((d, (0.2, 0.2), q) for d in (5, 20, 30) for q in SOME_Q)
    yield from ((10, pair, q) for pair in PAIRS for q in SOME_Q)
    yield from ((10, (0.2,), q) for q in SOME_Q)
    yield from ((d, (0.2, 0.2, 0.2), 0.12) for d in (6, 10))


def line(features: int, own: tuple[float, ...], q: float) -> str:
    """A row of the table. The ratio is rounded up."""
    delta = own + (2.0,) * (features - len(own))
    plan = means_plan(delta, 2.0, q)
    objective = plan.certificate.objective
    assert objective is not None
    started = time.monotonic()
    bound = Bound.parse(Bound.of(find_proof(problem_of(survey_of(delta, 2.0, q)))).text)
    ratio = math.ceil(objective / bound.least * 1e5) / 1e5
    seconds = time.monotonic() - started
    return f"| {features} | {own} | 2 | {q:g} | {objective:.2f} | {bound.least:.2f} | {ratio:.5f} | {seconds:.0f} |"


def write_proofs(folder: Path) -> None:
    for q in PAPER_Q:
        problem = problem_of(survey_of(demands(2, 10), 2.0, q))
        (folder / proof_name(q)).write_text(Bound.of(find_proof(problem)).text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--proofs", type=Path, metavar="FOLDER", help="write the picture's proofs instead")
    arguments = parser.parse_args()
    if arguments.proofs:
        write_proofs(arguments.proofs)
    else:
        print(*HEADER, sep="\n")
        for setting in settings():
            print(line(*setting), flush=True)
