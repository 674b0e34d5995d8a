"""The page of functions is that of the docstrings."""

import importlib.util
import pathlib

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[1]


@pytest.mark.skipif(not (PACKAGE.parents[1] / "docs").exists(), reason="the page is in the repository")
def test_the_page_is_that_of_the_docstrings():
    spec = importlib.util.spec_from_file_location("reference", PACKAGE / "reference.py")
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    assert reference.PAGE.read_text() == reference.page(), "docstrings have changed: python3 bindings/python/reference.py"
