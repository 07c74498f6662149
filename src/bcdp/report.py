"""One page that a person can open: what a plan protects, what was learned, and what it cost in accuracy.

The page is self-contained: pictures are inside it, nothing is fetched.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bcdp.comparison import Errors, standard_error
from bcdp.correlation import Stronger
from bcdp.estimates import Estimates
from bcdp.plan import Plan, certify
from bcdp.wording import number, odds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Truth = Mapping[str, Any]  # the mean of a feature, or the frequency of each of its values

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.55 system-ui, sans-serif; color: #1c1c1c; background: #fbfbf9; margin: 0; }
main { max-width: 56rem; margin: 0 auto; padding: 2rem 1.2rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { margin-top: 2.4rem; font-size: 1.25rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: 0.94rem; }
th, td { text-align: right; padding: 0.35rem 0.6rem; border-bottom: 1px solid #ddd; }
th:first-child, td:first-child { text-align: left; } thead th { border-bottom: 2px solid #888; vertical-align: bottom; }
.wide { overflow-x: auto; } img { max-width: 100%; height: auto; } .quiet { color: #555; font-size: 0.92rem; }
pre { background: #f1f1ec; padding: 1rem; overflow-x: auto; font-size: 0.85rem; } li { margin: 0.3rem 0; }
.key { font-size: 1.12rem; border-left: 4px solid #444; padding-left: 0.9rem; }
"""


def write_report(
    path: str | Path,
    plan: Plan,
    errors: Mapping[str, Errors],
    users: int,
    found: Estimates | None = None,
    truth: Truth | None = None,
    title: str = "What was collected, and what stays private",
) -> None:
    """Writes the page; with estimates it shows what was learned, with the truth beside it how far that is off."""
    sections = [
        _summary(plan, found, errors, users),
        _guarantee(plan),
        *([_learned(plan, found, truth)] if found is not None else []),
        _accuracy(plan, errors, users),
        _adversary(plan),
        _policy(plan),
    ]
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><main><h1>{escape(title)}</h1>{''.join(sections)}</main></body></html>"
    )
    Path(path).write_text(page, encoding="utf-8")


def _table(columns: list[str], rows: list[list[str]]) -> str:
    head = "".join(f"<th>{column}</th>" for column in columns)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _label(plan: Plan, name: str) -> str:
    return escape(plan.policy.features[name].label)


def _summary(plan: Plan, found: Estimates | None, errors: Mapping[str, Errors], users: int) -> str:
    strictest = min(plan.certificate.features.items(), key=lambda item: item[1].asked)
    gains = sorted(error.uniform / error.plan for error in errors.values() if 0 < error.plan < float("inf"))
    people = f"{found.people:,} people answered" if found is not None else f"{users:,} people are expected to answer"
    lines = [
        f"{people}. Each device drew one of {max(len(plan.menus), 1)} menus of questions, answered it through a public "
        "table of random choices and sent two small numbers. Nothing else left the device.",
        f"Whoever sees a report can raise the odds of any guess about <b>{_label(plan, strictest[0])}</b> by a factor "
        f"of at most <b>{odds(strictest[1].certified)}</b>, and of any guess about the whole record by at most "
        f"<b>{odds(plan.certificate.epsilon)}</b>.",
    ]
    if gains:
        lines.append(
            f"At the same guarantee, protecting all features alike would need <b>{gains[0]:.2g} to {gains[-1]:.2g} "
            "times as many people</b> for the same precision."
        )
    return "".join(f'<p class="key">{line}</p>' for line in lines)


def _guarantee(plan: Plan) -> str:
    doubled = certify(plan, Stronger(plan.correlation_model, 2.0))
    nothing = certify(plan, Stronger(plan.correlation_model, float("inf")))
    rows = [
        [_label(plan, name), number(claim.asked), f"{claim.certified:.4f}", f"&times; {odds(claim.certified)}",
         f"&times; {odds(doubled.delta[name])}", f"&times; {odds(nothing.delta[name])}"]
        for name, claim in plan.certificate.features.items()
    ]  # fmt: skip
    columns = ["feature", "&delta; asked", "&delta; certified", "odds move by at most",
               "if correlation is twice as strong", "if nothing is assumed"]  # fmt: skip
    return (
        "<h2>What is promised</h2>"
        + _table(columns, rows)
        + "<p class='quiet'>The certified numbers are recomputed from the plan's integer tables, so anybody can check "
        "them: they hold for every law of the features whose correlation is within the assumption "
        f"({escape(str(plan.correlation['source']))}). Odds of 1.00 mean that nothing at all can be learned.</p>"
    )


