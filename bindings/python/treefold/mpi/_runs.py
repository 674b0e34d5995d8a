"""What plans have in common, and runs of them."""

from math import isnan, prod
from operator import index
from typing import Any, TypeVar

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike

from .._arrays import as_unmasked
from .._cuda import OnDevice, is_on_device
from ._arrays import Array, converted, is_read_only, may_overlap, on_device
from ._errors import OK, OPERATOR, check
from ._handles import Handle, end_what_is_left
from ._load import ffi, lib

_FOR_EVER = float("inf")

# A wait drives all runs of its communicator. If the operator of another plan fails there, that plan's run is over; this wait begins
# again, so often at most.
_BEGUN_AGAIN_MOST = 100

_OPERATIONS = {
    "allreduce": lib.TREEFOLD_ALLREDUCE,
    "reduce": lib.TREEFOLD_REDUCE,
    "reduce_scatter": lib.TREEFOLD_REDUCE_SCATTER,
    "scan": lib.TREEFOLD_SCAN,
    "exscan": lib.TREEFOLD_EXSCAN,
    "bcast": lib.TREEFOLD_BROADCAST,
}

# C's calls by what a rank's items are: one array, two of a dot product, pairs of them, or keys and items.
_START = {
    "": lib.treefold_start,
    "_dot": lib.treefold_start_dot,
    "_dots": lib.treefold_start_dots,
    "_by_key": lib.treefold_start_by_key,
}
_RUN = {"_dot": lib.treefold_run_dot, "_dots": lib.treefold_run_dots, "_by_key": lib.treefold_run_by_key}
_BLOCKING = {
    "allreduce": lib.treefold_allreduce,
    "reduce": lib.treefold_reduce,
    "reduce_scatter": lib.treefold_reduce_scatter,
    "scan": lib.treefold_scan,
    "exscan": lib.treefold_exscan,
}

# Settings of a builder that C has as parameters of algorithms.
_PARAMETERS = {
    "blocks": lib.TREEFOLD_BLOCKS,
    "ports": lib.TREEFOLD_PORTS,
    "node_ranks": lib.TREEFOLD_NODE_RANKS,
    "message_limit": lib.TREEFOLD_MESSAGE_LIMIT,
}

# These algorithms cannot be started.
_BLOCKING_ALGORITHMS = ("algorithm1", "algorithm1-unbuffered", "mpi-native")

# The runs that programs have started, and not waited for.
_under_way: set[int] = set()

# A rank's items: an array, or two for each dot product, or keys and items.
Items = tuple[Array, ...]

# A run under way: its handle, the operation, where the result goes if that was said, and the result's shape.
Run = tuple[Handle, str, Array | None, tuple[int, ...]]

_Self = TypeVar("_Self", bound="AnyPlan")


