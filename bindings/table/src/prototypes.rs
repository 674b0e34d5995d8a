//! The functions that a header of C declares.

use crate::Error;

/// A function's prototype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prototype {
    /// Its type.
    pub(crate) returns: String,
    /// Its name, without `treefold_`.
    pub(crate) name: String,
    /// The type and name of each argument.
    pub(crate) arguments: Vec<(String, String)>,
}

impl Prototype {
    /// All prototypes of a header, in its order.
    pub(crate) fn all(header: &str, text: &str) -> Result<Vec<Prototype>, Error> {
        let code = without_comments(text);
        let code: String = code
            .lines()
            .filter(|line| !line.starts_with('#') && !line.starts_with("extern"))
            .map(|line| format!("{line} "))
            .collect();
        // Statements at the top level: what is inside braces is none.
        let (mut depth, mut statement, mut found) = (0_usize, String::new(), Vec::new());
        for character in code.chars() {
            match character {
                '{' => depth += 1,
                '}' => {
                    depth = depth.saturating_sub(1);
                    statement.clear();
                }
                ';' if depth == 0 => {
                    let words: Vec<_> = statement.split_whitespace().collect();
                    let words = words.join(" ");
                    if !words.starts_with("typedef") && words.contains('(') {
                        let parsed = Prototype::of(&words).ok_or_else(|| Error::Prototype {
                            header: header.to_owned(),
                            text: words.clone(),
                        })?;
                        found.push(parsed);
                    }
                    statement.clear();
                }
                _ if depth == 0 => statement.push(character),
                _ => {}
            }
        }
        Ok(found)
    }

    fn of(words: &str) -> Option<Prototype> {
        let (before, arguments) = words.strip_suffix(')')?.split_once('(')?;
        let (returns, name) = parted(before)?;
        let arguments = match arguments {
            "void" => Vec::new(),
            _ => arguments.split(',').map(parted).collect::<Option<_>>()?,
        };
        Some(Prototype {
            returns,
            name: name.strip_prefix("treefold_")?.to_owned(),
            arguments,
        })
    }
}

/// A declaration's type, and its name.
fn parted(declaration: &str) -> Option<(String, String)> {
    let declaration = declaration.trim();
    let at = declaration.rfind([' ', '*'])? + 1;
    let (kind, name) = declaration.split_at(at);
    Some((kind.trim().to_owned(), name.to_owned()))
}

fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    code + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prototypes_are_found_and_nothing_else() {
        let text = "
#ifdef __cplusplus
extern \"C\" {
#endif
/* int treefold_no(int x); */
typedef int (*treefold_combine)(void *context);
enum { A = 1, /* ; */ B };
typedef struct treefold_range { uint64_t begin; } treefold_range;
treefold_status treefold_a(const float *x, size_t n,
                           treefold_run **run);
static inline treefold_status treefold_b(int x)
{
    return treefold_c(x);
}
const char *treefold_d(void);
";
        let found = Prototype::all("a.h", text).unwrap();
        let argument = |kind: &str, name: &str| (kind.to_owned(), name.to_owned());
        let prototype = |returns: &str, name: &str, arguments: Vec<_>| Prototype {
            returns: returns.to_owned(),
            name: name.to_owned(),
            arguments,
        };
        let of_a = vec![
            argument("const float *", "x"),
            argument("size_t", "n"),
            argument("treefold_run **", "run"),
        ];
        let expected = [
            prototype("treefold_status", "a", of_a),
            prototype("const char *", "d", vec![]),
        ];
        assert_eq!(found, expected);
    }
}
