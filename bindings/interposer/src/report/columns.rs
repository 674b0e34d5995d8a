//! Formats tables, and wraps sentences to the width of a terminal.

/// The width of a report. Only long words and tables exceed it.
const WIDTH: usize = 78;

const GAP: &str = "  ";

/// Formats rows of cells, headings first. Columns of words are flush left, columns of numbers flush right.
pub(super) fn columns<const N: usize>(are_words: [bool; N], rows: &[[String; N]]) -> String {
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or(0)
    };
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let width = width(column);
            line += GAP;
            line += &if are_words[column] {
                format!("{cell:<width$}")
            } else {
                format!("{cell:>width$}")
            };
        }
        text += line.trim_end();
        text += "\n";
    }
    text
}

/// Wraps and indents a sentence.
pub(super) fn sentence(words: &str) -> String {
    let (mut text, mut line) = (String::new(), String::new());
    for word in words.split_whitespace() {
        let length = GAP.len() + line.chars().count() + 1 + word.chars().count();
        if !line.is_empty() && length > WIDTH {
            text += &format!("{GAP}{line}\n");
            line.clear();
        }
        if !line.is_empty() {
            line += " ";
        }
        line += word;
    }
    text + GAP + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::{WIDTH, columns, sentence};

    #[test]
    fn columns_are_as_wide_as_their_cells() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned);
        let rows = [row(["call", "n"]), row(["Reduce", "100"])];
        let text = columns([true, false], &rows);
        assert_eq!(text, "  call      n\n  Reduce  100\n");
    }

    #[test]
    fn sentences_are_wrapped() {
        let text = sentence(&"word ".repeat(40));
        assert!(text.lines().count() > 2);
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        assert_eq!(text.split_whitespace().count(), 40);
    }
}
