//! Checks that the C headers declare what Rust defines. A compiler sees both declarations in one translation unit, and rejects differences.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![expect(
    clippy::print_stdout,
    reason = "tests print compilers' messages and what they skip"
)]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A header, and the Rust files that define its functions.
struct Header {
    package: &'static str,
    name: &'static str,
    sources: &'static str,
    /// The default compiler, and the environment variable that overrides it.
    compiler: (&'static str, &'static str),
    /// A type that the header defines. The declarations from Rust omit it, because C does not allow a second definition.
    defined: &'static str,
}

impl Header {
    /// Whether it is ReproRed's header, whose functions have other types and no prefix.
    fn is_reprored(&self) -> bool {
        self.sources == "reprored"
    }
}

/// The names of types in Rust and in C. In ReproRed's header, the type of a context is a pointer.
const TYPES: [(&str, &str); 4] = [
    ("Status", "treefold_status"),
    ("Combine", "treefold_combine"),
    ("Team", "treefold_team"),
    ("ReductionContext", "void"),
];

/// Declarations of the short names for `float` and `double`, which Rust defines by macros; cbindgen does not expand macros.
fn short_names() -> String {
    let mut text = String::new();
    for (suffix, float) in [("f32", "float"), ("f64", "double")] {
        let y = format!("const {float} *y, size_t m, ");
        for (stem, y) in [
            ("sum", ""),
            ("exact_sum", ""),
            ("dot", &y),
            ("exact_dot", &y),
        ] {
            text += &format!(
                "treefold_status treefold_{stem}_{suffix}(const {float} *x, size_t n, {y}{float} *result);\n"
            );
        }
    }
    text
}

/// Rust's declarations as C.
fn declarations(header: &Header) -> String {
    let mut config = cbindgen::Config {
        language: cbindgen::Language::C,
        no_includes: true,
        documentation: false,
        // ReproRed declares counts as integers that are as wide as an address.
        usize_is_size_t: !header.is_reprored(),
        ..Default::default()
    };
    for (rust, c) in TYPES {
        config.export.rename.insert(rust.to_owned(), c.to_owned());
    }
    config.export.exclude.push(header.defined.to_owned());
    let boundary = package(header.package).join("src/boundary");
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = header.sources.split(' ').fold(builder, |builder, source| {
        builder.with_src(boundary.join(source).with_extension("rs"))
    });
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    // In Rust, the functions of ReproRed's header have a prefix. A separate library defines them without the prefix.
    let made = String::from_utf8(text).unwrap();
    let short = if header.name == "treefold.h" {
        short_names()
    } else {
        String::new()
    };
    made.replace("treefold_reprored_", "") + &short
}

fn package(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../bindings")
        .join(name)
}

/// Whether a compiler accepts a program text, and the compiler's messages; `None` without the compiler. The text may include all headers.
fn check_syntax(
    (compiler, variable): (&str, &str),
    options: &[&str],
    text: &str,
) -> Option<(bool, String)> {
    let compiler = env::var(variable).unwrap_or_else(|_| compiler.to_owned());
    let mut command = Command::new(compiler);
    command.arg("-fsyntax-only");
    for name in ["c", "c-mpi"] {
        command.arg("-I").arg(package(name).join("include"));
    }
    command.args(options).arg("-").stdin(Stdio::piped());
    let mut running = command.stderr(Stdio::piped()).spawn().ok()?;
    let mut input = running.stdin.take().unwrap();
    input.write_all(text.as_bytes()).unwrap();
    drop(input);
    let output = running.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    println!("{said}");
    Some((output.status.success(), said))
}

/// The functions with this prefix that a C text declares.
fn functions(text: &str, prefix: &str) -> BTreeSet<String> {
    let mut names = checkout::headers::functions(text);
    names.retain(|name| name.starts_with(prefix));
    names
}

fn check(header: &Header) {
    let declared = declarations(header);
    let path = package(header.package).join("include").join(header.name);
    let prefix = if header.is_reprored() {
        ""
    } else {
        "treefold_"
    };
    let of_header = functions(&fs::read_to_string(path).unwrap(), prefix);
    assert!(of_header.len() > 10, "{of_header:?}");
    assert_eq!(of_header, functions(&declared, prefix));
    let both = format!("#include <{}>\n{declared}", header.name);
    let options = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-x", "c"];
    let compiles = |text: &str| check_syntax(header.compiler, &options, text);
    let Some((is_taken, said)) = compiles(&both) else {
        let (name, compiler) = (header.name, header.compiler.0);
        println!("skipped: {name} against Rust: {compiler} is missing");
        return;
    };
    assert!(is_taken, "{said}\n{both}");
    // The check detects a wrong declaration.
    let wrong = both.replacen("(const ", "(", 1).replacen(
        "int global_start_idx",
        "long global_start_idx",
        1,
    );
    assert_ne!(wrong, both);
    assert!(compiles(&wrong).is_some_and(|(is_taken, _)| !is_taken));
}

