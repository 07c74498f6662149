"""`bcdp policy` and `bcdp plan`: from a data file's columns to a policy, from a policy to a plan."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bcdp.cli.bound import read_bound
from bcdp.cli.counts import batch_lines, counts_summary, trust_lines
from bcdp.cli.options import AsJson, Users
from bcdp.cli.output import (
    PIPED_WIDTH,
    check_output,
    finer_lines,
    promise_cells,
    promise_columns,
    promise_words,
    remark,
    show,
    show_json,
    table,
    working,
)
from bcdp.cli.records import column_lines, contradiction_lines
from bcdp.errors import refuse
from bcdp.present.words import number, small_odds, some, together

if TYPE_CHECKING:
    from rich.table import Table

    from bcdp.audit.exact import Finer
    from bcdp.correlation import Correlation
    from bcdp.correlation.contradictions import Contradiction
    from bcdp.plan import Plan
    from bcdp.policy import Policy
    from bcdp.present.footnotes import Footnotes
    from bcdp.present.plan_summary import Planned
    from bcdp.present.promise import Promise
    from bcdp.present.published_counts import CountsPromise
    from bcdp.statistics import Expected

_WORDS = (
    "asked, certified: delta, of the whole record epsilon.",
    "c: the level (odds e^c) against somebody who knows all other features, whatever the correlation.",
    "standard errors: the largest, at shares of 1/2 and numbers half at each bound; typical of categories.",
    "open answers: how many openly asked people would have the same standard error.",
    "uniform LDP: all features as strict as the strictest, the better of two such surveys for each feature.",
)
_MANY = 8  # features, beyond which equal rows are shown as one
_MOST_RECORDS = 50_000  # of a sample, on which finer guesses are tried
_MOST_PRODUCTS = 2**33  # for that: some seconds


def policy(
    data: Annotated[Path, typer.Argument(metavar="FILE", help="A data file with the columns to collect, or a form.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The policy to write.")],
    as_json: AsJson = False,
) -> None:
    """Write a policy to fill in, from the columns of a data file or the questions of a form.

    Forms: XLSForm (.xlsx), a REDCap data dictionary (.csv), SurveyJS (.json), a LimeSurvey structure (.txt). Types,
    labels, choices, limits and conditions are carried over; what a policy cannot express is listed with the reason.

    Of a data file only names and types are taken, and whether any value is missing. Bounds and values are left for you
    to state from public knowledge: taken from people's data they would give some of it away. How many values are
    missing, and which columns of text look like numbers or ids, is printed on stderr. An existing policy
    is never replaced.

    Example:

        bcdp policy people.csv -o policy.yaml
        bcdp policy form.xlsx -o policy.yaml
    """
    from bcdp.files import written_whole
    from bcdp.forms import read_form
    from bcdp.forms.policy_text import policy_text
    from bcdp.records.policy_draft import policy_skeleton

    check_output("--output", output, data)
    if output.is_file():
        raise refuse("--output", str(output), "a new file, because a policy that was filled in would be lost")
    notes = list[str]()
    questionnaire = read_form(data)
    if questionnaire is None:
        text = policy_skeleton(data, lambda columns: notes.extend(column_lines(columns)))
    else:
        text = policy_text(questionnaire)
        notes += [f"left out: {part.name}: {part.reason}" for part in questionnaire.left_out]
    with written_whole(output) as draft:
        draft.write_text(text, encoding="utf-8")
    remark(*notes)
    if as_json:
        left_out = None if questionnaire is None else [asdict(part) for part in questionnaire.left_out]
        show_json({"policy": str(output)} | ({} if left_out is None else {"left_out": left_out}))
    else:
        show(f"{output} written. Fill in what says FILL, then: bcdp plan {output} -o plan.json")


def plan(
    policy: Annotated[Path, typer.Argument(metavar="POLICY", help="The policy, a YAML file.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="The plan to write, as JSON; else only shown.")
    ] = None,
    users: Users = 10_000,
    data: Annotated[
        Path | None, typer.Option(metavar="DATA", help="Records to compare with the q and odds that the policy states.")
    ] = None,
    bound: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A bound on any mechanism, by bcdp bound, to compare with.")
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="Compare whom to trust: devices alone, relay and collector, the collector.")
    ] = False,
    liars: Annotated[
        float, typer.Option(metavar="B", help="Show how far this share of fake reports could shift estimates.")
    ] = 0.0,
    seconds: Annotated[
        float | None,
        typer.Option(metavar="S", help="Search for about so long, and take the best plan so far, with its gap."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Design the collection: what each device will be asked, and the proof of what that protects.

    Shows for each feature the delta asked and certified, and what is left of it if the correlation was underestimated;
    then the standard error to expect, next to the paper's mechanism and uniform LDP at the same guarantee.

    Examples:

        bcdp plan policy.yaml --users 50000
        bcdp plan policy.yaml -o plan.json --data people.csv
        bcdp plan policy.yaml --bound bound.json
        bcdp plan policy.yaml --users 10000 --trust
        bcdp plan policy.yaml --liars 0.01
    """
    from bcdp.correlation import correlation_of
    from bcdp.files import written_whole
    from bcdp.mechanisms.counts_demand import counts_demands
    from bcdp.mechanisms.planning import make_plan
    from bcdp.policy import Policy
    from bcdp.present.batch_promise import binding_demand, binding_line
    from bcdp.present.fake_shifts import fake_lines, fake_shifts
    from bcdp.present.plan_summary import planned
    from bcdp.present.trust_choices import trust_choices

    check_output("--output", output, policy, bound, ending=".json")
    stated = Policy.load(policy)
    proved = None if bound is None else read_bound(bound, stated).least
    correlation = correlation_of(stated)
    contradicted = _contradicted(stated, correlation, data)
    remark(*_needless(stated), *contradiction_lines(contradicted))
    with working("planning") as tell:
        planned_survey = make_plan(stated, correlation, tell, seconds)
        summary = planned(planned_survey, correlation, users)
        limit = _limit(summary.survey, correlation) if summary.survey and proved is None else None
        finer = _finer(summary.survey, stated) if summary.survey else {}
        choices = trust_choices(stated, users, tell) if trust else ()
    if output is not None:
        with written_whole(output) as draft:
            planned_survey.save(draft)
    document = summary.document | {"proved_limit": proved, "numerical_limit": limit}
    if stated.counts is not None:
        document["counts_demands"] = [asdict(kept) for kept in counts_demands(planned_survey, stated.counts)]
    if (binding := binding_demand(stated, planned_survey)) is not None:
        document["binding_demand"] = asdict(binding)
    if trust:
        document["trust_choices"] = [choice.to_dict() for choice in choices]
    shifts = fake_shifts(planned_survey, liars) if liars else {}
    document |= {"fakes": {"liars": liars, "shifts": shifts}} if liars else {}
    if data is not None:
        document["contradictions"] = [asdict(contradiction) for contradiction in contradicted]
    for name, cuts in planned_survey.correlation_model.ranges.items():
        document["features"][name] |= {"ranges": cuts, "finer": finer.get(name)}
    if as_json:
        show_json(document)
    else:
        lines = [] if binding is None else [binding_line(binding), ""]
        _show(summary, document, output, [*lines, *fake_lines(shifts, liars), *trust_lines(choices, users)])


