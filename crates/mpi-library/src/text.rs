//! Foreign texts: paths, and what libraries and the dynamic linker report.

/// A text in one line: its control characters are written out.
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
