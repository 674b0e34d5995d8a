"""Computes exact covariances and correlations of several variables, with NumPy's signatures."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ._arrays import as_array, contiguous, counted
from ._keyed import as_exact_floats, slots_of


def _variables(x, rowvar, name):
    """An array of floats with a row for each variable."""
    array = as_array(x, name)
    if array.dtype.kind == "c":
        raise TypeError(f"{name} must not be complex: exact.cov and exact.corrcoef accept only real numbers")
    if array.ndim > 2:
        raise ValueError(f"{name} has more than 2 dimensions")
    rows = np.atleast_2d(as_exact_floats(array, name))
    return rows if rowvar or array.ndim < 2 else rows.T


def _of_pairs(statistic, names, arrays, rowvar, dtype, ddof=0.0):
    """A statistic of each pair of variables: a matrix, or a scalar for one variable."""
    rows = [_variables(x, rowvar, name) for name, x in zip(names, arrays) if x is not None]
    observations = rows[0].shape[1]
    if rows[-1].shape[1] != observations:
        raise ValueError(f"{names[1]} has {counted(rows[-1].shape[1], 'observation')}, but {names[0]} has {observations}")
    if statistic == "cov" and observations <= ddof:
        warnings.warn(f"the number of observations ({observations}) must exceed ddof ({ddof})", RuntimeWarning, stacklevel=3)
    variables = [contiguous(row.astype(dtype, copy=False)) for array in rows for row in array]
    matrix = np.empty((len(variables), len(variables)), dtype)
    keys = np.zeros(observations, np.int64)
    for row, one in enumerate(variables):
        for column, other in enumerate(variables[: row + 1]):
            (value,) = slots_of(statistic, keys, [one, other], 1).values(statistic, ddof, True)
            matrix[row, column] = matrix[column, row] = value
    return matrix.squeeze() if variables else matrix


def _float_type(dtype):
    dtype = np.dtype(np.float64 if dtype is None else dtype)
    if dtype not in (np.float32, np.float64):
        raise TypeError(f"dtype must be float32 or float64, not {dtype}")
    return dtype


def cov(
    m: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: float | None = None,
    *,
    dtype: DTypeLike | None = None,
) -> NDArray[np.floating[Any]]:
    """The exact covariances of variables, each rounded once.

    The signature is that of `numpy.cov`, without weights.

    Parameters
    ----------
    m : array_like
        A vector of the observations of one variable; or an array of two axes,
        with a row for each variable.
    y : array_like, optional
        More variables, with as many observations as `m` has.
    rowvar : bool, optional
        Whether variables are rows (true) or columns.
    bias : bool, optional
        Whether to divide by the number of observations (true) or by one less.
    ddof : float, optional
        The divisor is the number of observations minus `ddof`, whatever `bias`
        is. A divisor that is not positive gives NaNs and a RuntimeWarning.
    dtype : dtype, optional
        float64 (the default) or float32. Observations are rounded to this type.

    Returns
    -------
    ndarray
        A matrix with a row and a column for each variable; for one variable,
        its variance, as an array without axes.

    Raises
    ------
    TypeError
        Observations are complex or not numbers.
    ValueError
        Variables have different numbers of observations, or integers beyond
        2^53, which float64 may round.

    Examples
    --------
    >>> from treefold import exact
    >>> exact.cov([[1e8 + 1, 1e8 + 2, 1e8 + 6], [3.0, 2.0, 1.0]]).tolist()
    [[7.0, -2.5], [-2.5, 1.0]]
    """
    if ddof is None:
        ddof = 0 if bias else 1
    return _of_pairs("cov", ("m", "y"), (m, y), rowvar, _float_type(dtype), float(ddof))


def corrcoef(
    x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, *, dtype: DTypeLike | None = None
) -> NDArray[np.floating[Any]]:
    """The exact correlations of variables, each rounded once.

    The signature is that of `numpy.corrcoef`. Correlations with a constant
    variable are NaN.

    Parameters
    ----------
    x, y, rowvar, dtype
        As in `cov`, where `x` is called `m`. Errors are also those of `cov`.

    Returns
    -------
    ndarray
        A matrix; for one variable, a scalar.

    Examples
    --------
    >>> from treefold import exact
    >>> exact.corrcoef([1.0, 2.0, 3.0], [6.0, 4.0, 2.0]).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    return _of_pairs("corr", ("x", "y"), (x, y), rowvar, _float_type(dtype))
