"""Reduces NumPy scalars in tree order, by the order's recursive definition: the oracle of all tests."""

import numpy as np


def minimum(left, right):
    """The minimum of IEEE 754-2019, for which -0.0 is below 0.0."""
    if left == 0 and right == 0:
        return left if np.signbit(left) else right
    return np.minimum(left, right)


def maximum(left, right):
    if left == 0 and right == 0:
        return right if np.signbit(left) else left
    return np.maximum(left, right)


def product(left, right):
    """The product of complex numbers, with every operation rounded."""
    if np.iscomplexobj(left):
        re, im = left.real * right.real - left.imag * right.imag, left.real * right.imag + left.imag * right.real
        return np.array([re, im]).view(left.dtype)[0]
    return left * right


COMBINE = {"sum": lambda left, right: left + right, "prod": product, "min": minimum, "max": maximum}

# Stands for an item that is skipped, and so has no value.
HOLE = object()


def combined(op, left, right):
    """The value of a node: if one child is a hole, the value of the other child, unchanged."""
    if left is HOLE or right is HOLE:
        return left if right is HOLE else right
    return COMBINE[op](left, right)


def by_definition(items, op="sum"):
    """Reduces items recursively: of n items, the left child has the largest power of two below n."""
    items = list(items)
    count = len(items)
    if count == 1:
        return items[0]
    left = 1 << (count - 1).bit_length() - 1
    with np.errstate(all="ignore"):
        return combined(op, by_definition(items[:left], op), by_definition(items[left:], op))


def bits(values):
    """The bytes to compare, with all NaNs made equal."""
    values = np.array(values)
    if values.dtype.kind in "fc":
        parts = values.reshape(-1).view(values.real.dtype)
        parts[np.isnan(parts)] = np.nan
    return values.dtype.str, values.shape, values.tobytes()


def items(count, dtype, seed=0):
    """Random items of many magnitudes, whose sums are rounded. Some floats are -0.0."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, count, dtype, endpoint=True)
    if dtype.kind == "b":
        return random.integers(0, 2, count).astype(bool)
    parts = count * (2 if dtype.kind == "c" else 1)
    values = random.standard_normal(parts) * np.exp(3 * random.standard_normal(parts))
    values[random.random(parts) < 0.03] = -0.0
    real = np.float64 if dtype.itemsize // (1 + (dtype.kind == "c")) == 8 else np.float32
    return values.astype(real).view(dtype)
