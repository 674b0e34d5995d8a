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

# What C may call, by the place of the handle that it belongs to, until that has ended.
_kept: dict[Any, Any] = {}

# Handles that another thread has collected than the one that can end them: that thread, the handle's place, and what ends it.
_left: deque[tuple[int, Any, Any]] = deque()


class Handle:
    """A handle of the C library's, which only the thread that made it can end. What C may call as long as it exists is kept."""

    # Until there is one: a signal may interrupt the constructor.
    place: Any = (None,)

    def __init__(self, kind: str, kept: Any = None):
        self._end = _ENDS[kind]
        self._thread = get_ident()
        self.kept = kept
        place = ffi.new(_TYPES[kind])
        if kept is not None:
            _kept[place] = kept
        self.place = place

    def end(self) -> None:
        """Ends it, if it has not ended."""
        check(self._end(self.place), "close")
        _kept.pop(self.place, None)

    def __del__(self) -> None:
        if self.place[0] and self._thread != get_ident():
            _left.append((self._thread, self.place, self._end))
            return
        if self.place[0]:
            self._end(self.place)
        _kept.pop(self.place, None)


def end_what_is_left() -> None:
    """Ends handles of this thread's that another one has collected."""
    for _ in range(len(_left)):
        left = _left.popleft()
        thread, place, end = left
        if thread == get_ident():
            end(place)
            _kept.pop(place, None)
        else:
            _left.append(left)
