"""The policy: the document in which a person says what is collected and how well each feature is protected.

A policy is YAML or a plain mapping. It is read once, completely, into frozen records with every default filled in,
or refused with **all** its mistakes, one per line: the field's path, its value, what is accepted.
"""

from bcdp.policy.base_feature import NO_ANSWER, NOT_APPLICABLE
from bcdp.policy.correlation import Correlation, OneOfBoth, OneQ, Pairs, PairsFile, Pilot, Prior, QPerFeature
from bcdp.policy.counts import LARGEST_EPSILON
from bcdp.policy.document import Policy
from bcdp.policy.features import Feature, NumericFeature
from bcdp.policy.field_checks import PLACEHOLDER
from bcdp.policy.multiple_feature import MultipleFeature
from bcdp.policy.valued_features import (
    MOST_VALUES,
    BinaryFeature,
    CategoricalFeature,
    OpenFeature,
    OrdinalFeature,
    ValuedFeature,
)
from bcdp.policy.yaml_text import Dumper, read_yaml

__all__ = [
    "LARGEST_EPSILON",
    "MOST_VALUES",
    "NOT_APPLICABLE",
    "NO_ANSWER",
    "PLACEHOLDER",
    "BinaryFeature",
    "CategoricalFeature",
    "Correlation",
    "Dumper",
    "Feature",
    "MultipleFeature",
    "NumericFeature",
    "OneOfBoth",
    "OneQ",
    "OpenFeature",
    "OrdinalFeature",
    "Pairs",
    "PairsFile",
    "Pilot",
    "Policy",
    "Prior",
    "QPerFeature",
    "ValuedFeature",
    "read_yaml",
]
