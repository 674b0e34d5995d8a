"""Plans on the ranks that pytest was started on: `mpirun -n 3 python -m pytest`. Every rank runs every test."""

import _thread
import gc
import os
import pickle
import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from mpi4py import MPI

import treefold.mpi
from checks import raises
from definition import by_definition, bits, items
from golden import cases, codec, in_the_repository, items_of
from ranks import COMM, RANK, RANKS, is_on
from treefold.mpi import ALGORITHMS, Error, HashedPlan, KeyedPlan, Plan

TYPES = ["f4", "f8", "c8", "c16", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]

treefold.mpi.set_silence_limit(COMM, 60)
several_ranks = pytest.mark.skipif(RANKS == 1, reason="the test needs two ranks")


class Odd(Exception):
    pass


def fails_at_first(left, right):
    """An operator that fails on the first rank."""
    if RANK == 0:
        raise Odd
    return left + right


def cuts(count, seed):
    """The first and the end of this rank's items. Some ranks have no items."""
    inner = np.sort(np.random.default_rng(seed).integers(0, count + 1, RANKS - 1))
    ends = [0, *map(int, inner), count]
    return ends[RANK], ends[RANK + 1]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("op", ["sum", "prod", "min", "max"])
def test_types_and_operators(dtype, op):
    if dtype.startswith("c") and op in ("min", "max"):
        raises(TypeError, "complex", Plan, COMM, 1, dtype=dtype, op=op)
        return
    for seed, count in enumerate([1, 2, 7, 100, 1001]):
        x = items(count, dtype, seed)
        begin, end = cuts(count, seed)
        with Plan(COMM, end - begin, dtype=dtype, op=op) as plan:
            assert bits(plan.allreduce(x[begin:end])) == bits(by_definition(x, op)), (seed, count)


def test_rows_in_any_shape_and_layout():
    x = items(60 * 6, "f8").reshape(60, 6)
    expected = np.array([by_definition(column) for column in x.T])
    begin, end = cuts(60, 5)
    plan = Plan(COMM, end - begin, width=6)
    own = x[begin:end]
    swapped = own.astype(">f8")
    for same in (own, own.reshape(-1, 2, 3), own.ravel(), np.asfortranarray(own), swapped, np.repeat(own, 2, 0)[::2]):
        assert bits(plan.allreduce(same)) == bits(expected)
    assert bits(plan.allreduce(own.tolist() if len(own) else own)) == bits(expected)
    unaligned = np.zeros(own.nbytes + 1, np.uint8)[1:].view("f8").reshape(own.shape)
    unaligned[...] = own
    assert bits(plan.allreduce(unaligned)) == bits(expected)
    frozen = own.copy()
    frozen.flags.writeable = False
    assert bits(plan.allreduce(frozen)) == bits(expected)
    columns = plan.scattered_columns
    assert bits(plan.reduce_scatter(own)) == bits(expected[columns])
    assert COMM.allreduce(columns.stop - columns.start) == 6


