"""Plans of items in an order, and of exact sums."""

from collections.abc import Callable, Sequence
from operator import index
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, DTypeLike

from ._arrays import one_item
from ._errors import check
from ._handles import Handle, end_what_is_left
from ._load import ffi, lib
from ._operators import STATISTICS, combine_of, is_compiled, name_of, operator_code, type_code
from ._runs import AnyPlan, Items, Pending, buffers, natural, parts, pointer, refuse_to_build, set_all, set_one, start
from ._world import world_of

_SCANS = ("scan", "exscan")

class Plan(AnyPlan):
    """A reduction over the ranks of a communicator, which they build together and run many times. Collective.

    Items are numbered 0 to N - 1 over all ranks. Which of them this rank has is said by one of `local_items`, `extents`, `even` and
    `block_cyclic`; except for exact sums, of which each rank gives any number of items in each run. No other parameter but `dtype`, `op`,
    `width` and `lanes` has an influence on the bits of a result.

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
    lanes : int, optional
        Sums in so many lanes, the order of `treefold.sum_lanes`; for `allreduce` and `reduce`, where the ranges of each rank begin at
        multiples of it.
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
        lanes: int | None = None,
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
            self._is_compiled = is_compiled(op)
            builder = self._builder(world, op, empty)
            if not _is_exact(op):
                _set_share(builder, local_items, extents, even, block_cyclic)
            elif any(given is not None for given in (local_items, extents, even, block_cyclic, items)):
                raise TypeError("items of an exact sum have no numbers: nothing says which of them this rank has")
            numbers = {
                "items": items,
                "width": width,
                "lanes": lanes,
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
        self._build(comm, builder, () if width is None else (index(width),), root)

    def _builder(self, world: Any, op: Any, empty: Any) -> Handle:
        dtype = self._dtype
        if isinstance(op, str):
            if empty is not None:
                raise TypeError("empty is for operators that are functions")
            builder = Handle("treefold_builder **")
            create = lib.treefold_builder_create_exact if _is_exact(op) else lib.treefold_builder_create
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
        """The dot product of all ranks' items, on every rank. Collective.

        It is exact in plans of "exact_dot" and "exact_vdot". Plans of "sum" of floats round each product once, and add them in tree
        order; without a width, they make no array of products. `x` and `y` have equally many items: in exact plans, any number. With
        a width there is a dot product of each column. As `allreduce` otherwise.
        """
        return self._run("allreduce_dot", (x, y), out)

    def allreduce_dots(self, pairs: Sequence[tuple[ArrayLike, ArrayLike]], out: Any = None) -> Any:
        """Several dot products as one message: an element of the result for each pair of arrays, as many as the plan's `width`.

        The arrays of all pairs have equally many items. As `allreduce_dot` otherwise. Collective.
        """
        return self._run("allreduce_dots", tuple(pairs), out)

    def norm2(self, x: ArrayLike) -> Any:
        """The square root of `allreduce_dot(x, x)`."""
        return np.sqrt(self.allreduce_dot(x, x))

    def reduce_dot(self, x: ArrayLike, y: ArrayLike, out: Any = None) -> Any:
        """The same on the root, None on other ranks. Collective."""
        return self._run("reduce_dot", (x, y), out)

    def reduce_dots(self, pairs: Sequence[tuple[ArrayLike, ArrayLike]], out: Any = None) -> Any:
        """As `allreduce_dots` on the root, None on other ranks. Collective."""
        return self._run("reduce_dots", tuple(pairs), out)

    def bcast(self, row: Any) -> Any:
        """Copies the root's row, an array of `width` elements of the plan's type, to every rank's. Collective."""
        try:
            place = self._check_out(row, self._row_shape or (1,), "row")
        except BaseException:
            self._refuse("bcast")
            raise
        self._check(lib.treefold_broadcast(self._handle(), *buffers((place,))))
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

    def start_allreduce_dots(self, pairs: Sequence[tuple[ArrayLike, ArrayLike]], out: Any = None) -> "Pending":
        """Starts an `allreduce_dots`, as `start_allreduce`."""
        return self._start("allreduce_dots", tuple(pairs), out)

    def start_reduce_dot(self, x: ArrayLike, y: ArrayLike, out: Any = None) -> "Pending":
        """Starts a `reduce_dot`, as `start_allreduce`."""
        return self._start("reduce_dot", (x, y), out)

    def start_reduce_dots(self, pairs: Sequence[tuple[ArrayLike, ArrayLike]], out: Any = None) -> "Pending":
        """Starts a `reduce_dots`, as `start_allreduce`."""
        return self._start("reduce_dots", tuple(pairs), out)

    def _items(self, operation: str, given: tuple[Any, ...]) -> Items:
        if parts(operation)[1] != "_dots":
            return tuple(map(self._array, "xy", given))
        items = tuple(self._array(name, array) for x, y in given for name, array in (("x", x), ("y", y)))
        lengths = sorted({array.size for array in items})
        if len(lengths) > 1:
            raise ValueError(f"pairs: arrays of {lengths[0]} and of {lengths[-1]} items do not belong together")
        return items

    def _passed(self, operation: str, items: Items) -> list[Any]:
        if parts(operation)[1] != "_dots":
            return buffers(items)
        factors = [ffi.new("const void *[]", [pointer(array) for array in items[first::2]]) for first in (0, 1)]
        return [*factors, len(items) // 2, items[0].size if items else 0]

    def _shape(self, operation: str, items: Items) -> tuple[int, ...]:
        return items[0].shape if operation in _SCANS else super()._shape(operation, items)

    def _refuse(self, operation: str) -> None:
        """Takes part in an operation without being able to: it fails on the ranks that need this one."""
        plan = self._handle()
        if operation == "bcast":
            lib.treefold_broadcast(plan, ffi.NULL, 1)
        else:
            # Of n elements at NULL, or of k arrays there.
            arrays = {"_dot": [ffi.NULL, 1] * 2, "_dots": [ffi.NULL, ffi.NULL, 1, 1]}
            start(plan, operation, arrays.get(parts(operation)[1], [ffi.NULL, 1]), ffi.new("treefold_run **"))

    @property
    def scattered_columns(self) -> slice:
        """The columns of a row that this rank gets from `reduce_scatter`."""
        return self._scattered_columns

def _is_exact(op: Any) -> bool:
    """Whether an operator is a statistic of exact sums."""
    return isinstance(op, str) and op in STATISTICS

def _set_share(builder: Handle, local_items: Any, extents: Any, even: Any, block_cyclic: Any) -> None:
    given = [share is not None for share in (local_items, extents, even, block_cyclic)]
    if sum(given) != 1:
        raise TypeError("one of local_items, extents, even and block_cyclic says which items this rank has")
    if local_items is not None:
        set_one(builder, "local_items", natural("local_items", local_items))
    elif even is not None:
        set_one(builder, "even", natural("even", even))
    elif block_cyclic is not None:
        set_one(builder, "block_cyclic", *_pair("block_cyclic", block_cyclic))
    else:
        try:
            pairs = iter(extents)
        except TypeError:
            raise TypeError("extents is not a sequence of pairs") from None
        ranges = [_pair("extents", pair) for pair in pairs]
        set_one(builder, "extents", ffi.new("treefold_range[]", ranges), len(ranges))

def _pair(name: str, pair: Any) -> tuple[int, int]:
    try:
        first, second = pair
    except (TypeError, ValueError):
        raise ValueError(f"{name}: {pair!r} is not a pair of numbers") from None
    return natural(name, first), natural(name, second)
