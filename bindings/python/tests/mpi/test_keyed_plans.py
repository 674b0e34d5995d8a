"""Plans by key on the ranks that pytest was started on: `mpirun -n 3 python -m pytest`. Every rank runs every test."""

import contextlib
import gc
from fractions import Fraction

import numpy as np
import pytest

import treefold.mpi
from checks import raises
from definition import bits
from ranks import COMM, RANK, RANKS, is_on
from treefold import exact
from treefold.mpi import ALGORITHMS, Error, HashedPlan, KeyedPlan, Plan

LAST = RANKS - 1

treefold.mpi.set_silence_limit(COMM, 60)

def lots(count, groups, dtype="f8", spread=40, seed=0):
    """Keys and items, where the last key has no items; and two distributions of the items over the ranks."""
    random = np.random.default_rng(seed)
    x = np.ldexp(random.standard_normal(count), random.integers(-spread, spread, count)).astype(dtype)
    x[::13] = 0.0
    keys = random.integers(0, max(1, groups - 1), count)
    return keys, x, [np.full(count, LAST), random.integers(0, RANKS, count)]

def rounded(value, dtype):
    """A fraction, rounded once to nearest. NumPy would round twice: first to a double, and then to a float."""
    if dtype == "f8":
        return np.float64(value.numerator / value.denominator)
    near = np.float32(float(value))
    choices = [np.nextafter(near, np.float32(side)) for side in (-np.inf, np.inf)] + [near]
    # Ties go to even: the last bit of the fraction is 0.
    return min(choices, key=lambda choice: (abs(Fraction(float(choice)) - value), int(choice.view("u4")) & 1))

def sums_of(keys, x, groups):
    """The sum of each key's items, by fractions."""
    totals = [Fraction(0)] * groups
    for key, item in zip(keys.tolist(), x.tolist()):
        totals[key] += Fraction(item)
    return np.array([rounded(total, x.dtype.str[1:]) for total in totals], x.dtype)

@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("groups", [1, 2, 30])
def test_sums_are_those_of_fractions(dtype, groups):
    keys, x, owners = lots(400, groups, dtype, seed=groups)
    expected = sums_of(keys, x, groups)
    with KeyedPlan(COMM, groups, dtype=dtype, root=LAST) as plan:
        assert plan.groups == groups
        assert plan.dtype == dtype
        own_keys = plan.scattered_keys
        for owner in owners:
            mine = owner == RANK
            arguments = keys[mine], x[mine]
            assert bits(plan.allreduce(*arguments)) == bits(expected)
            assert is_on(LAST, plan.reduce(*arguments), expected)
            assert bits(plan.reduce_scatter(*arguments)) == bits(expected[own_keys])
            out = np.full(groups, np.nan, dtype)
            assert plan.allreduce(*arguments, out=out) is out
            assert bits(out) == bits(expected)
            assert bits(plan.start("allreduce", *arguments).wait()) == bits(expected)
            assert is_on(LAST, plan.start("reduce", *arguments).wait(), expected)
            assert bits(plan.start("reduce_scatter", *arguments).wait()) == bits(expected[own_keys])

@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_algorithm_changes_a_bit(algorithm):
    keys, x, owners = lots(300, 20, spread=900, seed=5)
    x[[3, 4, 5]] = np.inf, -np.inf, np.nan
    expected = exact.bincount(keys, x, 20)
    try:
        plan = KeyedPlan(COMM, 20, algorithm=algorithm)
    except TypeError as error:
        assert "rows" in str(error)
        return
    for owner in owners:
        mine = owner == RANK
        assert bits(plan.allreduce(keys[mine], x[mine])) == bits(expected)

def test_means():
    keys, x, (_, owner) = lots(300, 10, seed=7)
    mine = owner == RANK
    means = KeyedPlan(COMM, 10, op="exact_mean").allreduce(keys[mine], x[mine])
    for key in range(9):
        items = [Fraction(item) for item in x[keys == key].tolist()]
        mean = sum(items) / len(items)
        assert means[key] == mean.numerator / mean.denominator
    assert np.isnan(means[9])

def same_moments(found, expected):
    """Compares statistics of all keys but the last, which has no items."""
    assert found.value("count").tolist() == expected.value("count").tolist()
    for statistic in ("mean", "var", "std"):
        assert bits(found.value(statistic)[:9]) == bits(expected.value(statistic)[:9])

