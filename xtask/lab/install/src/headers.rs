//! Reads the library's headers, in which a comment precedes each declaration, and converts them to manual pages of section 3: one for each
//! function and type.

use checkout::workspace::workspace;
use checkout::{Error, files};

/// The headers and their packages.
pub(super) const HEADERS: [(&str, &str); 3] = [
    ("c", "treefold.h"),
    ("c", "treefold_aggregates.h"),
    ("c-mpi", "treefold_mpi.h"),
];

/// The text of a package's header.
pub(super) fn read(package: &str, name: &str) -> Result<String, Error> {
    files::read(&workspace().join(format!("bindings/{package}/include/{name}")))
}

/// A group of declarations with their comment.
#[derive(Debug, Default)]
pub(super) struct Paragraph {
    /// The names of the declared functions and types, in order.
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
            // An enum of a type's values belongs to the type, and so does the comment above the enum.
            Some(last) if paragraph.names.is_empty() && !is_other && last.names.len() == 1 => {
                last.comment = joined(&last.comment, &paragraph.comment);
                last.code = joined(&last.code, &paragraph.code);
            }
            _ if !paragraph.names.is_empty() => paragraphs.push(paragraph),
            _ => {}
        }
    }
    paragraphs
}

/// Two texts, with an empty line between them unless one is empty.
fn joined(first: &str, second: &str) -> String {
    let texts = [first, second];
    let texts = texts.into_iter().filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n\n")
}

fn paragraph(block: &str) -> Paragraph {
    let rest = block.strip_prefix("/*");
    let parts = rest.and_then(|rest| rest.split_once("*/"));
    let (comment, declarations) = parts.unwrap_or(("", block));
    let mut code = String::new();
    let (mut is_macro, mut is_body) = (false, false);
    for line in declarations.lines() {
        // Skips macros and function bodies.
        let was_macro = is_macro || line.starts_with('#');
        is_macro = was_macro && line.ends_with('\\');
        is_body |= line.starts_with("static inline");
        let is_of_body = is_body && line.starts_with([' ', '{', '}']) && !line.ends_with(')');
        if was_macro || is_of_body || line.starts_with("extern") || line == "}" {
            continue;
        }
        let is_head = is_body && line.ends_with(')');
        code += &format!("{line}{}\n", if is_head { ";" } else { "" });
    }
    let code = code.trim().to_owned();
    let mut names = Vec::new();
    let is_declaration = |line: &&str| line.starts_with(|c: char| c.is_ascii_alphabetic());
    for line in code.lines().filter(is_declaration) {
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
        comment: text(comment),
        code,
    }
}