def test_who_has_which_items():
    x = items(1000, "f8")
    total = bits(by_definition(x))
    own = np.random.default_rng(3).permutation(1000)[RANK::RANKS]
    plan = Plan(COMM, extents=[(int(k), int(k) + 1) for k in own], items=1000)
    assert bits(plan.allreduce(x[own])) == total
    assert "1000" in str(plan)
    blocks = np.arange(1000).reshape(-1, 10)[RANK::RANKS].ravel()
    assert bits(Plan(COMM, block_cyclic=(1000, 10)).allreduce(x[blocks])) == total
    ends = [1000 // RANKS * rank + min(rank, 1000 % RANKS) for rank in (RANK, RANK + 1)]
    assert bits(Plan(COMM, even=1000).allreduce(x[slice(*ends)])) == total


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_algorithm_changes_a_bit(algorithm):
    x = items(500, "f8")
    begin, end = cuts(500, 1)
    try:
        plan = Plan(COMM, end - begin, algorithm=algorithm)
    except Error as error:
        assert error.status in ("UNSUPPORTED", "ARGUMENT"), algorithm
        return
    assert bits(plan.allreduce(x[begin:end])) == bits(by_definition(x))
    assert plan.algorithm() is not None


def wide(count, dtype="f8"):
    """Numbers of many magnitudes: a sum with rounded intermediate results has other bits."""
    generator = np.random.default_rng(count)
    return (generator.standard_normal(count) * 2.0 ** generator.integers(-60, 60, count)).astype(dtype)


@pytest.mark.parametrize("algorithm", [None, *ALGORITHMS])
def test_exact_sums_of_items_in_any_order(algorithm):
    x, y = wide(700), wide(700)[::-1].copy()
    owners = np.random.default_rng(7).integers(0, RANKS, 700)
    own = np.random.default_rng(RANK).permutation(np.flatnonzero(owners == RANK))
    expected = {
        "exact_sum": float(sum(map(Fraction, x))),
        "exact_dot": float(sum(Fraction(a) * Fraction(b) for a, b in zip(x, y))),
    }
    with Plan(COMM, op="exact_sum", algorithm=algorithm) as plan:
        for turn in range(3):
            # In each turn, a rank has a different number of items.
            moved = x[np.roll(owners, turn) == RANK]
            assert bits(plan.allreduce(moved)) == bits(expected["exact_sum"])
        assert bits(plan.allreduce(np.repeat(x[own], 2)[::2])) == bits(expected["exact_sum"])
        assert bits(plan.allreduce([])) == bits(0.0)
        assert is_on(0, plan.reduce(x[own]), expected["exact_sum"])
    with Plan(COMM, op="exact_dot", algorithm=algorithm) as plan:
        assert bits(plan.allreduce(x[own], y[own])) == bits(expected["exact_dot"])
        assert is_on(0, plan.reduce(x[own], y[own].tolist()), expected["exact_dot"])
    with Plan(COMM, op="exact_norm", algorithm=algorithm) as plan:
        norm = plan.allreduce(x[own])
        with Plan(MPI.COMM_SELF, op="exact_norm") as alone:
            assert bits(norm) == bits(alone.allreduce(x))


@pytest.mark.parametrize("algorithm", [None, "algorithm1"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_dot_products_in_tree_order(algorithm, dtype):
    x, y = (np.random.default_rng(seed).normal(size=700).astype(dtype) for seed in (3, 4))
    begin, end = cuts(700, 5)
    own = x[begin:end], y[begin:end]
    with Plan(COMM, end - begin, dtype=dtype, algorithm=algorithm) as plan:
        dot = plan.allreduce(*own)
        assert bits(dot) == bits(treefold.dot(x, y))
        assert bits(plan.norm2(own[0])) == bits(np.sqrt(treefold.dot(x, x)))
        assert is_on(0, plan.reduce(*own), dot)
        if algorithm is None:
            assert bits(plan.start("allreduce", *own).wait()) == bits(dot)
            assert is_on(0, plan.start("reduce", *own).wait(), dot)
    if algorithm is None:
        begin, end = cuts(70, 6)
        rows = x.reshape(70, 10), y.reshape(70, 10)
        columns = np.array([treefold.dot(a.copy(), b.copy()) for a, b in zip(rows[0].T, rows[1].T)])
        with Plan(COMM, end - begin, dtype=dtype, width=10) as plan:
            own = [row[begin:end] for row in rows]
            pairs = list(zip(own[0].T, own[1].T))
            assert bits(plan.allreduce(pairs=pairs)) == bits(columns)
            assert bits(plan.start("allreduce", pairs=pairs).wait()) == bits(columns)
            assert bits(plan.allreduce(*own)) == bits(columns)
            assert bits(plan.start("allreduce", *own).wait()) == bits(columns)


def test_several_dot_products():
    x = wide(40 * 3).reshape(3, 40)
    begin, end = cuts(40, 3)
    pairs = [(x[i, begin:end], x[j, begin:end]) for i, j in ((0, 1), (1, 2), (2, 2))]
    expected = [float(sum(Fraction(a) * Fraction(b) for a, b in zip(x[i], x[j]))) for i, j in ((0, 1), (1, 2), (2, 2))]
    with Plan(COMM, op="exact_dot", width=3) as plan:
        assert bits(plan.allreduce(pairs=pairs)) == bits(np.array(expected))
        assert bits(plan.start("allreduce", pairs=pairs).wait()) == bits(np.array(expected))
        for reduced in (plan.reduce(pairs=pairs), plan.start("reduce", pairs=pairs).wait()):
            assert is_on(0, reduced, np.array(expected))
    odd = [*pairs[:2], (x[0, :3], x[1, :2])]
    for wrong, message in ((pairs[:2], "width is 3"), (odd, "pairs must be arrays of one length, not of 2 and")):
        with Plan(COMM, op="exact_dot", width=3) as plan, pytest.raises((Error, ValueError), match=message):
            plan.allreduce(pairs=wrong)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sums_in_lanes(dtype):
    x = wide(100).astype(dtype)
    lanes = 8
    begin, end = (min(100, lanes * ((100 // lanes + 1) * rank // RANKS)) for rank in (RANK, RANK + 1))
    expected = treefold.sum(x, lanes=lanes)
    with Plan(COMM, end - begin, dtype=dtype, lanes=lanes) as plan:
        assert bits(plan.allreduce(x[begin:end])) == bits(expected)
        assert is_on(0, plan.reduce(x[begin:end]), expected)
        raises(TypeError, None, plan.scan, x[begin:end])
    for wrong in (0, (1 << 20) + 1):
        raises(ValueError, "lanes", Plan, COMM, 1, lanes=wrong)


def test_exact_rows_and_prefixes():
    x = wide(40 * 3).reshape(40, 3)
    begin, end = cuts(40, 3)
    expected = np.array([float(sum(map(Fraction, column))) for column in x.T])
    plan = Plan(COMM, op="exact_sum", width=3)
    out = np.empty(3)
    assert plan.allreduce(x[begin:end], out=out) is out
    assert bits(out) == bits(expected)
    assert bits(plan.reduce_scatter(x[begin:end])) == bits(expected[plan.scattered_columns])
    prefixes = np.array([[float(sum(map(Fraction, column[: k + 1]))) for column in x.T] for k in range(40)])
    assert bits(plan.scan(x[begin:end])) == bits(prefixes[begin:end])
    mine = x[begin:end].copy()
    pending = plan.start("exscan", mine)
    mine[:] = 7  # The array may change: the scan uses the items that it was started with.
    before = np.concatenate([np.zeros((1, 3)), prefixes[:-1]])
    assert bits(pending.wait()) == bits(before[begin:end])
    dots = Plan(COMM, op="exact_dot", width=3)
    pending = dots.start("allreduce", x[begin:end], x[begin:end], out=out)
    squares = [float(sum(Fraction(item) ** 2 for item in column)) for column in x.T]
    assert pending.wait() is out
    assert bits(out) == bits(np.array(squares))
    pending = dots.start("reduce", x[begin:end], x[begin:end])
    assert (pending.wait() is None) == (RANK != 0)


@pytest.mark.parametrize("dtype", ["f4", "c8", "c16"])
def test_exact_types(dtype):
    big, one = np.array([1e30, 1], dtype)
    x = np.array([big, one, -big, one * (1 + 2j if dtype.startswith("c") else 1)], dtype)
    with Plan(COMM, op="exact_sum", dtype=dtype) as plan:
        assert plan.allreduce(x) == RANKS * (x[1] + x[3])
    if dtype.startswith("c"):
        z, w = np.array([1 + 2j], dtype), np.array([3 + 4j], dtype)
        assert Plan(COMM, op="exact_dot", dtype=dtype).allreduce(z, w) == RANKS * (z * w)[0]
        assert Plan(COMM, op="exact_vdot", dtype=dtype).allreduce(z, w) == RANKS * np.vdot(z, w)
        raises(TypeError, "norm", Plan, COMM, op="exact_norm", dtype=dtype)


def test_wrong_uses_of_exact_sums():
    raises(TypeError, "numbers", Plan, COMM, 3, op="exact_sum")
    raises(TypeError, "numbers", Plan, COMM, op="exact_sum", items=3)
    raises(TypeError, "integers", Plan, COMM, op="exact_sum", dtype="i8")
    raises(ValueError, "exact_vdot", Plan, COMM, 3, op="exact_dots")
    raises(ValueError, "computes dot products", Plan(COMM, op="exact_dot").allreduce, [1.0])
    for plan in (Plan(COMM, op="exact_sum"), Plan(COMM, 1, op="max"), Plan(COMM, 1, dtype="i4")):
        raises(ValueError, "no dot products", plan.allreduce, [1], [1])
    plan = Plan(COMM, op="exact_sum")
    raises(TypeError, "broadcast", plan.bcast, np.zeros(1))
    assert plan.algorithm("bcast") is None
    assert plan.allreduce([1.0]) == RANKS


@several_ranks
def test_a_mistake_in_an_exact_sum_reaches_all_ranks():
    rows = Plan(COMM, op="exact_sum", width=2)
    raised = raises(ValueError if RANK == 0 else Error, None, rows.allreduce, [1.0, 2.0, 3.0] if RANK == 0 else [1.0, 2.0])
    assert RANK == 0 or (raised.status, raised.rank) == ("RANK_FAILED", 0)
    for x, y in [([1.0], [1.0, 2.0]), ([1.0], ["a"])]:
        dots = Plan(COMM, op="exact_dot")
        raised = raises((ValueError, TypeError) if RANK == 0 else Error, None, dots.allreduce, x, y if RANK == 0 else x)
        assert RANK == 0 or (raised.status, raised.rank) == ("RANK_FAILED", 0)


def test_operations():
    x = items(50, "f8")
    begin, end = cuts(50, 2)
    root = RANKS - 1
    plan = Plan(COMM, end - begin, root=root)
    reduced = plan.reduce(x[begin:end])
    assert (reduced is None) == (RANK != root)
    if reduced is not None:
        assert isinstance(reduced, np.float64)
        assert bits(reduced) == bits(by_definition(x))
    prefixes = np.array([by_definition(x[: k + 1]) for k in range(50)])
    assert bits(plan.scan(x[begin:end])) == bits(prefixes[begin:end])
    before = np.concatenate([[0.0], prefixes[:-1]])
    assert bits(plan.exscan(x[begin:end])) == bits(before[begin:end])
    row = np.array([RANK + 0.5])
    assert plan.bcast(row) is row
    assert row[0] == root + 0.5
    out = np.empty(1)
    assert plan.allreduce(x[begin:end], out=out) is out
    assert bits(out[0]) == bits(by_definition(x))


def test_in_place():
    plan = Plan(COMM, 1, width=3)
    x = np.array([1.0, 2.0, 3.0])
    plan.allreduce(x, out=x)
    assert x.tolist() == [RANKS, 2.0 * RANKS, 3.0 * RANKS]


def test_several_runs_under_way():
    x = items(300, "f8")
    begin, end = cuts(300, 4)
    first, second = (Plan(COMM, end - begin) for _ in range(2))
    sum_, scan = first.start("allreduce", x[begin:end]), second.start("scan", x[begin:end])
    while not scan.test():
        pass
    prefixes = [by_definition(x[: k + 1]) for k in range(begin, end)]
    assert bits(scan.wait()) == bits(np.array(prefixes, "f8"))
    assert bits(sum_.wait(timeout=30)) == bits(by_definition(x))
    raises(ValueError, "the run is over", sum_.wait)


@pytest.mark.parametrize("turn", [1, -1])
def test_wait_all(turn):
    x = items(300, "f8")
    begin, end = cuts(300, 4)
    own, out = x[begin:end], np.zeros(1)
    plans = [Plan(COMM, end - begin) for _ in range(3)]
    runs = [plans[0].start("allreduce", own, out=out), plans[1].start("reduce", own), plans[2].start("exscan", own)]
    results = treefold.mpi.wait_all(runs[::turn])[::turn]
    assert results[0] is out
    assert bits(out[0]) == bits(by_definition(x))
    assert is_on(0, results[1], by_definition(x))
    assert bits(results[2]) == bits(np.array([by_definition(x[:k]) if k else 0.0 for k in range(begin, end)], "f8"))
    raises(ValueError, "the run is over", treefold.mpi.wait_all, runs)
    assert treefold.mpi.wait_all([]) == []
    raises(TypeError, "runs must be Pending objects, but one is a Plan", treefold.mpi.wait_all, plans)


@several_ranks
def test_wait_all_after_an_error():
    wrong, right = Plan(COMM, 1, op=fails_at_first, algorithm="reduce-broadcast"), Plan(COMM, 1)
    runs = [plan.start("allreduce", [1.0]) for plan in (wrong, right)]
    raises(Odd if RANK == 0 else Error, None, treefold.mpi.wait_all, runs)
    for run in runs:
        raises(ValueError, "the run is over", run.wait)
    assert right.allreduce([1.0]) == RANKS


@several_ranks
def test_interrupts_of_wait_all():
    plans = [Plan(COMM, 1, root=1) for _ in range(2)]
    interrupted_alone(lambda: treefold.mpi.wait_all([plan.start("allreduce", [1.0]) for plan in plans]))
    if RANK == 0:
        for plan in plans:
            assert raises(Error, None, plan.allreduce, [1.0]).status == "SPENT"


def test_errors_name_the_call():
    plan = Plan(COMM, 2)
    error, text = (ValueError, "the plan is for 2 elements") if RANK == RANKS - 1 else (Error, "failed in this reduction")
    raises(error, f"Plan.allreduce: rank {RANKS - 1}:? {text}", plan.allreduce, [1.0] if RANK == RANKS - 1 else [1.0, 2.0])
    for call, text in (
        (lambda: Plan(COMM, 2, root=RANKS), f"root: {RANKS} is not one of {RANKS} ranks"),
        (lambda: Plan(COMM, 2, width=0), "width: it must be at least 1, not 0"),
        (lambda: Plan(COMM, 2, op="median"), "op must be one of sum, prod, .*exact_vdot, not 'median'"),
        (lambda: Plan(COMM, 2, items=1.5), "items must be an integer, not 1.5"),
        (lambda: Plan(COMM, 2, even=2), "one of local_items, .* must say which items this rank has, but 2 are given"),
        (lambda: Plan(COMM, 2).start("sum", [1, 2]), "Plan.start: operation must be one of allreduce, .*exscan, not 'sum'"),
        (lambda: Plan(COMM, 2).allreduce([1, 2j]), "Plan.allreduce: x has elements of type complex128"),
        (lambda: Plan(COMM, 2).start("scan", [1, "a"]), "Plan.scan: x has elements of type"),
        (lambda: Plan(COMM, 2).reduce([1, 2], pairs=[]), "Plan.reduce: pairs must be given instead of x and y"),
        (lambda: Plan(COMM, 2).reduce(), "Plan.reduce: either x or pairs must be given"),
        (lambda: Plan(COMM, 2, dtype="f2"), "dtype must be one of float32, float64, complex64, .*, in this machine's byte order, not float16"),
        (lambda: KeyedPlan(COMM, 0), "groups: it must be at least 1, not 0"),
        (lambda: KeyedPlan(COMM, 2, dtype="c16"), "dtype must be one of float32, float64, in this machine's byte order, not complex128"),
        (lambda: HashedPlan(COMM, keys="f8"), "keys must be one of int64, uint64, in this machine's byte order, not float64"),
        (lambda: Plan(COMM, 2).bcast([1]), "Plan.bcast: row must be an array, not a list"),
        (lambda: Plan(COMM, 2).algorithm("sum"), "operation must be one of bcast, "),
        (lambda: Plan(COMM, 2, op="max").allreduce([1, 2], [1, 2]), "Plan.allreduce: this plan computes no dot products"),
    ):
        raises((TypeError, ValueError), text, call)


@several_ranks
def test_a_wait_ends_in_time_and_goes_on():
    plan = Plan(COMM, 1)
    if RANK == 0:
        pending = plan.start("allreduce", [1.0])
        assert raises(TimeoutError, None, pending.wait, timeout=0.05).status == "TIMED_OUT"
        COMM.barrier()
        assert pending.wait() == RANKS
    else:
        COMM.barrier()
        assert plan.allreduce([1.0]) == RANKS


PAIR = np.dtype([("key", "i8"), ("value", "f8")])


def later(left, right):
    """The item with the greater value; the first item if they are equal."""
    return right if right["value"] > left["value"] else left


def test_operator_in_python():
    x = np.zeros(40, PAIR)
    x["key"], x["value"] = range(40), np.random.default_rng(9).integers(0, 8, 40)
    begin, end = cuts(40, 6)
    found = Plan(COMM, end - begin, dtype=PAIR, op=later).allreduce(x[begin:end])
    assert found["key"] == int(np.argmax(x["value"]))
    hypotenuse = Plan(COMM, end - begin, op=lambda a, b: np.hypot(a, b), empty=0.0)
    assert hypotenuse.allreduce(np.ones(end - begin)) == pytest.approx(np.sqrt(40))


def test_reduction_of_nothing():
    assert Plan(COMM, 0).allreduce([]) == 0.0
    assert Plan(COMM, 0, op=later, dtype=PAIR, empty=(5, 0.5)).allreduce(np.zeros(0, PAIR))["key"] == 5
    assert raises(ValueError, "no items", Plan, COMM, 0, op="min").status == "EMPTY"


def test_operator_of_numba():
    numba = pytest.importorskip("numba")
    signature = numba.types.intc(*[numba.types.voidptr] * 4)

    @numba.cfunc(signature)
    def add(context, left, right, out):
        one = numba.carray(left, 1, numba.float64), numba.carray(right, 1, numba.float64)
        numba.carray(out, 1, numba.float64)[0] = one[0][0] + one[1][0]
        return 0

    x = items(1000, "f8")
    begin, end = cuts(1000, 7)
    assert bits(Plan(COMM, end - begin, op=add).allreduce(x[begin:end])) == bits(by_definition(x))

    @numba.cfunc(numba.types.float64(numba.types.float64, numba.types.float64))
    def other(left, right):
        return left + right

    raises(TypeError, "four pointers", Plan, COMM, 1, op=other)


@several_ranks
def test_exception_in_an_operator():
    def fails_on_last(left, right):
        if RANK == RANKS - 1:
            raise Odd("no")
        return left + right

    plan = Plan(COMM, 2, op=fails_on_last)
    raised = raises(Odd if RANK == RANKS - 1 else Error, None, plan.allreduce, [1.0, 2.0])
    if RANK != RANKS - 1:
        assert raised.status == "RANK_FAILED"
        assert raised.rank == RANKS - 1
    assert raises(Error, None, plan.allreduce, [1.0, 2.0]).status == "SPENT"


WRONG = {
    "too few items": (ValueError, lambda plan: plan.allreduce([1.0])),
    "another type": (TypeError, lambda plan: plan.allreduce(np.array(["a", "b"]))),
    "a type that would lose bits": (TypeError, lambda plan: plan.allreduce(np.zeros(2, "c16"))),
    "objects": (TypeError, lambda plan: plan.allreduce(np.array([1, None]))),
    "read-only out": (ValueError, lambda plan: plan.allreduce([1.0, 2.0], out=frozen())),
    "out of another type": (TypeError, lambda plan: plan.allreduce([1.0, 2.0], out=np.zeros(1, "f4"))),
    "out of another shape": (ValueError, lambda plan: plan.allreduce([1.0, 2.0], out=np.zeros(2))),
    "a ragged list, with out": (ValueError, lambda plan: plan.allreduce([[1.0], [2.0, 3.0]], out=np.zeros(()))),
    "out that is no array": (TypeError, lambda plan: plan.allreduce([1.0, 2.0], out=[0.0])),
}


def frozen():
    out = np.zeros(1)
    out.flags.writeable = False
    return out


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments_on_one_rank(name):
    expected, call = WRONG[name]
    plan = Plan(COMM, 2)
    if RANK == RANKS - 1:
        raises(expected, None, call, plan)
    else:
        assert raises(Error, None, plan.allreduce, [1.0, 2.0]).rank == RANKS - 1


@several_ranks
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_mistake_reaches_all_ranks_by_every_algorithm(algorithm):
    plan = Plan(COMM, 2, algorithm=algorithm)
    raised = raises(TypeError if RANK == RANKS - 1 else Error, None, plan.allreduce, [1.0, 2j] if RANK == RANKS - 1 else [1.0, 2.0])
    # The error may name a rank that failed because it lacked the last rank's items.
    assert RANK == RANKS - 1 or raised.status == "RANK_FAILED"


@pytest.mark.parametrize(
    "arguments",
    [
        {"op": "median"},
        {"dtype": "f2"},
        {"dtype": ">f8"},
        {"dtype": object, "op": later},
        {"op": 5},
        {"algorithm": "fastest"},
        {"width": -1},
        {"width": 2.5},
        {"root": -1},
        {"empty": 1.0},
        {"extents": [(0, 2)]},
        {"local_items": 2.0},
        {"local_items": None, "extents": 5},
        {"local_items": None, "extents": [(0, 1, 2)]},
        {"local_items": None, "extents": [(0.0, 2)]},
        {"local_items": None, "extents": [(-1, 1)]},
        {"local_items": None, "block_cyclic": 5},
        {"local_items": None, "even": 1 << 64},
        {"algorithm": 5},
        {"algorithm": "ring\0"},
        {"items": -1},
    ],
    ids=str,
)
def test_wrong_settings_on_one_rank(arguments):
    if RANK == RANKS - 1:
        raises((TypeError, ValueError), None, Plan, COMM, **{"local_items": 2, **arguments})
    else:
        assert raises(Error, None, Plan, COMM, 2).rank == RANKS - 1


@several_ranks
@pytest.mark.parametrize("settings", [{"op": "prod"}, {"dtype": "f4"}, {"width": 2}, {"root": 1}], ids=str)
def test_ranks_that_disagree(settings):
    assert raises(ValueError, None, Plan, COMM, 2, **settings if RANK == 0 else {}).status == "DISAGREE"


def test_communicators():
    raises(TypeError, "comm must be a communicator of mpi4py, not a int", Plan, 5, 1)
    raises(ValueError, "COMM_NULL", Plan, MPI.COMM_NULL, 1)
    half = COMM.Split(RANK % 2)
    plan = Plan(half, 1)
    half.Free()
    assert plan.allreduce([1.0]) == len(range(RANK % 2, RANKS, 2))
    if RANKS > 1:
        group = COMM.Split(RANK == 0)
        inter = group.Create_intercomm(0, COMM, int(RANK == 0))
        raises(TypeError, "intercommunicator", Plan, inter, 1)


def test_closed_plans():
    plan = Plan(COMM, 1)
    plan.close()
    plan.close()
    for call in (plan.allreduce, plan.scan):
        raises(ValueError, "closed", call, [1.0])


def error_on_another_thread(call):
    """The message of the Error that a function raises on another thread."""
    raised = []

    def catch():
        try:
            call()
        except Error as error:
            raised.append(str(error))

    thread = threading.Thread(target=catch)
    thread.start()
    thread.join()
    return raised[0]


def test_other_threads():
    plan = Plan(COMM, 1)
    assert "another thread" in error_on_another_thread(lambda: plan.allreduce([1.0]))
    assert plan.allreduce([1.0]) == RANKS


def interrupted_alone(call):
    """Calls a function on rank 0 alone, where Ctrl-C ends the call."""
    if RANK == 0:
        threading.Timer(0.3, _thread.interrupt_main).start()
        begun = time.monotonic()
        raises(KeyboardInterrupt, None, call)
        assert time.monotonic() - begun < 5
    COMM.barrier()


@several_ranks
@pytest.mark.parametrize("operation", ["allreduce", "bcast", "wait"])
def test_interrupts(operation):
    plan, pending = Plan(COMM, 1, root=1), Plan(COMM, 1)
    calls = {
        "allreduce": lambda: plan.allreduce([1.0]),
        "bcast": lambda: plan.bcast(np.zeros(1)),
        "wait": lambda: pending.start("allreduce", [1.0]).wait(),
    }
    interrupted_alone(calls[operation])
    if operation == "bcast":
        # The root waits for no other rank.
        return
    with pytest.raises(Error) as raised:
        # If the interrupted rank has already sent its contribution, this run succeeds, and the next one fails.
        for _ in range(2):
            calls[operation]()
    assert raised.value.status == "SPENT" if RANK == 0 else raised.value.rank == 0


@several_ranks
def test_interrupts_of_a_build():
    comm = COMM.Dup()
    Plan(comm, 1)
    interrupted_alone(lambda: Plan(comm, 1))
    if RANK > 0:
        raises(Error, None, Plan, comm, 1)


def test_interrupts_of_an_operator():
    def interrupted(left, right):
        _thread.interrupt_main()
        return left + right

    plan = Plan(MPI.COMM_SELF, 3, op=interrupted)
    raises(KeyboardInterrupt, None, plan.allreduce, [1.0, 2.0, 3.0])


@several_ranks
def test_silence_has_a_limit():
    comm = COMM.Dup()
    plan = Plan(comm, 1)
    treefold.mpi.set_silence_limit(comm, 0.5)
    if RANK == 0:
        for call in (plan.allreduce, lambda x: Plan(comm, 1)):
            assert raises(Error, "silent", call, [1.0]).status == "MPI"
    COMM.barrier()


@several_ranks
def test_a_failed_operator_is_its_own_plans_affair():
    odd, other = Plan(COMM, 1, op=fails_at_first, algorithm="reduce-broadcast"), Plan(COMM, 1)
    pending = odd.start("allreduce", [1.0])
    for _ in range(3):
        assert other.allreduce([1.0]) == RANKS
    raises(Odd if RANK == 0 else Error, None, pending.wait)
    assert other.allreduce([1.0]) == RANKS
    assert Plan(COMM, 1).allreduce([1.0]) == RANKS


@several_ranks
def test_a_run_that_another_thread_collects():
    box = [Plan(COMM, 1, op=later).start("allreduce", [1.0])]
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    gc.collect()
    plan = Plan(COMM, 1)
    assert plan.allreduce([1.0]) == RANKS
    pending = plan.start("allreduce", [2.0])
    assert "another thread" in error_on_another_thread(pending.cancel)
    assert pending.wait() == 2 * RANKS


@pytest.mark.skipif(
    MPI.get_vendor()[0] == "MPICH" and RANKS > (os.cpu_count() or 1),
    reason="MPICH's waiting ranks keep their cores busy: the test takes minutes with more ranks than cores",
)
def test_freed_communicators_leave_nothing():
    # MPICH has room for 2048 communicators.
    for _ in range(1500):
        comm = COMM.Split(0)
        with Plan(comm, 1) as plan:
            assert plan.allreduce([1.0]) == RANKS
        comm.Free()


def test_conversions_lose_nothing():
    plan = Plan(COMM, 3, dtype="i4")
    assert plan.allreduce([1, 2, 3]) == 6 * RANKS
    plan = Plan(COMM, 1)
    assert plan.allreduce(np.array([2**53])) == 2.0**53 * RANKS
    for dtype, x in [("f8", np.array([2**53 + 1])), ("f8", np.array([2**64 - 1], "u8")), ("f4", [0.1]), ("i4", [2**40])]:
        plan = Plan(MPI.COMM_SELF, 1, dtype=dtype)
        raises(ValueError, "x has elements that .* cannot represent", plan.allreduce, x)
    for dtype, x in [("i8", [2**63]), ("u8", [-1]), ("u1", [256]), ("i1", [128])]:
        plan = Plan(MPI.COMM_SELF, 1, dtype=dtype)
        raises(ValueError, f"Plan.allreduce: x has elements that {np.dtype(dtype)} cannot represent", plan.allreduce, x)
    for dtype in ("u1", "u2", "u4", "u8"):
        assert Plan(COMM, 2, dtype=dtype).allreduce([1, 2]) == 3 * RANKS
    nothing = Plan(COMM, 0 if RANK else 1, dtype="i4")
    assert nothing.allreduce([] if RANK else [7]) == 7


def test_values_for_nothing():
    for dtype, empty in [("f8", [1.0]), ("f8", []), ("i8", 2.5), ("f4", 1e300), ([("a", "i4"), ("b", "f8")], (1, "x"))]:
        raises((TypeError, ValueError), "empty", Plan, MPI.COMM_SELF, 0, dtype=dtype, op=later, empty=empty)
    padded = np.dtype([("a", "i1"), ("b", "f8")], align=True)
    for _ in range(20):
        Plan(COMM, 0, dtype=padded, op=later, empty=(1, 2.0))
        Plan(COMM, 0, dtype=np.longdouble, op=later, empty=2.0)


@several_ranks
@pytest.mark.parametrize("types", [("<f8", ">f8"), ("f8", "i8"), ("M8[s]", "M8[ms]")], ids=str)
def test_ranks_that_combine_different_types(types):
    assert raises(ValueError, None, Plan, COMM, 1, dtype=types[min(RANK, 1)], op=later).status == "DISAGREE"


def test_errors_can_be_pickled():
    raised = raises(Error, None, Plan(MPI.COMM_SELF, 1).allreduce, [1.0, 2.0])
    copy = pickle.loads(pickle.dumps(raised))
    assert type(copy) is type(raised)
    assert (str(copy), copy.status, copy.rank) == (str(raised), "LENGTH", 0)


@several_ranks
def test_other_threads_run_during_a_wait():
    plan = Plan(COMM, 1)
    if RANK == 0:
        counted = []
        stop = threading.Event()

        def count():
            while not stop.is_set():
                counted.append(1)
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        plan.allreduce([1.0])
        stop.set()
        thread.join()
        assert len(counted) > 20
    else:
        time.sleep(0.5)
        plan.allreduce([1.0])


@in_the_repository
def test_golden_vectors():
    names = {"sum": "sum", "product": "prod", "min": "min", "max": "max"}
    checked = 0
    for seed, case in enumerate(cases("order.jsonl")):
        operation = case.get("operation", "allreduce")
        if case["operator"] not in names or "other" in case or operation == "squared_norm":
            continue
        numbers, values, words = codec(case["type"])
        expected = values(case["bits"])
        width = len(expected) if operation == "allreduce" else 1
        x = items_of(case).reshape(-1, width)
        begin, end = cuts(len(x), seed)
        plan = Plan(COMM, end - begin, dtype=numbers, op=names[case["operator"]], width=width)
        found = np.ravel(getattr(plan, operation)(x[begin:end]))
        own = expected if operation == "allreduce" else expected[begin:end]
        assert words(found) == words(own), case["name"]
        plan.close()
        checked += 1
    assert checked > 220


@in_the_repository
def test_exact_golden_vectors():
    figures = {"sum": "sum", "norm": "norm", "dot": "dot", "conjugate_dot": "vdot"}
    checked = 0
    for seed, case in enumerate(cases("exact.jsonl")):
        if case["operator"] not in figures:
            continue
        numbers, values, words = codec(case["type"])
        arguments = [values(case[key]) for key in ("items", "other") if key in case]
        begin, end = cuts(len(arguments[0]), seed)
        with Plan(COMM, op=f"exact_{figures[case['operator']]}", dtype=numbers) as plan:
            found = np.ravel(plan.allreduce(*[argument[begin:end] for argument in arguments]))
        assert words(found) == words(values([case["bits"]])), case["name"]
        checked += 1
    assert checked > 160
