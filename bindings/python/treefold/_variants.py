"""Repeats a NumPy reduction in other layouts, in chunks, and with treefold."""

import warnings

import numpy as np

# The numbers of chunks into which arrays are divided, as threads and dask divide them.
_PARTS = (2, 3, 7)


def _strided(x):
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


def _backward(x):
    return np.flip(np.flip(x).copy())


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
    """The bytes of a result, with the same bits for all NaNs."""
    values = np.array(values, order="C")
    parts = values.reshape(-1).view(values.real.dtype)
    parts[np.isnan(parts)] = np.nan
    return values.tobytes()


def _difference(found, expected):
    """The largest difference between an element found and the element expected, divided by the largest magnitude expected."""
    dtype = np.result_type(np.asarray(found).dtype, np.asarray(expected).dtype, np.float64)
    found, expected = np.asarray(found, dtype), np.asarray(expected, dtype)
    with np.errstate(all="ignore"):
        largest = np.nanmax(np.abs(expected), initial=0.0)
        difference = np.nanmax(np.abs(found - expected), initial=0.0)
        return float(difference / largest) if largest else float(difference)


def _in_parts(numpys, parts, arrays, keywords):
    """Reduces chunks along the first reduced axis, and adds the results from left to right. Returns None if the call cannot be
    divided into chunks."""
    axis = keywords.get("axis")
    axis = axis[0] if isinstance(axis, tuple) and axis else axis
    if arrays[0].ndim == 0 or axis == () or keywords.keys() & {"initial", "where"}:
        return None
    axis = 0 if axis is None else axis
    if arrays[0].shape[axis] < parts:
        return None
    total, *others = [numpys(*piece, **keywords) for piece in zip(*(np.array_split(array, parts, axis=axis) for array in arrays))]
    for other in others:
        total = total + other
    return total


def compared(numpys, own, arrays, keywords):
    """NumPy's result, and the variants whose bits differ from it, each with its largest difference.

    The variants are None if the result has no floats.
    """
    result = numpys(*arrays, **keywords)
    if np.asarray(result).dtype.kind not in "fc":
        return result, None
    arrays = [np.asarray(array) for array in arrays]
    keywords = {key: value for key, value in keywords.items() if key != "out"}
    expected, found = _bits(result), {}

    def compare(way, value):
        if value is not None and _bits(value) != expected:
            found[way] = _difference(value, result)

    if max(array.size for array in arrays) < 2:
        return result, found
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for way, layout in _LAYOUTS.items():
            compare(way, numpys(*[layout(array) if array.ndim else array for array in arrays], **keywords))
        is_sum = own.__name__ == "sum" or own.__name__ in ("dot", "vdot") and all(array.ndim == 1 for array in arrays)
        for parts in _PARTS if is_sum else ():
            compare(f"{parts} chunks", _in_parts(numpys, parts, arrays, keywords))
        compare("treefold", own(*arrays, **keywords))
    return result, found
