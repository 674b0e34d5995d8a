//! Compares every constant, offset, size, predefined handle and function type with each `mpi.h` that is found.
//!
//! The headers are those of `mpicc.openmpi`, `mpicc.mpich` and `mpicc`, and `include/mpi.h` and `include/mpi_abi.h` of the installations in
//! `MPI_LIBRARY_PREFIXES`, a list separated by colons.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mpi_library::{
    Constants, Family, Handles, Library, MAX_ERROR_STRING, MAX_LIBRARY_VERSION_STRING,
    MAX_OBJECT_NAME, MAX_PORT_NAME, MAX_PROCESSOR_NAME, MPI_SUCCESS, Signature, Status,
};

/// Constants that have no table, because this crate relies on their being 0.
const ALWAYS_ZERO: [&str; 4] = [
    "MPI_BOTTOM",
    "MPI_ARGV_NULL",
    "MPI_ERRCODES_IGNORE",
    "MPI_SUCCESS",
];

const OPTIONAL: [&str; 4] = [
    "MPIX_ERR_PROC_FAILED",
    "MPIX_ERR_PROC_FAILED_PENDING",
    "MPIX_ERR_REVOKED",
    "MPIX_FT",
];

/// The types of handles, without the prefix `MPI_`.
const HANDLES: [&str; 9] = [
    "Comm",
    "Datatype",
    "Op",
    "Request",
    "Group",
    "Win",
    "Info",
    "Errhandler",
    "Message",
];

/// The maximum lengths of strings, each with the room that this crate leaves for it.
const LENGTHS: [(&str, usize); 5] = [
    ("MPI_MAX_LIBRARY_VERSION_STRING", MAX_LIBRARY_VERSION_STRING),
    ("MPI_MAX_ERROR_STRING", MAX_ERROR_STRING),
    ("MPI_MAX_OBJECT_NAME", MAX_OBJECT_NAME),
    ("MPI_MAX_PORT_NAME", MAX_PORT_NAME),
    ("MPI_MAX_PROCESSOR_NAME", MAX_PROCESSOR_NAME),
];

/// A header, and how to compile with it.
struct Header {
    shown: String,
    /// The compiler and its options.
    compile: Vec<String>,
    file: &'static str,
}

#[test]
fn tables_are_those_of_the_headers() {
    let headers = headers();
    let mut compared = Vec::new();
    for (index, header) in headers.iter().enumerate() {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("headers-{index}"));
        fs::create_dir_all(&folder).expect("a folder for programs");
        let family = compare_values(header, &folder);
        compare_types(header, &folder);
        println!("compared with {}: {family}", header.shown);
        compared.push(family);
    }
    for family in Family::ALL {
        if !compared.contains(&family) {
            println!("skipped: {family} has no mpi.h here");
        }
    }
}

fn headers() -> Vec<Header> {
    let mut headers = Vec::new();
    for wrapper in ["mpicc.openmpi", "mpicc.mpich", "mpicc"] {
        if Command::new(wrapper).arg("-show").output().is_ok() {
            headers.push(Header {
                shown: wrapper.to_owned(),
                compile: vec![wrapper.to_owned()],
                file: "mpi.h",
            });
        }
    }
    let prefixes = env::var_os("MPI_LIBRARY_PREFIXES").unwrap_or_default();
    for prefix in env::split_paths(&prefixes).filter(|path| path.is_dir()) {
        let include = prefix.join("include");
        for file in ["mpi.h", "mpi_abi.h"] {
            if include.join(file).exists() {
                headers.push(Header {
                    shown: include.join(file).display().to_string(),
                    compile: vec!["cc".to_owned(), format!("-I{}", include.display())],
                    file,
                });
            }
        }
    }
    headers
}

impl Header {
    /// A C source of these lines, which includes the header and Open MPI's extensions.
    fn source(&self, lines: &str) -> String {
        let extensions = "#if defined(OPEN_MPI)\n#include <mpi-ext.h>\n#endif\n";
        format!("#include <{}>\n{extensions}{lines}", self.file)
    }

    /// Compiles a program of these lines, with the given options.
    fn compile(&self, folder: &Path, name: &str, lines: &str, options: &[&str]) -> PathBuf {
        let (source, program) = (folder.join(format!("{name}.c")), folder.join(name));
        fs::write(&source, self.source(lines)).expect("a source");
        let mut command = Command::new(&self.compile[0]);
        // Deprecated names are compared, too.
        command
            .args(&self.compile[1..])
            .args(["-std=gnu11", "-Wno-deprecated-declarations"]);
        command.args(options).arg(&source).arg("-o").arg(&program);
        let output = command.output().expect("a compiler");
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {words}", self.shown);
        program
    }
}

