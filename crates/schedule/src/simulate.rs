//! Running a schedule on a machine that is not there: the very programs, message by message.
//!
//! A message needs both its ends, as under synchronous sends: it begins when the later one has come to its step, and takes the
//! link's alpha + beta b. A step ends with the last of its messages, or when its port has had the time for all of them; then what came is
//! combined, gamma b. Every time is a maximum of earlier ones, so the order in which messages are looked at does not matter, and no queue
//! of events is needed: a rank goes on as soon as its step is over. Only where a node's ranks share its port does the order matter: then
//! ranks go on in the order of time, and messages pass the port as they come.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter;
use std::ops::Range;

use crate::cost::Link;
use crate::model::{Algorithm, Collective, Piece, Schedule, Step, Transfer};

/// A machine of nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Between ranks of the same node.
    pub near: Link,
    /// Between nodes.
    pub far: Link,
    /// The ranks of a node; 1 where all links are far.
    pub node_ranks: usize,
    /// The messages that a rank can send, and as many receive, at once.
    pub ports: usize,
    /// Whether a node has one port to all others, through which the bytes of one message go out after those of another, and come in so.
    pub is_node_port: bool,
    /// Which ranks are a node's.
    pub placement: Placement,
}

/// Which ranks share a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Those side by side.
    Block,
    /// As dealt out to nodes in turn.
    RoundRobin {
        /// How many nodes there are.
        nodes: usize,
        /// How many ranks, side by side, each gets at a time.
        ranks_at_once: usize,
    },
}

impl Machine {
    /// A machine of one kind of link, one port a rank.
    #[must_use]
    pub fn flat(link: Link) -> Self {
        Self {
            near: link,
            far: link,
            node_ranks: 1,
            ports: 1,
            is_node_port: false,
            placement: Placement::Block,
        }
    }

    fn node(&self, rank: usize) -> usize {
        match self.placement {
            Placement::Block => rank / self.node_ranks,
            Placement::RoundRobin {
                nodes,
                ranks_at_once,
            } => rank / ranks_at_once % nodes,
        }
    }

    fn link(&self, a: usize, b: usize) -> &Link {
        if self.node(a) == self.node(b) {
            &self.near
        } else {
            &self.far
        }
    }
}

/// What came of a simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulation {
    /// When the last rank is done, in nanoseconds.
    pub time_ns: f64,
    /// All messages; `None` where one rank stood for all.
    pub messages: Option<u64>,
    /// The mean number of rows that a message's piece of a reduction carries, of pieces that are not yet the whole.
    pub rows_mean: f64,
    /// The most of them.
    pub rows_max: u64,
}

/// A message on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// The sender's position.
    pub from: usize,
    /// The receiver's position.
    pub to: usize,
    /// When both ends are there, and a port that is shared, in nanoseconds.
    pub begun_ns: f64,
    /// When it has arrived.
    pub ended_ns: f64,
}

/// More ranks than this, and a schedule with as many steps or blocks as ranks is run by one rank for all.
pub const SYMMETRY_RANKS: usize = 4096;

/// The time that `schedule` takes on `machine` for rows of `row_bytes`.
///
/// `rows(range)` is the number of rows that stand for the items of these ranks: the nodes of their fragment. Of schedules whose
/// programs have as many steps or blocks as there are ranks, rank 0's program stands for all beyond
/// [`SYMMETRY_RANKS`]; its steps are as long as anybody's, as far as all messages of a round are of the same length, and
/// no port is shared.
///
/// # Panics
/// The ranks wait for each other for ever: the schedule is not one that [`check`](crate::check()) accepts.
#[must_use]
pub fn simulate(
    schedule: &Schedule,
    machine: &Machine,
    row_bytes: f64,
    rows: &dyn Fn(Range<usize>) -> u64,
) -> Simulation {
    let is_quadratic = matches!(
        schedule.algorithm(),
        Algorithm::Direct
            | Algorithm::Ring
            | Algorithm::Circulant
            | Algorithm::Rabenseifner
            | Algorithm::ReduceScatterGather
    ) && schedule.collective() == Collective::Allreduce;
    if is_quadratic && schedule.ranks() > SYMMETRY_RANKS {
        simulate_by_symmetry(schedule, machine, row_bytes, rows)
    } else {
        let sizes = Sizes::new(schedule, row_bytes, rows);
        Events::new(schedule, machine, &sizes).run(&mut |_| {})
    }
}

