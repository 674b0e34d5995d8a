"""Do my results depend on layout or threads? treefold in place of NumPy's reductions, in the modules that are named.

`np.sum`, `np.mean`, `np.dot` and their kin, and methods such as `x.sum()`, follow the memory: rows or columns, strides, and the parts that threads or
chunks have. `checked` makes each call in other layouts and in parts as well, and says where bits differ; the program gets NumPy's results.
`replaced` gives the program treefold's, which do not depend on any of this.

>>> import numpy as np, treefold.replacer
>>> x = np.random.default_rng(2).standard_normal((300, 200))
>>> with treefold.replacer.checked(__name__) as report:
...     total = x.sum()
>>> report.calls, report.differing
(1, 1)
>>> with treefold.replacer.replaced(__name__):
...     bool(np.sum(x) == np.sum(x.T.copy().T) == treefold.sum(x))
True

What they see are calls in Python by the names of NumPy's module, and methods of arrays; not `a @ b`, `np.einsum`, `np.add.reduce` and `x.dot(y)`, nor
what compiled code calls. Types that treefold does not reduce, subclasses of arrays, and what has a method of this name, as a Series of pandas, are left
to NumPy, and are counted as such.
"""

import contextlib
import functools
import importlib
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

import treefold

from ._variants import check

_methods = importlib.import_module("numpy.core._methods" if np.__version__.startswith("1.") else "numpy._core._methods")

__all__ = ["Report", "checked", "replaced"]

# NumPy's functions by the module that has them, each with its number of arrays.
_FUNCTIONS = {
    np: {
        **dict.fromkeys(["sum", "prod", "mean", "var", "std", "min", "max", "amin", "amax", "ptp", "average"], 1),
        **dict.fromkeys(["cumsum", "cumprod", "cumulative_sum"], 1),
        **dict.fromkeys(["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmin", "nanmax"], 1),
        **dict.fromkeys(["dot", "vdot", "inner"], 2),
    },
    np.linalg: {"norm": 1},
}
# The parameters behind the arrays, which may be passed by position.
_POSITIONS = {
    **dict.fromkeys(["sum", "prod", "nansum", "nanprod"], ("axis", "dtype", "out", "keepdims", "initial", "where")),
    **dict.fromkeys(["mean", "nanmean"], ("axis", "dtype", "out", "keepdims")),
    **dict.fromkeys(["cumsum", "cumprod"], ("axis", "dtype", "out")),
    **dict.fromkeys(["var", "std", "nanvar", "nanstd"], ("axis", "dtype", "out", "ddof", "keepdims")),
    **dict.fromkeys(["min", "max", "amin", "amax", "nanmin", "nanmax"], ("axis", "out", "keepdims", "initial", "where")),
    "ptp": ("axis", "out", "keepdims"),
    "dot": ("out",),
    "norm": ("ord", "axis", "keepdims"),
}
_SYNONYMS = {"amin": "min", "amax": "max"}
# Those for which NumPy calls a method of what is no array, if it has one: of pandas' Series, of xarray's arrays.
_METHODS = {"sum", "prod", "min", "max", "ptp", "mean", "var", "std", "cumsum", "cumprod"}

# By which methods of arrays reduce.
_UFUNCS = {"umr_sum": "sum", "umr_prod": "prod", "umr_maximum": "max", "umr_minimum": "min"}

_sessions: list["_Session"] = []
_undo: list[tuple[dict[str, object], str, object]] = []
_lock = threading.RLock()
# What treefold itself calls is NumPy's.
_inside = threading.local()


class Report:
    """What `checked` has seen. As text, it is what a program prints.

    Attributes
    ----------
    calls : int
        The reductions of floats and complex numbers that were compared.
    differing : int
        Those of them that had other bits in another layout, or in parts.
    sites : dict
        For each file, line and function, a `Site`.
    passed : dict
        For each reason, how many calls were left to NumPy.
    """

    def __init__(self) -> None:
        self.calls = self.differing = 0
        self.sites: dict[tuple[str, int, str], Site] = {}
        self.passed: dict[str, int] = {}

    def _add(self, site, name, found, description):
        self.calls += 1
        self.differing += bool(found)
        self.sites.setdefault((*site, name), Site(description))._add(found)

    def __str__(self) -> str:
        if not self.calls:
            text = "treefold: no reductions of floats"
        elif not self.differing:
            text = f"treefold: same bits in all {self.calls} reductions: none depends on layout or parts"
        else:
            text = f"treefold: other bits in {self.differing} of {self.calls} reductions: they depend on layout or parts"
        for (file, line, name), site in sorted(self.sites.items()):
            if site.differing:
                ways = ", ".join(f"{way} {worst:.0e}" for way, worst in sorted(site.worst.items()))
                text += f"\n  {file}:{line} {name} of {site.description}: {site.differing} of {site.calls} calls; {ways}"
        for reason, count in sorted(self.passed.items()):
            text += f"\n  left to NumPy: {count} of {reason}"
        return text


