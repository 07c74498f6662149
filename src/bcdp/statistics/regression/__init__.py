"""Regression from privatized moments: least squares and logistic, with intervals and advice."""