/// A comment without its stars.
fn text(comment: &str) -> String {
    let lines = comment.trim_start_matches("/*").lines().map(|line| {
        let line = line.trim_end();
        let inner = line.strip_prefix(" *").or(line.strip_prefix("  "));
        let line = inner.unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// A manual page: its name, and its text or a reference to the page with the text.
pub(super) struct Page {
    pub(super) name: String,
    pub(super) text: String,
}

/// The pages of a header. The first page has the header's name.
pub(super) fn pages(header: &str, text: &str, version: &str) -> Vec<Page> {
    let whole = header.trim_end_matches(".h");
    let mut pages = Vec::new();
    for (index, paragraph) in paragraphs(text).iter().enumerate() {
        let names = if index == 0 {
            vec![whole.to_owned()]
        } else {
            paragraph.names.clone()
        };
        for name in &names {
            let text = if *name == names[0] {
                manual_page(header, whole, &names, paragraph, version)
            } else {
                format!(".so man3/{}.3\n", names[0])
            };
            let name = name.clone();
            pages.push(Page { name, text });
        }
    }
    pages
}

fn manual_page(
    header: &str,
    whole: &str,
    names: &[String],
    paragraph: &Paragraph,
    version: &str,
) -> String {
    let title = &names[0];
    let mut text = format!(".TH {title} 3 \"\" \"treefold {version}\" \"treefold\"\n.SH NAME\n");
    let summary = summary(&paragraph.comment, names);
    text += &format!("{} \\- {summary}\n", names.join(", "));
    text += &format!(".SH SYNOPSIS\n.nf\n#include <{header}>\n");
    if !paragraph.code.is_empty() {
        text += &format!(".PP\n{}\n", verbatim(&paragraph.code));
    }
    text += ".fi\n.PP\nLink with \\-ltreefold.\n";
    text += &format!(".SH DESCRIPTION\n{}", description(&paragraph.comment));
    if paragraph.code.contains("treefold_status treefold_") {
        text += ".SH RETURN VALUE\nTREEFOLD_OK, or the code of an error. treefold_last_error(3) describes the error.\n";
    }
    if title != whole {
        text += &format!(".SH SEE ALSO\n.BR {whole} (3)\n");
    }
    text
}

/// The first sentence of a comment, for lists of pages.
fn summary(comment: &str, names: &[String]) -> String {
    let first = comment.split("\n\n").next().unwrap_or_default();
    let first = first.replace('\n', " ");
    let end = first.find(". ").or(first.find(": ").filter(|&at| at > 40));
    let sentence = end.map_or(&*first, |end| &first[..end]);
    let sentence = sentence.trim_end_matches(['.', ':']);
    // A header's comment begins with the header's name.
    let own = format!("{}.h: ", names[0]);
    let sentence = sentence.strip_prefix(&*own).unwrap_or(sentence);
    if sentence.is_empty() {
        return format!("{} of treefold", names[0]);
    }
    escaped(sentence)
}

/// Formats paragraphs, lists and preformatted lines.
fn description(comment: &str) -> String {
    let mut text = String::new();
    for part in comment.split("\n\n") {
        if part.starts_with("    ") {
            text += &format!(".PP\n.nf\n.RS 4\n{}\n.RE\n.fi\n", verbatim(part));
            continue;
        }
        text += ".PP\n";
        for line in part.lines() {
            match line.strip_prefix("- ") {
                Some(item) => text += &format!(".IP \\(bu 2\n{}\n", escaped(item)),
                None => text += &format!("{}\n", escaped(line.trim())),
            }
        }
    }
    text
}

fn verbatim(code: &str) -> String {
    let is_indented = code.starts_with("    ");
    let lines = code.lines().map(|line| {
        let inner = line.strip_prefix("    ").filter(|_| is_indented);
        escaped(inner.unwrap_or(line))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Escapes a line for troff.
fn escaped(line: &str) -> String {
    let text = line
        .replace('\\', "\\e")
        .replace('-', "\\-")
        .replace('^', "\\(ha")
        .replace('~', "\\(ti");
    if text.starts_with(['.', '\'']) {
        return format!("\\&{text}");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::Write;
    use std::process::{Command, Stdio};

    use checkout::headers::functions;

    use super::{HEADERS, pages, paragraphs, read};

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

    /// Every function has a page with a description. If troff is installed, it accepts all pages.
    #[test]
    fn headers_become_pages() {
        for (folder, name) in HEADERS {
            let text = read(folder, name).unwrap();
            let made = pages(name, &text, "0.1.0");
            let mut names = BTreeSet::new();
            for page in &made {
                assert!(names.insert(&*page.name), "{} has two pages", page.name);
            }
            for function in functions(&text) {
                assert!(names.contains(&*function), "{function}");
            }
            for page in made.iter().filter(|page| !page.text.starts_with(".so ")) {
                let (_, summary) = page.text.split_once("\n.SH NAME\n").unwrap();
                let (_, summary) = summary.split_once(" \\- ").unwrap();
                let summary = summary.lines().next().unwrap();
                let is_short = (5..250).contains(&summary.len());
                assert!(is_short, "{}: {summary}", page.name);
                let mut troff = Command::new("groff");
                troff.args(["-man", "-ww", "-z"]);
                troff.stdin(Stdio::piped()).stderr(Stdio::piped());
                let Ok(mut running) = troff.spawn() else {
                    continue;
                };
                let mut input = running.stdin.take().unwrap();
                input.write_all(page.text.as_bytes()).unwrap();
                drop(input);
                let errors = running.wait_with_output().unwrap().stderr;
                let errors = String::from_utf8_lossy(&errors);
                assert!(errors.is_empty(), "{}: {errors}", page.name);
            }
        }
    }

    #[test]
    fn functions_of_one_comment_share_a_page() {
        let header = "/*\n * x.h: sums, and more.\n *\n *     f(\"\\n\");\n */\n\n/*\n * A sum - of both. Or not.\n *\n * - one\n * - two\n */\ntreefold_status treefold_a(int x);\ntreefold_status treefold_b(int x);\n";
        let made = pages("x.h", header, "0.1.0");
        let names: Vec<&str> = made.iter().map(|page| &*page.name).collect();
        assert_eq!(names, ["x", "treefold_a", "treefold_b"]);
        for (page, part) in [
            (0, "x \\- sums, and more\n"),
            (0, "f(\"\\en\");\n"),
            (1, "treefold_a, treefold_b \\- A sum \\- of both\n"),
            (
                1,
                "#include <x.h>\n.PP\ntreefold_status treefold_a(int x);\n",
            ),
            (1, ".IP \\(bu 2\ntwo\n"),
            (1, ".SH RETURN VALUE\n"),
            (1, ".BR x (3)\n"),
        ] {
            let page = &made[page].text;
            assert!(page.contains(part), "{part}\n{page}");
        }
        assert_eq!(made[2].text, ".so man3/treefold_a.3\n");
    }
}
