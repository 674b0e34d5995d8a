//! Reads the declarations in C headers.

use std::collections::BTreeSet;

/// The functions that a header declares but does not define. Each declaration must begin a line and have its name before the first
/// parenthesis. No line of a comment or function body may look like a declaration.
#[must_use]
pub fn functions(header: &str) -> BTreeSet<String> {
    let is_declaration = |line: &&str| {
        let first = line.split(' ').next().unwrap_or_default();
        let is_other = ["typedef", "static", "enum", "struct", "extern"].contains(&first);
        line.starts_with(|c: char| c.is_ascii_alphabetic()) && !is_other
    };
    let name = |line: &str| {
        let (before, _) = line.split_once('(')?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        before.rsplit(|c| !is_name(c)).next().map(str::to_owned)
    };
    header
        .lines()
        .filter(is_declaration)
        .filter_map(name)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::functions;

    #[test]
    fn declarations_are_found_and_nothing_else() {
        let header = r#"/* one(int);
 * of old(int); */
#define CALL(x) \
    hidden(x)
extern "C" {
typedef int (*callback)(void *context);
enum { A = 1, B = (2) };
status three(const double *x, size_t n,
             double *result);
static inline status four(int x)
{
    return three(0, 0, 0);
}
const char *six(void);
void seven(void (*callback)(int), int);
"#;
        let expected = BTreeSet::from(["three", "six", "seven"].map(str::to_owned));
        assert_eq!(functions(header), expected);
    }
}
