"""Forms of other programs: 30 small ones in the formats' own words, XLSForms as text tables."""

from __future__ import annotations

from pathlib import Path

from support.paths import ROOT

EXAMPLES = sorted((ROOT / "tests" / "forms" / "examples").iterdir())


def form_file(example: Path, folder: Path) -> Path:
    """The form as its program would write it."""
    if not example.name.endswith(".xlsform.md"):
        return example
    return workbook(example.read_text("utf-8"), folder / (example.stem + ".xlsx"))


def workbook(text: str, path: Path) -> Path:
    """A workbook with the sheets of a text: `## sheet`, then a line `| a | b |` for each row."""
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for part in text.split("## ")[1:]:
        title, *lines = part.strip().splitlines()
        sheet = book.create_sheet(title)
        for line in lines:
            sheet.append([cell.strip() or None for cell in line.strip().removeprefix("|").removesuffix("|").split("|")])
    book.save(path)
    return path
