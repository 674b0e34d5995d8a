//! The engine for schedules: fragments travel along a schedule of crate `schedule`, compiled for this rank.
//!
//! A schedule says which ranges of ranks each message reduces. The ownership alone says which nodes of the tree
//! such a reduction consists of. Everything except the values is therefore known before a run: [`compile`] writes flat lists, and
//! [`machine`] reads these lists from front to back.
//!
//! ```text
//! fold this rank's rows into the values of its own nodes
//! for each step of the program:
//!     combine the values that the step's messages need
//!     start the step's sends
//!     post the receives of the next 16 steps
//!     wait for the step's receives, and until at most 32 sends are under way
//! combine the values of the result
//! wait for the sends
//! ```
//!
//! - **Messages hold values only.** Sender and receiver compute the same nodes in the same order, so a message needs no header. A
//!   rank that cannot continue sends the failed rank's number in place of each message, in a length that its values do not have.
//! - **Each value has a place of its own**, an offset in one workspace. A value that was received or combined can therefore be sent on in
//!   any later step, and adjacent ranges that were joined for one message are not joined again for the next message.
//! - **Receives are posted early**, so that messages find their buffers, but after the sends, because other ranks wait for the sends.
//! - **Few sends are under way** at once, because MPI libraries search long lists of sends. Waiting for earlier sends cannot deadlock:
//!   schedules are checked to end even if every send waits for its receiver.
//! - **Short messages need no request** under MPI, while nothing else is in flight: the machine sends and receives them at once. The
//!   first message that the transport cannot accept or deliver within microseconds makes the rest of the strip use requests.
//! - **Long rows are not copied**: [`locate`] replaces workspace offsets by places in messages and in the caller's slices. Long rows are
//!   cut into [`strips`] of columns that stay in cache.
//! - **A run stops wherever a message is missing** and continues there, so blocking calls, tests and time-outs are the same code.

mod buffer;
mod compile;
mod ending;
mod flight;
mod locate;
mod machine;
mod memory;
mod print;
pub(super) mod program;
mod run;
mod scan;
mod state;
mod strips;

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::rc::Rc;

use distribution::Ownership;
use schedule::{Collective, Schedule};

use crate::algorithm::Algorithm;
use crate::engines::terms::Terms;
use crate::engines::values::Values;
use crate::engines::{Engine, Flight};
use crate::error::RunError;
use crate::operation::Operation;
use crate::world::World;
use crate::world::conversation::Conversation;
use compile::{Input, Output};
use ending::{Ending, EndingKind};
use locate::InPlace;
use memory::{Located, Packed, Place};
pub(crate) use program::columns;
use run::Run;
use strips::ColumnStrips;

/// Rows of at least this number of bytes are used in place, in messages and in the caller's slices. Shorter rows are copied to the
/// workspace, because a copy takes less time than looking up where each row is.
const IN_PLACE_ROW_BYTES: usize = 256;

/// The operations of a plan, compiled when they are first run.
pub(crate) struct Scheduled {
    world: World,
    algorithm: schedule::Algorithm,
    terms: Rc<Terms>,
    values: Rc<dyn Values>,
    conversation: Rc<Conversation>,
    compiled: [OnceCell<Compiled>; Operation::ALL.len()],
    /// The operation of the last blocking run.
    last: Cell<Option<Operation>>,
}

/// How an operation's programs are compiled and run.
struct Shape {
    output: Output,
    ending: Ending,
    /// Number of strips of columns, which run one after the other.
    strips: usize,
    /// Which values stay in place; `None` if all are copied to the workspace.
    in_place: Option<InPlace>,
}

/// A long message is split into at most this number of eager messages; more would take longer than one rendezvous.
const EAGER_MESSAGES: usize = 6;

/// A compiled operation: packed for short rows, located for long rows.
enum Compiled {
    Packed(Rc<Run<Packed>>),
    Located(Rc<Run<Located>>),
}

impl Scheduled {
    pub(crate) fn new(
        world: &World,
        algorithm: schedule::Algorithm,
        terms: Rc<Terms>,
        values: Rc<dyn Values>,
        conversation: Rc<Conversation>,
    ) -> Self {
        Self {
            world: world.clone(),
            algorithm,
            terms,
            values,
            conversation,
            compiled: Default::default(),
            last: Cell::new(None),
        }
    }

