"""Writes vectors/tasks/refused.json: plans that are right but for their tasks, which `Plan.parse` alone refuses.

Devices treat tasks as data that the plan's id covers, so they answer these plans (vectors/README.md).
"""

from __future__ import annotations

from typing import Any

from make_vectors import FOLDER, written
from refused_forms import Cases, changed, opened, silent, small

BIT_KIND = ["bit", "kind"]
EDGES = [part / 2 for part in range(1, 24)]  # inside the bounds of the number
WRONG_EDGES = (None, [], 32, EDGES[:14], EDGES[::-1], [-3.5, *EDGES], [*EDGES, 12.25], [*EDGES[:-1], "12"])
SMALL: list[Any] = [
    *(None, [], {}, [{}], ["mean"], [{"median": ["bit"]}], [{"mean": ["kind"]}], [{"frequency": ["number"]}]),
    *([{"mean": []}], [{"mean": "bit"}], [{"mean": ["bit", "bit"]}], [{"mean": ["else"]}], [{"weight": 1.0}]),
    *([{"mean": ["bit"], "weight": weight}] for weight in (0, -1.0, True, None, "1")),
    *([{"mean": ["bit"], "frequency": ["bit"]}], [{"mean": ["bit"], "note": "x"}], [{"regression": ["bit"]}]),
    *([{"distribution": names}] for names in (["bit"], ["kind"], [], "number", ["number", "number"])),
    *([{"distribution": ["number"], "bins": bins}] for bins in (15, 257, 32.0, True, None, "32")),
    *([{"distribution": ["number"], "edges": edges}] for edges in WRONG_EDGES),
    [{"distribution": ["number"], "bins": 32, "edges": EDGES}],
    *([{"distribution": ["number"], "quantiles": q}] for q in ([], 0.5, [0.5, 0.5], [0.0], [1], [True], ["0.5"])),
    [{"distribution": ["number"], "quantiles": [part / 200 for part in range(1, 101)]}],
    *([{"distribution": ["number"], "band": band}] for band in ("Pointwise", None, True, ["pointwise"])),
    *([{"distribution": ["number"], key: [0.5]}] for key in ("quantile", "mean", "by")),
    *([{"distribution": ["number"]}, {"distribution": ["number"], "bins": bins}] for bins in (32, 16)),
    [{"mean": ["number"], "bins": 32}],
    *([{"table": names}] for names in (["bit"], ["bit", "bit"], ["bit", "kind", "number", "whole"])),
    *([{"table": names}] for names in (["bit", "else"], "bit")),
    *([{"mean": ["bit"], "by": name}] for name in ("bit", "else", ["kind"], None)),
    *([{"frequency": ["bit"], "by": "kind"}], [{"table": ["bit", "kind"], "by": "kind"}], [{"by": "kind"}]),
    [{"regression": {"target": "else", "features": ["bit"]}}],
    [{"regression": {"target": "bit", "features": ["bit", "kind"]}}],
    [{"regression": {"target": "bit", "features": []}}],
    *(
        [{"regression": {"target": "bit", "features": ["kind"], key: value}}]
        for key, value in (
            ("note", 1),
            ("ridge", -1.0),
            ("ridge", True),
            ("radius", 0),
            ("intercept", 1),
            ("intercept", None),
            ("explains", 0),
            ("explains", 1.0),
            ("explains", None),
            ("link", "identity"),
            ("link", True),
            ("link", ["logit"]),
        )
    ),
    *(
        [{"regression": {"target": "number", "features": ["bit", "kind"], "interactions": pairs}}]
        for pairs in ([], ["bit"], [["bit"]], [["bit", "bit"]], [["bit", "else"]], [BIT_KIND, BIT_KIND[::-1]])
    ),
    [{"regression": {"target": "kind", "features": ["bit", "number"], "interactions": [["bit", "number"]]}}],
    *(
        [{"regression": {"target": "number", "features": BIT_KIND, "interactions": [BIT_KIND], **more}}]
        for more in ({"intercept": False}, {"note": 1})
    ),
    [{"regression": {"target": "number", "features": ["kind"], "link": "logit"}}],
    *(
        [{"regression": {"target": "bit", "features": ["kind"], "link": "logit", key: value}}]
        for key, value in (("intercept", False), ("ridge", 0.0), ("radius", 1.0))
    ),
]
OPENED: list[Any] = [[{"frequency": ["where"]}], [{"mean": ["sick"], "by": "where"}], [{"table": ["sick", "where"]}]]
OWN: list[Any] = [
    [{"mean": ["whole"], "by": "number"}],
    [{"table": ["number", "whole"]}],
    [{"regression": {"target": "whole", "features": ["number"]}}],
    [{"regression": {"target": "whole", "features": ["kind", "number"]}}],
    [{"regression": {"target": "number", "features": ["whole"]}}],
    [{"mean": ["kind"]}],
    [{"frequency": ["number"]}],
]


def refused() -> Cases:
    """All of them."""
    plans = ((small(), SMALL), (opened(), OPENED), (silent(), OWN))
    return [
        case
        for plan, wrong in plans
        for case in changed(plan, [(f"the tasks {tasks!r}", ("collection", "tasks"), tasks) for tasks in wrong])
    ]


if __name__ == "__main__":
    (FOLDER / "tasks").mkdir(exist_ok=True)
    (FOLDER / "tasks" / "refused.json").write_text(written(refused()), encoding="utf-8")
