//! Simulates the programs of all ranks, message by message.
//!
//! Each time is computed from the maximum of earlier times. Messages can therefore be handled in any order, and a rank continues
//! as soon as its step is over, without a queue of events. Order matters only if ranks share a port. In this case ranks continue in
//! the order of time, and messages pass through the port in the order in which their ends met.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter;

use super::machine::{Machine, SharedPort};
use super::outcome::{Carried, Flight, Simulation};
use super::sizes::{Message, Sizes};
use crate::catalogue::Schedule;
use crate::cost::count;
use crate::vocabulary::Steps;

/// The state of a rank that runs its program.
struct Rank {
    /// `None` before the first step and after the last.
    steps: Option<Steps>,
    /// The messages that the current step still waits for.
    sends: Vec<Message>,
    receives: Vec<Message>,
    begun_ns: f64,
    ended_ns: f64,
    combined_bytes: f64,
    is_over: bool,
}

pub(super) struct Events<'m> {
    schedule: &'m Schedule,
    machine: &'m Machine,
    sizes: &'m Sizes<'m>,
    ranks: Vec<Rank>,
    /// For each shared port, the times in nanoseconds from which it is free to send and to receive.
    ports: Vec<[f64; 2]>,
    messages: u64,
    carried: Carried,
}

/// Ranks whose step is over.
enum Ready {
    /// In any order.
    Stack(Vec<usize>),
    /// By time, then by rank. The bits of non-negative floats have the same order as the floats.
    Queue(BinaryHeap<Reverse<(u64, usize)>>),
}

impl Ready {
    fn push(&mut self, rank: usize, time_ns: f64) {
        match self {
            Ready::Stack(ranks) => ranks.push(rank),
            Ready::Queue(ranks) => ranks.push(Reverse((time_ns.to_bits(), rank))),
        }
    }

    fn pop(&mut self) -> Option<usize> {
        match self {
            Ready::Stack(ranks) => ranks.pop(),
            Ready::Queue(ranks) => ranks.pop().map(|Reverse((_, rank))| rank),
        }
    }
}

impl<'m> Events<'m> {
    pub(super) fn new(schedule: &'m Schedule, machine: &'m Machine, sizes: &'m Sizes<'m>) -> Self {
        let rank = || Rank {
            steps: None,
            sends: Vec::new(),
            receives: Vec::new(),
            begun_ns: 0.0,
            ended_ns: 0.0,
            combined_bytes: 0.0,
            is_over: false,
        };
        Self {
            schedule,
            machine,
            sizes,
            ranks: iter::repeat_with(rank).take(schedule.ranks()).collect(),
            ports: match machine.shared_port {
                SharedPort::None => Vec::new(),
                SharedPort::Node | SharedPort::All => vec![[0.0; 2]; schedule.ranks()],
            },
            messages: 0,
            carried: Carried::default(),
        }
    }

    /// Runs all programs, and calls `watch` for every message.
    pub(super) fn simulate(mut self, watch: &mut dyn FnMut(Flight)) -> Simulation {
        let is_by_time = self.machine.shared_port != SharedPort::None;
        let mut ready = if is_by_time {
            Ready::Queue(BinaryHeap::new())
        } else {
            Ready::Stack(Vec::new())
        };
        let last = self.ranks.len() - 1;
        for rank in 0..=last {
            self.ranks[rank].steps = Some(self.schedule.steps(rank));
            ready.push(rank, 0.0);
            // If order matters, no rank continues before all have begun.
            while (!is_by_time || rank == last)
                && let Some(rank) = ready.pop()
            {
                self.begin(rank, &mut ready, watch);
            }
        }
        let last = self.ranks.iter().map(|rank| {
            assert!(rank.is_over, "{} has a cycle of waits", self.schedule);
            rank.ended_ns
        });
        let time_ns = last.fold(0.0, f64::max);
        self.carried.simulation(time_ns, Some(self.messages))
    }

