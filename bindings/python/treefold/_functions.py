"""Creates similar functions from the rows of a table, each with its own name, signature and docstring."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _native

# The statistics that the native code computes. The values are templates for the first lines of docstrings.
STATISTICS = {
    "count": "The number of {}",
    "sum": "The exact sum of {}, rounded once",
    "mean": "The exact mean of {}, rounded once",
    "var": "The exact variance of {}, rounded once",
    "std": "The square root of the exact variance of {}, rounded once",
    "min": "The least of {}",
    "max": "The greatest of {}",
    "norm": "The exact Euclidean norm of {}, rounded once",
    "skewness": "The exact skewness of {}, rounded once",
    "kurtosis": "The exact excess kurtosis of {}, rounded once",
    "dot": "The exact sum of the products of {}, rounded once",
    "average": "The exact weighted mean of {}, rounded once",
    "cov": "The exact covariance of {}, rounded once",
    "corr": "The exact correlation of {}, rounded once",
    "slope": "The exact regression slope of {}, rounded once",
    "intercept": "The exact intercept of {}, rounded once",
}
# The descriptions of options that many functions have.
_TEXTS = {
    "ddof": "float, optional\n    The divisor is the number of items minus `ddof`.",
    "bias": "bool, optional\n    True for the statistic of the items (g1, g2), false for the estimate\n    for a population (G1, G2).",
    "skipna": "bool, optional\n    Whether to skip NaNs and pairs that contain a NaN.",
    "split_every": "int or dict, optional\n    How many partial results one task merges, as in dask. It affects no bit.",
}
_OPTIONS = {"var": ["ddof"], "std": ["ddof"], "cov": ["ddof"], "skewness": ["bias"], "kurtosis": ["bias"]}


def columns_of(statistic: str) -> list[str]:
    """The names of the columns that a statistic takes."""
    inputs, _ = _native.statistic_defaults(statistic)
    return ["x", "weights" if statistic == "average" else "y"][:inputs]


def ddof_of(statistic: str) -> int:
    """The default of `ddof`, as in NumPy."""
    _, ddof = _native.statistic_defaults(statistic)
    return int(ddof)


def options_of(statistic: str) -> list[str]:
    """The options of a statistic."""
    return _OPTIONS.get(statistic, [])


def number(value: object, name: str) -> float:
    """An argument as a float. Raises an error if it is not a number."""
    try:
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise TypeError(f"{name}: {value!r} is not a number") from None
    if result != result:
        raise ValueError(f"{name}: {value!r} is not a number")
    return result


def signature(positional: Iterable[str], keywords: Iterable[str], defaults: Mapping[str, object]) -> inspect.Signature:
    """A signature with parameters of these names. Parameters without a default are required."""
    kinds = [(inspect.Parameter.POSITIONAL_OR_KEYWORD, positional), (inspect.Parameter.KEYWORD_ONLY, keywords)]
    empty = inspect.Parameter.empty
    parameters = [inspect.Parameter(name, kind, default=defaults.get(name, empty)) for kind, names in kinds for name in names]
    return inspect.Signature(parameters)


def made(name: str, parameters: inspect.Signature, body: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """A function in `body`'s module that calls `body` with all arguments by name. `name` may begin with a class name."""

    def function(*arguments: Any, **named: Any) -> Any:
        try:
            bound = parameters.bind(*arguments, **named)
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        bound.apply_defaults()
        return body(**bound.arguments)

    function.__module__, function.__qualname__, function.__name__ = body.__module__, name, name.rpartition(".")[2]
    function.__doc__ = doc
    vars(function)["__signature__"] = parameters
    return function


def docstring(summary: str, parameters: inspect.Signature, texts: Mapping[str, str], rest: str = "") -> str:
    """A docstring in NumPy's style. `texts` has the type and description of each parameter. Parameters with equal texts share an entry."""
    texts, found = {**_TEXTS, **texts}, dict[str, list[str]]()
    for name in parameters.parameters:
        if name in texts:
            found.setdefault(texts[name], []).append(name)
    described = "".join(f"{', '.join(names)} : {text}\n" for text, names in found.items())
    return f"{summary}\n\nParameters\n----------\n{described}{rest}" if described else f"{summary}\n{rest}"
