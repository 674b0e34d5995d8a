//! The engine for schedules: fragments travel along a schedule of crate `schedule`, compiled for this rank.

mod buffer;
mod compile;
mod ending;
mod locate;
mod machine;
mod memory;
mod print;
mod program;
mod run;
mod scan;
mod state;

use std::cell::{Cell, OnceCell};
use std::fmt;
use std::rc::Rc;

use bytemuck::Pod;
use comm::Tag;
use distribution::Ownership;
use schedule::{Collective, Schedule};

use crate::algorithm::Algorithm;
use crate::engine::{Engine, Flight, Operation};
use crate::error::RunError;
use crate::operator::Operator;
use crate::terms::Terms;
use crate::world::World;
use compile::{Source, Wanted};
use ending::{Ending, EndingKind};
use locate::Lending;
use memory::{Located, Packed, Place};
pub(crate) use program::columns;
use run::{Run, Strips};

/// Rows of this number of bytes are worth the search for them that copying them saves.
const LENT_BYTES: usize = 2048;

/// The operations of a plan, compiled when they are first run.
pub(crate) struct Scheduled<T: Pod, O: Operator<T>> {
    world: World,
    algorithm: schedule::Algorithm,
    terms: Rc<Terms>,
    operator: Rc<O>,
    tag: Tag,
    compiled: [OnceCell<Compiled<T, O>>; Operation::ALL.len()],
    /// The operation of the last blocking run.
    last: Cell<Option<Operation>>,
}

/// A compiled operation, on short rows or on long ones.
enum Compiled<T: Pod, O: Operator<T>> {
    Packed(Rc<Run<T, O, Packed>>),
    Located(Rc<Run<T, O, Located>>),
}

