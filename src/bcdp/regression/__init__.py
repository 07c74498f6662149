"""Regression from a survey: moments from counts, coefficients from moments, and the whole way in one object."""

from bcdp.regression.fit import Coefficient, RegressionEstimate, fit

__all__ = ["Coefficient", "RegressionEstimate", "fit"]
