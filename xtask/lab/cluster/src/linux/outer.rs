//! The outer process: it starts the cluster, waits, and ends it when a signal arrives.

use std::ffi::OsString;
use std::process::{self, Command};

use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::{PART, check, init, own_path, status_of, unshare_failed};
use crate::{Error, Settings};

/// Signals that end the cluster.
const ENDING: [Signal; 4] = [
    Signal::SIGINT,
    Signal::SIGTERM,
    Signal::SIGHUP,
    Signal::SIGQUIT,
];

/// Runs a command in a cluster and returns its exit status, or 128 and the number of the signal that ended it or the cluster.
///
/// `prepare` may set the command's environment variables. The process must have only one thread. Messages of the cluster go to standard error.
///
/// # Errors
/// A setting is out of range; this machine or this user cannot have a cluster; or it could not be set up.
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
    // The next child is process 1 of a new namespace, and ends all others with it.
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
            // It has ended already, or ends now.
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
