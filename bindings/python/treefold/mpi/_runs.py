"""Defines the base classes of plans, and `Pending`, a run of a plan."""

from collections.abc import Iterable
from math import isnan
from typing import Any, NamedTuple, TypeVar

import numpy as np
from mpi4py import MPI

from ._arrays import Array, buffers, given_back, may_overlap, place_of, pointer
from ._errors import OK, OPERATOR, check, named
from ._handles import Handle, end_what_is_left
from ._load import ffi, lib
from ._operators import row_of

# A wait drives all runs of its communicator. If the operator of another plan fails, that plan's run is over, and this wait begins again.
# This is the greatest number of attempts.
_BEGUN_AGAIN_MOST = 100

# These algorithms cannot be started.
_BLOCKING_ALGORITHMS = ("algorithm1", "algorithm1-unbuffered", "mpi-native")

# The runs that the program has started and not yet waited for.
_under_way: set[int] = set()

_Self = TypeVar("_Self", bound="AnyPlan")


class Operation(NamedTuple):
    """An operation of the ranks on their items."""

    code: int
    # C's blocking call on one array, and its arguments after the result.
    run: Any
    more: tuple[Any, ...] = ()
    # What a rank gets: a "row", a "part" of a row, or a value for each of the rank's "items".
    result: str = "row"


OPERATIONS = {
    "allreduce": Operation(lib.TREEFOLD_ALLREDUCE, lib.treefold_allreduce),
    "reduce": Operation(lib.TREEFOLD_REDUCE, lib.treefold_reduce, (ffi.NULL,)),
    "reduce_scatter": Operation(lib.TREEFOLD_REDUCE_SCATTER, lib.treefold_reduce_scatter, result="part"),
    "scan": Operation(lib.TREEFOLD_SCAN, lib.treefold_scan, result="items"),
    "exscan": Operation(lib.TREEFOLD_EXSCAN, lib.treefold_exscan, result="items"),
}
# `OPERATIONS` does not list broadcast, because it is not a reduction.
_CODES = {"bcast": lib.TREEFOLD_BROADCAST, **{name: operation.code for name, operation in OPERATIONS.items()}}


class Form(NamedTuple):
    """A form of input (an array, pairs of arrays, keys), and the C functions that accept this form."""

    start: Any
    # None for one array, because each operation has its own C function for it.
    run: Any
    # Invalid arguments (one item at address NULL), with which `_refuse` makes a call fail on this rank and on the ranks that wait for it.
    nothing: tuple[Any, ...]


ARRAY = Form(lib.treefold_start, None, (ffi.NULL, 1))
FACTORS = Form(lib.treefold_start_dot, lib.treefold_run_dot, (ffi.NULL, 1, ffi.NULL, 1))
PAIRS = Form(lib.treefold_start_dots, lib.treefold_run_dots, (ffi.NULL, ffi.NULL, 1, 1))
WITH_KEYS = Form(lib.treefold_start_by_key, lib.treefold_run_by_key, (lib.TREEFOLD_I64, ffi.NULL, 1, ffi.NULL, 1))


class Call(NamedTuple):
    """A call whose arguments have been checked."""

    name: str
    form: Form
    # This rank's items, and the C arguments made from them.
    arrays: tuple[Array, ...]
    passed: list[Any]
    # The length of the result, and the caller's output array, if any.
    shape: tuple[int, ...]
    out: Array | None


