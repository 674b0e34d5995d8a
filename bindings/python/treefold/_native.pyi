# The native half of the package, which only the package calls: `src/lib.rs` lists its functions and classes.

from typing import Any

def __getattr__(name: str) -> Any: ...
