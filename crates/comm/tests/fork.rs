//! Tests a forked child of a process that has a communicator: the child's calls fail, and never wait for the parent's threads.

#![cfg(unix)]
#![expect(unsafe_code, reason = "`fork` is a C function")]
#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

use comm::{Communicator, Error, Tag, collective, threads};

/// Whether `check` holds in a forked child.
fn holds_in_a_child(check: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child has this thread alone. It calls `check`, which allocates: glibc's allocator works after a fork.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "the process can be forked");
    if child == 0 {
        let code = i32::from(!check());
        // SAFETY: the call ends the child, and runs no destructors that belong to the parent.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: the child is ours, and `status` is a live int.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(waited, child);
    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}

#[test]
fn a_child_cannot_use_its_parent_s_communicator() {
    let held = threads::run(2, |comm| {
        let peer = 1 - comm.rank();
        let refused = Err(Error::Forked { rank: comm.rank() });
        let held = holds_in_a_child(|| {
            collective::send(&comm, peer, Tag::new(1), vec![1], 1) == refused
                && collective::receive(&comm, peer, Tag::new(1), 1).map(drop) == refused
        });
        // The parent goes on as before.
        let all = collective::allgather(&comm, Tag::CONTROL, vec![comm.rank().try_into().unwrap()])
            .unwrap();
        assert_eq!(all, [0, 1]);
        held
    });
    assert_eq!(held.unwrap(), [true, true]);
}
