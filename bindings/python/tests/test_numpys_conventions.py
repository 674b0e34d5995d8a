"""NumPy's conventions for masked arrays, times, units, float16, output arrays and errors."""

import warnings

import numpy as np
import pytest
import treefold
from checks import raises
from definition import bits, items
from treefold import exact


def test_masked_arrays_leave_holes():
    x, mask = items(1000, "f8", 7).reshape(20, 50), items(1000, "?", 8).reshape(20, 50)
    masked = np.ma.masked_array(x, mask)
    for name in ("sum", "prod", "mean", "var", "std"):
        assert bits(getattr(treefold, name)(masked, 1)) == bits(getattr(treefold, name)(x, 1, where=~mask)), name
    also = items(50, "?", 9)
    assert bits(treefold.sum(masked, 0, where=also)) == bits(treefold.sum(x, 0, where=~mask & also))
    assert bits(treefold.max(masked)) == bits(np.max(masked))
    assert bits(exact.sum(masked)) == bits(exact.sum(x[~mask]))
    assert bits(treefold.sum(np.ma.masked_array(x))) == bits(treefold.sum(x))
    keys = np.ma.masked_array(np.arange(1000) % 7, mask.ravel())
    groups = exact.groupby(keys)
    assert bits(groups.sum(x.ravel())) == bits(exact.groupby(keys.compressed()).sum(x.ravel()[~keys.mask]))
    for refused in (
        lambda: treefold.dot(masked[0], x[0]),
        lambda: treefold.inner(x, masked),
        lambda: exact.vdot(x, masked),
        lambda: exact.bincount(keys, x.ravel()),
        lambda: exact.bincount(keys),
        lambda: exact.add_at(np.zeros(7), keys, x.ravel()),
        lambda: exact.reduceat(x.ravel(), keys),
        lambda: exact.histogram(masked.ravel(), weights=x.ravel()),
        lambda: exact.histogram(x.ravel(), weights=masked.ravel()),
        lambda: exact.rolling(x.ravel(), 3, on=np.ma.masked_array(np.arange(1000), keys.mask)),
    ):
        raises(TypeError, "is a masked array", refused)
    raises(ValueError, "keys: nulls cannot be keys", exact.groupby, keys, dropna=False)
    assert treefold.dot(np.ma.masked_array([1.0, 2.0]), [3.0, 4.0]) == 11.0


def test_every_byte_but_zero_is_true():
    whole = np.frombuffer(b"\xff\x00\x02" * 40, bool).reshape(12, 10)
    weights, keys = items(120, "f8", 3).reshape(12, 10), np.arange(120) % 7
    for x in (whole, whole[:, ::2], whole.T, whole[:3], np.asfortranarray(whole)):
        one, w = x != 0, np.resize(weights, x.shape)
        for name in ("sum", "prod", "mean", "var", "std", "min", "max", "norm", "cumsum", "cumprod", "average", "nansum"):
            for axis in (None, 0, 1):
                assert bits(getattr(treefold, name)(x, axis=axis)) == bits(getattr(treefold, name)(one, axis=axis)), name
        for function in (
            lambda x: treefold.dot(x.ravel(), x.ravel()),
            lambda x: treefold.inner(x, w),
            lambda x: treefold.average(w, weights=x),
            lambda x: treefold.sum(x, dtype="c8"),
            lambda x: treefold.sum(x, lanes=4),
            lambda x: treefold.sum(x, dtype=bool),
            lambda x: treefold.sum(np.ma.array(w, mask=x)),
            lambda x: treefold.sum(w, where=x),
            lambda x: treefold.max(w, where=x, initial=0),
            lambda x: treefold.Partial(x, 0, x.size).value(),
            lambda x: exact.sum(w, where=x),
            lambda x: exact.sum(x, dtype="f4"),
            lambda x: exact.mean(x),
            lambda x: exact.var(x, 0),
            lambda x: exact.norm(x),
            lambda x: exact.dot(x.ravel(), w.ravel()),
            lambda x: exact.average(w, weights=x),
            lambda x: exact.groupby(x.ravel()).sum(w.ravel()),
            lambda x: exact.groupby(keys[: x.size]).sum(x.ravel()),
            lambda x: exact.bincount(x.ravel(), w.ravel()),
            lambda x: exact.rolling(x.ravel(), 3, 1).sum(),
        ):
            assert bits(function(x)) == bits(function(one))
    for length in (63, 64, 255 * 64, 256 * 64 + 1, 100_003):
        for x in (np.full(length, 255, "u1"), np.arange(length, dtype="u1")):
            assert treefold.sum(x.view(bool)) == np.count_nonzero(x), length
            assert treefold.prod(x.view(bool)) == int(np.all(x)), length


