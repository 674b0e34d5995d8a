"""Defines plans of reductions in tree order, and of exact sums."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import ArrayLike, DTypeLike

from ._arrays import Array, buffers, pointer, taken
from ._errors import check, named
from ._handles import Handle
from ._load import ffi, lib
from ._operators import EXACT, IN_ORDER, combine_of, is_compiled, name_of, one_item, row_of, type_code
from ._runs import ARRAY, FACTORS, PAIRS, Form, Pending, ScheduledPlan
from ._settings import described, natural, set_all


class Plan(ScheduledPlan):
    """A reduction that the ranks build together, and run many times.

    Items are numbered 0 to N - 1 over all ranks. One of `local_items`, `extents`,
    `even` and `block_cyclic` says which items this rank has. Exact operators need
    none of them: in each run, each rank contributes any number of items. Only
    `dtype`, `op`, `width` and `lanes` affect the bits of a result. Collective.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        The ranks. The first plan on a communicator duplicates it; later plans
        share the duplicate.
    local_items : int, optional
        The number of this rank's items. They follow the items of lower ranks.
    extents : sequence of (int, int), optional
        The ranges of this rank's items, in the order of its array. A pair is
        the number of a range's first item and the number after its last item.
    even : int, optional
        N, the number of items of all ranks. Each of the p ranks has floor(N / p)
        items, and the first N mod p ranks have one more.
    block_cyclic : (int, int), optional
        N and b: the N items are dealt to the ranks round-robin, b at a time.
    items : int, optional
        N, which is then compared with the number of items that the ranks have.
    dtype : data-type, optional
        The type of the items. With a function as `op`, any type without Python
        objects whose size is a multiple of 4, from 4 to 512 bytes.
    op : str, function or numba.cfunc, optional
        "sum", "prod", "min" or "max"; "exact_sum", "exact_norm", "exact_dot" or
        "exact_vdot", which are rounded once and do not depend on the order of
        the items; a function that combines two items, of which the first
        stands for the lower item numbers; or a compiled function with the
        signature of `treefold_combine` in `treefold.h`, such as a
        `numba.cfunc`. A function must return the same bits on every rank, and
        must not communicate. Its exceptions are raised by the call that waits
        for the run. But numba prints the exceptions of a `numba.cfunc`, and
        continues: such a function must return 1 to report a failure.
    empty : scalar, optional
        The result for no items, if `op` is a function. Without it, reducing
        no items is an error.
    width : int, optional
        The number of elements in an item. Items of several elements are rows,
        which are reduced element by element.
    lanes : int, optional
        The number of lanes of sums, as in `treefold.sum(x, lanes=...)`. Such
        plans offer only `allreduce` and `reduce`. The ranges of each rank must
        begin at multiples of `lanes`.
    root : int, optional
        The rank that gets the result of `reduce`, and whose row `bcast` sends.
    algorithm : str, optional
        One of `ALGORITHMS`. By default, the value of the environment variable
        TREEFOLD_ALGORITHM, or else the algorithm with the least estimated
        time.
    blocks, ports, node_ranks, message_limit : int, optional
        Parameters of algorithms: the number of column blocks in a row, the
        number of messages that a rank sends at once, the number of ranks in a
        node, and the number of elements in the longest message.

    Raises
    ------
    Error
        Raised on all ranks if their items are not 0 to N - 1, each once; if
        ranks ask for different reductions; or if a rank's argument is wrong.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> import numpy as np
    >>> comm = MPI.COMM_WORLD
    >>> rows = np.arange(10.0).reshape(5, 2)[comm.rank :: comm.size]
    >>> numbers = range(5)[comm.rank :: comm.size]
    >>> extents = [(number, number + 1) for number in numbers]
    >>> with Plan(comm, extents=extents, width=2) as plan:
    ...     plan.allreduce(rows)
    array([20., 25.])
    """

    def __init__(
        self, comm: MPI.Intracomm, local_items: int | None = None, *,
        extents: Sequence[tuple[int, int]] | None = None, even: int | None = None, block_cyclic: tuple[int, int] | None = None,
        items: int | None = None, dtype: DTypeLike = "f8", op: str | Callable[[Any, Any], Any] = "sum", empty: Any = None,
        width: int | None = None, lanes: int | None = None, root: int = 0, algorithm: str | None = None,
        blocks: int | None = None, ports: int | None = None, node_ranks: int | None = None, message_limit: int | None = None,
    ):
        with described(self, comm) as world:
            self._dtype, self._raised = np.dtype(dtype), []
            shares = {"local_items": local_items, "extents": extents, "even": even, "block_cyclic": block_cyclic}
            given = [name for name, share in shares.items() if share is not None]
            if isinstance(op, str) and op in EXACT:
                if given or items is not None:
                    raise TypeError(f"{(given or ['items'])[0]} cannot be given: items of {op!r} have no numbers, and their count may vary between runs")
            elif len(given) != 1:
                raise TypeError(f"exactly one of {', '.join(shares)} must say which items this rank has, but {len(given)} are given")
            builder = self._builder(world, op, empty)
            settings = {"items": items, "width": width, "lanes": lanes, "root": root, "algorithm": algorithm, "blocks": blocks,
                        "ports": ports, "node_ranks": node_ranks, "message_limit": message_limit}
            set_all(builder, shares | settings)
        self._build(comm, builder, () if width is None else (natural("width", width),), root)

    def _builder(self, world: Any, op: Any, empty: Any) -> Handle:
        dtype = self._dtype
        if isinstance(op, str):
            if empty is not None:
                raise TypeError("empty can be given only if op is a function")
            builder = Handle("treefold_builder **")
            create = lib.treefold_builder_create_exact if op in EXACT else lib.treefold_builder_create
            check(create(world, type_code(dtype), row_of(IN_ORDER | EXACT, op, "op"), builder.place), "op")
            return builder
        if dtype.hasobject:
            raise TypeError(f"dtype: items of {dtype} hold Python objects, which cannot be sent")
        if dtype.subdtype is not None:
            raise TypeError(f"dtype: items of {dtype} are arrays; use width instead")
        self._is_compiled = is_compiled(op)
        combine = combine_of(op, dtype, self._raised)
        nothing = ffi.NULL if empty is None else ffi.from_buffer(one_item("empty", empty, dtype))
        builder = Handle("treefold_builder **", combine)
        name = name_of(op, dtype).encode()
        check(lib.treefold_builder_create_user(world, name, dtype.itemsize, combine, ffi.NULL, nothing, builder.place), "op")
        return builder

    def allreduce(
        self, x: ArrayLike | None = None, y: ArrayLike | None = None, *,
        pairs: Sequence[tuple[ArrayLike, ArrayLike]] | None = None, out: Any = None,
    ) -> Any:
        """The reduction of all items, on every rank. Collective.

        Parameters
        ----------
        x : array_like
            This rank's items, in an array of any shape: in C order, the planned
            number of items of `width` elements each. Elements are converted to
            the plan's type; a value that would change is an error. Arrays in
            GPU memory, such as those of PyTorch, CuPy, JAX and Numba, must be
            contiguous and of the plan's type. Sums and exact sums of floats are
            computed on the GPU; other reductions copy the items to the host.
        y : array_like, optional
            The same number of items as `x`. The result is the dot product of
            `x` and `y`, or a dot product for each column. It is exact in plans
            of "exact_dot" and "exact_vdot"; plans of "sum" of floats round each
            product once, and add the products in tree order.
        pairs : sequence of (array_like, array_like), optional
            `width` pairs of arrays of equal length, instead of `x` and `y`. The
            result is the dot product of each pair.
        out : ndarray, or array in the memory of a GPU, optional
            The output: C-contiguous, of the plan's type, with
            `width` elements. By default, a new NumPy array.

        Returns
        -------
        scalar, or array of `width` elements
            The reduction; `out` if it was given.

        Raises
        ------
        Error, ValueError, TypeError
            Arguments are wrong on this rank, or on a rank whose items are needed.
        """
        return self._run("allreduce", (x, y, pairs), out)

    def reduce(
        self, x: ArrayLike | None = None, y: ArrayLike | None = None, *,
        pairs: Sequence[tuple[ArrayLike, ArrayLike]] | None = None, out: Any = None,
    ) -> Any:
        """The result of `allreduce` on the root; None on other ranks. Collective."""
        return self._run("reduce", (x, y, pairs), out)

    def reduce_scatter(self, x: ArrayLike, *, out: Any = None) -> Any:
        """The result of `allreduce`, but only `scattered_columns`. Collective."""
        return self._run("reduce_scatter", (x, None, None), out)

    def scan(self, x: ArrayLike, *, out: Any = None) -> Any:
        """For each item of this rank, the reduction of all items up to and including it.

        The result has the shape of `x`. Errors are those of `allreduce`. Collective.
        """
        return self._run("scan", (x, None, None), out)

    def exscan(self, x: ArrayLike, *, out: Any = None) -> Any:
        """For each item of this rank, the reduction of all items before it.

        For item 0, this is the operator's value for no items. Collective.
        """
        return self._run("exscan", (x, None, None), out)

    def start(
        self, operation: str, x: ArrayLike | None = None, y: ArrayLike | None = None, *,
        pairs: Sequence[tuple[ArrayLike, ArrayLike]] | None = None, out: Any = None,
    ) -> Pending:
        """Starts an operation; `Pending.wait` returns its result. Collective.

        The items may be changed as soon as the call returns. The algorithms
        `mpi-native`, `algorithm1` and `algorithm1-unbuffered` do not support `start`.

        Parameters
        ----------
        operation : str
            The name of a method: "allreduce", "reduce", "reduce_scatter",
            "scan" or "exscan".
        x, y, pairs, out : optional
            As in that method.

        Returns
        -------
        Pending
            The run under way. A plan can have one run at a time.
        """
        return self._start(self._call(operation, (x, y, pairs), out))

    def norm2(self, x: ArrayLike) -> Any:
        """The square root of `allreduce(x, x)`. Collective."""
        return np.sqrt(self.allreduce(x, x))

    def bcast(self, row: Any) -> Any:
        """Copies the root's row to the rows of all ranks. Collective.

        Parameters
        ----------
        row : ndarray, or array in the memory of a GPU
            As `out` in `allreduce`.

        Returns
        -------
        array
            `row`.
        """
        plan = self._handle()
        try:
            place = self._place("row", row, self._row_shape)
        except BaseException as error:
            lib.treefold_broadcast(plan, ffi.NULL, 1)
            raise named(self._name("bcast"), error) from None
        self._check(lib.treefold_broadcast(plan, *buffers(place)), "bcast")
        return row

    @property
    def scattered_columns(self) -> slice:
        """The columns of a row that this rank gets from `reduce_scatter`."""
        return self._scattered_columns

    def _form(self, given: tuple[Any, ...]) -> Form:
        x, y, pairs = given
        if pairs is not None:
            return PAIRS
        if x is None:
            raise TypeError("either x or pairs must be given")
        return ARRAY if y is None else FACTORS

    def _items(self, form: Form, given: tuple[Any, ...]) -> tuple[tuple[Array, ...], list[Any]]:
        x, y, pairs = given
        if form is ARRAY:
            items = taken("x", x, self._dtype)
            return (items,), [pointer(items), items.size]
        if form is FACTORS:
            factors = taken("x", x, self._dtype), taken("y", y, self._dtype)
            return factors, buffers(*factors)
        if x is not None or y is not None:
            raise TypeError("pairs must be given instead of x and y, not together with them")
        arrays = tuple(taken(name, array, self._dtype) for x, y in pairs for name, array in (("x", x), ("y", y)))
        lengths = sorted({array.size for array in arrays})
        if len(lengths) > 1:
            raise ValueError(f"pairs must be arrays of one length, not of {lengths[0]} and {lengths[-1]} items")
        columns = [ffi.new("const void *[]", [pointer(array) for array in arrays[first::2]]) for first in (0, 1)]
        return arrays, [*columns, len(arrays) // 2, arrays[0].size if arrays else 0]
