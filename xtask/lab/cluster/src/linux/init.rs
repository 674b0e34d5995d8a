//! Process 1 of the cluster's namespace: creates the nodes, moves frames between them, and runs the command. When process 1 ends, the kernel
//! ends all other processes.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::process::{self, Command};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::sys::time::TimeSpec;
use nix::sys::wait::{WaitStatus, wait};
use nix::unistd::Pid;
use tun_rs::SyncDevice;

use super::node::Node;
use super::{CONTROL_VARIABLE, NODES_VARIABLE, control, mounted, node, on_first_node, status_of};
use crate::switch::Switch;
use crate::{Error, Place, Settings};

/// The name of the role of process 1.
pub(super) const PART: &str = "init";

/// Runs process 1 until the command ends. Arguments: the outer process' id, the settings, and the command. Returns the command's status.
pub(super) fn main(arguments: &[OsString]) -> Result<u8, Error> {
    let wrong = || Error::Unsupported("the first process got wrong arguments".to_owned());
    let [outer, settings, command @ ..] = arguments else {
        return Err(wrong());
    };
    let settings = Settings::decode(settings).ok_or_else(wrong)?;
    let outer = outer.to_str().ok_or_else(wrong)?;
    die_with(outer)?;
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>)
        .map_err(Error::on("private mounts"))?;
    // Mounts this namespace's /proc, through which processes enter nodes.
    mounted("proc", "/proc", None)?;
    let nodes = (0..settings.nodes).map(|number| Node::start(number, &settings));
    let nodes: Vec<Node> = nodes.collect::<Result<_, _>>()?;
    let devices = nodes.iter().map(Node::device);
    let devices = devices.collect::<Result<Vec<_>, _>>()?;
    let switch = Switch::new(settings.nodes, settings.delay, settings.loss, settings.seed);
    let switch = Arc::new(Mutex::new(switch));
    let carried = Arc::clone(&switch);
    // The switch must not compete with the nodes for cores, so its thread gets a real-time priority, which it inherits from this thread.
    let is_first = set_policy("--fifo", "10");
    thread::spawn(move || carry(&devices, &carried));
    if !is_first || !set_policy("--other", "0") {
        eprintln!("cluster: chrt failed, so the switch competes with the nodes for cores");
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
    for (variable, value) in node::variables() {
        // The caller's own settings take precedence.
        if env::var_os(variable).is_none() {
            started.env(variable, value);
        }
    }
    let shown = program.to_string_lossy().into_owned();
    let child = started.spawn().map_err(Error::on(shown))?;
    let child = Pid::from_raw(child.id().cast_signed());
    loop {
        // Process 1 also inherits orphans.
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

/// Sets the scheduling policy of this thread and its children. Returns whether that worked.
fn set_policy(policy: &str, priority: &str) -> bool {
    let own = process::id().to_string();
    let mut command = Command::new("chrt");
    command.args([policy, "--pid", priority, &own]);
    command.output().is_ok_and(|output| output.status.success())
}

/// Makes the kernel end this process when the outer one ends.
fn die_with(outer: &str) -> Result<(), Error> {
    prctl::set_pdeathsig(Signal::SIGKILL).map_err(Error::on("signals"))?;
    // The outer process may have ended already. Its id is that of the outer namespace, which this /proc still shows.
    let status = fs::read_to_string("/proc/self/status").map_err(Error::on("/proc"))?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    if parent.map(str::trim) == Some(outer) {
        Ok(())
    } else {
        Err(Error::Unsupported("the outer process has ended".to_owned()))
    }
}

/// The size of the buffer for a frame; Ethernet frames are shorter.
const FRAME_BYTES_MAX: usize = 1 << 16;

/// How late the kernel may wake the switch's thread; the default is 50 us.
const SLACK_NS: u64 = 1;

/// Runs the switch: moves frames between the devices forever. A device's index is the number of its port.
fn carry(devices: &[SyncDevice], switch: &Mutex<Switch>) {
    // If this fails, the switch delivers frames later, but still works.
    let _ = prctl::set_timerslack(SLACK_NS);
    let mut buffer = vec![0; FRAME_BYTES_MAX];
    let mut polls: Vec<PollFd<'_>> = devices
        .iter()
        .map(|device| PollFd::new(device.as_fd(), PollFlags::POLLIN))
        .collect();
    loop {
        let due = {
            let mut switch = switch.lock().unwrap_or_else(PoisonError::into_inner);
            for (port, device) in devices.iter().enumerate() {
                while switch.has_room() {
                    let Ok(length_bytes) = device.recv(&mut buffer) else {
                        break;
                    };
                    switch.accept(port, &buffer[..length_bytes], Instant::now());
                }
            }
            switch.deliver(Instant::now(), |port, frame| {
                // A frame that a device does not accept is lost, as on any network.
                let _ = devices[port].send(frame);
            });
            switch.next_due()
        };
        let wait = due.map(|due| due.saturating_duration_since(Instant::now()));
        let wait = wait.map(|wait: Duration| TimeSpec::from(wait));
        // If a signal interrupts the wait, the loop waits again.
        let _ = ppoll(&mut polls, wait, None);
    }
}
