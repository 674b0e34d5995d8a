//! Moves frames between the nodes' devices as the switch decides.

use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl;
use nix::sys::time::TimeSpec;
use tun_rs::SyncDevice;

use crate::switch::Switch;

/// More bytes than an Ethernet frame has.
const FRAME_BYTES_MAX: usize = 1 << 16;

/// How late the kernel may wake this thread: 50 us by default.
const SLACK_NS: u64 = 1;

/// Moves frames forever. Each device belongs to the port of its index.
pub(super) fn carry(devices: &[SyncDevice], switch: &Mutex<Switch>) {
    // With the default slack the switch is later, but still works.
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
        // An interrupted wait is repeated.
        let _ = ppoll(&mut polls, wait, None);
    }
}
