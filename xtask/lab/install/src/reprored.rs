//! Builds `libtreefold_reprored` with the C compiler that Rust uses for linking: a shared library that loads `libtreefold`, and a static
//! one.

use std::path::Path;
use std::process::Command;

use checkout::Error;
use checkout::headers::functions;
use checkout::workspace::workspace;

use crate::files::read;
use crate::headers;
use crate::prefix::{Kind, Prefix};
use crate::shared::{self, compiler, name, run};
use crate::template::Values;

const NAME: &str = "libtreefold_reprored";

/// The functions of ReproRed's header.
pub(super) fn symbols() -> Result<Vec<String>, Error> {
    let text = headers::read("c-mpi", "binary_tree_summation.h")?;
    Ok(functions(&text).into_iter().collect())
}

/// Compiles both in a folder with `libtreefold.so`, which they call, and installs them.
pub(super) fn install(folder: &Path, prefix: &Prefix, values: &Values<'_>) -> Result<(), Error> {
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
    name(&mut link, NAME, &symbols()?, folder, values)?;
    // Both libraries are in the same folder, whose path may change.
    link.arg("-Wl,-rpath,$ORIGIN");
    run(&mut link)?;
    run(compile(&object).arg("-c"))?;
    run(Command::new("ar").arg("rcs").arg(&archive).arg(&object))?;
    shared::install(NAME, &read(&shared)?, prefix, values)?;
    let place = format!("{}/{NAME}.a", values.libdir);
    prefix.write(&place, &read(&archive)?, Kind::StaticLibrary)
}