def test_moments():
    keys, x, owners = lots(300, 10, spread=10, seed=12)
    plan = KeyedPlan(COMM, 10, op="exact_var", root=LAST)
    groups = [x[keys == key] for key in range(10)]
    for owner in owners:
        mine = owner == RANK
        moments = plan.allreduce(keys[mine], x[mine])
        counts = moments.value("count")
        assert counts.dtype == np.uint64
        assert counts.tolist() == [group.size for group in groups]
        assert bits(moments.value("mean")[:9]) == bits(np.array([exact.mean(group) for group in groups[:9]]))
        assert bits(moments.value("sum")) == bits(np.array([exact.sum(group) for group in groups]))
        for ddof in (0, 1):
            assert bits(moments.value("var", ddof=ddof)[:9]) == bits(np.array([exact.var(group, ddof=ddof) for group in groups[:9]]))
            assert bits(moments.value("std", ddof=ddof)[:9]) == bits(np.array([exact.std(group, ddof=ddof) for group in groups[:9]]))
        assert np.isnan(moments.value("var")[9])
        same_moments(plan.start("allreduce", keys[mine], x[mine]).wait(), moments)
        for at_root in (plan.reduce(keys[mine], x[mine]), plan.start("reduce", keys[mine], x[mine]).wait()):
            assert (at_root is None) == (RANK != LAST)
            assert at_root is None or bits(at_root.value("var")[:9]) == bits(moments.value("var")[:9])
        for own in (plan.reduce_scatter(keys[mine], x[mine]), plan.start("reduce_scatter", keys[mine], x[mine]).wait()):
            for statistic in ("count", "sum"):
                assert own.value(statistic).tolist() == moments.value(statistic)[plan.scattered_keys].tolist()
    native = KeyedPlan(COMM, 10, op="exact_var", algorithm="mpi-native")
    same_moments(native.allreduce(keys[mine], x[mine]), moments)
    at_root = native.reduce(keys[mine], x[mine])
    assert (at_root is None) == (RANK != 0)
    assert at_root is None or bits(at_root.value("var")[:9]) == bits(moments.value("var")[:9])

def test_mistakes_with_moments():
    for algorithm in (None, "mpi-native"):
        plan = KeyedPlan(COMM, 10, op="exact_var", algorithm=algorithm)
        match = "KeyedPlan.allreduce: item 0 has key 10"
        fails_on_last(lambda: plan.allreduce([10], [1.0]), match, ValueError, lambda: plan.allreduce([0], [1.0]))
    plan = KeyedPlan(COMM, 10, op="exact_var")
    if RANK in (0, LAST):
        raised = raises(ValueError if RANK == LAST else Error, None, plan.reduce, [10 if RANK == LAST else 0], [1.0])
        assert RANK == LAST or raised.status == "RANK_FAILED"
    else:
        # Only the root needs the items of other ranks.
        with contextlib.suppress(Error):
            plan.reduce([0], [1.0])
    raises(TypeError, "out: results of 'exact_var' are Moments", KeyedPlan(COMM, 3, op="exact_var").allreduce, [0], [1.0], out=np.zeros(3))
    moments = KeyedPlan(COMM, 3, op="exact_var").allreduce([0], [1.0])
    raises(ValueError, "statistic must be one of count, .*, not 'median'", moments.value, "median")
    for statistic, parameters in (("mean", {"ddof": 1}), ("var", {"bias": False}), ("skewness", {"ddof": 1})):
        raises(TypeError, f"is not a parameter of '{statistic}'", moments.value, statistic, **parameters)
    raises(TypeError, "value: TREEFOLD_EXACT_COVARIANCE is not available", moments.value, "cov")