/// The output parameters of a header's functions, as pairs of a function's name and a parameter's name.
fn results(header: &str) -> BTreeSet<(String, String)> {
    let parts = header
        .split("/*")
        .map(|part| part.split_once("*/").map_or(part, |(_, after)| after));
    let code: String = parts.collect();
    let mut found = BTreeSet::new();
    for declaration in code.split("\ntreefold_status ").skip(1) {
        let (name, rest) = declaration.split_once('(').unwrap();
        let (parameters, _) = rest.split_once(')').unwrap();
        for parameter in parameters.split(',') {
            let Some((before, parameter)) = parameter.trim().rsplit_once('*') else {
                continue;
            };
            // Skips handles, arrays that are only read, and pointers that the library does not dereference.
            let depth = before.matches('*').count();
            let is_read = match depth {
                0 => before.starts_with("const ") || before.starts_with("treefold_"),
                _ => before.trim_end().ends_with("const"),
            };
            if !is_read && parameter != "context" {
                found.insert((name.to_owned(), parameter.to_owned()));
            }
        }
    }
    found
}

/// Checks that `tests/c/places.c`, which passes invalid pointers, has a row for every output parameter of a header's functions.
fn check_places(package_name: &str, header: &str, least: usize) {
    let read = |path: &str| fs::read_to_string(package(package_name).join(path)).unwrap();
    let results = results(&read(&format!("include/{header}")));
    assert!(results.len() >= least, "{results:?}");
    let places = read("tests/c/places.c");
    let lacks = |(function, result): &&(String, String)| {
        let rows = [
            format!("ROW({function}, {result},"),
            format!("{{\"{function}\", \"{result}\","),
        ];
        !rows.iter().any(|row| places.contains(row))
    };
    let lacking: Vec<_> = results.iter().filter(lacks).collect();
    assert!(
        lacking.is_empty(),
        "{package_name} has no rows for {lacking:?}"
    );
}

#[test]
fn every_result_of_a_header_is_tried_at_wrong_places() {
    check_places("c", "treefold.h", 40);
    check_places("c", "treefold_aggregates.h", 5);
    check_places("c-mpi", "treefold_mpi.h", 40);
    let header = "\ntreefold_status f(const double *x, treefold_comm *comm, const char **name, void *context,\n    void *result);";
    let names: Vec<String> = results(header).into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["name", "result"]);
}

#[test]
fn compilers_that_are_too_old_print_one_error() {
    let (c, cpp) = (
        ("treefold.h", ("cc", "CC")),
        ("treefold.hpp", ("c++", "CXX")),
    );
    let c_mpi = ("treefold_mpi.h", ("mpicc", "MPICC"));
    let cpp_mpi = ("treefold_mpi.hpp", ("mpicxx", "MPICXX"));
    for (header, compiler) in [c, c_mpi, cpp, cpp_mpi] {
        let is_cpp = header.ends_with("hpp");
        let (language, cases) = if is_cpp { ("c++", CPP) } else { ("c", C) };
        for (options, words) in cases {
            let text = format!("#include <{header}>\nint main(void) {{ return 0; }}\n");
            let options: Vec<&str> = options.split(' ').chain(["-x", language]).collect();
            let Some((_, said)) = check_syntax(compiler, &options, &text) else {
                println!("skipped: {header}: {} is missing", compiler.0);
                continue;
            };
            let errors = said.lines().filter(|line| line.contains("error:"));
            let errors: Vec<&str> = errors.collect();
            assert_eq!(
                errors.len(),
                usize::from(!words.is_empty()),
                "{options:?}: {errors:?}"
            );
            assert!(
                errors.iter().all(|error| error.contains(words)),
                "{errors:?}"
            );
        }
    }
}

/// Options of compilers, and a part of the expected error, or an empty text if no error is expected.
const C: &[(&str, &str)] = &[
    ("-std=c89 -w", "needs C99"),
    ("-std=c99 -w", ""),
    ("-std=c11 -w", ""),
];
const CPP: &[(&str, &str)] = &[
    ("-std=c++11", "need C++20"),
    ("-std=c++17", "need C++20"),
    ("-std=c++20 -fno-exceptions", "throw exceptions"),
    ("-std=c++20", ""),
];

/// Type-generic calls do not compile if the types of the items and of the result differ.
#[test]
fn arrays_and_results_of_two_types_do_not_compile() {
    for (result, is_right) in [("double", true), ("float", false), ("long", false)] {
        for call in ["sum", "product", "min", "max", "exact_sum"] {
            let call = format!("return treefold_{call}(x, 3, r);");
            let text = format!(
                "#include <treefold.h>\nint f(const double *x, {result} *r) {{ {call} }}\n"
            );
            let options = ["-std=c11", "-Wall", "-Wextra", "-x", "c"];
            let Some((is_taken, said)) = check_syntax(("cc", "CC"), &options, &text) else {
                println!("skipped: types: cc is missing");
                return;
            };
            assert_eq!(is_taken, is_right, "{text}{said}");
        }
    }
}

#[test]
fn headers_declare_what_rust_defines() {
    let (cc, mpicc) = (("cc", "CC"), ("mpicc", "MPICC"));
    for (package, name, sources, compiler, defined) in [
        (
            "c",
            "treefold.h",
            "library tree team exact accumulators keyed",
            cc,
            "treefold_window",
        ),
        (
            "c",
            "treefold_aggregates.h",
            "aggregates",
            cc,
            "treefold_sql_function",
        ),
        (
            "c-mpi",
            "treefold_mpi.h",
            "communicators builders exports calls hashed",
            mpicc,
            "treefold_range",
        ),
        ("c-mpi", "binary_tree_summation.h", "reprored", cc, ""),
    ] {
        check(&Header {
            package,
            name,
            sources,
            compiler,
            defined,
        });
    }
}
