//! The launcher that has started this process, if environment variables identify it.

use std::ffi::OsString;

use crate::family::Family;

/// The launcher of an MPI library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launcher {
    /// The environment variable by which the launcher was recognised.
    pub variable: &'static str,
    /// The family of the launcher's library. Any launcher may start programs of the standard ABI.
    pub family: Family,
}

/// The variable that Open MPI's `mpirun` sets.
const OPEN_MPI: &str = "OMPI_COMM_WORLD_SIZE";

/// The variable that launchers of the MPICH family set. Slurm sets it, too, for any library that uses the PMI protocol.
const PMI: &str = "PMI_SIZE";

/// The variable that Hydra, the launcher of MPICH and Intel MPI, sets, but Slurm does not.
const HYDRA: &str = "MPI_LOCALNRANKS";

/// The variable that Slurm sets.
const SLURM: &str = "SLURM_PROCID";

impl Launcher {
    /// The launcher of this process. `None` if there is none, if launchers are nested, or if the launcher serves all libraries (Slurm).
    pub fn of_process() -> Option<Self> {
        Self::of(|variable| std::env::var_os(variable))
    }

    fn of(value: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let is_set = |variable| value(variable).is_some_and(|value| !value.is_empty());
        let is_of_mpich = is_set(PMI) && (is_set(HYDRA) || !is_set(SLURM));
        let (variable, family) = match (is_set(OPEN_MPI), is_set(PMI)) {
            (true, false) => (OPEN_MPI, Family::OpenMpi),
            (false, true) if is_of_mpich => (PMI, Family::Mpich),
            _ => return None,
        };
        Some(Self { variable, family })
    }

    /// Whether the launcher can start programs that use a library of this family.
    pub fn starts(self, family: Family) -> bool {
        family == Family::Abi || family == self.family
    }

    /// The names of the libraries that the launcher may belong to, the likeliest first.
    pub(crate) fn names(self) -> &'static [&'static str] {
        match self.family {
            Family::OpenMpi => &["libmpi.so.40", "libmpi_abi.so.0", "libmpi_abi.so.1"],
            Family::Mpich | Family::Abi => &[
                "libmpi.so.12",
                "libmpich.so.12",
                "libmpi_abi.so.0",
                "libmpi_abi.so.1",
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Launcher;
    use crate::family::Family;

    #[test]
    fn variables_that_leave_no_doubt() {
        let of = |set: &[&str]| {
            let launcher = Launcher::of(|variable| set.contains(&variable).then(|| "2".into()));
            launcher.map(|launcher| launcher.family)
        };
        let (ompi, pmi, hydra, slurm) = (
            "OMPI_COMM_WORLD_SIZE",
            "PMI_SIZE",
            "MPI_LOCALNRANKS",
            "SLURM_PROCID",
        );
        for (set, family) in [
            (&[][..], None),
            (&[ompi], Some(Family::OpenMpi)),
            (&[ompi, slurm], Some(Family::OpenMpi)),
            (&[pmi], Some(Family::Mpich)),
            (&[pmi, hydra], Some(Family::Mpich)),
            (&[pmi, hydra, slurm], Some(Family::Mpich)),
            // Slurm starts programs of any library.
            (&[pmi, slurm], None),
            (&[slurm], None),
            // Nested launchers.
            (&[ompi, pmi, hydra], None),
            (&["PMIX_RANK"], None),
        ] {
            assert_eq!(of(set), family, "{set:?}");
        }
    }

    #[test]
    fn any_launcher_starts_the_standard_abi() {
        let launcher = |family| Launcher {
            variable: "X",
            family,
        };
        assert!(launcher(Family::OpenMpi).starts(Family::Abi));
        assert!(launcher(Family::Mpich).starts(Family::Mpich));
        assert!(!launcher(Family::Mpich).starts(Family::OpenMpi));
    }
}
