"""Defines mergeable states of columns, as the database extensions store them."""

import numpy as np
from numpy.typing import ArrayLike

from . import _native
from ._accumulator import Mergeable
from ._arrays import as_array, counted


class State(Mergeable):
    """A state from which statistics of one or two columns are computed.

    `merge` or `+` gives the state of all rows of both states. Adding and then
    removing rows changes nothing. The bytes of a state are the same as in the
    state columns of `treefold.duckdb` and `treefold.polars`.

    Parameters
    ----------
    kind : str
        "sum" gives a sum and a mean; "moments" also a variance and a standard
        deviation; "powers" also a skewness and a kurtosis; "dot" gives the sum
        of the products of two columns; "comoments" their covariance,
        correlation and regression line.

    Raises
    ------
    ValueError
        `kind` is none of these.

    Examples
    --------
    >>> from treefold import exact
    >>> days = [exact.State("moments"), exact.State("moments")]
    >>> days[0].add([1e300, 4.0])
    >>> days[1].add([-1e300, 7.0])
    >>> month = days[0] + exact.State.of_bytes(days[1].to_bytes())
    >>> month.value("sum"), month.count
    (11.0, 4)
    """

    __module__ = "treefold.exact"
    __slots__ = ("_native",)

    def __init__(self, kind: str) -> None:
        self._native = _native.ExactCompact.of(str(kind))

    @classmethod
    def of_bytes(cls, data: bytes) -> "State":
        """Reads a state from bytes, such as a value of a database's column.

        Parameters
        ----------
        data : bytes
            The bytes that `to_bytes` or a database returned.

        Raises
        ------
        ValueError
            The bytes are not a state of float64.
        """
        state = cls.__new__(cls)
        state._native = _native.ExactCompact.of_bytes(bytes(data))
        return state

    def to_bytes(self) -> bytes:
        """The state as bytes.

        States of equal rows have equal bytes. -0.0 counts as 0.0.
        """
        return self._native.to_bytes()

    @property
    def kind(self) -> str:
        """The kind of state, as given to the constructor."""
        return self._native.kind()

    @property
    def count(self) -> int:
        """The number of rows."""
        return self._native.items()

    def _of_rows(self, x, y):
        rows = State(self.kind)
        rows._native.add([_doubles(column, name) for column, name in ((x, "x"), (y, "y")) if column is not None])
        return rows

    def add(self, x: ArrayLike, y: ArrayLike | None = None) -> None:
        """Adds rows.

        Parameters
        ----------
        x, y : array_like
            The items of the columns. Kinds with two columns need `y`, which is
            as long as `x`.

        Raises
        ------
        TypeError
            The state's kind has a different number of columns.
        ValueError
            A column has integers that float64 cannot represent, or the columns
            differ in length.
        """
        self.merge(self._of_rows(x, y))

    def remove(self, x: ArrayLike, y: ArrayLike | None = None) -> None:
        """Removes rows that were added earlier. Parameters are as in `add`.

        Raises
        ------
        ValueError
            There are fewer rows, NaNs or infinities than to remove. The state
            is then unchanged.
        """
        self._native.unmerge(self._of_rows(x, y)._native)

    def merge(self, other: "State") -> None:
        """Adds the rows of another state of the same kind.

        Raises
        ------
        ValueError
            The other state is of another kind.
        """
        self._check_other(other)
        self._native.merge(self.copy()._native if other is self else other._native)

    def value(self, statistic: str, ddof: float | None = None, bias: bool | None = None) -> float:
        """A statistic of all rows, rounded once.

        Parameters
        ----------
        statistic : str
            "count", "sum", "mean", "var", "std", "skewness", "kurtosis",
            "dot", "cov", "corr", "slope" (of y on x) or "intercept".
        ddof : float, optional
            The divisor is the number of rows minus `ddof`. The default is 1 for
            a covariance and 0 for the other statistics.
        bias : bool, optional
            True, the default, for the skewness and kurtosis of the rows; false
            for estimates for a population, corrected for bias.

        Returns
        -------
        float
            The statistic; NaN if there are too few rows or a divisor is zero.

        Raises
        ------
        ValueError
            The state does not hold the sums that the statistic needs.
        """
        freedom = None if ddof is None else float(ddof)
        return self._native.value(str(statistic), freedom, None if bias is None else bool(bias))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        return self.kind == other.kind and self._native.equals(other._native)

    def __reduce__(self):
        return State.of_bytes, (self.to_bytes(),)

    def __repr__(self):
        return f"<treefold.exact.State: {self.kind} of {counted(self.count, 'row')}>"


def _doubles(x, name):
    array = np.ravel(as_array(x, name))
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise TypeError(f"{name} has elements of type {array.dtype}, which a state cannot hold")
    if array.dtype.kind in "iu":
        large = array[(array > 2**53) | (array < -(2**53))]
        if any(int(float(item)) != item for item in large.tolist()):
            raise ValueError(f"{name} has integers that float64 cannot represent: convert {name} to float64 first")
    return np.ascontiguousarray(array, np.float64)