def test_times():
    x = np.array([5, 7, -2, 100], "m8[s]")
    assert treefold.sum(x) == np.sum(x) and treefold.sum(x).dtype == "m8[s]"
    assert treefold.mean(x) == np.mean(x) and treefold.mean(x).dtype == "m8[s]"
    assert treefold.cumsum(x).tolist() == np.cumsum(x).tolist()
    assert treefold.sum(x, initial=np.timedelta64(1, "m")) == np.sum(x, initial=np.timedelta64(1, "m"))
    lost = np.array([[5, "NaT"], [1, 2]], "m8[s]")
    dates = np.array(["2020-01-02", "2019-05-05", "2021-01-01"], "M8[D]")
    for one in (lost, dates, np.array(["2020-01-01", "NaT"], "M8[D]")):
        for name in ("min", "max", "ptp"):
            assert str(getattr(treefold, name)(one)) == str(getattr(np, name)(one)), name
    assert str(treefold.sum(lost, 1)) == str(np.sum(lost, 1))
    assert str(treefold.mean(lost, 0)) == str(np.mean(lost, 0))
    assert treefold.min(dates, where=[True, False, True]) == dates[0]
    for wrong in (lambda: treefold.sum(dates), lambda: treefold.prod(x), lambda: treefold.var(x), lambda: treefold.mean(dates)):
        raises(TypeError, "x has elements of type", wrong)


class Length(np.ndarray):
    """An array with a unit."""

    unit = None

    def __array_finalize__(self, other):
        self.unit = getattr(other, "unit", None)


def test_units_are_kept():
    x = items(12, "f8").reshape(3, 4).view(Length)
    x.unit = "m"
    for name in ("sum", "mean", "std", "cumsum", "max", "ptp"):
        result = getattr(treefold, name)(x, 0)
        assert type(result) is Length and result.unit == "m", name
        assert bits(np.asarray(result)) == bits(getattr(treefold, name)(np.asarray(x), 0))
    assert type(treefold.prod(x, 0)) is np.ndarray and type(treefold.var(x, 0)) is np.ndarray


def test_halves_are_rounded_once():
    x = np.array([2048, 1, 1], "f2")
    assert treefold.sum(x) == 2050 and (x[0] + x[1]) + x[2] == 2048
    assert treefold.sum(x).dtype == "f2" == treefold.mean(x).dtype
    assert treefold.max(np.array([1, 65504], "f2")) == 65504
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert treefold.sum(np.array([65504, 16], "f2")) == np.inf
    assert treefold.sum(np.array([[65504, 15], [3, -4]], "f2"), axis=1, keepdims=True).tolist() == [[65504], [-1]]
    # The item 2049 first becomes 2048: it is a tie between two numbers of float16, and rounds to the even one.
    assert treefold.sum([2049.0, 3.0], dtype="f2") == 2052 and np.float16(2051) == 2052
    every = np.arange(1 << 16, dtype="u2").view("f2")
    finite = every[np.isfinite(every)]
    assert bits(treefold.cumsum(finite[:, None], 1)[:, 0]) == bits(finite)
    doubles = np.concatenate([items(2000, "f8", 3) * 100, finite[::7].astype("f8") * (1 + 2.0**-12), finite[::5].astype("f8") + 2.0**-25])
    with np.errstate(over="ignore"):
        assert bits(treefold.sum(doubles[:, None], 1, dtype="f2")) == bits(doubles.astype("f2"))


