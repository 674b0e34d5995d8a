//! A plan as text: what the ranks agreed on, then this rank's part.

use std::fmt;

use bytemuck::Pod;
use comm::text::{counted, printable};

use super::scattered::Scattered;
use super::{AnyPlan, Plan};
use crate::algorithm::Algorithm;
use crate::engines::terms::Choice;
use crate::operation::Operation;
use crate::operator::Operator;

/// Prints this rank's part in an allreduce, step by step, what scattered items cost, and the operations for which another algorithm
/// runs.
///
/// ```
/// use reduce::{Algorithm, Plan, threads};
///
/// let printed = threads::run(2, |world| {
///     let builder = Plan::builder(world).local_items(3);
///     let plan = builder.algorithm(Algorithm::RecursiveDoubling).build::<f64>().unwrap();
///     plan.to_string()
/// })?;
/// assert_eq!(
///     printed[1],
///     "rank 1 of 2: sum of 6 items of 1 element, 3 of them here, by recursive-doubling\n\
///      fold this rank's items into 2 values\n\
///      step 1: send 2 values to rank 0; receive 2 values from rank 0\n\
///      combine 3 times\n\
///      other operations: reduce and broadcast by binomial\n"
/// );
/// # Ok::<(), threads::RunError>(())
/// ```
impl<T: Pod, O: Operator<T> + 'static> fmt::Display for Plan<T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.fmt(f)
    }
}

impl fmt::Display for AnyPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, terms) = (self.world.rank(), &self.terms);
        write!(
            f,
            "rank {rank} of {}: {} of {} of {}, {} of them here",
            self.world.size(),
            printable(self.values.name()),
            counted(terms.ownership.items(), "item"),
            counted(terms.width, "element"),
            terms.ownership.count(rank),
        )?;
        self.write_steps(f)
    }
}

impl<T: Pod, O: Operator<T> + 'static> Plan<T, O> {
    /// What follows what is reduced: the algorithm, and what this rank does in it.
    pub(crate) fn write_steps(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.write_steps(f)
    }
}

impl AnyPlan {
    fn write_steps(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_choice(f, &self.terms.choice, self.engine.remark())?;
        self.engine.write(f)?;
        if let Some(scattered) = Scattered::of(&self.terms, &*self.values) {
            writeln!(f, "{scattered}")?;
        }
        write_stand_ins(f, &|operation| self.engine.algorithm(operation))
    }
}

/// The algorithm, and what the engine says of it.
fn write_choice(
    f: &mut fmt::Formatter<'_>,
    choice: &Choice,
    remark: Option<String>,
) -> fmt::Result {
    write!(f, ", by {}", choice.algorithm)?;
    if let Some(remark) = remark {
        write!(f, " ({remark})")?;
    }
    if choice.strips > 1 {
        let strips = choice.strips;
        write!(f, ", in {strips} blocks of columns, each of which is:")?;
    }
    writeln!(f)
}

/// The operations that another algorithm runs than the allreduce's, by algorithm.
fn write_stand_ins(
    f: &mut fmt::Formatter<'_>,
    runs: &dyn Fn(Operation) -> Option<Algorithm>,
) -> fmt::Result {
    let usual = runs(Operation::Allreduce);
    let mut stand_ins: Vec<(Algorithm, Vec<&str>)> = Vec::new();
    for &operation in Operation::ALL {
        let Some(algorithm) = runs(operation).filter(|&algorithm| Some(algorithm) != usual) else {
            continue;
        };
        match stand_ins.iter_mut().find(|(other, _)| *other == algorithm) {
            Some((_, operations)) => operations.push(operation.name()),
            None => stand_ins.push((algorithm, vec![operation.name()])),
        }
    }
    let in_words = |(algorithm, operations): (Algorithm, Vec<&str>)| match &operations[..] {
        [operations @ .., last] if !operations.is_empty() => {
            format!("{} and {last} by {algorithm}", operations.join(", "))
        }
        operations => format!("{} by {algorithm}", operations.join(", ")),
    };
    let stand_ins: Vec<String> = stand_ins.into_iter().map(in_words).collect();
    if stand_ins.is_empty() {
        return Ok(());
    }
    writeln!(f, "other operations: {}", stand_ins.join("; "))
}