class Site:
    """A line that reduces, and in which ways its results were others, with the largest difference, over the result's magnitude.

    Attributes
    ----------
    calls, differing : int
        As in `Report`.
    worst : dict
        For each layout or number of parts with other bits, the largest difference.
    description : str
        Type and shape of the first array.
    """

    def __init__(self, description: str) -> None:
        self.calls = self.differing = 0
        self.worst: dict[str, float] = {}
        self.description = description

    def _add(self, found):
        self.calls += 1
        self.differing += bool(found)
        for way, difference in found.items():
            self.worst[way] = max(self.worst.get(way, 0.0), difference)


class _Session:
    """Modules, and what happens to the calls in them."""

    def __init__(self, modules, report):
        for module in modules:
            if not isinstance(module, str):
                raise TypeError(f"modules: {module!r} is not the name of a module")
        if not modules:
            raise ValueError("modules: there are none")
        self.modules, self.report = modules, report
        self.known = {}

    def covers(self, name):
        if name not in self.known:
            self.known[name] = any(name == module or name.startswith(f"{module}.") for module in self.modules)
        return self.known[name]

    def call(self, *arguments):
        _inside.call = True
        try:
            return self._call(*arguments)
        finally:
            _inside.call = False

    def _call(self, frame, name, numpys, own, arrays, arguments, keywords):
        reason = _why_not(own, arguments[:arrays], keywords)
        if self.report is None:
            return (numpys if reason else own)(*arguments, **keywords)
        result = numpys(*arguments, **keywords)
        if reason:
            with _lock:
                self.report.passed[reason] = self.report.passed.get(reason, 0) + 1
        elif np.asarray(result).dtype.kind in "fc":
            found = check(name, numpys, own, result, arrays, arguments, keywords)
            first = np.asarray(arguments[0])
            with _lock:
                site = frame.f_code.co_filename, frame.f_lineno
                self.report._add(site, name, found, f"{first.dtype} {first.shape}")
        return result


_known: dict[tuple[object, object], bool] = {}


def _reduces(own, dtype, arrays):
    """Whether treefold reduces elements of a type, which it is asked once."""
    if (own, dtype) not in _known:
        try:
            own(*[np.ones(2, dtype)] * arrays)
            _known[own, dtype] = True
        except TypeError:
            _known[own, dtype] = False
    return _known[own, dtype]


def _why_not(own, arrays, keywords):
    """Why treefold does not take these; None if it does."""
    for array in arrays:
        kind = type(array)
        if kind is np.ndarray or isinstance(array, np.generic):
            continue
        protocols = ["__array_function__"]
        if own.__name__ in _METHODS:
            # As in NumPy's `_wrapreduction`, and in the ufuncs that it calls.
            protocols += [own.__name__, "__array_ufunc__", "__array_wrap__"]
        is_sparse = hasattr(array, "nnz") and hasattr(array, "toarray")
        if is_sparse or isinstance(array, np.ndarray) or any(hasattr(array, name) for name in protocols):
            return f"type {kind.__name__}"
    dtypes = [getattr(array, "dtype", None) or _dtype(array) for array in arrays]
    if len(arrays) == 2 and all(dtype == np.bool_ for dtype in dtypes):
        # The sums of NumPy's products are bools.
        return "dtype bool"
    if keywords.get("ord") is not None:
        return "norm with ord"
    asked = keywords.get("dtype")
    if asked is not None:
        # NumPy's mean of times asks for floats.
        if dtypes[0] is not None and dtypes[0].kind in "mM":
            return f"dtype {dtypes[0]} as {asked}"
        # What is no type, NumPy says as well.
        dtypes.append(_dtype_of(asked))
    if isinstance(keywords.get("out"), np.ndarray):
        dtypes.append(keywords["out"].dtype)
    for dtype in dtypes:
        if dtype is None or not _reduces(own, dtype, len(arrays)):
            return f"dtype {dtype}"
    return None


def _dtype_of(asked):
    try:
        return np.dtype(asked)
    except TypeError:
        return None