def test_nothing_of_bool():
    nothing = np.zeros((3, 0), bool)
    for function in (treefold.max, treefold.min):
        raises(ValueError, "zero-size", function, nothing)
        raises(ValueError, "zero-size", function, np.ones(3, bool), where=[False] * 3)
        assert function(nothing, 0).shape == (0,) and function(nothing, initial=True) and function(np.ones(3, bool))
    assert treefold.sum(nothing, dtype=bool) == np.False_ and treefold.prod(nothing, dtype=bool) == np.True_
    assert treefold.prod(nothing, 1, dtype=bool).tolist() == [True] * 3


def test_nothing_does_not_overflow():
    with np.errstate(all="raise"):
        assert np.isnan(treefold.exact.mean([])) and treefold.exact.sum([]) == 0
        raises(FloatingPointError, "overflow", treefold.sum, np.full(4, 1e308))


def test_out_and_dtype():
    x = items(60, "f8", 2).reshape(5, 12)
    out = np.zeros(12, "f4")
    assert treefold.sum(x, 0, out=out) is out
    assert bits(out) == bits(treefold.sum(x.astype("f4"), 0))
    out = np.zeros(12, "f4")
    treefold.sum(x, 0, dtype="f8", out=out)
    assert bits(out) == bits(treefold.sum(x, 0).astype("f4"))
    whole = items(24, "f8", 4).reshape(2, 12)
    expected = treefold.sum(whole, 0)
    treefold.sum(whole, 0, out=whole[1])
    assert bits(whole[1]) == bits(expected)
    strided = np.zeros(24)
    treefold.sum(x, 0, out=strided[::2])
    assert bits(strided[::2].copy()) == bits(treefold.sum(x, 0)) and not strided[1::2].any()
    shifted = items(50, "f8", 5)
    expected = treefold.cumsum(shifted[:-1])
    treefold.cumsum(shifted[:-1], out=shifted[1:])
    assert bits(shifted[1:].copy()) == bits(expected)


def raises_as(numpys, own, match):
    theirs = raises(Exception, None, numpys)
    raises(type(theirs), match, own)


def test_errors_are_numpys_and_name_the_argument():
    x = np.ones((2, 3))
    for name in ("sum", "prod", "mean", "var", "std"):
        numpys, own = getattr(np, name), getattr(treefold, name)
        for named, match in (
            ({"where": np.ones((2, 2), bool)}, "where"),
            ({"axis": 2}, "axis"),
            ({"axis": (0, 0)}, "axis"),
            ({"axis": "a"}, "axis"),
            ({"dtype": "nonsense"}, "dtype"),
            ({"axis": 0, "out": np.full(4, 7.0)}, "out"),
            ({"axis": 0, "out": [1, 2, 3]}, "out"),
        ):
            raises_as(lambda: numpys(x, **named), lambda: own(x, **named), match)
            if isinstance(named.get("out"), np.ndarray):
                assert (named["out"] == 7).all()
    raises(ValueError, "initial", treefold.sum, x, initial=[1.0, 2.0])
    raises(TypeError, "where has elements of type float64", treefold.sum, x, where=x)
    raises_as(lambda: np.max(x[:0]), lambda: treefold.max(x[:0]), "zero-size")
    for function in (treefold.min, treefold.max):
        out = np.full(3, 7.0)
        raises(ValueError, "no identity", function, x, 0, where=[True, False, True], out=out)
        assert (out == 7).all()
        assert function(x, 0, where=[True, False, True], initial=5.0).shape == (3,)
    raises_as(lambda: np.var(x, ddof=1, correction=1), lambda: treefold.var(x, ddof=1, correction=1), "correction")
    raises(ValueError, "mean has the shape", treefold.var, x, 0, mean=np.ones(2))
    raises_as(lambda: np.average(x, 0, [1.0, -1.0]), lambda: treefold.average(x, 0, [1.0, -1.0]), "zero")
    raises_as(lambda: np.average(x, 0, [1.0] * 3), lambda: treefold.average(x, 0, [1.0] * 3), "weights")
    raises_as(lambda: np.dot(x, x), lambda: treefold.dot(x, x), "y has 2 items")
    raises_as(lambda: np.cumulative_sum(x), lambda: treefold.cumulative_sum(x), "axis")
    raises(ValueError, "ord", treefold.norm, x, "nuc")
    for wrong, match in ((None, "None"), (iter([1.0]), "fromiter"), (np.array([1, None]), "object"), (Sparse(), "toarray")):
        for function in (treefold.sum, treefold.mean, treefold.cumsum, exact.sum, treefold.norm, lambda x: treefold.dot(x, [1.0])):
            raises(TypeError, f"x .*{match}", function, wrong)
    raises(TypeError, "treefold.dot", exact.dot, [1, 2], [3, 4])

    class Lying:
        def __array__(self, dtype=None, copy=None):
            return [1.0, 2.0]

    raises_as(lambda: np.sum(Lying()), lambda: treefold.sum(Lying()), "array")


