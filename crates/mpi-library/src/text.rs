//! Texts from outside this crate: paths, versions, and messages of the dynamic linker.

/// The text on one line: control characters are escaped.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for sign in text.chars() {
        if sign.is_control() {
            line.extend(sign.escape_default())
        } else {
            line.push(sign)
        }
    }
    line
}