def _picture(figure: Figure, words: str) -> str:
    import matplotlib.pyplot as plt

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=130)
    plt.close(figure)
    return f'<img alt="{escape(words)}" src="data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}">'


def _learned(plan: Plan, found: Estimates, truth: Truth | None) -> str:
    from bcdp.pictures import estimate_figure

    rows = []
    for name, mean in found.means.items():
        rows.append([_label(plan, name), *_cells(mean, None if truth is None else truth[name])])
    for name, table in found.frequencies.items():
        for value, share in table.items():
            known = None if truth is None else truth[name][value]
            rows.append([f"{_label(plan, name)} = {escape(str(value))}", *_cells(share, known)])
    columns = ["", "estimate", f"{100 * found.level:g}% interval", "answers", *(["truth"] if truth is not None else [])]
    words = "each estimate on the range of its feature, with its interval"
    return (
        "<h2>What was learned</h2>"
        + _picture(estimate_figure(plan, found, truth), words)
        + _table(columns, rows)
        + "<p class='quiet'>A mean of a feature with two values is the share of the second. Each interval is for the "
        "population that the people were drawn from.</p>"
    )


def _cells(estimate: Any, known: float | None) -> list[str]:
    cells = [number(estimate.value), f"{number(estimate.low)} to {number(estimate.high)}", f"{estimate.answers:,}"]
    return cells if known is None else [*cells, number(known)]


def _accuracy(plan: Plan, errors: Mapping[str, Errors], users: int) -> str:
    from bcdp.pictures import error_figure

    rows = []
    for name, error in errors.items():
        each = [standard_error(plan.policy, name, e, users) for e in (error.plan, error.paper, error.uniform)]
        rows.append([_label(plan, name), *(number(e) for e in each), f"{error.uniform / error.plan:.3g}"])
    columns = ["feature", "this plan", "the paper's mechanism", "uniform LDP", "times as many people for uniform LDP"]
    return (
        "<h2>What the guarantee costs in accuracy</h2>"
        f"<p>Standard errors for {users:,} people, in each feature's own units, at the same guarantee.</p>"
        + _picture(error_figure(plan, errors), "people needed for the same precision, by feature and mechanism")
        + _table(columns, rows)
        + "<p class='quiet'>Uniform LDP protects every feature like the most sensitive one; the paper's mechanism is "
        "run at its best level.</p>"
    )


def _adversary(plan: Plan) -> str:
    strictest = min(plan.certificate.features.items(), key=lambda item: item[1].asked)
    name, factor = _label(plan, strictest[0]), odds(strictest[1].certified)
    cannot = [
        f"Tell a person's {name} from the report: a guess that was right with probability 1/2 becomes right with "
        f"probability at most {1 / (1 + 1 / float(factor)):.3f}.",
        "Learn more by asking the same device again: it repeats its first answer.",
        "Learn which question a person was asked from the person's data: the draw does not look at them.",
    ]
    can = [
        "Learn about the population: that is what the collection is for. A person who is known to belong to a group "
        "shares what is learned of the group, whether or not that person took part.",
        f"Combine several features: about events of several features together only the odds factor "
        f"{odds(plan.certificate.epsilon)} for the whole record is promised.",
        "Do better than promised about one feature if the features are more strongly correlated than assumed (the "
        "columns above show how much better).",
    ]
    return _list("What an adversary cannot do", cannot) + _list("What an adversary can do", can)


def _list(head: str, lines: list[str]) -> str:
    return f"<h2>{head}</h2><ul>{''.join(f'<li>{line}</li>' for line in lines)}</ul>"


def _policy(plan: Plan) -> str:
    return (
        f"<h2>The policy</h2><pre>{escape(plan.policy.to_yaml())}</pre>"
        f"<p class='quiet'>Plan {plan.id}. Correlation: {escape(str(plan.correlation))[:2000]}</p>"
    )
