"""Every example that a person may copy runs: code blocks of the documents, and examples in docstrings."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import bcdp

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def python_blocks(document):
    return re.findall(r"```python\n(.*?)```", document.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("document", [d for d in DOCUMENTS if python_blocks(d)], ids=lambda d: d.name)
def test_python_blocks_run(document, tmp_path, monkeypatch):
    """The blocks of one document run one after the other, as a reader would run them."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": document.stem}
    for block in python_blocks(document):
        exec(compile(block, document.name, "exec"), names)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_links_lead_somewhere(document):
    """Every picture and page that a document points to is there."""
    for target in re.findall(r"\]\(([^)#\s]+)", document.read_text("utf-8")):
        if "://" not in target:
            assert (document.parent / target).exists(), target


def test_the_site_builds_and_fetches_nothing(tmp_path):
    """Strictly, without the network: no page of the site loads a script, style, font or picture from elsewhere."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    built = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, check=False
    )
    assert built.returncode == 0, built.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) >= 10
    for page in pages:
        fetched = re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"(https?:[^\"]+)", page.read_text("utf-8"))
        assert fetched == [], page.name


def modules():
    return [m.name for m in pkgutil.walk_packages(bcdp.__path__, "bcdp.") if not m.name.startswith("bcdp.engines")]


@pytest.mark.parametrize("name", modules())
def test_examples_in_docstrings_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_project_speaks_only_of_itself():
    """No registry address and no path of somebody's machine in any tracked document."""
    for document in [*DOCUMENTS, ROOT / "pyproject.toml", *(ROOT / "requirements").iterdir()]:
        text = document.read_text("utf-8")
        assert not re.search(r"(index.url|extra.index|find.links)", text), document.name
        assert not re.search(r"/(root|home|Users)/\w", text), document.name
