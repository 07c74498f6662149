"""A policy as a questionnaire, to be written as a form; what a form cannot state is listed."""

from __future__ import annotations

from bcdp.forms.questionnaire import FormQuestion, LeftOut, Questionnaire, Text
from bcdp.policy import Feature, NumericFeature, OpenFeature, Policy

_PROTECTION = "how it is protected: delta, correlation and tasks are in the policy only"


def questionnaire_of(policy: Policy) -> Questionnaire:
    """The questions of a policy in its order, open features last."""
    declared = {**policy.features, **policy.open}
    titles = {} if policy.survey is None else _texts(policy.survey.title, policy.survey.titles)
    left_out = [LeftOut("every question", _PROTECTION)]
    for name, feature in declared.items():
        left_out += [LeftOut(name, reason) for reason in _lost(feature)]
    return Questionnaire(titles, tuple(_question(name, feature) for name, feature in declared.items()), tuple(left_out))


def _question(name: str, feature: Feature | OpenFeature) -> FormQuestion:
    document = feature.model_dump(mode="json")
    dates = feature.dates if isinstance(feature, NumericFeature) else None
    values = tuple(_code(value) for value in document.get("values") or ([] if "bounds" in document else [0, 1]))
    return FormQuestion(
        name,
        "categorical" if document["type"] == "open" else "date" if dates else document["type"],
        _texts(document["label"], document["labels"]),
        _texts(document["help"] or "", document["helps"]),
        values=values,
        value_labels={language: tuple(words) for language, words in (document["value_labels"] or {}).items()}
        if values
        else {},
        bounds=tuple(document["bounds"]) if "bounds" in document and not dates else (None, None),
        days=(dates.written(0), dates.written(document["bounds"][1])) if dates else (None, None),
        unit=dates.unit if dates else "days",
        at_most=document.get("at_most"),
        required=document.get("missing") is None,
        asked_if={
            parent: tuple(map(_code, stated if isinstance(stated, list) else [stated]))
            for parent, stated in (document.get("asked_if") or {}).items()
        },
    )


def _lost(feature: Feature | OpenFeature) -> list[str]:
    """What a form does not state about a feature."""
    document = feature.model_dump(mode="json")
    reasons = {
        "ranges": "its ranges",
        "scores": "its scores",
        "items": "what single items are protected by",
    }
    lost = [reason for key, reason in reasons.items() if document.get(key) is not None]
    if document.get("missing") not in (None, "own"):
        lost.append(f"that a missing answer counts as {document['missing']}")
    if document["type"] == "open":
        lost.append("that its answer is sent as it is, without protection")
    return lost


def _texts(text: str, translations: Text | None) -> Text:
    return dict(translations) if translations else {"": text} if text else {}


def _code(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
