//! The packages to build, and the files to install from each.

use std::fs;
use std::path::Path;
use std::process;

use checkout::Error;
use checkout::files::{self, bytes, listed};
use checkout::headers::functions;
use checkout::workspace::{BuiltLibrary, target, workspace};

use crate::headers::{self, HEADERS};
use crate::prefix::{Kind, Prefix};
use crate::shared;
use crate::template::{self, Template, Values};

/// A package to build, and the files to install from it.
pub(super) struct Part {
    pub(super) package: &'static str,
    /// The library's name in Rust.
    target: &'static str,
    /// The library's installed name: the file is `libNAME.so`.
    pub(super) name: &'static str,
    /// The folders of bindings/ with headers and modules. A library with such folders is one that programs link. It is also installed as a
    /// static library, as [`OTHER_NAME`], and with ReproRed's interface.
    pub(super) folders: &'static [&'static str],
    templates: &'static [Template],
}

/// The library that programs link.
pub(super) const LIBRARY: Part = Part {
    package: "treefold-c-library",
    target: "treefold_c_library",
    name: "treefold",
    folders: &["c", "c-mpi"],
    templates: template::LIBRARY,
};

/// Another name by which programs with MPI may link the library.
const OTHER_NAME: &str = "treefold_mpi";

/// The interposer, which is a library that unchanged programs load, and the command that starts such programs.
pub(super) const INTERPOSER: Part = Part {
    package: "treefold-pmpi",
    target: "treefold_pmpi",
    name: "treefold_pmpi",
    folders: &[],
    templates: template::INTERPOSER,
};

impl Part {
    /// The name of the library's files up to the first dot.
    fn library(&self) -> String {
        format!("lib{}", self.name)
    }

    fn file<'a>(&self, built: &'a BuiltLibrary, extension: &str) -> Result<&'a Path, Error> {
        let missing = || format!("no .{extension} of {} was built", self.package);
        let file = built.file(extension);
        file.ok_or_else(|| Error::Cargo(missing()))
    }

    /// Installs the library, then the files for compilers, and last the files by which build tools find the library.
    pub(super) fn install(
        &self,
        built: &[BuiltLibrary],
        prefix: &Prefix,
        values: &Values<'_>,
    ) -> Result<(), Error> {
        let built = built.iter().find(|library| library.target == self.target);
        let missing = || Error::Cargo(format!("no library of {} was built", self.package));
        let built = built.ok_or_else(missing)?;
        if self.folders.is_empty() {
            let content = bytes(self.file(built, "so")?)?;
            shared::install(&self.library(), &content, prefix, values)?;
        } else {
            let folder = target()?.join(format!("install-{}", process::id()));
            files::make(&folder)?;
            let installed = self.install_for_linkers(built, &folder, prefix, values);
            let _ = fs::remove_dir_all(&folder);
            installed?;
        }
        for template in self.templates {
            let text = template.fill(values);
            prefix.write(&template.path(values), text.as_bytes(), template.kind)?;
        }
        Ok(())
    }

    /// Links the library in a folder, and installs it with headers, modules and ReproRed's interface.
    fn install_for_linkers(
        &self,
        built: &BuiltLibrary,
        folder: &Path,
        prefix: &Prefix,
        values: &Values<'_>,
    ) -> Result<(), Error> {
        let name = self.library();
        shared::link(self.file(built, "a")?, &name, &symbols()?, folder, values)?;
        let content = bytes(&folder.join(format!("{name}.so")))?;
        shared::install(&name, &content, prefix, values)?;
        self.install_for_compilers(built, prefix, values)?;
        shared::install_reprored(folder, prefix, values)
    }

    fn install_for_compilers(
        &self,
        built: &BuiltLibrary,
        prefix: &Prefix,
        values: &Values<'_>,
    ) -> Result<(), Error> {
        let path = |name: &str, extension| format!("{}/lib{name}.{extension}", values.libdir);
        let content = bytes(self.file(built, "a")?)?;
        prefix.write(&path(self.name, "a"), &content, Kind::StaticLibrary)?;
        for extension in ["so", "a"] {
            let file = format!("lib{}.{extension}", self.name);
            prefix.link(&path(OTHER_NAME, extension), &file)?;
        }
        for folder in self.folders {
            let package = workspace().join("bindings").join(folder);
            let sources = ["include", "fortran"].into_iter();
            for (source, target) in sources.zip(["include", "share/treefold/fortran"]) {
                for path in listed(&package.join(source))? {
                    let place = format!("{target}/{}", files::name(&path));
                    prefix.write(&place, &bytes(&path)?, Kind::Text)?;
                }
            }
        }
        Ok(())
    }
}

/// The functions of the headers, and the ones that `libtreefold_reprored` calls.
fn symbols() -> Result<Vec<String>, Error> {
    let mut symbols = Vec::new();
    for (folder, name) in HEADERS {
        symbols.extend(functions(&headers::read(folder, name)?));
    }
    let called = shared::reprored_symbols()?.into_iter();
    symbols.extend(called.map(|name| format!("treefold_reprored_{name}")));
    Ok(symbols)
}
