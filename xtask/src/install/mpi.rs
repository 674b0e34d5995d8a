//! The MPI library that the MPI part is built for, and what a prefix calls it.

use std::env;
use std::process::{Command, Stdio};

use harness::{Error, Installation};

/// Macros of `mpi.h`, and the family that one of them tells.
const FAMILIES: [(&str, &str); 4] = [
    ("OPEN_MPI", "openmpi"),
    ("MPICH_VERSION", "mpich"),
    ("I_MPI_VERSION", "mpich"),
    ("MVAPICH2_VERSION", "mpich"),
];

/// An MPI library.
pub(super) struct Mpi {
    installation: Installation,
    /// Its name, or the family of one that has no name here.
    pub(super) name: String,
}

impl Mpi {
    /// The library of a name, or that of `MPICC`.
    pub(super) fn find(name: Option<&str>) -> Result<Self, Error> {
        let installation = Installation::find(name, None)?;
        installation.check()?;
        let name = match installation.name() {
            Some(name) => name.to_owned(),
            None => family(&env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned()))?,
        };
        Ok(Self { installation, name })
    }

    /// A `cargo` that builds for it.
    pub(super) fn cargo(&self) -> Command {
        self.installation.cargo()
    }
}

/// The family of a compiler wrapper's library.
fn family(compiler: &str) -> Result<String, Error> {
    let mut command = Command::new(compiler);
    command.args(["-E", "-dM", "-include", "mpi.h", "-x", "c", "/dev/null"]);
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| Error::Mpi(format!("{compiler}: {error}")))?;
    let found = family_of(&String::from_utf8_lossy(&output.stdout));
    let unknown = || format!("the mpi.h of {compiler} is of no family that is known here");
    found
        .map(str::to_owned)
        .ok_or_else(|| Error::Mpi(unknown()))
}

/// The family that `#define` lines tell.
fn family_of(macros: &str) -> Option<&'static str> {
    let names: Vec<&str> = macros
        .lines()
        .filter_map(|line| line.split(' ').nth(1))
        .collect();
    let mut families = FAMILIES.iter();
    let found = families.find(|(name, _)| names.contains(name));
    found.map(|(_, family)| *family)
}

#[cfg(test)]
mod tests {
    use super::family_of;

    #[test]
    fn families_are_told_by_macros_of_their_own() {
        let of = |name: &str| family_of(&format!("#define EOF (-1)\n#define {name} 1\n"));
        assert_eq!(of("OPEN_MPI"), Some("openmpi"));
        assert_eq!(of("MPICH_VERSION"), Some("mpich"));
        assert_eq!(of("NOT_OPEN_MPI"), None);
    }
}
