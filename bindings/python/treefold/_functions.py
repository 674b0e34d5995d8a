"""Functions that differ by a row of a table have one maker, which gives each a name, a signature and a docstring."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")
_R = TypeVar("_R")


def made(name: str, like: Callable[_P, _T], finish: Callable[[_T], _R], doc: str) -> Callable[_P, _R]:
    """A function of the module of `like`, with its parameters, that returns `finish(like(…))`."""
    signature = inspect.signature(like)

    @functools.wraps(like)
    def function(*arguments: _P.args, **named: _P.kwargs) -> _R:
        try:
            signature.bind(*arguments, **named)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        return finish(like(*arguments, **named))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    vars(function)["__signature__"] = signature.replace(return_annotation=inspect.signature(finish).return_annotation)
    return function


def docstring(summary: str, like: Callable[..., object], texts: Mapping[str, str], rest: str = "") -> str:
    """A docstring in NumPy's form: `texts` has the type of each parameter, and lines that say what it is."""
    parameters = "".join(f"{name} : {texts[name]}\n" for name in inspect.signature(like).parameters if name in texts)
    return f"{summary}\n\nParameters\n----------\n{parameters}{rest}"
