//! Tables that are as wide as what stands in them: a terminal, and a page, show some 70 characters.

use std::fmt::{Result, Write};

/// How a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// Writes rows, of which the first is the head, with two blanks before each column. All have a cell for each of `aligns`.
pub(super) fn write<const N: usize>(
    text: &mut String,
    aligns: [Align; N],
    rows: &[[String; N]],
) -> Result {
    let chars = |cell: &String| cell.chars().count();
    let widest = |column: usize| rows.iter().map(|row| chars(&row[column])).max();
    let widths: [usize; N] = std::array::from_fn(|column| widest(column).unwrap_or(0));
    for row in rows {
        let mut line = String::new();
        for ((cell, width), align) in row.iter().zip(widths).zip(aligns) {
            match align {
                Align::Left => write!(line, "  {cell:<width$}")?,
                Align::Right => write!(line, "  {cell:>width$}")?,
            }
        }
        writeln!(text, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Align, write};

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut text = String::new();
        let rows = [["op", "calls"], ["sum", "12 µs"]].map(|row| row.map(str::to_owned));
        let written = write(&mut text, [Align::Left, Align::Right], &rows);
        assert!(written.is_ok());
        assert_eq!(text, "  op   calls\n  sum  12 µs\n");
    }
}
