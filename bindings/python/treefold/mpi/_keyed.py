"""Plans of exact statistics by key."""

from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, DTypeLike

from .._arrays import as_unmasked
from .._cuda import is_on_device
from ._arrays import Array
from ._errors import check
from ._handles import Handle, end_what_is_left
from ._load import ffi, lib
from ._operators import type_code
from ._runs import AnyPlan, Items, Pending, Run, buffers, converted_items, natural, refuse_to_build, set_all, start
from ._world import world_of

_STATISTICS = {
    "exact_sum": lib.TREEFOLD_EXACT_SUM,
    "exact_mean": lib.TREEFOLD_EXACT_MEAN,
    "exact_skewness": lib.TREEFOLD_EXACT_SKEWNESS,
    "exact_cov": lib.TREEFOLD_EXACT_COVARIANCE,
}

class KeyedPlan(AnyPlan):
    """Exact sums, or other statistics, of the items of each of the keys 0 to `groups` - 1 over the ranks of a communicator. Collective.

    In each run each rank gives any number of items, with any of these keys. A sum is that of `treefold.exact.bincount` on all ranks' items:
    rounded once, whoever has which. It takes 16 bytes of a message for each key. For keys that are any integers there is `HashedPlan`.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The ranks.
    groups : int
        The number of keys.
    dtype : data-type, optional
        The type of the items: float64 or float32.
    op : str, optional
        "exact_sum", "exact_mean", "exact_skewness", or "exact_cov", of two columns, which `allreduce_moments` takes.
    root, algorithm, blocks, ports, node_ranks, message_limit : optional
        As for `Plan`.

    Raises
    ------
    Error
        On all ranks: they do not agree on what is reduced. Where an argument is wrong on one rank alone, that rank has the `ValueError`
        or `TypeError`, and the others have an `Error` that names it.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> comm = MPI.COMM_WORLD
    >>> keys, x = [0, 2, 0, 2, 0], [1e300, 0.1, 1.0, 0.2, -1e300]
    >>> with KeyedPlan(comm, 3) as plan:
    ...     plan.allreduce(keys[comm.rank :: comm.size], x[comm.rank :: comm.size]).tolist()
    [1.0, 0.0, 0.30000000000000004]
    """

    def __init__(
        self,
        comm: MPI.Intracomm,
        groups: int,
        *,
        dtype: DTypeLike = "f8",
        op: str = "exact_sum",
        root: int = 0,
        algorithm: str | None = None,
        blocks: int | None = None,
        ports: int | None = None,
        node_ranks: int | None = None,
        message_limit: int | None = None,
    ):
        if hasattr(self, "_plan"):
            raise TypeError("a plan is built once")
        end_what_is_left()
        world = world_of(comm)
        try:
            self._dtype = np.dtype(dtype)
            self._raised = []
            if op not in _STATISTICS:
                raise ValueError(f"op: {op!r} is none of {', '.join(_STATISTICS)}")
            self._groups = natural("groups", groups)
            builder = Handle("treefold_builder **")
            self._statistic = _STATISTICS[op]
            check(lib.treefold_builder_create_by_key(world, type_code(self._dtype), self._statistic, self._groups, builder.place))
            numbers = {
                "root": root,
                "blocks": blocks,
                "ports": ports,
                "node_ranks": node_ranks,
                "message_limit": message_limit,
            }
            set_all(builder, numbers, algorithm)
        except BaseException:
            refuse_to_build(world)
            raise
        self._build(comm, builder, (self._groups,), root)

    def allreduce(self, keys: ArrayLike, x: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """The value of each key, on every rank. Collective.

        Parameters
        ----------
        keys : array_like of ints
            For each of this rank's items its key.
        x : array_like
            The items, as many; converted to the plan's type if that loses nothing.
        out : ndarray, optional
            Where the result goes: C-contiguous, of the plan's type, with `groups` elements.

        Returns
        -------
        array of `groups` elements
            `out` if it was given.

        Raises
        ------
        Error, ValueError, TypeError
            If an argument is wrong on one rank alone, such as a key, which is named, the others have an `Error` that names the rank. Then
            the plan is spent: build another.
        """
        return self._run("allreduce_by_key", (keys, x), out)

    def reduce(self, keys: ArrayLike, x: ArrayLike, out: np.ndarray | None = None) -> np.ndarray | None:
        """The values on the root, None on other ranks; as `allreduce` otherwise. Collective."""
        return self._run("reduce_by_key", (keys, x), out)

    def reduce_scatter(self, keys: ArrayLike, x: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """The values of the keys `scattered_keys`; as `allreduce` otherwise. Collective."""
        return self._run("reduce_scatter_by_key", (keys, x), out)

    def start_allreduce(self, keys: ArrayLike, x: ArrayLike, out: np.ndarray | None = None) -> Pending:
        """Starts an `allreduce`, as that of a `Plan`. Collective."""
        return self._start("allreduce_by_key", (keys, x), out)

    def start_reduce(self, keys: ArrayLike, x: ArrayLike, out: np.ndarray | None = None) -> Pending:
        """Starts a `reduce`, as `start_allreduce`."""
        return self._start("reduce_by_key", (keys, x), out)

    def start_reduce_scatter(self, keys: ArrayLike, x: ArrayLike, out: np.ndarray | None = None) -> Pending:
        """Starts a `reduce_scatter`, as `start_allreduce`."""
        return self._start("reduce_scatter_by_key", (keys, x), out)

    def allreduce_moments(self, keys: ArrayLike, x: ArrayLike, y: ArrayLike | None = None) -> "Moments":
        """The statistics of each key's items, on every rank. Collective.

        For plans of "exact_mean"; of "exact_skewness", which have skewness and kurtosis, too; and of "exact_cov", which take y.
        """
        return self._run_moments("allreduce", keys, x, y)

    def reduce_moments(self, keys: ArrayLike, x: ArrayLike, y: ArrayLike | None = None) -> "Moments | None":
        """The same on the root, None on other ranks. Collective."""
        return self._run_moments("reduce", keys, x, y)

    def start_allreduce_moments(self, keys: ArrayLike, x: ArrayLike) -> Pending:
        """Starts an `allreduce_moments` of one column, as `start_allreduce`. Collective."""
        return self._start_moments("allreduce", keys, x)

    def start_reduce_moments(self, keys: ArrayLike, x: ArrayLike) -> Pending:
        """Starts a `reduce_moments`, as `start_allreduce`."""
        return self._start_moments("reduce", keys, x)

    def _run_moments(self, operation: str, keys: ArrayLike, x: ArrayLike, y: ArrayLike | None) -> Any:
        if not self._is_blocking and y is None:
            # What fails in other runs that the wait drives does not take this one with it.
            return self._start_moments(operation, keys, x).wait()
        name = f"{operation}_by_key"
        items, _, _ = self._moments_arguments(name, keys, x, y)
        moments = Moments(self._dtype, self._groups, self._statistic)
        state = moments._state.place[0]
        add = lib.treefold_keyed_add if y is None else lib.treefold_keyed_add_pairs
        try:
            check(add(state, *self._passed("", items)))
        except BaseException:
            self._refuse(name)
            raise
        code = lib.TREEFOLD_REDUCE if operation == "reduce" else lib.TREEFOLD_ALLREDUCE
        self._check(lib.treefold_run_keyed(self._handle(), code, state, ffi.NULL))
        return moments if self._is_root or operation == "allreduce" else None

    def _start_moments(self, operation: str, keys: ArrayLike, x: ArrayLike) -> Pending:
        name = f"{operation}_by_key"
        items, _, shape = self._moments_arguments(name, keys, x)
        handle = self._launch(name, items, None, shape)[0]
        return Pending(self, (handle, f"{operation}_moments", None, shape))

    def _result(self, run: Run) -> Any:
        handle, operation, _, _ = run
        if not operation.endswith("_moments"):
            return super()._result(run)
        moments = Moments(self._dtype, self._groups, self._statistic)
        self._check(lib.treefold_wait_keyed(handle.place, moments._state.place[0], ffi.NULL))
        return moments if self._is_root or operation == "allreduce_moments" else None

    def _moments_arguments(
        self, operation: str, keys: ArrayLike, x: ArrayLike, y: ArrayLike | None = None
    ) -> tuple[Items, Array | None, tuple[int, ...]]:
        arguments = self._arguments(operation, (keys, x) if y is None else (keys, x, y), None)
        if self._statistic == lib.TREEFOLD_EXACT_SUM:
            self._refuse(operation)
            raise TypeError("a plan of sums has no moments: op is \"exact_mean\" for them")
        if (y is None) == (self._statistic == lib.TREEFOLD_EXACT_COVARIANCE):
            self._refuse(operation)
            raise TypeError("y: plans of \"exact_cov\" take two columns, others one")
        return arguments

    def _items(self, operation: str, given: tuple[Any, ...]) -> Items:
        keys, *columns = given
        return _keys(keys), *(self._array(name, _here(name, column)) for name, column in zip("xy", columns))

    def _passed(self, operation: str, items: Items) -> list[Any]:
        return [type_code(items[0].dtype), *buffers(items)]

    def _check_out(self, out: Any, shape: tuple[int, ...], name: str) -> Array:
        return super()._check_out(_here(name, out), shape, name)

    def _refuse(self, operation: str) -> None:
        start(self._handle(), operation, [lib.TREEFOLD_I64, ffi.NULL, 1, ffi.NULL, 1], ffi.new("treefold_run **"))

    @property
    def groups(self) -> int:
        """The number of keys."""
        return self._groups

    @property
    def scattered_keys(self) -> slice:
        """The keys whose values this rank gets from `reduce_scatter`."""
        return self._scattered_columns

class Moments:
    """Statistics of each key's items, each rounded once from the exact one: those that follow from what the plan's `op` adds up."""

    def __init__(self, dtype: np.dtype[Any], groups: int, statistic: int = lib.TREEFOLD_EXACT_MEAN):
        self._dtype, self._groups = dtype, groups
        self._state = Handle("treefold_keyed **")
        check(lib.treefold_keyed_create(type_code(dtype), statistic, groups, self._state.place))

    def count(self) -> np.ndarray:
        """How many items each key has."""
        return self._values(lib.TREEFOLD_EXACT_COUNT, dtype=np.dtype(np.uint64))

    def mean(self) -> np.ndarray:
        """The mean of each key's items; NaN if there are none."""
        return self._values(lib.TREEFOLD_EXACT_MEAN)

    def var(self, ddof: float = 0) -> np.ndarray:
        """The variance of each key's items, less `ddof` degrees of freedom."""
        return self._values(lib.TREEFOLD_EXACT_VARIANCE, ddof)

    def std(self, ddof: float = 0) -> np.ndarray:
        """The root of the exact variance, rounded once."""
        return self._values(lib.TREEFOLD_EXACT_STD, ddof)

    def skewness(self, bias: bool = True) -> np.ndarray:
        """The skewness; without a bias an estimate of that of a population."""
        return self._values(lib.TREEFOLD_EXACT_SKEWNESS, 0 if bias else 1)

    def kurtosis(self, bias: bool = True) -> np.ndarray:
        """The excess kurtosis; without a bias an estimate of that of a population."""
        return self._values(lib.TREEFOLD_EXACT_KURTOSIS, 0 if bias else 1)

    def cov(self, ddof: float = 1) -> np.ndarray:
        """The covariance of both columns, less `ddof` degrees of freedom."""
        return self._values(lib.TREEFOLD_EXACT_COVARIANCE, ddof)

    def corr(self) -> np.ndarray:
        """The correlation of both columns."""
        return self._values(lib.TREEFOLD_EXACT_CORRELATION)

    def slope(self) -> np.ndarray:
        """The slope of the regression line of y over x."""
        return self._values(lib.TREEFOLD_EXACT_SLOPE)

    def intercept(self) -> np.ndarray:
        """The height of that line at x = 0."""
        return self._values(lib.TREEFOLD_EXACT_INTERCEPT)

    def _values(self, statistic: int, ddof: float = 0, dtype: np.dtype[Any] | None = None) -> np.ndarray:
        result = np.empty(self._groups, self._dtype if dtype is None else dtype)
        check(lib.treefold_keyed_values(self._state.place[0], statistic, float(ddof), *buffers((result,))))
        return result

class HashedPlan:
    """Exact sums of the items of each key over the ranks of a communicator, for keys that are any integers of 64 bits. Collective.

    Each key is owned by one rank, which adds up what all ranks have of it. In each run each rank gives any number of items, with any keys.
    Results are the keys that have items, in ascending order, and their sums, each rounded once: the bits are those of all items in one
    process. For keys 0 to K - 1 that most ranks have, `KeyedPlan` is cheaper.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The ranks.
    keys : data-type, optional
        The type of the keys: int64 or uint64.
    dtype : data-type, optional
        The type of the items: float64 or float32.
    root : int, optional
        The rank that gets the result of `reduce`.

    Raises
    ------
    Error
        As `KeyedPlan`.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> comm = MPI.COMM_WORLD
    >>> plan = HashedPlan(comm)
    >>> keys, sums = plan.allreduce([-7, 1 << 40, -7][comm.rank :: comm.size], [0.1, 5.0, 0.2][comm.rank :: comm.size])
    >>> keys.tolist(), sums.tolist()
    ([-7, 1099511627776], [0.30000000000000004, 5.0])
    """

    def __init__(self, comm: MPI.Intracomm, *, keys: DTypeLike = "i8", dtype: DTypeLike = "f8", root: int = 0):
        end_what_is_left()
        world = world_of(comm)
        try:
            self._keys, self._dtype = np.dtype(keys), np.dtype(dtype)
            codes = type_code(self._keys), type_code(self._dtype)
            root = natural("root", root)
            if root >= 1 << 31:
                raise ValueError(f"root: there is no rank {root}")
        except BaseException:
            refuse_to_build(world)
            raise
        plan = Handle("treefold_hashed **")
        check(lib.treefold_hashed_create(world, *codes, root, plan.place))
        self._plan: Handle | None = plan
        self._is_root = comm.rank == root

    def allreduce(self, keys: ArrayLike, x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """The keys that have items on any rank, and their sums, on every rank. Collective.

        Parameters
        ----------
        keys : array_like of ints
            For each of this rank's items its key.
        x : array_like
            The items, as many; converted to the plan's type if that loses nothing.

        Returns
        -------
        keys, sums : arrays
            In ascending order of the keys.

        Raises
        ------
        Error, ValueError, TypeError
            As `KeyedPlan.allreduce`.
        """
        return self._run(lib.TREEFOLD_ALLREDUCE, keys, x)

    def reduce(self, keys: ArrayLike, x: ArrayLike) -> tuple[np.ndarray, np.ndarray] | None:
        """The same on the root, None on other ranks. Collective."""
        result = self._run(lib.TREEFOLD_REDUCE, keys, x)
        return result if self._is_root else None

    def reduce_scatter(self, keys: ArrayLike, x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """The same for the keys that this rank owns. Collective."""
        return self._run(lib.TREEFOLD_REDUCE_SCATTER, keys, x)

    def _run(self, operation: int, keys: ArrayLike, x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        plan, count = self._handle(), ffi.new("size_t *")
        end_what_is_left()
        try:
            items = _keys(keys, self._keys), converted_items("x", _here("x", x), self._dtype)
        except BaseException:
            lib.treefold_hashed_run(plan, operation, ffi.NULL, 1, ffi.NULL, 1, count)
            raise
        check(lib.treefold_hashed_run(plan, operation, *buffers(items), count))
        result = np.empty(count[0], self._keys), np.empty(count[0], self._dtype)
        check(lib.treefold_hashed_result(plan, *buffers(result)))
        return result

    def _handle(self) -> Any:
        if self._plan is None:
            raise ValueError("the plan is closed")
        return self._plan.place[0]

    def close(self) -> None:
        """Ends the plan."""
        if self._plan is not None:
            self._plan.end()
            self._plan = None

    def __enter__(self) -> "HashedPlan":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

def _here(name: str, given: Any) -> Any:
    """An array that is in ordinary memory."""
    if is_on_device(given):
        raise TypeError(f"{name} is in GPU memory, and items with keys are not")
    return given

def _keys(given: ArrayLike, dtype: np.dtype[Any] | None = None) -> np.ndarray:
    """Keys as an array for C, of a type if one was said."""
    keys = as_unmasked(_here("keys", given), "keys")
    has_type = hasattr(given, "dtype")
    if not (keys.size or has_type):
        keys = keys.astype(np.int64)
    if keys.dtype.kind not in "iu":
        raise TypeError(f"keys have type {keys.dtype}, not integers")
    if dtype is None:
        return np.require(keys, keys.dtype.newbyteorder("="), ["C", "A"])
    if has_type and not np.can_cast(keys.dtype, dtype):
        raise TypeError(f"keys have type {keys.dtype}, which is not converted to {dtype}")
    limits = np.iinfo(dtype)
    if keys.size and not limits.min <= int(keys.min()) <= int(keys.max()) <= limits.max:
        raise ValueError(f"keys has elements that are no {dtype}")
    return np.require(keys, dtype, ["C", "A"])
