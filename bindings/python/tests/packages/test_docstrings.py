"""Every public name of the modules for other packages has a docstring in NumPy's form, which names its parameters."""

import importlib
import inspect

import pytest

MODULES = ["dask", "flox", "pandas", "polars", "xarray"]
# Their docstrings refer to those of others.
SHARED = {"self", "min_periods", "placement", "options", "named"}


def of_module(name):
    module = pytest.importorskip(f"treefold.{name}")
    for public in module.__all__:
        yield public, getattr(module, public)


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    importlib.import_module("treefold")
    wrong = []
    for public, one in of_module(name):
        members = [(public, one)]
        if inspect.isclass(one):
            members += [(f"{public}.{member}", getattr(one, member)) for member in dir(one) if not member.startswith("_") and callable(getattr(one, member))]
        for where, member in members:
            doc = inspect.getdoc(member) or ""
            if not doc.splitlines() or len(doc.splitlines()) > 1 and doc.splitlines()[1]:
                wrong.append(f"{where}: no summary of one line")
            wrong += [f"{where}: a line of {len(line)} columns" for line in doc.splitlines() if len(line) > 79]
            if inspect.isfunction(member) and where.count(".") == 0:
                wrong += [f"{where}: no {part}" for part in ("Parameters", "Returns") if part not in doc]
                wrong += [f"{where}: {parameter} is not described" for parameter in set(inspect.signature(member).parameters) - SHARED if f"{parameter} :" not in doc and f"{parameter}, " not in doc and f", {parameter}" not in doc]
    assert not wrong, "\n".join(wrong)
