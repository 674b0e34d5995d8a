//! The processes of a cluster, which all run this program. The outer process starts the cluster, waits, and ends the cluster if a signal
//! arrives. The others are the [first process inside](init), the keepers of the [nodes](node), and processes that enter a node.

mod control;
mod init;
mod node;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{self, Command};
use std::{env, fs};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, geteuid};

use crate::{Error, Settings};

pub use control::Control;

/// The first argument of the cluster's own processes.
const PART: &str = "--cluster-part";

/// The device that creates TAP devices.
const TUN: &str = "/dev/net/tun";

/// The environment variable, set inside the cluster, that has the process ids of the nodes' keepers.
const NODES_VARIABLE: &str = "TREEFOLD_CLUSTER_NODES";

/// The environment variable with the name of the control socket.
const CONTROL_VARIABLE: &str = "TREEFOLD_CLUSTER_CONTROL";

/// Where each node mounts its own file system in memory, which also holds temporary files.
const MEMORY: &str = "/dev/shm";

/// The namespaces of a node, by their names in /proc.
const NAMESPACES: [(&str, CloneFlags); 4] = [
    ("net", CloneFlags::CLONE_NEWNET),
    ("uts", CloneFlags::CLONE_NEWUTS),
    ("ipc", CloneFlags::CLONE_NEWIPC),
    ("mnt", CloneFlags::CLONE_NEWNS),
];

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

/// The error that reports why namespaces could not be created.
fn unshare_failed(errno: Errno) -> Error {
    let reason = match errno {
        Errno::EPERM => "this user may not create them (in a container: run it privileged)",
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
        Some(ENTER) => enter_and_run(&arguments),
        Some(AGENT) => run_agent(&arguments),
        _ => Err(Error::Unsupported(format!(
            "a cluster has no role {part:?}"
        ))),
    };
    let status = ended.unwrap_or_else(|error| {
        eprintln!("error: cluster: {error}");
        2
    });
    process::exit(status.into());
}

/// Fails if this machine or this user cannot run a cluster.
///
/// # Errors
/// The missing requirement.
pub fn check() -> Result<(), Error> {
    let unsupported = |reason: String| Err(Error::Unsupported(reason));
    if !geteuid().is_root() {
        let reason = "a cluster needs root, for network namespaces and TAP devices";
        return unsupported(reason.to_owned());
    }
    if let Err(error) = fs::metadata(TUN) {
        return unsupported(format!("a cluster needs {TUN}, for TAP devices: {error}"));
    }
    let own = NAMESPACES.map(|(namespace, _)| namespace);
    for namespace in own.into_iter().chain(["pid"]) {
        if fs::metadata(format!("/proc/self/ns/{namespace}")).is_err() {
            return unsupported(format!("this kernel has no {namespace} namespaces"));
        }
    }
    Ok(())
}

/// Words that, put before a command inside the cluster, make the command run on the first node.
///
/// # Errors
/// The path of this program is not known, or contains blanks, at which a launcher would split it.
pub fn on_first_node() -> Result<Vec<String>, Error> {
    let own = own_path()?.display().to_string();
    if own.contains(char::is_whitespace) {
        let reason = format!("the path of this program has blanks: {own}");
        return Err(Error::Unsupported(reason));
    }
    Ok([&*own, PART, ENTER, "0"].map(str::to_owned).into())
}

/// The path of this program.
fn own_path() -> Result<PathBuf, Error> {
    env::current_exe().map_err(Error::on("the path of this program"))
}

/// Signals that end the cluster.
const ENDING: [Signal; 4] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
];

