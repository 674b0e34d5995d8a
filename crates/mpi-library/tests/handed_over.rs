//! Runs programs in C that already have an MPI library, linked or privately loaded. This crate must find that library, and use its handles.
//! Open MPI's handles are addresses of objects; if the program has its own copy of an object, the handle is the address of the copy.

#![expect(clippy::print_stdout, reason = "reports what is skipped")]

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use mpi_library::Handles;

/// For each library: its compiler wrapper, the name to load it by, and the beginning of its version text.
const LIBRARIES: [(&str, &str, &str); 2] = [
    ("mpicc.openmpi", "libmpi.so.40", "(Open MPI v"),
    ("mpicc.mpich", "libmpich.so.12", "(MPICH Version: "),
];

/// A program that is linked to MPI. Its arguments: the path of the library in `handed_over/library.rs`, whether to pass an MPI function, and
/// whether to call functions by PMPI_ names.
fn linked() -> String {
    let mut lines = String::from(
        r#"#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
typedef void Library(void *, void *, int, MPI_Comm);
/* Intercepts calls, as a tool does. */
int MPI_Allreduce(const void *send, void *receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    puts("seen\tMPI_Allreduce");
    fflush(stdout);
    return PMPI_Allreduce(send, receive, count, type, op, comm);
}
int main(int argc, char **argv)
{
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    Library *hand_over = library ? (Library *) dlsym(library, "hand_over") : NULL;
    if (!hand_over) {
        fputs(dlerror(), stderr);
        return 1;
    }
    MPI_Init(&argc, &argv);
"#,
    );
    for (name, _) in Handles::objects_of_open_mpi() {
        writeln!(
            lines,
            "    printf(\"program\\t{name}\\t%llu\\n\", sizeof(MPI_Comm) == 4 ? (unsigned long long) (uint32_t) (uintptr_t) {name} : (unsigned long long) (uintptr_t) {name});"
        )
        .expect("a string");
    }
    lines.push_str(
        r"    fflush(stdout);
    hand_over(atoi(argv[2]) ? (void *) MPI_Comm_size : NULL, (void *) MPI_Comm_rank, atoi(argv[3]), MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
",
    );
    lines
}

/// A program that loads an MPI library for itself alone, as mpi4py does, and passes a function of another MPI library.
const LOADER: &str = r#"#include <dlfcn.h>
#include <stdio.h>
typedef void Library(void *, void *, int, void *);
int main(int argc, char **argv)
{
    void *mpi = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    void *other = argc > 3 ? dlopen(argv[3], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    Library *hand_over = library ? (Library *) dlsym(library, "hand_over") : NULL;
    if (!mpi || !hand_over) {
        fputs(dlerror(), stderr);
        return 1;
    }
    hand_over(NULL, other ? dlsym(other, "MPI_Comm_size") : NULL, 0, NULL);
    hand_over((void *) fopen, NULL, 0, NULL);
    return 0;
}
"#;

/// Builds the library of `handed_over/library.rs`, since `cargo test --test handed_over` builds no examples, and returns its path.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent();
        let folder = folder.expect("a folder in the target folder");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            "build",
            "--quiet",
            "--example",
            "handed_over",
            "--target-dir",
        ]);
        cargo.arg(folder).current_dir(env!("CARGO_MANIFEST_DIR"));
        assert!(cargo.status().expect("cargo").success());
        folder.join("debug/examples/libhanded_over.so")
    })
}

fn is_installed(compiler: &str) -> bool {
    let is_there = Command::new(compiler).arg("-show").output().is_ok();
    if !is_there {
        println!("skipped: {compiler}, which is not installed");
    }
    is_there
}

fn compile(compiler: &str, name: &str, text: &str, options: &[&str]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join(format!("{name}.c")), folder.join(name));
    fs::write(&source, text).expect("a source");
    let mut command = Command::new(compiler);
    command
        .args(["-std=gnu11", "-Wno-deprecated-declarations"])
        .args(options);
    command.arg(&source).arg("-o").arg(&program).arg("-ldl");
    let output = command.output().expect("a compiler");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{compiler}: {words}");
    program
}

