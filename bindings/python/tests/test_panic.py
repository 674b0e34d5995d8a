"""A bug in treefold raises an exception, and the interpreter continues."""

import treefold
from checks import raises
from treefold import _native


def test_a_panic_is_an_exception():
    # The raised object is not an `Exception`, so that `except Exception` does not catch it.
    raised = raises(BaseException, "on purpose", _native.panic_on_purpose)
    assert type(raised).__name__ == "PanicException"
    assert treefold.sum([1.0, 2.0]) == 3.0
