"""Helpers of tests: the seed, a check of an error's text, a number of threads, random merges of partials, arrays that offer only DLPack."""

import contextlib
import os
import pickle

import pytest
import treefold

# Another seed draws other cases.
SEED = int(os.environ.get("TREEFOLD_SEED", "1"))


def raises(error, match, call, /, *arguments, **named):
    """Checks that a call raises an error of this type and, unless `match` is None, that its text matches. Returns the error."""
    __tracebackhide__ = True
    with pytest.raises(error, match=match) as raised:
        call(*arguments, **named)
    try:
        return raised.value
    finally:
        # Avoids a cycle between the error and its traceback, which would keep the arguments.
        del raised


@contextlib.contextmanager
def with_threads(count):
    """Sets the number of threads within a `with` block."""
    before = treefold.threads(count)
    try:
        yield
    finally:
        treefold.threads(before)


def merged(partials, random):
    """Merges two partials at random, one of them pickled, until one is left."""
    while len(partials) > 1:
        left, right = (partials.pop(random.integers(len(partials))) for _ in range(2))
        partials.append(left + pickle.loads(pickle.dumps(right)))
    return partials[0]


class Producer:
    """An array that offers only DLPack, like those of other libraries."""

    def __init__(self, array):
        self.array, self.asked = array, 0

    def __dlpack__(self, **keywords):
        self.asked += 1
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()
