"""Results for arrays in GPU memory have the bits of results for NumPy arrays, on the ranks that pytest was started on. Ranks may share a
GPU. Without a GPU, or a library that finds one, tests are skipped, except those on mocks in host memory."""

import numpy as np
import pytest

from checks import raises
from definition import bits, items
from gpu import NAMES, maker
from ranks import COMM, RANK, RANKS, is_on
from treefold.mpi import ALGORITHMS, Error, Plan


@pytest.fixture(params=NAMES)
def on_gpu(request, monkeypatch):
    return maker(request.param, monkeypatch) or pytest.skip(f"skipped: no GPU that {request.param} sees")


def own(x):
    return x[len(x) * RANK // RANKS : len(x) * (RANK + 1) // RANKS]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("width", [None, 3])
def test_sums(on_gpu, dtype, width):
    for rows in (RANKS, 1000, 30_001):
        x = items(rows * (width or 1), dtype, rows).reshape((rows,) if width is None else (rows, width))
        local = own(x)
        there = on_gpu(local)
        with Plan(COMM, len(local), dtype=dtype, width=width) as plan:
            assert bits(plan.allreduce(there)) == bits(plan.allreduce(local))
            assert is_on(0, plan.reduce(there if RANK % 2 == 0 else local), plan.reduce(local))
            assert bits(plan.reduce_scatter(there)) == bits(plan.reduce_scatter(local))
            pending = plan.start("allreduce", there)
            assert bits(pending.wait()) == bits(plan.allreduce(local))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_exact_sums(on_gpu, dtype):
    local = own(items(20_000, dtype, 5))
    plan = Plan(COMM, dtype=dtype, op="exact_sum")
    assert bits(plan.allreduce(on_gpu(local))) == bits(plan.allreduce(local))
    dots = Plan(COMM, dtype=dtype, op="exact_dot")
    assert bits(dots.allreduce(on_gpu(local), local)) == bits(dots.allreduce(local, local))


def test_by_every_algorithm(on_gpu):
    local = own(items(4000, "f8", 6))
    there = on_gpu(local)
    for algorithm in ALGORITHMS:
        plan = Plan(COMM, len(local), algorithm=algorithm)
        assert bits(plan.allreduce(there)) == bits(plan.allreduce(local)), algorithm


def test_what_the_gpu_does_not_fold(on_gpu):
    local = own(items(500, "f8", 7))
    for dtype, op in (("f8", "prod"), ("f8", "max"), ("i4", "sum"), ("u1", "max")):
        typed = (100 * local).astype(dtype)
        plan = Plan(COMM, len(local), dtype=dtype, op=op)
        assert bits(plan.allreduce(on_gpu(typed))) == bits(plan.allreduce(typed))
        assert bits(plan.scan(on_gpu(typed))) == bits(plan.scan(typed))
    by_function = Plan(COMM, len(local), op=lambda x, y: x - y, empty=0)
    assert bits(by_function.allreduce(on_gpu(local))) == bits(by_function.allreduce(local))


def test_results_on_the_gpu(on_gpu):
    local = own(items(3 * 300, "f8", 8).reshape(300, 3))
    plan = Plan(COMM, len(local), width=3)
    expected = plan.allreduce(local)
    there, out = on_gpu(local), on_gpu(np.full(3, 7.0))
    if type(out).__module__.startswith("jax"):
        raises(ValueError, "out is read-only", plan.allreduce, there, out=out)
        return
    assert plan.allreduce(there, out=out) is out
    assert bits(to_host(out)) == bits(expected)
    assert plan.start("allreduce", local, out=on_gpu(np.zeros(3))).wait() is not None
    # An output that overlaps the items.
    if len(local) > 0:
        row = there[:1]
        plan = Plan(COMM, 1, width=3)
        assert bits(to_host(plan.allreduce(row, out=row)).ravel()) == bits(plan.allreduce(local[:1]))
        assert bits(to_host(plan.bcast(row))) == bits(COMM.bcast(to_host(row)))


def to_host(array):
    if hasattr(array, "copy_to_host"):
        return array.copy_to_host()
    return array.get() if hasattr(array, "get") else array.cpu().numpy()


def test_a_plan_that_ran_before(on_gpu):
    """In the plan's first call, the C library finds no driver, unless an earlier test has loaded it."""
    local = own(items(100, "f8", 9))
    plan = Plan(COMM, len(local))
    expected = plan.allreduce(local)
    assert bits(plan.allreduce(on_gpu(local))) == bits(expected)


def test_wrong_arrays(on_gpu):
    local = own(items(1000, "f8", 10))
    for wrong, error, text in (
        (on_gpu(local.astype("f4")), TypeError, "x has elements of type float32, but the plan's have type float64"),
        (on_gpu(np.append(local, 0.0)), Error, "elements"),
    ):
        plan = Plan(COMM, len(local))
        with pytest.raises(error if RANK == RANKS - 1 else Error, match=text if RANK == RANKS - 1 else f"rank {RANKS - 1}"):
            plan.allreduce(wrong if RANK == RANKS - 1 else on_gpu(local))
