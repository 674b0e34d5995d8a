//! Text tables.

/// A number with commas between groups of three digits: 1,234,567.
#[must_use]
pub fn thousands(number: usize) -> String {
    grouped(&number.to_string())
}

/// Digits in groups of three, separated by commas.
#[must_use]
pub fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A table with headings. The first column is left-aligned, the others right-aligned.
#[derive(Clone, Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new<S: Into<String>>(headings: impl IntoIterator<Item = S>) -> Self {
        let headings = headings.into_iter().map(Into::into).collect();
        Self {
            rows: vec![headings],
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// The table's lines, at most `columns` characters wide: names in the first column are truncated if necessary, but not below eight
    /// characters.
    pub fn lines_within(mut self, columns: usize) -> Vec<String> {
        let others = self
            .widths()
            .iter()
            .skip(1)
            .fold(0, |sum, width| sum + width + 2);
        let most = columns.saturating_sub(others).max(8);
        for name in self.rows.iter_mut().filter_map(|row| row.first_mut()) {
            if name.chars().count() > most {
                let kept: String = name.chars().take(most - 1).collect();
                *name = format!("{kept}…");
            }
        }
        self.lines()
    }

    /// The table's lines, with a rule under the headings.
    pub fn lines(&self) -> Vec<String> {
        let widths = self.widths();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        let mut lines: Vec<String> = self.rows.iter().map(line).collect();
        let rule: Vec<String> = widths.iter().map(|&width| "─".repeat(width)).collect();
        lines.insert(1, rule.join("──"));
        lines
    }

    /// The width of the longest cell in each column.
    fn widths(&self) -> Vec<usize> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        (0..columns).map(width).collect()
    }
}
