"""The documents: chapters of the theory and their map, and sentences that are read once."""

from __future__ import annotations

import re

import pytest

from support.paths import ROOT

EXPLANATION = ROOT / "docs" / "explanation"
CHAPTERS = sorted((EXPLANATION / "theory").glob("*.md"))
STATEMENT = re.compile(r"^\*\*((?:Theorem|Proposition|Lemma) \d+)", re.MULTILINE)


def test_the_map_of_the_theory_lists_every_section_and_statement() -> None:
    rows = re.findall(
        r"^\| \[[^\]]+\]\(theory/(\w+)\.md\) \| (.*?) \| (.*?) \|$",
        (EXPLANATION / "theory.md").read_text("utf-8"),
        flags=re.MULTILINE,
    )
    listed = {name: (sections.split(", "), statements.split(", ")) for name, sections, statements in rows}
    stated = {}
    for chapter in CHAPTERS:
        text = chapter.read_text("utf-8")
        sections = re.findall(r"^## (\d(?:\.\d+)?)\.? ", text, flags=re.MULTILINE)
        kinds = {"Theorem": "T", "Proposition": "P", "Lemma": "L"}
        statements = [f"{kinds[kind]}{number}" for kind, number in map(str.split, STATEMENT.findall(text))]
        stated[chapter.stem] = (sections, statements or [""])
    assert listed == stated


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_is_read_in_one_sitting(chapter) -> None:
    assert len(chapter.read_text("utf-8").split()) <= 4000


GUIDE = [ROOT / "README.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
OLD_WORDS = re.compile(
    r"\b(told|tells|beside|alike|goes by|stands beside|gives away|at most (\d+|N|so many) times as|the room)\b",
    re.IGNORECASE,
)


def sentences(text: str) -> list[str]:
    """The sentences of a document's paragraphs and lists, without code, tables, headings and pictures."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(\||#|!\[|<img|    ).*$", "", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^\s*([-*]|\d+\.)\s+", "\n\n", text, flags=re.MULTILINE)
    parts = [" ".join(part.replace("*", "").split()) for part in re.split(r"\n\s*\n", text)]
    return [
        each for part in parts for each in re.split(r"(?<=[.!?:])\s+(?=[A-Z`0-9“(])", part) if len(each.split()) > 1
    ]


def words_in(sentence: str) -> int:
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def test_sentences_are_counted() -> None:
    text = "# A heading\n\nOne two three. [Four](x.md) five:\n\n- six seven\n\n```sh\nnot this\n```\n| nor | this |\n"
    assert [words_in(sentence) for sentence in sentences(text)] == [3, 2, 2]


def test_the_readme_is_short() -> None:
    text = re.sub(r"^```.*?^```", "", (ROOT / "README.md").read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert 700 <= len(text.split()) <= 900


def test_the_guide_has_short_sentences() -> None:
    lengths = {page.name: [words_in(each) for each in sentences(page.read_text("utf-8"))] for page in GUIDE}
    everything = [length for page in lengths.values() for length in page]
    assert sum(everything) / len(everything) < 18
    assert {name: sum(page) / len(page) for name, page in lengths.items() if sum(page) / len(page) >= 20} == {}


@pytest.mark.parametrize("page", GUIDE, ids=lambda path: path.name)
def test_the_guide_uses_standard_terms(page) -> None:
    """The list has words with a private meaning, for which docs/reference/glossary.md has a term."""
    assert OLD_WORDS.search("what counts tells")
    assert [each for each in sentences(page.read_text("utf-8")) if OLD_WORDS.search(each)] == []
