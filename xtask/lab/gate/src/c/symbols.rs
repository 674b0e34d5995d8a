//! A shared library exports the functions that its headers declare, and nothing else; it is asked for by its interface's version, and
//! loads no MPI library.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::steps::{Steps, Stop};

/// The beginning of what `libtreefold_reprored` calls: no header declares it.
const OF_REPRORED: &str = "treefold_reprored_";

/// Checks `lib/NAME.so` of a prefix against these headers.
pub(super) fn check(
    steps: &mut Steps,
    prefix: &Path,
    name: &str,
    headers: &[PathBuf],
) -> Result<(), Stop> {
    let library = prefix.join("lib").join(format!("{name}.so"));
    steps.check(
        &format!("{name}.so exports what its headers declare"),
        || {
            let mut declared = BTreeSet::new();
            for header in headers {
                let text = fs::read_to_string(header);
                let text = text.map_err(|error| format!("{}: {error}", header.display()))?;
                declared.extend(functions(&text));
            }
            let mut exported = exported(&library)?;
            exported.retain(|name| !name.starts_with(OF_REPRORED));
            same(&declared, &exported)
        },
    )?;
    steps.check(&format!("{name}.so names itself and what it loads"), || {
        let dynamic = output(Command::new("readelf").arg("--dynamic").arg(&library))?;
        let expected = interface(name);
        if !dynamic.contains(&format!("Library soname: [{expected}]")) {
            return Err(format!("its soname is not {expected}:\n{dynamic}"));
        }
        if dynamic.contains("Shared library: [libmpi") {
            return Err(format!("it must load no MPI library:\n{dynamic}"));
        }
        Ok(expected)
    })
}

/// A program may link the library by two names, and a process has it once: handles that one of its parts makes are handles in all.
pub(super) fn check_names(steps: &mut Steps, prefix: &Path) -> Result<(), Stop> {
    let file = |name: &str| {
        let path = prefix.join("lib").join(name);
        path.canonicalize()
            .map_err(|error| format!("{}: {error}", path.display()))
    };
    steps.check("libtreefold_mpi is libtreefold", || {
        for extension in ["so", "a"] {
            let files = [
                file(&format!("libtreefold.{extension}"))?,
                file(&format!("libtreefold_mpi.{extension}"))?,
            ];
            if files[0] != files[1] {
                return Err(format!("{files:?}"));
            }
        }
        Ok("one file".to_owned())
    })
}

/// The name that programs ask for when they start. Before 1.0, a minor version is an interface of its own.
fn interface(name: &str) -> String {
    let (major, minor) = (
        env!("CARGO_PKG_VERSION_MAJOR"),
        env!("CARGO_PKG_VERSION_MINOR"),
    );
    match major {
        "0" => format!("{name}.so.0.{minor}"),
        major => format!("{name}.so.{major}"),
    }
}

/// What both sets have, or else the difference.
fn same(declared: &BTreeSet<String>, exported: &BTreeSet<String>) -> Result<String, String> {
    let join = |names: Vec<&String>| {
        let names: Vec<&str> = names.into_iter().map(String::as_str).collect();
        names.join(", ")
    };
    let missing = join(declared.difference(exported).collect());
    let other = join(exported.difference(declared).collect());
    match (declared.is_empty(), &*missing, &*other) {
        (true, ..) => Err("the headers declare nothing".to_owned()),
        (false, "", "") => Ok(format!("{} functions", declared.len())),
        (false, missing, other) => Err(format!(
            "declared only: [{missing}]; exported only: [{other}]"
        )),
    }
}

/// The symbols that a shared library defines.
pub(crate) fn exported(library: &Path) -> Result<BTreeSet<String>, String> {
    let lines = output(
        Command::new("nm")
            .args(["--dynamic", "--defined-only"])
            .arg(library),
    )?;
    let symbols = lines
        .lines()
        .filter_map(|line| line.split_whitespace().last());
    Ok(symbols.map(str::to_owned).collect())
}

fn output(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("{command:?}: {errors}"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The functions that a header declares, but for those that it defines itself. Their names stand before the first parenthesis.
fn functions(header: &str) -> BTreeSet<String> {
    let code = without_preprocessor(&without_comments(header));
    let code = code.replace("extern \"C\" {", "");
    let (mut functions, mut statement, mut depth) = (BTreeSet::new(), String::new(), 0_usize);
    for c in code.chars() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                // What is defined ends here, or else goes on: `} name;` of a type.
                if depth == 0 && statement.trim_start().starts_with("static") {
                    statement.clear();
                }
            }
            ';' if depth == 0 => {
                functions.extend(declared(&statement));
                statement.clear();
            }
            _ if depth == 0 => statement.push(c),
            _ => {}
        }
    }
    functions
}

/// The function that a statement declares, if it does.
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
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        code.push(' ');
        rest = after.split_once("*/").map_or("", |(_, after)| after);
    }
    code.push_str(rest);
    let lines = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
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
    fn differences_are_named() {
        let both = same(&set(&["a", "b"]), &set(&["b", "a"]));
        assert_eq!(both, Ok("2 functions".to_owned()));
        let error = same(&set(&["a", "b"]), &set(&["b", "c"])).unwrap_err();
        assert_eq!(error, "declared only: [a]; exported only: [c]");
        assert!(same(&set(&[]), &set(&[])).is_err());
    }
}
