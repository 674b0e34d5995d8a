//! How parts of a cluster end: by a signal, or for want of namespaces.

use nix::errno::Errno;
use nix::sys::signal::Signal;

use crate::Error;

/// What a shell says of a process that a signal has ended.
pub(super) fn status_of(signal: Signal) -> u8 {
    u8::try_from(128 + signal as i32).unwrap_or(u8::MAX)
}

/// Why there are no namespaces.
pub(super) fn unshare_failed(errno: Errno) -> Error {
    let reason = match errno {
        Errno::EPERM => "this user may make no namespaces (in a container: run it privileged)",
        Errno::EINVAL | Errno::ENOSYS => "this kernel has no such namespaces",
        Errno::ENOSPC => "there are as many namespaces as the system allows",
        _ => errno.desc(),
    };
    Error::Unsupported(format!("a cluster needs namespaces: {reason}"))
}
