"""Defines plans of exact statistics by key."""

from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, DTypeLike

from ._arrays import Array, buffers, check_host, with_keys
from ._errors import check, named
from ._handles import Handle, end_what_is_left
from ._load import ffi, lib
from ._operators import BY_KEY, FLOATS, STATISTICS, row_of, type_code
from ._runs import OPERATIONS, WITH_KEYS, AnyPlan, Call, Form, Pending, ScheduledPlan
from ._settings import described, natural, set_all


class KeyedPlan(ScheduledPlan):
    """A plan of exact statistics by key, for the keys 0 to `groups` - 1.

    In each run, each rank contributes any number of items, with any of these
    keys. Sums equal those of `treefold.exact.bincount` on all ranks' items:
    they are rounded once, and do not depend on which rank has which item. A
    message has 16 bytes for each key, or 64 for means. For arbitrary integer
    keys, use `HashedPlan`. Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The ranks.
    groups : int
        The number of keys.
    dtype : data-type, optional
        The type of the items: float64 or float32.
    op : str, optional
        "exact_sum" or "exact_mean", whose results are arrays; or "exact_var",
        "exact_skewness" or "exact_cov", whose results are `Moments`. Only
        "exact_cov" has two columns.
    root, algorithm, blocks, ports, node_ranks, message_limit : optional
        As in `Plan`; so are the errors.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> comm = MPI.COMM_WORLD
    >>> mine = slice(comm.rank, None, comm.size)
    >>> keys, x = [0, 2, 0, 2, 0], [1e300, 0.1, 1.0, 0.2, -1e300]
    >>> with KeyedPlan(comm, 3) as plan:
    ...     plan.allreduce(keys[mine], x[mine]).tolist()
    [1.0, 0.0, 0.30000000000000004]
    >>> with KeyedPlan(comm, 3, op="exact_var") as plan:
    ...     plan.allreduce(keys[mine], x[mine]).value("count").tolist()
    [3, 0, 2]
    """

    def __init__(
        self, comm: MPI.Intracomm, groups: int, *, dtype: DTypeLike = "f8", op: str = "exact_sum", root: int = 0,
        algorithm: str | None = None, blocks: int | None = None, ports: int | None = None, node_ranks: int | None = None,
        message_limit: int | None = None,
    ):
        with described(self, comm) as world:
            self._dtype, self._raised = np.dtype(dtype), []
            self._op, self._by_key = op, row_of(BY_KEY, op, "op")
            self._groups = natural("groups", groups)
            builder = Handle("treefold_builder **")
            code = type_code(self._dtype, allowed=FLOATS)
            check(lib.treefold_builder_create_by_key(world, code, self._by_key.code, self._groups, builder.place), "groups")
            set_all(builder, {"root": root, "algorithm": algorithm, "blocks": blocks, "ports": ports, "node_ranks": node_ranks,
                              "message_limit": message_limit})
        self._build(comm, builder, (self._groups,), root)
        # The C library runs plans of two columns only in blocking calls.
        self._is_blocking |= self._by_key.columns > 1

    def allreduce(self, keys: ArrayLike, x: ArrayLike, y: ArrayLike | None = None, *, out: np.ndarray | None = None) -> Any:
        """The statistic of each key's items, on every rank. Collective.

        Parameters
        ----------
        keys : array_like of ints
            The key of each of this rank's items.
        x : array_like
            An item for each key. Items are converted to the plan's type; a
            value that would change is an error.
        y : array_like, optional
            The second column, in plans of "exact_cov".
        out : ndarray, optional
            The output, if the result is an array: C-contiguous, of the
            plan's type, with `groups` elements.

        Returns
        -------
        array of `groups` elements, or Moments
            The statistics; `out` if it was given.

        Raises
        ------
        Error, ValueError, TypeError
            Arguments are wrong on this rank, or on a rank whose items are needed.
        """
        return self._run("allreduce", (keys, x, y), out)

    def reduce(self, keys: ArrayLike, x: ArrayLike, y: ArrayLike | None = None, *, out: np.ndarray | None = None) -> Any:
        """The result of `allreduce` on the root; None on other ranks. Collective."""
        return self._run("reduce", (keys, x, y), out)

    def reduce_scatter(self, keys: ArrayLike, x: ArrayLike, y: ArrayLike | None = None, *, out: np.ndarray | None = None) -> Any:
        """The result of `allreduce`, but only for `scattered_keys`. Collective."""
        return self._run("reduce_scatter", (keys, x, y), out)

    def start(self, operation: str, keys: ArrayLike, x: ArrayLike, y: ArrayLike | None = None, *, out: np.ndarray | None = None) -> Pending:
        """Starts an operation, as `Plan.start` does. Collective.

        Plans of two columns do not support `start`.

        Parameters
        ----------
        operation : str
            The name of a method: "allreduce", "reduce" or "reduce_scatter".
        keys, x, y, out : optional
            As in that method.

        Returns
        -------
        Pending
            The run under way. A plan can have one run at a time.
        """
        call = self._call(operation, (keys, x, y), out)
        if self._by_key.columns > 1:
            self._refuse(call.form, operation)
            raise TypeError(f"KeyedPlan.start: plans of {self._op!r} do not support start: call {operation}")
        return self._start(call)

    @property
    def groups(self) -> int:
        """The number of keys."""
        return self._groups

    @property
    def scattered_keys(self) -> slice:
        """The keys whose values this rank gets from `reduce_scatter`."""
        return self._scattered_columns

    def _form(self, given: tuple[Any, ...]) -> Form:
        return WITH_KEYS

    def _items(self, form: Form, given: tuple[Any, ...]) -> tuple[tuple[Array, ...], list[Any]]:
        keys, x, y = given
        columns = (x,) if y is None else (x, y)
        if len(columns) != self._by_key.columns:
            raise TypeError(f"plans of {self._op!r} take {['x', 'x and y'][self._by_key.columns - 1]}")
        arrays = with_keys(keys, columns, self._dtype)
        return arrays, [type_code(arrays[0].dtype), *buffers(*arrays)]

    def _place(self, name: str, out: Any, shape: tuple[int, ...]) -> Array:
        if self._by_key.has_moments:
            raise TypeError(f"{name}: results of {self._op!r} are Moments, not an array")
        check_host(name, out)
        return super()._place(name, out, shape)

    def _run_at_once(self, call: Call) -> Any:
        if not self._by_key.has_moments:
            return super()._run_at_once(call)
        moments = Moments(self._dtype, self._groups, self._by_key.code)
        add = lib.treefold_keyed_add if self._by_key.columns == 1 else lib.treefold_keyed_add_pairs
        try:
            check(add(moments._state.place[0], *call.passed), self._name(call.name))
        except BaseException:
            self._refuse(call.form, call.name)
            raise
        code = OPERATIONS[call.name].code
        self._check(lib.treefold_run_keyed(self._handle(), code, moments._state.place[0], ffi.NULL), call.name)
        return moments if self._has_result(call.name) else None

    def _result(self, handle: Handle, name: str, shape: tuple[int, ...], out: Array | None) -> Any:
        if not self._by_key.has_moments:
            return super()._result(handle, name, shape, out)
        moments = Moments(self._dtype, self._groups, self._by_key.code)
        self._check(lib.treefold_wait_keyed(handle.place, moments._state.place[0], ffi.NULL), name)
        return moments if self._has_result(name) else None