impl<T: Pod, O: Operator<T> + 'static> Scheduled<T, O> {
    pub(crate) fn new(
        world: &World,
        algorithm: schedule::Algorithm,
        terms: Rc<Terms>,
        operator: Rc<O>,
        tag: Tag,
    ) -> Self {
        Self {
            world: world.clone(),
            algorithm,
            terms,
            operator,
            tag,
            compiled: Default::default(),
            last: Cell::new(None),
        }
    }

    #[inline]
    fn compiled(&self, operation: Operation) -> &Compiled<T, O> {
        self.compiled[operation as usize].get_or_init(|| self.compile(operation))
    }

    fn compile(&self, operation: Operation) -> Compiled<T, O> {
        let (terms, transport) = (&self.terms, self.world.transport());
        let size = self.world.size();
        // A broadcast is the same for every distribution.
        let one_each;
        let ownership = if operation == Operation::Broadcast {
            one_each = Ownership::one_item_each(size).expect("a world has at least one rank");
            &one_each
        } else {
            &terms.ownership
        };
        let schedule = self.schedule(operation, ownership);
        let has_items = ownership.items() > 0;
        let is_reduced = matches!(operation, Operation::Reduce | Operation::Allreduce);
        let strips = match operation {
            // Where a send never waits, a rank that needs no answer would be strips ahead of its receivers, and need memory for all.
            Operation::Reduce if transport.delivers_alone() => 1,
            _ if is_reduced && has_items => terms.choice.strips,
            _ => 1,
        };
        let is_long = terms.width / strips * size_of::<T>() >= LENT_BYTES;
        let can_be_lent = has_items && (is_reduced || operation == Operation::ReduceScatter);
        let source = |width: usize| Source {
            schedule: &schedule,
            ownership,
            width,
            message_limit: terms.message_limit,
            eager_limit: (transport.hints().eager_bytes / size_of::<T>()).max(1),
            wanted: match operation {
                Operation::Scan | Operation::Exscan => Wanted::Prefixes,
                _ => Wanted::Reduction,
            },
        };
        // The strips' widths: the first may have a column more than the others.
        let widths = [terms.width.div_ceil(strips), terms.width / strips];
        let differ = usize::from(widths[0] != widths[1]);
        let programs = widths[..=differ].iter();
        let programs = programs.map(|&width| source(width).compile(self.world.rank()));
        let ending = self.ending(operation, has_items);
        let lending = match (is_long, can_be_lent) {
            // Strips are of rows that stay where they are.
            (true, true) => Some(Lending::All),
            (true, false) => Some(Lending::Messages),
            (false, _) => (strips > 1).then_some(Lending::All),
        };
        match lending {
            None => Compiled::Packed(self.run_of(programs.collect(), strips, false, ending)),
            Some(lending) => {
                let programs = programs.map(|program| program.locate(lending)).collect();
                let is_lent = lending == Lending::All;
                Compiled::Located(self.run_of(programs, strips, is_lent, ending))
            }
        }
    }

    fn run_of<P: Place>(
        &self,
        programs: Vec<program::Program<P>>,
        count: usize,
        is_lent: bool,
        ending: Ending,
    ) -> Rc<Run<T, O, P>> {
        let width = self.terms.width;
        let strips = Strips {
            programs,
            count,
            wide: match width % count {
                0 => count,
                wide => wide,
            },
            width,
            is_lent,
        };
        let operator = Rc::clone(&self.operator);
        Rc::new(Run::new(&self.world, strips, ending, operator, self.tag))
    }

    fn schedule(&self, operation: Operation, ownership: &Ownership) -> Schedule {
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
            // Prefixes of scattered items are made of everyone's.
            Collective::Scan if !ownership.is_one_stretch_each() => {
                (schedule::Algorithm::Direct, Collective::Allreduce)
            }
            _ => (self.algorithm, collective),
        };
        Schedule::new(algorithm, collective, self.world.size())
            .and_then(|schedule| schedule.with(self.terms.choice.parameters))
            .expect("the world has ranks, the root is one of them, the parameters were checked")
    }

    fn ending(&self, operation: Operation, has_items: bool) -> Ending {
        Ending {
            is_mine: operation != Operation::Reduce || self.world.rank() == self.terms.root,
            kind: match operation {
                Operation::Broadcast => EndingKind::Row,
                Operation::Scan => EndingKind::Scan {
                    is_exclusive: false,
                },
                Operation::Exscan => EndingKind::Scan { is_exclusive: true },
                _ if has_items => EndingKind::Reduction,
                _ => EndingKind::Empty,
            },
        }
    }
}

impl<T: Pod, O: Operator<T> + 'static> Engine<T> for Scheduled<T, O> {
    fn run(
        &self,
        operation: Operation,
        rows: Result<&[T], RunError>,
        result: &mut [T],
    ) -> Result<bool, RunError> {
        self.last.set(Some(operation));
        match self.compiled(operation) {
            Compiled::Packed(run) => run.run(rows, result),
            Compiled::Located(run) => run.run(rows, result),
        }
    }

    fn start(
        &self,
        operation: Operation,
        rows: Option<&[T]>,
    ) -> Result<Rc<dyn Flight<T>>, RunError> {
        match self.compiled(operation) {
            Compiled::Packed(run) => run.start(rows).map(|()| Rc::clone(run) as _),
            Compiled::Located(run) => run.start(rows).map(|()| Rc::clone(run) as _),
        }
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        let schedule = self.schedule(operation, &self.terms.ownership);
        Some(Algorithm::of_schedule(schedule.effective().algorithm()))
    }

    fn is_local_fold(&self) -> bool {
        let Terms {
            width, ownership, ..
        } = &*self.terms;
        let is_alone = self.world.size() == 1 && ownership.is_one_stretch_each();
        is_alone && *width == 1 && ownership.items() > 0
    }

    fn rounds(&self) -> Option<u64> {
        self.last.get().map(|last| match self.compiled(last) {
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
        self.schedule(Operation::Allreduce, &self.terms.ownership)
            .remark()
    }
}
