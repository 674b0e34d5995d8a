"""Plans, and runs of them."""

from collections.abc import Callable, Sequence
from math import isnan, prod
from operator import index
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, DTypeLike

from .._cuda import OnDevice, is_on_device
from ._arrays import Array, converted, is_read_only, may_overlap, on_device, one_item
from ._errors import OK, OPERATOR, check
from ._handles import Handle, end_what_is_left
from ._load import ffi, lib
from ._operators import FIGURES, combine_of, is_compiled, name_of, operator_code, type_code
from ._world import world_of

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
_START = {
    "allreduce": lib.treefold_start_allreduce,
    "reduce": lib.treefold_start_reduce,
    "reduce_scatter": lib.treefold_start_reduce_scatter,
    "scan": lib.treefold_start_scan,
    "exscan": lib.treefold_start_exscan,
    "allreduce_dot": lib.treefold_start_allreduce_dot,
    "reduce_dot": lib.treefold_start_reduce_dot,
}
_SCANS = ("scan", "exscan")
_TO_ROOT = ("reduce", "reduce_dot")

_BLOCKING = {
    "allreduce": lib.treefold_allreduce,
    "allreduce_dot": lib.treefold_allreduce_dot,
    "reduce": lib.treefold_reduce,
    "reduce_dot": lib.treefold_reduce_dot,
    "reduce_scatter": lib.treefold_reduce_scatter,
    "scan": lib.treefold_scan,
    "exscan": lib.treefold_exscan,
}

# These algorithms cannot be started.
_BLOCKING_ALGORITHMS = ("algorithm1", "algorithm1-unbuffered", "mpi-native")

# The runs that programs have started, and not waited for.
_under_way: set[int] = set()

# A rank's items: an array, or two for a dot product.
_Items = tuple[Array, ...]

# A run under way: its handle, the operation, where the result goes if that was said, and the result's shape.
_Run = tuple[Handle, str, Array | None, tuple[int, ...]]


