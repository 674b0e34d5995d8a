"""Functions that differ by a row of a table have one maker, which gives each a name, a signature and a docstring."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any


def signature(positional: Iterable[str], keywords: Iterable[str], defaults: Mapping[str, object]) -> inspect.Signature:
    """The signature of parameters by their names: those without a default must be given."""
    kinds = [(inspect.Parameter.POSITIONAL_OR_KEYWORD, positional), (inspect.Parameter.KEYWORD_ONLY, keywords)]
    parameters = [inspect.Parameter(name, kind, default=defaults.get(name, inspect.Parameter.empty)) for kind, names in kinds for name in names]
    return inspect.Signature(parameters)


def made(name: str, parameters: inspect.Signature, body: Callable[..., Any], doc: str) -> Callable[..., Any]:
    """A function that calls `body`, in whose module it is, with all its arguments by name. `name` may begin with that of a class."""

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
    """A docstring in NumPy's form: `texts` has the type of each parameter, and lines that say what it is."""
    described = "".join(f"{name} : {texts[name]}\n" for name in parameters.parameters if name in texts)
    return f"{summary}\n\nParameters\n----------\n{described}{rest}" if described else f"{summary}\n{rest}"
