"""Plans whose panel is wrong in one place."""

from __future__ import annotations

from typing import Any

PANEL = ("collection", "panel")
LISTED: dict[str, Any] = {"kind": "listed", "source": "a sample", "bounds": []}
PANELS: list[tuple[str, tuple[Any, ...], Any]] = [
    *(
        (f"the panel {panel!r}", PANEL, panel)
        for panel in (
            *(None, {}, [], 12, {"waves": 3}, {"waves": 3, "every": "month"}, {"every": "day", "start": "2027-01-01"}),
            {"waves": 3, "every": "month", "start": "2027-01-01", "late": 3},
        )
    ),
    *((f"{waves!r} waves", (*PANEL, "waves"), waves) for waves in (2, 1, 0, 401, 3.0, True, "3", None)),
    *((f"waves every {every!r}", (*PANEL, "every"), every) for every in ("days", "Month", None, 1, ["day"])),
    *(
        (f"a panel from {start!r} on", (*PANEL, "start"), start)
        for start in (
            *(None, 2027, "", "2027", "2027-01", "2027-02-30", "2027-01-29", "2027-1-1", "0000-01-01", "9001-01-01"),
            *("10000-01-01", "+2027-01-01", "2027-01-01T00:00", "2027-01-01\n", "٢٠٢٧-01-01", "FILL"),
        )
    ),
    ("a panel with a measured correlation", ("correlation",), LISTED),
    ("a panel with a follow-up", ("collection", "features", "bit", "asked_if"), {"kind": "v1"}),
    ("a panel with a list to tick", ("collection", "features", "number"),
     {"type": "multiple", "values": [f"v{item}" for item in range(17)], "at_most": 1}),
    ("a panel of a batch", ("collection", "trust"), "collector"),
    ("a panel of a cascade", ("mechanism",), "cascade"),
    *((f"the wave {wave!r} of a menu", ("menus", 3, "wave"), wave) for wave in (0, 4, -1, None, True, 3.0, "3", [3])),
    ("a question about change in the wave since which it asks", ("menus", 2, "wave"), 1),
    ("a question about change in the second wave, since the second", ("menus", 4, "wave"), 2),
    ("a question about change next to another", ("menus", 2, "questions"), [2, 1]),
    ("two questions about change", ("menus", 4, "questions"), [3, 2]),
    *(
        (f"a change since {since!r}", ("questions", 2, "since"), since)
        for since in (0, 2, -1, 401, None, True, 1.0, "1", [1])
    ),
    *(
        (f"levels {levels!r} of a change", ("questions", 2, "levels"), levels)
        for levels in ([4], [2], [2, 2, 1], [1, 4], [4, 1], [3, 3], [2.0, 2], [2, True], None, [])
    ),
    *(
        (f"a change of {names!r}", ("questions", 2, "features"), names)
        for names in ([], ["bit", "kind"], ["number"], ["else"], ["where"], "bit", None)
    ),
    ("a change by a table of other levels", ("questions", 2, "table"), 3),
    ("a change by no table", ("questions", 2, "table"), 4),
    ("cuts of a change", ("questions", 2, "cuts"), [None]),
    ("categories of a change", ("questions", 2, "categories"), [None]),
    ("the earlier wave of a question about values", ("questions", 0, "since"), 1),
    ("less than is true is claimed in a panel", ("certificate", "features", "kind", "certified"), 0.5),
]  # fmt: skip
NO_PANEL: list[tuple[str, tuple[Any, ...], Any]] = [
    ("a wave without a panel", ("menus", 0, "wave"), 1),
    ("a wave of null without a panel", ("menus", 0, "wave"), None),
    ("an earlier wave without a panel", ("questions", 0, "since"), 1),
    ("a panel whose menus have no waves", ("collection", "panel"), {"waves": 2, "every": "day", "start": "2027-01-01"}),
]
