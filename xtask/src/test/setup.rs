//! What the stages with MPI need of the machine: Open MPI, libclang and valgrind.

use std::process::Command;

use harness::Error;
use harness::installed::{is_root, missing, runs};

/// Debian's packages: MPI's library, headers and launcher, libclang for the bindings, valgrind for instruction counts.
const PACKAGES: [&str; 4] = ["libopenmpi-dev", "openmpi-bin", "libclang-dev", "valgrind"];

/// Installs what is missing with apt-get, where that needs no password.
pub(super) fn set_up() -> Result<(), Error> {
    let mut lacking = missing();
    if !runs("valgrind") {
        lacking.push("valgrind");
    }
    if lacking.is_empty() {
        return Ok(());
    }
    let lacking = lacking.join(", ");
    let advice = format!(
        "missing: {lacking}; install {}, or leave MPI out by --no-mpi",
        PACKAGES.join(" ")
    );
    let sudo = match is_root() {
        true => None,
        false
            if Command::new("sudo")
                .args(["-n", "true"])
                .status()
                .is_ok_and(|status| status.success()) =>
        {
            Some("sudo")
        }
        false => return Err(Error::Mpi(advice)),
    };
    if !runs("apt-get") {
        return Err(Error::Mpi(advice));
    }
    println!("── installing what is missing: {lacking}");
    let install = ["install", "--yes", "--no-install-recommends"];
    for words in [&["update"][..], &[&install[..], &PACKAGES].concat()] {
        let mut command = match sudo {
            Some(sudo) => Command::new(sudo),
            None => Command::new("apt-get"),
        };
        if sudo.is_some() {
            command.arg("apt-get");
        }
        let status = command
            .arg("--quiet")
            .args(words)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(Error::Mpi(format!("apt-get {} failed; {advice}", words[0])));
        }
    }
    match missing()[..] {
        [] => Ok(()),
        ref still => Err(Error::Mpi(format!(
            "still missing after apt-get: {}; {advice}",
            still.join(", ")
        ))),
    }
}
