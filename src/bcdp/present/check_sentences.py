"""What tests of reports show, in sentences: an alarm, or that there is none and what they cannot detect."""

from __future__ import annotations

from collections.abc import Mapping

from bcdp.tally import FALSE_ALARMS, Check

_ALARMS = {
    "menus": "menus are not drawn as often as the plan says",
    "answers": "some answers are more frequent than any honest people could make them",
    "duplicates": "the same report comes more often than any honest people could send it",
}
_CAUSES = (
    "Devices do not follow the plan, reports got lost, or reports are fake: do not rely on the estimates. "
    f"Each check raises a false alarm at most once in {1 / FALSE_ALARMS:,.0f} collections."
)
_CALM = "Menus, answers and repeated reports raise no alarm. Fake reports that imitate honest ones cannot be detected."


def check_lines(checks: Mapping[str, Check]) -> list[str]:
    """One sentence for each alarm and what follows from them, or one that there is none.

    >>> check_lines({"menus": Check(1e-9, "menu 3")})[0]
    'Alarm: menus are not drawn as often as the plan says (menu 3; p at most 1e-09).'
    """
    alarms = [
        f"Alarm: {_ALARMS[key]} ({check.where}; p at most {check.p:.1g})."
        for key, check in checks.items()
        if check.alarm
    ]
    if alarms:
        return [*alarms, _CAUSES]
    return [_CALM] if checks else []