class AnyPlan:
    """The base class of all plans.

    A plan belongs to the thread that built it, and a communicator to the
    thread that built its first plan. A plan is a context manager: the end of
    the `with` block closes the plan.
    """

    _plan: Handle | None
    _dtype: np.dtype[Any]
    _is_root: bool

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the items' elements."""
        return self._dtype

    def close(self) -> None:
        """Closes the plan. Runs of the plan that are under way continue."""
        if self._plan is not None:
            self._plan.end()
            self._plan = None

    def _handle(self) -> Any:
        if self._plan is None:
            raise ValueError("the plan is closed")
        return self._plan.place[0]

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class ScheduledPlan(AnyPlan):
    """The base class of `Plan` and `KeyedPlan`, which have a message schedule.

    `str(plan)` shows which rank sends what to which rank, and when.
    """

    # The exceptions that the operator has raised in the current run of this plan.
    _raised: list[BaseException]
    _is_compiled = False

    def _build(self, comm: MPI.Intracomm, builder: Handle, row_shape: tuple[int, ...], root: int) -> None:
        self._combine = builder.kept
        plan = Handle("treefold_plan **", self._combine)
        self._check(lib.treefold_plan_build(builder.place[0], plan.place))
        self._plan = plan
        self._row_shape = row_shape
        begin, end = ffi.new("size_t *"), ffi.new("size_t *")
        check(lib.treefold_plan_scattered_columns(plan.place[0], begin, end), "scattered_columns")
        self._scattered_columns = slice(begin[0], end[0])
        self._is_root = comm.rank == root
        self._is_blocking = self.algorithm() in _BLOCKING_ALGORITHMS

    def algorithm(self, operation: str = "allreduce") -> str | None:
        """The name of the algorithm that runs an operation.

        Parameters
        ----------
        operation : str, optional
            "allreduce", "reduce", "reduce_scatter", "scan", "exscan" or
            "bcast".

        Returns
        -------
        str or None
            One of `ALGORITHMS`; None if the plan does not offer the operation.
        """
        name = ffi.new("const char **")
        check(lib.treefold_plan_algorithm(self._handle(), row_of(_CODES, operation, "operation"), name), "algorithm")
        return ffi.string(name[0]).decode() if name[0] else None

    def __str__(self) -> str:
        needed = ffi.new("size_t *")
        check(lib.treefold_plan_print(self._handle(), ffi.NULL, 0, needed), "str")
        text = ffi.new("char[]", needed[0])
        check(lib.treefold_plan_print(self._handle(), text, needed[0], needed), "str")
        return ffi.string(text).decode()

    def _form(self, given: tuple[Any, ...]) -> Form:
        """Returns the `Form` for the arguments of a call."""
        raise NotImplementedError

    def _items(self, form: Form, given: tuple[Any, ...]) -> tuple[tuple[Array, ...], list[Any]]:
        """This rank's items as arrays, and the C arguments made from them."""
        raise NotImplementedError

    def _place(self, name: str, out: Any, shape: tuple[int, ...]) -> Array:
        return place_of(name, out, self._dtype, shape)

    def _shape(self, operation: Operation, arrays: tuple[Array, ...]) -> tuple[int, ...]:
        if operation.result == "row":
            return self._row_shape
        if operation.result == "items":
            return arrays[0].shape
        columns = self._scattered_columns
        return (columns.stop - columns.start,)

    def _call(self, name: str, given: tuple[Any, ...], out: Any) -> Call:
        """Checks the arguments of a call. If one is wrong, this rank takes part without items, so that the other ranks get an error."""
        self._handle()
        end_what_is_left()
        form, known = ARRAY, "allreduce"
        try:
            operation = row_of(OPERATIONS, name, "operation")
            known = name
            form = self._form(given)
            arrays, passed = self._items(form, given)
            shape = self._shape(operation, arrays)
            place = None if out is None else self._place("out", out, shape)
        except BaseException as error:
            self._refuse(form, known)
            raise named(self._name(name if name == known else "start"), error) from None
        return Call(name, form, arrays, passed, shape, place)

    def _refuse(self, form: Form, name: str) -> None:
        """Makes an operation fail on this rank and on the ranks that wait for this rank, by running it with invalid arguments."""
        self._run_in_c(form, OPERATIONS[name], *form.nothing, ffi.NULL, 0)

    def _run(self, name: str, given: tuple[Any, ...], out: Any) -> Any:
        call = self._call(name, given, out)
        # If another run is under way, its operator may fail during this call, and the failure would end a blocking call. Blocking calls
        # also must not write to their input.
        is_simple = not _under_way and (call.out is None or not any(may_overlap(array, call.out) for array in call.arrays))
        return self._run_at_once(call) if is_simple or self._is_blocking else self._start(call).wait()

    def _run_at_once(self, call: Call) -> Any:
        result = np.empty(call.shape, self._dtype) if call.out is None else call.out
        status = self._run_in_c(call.form, OPERATIONS[call.name], *call.passed, pointer(result), result.size)
        self._check(status, call.name)
        return given_back(result, call.out) if self._has_result(call.name) else None

    def _run_in_c(self, form: Form, operation: Operation, *arguments: Any) -> int:
        if form.run is None:
            return operation.run(self._handle(), *arguments, *operation.more)
        return form.run(self._handle(), operation.code, *arguments, ffi.NULL)

    def _start(self, call: Call) -> "Pending":
        # The handle is created before the call, so that any interruption of this function cancels the run.
        handle = Handle("treefold_run **", self._combine)
        # No output is passed here: the wait gets it.
        arguments = OPERATIONS[call.name].code, *call.passed, ffi.NULL, 0, handle.place
        self._check(call.form.start(self._handle(), *arguments), call.name)
        return Pending(self, handle, call.name, call.shape, call.out)

    def _wait(self, handle: Handle, name: str, seconds: float) -> None:
        """Waits until a run is done. After a timeout, the run continues."""
        for _ in range(_BEGUN_AGAIN_MOST):
            status = lib.treefold_wait_timeout(handle.place[0], seconds)
            if status != OPERATOR or self._raised or self._is_compiled:
                break
        self._check(status, name)

    def _result(self, handle: Handle, name: str, shape: tuple[int, ...], out: Array | None) -> Any:
        """Ends the handle of a finished run, and returns its result."""
        if not self._has_result(name):
            self._check(lib.treefold_wait(handle.place, ffi.NULL, 0, ffi.NULL), name)
            return None
        result = np.empty(shape, self._dtype) if out is None else out
        self._check(lib.treefold_wait(handle.place, *buffers(result), ffi.NULL), name)
        return given_back(result, out)

    def _has_result(self, name: str) -> bool:
        return self._is_root or name != "reduce"

    def _name(self, call: str = "") -> str:
        return f"{type(self).__name__}.{call}" if call else type(self).__name__

    def _check(self, status: int, call: str = "") -> None:
        """Raises the error of a C function that may have run operators."""
        if status == OK:
            return
        if self._raised:
            try:
                raise self._raised[0]
            finally:
                self._raised.clear()
        check(status, self._name(call))


