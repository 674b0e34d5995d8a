"""Finds results of NumPy that depend on memory layout or chunks, and replaces NumPy's reductions by treefold's.

NumPy's results depend on the memory layout (rows or columns, strides) and on
how threads or chunks divide an array. `checked` repeats every reduction of the
named modules in other layouts and in chunks, and reports where bits differ;
the program gets NumPy's results. `replaced` gives the program treefold's
results, which do not depend on layout or chunks.

>>> import numpy as np, treefold.replacer
>>> x = np.random.default_rng(2).standard_normal((300, 200))
>>> with treefold.replacer.checked(__name__) as report:
...     total = x.sum()
>>> report.calls, report.differing
(1, 1)
>>> with treefold.replacer.replaced(__name__):
...     bool(np.sum(x) == x.T.copy().T.sum() == treefold.sum(x))
True

The module covers the functions that NumPy and treefold both have, such as
`np.sum`, `np.dot` and `np.linalg.norm`, and array methods of these names. It
does not cover `a @ b`, `np.einsum`, `np.add.reduce`, and calls from compiled
code. Types that treefold does not reduce, subclasses of arrays, and objects
with a method of the function's name, such as pandas Series, are left to NumPy;
the report counts these calls.
"""

import contextlib
import ctypes
import functools
import gc
import inspect
import sys
import threading
import types

import numpy as np

import treefold

from ._variants import compared

__all__ = ["Report", "checked", "replaced"]

# treefold's functions, by NumPy's names.
_OWN = {name: getattr(treefold, name) for name in treefold.__all__} | {"amin": treefold.min, "amax": treefold.max}
# treefold's names for NumPy's first parameters.
_RENAMED = {"a": "x", "arr": "x", "b": "y"}
# If an object that is not an array has a method of one of these names, NumPy's function of that name calls the method.
_METHODS = {"sum", "prod", "min", "max", "ptp", "mean", "var", "std", "cumsum", "cumprod"}

_sessions: list["_Session"] = []
_lock = threading.RLock()


class Report:
    """The findings of `checked`; `str(report)` is the text to print.

    Attributes
    ----------
    calls : int
        The number of reductions of floats and complex numbers.
    differing : int
        How many of them have different bits in another layout or in chunks.
    sites : dict
        A `Site` for each file, line and function name.
    passed : dict
        For each reason, the number of calls that were left to NumPy.
    """

    def __init__(self) -> None:
        self.calls = self.differing = 0
        self.sites: dict[tuple[str, int, str], Site] = {}
        self.passed: dict[str, int] = {}

    def _add(self, place, found, description):
        self.calls += 1
        self.differing += _depends(found)
        self.sites.setdefault(place, Site(description))._add(found)

    def __str__(self) -> str:
        if not self.calls:
            text = "treefold: no reductions of floats were called"
        elif not self.differing:
            text = f"treefold: same bits in all {self.calls} reductions, in every layout and in chunks"
        else:
            text = f"treefold: NOT reproducible: {self.differing} of {self.calls} reductions depend on layout or chunks"
        for (file, line, name), site in sorted(self.sites.items()):
            if site.differing:
                ways = ", ".join(f"{way} {worst:.0e}" for way, worst in sorted(site.worst.items()))
                text += f"\n  {file}:{line} {name} of {site.description}: {site.differing} of {site.calls} calls; {ways}"
        for reason, count in sorted(self.passed.items()):
            text += f"\n  left to NumPy: {count} with {reason}"
        return text


def _depends(found):
    """Whether bits differ in another layout or in chunks. A difference between NumPy and treefold does not count."""
    return any(way != "treefold" for way in found)


class Site:
    """A line that calls a reduction.

    Attributes
    ----------
    calls, differing : int
        As in `Report`.
    worst : dict
        For each layout and number of chunks, and for treefold, if bits differ:
        the largest difference, divided by the result's largest magnitude.
    description : str
        The type and shape of the first array.
    """

    def __init__(self, description: str) -> None:
        self.calls = self.differing = 0
        self.worst: dict[str, float] = {}
        self.description = description

    def _add(self, found):
        self.calls += 1
        self.differing += _depends(found)
        for way, difference in found.items():
            self.worst[way] = max(self.worst.get(way, 0.0), difference)


