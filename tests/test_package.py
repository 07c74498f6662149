"""What is shipped: the notebook runs, and the wheel and sdist install into an empty environment."""

import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parent.parent


# the kernel's own libraries warn about their event loops; the notebook's cells still run as a person's would
@pytest.mark.filterwarnings("ignore")
def test_the_notebook_runs(tmp_path):
    notebook = nbformat.read(ROOT / "notebooks" / "tour.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)  # results are not kept in the file
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    pictures = [
        output for cell in notebook.cells for output in cell.get("outputs", []) if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == 2


def test_the_extras_bring_what_the_program_runs_on():
    """The pinned set is exactly what the package asks for with its extras plot, serve and demo."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *extras["plot"], *extras["serve"], *extras["demo"]]
    lines = (ROOT / "requirements" / "runtime.in").read_text().splitlines()
    assert {re.split("[<>=;]", one)[0] for one in asked} == {line for line in lines if line[:1] not in ("", "#")}


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_wheel_and_sdist_install_into_an_empty_environment(tmp_path):
    run(sys.executable, "-m", "hatchling", "build", "-d", tmp_path / "dist", cwd=ROOT)
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    (sdist,) = (tmp_path / "dist").glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    assert "bcdp/py.typed" in names
    assert not [name for name in names if name.startswith("tests/")]
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    quiet = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(python, *quiet, "--require-hashes", "-r", ROOT / "requirements" / "runtime.txt")
    run(python, *quiet, "--require-hashes", "-r", ROOT / "requirements" / "build.txt")
    (tmp_path / "policy.yaml").write_text("epsilon: 1\nfeatures: {a: {type: binary}}\n")
    for package in (wheel, sdist):
        run(python, *quiet, "--no-deps", "--no-build-isolation", "--force-reinstall", package)
        bcdp = tmp_path / "empty" / "bin" / "bcdp"
        assert "bcdp 0.1.0" in run(bcdp, "--version", cwd=tmp_path)
        assert '"epsilon"' in run(bcdp, "plan", "policy.yaml", "-o", "plan.json", "--json", cwd=tmp_path)