class Pending:
    """A run of a plan between its start and its end.

    Several plans may each have a run under way; a wait for one run drives all
    of them. Deleting a `Pending` cancels its run.
    """

    def __init__(self, plan: ScheduledPlan, handle: Handle, name: str, shape: tuple[int, ...], out: Array | None):
        self._plan = plan
        self._handle: Handle | None = handle
        self._name, self._shape, self._out = name, shape, out
        _under_way.add(id(self))

    def test(self) -> bool:
        """Makes progress without waiting.

        Returns
        -------
        bool
            Whether `wait` would return at once.

        Raises
        ------
        Error
            As in `wait`.
        """
        done = ffi.new("int *")
        try:
            self._plan._check(lib.treefold_test(self._started().place[0], done), self._name)
        except BaseException:
            self.cancel()
            raise
        return bool(done[0])

    def wait(self, timeout: float | None = None) -> Any:
        """Waits for the run.

        Parameters
        ----------
        timeout : float, optional
            How many seconds to wait; by default, there is no limit. After a
            `TimeoutError`, the run continues, and can be waited for again. Any
            other exception ends the run.

        Returns
        -------
        Any
            The result that the method of the plan would have returned.

        Raises
        ------
        Error
            The run failed: another rank failed, or left, or was silent for
            longer than the silence limit.
        ValueError
            The run is over, or `timeout` is not a number.
        """
        if timeout is not None and isnan(timeout):
            raise ValueError("timeout is not a number")
        handle = self._started()
        try:
            self._plan._wait(handle, self._name, float("inf") if timeout is None else max(0.0, timeout))
            result = self._plan._result(handle, self._name, self._shape, self._out)
        except BaseException as error:
            if getattr(error, "status", None) != "TIMED_OUT":
                self.cancel()
            raise
        self._is_over()
        return result

    def cancel(self) -> None:
        """Abandons the run, unless it is over.

        The plan is then spent and cannot run again. Other ranks get an error.
        """
        if self._handle is not None:
            self._handle.end()
            self._is_over()

    def _is_over(self) -> None:
        self._handle = None
        _under_way.discard(id(self))

    def __del__(self) -> None:
        _under_way.discard(id(self))

    def _started(self) -> Handle:
        if self._handle is None:
            raise ValueError("the run is over")
        return self._handle

    def __reduce__(self) -> Any:
        raise TypeError("a run under way cannot be copied")


def wait_all(runs: Iterable[Pending]) -> list[Any]:
    """Waits for several runs.

    All runs are waited for, even if one of them fails. Only Ctrl-C, or another
    exception that is not an `Exception`, cancels the runs that are not over.

    Parameters
    ----------
    runs : iterable of Pending
        Runs of any plans, in any order.

    Returns
    -------
    list
        The results, in the order of the runs.

    Raises
    ------
    Exception
        The exception of the first run that failed.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> from treefold.mpi import Plan, wait_all
    >>> plans = [Plan(MPI.COMM_SELF, 3, op=op) for op in ("sum", "max")]
    >>> runs = [plan.start("allreduce", [1, 2, 4]) for plan in plans]
    >>> [float(result) for result in wait_all(runs)]
    [7.0, 4.0]
    """
    runs = list(runs)
    for run in runs:
        if not isinstance(run, Pending):
            raise TypeError(f"runs must be Pending objects, but one is a {type(run).__name__}")
    results, errors = [], []
    for run in runs:
        try:
            results.append(run.wait())
        except Exception as error:
            errors.append(error)
        except BaseException:
            for other in runs:
                other.cancel()
            raise
    if errors:
        raise errors[0]
    return results
