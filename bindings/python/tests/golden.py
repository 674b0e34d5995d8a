"""Reads the test vectors that every implementation of the order must match, from the repository's folder `golden`."""

import json
import pathlib

import numpy as np
import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "golden"
# For each type of vectors, NumPy's types of the numbers and of their words.
TYPES = {
    **{"f64": ("f8", "u8"), "f32": ("f4", "u4"), "f16": ("f2", "u2"), "c64": ("c16", "u8"), "c32": ("c8", "u4")},
    **{f"{sign}{8 * size}": (f"{sign}{size}", f"u{size}") for sign in "iu" for size in (1, 2, 4, 8)},
}

in_the_repository = pytest.mark.skipif(not FOLDER.exists(), reason="the golden vectors are in the repository")


def cases(name):
    return map(json.loads, (FOLDER / name).open())


def codec(name):
    """A type, a function from texts of one or two words each to numbers, and a function from numbers to words."""
    numbers, words = TYPES[name]

    def values(texts):
        return np.array([int(word, 16) for text in texts for word in text.split()], words).view(numbers)

    return numbers, values, lambda x: np.ascontiguousarray(x).view(words).tolist()


def p4016(count):
    """The items of ISO C++ paper P4016."""
    state = 0x243F6A8885A308D3
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        yield ((state >> 11) - 2**52) / 2**52


def items_of(case):
    """The items of a case."""
    numbers, values, _ = codec(case["type"])
    if "reciprocals" in case:
        return (1 / np.arange(1, case["reciprocals"] + 1, dtype=numbers)).astype(numbers)
    return np.array(list(p4016(case["p4016"])), numbers) if "p4016" in case else values(case["items"])