fn output(command: &mut Command) -> String {
    for variable in ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_FD", "PMI_RANK"] {
        command.env_remove(variable);
    }
    let output = command.output().expect("the command runs");
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {words}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn programs_that_are_linked_to_a_library() {
    for (compiler, _, version) in LIBRARIES {
        if !is_installed(compiler) {
            continue;
        }
        for mode in ["-pie", "-no-pie"] {
            let name = format!("{compiler}{mode}");
            let compiled = match mode {
                "-pie" => "-fPIE",
                _ => "-fno-pie",
            };
            let options = [mode, compiled, "-rdynamic"];
            let program = compile(compiler, &name, &linked(), &options);
            for hands_over in ["0", "1"] {
                for by_pmpi in ["0", "1"] {
                    let mut command = Command::new(&program);
                    command.arg(library()).args([hands_over, by_pmpi]);
                    check_linked(&output(&mut command), version, [hands_over, by_pmpi]);
                }
            }
            println!("linked by {name}: passed");
        }
    }
}

fn check_linked(text: &str, version: &str, [hands_over, by_pmpi]: [&str; 2]) {
    let (mut own, mut table) = (BTreeMap::new(), BTreeMap::new());
    for line in text.lines() {
        match line.split('\t').collect::<Vec<_>>()[..] {
            ["program", name, word] => drop(own.insert(name, word)),
            ["table", name, word] => drop(table.insert(name, word)),
            _ => {}
        }
    }
    assert!(own.len() > 60, "{text}");
    for (name, word) in &own {
        assert_eq!(Some(word), table.get(name), "{name}");
    }
    let has = |line: &str| text.lines().any(|other| other == line);
    let choice = text.lines().find(|line| line.starts_with("choice\t"));
    let choice = choice.unwrap_or_else(|| panic!("{text}"));
    let reason = match hands_over {
        "1" => "the program's communicators belong to it",
        _ => "this process has loaded it",
    };
    assert!(
        choice.contains(version) && choice.ends_with(reason),
        "{choice}"
    );
    assert!(has("sum\t1") && has("other\tthe same"), "{text}");
    // The program intercepts `MPI_Allreduce` like a tool, but not `PMPI_Allreduce`.
    assert_eq!(has("seen\tMPI_Allreduce"), by_pmpi == "0", "{text}");
}

#[test]
fn programs_that_have_loaded_a_library() {
    let loader = compile("cc", "loader", LOADER, &[]);
    let installed: Vec<_> = LIBRARIES
        .iter()
        .filter(|(compiler, _, _)| is_installed(compiler))
        .collect();
    for (_, name, version) in &installed {
        let text = output(Command::new(&loader).arg(library()).arg(name));
        let choice = text.lines().next().unwrap_or_default();
        assert!(
            choice.starts_with("choice\t") && choice.contains(version),
            "{text}"
        );
        assert!(choice.ends_with("this process has loaded it"), "{choice}");
        // The program has passed the C library's `fopen`.
        let error = "error\tthe function that the program passed belongs to no MPI library";
        assert_eq!(text.lines().last(), Some(error));
        println!("loaded by {name}: passed");
    }
    if let [(_, first, version), (_, second, _)] = installed[..] {
        let text = output(Command::new(&loader).arg(library()).arg(first).arg(second));
        let other = text.lines().find(|line| line.starts_with("other\t"));
        let other = other.unwrap_or_else(|| panic!("{text}"));
        assert!(
            other.starts_with("other\tthe program's communicators belong to \"")
                && other.contains(version),
            "{other}"
        );
        assert!(
            other.contains("libmpich.so") && other.contains("libmpi.so.40"),
            "{other}"
        );
    }
}