    /// Makes a blocking call on this rank's rows or, if `are_nodes`, on the reductions of its own nodes.
    #[inline]
    fn run_local(
        &self,
        operation: Operation,
        local: Result<&[u8], RunError>,
        are_nodes: bool,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        self.last.set(Some(operation));
        match self.compiled(operation) {
            Compiled::Packed(run) => run.run(local, are_nodes, result),
            Compiled::Located(run) => run.run(local, are_nodes, result),
        }
    }

    /// Like [`run_local`](Self::run_local), without waiting.
    fn start_local(
        &self,
        operation: Operation,
        local: Option<&[u8]>,
        are_nodes: bool,
    ) -> Result<Rc<dyn Flight>, RunError> {
        Ok(match self.compiled(operation) {
            Compiled::Packed(run) => {
                run.start_flight(local, are_nodes)?;
                Rc::clone(run) as _
            }
            Compiled::Located(run) => {
                run.start_flight(local, are_nodes)?;
                Rc::clone(run) as _
            }
        })
    }

    #[inline]
    fn compiled(&self, operation: Operation) -> &Compiled {
        self.compiled[operation as usize].get_or_init(|| self.compile(operation))
    }

    fn compile(&self, operation: Operation) -> Compiled {
        let (terms, transport) = (&self.terms, self.world.transport());
        // A broadcast is the same for every distribution.
        let one_each;
        let ownership = if operation == Operation::Broadcast {
            let size = self.world.size();
            one_each = Ownership::one_item_each(size).expect("a world has at least one rank");
            &one_each
        } else {
            &terms.ownership
        };
        let shape = self.shape(operation, ownership.items() > 0);
        let schedule = self.schedule_of(operation, ownership);
        let hints = transport.hints();
        // Messages through shared memory need no rendezvous.
        let eager_bytes = hints.eager_bytes.max(hints.shared_bytes);
        let item_bytes = self.values.item().size();
        let program = |width: usize| {
            let input = Input {
                schedule: &schedule,
                ownership,
                width,
                message_limit: terms.message_limit,
                eager_limit: (eager_bytes / item_bytes).max(1),
                eager_messages: EAGER_MESSAGES,
                output: shape.output,
            };
            input.compile(self.world.rank()).in_bytes(item_bytes)
        };
        let (width, strips) = (terms.width, shape.strips);
        match shape.in_place {
            None => {
                let strips = ColumnStrips::new(width, item_bytes, strips, false, program);
                Compiled::Packed(self.run_of(strips, shape.ending))
            }
            Some(in_place) => {
                let uses_caller_memory = in_place == InPlace::ReceivesAndCaller;
                let located = |width| program(width).locate(in_place);
                let strips =
                    ColumnStrips::new(width, item_bytes, strips, uses_caller_memory, located);
                Compiled::Located(self.run_of(strips, shape.ending))
            }
        }
    }

    fn run_of<P: Place>(&self, strips: ColumnStrips<P>, ending: Ending) -> Rc<Run<P>> {
        let values = Rc::clone(&self.values);
        let conversation = Rc::clone(&self.conversation);
        Rc::new(Run::new(&self.world, strips, ending, values, conversation))
    }