class AnyPlan:
    """What plans of all kinds have. They are context managers."""

    _dtype: np.dtype[Any]
    # What an operator has raised in a run of this plan.
    _raised: list[BaseException]
    _is_compiled = False

    def _build(self, comm: MPI.Intracomm, builder: Handle, row_shape: tuple[int, ...], root: int) -> None:
        self._combine = builder.kept
        plan = Handle("treefold_plan **", self._combine)
        self._check(lib.treefold_plan_build(builder.place[0], plan.place))
        self._plan: Handle | None = plan
        self._row_shape = row_shape
        begin, end = ffi.new("size_t *"), ffi.new("size_t *")
        check(lib.treefold_plan_scattered_columns(plan.place[0], begin, end))
        self._scattered_columns = slice(begin[0], end[0])
        self._is_root = comm.rank == root
        self._is_blocking = self.algorithm() in _BLOCKING_ALGORITHMS

    def _array(self, name: str, given: ArrayLike) -> Array:
        if is_on_device(given):
            return on_device(name, given, self._dtype)
        return converted_items(name, given, self._dtype)

    def _items(self, operation: str, given: tuple[Any, ...]) -> Items:
        """This rank's items as arrays for C."""
        raise NotImplementedError

    def _passed(self, operation: str, items: Items) -> list[Any]:
        """What C gets of them."""
        return buffers(items)

    def _shape(self, operation: str, items: Items) -> tuple[int, ...]:
        """That of the result."""
        if operation.startswith("reduce_scatter"):
            columns = self._scattered_columns
            return (columns.stop - columns.start,)
        return self._row_shape

    def _arguments(self, operation: str, given: tuple[Any, ...], out: Any) -> tuple[Items, Array | None, tuple[int, ...]]:
        """This rank's items as arrays for C, where the result goes, and its shape."""
        self._handle()
        end_what_is_left()
        try:
            items = self._items(operation, given)
            shape = self._shape(operation, items)
            place = None if out is None else self._check_out(out, shape, "out")
            return items, place, shape
        except BaseException:
            self._refuse(operation)
            raise

    def _refuse(self, operation: str) -> None:
        """Takes part in an operation without being able to: it fails on the ranks that need this one."""
        raise NotImplementedError

    def _launch(self, operation: str, items: Items, out: Array | None, shape: tuple[int, ...]) -> Run:
        # Before the call: whatever interrupts this function, the handle abandons the run.
        handle = Handle("treefold_run **", self._combine)
        self._check(start(self._handle(), operation, self._passed(operation, items), handle.place))
        return handle, operation, out, shape

    def _start(self, operation: str, given: tuple[Any, ...], out: Any) -> "Pending":
        items, place, shape = self._arguments(operation, given, out)
        return Pending(self, self._launch(operation, items, place, shape))

    def _run(self, operation: str, given: tuple[Any, ...], into: Any) -> Any:
        items, out, shape = self._arguments(operation, given, into)
        # If other runs are under way, their operators may fail in this wait, which must not take this run with them. And C's blocking
        # calls do not write where they read.
        is_simple = not _under_way and (out is None or not any(may_overlap(array, out) for array in items))
        if is_simple or self._is_blocking:
            return self._run_at_once(operation, items, out, shape)
        run = self._launch(operation, items, out, shape)
        try:
            self._wait(run[0], _FOR_EVER)
            return self._result(run)
        except BaseException:
            run[0].end()
            raise

    def _run_at_once(self, operation: str, items: Items, out: Array | None, shape: tuple[int, ...]) -> Any:
        result = np.empty(shape, self._dtype) if out is None else out
        name, kind = parts(operation)
        arguments = *self._passed(operation, items), *buffers((result,))
        if kind:
            self._check(_RUN[kind](self._handle(), _OPERATIONS[name], *arguments, ffi.NULL))
        else:
            self._check(_BLOCKING[name](self._handle(), *arguments, *([ffi.NULL] if name == "reduce" else [])))
        return _given(result, out) if self._is_root or name != "reduce" else None

    def _wait(self, handle: Handle, seconds: float) -> None:
        """Waits until a run is done. It goes on if the time is over."""
        for _ in range(_BEGUN_AGAIN_MOST):
            status = lib.treefold_wait_timeout(handle.place[0], seconds)
            if status != OPERATOR or self._raised or self._is_compiled:
                break
        self._check(status)

    def _result(self, run: Run) -> Any:
        """The result of a run that is done, whose handle ends."""
        handle, operation, out, shape = run
        if parts(operation)[0] == "reduce" and not self._is_root:
            self._check(lib.treefold_wait(handle.place, ffi.NULL, 0, ffi.NULL))
            return None
        result = np.empty(shape, self._dtype) if out is None else out
        self._check(lib.treefold_wait(handle.place, *buffers((result,)), ffi.NULL))
        return _given(result, out)

    def _check(self, status: int) -> None:
        """Raises the error of a call that may have run operators."""
        if status == OK:
            return
        if self._raised:
            try:
                raise self._raised[0]
            finally:
                self._raised.clear()
        check(status)

    def _check_out(self, out: Any, shape: tuple[int, ...], name: str) -> Array:
        """Where a result goes."""
        if is_on_device(out):
            place = on_device(name, out, self._dtype)
            self._check_size(place, shape, name)
            if is_read_only(out):
                raise ValueError(f"{name} is read-only")
            return place
        if not isinstance(out, np.ndarray):
            raise TypeError(f"{name} is a {type(out).__name__}, and not an array")
        if out.dtype != self._dtype:
            raise TypeError(f"{name} has elements of type {out.dtype}, and the plan's are of type {self._dtype}")
        self._check_size(out, shape, name)
        flags = out.flags
        if not (flags.c_contiguous and flags.aligned):
            raise ValueError(f"{name} is not contiguous")
        if not flags.writeable:
            raise ValueError(f"{name} is read-only")
        return out

    def _check_size(self, out: Array, shape: tuple[int, ...], name: str) -> None:
        if out.size != prod(shape):
            raise ValueError(f"{name} has the shape {out.shape}, and the result {shape}")

    def _handle(self) -> Any:
        if self._plan is None:
            raise ValueError("the plan is closed")
        return self._plan.place[0]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the items' elements."""
        return self._dtype

    def algorithm(self, operation: str = "allreduce") -> str | None:
        """The name of the algorithm of an operation, which is named as its method is; None if the plan does not offer it."""
        if operation not in _OPERATIONS:
            raise ValueError(f"operation: {operation!r} is none of {', '.join(_OPERATIONS)}")
        name = ffi.new("const char **")
        check(lib.treefold_plan_algorithm(self._handle(), _OPERATIONS[operation], name))
        return ffi.string(name[0]).decode() if name[0] else None

    def __str__(self) -> str:
        """Who sends what to whom, and when."""
        needed = ffi.new("size_t *")
        check(lib.treefold_plan_print(self._handle(), ffi.NULL, 0, needed))
        text = ffi.new("char[]", needed[0])
        check(lib.treefold_plan_print(self._handle(), text, needed[0], needed))
        return ffi.string(text).decode()

    def close(self) -> None:
        """Ends the plan. Runs of it that are under way go on."""
        if self._plan is not None:
            self._plan.end()
            self._plan = None

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Pending:
    """A run of a plan between its start and its end. Several plans may have one at once; waiting for one drives all.

    One that is dropped is cancelled.
    """

    def __init__(self, plan: AnyPlan, run: Run):
        self._plan = plan
        self._run: Run | None = run
        _under_way.add(id(self))

    def test(self) -> bool:
        """Makes progress without waiting; True if `wait` would return at once."""
        done = ffi.new("int *")
        try:
            self._plan._check(lib.treefold_test(self._started()[0].place[0], done))
        except BaseException:
            self.cancel()
            raise
        return bool(done[0])

    def wait(self, timeout: float | None = None) -> Any:
        """Waits for the run, and returns its result.

        Parameters
        ----------
        timeout : float, optional
            How long to wait, in seconds. Then there is a `TimeoutError`; the run goes on, and can be waited for again. Any other
            exception ends the run.

        Raises
        ------
        Error
            The run failed: another rank did, or left, or said nothing for longer than the silence limit.
        """
        if timeout is not None and isnan(timeout):
            raise ValueError("timeout is not a number")
        run = self._started()
        try:
            self._plan._wait(run[0], _FOR_EVER if timeout is None else max(0.0, timeout))
            result = self._plan._result(run)
        except BaseException as error:
            if getattr(error, "status", None) != "TIMED_OUT":
                self.cancel()
            raise
        self._is_over()
        return result

    def cancel(self) -> None:
        """Abandons the run, unless it was waited for. Its plan is spent, and the other ranks are told."""
        if self._run is not None:
            self._run[0].end()
            self._is_over()

    def _is_over(self) -> None:
        self._run = None
        _under_way.discard(id(self))

    def __del__(self) -> None:
        _under_way.discard(id(self))

    def _started(self) -> Run:
        if self._run is None:
            raise ValueError("the run is over")
        return self._run

    def __reduce__(self) -> Any:
        raise TypeError("a run under way cannot be copied")


