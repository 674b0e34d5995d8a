"""A reduction of NumPy's, made again in other layouts, in parts, and by treefold."""

import warnings

import numpy as np

# How many parts an array is divided into, as threads and chunks divide it.
_PARTS = (2, 3, 7)


def _strided(x):
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


def _backward(x):
    step = (slice(None, None, -1),) * x.ndim
    return x[step].copy()[step]


def _shifted(x):
    flat = np.zeros(x.size + 1, x.dtype)
    flat[1:] = x.ravel()
    return flat[1:].reshape(x.shape)


_LAYOUTS = {
    "rows first": lambda x: np.array(x, order="C"),
    "columns first": lambda x: np.array(x, order="F"),
    "strided": _strided,
    "backward": _backward,
    "shifted": _shifted,
}


def _bits(values):
    values = np.array(values, order="C")
    parts = values.reshape(-1).view(values.real.dtype)
    parts[np.isnan(parts)] = np.nan
    return values.tobytes()


def _difference(found, expected):
    """The largest difference, over the largest magnitude."""
    found, expected = (np.asarray(values, np.result_type(np.asarray(values).dtype, np.float64)) for values in (found, expected))
    with np.errstate(all="ignore"):
        largest = np.nanmax(np.abs(expected), initial=0.0)
        difference = np.nanmax(np.abs(found - expected), initial=0.0)
        return float(difference / largest) if largest else float(difference)


def _in_parts(numpys, parts, arrays, others, keywords):
    """The sum of the results of parts of the first reduced axis, from left to right; None where it is not one."""
    keywords = dict(keywords)
    axis = others[0] if others else keywords.get("axis")
    axis = axis[0] if isinstance(axis, tuple) and axis else axis
    first = arrays[0]
    if first.ndim == 0 or any(key in keywords for key in ("initial", "where")) or axis == ():
        return None
    axis = 0 if axis is None else axis
    if first.shape[axis] < parts:
        return None
    pieces = zip(*(np.array_split(array, parts, axis=axis) for array in arrays))
    total = None
    for piece in pieces:
        value = numpys(*piece, *others, **keywords)
        total = value if total is None else total + value
    return total


def check(name, numpys, own, result, count, arguments, keywords):
    """The ways in which a result is another one, each with the difference."""
    keywords = {key: value for key, value in keywords.items() if key != "out"}
    arrays, others = [np.asarray(array) for array in arguments[:count]], arguments[count:]
    expected, found = _bits(result), {}
    if max(array.size for array in arrays) < 2:
        return found

    def compare(way, value):
        if value is not None and _bits(value) != expected:
            found[way] = _difference(value, result)

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for way, layout in _LAYOUTS.items():
            compare(way, numpys(*[layout(array) if array.ndim else array for array in arrays], *others, **keywords))
        is_sum = name in ("sum", "ndarray.sum") or name in ("dot", "vdot") and all(array.ndim == 1 for array in arrays)
        for parts in _PARTS if is_sum else ():
            compare(f"{parts} parts", _in_parts(numpys, parts, arrays, others, keywords))
        compare("treefold", own(*arrays, *others, **keywords))
    return found
