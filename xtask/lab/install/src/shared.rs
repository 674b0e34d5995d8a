//! Links shared libraries with versioned symbols. rustc passes its linker a script that has no versions and cannot be extended, so the C
//! compiler links the static library again. Also builds `libtreefold_reprored` as a shared library that loads `libtreefold`, and a static one.

use std::env;
use std::path::Path;
use std::process::{Command, Stdio};

use checkout::files::bytes;
use checkout::headers::functions;
use checkout::workspace::workspace;
use checkout::{Error, files};

use crate::headers;
use crate::prefix::{Kind, Prefix};
use crate::template::{SYSTEM_LIBRARIES, Values};

/// The C compiler that Rust links with.
pub(super) fn compiler() -> Command {
    Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

/// Adds linker options that set the soname and export exactly these symbols, with the interface's version.
pub(super) fn name(
    link: &mut Command,
    library: &str,
    symbols: &[String],
    folder: &Path,
    values: &Values<'_>,
) -> Result<(), Error> {
    let script = folder.join(format!("{library}.map"));
    let interface = values.interface();
    let text = format!(
        "TREEFOLD_{interface} {{\nglobal:\n    {};\nlocal:\n    *;\n}};\n",
        symbols.join(";\n    ")
    );
    files::write(&script, text)?;
    link.args(["-shared", "-Wl,--gc-sections", "-Wl,-z,relro,-z,now"]);
    link.arg(format!("-Wl,-soname,{library}.so.{interface}"));
    link.arg(format!("-Wl,--version-script={}", script.display()));
    Ok(())
}

/// A linker script that places the functions of short calls next to each other.
const SHORT_CALLS: &str = include_str!("../../../../bindings/c-mpi/library/short_calls.ld");

/// Links Rust's static library as a shared one with these symbols. If the linker cannot place functions, links without placement.
pub(super) fn link(
    archive: &Path,
    library: &str,
    symbols: &[String],
    folder: &Path,
    values: &Values<'_>,
) -> Result<(), Error> {
    let script = folder.join("short_calls.ld");
    files::write(&script, SHORT_CALLS)?;
    let placed = format!("-Wl,-T,{}", script.display());
    let linked = |placement: &[String]| -> Result<Result<(), String>, Error> {
        let mut link = compiler();
        link.args(symbols.iter().map(|name| format!("-Wl,--undefined={name}")));
        link.arg(archive).args(placement);
        name(&mut link, library, symbols, folder, values)?;
        link.arg("-Wl,--as-needed");
        link.args(SYSTEM_LIBRARIES.map(|library| format!("-l{library}")));
        link.args(["-lgcc_s", "-o"]);
        link.arg(folder.join(format!("{library}.so")));
        Ok(run(&mut link))
    };
    let outcome = match linked(&[placed])? {
        Ok(()) => Ok(()),
        Err(_) => linked(&[])?,
    };
    outcome.map_err(|reason| Error::file(archive, reason))
}

/// Installs a shared library and its other names.
pub(super) fn install(
    name: &str,
    content: &[u8],
    prefix: &Prefix,
    values: &Values<'_>,
) -> Result<(), Error> {
    let shared = format!("{name}.so");
    let whole = format!("{shared}.{}", values.version);
    let interface = format!("{shared}.{}", values.interface());
    let folder = values.libdir;
    prefix.write(&format!("{folder}/{whole}"), content, Kind::SharedLibrary)?;
    prefix.link(&format!("{folder}/{interface}"), &whole)?;
    prefix.link(&format!("{folder}/{shared}"), &whole)
}

/// Runs a C tool. On failure, returns the tool's message.
pub(super) fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let reason = match output {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("{error}; install gcc or clang, and binutils"),
    };
    let tool = command.get_program().to_string_lossy();
    Err(format!("{tool}: {reason}"))
}

const NAME: &str = "libtreefold_reprored";

/// The functions of ReproRed's header.
pub(super) fn reprored_symbols() -> Result<Vec<String>, Error> {
    let text = headers::read("c-mpi", "binary_tree_summation.h")?;
    Ok(functions(&text).into_iter().collect())
}

/// Compiles ReproRed's functions, which call `libtreefold`, as a shared and as a static library, and installs both.
pub(super) fn install_reprored(
    folder: &Path,
    prefix: &Prefix,
    values: &Values<'_>,
) -> Result<(), Error> {
    let package = workspace().join("bindings/c-mpi");
    let path = |extension: &str| folder.join(format!("{NAME}.{extension}"));
    let (shared, object, archive) = (path("so"), path("o"), path("a"));
    let source = package.join("reprored/reprored.c");
    let run = |command: &mut Command| run(command).map_err(|reason| Error::file(&source, reason));
    let compile = |output: &Path| {
        let mut command = compiler();
        command.args(["-std=c11", "-O2", "-fPIC", "-I"]);
        command.arg(package.join("include"));
        command.arg(&source).arg("-o").arg(output);
        command
    };
    let mut link = compile(&shared);
    link.arg(folder.join("libtreefold.so"));
    name(&mut link, NAME, &reprored_symbols()?, folder, values)?;
    // `libtreefold.so` is in the same folder, whose path may change.
    link.arg("-Wl,-rpath,$ORIGIN");
    run(&mut link)?;
    run(compile(&object).arg("-c"))?;
    run(Command::new("ar").arg("rcs").arg(&archive).arg(&object))?;
    install(NAME, &bytes(&shared)?, prefix, values)?;
    let place = format!("{}/{NAME}.a", values.libdir);
    prefix.write(&place, &bytes(&archive)?, Kind::StaticLibrary)
}
