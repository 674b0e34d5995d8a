//! Process 1 of the cluster's namespace: it makes the nodes, carries their frames, and runs the command. When it ends, the kernel ends all
//! that is left.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::process::{self, Command};
use std::sync::{Arc, Mutex};
use std::thread;

use nix::mount::{MsFlags, mount};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, wait};
use nix::unistd::Pid;

use super::control;
use super::node::Node;
use super::{
    CONTROL_VARIABLE, NODES_VARIABLE, carrier, launchers, mounted, on_first_node, status_of,
};
use crate::switch::Switch;
use crate::{Error, Place, Settings};

/// What this part is called.
pub(super) const PART: &str = "init";

/// Arguments: the process outside, the settings, and the command. Returns the command's status.
pub(super) fn main(arguments: &[OsString]) -> Result<u8, Error> {
    let wrong = || Error::Unsupported("the first process was started wrongly".to_owned());
    let [outer, settings, command @ ..] = arguments else {
        return Err(wrong());
    };
    let settings = Settings::decode(settings).ok_or_else(wrong)?;
    let outer = outer.to_str().ok_or_else(wrong)?;
    die_with(outer)?;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>)
        .map_err(Error::on("mounts of its own"))?;
    // The numbers of this namespace's processes: nodes are found by them.
    mounted("proc", "/proc", None)?;
    let nodes = (0..settings.nodes).map(|number| Node::start(number, &settings));
    let nodes: Vec<Node> = nodes.collect::<Result<_, _>>()?;
    let devices = nodes.iter().map(Node::device);
    let devices = devices.collect::<Result<Vec<_>, _>>()?;
    let switch = Switch::new(settings.nodes, settings.delay, settings.loss, settings.seed);
    let switch = Arc::new(Mutex::new(switch));
    let carried = Arc::clone(&switch);
    // A switch does not compete with nodes for cores. Its thread inherits what this one has now.
    let is_first = set_policy("--fifo", "10");
    thread::spawn(move || carrier::carry(&devices, &carried));
    if !is_first || !set_policy("--other", "0") {
        eprintln!("cluster: the switch shares cores with the nodes, for want of chrt");
    }
    let pids: Vec<Pid> = nodes.iter().map(Node::pid).collect();
    let control = control::serve(outer, Arc::clone(&switch), pids.clone())?;
    eprintln!("cluster: {settings}; control @{control}");

    let mut words: Vec<OsString> = match settings.place {
        Place::Outside => Vec::new(),
        Place::FirstNode => on_first_node()?.into_iter().map(OsString::from).collect(),
    };
    words.extend_from_slice(command);
    let (program, arguments) = words.split_first().ok_or_else(wrong)?;
    let list: Vec<String> = pids.iter().map(Pid::to_string).collect();
    let mut started = Command::new(program);
    started.args(arguments);
    started.env(NODES_VARIABLE, list.join(" "));
    started.env(CONTROL_VARIABLE, &control);
    for (variable, value) in launchers::variables() {
        // What the caller has set, counts.
        if env::var_os(variable).is_none() {
            started.env(variable, value);
        }
    }
    let shown = program.to_string_lossy().into_owned();
    let child = started.spawn().map_err(Error::on(shown))?;
    let child = Pid::from_raw(child.id().cast_signed());
    loop {
        // As process 1 it also inherits what others have left behind.
        match wait().map_err(Error::on("processes"))? {
            WaitStatus::Exited(pid, status) if pid == child => {
                return Ok(u8::try_from(status).unwrap_or(u8::MAX));
            }
            WaitStatus::Signaled(pid, signal, _) if pid == child => return Ok(status_of(signal)),
            WaitStatus::Exited(pid, _) | WaitStatus::Signaled(pid, ..) if pids.contains(&pid) => {
                let number = pids.iter().position(|&node| node == pid);
                let what = format!("node {}", number.unwrap_or_default());
                return Err(Error::on(what)("its first process has ended"));
            }
            _ => {}
        }
    }
}

/// Sets the scheduling policy of this thread, and of what it starts; says whether that worked.
fn set_policy(policy: &str, priority: &str) -> bool {
    let own = process::id().to_string();
    let mut command = Command::new("chrt");
    command.args([policy, "--pid", priority, &own]);
    command.output().is_ok_and(|output| output.status.success())
}

/// Makes the kernel end this process with the one outside, however that ends.
fn die_with(outer: &str) -> Result<(), Error> {
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(Error::on("signals"))?;
    // It may have ended before. Its number is one of the namespace outside, and so is what /proc still says.
    let status = fs::read_to_string("/proc/self/status").map_err(Error::on("/proc"))?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    if parent.map(str::trim) == Some(outer) {
        Ok(())
    } else {
        Err(Error::Unsupported(
            "the process outside has ended".to_owned(),
        ))
    }
}