class Plan:
    """A reduction over the ranks of a communicator, which they build together and run many times. Collective.

    Items are numbered 0 to N - 1 over all ranks. Which of them this rank has is said by one of `local_items`, `extents`, `even` and
    `block_cyclic`; except for exact sums, of which each rank gives any number of items in each run. No other parameter but `dtype`, `op`
    and `width` has an influence on the bits of a result.

    A plan belongs to the thread that built it, and a communicator to the thread that built its first plan. A plan is a context manager:
    `close` ends it early.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The ranks. The first plan on a communicator duplicates it; later ones share the duplicate.
    local_items : int, optional
        So many items, which follow those of the ranks below.
    extents : sequence of (int, int), optional
        The ranges of this rank's items, each from its first number to the one after its last, in the order of its array.
    even : int, optional
        N items over all ranks: each rank has floor(N / p), and the first N mod p have one more.
    block_cyclic : (int, int), optional
        N and b: blocks of b of the N items, dealt to the ranks in turn.
    items : int, optional
        N, to be checked against what the ranks have.
    dtype : data-type, optional
        The type of the items. With a function as `op`, any type of 4 to 512 bytes, a multiple of 4, without Python objects.
    op : str, function or numba.cfunc, optional
        "sum", "prod", "min" or "max"; "exact_sum", "exact_norm", "exact_dot" or "exact_vdot", which are rounded once and do not depend
        on the order of the items; a function of two items, the one with the lower numbers first, that returns their combination; or
        a compiled function with the signature of `treefold_combine` in `treefold.h`, such as a `numba.cfunc`. It must give the same
        bits on every rank, and must not communicate. What a function raises is raised by the call that waits for its run. A
        `numba.cfunc` cannot raise: numba prints the exception and goes on, so let it return 1.
    empty : scalar, optional
        The reduction of no items by a function; without it that is an error.
    width : int, optional
        The elements of an item: items are rows then, which are reduced element by element.
    root : int, optional
        The rank that gets the result of `reduce`, and whose row `bcast` sends.
    algorithm : str, optional
        One of `ALGORITHMS`. By default the environment variable TREEFOLD_ALGORITHM, or else the one that should take the least time.
    blocks, ports, node_ranks, message_limit : int, optional
        Parameters of algorithms: the column blocks of a row; the messages that a rank sends at once; the ranks of a node; the longest
        message, in elements.

    Raises
    ------
    Error
        On all ranks: their items are not 0 to N - 1, each once, or they do not agree on what is reduced. Where an argument is wrong
        on one rank alone, that rank has the `ValueError` or `TypeError`, and the others have an `Error` that names it.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> import numpy as np
    >>> comm = MPI.COMM_WORLD
    >>> rows = np.arange(10.0).reshape(5, 2)[comm.rank :: comm.size]
    >>> numbers = range(5)[comm.rank :: comm.size]
    >>> plan = Plan(comm, extents=[(number, number + 1) for number in numbers], width=2)
    >>> plan.allreduce(rows)
    array([20., 25.])
    """

    def __init__(
        self,
        comm: MPI.Intracomm,
        local_items: int | None = None,
        *,
        extents: Sequence[tuple[int, int]] | None = None,
        even: int | None = None,
        block_cyclic: tuple[int, int] | None = None,
        items: int | None = None,
        dtype: DTypeLike = "f8",
        op: str | Callable[[Any, Any], Any] = "sum",
        empty: Any = None,
        width: int | None = None,
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
            # What the operator has raised in a run of this plan.
            self._raised: list[BaseException] = []
            self._is_compiled = is_compiled(op)
            builder = self._builder(world, op, empty)
            if not _is_figure(op):
                _set_share(builder, local_items, extents, even, block_cyclic)
            elif any(given is not None for given in (local_items, extents, even, block_cyclic, items)):
                raise TypeError("items of an exact sum have no numbers: nothing says which of them this rank has")
            numbers = {
                "items": items,
                "width": width,
                "root": root,
                "blocks": blocks,
                "ports": ports,
                "node_ranks": node_ranks,
                "message_limit": message_limit,
            }
            for name, number in numbers.items():
                if number is not None:
                    _set(builder, name, _natural(name, number))
            if algorithm is not None:
                _set(builder, "algorithm", _text("algorithm", algorithm))
        except BaseException:
            _refuse_to_build(world)
            raise
        self._combine = builder.kept
        plan = Handle("treefold_plan **", self._combine)
        self._check(lib.treefold_plan_build(builder.place[0], plan.place))
        self._plan: Handle | None = plan
        self._row_shape = () if width is None else (index(width),)
        begin, end = ffi.new("size_t *"), ffi.new("size_t *")
        check(lib.treefold_plan_scattered_columns(plan.place[0], begin, end))
        self._scattered_columns = slice(begin[0], end[0])
        self._is_root = comm.rank == root
        self._is_blocking = self.algorithm() in _BLOCKING_ALGORITHMS

    def _builder(self, world: Any, op: Any, empty: Any) -> Handle:
        dtype = self._dtype
        if isinstance(op, str):
            if empty is not None:
                raise TypeError("empty is for operators that are functions")
            builder = Handle("treefold_builder **")
            create = lib.treefold_builder_create_exact if _is_figure(op) else lib.treefold_builder_create
            check(create(world, type_code(dtype), operator_code(op), builder.place))
            return builder
        if dtype.hasobject:
            raise TypeError(f"dtype: items of {dtype} hold Python objects, which cannot be sent")
        if dtype.subdtype is not None:
            raise TypeError(f"dtype: items of {dtype} are arrays; say width")
        combine = combine_of(op, dtype, self._raised)
        empty = ffi.NULL if empty is None else ffi.from_buffer(one_item("empty", empty, dtype))
        name = name_of(op, dtype).encode()
        builder = Handle("treefold_builder **", combine)
        check(lib.treefold_builder_create_user(world, name, dtype.itemsize, combine, ffi.NULL, empty, builder.place))
        return builder

    def allreduce(self, x: ArrayLike, out: Any = None) -> Any:
        """The reduction of all items, on every rank. Collective.

        Parameters
        ----------
        x : array_like
            This rank's items: as many as the plan says, each `width` elements; in C order, whatever the shape. Elements are converted to
            the plan's type if that loses nothing. An array in the memory of a GPU, as of PyTorch, CuPy, JAX or Numba, is contiguous and
            of the plan's type: sums and exact sums of floats are folded there, and all else in a copy.
        out : ndarray, or array in the memory of a GPU, optional
            Where the result goes: C-contiguous, of the plan's type, with `width` elements, and apart from `x`. Without it the result is
            NumPy's.

        Returns
        -------
        scalar, or array of `width` elements
            `out` if it was given.

        Raises
        ------
        Error, ValueError, TypeError
            If an argument is wrong on one rank alone, the ranks that need its items have an `Error` that names it. Then the plan is
            spent: build another.
        """
        return self._run("allreduce", (x,), out)

    def reduce(self, x: ArrayLike, out: Any = None) -> Any:
        """The reduction of all items on the root, None on other ranks; as `allreduce` otherwise. Collective."""
        return self._run("reduce", (x,), out)

    def reduce_scatter(self, x: ArrayLike, out: Any = None) -> np.ndarray:
        """The columns `scattered_columns` of the reduction of all rows; as `allreduce` otherwise. Collective."""
        return self._run("reduce_scatter", (x,), out)

    def scan(self, x: ArrayLike, out: Any = None) -> np.ndarray:
        """For each of this rank's items the reduction of all items up to it, itself included. Collective.

        The result has the shape of `x`; as `allreduce` otherwise.
        """
        return self._run("scan", (x,), out)

    def exscan(self, x: ArrayLike, out: Any = None) -> np.ndarray:
        """As `scan`, without the item itself. Item 0 gets the operator's value for nothing. Collective."""
        return self._run("exscan", (x,), out)

    def allreduce_dot(self, x: ArrayLike, y: ArrayLike, out: Any = None) -> Any:
        """The exact dot product of all ranks' items, on every rank: for plans of "exact_dot" and "exact_vdot". Collective.

        `x` and `y` have as many items, any number of them. With a width there is a dot product of each column. As `allreduce` otherwise.
        """
        return self._run("allreduce_dot", (x, y), out)

    def reduce_dot(self, x: ArrayLike, y: ArrayLike, out: Any = None) -> Any:
        """The same on the root, None on other ranks. Collective."""
        return self._run("reduce_dot", (x, y), out)

    def bcast(self, row: Any) -> Any:
        """Copies the root's row, an array of `width` elements of the plan's type, to every rank's. Collective."""
        try:
            place = self._check_out(row, self._row_shape or (1,), "row")
        except BaseException:
            self._refuse("bcast")
            raise
        self._check(lib.treefold_broadcast(self._handle(), *_buffers((place,))))
        return row

    def start_allreduce(self, x: ArrayLike, out: Any = None) -> "Pending":
        """Starts an `allreduce`, whose result `Pending.wait` returns. `x` is free when this returns. Collective.

        The algorithms `mpi-native`, `algorithm1` and `algorithm1-unbuffered` cannot be started.
        """
        return self._start("allreduce", (x,), out)

    def start_reduce(self, x: ArrayLike, out: Any = None) -> "Pending":
        """Starts a `reduce`, as `start_allreduce`."""
        return self._start("reduce", (x,), out)

    def start_reduce_scatter(self, x: ArrayLike, out: Any = None) -> "Pending":
        """Starts a `reduce_scatter`, as `start_allreduce`."""
        return self._start("reduce_scatter", (x,), out)

    def start_scan(self, x: ArrayLike, out: Any = None) -> "Pending":
        """Starts a `scan`, as `start_allreduce`."""
        return self._start("scan", (x,), out)

    def start_exscan(self, x: ArrayLike, out: Any = None) -> "Pending":
        """Starts an `exscan`, as `start_scan`."""
        return self._start("exscan", (x,), out)

    def start_allreduce_dot(self, x: ArrayLike, y: ArrayLike, out: Any = None) -> "Pending":
        """Starts an `allreduce_dot`, as `start_allreduce`."""
        return self._start("allreduce_dot", (x, y), out)

    def start_reduce_dot(self, x: ArrayLike, y: ArrayLike, out: Any = None) -> "Pending":
        """Starts a `reduce_dot`, as `start_allreduce`."""
        return self._start("reduce_dot", (x, y), out)

    def _array(self, name: str, given: ArrayLike) -> Array:
        if is_on_device(given):
            return on_device(name, given, self._dtype)
        items = np.asarray(given)
        flags = items.flags
        if items.dtype == self._dtype and flags.c_contiguous and flags.aligned:
            return items
        return converted(name, given, items, self._dtype)

    def _arguments(
        self, operation: str, given: tuple[ArrayLike, ...], out: Any
    ) -> tuple[_Items, Array | None, tuple[int, ...]]:
        """This rank's items as arrays for C, where the result goes, and its shape."""
        self._handle()
        end_what_is_left()
        try:
            items = tuple(map(self._array, "xy", given))
            if operation in _SCANS:
                shape = items[0].shape
            elif operation == "reduce_scatter":
                columns = self._scattered_columns
                shape = (columns.stop - columns.start,)
            else:
                shape = self._row_shape
            place = None if out is None else self._check_out(out, shape, "out")
            return items, place, shape
        except BaseException:
            self._refuse(operation)
            raise

    def _launch(self, operation: str, items: _Items, out: Array | None, shape: tuple[int, ...]) -> _Run:
        # Before the call: whatever interrupts this function, the handle abandons the run.
        handle = Handle("treefold_run **", self._combine)
        self._check(_START[operation](self._handle(), *_buffers(items), handle.place))
        return handle, operation, out, shape

    def _start(self, operation: str, given: tuple[ArrayLike, ...], out: Any) -> "Pending":
        items, place, shape = self._arguments(operation, given, out)
        return Pending(self, self._launch(operation, items, place, shape))

    def _run(self, operation: str, given: tuple[ArrayLike, ...], into: Any) -> Any:
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

    def _run_at_once(self, operation: str, items: _Items, out: Array | None, shape: tuple[int, ...]) -> Any:
        result = np.empty(shape, self._dtype) if out is None else out
        arguments = self._handle(), *_buffers((*items, result))
        if operation in _TO_ROOT:
            self._check(_BLOCKING[operation](*arguments, ffi.NULL))
            if not self._is_root:
                return None
        else:
            self._check(_BLOCKING[operation](*arguments))
        return _given(result, out)

    def _wait(self, handle: Handle, seconds: float) -> None:
        """Waits until a run is done. It goes on if the time is over."""
        for _ in range(_BEGUN_AGAIN_MOST):
            status = lib.treefold_wait_timeout(handle.place[0], seconds)
            if status != OPERATOR or self._raised or self._is_compiled:
                break
        self._check(status)

    def _result(self, run: _Run) -> Any:
        """The result of a run that is done, whose handle ends."""
        handle, operation, out, shape = run
        if operation in _TO_ROOT and not self._is_root:
            self._check(lib.treefold_wait(handle.place, ffi.NULL, 0, ffi.NULL))
            return None
        result = np.empty(shape, self._dtype) if out is None else out
        self._check(lib.treefold_wait(handle.place, *_buffers((result,)), ffi.NULL))
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

    def _refuse(self, operation: str) -> None:
        """Takes part in an operation without being able to: it fails on the ranks that need this one."""
        plan = self._handle()
        if operation == "bcast":
            lib.treefold_broadcast(plan, ffi.NULL, 1)
        else:
            arrays = (ffi.NULL, 1) * (2 if operation.endswith("_dot") else 1)
            _START[operation](plan, *arrays, ffi.new("treefold_run **"))

    def _handle(self) -> Any:
        if self._plan is None:
            raise ValueError("the plan is closed")
        return self._plan.place[0]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the items' elements."""
        return self._dtype

    @property
    def scattered_columns(self) -> slice:
        """The columns of a row that this rank gets from `reduce_scatter`."""
        return self._scattered_columns

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

    def __enter__(self) -> "Plan":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Pending:
    """A run of a plan between its start and its end. Several plans may have one at once; waiting for one drives all.

    One that is dropped is cancelled.
    """

    def __init__(self, plan: Plan, run: _Run):
        self._plan = plan
        self._run: _Run | None = run
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

    def _started(self) -> _Run:
        if self._run is None:
            raise ValueError("the run is over")
        return self._run

    def __reduce__(self) -> Any:
        raise TypeError("a run under way cannot be copied")


def _is_figure(op: Any) -> bool:
    """Whether an operator is a figure of exact sums."""
    return isinstance(op, str) and op in FIGURES


def _buffers(arrays: _Items) -> list[Any]:
    """Where C finds each array, and its length."""
    pairs = []
    for array in arrays:
        pairs += [ffi.cast("void *", array.pointer) if isinstance(array, OnDevice) else ffi.from_buffer(array), array.size]
    return pairs


def _given(result: Array, out: Array | None) -> Any:
    """What a call returns: what the caller gave for the result, or else NumPy's."""
    if isinstance(result, OnDevice):
        return result.given
    return result[()] if out is None else result


def _set_share(builder: Handle, local_items: Any, extents: Any, even: Any, block_cyclic: Any) -> None:
    given = [share is not None for share in (local_items, extents, even, block_cyclic)]
    if sum(given) != 1:
        raise TypeError("one of local_items, extents, even and block_cyclic says which items this rank has")
    if local_items is not None:
        _set(builder, "local_items", _natural("local_items", local_items))
    elif even is not None:
        _set(builder, "even", _natural("even", even))
    elif block_cyclic is not None:
        _set(builder, "block_cyclic", *_pair("block_cyclic", block_cyclic))
    else:
        try:
            pairs = iter(extents)
        except TypeError:
            raise TypeError("extents is not a sequence of pairs") from None
        ranges = [_pair("extents", pair) for pair in pairs]
        _set(builder, "extents", ffi.new("treefold_range[]", ranges), len(ranges))


def _pair(name: str, pair: Any) -> tuple[int, int]:
    try:
        first, second = pair
    except (TypeError, ValueError):
        raise ValueError(f"{name}: {pair!r} is not a pair of numbers") from None
    return _natural(name, first), _natural(name, second)


def _natural(name: str, number: Any) -> int:
    try:
        number = index(number)
    except TypeError:
        raise TypeError(f"{name}: {number!r} is not an integer") from None
    if not 0 <= number < 1 << 64:
        raise ValueError(f"{name}: {number} is not a number from 0 to 2^64 - 1")
    return number


def _text(name: str, text: Any) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"{name}: {text!r} is not a string")
    if "\0" in text:
        raise ValueError(f"{name}: {text!r} holds a zero")
    return text.encode()


def _set(builder: Handle, name: str, *values: Any) -> None:
    check(getattr(lib, f"treefold_builder_{name}")(builder.place[0], *values))


def _refuse_to_build(world: Any) -> None:
    """Takes part in building a plan without being able to: it fails on all ranks, which hear of this one."""
    # Says nothing of this rank's items.
    builder, plan = Handle("treefold_builder **"), Handle("treefold_plan **")
    if lib.treefold_builder_create(world, lib.TREEFOLD_F64, lib.TREEFOLD_SUM, builder.place) == OK:
        lib.treefold_plan_build(builder.place[0], plan.place)
