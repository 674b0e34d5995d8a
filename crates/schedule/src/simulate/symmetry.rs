//! Simulates rank 0's program alone, as if all ranks ran it.

use super::machine::Machine;
use super::outcome::{Carried, Simulation};
use super::sizes::Sizes;
use crate::catalogue::Schedule;
use crate::cost::count;
use crate::vocabulary::Transfer;

/// The sum of the times of rank 0's steps, as if all messages of a step began with the step.
pub(super) fn by_symmetry(schedule: &Schedule, machine: &Machine, sizes: &Sizes<'_>) -> Simulation {
    let mut carried = Carried::default();
    let mut time_ns = 0.0;
    for step in schedule.steps(0) {
        let mut side = |transfers: &[Transfer]| {
            let messages = transfers
                .iter()
                .map(|transfer| sizes.message(transfer, &mut carried));
            messages.fold(
                (0.0_f64, 0.0_f64, 0.0_f64),
                |(sum, most, combined), message| {
                    let time = machine.link(0, message.peer).message_ns(message.bytes);
                    (
                        sum + time,
                        most.max(time),
                        combined + message.combined_bytes,
                    )
                },
            )
        };
        let (sent, sent_max, _) = side(&step.sends);
        let (received, received_max, combined) = side(&step.receives);
        let ports = count(machine.ports);
        let own = (sent / ports).max(received / ports);
        time_ns += own.max(sent_max).max(received_max) + machine.near.combine_byte_ns * combined;
    }
    carried.simulation(time_ns, None)
}