class Moments:
    """The result of a `KeyedPlan` of "exact_var", "exact_skewness" or "exact_cov".

    Several statistics of each key's items can be computed from it.
    """

    def __init__(self, dtype: np.dtype[Any], groups: int, code: int):
        self._dtype = dtype
        self._state = Handle("treefold_keyed **")
        check(lib.treefold_keyed_create(type_code(dtype), code, groups, self._state.place), "Moments")

    def value(self, statistic: str, *, ddof: float | None = None, bias: bool | None = None) -> np.ndarray:
        """The exact value of a statistic of each key's items, rounded once.

        Parameters
        ----------
        statistic : str
            "count", "sum", "mean", "var" or "std"; for plans of "exact_skewness"
            also "skewness" or "kurtosis". For plans of "exact_cov", "count",
            "cov", "corr", "slope" (of the regression line of y on x) or
            "intercept" (the line's height at x = 0).
        ddof : float, optional
            The divisor of "var", "std" and "cov" is the number of items minus
            `ddof`. The default is 1 for "cov" and 0 for the others.
        bias : bool, optional
            True, the default, for the "skewness" and "kurtosis" of the items;
            false for the estimates for a population.

        Returns
        -------
        array
            An element for each key, NaN for a key with too few items. The type
            is uint64 for "count", otherwise the plan's type.

        Raises
        ------
        TypeError
            Plans with this `op` do not have this statistic.
        """
        code, parameter, default = row_of(STATISTICS, statistic, "statistic")
        given = {name: value for name, value in (("ddof", ddof), ("bias", bias)) if value is not None}
        if given.keys() - {parameter}:
            raise TypeError(f"{' and '.join(given.keys() - {parameter})} is not a parameter of {statistic!r}")
        value = given.get(parameter, default)
        # In C, 1 stands for statistics without bias.
        freedom = float(not value if parameter == "bias" else value)
        groups = ffi.new("size_t *")
        check(lib.treefold_keyed_groups(self._state.place[0], groups), "value")
        result = np.empty(groups[0], np.uint64 if statistic == "count" else self._dtype)
        check(lib.treefold_keyed_values(self._state.place[0], code, freedom, *buffers(result)), "value")
        return result


