//! Formats numbers and names for messages, so that each message is one readable line.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write};

/// `1 rank`, or `2 ranks`.
///
/// ```
/// assert_eq!(comm::text::counted(1, "rank"), "1 rank");
/// assert_eq!(comm::text::counted(0, "rank"), "0 ranks");
/// ```
#[must_use]
pub fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    let ending = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// Returns a text from outside the program on one line, without anything that a terminal would interpret. Control characters, including
/// line ends, and marks that change the direction of text are escaped, for example as `\n` or `\u{1b}`.
///
/// ```
/// assert_eq!(comm::text::printable("add\n\u{1b}[2J"), r"add\n\u{1b}[2J");
/// assert_eq!(comm::text::printable("größer"), "größer");
/// ```
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut written = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_obeyed(character) {
            written.extend(character.escape_default());
        } else {
            written.push(character);
        }
    }
    Cow::Owned(written)
}

/// Writes a [printable] line to standard error in one call: ranks share a terminal, and the separate writes of `eprintln!` would mix.
pub fn tell(line: &str) {
    let line = format!("{}\n", printable(line));
    // If standard error is closed, the line is lost.
    let _ = io::stderr().write_all(line.as_bytes());
}

fn is_obeyed(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::{counted, printable};

    #[test]
    fn numbers_agree_with_their_nouns() {
        assert_eq!(counted(1_u64, "item"), "1 item");
        for many in [0, 2, 11, 21, u64::MAX] {
            assert_eq!(counted(many, "item"), format!("{many} items"));
        }
    }

    #[test]
    fn what_a_terminal_obeys_is_written_out() {
        assert_eq!(printable("a\r\tb\0c"), r"a\r\tb\u{0}c");
        assert_eq!(printable("\u{9b}31m\u{7f}"), r"\u{9b}31m\u{7f}");
        assert_eq!(printable("left\u{202e}right"), r"left\u{202e}right");
        for as_it_is in ["", r"C:\new", "\"quoted\" 'x'", "Σ → ∞"] {
            assert_eq!(printable(as_it_is), as_it_is);
        }
    }
}