class Sparse:
    """An object with the attributes of sparse matrices."""

    nnz = 1

    def toarray(self):
        raise AssertionError


def test_norms():
    x = items(60, "f8", 3).reshape(5, 12)
    for axis in (None, 0, 1, (0, 1)):
        assert np.allclose(treefold.norm(x, axis=axis), np.linalg.norm(x, axis=axis))
    for ord in (1, 2, np.inf, -np.inf):
        assert np.allclose(treefold.norm(x, ord, 1), np.linalg.norm(x, ord, 1))
    assert treefold.norm(x, "fro", keepdims=True).shape == (1, 1)
    z = items(30, "c16", 4).reshape(5, 6)
    assert bits(treefold.norm(z)) == bits(treefold.norm(z.view("f8")))


def test_averages():
    x, w = items(60, "f8", 3).reshape(5, 12), np.abs(items(12, "f8", 4))
    found, total = treefold.average(x, 1, w, returned=True)
    assert bits(found) == bits(treefold.sum(x * w, 1) / treefold.sum(w))
    assert bits(total) == bits(np.full(5, treefold.sum(w)))
    assert bits(treefold.average(x)) == bits(treefold.mean(x))
    z = items(12, "c16", 5)
    assert np.allclose(treefold.average(z, weights=w), np.average(z, weights=w))


def test_least_numbers_where_there_are_none():
    nan, inf = np.nan, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        matrix = np.matrix([[1.0, nan], [nan, nan]])
        for axis in (None, 0, 1):
            for name in ("nanmin", "nanmax"):
                own, numpys = (getattr(module, name)(matrix, axis) for module in (treefold, np))
                assert np.array_equal(own, numpys, equal_nan=True) and type(own) is type(numpys)
    assert treefold.nanmin([inf, nan], where=[2, 1]) == inf
    assert treefold.nanmax([nan, -3.5], out=np.zeros((), "i4")) == -3
    raises(ValueError, "no identity", treefold.nanmin, [nan], out=np.zeros((), "i4"))
    # NaNs are left out before conversion.
    assert treefold.nanprod([3.0, nan, 2.0], dtype="i8") == 6 and treefold.nanprod([3.0, nan], out=np.zeros((), "u1")) == 3
    with pytest.warns(np.exceptions.ComplexWarning):
        assert treefold.nansum([1.0 + 1j, complex(2, nan)], dtype="f8") == 1.0
    quantity = np.array([1.0, 2.0, nan]).view(Length)
    quantity.unit = "m"
    assert bits(np.asarray(treefold.nanmax(quantity))) == bits(np.float64(2.0))


def test_results_that_go_to_other_types():
    assert treefold.ptp([1000.0, 1003.0], out=np.zeros((), "i1")) == 3
    assert treefold.ptp(np.array([5, 23], "i4"), out=np.zeros((), "u8")) == 18
    a = np.array([[1.0, 5, 2], [7, 3, 9]])
    assert treefold.ptp(a, 0, out=a[0]).tolist() == [6, 2, 7]
    assert treefold.ptp(np.array([1.0, 3.0]), out=np.zeros((), "c16")) == 2
    out = np.full((), 7)
    raises(TypeError, "bool", treefold.ptp, [True, False], out=out)
    assert out == 7
    assert treefold.max(np.array(3), out=np.zeros((), bool)) and treefold.sum(np.array(3), dtype=bool)
    assert not treefold.nansum([np.nan, 0.0], dtype=bool)
    raises(TypeError, "have no order", treefold.max, [1.0], out=np.zeros((), "c16"))


