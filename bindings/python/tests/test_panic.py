"""A bug in treefold raises an exception, and the interpreter continues."""

import pytest
import treefold
from treefold import _native


def test_a_panic_is_an_exception():
    # It is not an `Exception`, so that `except Exception` does not catch it.
    with pytest.raises(BaseException, match="on purpose") as raised:
        _native.panic_on_purpose()
    assert type(raised.value).__name__ == "PanicException"
    assert treefold.sum([1.0, 2.0]) == 3.0