class _Session:
    """A set of modules, and how their calls are handled."""

    def __init__(self, modules, report):
        for module in modules:
            if not isinstance(module, str):
                raise TypeError(f"modules: {module!r} is not the name of a module")
        if not modules:
            raise ValueError("modules: pass the name of at least one module")
        self.report = report
        self.covers = functools.cache(lambda name: any(f"{name}.".startswith(f"{module}.") for module in modules))

    def call(self, frame, name, numpys, own, arrays, keywords):
        reason = _why_not(own, arrays, keywords)
        if reason and self.report:
            with _lock:
                self.report.passed[reason] = self.report.passed.get(reason, 0) + 1
        if reason or not self.report:
            return (numpys if reason else own)(*arrays, **keywords)
        result, found = compared(numpys, own, arrays, keywords)
        if found is not None:
            first = np.asarray(arrays[0])
            with _lock:
                self.report._add((frame.f_code.co_filename, frame.f_lineno, name), found, f"{first.dtype} {first.shape}")
        return result


def _reduces(own, dtype, arrays):
    """Whether treefold reduces elements of this type."""
    try:
        own(*[np.ones(2, dtype)] * arrays)
    except TypeError:
        return False
    return True


_known = functools.cache(_reduces)


def _why_not(own, arrays, keywords):
    """Why a call is left to NumPy; None if treefold handles it."""
    # NumPy's `_wrapreduction` looks for the method in objects, and the ufunc that it calls looks for the protocols.
    method = {own.__name__, "__array_ufunc__", "__array_wrap__"} if own.__name__ in _METHODS else set()
    others = [keywords[name] for name in ("out", "where", "mean", "weights") if name in keywords]
    for value, protocols in [(array, method) for array in arrays] + [(other, set()) for other in others]:
        is_numpys = type(value) is np.ndarray or isinstance(value, np.generic)
        is_sparse = hasattr(value, "nnz") and hasattr(value, "toarray")
        if not is_numpys and (is_sparse or any(hasattr(value, name) for name in protocols | {"__array_function__"})):
            return f"type {type(value).__name__}"
    if keywords.get("ord") is not None:
        return "norm with ord"
    dtypes = [_dtype(lambda: getattr(array, "dtype", None) or np.asarray(array).dtype) for array in arrays]
    if len(arrays) == 2 and all(dtype == np.bool_ for dtype in dtypes):
        # NumPy's sums of products of bools are bools.
        return "dtype bool"
    asked = keywords.get("dtype")
    if asked is not None:
        if dtypes[0] is not None and dtypes[0].kind in "mM":
            # NumPy's mean of times requests floats.
            return f"dtype {dtypes[0]} as {asked}"
        dtypes.append(_dtype(lambda: np.dtype(asked)))
    if isinstance(keywords.get("out"), np.ndarray):
        dtypes.append(keywords["out"].dtype)
    for dtype in dtypes:
        if dtype is None or not _known(own, dtype, len(arrays)):
            return f"dtype {dtype}"
    return None


def _dtype(find):
    """The dtype that `find` returns; None if the argument is invalid. NumPy then raises the error."""
    try:
        return find()
    except Exception:
        return None


def _session():
    """The innermost session that covers the caller of a dispatcher, and the caller's frame; None if no session does.

    A call from within NumPy counts as a call from the code that called NumPy. Calls from treefold's own modules are not covered.
    """
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_globals is not globals():
            name = frame.f_globals.get("__name__") or ""
            for session in reversed(_sessions):
                if session.covers(name) and not name.startswith("treefold._"):
                    return session, frame
            if name.split(".")[0] != "numpy":
                return None
        frame = frame.f_back
    return None