    fn shape(&self, operation: Operation, has_items: bool) -> Shape {
        let reduction = if has_items {
            EndingKind::Reduction
        } else {
            EndingKind::Empty
        };
        let scan = |is_exclusive| EndingKind::Scan { is_exclusive };
        let (kind, output, strips) = match operation {
            // If sends never wait, a rank that receives nothing could be several strips ahead of its receivers, and need memory
            // for all of these strips.
            Operation::Reduce if self.world.transport().delivers_alone() => {
                (reduction, Output::Result, 1)
            }
            Operation::Reduce | Operation::Allreduce => {
                (reduction, Output::Result, self.terms.choice.strips)
            }
            Operation::ReduceScatter => (reduction, Output::Result, 1),
            Operation::Scan => (scan(false), Output::Prefixes, 1),
            Operation::Exscan => (scan(true), Output::Prefixes, 1),
            Operation::Broadcast => (EndingKind::Row, Output::Result, 1),
        };
        let has_reduction = kind == EndingKind::Reduction;
        let strips = if has_reduction { strips } else { 1 };
        let is_long = self.terms.width / strips * self.values.item().size() >= IN_PLACE_ROW_BYTES;
        Shape {
            output,
            ending: Ending {
                is_mine: operation != Operation::Reduce || self.world.rank() == self.terms.root,
                kind,
            },
            strips,
            in_place: match (is_long, has_reduction) {
                (true, true) => Some(InPlace::ReceivesAndCaller),
                (true, false) => Some(InPlace::Receives),
                // If there are several strips, rows and results must stay in the caller's slices.
                (false, _) => (strips > 1).then_some(InPlace::ReceivesAndCaller),
            },
        }
    }

    fn schedule_of(&self, operation: Operation, ownership: &Ownership) -> Schedule {
        let root = self.terms.root;
        let collective = match operation {
            Operation::Reduce => Collective::Reduce {
                root: ownership.position_of(root),
            },
            Operation::Broadcast => Collective::Broadcast { root },
            Operation::Allreduce => Collective::Allreduce,
            Operation::ReduceScatter => Collective::ReduceScatter,
            Operation::Scan | Operation::Exscan => Collective::Scan,
        };
        let (algorithm, collective) = match collective {
            // Prefixes of scattered items need the fragments of all ranks.
            Collective::Scan if !ownership.is_one_stretch_each() => {
                (schedule::Algorithm::Direct, Collective::Allreduce)
            }
            _ => (self.algorithm, collective),
        };
        Schedule::new(algorithm, collective, self.world.size())
            .and_then(|schedule| schedule.with(self.terms.choice.parameters))
            .expect("the world has ranks, the root is one of them, and parameters were checked")
    }
}

impl Engine for Scheduled {
    fn run(
        &self,
        operation: Operation,
        rows: Result<&[u8], RunError>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        self.run_local(operation, rows, false, result)
    }

    fn run_folded(
        &self,
        operation: Operation,
        nodes: &[u8],
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        self.run_local(operation, Ok(nodes), true, result)
    }

    fn own_node_lengths(&self, operation: Operation) -> Option<Vec<usize>> {
        let program_lengths = match self.compiled(operation) {
            Compiled::Packed(run) => &run.program().lengths,
            Compiled::Located(run) => &run.program().lengths,
        };
        Some(program_lengths.clone())
    }

    fn start(&self, operation: Operation, rows: Option<&[u8]>) -> Result<Rc<dyn Flight>, RunError> {
        self.start_local(operation, rows, false)
    }

    fn start_folded(
        &self,
        operation: Operation,
        nodes: Option<&[u8]>,
    ) -> Result<Rc<dyn Flight>, RunError> {
        self.start_local(operation, nodes, true)
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        let schedule = self.schedule_of(operation, &self.terms.ownership);
        Some(Algorithm::of_schedule(schedule.effective().algorithm()))
    }

    fn schedule(&self, operation: Operation) -> Option<Schedule> {
        Some(self.schedule_of(operation, &self.terms.ownership))
    }

    fn is_local_fold(&self) -> bool {
        let Terms {
            width, ownership, ..
        } = &*self.terms;
        let is_alone = self.world.size() == 1 && ownership.is_one_stretch_each();
        is_alone && *width == 1 && ownership.items() > 0
    }

    fn rounds(&self) -> Option<u64> {
        self.last.get().and_then(|last| match self.compiled(last) {
            Compiled::Packed(run) => run.rounds(),
            Compiled::Located(run) => run.rounds(),
        })
    }

    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.compiled(Operation::Allreduce) {
            Compiled::Packed(run) => print::program(f, run.program()),
            Compiled::Located(run) => print::program(f, run.program()),
        }
    }

    fn remark(&self) -> Option<String> {
        self.schedule_of(Operation::Allreduce, &self.terms.ownership)
            .remark()
    }
}