def _contradicted(policy: Policy, correlation: Correlation, data: Path | None) -> list[Contradiction]:
    from bcdp.correlation import read_pilot
    from bcdp.correlation.contradictions import contradictions
    from bcdp.files import naming_file

    if data is None:
        return []
    with naming_file(data):
        return contradictions(policy, read_pilot(data, policy), correlation=correlation)


def _finer(plan: Plan, stated: Policy) -> Finer:
    """What finer guesses than those that the plan covers gain on the pilot sample, by the number of equal parts."""
    from bcdp.audit import finer_levels, population_from_records
    from bcdp.correlation import read_pilot
    from bcdp.policy import Pilot

    if not isinstance(stated.correlation, Pilot) or not plan.correlation_model.ranges:
        return {}
    sample = read_pilot(stated.correlation.pilot, stated)
    products = 2 * len(plan.correlation_model.ranges) * sum(math.prod(symbols) for symbols in plan.symbols)
    most = min(_MOST_RECORDS, max(1, _MOST_PRODUCTS // products))
    some = sample.take(list(range(0, len(sample), -(-len(sample) // most))))
    return finer_levels(plan, population_from_records(plan, [some]))


def _needless(policy: Policy) -> list[str]:
    """A sentence about the demands that ask for less than epsilon already promises."""
    return together(
        (name, f"delta {feature.delta:g} is above epsilon {policy.epsilon:g}, which already promises more")
        for name, feature in policy.features.items()
        if feature.delta > policy.epsilon
    )


def _limited(document: dict[str, Any]) -> list[str]:
    """The binding demands in sentences."""

    def reason(name: str, by: str) -> str:
        return by if by == "epsilon" else "its own delta" if by == name else f"the delta of {by}"

    features = document["features"].items()
    return together((name, f"limited by {reason(name, f['limited_by'])}") for name, f in features if "limited_by" in f)


def _limit(plan: Plan, correlation: Correlation) -> float | None:
    """What no mechanism is known to beat, where that can be computed: surveys of the means of binary features."""
    from bcdp.mechanisms.survey import lower_bound

    binary = all(feature.type == "binary" for feature in plan.policy.features.values())
    regression = any(task.kind == "regression" for task in plan.policy.tasks)
    known = "laws" in plan.correlation  # the bound is over all priors within q, and a known one may allow more
    if not binary or regression or known:
        return None
    return lower_bound(plan.policy, correlation, plan).numerical


def _show(summary: Planned, document: dict[str, Any], output: Path | None, choices: list[str | Table]) -> None:
    from bcdp.compare.baselines import NO_PAPER
    from bcdp.present.footnotes import Footnotes
    from bcdp.present.plan_summary import follow_up_words
    from bcdp.present.promise import open_said, operator_says, panel_said

    plan, promised = summary.plan, summary.promised
    features, notes = document["features"], Footnotes()
    unable = any(math.isnan(f["standard_error_paper"]) for f in features.values())
    errors = {
        name: [f["standard_error"], f["open_people"], f["standard_error_paper"], f["standard_error_uniform_ldp"]]
        for name, f in features.items()
    }
    show(
        *batch_lines(summary.batch),
        "What a report reveals" if summary.batch is None else "What a report reveals, the fallback",
        _guarantees(summary, document, notes),
        *_conditions(notes, promised),
        *_wrapped(operator_says(plan), *open_said(plan), *panel_said(plan)),
        *counts_summary(plan, summary.counted),
        *_counts_demanded(document.get("counts_demands", [])),
        *choices,
        *_wrapped(*_limited(document)),
        *finer_lines(plan, {name: f["finer"] for name, f in features.items() if f.get("finer")}, "on the sample"),
        "",
        f"Standard errors for {document['users']:,} people, in own units",
        table(["feature", "this plan", "open answers", "the paper", "uniform LDP"], _rows(errors)),
        *_accuracy(plan, document["proved_limit"], document["numerical_limit"]),
        *_useless(plan, document),
        "",
        *(line for each in summary.expected for line in _wrapped(_expectation(each))),
        *([""] if summary.expected else []),
        *_wrapped(" ".join([*promise_words(promised), *_WORDS, *follow_up_words(plan)])),
        *([f"the paper: {NO_PAPER}."] if unable else []),
        "nothing written; -o plan.json keeps the plan" if output is None else f"{output} written, id {plan.id[:12]}..",
    )


def _guarantees(summary: Planned, document: dict[str, Any], notes: Footnotes) -> Table:
    """What a report reveals of each feature and of the whole record, and what published counts do."""
    from bcdp.present.promise import promise_of_all

    plan, features = summary.plan, document["features"]
    counts = {promise.name: promise for promise in summary.counted}

    def cells(name: str | None, promise: Promise) -> list[Any]:
        letter = notes.letter(promise.condition)
        of_report, *rest = promise_cells(promise)
        return [of_report, letter or "-", *rest, *([_counted(counts[name], letter, notes)] if counts else [])]

    rows = {
        name: [f["asked"], f["certified"], *cells(name, summary.promised[name]), f["budget"]]
        for name, f in features.items()
    }
    record = [plan.policy.epsilon, document["epsilon"], *cells(None, promise_of_all(plan)), "-"]
    columns = promise_columns(summary.promised)
    heads = ["feature", "asked", "certified", columns[0], "if", *columns[1:], *(["counts"] if counts else []), "c"]
    return table(heads, [*_rows(rows), ["the whole record", *record]])


def _counted(promise: CountsPromise, letter: str | None, notes: Footnotes) -> str:
    """What counts reveal, with a letter where it rests on another condition than the report's promise."""
    own = notes.letter(promise.condition)
    return f"x{small_odds(promise.level)}{f' {own}' if own and own != letter else ''}"


def _conditions(notes: Footnotes, promised: Mapping[str, Promise]) -> list[str]:
    """Each condition once, after its letter and the features that it stands for."""
    features: dict[str, list[str]] = {}
    for name, promise in promised.items():
        features.setdefault(promise.condition, []).append(name)
    return [
        line
        for letter, condition in notes.conditions.items()
        for line in wrap(
            f"{letter}  {some(features[condition]) + ': ' if condition in features else ''}{condition}",
            PIPED_WIDTH,
            subsequent_indent="   ",
        )
    ]


def _wrapped(*sentences: str) -> list[str]:
    return [line for sentence in sentences for line in wrap(sentence, PIPED_WIDTH)]


def _expectation(expected: Expected) -> str:
    return f"What to expect: {expected.subject}: {'; '.join(expected.lines)}"


def _rows(cells: dict[str, list[Any]]) -> list[list[Any]]:
    """A row for each feature; of many features, one for all that would read the same."""
    if len(cells) <= _MANY:
        return [[name, *row] for name, row in cells.items()]
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, row in cells.items():
        groups.setdefault(tuple(cell if isinstance(cell, str) else number(cell) for cell in row), []).append(name)
    return [[some(names), *row] for row, names in groups.items()]


def _counts_demanded(demands: list[dict[str, Any]]) -> list[str]:
    """The policy's demands on counts, and which of them limits the plan."""
    if not demands:
        return []
    closest = max(demands, key=lambda kept: kept["level"] / kept["demanded"])
    lines = [
        f"  {kept['about']}: {kept['form']} {kept['level']:.3g} of {kept['demanded']:.3g} nats"
        f"{', the closest' if kept is closest and len(demands) > 1 else ''}"
        for kept in demands
    ]
    return ["Demands on counts, in the counts of the honest people that the policy expects", *lines, ""]


def _accuracy(plan: Plan, proved: float | None, limit: float | None) -> list[str]:
    """How far the plan is from the best that is possible, or from the best that is known."""
    lines, objective = [], plan.certificate.objective
    if plan.policy.panel is not None:
        waves = plan.policy.panel.waves
        lines.append(
            f"These are for all {waves} waves together; those of one wave are about {waves**0.5:.3g} times as large"
        )
    if plan.certificate.optimality_gap is not None:
        menus = f"{len(plan.menus)} menu{'s' * (len(plan.menus) > 1)}"
        lines.append(f"{menus}; {_gap(plan.certificate.optimality_gap)}")
    if proved is not None and objective is not None:
        times = math.ceil(1e5 * objective / proved) / 1e5
        lines.append(f"proved: the error is at most {times:.5f} times the least possible with any unbiased decoding")
    if limit is not None and objective is not None:
        less = max(0.0, 100 * (1 - limit / objective))
        lines.append(
            f"a numerical search over groups of up to six features found no way to more than {less:.2f}% less error"
        )
    return lines


def _gap(gap: float) -> str:
    """Compares with the best plan of a class, in people for the same total error; shaped tables may beat the class."""
    if gap > 1 - 1e-4:
        most = math.ceil(gap * 1e4 - 1e-7) / 1e4  # rounded up, as every bound is
        return f"it needs at most {most:.4f} times the people of the best plan without jointly shaped tables"
    least = math.floor(1e4 / gap) / 1e4
    return f"no plan without jointly shaped tables is as good: the best needs {least:.4f} times the people"


def _useless(plan: Plan, document: dict[str, Any]) -> list[str]:
    """A sentence about features and tasks that will tell less than they are worth, and how many people they take."""
    from bcdp.present.plan_summary import of_little_use

    users = document["users"]
    errors = {name: feature["standard_error"] for name, feature in document["features"].items()}
    features = of_little_use(plan, errors, users).items()
    return together(
        [*((name, use.sentence(users)) for name, use in features), *document["tasks_of_little_use"].items()]
    )
