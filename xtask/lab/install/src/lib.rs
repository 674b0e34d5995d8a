//! `cargo xtask install`: the libraries for C, C++ and Fortran in a prefix, with what pkg-config and CMake need to find them.
//!
//! `lib/libtreefold` knows no MPI; `lib/libtreefold_mpi` is for every MPI library, and found when a program runs. Beside it are
//! `lib/libtreefold_pmpi`, which unchanged programs load, and `bin/treefold-run`, which starts them. Nothing that is installed names the
//! prefix: it can be moved.

#![expect(clippy::print_stdout, reason = "it says what it builds and installs")]

mod prefix;
mod template;

use std::fs;
use std::path::{Path, PathBuf};

use checkout::Error;
use checkout::workspace::{BuiltLibrary, cargo, libraries, workspace};
use clap::Args;

use prefix::{Kind, Prefix};
use template::{Template, Values};

/// The version of all packages of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Options of `install`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The folder that gets lib/, include/, share/ and bin/; created if it does not exist
    #[arg(long, value_name = "FOLDER")]
    prefix: Option<PathBuf>,
    /// Not needed any more: what is installed is for every MPI library
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    mpi: Option<Option<String>>,
}

/// Runs the command.
///
/// # Errors
/// The prefix cannot be written to, or a library cannot be built.
pub fn install(options: &Options) -> Result<(), Error> {
    let missing = "it is missing: the folder to install to, as in `--prefix ~/treefold`";
    let folder = options.prefix.as_deref();
    let folder = folder.ok_or_else(|| Error::option("--prefix", missing))?;
    if options.mpi.is_some() {
        eprintln!("--mpi is not needed: what is installed is for every MPI library");
    }
    // What can be refused is refused before anything is built, which takes minutes.
    let prefix = Prefix::open(folder)?;
    let values = Values::new(VERSION);
    let parts = [&LOCAL, &MPI, &INTERPOSER];
    let built = build(&parts)?;
    for part in parts {
        part.install(&built, &prefix, &values)?;
    }
    Ok(())
}

/// Builds the libraries of some parts.
fn build(parts: &[&Part]) -> Result<Vec<BuiltLibrary>, Error> {
    let names: Vec<String> = parts
        .iter()
        .map(|part| format!("lib{}", part.name))
        .collect();
    println!("building {}", names.join(" and "));
    let mut cargo = cargo();
    cargo.args(["build", "--release", "--lib"]);
    for part in parts {
        cargo.args(["--package", part.package]);
    }
    libraries(&mut cargo, "`cargo build --release` says more")
}

/// A package that is built, and what is installed of it.
struct Part {
    package: &'static str,
    /// Its folder of bindings/.
    folder: &'static str,
    /// What it is called in Rust.
    target: &'static str,
    /// What it is called elsewhere: the file is `libNAME.so`.
    name: &'static str,
    /// Whether programs are compiled with it: then it has headers and a static library.
    is_linked: bool,
    templates: &'static [Template],
}

/// The part for one process.
const LOCAL: Part = Part {
    package: "treefold-c-library",
    folder: "c",
    target: "treefold_c_library",
    name: "treefold",
    is_linked: true,
    templates: template::LOCAL,
};

/// The part for ranks.
const MPI: Part = Part {
    package: "treefold-c-mpi",
    folder: "c-mpi",
    target: "treefold_c_mpi",
    name: "treefold_mpi",
    is_linked: true,
    templates: template::MPI,
};

/// The library that unchanged programs load, and the command that starts them.
const INTERPOSER: Part = Part {
    package: "treefold-pmpi",
    folder: "interposer",
    target: "treefold_pmpi",
    name: "treefold_pmpi",
    is_linked: false,
    templates: template::INTERPOSER,
};

impl Part {
    fn file<'a>(&self, built: &'a BuiltLibrary, extension: &str) -> Result<&'a Path, Error> {
        let missing = || format!("it built no .{extension} of {}", self.package);
        let file = built.file(extension);
        file.ok_or_else(|| Error::Cargo(missing()))
    }

    /// Installs the shared library and its other names.
    fn install_shared(
        &self,
        built: &BuiltLibrary,
        prefix: &Prefix,
        values: &Values,
    ) -> Result<(), Error> {
        let shared = format!("lib{}.so", self.name);
        let whole = format!("{shared}.{}", values.version());
        let interface = format!("{shared}.{}", values.interface());
        let content = read(self.file(built, "so")?)?;
        prefix.write(&format!("lib/{whole}"), &content, Kind::SharedLibrary)?;
        prefix.link(&format!("lib/{interface}"), &whole)?;
        prefix.link(&format!("lib/{shared}"), &whole)
    }

    /// Installs the library, then what compilers read, and last of all what the part is found by.
    fn install(
        &self,
        built: &[BuiltLibrary],
        prefix: &Prefix,
        values: &Values,
    ) -> Result<(), Error> {
        let built = built.iter().find(|library| library.target == self.target);
        let missing = || Error::Cargo(format!("it built no library of {}", self.package));
        let built = built.ok_or_else(missing)?;
        self.install_shared(built, prefix, values)?;
        if self.is_linked {
            self.install_for_compilers(built, prefix)?;
        }
        for template in self.templates {
            prefix.write(
                template.path,
                template.fill(values).as_bytes(),
                template.kind,
            )?;
        }
        Ok(())
    }

    fn install_for_compilers(&self, built: &BuiltLibrary, prefix: &Prefix) -> Result<(), Error> {
        let archive = format!("lib/lib{}.a", self.name);
        let content = read(self.file(built, "a")?)?;
        prefix.write(&archive, &content, Kind::StaticLibrary)?;
        let package = workspace().join("bindings").join(self.folder);
        for (source, target) in [
            ("include", "include"),
            ("fortran", "share/treefold/fortran"),
        ] {
            for path in files(&package.join(source))? {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                prefix.write(&format!("{target}/{name}"), &read(&path)?, Kind::Text)?;
            }
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| Error::file(path, error))
}

/// The files of a folder, by name. A part that lacks one of its folders is not whole.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let failed = |error| Error::file(folder, error);
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths = entries.map(|entry| Ok(entry.map_err(failed)?.path()));
    let paths: Result<Vec<PathBuf>, Error> = paths.collect();
    let mut files: Vec<PathBuf> = paths?.into_iter().filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}
