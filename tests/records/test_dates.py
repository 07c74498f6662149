"""Dates are numbers of days, months or years: counted alike from every kind of column, and written as dates again."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bcdp import InputError, Policy, Tally, estimate, make_plan, privatize
from bcdp.records.data_check import check_data, mended
from bcdp.records.encoding import encode, unusual
from bcdp_device.dates import UNITS, first_day, number_of, read_date, start_of, written

BORN = {"type": "date", "from": "1940-01-01", "to": "1999-12-31", "unit": "months"}


def born(**keys: Any) -> Policy:
    return Policy(epsilon=1, features={"born": {**BORN, **keys}})


def day_number(year: int, month: int, day: int) -> int:
    """Days since 1 March of the year 0, by counting months from March on."""
    year, month = year - (month < 3), (month + 9) % 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * month + 2) // 5 + day - 1


def test_numbers_count_days_months_and_years() -> None:
    """Every day of two centuries, by another rule; what is written of a number is read as it."""
    start = date(1896, 1, 1)
    for offset in range(0, 75_000):
        day = start + timedelta(offset)
        since = day_number(day.year, day.month, day.day) - day_number(1896, 1, 1)
        counted = {"days": since, "months": 12 * (day.year - 1896) + day.month - 1, "years": day.year - 1896}
        assert {unit: number_of(day, start, unit) for unit in UNITS} == counted
        if offset % 97 == 0:
            for unit in UNITS:
                assert first_day(counted[unit], start, unit) == start_of(day, unit)
                assert read_date(written(counted[unit] + 0.49, start, unit), unit) == start_of(day, unit)


def test_the_last_date_is_the_last_of_9999() -> None:
    for unit, most in (("days", 2), ("months", 0), ("years", 0)):
        start = date(9999, 12, 29) if unit == "days" else date(9999, 1, 1) if unit == "years" else date(9999, 12, 1)
        assert first_day(most, start, unit).year == 9999  # type: ignore[arg-type]
        with pytest.raises(OverflowError):
            first_day(most + 1, start, unit)  # type: ignore[arg-type]


@pytest.mark.parametrize("column", [
    ["1940-01-31", "1974-05", "1999-12-01", "1939-12-31", "2024-02-29"],
    pa.array(["1940-01-31", "1974-05", "1999-12-01", "1939-12-31", "2024-02-29"]).dictionary_encode(),
    [date(1940, 1, 31), date(1974, 5, 31), date(1999, 12, 1), date(1939, 12, 31), date(2024, 2, 29)],
    [datetime(1940, 1, 31), datetime(1974, 5, 31, 23, 59), datetime(1999, 12, 1), datetime(1939, 12, 31, 23),
     datetime(2024, 2, 29)],
])  # fmt: skip
def test_every_kind_of_column_is_read_alike_and_clipped(column: Any) -> None:
    """What is earlier or later than the stated dates counts as the nearer of them, in every engine."""
    policy, table = born(), pa.table({"born": pa.chunked_array([column])})
    assert encode(policy, table)["born"].tolist() == [-1, 412 / 719 * 2 - 1, 1, -1, 1]
    assert unusual(policy, table)["born", "outside"] == 2
    plan = make_plan(policy)
    assert privatize(plan, table).num_rows == 5


def test_years_may_be_numbers() -> None:
    policy = Policy(epsilon=1, features={"born": {"type": "date", "from": 1940, "to": 2000, "unit": "years"}})
    assert policy.features["born"].span == (0, 60)
    for column in ([1940, 1970, 2000], ["1940", "1970-05-31", "2000"], [1940.0, 1970.0, 2000.0]):
        assert encode(policy, pa.table({"born": column}))["born"].tolist() == [-1, 0, 1]


def test_what_is_no_date_is_refused_by_its_row_and_never_shown() -> None:
    for wrong in ("05/06/74", "1985-02-30", "1985", "not applicable"):
        with pytest.raises(InputError) as caught:
            encode(born(), pa.table({"born": ["1974-05", wrong]}))
        assert caught.value.row == 2
        assert wrong not in str(caught.value)
        assert "accepted: a date such as 1974-05 or 1974-05-31" in str(caught.value)
    for column in ([True, False], [[1], [2]], pa.array([1, 2], pa.time32("s"))):
        with pytest.raises(InputError, match="accepted: a date such as"):
            encode(born(), pa.table({"born": column}))


def test_missing_dates_follow_the_rule() -> None:
    table = pa.table({"born": ["1940-01", "", None]})
    with pytest.raises(InputError, match="2 of 3 records have no value"):
        encode(born(), table)
    assert encode(born(missing="1999-12"), table)["born"].tolist() == [-1, 1, 1]
    assert encode(born(missing="own"), table)["born"].tolist() == [-1, 2, 2]


def test_a_policy_names_what_is_wrong_with_its_dates() -> None:
    wrong = {
        "none": {"type": "date"},
        "late": {"type": "date", "from": "1990-01-02", "to": "1990-01-02"},
        "week": {"type": "date", "from": "1990-01-02", "to": "1990-02-02", "unit": "weeks"},
        "both": {**BORN, "bounds": [0, 1]},
        "cut": {**BORN, "ranges": ["1939-12", "soon"]},
        "other": {"type": "numeric", "bounds": [5, 1]},
    }
    with pytest.raises(InputError) as caught:
        Policy(epsilon=1, features=wrong)
    assert [line.partition(": got")[0] for line in str(caught.value).splitlines()] == [
        *("features.none.from", "features.none.to", "features.late.to", "features.week.unit", "features.both.bounds"),
        *("features.cut.ranges", "features.other.bounds"),
    ]


def test_a_policy_is_the_same_however_dates_are_written() -> None:
    stated = born(ranges=["1960-01", "1980-01"], **{"from": date(1940, 1, 31), "to": "1999-12"})
    assert stated == born(ranges=["1960-01-01", "1980-01-31"]) == Policy(**stated.to_dict())
    assert stated.features["born"].range_words == ("1940-01 to 1960-01", "1960-01 to 1980-01", "1980-01 to 1999-12")


def test_estimates_are_shown_as_dates() -> None:
    """The mean lies within 7 standard errors of the truth (a chance of 3e-12 to fail), and is written as a month."""
    edges = [f"{year}-01" for year in range(1943, 1999, 3)]
    tasks = [{"mean": ["born"]}, {"distribution": ["born"], "edges": edges}, {"mean": ["born"], "by": "region"}]
    features = {"born": BORN, "region": {"type": "categorical", "values": ["n", "s"]}}
    plan = make_plan(Policy(epsilon=4, correlation=0.1, features=features, tasks=tasks))
    rng = np.random.default_rng(1)
    months = rng.integers(120, 360, 20_000)
    day = np.datetime64("1940-01", "M") + months.astype("timedelta64[M]")
    records = {"born": pa.array(day.astype("datetime64[D]")), "region": rng.choice(["n", "s"], len(months))}
    estimates = estimate(Tally(plan).add(privatize(plan, records)))
    mean = estimates.means["born"]
    assert abs(mean.value - months.mean()) < 7 * mean.se
    sections = {section.subject: section for section in estimates.sections()}
    (remark,) = sections["Means"].remarks
    assert remark.startswith(f"As dates: born {np.datetime64('1940-01') + int(mean.value + 0.5)} (19")
    curve = sections["born: share of the people below"]
    assert [row.name for row in curve.rows] == edges
    assert "As dates: 10% 195" in " ".join(sections["born, in months since 1940-01"].remarks)
    assert "As dates: n 19" in " ".join(sections["born, in months since 1940-01 by region"].remarks)


def test_check_reads_dates_and_drops_the_time_of_day() -> None:
    policy = born(missing="own")
    table = pa.table({"born": ["1974-05", "1974-05-31 12:00", "2024-01-01", "n/a"]})
    checked = check_data(policy, table.to_batches())
    assert [problem.found.partition(" first")[0] for problem in checked.problems] == [
        "1 of 4 has a word for no value,",
        "1 of 4 has a time of day,",
        "1 of 4 is outside the bounds and counted as the nearer one,",
    ]
    assert mended(policy, table.to_batches()[0]).to_pydict() == {"born": ["1974-05", "1974-05-31", "2024-01-01", ""]}
    (problem,) = check_data(born(), pa.table({"born": ["31.5.1974"]}).to_batches()).problems
    assert problem.refused
    assert "no date such as 1974-05-31" in problem.found
