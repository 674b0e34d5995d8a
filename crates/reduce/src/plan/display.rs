//! A plan in words: who sends what to whom, and when.

use std::fmt;

use bytemuck::Pod;

use crate::operator::Operator;
use crate::plan::{Kind, Plan};
use crate::program::{Message, Program};

/// More values a message than this deserve a word of warning: boundaries cut many subtrees.
const VALUES_TO_WARN_OF: usize = 64;

/// Prints this rank's part in an allreduce, step by step.
///
/// ```
/// use comm::threads;
/// use reduce::{Algorithm, Plan};
///
/// let printed = threads::run(2, |world| {
///     let builder = Plan::builder(world).local_items(3);
///     let plan = builder.algorithm(Algorithm::RecursiveDoubling).build::<f64>().unwrap();
///     plan.to_string()
/// })?;
/// assert_eq!(
///     printed[1],
///     "rank 1 of 2: sum of 6 items of 1 element, 3 of them here, by recursive-doubling\n\
///      fold the own items into 2 values\n\
///      step 1: send 2 values to rank 0; receive 2 values from rank 0\n\
///      combine 3 times\n"
/// );
/// # Ok::<(), threads::RunError>(())
/// ```
impl<T: Pod, O: Operator<T> + 'static> fmt::Display for Plan<'_, T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, terms) = (self.comm.rank(), &self.terms);
        write!(
            f,
            "rank {rank} of {}: {} of {} of {}, {} of them here, by {}",
            self.comm.size(),
            self.operator.name(),
            Counted(terms.ownership.items(), "item"),
            Counted(terms.width as u64, "element"),
            terms.ownership.count(rank),
            terms.choice.algorithm
        )?;
        if let Some(remark) = self.remark() {
            write!(f, " ({remark})")?;
        }
        if terms.choice.strips > 1 {
            let strips = terms.choice.strips;
            write!(f, ", in {strips} blocks of columns, each of which is:")?;
        }
        writeln!(f)?;
        if !terms.choice.algorithm.is_scheduled() {
            return Ok(());
        }
        match self.compiled(Kind::Allreduce) {
            Ok(run) => write_program(f, run.program()),
            Err(_) => Ok(()),
        }
    }
}

fn write_program(f: &mut fmt::Formatter<'_>, program: &Program) -> fmt::Result {
    let width = program.width;
    let nodes_count = program.leaves_count() as u64;
    if nodes_count > 0 {
        let values = Counted(nodes_count, "value");
        writeln!(f, "fold the own items into {values}")?;
    }
    for (step, number) in program.steps.iter().zip(1..) {
        write_combines(f, step.combines.len())?;
        let sends = program.sends[step.sends.clone()].iter();
        let receives = program.receives[step.receives.clone()].iter();
        let transfers = sends
            .map(|message| ("send", "to", message))
            .chain(receives.map(|message| ("receive", "from", message)));
        let mut separator = format!("step {number}: ");
        for (verb, preposition, message) in transfers {
            let values = Counted((message.length / width) as u64, "value");
            let peer = message.peer;
            write!(f, "{separator}{verb} {values} {preposition} rank {peer}")?;
            separator = "; ".to_owned();
        }
        if separator == "; " {
            writeln!(f)?;
        }
    }
    write_combines(f, program.last_combines.len())?;
    let longest = |messages: &[Message]| messages.iter().map(|message| message.length).max();
    let longest = longest(&program.sends).max(longest(&program.receives));
    match longest.unwrap_or(0) / width {
        values if values > VALUES_TO_WARN_OF => {
            writeln!(
                f,
                "warning: a message carries {values} values; aligned boundaries need fewer"
            )
        }
        _ => Ok(()),
    }
}

fn write_combines(f: &mut fmt::Formatter<'_>, count: usize) -> fmt::Result {
    match count {
        0 => Ok(()),
        1 => writeln!(f, "combine once"),
        _ => writeln!(f, "combine {count} times"),
    }
}

/// 1 value, 2 values
struct Counted(u64, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counted(count, thing) = self;
        let plural = if *count == 1 { "" } else { "s" };
        write!(f, "{count} {thing}{plural}")
    }
}
