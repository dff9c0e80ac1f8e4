"""Regressors: what is linear in the inertial parameters, and how it depends on them."""