class HashedPlan(AnyPlan):
    """A plan of exact sums by key, for any 64-bit keys.

    Each key is owned by one rank, which adds up the key's items from all ranks.
    In each run, each rank contributes any number of items, with any keys.
    Results are the keys that have items, in ascending order, and their sums. Each
    sum is rounded once, and has the same bits as in one process. If keys are 0
    to K - 1 and most ranks have each key, `KeyedPlan` is cheaper. Collective.

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
        As in `Plan`.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> comm = MPI.COMM_WORLD
    >>> mine = slice(comm.rank, None, comm.size)
    >>> keys, x = [-7, 1 << 40, -7], [0.1, 5.0, 0.2]
    >>> with HashedPlan(comm) as plan:
    ...     keys, sums = plan.allreduce(keys[mine], x[mine])
    >>> keys.tolist(), sums.tolist()
    ([-7, 1099511627776], [0.30000000000000004, 5.0])
    """

    def __init__(self, comm: MPI.Intracomm, *, keys: DTypeLike = "i8", dtype: DTypeLike = "f8", root: int = 0):
        with described(self, comm) as world:
            self._keys, self._dtype = np.dtype(keys), np.dtype(dtype)
            codes = type_code(self._keys, "keys", ("i8", "u8")), type_code(self._dtype, allowed=FLOATS)
            root = natural("root", root, 1 << 31)
        plan = Handle("treefold_hashed **")
        check(lib.treefold_hashed_create(world, *codes, root, plan.place), "HashedPlan")
        self._plan = plan
        self._is_root = comm.rank == root

    def allreduce(self, keys: ArrayLike, x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """The keys that have items on any rank, and their sums. Collective.

        Parameters
        ----------
        keys, x : array_like
            As in `KeyedPlan.allreduce`; so are the errors.

        Returns
        -------
        keys, sums : arrays
            In ascending order of the keys.
        """
        return self._run("allreduce", keys, x)

    def reduce(self, keys: ArrayLike, x: ArrayLike) -> tuple[np.ndarray, np.ndarray] | None:
        """The result of `allreduce` on the root; None on other ranks. Collective."""
        result = self._run("reduce", keys, x)
        return result if self._is_root else None

    def reduce_scatter(self, keys: ArrayLike, x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """The result of `allreduce`, but only for this rank's own keys. Collective."""
        return self._run("reduce_scatter", keys, x)

    def _run(self, name: str, keys: ArrayLike, x: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        plan, code, count = self._handle(), OPERATIONS[name].code, ffi.new("size_t *")
        end_what_is_left()
        try:
            items = with_keys(keys, (x,), self._dtype, self._keys)
        except BaseException as error:
            lib.treefold_hashed_run(plan, code, ffi.NULL, 1, ffi.NULL, 1, count)
            raise named(f"HashedPlan.{name}", error) from None
        check(lib.treefold_hashed_run(plan, code, *buffers(*items), count), f"HashedPlan.{name}")
        result = np.empty(count[0], self._keys), np.empty(count[0], self._dtype)
        check(lib.treefold_hashed_result(plan, *buffers(*result)), f"HashedPlan.{name}")
        return result
