//! Links shared libraries with versioned symbols. rustc passes its linker a script without versions, which cannot be extended; so the
//! C compiler links the static library again.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use checkout::Error;

use crate::prefix::{Kind, Prefix};
use crate::template::{SYSTEM_LIBRARIES, Values};

/// The C compiler that Rust links with.
pub(super) fn compiler() -> Command {
    Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()))
}

/// Adds linker options: the soname, and exactly these symbols, with the interface's version.
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
    fs::write(&script, text).map_err(|error| Error::file(&script, error))?;
    link.args(["-shared", "-Wl,--gc-sections", "-Wl,-z,relro,-z,now"]);
    link.arg(format!("-Wl,-soname,{library}.so.{interface}"));
    link.arg(format!("-Wl,--version-script={}", script.display()));
    Ok(())
}

/// Places the functions of short calls next to each other.
const SHORT_CALLS: &str = include_str!("../../../../bindings/c-mpi/library/short_calls.ld");

/// Links a static library of Rust's as a shared one with these symbols. Linkers that cannot place functions leave them where they are.
pub(super) fn link(
    archive: &Path,
    library: &str,
    symbols: &[String],
    folder: &Path,
    values: &Values<'_>,
) -> Result<(), Error> {
    let script = folder.join("short_calls.ld");
    fs::write(&script, SHORT_CALLS).map_err(|error| Error::file(&script, error))?;
    let placed = format!("-Wl,-T,{}", script.display());
    let linked = |placement: &[String]| -> Result<Result<(), String>, Error> {
        let mut link = compiler();
        link.args(symbols.iter().map(|name| format!("-Wl,--undefined={name}")));
        link.arg(archive).args(placement);
        name(&mut link, library, symbols, folder, values)?;
        link.arg("-Wl,--as-needed");
        link.args(SYSTEM_LIBRARIES.map(|library| format!("-l{library}")));
        link.arg("-lgcc_s")
            .arg("-o")
            .arg(folder.join(format!("{library}.so")));
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

/// Runs a C tool; on failure returns its message.
pub(super) fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let reason = match output {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("{error}: install gcc or clang, and binutils"),
    };
    let tool = command.get_program().to_string_lossy();
    Err(format!("{tool}: {reason}"))
}
