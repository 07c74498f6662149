"""The documents: chapters of the theory and their map."""

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
