"""The functions return the bits of the golden vectors."""

import numpy as np
import pytest
import treefold
from golden import cases, codec, in_the_repository, items_of
from treefold import exact

FUNCTIONS = {"sum": treefold.sum, "product": treefold.prod, "min": treefold.min, "max": treefold.max}
EXACT = {"sum": exact.sum, "dot": exact.dot, "conjugate_dot": exact.vdot, "norm": exact.norm}


def found_by(case, x, values, width):
    """The package's result for a case; None if the package has no function for the case."""
    function = FUNCTIONS.get(case["operator"])
    operation = case.get("operation")
    if "other" in case:
        return [treefold.dot(x, values(case["other"]))]
    if operation == "squared_norm":
        return [treefold.dot(x, x)]
    if operation == "scan" and case["operator"] == "sum":
        return treefold.cumsum(x)
    if operation or function is None:
        return None
    if "lanes" in case and case["operator"] != "sum":
        return None
    lanes = {"lanes": case["lanes"]} if "lanes" in case else {}
    return function(x.reshape(-1, width), axis=0, **lanes)


@in_the_repository
@pytest.mark.parametrize("file, least", [("order.jsonl", 240), ("lanes.jsonl", 60)])
def test_golden_vectors(file, least):
    checked = 0
    for case in cases(file):
        numbers, values, words = codec(case["type"])
        expected = values(case["bits"])
        found = found_by(case, items_of(case), values, len(expected))
        if found is None:
            continue
        # Sums of short integers are long integers, which have the same low words.
        found = np.asarray(found).astype(numbers)
        assert words(found) == words(expected), case["name"]
        checked += 1
    assert checked > least


@in_the_repository
def test_exact_golden_vectors():
    checked = 0
    for case in cases("exact.jsonl"):
        if case["operator"] not in EXACT:
            continue
        numbers, values, words = codec(case["type"])
        arguments = [values(case[key]) for key in ("items", "other") if key in case]
        found = EXACT[case["operator"]](*arguments)
        assert words(np.array([found], numbers)) == words(values([case["bits"]])), case["name"]
        checked += 1
    assert checked > 160


@in_the_repository
def test_golden_vectors_of_items_that_do_not_count():
    checked = 0
    for case in cases("masked.jsonl"):
        numbers, values, words = codec(case["type"])
        named = {"initial": values([case["initial"]])[0]} if "initial" in case else {}
        mask = np.array(list(case["mask"])) == "1"
        if case["operator"] in ("sum", "product"):
            named["dtype"] = numbers
        with np.errstate(all="ignore"):
            found = FUNCTIONS[case["operator"]](values(case["items"]), where=mask, **named)
        assert words(np.array([found], numbers)) == words(values(case["bits"])), case["name"]
        checked += 1
    assert checked == 234


@in_the_repository
def test_golden_vectors_of_bytes():
    checked = 0
    for case in cases("bytes.jsonl"):
        name = {"moments": case["type"], "complex moments": case["type"].replace("f", "c")}.get(case["kind"])
        if name is None:
            continue
        numbers, values, words = codec(name)
        accumulator = exact.Accumulator(numbers)
        accumulator.add(values(case["items"]))
        restore, (dtype, state) = accumulator.__reduce__()
        assert state.hex() == case["bytes"], case["name"]
        restored = restore(dtype, bytes.fromhex(case["bytes"]))
        assert restored == accumulator, case["name"]
        assert words(np.array([restored.value()], numbers)) == words(values([case["value"]])), case["name"]
        checked += 1
    assert checked == 60