    /// Enters a rank's next step, and begins those of its messages whose other end has arrived.
    fn begin(&mut self, rank: usize, ready: &mut Ready, watch: &mut dyn FnMut(Flight)) {
        let own = &mut self.ranks[rank];
        let Some(step) = own.steps.as_mut().and_then(Iterator::next) else {
            own.steps = None;
            own.is_over = true;
            return;
        };
        own.begun_ns = own.ended_ns;
        own.combined_bytes = 0.0;
        let (mut sent_ns, mut received_ns) = (0.0, 0.0);
        // Messages between two ranks are matched in order, so the first message that the peer has posted is the match.
        for send in &step.sends {
            let message = self.sizes.message(send, &mut self.carried);
            let link = self.machine.link(rank, message.peer);
            sent_ns += link.message_ns(message.bytes);
            if take(&mut self.ranks[message.peer].receives, rank) {
                watch(self.meet(rank, message.peer, message));
                self.end_if_done(message.peer, ready);
            } else {
                self.ranks[rank].sends.push(message);
            }
        }
        // Pieces are counted where they are sent, and not again where they arrive.
        let mut counted = Carried::default();
        for receive in &step.receives {
            let message = self.sizes.message(receive, &mut counted);
            let link = self.machine.link(rank, message.peer);
            received_ns += link.message_ns(message.bytes);
            if take(&mut self.ranks[message.peer].sends, rank) {
                watch(self.meet(message.peer, rank, message));
                self.end_if_done(message.peer, ready);
            } else {
                self.ranks[rank].receives.push(message);
            }
        }
        // A port sends one message after the other and, at the same time, receives one message after the other.
        let own = &mut self.ranks[rank];
        let ports = count(self.machine.ports);
        let port_ns = own.begun_ns + f64::max(sent_ns, received_ns) / ports;
        own.ended_ns = own.ended_ns.max(port_ns);
        self.end_if_done(rank, ready);
    }

    /// Sends a message whose two ends have arrived.
    fn meet(&mut self, from: usize, to: usize, message: Message) -> Flight {
        self.messages += 1;
        let met = self.ranks[from].begun_ns.max(self.ranks[to].begun_ns);
        let begun = self.pass_ports(from, to, met, message.bytes);
        let ended = begun + self.machine.link(from, to).message_ns(message.bytes);
        self.ranks[to].combined_bytes += message.combined_bytes;
        for rank in [from, to] {
            let end = &mut self.ranks[rank];
            end.ended_ns = end.ended_ns.max(ended);
        }
        Flight {
            from,
            to,
            begun_ns: begun,
            ended_ns: ended,
        }
    }

    /// The time, in nanoseconds, at which a message begins whose ends met at time `met`: once the shared ports of both nodes are free.
    ///
    /// Each port passes messages in the order in which their ends met.
    fn pass_ports(&mut self, from: usize, to: usize, met: f64, bytes: f64) -> f64 {
        let (out, into) = (self.machine.node(from), self.machine.node(to));
        if self.machine.shared_port == SharedPort::None || out == into {
            return met;
        }
        let [out, into] = [out, into].map(|node| self.machine.port(node));
        let begun = [self.ports[out][0].max(met), self.ports[into][1].max(met)];
        let passing_ns = self.machine.port_message_ns + self.machine.far.byte_ns * bytes;
        [self.ports[out][0], self.ports[into][1]] = begun.map(|begun| begun + passing_ns);
        begun[0].max(begun[1])
    }

    /// Ends a rank's step if all its messages have met their other end.
    fn end_if_done(&mut self, rank: usize, ready: &mut Ready) {
        let own = &mut self.ranks[rank];
        if own.sends.is_empty() && own.receives.is_empty() {
            own.ended_ns += self.machine.near.combine_byte_ns * own.combined_bytes;
            ready.push(rank, own.ended_ns);
        }
    }
}

/// Removes the first message to or from `peer`; returns `false` if there is none.
fn take(messages: &mut Vec<Message>, peer: usize) -> bool {
    let place = messages.iter().position(|message| message.peer == peer);
    place.map(|place| messages.remove(place)).is_some()
}
