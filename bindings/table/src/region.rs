//! Parts of a file that are written by the table: all lines between one with `<table: name>` and the next with `</table>`.

use crate::Error;

/// Puts texts between the marks of a file.
pub(crate) fn fill(
    file: &str,
    mut text: String,
    regions: &[(&str, String)],
) -> Result<String, Error> {
    for (name, inside) in regions {
        let missing = || Error::NoRegion {
            file: file.to_owned(),
            name: (*name).to_owned(),
        };
        let mark = text.find(&format!("<table: {name}>")).ok_or_else(missing)?;
        let begin = mark + text[mark..].find('\n').ok_or_else(missing)? + 1;
        let end = begin + text[begin..].find("</table>").ok_or_else(missing)?;
        let end = text[..end].rfind('\n').ok_or_else(missing)? + 1;
        text.replace_range(begin..end, inside);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_between_marks_are_replaced() {
        let text = "a\n// <table: b>\nold\n  // </table>\nc\n".to_owned();
        let filled = super::fill("f", text, &[("b", "new\nlines\n".to_owned())]).unwrap();
        assert_eq!(filled, "a\n// <table: b>\nnew\nlines\n  // </table>\nc\n");
    }

    #[test]
    fn a_part_that_is_missing_is_named() {
        let error = super::fill("f.hpp", String::new(), &[("b", String::new())]).unwrap_err();
        let said = "f.hpp has no part between `<table: b>` and `</table>`";
        assert_eq!(error.to_string(), said);
    }
}
