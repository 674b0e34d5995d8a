"""The vectors that every implementation of the order passes: golden/order.jsonl in the repository."""

import json
import pathlib

import numpy as np
import pytest
import treefold

FILE = pathlib.Path(__file__).resolve().parents[2] / "golden" / "order.jsonl"
TYPES = {"f64": ("f8", "u8"), "f32": ("f4", "u4")}
FUNCTIONS = {"sum": treefold.sum, "product": treefold.prod, "min": treefold.min, "max": treefold.max}


@pytest.mark.skipif(not FILE.exists(), reason="the golden vectors are in the repository")
def test_golden_vectors():
    checked = 0
    for case in map(json.loads, FILE.open()):
        if case["operator"] not in FUNCTIONS:
            continue
        floats, words = TYPES[case["type"]]

        def values(texts):
            return np.array([int(text, 16) for text in texts], words).view(floats)

        if "reciprocals" in case:
            x = (1 / np.arange(1, case["reciprocals"] + 1, dtype=floats)).astype(floats)
        else:
            x = values(case["items"])
        expected = values(case["bits"])
        if "other" in case:
            found = np.array([treefold.dot(x, values(case["other"]))])
        else:
            found = FUNCTIONS[case["operator"]](x.reshape(-1, len(expected)), axis=0)
        assert found.view(words).tolist() == expected.view(words).tolist(), case["name"]
        checked += 1
    assert checked > 100
