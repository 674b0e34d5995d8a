//! What procedures of several calls say of who gets the result.

use crate::functions::Call;
use crate::text::put;

/// Puts what depends on who gets the result.
pub(super) fn with_is_mine(text: &str, call: &Call) -> String {
    let (argument, declaration, passed) = if call.to_root {
        (
            "is_mine, ",
            "      logical, intent(out), optional :: is_mine\n",
            "is_mine, ierr",
        )
    } else {
        ("", "", "ierr=ierr")
    };
    let values = [
        ("is_mine_", argument),
        ("declares_is_mine", declaration),
        ("passes_is_mine", passed),
    ];
    put(text, &values)
}
