//! Manual pages of section 3, generated from the C headers: one for each function and type.

use crate::headers::{Paragraph, paragraphs};

/// Pages by name: the text, or the name of the page that has it.
pub(super) struct Page {
    pub(super) name: String,
    pub(super) text: String,
}

/// The pages of a header, the first of which has the header's name.
pub(super) fn pages(header: &str, text: &str, version: &str) -> Vec<Page> {
    let whole = header.trim_end_matches(".h");
    let mut pages = Vec::new();
    for (index, paragraph) in paragraphs(text).iter().enumerate() {
        let names = if index == 0 {
            vec![whole.to_owned()]
        } else {
            paragraph.names.clone()
        };
        let Some((first, others)) = names.split_first() else {
            continue;
        };
        let text = page(header, whole, &names, paragraph, version);
        let mut add = |name: &str, text| {
            pages.push(Page {
                name: name.to_owned(),
                text,
            })
        };
        add(first, text);
        others
            .iter()
            .for_each(|name| add(name, format!(".so man3/{first}.3\n")));
    }
    pages
}

fn page(
    header: &str,
    whole: &str,
    names: &[String],
    paragraph: &Paragraph,
    version: &str,
) -> String {
    let title = &names[0];
    let mut text = format!(".TH {title} 3 \"\" \"treefold {version}\" \"treefold\"\n.SH NAME\n");
    text += &format!(
        "{} \\- {}\n",
        names.join(", "),
        summary(&paragraph.comment, names)
    );
    text += &format!(".SH SYNOPSIS\n.nf\n#include <{header}>\n");
    if !paragraph.code.is_empty() {
        text += &format!(".PP\n{}\n", verbatim(&paragraph.code));
    }
    text += ".fi\n.PP\nLink with \\-ltreefold.\n";
    text += &format!(".SH DESCRIPTION\n{}", description(&paragraph.comment));
    if paragraph.code.contains("treefold_status treefold_") {
        text += ".SH RETURN VALUE\nTREEFOLD_OK, or the code of an error. treefold_last_error(3) says what went wrong.\n";
    }
    if title != whole {
        text += &format!(".SH SEE ALSO\n.BR {whole} (3)\n");
    }
    text
}

/// The first sentence of a comment, for lists of pages.
fn summary(comment: &str, names: &[String]) -> String {
    let first = comment
        .split("\n\n")
        .next()
        .unwrap_or_default()
        .replace('\n', " ");
    let end = first
        .find(". ")
        .or_else(|| first.find(": ").filter(|&at| at > 40));
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
    let lines = code.lines().map(|line| {
        escaped(
            line.strip_prefix("    ")
                .filter(|_| code.starts_with("    "))
                .unwrap_or(line),
        )
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

    use super::pages;
    use crate::headers::{HEADERS, read};

    /// Every function has a page with a description; troff, if installed, accepts it.
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
                let summary = summary
                    .split_once(" \\- ")
                    .unwrap()
                    .1
                    .lines()
                    .next()
                    .unwrap();
                assert!(
                    (5..250).contains(&summary.len()),
                    "{}: {summary}",
                    page.name
                );
                let mut troff = Command::new("groff");
                troff
                    .args(["-man", "-ww", "-z"])
                    .stdin(Stdio::piped())
                    .stderr(Stdio::piped());
                let Ok(mut running) = troff.spawn() else {
                    continue;
                };
                let mut input = running.stdin.take().unwrap();
                input.write_all(page.text.as_bytes()).unwrap();
                drop(input);
                let errors = running.wait_with_output().unwrap().stderr;
                assert!(
                    errors.is_empty(),
                    "{}: {}",
                    page.name,
                    String::from_utf8_lossy(&errors)
                );
            }
        }
    }

    #[test]
    fn functions_of_one_comment_share_a_page() {
        let header = "/*\n * x.h: sums, and more.\n *\n *     f(\"\\n\");\n */\n\n/*\n * A sum - of both. Or not.\n *\n * - one\n * - two\n */\ntreefold_status treefold_a(int x);\ntreefold_status treefold_b(int x);\n";
        let made = pages("x.h", header, "0.1.0");
        let names: Vec<&str> = made.iter().map(|page| &*page.name).collect();
        assert_eq!(names, ["x", "treefold_a", "treefold_b"]);
        assert!(
            made[0].text.contains("x \\- sums, and more\n"),
            "{}",
            made[0].text
        );
        assert!(made[0].text.contains("f(\"\\en\");\n"), "{}", made[0].text);
        let page = &made[1].text;
        for part in [
            "treefold_a, treefold_b \\- A sum \\- of both\n",
            "#include <x.h>\n.PP\ntreefold_status treefold_a(int x);\n",
            ".IP \\(bu 2\ntwo\n",
            ".SH RETURN VALUE\n",
            ".BR x (3)\n",
        ] {
            assert!(page.contains(part), "{part}\n{page}");
        }
        assert_eq!(made[2].text, ".so man3/treefold_a.3\n");
    }
}
