//! `cargo xtask install`: the libraries for C, C++ and Fortran in a prefix, with what pkg-config and CMake need to find them.
//!
//! `lib/libtreefold` knows no MPI; `lib/libtreefold_mpi` is built for one MPI library, so that a prefix holds one of them. Beside it are
//! `lib/libtreefold_pmpi`, which unchanged programs load, and `bin/treefold-run`, which starts them. Nothing that is installed names the
//! prefix: it can be moved.

mod interposer;
mod mpi;
mod prefix;
mod template;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use harness::Error;
use harness::workspace::{BuiltLibrary, cargo, libraries, workspace};

pub(crate) use interposer::folder as interposer_folder;

use mpi::Mpi;
use prefix::{Kind, Prefix};
use template::{Template, Values};

/// The version of all packages of the workspace.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Options of `install`.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// The folder that gets lib/, include/, share/ and, with --mpi, bin/; created if it does not exist
    #[arg(long, value_name = "FOLDER")]
    prefix: Option<PathBuf>,
    /// Install the MPI part, too, for this library: openmpi, mpich, openmpi5, mpich4, mpich5 or impi; without a name, for that of MPICC
    #[arg(long, value_name = "NAME", num_args = 0..=1)]
    mpi: Option<Option<String>>,
}

/// Runs the command.
pub fn run(options: &Options) -> Result<(), Error> {
    let missing = "it is missing: the folder to install to, as in `--prefix ~/treefold`";
    let folder = options.prefix.as_deref();
    let folder = folder.ok_or_else(|| Error::option("--prefix", missing))?;
    let mpi = options.mpi.as_ref().map(|name| Mpi::find(name.as_deref()));
    let mpi = mpi.transpose()?;
    // What can be refused is refused before anything is built, which takes minutes.
    let prefix = Prefix::open(folder)?;
    prefix.check(mpi.as_ref().map(|mpi| &*mpi.name), VERSION)?;

    let local = LOCAL.build(&mut cargo())?;
    let mpi_library = mpi.as_ref().map(|mpi| MPI.build(&mut mpi.cargo()));
    let mpi_library = mpi_library.transpose()?;
    let interposer = mpi.as_ref().map(interposer::build).transpose()?;
    LOCAL.install(&local, &prefix, &Values::new(VERSION, None))?;
    if let (Some(library), Some(interposer), Some(mpi)) = (mpi_library, interposer, mpi) {
        let values = Values::new(VERSION, Some(&mpi.name));
        MPI.install(&library, &prefix, &values)?;
        interposer::install(&interposer, &prefix, &values)?;
    }
    Ok(())
}

/// A package that is built, and what is installed of it.
struct Part {
    package: &'static str,
    /// Its features, as `cargo` takes them.
    features: &'static [&'static str],
    /// What it is called in Rust.
    target: &'static str,
    /// What it is called elsewhere: the file is `libNAME.so`.
    name: &'static str,
    /// What to do if it does not build.
    advice: &'static str,
    templates: &'static [Template],
}

/// The part for one process.
const LOCAL: Part = Part {
    package: "treefold-c",
    features: &[],
    target: "treefold_c",
    name: "treefold",
    advice: "`cargo build --release --package treefold-c` says more",
    templates: template::LOCAL,
};

/// The part for ranks.
const MPI: Part = Part {
    package: "treefold-c-mpi",
    features: &["--features", "mpi"],
    target: "treefold_c_mpi",
    name: "treefold_mpi",
    advice: "is MPI whole, with libclang?",
    templates: template::MPI,
};

impl Part {
    /// Builds the library. Each part is built by a `cargo` of its own: together, both would have the features of the MPI part.
    fn build(&self, cargo: &mut Command) -> Result<BuiltLibrary, Error> {
        println!("building lib{}", self.name);
        cargo.args(["build", "--release", "--lib", "--package", self.package]);
        let built = libraries(cargo.args(self.features), self.advice)?;
        let mut built = built.into_iter();
        let found = built.find(|library| library.target == self.target);
        found.ok_or_else(|| Error::Run(format!("cargo built no library of {}", self.package)))
    }

    fn file<'a>(&self, built: &'a BuiltLibrary, extension: &str) -> Result<&'a Path, Error> {
        let missing = || format!("cargo built no .{extension} of {}", self.package);
        let file = built.file(extension);
        file.ok_or_else(|| Error::Run(missing()))
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
    fn install(&self, built: &BuiltLibrary, prefix: &Prefix, values: &Values) -> Result<(), Error> {
        self.install_shared(built, prefix, values)?;
        let archive = format!("lib/lib{}.a", self.name);
        let content = read(self.file(built, "a")?)?;
        prefix.write(&archive, &content, Kind::StaticLibrary)?;

        let package = workspace().join("crates").join(self.package);
        for (source, target) in [
            ("include", "include"),
            ("fortran", "share/treefold/fortran"),
        ] {
            for path in files(&package.join(source))? {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                prefix.write(&format!("{target}/{name}"), &read(&path)?, Kind::Text)?;
            }
        }
        for template in self.templates {
            prefix.write(template.path, template.fill(values).as_bytes(), Kind::Text)?;
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
