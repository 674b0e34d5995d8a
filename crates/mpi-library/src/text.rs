//! Texts of others: paths, and what libraries and the dynamic linker say.

/// A text in one line: its control characters are written out.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign.is_control() {
            true => line.extend(sign.escape_default()),
            false => line.push(sign),
        }
    }
    line
}
