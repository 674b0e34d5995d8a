"""Every public name has a docstring in NumPy's style, which names all parameters."""

import inspect

import pytest

MODULES = ["treefold", *(f"treefold.{name}" for name in ("exact", "replacer", "dask", "flox", "pandas", "polars", "xarray"))]


def named(name):
    """The public functions and classes of a module, and their methods."""
    module = pytest.importorskip(name)
    for public in module.__all__:
        one = getattr(module, public)
        if inspect.ismodule(one):
            continue
        yield public, one
        for member in dir(one) if inspect.isclass(one) else ():
            if not member.startswith("_") and callable(getattr(one, member)):
                yield f"{public}.{member}", getattr(one, member)


def faults(name, one):
    first, *rest = (inspect.getdoc(one) or "").splitlines() or [""]
    if not first.endswith((".", "….")) and not first.endswith("…") or rest and rest[0]:
        yield f"{name}: no summary of one line"
    yield from (f"{name}: a line of {len(line)} columns" for line in (first, *rest) if len(line) > 79)
    if inspect.isfunction(one) and "." not in name:
        yield from (f"{name}: no {part}" for part in ("Parameters", "Returns") if part not in rest)
        described = {word.lstrip("*") for line in rest for word in line.split(" : ")[0].split(", ")}
        yield from (f"{name}: {parameter} is not described" for parameter in set(inspect.signature(one).parameters) - described)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    wrong = [fault for public, one in named(name) for fault in faults(public, one)]
    assert not wrong, "\n".join(wrong)
