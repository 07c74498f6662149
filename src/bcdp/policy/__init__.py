"""The policy: the document in which a person says what is collected and how well each feature is protected.

A policy is YAML or a plain mapping. It is read once, completely, into frozen records with every default filled in,
or refused with **all** its mistakes, one per line: the field's path, its value, what is accepted.
"""

from bcdp.policy.checks import PLACEHOLDER
from bcdp.policy.correlation import Correlation, OneOfBoth, OneQ, Pairs, PairsFile, Pilot, Prior, QPerFeature
from bcdp.policy.document import LARGEST_EPSILON, Policy
from bcdp.policy.features import (
    MOST_VALUES,
    NO_ANSWER,
    BinaryFeature,
    CategoricalFeature,
    Feature,
    NumericFeature,
    OpenFeature,
)
from bcdp.policy.yaml_text import Dumper, read_yaml

__all__ = [
    "LARGEST_EPSILON",
    "MOST_VALUES",
    "NO_ANSWER",
    "PLACEHOLDER",
    "BinaryFeature",
    "CategoricalFeature",
    "Correlation",
    "Dumper",
    "Feature",
    "NumericFeature",
    "OneOfBoth",
    "OneQ",
    "OpenFeature",
    "Pairs",
    "PairsFile",
    "Pilot",
    "Policy",
    "Prior",
    "QPerFeature",
    "read_yaml",
]