class _Dispatcher:
    """Replaces a function or method of NumPy. It compares equal to the original, since pandas looks functions up in tables."""

    def __init__(self, name, numpys, own):
        functools.update_wrapper(self, numpys)
        self.name, self.numpys, self.own = name, numpys, own
        self.signature = inspect.signature(own)
        self.arrays = [parameter for parameter in self.signature.parameters if parameter in _RENAMED.values()]

    def __call__(self, *arguments, **keywords):
        found = _session()
        if found is None:
            return self.numpys(*arguments, **keywords)
        try:
            given = self.signature.bind(*arguments, **{_RENAMED.get(key, key): value for key, value in keywords.items()}).arguments
        except TypeError:
            # NumPy either accepts the keyword or raises the error.
            return self.numpys(*arguments, **keywords)
        given = {key: value for key, value in given.items() if value is not np._NoValue}
        arrays = [given.pop(name) for name in self.arrays]
        session, frame = found
        return session.call(frame, self.name, self.numpys, self.own, arrays, given)

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __eq__(self, other):
        return other is self or other is self.numpys

    def __hash__(self):
        return hash(self.numpys)

    def __reduce__(self):
        # A dispatcher is pickled by its name, like a function.
        return self.__qualname__


class _Installed:
    """Puts dispatchers in place of NumPy's functions and methods while there are sessions."""

    def __init__(self):
        self.undo, self.dispatchers = [], {}
        for module in (np, np.linalg):
            for name in _OWN.keys() & vars(module).keys():
                numpys = getattr(module, name)
                self.dispatchers[id(numpys)] = _Dispatcher(name, numpys, _OWN[name])
        # `vars` of a class is a read-only view of this dictionary.
        (methods,) = gc.get_referents(vars(np.ndarray))
        for name in _OWN.keys() & methods.keys():
            self.put(methods, name, _Dispatcher(f"ndarray.{name}", methods[name], _OWN[name]))
        _forget_methods()
        self.put_in(lambda name: name.split(".")[0] == "numpy")

    def put(self, namespace, name, value):
        self.undo.append((namespace, name, namespace[name]))
        namespace[name] = value

    def put_in(self, covers):
        """Puts dispatchers into some modules, under all names by which the modules know NumPy's functions."""
        for module in [module for name, module in sys.modules.items() if module is not None and covers(name)]:
            for key, value in list(vars(module).items()):
                if id(value) in self.dispatchers:
                    self.put(vars(module), key, self.dispatchers[id(value)])

    def remove(self):
        while self.undo:
            namespace, name, value = self.undo.pop()
            namespace[name] = value
        _forget_methods()


def _forget_methods():
    """Makes the interpreter look up the methods of arrays again."""
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(np.ndarray))


_installed: list[_Installed] = []


@contextlib.contextmanager
def _during(session):
    with _lock:
        if not _installed:
            _installed.append(_Installed())
        _sessions.append(session)
        _installed[0].put_in(session.covers)
    try:
        yield session.report
    finally:
        with _lock:
            _sessions.remove(session)
            if not _sessions:
                _installed.pop().remove()


def replaced(*modules: str) -> contextlib.AbstractContextManager[None]:
    """Replace NumPy's reductions in some modules by treefold's.

    Parameters
    ----------
    *modules : str
        Names as in `import`. The name of a package stands for all its modules,
        loaded or not. Calls from any other module are left to NumPy.

    Returns
    -------
    context manager
        NumPy's functions and methods are replaced until the context ends.

    Raises
    ------
    TypeError
        A name is not a string.
    ValueError
        No name was passed.

    Examples
    --------
    >>> import numpy as np, treefold.replacer
    >>> x = np.array([1e16, 1.0, -1e16, 1.0, 1.0])
    >>> with treefold.replacer.replaced(__name__):
    ...     float(x.sum()) == float(treefold.sum(x))
    True
    """
    return _during(_Session(modules, None))


def checked(*modules: str) -> contextlib.AbstractContextManager[Report]:
    """Check whether NumPy's reductions in some modules depend on the layout.

    Each call is repeated in other layouts, in chunks, and by treefold, so it
    takes about ten times as long. The program gets NumPy's results.

    Parameters
    ----------
    *modules : str
        As in `replaced`, which raises the same errors.

    Returns
    -------
    context manager
        Entering the context returns a `Report`.

    Examples
    --------
    >>> import numpy as np, treefold.replacer
    >>> with treefold.replacer.checked(__name__) as report:
    ...     total = np.arange(1000.0).sum()
    >>> print(report)
    treefold: same bits in all 1 reductions, in every layout and in chunks
    """
    return _during(_Session(modules, Report()))
