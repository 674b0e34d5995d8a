//! What the interfaces of C, C++ and Fortran repeat over types, operators and collective operations, written once.
//!
//! `functions` is the table: a line a function. [`files`] are the sources that it is written into, each a part between two marks:
//!
//! - `bindings/c`, `src/boundary/{typed,any_type,exact,by_key,rows_by_key,windows,states}.rs`, and `bindings/c-mpi`,
//!   `src/boundary/{calls,by_key}.rs`: the exports, whole files;
//! - `include/treefold.hpp`: the objects of both namespaces;
//! - `fortran/*.F90`: the generic procedures of the modules for one type, and the interfaces of C's functions, which come from the
//!   headers themselves.
//!
//! The headers stay hand-written: their prose and prototypes are what users read, and the test `headers` of crate `documents` holds the exports
//! against them. `cargo run -p table` writes the files, and a test of this crate finds one that differs.

mod cpp;
mod error;
mod exact;
mod fortran;
mod functions;
mod prototypes;
mod region;
mod rust;
mod text;
mod typed;

use std::fs;
use std::path::{Path, PathBuf};

pub use error::Error;
use prototypes::Prototype;

/// A file of the bindings, as the table has it.
#[derive(Debug)]
pub struct File {
    /// Where it is.
    pub path: PathBuf,
    /// What it is to hold.
    pub text: String,
}

/// The files that the table is written into, below the folder `bindings`.
///
/// # Errors
/// A file that cannot be read, lacks a mark, or a prototype of a header that is not understood; or `rustfmt` fails.
pub fn files(bindings: &Path) -> Result<Vec<File>, Error> {
    let read = |name: &str| {
        let path = bindings.join(name);
        fs::read_to_string(&path).map_err(|source| Error::File { path, source })
    };
    let prototypes = |name: &str| Prototype::all(name, &read(name)?);
    let local = prototypes("c/include/treefold.h")?;
    let ranks = prototypes("c-mpi/include/treefold_mpi.h")?;
    let file = |name: &str, text: String| File {
        path: bindings.join(name),
        text,
    };
    let in_regions = |name: &str, regions: &[(&str, String)]| {
        Ok(file(name, region::fill(name, read(name)?, regions)?))
    };
    let mut files = Vec::new();
    for (name, text) in rust::local()? {
        files.push(file(&format!("c/src/boundary/{name}.rs"), text));
    }
    files.extend([
        file("c/src/boundary/states.rs", rust::states()?),
        file("c-mpi/src/boundary/calls.rs", rust::calls()?),
        file("c-mpi/src/boundary/by_key.rs", rust::calls_by_key()?),
        in_regions("c/include/treefold.hpp", &cpp::regions())?,
        in_regions("c/fortran/treefold.F90", &fortran::local::regions(&local)?)?,
        in_regions(
            "c-mpi/fortran/treefold_mpi.F90",
            &fortran::ranks::regions(&ranks)?,
        )?,
    ]);
    Ok(files)
}

/// The folder `bindings` of this checkout.
#[must_use]
pub fn bindings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}
