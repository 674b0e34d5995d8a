//! Texts with names in braces.

/// Puts values in the places of their names in braces. Other braces stay.
pub(crate) fn put(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = template.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("{{{name}}}"), value);
    }
    text
}

/// The longest line of Fortran.
const WIDTH: usize = 130;

/// Fortran's statement of `begin`, items between commas, and `end`, continued where a line would be too long.
pub(crate) fn statement(begin: &str, items: &[String], end: &str) -> String {
    let indent = begin.len() - begin.trim_start().len();
    let (mut text, mut line) = (String::new(), begin.to_owned());
    for (at, item) in items.iter().enumerate() {
        let after = if at + 1 < items.len() { "," } else { end };
        let space = if line.ends_with(['(', ' ']) { "" } else { " " };
        // Room for the space and the sign of a continued line.
        if line.len() + space.len() + item.len() + after.len() + 2 > WIDTH {
            text.push_str(line.trim_end());
            text.push_str(" &\n");
            line = format!("{}{item}{after}", " ".repeat(indent + 3));
        } else {
            line = format!("{line}{space}{item}{after}");
        }
    }
    text + &line + "\n"
}

/// A line of Fortran and what follows it, on a line of its own where it would be too long.
pub(crate) fn followed(line: &str, by: &str) -> String {
    let last = line.trim_end_matches('\n');
    let indent = last.len() - last.trim_start().len();
    let length = last.rsplit('\n').next().map_or(0, str::len);
    if length + 1 + by.len() > WIDTH {
        format!("{last} &\n{}{by}\n", " ".repeat(indent + 3))
    } else {
        format!("{last} {by}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_braces_are_places() {
        assert_eq!(put("{a} {b} {c}", &[("a", "1"), ("b", "2")]), "1 2 {c}");
    }

    #[test]
    fn long_statements_go_on() {
        let items: Vec<_> = (0..20).map(|i| format!("name_of_item_{i}")).collect();
        let text = statement("   public :: ", &items, "");
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
        let words = text.replace('&', " ");
        let words: Vec<_> = words.split_whitespace().collect();
        assert_eq!(words.len(), 22);
        assert_eq!(
            statement("f(", &items[..2], ")"),
            "f(name_of_item_0, name_of_item_1)\n"
        );
    }
    #[test]
    fn what_follows_goes_to_the_next_line_where_there_is_no_room() {
        assert_eq!(followed("   f(x)\n", "bind(c)"), "   f(x) bind(c)\n");
        let long = format!("   f({})\n", "x".repeat(120));
        let two = format!("   f({}) &\n      bind(c)\n", "x".repeat(120));
        assert_eq!(followed(&long, "bind(c)"), two);
    }
}
