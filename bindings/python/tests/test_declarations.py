"""The declarations by which Python calls C are the same as in the headers."""

import importlib.util
import pathlib

import pytest

PACKAGE = pathlib.Path(__file__).resolve().parents[1]


@pytest.mark.skipif(not (PACKAGE.parent / "c/include").exists(), reason="the headers are in the repository")
def test_declarations_are_those_of_the_headers(tmp_path):
    pytest.importorskip("cffi")
    spec = importlib.util.spec_from_file_location("declarations", PACKAGE / "declarations.py")
    declarations = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(declarations)
    made = tmp_path / "made.py"
    declarations.make(made)
    assert made.read_text() == declarations.MADE.read_text(), "the headers have changed: run python bindings/python/declarations.py"