def _dtype(array):
    """That of a sequence; None if it is no array's."""
    try:
        return np.asarray(array).dtype
    except Exception:  # What NumPy says of it, it will say again.
        return None


def _session(frame):
    """The innermost session that covers the caller, and the caller's frame. NumPy's own modules call for others, unless they are covered."""
    while frame is not None and not getattr(_inside, "call", False):
        name = frame.f_globals.get("__name__") or ""
        for session in reversed(_sessions):
            if session.covers(name):
                return session, frame
        if name != "numpy" and not name.startswith("numpy."):
            break
        frame = frame.f_back
    return None, None


def _dispatcher(name, numpys, own, arrays):
    @functools.wraps(numpys)
    def dispatch(*arguments, **keywords):
        session, frame = _session(sys._getframe(1))
        if session is None:
            return numpys(*arguments, **keywords)
        for first in ("a", "x", "arr"):
            if not arguments and first in keywords:
                arguments = (keywords.pop(first),)
        if len(arguments) < arrays:
            return numpys(*arguments, **keywords)
        names = _POSITIONS.get(name, ())
        named = dict(zip(names, arguments[arrays:]))
        if named.keys() & keywords.keys() or names and len(arguments) > arrays + len(names):
            # NumPy says what is wrong.
            return numpys(*arguments, **keywords)
        keywords = {key: value for key, value in (named | keywords).items() if value is not np._NoValue}
        arguments = arguments[: len(arguments) - len(named)]
        return session.call(frame, name, numpys, own, arrays, arguments, keywords)

    return dispatch


def _method_dispatcher(numpys, own):
    def reduce(a, axis=None, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True):
        caller = sys._getframe(1)
        session, frame = _session(caller)
        keywords = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims, "initial": initial, "where": where}
        defaults = {"dtype": None, "out": None, "initial": np._NoValue, "where": True}
        keywords = {key: value for key, value in keywords.items() if key not in defaults or value is not defaults[key]}
        if session is None:
            return numpys(a, **keywords)
        name = f"ndarray.{caller.f_code.co_name.strip('_')}"
        return session.call(frame, name, numpys, own, 1, (a,), keywords)

    return reduce


def _put(namespace, name, value):
    _undo.append((namespace, name, namespace[name]))
    namespace[name] = value


def _install():
    """Puts dispatchers in the place of NumPy's functions, also in modules that have them by name."""
    made = {}
    for module, functions in _FUNCTIONS.items():
        for name, arrays in functions.items():
            numpys, own = getattr(module, name, None), getattr(treefold, _SYNONYMS.get(name, name), None)
            if numpys is not None and own is not None:
                made[id(numpys)] = numpys, _dispatcher(name, numpys, own, arrays)
                _put(vars(module), name, made[id(numpys)][1])
    for ufunc, name in _UFUNCS.items():
        _put(vars(_methods), ufunc, _method_dispatcher(getattr(_methods, ufunc), getattr(treefold, name)))
    _install.made = made


def _install_names(session):
    for name, module in list(sys.modules.items()):
        if module is not None and session.covers(name):
            for key, value in list(vars(module).items()):
                numpys, dispatcher = _install.made.get(id(value), (None, None))
                if numpys is value and dispatcher is not None:
                    _put(vars(module), key, dispatcher)


@contextlib.contextmanager
def _during(session: _Session) -> Iterator[Any]:
    with _lock:
        if not _sessions:
            _install()
        _sessions.append(session)
        _install_names(session)
    try:
        yield session.report
    finally:
        with _lock:
            _sessions.remove(session)
            if not _sessions:
                while _undo:
                    namespace, name, value = _undo.pop()
                    namespace[name] = value


def replaced(*modules: str) -> contextlib.AbstractContextManager[None]:
    """A context in which NumPy's reductions are treefold's, in modules and packages of these names.

    Parameters
    ----------
    *modules : str
        Names as in `import`: a package stands for all of its modules, whether they are loaded yet or not. Threads and callees in other modules
        are as before.

    Raises
    ------
    TypeError, ValueError
        There is no name, or one is not a string.
    """
    return _during(_Session(modules, None))


def checked(*modules: str) -> "contextlib.AbstractContextManager[Report]":
    """A context in which NumPy's reductions in these modules are made again in other layouts, in parts, and by treefold.

    The program gets NumPy's results, about ten times later. Parameters and errors are those of `replaced`.

    Returns
    -------
    A context manager that yields a `Report`.
    """
    return _during(_Session(modules, Report()))
