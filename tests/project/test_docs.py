"""Every example that a person may copy runs: blocks of the documents, and examples in docstrings."""

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import bcdp
from bcdp.cli.app import COMMANDS
from bcdp.compare import means
from support.documents import ROOT, Reader, is_shown, kitchen
from support.npm_packages import npm_packages

pytestmark = pytest.mark.slow

FROM_NOTHING = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "docs" / "guide" / "tutorial.md"]
HOW_TO = sorted(set((ROOT / "docs").rglob("*.md")) - set(FROM_NOTHING))
DOCUMENTS = [*FROM_NOTHING, *HOW_TO, ROOT / "vectors" / "README.md"]
ROOMS = (
    *("", ".audit", ".correlation", ".mechanisms.cascade", ".mechanisms.survey", ".notions"),
    *(".present.pictures", ".present.report", ".randomizers"),
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A folder with the files that the how-to pages speak of."""
    folder = tmp_path_factory.mktemp("kitchen")
    kitchen(folder)
    return folder


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d.name)
def test_every_block_runs(document, request, tmp_path, monkeypatch):
    """One after the other, in one folder: empty for those that start from nothing, else with the files spoken of.

    Experiments run one trial, with two features at every point, and simulations two, all with few people, so that they
    take seconds. `make` is checked to name a target and `pip install` an extra of the package. JavaScript runs in
    test_web_device.py. A shown output is compared apart from its digits.
    """
    setting = means.MeanSetting(means.demands(1, 2), means.EPSILON, means.CORRELATION, people=500)
    small = means.scenario(0.0, setting, means.LIMITS)
    monkeypatch.setattr(means, "scenario", lambda x, *_: replace(small, x=x))
    if document not in FROM_NOTHING:
        shutil.copytree(request.getfixturevalue("files"), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    Reader(lambda: request.getfixturevalue("postgres")).read(document.read_text("utf-8"))


@pytest.mark.parametrize(
    "text",
    [
        "```\nbcdp --version\n```",
        "```perl\n1\n```",
        "```python\nprint(1)\n",
        "    bcdp --version",
        "```python\n1 / 0\n```",
        "```python\nprint('one')\n```\n```text\ntwo\n```",
        "```sh\nbcdp --nonsense\n```",
        "```sh\nbcdp --version  # exit code 1\n```",
        "```sh\nls nowhere\n```",
        "```sh\nmake nonsense\n```",
        "```sh\npip install 'bcdp-privacy[nonsense]'\n```",
        "```yaml\nepsilon: 0\nfeatures: {a: {type: binary}}\n```",
        "```json\n{\n```",
    ],
)
def test_a_block_that_does_not_run_is_noticed(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever it is, the document's test fails
        Reader(lambda: pytest.fail("no database is needed")).read(text)


def test_the_reference_lists_every_command():
    text = (ROOT / "docs" / "reference" / "reference.md").read_text("utf-8")
    rows = re.findall(r"^\| `bcdp (\S+)` \| (.+) \|$", text, re.M)
    assert dict(rows) == {name: words for name, (_, words) in COMMANDS.items()}


def test_what_counts_as_the_output_that_was_shown():
    assert is_shown("mean  -3.1\n...\nlast", "mean 12.50\na\nb\nlast\n")
    assert not is_shown("mean 3.1\nlast", "mean 3.1\na\nlast")
    assert not is_shown("median 3.1", "mean 3.1")


def test_links_lead_somewhere():
    """Every picture and page that a document points to is there."""
    links = [(page, link) for page in DOCUMENTS for link in re.findall(r"\]\(([^)#\s]+)", page.read_text("utf-8"))]
    here = [(page, link) for page, link in links if "://" not in link]
    assert len(here) > 50
    assert [(page.name, link) for page, link in here if not (page.parent / link).exists()] == []


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built strictly: without --quiet, which would hide the warnings that count."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment, check=False)
    assert built.returncode == 0, built.stderr
    assert "WARNING" not in built.stderr
    return folder


def test_the_site_fetches_nothing(site):
    """No page of the site loads a script, style, font or picture from elsewhere."""
    pages = list(site.rglob("*.html"))
    assert len(pages) >= 10
    for page in pages:
        fetched = re.findall(r"<(?:script|img|link)[^>]+(?:src|href)=\"(https?:[^\"]+)", page.read_text("utf-8"))
        assert fetched == [], page.name


@pytest.mark.parametrize(
    "name",
    [
        "index",
        "guide/tutorial",
        "guide/files",
        "guide/correlation",
        "guide/install",
        "reference/reference",
        "explanation/theory/certificate",
    ],
)
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_the_site_has_no_barrier(name, scheme, width, site, browser):
    """As axe sees it, on pages that between them have all that pages are made of, by day and by night."""
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto((site / f"{name}.html").as_uri())
    page.evaluate((npm_packages() / "axe-core" / "axe.min.js").read_text("utf-8"))
    found = page.evaluate("async () => (await axe.run(document, {resultTypes: ['violations']})).violations")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.close()
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
    assert (ground == "rgb(255, 255, 255)") == (scheme == "light")


def test_the_first_page_shows_a_picture_before_anything_scrolls(site, browser):
    for width, height in ((390, 844), (1280, 800)):
        page = browser.new_page(viewport={"width": width, "height": height})
        page.goto((site / "index.html").as_uri())
        place = page.locator("article img").first.bounding_box()
        page.close()
        assert place["y"] + place["height"] <= height


def test_code_can_be_copied(site, browser):
    page = browser.new_page()
    page.goto((site / "index.html").as_uri())
    assert page.locator(".md-code__nav button").first.is_visible()
    page.close()


def public(room):
    module = importlib.import_module(f"bcdp{room}")
    return {name: getattr(module, name) for name in module.__all__}


@pytest.mark.parametrize("room", ROOMS)
def test_the_reference_names_everything_public(room, site):
    """With its examples as code, not as quotations."""
    page = (site / "reference" / "reference.html").read_text("utf-8")
    shown = {name for at, name in re.findall(r'<h3 id="(bcdp[^"]*)\.(\w+)"', page) if at.startswith(f"bcdp{room}")}
    assert set(public(room)) - shown == set()
    assert "&gt;&gt;&gt;" in page
    assert "<blockquote>" not in page


@pytest.mark.parametrize("room", ROOMS)
def test_everything_public_says_what_it_is_and_functions_show_how(room):
    for name, thing in public(room).items():
        is_function = inspect.isfunction(inspect.unwrap(thing))
        if is_function or inspect.isclass(thing):
            assert inspect.getdoc(thing), name
        if is_function or not room:
            assert ">>>" in inspect.getdoc(thing), f"{name} has no example"


def test_examples_in_docstrings_run(tmp_path, monkeypatch):
    names = [m.name for m in pkgutil.walk_packages(bcdp.__path__, "bcdp.") if not m.name.startswith("bcdp.engines")]
    tried = {}
    for name in names:
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        tried[name] = doctest.testmod(importlib.import_module(name))
    assert [name for name, found in tried.items() if found.failed] == []
    assert sum(found.attempted for found in tried.values()) > 200


def texts():
    """Every text file of the project: those that git knows, or all, where there is no git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    known = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if known.returncode == 0:
        paths = [ROOT / name for name in known.stdout.split("\0") if name]
    else:
        hidden = {".venv", ".git", "__pycache__", "demo", "bench-output", "docs-output", "dist"}
        paths = [path for path in ROOT.rglob("*") if not hidden & set(path.relative_to(ROOT).parts)]
    for path in paths:
        if path.is_file() and b"\0" not in (content := path.read_bytes()):
            yield path.relative_to(ROOT), content.decode("utf-8")


ELSEWHERE = {
    "a package registry": r"(index.url|extra.index|find.links)\b",
    "somebody's machine": r"(?<![\w.])/(root|home|Users|work)/\w",
    "a temporary file": r"(?<![\w.])/tmp/\w",
    "how it was written": r"\b(chatbot|language model|code review|(this|my|our|previous|next) session)s?\b",
}


@pytest.mark.parametrize("what", ELSEWHERE)
def test_the_project_speaks_only_of_itself(what):
    """No registry address, no path of a machine, no word about who wrote it; this file has to name them."""
    spoken = [
        f"{path}: {match[0]}"
        for path, text in texts()
        if path != Path(__file__).relative_to(ROOT)
        for match in re.finditer(ELSEWHERE[what], text, re.IGNORECASE)
    ]
    assert spoken == []
