"""What a start of the program imports, and how long it takes beside typer alone."""

import subprocess
import sys

import pytest

from support.paths import ROOT

sys.path.insert(0, str(ROOT / "benchmarks" / "speed"))

HEAVY = {"numpy", "scipy.optimize", "scipy.linalg", "scipy.special", "pyarrow", "pydantic", "rich", "matplotlib"}
HEAVY |= {"cryptography"}


@pytest.mark.parametrize(
    ("statement", "allowed"),
    [
        ("import bcdp", set()),
        ("from bcdp.cli import main; main(['--version'])", set()),
        ("from bcdp.cli import main; main(['--help'])", set()),
        ("import bcdp; bcdp.Policy", {"numpy", "pyarrow", "pydantic"}),
        ("import bcdp; bcdp.Plan; bcdp.Tally; bcdp.estimate", {"numpy", "pyarrow", "pydantic"}),
        ("import bcdp; bcdp.make_plan; bcdp.privatize", {"numpy", "pyarrow", "pydantic", "cryptography"}),
    ],
)
def test_a_start_imports_only_what_it_needs(statement: str, allowed: set[str]) -> None:
    """What is heavy comes when it is used: scipy.optimize alone takes eight times as long as typer."""
    asked = f"{statement}\nimport sys\nprint('imported:', *sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert set(done.stdout.rpartition("imported:")[2].split()) <= allowed


def test_the_program_starts_nearly_as_fast_as_typer() -> None:
    """Processor time, least of five runs that alternate: a busy machine changes their ratio little."""
    from startup import LIMIT, ratios

    found = ratios(5, ["import typer", "bcdp --version", "bcdp --help"])
    assert max(found.values()) <= LIMIT
