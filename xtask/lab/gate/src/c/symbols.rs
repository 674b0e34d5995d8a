//! A shared library exports the functions that its headers declare, and nothing else; it is asked for by its interface's version, and
//! loads no MPI library.

use std::collections::BTreeSet;
use std::path::Path;

use checkout::workspace::workspace;

use crate::commands::{Stop, command, output};
use crate::files::read;
use crate::steps::Steps;

/// The libraries, and the headers that declare what each exports.
const LIBRARIES: [(&str, &[&str]); 2] = [
    (
        "libtreefold",
        &["c/include/treefold.h", "c-mpi/include/treefold_mpi.h"],
    ),
    (
        "libtreefold_reprored",
        &["c-mpi/include/binary_tree_summation.h"],
    ),
];

/// The beginning of what `libtreefold_reprored` calls: no header declares it.
const OF_REPRORED: &str = "treefold_reprored_";

/// Checks the libraries of a prefix.
pub(super) fn check(steps: &mut Steps, prefix: &Path) -> Result<(), Stop> {
    let folder = prefix.join("lib");
    for (name, headers) in LIBRARIES {
        let library = folder.join(format!("{name}.so"));
        steps.check(
            format!("{name}.so exports what its headers declare"),
            || {
                let mut declared = BTreeSet::new();
                for header in headers {
                    let text = read(&workspace().join("bindings").join(header))?;
                    declared.extend(functions(&text));
                }
                let mut exported = exported(&library)?;
                exported.retain(|name| !name.starts_with(OF_REPRORED));
                same(&declared, &exported)
            },
        )?;
        steps.check(format!("{name}.so names itself and what it loads"), || {
            let dynamic = output(command!("readelf --dynamic", library))?;
            let expected = interface(name);
            if !dynamic.contains(&format!("Library soname: [{expected}]")) {
                return Err(format!("its soname is not {expected}:\n{dynamic}").into());
            }
            if dynamic.contains("Shared library: [libmpi") {
                return Err(format!("it must load no MPI library:\n{dynamic}").into());
            }
            Ok(expected)
        })?;
    }
    // A program may link the library by two names, and a process has it once: handles that one of its parts makes are handles in all.
    steps.check("libtreefold_mpi is libtreefold", || {
        for extension in ["so", "a"] {
            let file = |name| folder.join(format!("{name}.{extension}")).canonicalize();
            let files = [file("libtreefold")?, file("libtreefold_mpi")?];
            if files[0] != files[1] {
                return Err(format!("{files:?}").into());
            }
        }
        Ok("one file".to_owned())
    })
}

/// The name that programs ask for when they start. Before 1.0, a minor version is an interface of its own.
fn interface(name: &str) -> String {
    let version = env!("CARGO_PKG_VERSION_MAJOR");
    match version {
        "0" => format!("{name}.so.0.{}", env!("CARGO_PKG_VERSION_MINOR")),
        major => format!("{name}.so.{major}"),
    }
}

/// What both sets have, or else the difference.
fn same(declared: &BTreeSet<String>, exported: &BTreeSet<String>) -> Result<String, Stop> {
    if declared.is_empty() {
        return Err("the headers declare nothing".into());
    }
    if declared == exported {
        return Ok(format!("{} functions", declared.len()));
    }
    let missing: Vec<&String> = declared.difference(exported).collect();
    let other: Vec<&String> = exported.difference(declared).collect();
    Err(format!("declared only: {missing:?}; exported only: {other:?}").into())
}

/// The symbols that a shared library defines.
pub(crate) fn exported(library: &Path) -> Result<BTreeSet<String>, Stop> {
    let lines = output(command!("nm --dynamic --defined-only", library))?;
    let symbols = lines.lines();
    let symbols = symbols.filter_map(|line| line.split_whitespace().last());
    Ok(symbols.map(str::to_owned).collect())
}

/// The functions that a header declares, but for those that it defines itself.
fn functions(header: &str) -> BTreeSet<String> {
    let code = without_preprocessor(&without_comments(header));
    let code = code.replace("extern \"C\" {", "");
    let (mut outside, mut depth) = (String::new(), 0_usize);
    for c in code.chars() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                // What is defined ends here, or else goes on: `} name;` of a type.
                outside.push(if depth == 0 { ';' } else { ' ' });
            }
            _ if depth == 0 => outside.push(c),
            _ => {}
        }
    }
    outside.split(';').filter_map(declared).collect()
}

/// The function that a statement declares, if it does: its name stands before the first parenthesis.
fn declared(statement: &str) -> Option<String> {
    let first = statement.split_whitespace().next()?;
    if ["typedef", "static", "enum", "struct"].contains(&first) {
        return None;
    }
    let (before, _) = statement.split_once('(')?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = before.trim_end().rsplit(|c| !is_name(c)).next()?;
    (!name.is_empty()).then(|| name.to_owned())
}

fn without_comments(text: &str) -> String {
    let (mut code, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("/*") {
        code += before;
        code.push(' ');
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    code += rest;
    let lines = code.lines();
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// Lines that begin with `#` are left out, with those that continue them.
fn without_preprocessor(text: &str) -> String {
    let text = text.replace("\\\n", " ");
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{functions, same};

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn declarations_are_found_and_nothing_else() {
        let header = r#"/* one(int); */
#define CALL(x) \
    hidden(x)
#ifdef __cplusplus
extern "C" {
#endif
typedef int (*callback)(void *context);
enum { A = 1, B = (2) };
typedef struct range { int begin; } range; // two(int);
status three(const double *x, size_t n,
             double *result);
static inline status four(int x)
{
    if (x) { return five(x); }
    return three(0, 0, 0);
}
const char * six (void);
void seven(void (*callback)(int), int);
#ifdef __cplusplus
}
#endif
"#;
        assert_eq!(functions(header), set(&["three", "six", "seven"]));
    }

    #[test]
    fn differences_are_differences() {
        assert!(same(&set(&["a", "b"]), &set(&["b", "a"])).is_ok());
        assert!(same(&set(&["a", "b"]), &set(&["b", "c"])).is_err());
        assert!(same(&set(&["a"]), &set(&["a", "b"])).is_err());
        assert!(same(&set(&[]), &set(&[])).is_err());
    }
}