/// As [`simulate`], of a reduction that keeps no order: whatever a message stands for in a column block is one row.
///
/// All ranks' programs run.
///
/// # Panics
/// As [`simulate`].
#[must_use]
pub fn simulate_unordered(schedule: &Schedule, machine: &Machine, row_bytes: f64) -> Simulation {
    let sizes = Sizes {
        is_ordered: false,
        ..Sizes::new(schedule, row_bytes, &|_| 1)
    };
    Events::new(schedule, machine, &sizes).run(&mut |_| {})
}

/// The messages of a simulation, one by one, each when it is known: not in the order of time. All ranks' programs run.
///
/// # Panics
/// As [`simulate`].
#[must_use]
pub fn flights(
    schedule: &Schedule,
    machine: &Machine,
    row_bytes: f64,
    rows: &dyn Fn(Range<usize>) -> u64,
) -> Vec<Flight> {
    let sizes = Sizes::new(schedule, row_bytes, rows);
    let mut flights = Vec::new();
    Events::new(schedule, machine, &sizes).run(&mut |flight| flights.push(flight));
    flights
}

/// As [`simulate`], by rank 0's program alone, whatever the number of ranks.
#[must_use]
pub fn simulate_by_symmetry(
    schedule: &Schedule,
    machine: &Machine,
    row_bytes: f64,
    rows: &dyn Fn(Range<usize>) -> u64,
) -> Simulation {
    let sizes = Sizes::new(schedule, row_bytes, rows);
    by_symmetry(schedule, machine, &sizes)
}

/// How long messages are.
struct Sizes<'r> {
    ranks: usize,
    block_bytes: f64,
    rows: &'r dyn Fn(Range<usize>) -> u64,
    /// Whether ranges that do not touch stay apart.
    is_ordered: bool,
}

/// A message as it is waited for.
#[derive(Clone, Copy, Debug)]
struct Message {
    peer: usize,
    bytes: f64,
    /// Of these, what is to be combined where it arrives.
    combined_bytes: f64,
}

/// How many rows pieces carry.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    rows: u64,
    pieces: u64,
    rows_max: u64,
}

impl<'r> Sizes<'r> {
    fn new(schedule: &Schedule, row_bytes: f64, rows: &'r dyn Fn(Range<usize>) -> u64) -> Self {
        Self {
            ranks: schedule.ranks(),
            block_bytes: row_bytes / real(schedule.blocks()),
            rows,
            is_ordered: true,
        }
    }

    fn message(&self, transfer: &Transfer, carried: &mut Carried) -> Message {
        let mut message = Message {
            peer: transfer.peer,
            bytes: 0.0,
            combined_bytes: 0.0,
        };
        let mut last: Option<(&Range<usize>, u64)> = None;
        for (index, Piece { ranks, blocks }) in transfer.pieces.iter().enumerate() {
            let before = index.checked_sub(1).map(|index| &transfer.pieces[index]);
            if !self.is_ordered && before.is_some_and(|before| before.blocks == *blocks) {
                continue;
            }
            let is_whole = *ranks == (0..self.ranks);
            let rows = match last {
                Some((range, rows)) if range == ranks => rows,
                _ if is_whole => 1,
                _ => (self.rows)(ranks.clone()),
            };
            last = Some((ranks, rows));
            #[expect(
                clippy::cast_precision_loss,
                reason = "fragments have some hundred nodes at most"
            )]
            let bytes = rows as f64 * real(blocks.len()) * self.block_bytes;
            message.bytes += bytes;
            if !is_whole {
                message.combined_bytes += bytes;
                carried.rows += rows;
                carried.pieces += 1;
                carried.rows_max = carried.rows_max.max(rows);
            }
        }
        message
    }
}

/// Rank 0's steps, each as long as it says.
fn by_symmetry(schedule: &Schedule, machine: &Machine, sizes: &Sizes<'_>) -> Simulation {
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
        let ports = real(machine.ports);
        let own = (sent / ports).max(received / ports);
        time_ns += own.max(sent_max).max(received_max) + machine.near.combine_byte_ns * combined;
    }
    carried.simulation(time_ns, None)
}

impl Carried {
    fn simulation(self, time_ns: f64, messages: Option<u64>) -> Simulation {
        #[expect(clippy::cast_precision_loss, reason = "a mean is not exact")]
        let rows_mean = if self.pieces == 0 {
            1.0
        } else {
            self.rows as f64 / self.pieces as f64
        };
        Simulation {
            time_ns,
            messages,
            rows_mean,
            rows_max: self.rows_max.max(1),
        }
    }
}

