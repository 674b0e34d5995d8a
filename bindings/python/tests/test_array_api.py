"""The functions of the array API standard: types, shapes and values are those of `array-api-strict`."""

import numpy as np
import pytest
import treefold

strict = pytest.importorskip("array_api_strict")

DTYPES = ["float32", "float64", "complex64", "complex128", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def numbers(dtype):
    values = np.random.default_rng(1).integers(1, 5, (3, 4, 5)).astype(dtype)
    return values + values.dtype.type(1j) * values[::-1] if values.dtype.kind == "c" else values


def agree(found, expected):
    found = np.asarray(found)
    expected = np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean", "var", "std", "cumulative_sum", "cumulative_prod"])
def test_reductions(name, dtype):
    kind = np.dtype(dtype).kind
    if name in ("min", "max") and kind == "c" or name in ("mean", "var", "std") and kind in "iuc" and (name != "mean" or kind != "c"):
        return
    x = numbers(dtype)
    function, expected = getattr(treefold, name), getattr(strict, name)
    is_scan = name.startswith("cumulative")
    for axis in (0, -1) if is_scan else (None, 0, -1, (0, 2), ()):
        more = [{"include_initial": True}, {}] if is_scan else [{"keepdims": True}, {}]
        more += [{"correction": 1.0}] if name in ("var", "std") else []
        more += [{"dtype": "float64"}] if name in ("sum", "prod") and kind != "c" else []
        for keywords in more:
            theirs = {**keywords, **({"dtype": strict.float64} if "dtype" in keywords else {})}
            if axis == () and name in ("var", "std") and keywords.get("correction"):
                continue
            agree(function(x, axis=axis, **keywords), expected(strict.asarray(x), axis=axis, **theirs))


@pytest.mark.parametrize("dtype", DTYPES)
def test_products(dtype):
    x, y = numbers(dtype)[0], numbers(dtype)[1]
    agree(treefold.dot(x, y.T), strict.matmul(strict.asarray(x), strict.asarray(y.T.copy())))
    agree(treefold.vdot(x[0], y[0]), strict.vecdot(strict.asarray(x[0]), strict.asarray(y[0])))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int64"])
def test_their_arrays_are_taken(dtype):
    x = numbers(dtype)
    for name in ("sum", "prod", "mean"):
        agree(getattr(treefold, name)(strict.asarray(x), axis=1), getattr(treefold, name)(x, axis=1))
