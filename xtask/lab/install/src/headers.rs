//! Reads the library's headers: each declaration with the comment above it.

use checkout::Error;
use checkout::workspace::workspace;

use crate::files;

/// The headers and their packages.
pub(super) const HEADERS: [(&str, &str); 3] = [
    ("c", "treefold.h"),
    ("c", "treefold_aggregates.h"),
    ("c-mpi", "treefold_mpi.h"),
];

/// The text of a package's header.
pub(super) fn read(package: &str, name: &str) -> Result<String, Error> {
    let path = workspace().join(format!("bindings/{package}/include/{name}"));
    Ok(String::from_utf8_lossy(&files::read(&path)?).into_owned())
}

/// A group of declarations with their comment.
#[derive(Debug, Default)]
pub(super) struct Paragraph {
    /// The names of its functions and types, in order.
    pub(super) names: Vec<String>,
    /// The comment, without its stars.
    pub(super) comment: String,
    /// The declarations.
    pub(super) code: String,
}

/// The paragraphs of a header; the first one describes the header.
pub(super) fn paragraphs(header: &str) -> Vec<Paragraph> {
    let (introduction, rest) = header.split_once("*/").unwrap_or_default();
    let mut paragraphs = vec![Paragraph {
        comment: text(introduction),
        ..Paragraph::default()
    }];
    for block in rest.split("\n\n") {
        let paragraph = paragraph(block.trim());
        let is_other = paragraph.comment.starts_with("----");
        match paragraphs.last_mut() {
            // The enum of a type's values belongs to the type, and so does a comment about both.
            Some(last) if paragraph.names.is_empty() && !is_other && last.names.len() == 1 => {
                append(&mut last.comment, &paragraph.comment);
                append(&mut last.code, &paragraph.code);
            }
            _ if !paragraph.names.is_empty() => paragraphs.push(paragraph),
            _ => {}
        }
    }
    paragraphs
}

fn append(text: &mut String, added: &str) {
    if !added.is_empty() {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(added);
    }
}

fn paragraph(block: &str) -> Paragraph {
    let (comment, code_lines) = match block
        .strip_prefix("/*")
        .and_then(|rest| rest.split_once("*/"))
    {
        Some((comment, code)) => (text(comment), code.lines()),
        None => (String::new(), block.lines()),
    };
    let mut code = String::new();
    let (mut is_macro, mut is_body) = (false, false);
    for line in code_lines {
        // Skips macros and function bodies.
        let was_macro = is_macro || line.starts_with('#');
        is_macro = was_macro && line.ends_with('\\');
        is_body |= line.starts_with("static inline");
        let is_of_body = is_body && line.starts_with([' ', '{', '}']) && !line.ends_with(')');
        if was_macro || is_of_body || line.starts_with("extern") || line == "}" {
            continue;
        }
        code.push_str(line);
        code.push_str(if is_body && line.ends_with(')') {
            ";\n"
        } else {
            "\n"
        });
    }
    let code = code.trim().to_owned();
    let mut names = Vec::new();
    for line in code
        .lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_alphabetic()))
    {
        let is_type = line.starts_with("typedef");
        let declared = match line.split_once('(') {
            Some((_, pointer)) if is_type => pointer.split_once(')').map_or("", |(name, _)| name),
            Some((before, _)) => before,
            None if is_type => line.trim_end_matches([';', '{', ' ']),
            None => continue,
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let name = declared.rsplit(|c| !is_name(c)).next().unwrap_or_default();
        if !name.is_empty() {
            names.push(name.to_owned());
        }
    }
    Paragraph {
        names,
        comment,
        code,
    }
}

/// A comment without its stars.
fn text(comment: &str) -> String {
    let lines = comment.trim_start_matches("/*").lines().map(|line| {
        let line = line.trim_end();
        let line = line
            .strip_prefix(" *")
            .unwrap_or_else(|| line.strip_prefix("  ").unwrap_or(line));
        line.strip_prefix(' ').unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::paragraphs;

    const HEADER: &str = "/*
 * x.h: an example.
 *
 *     code(1);
 */
#ifndef X_H
#define X_H

/* ---- Types --- */

/* A type. */
typedef int32_t x_type;

enum {
    X_A = 1, /* a */
};

/* More of it. */

/* An operator. */
typedef int (*x_op)(void *context, int other);

/*
 * The first one,
 *
 * - and the second
 */
x_status x_one(const double *x,
               size_t n);
const char *x_two(void);

/* Another,
   which is here. */
static inline x_status x_three(int x)
{
    return x_one(0, 0);
}

typedef struct x_range {
    int begin;
} x_range;

/* Macros. */
#define X_FOUR(x) \\
    x_one((x), 1)

#endif
";

    #[test]
    fn paragraphs_are_taken_apart() {
        let all = paragraphs(HEADER);
        let names: Vec<String> = all.iter().map(|one| one.names.join(" ")).collect();
        assert_eq!(
            names,
            ["", "x_type", "x_op", "x_one x_two", "x_three", "x_range"]
        );
        assert_eq!(all[0].comment, "x.h: an example.\n\n    code(1);");
        assert_eq!(all[1].comment, "A type.\n\nMore of it.");
        assert!(all[1].code.ends_with("enum {\n    X_A = 1, /* a */\n};"));
        assert_eq!(all[3].comment, "The first one,\n\n- and the second");
        assert_eq!(all[4].comment, "Another,\nwhich is here.");
        assert_eq!(all[4].code, "static inline x_status x_three(int x);");
    }
}