def parts(operation: str) -> tuple[str, str]:
    """The operation of a call such as `reduce_scatter_by_key`, and what its items are."""
    kind = next((kind for kind in _RUN if operation.endswith(kind)), "")
    return operation.removesuffix(kind), kind


def start(plan: Any, operation: str, passed: list[Any], place: Any) -> int:
    """Starts a run, whose result goes where the wait says."""
    name, kind = parts(operation)
    status: int = _START[kind](plan, _OPERATIONS[name], *passed, ffi.NULL, 0, place)
    return status


def converted_items(name: str, given: ArrayLike, dtype: np.dtype[Any]) -> np.ndarray:
    """Items as an array of a type for C."""
    items = as_unmasked(given, name)
    flags = items.flags
    if items.dtype == dtype and flags.c_contiguous and flags.aligned:
        return items
    return converted(name, given, items, dtype)


def buffers(arrays: Items) -> list[Any]:
    """Where C finds each array, and its length."""
    return [part for array in arrays for part in (pointer(array), array.size)]


def pointer(array: Array) -> Any:
    """Where C finds an array. It has to outlive the pointer."""
    return ffi.cast("void *", array.pointer) if isinstance(array, OnDevice) else ffi.from_buffer(array)


def _given(result: Array, out: Array | None) -> Any:
    """What a call returns: what the caller gave for the result, or else NumPy's."""
    if isinstance(result, OnDevice):
        return result.given
    return result[()] if out is None else result


def natural(name: str, number: Any) -> int:
    try:
        number = index(number)
    except TypeError:
        raise TypeError(f"{name}: {number!r} is not an integer") from None
    if not 0 <= number < 1 << 64:
        raise ValueError(f"{name}: {number} is not a number from 0 to 2^64 - 1")
    return number


def text_of(name: str, text: Any) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"{name}: {text!r} is not a string")
    if "\0" in text:
        raise ValueError(f"{name}: {text!r} holds a zero")
    return text.encode()


def set_all(builder: Handle, numbers: dict[str, Any], algorithm: Any) -> None:
    """Passes settings that are natural numbers, and the algorithm, unless they are None."""
    for name, number in numbers.items():
        if number is None:
            continue
        if name in _PARAMETERS:
            set_one(builder, "parameter", _PARAMETERS[name], natural(name, number))
        else:
            set_one(builder, name, natural(name, number))
    if algorithm is not None:
        set_one(builder, "algorithm", text_of("algorithm", algorithm))


def set_one(builder: Handle, name: str, *values: Any) -> None:
    check(getattr(lib, f"treefold_builder_{name}")(builder.place[0], *values))


def refuse_to_build(world: Any) -> None:
    """Takes part in building a plan without being able to: it fails on all ranks, which hear of this one."""
    # Says nothing of this rank's items.
    builder, plan = Handle("treefold_builder **"), Handle("treefold_plan **")
    if lib.treefold_builder_create(world, lib.TREEFOLD_F64, lib.TREEFOLD_SUM, builder.place) == OK:
        lib.treefold_plan_build(builder.place[0], plan.place)
