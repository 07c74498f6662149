"""Estimates as drawings: each number where its scale says, one scale for each variable; footnotes."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from bcdp import Policy, make_plan
from bcdp.present.report.charts import Scale, curve, dot, scales_of
from bcdp.present.report.footnotes import LinkedFootnotes
from bcdp.present.report.page import report_page
from bcdp.statistics import Estimate, Row, Section

SHARE = (0.0, 1.0)


def row(value: float, error: float, possible: tuple[float, float], **further: Any) -> Row:
    estimate = Estimate(value, error, value - 2 * error, value + 2 * error, 100, value)
    return Row("name", "label", estimate, possible, **further)


def section(*rows: Row, drawn: Any = "points", **further: Any) -> Section:
    return Section("subject", ("feature", "mean"), rows, drawn, **further)


def drawn(text: str, element: str, *keys: str) -> list[float]:
    """Numbers of the first such element, which are in percent of the width."""
    found = re.search(rf"<{element}[^>]*>", text)
    assert found
    return [float(re.search(rf'\b{key}="([\d.]+)%"', found[0])[1]) for key in keys]  # type: ignore[index]


def test_a_dot_stands_where_its_scale_says() -> None:
    income = row(50_000, 5_000, (0.0, 200_000.0), in_units=True)
    (scale,) = scales_of(section(income), [60_000.0])
    text = dot(income, scale, 60_000.0, axis=True)
    assert drawn(text, "circle", "cx") == [25]
    assert drawn(text, "rect", "x", "width") == [20, 10]
    assert drawn(text, 'svg class="truth"', "x") == [30]
    assert re.findall(r">([^<>]+)</text>", text) == ["0", "100,000", "200,000"]
    assert 'aria-label="50,000 on a scale from 0 to 200,000"' in text
    assert "<text" not in dot(income, scale, None, axis=False)


def test_shares_are_in_percent_and_numbers_in_their_units() -> None:
    share, index = row(0.387, 0.0125, SHARE), row(0.387, 0.0125, SHARE, in_units=True)
    assert (share.percent, index.percent) == (True, False)
    assert 'aria-label="38.7% on a scale from 0% to 100%"' in dot(share, Scale(0, 1, percent=True), None, axis=True)
    assert row(0.1, 0.01, (-1.0, 1.0)).percent  # a difference of shares
    assert not row(0.1, 0.01, (-math.inf, math.inf)).percent


def test_one_variable_has_one_scale() -> None:
    """Bars share one that starts at 0 and holds the highest interval; coefficients have one each, around 0."""
    bars = scales_of(section(row(0.31, 0.03, SHARE), row(0.02, 0.03, SHARE), drawn="bars"), [None, 0.44])
    assert bars == [Scale(0, 0.5, percent=True)] * 2
    groups = [row(20, 1, (0.0, 52.0)), row(15, 1, (0.0, 52.0)), row(5, 1, (-52.0, 52.0))]
    assert [(s.low, s.high) for s in scales_of(section(*groups, drawn="dots"), [None] * 3)] == [
        (0, 52), (0, 52), (-52, 52),
    ]  # fmt: skip
    free = scales_of(
        section(row(3.0, 0.2, (-math.inf, math.inf)), row(-900.0, 40.0, (-math.inf, math.inf))), [None] * 2
    )
    assert [(s.low, s.high) for s in free] == [(-4, 4), (-1000, 1000)]


def test_nobody_was_asked() -> None:
    """No dot, and no number that looks like one."""
    unknown = Row("name", "label", Estimate(math.nan, math.nan, 0.0, 1.0, 0, math.nan), SHARE)
    text = dot(unknown, scales_of(section(unknown), [None])[0], None, axis=True)
    assert "<circle" not in text
    assert "nan" not in text
    assert "nan" not in curve(section(unknown, drawn="curve", places=(5.0,), ends=(0.0, 10.0)), [None])


def test_a_curve_goes_through_its_shares() -> None:
    steps = section(row(0.5, 0.05, SHARE), row(0.75, 0.05, SHARE), drawn="curve", places=(2.0, 6.0), ends=(0.0, 10.0))
    text = curve(steps, [0.5, None])
    found = re.search(r'class="line" d="M([^"]*)"', text)
    assert found
    points = [tuple(map(float, point.split())) for point in found[1].split("L")]
    (left, bottom), (right, top) = points[0], points[-1]
    placed = [((x - left) / (right - left), (y - bottom) / (top - bottom)) for x, y in points]
    assert placed == [pytest.approx(at, abs=1e-3) for at in ((0, 0), (0.2, 0.5), (0.6, 0.75), (1, 1))]
    mark = re.search(r"translate\(([\d.]+) ([\d.]+)\)", text)
    assert mark
    assert tuple(map(float, mark.groups())) == points[1]


def test_footnotes_count_on_after_z() -> None:
    notes = LinkedFootnotes()
    letters = [notes.cell(f"if {number}")[-5:-4] for number in range(26)]
    assert "".join(letters) == "abcdefghijklmnopqrstuvwxyz"
    after = [notes.cell(f"if {number}") for number in range(26, 53)]
    assert [after[number] for number in (0, 1, 25, 26)] == [
        f'<a class="note" href="#condition-{letter}">{letter}</a>' for letter in ("aa", "ab", "az", "ba")
    ]
    assert notes.listed().count("<li") == 53


def test_every_link_of_the_page_leads_to_something() -> None:
    features = {"smoker": {"type": "binary", "delta": 0.3}, "drinker": {"type": "binary"}}
    text = report_page(make_plan(Policy(epsilon=2, features=features, correlation=0.1)), 5_000)
    ids = re.findall(r'\bid="([^"]*)"', text)
    assert len(ids) == len(set(ids))
    links = re.findall(r'href="#([^"]*)"', text)
    assert set(links) <= set(ids)
    assert {"part-accuracy", "part-promises", "part-methods", "condition-a", "what-is-promised"} <= set(links)
