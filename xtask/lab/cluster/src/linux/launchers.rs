//! Lets MPI launchers find the nodes: writes files on every node, and sets environment variables
//! with the names of these files.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::{MEMORY, PART, address, enter, name, own_path};
use crate::{Error, Settings};

/// The folder of these files on a node.
const FOLDER: &str = "cluster";

/// The program that Open MPI and MPICH call instead of `ssh`.
const AGENT: &str = "agent";

/// The names of the host files, one in the format of each library.
const OPENMPI_HOSTS: &str = "hosts.openmpi";
const MPICH_HOSTS: &str = "hosts.mpich";

fn path(file: &str) -> PathBuf {
    [MEMORY, FOLDER, file].iter().collect()
}

/// Writes the files of a node. Returns the one that becomes its `/etc/hosts`.
pub(super) fn write_files(settings: &Settings) -> Result<PathBuf, Error> {
    let agent = path(AGENT);
    let own = own_path()?;
    let own = own.to_string_lossy().replace('\'', r"'\''");
    let list = |line: &dyn Fn(usize) -> String| {
        let lines: Vec<String> = (0..settings.nodes).map(line).collect();
        lines.concat()
    };
    let room = settings.ranks_per_node;
    let addresses = list(&|number| format!("{} {}\n", address(number), name(number)));
    let hosts = path("hosts");
    for (path, content) in [
        (
            &agent,
            format!("#!/bin/sh\nexec '{own}' {PART} {} \"$@\"\n", enter::AGENT),
        ),
        (
            &path(OPENMPI_HOSTS),
            list(&|number| format!("{} slots={room}\n", name(number))),
        ),
        (
            &path(MPICH_HOSTS),
            list(&|number| format!("{}:{room}\n", name(number))),
        ),
        (&hosts, format!("127.0.0.1 localhost\n{addresses}")),
    ] {
        let folder = path.parent().unwrap_or(path);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, content));
        written.map_err(Error::on(path.to_string_lossy()))?;
    }
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(&agent, executable).map_err(Error::on(agent.to_string_lossy()))?;
    Ok(hosts)
}

/// The variables for Open MPI 4 and 5 and MPICH: the nodes, the agent, and settings for nodes that share cores.
pub(super) fn variables() -> Vec<(&'static str, String)> {
    let of = |file: &str| path(file).to_string_lossy().into_owned();
    let word = str::to_owned;
    vec![
        ("OMPI_MCA_plm_rsh_agent", of(AGENT)),
        ("PRTE_MCA_plm_ssh_agent", of(AGENT)),
        ("OMPI_MCA_orte_default_hostfile", of(OPENMPI_HOSTS)),
        ("PRTE_MCA_prte_default_hostfile", of(OPENMPI_HOSTS)),
        ("HYDRA_LAUNCHER_EXEC", of(AGENT)),
        ("HYDRA_HOST_FILE", of(MPICH_HOSTS)),
        // Clusters need root, and Open MPI refuses root without two variables.
        ("OMPI_ALLOW_RUN_AS_ROOT", word("1")),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", word("1")),
        ("PRTE_ALLOW_RUN_AS_ROOT", word("1")),
        ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", word("1")),
        // Otherwise each node would bind its first rank to the same core.
        ("OMPI_MCA_hwloc_base_binding_policy", word("none")),
        ("PRTE_MCA_hwloc_default_binding_policy", word("none")),
        // A node reports all cores of the machine, so launchers do not see that ranks share them.
        ("OMPI_MCA_mpi_yield_when_idle", word("1")),
        // Between nodes use TCP, within a node shared memory.
        ("OMPI_MCA_pml", word("ob1")),
        ("OMPI_MCA_btl", word("self,vader,tcp")),
        // End the job if a node is cut off; by default this would not be detected.
        ("OMPI_MCA_oob_tcp_keepalive_time", word("2")),
        ("OMPI_MCA_oob_tcp_keepalive_intvl", word("1")),
        ("OMPI_MCA_oob_tcp_keepalive_probes", word("3")),
    ]
}
