"""Manages handles of C objects. Only the thread that created a handle may destroy it."""

from collections import deque
from threading import get_ident
from typing import Any

from ._errors import check
from ._load import ffi, lib

# The function that destroys each kind of handle.
_ENDS = {
    "treefold_comm **": lib.treefold_comm_destroy,
    "treefold_builder **": lib.treefold_builder_destroy,
    "treefold_plan **": lib.treefold_plan_destroy,
    "treefold_run **": lib.treefold_cancel,
    "treefold_hashed **": lib.treefold_hashed_destroy,
    "treefold_keyed **": lib.treefold_keyed_destroy,
}
_TYPES = {kind: ffi.typeof(kind) for kind in _ENDS}

# Handles that were garbage-collected in a thread that cannot destroy them. For each handle: the thread that can destroy it, the handle's
# address, the function that destroys it, and the callbacks to keep until then.
_left: deque[tuple[int, Any, Any, Any]] = deque()


class Handle:
    """A C handle. Only the thread that created it can destroy it. `kept` are the callbacks that C may call until then."""

    # `__del__` reads this value if a signal interrupts the constructor.
    place: Any = (None,)

    def __init__(self, kind: str, kept: Any = None):
        self._end = _ENDS[kind]
        self._thread = get_ident()
        self.kept = kept
        self.place = ffi.new(_TYPES[kind])

    def end(self) -> None:
        """Destroys the handle, unless it was destroyed before."""
        check(self._end(self.place), "close")

    def __del__(self) -> None:
        if not self.place[0]:
            return
        if self._thread == get_ident():
            self._end(self.place)
        else:
            _left.append((self._thread, self.place, self._end, self.kept))


def end_what_is_left() -> None:
    """Destroys the handles of this thread that were garbage-collected in another thread."""
    for _ in range(len(_left)):
        left = _left.popleft()
        thread, place, end, _kept = left
        if thread == get_ident():
            end(place)
        else:
            _left.append(left)
