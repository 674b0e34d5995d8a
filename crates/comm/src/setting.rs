//! Settings in environment variables. An empty variable counts as not set.

use std::env;
use std::ffi::{OsStr, OsString};

/// The valid values of a switch, for error texts.
pub const SWITCH_VALUES: &str = "one of on, off, 1, 0, true, false, yes, no";

/// The value of an environment variable; `None` if the variable is not set, or is empty.
#[must_use]
pub fn value(variable: &str) -> Option<OsString> {
    env::var_os(variable).filter(|value| !value.is_empty())
}

/// Parses a switch's value, in upper or lower case. Returns `None` if the value is none of [`SWITCH_VALUES`].
#[must_use]
pub fn switch(value: &OsStr) -> Option<bool> {
    match value.to_str()?.to_ascii_lowercase().as_str() {
        "on" | "1" | "true" | "yes" => Some(true),
        "off" | "0" | "false" | "no" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::{SWITCH_VALUES, switch, value};

    #[test]
    fn every_spelling_is_one_of_a_switch() {
        let spellings = SWITCH_VALUES.strip_prefix("one of ").expect("a list");
        for (index, spelling) in spellings.split(", ").enumerate() {
            let is_on = index % 2 == 0;
            for spelling in [spelling.to_owned(), spelling.to_ascii_uppercase()] {
                assert_eq!(switch(OsStr::new(&spelling)), Some(is_on), "{spelling}");
            }
        }
        for other in ["", "perhaps", "onn", " on", "2"] {
            assert_eq!(switch(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn what_is_not_set_says_nothing() {
        assert_eq!(value("TREEFOLD_NO_SUCH_VARIABLE"), None);
        assert!(value("PATH").is_some());
    }
}
