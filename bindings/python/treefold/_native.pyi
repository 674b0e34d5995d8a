# Declares the native half of the package, which only the package itself calls. `src/lib.rs` lists its functions and classes.

from typing import Any

def __getattr__(name: str) -> Any: ...
