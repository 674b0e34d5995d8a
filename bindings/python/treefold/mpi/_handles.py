"""What the C library holds for Python, and who ends it."""

from collections import deque
from threading import get_ident
from typing import Any

from ._errors import check
from ._load import ffi, lib

# What ends a handle of each kind.
_ENDS = {
    "treefold_comm **": lib.treefold_comm_destroy,
    "treefold_builder **": lib.treefold_builder_destroy,
    "treefold_plan **": lib.treefold_plan_destroy,
    "treefold_run **": lib.treefold_cancel,
    "treefold_hashed **": lib.treefold_hashed_destroy,
    "treefold_keyed **": lib.treefold_keyed_destroy,
}
_TYPES = {kind: ffi.typeof(kind) for kind in _ENDS}

# Handles that another thread has collected than the one that can end them: that thread, the handle's place, what ends it, and what C
# may call until then.
_left: deque[tuple[int, Any, Any, Any]] = deque()


class Handle:
    """A handle of the C library's, which only the thread that made it can end. What C may call as long as it exists is kept."""

    # Until there is one: a signal may interrupt the constructor.
    place: Any = (None,)

    def __init__(self, kind: str, kept: Any = None):
        self._end = _ENDS[kind]
        self._thread = get_ident()
        self.kept = kept
        self.place = ffi.new(_TYPES[kind])

    def end(self) -> None:
        """Ends it, if it has not ended."""
        check(self._end(self.place), "close")

    def __del__(self) -> None:
        if not self.place[0]:
            return
        if self._thread == get_ident():
            self._end(self.place)
        else:
            _left.append((self._thread, self.place, self._end, self.kept))


def end_what_is_left() -> None:
    """Ends handles of this thread's that another one has collected."""
    for _ in range(len(_left)):
        left = _left.popleft()
        thread, place, end, _kept = left
        if thread == get_ident():
            end(place)
        else:
            _left.append(left)