/// Runs a command in a cluster and returns its exit status, or 128 plus the number of the signal that ended the command or the cluster.
///
/// `prepare` may set the command's environment variables. The process must have only one thread. Messages of the cluster go to standard error.
///
/// # Errors
/// A setting is out of range; this machine or this user cannot run a cluster; or the cluster's set-up failed.
pub fn run(
    settings: &Settings,
    command: &[OsString],
    prepare: impl FnOnce(&mut Command),
) -> Result<u8, Error> {
    settings.check()?;
    check()?;
    let mut signals = SigSet::from_iter(ENDING);
    signals.add(Signal::SIGCHLD);
    signals.thread_block().map_err(Error::on("signals"))?;
    // The next child is process 1 of a new namespace. When this child ends, the kernel ends all other processes there.
    unshare(CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS).map_err(unshare_failed)?;
    let mut first = Command::new(own_path()?);
    let own_id = process::id().to_string();
    first.args([PART, init::PART, &own_id, &settings.encode()]);
    prepare(first.args(command));
    let child = first.spawn().map_err(Error::on("the first process"))?;
    let init = Pid::from_raw(child.id().cast_signed());
    loop {
        let signal = signals.wait().map_err(Error::on("signals"))?;
        if signal != Signal::SIGCHLD {
            // `kill` fails if the process has already ended.
            let _ = kill(init, Signal::SIGKILL);
            waitpid(init, None).map_err(Error::on("the first process"))?;
            return Ok(status_of(signal));
        }
        let ended = waitpid(init, Some(WaitPidFlag::WNOHANG));
        match ended.map_err(Error::on("the first process"))? {
            WaitStatus::Exited(_, status) => return Ok(u8::try_from(status).unwrap_or(u8::MAX)),
            WaitStatus::Signaled(_, signal, _) => return Ok(status_of(signal)),
            _ => {}
        }
    }
}

/// The name of the role that runs a command on a node. Arguments: the node's number and the command.
const ENTER: &str = "enter";

/// The name of the role that launchers start instead of `ssh`. Arguments: options of `ssh`, a node's name, and words for a shell.
const AGENT: &str = "agent";

fn enter_and_run(arguments: &[OsString]) -> Result<u8, Error> {
    let [number, program, arguments @ ..] = arguments else {
        return Err(Error::Unsupported("no command for the node".to_owned()));
    };
    enter(number)?;
    become_program(Command::new(program).args(arguments))
}

fn run_agent(arguments: &[OsString]) -> Result<u8, Error> {
    let is_option = |word: &&OsString| word.as_encoded_bytes().starts_with(b"-");
    let mut words = arguments.iter().skip_while(is_option);
    let name = words.next().map(|name| name.to_string_lossy().into_owned());
    let number = name.as_deref().and_then(|name| name.strip_prefix("node"));
    let Some(number) = number else {
        return Err(Error::Unsupported(format!("no node is called {name:?}")));
    };
    enter(OsStr::new(number))?;
    let script: Vec<OsString> = words.cloned().collect();
    let script = script.join(OsStr::new(" "));
    become_program(Command::new("sh").arg("-c").arg(script))
}

fn become_program(command: &mut Command) -> Result<u8, Error> {
    let error = command.env("TMPDIR", MEMORY).exec();
    Err(Error::on(command.get_program().to_string_lossy())(error))
}

/// Moves this process to a node. The process keeps its current folder.
fn enter(number: &OsStr) -> Result<(), Error> {
    let missing = || Error::Unsupported(format!("there is no node {} here", number.display()));
    let pids = env::var(NODES_VARIABLE).map_err(|_| missing())?;
    let index = number.to_str().and_then(|word| word.parse().ok());
    let index: usize = index.ok_or_else(missing)?;
    let pid = pids.split(' ').nth(index).ok_or_else(missing)?;
    let folder = env::current_dir().map_err(Error::on("the current folder"))?;
    // Opens all files before the mounts change. Process ids are the same on all nodes.
    let opened = NAMESPACES.map(|(name, flag)| {
        let path = format!("/proc/{pid}/ns/{name}");
        let file = File::open(&path).map_err(Error::on(path));
        file.map(|file| (file, flag))
    });
    for namespace in opened {
        let (file, flag) = namespace?;
        setns(file, flag).map_err(Error::on(format!("node {index}")))?;
    }
    env::set_current_dir(&folder).map_err(Error::on(folder.to_string_lossy()))
}
