"""Exact sums, means, dot products and variances in the Python package `datafusion`."""

from __future__ import annotations

import datafusion
from datafusion import AggregateUDF, ScalarUDF, SessionContext

from . import _native

__all__ = ["register"]

# Capsules have the layout of this major version of `datafusion`.
_MAJOR = "55"


def register(session: SessionContext) -> None:
    """Registers all functions with a session: the aggregates (exact_sum, exact_avg, exact_dot, exact_var_pop, exact_var_samp,
    exact_stddev_pop, exact_stddev_samp, exact_skewness, exact_corr, exact_regr_slope and so on), the functions that return, merge or read
    states (such as exact_moments_state, exact_merge and exact_var_samp_of), and tree_sum.

    Raises ImportError if this package was built for another major version of `datafusion`.
    """
    version = datafusion.__version__
    if version.split(".")[0] != _MAJOR:
        raise ImportError(
            f"treefold_datafusion was built for datafusion {_MAJOR}, but this is {version}"
        )
    for capsule in _native.aggregates():
        session.register_udaf(AggregateUDF.from_pycapsule(capsule))
    for capsule in _native.scalars():
        session.register_udf(ScalarUDF.from_pycapsule(capsule))