def test_co_moments_and_powers():
    keys, x, owners = lots(300, 10, spread=10, seed=13)
    y = np.roll(x, 7)
    both, powers = KeyedPlan(COMM, 10, op="exact_cov", root=LAST), KeyedPlan(COMM, 10, op="exact_skewness")
    of_two = {name: exact.KeyedAccumulator(name) for name in ("cov", "corr", "slope", "intercept")}
    of_one = {name: exact.KeyedAccumulator(name) for name in ("skewness", "kurtosis")}
    for columns, accumulators in (((x, y), of_two), ((x,), of_one)):
        for accumulator in accumulators.values():
            accumulator.add(keys, *columns)

    def value(accumulator, **parameters):
        return bits(accumulator.value(**parameters)[np.argsort(accumulator.keys())])

    for owner in owners:
        mine = owner == RANK
        moments = both.allreduce(keys[mine], x[mine], y[mine])
        for name, accumulator in of_two.items():
            assert bits(moments.value(name)[:9]) == value(accumulator)
        assert bits(moments.value("cov", ddof=0)[:9]) == value(of_two["cov"], ddof=0)
        assert np.isnan(moments.value("slope")[9])
        at_root = both.reduce(keys[mine], x[mine], y[mine])
        assert (at_root is None) == (RANK != LAST)
        assert at_root is None or bits(at_root.value("cov")[:9]) == bits(moments.value("cov")[:9])
        own = both.reduce_scatter(keys[mine], x[mine], y[mine]).value("count")
        assert own.tolist() == moments.value("count")[both.scattered_keys].tolist()
        for found in (powers.allreduce(keys[mine], x[mine]), powers.start("allreduce", keys[mine], x[mine]).wait()):
            for name, accumulator in of_one.items():
                for bias in (True, False):
                    assert bits(found.value(name, bias=bias)[:9]) == value(accumulator, bias=bias)
    raises(TypeError, "KeyedPlan.allreduce: plans of 'exact_cov' take x and y", both.allreduce, keys, x)
    raises(TypeError, "KeyedPlan.allreduce: plans of 'exact_skewness' take x", powers.allreduce, keys, x, y)

def test_plans_of_two_columns_are_not_started():
    plan = KeyedPlan(COMM, 3, op="exact_cov")
    if RANK == LAST:
        raises(TypeError, "KeyedPlan.start: plans of 'exact_cov' do not support start: call allreduce", plan.start, "allreduce", [0], [1.0], [2.0])
    else:
        # These ranks get an error instead of waiting for the last rank.
        raises(Error, f"rank {LAST}", plan.allreduce, [0], [1.0], [2.0])

def test_another_plans_operator_does_not_take_moments_with_it():
    def fails(left, right):
        raise ArithmeticError

    plan = KeyedPlan(COMM, 3, op="exact_var")
    pending = Plan(COMM, 1, op=fails, algorithm="reduce-broadcast").start("allreduce", [1.0])
    assert plan.allreduce([0], [1.0]).value("count").tolist() == [RANKS, 0, 0]
    if RANKS > 1:
        raises(ArithmeticError if RANK == 0 else (ArithmeticError, Error), None, pending.wait)

def test_keys_and_items_of_other_types():
    keys, x, (_, owner) = lots(100, 9, seed=8)
    mine = owner == RANK
    plan = KeyedPlan(COMM, 9)
    expected = bits(plan.allreduce(keys[mine], x[mine]))
    for dtype in ("i1", "u2", ">i4", "u8"):
        assert bits(plan.allreduce(keys[mine].astype(dtype), x[mine])) == expected
    assert bits(plan.allreduce(keys[mine].tolist(), x[mine].tolist())) == expected
    assert bits(plan.allreduce(np.repeat(keys[mine], 2)[::2], np.repeat(x[mine], 2)[1::2])) == expected
    assert plan.allreduce([0], [1]).tolist() == [RANKS] + [0] * 8
    assert plan.allreduce([], []).tolist() == [0] * 9

def test_keys_of_64_bits():
    keys, x, owners = lots(300, 40, seed=9)
    wide = (keys - 20) * 0x0123456789ABCDEF
    expected = dict(zip(((np.arange(40) - 20) * 0x0123456789ABCDEF).tolist(), sums_of(keys, x, 40).tolist()))
    present = sorted(set(wide.tolist()))
    with HashedPlan(COMM, root=LAST) as plan:
        for owner in owners:
            mine = owner == RANK
            found, sums = plan.allreduce(wide[mine], x[mine])
            assert found.tolist() == present
            assert sums.tolist() == [expected[key] for key in present]
            at_root = plan.reduce(wide[mine], x[mine])
            assert (at_root is None) == (RANK != LAST)
            assert at_root is None or at_root[0].tolist() == present
            own, own_sums = plan.reduce_scatter(wide[mine], x[mine])
            assert own_sums.tolist() == [expected[key] for key in own.tolist()]
            assert sorted(sum(COMM.allgather(own.tolist()), [])) == present
            assert own.tolist() == sorted(own.tolist())
    keys, sums = HashedPlan(COMM, keys="u8", dtype="f4").allreduce(np.array([1 << 63, 5], "u8"), [1.5, 2])
    assert keys.tolist() == [5, 1 << 63]
    assert (keys.dtype, sums.dtype) == ("u8", "f4")
    assert sums.tolist() == [2 * RANKS, 1.5 * RANKS]
    for dtype, wrong in (("u8", -1), ("i8", 1 << 63)):
        with pytest.raises(ValueError, match="HashedPlan.allreduce: keys has elements that u?int64 cannot represent"):
            HashedPlan(COMM, keys=dtype).allreduce([wrong], [1.0])
    assert [array.size for array in HashedPlan(COMM).allreduce([], [])] == [0, 0]

