//! The parts of a cluster, each a process of this program.

mod carrier;
mod control;
mod enter;
mod init;
mod launchers;
mod node;
mod outer;

use std::env;
use std::ffi::OsString;
use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process;

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sys::signal::Signal;
use nix::unistd::geteuid;

pub use control::Control;
pub use outer::run;

use crate::Error;

/// The first argument of the cluster's own processes.
const PART: &str = "--cluster-part";

/// The device that creates TAP devices.
const TUN: &str = "/dev/net/tun";

/// The environment variable inside the cluster with the process ids of the nodes' keepers.
const NODES_VARIABLE: &str = "TREEFOLD_CLUSTER_NODES";

/// The environment variable with the name of the control socket.
const CONTROL_VARIABLE: &str = "TREEFOLD_CLUSTER_CONTROL";

/// The mount point of a node's own memory, also for temporary files.
const MEMORY: &str = "/dev/shm";

/// A node's host name.
fn name(number: usize) -> String {
    format!("node{number}")
}

/// A node's address.
fn address(number: usize) -> Ipv4Addr {
    let host = u8::try_from(number + 1).expect("there are at most 64 nodes");
    Ipv4Addr::new(10, 77, 0, host)
}

/// The exit status that shells report for a process ended by a signal.
fn status_of(signal: Signal) -> u8 {
    u8::try_from(128 + signal as i32).unwrap_or(u8::MAX)
}

/// Mounts a kernel file system.
fn mounted(kind: &str, place: &str, options: Option<&str>) -> Result<(), Error> {
    let mounted = mount(Some(kind), place, Some(kind), MsFlags::empty(), options);
    mounted.map_err(Error::on(place))
}

/// Why there are no namespaces.
fn unshare_failed(errno: Errno) -> Error {
    let reason = match errno {
        Errno::EPERM => "this user may make no namespaces (in a container: run it privileged)",
        Errno::EINVAL | Errno::ENOSYS => "this kernel has no such namespaces",
        Errno::ENOSPC => "there are as many namespaces as the system allows",
        _ => errno.desc(),
    };
    Error::Unsupported(format!("a cluster needs namespaces: {reason}"))
}

/// If this process has a role in a cluster, runs it and does not return.
///
/// Call it at the beginning of `main`, before a second thread starts.
pub fn take_part() {
    let mut arguments = env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != PART) {
        return;
    }
    let part = arguments.next().unwrap_or_default();
    let arguments: Vec<OsString> = arguments.collect();
    let ended = match part.to_str() {
        Some(init::PART) => init::main(&arguments),
        Some(node::PART) => node::main(&arguments),
        Some(enter::PART) => enter::main(&arguments),
        Some(enter::AGENT) => enter::run_agent(&arguments),
        _ => Err(Error::Unsupported(format!(
            "no part of a cluster is {part:?}"
        ))),
    };
    let status = ended.unwrap_or_else(|error| {
        eprintln!("error: cluster: {error}");
        2
    });
    process::exit(status.into());
}

/// Fails if this machine, or this user, cannot have a cluster.
///
/// # Errors
/// The missing requirement.
pub fn check() -> Result<(), Error> {
    let unsupported = |reason: String| Err(Error::Unsupported(reason));
    if !geteuid().is_root() {
        return unsupported(
            "a cluster needs root, for network namespaces and TAP devices".to_owned(),
        );
    }
    if let Err(error) = fs::metadata(TUN) {
        return unsupported(format!("a cluster needs {TUN}, for TAP devices: {error}"));
    }
    for namespace in ["net", "uts", "ipc", "mnt", "pid"] {
        if fs::metadata(format!("/proc/self/ns/{namespace}")).is_err() {
            return unsupported(format!("this kernel has no {namespace} namespaces"));
        }
    }
    Ok(())
}

/// The words before a command that make it run on the first node, inside the cluster.
///
/// # Errors
/// The path of this program is not known, or has blanks, which such words cannot have.
pub fn on_first_node() -> Result<Vec<String>, Error> {
    let own = own_path()?.display().to_string();
    if own.contains(char::is_whitespace) {
        let reason = format!("the path of this program has blanks: {own}");
        return Err(Error::Unsupported(reason));
    }
    Ok([&*own, PART, enter::PART, "0"].map(str::to_owned).into())
}

/// The path of this program.
fn own_path() -> Result<PathBuf, Error> {
    env::current_exe().map_err(Error::on("the path of this program"))
}
