//! `libtreefold_reprored`, which is compiled by the C compiler that Rust links with: a shared library that loads `libtreefold`, and a static
//! one.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{self, Command, Stdio};

use checkout::Error;
use checkout::workspace::{BuiltLibrary, target, workspace};

use crate::prefix::{Kind, Prefix};
use crate::template::Values;
use crate::{LIBRARY, install_shared, read};

const NAME: &str = "libtreefold_reprored";

/// Compiles both, and installs them, for the library that they call.
pub(super) fn install(
    called: &BuiltLibrary,
    prefix: &Prefix,
    values: &Values<'_>,
) -> Result<(), Error> {
    let folder = target()?.join(format!("reprored-{}", process::id()));
    fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
    let installed = compile(&folder, called, values).and_then(|[shared, archive]| {
        install_shared(NAME, &shared, prefix, values)?;
        let place = format!("{}/{NAME}.a", values.libdir);
        prefix.write(&place, &archive, Kind::StaticLibrary)
    });
    let _ = fs::remove_dir_all(&folder);
    installed
}

/// The shared library and the static one, made in a folder.
fn compile(
    folder: &Path,
    called: &BuiltLibrary,
    values: &Values<'_>,
) -> Result<[Vec<u8>; 2], Error> {
    let package = workspace().join("bindings/c-mpi");
    let path = |extension: &str| folder.join(format!("{NAME}.{extension}"));
    let (shared, object, archive) = (path("so"), path("o"), path("a"));
    let source = package.join("reprored/reprored.c");
    let run = |command: &mut Command| run(command).map_err(|reason| Error::file(&source, reason));
    let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
    let compile = |output: &Path| {
        let mut command = Command::new(&compiler);
        command.args(["-std=c11", "-O2", "-fPIC", "-I"]);
        command.arg(package.join("include"));
        command.arg(&source).arg("-o").arg(output);
        command
    };
    // Both libraries are in one folder, wherever that is.
    let mut link = compile(&shared);
    link.arg("-shared").arg(LIBRARY.file(called, "so")?);
    link.arg(format!("-Wl,-soname,{NAME}.so.{}", values.interface()));
    link.arg("-Wl,-rpath,$ORIGIN");
    run(&mut link)?;
    run(compile(&object).arg("-c"))?;
    run(Command::new("ar").arg("rcs").arg(&archive).arg(&object))?;
    Ok([read(&shared)?, read(&archive)?])
}

/// Runs a tool of C's; what it says if it fails.
fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output();
    let told = match output {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => format!("{error}: install gcc or clang, and binutils"),
    };
    let tool = command.get_program().to_string_lossy();
    Err(format!("{tool}: {told}"))
}