/// A program that prints what `mpi.h` says: for a handle, the text of its macro in Open MPI, and its word in other families.
fn program() -> String {
    let mut lines = String::from(
        r##"#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define NUMBER(name) printf("number\t%s\t%lld\n", #name, (long long) (name))
#define WORD(name) printf("word\t%s\t%llu\n", #name, (unsigned long long) (uintptr_t) (name))
#ifdef OPEN_MPI
#define HANDLE(name) printf("object\t%s\t%s\n", #name, TEXT(name))
#else
#define HANDLE(name) printf("word\t%s\t%llu\n", #name, sizeof(MPI_Comm) == 4 ? (unsigned long long) (uint32_t) (uintptr_t) (name) : (unsigned long long) (uintptr_t) (name))
#endif
int main(void)
{
#if defined(OPEN_MPI)
    puts("family\tOpen MPI\t");
#elif defined(MPI_ABI_VERSION) && !defined(MPICH_VERSION)
    puts("family\tABI\t");
#else
    puts("family\tMPICH\t");
#endif
    NUMBER(sizeof(MPI_Status));
    NUMBER(offsetof(MPI_Status, MPI_SOURCE));
    NUMBER(offsetof(MPI_Status, MPI_TAG));
    NUMBER(offsetof(MPI_Status, MPI_ERROR));
    NUMBER(sizeof(MPI_Fint));
    NUMBER(sizeof(MPI_Aint));
    NUMBER(sizeof(MPI_Count));
    WORD(MPI_IN_PLACE);
    WORD(MPI_STATUS_IGNORE);
    WORD(MPI_STATUSES_IGNORE);
    WORD(MPI_BOTTOM);
    WORD(MPI_ARGV_NULL);
    WORD(MPI_ERRCODES_IGNORE);
    WORD(MPI_SUCCESS);
"##,
    );
    for noun in HANDLES {
        writeln!(lines, "    NUMBER(sizeof(MPI_{noun}));").expect("a string");
    }
    for (name, _) in Family::Abi.constants().integers() {
        writeln!(lines, "    NUMBER({name});").expect("a string");
    }
    for (name, _) in LENGTHS {
        writeln!(lines, "    NUMBER({name});").expect("a string");
    }
    for name in OPTIONAL {
        writeln!(lines, "#ifdef {name}\n    NUMBER({name});\n#endif").expect("a string");
    }
    for (name, _) in Handles::objects_of_open_mpi() {
        writeln!(lines, "    HANDLE({name});").expect("a string");
    }
    // The standard ABI's header has no `MPI_Fint` unless a macro names Fortran's integer type, here int.
    let fint =
        "#if defined(MPI_ABI_VERSION) && !defined(MPICH_VERSION)\n#define MPI_Fint int\n#endif\n";
    format!("{fint}{lines}    return 0;\n}}\n")
}

fn compare_values(header: &Header, folder: &Path) -> Family {
    let program = header.compile(folder, "values", &program(), &[]);
    let output = Command::new(program).output().expect("the program runs");
    let output = String::from_utf8(output.stdout).expect("text");
    let (mut family, mut found) = (None, BTreeMap::new());
    for line in output.lines() {
        let parts: Vec<&str> = line.splitn(3, '\t').collect();
        match parts[..] {
            ["family", "Open MPI", _] => family = Some(Family::OpenMpi),
            ["family", "ABI", _] => family = Some(Family::Abi),
            ["family", "MPICH", _] => family = Some(Family::Mpich),
            [_, name, value] => {
                found.insert(name.to_owned(), value.to_owned());
            }
            _ => panic!("{line}"),
        }
    }
    let family = family.expect("a family");
    let number = |name: &str| -> i128 {
        let value = found
            .get(name)
            .unwrap_or_else(|| panic!("{}: no {name}", header.shown));
        value.parse().unwrap_or_else(|_| panic!("{name}: {value}"))
    };
    let is = |name: &str, expected: i128| {
        assert_eq!(number(name), expected, "{}: {name}", header.shown);
    };
    compare_constants(family.constants(), &is);
    for name in OPTIONAL.iter().filter(|name| found.contains_key(**name)) {
        let constants = family.constants();
        let expected = match *name {
            "MPIX_ERR_PROC_FAILED" => constants.MPIX_ERR_PROC_FAILED,
            "MPIX_ERR_PROC_FAILED_PENDING" => constants.MPIX_ERR_PROC_FAILED_PENDING,
            "MPIX_ERR_REVOKED" => constants.MPIX_ERR_REVOKED,
            _ => constants.MPIX_FT,
        };
        is(name, expected.expect(name).into());
    }
    for (name, room) in LENGTHS {
        assert!(number(name) <= room as i128, "{}: {name}", header.shown);
    }
    compare_handles(family, &found, &is);
    family
}

fn compare_constants(constants: &Constants, is: &impl Fn(&str, i128)) {
    for (name, value) in constants.integers() {
        is(name, value.into());
    }
    is("MPI_SUCCESS", MPI_SUCCESS.into());
    for name in ALWAYS_ZERO {
        is(name, 0);
    }
    let address = |pointer: *const std::ffi::c_void| pointer.addr() as i128;
    is("MPI_IN_PLACE", address(constants.in_place()));
    let ignored = address(constants.status_ignore().cast());
    is("MPI_STATUS_IGNORE", ignored);
    is("MPI_STATUSES_IGNORE", ignored);
    for (field, offset_bytes) in [
        ("MPI_SOURCE", constants.status_source_offset_bytes),
        ("MPI_TAG", constants.status_tag_offset_bytes),
        ("MPI_ERROR", constants.status_error_offset_bytes),
    ] {
        let name = format!("offsetof(MPI_Status, {field})");
        is(&name, offset_bytes as i128);
    }
    is("sizeof(MPI_Status)", constants.status_bytes as i128);
    assert!(constants.status_bytes <= Status::BYTES);
    for noun in HANDLES {
        let name = format!("sizeof(MPI_{noun})");
        is(&name, constants.handle_bytes as i128);
    }
    is("sizeof(MPI_Fint)", 4);
    is("sizeof(MPI_Aint)", 8);
    is("sizeof(MPI_Count)", 8);
}

fn compare_handles(family: Family, found: &BTreeMap<String, String>, is: &impl Fn(&str, i128)) {
    if let Some(handles) = Handles::numbers(family) {
        for (name, word) in handles.words() {
            is(name, word as i128);
        }
        return;
    }
    for (name, object) in Handles::objects_of_open_mpi() {
        let (text, object) = (&found[name], object.to_string_lossy());
        let names = text.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_');
        let objects: Vec<&str> = names.filter(|name| *name == object).collect();
        assert_eq!(objects.len(), 1, "{name} is {text}");
    }
}

/// Compiles a program that assigns each function to a pointer of the type through which this crate calls it.
fn compare_types(header: &Header, folder: &Path) {
    let mut lines = String::new();
    for (index, signature) in Library::signatures().iter().enumerate() {
        if !signature.is_required && !has_optional(header, folder, signature) {
            continue;
        }
        let parameters: Vec<String> = signature.parameters.iter().map(|kind| in_c(kind)).collect();
        let parameters = if parameters.is_empty() {
            "void".to_owned()
        } else {
            parameters.join(", ")
        };
        let (name, result) = (signature.name, in_c(signature.result));
        writeln!(lines, "{result} (*pointer_{index})({parameters}) = {name};").expect("a string");
    }
    let strict = [
        "-c",
        "-Werror=incompatible-pointer-types",
        "-Werror=implicit-function-declaration",
    ];
    header.compile(folder, "types", &lines, &strict);
}

/// Whether a header declares this optional function as a function.
fn has_optional(header: &Header, folder: &Path, signature: &Signature) -> bool {
    let source = folder.join("optional.c");
    let text = header.source(&format!("void *p = (void *) {};\n", signature.name));
    fs::write(&source, text).expect("a source");
    let mut command = Command::new(&header.compile[0]);
    command
        .args(&header.compile[1..])
        .args(["-fsyntax-only"])
        .arg(&source);
    command.output().expect("a compiler").status.success()
}

/// The C type for a Rust type.
fn in_c(kind: &str) -> String {
    let kind = kind.replace(' ', "");
    if let Some(pointee) = kind.strip_prefix("*mut") {
        return format!("{} *", in_c(pointee));
    }
    if let Some(pointee) = kind.strip_prefix("*const") {
        return format!("const {} *", in_c(pointee));
    }
    let passed = kind.strip_prefix("Passed<");
    let kind = passed
        .and_then(|kind| kind.strip_suffix('>'))
        .unwrap_or(&kind);
    let name = match kind {
        "c_int" => "int",
        "c_char" => "char",
        "c_void" => "void",
        "isize" => "MPI_Aint",
        "i64" => "MPI_Count",
        "Option<UserFunction>" => "MPI_User_function *",
        "Option<CopyAttribute>" => "MPI_Comm_copy_attr_function *",
        "Option<DeleteAttribute>" => "MPI_Comm_delete_attr_function *",
        noun if noun == "Status" || HANDLES.contains(&noun) => return format!("MPI_{noun}"),
        other => panic!("a type without a known C type: {other}"),
    };
    name.to_owned()
}
