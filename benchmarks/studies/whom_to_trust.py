"""Draws docs/pictures/trust.png and prints its numbers: `python benchmarks/studies/whom_to_trust.py`.

A binary feature, two numbers and one with five values, nothing assumed about correlation. Whoever is not trusted may
learn a level of 0.3 about the whole record; in batches and tallies except with one chance in a million, nine tenths of
a batch being honest. One report has a level of at most 4.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bcdp import Policy
from bcdp.present.pictures import draw_trust
from bcdp.present.trust_choices import trust_choices

FEATURES: dict[str, Any] = {
    "satisfied": {"type": "binary"},
    "income": {"type": "numeric", "bounds": [0, 1]},
    "age": {"type": "numeric", "bounds": [0, 1]},
    "region": {"type": "categorical", "values": list("abcde")},
}
PEOPLE = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000)
PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "trust.png"


def main() -> None:
    policy = Policy(epsilon=0.3, features=FEATURES)
    choices = {people: trust_choices(policy, people) for people in PEOPLE}
    for people, three in choices.items():
        worth = ", ".join(f"{one.trust} {one.open_people['satisfied']:,} ({one.fallback:.2f})" for one in three)
        print(f"{people:,} people: {worth}")
    draw_trust(choices, "satisfied", PICTURE)


if __name__ == "__main__":
    main()