def fails_on_last(call, match, of_last, right):
    """Checks a call that fails on the last rank, so that the other ranks get an error."""
    raises(of_last if RANK == LAST else Error, match if RANK == LAST else f"rank {LAST}", call if RANK == LAST else right)

@pytest.mark.parametrize(
    ("keys", "x", "error", "match"),
    [
        ([0, 3], [1.0, 2.0], ValueError, "item 1 has key 3; keys must be 0 to 2"),
        ([-1, 0], [1.0, 2.0], ValueError, "item 0 has key -1; keys must be 0 to 2"),
        ([0], [1.0, 2.0], ValueError, "`keys` has 1 elements, but `items` has 2"),
        ([0.5, 1.5], [1.0, 2.0], TypeError, "keys must be integers, not float64"),
        ([0, 1], [1.0, 2j], TypeError, "x has elements"),
        ([0, 1], None, TypeError, "x has elements"),
    ],
)
def test_wrong_keys_and_items(keys, x, error, match):
    for name in ("allreduce", "reduce_scatter", "start"):
        plan = KeyedPlan(COMM, 3)

        def run(keys, x):
            return plan.start("allreduce", keys, x).wait() if name == "start" else getattr(plan, name)(keys, x)

        fails_on_last(lambda: run(keys, x), match, error, lambda: run([0, 1], [1.0, 2.0]))
        assert raises(Error, None, plan.allreduce, [0], [1.0]).status == "SPENT"
    if len(keys) == 1 or error is TypeError:
        fails_on_last(lambda: HashedPlan(COMM).allreduce(keys, x), match, error, lambda: HashedPlan(COMM).allreduce([1], [2.0]))

def test_wrong_settings():
    for wrong, error in (
        ({"groups": 0}, ValueError),
        ({"groups": -1}, ValueError),
        ({"dtype": "c16"}, TypeError),
        ({"op": "sum"}, ValueError),
        ({"algorithm": "fast"}, ValueError),
        ({"root": RANKS}, ValueError),
    ):
        settings = {"groups": 3, **(wrong if RANK == LAST else {})}
        raises(error if RANK == LAST else Error, None, KeyedPlan, COMM, **settings)
    for wrong, error in (({"keys": "f8"}, TypeError), ({"dtype": "i4"}, TypeError), ({"root": RANKS}, ValueError)):
        raises(error if RANK == LAST else Error, None, HashedPlan, COMM, **wrong if RANK == LAST else {})
    plan = KeyedPlan(COMM, 3)
    plan.close()
    raises(ValueError, "closed", plan.allreduce, [0], [1.0])

def test_wrong_results():
    for out, error in ((np.zeros(2), ValueError), (np.zeros(3, "f4"), TypeError), ([0] * 3, TypeError), (np.zeros(6)[::2], ValueError)):
        plan = KeyedPlan(COMM, 3)
        fails_on_last(lambda: plan.allreduce([0], [1.0], out=out), "out", error, lambda: plan.allreduce([0], [1.0]))

def test_several_plans_under_way():
    keys, x, (_, owner) = lots(200, 12, seed=11)
    mine = owner == RANK
    plans = [KeyedPlan(COMM, 12) for _ in range(3)]
    expected = bits(sums_of(keys, x, 12))
    runs = [plan.start("allreduce", keys[mine], x[mine]) for plan in plans]
    total = Plan(COMM, op="exact_sum").start("allreduce", x[mine])
    for run in runs[RANK % 3 :] + runs[: RANK % 3]:
        assert bits(run.wait()) == expected
    assert bits(total.wait()) == bits(exact.sum(x))

def test_a_plan_prints_what_it_does():
    plan = KeyedPlan(COMM, 5)
    assert "5 keys of 16 bytes" in str(plan)
    assert plan.algorithm("reduce") in ALGORITHMS
    assert plan.algorithm("scan") is None

def test_what_is_dropped_ends():
    for _ in range(50):
        KeyedPlan(COMM, 3)
        HashedPlan(COMM)
    gc.collect()
    COMM.barrier()
