"""The page of functions lists every public name, and the book has the docstring of each."""

import importlib
import importlib.util
import pathlib

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
PAGE = PACKAGE.parents[1] / "docs/python.md"

# These are neither functions nor classes.
OTHERS = {"treefold": {"exact"}, "treefold.exact": set()}


@pytest.mark.skipif(not PAGE.exists(), reason="the page is in the repository")
@pytest.mark.parametrize("module", OTHERS)
def test_every_public_name_has_its_place(module):
    spec = importlib.util.spec_from_file_location("reference", PACKAGE / "reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    (row,) = (row for row in PAGE.read_text().splitlines() if row.startswith(f"| `{module}` |"))
    docstrings = reference.page()
    for name in set(importlib.import_module(module).__all__) - OTHERS[module]:
        assert f"`{name}`" in row, "docs/python.md"
        assert f"### {module}.{name}\n" in docstrings, "bindings/python/reference.py"