/// A rank in the middle of its program.
struct Rank {
    /// `None` before the first step, and behind the last.
    steps: Option<Box<dyn Iterator<Item = Step>>>,
    /// What its step still waits for.
    sends: Vec<Message>,
    receives: Vec<Message>,
    begun_ns: f64,
    ended_ns: f64,
    combined_bytes: f64,
    is_over: bool,
}

struct Events<'m> {
    schedule: &'m Schedule,
    machine: &'m Machine,
    sizes: &'m Sizes<'m>,
    ranks: Vec<Rank>,
    /// When each node's port is free, outwards and inwards, if it is shared.
    ports: Vec<[f64; 2]>,
    messages: u64,
    carried: Carried,
}

/// Ranks whose step is over.
enum Ready {
    /// In any order.
    Stack(Vec<usize>),
    /// By time, whose bits order times that are not negative; then by rank.
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
    fn new(schedule: &'m Schedule, machine: &'m Machine, sizes: &'m Sizes<'m>) -> Self {
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
            ports: if machine.is_node_port {
                vec![[0.0; 2]; schedule.ranks()]
            } else {
                Vec::new()
            },
            messages: 0,
            carried: Carried::default(),
        }
    }

    fn run(mut self, watch: &mut dyn FnMut(Flight)) -> Simulation {
        let is_by_time = self.machine.is_node_port;
        let mut ready = if is_by_time {
            Ready::Queue(BinaryHeap::new())
        } else {
            Ready::Stack(Vec::new())
        };
        let last = self.ranks.len() - 1;
        for rank in 0..=last {
            self.ranks[rank].steps = Some(self.schedule.steps(rank));
            ready.push(rank, 0.0);
            // In the order of time, nobody goes on before all have begun.
            while (!is_by_time || rank == last)
                && let Some(rank) = ready.pop()
            {
                self.begin(rank, &mut ready, watch);
            }
        }
        let last = self.ranks.iter().map(|rank| {
            let algorithm = self.schedule.algorithm();
            assert!(rank.is_over, "{algorithm} has a cycle of waits");
            rank.ended_ns
        });
        let time_ns = last.fold(0.0, f64::max);
        self.carried.simulation(time_ns, Some(self.messages))
    }

    /// Enters a rank's next step, and lets all messages begin whose other end is there.
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
        // Messages between the same two ranks meet in their order, so the first of each will do.
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
        // What is sent is not counted again where it arrives.
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
        // A port sends one message after the other, and receives so.
        let own = &mut self.ranks[rank];
        let ports = real(self.machine.ports);
        let port_ns = own.begun_ns + f64::max(sent_ns, received_ns) / ports;
        own.ended_ns = own.ended_ns.max(port_ns);
        self.end_if_done(rank, ready);
    }

    /// A message whose both ends are there.
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

    /// When a message's bytes have begun to go from node to node, for all to have arrived as soon as the later of both ports is
    /// through with it; each port takes messages in the order in which their ends met.
    fn pass_ports(&mut self, from: usize, to: usize, met: f64, bytes: f64) -> f64 {
        let (out, into) = (self.machine.node(from), self.machine.node(to));
        if !self.machine.is_node_port || out == into {
            return met;
        }
        let begun = [self.ports[out][0].max(met), self.ports[into][1].max(met)];
        let bytes_ns = self.machine.far.byte_ns * bytes;
        [self.ports[out][0], self.ports[into][1]] = begun.map(|begun| begun + bytes_ns);
        begun[0].max(begun[1])
    }

    /// Ends a rank's step if nothing is missing.
    fn end_if_done(&mut self, rank: usize, ready: &mut Ready) {
        let own = &mut self.ranks[rank];
        if own.sends.is_empty() && own.receives.is_empty() {
            own.ended_ns += self.machine.near.combine_byte_ns * own.combined_bytes;
            ready.push(rank, own.ended_ns);
        }
    }
}

/// Takes the first message with a peer out, if there is one.
fn take(messages: &mut Vec<Message>, peer: usize) -> bool {
    let place = messages.iter().position(|message| message.peer == peer);
    place.map(|place| messages.remove(place)).is_some()
}

#[expect(
    clippy::cast_precision_loss,
    reason = "ranks and blocks are far below 2^53"
)]
fn real(number: usize) -> f64 {
    number as f64
}