def test_exact_sums_of_integers_with_other_numbers():
    for x, initial in (([1], 2**63), ([-1], 2**63), (np.array([5], "u8"), -1), ([1], np.nan), ([1], 1.5), ([1], 2**64)):
        raises(ValueError, "initial: .* is not a number of type", exact.sum, x, initial=initial)
    raises(ValueError, "initial", treefold.sum, [1.0], initial="a")
    raises(TypeError, "int32", exact.sum, [2**40, 1], out=np.zeros((), "i4"))
    assert exact.sum([2**63 - 1, 1], out=np.zeros(())) == 2.0**63
    assert exact.sum(np.array([200, 100], "u1"), out=np.zeros((), "i8")) == 300
    out = np.full(2, 7)
    raises(OverflowError, None, exact.cumsum, [2**63 - 1, 1], out=out)
    assert out.tolist() == [7, 7]


def test_products_of_beginnings_tell_what_they_do():
    with pytest.warns(RuntimeWarning, match="overflow"):
        treefold.cumprod([1e200, 1e200])
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert np.isinf(treefold.cumsum(np.full(2, 60000, "f2"))[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        treefold.cumprod([np.inf, -np.inf])
        exact.cumsum([1.7e308, 1.7e308, -1.7e308, -1.7e308])
        assert np.isinf(exact.average([np.inf, 1.0], weights=[1.0, 1.0]))
    with pytest.warns(RuntimeWarning, match="invalid value encountered in reduce"):
        treefold.average([np.inf, -np.inf], weights=[1.0, 1.0])


def test_nothing_of_several_axes():
    assert treefold.average(np.zeros((0, 3)), 1, np.ones((0, 3))).shape == (0,)
    assert treefold.average(np.zeros((0, 3), "c8"), 1, np.ones((0, 3))).shape == (0,)
    assert treefold.sum(np.zeros((0, 3)), (), lanes=16).shape == (0, 3)
    assert treefold.sum(np.zeros((2, 0, 4)), (0, 2), lanes=16, keepdims=True).shape == (1, 0, 1)
    raises(TypeError, "keepdims", treefold.sum, np.zeros((2, 1, 4)), (0, 2), lanes=16, keepdims="x")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(treefold.var([1.0, 2.0], ddof=np.nan)) and np.isnan(treefold.nanstd([1], ddof=1))


@pytest.mark.parametrize("shape", [(5, 6, 7), (3, 40, 9, 5), (2, 2000, 3), (33, 1500)])
def test_rows_that_lie_across_the_memory(shape):
    for dtype in ("f8", "f4", "i4", "c16"):
        x = items(int(np.prod(shape)), dtype, 3).reshape(shape)
        for order in (range(len(shape))[::-1], [*range(1, len(shape)), 0], [len(shape) - 1, *range(len(shape) - 1)]):
            back = np.argsort(list(order))
            given = x.transpose(*order).copy().transpose(*back)
            assert np.array_equal(given, x)
            for axis in (None, tuple(range(1, len(shape))), tuple(range(len(shape) - 1))):
                assert bits(treefold.sum(given, axis)) == bits(treefold.sum(x, axis)), (dtype, order, axis)
                assert bits(treefold.sum(given, axis, where=given != given.flat[1])) == bits(treefold.sum(x, axis, where=x != x.flat[1]))


def test_warnings_name_the_line_of_the_caller():
    x = np.array([np.inf, -np.inf])
    for function in (treefold.sum, treefold.nanmin, exact.sum, lambda x: treefold.sum(x, lanes=16), lambda x: treefold.average(x), treefold.ptp):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(np.full(2, np.nan) if function is treefold.nanmin else x)
        assert caught or function is treefold.ptp
        assert all(one.filename == __file__ for one in caught)


def test_arguments_of_another_kind_are_named():
    raises(np.exceptions.AxisError, None, treefold.sum, [1.0], axis=2**130)
    raises(ValueError, r"ord: \[1\]", treefold.norm, [1.0], ord=[1])
    raises(TypeError, "timedelta64", treefold.norm, np.array([1], "m8[s]"), ord=1)
    raises(TypeError, "weights has elements of type", treefold.average, [1.0], weights=np.ones(1, np.longdouble))
    raises(TypeError, "exact sums of these integers have type int64, not uint64", exact.sum, [1], dtype="u8")
