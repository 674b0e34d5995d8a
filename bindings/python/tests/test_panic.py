"""An error in treefold itself is an exception, and the interpreter goes on."""

import pytest
import treefold
from treefold import _native


def test_a_panic_is_an_exception():
    # Programs that catch `Exception` do not take it for one of theirs.
    with pytest.raises(BaseException, match="on purpose") as raised:
        _native.panic_on_purpose()
    assert type(raised.value).__name__ == "PanicException"
    assert treefold.sum([1.0, 2.0]) == 3.0
