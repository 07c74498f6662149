"""The whole way from records to a prediction in one object, in the manner of scikit-learn."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from bcdp.device import privatize
from bcdp.errors import InputError, refuse
from bcdp.estimates.results import estimate
from bcdp.mechanisms.planning import make_plan
from bcdp.policy import Policy
from bcdp.records.encoding import as_arrow
from bcdp.statistics.regression.model import Model
from bcdp.statistics.regression.statistic import Regression
from bcdp.tally import Tally

Array = npt.NDArray[np.float64]


class SurveyRegressor:
    """A regression from private reports: `fit` asks every record once, as the policy's plan says, and forgets it.

    `X` is a table with the features as columns (pandas, polars, Arrow, a mapping) or an array with one column for each
    feature of the policy's regression, in its order; `y` holds the target. Features of the policy that are not in `X`
    are missing, and need a rule for that. Predictions and coefficients are in own units; a category has a coefficient
    of its own. It is an estimator of scikit-learn: it can be cloned, and stand in pipelines and cross-validation.

    >>> policy = Policy(epsilon=2, features={"age": {"type": "numeric", "bounds": [0, 100]}, "ill": {"type": "binary"}},
    ...     tasks=[{"regression": {"target": "ill", "features": ["age"]}}])
    >>> model = SurveyRegressor(policy).fit({"age": [20, 40, 60, 80] * 500}, [0, 0, 1, 1] * 500)
    >>> model.predict({"age": [30, 70]}).shape
    (2,)
    """

    def __init__(self, policy: Policy) -> None:
        """`policy` has one regression task; other tasks share the reports with it."""
        self.policy = policy

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name: the policy."""
        return {"policy": self.policy}

    def set_params(self, **params: Any) -> SurveyRegressor:
        """Takes another policy; gives the object itself."""
        unknown = sorted(params.keys() - {"policy"})
        if unknown:
            raise refuse("set_params", unknown[0], "policy")
        self.policy = params.get("policy", self.policy)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags, Tags, TargetTags

        kind = RegressorTags(poor_score=True)  # on the small samples of scikit-learn's checks
        target = TargetTags(required=True)
        return Tags("regressor", target, regressor_tags=kind, non_deterministic=True, no_validation=True)

    def __repr__(self) -> str:
        return f"SurveyRegressor(policy={self.policy!r})"

    def __eq__(self, other: object) -> bool:
        """The same policy and, if they are fitted, the same counts."""
        fitted = [
            (regressor.policy, vars(regressor).get("tally_"))
            for regressor in (self, other)
            if isinstance(regressor, SurveyRegressor)
        ]
        return len(fitted) == 2 and fitted[0] == fitted[1]

    __hash__ = None  # type: ignore[assignment]  # it can be fitted again

    @property
    def _task(self) -> Model:
        tasks = [task.regression for task in self.policy.tasks if isinstance(task, Regression)]
        if len(tasks) != 1 or self.policy.mechanism != "survey":
            shown = f"{len(tasks)} regressions, mechanism {self.policy.mechanism}"
            raise refuse("policy", shown, "one regression task and mechanism survey")
        if self.policy.features[tasks[0].target].counts_values:
            raise refuse("policy", f"the categorical target {tasks[0].target}", "a target that is a number or binary")
        return tasks[0]

    def fit(self, X: Any, y: Any) -> SurveyRegressor:
        """Plans, asks everybody once, counts and estimates; gives the object itself."""
        columns = self._columns(X)
        self.n_features_in_ = len(self._task.features)
        people = len(next(iter(columns.values())))
        if len(y) != people:
            raise refuse("y", f"{len(y)} values", f"one for each of the {people} records")
        table = {name: pa.nulls(people) for name in self.policy.features} | columns | {self._task.target: y}
        self.plan_ = make_plan(self.policy)
        self.tally_ = Tally(self.plan_).add(privatize(self.plan_, table))
        self.estimates_ = estimate(self.tally_)
        assert self.estimates_.regression is not None
        self.regression_ = self.estimates_.regression
        self.coef_ = np.array([number.value for number in self.regression_.coefficients.values()])
        self.intercept_ = self.regression_.intercept.value
        return self

    def predict(self, X: Any) -> Array:
        """The target predicted for each record, in own units; of two values the chance of the second."""
        if not hasattr(self, "regression_"):
            raise _not_fitted()
        return self.regression_.predict(self.policy, self._columns(X))

    def score(self, X: Any, y: Any) -> float:
        """The share of the variance of `y` that the predictions explain: at most 1, below 0 if worse than the mean."""
        truth = np.asarray(y, dtype=np.float64)
        return float(1 - ((truth - self.predict(X)) ** 2).sum() / ((truth - truth.mean()) ** 2).sum())

    def _columns(self, X: Any) -> dict[str, Any]:
        names = self._task.features
        if isinstance(X, np.ndarray):
            if X.ndim != 2 or X.shape[1] != len(names):
                raise refuse("X", f"an array of shape {X.shape}", f"one column for each of {', '.join(names)}")
            return {name: X[:, column] for column, name in enumerate(names)}
        table = as_arrow(X)
        absent = [name for name in names if name not in table.column_names]
        if absent:
            raise refuse("X", f"no column {absent[0]}", f"columns {', '.join(names)}")
        return {name: table.column(name) for name in self.policy.features if name in table.column_names}


def _not_fitted() -> InputError:
    """A refusal which is scikit-learn's own, too, where that is in use."""
    refusal = refuse("predict", "a regressor that has not been fitted", "a call of fit first")
    if "sklearn" not in sys.modules:
        return refusal
    from sklearn.exceptions import NotFittedError

    return type("NotFittedError", (InputError, NotFittedError), {})(str(refusal))  # type: ignore[no-any-return]
